"""What is measured for Figure 2, for the bounds in high dimension and for Lemmas A.1 to A.3."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd
from scipy import integrate, special, stats

from chapters.noisyhead import authors
from chapters.noisyhead.low_dimensional import measure as low_dimensional_measure
from chapters.ranges import DELTA, EPSILON, KAPPA, NOISE_OR_NONE, SEED, TRIALS, chance, count
from companion import _fits
from companion.declaration import Parameters, many, parameter
from companion.streams import Runner
from costofprivacy.noisyhead import (
    accounts,
    bounds,
    dynamics,
    head,
    hyperparameters,
    population,
    pretraining,
    prompts,
    recipes,
)
from costofprivacy.noisyhead.curvature import ProductMoments, in_eigenbasis
from costofprivacy.noisyhead.hyperparameters import Hyperparameters
from costofprivacy.noisyhead.prompts import PromptModel
from costofprivacy.noisyhead.ridge import ridge
from costofprivacy.privacy import ApproximateDP, basic_noise_multiplier
from costofprivacy.settings import Setting

# ---- Asymptotics ----

SIZES = tuple(10 ** (2 * k) for k in range(1, 13))
LOW_D, LOW_PENALTY = 5, 5.0  # the low-dimensional experiment of section 6.1
LOW, HIGH = "low", "high"
NOISE, BARE, FROM_R, FIGURE_2 = "noise", "noise, logarithms out", "descent from R", "descent of Figure 2"
TRIVIAL, RATE_11, BOUND, STOPPED = "answering 0", "Theorem 1.1", "(4.5) at r = N", "(4.6)"
AT_T = "risk over Theorem 1.1 at ε = T"


@dataclass(frozen=True)
class Point:
    """Algorithm 1 at one N in one regime, stopped as the paper's theorem says."""

    regime: str
    N: int
    model: PromptModel
    hyper: Hyperparameters


def points(label_noise: float, failure: float) -> Iterator[Point]:
    """Low dimension as in section 6.1 after Theorem 4.2(i)'s T; high dimension as in Proposition 4.1 at r = N."""
    for N in SIZES:
        low, high = recipes.square_model(LOW_D, N, label_noise), recipes.overparametrised_model(N, label_noise)
        for regime, model, lam in ((LOW, low, LOW_PENALTY), (HIGH, high, recipes.high_dimension_penalty(N))):
            hyper = recipes.theorem(model, N, failure, lam)
            if regime == LOW:
                T = bounds.low_dimensional_iterations(model, N, hyper.learning_rate, lam)
            else:
                T = bounds.high_dimensional_iterations(N, hyper.learning_rate, lam)
            yield Point(regime, N, model, replace(hyper, steps=T))


def noise_std(hyper: Hyperparameters, N: int, budget: ApproximateDP) -> float:
    """The noise's standard deviation by Algorithm 1, for an ε beyond T too."""
    return pretraining.update_sensitivity(hyper, N) * basic_noise_multiplier(budget, hyper.steps)


def powers(label_noise: float, failure: float, budget: ApproximateDP) -> pd.DataFrame:
    """Parts of the excess risk for N up to 10²⁴ in both regimes with their local exponents in N, and Theorem 1.1's."""
    rows = []
    for point in points(label_noise, failure):
        for name, value in _parts(point, budget).items():
            rows.append({"regime": point.regime, "quantity": name, "N": float(point.N), "value": value})
    table = pd.DataFrame(rows)
    groups = table.groupby(["regime", "quantity"], sort=False)["value"]
    sizes = np.array(SIZES, dtype=float)
    table["exponent"] = groups.transform(lambda value: _fits.local_exponents(sizes, value.to_numpy()))
    return table


