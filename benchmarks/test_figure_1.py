"""Figure 1 against the literal algorithm, and against drawing the same number of normals."""

from typing import Any

import pytest

from benchmarks import shared
from chapters.noisyhead.low_dimensional import measure
from companion.running.montecarlo import generator

SIZES = (1000, 4000)
TRIALS = 3


def test_the_literal_algorithm(benchmark: Any, seconds: dict[str, float]) -> None:
    cells = measure.Experiment(N=SIZES).cells
    runs = lambda: [shared.literal(c, generator(1, c.N, t)) for c in cells for t in range(TRIALS)]  # noqa: E731
    benchmark.pedantic(runs, rounds=1)
    seconds["literal"] = benchmark.stats["mean"] / (len(SIZES) * TRIALS)


def test_the_fast_path(benchmark: Any, seconds: dict[str, float]) -> None:
    """All three settings, where the literal one runs one."""
    cells = measure.Experiment(N=SIZES).cells
    for cell in cells:
        measure.trial(cell, rng=generator(1, cell.N, 0))
    runs = lambda: [measure.trial(c, rng=generator(1, c.N, t)) for c in cells for t in range(TRIALS)]  # noqa: E731
    benchmark.pedantic(runs, rounds=5)
    seconds["fast"] = benchmark.stats["mean"] / (len(SIZES) * TRIALS)


def test_figure_1_at_full_scale(benchmark: Any, seconds: dict[str, float], note: list[str]) -> None:
    seconds["figure-1"] = shared.full_run(benchmark, measure.Experiment(), note)


def test_drawing_its_normals(benchmark: Any, seconds: dict[str, float]) -> None:
    seconds["normals"] = shared.its_normals(benchmark, measure.Experiment())


@pytest.mark.parametrize("N", SIZES)
def test_a_trial(benchmark: Any, N: int) -> None:
    (cell,) = measure.Experiment(N=(N,)).cells
    measure.trial(cell, rng=generator(1, N, 0))
    benchmark(lambda: measure.trial(cell, rng=generator(1, N, 0)))
