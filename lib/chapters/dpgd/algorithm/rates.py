"""Rates of arXiv:2505.16329v2, (1.2) to (1.5), beside what private predictors attain."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from chapters.dpgd.algorithm import models
from companion import _fits
from costofprivacy.dpgd import chain
from costofprivacy.dpgd.clipping import descent_reduction, variance_reduction
from costofprivacy.dpgd.descent import Configuration
from costofprivacy.dpgd.schedule import Harmonic
from costofprivacy.dpgd.spectrum import RegressionModel

RUNS = 20  # independent runs in a trial, simulated side by side
ALGORITHMS = ("c constant", "clipping rarely active")
ZERO, DESCENT = "answering 0", "Algorithm 1"
BOUNDS = ("(1.2)", "(1.5)")
DIMENSION = 100.0
DECADES = tuple(k / 2 for k in range(11))  # on the way to the far end of an axis
AXES: dict[str, list[tuple[float, float, float]]] = {
    "gamma": [(10.0 ** -(1 + k), 1.0, DIMENSION * 10.0 ** (1 + k)) for k in DECADES],
    "both": [(10.0 ** -(1 + k), 10.0 ** (-(1 + k) / 2), DIMENSION * 10.0 ** (1 + k)) for k in DECADES],
    "n": [(0.01, 0.3, 10.0 ** (3 + k)) for k in DECADES],
    "rho": [(0.01, 10.0**-k, 1e4) for k in DECADES],
}  # γ, ρ, n


def lower_bound(gamma: float, rho: float, n: float) -> float:
    """(1.2) with the hidden constant one: γ + γ²/(ρ² log n)."""
    return gamma + gamma**2 / (rho**2 * math.log(n))


def earlier_rate(gamma: float, rho: float, n: float, log_power: float) -> float:
    """(1.3) with the hidden constant one and polylog n = (log n)^p: γ + γ² (log n)^p/ρ²."""
    return gamma + gamma**2 / rho**2 * math.log(n) ** log_power


def optimal_rate(gamma: float, rho: float) -> float:
    """(1.4) with the hidden constant one: γ + γ²/ρ²."""
    return gamma + gamma**2 / rho**2


def small_gamma_limit(
    eigenvalues: np.ndarray, schedule_scale: float, clip: float, label_noise: float
) -> tuple[float, float]:
    """A and B of the released risk Aγ + Bγ²/ρ² as γ → 0, for η̃(t) = β/(t + τ) with τ → 0.

    Where R is small, (4.7) is linear with μ = erf(c/(ζ√2)) and ν at R = 0; its solution, with the noise of the last
    step, has for A and B the means over the spectrum of λ²β²νζ²/(2(2βμλ − 1)) and λ·2c²β²·βμλ/(βμλ − 1). Infinite
    where βμλ_min ≤ 1: the schedule falls too fast.
    """
    mu = float(descent_reduction(clip, label_noise**2 / 2))
    nu = float(variance_reduction(clip, label_noise**2 / 2))
    power = schedule_scale * mu * eigenvalues
    if power.min() <= 1:
        return math.inf, math.inf
    data = eigenvalues**2 * schedule_scale**2 * nu * label_noise**2 / (2 * (2 * power - 1))
    noise = eigenvalues * 2 * clip**2 * schedule_scale**2 * power / (power - 1)
    return float(data.mean()), float(noise.mean())


@dataclass(frozen=True)
class RateCell:
    """One covariance at one n and d; several ρ, and one or two ways to clip, on the same chains."""

    covariance: str
    axis: str
    gamma: float
    n: int
    rhos: tuple[float, ...]
    clip: float
    label_noise: float
    harmonic_scale: float
    harmonic_offset: float

    @property
    def key(self) -> int:
        """Covariance, axis and n name the random stream."""
        return 10**8 * list(models.SPECTRA).index(self.covariance) + 2 * self.n + (self.axis == "n")

    @property
    def model(self) -> RegressionModel:
        """The covariance at d = γn."""
        return models.regression_model(self.covariance, models.dimension(self.gamma, self.n), self.label_noise)

    @property
    def scale(self) -> float:
        """β, `harmonic_scale` over λ_min: the slowest direction has to forget the start too."""
        return self.harmonic_scale / self.model.spectrum.smallest

    @property
    def rarely_active(self) -> float:
        """c at which a residual at the start is clipped with probability at most 1/n."""
        return math.sqrt(2 * math.log(self.n) * self.model.response_variance)

    @property
    def variants(self) -> list[tuple[str, float, float]]:
        """Ways to run: name, c, ρ."""
        ways = [(ALGORITHMS[0], self.clip)]
        if self.axis == "n":
            ways.append((ALGORITHMS[1], self.rarely_active))
        return [(name, c, rho) for rho in self.rhos for name, c in ways]

    @property
    def configurations(self) -> list[Configuration]:
        """Algorithm 1 with the harmonic schedule of each ρ."""
        plans = {rho: harmonic(self.scale, self.harmonic_offset, self.gamma, rho) for rho in self.rhos}
        return [Configuration(c, plans[rho], rho) for _, c, rho in self.variants]


def harmonic(scale: float, offset: float, gamma: float, rho: float) -> Harmonic:
    """β/(t + τ) with τ = offset · max(γ, γ/ρ)."""
    return Harmonic(scale, models.time_offset(offset, gamma, rho))


def rate_trial(cell: RateCell, *, rng: np.random.Generator) -> np.ndarray:
    """Risks of the released iterates of `RUNS` runs of each variant, shape (RUNS, variants)."""
    spaces = chain.eigenspaces(cell.model)
    return chain.risk_at(spaces, cell.configurations, cell.n, [1.0], RUNS, rng=rng)[:, :, 0].T


def rate_rows(cell: RateCell, samples: np.ndarray, log_power: float) -> pd.DataFrame:
    """Mean released risk of each variant beside the three rates, the test error and the trivial predictor."""
    runs = samples.reshape(-1, samples.shape[-1])
    mean, error = _fits.mean_and_error(runs)
    model, gamma, n = cell.model, cell.gamma, cell.n
    rows = []
    for i, (name, c, rho) in enumerate(cell.variants):
        data, noise = small_gamma_limit(model.spectrum.eigenvalues, cell.scale, c, cell.label_noise)
        told = {
            "spectrum": cell.covariance,
            "smallest": model.spectrum.smallest,
            "axis": cell.axis,
            "algorithm": name,
            "gamma": gamma,
            "rho": rho,
            "n": n,
            "d": model.d,
            "clip": c,
        }
        risks = {
            "excess_risk": mean[i],
            "standard_error": error[i],
            "largest": runs[:, i].max(),
            "half_test_error": mean[i] + cell.label_noise**2 / 2,
            "zero_risk": model.initial_risk,
            "response_variance": model.response_variance,
        }
        bounds = {
            "rate_1.2": lower_bound(gamma, rho, n),
            "rate_1.3": earlier_rate(gamma, rho, n, log_power),
            "rate_1.4": optimal_rate(gamma, rho),
            "limit": data * gamma + noise * gamma**2 / rho**2,
        }
        rows.append(told | risks | bounds | {"runs": len(runs)})
    return pd.DataFrame(rows)


def lower_bounds(harmonic_scale: float, clip: float, label_noise: float) -> pd.DataFrame:
    """(1.2) and (1.5) with the hidden constant one, beside the least risk that is known of a private predictor, Σ = I.

    Two are known: Algorithm 1 with the harmonic schedule, by its limit, and answering 0, which is private at every ρ
    and whose worst risk over the unit ball is ½. ``second`` is the bound's privacy term; along ``rho`` it grows without
    limit, along the other axes it stays bounded.
    """
    limit = small_gamma_limit(np.ones(1), harmonic_scale, clip, label_noise)
    along = [(claim, axis, point) for claim in BOUNDS for axis, points in AXES.items() for point in points]
    return pd.DataFrame([_bound_row(claim, axis, *point, limit) for claim, axis, point in along])


def _bound_row(
    claim: str, axis: str, gamma: float, rho: float, n: float, limit: tuple[float, float]
) -> dict[str, object]:
    bound = lower_bound(gamma, rho, n) if claim == BOUNDS[0] else optimal_rate(gamma, rho)
    attained = {ZERO: models.INITIAL_RISK, DESCENT: limit[0] * gamma + limit[1] * gamma**2 / rho**2}
    best = min(attained, key=lambda name: attained[name])
    return {
        "claim": claim,
        "axis": axis,
        "gamma": gamma,
        "rho": rho,
        "n": n,
        "second": bound - gamma,
        "bound": bound,
        "predictor": best,
        "risk": attained[best],
        "ratio": attained[best] / bound,
    }
