"""What is measured for Figure 5: NoisyHead and DP-SGD on the same prompts, by several accountings."""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd

from chapters.noisyhead import authors
from chapters.noisyhead.dp_sgd import worker
from chapters.ranges import DELTA, EPSILON, KAPPA, NOISE_OR_NONE, PENALTY, SEED, TRIALS, count
from companion import _fits
from companion.declaration import Parameters, many, parameter
from companion.running import extras
from companion.streams import Runner, generator
from costofprivacy.noisyhead import accounts, dynamics, head, population, pretraining, recipes
from costofprivacy.noisyhead.curvature import in_eigenbasis
from costofprivacy.noisyhead.hyperparameters import Hyperparameters
from costofprivacy.noisyhead.pretraining import Descent
from costofprivacy.noisyhead.prompts import PromptModel
from costofprivacy.noisyhead.ridge import ridge
from costofprivacy.privacy import ApproximateDP, GaussianDP, every_iterate
from costofprivacy.privacy.subsampled import Neighbours, poisson_epsilon, poisson_noise_multiplier
from costofprivacy.settings import Setting

# ---- Cell ----

NOISYHEAD, DP_SGD, ZERO = "noisyhead", "dp-sgd", "zero"
ALGORITHM = accounts.ALGORITHM  # the classical calibration, basic composition; neighbours replace a prompt
ADD, REPLACE = str(Neighbours.ADD_OR_REMOVE), str(Neighbours.REPLACE)  # exact composition, for either relation
LOSS, UPDATE, RESPONSES = "the loss, at σ", "the update, at σ/2", "the loss, at C"  # gradients, and where clipped
CLIPS = (LOSS, UPDATE, RESPONSES)


def clip_at(hyper: Hyperparameters, gradients: str) -> tuple[float, float]:
    """Factor f of DP-SGD's gradient and the norm that it is clipped at.

    f(C + RG)G bounds a gradient wherever Algorithm 1 can be: σ = 2G(C + RG) for the loss, half for the update.
    """
    return {
        LOSS: (pretraining.OF_THE_LOSS, hyper.sigma),
        UPDATE: (pretraining.OF_ALGORITHM_1, hyper.sigma / 2),
        RESPONSES: (pretraining.OF_THE_LOSS, hyper.clip_norm),
    }[gradients]


@dataclass(frozen=True)
class Method:
    """A way to train: the method, whose gradients it clips where (DP-SGD), and by which accounting at which ε."""

    method: str
    gradients: str = ""
    account: str = ""
    epsilon: float = np.nan


