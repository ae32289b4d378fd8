"""Figure 3 against the literal algorithm, and at full scale."""

from time import perf_counter
from typing import Any

from threadpoolctl import threadpool_limits

from benchmarks import shared
from chapters.noisyhead.early_stopping import measure
from companion.streams import generator
from costofprivacy.noisyhead.accounts import ALGORITHM
from costofprivacy.noisyhead.prompts import sample
from costofprivacy.settings import Setting
from tests import oracles

N = 1000
FEW = 5  # literal steps that are timed; all steps cost the same


def test_the_literal_algorithm_of_figure_3(benchmark: Any, seconds: dict[str, float], note: list[str]) -> None:
    """Γ* and a few steps of the published setting, prompt by prompt, extrapolated to Σ T: each T is its own run."""
    cell = measure.Experiment().cell
    hyper, std = cell.hyper[Setting.PUBLISHED], cell.stds(Setting.PUBLISHED, (ALGORITHM,))[0]
    rng = generator(1, N, 0)
    train = sample(cell.model, N, rng=rng)
    start, noise = (0.1 * rng.standard_normal(shape) for shape in ((31, 31), (FEW, 31, 31)))
    told = (hyper.clip_norm, hyper.feature_bound, hyper.weight_bound, hyper.penalty, hyper.learning_rate)

    def steps(count: int) -> None:
        oracles.noisyhead(train.x, train.y, *told, std * noise[:count], start)

    with threadpool_limits(1):
        benchmark.pedantic(lambda: steps(FEW), rounds=3)
        several = benchmark.stats["min"]
        once = min(_seconds(lambda: steps(0)) for _ in range(3))
        reference = _seconds(lambda: oracles.ridge(train.x, train.y, cell.penalty))
    step, total = (several - once) / FEW, sum(cell.T)
    seconds["literal-3"] = reference + len(cell.T) * once + total * step
    note.append(
        f"literal Figure 3: {FEW} steps timed, {1000 * step:.3g} ms each, extrapolated to the {total} of a trial"
    )


def _seconds(work: Any) -> float:
    begin = perf_counter()
    work()
    return perf_counter() - begin


def test_the_fast_path_of_figure_3(benchmark: Any, seconds: dict[str, float]) -> None:
    """Four runs, eight accounts and their noiseless twins, where the literal one is one."""
    cell = measure.Experiment().cell
    with threadpool_limits(1):
        benchmark.pedantic(lambda: measure.trial(cell, rng=generator(1, N, 0)), rounds=5, warmup_rounds=1)
    seconds["fast-3"] = benchmark.stats["mean"]


def test_figure_3_at_full_scale(benchmark: Any, seconds: dict[str, float], note: list[str]) -> None:
    seconds["figure-3"] = shared.full_run(benchmark, measure.Experiment(), note)
