"""What is measured for Table 1: NoisyHead and DP-ridge on the same prompts, at the same budgets."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from chapters.noisyhead import authors
from chapters.noisyhead.low_dimensional.measure import published as published_figure_1
from chapters.noisyhead.rivals import closed_forms, guarantees, readings
from chapters.ranges import DELTA, EPSILON, KAPPA, NOISE_OR_NONE, PENALTY, SEED, TRIALS, amount, chance, count
from companion import _fits
from companion.declaration import Parameters, many, parameter
from companion.streams import Runner
from costofprivacy.noisyhead import accounts, head, population, pretraining, private_ridge, recipes
from costofprivacy.noisyhead.curvature import for_updates
from costofprivacy.noisyhead.hyperparameters import Hyperparameters
from costofprivacy.noisyhead.private_ridge import PrivateRidge
from costofprivacy.noisyhead.prompts import PromptModel
from costofprivacy.noisyhead.ridge import ridge
from costofprivacy.privacy import ApproximateDP
from costofprivacy.settings import Setting

NOISYHEAD, LAST, DESCENT = "noisyhead", "noisyhead, last iterate", "descent without noise"
DP_RIDGE, SOLUTION, ZERO, REFERENCE = "dp-ridge", "ridge without noise", "zero", "ridge"


class Column(NamedTuple):
    """One number of a trial: ε is NaN where a method has none, ``share`` the part of T that is run, NaN likewise."""

    setting: str
    epsilon: float
    method: str
    share: float
    std: float
    steps: int


@dataclass(frozen=True)
class Cell:
    """One training-set size with everything a trial needs."""

    N: int
    D: int
    epsilon: tuple[float, ...]
    delta: float
    failure: float
    penalty: float
    label_noise: float
    shares: tuple[float, ...]
    test_prompts: int

    @property
    def key(self) -> int:
        """N names the random stream, so a size gives the same numbers in whichever list it stands."""
        return self.N

    @cached_property
    def model(self) -> PromptModel:
        """L = ⌊√N⌋."""
        return recipes.square_model(self.D, self.N, self.label_noise)

    @cached_property
    def hyper(self) -> dict[Setting, Hyperparameters]:
        """What Algorithm 1 is told in each setting."""
        return recipes.low_dimension(self.model, self.N, self.failure, self.penalty)

    @cached_property
    def budgets(self) -> list[ApproximateDP]:
        """One for each ε."""
        return [ApproximateDP(e, self.delta) for e in self.epsilon]

    def told(self, setting: Setting) -> PrivateRidge:
        """What DP-ridge is told: C and G as NoisyHead's in the same setting."""
        hyper = self.hyper[setting]
        return PrivateRidge(hyper.clip_norm, hyper.feature_bound, self.penalty, self.N)

    @cached_property
    def solved(self) -> dict[Setting, list[Column]]:
        """The columns of DP-ridge in each setting: every ε, then no noise."""
        return {
            s: [Column(str(s), b.epsilon, DP_RIDGE, np.nan, ridge_noise(s, self.told(s), b), 0) for b in self.budgets]
            + [Column(str(s), np.nan, SOLUTION, np.nan, 0.0, 0)]
            for s in Setting
        }

    @cached_property
    def descended(self) -> dict[Setting, list[Column]]:
        """The columns of NoisyHead in each setting: each share of T with every ε and accounting, then no noise."""
        return {s: [column for share in self.shares for column in self._at(s, share)] for s in Setting}

    def _at(self, setting: Setting, share: float) -> list[Column]:
        hyper = shortened(self.hyper[setting], share)
        rows = [(NOISYHEAD, b.epsilon, accounts.setting_noise_std(setting, hyper, b, self.N)) for b in self.budgets]
        if setting == Setting.CORRECTED:
            rows += [(LAST, b.epsilon, last_iterate_std(hyper, b, self.N)) for b in self.budgets]
        rows.append((DESCENT, np.nan, 0.0))
        return [Column(str(setting), epsilon, method, share, std, hyper.steps) for method, epsilon, std in rows]

    @cached_property
    def columns(self) -> list[Column]:
        """What each number of a trial is."""
        common = [Column(str(Setting.PUBLISHED), np.nan, m, np.nan, 0.0, 0) for m in (ZERO, REFERENCE)]
        return [c for s in Setting for c in (*self.solved[s], *self.descended[s])] + common


def shortened(hyper: Hyperparameters, share: float) -> Hyperparameters:
    """The same with ``share`` of its steps, at least one."""
    return replace(hyper, steps=max(1, round(share * hyper.steps)))


def last_iterate_std(hyper: Hyperparameters, budget: ApproximateDP, N: int) -> float:
    """Noise of a step by which the last iterate alone keeps the budget."""
    return accounts.noise_std(accounts.LAST, hyper, budget, N, hyper.steps)


