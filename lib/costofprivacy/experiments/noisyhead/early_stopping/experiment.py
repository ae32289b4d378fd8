"""What is measured for Figure 3: excess risk against the number of steps, from two starts, in three accounts."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from costofprivacy import _fits, _validate
from costofprivacy.experiments.noisyhead import authors
from costofprivacy.experiments.noisyhead.early_stopping import closed_forms
from costofprivacy.montecarlo import Runner
from costofprivacy.noisyhead import dynamics, head, population, pretraining, recipes
from costofprivacy.noisyhead.accounts import ACCOUNTS, ALGORITHM, EVERY, noise_std
from costofprivacy.noisyhead.curvature import EigenMoments, in_eigenbasis
from costofprivacy.noisyhead.head import Statistics
from costofprivacy.noisyhead.hyperparameters import Hyperparameters
from costofprivacy.noisyhead.prompts import PromptModel
from costofprivacy.noisyhead.ridge import ridge
from costofprivacy.privacy import ApproximateDP
from costofprivacy.settings import Setting

SHARE = {Setting.PRINTED: 0.02 / 3, Setting.PUBLISHED: 0.02 / 3}  # η₀ (λ + G²)²/λ
RANDOM, ZERO = "random", "zero"  # Γ⁰: entries N(0, 0.1²), or 0
RUNS: tuple[tuple[Setting, str, tuple[str, ...]], ...] = (
    (Setting.PRINTED, ZERO, (ALGORITHM,)),
    (Setting.PUBLISHED, RANDOM, ACCOUNTS),
    (Setting.PUBLISHED, ZERO, ACCOUNTS),
    (Setting.CORRECTED, ZERO, (EVERY,)),
)
FIGURE = (
    (Setting.PRINTED, ZERO, ALGORITHM),
    (Setting.PUBLISHED, RANDOM, ALGORITHM),
    (Setting.CORRECTED, ZERO, EVERY),
)
BEYOND = 50  # times the largest T: as far as the bounds are followed
LATER = tuple(range(600, 3001, 200))  # steps at which descent without noise is followed further
ROUNDING = 1e-9  # relative rise of a risk that is none
FARTHEST = 650.0  # log r up to which they are floats
SMALLEST_N, LARGEST_N = 16, 2500  # O(N^{3/2}·N^{3/2}) for an eigendecomposition of D² = N
SMALLEST_KAPPA = 1e-50  # below it G is so large, and η₀ so small, that nothing of the order of log N steps arrives


@dataclass(frozen=True)
class Cell:
    """Figure 3 with everything a trial needs."""

    N: int
    T: tuple[int, ...]
    epsilon: float
    delta: float
    kappa: float
    tau: float
    test_prompts: int

    @property
    def key(self) -> int:
        """N names the random stream."""
        return self.N

    @cached_property
    def model(self) -> PromptModel:
        """D = L = ⌊√N⌋."""
        return recipes.overparametrised_model(self.N, self.tau)

    @cached_property
    def penalty(self) -> float:
        """λ = N/D."""
        return recipes.high_dimension_penalty(self.N)

    @cached_property
    def budget(self) -> ApproximateDP:
        """(ε, δ)."""
        return ApproximateDP(self.epsilon, self.delta)

    @cached_property
    def hyper(self) -> dict[Setting, Hyperparameters]:
        """What Algorithm 1 is told in each setting; T comes with the run."""
        return recipes.high_dimension(self.model, self.N, self.kappa, SHARE, max(self.T))

    @property
    def later(self) -> tuple[int, ...]:
        """T of the noiseless twin, the figure's and further ones."""
        return (*self.T, *(T for T in LATER if max(self.T) < T))

    def noise(self, setting: Setting, accounts: tuple[str, ...]) -> list[float]:
        """Standard deviation of an entry of z_t for each account and T."""
        hyper = self.hyper[setting]
        return [noise_std(account, hyper, self.budget, self.N, T) for account in accounts for T in self.T]

    @cached_property
    def columns(self) -> pd.DataFrame:
        """(setting, start, account, method, T) of each number that a trial returns."""
        rows: list[tuple] = []
        for setting, start, accounts in RUNS:
            rows += [(str(setting), start, account, "noisyhead", T) for account in accounts for T in self.T]
            rows += [(str(setting), start, "", "gradient-descent", T) for T in self.later]
        rows += [("", "", "", "zero", 0), ("", "", "", "ridge", 0)]
        return pd.DataFrame(rows, columns=["setting", "start", "account", "method", "T"])