def _parts(point: Point, budget: ApproximateDP) -> dict[str, float]:
    model, hyper, N, lam = point.model, point.hyper, point.N, point.hyper.penalty
    h = dynamics.curvature(model)
    # with its logarithms out: C, the brackets of (4.1), T and log(1/δ) set to one
    bare = replace(hyper, clip_norm=1.0, feature_bound=model.L**-0.5, weight_bound=math.sqrt(N / model.L) / lam)
    bare_std = pretraining.update_sensitivity(bare, N) / budget.epsilon
    rate = bounds.low_dimensional_rate if point.regime == LOW else bounds.high_dimensional_rate
    parts = {
        NOISE: dynamics.noise_risk(hyper, model, noise_std(hyper, N, budget), h),
        BARE: dynamics.noise_risk(hyper, model, bare_std, h),
        TRIVIAL: h * dynamics.cross_energy(model, N) / (lam + h) ** 2,
        RATE_11: rate(model, N, budget),
    }
    if point.regime == LOW:
        return parts
    stopped, five = np.array([hyper.steps]), np.array([5])
    R2, start, largest = hyper.weight_bound**2, (authors.INITIAL_STD * model.D) ** 2, float(hyper.steps)
    from_r, at_T = dynamics.descent_risk(hyper, model, N, lam, R2, stopped)[0], ApproximateDP(largest, budget.delta)
    whole = dynamics.noise_risk(hyper, model, noise_std(hyper, N, at_T), h) + from_r
    return parts | {
        FROM_R: from_r,
        FIGURE_2: dynamics.descent_risk(hyper, model, N, lam, start, five)[0],
        AT_T: whole / bounds.high_dimensional_rate(model, N, at_T),
        BOUND: sum(bounds.overparametrised_cost(model, N, N, budget)),
        STOPPED: bounds.stopped_cost(model, N),
    }


def reference_shares(N: int, label_noise: float) -> pd.DataFrame:
    """Share of Var(y) that the population's ridge solution predicts at λ = 10^{−k}N/D, and the best linear head's."""
    model, rows = recipes.overparametrised_model(N, label_noise), []
    for k in range(0, 9):
        lam = recipes.high_dimension_penalty(N) * 10.0**-k
        error = population.ridge_prediction_error(model, lam)
        share = 1 - error / model.response_variance
        rows.append({"N": N, "D": model.D, "penalty": lam, "powers_of_ten_below": k, "share_predicted": share})
    return pd.DataFrame(rows).assign(
        best_linear_head=1 - population.best_prediction_error(model) / model.response_variance
    )


# ---- Axes ----

STEP_NOISE = 0.5  # label noise behind the steps of the proof, where no axis moves it
DESCENT_STEP, NOISE_STEP = "(A.18)", "(A.19)"
PENALTY, SMALL_PENALTY, VARIANCE = "λ", "1/λ", "ν"
FIXED, LARGEST = "fixed", "ε = T"
PATHS = {  # the powers of D that N and L are
    "D": (0, 0),
    "D, L ~ D": (0, 1),
    "D, N ~ D": (1, 0),
    "D, N ~ D, L ~ D": (1, 1),
    "D, N ~ D²": (2, 0),
    "D, N ~ D², L ~ D": (2, 1),
}


@dataclass(frozen=True)
class Place(authors.OfPrompts):
    """Algorithm 1 at one place of an axis: ``size`` is the value of what moves there."""

    axis: str
    size: float
    N: int
    L: int
    D: int
    penalty: float
    r: float
    failure: float
    label_noise: float

    @cached_property
    def hyper(self) -> Hyperparameters:
        """Theorem 4.1's, stopped as Theorem 4.2(ii) says."""
        hyper = recipes.theorem(self.model, self.N, self.failure, self.penalty)
        return replace(hyper, steps=bounds.high_dimensional_iterations(self.r, hyper.learning_rate, self.penalty))

    @property
    def labels(self) -> dict[str, object]:
        """What a row says of its place; G²/λ is small where η₀λ is of the order of one."""
        sizes = {"N": float(self.N), "L": float(self.L), "D": float(self.D), "penalty": self.penalty, "r": self.r}
        share = self.hyper.feature_bound**2 / self.penalty
        return {"axis": self.axis, "size": self.size} | sizes | {"feature_over_penalty": share}


def regimes(failure: float, label_noise: float, budget: ApproximateDP) -> pd.DataFrame:
    """The whole risk beside Theorem 1.1's rate and (4.4), for this ε and for ε = T, the largest that is private.

    It starts at ‖Γ⁰‖ = R, with λ and with λ/2 in the update, and is at most what Π_R allows, 4R²E‖Z‖²/D².
    ``error_gap`` is the most that the difference of the prediction errors can be: to the risk comes a part of first
    order, at most 2g/D = 2E⟨Γ*, yZ⟩, since the mean weights stay between 0 and Γ* = gI.
    """
    rows = []
    for place in _regime_places(failure, label_noise):
        first_order = 2 * population.ridge_scale(place.model, place.penalty) / place.D
        for name, epsilon in ((FIXED, budget.epsilon), (LARGEST, float(place.hyper.steps))):
            spent, risks = ApproximateDP(epsilon, budget.delta), []
            hyper, model, h = place.hyper, place.model, dynamics.curvature(place.model)
            steps, energy, std = np.array([hyper.steps]), hyper.weight_bound**2, noise_std(hyper, place.N, spent)
            for update in (place.penalty, place.penalty / 2):
                told = replace(hyper, penalty=update)
                descent = dynamics.descent_risk(told, model, place.N, place.penalty, energy, steps)[0]
                risks.append(float(min(dynamics.noise_risk(told, model, std, h) + descent, 4 * energy * h)))
            printed, halved = risks
            risk = {"risk_printed": printed, "risk_halved": halved, "error_gap": printed + first_order}
            bound = sum(bounds.high_dimensional_cost(model, place.N, place.penalty, place.r, spent))
            rate = bounds.high_dimensional_rate(model, place.N, spent)
            spending = {"budget": name, "epsilon": epsilon}
            rows.append(place.labels | spending | risk | {"rate_11": rate, "bound_44": bound})
    return pd.DataFrame(rows)


