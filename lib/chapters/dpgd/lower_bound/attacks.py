"""The tracing attack on algorithms, private and not: its score, the risk, and what both certify."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from companion import _fits
from costofprivacy._compiled import compiled
from costofprivacy.dpgd import descent, draws, lower_bound, spectrum, system, tuning
from costofprivacy.dpgd.clipping import descent_reduction
from costofprivacy.dpgd.descent import Configuration
from costofprivacy.dpgd.schedule import Constant, Harmonic, Polynomial, Schedule
from costofprivacy.dpgd.spectrum import RegressionModel
from costofprivacy.dpgd.update import averaged_step, best_averaged_risk, dot

ZERO, RIDGE, LEAST_SQUARES = "always zero", "ridge", "least squares"
OUTPUT, EVEN, HARMONIC = "output perturbation", "even noise", "harmonic"
WITHOUT, PRIVATE = (ZERO, RIDGE, LEAST_SQUARES), (OUTPUT, EVEN, HARMONIC)
MEASURES = ("score", "risk", "fresh", "fresh_square")
START = lower_bound.PRIOR_NORM / 2  # R(0) under the prior, Σ = I
COARSE = 1e-3  # relative, of a tuned risk: any schedule is a fair target
MULTIPLES = (1.0, 4.0)  # of the best learning rate of output perturbation
POSITIONS = 12  # records that are replaced, besides the first


@dataclass(frozen=True)
class Setting:
    """A dimension and number of records, and what the private algorithms share; Σ = I."""

    d: int
    n: int
    rho: float
    clip: float
    label_noise: float

    @property
    def gamma(self) -> float:
        """d/n."""
        return self.d / self.n

    @property
    def key(self) -> int:
        """Sizes and ρ name the random stream."""
        return 10**6 * self.d + 1000 * self.n + (0 if math.isinf(self.rho) else round(100 * self.rho))

    def draw(self, rng: np.random.Generator) -> tuple[RegressionModel, np.ndarray, np.ndarray]:
        """A θ* from the prior, and its records."""
        shape = spectrum.isotropic(self.d)
        model = RegressionModel(shape, lower_bound.draw_prior(self.d, rng=rng), self.label_noise)
        x, y = spectrum.sample(model, self.n, rng=rng)
        return model, x, y


def tune(cell: Setting, *, rng: np.random.Generator) -> np.ndarray:
    """(η̃(0), τ) of the three schedules that the deterministic equivalent finds best, shape (3, 2); nothing is drawn."""
    equations = system.isotropic(START, cell.gamma, cell.label_noise)
    rows = [tuning.best_rate(equations, family, cell.clip, cell.rho).initial for family in (Constant, root)]
    best = tuning.best_harmonic(equations, cell.clip, cell.rho, COARSE).schedule
    assert isinstance(best, Harmonic)
    return np.array([[rows[0], math.nan], [rows[1], math.nan], [best.scale / best.offset, best.offset]])


def root(rate: float) -> Polynomial:
    """The schedule with the same noise in every step."""
    return Polynomial(rate, 0.5)


@dataclass(frozen=True)
class AttackCell(Setting):
    """Algorithms that are attacked on the same records: private ones where ρ is finite."""

    rates: tuple[float, ...]
    offset: float

    @property
    def algorithms(self) -> tuple[str, ...]:
        """By name."""
        return WITHOUT if math.isinf(self.rho) else PRIVATE

    @property
    def configurations(self) -> list[Configuration]:
        """DP-GD, three ways."""
        first, second, third = self.rates
        plans: tuple[Schedule, ...] = (Constant(first), root(second), Harmonic(third * self.offset, self.offset))
        return [Configuration(self.clip, plan, self.rho) for plan in plans]


def attack(cell: AttackCell, *, rng: np.random.Generator) -> np.ndarray:
    """`MEASURES` of each algorithm in one trial, shape (3, 4)."""
    model, x, y = cell.draw(rng)
    if math.isinf(cell.rho):
        theta = _without_privacy(cell, x, y)
    else:
        theta = descent.descend_samples(x, y, cell.configurations, rng=rng)
    score = lower_bound.tracing_attack(x, y, model.target, theta).sum(axis=1)
    fresh = fresh_attacks(cell, model.risk(theta), rng)
    return np.column_stack([score, model.risk(theta), fresh.sum(axis=1), (fresh**2).mean(axis=1)])


def fresh_attacks(cell: Setting, risks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """z⟨x, θ − θ*⟩ on n records that no θ knows, for each risk, shape (risks, n).

    Given θ, ⟨x, θ − θ*⟩ is N(0, 2R(θ)) and independent of z ~ N(0, ζ²). Each algorithm has records of its own.
    """
    z, along = draws.normals((2, len(risks), cell.n), rng)
    return cell.label_noise * z * np.sqrt(2 * risks)[:, None] * along


def _without_privacy(cell: Setting, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Zero, the ridge estimator for the prior's variance 1/(7d), and least squares."""
    gram, moment = x.T @ x, x.T @ y
    penalty = cell.label_noise**2 * cell.d / lower_bound.PRIOR_NORM
    ridge = np.linalg.solve(gram + penalty * np.eye(cell.d), moment)
    return np.stack([np.zeros(cell.d), ridge, np.linalg.solve(gram, moment)])


