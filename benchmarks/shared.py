"""What the benchmarks of the figures share: a literal trial, the normals that a full run draws, and a full run."""

import resource
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import joblib
import numpy as np

from companion.running.montecarlo import Runner
from costofprivacy.noisyhead.hyperparameters import Hyperparameters
from costofprivacy.noisyhead.prompts import PromptModel, sample
from costofprivacy.settings import Setting
from tests import oracles

CORES = 2
BUFFER = 2**15


class Cell(Protocol):
    """What both figures' cells have."""

    N: int
    test_prompts: int

    @property
    def model(self) -> PromptModel: ...
    @property
    def penalty(self) -> float: ...
    @property
    def hyper(self) -> Mapping[Setting, Hyperparameters]: ...
    @property
    def noise(self) -> Mapping[Setting, Sequence[float]]: ...


def literal(cell: Cell, rng: np.random.Generator) -> list[float]:
    """One trial, prompt by prompt and step by step: the published setting alone, all ε, tested on all test prompts."""
    hyper, shape = cell.hyper[Setting.PUBLISHED], (cell.model.D, cell.model.D)
    train, test = sample(cell.model, cell.N, rng=rng), sample(cell.model, cell.test_prompts, rng=rng)
    reference = oracles.ridge(train.x, train.y, cell.penalty)
    Z = [oracles.statistic(x, y, np.inf, np.inf) for x, y in zip(test.x, test.y)]
    told = (hyper.clip_norm, hyper.feature_bound, hyper.weight_bound, hyper.penalty, hyper.learning_rate)
    start = 0.1 * rng.standard_normal(shape)
    risks = []
    for std in cell.noise[Setting.PUBLISHED]:
        noise = std * rng.standard_normal((hyper.steps, *shape))
        Gamma = oracles.noisyhead(train.x, train.y, *told, noise, start)
        risks.append(float(np.mean([((Gamma - reference) * z).sum() ** 2 for z in Z])))
    return risks


def full_run(benchmark: Any, experiment: Any, note: list[str]) -> float:
    """Seconds of an experiment at full scale; leaves a note on memory."""
    benchmark.pedantic(lambda: experiment.run(Runner(CORES)), rounds=1, warmup_rounds=0)
    peak = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    note.append(f"largest process so far: {peak / 1024:.0f} MB, {CORES} workers")
    return benchmark.stats["mean"]


def its_normals(benchmark: Any, experiment: Any) -> float:
    """Seconds that drawing the normals of a full run's prompts takes on the same cores."""
    tokens = ((c.N + c.test_prompts) * (c.model.L + 2) * c.model.D for c in experiment.cells)
    count = experiment.trials * sum(tokens)
    pool = joblib.Parallel(n_jobs=CORES)
    pool(joblib.delayed(_draw)(BUFFER, s) for s in range(CORES))
    benchmark.pedantic(lambda: pool(joblib.delayed(_draw)(count // CORES, s) for s in range(CORES)), rounds=1)
    return benchmark.stats["mean"]


def _draw(count: int, seed: int) -> None:
    """Fill a reused buffer with ``count`` normals."""
    rng, buffer = np.random.default_rng(seed), np.empty(BUFFER)
    for _ in range(count // BUFFER):
        rng.standard_normal(out=buffer)
