r"""Algorithm 1 beside homogenised DP-GD, (4.14) and (C.1) of arXiv:2505.16329v2, on independent paths.

For each n: how far the two are apart, in the risk and in all quadratics of (C.2), with the drift derived and the drift
printed; how large the martingale parts of q(v) = ½ v'Σv/λ_max (‖q‖_{C²} = 1) become, Lemmas C.2 and C.3; how far the
errors grow, Lemma C.4; and how far the risk of the diffusion is from R(t), (C.45). The schedule is η̃(0)√(1 − t), with
private noise in every step; the spectrum is uniform on [0, 2].
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pandas as pd

from chapters.dpgd.deterministic_equivalent.regime import Regime, bound
from companion import _fits
from costofprivacy._compiled import compiled
from costofprivacy.dpgd import diffusion, equivalent, spectrum, system
from costofprivacy.dpgd.clipping import descent_reduction, variance_reduction
from costofprivacy.dpgd.descent import steps_at
from costofprivacy.dpgd.schedule import Schedule, learning_rates, noise_intensity, noise_multipliers
from costofprivacy.dpgd.spectrum import RegressionModel

PATHS = 8  # in one trial
STEPS = 400  # of the diffusion
TAIL = 0.9  # share of the paths below the tail; their number bears hardly more
SCALE = 1 - np.exp(-1.0)  # share below Cn^(−1/2)y at y = 1, the least y of (C.17) and (C.26)
TIMES = np.arange(40) / 40  # t < 1
ANGLES = np.linspace(0, np.pi, 9)  # of z on the upper half of its circle; the lower one mirrors it
QUANTITIES = (
    "risk, derived drift",
    "risk, printed drift",
    "resolvents, derived drift",
    "resolvents, printed drift",
    "martingale of the private noise",
    "martingale of the diffusion",
    "growth of the algorithm",
    "growth of the diffusion",
)
INTEGRALS = {"i/2π": 1.0, "i/4π": 0.5}  # times ∮ z q̂ dz, as (4.20) and as (C.45) have it, over R(t)
SMALL = (1.0, 1e-2, 1e-4)  # ‖θ*‖² at which the growth is tried


@dataclass(frozen=True)
class Cell:
    """A number of samples, and the squared norm of the true parameter."""

    regime: Regime
    n: int
    scale: float = 1.0

    @property
    def key(self) -> int:
        """n and the norm name the random stream."""
        return len(SMALL) * self.n + SMALL.index(self.scale)

    @property
    def model(self) -> RegressionModel:
        """The data."""
        unit = self.regime.model(spectrum.uniform(self.regime.dimension(self.n)))
        return RegressionModel(unit.spectrum, unit.target * self.scale**0.5, unit.label_noise)

    @property
    def schedule(self) -> Schedule:
        """η̃(0)√(1 − t)."""
        return self.regime.schedule(0.5)


def trial(cell: Cell, *, rng: np.random.Generator) -> np.ndarray:
    """`QUANTITIES` on each of `PATHS` pairs of independent paths, then the distances from `INTEGRALS` for both drifts.

    Shape (paths, quantities + drifts · integrals).
    """
    model = cell.model
    algorithm, noise = descend(cell, rng)
    derived, printed = (_diffuse(cell, drift, rng) for drift in (diffusion.DERIVED, diffusion.PRINTED))
    coarse = slice(None, None, STEPS // len(TIMES))
    shares = [(other[coarse], share) for other in (derived, printed) for share in INTEGRALS.values()]
    return np.column_stack(
        [
            *(_risk_gap(model, algorithm, other[coarse]) for other in (derived, printed)),
            *(_resolvent_gap(model, algorithm, other[coarse]) for other in (derived, printed)),
            noise,
            _ito_remainder(cell, derived),
            _growth(algorithm),
            _growth(derived),
            *(_integral_gap(cell, other, share) for other, share in shares),
        ]
    )


def growth_trial(cell: Cell, *, rng: np.random.Generator) -> np.ndarray:
    """log sup ‖v‖²/‖v_0‖² and log sup (1 + ‖v‖²)/(1 + ‖v_0‖²) on `PATHS` paths of the algorithm, shape (paths, 2)."""
    squares = (descend(cell, rng)[0] ** 2).sum(axis=-1)
    return np.column_stack([np.log(squares.max(0) / squares[0]), np.log((1 + squares.max(0)) / (1 + squares[0]))])


def descend(cell: Cell, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Errors of `PATHS` independent runs at `TIMES`, and the largest value of each private-noise martingale.

    Its increment is the part with b in q(v + δ) − q(v) less its mean, for q = ½ v'hv and s = 2C_clip σ_k:
    s⟨b, h(v − η̄ḡ)⟩ + ½s²(b'hb − tr h). (C.8) has the product of ḡ and b with half its size and the other sign.

    Returns:
        v, shape (times, paths, d), and sup_k |M_k|, shape (paths,).
    """
    n, model = cell.n, cell.model
    clip_norm, rates = cell.regime.clip * model.d**0.5, learning_rates(cell.schedule, n)
    noise = 2 * clip_norm * noise_multipliers(rates, cell.regime.rho)
    kept, largest = np.empty((len(TIMES), PATHS, model.d)), np.empty(PATHS)
    values, told = model.spectrum.eigenvalues.astype(float), (rates, noise, steps_at(TIMES, n))
    _descend(kept, largest, values, model.target, float(model.label_noise), clip_norm, *told, rng)
    return kept, largest


