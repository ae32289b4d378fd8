"""Each gap between a correct ε and a safe release, as a measured attack at the same nominal budget."""

import itertools
import math
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from scipy.special import log_ndtr
from sklearn.utils.validation import check_array

from chapters.privacy.what_this_does_not_protect import version_0_7_0
from chapters.ranges import SEED, amount, chance, count
from companion._fits import mean_and_error
from companion.declaration import Parameters, many, parameter
from companion.streams import Runner, generator
from costofprivacy._compiled import compiled
from costofprivacy.dpgd import onepass
from costofprivacy.dpgd.descent import Configuration, StepTable, step_table
from costofprivacy.dpgd.schedule import Constant
from costofprivacy.dpgd.update import BLOCK, adapted_rates, advance, coefficients
from costofprivacy.estimators import DPGDRegressor, PrivateLinearRegression, search_plans
from costofprivacy.estimators.scaling import Scale, public_scale
from costofprivacy.noisyhead import covariance_head, head, private_ridge
from costofprivacy.noisyhead.prompts import Prompts
from costofprivacy.noisyhead.ridge import ridge
from costofprivacy.privacy import ApproximateDP, GaussianDP, GaussianMechanism, audit_mechanism, detectable, selection
from costofprivacy.privacy.advantage import Advantage, largest_advantage, of_decisions, of_scores
from costofprivacy.privacy.audit import each_of
from costofprivacy.privacy.evidence import epsilon_lower_bound
from costofprivacy.privacy.groups import group, group_approximate
from costofprivacy.privacy.low_bits import could_have_come_from, discrete_gaussian
from costofprivacy.rivals import objective_perturbation

# ---- The neighbours of every attack: the last record's gradient is clipped, and turned about ----
#
# **Many releases of one data set.** The schedule is constant, so all noise comes with the last step. What
# `dpgd.onepass` computes before the last block, Θ, and what the block's data part moves it by, v = Σ a_k x_k, are then
# the same in every release: a_k reads the noise of earlier steps alone, which is 0. The release is Θ + (s b − v) with
# one normal vector b, in this order of operations, so that releases come out as those of `fit` from the same
# generator, to the last bit.

CLIP, RATE = 0.1, 3.0  # c and η̃: a constant schedule, all noise at the end
FAR = 1e3  # a response that is clipped whatever the coefficients
NOISE = 0.3  # ζ
STREAM = 2**32  # of the data, beside those of the trials


def fit(X: np.ndarray, y: np.ndarray, rho: float, random_state: Any) -> np.ndarray:
    """The coefficients that ``DPGDRegressor`` releases with these settings, to the last bit, for ρ in (0, ∞].

    Its arguments: clip = `CLIP`, schedule = Constant(`RATE`), no intercept, no shuffling. The estimator also solves the
    equations that promise a risk; thousands of fits go without.
    """
    rng, configuration = np.random.default_rng(random_state), Configuration(CLIP, Constant(RATE), rho)
    return onepass.release([(X, y)], configuration, *X.shape, rng=rng).theta


