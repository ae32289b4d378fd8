"""What is measured for Figure 3: excess risk against the number of steps, from two starts, in three accounts."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product

import numpy as np
import pandas as pd

from chapters.noisyhead import authors
from chapters.ranges import DELTA, EPSILON, NOISE_OR_NONE, SEED, TRIALS, count
from companion import _fits
from companion.declaration import Parameters, many, parameter
from companion.streams import Runner
from costofprivacy import _validate
from costofprivacy._validate import POSITIVE, Range, at_least, within
from costofprivacy.noisyhead import bounds, dynamics, head, hyperparameters, population, pretraining, recipes, series
from costofprivacy.noisyhead.accounts import ACCOUNTS, ALGORITHM, EVERY, LAST, noise_std
from costofprivacy.noisyhead.curvature import in_eigenbasis
from costofprivacy.noisyhead.head import Statistics
from costofprivacy.noisyhead.hyperparameters import Hyperparameters
from costofprivacy.noisyhead.prompts import PromptModel
from costofprivacy.noisyhead.ridge import ridge
from costofprivacy.noisyhead.series import Training
from costofprivacy.privacy import ApproximateDP
from costofprivacy.settings import Setting

# ---- Closed forms ----
# Write a = 1 − 2λη₀ and Δ for the sensitivity of a step. With the *last iterate* calibrated to μ-GDP the noise part is
#
# .. math:: \frac{\Delta^2}{\mu^2}\frac{1 - a^T}{1 + a^T}\frac{1 + a}{1 - a}\cdot e\,\frac{1 - a^{2T}}{1 - a^2}
#           = \frac{e\Delta^2}{\mu^2}\Big(\frac{1 - a^T}{1 - a}\Big)^2 =: A(1 - a^T)^2,
#
# which no T carries beyond A, the price of releasing the limit once with sensitivity Δ/(1 − a). With B a^{2T} for the
# descent the sum is least at a^T = A/(A + B), where it is AB/(A + B): more steps cost at most the factor 1 + A/B.

SIZES = tuple(10 ** (2 * k) for k in range(1, 9))
BUDGETS = (0.01, 0.1, 0.8, 8.0)
SMALL_BUDGETS = tuple(10.0**-k for k in range(9))
RATES = (1.0, 1e-2, 1e-4)  # shares of the theorem's learning rate that are tried
ONE_SIZE = 10**4  # N at which the bound is followed along T and ε
FOREVER = 10**7  # steps after which nothing of a start is left
LONGEST = 2000  # steps up to which a best T is looked for
FROM_R, FROM_FIGURE, FROM_ZERO = "‖Γ⁰‖ = R", "Γ⁰ of Figure 3", "Γ⁰ = 0"
ALONG_T, ALONG_EPSILON, ALONG_BOTH = "T", "ε", "T, ε = T"


@dataclass(frozen=True)
class Run:
    """Algorithm 1 on ``N`` prompts of a law, Π_R idle, beside Γ* of the same λ; T comes with each question."""

    hyper: Hyperparameters
    model: PromptModel
    N: int

    def descent(self, energy: float, steps: np.ndarray) -> np.ndarray:
        """The part of descent for each T, from E‖Γ⁰‖² = ``energy``."""
        return dynamics.descent_risk(self.hyper, self.model, self.N, self.hyper.penalty, energy, steps)

    def noise(self, account: str, budget: ApproximateDP, steps: np.ndarray) -> np.ndarray:
        """The part of noise for each T, which no start changes."""
        std = np.array([noise_std(account, self.hyper, budget, self.N, int(T)) for T in steps])
        return dynamics.noise_risks(self.hyper, self.model, std, steps, dynamics.curvature(self.model))

    def risk(self, energy: float, account: str, budget: ApproximateDP, steps: np.ndarray) -> pd.DataFrame:
        """Both parts and their sum for each T; columns T, descent, noise, total."""
        descent, noise = self.descent(energy, steps), self.noise(account, budget, steps)
        return pd.DataFrame({"T": steps, "descent": descent, "noise": noise, "total": descent + noise})

    def longest_risk(self, budget: ApproximateDP, T: int) -> float:
        """The risk after T steps of Algorithm 1's own account from ‖Γ⁰‖ = R, the longest start that it admits."""
        return float(self.risk(self.hyper.weight_bound**2, ALGORITHM, budget, np.array([T]))["total"].iloc[0])

    def progress(self, T: float) -> float:
        """r after T steps."""
        return bounds.progress(self.hyper.learning_rate, self.hyper.penalty, int(T))

    def bound_45(self, T: float, budget: ApproximateDP) -> float:
        """The right side of (4.5) after T steps, hidden constant one."""
        return sum(bounds.overparametrised_cost(self.model, self.N, self.progress(T), budget))

    @property
    def iterations(self) -> int:
        """T at which r = N."""
        return bounds.high_dimensional_iterations(self.N, self.hyper.learning_rate, self.hyper.penalty)


