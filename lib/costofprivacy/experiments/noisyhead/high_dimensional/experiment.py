"""What is measured for Figure 2: excess risk and test error of all methods in all settings, D = L = ⌊√N⌋."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd

from costofprivacy import _fits, _validate
from costofprivacy.experiments.noisyhead import authors
from costofprivacy.experiments.noisyhead.high_dimensional import asymptotics, lemmas, sides
from costofprivacy.montecarlo import Runner
from costofprivacy.noisyhead import accounts, dynamics, head, population, pretraining, recipes
from costofprivacy.noisyhead.curvature import ProductMoments
from costofprivacy.noisyhead.hyperparameters import Hyperparameters
from costofprivacy.noisyhead.prompts import PromptModel
from costofprivacy.noisyhead.ridge import ridge
from costofprivacy.privacy import ApproximateDP
from costofprivacy.settings import Setting

SHARE = {Setting.PRINTED: 0.07, Setting.PUBLISHED: 0.1 * 2 / 3}  # η₀ (λ + G²)²/λ
RANDOM, ZERO = "random", "zero"  # Γ⁰: entries N(0, 0.1²), or 0
VARIANTS = (
    (Setting.PRINTED, ZERO),
    (Setting.PUBLISHED, RANDOM),
    (Setting.PUBLISHED, ZERO),
    (Setting.CORRECTED, ZERO),
)
FIGURE = tuple(v for v in VARIANTS if v != (Setting.PUBLISHED, ZERO))  # what stands in Figure 2's own table


@dataclass(frozen=True)
class Cell:
    """One training-set size with everything a trial needs."""

    N: int
    epsilon: tuple[float, ...]
    delta: float
    delta_published: float
    kappa: float
    T: int
    tau: float
    test_prompts: int

    @property
    def key(self) -> int:
        """N names the random stream, so a size gives the same numbers in whichever list it stands."""
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
    def hyper(self) -> dict[Setting, Hyperparameters]:
        """What Algorithm 1 is told in each setting."""
        return recipes.high_dimension(self.model, self.N, self.kappa, SHARE, self.T)

    @cached_property
    def noise(self) -> dict[Setting, tuple[float, ...]]:
        """Standard deviation of the noise for each ε in each setting."""
        return {
            s: tuple(
                accounts.setting_noise_std(s, hyper, ApproximateDP(e, self._delta(s)), self.N) for e in self.epsilon
            )
            for s, hyper in self.hyper.items()
        }

    def _delta(self, setting: Setting) -> float:
        return self.delta_published if setting == Setting.PUBLISHED else self.delta

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


@dataclass(frozen=True)
class Experiment:
    """Figure 2: excess risk of NoisyHead against N for several ε, at D = L = ⌊√N⌋ and λ = N/D.

    Args:
        N: numbers of training prompts, each at least 16.
        epsilon: privacy budgets ε > 0, at most T.
        delta: δ in (0, 1), printed. delta_published: the one behind the published numbers.
        kappa: κ in (0, 1]. T: number of steps, 1 to 100000. tau: standard deviation of the label noise, ≥ 0.
        trials: at least 2. test_prompts: test prompts in each trial, at least 1.
        bound_N: sizes at which both sides of (4.4) are measured, each at least 16. bound_kappa: κ there, in (0, 1).
        bound_trials: data sets for them, at least 2. lemma_trials: data sets for Lemmas A.1 to A.3, at least 20.
        seed: root of all random streams, ≥ 0.
    """

    N: tuple[int, ...] = (500, 600, 700, 800, 900, 1000, 1500, 2100)
    epsilon: tuple[float, ...] = (0.01, 0.05, 0.1, 0.5, 1.0)
    delta: float = 1e-5
    delta_published: float = 1e-2
    kappa: float = 1.0
    T: int = 5
    tau: float = 0.0
    trials: int = 500
    test_prompts: int = 500
    bound_N: tuple[int, ...] = (100, 400, 900)
    bound_kappa: float = 0.01
    bound_trials: int = 20
    lemma_trials: int = 400
    seed: int = 5

    def __post_init__(self) -> None:
        for name in ("N", "bound_N"):
            values = _validate.each(_validate.whole, name, getattr(self, name), at_least=16)
            object.__setattr__(self, name, tuple(sorted(values)))
        object.__setattr__(self, "epsilon", _validate.each(_validate.finite_positive, "epsilon", self.epsilon))
        _validate.probability("delta", self.delta)
        _validate.probability("delta_published", self.delta_published)
        _validate.between("kappa", _validate.positive("kappa", self.kappa), 0, 1)
        _validate.probability("bound_kappa", self.bound_kappa)
        _validate.whole("T", self.T)
        _validate.nonnegative("tau", self.tau)
        for name, least in (("trials", 2), ("test_prompts", 1), ("bound_trials", 2), ("lemma_trials", 20)):
            _validate.whole(name, getattr(self, name), at_least=least)
        _validate.whole("seed", self.seed, at_least=0)
        if max(self.epsilon) > self.T:
            raise ValueError(f"epsilon must be at most T = {self.T}, got {max(self.epsilon)}")
        _check_steps(self)

    @property
    def cells(self) -> list[Cell]:
        """One for each N."""
        fixed = (self.epsilon, self.delta, self.delta_published, self.kappa, self.T, self.tau, self.test_prompts)
        return [Cell(N, *fixed) for N in self.N]

    def run(self, runner: Runner) -> dict[str, pd.DataFrame]:
        """Figure 2, test errors, starts, published numbers, what Γ* predicts, both sides of (4.4), powers, lemmas."""
        samples = runner.run(trial, self.cells, self.trials, self.seed)
        every = _table(samples, 0, "excess_risk")
        figure = _figure(every)
        bound = (self.bound_kappa, self.tau, self.bound_trials, runner, self.seed + 1)
        budget = ApproximateDP(max(self.epsilon), self.delta)
        return {
            "figure-2": figure,
            "test-error": _with_trivial(_figure(_table(samples, 1, "test_error")), self),
            "starts": pd.concat([start_rows(c, every) for c in self.cells], ignore_index=True),
            "comparison": authors.by_budget(figure, published() if self.is_published else published().head(0)),
            "reference": asymptotics.reference_shares(max(self.N), self.tau),
            "both-sides": sides.measure(self.bound_N, budget, *bound),
            "progress": sides.along_progress(max(self.bound_N), self.bound_kappa, self.tau),
            "narrow": sides.narrow(self.tau, self.kappa, budget, runner, self.seed + 3),
            "powers": asymptotics.powers(self.tau, self.kappa, budget),
            "lemmas": lemmas.measure(self.lemma_trials, self.bound_kappa, runner, self.seed + 2),
            "lemma-a3-tail": lemmas.single_prompt_tail(),
        }

    @property
    def is_published(self) -> bool:
        """Whether all that the published numbers fix is as they have it, N and ε aside."""
        fixed = ("delta_published", "kappa", "T", "tau", "test_prompts")
        return all(getattr(self, name) == getattr(Experiment, name) for name in fixed)


def _check_steps(experiment: Experiment) -> None:
    """Refuse a run of more steps than one can take: a small κ makes G large and η₀ small."""
    if experiment.T > recipes.MOST_STEPS:
        raise ValueError(f"T must be at most {recipes.MOST_STEPS}, got {experiment.T}")
    for N in experiment.bound_N:
        cell = sides.Cell(N, ApproximateDP(1.0, experiment.delta), experiment.bound_kappa, experiment.tau)
        T = max(max(told.steps) for told in cell.told)
        if T > recipes.MOST_STEPS:
            kappa = experiment.bound_kappa
            raise ValueError(
                f"bound_kappa must ask for at most T = {recipes.MOST_STEPS}, got {kappa!r}: T = {T} at N = {N}"
            )


def _table(samples: dict[Cell, np.ndarray], index: int, quantity: str) -> pd.DataFrame:
    tables = []
    for cell, values in samples.items():
        mean, error = _fits.mean_and_error(values[:, index])
        labels = cell.columns.copy()
        labels.insert(1, "N", cell.N)
        tables.append(labels.assign(**{quantity: mean, "standard_error": error, "trials": len(values)}))
    return pd.concat(tables, ignore_index=True)


def _figure(every: pd.DataFrame) -> pd.DataFrame:
    """The rows of Figure 2: one start for each setting, and the trivial predictor and Γ* in each setting."""
    parts = []
    for setting, start in FIGURE:
        own = every[(every["setting"] == setting) & (every["start"] == start)]
        common = every[every["method"].isin(["zero", "ridge"])].assign(setting=str(setting))
        parts.append(pd.concat([own, common]))
    return pd.concat(parts, ignore_index=True).drop(columns="start")


def _with_trivial(table: pd.DataFrame, experiment: Experiment) -> pd.DataFrame:
    best = {c.N: population.best_prediction_error(c.model) for c in experiment.cells}
    return table.assign(best_linear_head=table["N"].map(best), response_variance=1 + experiment.tau**2)


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


def published() -> pd.DataFrame:
    """The authors' numbers for Figure 2: N, epsilon, method, excess_risk (means of 500 trials)."""
    return authors.excess_risks("noisyhead-high-dimensional", ["N", "epsilon"])