def _regime_places(failure: float, label_noise: float) -> Iterator[Place]:
    """D growing, with N ≲ D², L ≲ D and λ = √N, as Theorem 1.1 allows; then the other sizes of (4.4), one by one."""

    def place(axis: str, size: float, N: int, L: int, D: int, penalty: float, r: float) -> Place:
        return Place(axis, float(size), N, L, D, penalty, r, failure, label_noise)

    for k in range(2, 25, 2):
        for axis, (n, length) in PATHS.items():
            N = 100 * 10 ** (k * n)
            yield place(axis, 10**k, N, max(10, 10 ** (k * length)), 10**k, math.sqrt(N), float(N))
    for k in range(2, 13):
        yield place("L", 10 ** (k / 2), 10**4, round(10 ** (k / 2)), 10**9, 100.0, 1e4)
        yield place("r", 10**k, 10**4, 100, 100, 100.0, 10.0**k)
    for k in range(4, 42, 4):
        yield place("N", 10**k, 10**k, 1000, 1000, 1.0, 10.0 ** (2 * k))
    for k in range(7):
        for axis, penalty in ((PENALTY, 10.0**k), (SMALL_PENALTY, 10.0**-k)):
            yield place(axis, 10**k, 10**4, 100, 100, penalty, 1e30)


def proof_steps() -> pd.DataFrame:
    """Both sides of (A.18) and of (A.19), constants one, κ = 1/(NL); (A.19) without its factor log(1/δ)/ε²."""
    rows = []
    for place in _step_places():
        hyper, model, N = place.hyper, place.model, place.N
        nu, logs, lam = model.response_variance, math.log(N * model.L), place.penalty
        G0 = hyperparameters.query_bound_theorem(model, N, place.failure)
        scale = nu**3 * logs**3 * N / (model.L * lam) ** 2
        noise = (G0 * hyper.sigma * hyper.learning_rate) ** 2 * model.D * hyper.steps**3 / N**2
        rounds = math.log(place.r) ** 3 * model.D / N**3 * (1 + N * logs**2 / (lam * model.L) ** 2)
        common = place.labels | {"response_variance": nu}
        rows.append(
            common | {"step": DESCENT_STEP, "left": bounds.cost_of_descent(hyper, G0), "right": scale / place.r}
        )
        rows.append(common | {"step": NOISE_STEP, "left": noise, "right": scale * rounds})
    return pd.DataFrame(rows)


def _step_places() -> Iterator[Place]:
    def place(axis: str, size: float, **moved: float) -> Place:
        known = {"N": 10**6, "L": 1000, "D": 40, "penalty": 1.0, "r": 100.0, "label_noise": STEP_NOISE} | moved
        return Place(axis, float(size), failure=1 / (known["N"] * known["L"]), **known)  # type: ignore[arg-type]

    for k in range(2, 13):
        yield place("N", 10**k, N=10**k)
        yield place("L", 10**k, L=10**k)
        yield place("r", 10**k, r=10.0**k)
        yield place(PENALTY, 10.0**k, penalty=10.0**k)
    for k in range(1, 7):
        yield place("D", 10**k, D=10**k)
        yield place(SMALL_PENALTY, 10.0**k, penalty=10.0**-k)
        # where the second bracket of (A.19) counts and λ stays above G²
        yield place(VARIANCE, 1 + 10.0**k, N=10**36, penalty=1e12, label_noise=10 ** (k / 2))


# ---- Figure ----

