"""Rates of arXiv:2505.16329v2, (1.2) to (1.4), beside what Algorithm 1 attains at finite n; and (1.1)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from costofprivacy import _fits
from costofprivacy.dpgd import chain, spectrum
from costofprivacy.dpgd.clipping import descent_reduction, variance_reduction
from costofprivacy.dpgd.descent import Configuration
from costofprivacy.dpgd.schedule import Harmonic
from costofprivacy.dpgd.spectrum import RegressionModel
from costofprivacy.privacy import GaussianDP, ZeroConcentratedDP

if TYPE_CHECKING:
    from costofprivacy.experiments.dpgd.algorithm.experiment import Experiment

RUNS = 20  # independent runs in a trial, simulated side by side
INITIAL_RISK = 0.5
ALGORITHMS = ("c constant", "clipping rarely active")
TRANSLATION_N = (1e2, 1e3, 1e4, 1e6, 1e9, 1e12)
RHOS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 5.0)
DELTAS = (1e-2, 1e-5, 1e-10)
LAWS: dict[str, spectrum.FeatureLaw] = {"Gaussian": spectrum.Gaussian(), "Student-t (5)": spectrum.StudentT(5)}
RECORDS = 20_000
ISOTROPIC = "Σ = I"
SPECTRA: dict[str, tuple[float, ...]] = {ISOTROPIC: (1.0,), "two levels": (0.5, 1.5)}  # eigenvalues, equally many


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

    experiment: Experiment
    spectrum: str
    axis: str
    gamma: float
    n: int
    rhos: tuple[float, ...]

    @property
    def key(self) -> int:
        """Spectrum, axis and n name the random stream."""
        return 10**8 * list(SPECTRA).index(self.spectrum) + 2 * self.n + (self.axis == "n")

    @property
    def d(self) -> int:
        """d = γn, rounded."""
        return max(2, round(self.gamma * self.n))

    @property
    def model(self) -> RegressionModel:
        """The covariance with trace d; θ = 0 has risk ½."""
        shape = spectrum.Spectrum(np.resize(SPECTRA[self.spectrum], self.d)).normalised()
        target = spectrum.projections(shape, initial_risk=INITIAL_RISK)
        return RegressionModel(shape, target, self.experiment.label_noise)

    @property
    def scale(self) -> float:
        """β, the experiment's over λ_min: the slowest direction has to forget the start too."""
        return self.experiment.harmonic_scale / self.model.spectrum.smallest

    @property
    def rarely_active(self) -> float:
        """c at which a residual at the start is clipped with probability at most 1/n."""
        return math.sqrt(2 * math.log(self.n) * self.model.response_variance)

    @property
    def variants(self) -> list[tuple[str, float, float]]:
        """Ways to run: name, c, ρ."""
        e = self.experiment
        ways = [(ALGORITHMS[0], e.clip)]
        if self.axis == "n":
            ways.append((ALGORITHMS[1], self.rarely_active))
        return [(name, c, rho) for rho in self.rhos for name, c in ways]

    @property
    def configurations(self) -> list[Configuration]:
        """Algorithm 1 with the harmonic schedule of each ρ."""
        e = self.experiment
        plans = {rho: harmonic(self.scale, e.harmonic_offset, self.gamma, rho) for rho in self.rhos}
        return [Configuration(c, plans[rho], rho) for _, c, rho in self.variants]


def harmonic(scale: float, offset: float, gamma: float, rho: float) -> Harmonic:
    """β/(t + τ) with τ = offset · max(γ, γ/ρ), as Theorem 2 scales it."""
    return Harmonic(scale, offset * max(gamma, gamma / rho))


def rate_trial(cell: RateCell, *, rng: np.random.Generator) -> np.ndarray:
    """Risks of the released iterates of `RUNS` runs of each variant, shape (RUNS, variants)."""
    spaces = chain.eigenspaces(cell.model)
    return chain.risk_at(spaces, cell.configurations, cell.n, [1.0], RUNS, rng=rng)[:, :, 0].T