def trial(cell: Cell, *, rng: np.random.Generator) -> np.ndarray:
    """One draw of training and test prompts, all runs on it: shape (2, columns), excess risk and test error.

    All runs share Γ⁰ and, in the eigenbasis of their Gram matrix, the directions of the noise.
    """
    model, shape = cell.model, (cell.model.D, cell.model.D)
    raw, clipped = head.sample_statistics(model, cell.N, cell.hyper[Setting.PRINTED].clip_norm, rng=rng)
    test, _ = head.sample_statistics(model, cell.test_prompts, rng=rng)
    start = authors.INITIAL_STD * rng.standard_normal(shape)
    stream = int(rng.integers(2**63))
    seen = in_eigenbasis(head.moments(raw))
    reference = ridge(seen, cell.penalty)
    weights = list(_runs(cell, raw, clipped, seen, start, stream))
    Gamma = np.concatenate([*weights, [np.zeros(shape), reference]])
    return np.stack([head.mean_square(Gamma - reference, test), population.prediction_error(model, Gamma)])


def _runs(
    cell: Cell, raw: Statistics, clipped: Statistics, seen: EigenMoments, start: np.ndarray, stream: int
) -> Iterator[np.ndarray]:
    """NoisyHead by account and T, then its noiseless twin by T, for each of ``RUNS``."""
    for setting, begins, accounts in RUNS:
        hyper, initial = cell.hyper[setting], start if begins == RANDOM else None
        told = head.project(clipped, hyper.feature_bound)
        data = seen if _same(told, raw) else in_eigenbasis(head.moments(told))
        steps = np.tile(cell.T, len(accounts))
        noise = np.random.default_rng(stream)
        std = cell.noise(setting, accounts)
        yield pretraining.pretrain(data, hyper, std, rng=noise, steps=steps, initial=initial)
        yield pretraining.descent_path(seen, hyper, cell.later, initial)


def _same(one: Statistics, other: Statistics) -> bool:
    """Whether clipping and projection changed nothing, so that one eigendecomposition serves both."""
    return np.array_equal(one.context, other.context) and np.array_equal(one.response, other.response)


