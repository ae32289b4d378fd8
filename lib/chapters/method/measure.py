"""What is measured to choose a method: test errors at equal privacy and equal data, each method at its best."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from chapters.noisyhead import authors
from chapters.noisyhead.rivals import measure as rivals_measure
from chapters.ranges import DELTA, EPSILON, KAPPA, NOISE_OR_NONE, PENALTY, RHO, SEED, TRIALS, chance, count
from companion import _fits
from companion.declaration import Parameters, many, parameter
from companion.streams import Precision, Runner
from costofprivacy.dpgd import system
from costofprivacy.dpgd.schedule import Constant, Polynomial, Schedule
from costofprivacy.dpgd.system import System
from costofprivacy.dpgd.tuning import Best, best_harmonic, best_rate
from costofprivacy.noisyhead import accounts, dynamics, head, population, private_ridge
from costofprivacy.noisyhead.private_ridge import PrivateRidge
from costofprivacy.noisyhead.prompts import PromptModel
from costofprivacy.privacy import ApproximateDP

# ---- Regression ----
# One private regression by one pass over the data: what the deterministic equivalent says of each way to spend ρ.

ZERO_RISK = 0.5  # the excess risk of answering 0 where the response without its noise has variance one
SMALL, LARGE = 0.1, 4.0  # clipping constants: active throughout, and hardly ever
NOISE_AT_END, EVEN, HARMONIC, UNCLIPPED = (
    "DP-GD, noise at the end",
    "DP-GD, even noise",
    "DP-GD, harmonic",
    "DP-GD, harmonic, hardly clipped",
)
REGRESSION_ZERO, LEAST_SQUARES = "zero", "least squares, no privacy"
Finder = Callable[[System, float, float], Best]  # from the equations, c and ρ
WAYS: dict[str, tuple[Finder, float]] = {
    NOISE_AT_END: (lambda equations, clip, rho: best_rate(equations, Constant, clip, rho), SMALL),
    EVEN: (lambda equations, clip, rho: best_rate(equations, lambda rate: Polynomial(rate, 0.5), clip, rho), SMALL),
    HARMONIC: (best_harmonic, SMALL),
    UNCLIPPED: (best_harmonic, LARGE),
}


def table(records: Sequence[int], rhos: Sequence[float], label_noise: float) -> pd.DataFrame:
    """Half the test error of each method by records for each feature and ρ, each with its best first learning rate.

    Args:
        records: n/d, each at least 2. rhos: ρ > 0. label_noise: ζ ≥ 0. The features are isotropic.

    Returns:
        columns records, rho, method, rate (η̃(0)), offset (τ of the harmonic schedule), clip, excess_risk,
        half_test_error, half_response_variance.
    """
    rows = []
    for ratio in records:
        for rho in rhos:
            where = {"records": ratio, "rho": rho}
            for name, (_, clip) in WAYS.items():
                schedule, risk = best_schedule(name, 1 / ratio, rho, label_noise)
                knobs = {"rate": float(schedule(0.0)), "offset": getattr(schedule, "offset", np.nan), "clip": clip}
                rows.append(where | {"method": name} | knobs | {"excess_risk": risk})
            others = {REGRESSION_ZERO: ZERO_RISK, LEAST_SQUARES: least_squares(1 / ratio, label_noise)}
            rows += [where | {"method": name, "excess_risk": risk} for name, risk in others.items()]
    noise = label_noise**2 / 2
    found = pd.DataFrame(rows)
    return found.assign(half_test_error=found["excess_risk"] + noise, half_response_variance=ZERO_RISK + noise)


def best_schedule(way: str, gamma: float, rho: float, label_noise: float) -> tuple[Schedule, float]:
    """The schedule of a way with the least released risk, and that risk."""
    find, clip = WAYS[way]
    best = find(system.isotropic(ZERO_RISK, gamma, label_noise), clip, rho)
    return best.schedule, best.risk


def least_squares(gamma: float, label_noise: float) -> float:
    """The expected excess risk of least squares on n > d + 1 Gaussian records, ζ²γ/(2(1 − γ)) as d grows."""
    return label_noise**2 * gamma / (2 * (1 - gamma))


# ---- The experiment ----

RIDGE, HEAD, OPEN, ZERO, LINEAR = "DP-ridge", "NoisyHead, last iterate", "ridge, no privacy", "zero", "best linear head"
PRIVATE = (RIDGE, HEAD)
BEST, PAPERS = "best", "the paper's"
# Without privacy the best penalty is none at all: the grid goes on to where its error no longer falls.
PENALTIES = (*np.geomspace(1e-6, 1e-3, 25)[:-1], *rivals_measure.GRID)


@dataclass(frozen=True)
class Cell(authors.OfLowDimension):
    """One number of prompts, with the best penalty of each private method at each budget."""

    N: int
    D: int
    delta: float
    failure: float
    label_noise: float
    tuned: tuple[tuple[float, float, float], ...]
    """For each budget: ε, the penalty of DP-ridge, and that of NoisyHead."""


def trial(cell: Cell, *, rng: np.random.Generator) -> np.ndarray:
    """Test errors on one draw of the prompts, clipped and projected: for each ε, DP-ridge and NoisyHead's last iterate.

    Clipping and projection do not depend on the penalty, so that all methods see the same statistics. The last number
    is the largest norm of a released head over its R: below one, Π_R is idle and the draw has the law of Algorithm 1.
    """
    first = rivals_measure.corrected_at(cell.model, cell.N, cell.failure, cell.tuned[0][1])
    _, clipped = head.sample_statistics(cell.model, cell.N, first.clip_norm, rng=rng)
    data = head.moments(head.project(clipped, first.feature_bound))
    released, reached = [], 0.0
    for epsilon, at_ridge, at_head in cell.tuned:
        budget = ApproximateDP(epsilon, cell.delta)
        told = PrivateRidge(first.clip_norm, first.feature_bound, at_ridge, cell.N)
        released.append(private_ridge.release(data, told, [private_ridge.noise_std(told, budget)], rng=rng))
        hyper = rivals_measure.corrected_at(cell.model, cell.N, cell.failure, at_head)
        std = accounts.noise_std(accounts.LAST, hyper, budget, cell.N, hyper.steps)
        released.append(dynamics.simulate(data, hyper, std, rng=rng)[None])
        reached = max(reached, float(np.linalg.norm(released[-1])) / hyper.weight_bound)
    return np.append(population.prediction_error(cell.model, np.concatenate(released)), reached)


class Experiment(Parameters):
    """Methods side by side: for prompts of many small regressions, and for one regression."""

    N: tuple[int, ...] = many(count(4, 10**7), 1000, 4000, 16000, 64000)
    """Numbers of training prompts; L is the integer part of their square root."""
    D: int = parameter(count(2, 1000), 5, published=True)
    epsilon: tuple[float, ...] = many(EPSILON, 0.2, 1.0, 4.0)
    delta: float = parameter(DELTA, 1e-5, published=True)
    failure: float = parameter(KAPPA, 1.0, published=True)
    penalty: float = parameter(PENALTY, 5.0, published=True)
    label_noise: float = parameter(NOISE_OR_NONE, 0.0, published=True)
    records: tuple[int, ...] = many(count(2, 10**9), 3, 10, 30, 100, 300, 1000)
    """Records for each feature, n/d, in the one regression."""
    rho: tuple[float, ...] = many(RHO, 0.1, 1.0)
    regression_noise: float = parameter(NOISE_OR_NONE, 0.3)
    """Standard deviation of the label noise in the one regression."""
    trials: int = parameter(TRIALS, 50)
    """The most trials that a size may have; `precision` says how many it needs."""
    precision: float = parameter(chance(1e-4, 0.5), 0.05)
    """Standard error of a mean test error of the algorithms, as a share of it."""
    seed: int = parameter(SEED, 11)

    def run(self, runner: Runner) -> dict[str, pd.DataFrame]:
        """Tables ``prompts`` (closed forms), ``checked`` (the algorithms themselves) and ``regression`` (equations)."""
        prompts = pd.concat([self._at(N, epsilon) for N in self.N for epsilon in self.epsilon], ignore_index=True)
        return {
            "prompts": prompts,
            "checked": self._checked(runner, prompts),
            "regression": table(self.records, self.rho, self.regression_noise),
        }

    def _at(self, N: int, epsilon: float) -> pd.DataFrame:
        """Test error of each method at one size and budget, at its best penalty and at the paper's."""
        model = PromptModel(self.D, math.isqrt(N), self.label_noise)
        budget = ApproximateDP(epsilon, self.delta)
        errors = rivals_measure.penalties(model, self.failure, N, budget, PENALTIES)
        best = errors.loc[errors.groupby("method", sort=False)["test_error"].idxmin()].assign(choice=BEST)
        papers = rivals_measure.penalties(model, self.failure, N, budget, (self.penalty,)).assign(choice=PAPERS)
        others = {ZERO: model.response_variance, LINEAR: population.best_prediction_error(model)}
        rows = [{"method": name, "test_error": error, "choice": BEST} for name, error in others.items()]
        shared = {"N": N, "epsilon": epsilon, "response_variance": model.response_variance}
        return pd.concat([best, papers, pd.DataFrame(rows).assign(**shared)], ignore_index=True)

    def _checked(self, runner: Runner, prompts: pd.DataFrame) -> pd.DataFrame:
        """The private methods at their best penalties, run with clipping, projections and noise."""
        best = prompts[prompts["choice"] == BEST].set_index(["N", "epsilon", "method"])["penalty"]
        cells = [
            self.shared(Cell, N=N, tuned=tuple((e, *(best[N, e, method] for method in PRIVATE)) for e in self.epsilon))
            for N in self.N
        ]
        wanted = Precision(self.precision, self.trials, of=lambda values: values[:, :-1])
        samples = runner.run(trial, cells, wanted, self.seed)
        return pd.DataFrame([row for cell, values in samples.items() for row in _rows(cell, values)])


def _rows(cell: Cell, values: np.ndarray) -> Iterator[dict[str, object]]:
    """What a size found, for each budget and method: ``steps`` are NoisyHead's, ``norm_over_R`` as in `trial`."""
    mean, error = _fits.mean_and_error(values[:, :-1])
    moments = iter(zip(mean, error))
    for epsilon, *penalties in cell.tuned:
        for method, penalty in zip(PRIVATE, penalties):
            hyper = rivals_measure.corrected_at(cell.model, cell.N, cell.failure, penalty)
            row = {"N": cell.N, "epsilon": epsilon, "method": method, "penalty": penalty}
            row["steps"] = hyper.steps if method == HEAD else 1
            row["test_error"], row["standard_error"] = next(moments)
            yield row | {"trials": len(values), "norm_over_R": values[:, -1].max()}