def theorem_run(N: int, failure: float, label_noise: float) -> Run:
    """The algorithm of Theorem 4.1 at D = L = √N and λ = N/D."""
    model = recipes.overparametrised_model(N, label_noise)
    return Run(recipes.theorem(model, N, failure, recipes.high_dimension_penalty(N)), model, N)


def step_grid(longest: int, points: int = 120) -> np.ndarray:
    """Whole numbers from 1 to ``longest``, every one at first, then about evenly on a log axis."""
    return np.unique(np.round(np.geomspace(1, longest, points)).astype(int))


def right_sides(run: Run, failure: float, budget: ApproximateDP, steps: np.ndarray) -> pd.DataFrame:
    """The right sides of (4.2) and (4.5) by T, hidden constants one, and C_Noise as section 6.2 prints it."""
    G0 = hyperparameters.query_bound_proof(run.model, run.N, failure)
    rows = []
    for T in steps:
        told, r = replace(run.hyper, steps=int(T)), run.progress(T)
        descent, noise = bounds.overparametrised_cost(run.model, run.N, r, budget)
        rows.append(
            {
                "T": T,
                "r": r,
                "descent_42": bounds.cost_of_descent(told, G0),
                "noise_42": bounds.cost_of_noise(told, G0, run.model, budget, run.N),
                "descent_45": descent,
                "noise_45": noise,
                "noise_section_62": bounds.noise_cost_section_62(run.model, run.N, r),
            }
        )
    return pd.DataFrame(rows)


def stopping(failure: float, label_noise: float, budget: ApproximateDP) -> pd.DataFrame:
    """The best T in closed form as N grows with D = L = √N, by start and account, in units of log N."""
    rows, steps = [], np.arange(1, LONGEST + 1)
    for N in SIZES:
        run = theorem_run(N, failure, label_noise)
        transient, R = 1 / (4 * run.hyper.learning_rate * run.hyper.penalty), run.hyper.weight_bound
        # ‖Γ⁰‖² by start; a start outside the ball of radius R is projected on it, as Algorithm 1 does
        energies = {FROM_R: R**2, FROM_FIGURE: min(R, authors.INITIAL_STD * run.model.D) ** 2, FROM_ZERO: 0.0}
        for account in ACCOUNTS:
            noise = run.noise(account, budget, steps)
            for start, energy in energies.items():
                total = noise + run.descent(energy, steps)
                best = int(steps[total.argmin()])
                rows.append(
                    {
                        "N": float(N),
                        "account": account,
                        "start": start,
                        "best_T": best,
                        "best_T_over_log_N": best / math.log(N),
                        "risk_at_best": total.min(),
                        "risk_at_longest_over_best": total[-1] / total.min(),
                        "transient": transient,
                    }
                )
    return pd.DataFrame(rows)


def last_iterate(run: Run, budget: ApproximateDP, energies: Mapping[str, float]) -> pd.DataFrame:
    """A and B of the module's text by start, in the limit T → ∞: the best T and what it costs to go on for ever."""
    a = 1 - run.hyper.learning_rate * (2 * run.hyper.penalty + dynamics.curvature(run.model))
    A = run.noise(LAST, budget, np.array([FOREVER]))[0]
    rows = []
    for start, energy in energies.items():
        B = run.descent(energy, np.array([0]))[0]
        least = A * B / (A + B)
        best = max(1.0, math.log1p(B / A) / -math.log(a))
        rows.append({"start": start, "A": A, "B": B, "best_T": best, "least": least, "for_ever_over_least": A / least})
    return pd.DataFrame(rows)


