"""Opacus's runs: measured in the extra environment, or read from the committed ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from chapters.noisyhead.dp_sgd import worker
from chapters.noisyhead.dp_sgd.cell import ADD, DP_SGD, LOSS, RESPONSES, Cell, Method, clip_at
from companion import _fits
from companion.running import extras
from companion.streams import Runner, generator
from costofprivacy.noisyhead import head, population, recipes
from costofprivacy.noisyhead.head import Statistics
from costofprivacy.noisyhead.hyperparameters import Hyperparameters
from costofprivacy.noisyhead.prompts import PromptModel
from costofprivacy.noisyhead.ridge import ridge
from costofprivacy.settings import Setting

GRADIENTS = (LOSS, RESPONSES)  # Opacus minimises the loss (2.6) itself
WEIGHT_DECAY, IN_LOSS = "weight decay", "in the loss"
PENALISED = (WEIGHT_DECAY, IN_LOSS)
SETTING = Setting.PUBLISHED
RESTING = 400  # steps after which descent without noise has come to rest
Measure = Callable[[Sequence["Run"]], list[pd.DataFrame]]


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


def draw(model: PromptModel, N: int, clip_norm: float, *, rng: np.random.Generator) -> tuple[Statistics, Statistics]:
    """The prompts of a trial, the same for all methods: raw, and clipped at C."""
    return head.sample_statistics(model, N, clip_norm, rng=rng)


def train(runs: Runs, *, rng: np.random.Generator) -> np.ndarray:
    """All trials of a run, in one call of the extra environment; their streams are those of the other methods."""
    run, model, hyper = runs.run, runs.run.model, runs.run.hyper
    streams = [generator(run.seed, runs.key, t) for t in range(runs.trials)]
    data = [draw(model, run.N, hyper.clip_norm, rng=stream)[0] for stream in streams]
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


def measure(cells: Sequence[Run], trials: int, runner: Runner) -> list[pd.DataFrame]:
    """The runs of some cells, a table for each."""
    found = runner.run(train, [Runs(cell, trials) for cell in cells], 1, 0)
    names = ["excess_risk", "test_error", "distance", "noise_multiplier", "drawn", "rows"]
    tables = []
    for runs, values in found.items():
        table = pd.DataFrame(values[0], columns=names)
        for place, name in enumerate(("N", "epsilon", "batch", "gradients", "penalised")):
            table.insert(place, name, getattr(runs.run, name))
        tables.append(table)
    return tables


RECORD = extras.Record(extras.Extra("opacus"), "noisyhead/dp-sgd", "opacus-runs", (worker.train, train, measure))


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
        rows.append(
            {
                "N": N,
                "epsilon": epsilon,
                "gradients": gradients,
                "noise_multiplier": theirs,
                "exact_multiplier": own,
                "excess_risk": mean,
                "standard_error": error,
                "trials": len(group),
                "own_excess_risk": ours["excess_risk"],
                "deviation": (mean - scale * ours["excess_risk"]) / combined,
            }
        )
    return pd.DataFrame(rows)