RATES = {Setting.PRINTED: 0.07, Setting.PUBLISHED: 0.1 * 2 / 3}  # η₀ (λ + G²)²/λ
RANDOM, ZERO = "random", "zero"  # Γ⁰: entries N(0, 0.1²), or 0
VARIANTS = ((Setting.PRINTED, ZERO), (Setting.PUBLISHED, RANDOM), (Setting.PUBLISHED, ZERO), (Setting.CORRECTED, ZERO))


@dataclass(frozen=True)
class Cell(authors.OfHighDimension):
    """One training-set size with everything a trial needs."""

    N: int
    epsilon: tuple[float, ...]
    delta: float
    delta_published: float
    failure: float
    T: int
    label_noise: float
    test_prompts: int

    @cached_property
    def hyper(self) -> dict[Setting, Hyperparameters]:
        """What Algorithm 1 is told in each setting."""
        return recipes.high_dimension(self.model, self.N, self.failure, RATES, self.T)

    @cached_property
    def noise(self) -> dict[Setting, tuple[float, ...]]:
        """Standard deviation of the noise for each ε in each setting."""
        noise = {}
        for setting, hyper in self.hyper.items():
            delta = self.delta_published if setting == Setting.PUBLISHED else self.delta
            budgets = [ApproximateDP(epsilon, delta) for epsilon in self.epsilon]
            noise[setting] = tuple(accounts.setting_noise_std(setting, hyper, b, self.N) for b in budgets)
        return noise

    @cached_property
    def columns(self) -> pd.DataFrame:
        """(setting, start, ε, method) of each number that a trial returns; ε is NaN where a method has none."""
        methods = [*((e, "noisyhead") for e in self.epsilon), (np.nan, "gradient-descent")]
        rows = [(str(s), start, e, method) for s, start in VARIANTS for e, method in methods]
        rows += [("", "", np.nan, "zero"), ("", "", np.nan, "ridge")]
        return pd.DataFrame(rows, columns=["setting", "start", "epsilon", "method"])


def trial(cell: Cell, *, rng: np.random.Generator) -> np.ndarray:
    """One draw of training and test prompts, all methods on it: shape (2, columns), excess risk and test error.

    All variants share Γ⁰ and the directions of the noise.
    """
    model, shape = cell.model, (cell.model.D, cell.model.D)
    clip = cell.hyper[Setting.PRINTED].clip_norm
    raw, clipped = head.sample_statistics(model, cell.N, clip, rng=rng)
    test, _ = head.sample_statistics(model, cell.test_prompts, rng=rng)
    start = authors.INITIAL_STD * rng.standard_normal(shape)
    stream = int(rng.integers(2**63))
    seen = ProductMoments(raw)
    reference = ridge(seen, cell.penalty)
    weights = []
    for setting, begins in VARIANTS:
        hyper, initial = cell.hyper[setting], start if begins == RANDOM else None
        data = ProductMoments(head.project(clipped, hyper.feature_bound))
        free = replace(hyper, weight_bound=recipes.FREE)
        noise = np.random.default_rng(stream)
        weights += [
            *pretraining.pretrain(data, hyper, cell.noise[setting], rng=noise, initial=initial),
            *pretraining.pretrain(seen, free, [0.0], rng=noise, initial=initial),
        ]
    Gamma = np.stack([*weights, np.zeros(shape), reference])
    return np.stack([head.mean_square(Gamma - reference, test), population.prediction_error(model, Gamma)])


# ---- Sides ----

POWERS = (0.25, 0.5, 1.0, 2.0)  # of N: r in the simulation
FAR = 8  # r up to N^FAR in closed form
NARROW = 6  # D of a path with D² ≥ log(NL) and λ = 1, up to NL = e³⁶
PRINTED, HALVED = "penalty λ", "penalty λ/2"


@dataclass(frozen=True)
class Told(authors.WithBudget):
    """Algorithm 1 at one size and penalty, with T for each r."""

    N: int
    penalty: float
    epsilon: float
    delta: float
    failure: float
    label_noise: float

    @property
    def model(self) -> PromptModel:
        """D = L = ⌊√N⌋."""
        return recipes.overparametrised_model(self.N, self.label_noise)

    @cached_property
    def hyper(self) -> Hyperparameters:
        """Theorem 4.1's; T is set for each r."""
        return recipes.theorem(self.model, self.N, self.failure, self.penalty)

    @property
    def steps(self) -> list[int]:
        """T of each r."""
        return [self.steps_to(self.N**power) for power in POWERS]

    def steps_to(self, progress: float) -> int:
        """T of Theorem 4.2(ii) for r = ``progress``."""
        return bounds.high_dimensional_iterations(progress, self.hyper.learning_rate, self.penalty)

    @property
    def noise(self) -> list[float]:
        """Standard deviation of an entry of z_t for each T, by Algorithm 1."""
        told = (replace(self.hyper, steps=T) for T in self.steps)
        return [accounts.setting_noise_std(Setting.PRINTED, hyper, self.budget, self.N) for hyper in told]