def stopped(failure: float, label_noise: float, delta: float) -> pd.DataFrame:
    """The closed form at r = N from ‖Γ⁰‖ = R beside (4.6) and (4.5), by N and ε, Algorithm 1's own account.

    ``rest`` is where the noiseless twin rests, ``least_45`` the least of (4.5) over r, each at the largest ε that is
    private: ε = T.
    """
    rows = []
    for N in SIZES:
        run = theorem_run(N, failure, label_noise)
        T, rest = run.iterations, run.descent(0.0, np.array([FOREVER]))[0]
        least = min(run.bound_45(t, ApproximateDP(float(t), delta)) for t in step_grid(LONGEST))
        for epsilon in BUDGETS:
            budget = ApproximateDP(epsilon, delta)
            rows.append(
                {
                    "N": float(N),
                    "epsilon": epsilon,
                    "T": T,
                    "T_over_log_N": T / math.log(N),
                    "excess_risk": run.longest_risk(budget, T),
                    "bound_46": bounds.stopped_cost(run.model, N),
                    "bound_45": sum(bounds.overparametrised_cost(run.model, N, N, budget)),
                    "rest": rest,
                    "least_45": least,
                }
            )
    return pd.DataFrame(rows)


def any_steps(failure: float, label_noise: float, budget: ApproximateDP) -> pd.DataFrame:
    """The closed form from ‖Γ⁰‖ = R beside (4.5) at one N along T, along ever smaller ε, and along T with ε = T."""
    run = theorem_run(ONE_SIZE, failure, label_noise)
    steps = [int(T) for T in step_grid(LONGEST, 30)]
    points = [(ALONG_T, T, budget.epsilon) for T in steps]
    points += [(ALONG_EPSILON, run.iterations, epsilon) for epsilon in SMALL_BUDGETS]
    points += [(ALONG_BOTH, T, float(T)) for T in steps]
    rows = []
    for axis, T, epsilon in points:
        told = ApproximateDP(epsilon, budget.delta)
        sides = {"excess_risk": run.longest_risk(told, T), "bound_45": run.bound_45(T, told)}
        rows.append({"axis": axis, "N": float(run.N), "T": T, "epsilon": epsilon, "r": run.progress(T)} | sides)
    return pd.DataFrame(rows)


def parts_at_stop(failure: float, label_noise: float, budget: ApproximateDP) -> pd.DataFrame:
    """Noise and descent after 1, ½ log N and log N steps, from the longest start and from 0, by learning rate.

    ``rate_share`` is that of the theorem's learning rate; ``descent_over_zero``, the part of descent over the excess
    risk of answering 0, which is that of Γ⁰ = 0 before any step.
    """
    rows = []
    for N in SIZES:
        full = theorem_run(N, failure, label_noise)
        steps = np.unique([1, math.ceil(math.log(N) / 2), math.ceil(math.log(N))])
        for share in RATES:
            run = replace(full, hyper=replace(full.hyper, learning_rate=share * full.hyper.learning_rate))
            zero = run.descent(0.0, np.array([0]))[0]
            for start, energy in ((FROM_R, run.hyper.weight_bound**2), (FROM_ZERO, 0.0)):
                curve = run.risk(energy, ALGORITHM, budget, steps).drop(columns="total")
                rows.append(curve.assign(N=float(N), start=start, rate_share=share, zero_risk=zero))
    table = pd.concat(rows, ignore_index=True)
    table = table[["N", "start", "rate_share", "T", "noise", "descent", "zero_risk"]]
    over = {"noise_over_descent": table["noise"] / table["descent"]}
    return table.assign(**over, descent_over_zero=table["descent"] / table["zero_risk"])


def section_62(label_noise: float, budget: ApproximateDP) -> pd.DataFrame:
    """C_Descent and C_Noise of section 6.2 at r = N against N beside the two terms of (4.5), with local exponents.

    The factors ν⁵log³(NL) and log(1/δ)/ε² of (4.5), which section 6.2 leaves aside, are divided out.
    """
    rows = []
    for N in SIZES:
        model = recipes.overparametrised_model(N, label_noise)
        descent, noise = bounds.overparametrised_cost(model, N, N, budget)
        logs = model.response_variance**5 * math.log(N * model.L) ** 3
        noise *= budget.epsilon**2 / -math.log(budget.delta)
        printed = bounds.noise_cost_section_62(model, N, N)
        rows.append({"N": float(N), "descent": descent / logs, "noise_45": noise / logs, "noise_printed": printed})
    table, sizes = pd.DataFrame(rows), np.array(SIZES, dtype=float)
    exponents = {f"exponent_{name}": _fits.local_exponents(sizes, table[name].to_numpy()) for name in table.columns[1:]}
    return table.assign(**exponents)


