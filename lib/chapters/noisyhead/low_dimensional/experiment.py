"""What is measured for Figure 1: excess risk and test error of all methods in all settings."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
import pandas as pd

from chapters.noisyhead import authors
from chapters.noisyhead.low_dimensional import common_weight, limits, proof
from chapters.ranges import DELTA, EPSILON, KAPPA, NOISE_OR_NONE, PENALTY, SEED, TRIALS, count
from companion import _fits
from companion.declaration import Parameters, many, parameter
from companion.streams import Runner
from costofprivacy.noisyhead import accounts, bounds, dynamics, head, hyperparameters, population, pretraining, recipes
from costofprivacy.noisyhead.curvature import in_eigenbasis
from costofprivacy.noisyhead.hyperparameters import Hyperparameters
from costofprivacy.noisyhead.prompts import PromptModel
from costofprivacy.noisyhead.ridge import ridge
from costofprivacy.privacy import ApproximateDP
from costofprivacy.settings import Setting

FAILURE = 0.01  # κ where a probability is asked for; κ = 1 promises none


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
    def columns(self) -> list[tuple[str, float, str]]:
        """(setting, ε, method) of each number that a trial returns; ε is NaN where a method has none."""
        per_setting = [*((e, "noisyhead") for e in self.epsilon), (np.nan, "gradient-descent"), (np.nan, "zero")]
        return [(str(s), e, method) for s in Setting for e, method in (*per_setting, (np.nan, "ridge"))]

    @cached_property
    def noise(self) -> dict[Setting, tuple[float, ...]]:
        """Standard deviation of the noise for each ε in each setting."""
        budgets = [ApproximateDP(e, self.delta) for e in self.epsilon]
        return {
            s: tuple(accounts.setting_noise_std(s, hyper, b, self.N) for b in budgets)
            for s, hyper in self.hyper.items()
        }


def trial(cell: Cell, *, rng: np.random.Generator) -> np.ndarray:
    """One draw of training and test prompts, all methods on it: shape (2, columns), excess risk and test error."""
    model = cell.model
    raw, clipped = head.sample_statistics(model, cell.N, cell.hyper[Setting.PRINTED].clip_norm, rng=rng)
    test, _ = head.sample_statistics(model, cell.test_prompts, rng=rng)
    seen, truth = head.moments(raw), head.moments(test).gram
    reference, eigen = ridge(seen, cell.penalty), in_eigenbasis(seen)
    start = authors.INITIAL_STD * rng.standard_normal((cell.D, cell.D))
    shortened = cache(lambda bound: in_eigenbasis(head.moments(head.project(clipped, bound))))
    weights = []
    for setting, hyper in cell.hyper.items():
        data = shortened(hyper.feature_bound)
        initial = start if setting == Setting.PUBLISHED else None
        weights += [
            *pretraining.pretrain(data, hyper, cell.noise[setting], rng=rng, initial=initial),
            *pretraining.descent_path(eigen, hyper, [hyper.steps], initial),
            np.zeros_like(reference),
            reference,
        ]
    Gamma = np.stack(weights)
    difference = (Gamma - reference).reshape(len(weights), -1)
    excess = np.einsum("kp,pq,kq->k", difference, truth, difference, optimize=True)
    return np.stack([excess, population.prediction_error(model, Gamma)])


class Experiment(Parameters):
    """Figure 1: excess risk of NoisyHead against N for several ε, at fixed dimension."""

    N: tuple[int, ...] = many(count(4, 10**7), 1000, 1500, 2000, 2500, 3000, 3500, 4000)
    """Numbers of training prompts; L is the integer part of their square root."""
    D: int = parameter(count(2, 1000), 5, published=True)
    epsilon: tuple[float, ...] = many(EPSILON, 0.2, 0.4, 0.6, 0.8, 1.0)
    delta: float = parameter(DELTA, 1e-5, published=True)
    failure: float = parameter(KAPPA, 1.0, published=True)
    penalty: float = parameter(PENALTY, 5.0, published=True)
    label_noise: float = parameter(NOISE_OR_NONE, 0.0, published=True)
    trials: int = parameter(TRIALS, 500)
    test_prompts: int = parameter(count(1, 10**7), 500, published=True)
    seed: int = parameter(SEED, 1)

    def check(self) -> None:
        """Refuse budgets and penalties that no run of a cell can have."""
        for cell in self.cells:
            _check_budgets(cell)

    @property
    def cells(self) -> list[Cell]:
        """One for each N."""
        return [self.shared(Cell, N=N) for N in self.N]

    def run(self, runner: Runner) -> dict[str, pd.DataFrame]:
        """Figure 1, test errors, the noise part, published numbers, conditions, floors and exponents, as tables."""
        samples = runner.run(trial, self.cells, self.trials, self.seed)
        excess = _table(samples, 0, "excess_risk")
        excess = excess[excess["method"] != "ridge"].reset_index(drop=True)
        fixed = (self.D, self.penalty, self.label_noise)
        budget = ApproximateDP(max(self.epsilon), self.delta)
        floors = [limits.minimiser_floors(*fixed), limits.projection_floors(*fixed, self.failure, runner, self.seed)]
        return {
            "figure-1": excess,
            "test-error": _with_best(_table(samples, 1, "test_error"), self),
            "noise-part": pd.concat([noise_rows(c, v[:, 0]) for c, v in samples.items()], ignore_index=True),
            "comparison": authors.by_budget(excess, authors.if_published(self, published())),
            "conditions": pd.concat([condition_rows(c) for c in self.cells], ignore_index=True),
            "floors": pd.concat(floors, ignore_index=True),
            "exponents": limits.exponents(*fixed, self.failure, budget),
            "floor-axes": proof.floor_axes(self.D, self.penalty, FAILURE),
            "proof-steps": proof.steps(budget),
            "common-weight": common_weight.table(self.D, budget, runner, self.seed + 1),
        }


def _check_budgets(cell: Cell) -> None:
    """Refuse an ε for which the classical calibration of a single step is no bound (ε/T > 1)."""
    T = min(hyper.steps for hyper in cell.hyper.values())
    if max(cell.epsilon) > T:
        raise ValueError(f"epsilon must be at most T = {T} at N = {cell.N}, got {max(cell.epsilon)}")
    recipes.check_steps(max(hyper.steps for hyper in cell.hyper.values()), cell.penalty, cell.N)


def _table(samples: dict[Cell, np.ndarray], index: int, quantity: str) -> pd.DataFrame:
    tables = []
    for cell, values in samples.items():
        mean, error = _fits.mean_and_error(values[:, index])
        labels = pd.DataFrame(cell.columns, columns=["setting", "epsilon", "method"])
        labels.insert(1, "N", cell.N)
        tables.append(labels.assign(**{quantity: mean, "standard_error": error, "trials": len(values)}))
    return pd.concat(tables, ignore_index=True)


def _with_best(table: pd.DataFrame, experiment: Experiment) -> pd.DataFrame:
    best = {c.N: population.best_prediction_error(c.model) for c in experiment.cells}
    return table.assign(best_linear_head=table["N"].map(best), response_variance=1 + experiment.label_noise**2)


def noise_rows(cell: Cell, excess: np.ndarray) -> pd.DataFrame:
    """Excess risk that the noise alone adds: trial by trial, NoisyHead's less its twin's, beside the closed form.

    The closed form, std² E‖m‖² Σ (1 − η₀(2λ + h))^{2t}, supposes that Π_R is idle; ``limit_of_R`` is the excess risk
    of weights on the sphere of radius R, where Π_R holds what the noise would carry further.
    """
    rows, columns = [], pd.DataFrame(cell.columns, columns=["setting", "epsilon", "method"])
    energy = population.context_energy(cell.model) / cell.D**2
    for setting, hyper in cell.hyper.items():
        own = columns["setting"] == setting
        twin = excess[:, np.flatnonzero(own & (columns["method"] == "gradient-descent"))[0]]
        private = np.flatnonzero(own & (columns["method"] == "noisyhead"))
        for i, epsilon, std in zip(private, cell.epsilon, cell.noise[setting], strict=True):
            mean, error = _fits.mean_and_error(excess[:, i] - twin)
            closed = dynamics.noise_risk(hyper, cell.model, std, energy)
            row = {
                "setting": str(setting),
                "N": cell.N,
                "epsilon": epsilon,
                "noise_risk": mean,
                "standard_error": error,
            }
            limit = hyper.weight_bound**2 * energy
            rows.append(row | {"trials": len(excess), "closed_form": closed, "limit_of_R": limit})
    return pd.DataFrame(rows)


def condition_rows(cell: Cell) -> pd.DataFrame:
    """What Theorems 4.1 and 4.2 ask of the experiment: their probability, η₀'s interval, "low-dimensional"."""
    interval = {
        setting: hyperparameters.learning_rate_interval(hyper.feature_bound, cell.penalty)
        for setting, hyper in cell.hyper.items()
    }
    return pd.DataFrame(
        [
            {
                "setting": str(setting),
                "N": cell.N,
                "L": cell.model.L,
                "probability": bounds.success_probability(cell.failure),
                "eta0_over_limit": hyper.learning_rate / interval[setting],
                "D_squared": cell.D**2,
                "log_N": np.log(cell.N),
                "log_NL": np.log(cell.N * cell.model.L),
            }
            for setting, hyper in cell.hyper.items()
        ]
    )


def published() -> pd.DataFrame:
    """The authors' numbers for Figure 1: N, epsilon, method, excess_risk (means of 500 trials)."""
    return authors.excess_risks("noisyhead-low-dimensional", ["N", "epsilon"])
