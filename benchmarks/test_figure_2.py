"""Figure 2 against the literal algorithm, and against drawing the same number of normals."""

from typing import Any

import pytest
from threadpoolctl import threadpool_limits

from benchmarks import shared
from chapters.noisyhead.high_dimensional.measure import Experiment, trial
from companion.running.montecarlo import generator

N = 1000
PRINTED = (500, 600, 700, 800, 900, 1000)  # Figure 2's own sizes; the published ones go beyond


def test_the_literal_algorithm_in_high_dimension(benchmark: Any, seconds: dict[str, float]) -> None:
    (cell,) = Experiment(N=(N,)).cells
    with threadpool_limits(1):
        benchmark.pedantic(lambda: shared.literal(cell, generator(1, N, 0)), rounds=1)
    seconds["literal-2"] = benchmark.stats["mean"]


def test_the_fast_path_in_high_dimension(benchmark: Any, seconds: dict[str, float]) -> None:
    """Four variants, where the literal one runs one."""
    (cell,) = Experiment(N=(N,)).cells
    with threadpool_limits(1):
        trial(cell, rng=generator(1, N, 0))
        benchmark.pedantic(lambda: trial(cell, rng=generator(1, N, 0)), rounds=10)
    seconds["fast-2"] = benchmark.stats["mean"]


def test_figure_2_as_printed_at_full_scale(benchmark: Any, seconds: dict[str, float], note: list[str]) -> None:
    seconds["figure-2"] = shared.full_run(benchmark, Experiment(N=PRINTED), note)


def test_drawing_the_normals_of_figure_2(benchmark: Any, seconds: dict[str, float]) -> None:
    seconds["normals-2"] = shared.its_normals(benchmark, Experiment(N=PRINTED))


@pytest.mark.parametrize("size", [500, 2100])
def test_a_trial_of_figure_2(benchmark: Any, size: int) -> None:
    (cell,) = Experiment(N=(size,)).cells
    with threadpool_limits(1):
        benchmark.pedantic(lambda: trial(cell, rng=generator(1, size, 0)), rounds=5, warmup_rounds=1)