@dataclass(frozen=True)
class Experiment:
    """Figure 3: excess risk of NoisyHead against the number of steps, at D = L = ⌊√N⌋ and λ = N/D.

    Args:
        N: number of training prompts, 16 to 2500.
        T: numbers of steps, at least two, each 1 to 100000.
        epsilon, delta: the budget; ε at most the least T.
        kappa: κ in [1e-50, 1]. tau: standard deviation of the label noise, ≥ 0.
        trials: at least 2. test_prompts: test prompts in each trial, at least 1. seed: root of all random streams, ≥ 0.
    """

    N: int = 1000
    T: tuple[int, ...] = tuple(range(1, 482, 20))
    epsilon: float = 0.8
    delta: float = 1e-5
    kappa: float = 1.0
    tau: float = 0.0
    trials: int = 500
    test_prompts: int = 500
    seed: int = 6

    def __post_init__(self) -> None:
        _validate.between("N", _validate.whole("N", self.N), SMALLEST_N, LARGEST_N)
        steps = _validate.each(_validate.whole, "T", self.T, at_least=1)
        object.__setattr__(self, "T", tuple(sorted(steps)))
        if len(self.T) < 2:
            raise ValueError(f"T must hold at least two numbers of steps, got {list(self.T)}")
        if max(self.T) > recipes.MOST_STEPS:
            raise ValueError(f"each of T must be at most {recipes.MOST_STEPS}, got {max(self.T)}")
        _validate.between("epsilon", _validate.positive("epsilon", self.epsilon), 0, min(self.T))
        _validate.probability("delta", self.delta)
        _validate.between("kappa", _validate.positive("kappa", self.kappa), SMALLEST_KAPPA, 1)
        _validate.nonnegative("tau", self.tau)
        _validate.whole("trials", self.trials, at_least=2)
        _validate.whole("test_prompts", self.test_prompts)
        _validate.whole("seed", self.seed, at_least=0)

    @property
    def cell(self) -> Cell:
        """The one cell."""
        fixed = (self.epsilon, self.delta, self.kappa, self.tau, self.test_prompts)
        return Cell(self.N, self.T, *fixed)

    def run(self, runner: Runner) -> dict[str, pd.DataFrame]:
        """Figure 3, test errors, starts and accounts, descent, closed forms, bounds, best T, and this as N grows."""
        cell = self.cell
        samples = runner.run(trial, [cell], self.trials, self.seed)[cell]
        every = _table(cell, samples[:, 0], "excess_risk")
        accounts = every[(every["setting"] == "published") & (every["method"] == "noisyhead")]
        figure = _figure(every, cell)
        curves, limits = closed_curves(cell), paper_bounds(cell)
        return {
            "figure-3": figure,
            "test-error": _with_trivial(_figure(_table(cell, samples[:, 1], "test_error"), cell), cell),
            "accounts": with_closed_form(accounts, cell),
            "comparison": compare(figure, published() if self.is_published else published().head(0)),
            "descent": descent_rows(cell, samples[:, 0]),
            "closed-form": curves,
            "bounds": limits,
            "best-steps": best_steps(accounts, curves, limits),
            "stopping": closed_forms.stopping(self.kappa, self.tau, cell.budget),
            "stopped": closed_forms.stopped(self.kappa, self.tau, self.delta),
            "last-iterate": closed_forms.last_iterate(
                cell.hyper[Setting.PUBLISHED],
                cell.model,
                cell.N,
                cell.budget,
                {start: start_energy(cell, start) for start in (RANDOM, ZERO)},
            ),
            "section-62": closed_forms.section_62(self.tau, cell.budget),
        }

    @property
    def is_published(self) -> bool:
        """Whether all that the published numbers fix is as they have it, T aside."""
        fixed = ("N", "epsilon", "delta", "kappa", "tau", "test_prompts")
        return all(getattr(self, name) == getattr(Experiment, name) for name in fixed)


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


def _with_trivial(table: pd.DataFrame, cell: Cell) -> pd.DataFrame:
    best = population.best_prediction_error(cell.model)
    return table.assign(best_linear_head=best, response_variance=cell.model.response_variance)


def start_energy(cell: Cell, start: str) -> float:
    """E‖Γ⁰‖²_F."""
    return (authors.INITIAL_STD * cell.model.D) ** 2 if start == RANDOM else 0.0


def _curve(cell: Cell, start: str, account: str, steps: np.ndarray) -> pd.DataFrame:
    hyper = cell.hyper[Setting.PUBLISHED]
    energy = start_energy(cell, start)
    return closed_forms.risk(hyper, cell.model, cell.N, cell.penalty, energy, account, cell.budget, steps)


def with_closed_form(accounts: pd.DataFrame, cell: Cell) -> pd.DataFrame:
    """The simulated rows with the closed form beside them, and the root mean square norm that it implies over R."""
    h, R = dynamics.curvature(cell.model), cell.hyper[Setting.PUBLISHED].weight_bound
    parts = []
    for (start, account), rows in accounts.groupby(["start", "account"], sort=False):
        closed = _curve(cell, str(start), str(account), rows["T"].to_numpy())
        longest = np.sqrt(np.maximum(closed["total"] / h, start_energy(cell, str(start)))) / R
        parts.append(rows.assign(closed_form=closed["total"].to_numpy(), radius_share=longest.to_numpy()))
    return pd.concat(parts, ignore_index=True).drop(columns=["setting", "method"])