@dataclass(frozen=True)
class Cell(authors.LowDimension):
    """One training-set size with everything a trial needs."""

    batch: int

    def descent(self, setting: Setting) -> Descent:
        """What DP-SGD is told: the same η₀ and T, and the λ of the loss."""
        hyper = self.hyper[setting]
        return Descent(self.penalty, hyper.learning_rate, hyper.steps, self.batch)

    @cached_property
    def private(self) -> dict[str, list[Method]]:
        """The private ways to train, by method, in the order of a trial's numbers."""
        head = [Method(NOISYHEAD, "", a, e) for a in (ALGORITHM, REPLACE, ADD) for e in self.epsilon]
        sgd = [Method(DP_SGD, g, a, e) for g in CLIPS for a in (REPLACE, ADD) for e in self.epsilon]
        return {NOISYHEAD: head, DP_SGD: sgd}

    @cached_property
    def columns(self) -> list[tuple[Setting, Method]]:
        """Setting and method of each number that a trial returns."""
        private = [*self.private[NOISYHEAD], *self.private[DP_SGD]]
        return [(setting, method) for setting in Setting for method in (*private, Method(ZERO))]

    def multiplier(self, setting: Setting, way: Method) -> float:
        """The exactly composed noise multiplier of a step: noise over the norm that bounds one prompt's gradient."""
        share = 1.0 if way.method == NOISYHEAD else self.batch / self.N
        budget = ApproximateDP(way.epsilon, self.delta)
        return poisson_noise_multiplier(budget, share, self.hyper[setting].steps, Neighbours(way.account))

    def noise(self, setting: Setting, way: Method) -> float:
        """Standard deviation of the noise: in an entry of Γ for NoisyHead, of the mean gradient for DP-SGD."""
        hyper = self.hyper[setting]
        if way.account == ALGORITHM:
            return accounts.noise_std(ALGORITHM, hyper, ApproximateDP(way.epsilon, self.delta), self.N, hyper.steps)
        if way.method == NOISYHEAD:
            return self._moved(setting) * self.multiplier(setting, way)
        return clip_at(self.hyper[setting], way.gradients)[1] / self.batch * self.multiplier(setting, way)

    @cached_property
    def noises(self) -> dict[tuple[Setting, Method], float]:
        """The standard deviations of all private ways to train."""
        return {(setting, way): self.noise(setting, way) for setting, way in self.columns if way.method != ZERO}

    def spent(self, setting: Setting, way: Method, neighbours: Neighbours) -> float:
        """The ε that all iterates spend together, exactly composed, for a neighbouring relation."""
        steps = self.hyper[setting].steps
        if way.method == NOISYHEAD:
            one = GaussianDP(self._moved(setting) * neighbours.reach / self.noise(setting, way))
            return every_iterate(one, steps).epsilon(self.delta)
        return poisson_epsilon(self.multiplier(setting, way), self.batch / self.N, steps, self.delta, neighbours)

    def _moved(self, setting: Setting) -> float:
        """How far one prompt more or less moves a step of Algorithm 1, at most."""
        hyper = self.hyper[setting]
        return hyper.learning_rate * hyper.sigma / 2 / self.N

    def noise_in_weights(self, setting: Setting, way: Method) -> float:
        """Standard deviation of what the noise of one step adds to an entry of Γ."""
        rate = 1.0 if way.method == NOISYHEAD else self.hyper[setting].learning_rate
        return rate * self.noise(setting, way)


# ---- Records ----

PROMPT, PAIR = "a prompt is a record", "a pair is a record"
SWAPPED = 1000  # prompts that are replaced, all their pairs at once


def by_length(lengths: Sequence[int], cell: Cell, seed: int) -> pd.DataFrame:
    """Noise of a step of DP-SGD over NoisyHead's, both exactly composed for the same relation, at each length.

    Where a pair is a record, a prompt is a group of L + 1 of them: the noise that protects the group is L + 1 times
    that of one (exactly so for Gaussians). ``moved`` is the largest distance, in clip norms, by which a step's sum of
    gradients was seen to move when a whole prompt was replaced; 2 is the most that clipping by prompt allows.
    """
    budget, rows = ApproximateDP(max(cell.epsilon), cell.delta), []
    for L in lengths:
        model = PromptModel(cell.D, L, cell.label_noise)
        hyper = recipes.low_dimension(model, cell.N, cell.failure, cell.penalty)[Setting.PUBLISHED]
        sampled = poisson_noise_multiplier(budget, cell.batch / cell.N, hyper.steps, Neighbours.REPLACE) / cell.batch
        whole = poisson_noise_multiplier(budget, 1.0, hyper.steps, Neighbours.REPLACE) / cell.N
        moved = _moved(model, hyper.sigma / 2, hyper.weight_bound, generator(seed, L, 0))
        for record, factor in ((PROMPT, 1), (PAIR, L + 1)):
            ratio = factor * sampled / whole
            rows.append({"L": L, "N": cell.N, "record": record, "steps": hyper.steps, "ratio": ratio, "moved": moved})
    return pd.DataFrame(rows)


def _moved(model: PromptModel, clip: float, radius: float, rng: np.random.Generator) -> float:
    """The largest distance between the clipped gradients of two whole prompts, over the clip norm."""
    Gamma = rng.standard_normal((model.D, model.D))
    Gamma *= radius / np.linalg.norm(Gamma)
    raw, _ = head.sample_statistics(model, 2 * SWAPPED, rng=rng)
    gradient = (head.predict(Gamma, raw) - raw.response)[:, None] * raw.Z.reshape(2 * SWAPPED, -1)
    clipped = gradient * np.minimum(1.0, clip / np.linalg.norm(gradient, axis=1))[:, None]
    return float(np.linalg.norm(clipped[:SWAPPED] - clipped[SWAPPED:], axis=1).max() / clip)