def ridge_noise(setting: Setting, told: PrivateRidge, budget: ApproximateDP) -> float:
    """Noise of DP-ridge: as Appendix B has it, or calibrated to the right sensitivity where corrected."""
    right = setting == Setting.CORRECTED
    return private_ridge.noise_std(told, budget) if right else private_ridge.noise_std_printed(told, budget)


def trial(cell: Cell, *, rng: np.random.Generator) -> np.ndarray:
    """One draw of training and test prompts, all methods on it: shape (2, columns), excess risk and test error.

    DP-ridge has the same noise direction in all settings and for all ε, NoisyHead the same directions step by step.
    """
    model = cell.model
    raw, clipped = head.sample_statistics(model, cell.N, cell.hyper[Setting.PRINTED].clip_norm, rng=rng)
    test, _ = head.sample_statistics(model, cell.test_prompts, rng=rng)
    truth, reference = head.moments(test).gram, ridge(head.moments(raw), cell.penalty)
    start, noise = authors.INITIAL_STD * rng.standard_normal((cell.D, cell.D)), rng.integers(2**32, size=2)
    weights = []
    for setting, hyper in cell.hyper.items():
        data = head.moments(head.project(clipped, hyper.feature_bound))
        once, each = cell.solved[setting], cell.descended[setting]
        initial = start if setting == Setting.PUBLISHED else None
        solver, learner = (np.random.default_rng(n) for n in noise)
        weights += [
            private_ridge.simulate(data, cell.penalty, [c.std for c in once], 1, rng=solver)[0],
            pretraining.pretrain(
                for_updates(data),
                hyper,
                [c.std for c in each],
                rng=learner,
                steps=[c.steps for c in each],
                initial=initial,
            ),
        ]
    Gamma = np.concatenate([*weights, np.stack([np.zeros_like(reference), reference])])
    difference = (Gamma - reference).reshape(len(Gamma), -1)
    excess = np.einsum("kp,pq,kq->k", difference, truth, difference, optimize=True)
    return np.stack([excess, population.prediction_error(model, Gamma)])


class Experiment(Parameters):
    """Table 1: excess risk of NoisyHead and of DP-ridge, and what DP-ridge's noise guarantees."""

    N: tuple[int, ...] = many(count(4, 10**7), 2000, 3000, 4000)
    """Numbers of training prompts; L is the integer part of their square root."""
    D: int = parameter(count(2, 1000), 5, published=True)
    epsilon: tuple[float, ...] = many(EPSILON, 0.2, 0.4)
    delta: float = parameter(DELTA, 1e-5, published=True)
    failure: float = parameter(KAPPA, 1.0, published=True)
    penalty: float = parameter(PENALTY, 5.0, published=True)
    label_noise: float = parameter(NOISE_OR_NONE, 0.0, published=True)
    shares: tuple[float, ...] = many(amount(1e-3, 1e3), 0.125, 0.25, 0.5, 1.0, 2.0, 4.0)
    """Parts of its number of steps for which NoisyHead is also run; 1 must be among them."""
    trials: int = parameter(TRIALS, 500)
    test_prompts: int = parameter(count(1, 10**7), 500, published=True)
    pairs: int = parameter(count(1, 10**8), 20_000)
    """Random pairs of neighbours, and drawn ones, that are tried against the sensitivity."""
    releases: int = parameter(count(1000, 10**10), 4_000_000)
    """Releases of each audited mechanism on each of two neighbours."""
    confidence: float = parameter(chance(0.01, 1 - 1e-9), 0.9999)
    """Confidence of an audit."""
    seed: int = parameter(SEED, 4)

    def check(self) -> None:
        """Refuse shares without the whole run, and budgets and penalties that no run of a cell can have."""
        if 1.0 not in self.shares:
            raise ValueError(f"shares must contain 1, got {list(self.shares)}")
        for cell in self.cells:
            _check_steps(cell)

    @property
    def cells(self) -> list[Cell]:
        """One for each N."""
        return [self.shared(Cell, N=N) for N in self.N]

    def run(self, runner: Runner) -> dict[str, pd.DataFrame]:
        """Table 1 and its comparison, test errors, early stopping, privacy, readings of Appendix B, powers."""
        samples = runner.run(trial, self.cells, self.trials, self.seed)
        risks, errors = (_long(samples, index, name) for index, name in enumerate(("excess_risk", "test_error")))
        table = risks[risks["share"].isna() | (risks["share"] == 1)].drop(columns=["share", "steps"])
        table = table[table["method"] != REFERENCE].reset_index(drop=True)
        last = self.cells[-1]
        read = readings.readings(published(), _relative_spread(table) / math.sqrt(authors.TRIALS))
        return {
            "table-1": table,
            "comparison": compare(table, authors.if_published(self, published())),
            "test-error": _with_best(errors, self),
            "steps": risks[risks["share"].notna()].reset_index(drop=True),
            "ladder": closed_forms.ladder(last.model, last.hyper, last.penalty, last.N, last.budgets[-1]),
            **self._guarantees(runner),
            "readings": readings.nearest(read),
            "other-column": readings.other_column(published(), read),
            "powers": closed_forms.powers(self.D, self.penalty, self.failure, last.budgets[-1]),
            "penalties": closed_forms.penalties(last.model, last.failure, last.N, last.budgets[-1]),
        }

    def _guarantees(self, runner: Runner) -> dict[str, pd.DataFrame]:
        """Tables ``sensitivity``, ``privacy`` and, at the first N, ``audit``."""
        told = [{str(s): c.told(s) for s in (Setting.PRINTED, Setting.PUBLISHED)} for c in self.cells]
        budgets, first = self.cells[0].budgets, told[0][Setting.PUBLISHED]
        audited = [(budget, name) for budget in budgets for name in (guarantees.PRINTED, guarantees.RIGHT)]
        cells = [
            guarantees.AuditCell(first, self.D, *kind, self.releases, self.confidence, family=len(audited))
            for kind in audited
        ]
        with threadpool_limits(1):
            moves = [guarantees.sensitivity_rows(c.model, t, self.pairs, self.seed) for c, t in zip(self.cells, told)]
            spent = [guarantees.privacy_rows(t[Setting.PUBLISHED], self.D, budgets) for t in told]
        return {
            "sensitivity": pd.concat(moves, ignore_index=True),
            "privacy": pd.concat(spent, ignore_index=True),
            "audit": guarantees.audits(runner, cells, self.seed),
        }