def noiseless(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """`fit` without noise to rounding, by steps one after the other: in few dimensions faster than in blocks."""
    n, d = X.shape
    return _one_pass(np.ascontiguousarray(X), y, RATE / n, CLIP * math.sqrt(d))


@compiled
def _one_pass(X: np.ndarray, y: np.ndarray, rate: float, clip_norm: float) -> np.ndarray:
    theta = np.zeros(X.shape[1])
    for k in range(len(X)):
        residual, square = -y[k], 0.0
        for i in range(len(theta)):
            residual += X[k, i] * theta[i]
            square += X[k, i] ** 2
        bound = clip_norm / math.sqrt(square)
        length = min(rate, 2 / square) * max(-bound, min(residual, bound))
        for i in range(len(theta)):
            theta[i] -= length * X[k, i]
    return theta


def noise_std(n: int, d: int, rho: float) -> float:
    """Standard deviation of the noise of `fit` in each coordinate, all of it in the last step."""
    return float(_last_step(n, d, rho).noise_std[0, 0])


def _last_step(n: int, d: int, rho: float) -> StepTable:
    return step_table([Configuration(CLIP, Constant(RATE), rho)], n, d, n - 1, n)


@dataclass(frozen=True)
class Pair:
    """n records of dimension d, and a neighbour: the last one's response is FAR, or −FAR.

    The last step moves by ηC along its features, in the one direction or in the other: the release of the one data set
    is a Gaussian whose mean is exactly ρ standard deviations from that of the other. No neighbours are easier.

    Args:
        n: records. d: dimension, at least 1. rho: ρ of a fit. seed: of the data.
    """

    n: int
    d: int
    rho: float
    seed: int

    @cached_property
    def data(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        rng = generator(self.seed, STREAM, self.n)
        X = rng.standard_normal((self.n, self.d))
        y = X @ np.full(self.d, 1 / math.sqrt(self.d)) + NOISE * rng.standard_normal(self.n)
        X[-1] = np.sign(X[-1])
        return X, np.append(y[:-1], FAR), np.append(y[:-1], -FAR)

    def fit(self, which: int, random_state: Any, rho: float | None = None) -> np.ndarray:
        """The coefficients of one fit of the first (0) or the second (1) data set; ρ = ∞ has no noise."""
        return fit(self.data[0], self.data[1 + which], self.rho if rho is None else rho, random_state)

    def noise_alone(self, random_state: Any) -> np.ndarray:
        """The coefficients of a fit of as many empty records: the noise of that seed, and nothing else."""
        return fit(np.zeros((self.n, self.d)), np.zeros(self.n), self.rho, random_state)

    def releases(self, which: int, normals: np.ndarray) -> np.ndarray:
        """`fit` of the first (0) or the second (1) data set with these normals, shape (releases, d), bit for bit."""
        start, moved = self._last_block[which]
        return np.asarray(start + (normals * self.noise_std - moved))

    @cached_property
    def _last_block(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """θ before the last block of each data set, and Σ a_k x_k in it."""
        X, *responses = self.data
        rates, none = np.full((BLOCK, 1), self._steps.learning_rates[0, 0]), np.zeros((BLOCK, 1))
        last, found = (self.n - 1) // BLOCK * BLOCK, []
        for y in responses:
            theta = np.zeros((self.d, 1))
            for first in range(0, last + 1, BLOCK):
                rows = slice(first, first + BLOCK)
                x, m = X[rows], len(X[rows])
                told = (y[rows], np.zeros_like(x), rates[:m], none[:m], self._steps.clip_norm)
                if first == last:
                    found.append((theta[:, 0].copy(), (x.T @ coefficients(theta, x, *told))[:, 0]))
                advance(theta, x, *told)
        return found

    @cached_property
    def clean(self) -> tuple[np.ndarray, np.ndarray]:
        return self.fit(0, 0, math.inf), self.fit(1, 0, math.inf)

    def score(self, released: np.ndarray) -> np.ndarray:
        """The likelihood ratio's statistic of releases, shape (..., d): large for the first data set."""
        return released @ (self.clean[0] - self.clean[1])

    @cached_property
    def noise_std(self) -> float:
        """Standard deviation of the noise in each coordinate, as the fit has it, to the last bit."""
        return float(self._steps.noise_std[0, 0])

    @cached_property
    def _steps(self) -> StepTable:
        return _last_step(self.n, self.d, self.rho)


# ---- Seeds: the noise is computed again and subtracted, and few seeds can be tried one by one ----

RELEASED, UNDONE = "released", "less the noise of its seed"
LISTED, UNKNOWN = "seed from a short list", "seed unknown"
SECRET_SEED = 20_261_122


def undone(pair: Pair) -> pd.DataFrame:
    """How far the release is from the fit without noise, and how far it is less a fit of empty records, same seed."""
    released, clean = pair.fit(0, SECRET_SEED), pair.clean[0]
    values = {RELEASED: released, UNDONE: released - pair.noise_alone(SECRET_SEED)}
    rows = [{"what": name, "distance": float(np.linalg.norm(value - clean))} for name, value in values.items()]
    return pd.DataFrame(rows).assign(noise=pair.noise_std * np.sqrt(pair.d), n=pair.n, d=pair.d)


def attacks(pair: Pair, trials: int, guesses: int, seed: int) -> pd.DataFrame:
    """The advantage of two attackers who know all records but the response of the last.

    One fits the first data set with each seed of a list, and compares bits. One knows no seed and takes the likelihood
    ratio, the best that there is.
    """
    rng = generator(seed, 0, 0)
    noise = np.array([np.random.default_rng(s).standard_normal(pair.d) for s in range(guesses)])
    tried = {released.tobytes() for released in pair.releases(0, noise)}
    used = rng.integers(guesses, size=(2, trials))
    bits = [np.array([released.tobytes() in tried for released in pair.releases(k, noise[used[k]])]) for k in (0, 1)]
    scores = [pair.score(pair.releases(k, rng.standard_normal((trials, pair.d)))) for k in (0, 1)]
    found = {LISTED: of_decisions(bits[0], bits[1]), UNKNOWN: of_scores(scores[0], scores[1])}
    return pd.DataFrame([row(name, told, GaussianDP(pair.rho)) for name, told in found.items()]).assign(guesses=guesses)


def row(attack: str, told: Advantage, promised: GaussianDP) -> dict[str, object]:
    """A measured advantage beside the largest that the guarantee allows."""
    return {
        "attack": attack,
        "advantage": told.value,
        "standard_error": told.standard_error,
        "hits": told.hits,
        "false_alarms": told.false_alarms,
        "trials": told.releases,
        "bound": largest_advantage(promised),
    }


# ---- The last bits: what they prove about the value below the noise, and what rounding hides of them ----

RATIOS = (0.001, 0.01, 0.1, 0.3, 1.0, 3.0, 10.0, 100.0)  # the value over the noise
KEPT_BITS = (52, 51, 50, 49, 48, 44, 40)  # of a number of the noise's size, when releases are rounded
UNIT = 0.731  # the noise: any number that is no power of 2
MECHANISM, ESTIMATOR, ROUNDED, DISCRETE = "Gaussian mechanism", "DPGDRegressor", "rounded", "discrete Gaussian"
GRID = 64  # units of the discrete Gaussian's grid to a standard deviation
STREAM_ESTIMATOR = 10**6
MOST_CANDIDATES = 16  # doubles of a cell that are tried
ESTIMATOR_RECORDS = 32  # a pass of one block: its release is one rounded sum


def by_ratio(dimensions: Sequence[int], rho: float, trials: int, seed: int) -> pd.DataFrame:
    """The advantage of "this cannot have come from the second" by the value's size and the number of coordinates."""
    rows, mechanism = [], GaussianMechanism(UNIT * rho, 1 / rho)  # its noise is this product, to the last bit
    for d in dimensions:
        for k, ratio in enumerate(RATIOS):
            rng = generator(seed, d, k)
            first, direction = ratio * UNIT * rng.standard_normal(d), rng.standard_normal(d)
            second = first + rho * UNIT * direction / np.linalg.norm(direction)
            made = [mechanism.release(np.tile(value, (trials, 1)), rng=rng) for value in (first, second)]
            says_first = [
                np.logical_not(could_have_come_from(y, second, mechanism.noise_std).all(axis=1)) for y in made
            ]
            rows.append({"d": d, "ratio": ratio} | row(MECHANISM, of_decisions(*says_first), GaussianDP(rho)))
    return pd.DataFrame(rows)


def of_estimator(d: int, rho: float, trials: int, seed: int) -> pd.DataFrame:
    """The same attack on the estimator's own coefficients, and on the same releases rounded afterwards."""
    pair, rng = Pair(ESTIMATOR_RECORDS, d, rho, seed), generator(seed, d, STREAM_ESTIMATOR)
    fits = [pair.releases(k, rng.standard_normal((trials, d))) for k in (0, 1)]
    says_first = [np.logical_not(could_have_come_from(y, pair.clean[1], pair.noise_std).all(axis=1)) for y in fits]
    rows = [row(ESTIMATOR, of_decisions(*says_first), GaussianDP(rho)) | {"bits": math.nan}]
    for bits in KEPT_BITS:
        unit = 2.0 ** (math.floor(math.log2(pair.noise_std)) - bits)
        rounded = [np.round(y / unit) * unit for y in fits]
        says = [np.logical_not(_could_round_to(y, pair.clean[1], pair.noise_std, unit).all(axis=1)) for y in rounded]
        rows.append(row(ROUNDED, of_decisions(*says), GaussianDP(rho)) | {"bits": bits})
    return pd.DataFrame(rows).assign(d=d)


def _could_round_to(released: np.ndarray, value: np.ndarray, noise_std: float, unit: float) -> np.ndarray:
    """Whether some release that could have come from the value rounds to this one.

    Where a cell holds few doubles all are tried; where it holds many, one of them could have.
    """
    step = np.minimum(np.spacing(np.abs(released)), np.spacing(np.abs(released - value)))
    found = unit / step > MOST_CANDIDATES
    for k in range(-MOST_CANDIDATES // 2, MOST_CANDIDATES // 2 + 1):
        tried = released + k * step
        found |= could_have_come_from(tried, value, noise_std) & (np.round(tried / unit) * unit == released)
    return found


def of_discrete(rho: float, trials: int, seed: int) -> pd.DataFrame:
    """The advantage of the best attack, the likelihood ratio's, on a discrete Gaussian around a whole number.

    It releases whole numbers, and each has a positive probability whatever the value: there is nothing to rule out.
    """
    rng, moved = generator(seed, GRID, STREAM_ESTIMATOR), round(rho * GRID)
    noise = discrete_gaussian(GRID**2, 2 * trials, rng=rng).reshape(2, trials)
    told = of_scores(noise[0] + moved, noise[1])
    return pd.DataFrame([row(DISCRETE, told, GaussianDP(moved / GRID))]).assign(grid=GRID)


# ---- Scaling by private data: one record moves the scale, and the scale moves what is released ----

STANDARD, RANGE, PUBLIC = "mean and variance of the data", "least and largest of the data", "public bounds"
BOUND = 3.0  # public: features are clipped to ±3
SIZES = (1.0, 3.0, 10.0, 30.0, 100.0, 1000.0)  # of the one record's feature, in standard deviations


@dataclass(frozen=True)
class Cell:
    """All ways to scale and all sizes of the one record that may be there, with all that a fit needs."""

    n: int
    d: int
    rho: float
    key: ClassVar[int] = 1  # all ways and sizes see the same records and the same noise


def trial(cell: Cell, *, rng: np.random.Generator) -> np.ndarray:
    """Scores −log |coef_| of feature 1, of a release with the record and of one without, shape (ways, sizes, 2)."""
    X = rng.standard_normal((cell.n, cell.d))
    y = X.sum(axis=1) / np.sqrt(cell.d) + NOISE * rng.standard_normal(cell.n)
    noise = noise_std(cell.n, cell.d, cell.rho) * rng.standard_normal((2, cell.d))
    scores = np.empty((len(SCALES), len(SIZES), 2))
    with_it = X.copy()
    for k, scaled in enumerate(SCALES.values()):
        scores[k, :, 1] = _score(scaled(X), X, y, noise[1])
        for j, size in enumerate(SIZES):
            with_it[-1, 0] = size
            scores[k, j, 0] = _score(scaled(with_it), with_it, y, noise[0])
    return scores


def _score(scale: Scale, X: np.ndarray, y: np.ndarray, noise: np.ndarray) -> float:
    coefficients = (noiseless(scale.apply(X), y) + noise) / scale.scale
    return -float(np.log(np.abs(coefficients[0])))


SCALES: dict[str, Callable[[np.ndarray], Scale]] = {
    STANDARD: lambda X: public_scale("feature", None, X.mean(axis=0), X.std(axis=0), X.shape[1]),
    RANGE: lambda X: public_scale("feature", (X.min(axis=0), X.max(axis=0)), 0.0, 1.0, X.shape[1]),
    PUBLIC: lambda X: public_scale("feature", (-BOUND, BOUND), 0.0, 1.0, X.shape[1]),
}


def scaling(runner: Runner, n: int, d: int, rho: float, trials: int, seed: int) -> pd.DataFrame:
    """The advantage of an attack on each way to scale, by the size of the record that may be there."""
    cell = Cell(n, d, rho)
    scores, rows = runner.run(trial, [cell], trials, seed)[cell], []
    for (k, way), (j, size) in itertools.product(enumerate(SCALES), enumerate(SIZES)):
        told = of_scores(scores[:, k, j, 0], scores[:, k, j, 1])
        rows.append({"way": way, "size": size, "n": n} | row(way, told, GaussianDP(rho)))
    return pd.DataFrame(rows)


# ---- Guarantees that were false until 0.15.0: what an attack gained then, and what it gains now ----
#
# The old numbers come from the arithmetic that decided then, which stands here, the new ones from the library itself.

READING, COUNT, NARROW = "two ways to read a cell", "a search that shows its number of runs", "a budget of 8 bits"
GAINED = {
    READING: "$\\varepsilon$ that 40 fits of each data set prove",
    COUNT: "$\\delta$ at the claimed $\\varepsilon$",
    NARROW: "$\\rho$ that is spent over the one that is stated",
}
EPSILON, DELTA = 1.0, 1e-6
RECORDS, FITS, CONFIDENCE = 3000, 40, 0.999
SLOPE, BETWEEN = 2.0, 1.0  # of the response on the stay, and what tells the two data sets apart
SETTINGS = 10  # of the search
ENOUGH = 40  # times the mean: more runs have a probability below 10⁻¹⁷
MU = np.uint8(17)  # its square leaves the whole numbers of 8 bits


def converted(cells: list[list[Any]]) -> np.ndarray:
    """What 0.15.0 made of cells: what NumPy makes of all of them together, and only if that fails of each."""
    try:
        return np.array(cells, dtype=np.float64)
    except (TypeError, ValueError):
        return np.array([[_alone(cell) for cell in row] for row in cells])


def _alone(cell: Any) -> float:
    try:
        return float(cell)
    except (TypeError, ValueError):
        return math.nan


def neighbours() -> tuple[list[list[Any]], list[list[Any]], np.ndarray]:
    """Stays as durations beside ages, of which one is a word on the second data set; and the responses."""
    days = np.arange(RECORDS) % 10
    cells: list[list[Any]] = [[np.timedelta64(int(day), "D"), 20.0 + k % 60] for k, day in enumerate(days)]
    return cells, [*cells[:-1], [cells[-1][0], "unknown"]], SLOPE * days


def _reading(seed: int) -> tuple[float, float, float]:
    """A word in one record made all others void: without it the slope is near 2, with it near 0."""
    *both, y = neighbours()
    before, now = ([_high(read(cells), y, seed) for cells in both] for read in (converted, list))
    proved = [
        max(epsilon_lower_bound((a, b), FITS, DELTA, CONFIDENCE) for a, b in (hits, hits[::-1]))
        for hits in (before, now)
    ]
    return EPSILON, proved[0], proved[1]


def _high(X: Any, y: np.ndarray, seed: int) -> int:
    bounds = np.array([0, 20]), np.array([9, 79])
    told: dict[str, Any] = {"feature_bounds": bounds, "response_bounds": (0, 18), "not_finite": "void"}
    found = 0
    for k in range(FITS):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = PrivateLinearRegression(epsilon=EPSILON, delta=DELTA, random_state=seed + k, **told)
            found += model.fit(X, y).coef_[0] > BETWEEN
    return int(found)


def _count() -> tuple[float, float, float]:
    """The search printed the warnings of each run, so that its number of runs could be counted."""
    plan = search_plans.random_number(ApproximateDP(EPSILON, DELTA), SETTINGS)
    assert plan.mean_runs is not None
    return DELTA, seen(plan.score, plan.mean_runs, EPSILON), unseen(plan.score, plan.mean_runs, EPSILON)


def seen(run: GaussianDP, mean_runs: float, epsilon: float) -> float:
    """δ at ε of the best score of a geometric number of runs and of that number, by a half-line for each number.

    Given k, the best of k scores is below t with probability Φ(t)^k, or Φ(t − μ)^k.
    """
    stop, sides = 1 / mean_runs, _scores(run)
    total = np.zeros(2)
    for k in range(1, round(ENOUGH * mean_runs)):
        below, shifted = (np.exp(k * side) for side in sides)
        total += stop * (1 - stop) ** (k - 1) * _half_lines(below, shifted, epsilon)
    return float(total.max())


def unseen(run: GaussianDP, mean_runs: float, epsilon: float) -> float:
    """The same where the number stays secret."""
    stop = 1 / mean_runs
    below, shifted = (stop * np.exp(side) / (1 - (1 - stop) * np.exp(side)) for side in _scores(run))
    return float(_half_lines(below, shifted, epsilon).max())


def _scores(run: GaussianDP) -> tuple[np.ndarray, np.ndarray]:
    t = np.linspace(-12.0, 12.0 + run.mu, 20_001)
    return log_ndtr(t), log_ndtr(t - run.mu)


def _half_lines(below: np.ndarray, shifted: np.ndarray, epsilon: float) -> np.ndarray:
    """The largest P − e^ε Q over half-lines, in both orders, at least 0; shape (2,)."""
    weight = math.exp(epsilon)
    orders = ((below, shifted), (shifted, below))
    return np.array([max(0.0, (p - weight * q).max(), (1 - p - weight * (1 - q)).max()) for p, q in orders])


def _narrow() -> tuple[float, float, float]:
    """ρ = μ²/2 was computed in the type of μ."""
    spent = float(MU) ** 2 / 2
    with np.errstate(over="ignore"):
        stated = float(MU**2) / 2
    return 1.0, spent / stated, spent / GaussianDP(MU).to_zero_concentrated().rho  # type: ignore[arg-type]


# ---- The population: a correct ε permits to learn about everyone, also about those who are not in the data ----

STRANGERS = 2000


@dataclass(frozen=True)
class PopulationCell:
    """A number of records of dimension d, and ρ."""

    n: int
    d: int
    rho: float

    @property
    def key(self) -> int:
        return self.n


def population_trial(cell: PopulationCell, *, rng: np.random.Generator) -> np.ndarray:
    """Share of the response's variance explained for members and for strangers, and the advantage of guessing which.

    Who has a squared residual below the median of both is taken for a member.
    """
    theta = np.full(cell.d, 1 / np.sqrt(cell.d))
    X = rng.standard_normal((cell.n + STRANGERS, cell.d))
    y = X @ theta + NOISE * rng.standard_normal(len(X))
    model = DPGDRegressor(mu=cell.rho, fit_intercept=False)._fit(X[: cell.n], y[: cell.n], rng)
    residual = (y - model.predict(X)) ** 2
    members, strangers = residual[: cell.n], residual[cell.n :]
    level = np.median(np.concatenate([members[:STRANGERS], strangers]))
    advantage = float(np.mean(members <= level) - np.mean(strangers <= level))
    return np.array([1 - members.mean() / y.var(), 1 - strangers.mean() / y.var(), advantage])


def population_table(
    runner: Runner, sizes: tuple[int, ...], d: int, rho: float, trials: int, seed: int
) -> pd.DataFrame:
    """Means over trials with their standard errors, by the number of records."""
    rows = []
    for cell, values in runner.run(population_trial, [PopulationCell(n, d, rho) for n in sizes], trials, seed).items():
        mean, error = mean_and_error(values)
        found = dict(zip(("members", "strangers", "advantage"), mean, strict=True))
        found |= dict(zip(("members_error", "strangers_error", "standard_error"), error, strict=True))
        rows.append({"n": cell.n, "d": d} | found | {"bound": largest_advantage(GaussianDP(rho)), "trials": trials})
    return pd.DataFrame(rows)


# ---- Guarantees that were false until 0.7.0: what an attack gained then, and what it gains now ----
#
# A row compares what one replaced record can do with what the guarantee allows it to do. Most need no trials: the
# record is fixed, and so is what it does.

QUERY, RECORD = 16, 17  # their squares leave the whole numbers of 8 bits: 256, 289
G = 0.8
LARGE, SMALL = 2**17, 60_000  # prompts of a sum in single precision
SOLVED_EPSILON, SHARE, RESPONSE, SOLVED_RECORDS = 2.0, 0.9, 1.1, 450_000  # objective perturbation with B = C = 1
NEAR = 0.5  # of the minimum
SECRET = "secret"
REPAIRED_STREAM = 5

INTEGERS, STEPS, SINGLE = "whole numbers of 8 bits: a query", "whole numbers of 8 bits: a step", "single precision"
RIDGE = "tokens longer than one"
SOLVER, GENERATOR, MESSAGE = "objective perturbation", "a generator as seed", "an error message"
REPAIRED_GAINED = {
    INTEGERS: "length of a projected prompt",
    STEPS: "factor by which a step expands a distance",
    SINGLE: "how far a prompt moves a mean",
    RIDGE: "how far a prompt moves the ridge solution",
    SOLVER: "advantage of telling neighbours apart",
    GENERATOR: "share of the noise that can be subtracted",
    MESSAGE: "cells of the data that it quotes",
}


def repaired_table(pair: Pair, trials: int, seed: int) -> pd.DataFrame:
    """What each attack gained in 0.7.0 and gains now, beside what the guarantee allows, in the fault's own unit.

    Each gain has its standard error, 0 where nothing is random. The old solver makes ``trials`` releases of each data
    set, the new one a tenth of them.
    """
    rows = [_integers(), _steps(), _single(), _ridge(), _solver(trials, seed), _generator(pair, seed), _message()]
    return pd.DataFrame([{"fault": name} | row for name, row in zip(REPAIRED_GAINED, rows, strict=True)])


def _row(allowed: float, before: float, now: float, errors: tuple[float, float] = (0.0, 0.0)) -> dict[str, float]:
    return {"allowed": allowed, "before": before, "now": now, "before_error": errors[0], "now_error": errors[1]}


def _integers() -> dict[str, float]:
    """A query of 8 bits whose square is 0 in its own type."""
    x = np.array([[[1], [QUERY]]], dtype=np.uint8)
    prompts = Prompts(x, np.ones((1, 2)), np.zeros((1, 1)))
    now = head.project(head.statistics(prompts), G)
    return _row(G, version_0_7_0.projected_norm(x[0, -1], G), float(np.linalg.norm(now.Z)))


def _steps() -> dict[str, float]:
    x = np.array([RECORD], dtype=np.int8)
    now = abs(1 - float(adapted_rates(1.0, x)) * RECORD**2)
    return _row(1.0, version_0_7_0.step_slope(x, 1.0), now)


def _single() -> dict[str, float]:
    """One of 191,073 prompts replaced: its sign decides whether the sum is below a power of two, or beyond.

    Beyond it the sum loses the small terms that follow, one by one; below it keeps them all.
    """
    one, small = np.array([1.0, 1.0]), 2.0**-4 * np.array([1.0, -1.0])
    tokens = np.concatenate([np.tile(one, (LARGE + 1, 1)), np.tile(small, (SMALL, 1))])
    x = tokens[:, None].astype(np.float32)
    other = x.copy()
    other[0] = np.array([1.0, -1.0])
    then, now = (
        float(np.linalg.norm(moment(x).astype(float) - moment(other).astype(float)))
        for moment in (version_0_7_0.token_moment, covariance_head.token_moment)
    )
    return _row(math.sqrt(2) / len(x), then, now)


def _ridge() -> dict[str, float]:
    """A prompt whose tokens are longer than one, so that ‖Z‖ reaches G although its responses stay below C < G.

    The distance is the same then and now. What was claimed of it was wrong: ``before`` is in units in which today's
    claim is the allowed one.
    """
    told = private_ridge.PrivateRidge(clip_norm=0.5, feature_bound=5.0, penalty=1.0, N=20)
    one, two = (ridge(head.moments(data), told.penalty) for data in private_ridge.worst_neighbours(told, D=2))
    moved, allowed = float(np.linalg.norm(one - two)), private_ridge.sensitivity(told)
    return _row(allowed, moved / version_0_7_0.ridge_sensitivity(told) * allowed, moved)


def _solver(trials: int, seed: int) -> dict[str, float]:
    """Equal records, all beyond their clip at the start, and one replaced by a record that is inside.

    In 0.7.0 the descent found the minimum if there was such a record, and jumped over it for ever if there was none.
    """
    budget = ApproximateDP(SOLVED_EPSILON, 1e-6)
    added = objective_perturbation.calibrate(budget, SHARE, 1.0, 1.0)
    mu = ApproximateDP((1 - SHARE) * SOLVED_EPSILON, budget.delta / 2).to_gaussian().mu
    penalty, std = version_0_7_0.perturbation(SOLVED_EPSILON, mu, SHARE)
    responses, counts = np.array([RESPONSE, 0.0]), np.array([[SOLVED_RECORDS, 0.0], [SOLVED_RECORDS - 1, 1.0]])
    noise = [std * generator(seed, REPAIRED_STREAM, k).standard_normal() for k in range(trials)]
    solved = [[version_0_7_0.minimiser(responses, count, 1.0, penalty, b) for b in noise] for count in counts]
    x, y = np.ones((SOLVED_RECORDS, 1)), np.full(SOLVED_RECORDS, RESPONSE)
    now: list[list[float]] = [[], []]
    for (side, response), k in itertools.product(enumerate((y, np.append(y[:-1], 0.0))), range(max(1, trials // 10))):
        rng = generator(seed, REPAIRED_STREAM, k)
        now[side].append(float(objective_perturbation.release(x, response, 1.0, added, rng=rng)[0]))
    found = [of_decisions(*(np.abs(np.array(side) - RESPONSE) > NEAR for side in sides)) for sides in (solved, now)]
    allowed = (math.expm1(SOLVED_EPSILON) + 2 * budget.delta) / (math.exp(SOLVED_EPSILON) + 1)
    return _row(allowed, found[0].value, found[1].value, (found[0].standard_error, found[1].standard_error))


def _generator(pair: Pair, seed: int) -> dict[str, float]:
    """The share of a release's noise that is computed again from a generator that was handed over as a seed.

    In 0.7.0 the estimator, and so its pickle, kept the generator as the fit had left it. Rewound by as many draws as
    there are coefficients it gave the noise again. A generator is refused now.
    """
    for stream in range(100):  # a normal takes one draw with a probability of about 0.99; the first such run is taken
        source = np.random.PCG64([seed, stream])
        rng = np.random.Generator(source)
        released = pair.fit(0, rng)
        source.advance(-pair.d)
        noise = pair.noise_std * rng.standard_normal(pair.d)
        left = float(np.linalg.norm(released - noise - pair.clean[0]) / np.linalg.norm(noise))
        if left < 0.5:
            break
    handed_over: Any = rng
    try:
        DPGDRegressor(mu=pair.rho, random_state=handed_over).fit(*pair.data[:2])
        now = 1 - left
    except ValueError:
        now = 0.0
    return _row(0.0, 1 - left, now)


def _message() -> dict[str, float]:
    """A cell of text among numbers: 0.7.0 passed on what scikit-learn says of it."""
    X = np.array([[1.0], [SECRET]], dtype=object)
    quoted = []
    for fit in (lambda: check_array(X, dtype=np.float64), lambda: DPGDRegressor(mu=1.0).fit(X, np.ones(2))):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                fit()
                quoted.append(0.0)
            except ValueError as error:
                quoted.append(float(SECRET in str(error)))
    return _row(0.0, quoted[0], quoted[1])


# ---- Many releases, and many records of one person: what they add up to, and an attack that gets all of it ----

AVERAGED = "average of releases"


def releases(counts: Sequence[int], one: GaussianDP, delta: float, trials: int, seed: int) -> pd.DataFrame:
    """ε after R releases of one Gaussian mechanism, and the measured advantage of an attack on their average.

    ``error`` is the average's standard deviation over that of one release.
    """
    mechanism, rows = GaussianMechanism(1.0, 1 / one.mu), []
    for R in counts:
        rng, total = generator(seed, R, 2), GaussianDP(math.sqrt(R) * one.mu)
        means = [mechanism.release(np.full((trials, R), value), rng=rng).mean(axis=1) for value in (1.0, 0.0)]
        found = {"releases": R, "epsilon": total.epsilon(delta), "error": means[0].std(ddof=1) / mechanism.noise_std}
        rows.append(found | row(AVERAGED, of_scores(means[0], means[1]), total))
    return pd.DataFrame(rows)


def groups(sizes: Sequence[int], pair: Pair, delta: float) -> pd.DataFrame:
    """One person with k records: how many standard deviations apart two fits are, and the ε that this is.

    ``mu`` is measured on fits without noise in which the person's k records, the last ones, all push one way or all the
    other; ``bound`` is kρ, ``epsilon`` belongs to it. ``delta_general`` is the δ at k times the one record's ε that
    follows from (ε, δ) alone.
    """
    one = ApproximateDP(GaussianDP(pair.rho).epsilon(delta), delta)
    X, y, _ = pair.data
    rows = []
    for k in sizes:
        features = X.copy()
        features[-k:] = X[-1]
        fits = [fit(features, np.append(y[:-k], np.full(k, v)), math.inf, 0) for v in (FAR, -FAR)]
        told, moved = group(GaussianDP(pair.rho), k), float(np.linalg.norm(fits[0] - fits[1]))
        found = {"mu": moved / pair.noise_std, "bound": told.mu, "epsilon": told.epsilon(delta)}
        general = {"epsilon_general": k * one.epsilon, "delta_general": group_approximate(one, k)}
        rows.append({"records": k, "delta": delta} | found | general | {"advantage": float(told.delta(0.0))})
    return pd.DataFrame(rows)


# ---- Whether the time of a fit depends on the data, as yes or no: the times themselves are the machine's ----

SHOWS = 0.2  # by more than this share the least times differ where a difference is told
ROUNDS = 25
ORDINARY, ONE, UNCLIPPED, TINY = "ordinary", "one record replaced", "residuals all small", "features all tiny"
NEGLIGIBLE, SMALLEST = 1e-9, 1e-160  # squares of the latter are below the least normal double


def timing_table(pair: Pair) -> pd.DataFrame:
    """Of each data set: the share of records that are clipped at the start, and whether the time of a pass shows it.

    The steps themselves are timed, without noise. The least of many passes is taken, in turns, so that what else the
    machine does spoils no comparison.
    """
    X, y, other = pair.data
    small, tiny = NEGLIGIBLE * X[:, 0], SMALLEST * X
    data = {ORDINARY: (X, y), ONE: (X, other), UNCLIPPED: (X, small), TINY: (tiny, tiny[:, 0])}
    least, bound, rows = dict.fromkeys(data, math.inf), CLIP * math.sqrt(pair.d), []
    noise, rates, std = np.zeros((BLOCK, pair.d)), np.full((BLOCK, 1), RATE / pair.n), np.zeros((BLOCK, 1))
    clip_norm = np.array([bound])
    for _, (name, (x, response)) in itertools.product(range(ROUNDS), data.items()):
        theta = np.zeros((pair.d, 1))
        with np.errstate(all="ignore"):
            start = time.perf_counter()
            for first in range(0, pair.n - BLOCK + 1, BLOCK):
                block = slice(first, first + BLOCK)
                advance(theta, x[block], response[block], noise, rates, std, clip_norm)
            least[name] = min(least[name], time.perf_counter() - start)
    for name, (x, response) in data.items():
        clipped = float(np.mean(np.abs(response) * np.linalg.norm(x, axis=1) > bound))
        shows = abs(math.log(least[name] / least[ORDINARY])) > math.log1p(SHOWS)
        rows.append({"data": name, "clipped": clipped, "shows": shows})
    return pd.DataFrame(rows).assign(share=SHOWS, n=pair.n)


# ---- The best of several private runs: what it spends, exactly and measured, and what a random number saves ----

TUNING_CONFIDENCE = 0.99  # of all the audits of a table together


def tuning_table(runs: Sequence[int], run: GaussianDP, delta: float) -> pd.DataFrame:
    """ε of one run, of the best of k exactly and by composition, and of the best of a random number of mean k."""
    rows = []
    for k in runs:
        found = {
            "one": run.epsilon(delta),
            "best": selection.best_of_epsilon(run, k, delta),
            "composed": selection.composed_epsilon(run, k, delta),
            "stopped_at_least": selection.random_stopping_attack(run, k, delta),
            "stopped_at_most": selection.random_stopping_epsilon(run, k, delta),
            "advantage": selection.best_of_advantage(run, k),
        }
        rows.append({"runs": k, "delta": delta} | found)
    return pd.DataFrame(rows)


def audited(runs: Sequence[int], run: GaussianDP, delta: float, releases: int, seed: int) -> pd.DataFrame:
    """Lower bounds on ε and μ from releases of the best of k alone, that know nothing of how they were made.

    ``least_deficit``: the least by which the noise of one run could be too small for an audit of its μ to show that.
    """
    rows, each = [], each_of(max(len(runs), 1), TUNING_CONFIDENCE)
    least = detectable(run.mu, releases, each)
    for k in runs:

        def scores(shift: float, count: int, rng: np.random.Generator, runs: int = k) -> np.ndarray:
            """Low scores speak for the first, whose runs score 0; the second's score μ."""
            return -(rng.standard_normal((count, runs)).max(axis=1) + shift)

        rng = generator(seed, k, 1)
        told = audit_mechanism(scores, 0.0, run.mu, delta=delta, releases=releases, confidence=each, rng=rng)
        seen = of_scores(scores(0.0, releases, rng), scores(run.mu, releases, rng))
        found = {
            "delta": delta,
            "one": run.epsilon(delta),
            "best": selection.best_of_epsilon(run, k, delta),
            "epsilon": told.epsilon,
            "one_mu": run.mu,
            "mu": told.mu,
            "least_deficit": least,
            "confidence": TUNING_CONFIDENCE,
            "releases": releases,
        }
        rows.append({"runs": k} | found | {"advantage": seen.value, "standard_error": seen.standard_error})
    return pd.DataFrame(rows)


class Experiment(Parameters):
    """Attacks on releases that are (ε, δ)-DP on paper."""

    epsilon: float = parameter(amount(1e-3, 100), 1.0)
    delta: float = parameter(chance(1e-50, 0.1), 1e-5)
    n: int = parameter(count(20, 10**6), 100)
    """Records of the fits that are attacked."""
    d: int = parameter(count(2, 1000), 10)
    bits_d: tuple[int, ...] = many(count(1, 10**4), 1, 10, 100, ascending=True)
    """Coordinates of a release whose last bits are read."""
    runs: tuple[int, ...] = many(count(1, 10**6), 1, 2, 5, 10, 30, 100, 1000, ascending=True)
    """Private runs of which the best is released, and releases that are averaged."""
    group: tuple[int, ...] = many(count(1, 1000), 1, 2, 5, 10, ascending=True)
    """Records of one person."""
    members: tuple[int, ...] = many(count(100, 10**6), 1000, 10000, 50000, ascending=True)
    """Records of the fits from which strangers are predicted."""
    guesses: int = parameter(count(2, 10**5), 1000)
    """Seeds of a short list."""
    audit_releases: int = parameter(count(1000, 10**8), 400_000)
    """Releases of each input in an audit."""
    trials: int = parameter(count(20, 10**6), 2000)
    """Releases of each of two neighbours in an attack."""
    fits: int = parameter(count(2, 1000), 20)
    """Fits from which strangers are predicted."""
    seed: int = parameter(SEED, 12)

    def check(self) -> None:
        if self.group[-1] >= self.n:
            raise ValueError(f"group must have fewer than n = {self.n} records, got {self.group[-1]}")

    def run(self, runner: Runner) -> dict[str, pd.DataFrame]:
        told = ApproximateDP(self.epsilon, self.delta).to_gaussian()
        later = [(READING, *_reading(self.seed)), (COUNT, *_count()), (NARROW, *_narrow())]
        pair = Pair(self.n, self.d, told.mu, self.seed)
        return {
            "undone": undone(pair),
            "seeds": attacks(pair, self.trials, self.guesses, self.seed),
            "bits": by_ratio(self.bits_d, told.mu, self.trials, self.seed),
            "rounding": of_estimator(self.d, told.mu, self.trials // 4, self.seed),
            "discrete": of_discrete(told.mu, 5 * self.trials, self.seed),
            "tuning": tuning_table(self.runs, told, self.delta),
            "audited": audited([k for k in self.runs if k <= 10], told, 1e-3, self.audit_releases, self.seed),
            "scaling": scaling(runner, self.n, 3, told.mu, self.trials // 4, self.seed),
            "repeats": releases(self.runs, told, self.delta, self.trials, self.seed),
            "groups": groups(self.group, pair, self.delta),
            "timing": timing_table(Pair(2048, self.d, told.mu, self.seed)),
            "population": population_table(runner, self.members, self.d, told.mu, self.fits, self.seed),
            "repaired": repaired_table(pair, max(50, self.trials // 20), self.seed),
            "later": pd.DataFrame(later, columns=["fault", "allowed", "before", "now"]),
        }