@dataclass(frozen=True)
class SidesCell(authors.BySize):
    """One size with its penalties, which share the prompts."""

    N: int
    epsilon: float
    delta: float
    failure: float
    label_noise: float

    @property
    def told(self) -> list[Told]:
        """λ = N/D of Proposition 4.1, and λ = 1."""
        penalties = (recipes.high_dimension_penalty(self.N), 1.0)
        return [Told(self.N, lam, self.epsilon, self.delta, self.failure, self.label_noise) for lam in penalties]


def sides_trial(cell: SidesCell, *, rng: np.random.Generator) -> np.ndarray:
    """Excess risk of NoisyHead and of its noiseless twin from ‖Γ⁰‖ = R, shape (penalties, 2, len(POWERS))."""
    clip, G = cell.told[0].hyper.clip_norm, cell.told[0].hyper.feature_bound
    raw, clipped = head.sample_statistics(cell.told[0].model, cell.N, clip, rng=rng)
    data, excess = in_eigenbasis(head.moments(head.project(clipped, G))), []
    for told in cell.told:
        reference = ridge(ProductMoments(raw), told.penalty)
        start = rng.standard_normal(reference.shape)
        start *= told.hyper.weight_bound / np.linalg.norm(start)
        private = pretraining.pretrain(data, told.hyper, told.noise, rng=rng, steps=told.steps, initial=start)
        plain = pretraining.descent_path(data, told.hyper, told.steps, start)
        excess.append([population.excess_risk(told.model, Gamma - reference) for Gamma in (private, plain)])
    return np.array(excess)


def both_sides(cells: Sequence[SidesCell], trials: int, runner: Runner, seed: int) -> pd.DataFrame:
    """Mean left sides of (4.4) beside its right side, hidden constants one, for λ = N/D and λ = 1."""
    rows = []
    for cell, values in runner.run(sides_trial, cells, trials, seed).items():
        for told, own in zip(cell.told, values.swapaxes(0, 1), strict=True):
            mean, error = _fits.mean_and_error(own)
            for i, (power, T) in enumerate(zip(POWERS, told.steps, strict=True)):
                r = bounds.progress(told.hyper.learning_rate, told.penalty, T)
                descent, noise = bounds.high_dimensional_cost(told.model, told.N, told.penalty, r, told.budget)
                size = {"N": told.N, "D": told.model.D, "penalty": told.penalty, "power_of_N": power, "r": r, "T": T}
                for m, (method, bound) in enumerate((("noisyhead", descent + noise), ("gradient-descent", descent))):
                    measured = {"method": method, "excess_risk": mean[m, i], "standard_error": error[m, i]}
                    rows.append(size | measured | {"trials": len(own), "bound": bound})
    return pd.DataFrame(rows)


def narrow(label_noise: float, failure: float, budget: ApproximateDP, runner: Runner, seed: int) -> pd.DataFrame:
    """What no step removes where D² ≥ log(NL) but D stays: the rest at ridge(2λ) and the bias of Π_G, beside (4.4).

    D = ``NARROW``, λ = 1 and L = √N as in the low-dimensional chapter, whose closed form and simulation these are;
    (4.4) at r = N², constants one, for this budget.
    """
    fixed = (NARROW, 1.0, label_noise)
    floors = [
        low_dimensional_measure.minimiser_floors(*fixed),
        low_dimensional_measure.projection_floors(*fixed, failure, runner, seed),
    ]
    table = pd.concat(floors, ignore_index=True)
    inside = table[table["N"] * table["L"] <= math.exp(NARROW**2)]
    bound = [
        sum(bounds.high_dimensional_cost(PromptModel(NARROW, int(L), label_noise), N, 1.0, N**2, budget))
        for N, L in zip(inside["N"], inside["L"])
    ]
    return inside.drop(columns="bound").assign(D=NARROW, bound_44=bound).reset_index(drop=True)