def _check_steps(cell: Cell) -> None:
    """Refuse an ε for which the classical calibration of a step is no bound (ε/T > 1), and endless runs."""
    least = min(c.steps for columns in cell.descended.values() for c in columns)
    if max(cell.epsilon) > least:
        raise ValueError(f"epsilon must be at most T = {least} at N = {cell.N}, got {max(cell.epsilon)}")
    recipes.check_steps(max(c.steps for columns in cell.descended.values() for c in columns), cell.penalty, cell.N)


def _long(samples: dict[Cell, np.ndarray], index: int, quantity: str) -> pd.DataFrame:
    tables = []
    for cell, values in samples.items():
        mean, error = _fits.mean_and_error(values[:, index])
        labels = pd.DataFrame(cell.columns).drop(columns="std")
        labels.insert(0, "N", cell.N)
        tables.append(labels.assign(**{quantity: mean, "standard_error": error, "trials": len(values)}))
    return pd.concat(tables, ignore_index=True)


def _with_best(table: pd.DataFrame, experiment: Experiment) -> pd.DataFrame:
    best = {c.N: population.best_prediction_error(c.model) for c in experiment.cells}
    rows = table[table["share"].isna() | (table["share"] == 1)].drop(columns=["share", "steps"])
    rows = rows.assign(best_linear_head=rows["N"].map(best), response_variance=1 + experiment.label_noise**2)
    return rows.reset_index(drop=True)


def _relative_spread(table: pd.DataFrame) -> float:
    """Standard deviation of DP-ridge's excess risk in one trial, over its mean."""
    rows = table[(table["method"] == DP_RIDGE) & (table["setting"] == Setting.PUBLISHED)]
    return float((rows["standard_error"] * np.sqrt(rows["trials"]) / rows["excess_risk"]).mean())


def published() -> pd.DataFrame:
    """Table 1 as printed: N, epsilon, method, excess_risk; for NoisyHead also Figure 1's number of the same cell.

    ``excess_risk_figure_1`` is from the authors' public results (MIT licence, 2025 chebyshevtech), means of 500 trials.
    """
    wide = authors.read("noisyhead-table-1")
    names = {"excess_risk_noisyhead": NOISYHEAD, "excess_risk_dp_ridge": DP_RIDGE}
    long = wide.rename(columns=names).melt(["N", "epsilon"], list(names.values()), "method", "excess_risk")
    return long.merge(published_figure_1(), on=["N", "epsilon", "method"], how="left", suffixes=("", "_figure_1"))


def compare(table: pd.DataFrame, theirs: pd.DataFrame) -> pd.DataFrame:
    """Ours beside Table 1: ratio, difference in combined standard errors (500 trials and our spread for theirs)."""
    both = authors.beside(table, theirs, ["N", "epsilon", "method"], "excess_risk")
    both["ratio"] = both["excess_risk_theirs"] / both["excess_risk"]
    order = ["method", "setting", "N", "epsilon", "excess_risk", "standard_error", "trials"]
    return both[[*order, "excess_risk_theirs", "excess_risk_figure_1", "ratio", "deviation"]]
