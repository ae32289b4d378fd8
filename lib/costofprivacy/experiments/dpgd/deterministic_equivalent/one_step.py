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

from costofprivacy import _fits
from costofprivacy.dpgd import spectrum, system
from costofprivacy.dpgd.schedule import learning_rates, noise_intensity, noise_multipliers
from costofprivacy.dpgd.spectrum import RegressionModel, sample
from costofprivacy.dpgd.update import adapted_rates, clipped_gradients
from costofprivacy.experiments.dpgd.deterministic_equivalent._setting import Setting, polynomial

TIME = 0.5
LEFT = 0.6  # of θ*, the error of the state in which the step is taken
RECORDS = 1000  # in one trial
ALPHA = 0.5
TERMS = ("descent", "sampling", "private noise")


@dataclass(frozen=True)
class Cell:
    """A dimension; the spectrum is uniform on [0, 2]."""

    d: int
    setting: Setting

    @property
    def key(self) -> int:
        """The dimension names the random stream."""
        return self.d

    @property
    def n(self) -> int:
        """Number of samples."""
        return self.setting.samples(self.d)

    @property
    def model(self) -> RegressionModel:
        """The data."""
        return self.setting.model(spectrum.uniform(self.d))

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
        schedule = polynomial(self.setting.initial_rate, ALPHA)
        return min(float(schedule(TIME)), 2 * self.n / self.d)


def trial(cell: Cell, *, rng: np.random.Generator) -> np.ndarray:
    """n times the mean of the three terms over `RECORDS` records, shape (quadratics, 3)."""
    s, n, model = cell.setting, cell.n, cell.model
    x, y = sample(model, RECORDS, rng=rng)
    theta = (1 - LEFT) * model.target
    step = adapted_rates(cell.rate / n, x)[:, None] * clipped_gradients(theta, x, y, s.c * model.d**0.5)
    rates = learning_rates(polynomial(s.initial_rate, ALPHA), n)
    noise = 2 * s.c * model.d**0.5 * noise_multipliers(rates, s.rho)[max(round(TIME * n), 1) - 1]
    random = noise * rng.standard_normal(step.shape)
    error = -LEFT * model.target
    return n * np.array(
        [
            [-(step @ (h * error)).mean(), (step**2 @ h).mean() / 2, (random**2 @ h).mean() / 2]
            for h in cell.hessians.values()
        ]
    )


def rows(cell: Cell, samples: np.ndarray) -> pd.DataFrame:
    """The measured terms beside those of (C.9), hence of (4.7), and those of (C.7)."""
    mean, error = _fits.mean_and_error(samples)
    return pd.DataFrame(
        [
            (cell.d, name, term, mean[i, j], error[i, j], derived[j], derived[j] / (2 if j == 1 else 1), len(samples))
            for i, (name, h) in enumerate(cell.hessians.items())
            for derived in (drift(cell, h),)
            for j, term in enumerate(TERMS)
        ],
        columns=["d", "quadratic", "term", "value", "standard_error", "derived", "printed", "trials"],
    )


def drift(cell: Cell, hessian: np.ndarray) -> tuple[float, float, float]:
    """The three terms of (C.9): −η̄μ⟨Σv, hv⟩, η̄²ν𝒫 tr(Σh)/n and (2d/n²)c²σ̃² tr h."""
    s, n, values = cell.setting, cell.n, cell.model.spectrum.eigenvalues
    error = -LEFT * cell.model.target
    equations = system.of_model(cell.model, n)
    mu, scaled_nu = system.reductions(equations, s.c, float(values @ error**2) / 2)
    intensity = float(noise_intensity(polynomial(s.initial_rate, ALPHA), TIME, s.rho))
    return (
        -cell.rate * mu * float(values @ (hessian * error**2)),
        cell.rate**2 * scaled_nu * float(values @ hessian) / n,
        2 * cell.d / n**2 * s.c**2 * intensity * float(hessian.sum()),
    )