def along_progress(N: int, failure: float, label_noise: float) -> pd.DataFrame:
    """The noiseless twin from ‖Γ⁰‖ = R in closed form against r, as printed and with λ/2, beside (4.4) at ε = ∞."""
    rows = []
    told = Told(N, recipes.high_dimension_penalty(N), math.inf, 0.5, failure, label_noise)
    for r in np.geomspace(2, float(N) ** FAR, 60):
        T = told.steps_to(r)
        bound = bounds.high_dimensional_cost(told.model, N, told.penalty, r, told.budget)[0]
        for name, lam in ((PRINTED, told.penalty), (HALVED, told.penalty / 2)):
            hyper, energy = replace(told.hyper, penalty=lam), told.hyper.weight_bound**2
            risk = dynamics.descent_risk(hyper, told.model, N, told.penalty, energy, np.array([T]))[0]
            rows.append({"update": name, "N": N, "r": r, "T": T, "excess_risk": risk, "bound": bound})
    return pd.DataFrame(rows)


# ---- Lemmas ----

# N, L, D
LEMMA_SIZES = (1, 50, 5), (1, 400, 20), (100, 10, 10), (400, 20, 20), (900, 30, 30), (400, 20, 2), (400, 20, 5)
LEVELS = {"A.1": bounds.response_level, "A.2": bounds.feature_sum_level, "A.3": bounds.product_sum_level}
CHUNK = 100  # prompts drawn at a time
SUM_DIMENSIONS = (2, 5, 20, 100)
LEVELS_OF_SUMS = {1: (1.0, 2.0, 3.0, 4.0), 30: (1.0, 2.0, 3.0, 4.0), math.inf: (1.0, 2.0, 4.0, 8.0, 16.0)}  # t by L


@dataclass(frozen=True)
class LemmaCell(authors.OfPrompts):
    """One (N, L, D)."""

    N: int
    L: int
    D: int
    label_noise: float = 0.5

    @property
    def key(self) -> int:
        """(N, L, D) names the random stream."""
        return (self.N * 10**4 + self.L) * 10**4 + self.D


def lemma_trial(cell: LemmaCell, *, rng: np.random.Generator) -> np.ndarray:
    """Max |y|, max_k ‖Σ_i x_{k,i}‖ and ‖Σ_{k,i} x_{k,L+1}x_{k,i}ᵀ‖_F of one data set, shape (3,)."""
    largest, longest, total = 0.0, 0.0, np.zeros((cell.D, cell.D))
    for first in range(0, cell.N, CHUNK):
        drawn = prompts.sample(cell.model, min(CHUNK, cell.N - first), rng=rng)
        sums = drawn.x[:, :-1].sum(axis=1)
        largest = max(largest, np.abs(drawn.y[:, :-1]).max())
        longest = max(longest, np.linalg.norm(sums, axis=1).max())
        total += drawn.x[:, -1].T @ sums
    return np.array([largest, longest, np.linalg.norm(total)])


def lemmas(trials: int, failure: float, runner: Runner, seed: int) -> pd.DataFrame:
    """How often each lemma's event fails with the constants one and √2, and the constant that its data sets need.

    ``constant`` is the (1 − κ) quantile of the left side over the lemma's form, from the data sets;
    ``largest`` is the maximum over all of them.
    """
    rows = []
    for cell, values in runner.run(lemma_trial, [LemmaCell(*size) for size in LEMMA_SIZES], trials, seed).items():
        for (name, level), left in zip(LEVELS.items(), values.T, strict=True):
            ratio = left / level(cell.model, cell.N, failure)
            row = {"lemma": name, "N": cell.N, "L": cell.L, "D": cell.D}
            row |= {"fails_at_1": int((ratio > 1).sum()), "fails_at_root_2": int((ratio > math.sqrt(2)).sum())}
            row |= {"constant": np.quantile(ratio, 1 - failure), "largest": ratio.max(), "data_sets": trials}
            rows.append(row | {"kappa": failure})
    return pd.DataFrame(rows)


def single_prompt_tail() -> pd.DataFrame:
    """The constant that Lemma A.3 needs at N = 1 and κ = e^{−D²}, exactly, as L → ∞, for growing D.

    There ‖Σ_i vec(x_{L+1}x_iᵀ)‖² = ‖Σ x_i‖² with D‖Σ x_i‖²/L → χ²_D in law. Beside it the constant that the form of
    Lemma A.2, √L(1 + D^{-1/2}√log(1/κ)), needs. Where P(χ²_D > q) = e^{−D²} underflows, Laplace's continued fraction
    is solved to leading order: log P = (D/2 − 1)log(q/2) − q/2 − log Γ(D/2) − log(1 − (D − 2)/q) + o(1), q about 2D².
    """
    rows = []
    for D in (2, 5, 10, 20, 50, 100):
        half, q = D / 2, 2.0 * D**2
        for _ in range(100):
            q = 2 * (D**2 + (half - 1) * math.log(q / 2) - math.lgamma(half) - math.log1p(-(D - 2) / q))
        square = math.sqrt((stats.chi2.isf(math.exp(-(D**2)), D) if D**2 < 700 else q) / D)
        rows.append({"D": D, "constant_A3": square / 2, "constant_A2_form": square / (1 + math.sqrt(D))})
    return pd.DataFrame(rows)