# ---- Opacus ----

WEIGHT_DECAY, IN_LOSS = "weight decay", "in the loss"
SETTING = Setting.PUBLISHED
RESTING = 400  # steps after which descent without noise has come to rest


@dataclass(frozen=True)
class Run:
    """What a run of Opacus depends on besides its trial; an infinite ε is a run to the resting point without noise."""

    N: int
    D: int
    epsilon: float
    delta: float
    failure: float
    penalty: float
    label_noise: float
    batch: int
    gradients: str
    seed: int
    penalised: str = WEIGHT_DECAY

    @property
    def model(self) -> PromptModel:
        """The law of its prompts."""
        return recipes.square_model(self.D, self.N, self.label_noise)

    @property
    def hyper(self) -> Hyperparameters:
        """What Algorithm 1 is told; Opacus gets its T, η₀ and the bounds behind its clip norm."""
        return recipes.low_dimension(self.model, self.N, self.failure, self.penalty)[SETTING]


@dataclass(frozen=True)
class Runs:
    """A run, and how often."""

    run: Run
    trials: int

    @property
    def key(self) -> int:
        """The size's, as in the trials of the other methods."""
        return self.run.N


def train(runs: Runs, *, rng: np.random.Generator) -> np.ndarray:
    """All trials of a run, in one call of the extra environment; their streams are those of the other methods."""
    run, model, hyper = runs.run, runs.run.model, runs.run.hyper
    streams = [generator(run.seed, runs.key, t) for t in range(runs.trials)]
    data = [head.sample_statistics(model, run.N, hyper.clip_norm, rng=stream)[0] for stream in streams]
    arrays = {name: np.stack([getattr(d, name) for d in data]) for name in ("query", "context", "response")}
    resting = np.isinf(run.epsilon)
    out = extras.find("opacus").call(
        worker.train,
        arrays | {"seeds": np.array([stream.integers(2**31) for stream in streams])},
        epsilon=run.epsilon,
        delta=run.delta,
        batch=run.batch,
        steps=RESTING if resting else hyper.steps,
        clip_norm=clip_at(hyper, run.gradients)[1],
        learning_rate=hyper.learning_rate,
        penalty=run.penalty,
        in_loss=run.penalised == IN_LOSS,
    )
    Gamma = out["weights"].reshape(-1, run.D, run.D)
    reference = np.stack([ridge(head.moments(d), run.penalty) for d in data])
    excess = population.excess_risk(model, Gamma - reference)
    off = np.linalg.norm(Gamma - reference, axis=(1, 2)) / np.linalg.norm(reference, axis=(1, 2))
    test = population.prediction_error(model, Gamma)
    return np.stack([excess, test, off, out["noise_multiplier"], out["drawn"], out["rows"]], axis=1)


def opacus_measure(cells: Sequence[Run], trials: int, runner: Runner) -> list[pd.DataFrame]:
    """The runs of some cells, a table for each."""
    names = ["excess_risk", "test_error", "distance", "noise_multiplier", "drawn", "rows"]
    tables = []
    for runs, values in runner.run(train, [Runs(cell, trials) for cell in cells], 1, 0).items():
        table = pd.DataFrame(values[0], columns=names)
        for place, name in enumerate(("N", "epsilon", "batch", "gradients", "penalised")):
            table.insert(place, name, getattr(runs.run, name))
        tables.append(table)
    return tables


RECORD = extras.Record(extras.Extra("opacus"), "noisyhead/dp-sgd", "opacus-runs", (worker.train, train, opacus_measure))