@compiled
def _descend(
    kept: np.ndarray,
    largest: np.ndarray,
    eigenvalues: np.ndarray,
    target: np.ndarray,
    label_noise: float,
    clip_norm: float,
    rates: np.ndarray,
    noise: np.ndarray,
    records: np.ndarray,
    rng: np.random.Generator,
) -> None:
    """Fill ``kept`` with the errors before the steps in ``records``, and ``largest`` with sup_k |M_k|.

    Drawn in a step are the features of all paths, then their label noise, then their private noise.
    """
    _, paths, d = kept.shape
    hessian, roots = eigenvalues / eigenvalues.max(), np.sqrt(eigenvalues)
    trace, martingale = hessian.sum(), np.zeros(paths)
    error, x = np.empty((paths, d)), np.empty((paths, d))
    for p in range(paths):
        error[p], largest[p] = -target, 0.0
    for k in range(records[-1] + 1):
        for t in range(len(records)):
            if records[t] == k:
                kept[t] = error
        for p in range(paths):
            for i in range(d):
                x[p, i] = roots[i] * rng.standard_normal()
        for p in range(paths):
            residual, square = -label_noise * rng.standard_normal(), 0.0
            for i in range(d):
                residual += x[p, i] * error[p, i]
                square += x[p, i] ** 2
            bound = clip_norm / math.sqrt(square)
            length = min(rates[k], 2 / square) * min(max(residual, -bound), bound)
            for i in range(d):
                error[p, i] -= length * x[p, i]
        for p in range(paths):
            cross, inside = 0.0, 0.0
            for i in range(d):
                b = rng.standard_normal()
                cross += hessian[i] * b * error[p, i]
                inside += hessian[i] * b * b
                error[p, i] += noise[k] * b
            martingale[p] += noise[k] * cross + noise[k] ** 2 / 2 * (inside - trace)
            largest[p] = max(largest[p], abs(martingale[p]))


def _diffuse(cell: Cell, drift: float, rng: np.random.Generator) -> np.ndarray:
    """Errors at the first multiples of 1/`STEPS` below 1, shape (steps, paths, d)."""
    told = (cell.model, cell.schedule, cell.regime.clip, cell.regime.rho, cell.n)
    return diffusion.diffuse(*told, np.arange(STEPS) / STEPS, PATHS, drift, steps=STEPS, rng=rng)