def sum_tails() -> pd.DataFrame:
    """P(|aᵀ Σ x_i| > √(L/D) t) for a unit vector a, over e^{−t²} as printed, and over 2e^{−t²/2}.

    A coordinate of a uniform unit vector is sub-Gaussian with its own variance 1/D, so that the second is at most one
    at every D, L and t. As L → ∞ the sum is normal in law.
    """
    rows = []
    for D in SUM_DIMENSIONS:
        for L, levels in LEVELS_OF_SUMS.items():
            for t in levels:
                tail = _sum_tail(D, L, t)
                shares = {"over_printed": tail / math.exp(-t * t), "over_halved": tail / (2 * math.exp(-t * t / 2))}
                rows.append({"D": D, "L": float(L), "t": t, "probability": tail} | shares)
    return pd.DataFrame(rows)


def _sum_tail(D: int, L: float, t: float) -> float:
    if math.isinf(L):
        return float(special.erfc(t / math.sqrt(2)))
    if L == 1:  # the square of a coordinate has the law Beta(1/2, (D − 1)/2)
        return float(stats.beta.sf(min(1.0, t * t / D), 0.5, (D - 1) / 2))
    order, level = D / 2 - 1, math.sqrt(L / D) * t

    def integrand(u: float) -> float:
        """sin(su)/u times the characteristic function of the sum, Γ(D/2)(2/u)^n J_n(u) to the power L, n = D/2 − 1."""
        return math.sin(level * u) / u * float(special.gamma(D / 2) * (2 / u) ** order * special.jv(order, u)) ** L

    end = 14 * math.sqrt(D / L)  # beyond it the characteristic function is below 1e-12 of one
    inside, _ = integrate.quad(integrand, 1e-12, end, limit=2000, epsabs=1e-14)
    return 1 - 2 / math.pi * inside


# ---- The experiment ----