def attack_rows(cell: AttackCell, samples: np.ndarray) -> pd.DataFrame:
    """Means with errors, and what follows: the least score by (D.140), the certified ρ, the bounds on the risk."""
    mean, error = _fits.mean_and_error(samples)
    rows = pd.DataFrame({"d": cell.d, "n": cell.n, "gamma": cell.gamma, "rho": cell.rho, "algorithm": cell.algorithms})
    for k, name in enumerate(MEASURES):
        rows[name], rows[f"{name}_error"] = mean[:, k], error[:, k]
    rows["whole"] = cell.label_noise**2 * cell.d
    rows["least_score"] = lower_bound.least_score(2 * mean[:, 1], cell.d, cell.label_noise)
    rows["certified"] = lower_bound.certified_rho(mean[:, 0], mean[:, 1], cell.n, cell.label_noise)
    rows["lower"] = lower_bound.privacy_bound(cell.gamma, cell.rho, cell.label_noise)
    rows["label_noise"] = cell.label_noise
    return rows.assign(trials=len(samples))


# ------------------------------------------------------------------------------------------- one record replaced


@dataclass(frozen=True)
class TwinCell(Setting):
    """Output perturbation at a multiple of its best learning rate.

    All noise is in the last step, so that E(L − 1)² is in closed form.
    """

    tuned: float
    multiple: float

    @property
    def rate(self) -> float:
        """η̃(0)."""
        return self.multiple * self.tuned

    @property
    def noise(self) -> float:
        """2Cσ_n, the standard deviation of the noise in a coordinate."""
        return 2 * self.clip * math.sqrt(self.d) * self.rate / self.n / self.rho

    @property
    def positions(self) -> np.ndarray:
        """The records that are replaced: the first, and the middles of equal parts."""
        return np.append(0, ((np.arange(POSITIONS) + 0.5) * self.n / POSITIONS).astype(int))


def twins(cell: TwinCell, *, rng: np.random.Generator) -> np.ndarray:
    """E(L_i − 1)² given the data for each replaced record, then Σ A_i and the risk, noise averaged out.

    Two releases are Gaussian with means T and T' and covariance s²I: then E(L − 1)² = exp(‖T − T'‖²/s²) − 1.
    """
    model, x, y = cell.draw(rng)
    others_x, others_y = spectrum.sample(model, len(cell.positions), rng=rng)
    theta = np.zeros((1 + len(cell.positions), cell.d))
    bound = cell.clip * math.sqrt(cell.d)
    _pass(theta, x, y, others_x, others_y, cell.positions, cell.rate / cell.n, bound)
    square = ((theta[1:] - theta[0]) ** 2).sum(axis=1) / cell.noise**2
    score = lower_bound.tracing_attack(x, y, model.target, theta[0]).sum()
    return np.array([*np.expm1(square), score, model.risk(theta[0]) + cell.d * cell.noise**2 / 2])


@compiled
def _pass(
    theta: np.ndarray,
    x: np.ndarray,
    y: np.ndarray,
    others_x: np.ndarray,
    others_y: np.ndarray,
    positions: np.ndarray,
    rate: float,
    bound: float,
) -> None:
    """All noiseless steps at a constant rate, in place: row 0 of ``theta`` on the data, row j with a record replaced.

    Replaced is the one at ``positions[j - 1]``; before it row j is row 0, from which it starts there.
    """
    for k in range(len(x)):
        square = dot(x[k], x[k])
        for j in range(1, len(theta)):
            if positions[j - 1] == k:
                theta[j] = theta[0]
                _step(theta[j], others_x[j - 1], others_y[j - 1], dot(others_x[j - 1], others_x[j - 1]), rate, bound)
            elif positions[j - 1] < k:
                _step(theta[j], x[k], y[k], square, rate, bound)
        _step(theta[0], x[k], y[k], square, rate, bound)


@compiled
def _step(theta: np.ndarray, x: np.ndarray, y: float, square: float, rate: float, bound: float) -> None:
    """θ ← θ − η̄ḡ, in place; ``square`` is ‖x‖²."""
    limit = bound / math.sqrt(square)
    length = min(rate, 2 / square) * min(max(dot(x, theta) - y, -limit), limit)
    for i in range(len(x)):
        theta[i] -= length * x[i]