def rate_rows(cell: RateCell, samples: np.ndarray) -> pd.DataFrame:
    """Mean released risk of each variant beside the three rates, the test error and the trivial predictor."""
    runs = samples.reshape(-1, samples.shape[-1])
    mean, error = _fits.mean_and_error(runs)
    e, model = cell.experiment, cell.model
    rows = []
    for i, (name, c, rho) in enumerate(cell.variants):
        data, noise = small_gamma_limit(model.spectrum.eigenvalues, cell.scale, c, e.label_noise)
        rates = (
            lower_bound(cell.gamma, rho, cell.n),
            earlier_rate(cell.gamma, rho, cell.n, e.log_power),
            optimal_rate(cell.gamma, rho),
            data * cell.gamma + noise * cell.gamma**2 / rho**2,
        )
        told = (cell.spectrum, model.spectrum.smallest, cell.axis, name, cell.gamma, rho, cell.n, cell.d, c)
        quality = (mean[i] + e.label_noise**2 / 2, model.initial_risk, model.response_variance)
        rows.append((*told, mean[i], error[i], runs[:, i].max(), *quality, *rates, len(runs)))
    columns = ["spectrum", "smallest", "axis", "algorithm", "gamma", "rho", "n", "d", "clip"]
    columns += ["excess_risk", "standard_error", "largest", "half_test_error", "zero_risk", "response_variance"]
    return pd.DataFrame(rows, columns=[*columns, "rate_1.2", "rate_1.3", "rate_1.4", "limit", "runs"])


def translation(rho: float) -> pd.DataFrame:
    """The log n of (1.2): ε² over ρ² log n, where ε is what ρ-Gaussian DP spends at δ = 1/n²."""
    rows = [(n, GaussianDP(rho).epsilon(n**-2.0)) for n in TRANSLATION_N]
    return pd.DataFrame([(n, e, (e / rho) ** 2 / math.log(n)) for n, e in rows], columns=["n", "epsilon", "ratio"])


def conversions() -> pd.DataFrame:
    """ε at δ of ρ²/2-zCDP by Proposition A.3, by (A.3), by way of Rényi divergences, and of ρ-Gaussian DP exactly."""
    rows = []
    for delta in DELTAS:
        for rho in RHOS:
            budget = ZeroConcentratedDP(rho**2 / 2)
            simple = 2 * rho * math.sqrt(math.log(1 / delta))
            condition = rho <= math.sqrt(math.log(1 / delta))
            exact = GaussianDP(rho).epsilon(delta)
            rows.append((rho, delta, budget.epsilon(delta), simple, budget.epsilon_best(delta), exact, condition))
    columns = ["rho", "delta", "proposition_a3", "equation_a3", "renyi", "exact", "condition"]
    return pd.DataFrame(rows, columns=columns)


@dataclass(frozen=True)
class IdentityCell:
    """One law of the features, for (1.1)."""

    law: str
    label_noise: float

    @property
    def key(self) -> int:
        """The law names the random stream."""
        return 10**9 + list(LAWS).index(self.law)


def identity_trial(cell: IdentityCell, *, rng: np.random.Generator) -> np.ndarray:
    """Half the mean squared error of a random θ on fresh records, less ζ²/2, over its risk; shape (1,)."""
    shape = spectrum.uniform(10)
    model = RegressionModel(shape, spectrum.projections(shape), cell.label_noise, LAWS[cell.law])
    theta = rng.standard_normal(shape.d)
    x, y = spectrum.sample(model, RECORDS, rng=rng)
    error = ((x @ theta - y) ** 2).mean() / 2 - cell.label_noise**2 / 2
    return np.array([error / float(model.risk(theta))])


def identity_rows(cell: IdentityCell, samples: np.ndarray) -> pd.DataFrame:
    """Mean ratio of the two sides of (1.1)."""
    mean, error = _fits.mean_and_error(samples)
    row = {"law": cell.law, "ratio": mean[0], "standard_error": error[0], "trials": len(samples)}
    return pd.DataFrame([row])