# ---- Cell ----

SHARE = {Setting.PRINTED: 0.02 / 3, Setting.PUBLISHED: 0.02 / 3}  # η₀ (λ + G²)²/λ
RANDOM, ZERO = "random", "zero"  # Γ⁰: entries N(0, 0.1²), or 0
RUNS: tuple[tuple[Setting, str, tuple[str, ...]], ...] = (
    (Setting.PRINTED, ZERO, (ALGORITHM,)),
    (Setting.PUBLISHED, RANDOM, ACCOUNTS),
    (Setting.PUBLISHED, ZERO, ACCOUNTS),
    (Setting.CORRECTED, ZERO, (EVERY,)),
)
LATER = tuple(range(600, 3001, 200))  # steps at which descent without noise is followed further


@dataclass(frozen=True)
class Cell(authors.OfHighDimension, authors.WithBudget):
    """Figure 3 with everything a trial needs."""

    N: int
    T: tuple[int, ...]
    epsilon: float
    delta: float
    failure: float
    label_noise: float
    test_prompts: int

    @cached_property
    def hyper(self) -> dict[Setting, Hyperparameters]:
        """What Algorithm 1 is told in each setting; T comes with the run."""
        return recipes.high_dimension(self.model, self.N, self.failure, SHARE, max(self.T))

    @property
    def published(self) -> Run:
        """The algorithm behind the published numbers, for its closed forms."""
        return Run(self.hyper[Setting.PUBLISHED], self.model, self.N)

    @property
    def later(self) -> tuple[int, ...]:
        """T of the noiseless twin, the figure's and further ones."""
        return (*self.T, *(T for T in LATER if max(self.T) < T))

    @cached_property
    def noise(self) -> dict[tuple[Setting, tuple[str, ...]], np.ndarray]:
        """Standard deviation of an entry of z_t for each account and T, by setting and accounts."""
        return {(setting, accounts): self.stds(setting, accounts) for setting, _, accounts in RUNS}

    def stds(self, setting: Setting, accounts: tuple[str, ...]) -> np.ndarray:
        """Standard deviation of an entry of z_t for each account and T, in this order."""
        hyper = self.hyper[setting]
        return np.array([noise_std(account, hyper, self.budget, self.N, T) for account in accounts for T in self.T])

    @cached_property
    def ranks(self) -> np.ndarray:
        """Which of the distinct T in ascending order each T is."""
        return np.unique(self.T, return_inverse=True)[1]

    @cached_property
    def columns(self) -> pd.DataFrame:
        """(setting, start, account, method, T) of each number that a trial returns."""
        rows: list[dict[str, object]] = []
        for setting, start, accounts in RUNS:
            run = {"setting": str(setting), "start": start}
            rows += [run | {"account": account, "method": "noisyhead", "T": T} for account in accounts for T in self.T]
            rows += [run | {"account": "", "method": "gradient-descent", "T": T} for T in self.later]
        none = {"setting": "", "start": "", "account": "", "T": 0}
        return pd.DataFrame([*rows, none | {"method": "zero"}, none | {"method": "ridge"}])


# ---- Paths ----
# Where Π_R surely projects nothing the runs come from one series (`costofprivacy.noisyhead.series`), without a Gram
# matrix; elsewhere, step by step from the same noise.


@dataclass(frozen=True)
class Draws:
    """What a trial draws: prompts as they are and with responses clipped at C, test prompts, Γ⁰, the noise's stream."""

    raw: Statistics
    clipped: Statistics
    test: Statistics
    start: np.ndarray
    stream: int

    @property
    def seen(self) -> Training:
        """The training prompts as they are; rows of weights are followed by their answers to the test prompts."""
        Z = self.test.Z.reshape(len(self.test.response), -1)
        return Training(self.raw, self.start.reshape(-1), lambda rows: np.hstack([rows, rows @ Z.T]))

    def told(self, seen: Training, feature_bound: float) -> Training:
        """The clipped and projected prompts, or the very ones seen where that changes nothing."""
        told, raw = head.project(self.clipped, feature_bound), self.raw
        same = np.array_equal(told.context, raw.context) and np.array_equal(told.response, raw.response)
        return seen if same else Training(told, seen.start, seen.image)