def closed_curves(cell: Cell) -> pd.DataFrame:
    """The closed form on a fine grid of T for both starts and all accounts; ``limit_of_R``: the risk on ‖Γ‖ = R."""
    steps = closed_forms.step_grid(2 * max(cell.T))
    limit = dynamics.curvature(cell.model) * cell.hyper[Setting.PUBLISHED].weight_bound ** 2
    curves = pd.concat(
        [
            _curve(cell, start, account, steps).assign(start=start, account=account)
            for start in (RANDOM, ZERO)
            for account in ACCOUNTS
        ],
        ignore_index=True,
    )
    return curves.assign(limit_of_R=limit)


def paper_bounds(cell: Cell) -> pd.DataFrame:
    """(4.2) and (4.5) at the figure's T and on a grid far beyond."""
    hyper = cell.hyper[Setting.PUBLISHED]
    reach = math.floor(FARTHEST / -math.log1p(-hyper.learning_rate * hyper.penalty))
    longest = max(*cell.T, min(BEYOND * max(cell.T), reach))
    steps = np.union1d(closed_forms.step_grid(longest), cell.T)
    return closed_forms.paper_bounds(hyper, cell.model, cell.N, cell.kappa, cell.budget, steps)


def best_steps(accounts: pd.DataFrame, curves: pd.DataFrame, limits: pd.DataFrame) -> pd.DataFrame:
    """The T with the least excess risk, or bound, and that least, by source, start and account."""
    rows = []
    for source, table, value in (("simulation", accounts, "excess_risk"), ("closed form", curves, "total")):
        for (start, account), own in table.groupby(["start", "account"], sort=False):
            best = own.loc[own[value].idxmin()]
            rows.append((source, start, account, int(best["T"]), best[value], own["T"].min(), own["T"].max()))
    for name, suffix in (("(4.2)", "42"), ("(4.5)", "45")):
        total = limits[f"descent_{suffix}"] + limits[f"noise_{suffix}"]
        at = limits.loc[total.idxmin()]
        rows.append((name, "", ALGORITHM, int(at["T"]), total.min(), limits["T"].min(), limits["T"].max()))
    names = ["source", "start", "account", "best_T", "least", "first_T", "last_T"]
    return pd.DataFrame(rows, columns=names)


def descent_rows(cell: Cell, excess: np.ndarray) -> pd.DataFrame:
    """Descent without noise far beyond the figure, and the share of data sets in which its risk has risen by each T.

    ``rest`` is the closed form of the excess risk at which descent comes to rest, ``risen`` the share of data sets
    whose risk at T is above an earlier one.
    """
    rows = []
    for setting, start, _ in RUNS:
        own = cell.columns["setting"].eq(str(setting)) & cell.columns["start"].eq(start)
        index = np.flatnonzero(own & cell.columns["method"].eq("gradient-descent"))
        values = excess[:, index]
        mean, error = _fits.mean_and_error(values)
        risen = (values > (1 + ROUNDING) * np.minimum.accumulate(values, axis=1)).mean(axis=0)
        energy, hyper = start_energy(cell, start), cell.hyper[setting]
        told = (hyper, cell.model, cell.N, cell.penalty, energy)
        closed, rest = (dynamics.descent_risk(*told, np.array(T)) for T in (cell.later, [10**9]))
        for i, T in enumerate(cell.later):
            rows.append(
                (str(setting), start, T, T in cell.T, mean[i], error[i], len(values), risen[i], closed[i], rest[0])
            )
    names = ["setting", "start", "T", "in_figure", "excess_risk", "standard_error", "trials", "risen"]
    names += ["closed_form", "rest"]
    return pd.DataFrame(rows, columns=names)


def published() -> pd.DataFrame:
    """The authors' numbers for Figure 3: T, method, excess_risk (means of 500 trials)."""
    return authors.excess_risks("noisyhead-early-stopping", ["T"])


def compare(table: pd.DataFrame, theirs: pd.DataFrame) -> pd.DataFrame:
    """Ours beside theirs where both are, with the difference in combined standard errors."""
    both = authors.beside(table, theirs, ["T", "method"], "excess_risk")
    return both[["setting", "T", "method", "excess_risk", "standard_error", "excess_risk_theirs", "deviation"]]
