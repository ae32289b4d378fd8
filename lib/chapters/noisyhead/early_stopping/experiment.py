"""What is measured for Figure 3: excess risk against the number of steps, from two starts, in three accounts."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pandas as pd

from chapters.noisyhead import authors
from chapters.noisyhead.early_stopping import closed_forms, paths
from chapters.noisyhead.early_stopping.cell import RANDOM, RUNS, ZERO, Cell
from chapters.noisyhead.early_stopping.paths import Draws
from chapters.ranges import DELTA, EPSILON, NOISE_OR_NONE, SEED, TRIALS, count
from companion import _fits
from companion.declaration import Parameters, many, parameter
from companion.streams import Runner
from costofprivacy import _validate
from costofprivacy._validate import POSITIVE, Range, at_least, within
from costofprivacy.noisyhead import dynamics, head, population, recipes
from costofprivacy.noisyhead.accounts import ACCOUNTS, ALGORITHM, EVERY
from costofprivacy.settings import Setting

FIGURE = (
    (Setting.PRINTED, ZERO, ALGORITHM),
    (Setting.PUBLISHED, RANDOM, ALGORITHM),
    (Setting.CORRECTED, ZERO, EVERY),
)
BEYOND = 50  # times the largest T: as far as the bounds are followed
ROUNDING = 1e-9  # relative rise of a risk that is none
FARTHEST = 650.0  # log r up to which they are floats
SIZES = within(16, 2500, after=at_least(1), convert=int)  # N × D² numbers, D² = N; beyond Π_R, D² × D² of them
MOST = recipes.MOST_STEPS
STEPS = Range(f"at most {MOST}", lambda T: T <= MOST, int, after=at_least(1), ends=(1, MOST))
FAILURES = within(1e-50, 1, after=POSITIVE)  # below, G is so large and η₀ so small that log N steps go nowhere


def trial(cell: Cell, *, rng: np.random.Generator) -> np.ndarray:
    """One draw of training and test prompts, all runs on it: shape (2, columns), excess risk and test error.

    All runs share Γ⁰ and the directions of the noise.
    """
    raw, clipped = head.sample_statistics(cell.model, cell.N, cell.hyper[Setting.PRINTED].clip_norm, rng=rng)
    test, _ = head.sample_statistics(cell.model, cell.test_prompts, rng=rng)
    start = authors.INITIAL_STD * rng.standard_normal((cell.model.D, cell.model.D))
    return paths.measured(cell, Draws(raw, clipped, test, start, int(rng.integers(2**63))))


class Experiment(Parameters):
    """Figure 3: excess risk of NoisyHead against the number of steps, at D = L = ⌊√N⌋ and λ = N/D."""

    N: int = parameter(SIZES, 1000, published=True)
    """Number of training prompts; D and L are the integer part of its square root."""
    T: tuple[int, ...] = many(STEPS, *range(1, 482, 20), ascending=True)
    """Numbers of steps, at least two of them; each is a run of its own."""
    epsilon: float = parameter(EPSILON, 0.8, published=True)
    """Privacy budget ε of approximate differential privacy, at most the least T."""
    delta: float = parameter(DELTA, 1e-5, published=True)
    failure: float = parameter(FAILURES, 1.0, published=True)
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
        curves, limits = closed_curves(cell), paper_bounds(cell)
        energies = {start: start_energy(cell, start) for start in (RANDOM, ZERO)}
        return {
            "figure-3": figure,
            "test-error": _with_trivial(_figure(_table(cell, samples[:, 1], "test_error"), cell), cell),
            "accounts": with_closed_form(accounts, cell),
            "comparison": compare(figure, authors.if_published(self, published())),
            "descent": descent_rows(cell, samples[:, 0]),
            "closed-form": curves,
            "bounds": limits,
            "best-steps": best_steps(accounts, curves, limits),
            "stopping": closed_forms.stopping(*law, cell.budget),
            "stopped": closed_forms.stopped(*law, self.delta),
            "any-steps": closed_forms.any_steps(*law, cell.budget),
            "parts-at-stop": closed_forms.parts_at_stop(*law, cell.budget),
            "last-iterate": closed_forms.last_iterate(cell.published, cell.budget, energies),
            "section-62": closed_forms.section_62(self.label_noise, cell.budget),
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


def _with_trivial(table: pd.DataFrame, cell: Cell) -> pd.DataFrame:
    best = population.best_prediction_error(cell.model)
    return table.assign(best_linear_head=best, response_variance=cell.model.response_variance)


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
    steps = closed_forms.step_grid(2 * max(cell.T))
    limit = dynamics.curvature(cell.model) * cell.hyper[Setting.PUBLISHED].weight_bound ** 2
    curves = []
    for start, account in product((RANDOM, ZERO), ACCOUNTS):
        curve = cell.published.risk(start_energy(cell, start), account, cell.budget, steps)
        curves.append(curve.assign(start=start, account=account))
    return pd.concat(curves, ignore_index=True).assign(limit_of_R=limit)


def paper_bounds(cell: Cell) -> pd.DataFrame:
    """(4.2) and (4.5) at the figure's T and on a grid far beyond."""
    hyper = cell.hyper[Setting.PUBLISHED]
    reach = math.floor(FARTHEST / -math.log1p(-hyper.learning_rate * hyper.penalty))
    longest = max(*cell.T, min(BEYOND * max(cell.T), reach))
    steps = np.union1d(closed_forms.step_grid(longest), cell.T)
    return closed_forms.paper_bounds(cell.published, cell.failure, cell.budget, steps)


def best_steps(accounts: pd.DataFrame, curves: pd.DataFrame, limits: pd.DataFrame) -> pd.DataFrame:
    """The T with the least excess risk, or bound, and that least, by source, start and account."""
    parts = []
    for source, table, value in (("simulation", accounts, "excess_risk"), ("closed form", curves, "total")):
        for (start, account), own in table.groupby(["start", "account"], sort=False):
            parts.append(((source, start, account), own["T"], own[value]))
    for suffix in ("42", "45"):
        total = limits[f"descent_{suffix}"] + limits[f"noise_{suffix}"]
        parts.append(((f"(4.{suffix[1]})", "", ALGORITHM), limits["T"], total))
    return pd.DataFrame([_least(*part) for part in parts])


def _least(names: tuple[str, str, str], steps: pd.Series, risk: pd.Series) -> dict[str, object]:
    """The row of the best T of one curve."""
    row = dict(zip(("source", "start", "account"), names, strict=True))
    found = {"best_T": int(steps[risk.idxmin()]), "least": risk.min()}
    return row | found | {"first_T": steps.min(), "last_T": steps.max()}


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


def published() -> pd.DataFrame:
    """The authors' numbers for Figure 3: T, method, excess_risk (means of 500 trials)."""
    return authors.excess_risks("noisyhead-early-stopping", ["T"])


def compare(table: pd.DataFrame, theirs: pd.DataFrame) -> pd.DataFrame:
    """Ours beside theirs where both are, with the difference in combined standard errors."""
    both = authors.beside(table, theirs, ["T", "method"], "excess_risk")
    return both[["setting", "T", "method", "excess_risk", "standard_error", "excess_risk_theirs", "deviation"]]
