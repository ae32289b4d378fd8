"""What is measured for Figure 4, Theorem 5.1 and its proof, as tables."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from costofprivacy import _fits, _validate
from costofprivacy.experiments.noisyhead import authors
from costofprivacy.experiments.noisyhead.robustness import figure, rounding, theorem
from costofprivacy.montecarlo import Runner
from costofprivacy.noisyhead import attack_bounds, population, recipes
from costofprivacy.settings import Setting

LARGEST_POWER = 10.0  # of N in α: the squares of α must not overflow
BOTH = ("noisyhead", "ridge", "ridge-normal-equations")

_LEAST = {
    "N": 3,
    "L": 1,
    "D": 2,
    "trials": 2,
    "test_prompts": 1,
    "arithmetic_trials": 2,
    "digit_trials": 1,
    "bound_N": 2,
    "bound_trials": 2,
    "seed": 0,
}


@dataclass(frozen=True)
class Experiment:
    """Figure 4 and Theorem 5.1: what one perturbed prompt does to NoisyHead and to ridge.

    Args:
        N, L, D: training prompts (at least 2), labelled tokens, dimension (at least 2).
        epsilon: ε in (0, ⌊log N⌋]. delta: δ in (0, 1). kappa: κ in (0, 1]. penalty: λ > 0. tau: label noise, ≥ 0.
        mu: μ > 0. c, p: α = cN^p for each pair; c > 0, p in [0, 10].
        trials: data sets for Figure 4, at least 2. test_prompts: in each trial, at least 1.
        arithmetic_trials: data sets for the evaluations of ridge, at least 2; digit_trials: in 50 digits, at least 1.
        bound_N, bound_L, bound_D, bound_T, bound_kappa, bound_penalty: the sizes at which Theorem 5.1 and its proof are
            measured, inside its conditions λ > C²/L and κ > N exp(−D²); the axis of L has the first D, the axis of D
            the middle L. bound_trials: data sets, at least 2.
        seed: root of all random streams, ≥ 0.
    """

    N: int = 5000
    L: int = 500
    D: int = 5
    epsilon: float = 0.5
    delta: float = 1e-2
    kappa: float = 1.0
    penalty: float = 0.01
    tau: float = 0.0
    mu: float = 1.0
    c: tuple[float, ...] = (2.0, 4.0)
    p: tuple[float, ...] = (2.0, 2.02, 2.04, 2.06, 2.08, 2.1)
    trials: int = 500
    test_prompts: int = 500
    arithmetic_trials: int = 60
    digit_trials: int = 6
    bound_N: int = 500
    bound_L: tuple[int, ...] = (100, 316, 1000, 3162, 10000)
    bound_D: tuple[int, ...] = (5, 10, 20)
    bound_T: tuple[int, ...] = (6, 1000)
    bound_kappa: float = 0.01
    bound_penalty: float = 1.0
    bound_trials: int = 20
    seed: int = 5

    def __post_init__(self) -> None:
        for name in ("c", "p", "bound_L", "bound_D", "bound_T"):
            object.__setattr__(self, name, self._list(name))
        for name, least in _LEAST.items():
            _validate.whole(name, getattr(self, name), at_least=least)
        for name in ("penalty", "mu", "bound_penalty"):
            _validate.finite_positive(name, getattr(self, name))
        for name in ("kappa", "bound_kappa"):
            _validate.between(name, _validate.positive(name, getattr(self, name)), 0, 1)
        _validate.probability("delta", self.delta)
        _validate.nonnegative("tau", self.tau)
        least_steps = min(math.floor(math.log(self.N)), *self.bound_T)
        _validate.between("epsilon", _validate.positive("epsilon", self.epsilon), 0, max(1, least_steps))
        recipes.check_steps(max(h.steps for h in self.cell.hyper.values()), self.penalty, self.N)
        for cell in self.bound_cells:
            self._check_conditions(cell)

    def _list(self, name: str) -> tuple[float, ...]:
        checks = {"c": (_validate.finite_positive, {}), "p": (_validate.between, {"low": 0, "high": LARGEST_POWER})}
        check, limits = checks.get(name, (_validate.whole, {"at_least": 2 if name == "bound_D" else 1}))
        return tuple(sorted(_validate.each(check, name, getattr(self, name), **limits)))

    def _check_conditions(self, cell: theorem.Cell) -> None:
        """Refuse sizes outside Theorem 5.1's conditions."""
        least = attack_bounds.least_penalty(cell.model, cell.N, cell.kappa)
        if cell.penalty <= least:
            raise ValueError(f"bound_penalty must be above C²/L = {least:.3g} at L = {cell.L}, got {cell.penalty!r}")
        smallest = cell.N * math.exp(-(cell.D**2))
        if cell.kappa <= smallest:
            raise ValueError(f"bound_kappa must be above N exp(-D²) = {smallest:.3g}, got {cell.kappa!r}")

    @cached_property
    def shifts(self) -> pd.DataFrame:
        """p, c and α = cN^p of each point of Figure 4."""
        rows = [(p, c, c * float(self.N) ** p) for c in self.c for p in self.p]
        return pd.DataFrame(rows, columns=["p", "c", "alpha"])

    @cached_property
    def cell(self) -> figure.Cell:
        """Figure 4's cell: all α on common prompts, from the least one."""
        alpha = tuple(sorted(set(self.shifts["alpha"])))
        budget = (self.epsilon, self.delta, self.kappa, self.penalty, self.tau)
        return figure.Cell(self.N, self.L, self.D, *budget, self.mu, alpha, self.test_prompts)

    @cached_property
    def bound_cells(self) -> list[theorem.Cell]:
        """The axis of L at the first D, then the axis of D at the middle L."""
        fixed = (self.bound_T, self.epsilon, self.delta, self.bound_kappa, self.bound_penalty, self.tau)
        middle = self.bound_L[len(self.bound_L) // 2]
        along = [theorem.Cell("L", self.bound_N, L, self.bound_D[0], *fixed) for L in self.bound_L]
        return along + [theorem.Cell("D", self.bound_N, middle, D, *fixed) for D in self.bound_D]

    def run(self, runner: Runner) -> dict[str, pd.DataFrame]:
        """All tables of the chapter."""
        cell = self.cell
        samples = runner.run(figure.trial, [cell], self.trials, self.seed)[cell]
        measured = _summary(cell, samples)
        table = figure_4(measured, self.shifts)
        every = rounding.Cell(cell, tuple(sorted({*cell.alpha, *rounding.DECADES})))
        evaluated = runner.run(rounding.trial, [every], self.arithmetic_trials, self.seed)[every]
        few = rounding.Cell(cell, cell.alpha)
        exact = runner.run(rounding.digit_trial, [few], self.digit_trials, self.seed)[few]
        sides = runner.run(theorem.trial, self.bound_cells, self.bound_trials, self.seed + 1)
        return {
            "figure-4": table,
            "comparison": compare(table, published() if self.is_published else published().head(0)),
            "parts": parts(cell, measured),
            "test-error": test_errors(cell, measured),
            "growth": growth(cell, measured),
            "arithmetic": rounding.table(every, evaluated),
            "digits": rounding.digit_table(few, exact),
            "conditions": conditions(cell),
            **theorem.tables(sides),
            "windows": theorem.windows([c for c in self.bound_cells if c.axis == "L"]),
            "simplified": theorem.simplified(self.bound_kappa),
            "path": theorem.path(self.epsilon, self.delta, self.bound_kappa, self.bound_penalty),
        }

    @property
    def is_published(self) -> bool:
        """Whether all that the published numbers fix is as they have it, c and p aside."""
        fixed = ("N", "L", "D", "epsilon", "delta", "kappa", "penalty", "tau", "mu", "test_prompts")
        return all(getattr(self, name) == getattr(Experiment, name) for name in fixed)


def _summary(cell: figure.Cell, samples: np.ndarray) -> pd.DataFrame:
    """Each number of a trial by setting, method, part and α: mean, error and the trials in which there was one."""
    rows = [(*_mean(samples[:, 0, k]), *_mean(samples[:, 1, k])[:2]) for k in range(samples.shape[2])]
    names = ["displacement", "standard_error", "trials", "test_error", "test_standard_error"]
    return cell.columns.join(pd.DataFrame(rows, columns=names))


def _mean(values: np.ndarray) -> tuple[float, float, int]:
    """Mean, standard error and number of the values that are numbers (an evaluation may have broken down)."""
    kept = values[np.isfinite(values)]
    if len(kept) < 2:
        return np.nan, np.nan, len(kept)
    mean, error = _fits.mean_and_error(kept)
    return float(mean), float(error), len(kept)


def figure_4(measured: pd.DataFrame, shifts: pd.DataFrame) -> pd.DataFrame:
    """Displacement by setting, p, c and method."""
    rows = shifts.merge(measured[measured["part"] == "attacked"], on="alpha")
    names = ["setting", "p", "c", "alpha", "method", "displacement", "standard_error", "trials"]
    order = {name: i for i, name in enumerate((*map(str, Setting), *BOTH))}
    return rows[names].sort_values(
        ["setting", "method", "c", "p"], key=lambda k: k.map(order).fillna(k), ignore_index=True
    )


def parts(cell: figure.Cell, measured: pd.DataFrame) -> pd.DataFrame:
    """NoisyHead's displacement at the least α, whole and from one difference at a time; closed form or bound beside."""
    rows = []
    for setting, hyper in cell.hyper.items():
        mine = measured[(measured["setting"] == setting) & (measured["method"] == "noisyhead")]
        at = mine[mine["alpha"] == cell.alpha[0]].set_index("part")
        closed = mine.set_index("part")["displacement"]
        expected = {part: closed[f"{part}, closed form"] for part in figure.PARTS[1:]}
        whole = at.loc["attacked"]
        reach = attack_bounds.trajectory_displacement(hyper, cell.N) ** 2
        bound = reach * population.context_energy(cell.model) / cell.D**2
        for part in ("attacked", *figure.PARTS):
            row = at.loc[part]
            share = row["displacement"] / whole["displacement"]
            beside = (expected.get(part, np.nan), bound if part == "attack" else np.nan)
            rows.append((setting, part, row["displacement"], row["standard_error"], row["trials"], share, *beside))
    names = ["setting", "part", "displacement", "standard_error", "trials", "share", "closed_form", "bound"]
    table = pd.DataFrame(rows, columns=names).astype({"setting": str, "trials": int})
    return table.replace({"part": {"attacked": "all", "start": "initial weights"}})


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
        tables.append(rows.assign(response=response, limit=limit, limit_closed_form=closed))
    table = pd.concat(tables, ignore_index=True)
    return table[["response", *(name for name in table.columns if name != "response")]]


def conditions(cell: figure.Cell) -> pd.DataFrame:
    """What Theorem 5.1 asks of Figure 4, at its least and its largest α; hidden constants one."""
    model, N = cell.model, cell.N
    upper = attack_bounds.upper_end(model, N, cell.penalty)
    lower = attack_bounds.lower_end(model, N, cell.kappa, cell.penalty)
    rows = []
    for alpha in (cell.alpha[0], cell.alpha[-1]):
        attack = cell.attack(Setting.PRINTED, alpha)
        row = {
            "alpha": alpha,
            "penalty_over_least": cell.penalty / attack_bounds.least_penalty(model, N, cell.kappa),
            "over_upper_end": alpha**2 * cell.mu**4 / upper,
            "over_lower_end": (alpha * cell.mu) ** 2 / lower,
            "lower_over_upper_end": lower / upper,
            "probability": 1 - 5 * cell.kappa,
            "claimed_for_noisyhead": attack_bounds.noisyhead_displacement(model, N, cell.kappa),
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
