"""What is measured for Figure 4, Theorem 5.1 and its proof, as tables."""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np
import pandas as pd

from chapters.noisyhead import authors
from chapters.noisyhead.robustness import arithmetic, corrupted, figure, limits, rounding, theorem
from chapters.ranges import DELTA, EPSILON, KAPPA, NOISE_OR_NONE, PENALTY, SEED, TRIALS, amount, count, usually
from companion.declaration import Parameters, many, parameter
from companion.streams import Runner
from costofprivacy import _validate
from costofprivacy._validate import SHARE, within
from costofprivacy.noisyhead import attack as attack_bounds
from costofprivacy.noisyhead import population, recipes
from costofprivacy.settings import Setting

LONG = {"N": 20, "L": 10**4, "D": 5, "failure": 1.01 * 20 * math.exp(-25), "penalty": 7.1}  # (5.2) admits α < 1
LONG_TRIALS = 20  # prompts there for each data set at the sizes of the theorem
LARGEST_POWER = 10.0  # of N in α: the squares of α must not overflow
ORDER = (*map(str, Setting), "noisyhead", "ridge", "ridge-normal-equations")  # of settings and methods in a table


class Experiment(Parameters):
    """Figure 4 and Theorem 5.1: what one perturbed prompt does to NoisyHead and to ridge.

    The parameters ``bound_*`` are the sizes at which Theorem 5.1 and its proof are measured, inside its conditions
    λ > C²/L and κ > N exp(−D²).
    """

    N: int = parameter(count(3, 10**7), 5000, published=True)
    L: int = parameter(count(1, 10**6), 500, published=True)
    D: int = parameter(count(2, 1000), 5, published=True)
    epsilon: float = parameter(EPSILON, 0.5, published=True)
    """Privacy budget ε of approximate differential privacy, at most the least number of steps."""
    delta: float = parameter(DELTA, 1e-2, published=True)
    failure: float = parameter(KAPPA, 1.0, published=True)
    penalty: float = parameter(PENALTY, 0.01, published=True)
    label_noise: float = parameter(NOISE_OR_NONE, 0.0, published=True)
    mu: float = parameter(amount(1e-6, 1e6), 1.0, published=True)
    """Shift μ of every coordinate of the attacked prompt's features."""
    c: tuple[float, ...] = many(amount(1e-3, 1e6), 2.0, 4.0, ascending=True)
    """Factors c of the shift α = cNᵖ of the attacked prompt's responses."""
    p: tuple[float, ...] = many(within(0, LARGEST_POWER), 2.0, 2.02, 2.04, 2.06, 2.08, 2.1, ascending=True)
    """Powers p of N in the shift α = cNᵖ."""
    trials: int = parameter(TRIALS, 500)
    """Data sets for Figure 4."""
    test_prompts: int = parameter(count(1, 10**7), 500, published=True)
    arithmetic_trials: int = parameter(TRIALS, 60)
    """Data sets on which ridge is evaluated in many ways."""
    digit_trials: int = parameter(count(1, 10**5), 6)
    """Data sets on which ridge is evaluated in fifty digits."""
    fractions: tuple[float, ...] = many(usually(SHARE, 1e-7, 0.5), 2e-4, 0.01, 0.05, 0.1, 0.3, ascending=True)
    """Fractions of the training prompts that are attacked at once; at least one prompt."""
    fraction_alpha: tuple[float, ...] = many(amount(1e-3, 1e9), 1.0, 10.0, 1000.0, 5e7, ascending=True)
    """Shifts α of these prompts' responses, up to the least one of Figure 4."""
    fraction_trials: int = parameter(TRIALS, 60)
    """Data sets in which a fraction is attacked."""
    bound_N: int = parameter(count(2, 10**7), 500)
    """Training prompts at which the theorem is measured, in prompts."""
    bound_L: tuple[int, ...] = many(count(1, 10**6), 100, 316, 1000, 3162, 10000, ascending=True)
    """Labelled tokens at which the theorem is measured, in tokens, at the first dimension."""
    bound_D: tuple[int, ...] = many(count(2, 1000), 5, 10, 20, ascending=True)
    """Dimensions at which the theorem is measured, at the middle prompt length."""
    bound_T: tuple[int, ...] = many(count(1, 10**6), 6, 1000, ascending=True)
    """Numbers of steps with which NoisyHead runs there: one of the order of log N, one that fills the ball."""
    bound_failure: float = parameter(KAPPA, 0.01)
    """Failure probability κ there."""
    bound_penalty: float = parameter(PENALTY, 1.0)
    """Ridge penalty λ there."""
    bound_trials: int = parameter(TRIALS, 20)
    """Data sets at each of these sizes."""
    seed: int = parameter(SEED, 5)

    def check(self) -> None:
        """Refuse budgets, penalties and sizes that no run can have, or that are outside Theorem 5.1's conditions."""
        _validate.between("epsilon", self.epsilon, 0, max(1, min(math.floor(math.log(self.N)), *self.bound_T)))
        recipes.check_steps(max(hyper.steps for hyper in self.cell.hyper.values()), self.penalty, self.N)
        for _, cell in self.bound_cells:
            _check_conditions(cell)

    @cached_property
    def shifts(self) -> pd.DataFrame:
        """p, c and α = cN^p of each point of Figure 4."""
        return pd.DataFrame([{"p": p, "c": c, "alpha": c * float(self.N) ** p} for c in self.c for p in self.p])

    @cached_property
    def cell(self) -> figure.Cell:
        """Figure 4's cell: all α on common prompts, from the least one."""
        return self.shared(figure.Cell, alpha=tuple(sorted(set(self.shifts["alpha"]))))

    @cached_property
    def fraction_cell(self) -> corrupted.Cell:
        """The same sizes, with a fraction of the prompts attacked."""
        return self.shared(corrupted.Cell, alpha=self.fraction_alpha)

    @cached_property
    def bound_cells(self) -> list[tuple[str, theorem.Cell]]:
        """The axis of L at the first D, then the axis of D at the middle L."""
        middle = self.bound_L[len(self.bound_L) // 2]
        along_L = [("L", self._bound_cell(L, self.bound_D[0])) for L in self.bound_L]
        return along_L + [("D", self._bound_cell(middle, D)) for D in self.bound_D]

    def _bound_cell(self, L: int, D: int) -> theorem.Cell:
        told = {"failure": self.bound_failure, "penalty": self.bound_penalty}
        return self.shared(theorem.Cell, N=self.bound_N, L=L, D=D, T=self.bound_T, **told)

    def run(self, runner: Runner) -> dict[str, pd.DataFrame]:
        """All tables of the chapter."""
        cell, bound = self.cell, (self.bound_failure, self.bound_penalty)
        samples = runner.run(figure.trial, [cell], self.trials, self.seed)[cell]
        measured = _summary(cell, samples)
        table = figure_4(measured, self.shifts)
        every = self.shared(figure.Problem, alpha=tuple(sorted({*cell.alpha, *rounding.DECADES})))
        few = self.shared(figure.Problem, alpha=cell.alpha)
        evaluated = runner.run(rounding.trial, [every], self.arithmetic_trials, self.seed)[every]
        exact = runner.run(rounding.digit_trial, [few], self.digit_trials, self.seed)[few]
        few_bad = self.fraction_cell
        corrupt = runner.run(corrupted.trial, [few_bad], self.fraction_trials, self.seed + 2)[few_bad]
        distinct = list(dict.fromkeys(bound_cell for _, bound_cell in self.bound_cells))
        sides = runner.run(theorem.trial, distinct, self.bound_trials, self.seed + 1)
        long = self.shared(theorem.Cell, T=self.bound_T, **LONG)
        trials = LONG_TRIALS * self.bound_trials
        contributions = runner.run(theorem.contribution_trial, [long], trials, self.seed + 3)[long]
        return {
            "figure-4": table,
            "comparison": compare(table, authors.if_published(self, published())),
            "parts": parts(cell, measured),
            "test-error": test_errors(cell, measured),
            "fractions": corrupted.table(few_bad, corrupt),
            "growth": growth(cell, measured),
            "query-alone": limits.query_alone(cell.model, cell.N, cell.hyper[Setting.CORRECTED]),
            "arithmetic": rounding.table(every, evaluated),
            "digits": rounding.digit_table(few, exact),
            "conditions": conditions(cell),
            **theorem.tables([(axis, of, sides[of]) for axis, of in self.bound_cells]),
            "long-prompts": theorem.contribution_table(long, contributions),
            "windows": limits.windows([of for axis, of in self.bound_cells if axis == "L"]),
            "simplified": limits.simplified(self.bound_failure),
            "path": limits.path(self.epsilon, self.delta, *bound),
            "sizes": limits.sizes(self.epsilon, self.delta, *bound),
        }


def _check_conditions(cell: theorem.Cell) -> None:
    """Refuse sizes outside Theorem 5.1's conditions."""
    least = attack_bounds.least_penalty(cell.model, cell.N, cell.failure)
    if cell.penalty <= least:
        raise ValueError(f"bound_penalty must be above C²/L = {least:.3g} at L = {cell.L}, got {cell.penalty!r}")
    smallest = cell.N * math.exp(-(cell.D**2))
    if cell.failure <= smallest:
        raise ValueError(f"bound_failure must be above N exp(-D²) = {smallest:.3g}, got {cell.failure!r}")


def _summary(cell: figure.Cell, samples: np.ndarray) -> pd.DataFrame:
    """Each number of a trial by setting, method, part and α: mean, error and the trials in which there was one."""
    rows = []
    for moved, error in zip(samples[:, 0].T, samples[:, 1].T):
        displacement, standard_error, trials = arithmetic.finite_mean(moved)
        test_error, test_standard_error, _ = arithmetic.finite_mean(error)
        row = {"displacement": displacement, "standard_error": standard_error, "trials": trials}
        rows.append(row | {"test_error": test_error, "test_standard_error": test_standard_error})
    return cell.columns.join(pd.DataFrame(rows))


def figure_4(measured: pd.DataFrame, shifts: pd.DataFrame) -> pd.DataFrame:
    """Displacement by setting, p, c and method."""
    rows = shifts.merge(measured[measured["part"] == "attacked"], on="alpha")
    names = ["setting", "p", "c", "alpha", "method", "displacement", "standard_error", "trials"]
    order = {name: i for i, name in enumerate(ORDER)}
    return rows[names].sort_values(
        ["setting", "method", "c", "p"], key=lambda k: k.map(order).fillna(k), ignore_index=True
    )


def parts(cell: figure.Cell, measured: pd.DataFrame) -> pd.DataFrame:
    """NoisyHead's displacement at the least α, whole and from one difference at a time; closed form or bound beside."""
    mine = measured[measured["method"] == "noisyhead"]
    closed = mine.set_index(["setting", "part"])["displacement"]
    rows = mine.loc[mine["alpha"] == cell.alpha[0], ["setting", "part", "displacement", "standard_error", "trials"]]
    whole = rows[rows["part"] == "attacked"].set_index("setting")["displacement"]
    energy = population.context_energy(cell.model)
    reach = {str(s): attack_bounds.trajectory_displacement(h, cell.N) ** 2 for s, h in cell.hyper.items()}
    table = rows.assign(
        share=rows["displacement"] / rows["setting"].map(whole),
        closed_form=[closed.get((s, f"{part}, closed form"), np.nan) for s, part in zip(rows["setting"], rows["part"])],
        bound=rows["setting"].map(reach).where(rows["part"] == "attack") * energy / cell.D**2,
    )
    return table.reset_index(drop=True).replace({"part": {"attacked": "all", "start": "initial weights"}})


def test_errors(cell: figure.Cell, measured: pd.DataFrame) -> pd.DataFrame:
    """Test error of each head before the attack and at the least α, Var(y) and the best linear head beside."""
    kept = measured[(measured["part"] == "clean") | (measured["alpha"] == cell.alpha[0])]
    kept = kept[kept["part"].isin(["clean", "attacked"])]
    renamed = kept.drop(columns=["displacement", "standard_error", "alpha"]).rename(
        columns={"part": "prompts", "test_standard_error": "standard_error"}
    )
    best = population.best_prediction_error(cell.model)
    table = renamed.assign(response_variance=cell.model.response_variance, best_linear_head=best)
    order = ["setting", "method", "prompts", "test_error", "standard_error", "trials"]
    return table[[*order, "response_variance", "best_linear_head"]].reset_index(drop=True)


def growth(cell: figure.Cell, measured: pd.DataFrame) -> pd.DataFrame:
    """Ridge's displacement over many decades of α by rank-one updates, its limit measured and in closed form."""
    tables = []
    for setting, response, ratio in zip(figure.RIDGE_SETTINGS, theorem.RESPONSES, (0.0, 1.0), strict=True):
        mine = measured[(measured["setting"] == setting) & (measured["method"] == "ridge")]
        limit = mine.loc[mine["part"] == "limit", "displacement"].iloc[0]
        closed = attack_bounds.ridge_limit(cell.model, cell.penalty, cell.mu, ratio)
        rows = mine.loc[mine["part"] == "growth", ["alpha", "displacement", "standard_error", "trials"]]
        rows.insert(0, "response", response)
        tables.append(rows.assign(limit=limit, limit_closed_form=closed))
    return pd.concat(tables, ignore_index=True)


def conditions(cell: figure.Cell) -> pd.DataFrame:
    """What Theorem 5.1 asks of Figure 4, at its least and its largest α; hidden constants one."""
    model, N = cell.model, cell.N
    upper = attack_bounds.upper_end(model, N, cell.penalty)
    lower = attack_bounds.lower_end(model, N, cell.failure, cell.penalty)
    rows = []
    for alpha in (cell.alpha[0], cell.alpha[-1]):
        attack = cell.attack(Setting.PRINTED, alpha)
        row = {
            "alpha": alpha,
            "penalty_over_least": cell.penalty / attack_bounds.least_penalty(model, N, cell.failure),
            "over_upper_end": alpha**2 * cell.mu**4 / upper,
            "over_lower_end": (alpha * cell.mu) ** 2 / lower,
            "lower_over_upper_end": lower / upper,
            "probability": 1 - 5 * cell.failure,
            "claimed_for_noisyhead": attack_bounds.noisyhead_displacement(model, N, cell.failure),
            "claimed_for_ridge": attack_bounds.ridge_displacement(attack, N, cell.penalty),
        }
        rows.append(row)
    return pd.DataFrame(rows).drop_duplicates(ignore_index=True)


def published() -> pd.DataFrame:
    """The authors' numbers for Figure 4: p, c, method, displacement (means of 500 trials)."""
    names = {"displacement_noisyhead": "noisyhead", "displacement_ridge": "ridge-normal-equations"}
    return (
        authors.read("noisyhead-robustness")
        .rename(columns=names)
        .melt(["p", "c"], list(names.values()), "method", "displacement")
    )


def compare(table: pd.DataFrame, theirs: pd.DataFrame) -> pd.DataFrame:
    """Ours beside theirs: difference in combined standard errors, our spread of a trial taken for theirs."""
    both = authors.beside(table, theirs, ["p", "c", "method"], "displacement")
    numbers = ["displacement", "standard_error", "trials", "displacement_theirs", "deviation"]
    return both[["setting", "p", "c", "alpha", "method", *numbers]]