class Experiment(Parameters):
    """Figure 2: excess risk of NoisyHead against N for several ε, at D = L = ⌊√N⌋ and λ = N/D."""

    N: tuple[int, ...] = many(count(16, 10**6), 500, 600, 700, 800, 900, 1000, 1500, 2100, ascending=True)
    """Numbers of training prompts; D and L are the integer part of their square root."""
    epsilon: tuple[float, ...] = many(EPSILON, 0.01, 0.05, 0.1, 0.5, 1.0)
    """Privacy budgets ε of approximate differential privacy, at most T."""
    delta: float = parameter(DELTA, 1e-5)
    """Probability δ of approximate differential privacy, as printed."""
    delta_published: float = parameter(DELTA, 1e-2, published=True)
    """The δ behind the published numbers."""
    failure: float = parameter(KAPPA, 1.0, published=True)
    T: int = parameter(count(1, 10**6), 5, published=True)
    label_noise: float = parameter(NOISE_OR_NONE, 0.0, published=True)
    trials: int = parameter(TRIALS, 500)
    test_prompts: int = parameter(count(1, 10**7), 500, published=True)
    bound_N: tuple[int, ...] = many(count(16, 10**4), 100, 400, 900, ascending=True)
    """Numbers of training prompts at which both sides of (4.4) are measured."""
    bound_failure: float = parameter(chance(1e-50, 0.99), 0.01)
    """Failure probability κ there, and in the lemmas."""
    bound_trials: int = parameter(TRIALS, 20)
    """Data sets on which both sides of (4.4) are measured."""
    lemma_trials: int = parameter(count(20, 10**6), 400)
    """Data sets on which Lemmas A.1 to A.3 are tried."""
    seed: int = parameter(SEED, 5)

    def check(self) -> None:
        """Refuse budgets beyond T, and runs of more steps than one can take: a small κ makes G large and η₀ small."""
        if max(self.epsilon) > self.T:
            raise ValueError(f"epsilon must be at most T = {self.T}, got {max(self.epsilon)}")
        if self.T > recipes.MOST_STEPS:
            raise ValueError(f"T must be at most {recipes.MOST_STEPS}, got {self.T}")
        for cell in self.bound_cells:
            T = max(max(told.steps) for told in cell.told)
            if T > recipes.MOST_STEPS:
                asked = f"bound_failure must ask for at most T = {recipes.MOST_STEPS}"
                raise ValueError(f"{asked}, got {self.bound_failure!r}: T = {T} at N = {cell.N}")

    @property
    def cells(self) -> list[Cell]:
        """One for each N."""
        return [self.shared(Cell, N=N) for N in self.N]

    @property
    def bound_cells(self) -> list[SidesCell]:
        """One for each size of (4.4), at the largest ε."""
        own = {"epsilon": max(self.epsilon), "failure": self.bound_failure}
        return [self.shared(SidesCell, N=N, **own) for N in self.bound_N]

    def run(self, runner: Runner) -> dict[str, pd.DataFrame]:
        """Figure 2, test errors, starts, published numbers, what Γ* predicts, both sides of (4.4), powers, lemmas."""
        samples = runner.run(trial, self.cells, self.trials, self.seed)
        every = authors.means(samples, 0, "excess_risk")
        figure = _figure(every)
        noise, budget = self.label_noise, ApproximateDP(max(self.epsilon), self.delta)
        errors = _figure(authors.means(samples, 1, "test_error"))
        best = {cell.N: population.best_prediction_error(cell.model) for cell in self.cells}
        theirs = authors.excess_risks("noisyhead-high-dimensional", ["N", "epsilon"])
        return {
            "figure-2": figure,
            "test-error": errors.assign(best_linear_head=errors["N"].map(best), response_variance=1 + noise**2),
            "starts": pd.concat([start_rows(c, every) for c in self.cells], ignore_index=True),
            "comparison": authors.by_budget(figure, authors.if_published(self, theirs)),
            "reference": reference_shares(max(self.N), noise),
            "both-sides": both_sides(self.bound_cells, self.bound_trials, runner, self.seed + 1),
            "progress": along_progress(max(self.bound_N), self.bound_failure, noise),
            "narrow": narrow(noise, self.failure, budget, runner, self.seed + 3),
            "regime-axes": regimes(self.bound_failure, noise, budget),
            "powers": powers(noise, self.failure, budget),
            "proof-steps": proof_steps(),
            "lemmas": lemmas(self.lemma_trials, self.bound_failure, runner, self.seed + 2),
            "lemma-a3-tail": single_prompt_tail(),
            "sum-tail": sum_tails(),
        }


def _figure(every: pd.DataFrame) -> pd.DataFrame:
    """The rows of Figure 2: one start for each setting, and the trivial predictor and Γ* in each setting."""
    parts = []
    for setting, start in VARIANTS:
        if (setting, start) == (Setting.PUBLISHED, ZERO):
            continue
        own = every[(every["setting"] == setting) & (every["start"] == start)]
        common = every[every["method"].isin(["zero", "ridge"])].assign(setting=str(setting))
        parts.append(pd.concat([own, common]))
    return pd.concat(parts, ignore_index=True).drop(columns="start")


def start_rows(cell: Cell, every: pd.DataFrame) -> pd.DataFrame:
    """The published algorithm from its random Γ⁰ and from 0, beside the closed form of the same dynamics.

    ``radius_share`` is the root mean square of the unprojected weights' norm over R: the closed form holds where it is
    well below one.
    """
    hyper = cell.hyper[Setting.PUBLISHED]
    h, R = dynamics.curvature(cell.model), hyper.weight_bound
    own = every[(every["N"] == cell.N) & (every["setting"] == Setting.PUBLISHED)].drop(columns="setting")
    noise = dict(zip(cell.epsilon, cell.noise[Setting.PUBLISHED], strict=True))
    rows = []
    for row in own.to_dict("records"):
        energy = (authors.INITIAL_STD * cell.model.D) ** 2 if row["start"] == RANDOM else 0.0
        std = noise.get(row["epsilon"], 0.0)
        descent = dynamics.descent_risk(hyper, cell.model, cell.N, cell.penalty, energy, np.array([cell.T]))[0]
        total = descent + dynamics.noise_risk(hyper, cell.model, std, h)
        reach = np.sqrt(max(energy, total / h)) / R
        rows.append({**row, "closed_form": total, "radius_share": reach, "start_norm": np.sqrt(energy), "radius": R})
    return pd.DataFrame(rows)