def measured(cell: Cell, draws: Draws) -> np.ndarray:
    """Excess risk over the test prompts and expected test error of each run, shape (2, columns)."""
    seen, D, penalty = draws.seen, cell.model.D, cell.penalty
    if seen.bound <= series.LARGEST_RATIO * penalty:
        reference = seen.ridge(penalty)
    else:
        reference = seen.image(ridge(head.moments(seen.data), penalty).reshape(1, -1))[0]
    rows = np.vstack([*_runs(cell, draws, seen), np.zeros_like(reference), reference])
    weights, answers = np.split(rows, [D**2], axis=1)
    excess = ((answers - reference[D**2 :]) ** 2).mean(axis=1)
    return np.stack([excess, population.prediction_error(cell.model, weights.reshape(-1, D, D))])


def _runs(cell: Cell, draws: Draws, seen: Training) -> Iterator[np.ndarray]:
    """NoisyHead by account and T, then its noiseless twin by T, for each of ``RUNS``."""
    told = {setting: draws.told(seen, hyper.feature_bound) for setting, hyper in cell.hyper.items()}
    sums = series.noises(
        [series.shrink(cell.hyper[s]) for s in told],
        [data.ends for data in told.values()],
        sorted(set(cell.T)),
        max(series.terms(series.ratio(data, cell.hyper[s])) for s, data in told.items()),
        rng=np.random.default_rng(draws.stream),
    )
    noise, unit = dict(zip(told, sums, strict=True)), dict[Setting, np.ndarray]()
    for data in dict.fromkeys(told.values()):  # what unit noise leaves: settings with the same prompts go together
        own = [s for s in told if told[s] is data]
        left = data.noise([cell.hyper[s].learning_rate for s in own], [noise[s].sums for s in own])
        unit |= dict(zip(own, left, strict=True))
    for setting, begins, accounts in RUNS:
        hyper, moves, data = cell.hyper[setting], float(begins == RANDOM), told[setting]
        share = moves * min(1.0, hyper.weight_bound / float(np.linalg.norm(draws.start)))
        std, steps = cell.noise[setting, accounts], np.tile(cell.T, len(accounts))
        spread = std.reshape(len(accounts), -1, 1) * unit[setting][cell.ranks]
        rows = (data.descent(hyper, cell.T, share) + spread).reshape(len(std), -1)
        sure = series.idle(data, hyper, noise[setting], std, steps, share)
        if not sure.all():
            same = np.random.default_rng(draws.stream)  # Algorithm 1 step by step, on the noise that was added up
            start = moves * draws.start
            Gamma = pretraining.pretrain(
                head.moments(data.data), hyper, std[~sure], rng=same, steps=steps[~sure], initial=start
            )
            rows[~sure] = data.image(Gamma.reshape(len(Gamma), -1))
        yield rows
        yield _descent(seen, hyper, cell.later, moves)


def _descent(seen: Training, hyper: Hyperparameters, steps: tuple[int, ...], share: float) -> np.ndarray:
    """The noiseless twin from share·Γ⁰ after each T."""
    if np.isfinite(series.ratio(seen, hyper)):
        return seen.descent(hyper, steps, share)
    D = seen.data.query.shape[1]
    data = in_eigenbasis(head.moments(seen.data))
    found = pretraining.descent_path(data, hyper, steps, share * seen.start.reshape(D, D))
    return seen.image(found.reshape(len(found), -1))


# ---- The experiment ----

FIGURE = ((Setting.PRINTED, ZERO, ALGORITHM), (Setting.PUBLISHED, RANDOM, ALGORITHM), (Setting.CORRECTED, ZERO, EVERY))
ROUNDING = 1e-9  # relative rise of a risk that is none
MOST = recipes.MOST_STEPS
STEPS = Range(f"at most {MOST}", lambda T: T <= MOST, int, after=at_least(1), ends=(1, MOST))


def trial(cell: Cell, *, rng: np.random.Generator) -> np.ndarray:
    """One draw of training and test prompts, all runs on it: shape (2, columns), excess risk and test error.

    All runs share Γ⁰ and the directions of the noise.
    """
    raw, clipped = head.sample_statistics(cell.model, cell.N, cell.hyper[Setting.PRINTED].clip_norm, rng=rng)
    test, _ = head.sample_statistics(cell.model, cell.test_prompts, rng=rng)
    start = authors.INITIAL_STD * rng.standard_normal((cell.model.D, cell.model.D))
    return measured(cell, Draws(raw, clipped, test, start, int(rng.integers(2**63))))