def summary(runs: pd.DataFrame, figure: pd.DataFrame, cells: Sequence[Cell]) -> pd.DataFrame:
    """Opacus's means beside those of our own DP-SGD, and both noise multipliers.

    The two accountants differ by a per cent or so: our risk is scaled by the square of their ratio before the
    ``deviation`` in combined standard errors is taken.
    """
    by_size, rows = {cell.N: cell for cell in cells}, []
    private = runs[np.isfinite(runs["epsilon"])]
    for (N, epsilon, gradients), group in private.groupby(["N", "epsilon", "gradients"], sort=False):
        way, cell = Method(DP_SGD, str(gradients), ADD, float(epsilon)), by_size[int(N)]
        place = {"setting": str(SETTING), "N": N, **vars(way)}
        ours = figure[np.logical_and.reduce([figure[name] == value for name, value in place.items()])].iloc[0]
        own = cell.multiplier(SETTING, way)
        theirs = group["noise_multiplier"].iloc[0]
        mean, error = _fits.mean_and_error(group["excess_risk"].to_numpy())
        scale = (theirs / own) ** 2
        combined = np.hypot(error, scale * ours["standard_error"])
        row = {"N": N, "epsilon": epsilon, "gradients": gradients}
        row |= {"noise_multiplier": theirs, "exact_multiplier": own}
        row |= {"excess_risk": mean, "standard_error": error, "trials": len(group)}
        deviation = (mean - scale * ours["excess_risk"]) / combined
        rows.append(row | {"own_excess_risk": ours["excess_risk"], "deviation": deviation})
    return pd.DataFrame(rows)


# ---- The experiment ----


def trial(cell: Cell, *, rng: np.random.Generator) -> np.ndarray:
    """One draw of prompts, all methods on it: shape (2, columns), excess risk over Γ* and test error."""
    raw, clipped = head.sample_statistics(cell.model, cell.N, cell.hyper[Setting.PRINTED].clip_norm, rng=rng)
    weights = []
    for setting, hyper in cell.hyper.items():
        data = in_eigenbasis(head.moments(head.project(clipped, hyper.feature_bound)))
        start = authors.INITIAL_STD * rng.standard_normal((cell.D, cell.D)) if setting == Setting.PUBLISHED else None
        noise = [cell.noises[setting, way] for way in cell.private[NOISYHEAD]]
        factor, clip = np.array([clip_at(hyper, way.gradients) for way in cell.private[DP_SGD]]).T
        sgd_noise = np.array([cell.noises[setting, way] for way in cell.private[DP_SGD]])
        weights += [
            pretraining.pretrain(data, hyper, noise, rng=rng, initial=start),
            pretraining.dp_sgd(raw, cell.descent(setting), factor, clip, sgd_noise, rng=rng),
            np.zeros((1, cell.D, cell.D)),
        ]
    Gamma = np.concatenate(weights)
    difference = Gamma - ridge(head.moments(raw), cell.penalty)
    return np.stack([population.excess_risk(cell.model, difference), population.prediction_error(cell.model, Gamma)])


