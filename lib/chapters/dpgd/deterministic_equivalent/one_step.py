r"""The mean change of a quadratic in one step of Algorithm 1, term by term: where (4.7) comes from.

For q(v) = ½ Σ h_i v_i² in the eigenbasis, v = θ − θ* and a step θ ↦ θ − η̄_k ḡ + s b with s = 2C_clip σ_k,

    q(v + δ) − q(v) = −η̄_k ⟨ḡ, hv⟩ + ½ η̄_k² Σ h_i ḡ_i² + ½ s² Σ h_i b_i² + (mean zero).

The three means over a record, n times each, are held against what the paper has for them, (C.7) and (C.9), and D_i
itself is the case h = d e_i e_i'. State and time are those of half a run.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from chapters.dpgd.deterministic_equivalent.regime import Sized
from companion import _fits
from costofprivacy.dpgd import spectrum, system
from costofprivacy.dpgd.schedule import Schedule, learning_rates, noise_intensity, noise_multipliers
from costofprivacy.dpgd.spectrum import RegressionModel, sample

TIME = 0.5
LEFT = 0.6  # of θ*, the error of the state in which the step is taken
RECORDS = 1000  # in one trial
TERMS = ("descent", "sampling", "private noise")
HALVED = np.array([1, 2, 1])  # by what (C.7) divides each of them


@dataclass(frozen=True)
class Cell(Sized):
    """A dimension; the spectrum is uniform on [0, 2]."""

    @property
    def key(self) -> int:
        """The dimension names the random stream."""
        return self.d

    @property
    def model(self) -> RegressionModel:
        """The data."""
        return self.regime.model(spectrum.uniform(self.d))

    @property
    def schedule(self) -> Schedule:
        """η̃(0)√(1 − t)."""
        return self.regime.schedule(0.5)

    @property
    def hessians(self) -> dict[str, np.ndarray]:
        """h_i of each quadratic, shape (d,)."""
        values = self.model.spectrum.eigenvalues
        low = values <= np.median(values)
        return {
            "risk": values,
            "resolvent": 1 / (values + 2 * values.max()),
            "D, lower half": 2.0 * low,
            "D, upper half": 2.0 * ~low,
        }

    @property
    def rate(self) -> float:
        """η̄ at `TIME`."""
        return min(float(self.schedule(TIME)), 2 * self.n / self.d)

    @property
    def step(self) -> int:
        """The step at `TIME`, the first being 0."""
        return max(round(TIME * self.n), 1) - 1


def trial(cell: Cell, *, rng: np.random.Generator) -> np.ndarray:
    """n times the mean of the three terms over `RECORDS` records, shape (quadratics, 3).

    A step is a multiple −a of its record x. Of the private noise the last term reads Σ b_i² over the records, which is
    χ²(`RECORDS`), independently for each i.
    """
    n, model, clip_norm = cell.n, cell.model, cell.regime.clip * cell.d**0.5
    x, y = sample(model, RECORDS, rng=rng)
    hessians, error, square = np.stack(list(cell.hessians.values())), -LEFT * model.target, np.einsum("kd,kd->k", x, x)
    bound = clip_norm / np.sqrt(square)
    a = np.minimum(cell.rate / n, 2 / square) * np.clip((1 - LEFT) * (x @ model.target) - y, -bound, bound)
    std = 2 * clip_norm * noise_multipliers(learning_rates(cell.schedule, n), cell.regime.rho)[cell.step]
    noise = std**2 * rng.chisquare(RECORDS, cell.d) / RECORDS
    terms = (-hessians @ (error * (a @ x)) / RECORDS, hessians @ (a**2 @ x**2) / (2 * RECORDS), hessians @ noise / 2)
    return n * np.stack(terms, axis=1)


def rows(cell: Cell, samples: np.ndarray) -> pd.DataFrame:
    """The measured terms beside those of (C.9), hence of (4.7), and those of (C.7), whose sampling term is halved."""
    mean, error = _fits.mean_and_error(samples)
    found = []
    for i, (name, hessian) in enumerate(cell.hessians.items()):
        derived = np.array(drift(cell, hessian))
        terms = {
            "d": cell.d,
            "quadratic": name,
            "term": TERMS,
            "value": mean[i],
            "standard_error": error[i],
            "derived": derived,
            "printed": derived / HALVED,
            "trials": len(samples),
        }
        found.append(pd.DataFrame(terms))
    return pd.concat(found, ignore_index=True)


def drift(cell: Cell, hessian: np.ndarray) -> tuple[float, float, float]:
    """The three terms of (C.9): −η̄μ⟨Σv, hv⟩, η̄²ν𝒫 tr(Σh)/n and (2d/n²)c²σ̃² tr h."""
    n, clip, values = cell.n, cell.regime.clip, cell.model.spectrum.eigenvalues
    error = -LEFT * cell.model.target
    mu, scaled_nu = system.reductions(system.of_model(cell.model, n), clip, float(values @ error**2) / 2)
    intensity = float(noise_intensity(cell.schedule, TIME, cell.regime.rho))
    return (
        -cell.rate * mu * float(values @ (hessian * error**2)),
        cell.rate**2 * scaled_nu * float(values @ hessian) / n,
        2 * cell.d / n**2 * clip**2 * intensity * float(hessian.sum()),
    )