class Experiment(Parameters):
    """Figure 3: excess risk of NoisyHead against the number of steps, at D = L = ⌊√N⌋ and λ = N/D."""

    # N × D² numbers, D² = N; beyond Π_R, D² × D² of them
    N: int = parameter(within(16, 2500, after=at_least(1), convert=int), 1000, published=True)
    """Number of training prompts; D and L are the integer part of its square root."""
    T: tuple[int, ...] = many(STEPS, *range(1, 482, 20), ascending=True)
    """Numbers of steps, at least two of them; each is a run of its own."""
    epsilon: float = parameter(EPSILON, 0.8, published=True)
    """Privacy budget ε of approximate differential privacy, at most the least T."""
    delta: float = parameter(DELTA, 1e-5, published=True)
    # with less, G is so large and η₀ so small that log N steps go nowhere
    failure: float = parameter(within(1e-50, 1, after=POSITIVE), 1.0, published=True)
    label_noise: float = parameter(NOISE_OR_NONE, 0.0, published=True)
    trials: int = parameter(TRIALS, 500)
    test_prompts: int = parameter(count(1, 10**7), 500, published=True)
    seed: int = parameter(SEED, 6)

    def check(self) -> None:
        """Refuse a single T, and a budget for which the calibration of a single step is no bound (ε/T > 1)."""
        if len(self.T) < 2:
            raise ValueError(f"T must hold at least two numbers of steps, got {list(self.T)}")
        _validate.between("epsilon", self.epsilon, 0, min(self.T))

    @property
    def cell(self) -> Cell:
        """The one cell."""
        return self.shared(Cell)

    def run(self, runner: Runner) -> dict[str, pd.DataFrame]:
        """Figure 3, test errors, starts and accounts, descent, closed forms, bounds, best T, and this as N grows."""
        cell = self.cell
        samples = runner.run(trial, [cell], self.trials, self.seed)[cell]
        every = _table(cell, samples[:, 0], "excess_risk")
        accounts = every[(every["setting"] == "published") & (every["method"] == "noisyhead")]
        figure, law = _figure(every, cell), (self.failure, self.label_noise)
        errors = _figure(_table(cell, samples[:, 1], "test_error"), cell)
        best, both = population.best_prediction_error(cell.model), ["setting", "T", "method"]
        theirs = authors.if_published(self, authors.excess_risks("noisyhead-early-stopping", ["T"]))
        comparison = authors.beside(figure, theirs, both[1:], "excess_risk")
        # the bounds are followed to 50 times the largest T, as far as they are floats (log r up to 650)
        rate = cell.hyper[Setting.PUBLISHED].learning_rate * cell.penalty
        longest = max(*self.T, min(50 * max(self.T), math.floor(650 / -math.log1p(-rate))))
        grid = np.union1d(step_grid(longest), self.T)
        curves, limits = closed_curves(cell), right_sides(cell.published, self.failure, cell.budget, grid)
        energies = {start: start_energy(cell, start) for start in (RANDOM, ZERO)}
        return {
            "figure-3": figure,
            "test-error": errors.assign(best_linear_head=best, response_variance=cell.model.response_variance),
            "accounts": with_closed_form(accounts, cell),
            "comparison": comparison[[*both, "excess_risk", "standard_error", "excess_risk_theirs", "deviation"]],
            "descent": descent_rows(cell, samples[:, 0]),
            "closed-form": curves,
            "bounds": limits,
            "best-steps": best_steps(accounts, curves, limits),
            "stopping": stopping(*law, cell.budget),
            "stopped": stopped(*law, self.delta),
            "any-steps": any_steps(*law, cell.budget),
            "parts-at-stop": parts_at_stop(*law, cell.budget),
            "last-iterate": last_iterate(cell.published, cell.budget, energies),
            "section-62": section_62(self.label_noise, cell.budget),
        }


def _table(cell: Cell, values: np.ndarray, quantity: str) -> pd.DataFrame:
    mean, error = _fits.mean_and_error(values)
    return cell.columns.assign(**{quantity: mean, "standard_error": error, "trials": len(values)})