class Experiment(Parameters):
    """Figure 5: excess risk of NoisyHead and of DP-SGD against N for several ε."""

    N: tuple[int, ...] = many(count(16, 10**5), 1000, 2000, 3000, 4000)
    """Numbers of training prompts; L is the integer part of their square root."""
    D: int = parameter(count(2, 100), 5, published=True)
    epsilon: tuple[float, ...] = many(EPSILON, 0.2, 0.6, 1.0)
    delta: float = parameter(DELTA, 1e-5, published=True)
    failure: float = parameter(KAPPA, 1.0, published=True)
    penalty: float = parameter(PENALTY, 5.0, published=True)
    label_noise: float = parameter(NOISE_OR_NONE, 0.0, published=True)
    # fewer prompts in a step could be none, of which Opacus has no mean loss
    batch: int = parameter(count(16, 10**5), 256)
    """Prompts in a step of DP-SGD, on average."""
    lengths: tuple[int, ...] = many(count(2, 10**6), 10, 31, 100, 316, 1000)
    """Lengths of prompts at which the records of DP-SGD are compared."""
    trials: int = parameter(TRIALS, 200)
    opacus_trials: int = parameter(count(2, 10**4), 20)
    """Trials of Opacus, on the first of the same prompts."""
    seed: int = parameter(SEED, 1)

    def check(self) -> None:
        """Refuse batches, budgets and penalties that no run of a cell can have."""
        if self.batch > min(self.N):
            raise ValueError(f"batch must be at most the smallest N = {min(self.N)}, got {self.batch}")
        for cell in self.cells:
            steps = [hyper.steps for hyper in cell.hyper.values()]
            recipes.check_steps(max(steps), self.penalty, cell.N)
            if max(self.epsilon) > min(steps):
                raise ValueError(f"epsilon must be at most T = {min(steps)} at N = {cell.N}, got {max(self.epsilon)}")

    @property
    def cells(self) -> list[Cell]:
        """One for each N."""
        return [self.shared(Cell, N=N) for N in self.N]

    def run(self, runner: Runner) -> dict[str, pd.DataFrame]:
        """Figure 5, what each side spends, Opacus's runs beside ours, records by length, the published numbers."""
        runs = RECORD.runs(self._opacus_cells(), self.opacus_trials, self._measure(runner))
        samples = runner.run(trial, self.cells, self.trials, self.seed)
        figure = pd.concat([rows(cell, values) for cell, values in samples.items()], ignore_index=True)
        theirs = authors.if_published(self, authors.excess_risks("noisyhead-low-dimensional", ["N", "epsilon"]))
        ours = figure[(figure["account"] == ALGORITHM) & (figure["method"] == NOISYHEAD)].drop(columns="method")
        return {
            "figure-5": figure,
            "accounts": pd.concat([spending(cell) for cell in self.cells], ignore_index=True),
            "opacus-runs": runs,
            "opacus": summary(runs, figure, self.cells),
            "records": by_length(self.lengths, self.cells[0], self.seed),
            "comparison": authors.beside(
                ours[ours["setting"] == Setting.PUBLISHED],
                theirs[theirs["method"] == NOISYHEAD].drop(columns="method"),
                ["N", "epsilon"],
                "excess_risk",
            ),
        }

    def _opacus_cells(self) -> list[Run]:
        places = itertools.product(self.N, self.epsilon, (LOSS, RESPONSES))  # Opacus minimises the loss (2.6) itself
        fixed = [self.shared(Run, N=N, epsilon=epsilon, gradients=gradients) for N, epsilon, gradients in places]
        first = self.shared(Run, N=min(self.N), batch=min(self.N), epsilon=np.inf, gradients=LOSS)
        return [*fixed, first, replace(first, penalised=IN_LOSS)]

    def _measure(self, runner: Runner) -> Callable[[Sequence[Run]], list[pd.DataFrame]]:
        return lambda cells: opacus_measure(cells, self.opacus_trials, runner)


def rows(cell: Cell, values: np.ndarray) -> pd.DataFrame:
    """Means and standard errors of a size, a row for each setting and method."""
    excess, error = _fits.mean_and_error(values[:, 0])
    test, test_error = _fits.mean_and_error(values[:, 1])
    labels = [
        {"setting": str(setting), "N": cell.N, **vars(way), "closed_form": closed_form(cell, setting, way)}
        for setting, way in cell.columns
    ]
    told = {"excess_risk": excess, "standard_error": error, "test_error": test, "test_standard_error": test_error}
    fixed = {"response_variance": cell.model.response_variance, "trials": len(values)}
    return pd.DataFrame(labels).assign(**told, **fixed)


def closed_form(cell: Cell, setting: Setting, way: Method) -> float:
    """Excess risk that the noise alone adds, while nothing is clipped or projected; 0 where there is no noise."""
    if way.method == ZERO:
        return 0.0
    noise, hyper = cell.noise(setting, way), cell.hyper[setting]
    if way.method == NOISYHEAD:
        return dynamics.noise_risk(hyper, cell.model, noise, dynamics.curvature(cell.model))
    factor, _ = clip_at(cell.hyper[setting], way.gradients)
    return pretraining.noise_risk(cell.descent(setting), cell.model, factor, noise)


def spending(cell: Cell) -> pd.DataFrame:
    """What each private method spends exactly, in either relation, beside the ε that it was given."""
    rows = []
    for setting, way in (column for column in cell.columns if column[1].method != ZERO):
        noise, steps = cell.noise_in_weights(setting, way), cell.hyper[setting].steps  # of a step, in an entry of Γ
        row = {"setting": str(setting), "N": cell.N, **vars(way), "noise": noise, "steps": steps}
        rows.append(row | {f"spent, {n}": cell.spent(setting, way, n) for n in Neighbours})
    return pd.DataFrame(rows)
