"""What is measured for Figure 5: NoisyHead and DP-SGD on the same prompts, by several accountings."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from chapters.noisyhead import authors
from chapters.noisyhead.dp_sgd import opacus, records
from chapters.noisyhead.dp_sgd.cell import ALGORITHM, DP_SGD, NOISYHEAD, ZERO, Cell, Method
from chapters.ranges import DELTA, EPSILON, KAPPA, NOISE_OR_NONE, PENALTY, SEED, TRIALS, count
from companion import _fits
from companion.declaration import Parameters, many, parameter
from companion.streams import Runner
from costofprivacy.noisyhead import dynamics, head, population, pretraining, recipes
from costofprivacy.noisyhead.curvature import in_eigenbasis
from costofprivacy.noisyhead.ridge import ridge
from costofprivacy.privacy.subsampled import Neighbours
from costofprivacy.settings import Setting

LEAST_BATCH = 16  # fewer prompts in a step could be none, of which Opacus has no mean loss


def trial(cell: Cell, *, rng: np.random.Generator) -> np.ndarray:
    """One draw of prompts, all methods on it: shape (2, columns), excess risk over Γ* and test error."""
    raw, clipped = opacus.draw(cell.model, cell.N, cell.hyper[Setting.PRINTED].clip_norm, rng=rng)
    weights = []
    for setting, hyper in cell.hyper.items():
        data = in_eigenbasis(head.moments(head.project(clipped, hyper.feature_bound)))
        start = authors.INITIAL_STD * rng.standard_normal((cell.D, cell.D)) if setting == Setting.PUBLISHED else None
        noise = [cell.noises[setting, way] for way in cell.private[NOISYHEAD]]
        weights += [
            pretraining.pretrain(data, hyper, noise, rng=rng, initial=start),
            _minibatches(cell, setting, raw, rng),
            np.zeros((1, cell.D, cell.D)),
        ]
    Gamma = np.concatenate(weights)
    difference = Gamma - ridge(head.moments(raw), cell.penalty)
    return np.stack([population.excess_risk(cell.model, difference), population.prediction_error(cell.model, Gamma)])


def _minibatches(cell: Cell, setting: Setting, raw: head.Statistics, rng: np.random.Generator) -> np.ndarray:
    """DP-SGD's weights in a setting, in the order of ``cell.private``."""
    ways = cell.private[DP_SGD]
    factor, clip = np.array([cell.clip(setting, way.gradients) for way in ways]).T
    noise = np.array([cell.noises[setting, way] for way in ways])
    return pretraining.dp_sgd(raw, cell.descent(setting), factor, clip, noise, rng=rng)


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
    batch: int = parameter(count(LEAST_BATCH, 10**5), 256)
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
        runs = opacus.RECORD.runs(self._opacus_cells(), self.opacus_trials, self._measure(runner))
        samples = runner.run(trial, self.cells, self.trials, self.seed)
        figure = pd.concat([rows(cell, values) for cell, values in samples.items()], ignore_index=True)
        theirs = authors.if_published(self, authors.excess_risks("noisyhead-low-dimensional", ["N", "epsilon"]))
        ours = figure[(figure["account"] == ALGORITHM) & (figure["method"] == NOISYHEAD)].drop(columns="method")
        return {
            "figure-5": figure,
            "accounts": pd.concat([spending(cell) for cell in self.cells], ignore_index=True),
            "opacus-runs": runs,
            "opacus": opacus.summary(runs, figure, self.cells),
            "records": records.by_length(self.lengths, self.cells[0], self.seed),
            "comparison": authors.beside(
                ours[ours["setting"] == Setting.PUBLISHED],
                theirs[theirs["method"] == NOISYHEAD].drop(columns="method"),
                ["N", "epsilon"],
                "excess_risk",
            ),
        }

    def _opacus_cells(self) -> list[opacus.Run]:
        fixed = [self.shared(opacus.Run, N=N, epsilon=e, gradients=g) for N in self.N for e in self.epsilon
                 for g in opacus.GRADIENTS]  # fmt: skip
        first = self.shared(opacus.Run, N=min(self.N), batch=min(self.N), epsilon=np.inf, gradients=opacus.GRADIENTS[0])
        return [*fixed, *(replace(first, penalised=where) for where in opacus.PENALISED)]

    def _measure(self, runner: Runner) -> opacus.Measure:
        return lambda cells: opacus.measure(cells, self.opacus_trials, runner)


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
    factor, _ = cell.clip(setting, way.gradients)
    return pretraining.noise_risk(cell.descent(setting), cell.model, factor, noise)


def spending(cell: Cell) -> pd.DataFrame:
    """What each private method spends exactly, in either relation, beside the ε that it was given."""
    return pd.DataFrame(
        [
            {
                "setting": str(setting),
                "N": cell.N,
                **vars(way),
                "noise": cell.noise_in_weights(setting, way),  # of a step, in an entry of Γ
                "steps": cell.hyper[setting].steps,
                **{f"spent, {n}": cell.spent(setting, way, n) for n in Neighbours},
            }
            for setting, way in cell.columns
            if way.method != ZERO
        ]
    )