def _risk_gap(model: RegressionModel, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.abs((a**2 - b**2) @ model.spectrum.eigenvalues / 2).max(axis=0)


def _resolvent_gap(model: RegressionModel, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """sup over t and z of |q_z(a) − q_z(b)|, (C.3)."""
    values = model.spectrum.eigenvalues
    resolvents = 1 / (values[:, None] - 2 * values.max() * np.exp(1j * ANGLES))
    return np.abs((a**2 - b**2) @ resolvents / 2).max(axis=(0, 2))


def _integral_gap(cell: Cell, errors: np.ndarray, share: float) -> np.ndarray:
    """sup_t of the distance of the diffusion's risk from ``share`` times R(t)."""
    risk = errors**2 @ cell.model.spectrum.eigenvalues / 2
    return np.abs(risk - share * equivalent_risk(cell)[:, None]).max(axis=0)


@lru_cache(maxsize=4)
def equivalent_risk(cell: Cell) -> np.ndarray:
    """R at `TIMES`."""
    equations = system.of_model(cell.model, cell.n)
    return equivalent.risk_path(equations, cell.schedule, cell.regime.clip, cell.regime.rho, TIMES)


def _ito_remainder(cell: Cell, errors: np.ndarray) -> np.ndarray:
    """sup_t |q(V_t) − q(V_0) − ∫ drift of (C.9)|, the martingale of Lemma C.3, by the trapezoidal rule."""
    clip, model, times = cell.regime.clip, cell.model, np.arange(STEPS) / STEPS
    values, d, n = model.spectrum.eigenvalues, cell.model.d, cell.n
    hessian = values / values.max()
    test_risk = errors**2 @ values / 2 + model.label_noise**2 / 2
    rate = np.minimum(cell.schedule(times), 2 * n / d)[:, None]
    descent = -rate * descent_reduction(clip, test_risk) * (errors**2 @ (values * hessian))
    sampling = rate**2 * variance_reduction(clip, test_risk) * test_risk * (values @ hessian) / n
    intensity = noise_intensity(cell.schedule, times, cell.regime.rho)[:, None]
    private = 2 * d / n**2 * clip**2 * intensity * hessian.sum()
    drift = descent + sampling + private
    quadratic = errors**2 @ hessian / 2
    passed = np.cumsum((drift[1:] + drift[:-1]) / (2 * STEPS), axis=0)
    return np.abs(quadratic[1:] - quadratic[0] - passed).max(axis=0)


def _growth(errors: np.ndarray) -> np.ndarray:
    squares = (errors**2).sum(axis=-1)
    return np.log(squares.max(axis=0) / squares[0])


def rows(cell: Cell, samples: np.ndarray) -> pd.DataFrame:
    """Mean, spread and two upper quantiles of each quantity over all paths, with log²n/√n beside it."""
    values = samples.reshape(-1, samples.shape[-1])[:, : len(QUANTITIES)]
    mean, error = _fits.mean_and_error(values)
    return pd.DataFrame(
        {
            "n": cell.n,
            "quantity": QUANTITIES,
            "value": mean,
            "standard_error": error,
            "standard_deviation": values.std(axis=0, ddof=1),
            "scale": np.quantile(values, SCALE, axis=0),
            "tail": np.quantile(values, TAIL, axis=0),
            "bound": bound(cell.n),
            "trials": len(values),
        }
    )


def integral_rows(cell: Cell, samples: np.ndarray) -> pd.DataFrame:
    """Mean distance of the diffusion's risk from each integral, for both drifts, with log²n/√n beside it."""
    values = samples.reshape(-1, samples.shape[-1])[:, len(QUANTITIES) :]
    mean, error = _fits.mean_and_error(values)
    names = pd.DataFrame(itertools.product(("derived", "printed"), INTEGRALS), columns=["drift", "integral"])
    names.insert(0, "n", cell.n)
    return names.assign(value=mean, standard_error=error, bound=bound(cell.n), trials=len(values))


def growth_rows(cell: Cell, samples: np.ndarray) -> pd.DataFrame:
    """Mean of both logarithms and their standard error."""
    values = samples.reshape(-1, 2)
    mean, error = _fits.mean_and_error(values)
    return pd.DataFrame(
        {
            "squared_norm": cell.scale,
            "quantity": ["‖v‖²", "1 + ‖v‖²"],
            "value": mean,
            "standard_error": error,
            "trials": len(values),
        }
    )