def _figure(every: pd.DataFrame, cell: Cell) -> pd.DataFrame:
    """The rows of Figure 3: one start and account for each setting, and the trivial predictor and Γ* at every T."""
    parts = []
    for setting, start, account in FIGURE:
        own = every[(every["setting"] == setting) & (every["start"] == start)]
        own = own[own["account"].isin([account, ""]) & own["T"].isin(cell.T)]
        common = every[every["method"].isin(["zero", "ridge"])]
        parts += [own, *(common.assign(setting=str(setting), T=T) for T in cell.T)]
    return pd.concat(parts, ignore_index=True).drop(columns=["start", "account"])


def start_energy(cell: Cell, start: str) -> float:
    """E‖Γ⁰‖²_F."""
    return (authors.INITIAL_STD * cell.model.D) ** 2 if start == RANDOM else 0.0


def with_closed_form(accounts: pd.DataFrame, cell: Cell) -> pd.DataFrame:
    """The simulated rows with the closed form beside them, and the root mean square norm that it implies over R."""
    h, R = dynamics.curvature(cell.model), cell.hyper[Setting.PUBLISHED].weight_bound
    parts = []
    for (start, account), rows in accounts.groupby(["start", "account"], sort=False):
        energy = start_energy(cell, str(start))
        closed = cell.published.risk(energy, str(account), cell.budget, rows["T"].to_numpy())
        longest = np.sqrt(np.maximum(closed["total"] / h, energy)) / R
        parts.append(rows.assign(closed_form=closed["total"].to_numpy(), radius_share=longest.to_numpy()))
    return pd.concat(parts, ignore_index=True).drop(columns=["setting", "method"])


def closed_curves(cell: Cell) -> pd.DataFrame:
    """The closed form on a fine grid of T for both starts and all accounts; ``limit_of_R``: the risk on ‖Γ‖ = R."""
    steps = step_grid(2 * max(cell.T))
    limit = dynamics.curvature(cell.model) * cell.hyper[Setting.PUBLISHED].weight_bound ** 2
    curves = []
    for start, account in product((RANDOM, ZERO), ACCOUNTS):
        curve = cell.published.risk(start_energy(cell, start), account, cell.budget, steps)
        curves.append(curve.assign(start=start, account=account))
    return pd.concat(curves, ignore_index=True).assign(limit_of_R=limit)


def best_steps(accounts: pd.DataFrame, curves: pd.DataFrame, limits: pd.DataFrame) -> pd.DataFrame:
    """The T with the least excess risk, or bound, and that least, by source, start and account."""
    parts = []
    for source, table, value in (("simulation", accounts, "excess_risk"), ("closed form", curves, "total")):
        for (start, account), own in table.groupby(["start", "account"], sort=False):
            parts.append(((source, start, account), own["T"], own[value]))
    for suffix in ("42", "45"):
        total = limits[f"descent_{suffix}"] + limits[f"noise_{suffix}"]
        parts.append(((f"(4.{suffix[1]})", "", ALGORITHM), limits["T"], total))
    columns = ["source", "start", "account", "best_T", "least", "first_T", "last_T"]
    best = [(*names, int(T[risk.idxmin()]), risk.min(), T.min(), T.max()) for names, T, risk in parts]
    return pd.DataFrame(best, columns=columns)


def descent_rows(cell: Cell, excess: np.ndarray) -> pd.DataFrame:
    """Descent without noise far beyond the figure, and the share of data sets in which its risk has risen by each T.

    ``rest`` is the closed form of the excess risk at which descent comes to rest, ``risen`` the share of data sets
    whose risk at T is above an earlier one.
    """
    tables = []
    for setting, start, _ in RUNS:
        own = cell.columns["setting"].eq(str(setting)) & cell.columns["start"].eq(start)
        values = excess[:, np.flatnonzero(own & cell.columns["method"].eq("gradient-descent"))]
        mean, error = _fits.mean_and_error(values)
        above = values > (1 + ROUNDING) * np.minimum.accumulate(values, axis=1)
        told = (cell.hyper[setting], cell.model, cell.N, cell.penalty, start_energy(cell, start))
        closed, rest = (dynamics.descent_risk(*told, np.array(T)) for T in (cell.later, [10**9]))
        columns = {
            "setting": str(setting),
            "start": start,
            "T": cell.later,
            "in_figure": [T in cell.T for T in cell.later],
            "excess_risk": mean,
            "standard_error": error,
            "trials": len(values),
            "risen": above.mean(axis=0),
            "closed_form": closed,
            "rest": rest[0],
        }
        tables.append(pd.DataFrame(columns))
    return pd.concat(tables, ignore_index=True)
