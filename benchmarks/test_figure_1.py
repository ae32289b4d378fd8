"""Figure 1 against the literal algorithm, and against drawing the same number of normals."""

import resource
from typing import Any

import joblib
import numpy as np
import pytest
from tests import oracles

from costofprivacy.experiments.noisyhead import low_dimensional as study
from costofprivacy.montecarlo import Runner, generator
from costofprivacy.noisyhead.prompts import sample
from costofprivacy.settings import Setting

SIZES = (1000, 4000)
TRIALS = 3
CORES = 2
BUFFER = 2**15


def literal(cell: study.Cell, rng: np.random.Generator) -> list[float]:
    """One trial, prompt by prompt and step by step: the published setting alone, all ε, tested on all test prompts."""
    hyper = cell.hyper[Setting.PUBLISHED]
    train, test = sample(cell.model, cell.N, rng=rng), sample(cell.model, cell.test_prompts, rng=rng)
    reference = oracles.ridge(train.x, train.y, cell.penalty)
    Z = [oracles.statistic(x, y, np.inf, np.inf) for x, y in zip(test.x, test.y)]
    told = (hyper.clip_norm, hyper.feature_bound, hyper.weight_bound, hyper.penalty, hyper.learning_rate)
    risks = []
    for std in cell.noise[Setting.PUBLISHED]:
        noise = std * rng.standard_normal((hyper.steps, cell.D, cell.D))
        Gamma = oracles.noisyhead(train.x, train.y, *told, noise, np.zeros((cell.D, cell.D)))
        risks.append(float(np.mean([((Gamma - reference) * z).sum() ** 2 for z in Z])))
    return risks


def test_the_literal_algorithm(benchmark: Any, seconds: dict[str, float]) -> None:
    cells = study.Experiment(N=SIZES).cells
    runs = lambda: [literal(c, generator(1, c.N, t)) for c in cells for t in range(TRIALS)]  # noqa: E731
    benchmark.pedantic(runs, rounds=1)
    seconds["literal"] = benchmark.stats["mean"] / (len(SIZES) * TRIALS)


def test_the_fast_path(benchmark: Any, seconds: dict[str, float]) -> None:
    """All three settings, where the literal one runs one."""
    cells = study.Experiment(N=SIZES).cells
    for cell in cells:
        study.trial(cell, rng=generator(1, cell.N, 0))
    runs = lambda: [study.trial(c, rng=generator(1, c.N, t)) for c in cells for t in range(TRIALS)]  # noqa: E731
    benchmark.pedantic(runs, rounds=5)
    seconds["fast"] = benchmark.stats["mean"] / (len(SIZES) * TRIALS)


def normals_of(experiment: study.Experiment) -> int:
    """Normals that the prompts of a full run take."""
    tokens = ((c.N + c.test_prompts) * (c.model.L + 2) * c.D for c in experiment.cells)
    return experiment.trials * sum(tokens)


def draw(count: int, seed: int) -> None:
    """Fill a reused buffer with ``count`` normals."""
    rng, buffer = np.random.default_rng(seed), np.empty(BUFFER)
    for _ in range(count // BUFFER):
        rng.standard_normal(out=buffer)


def test_figure_1_at_full_scale(benchmark: Any, seconds: dict[str, float], note: list[str]) -> None:
    benchmark.pedantic(lambda: study.Experiment().run(Runner(CORES)), rounds=1, warmup_rounds=0)
    seconds["figure-1"] = benchmark.stats["mean"]
    peak = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    note.append(f"largest process so far: {peak / 1024:.0f} MB, {CORES} workers")


def test_drawing_its_normals(benchmark: Any, seconds: dict[str, float]) -> None:
    count = normals_of(study.Experiment())
    pool = joblib.Parallel(n_jobs=CORES)
    pool(joblib.delayed(draw)(BUFFER, s) for s in range(CORES))
    benchmark.pedantic(lambda: pool(joblib.delayed(draw)(count // CORES, s) for s in range(CORES)), rounds=1)
    seconds["normals"] = benchmark.stats["mean"]


@pytest.mark.parametrize("N", SIZES)
def test_a_trial(benchmark: Any, N: int) -> None:
    (cell,) = study.Experiment(N=(N,)).cells
    study.trial(cell, rng=generator(1, N, 0))
    benchmark(lambda: study.trial(cell, rng=generator(1, N, 0)))
