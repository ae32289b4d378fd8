"""What is measured for Figure 1: excess risk and test error of all methods in all settings."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from costofprivacy import _fits, _validate
from costofprivacy.experiments.noisyhead import _published
from costofprivacy.experiments.noisyhead._low_dimension import check_steps, noise_std, settings, square_model
from costofprivacy.experiments.noisyhead.low_dimensional import limits
from costofprivacy.montecarlo import Runner
from costofprivacy.noisyhead import bounds, dynamics, head, hyperparameters, population, pretraining
from costofprivacy.noisyhead.hyperparameters import Hyperparameters
from costofprivacy.noisyhead.prompts import PromptModel
from costofprivacy.noisyhead.ridge import ridge
from costofprivacy.privacy import ApproximateDP
from costofprivacy.settings import Setting


@dataclass(frozen=True)
class Cell:
    """One training-set size with everything a trial needs."""

    N: int
    D: int
    epsilon: tuple[float, ...]
    delta: float
    kappa: float
    penalty: float
    tau: float
    test_prompts: int

    @property
    def key(self) -> int:
        """N names the random stream, so a size gives the same numbers in whichever list it stands."""
        return self.N

    @cached_property
    def model(self) -> PromptModel:
        """L = ⌊√N⌋."""
        return square_model(self.D, self.N, self.tau)

    @cached_property
    def hyper(self) -> dict[Setting, Hyperparameters]:
        """What Algorithm 1 is told in each setting."""
        return settings(self.model, self.N, self.kappa, self.penalty)

    @cached_property
    def columns(self) -> list[tuple[str, float, str]]:
        """(setting, ε, method) of each number that a trial returns; ε is NaN where a method has none."""
        per_setting = [*((e, "noisyhead") for e in self.epsilon), (np.nan, "gradient-descent"), (np.nan, "zero")]
        return [(str(s), e, method) for s in Setting for e, method in (*per_setting, (np.nan, "ridge"))]

    @cached_property
    def noise(self) -> dict[Setting, tuple[float, ...]]:
        """Standard deviation of the noise for each ε in each setting."""
        budgets = [ApproximateDP(e, self.delta) for e in self.epsilon]
        return {s: tuple(noise_std(s, hyper, b, self.N) for b in budgets) for s, hyper in self.hyper.items()}


def trial(cell: Cell, *, rng: np.random.Generator) -> np.ndarray:
    """One draw of training and test prompts, all methods on it: shape (2, columns), excess risk and test error."""
    model = cell.model
    raw, clipped = head.sample_statistics(model, cell.N, cell.hyper[Setting.PRINTED].clip_norm, rng=rng)
    test, _ = head.sample_statistics(model, cell.test_prompts, rng=rng)
    seen, truth = head.moments(raw), head.moments(test).gram
    reference = ridge(seen, cell.penalty)
    start = _published.INITIAL_STD * rng.standard_normal((cell.D, cell.D))
    weights = []
    for setting, hyper in cell.hyper.items():
        data = head.moments(head.project(clipped, hyper.feature_bound))
        initial = start if setting == Setting.PUBLISHED else None
        weights += [
            *pretraining.pretrain(data, hyper, cell.noise[setting], rng=rng, initial=initial),
            pretraining.gradient_descent(seen, hyper, initial),
            np.zeros_like(reference),
            reference,
        ]
    Gamma = np.stack(weights)
    difference = (Gamma - reference).reshape(len(weights), -1)
    excess = np.einsum("kp,pq,kq->k", difference, truth, difference, optimize=True)
    return np.stack([excess, population.prediction_error(model, Gamma)])


@dataclass(frozen=True)
class Experiment:
    """Figure 1: excess risk of NoisyHead against N for several ε, at fixed dimension.

    Args:
        N: numbers of training prompts, each at least 4; L = ⌊√N⌋.
        D: feature dimension, at least 2.
        epsilon: privacy budgets ε > 0.
        delta: δ in (0, 1).
        kappa: κ in (0, 1].
        penalty: λ > 0.
        tau: standard deviation of the label noise, ≥ 0.
        trials: at least 2.
        test_prompts: test prompts in each trial, at least 1.
        seed: root of all random streams, ≥ 0.
    """

    N: tuple[int, ...] = (1000, 1500, 2000, 2500, 3000, 3500, 4000)
    D: int = 5
    epsilon: tuple[float, ...] = (0.2, 0.4, 0.6, 0.8, 1.0)
    delta: float = 1e-5
    kappa: float = 1.0
    penalty: float = 5.0
    tau: float = 0.0
    trials: int = 500
    test_prompts: int = 500
    seed: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "N", _validate.each(_validate.whole, "N", self.N, at_least=4))
        object.__setattr__(self, "epsilon", _validate.each(_validate.finite_positive, "epsilon", self.epsilon))
        _validate.whole("D", self.D, at_least=2)
        _validate.probability("delta", self.delta)
        _validate.between("kappa", _validate.positive("kappa", self.kappa), 0, 1)
        _validate.finite_positive("penalty", self.penalty)
        _validate.nonnegative("tau", self.tau)
        _validate.whole("trials", self.trials, at_least=2)
        _validate.whole("test_prompts", self.test_prompts)
        _validate.whole("seed", self.seed, at_least=0)
        for cell in self.cells:
            _check_budgets(cell)

    @property
    def cells(self) -> list[Cell]:
        """One for each N."""
        fixed = (self.D, self.epsilon, self.delta, self.kappa, self.penalty, self.tau, self.test_prompts)
        return [Cell(N, *fixed) for N in self.N]

    def run(self, runner: Runner) -> dict[str, pd.DataFrame]:
        """Figure 1, test errors, the noise part, published numbers, conditions, floors and exponents, as tables."""
        samples = runner.run(trial, self.cells, self.trials, self.seed)
        excess = _table(samples, 0, "excess_risk")
        excess = excess[excess["method"] != "ridge"].reset_index(drop=True)
        fixed = (self.D, self.penalty, self.tau)
        budget = ApproximateDP(max(self.epsilon), self.delta)
        floors = [limits.minimiser_floors(*fixed), limits.projection_floors(*fixed, self.kappa, runner, self.seed)]
        return {
            "figure-1": excess,
            "test-error": _with_best(_table(samples, 1, "test_error"), self),
            "noise-part": pd.concat([noise_rows(c, v[:, 0]) for c, v in samples.items()], ignore_index=True),
            "comparison": _published.by_budget(excess, published() if self.is_published else published().head(0)),
            "conditions": pd.concat([condition_rows(c) for c in self.cells], ignore_index=True),
            "floors": pd.concat(floors, ignore_index=True),
            "exponents": limits.exponents(*fixed, self.kappa, budget),
        }

    @property
    def is_published(self) -> bool:
        """Whether all that the published numbers fix is as they have it, N and ε aside."""
        fixed = ("D", "delta", "kappa", "penalty", "tau", "test_prompts")
        return all(getattr(self, name) == getattr(Experiment, name) for name in fixed)


def _check_budgets(cell: Cell) -> None:
    """Refuse an ε for which the classical calibration of a single step is no bound (ε/T > 1)."""
    T = min(hyper.steps for hyper in cell.hyper.values())
    if max(cell.epsilon) > T:
        raise ValueError(f"epsilon must be at most T = {T} at N = {cell.N}, got {max(cell.epsilon)}")
    check_steps(max(hyper.steps for hyper in cell.hyper.values()), cell.penalty, cell.N)


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
    return table.assign(best_linear_head=table["N"].map(best), response_variance=1 + experiment.tau**2)


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
            limit = hyper.weight_bound**2 * energy
            rows.append((str(setting), cell.N, epsilon, mean, error, len(excess), closed, limit))
    names = ["setting", "N", "epsilon", "noise_risk", "standard_error", "trials", "closed_form", "limit_of_R"]
    return pd.DataFrame(rows, columns=names)


def condition_rows(cell: Cell) -> pd.DataFrame:
    """What Theorems 4.1 and 4.2 ask of the experiment: their probability, η₀'s interval, "low-dimensional"."""
    rows = [
        (
            str(setting),
            cell.N,
            cell.model.L,
            bounds.success_probability(cell.kappa),
            hyper.learning_rate / hyperparameters.learning_rate_interval(hyper.feature_bound, cell.penalty),
            cell.D**2,
            np.log(cell.N),
            np.log(cell.N * cell.model.L),
        )
        for setting, hyper in cell.hyper.items()
    ]
    names = ["setting", "N", "L", "probability", "eta0_over_limit", "D_squared", "log_N", "log_NL"]
    return pd.DataFrame(rows, columns=names)


def published() -> pd.DataFrame:
    """The authors' numbers for Figure 1: N, epsilon, method, excess_risk (means of 500 trials)."""
    return _published.excess_risks("noisyhead-low-dimensional", ["N", "epsilon"])