def twin_tables(found: dict[TwinCell, np.ndarray]) -> dict[str, pd.DataFrame]:
    """Table ``records``, E(L_i − 1)² along the data, and ``chain``, the two sides of (D.144) link by link."""
    records, chain = [], []
    for cell, samples in found.items():
        mean, error = _fits.mean_and_error(samples)
        most = float(lower_bound.chi_square(cell.rho))
        place = {"d": cell.d, "n": cell.n, "gamma": cell.gamma, "rho": cell.rho, "multiple": cell.multiple}
        shares = {"record": 1 + cell.positions, "share": (1 + cell.positions) / cell.n}
        values = {"value": mean[:-2], "standard_error": error[:-2], "most": most}
        records.append(pd.DataFrame(place | shares | values))
        second = math.sqrt(2 * cell.label_noise**2 * mean[-1])
        first = cell.n * second * np.sqrt(mean[0])
        each = cell.n * second * np.sqrt(mean[1:-2]).mean()
        chain.append(
            place
            | {"rate": cell.rate, "score": mean[-2], "score_error": error[-2], "risk": mean[-1], "trials": len(samples)}
            | {"each": each, "first": first, "first_error": first * error[0] / (2 * mean[0])}
            | {"most": float(lower_bound.largest_score(mean[-1], cell.n, cell.label_noise, cell.rho))}
        )
    return {"records": pd.concat(records, ignore_index=True), "chain": pd.DataFrame(chain)}


# ---------------------------------------------------------------------------------- an algorithm that is better


@dataclass(frozen=True)
class RivalCell(Setting):
    """DP-GD with its best harmonic schedule against a pilot of it on a share of the records and one averaged step."""

    pilot_share: float

    @property
    def key(self) -> int:
        """Apart from the attack's."""
        return 10**12 + super().key

    @property
    def pilot_n(self) -> int:
        """Records of the pilot."""
        return round(self.pilot_share * self.n)


def rival_plans(cell: RivalCell, *, rng: np.random.Generator) -> np.ndarray:
    """For all records and for the pilot's: β, τ and the risk of the best harmonic schedule, shape (2, 3)."""
    rows = []
    for gamma in (cell.gamma, cell.d / cell.pilot_n):
        best = tuning.best_harmonic(system.isotropic(START, gamma, cell.label_noise), cell.clip, cell.rho, COARSE)
        assert isinstance(best.schedule, Harmonic)
        rows.append([best.schedule.scale, best.schedule.offset, best.risk])
    return np.array(rows)


@dataclass(frozen=True)
class RivalTrial(RivalCell):
    """The same with its schedules."""

    whole: tuple[float, float, float]
    pilot: tuple[float, float, float]

    @property
    def last_clip(self) -> float:
        """c of the averaged step."""
        return best_averaged_risk(self.pilot[2], self.d / (self.n - self.pilot_n), self.label_noise, self.rho)[1]

    @property
    def predicted(self) -> tuple[float, float]:
        """Both risks as d → ∞."""
        gamma = self.d / (self.n - self.pilot_n)
        return self.whole[2], best_averaged_risk(self.pilot[2], gamma, self.label_noise, self.rho)[0]


def rival_trial(cell: RivalTrial, *, rng: np.random.Generator) -> np.ndarray:
    """The risks of both on the same records, shape (2,)."""
    model, x, y = cell.draw(rng)
    whole, pilot = (Configuration(cell.clip, Harmonic(*plan[:2]), cell.rho) for plan in (cell.whole, cell.pilot))
    m = cell.pilot_n
    first = descent.descend_samples(x, y, [whole], rng=rng)[0]
    start = descent.descend_samples(x[:m], y[:m], [pilot], rng=rng)[0]
    mu = float(descent_reduction(cell.last_clip, cell.pilot[2] + cell.label_noise**2 / 2))
    second = averaged_step(start, x[m:], y[m:], cell.last_clip, cell.rho, mu, rng=rng)
    return model.risk(np.stack([first, second]))


def rival_rows(cell: RivalTrial, samples: np.ndarray) -> pd.DataFrame:
    """Simulated and predicted risks of both."""
    mean, error = _fits.mean_and_error(samples)
    place = {"d": cell.d, "n": cell.n, "gamma": cell.gamma, "rho": cell.rho}
    names = {"algorithm": [HARMONIC, "pilot and one step"]}
    values = {"risk": mean, "standard_error": error, "predicted": cell.predicted, "trials": len(samples)}
    return pd.DataFrame(place | names | values)
