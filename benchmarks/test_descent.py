"""DP-GD: the batch against the literal algorithm and against its own draws; the risk chain against its own draws.

Process time on one core: the batch and the literal algorithm are timed per step and configuration in one run.
"""

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from chapters.dpgd.deterministic_equivalent import measure
from chapters.dpgd.deterministic_equivalent.measure import Experiment
from costofprivacy.dpgd import chain, descent, spectrum
from costofprivacy.dpgd.descent import Configuration
from costofprivacy.dpgd.schedule import Polynomial, learning_rates, noise_multipliers
from tests import oracles

N, DIMENSION = 100_000, 100
LITERAL_STEPS = 100
CHAIN_STEPS, CHAINS = 2000, 1000
DESCENTS_OVER_DRAWS = 20.0  # 400 descents share their draws: a descent is a twentieth of its own draws
TIMES_DRAWS = 1.5  # for a risk chain, whatever d, one or a thousand at once
GRID = [
    Configuration(c, Polynomial(rate, 0.5), 0.1)
    for c in np.geomspace(0.01, 10, 20)
    for rate in np.geomspace(1, 1e3, 20)
]
pytestmark = pytest.mark.benchmark(timer=time.process_time)


@pytest.fixture(autouse=True)
def _one_core() -> Iterator[None]:
    with threadpool_limits(1):
        yield


def model_of(values: spectrum.Spectrum) -> spectrum.RegressionModel:
    return spectrum.RegressionModel(values, spectrum.projections(values), 0.3)


def test_400_descents(benchmark: Any, seconds: dict[str, float], note: list[str]) -> None:
    model, times = model_of(spectrum.uniform(DIMENSION)), np.linspace(0, 1, 101)
    run = lambda: descent.descend(model, GRID, N, times, rng=np.random.default_rng(0))  # noqa: E731
    benchmark.pedantic(run, rounds=1, warmup_rounds=0)
    seconds["descents"] = benchmark.stats["mean"]
    seconds["descents, one step"] = benchmark.stats["mean"] / (N * len(GRID))
    note.append(f"{len(GRID)} descents, n = {N}, d = {DIMENSION}: {benchmark.stats['mean']:.3g} s on one core")


def test_figure_1_at_full_scale(benchmark: Any, note: list[str]) -> None:
    figure = Experiment()
    cells = [measure.Figure1Cell(figure.regime, d, name) for name in measure.FIGURE_1_SPECTRA for d in figure.d]

    def run() -> None:
        for cell in cells:
            samples = [measure.figure_1_trial(cell, rng=np.random.default_rng(seed)) for seed in range(figure.trials)]
            measure.figure_1_rows(cell, np.stack(samples))

    benchmark.pedantic(run, rounds=1)
    size = f"{figure.trials} trials, d = {figure.d}"
    note.append(f"DP-GD's Figure 1, {size}: {benchmark.stats['mean']:.3g} s on one core")


def test_the_literal_descent(benchmark: Any, seconds: dict[str, float]) -> None:
    model, rng = model_of(spectrum.uniform(DIMENSION)), np.random.default_rng(0)
    x, y = spectrum.sample(model, LITERAL_STEPS, rng=rng)
    b = rng.standard_normal(x.shape)

    def run() -> None:
        for configuration in GRID[::20]:
            eta = learning_rates(configuration.schedule, LITERAL_STEPS)
            sigma = noise_multipliers(eta, configuration.rho)
            oracles.dpgd(x, y, eta, configuration.clip_norm(DIMENSION), sigma, b)

    benchmark.pedantic(run, rounds=3)
    seconds["literal descent, one step"] = benchmark.stats["mean"] / (LITERAL_STEPS * len(GRID[::20]))


def test_the_draws_of_descents(benchmark: Any, seconds: dict[str, float]) -> None:
    rng, rows = np.random.default_rng(0), 1000

    def run() -> None:
        for _ in range(N // rows):
            rng.standard_normal((rows, DIMENSION + 1))
            rng.standard_normal((rows, DIMENSION))

    benchmark.pedantic(run, rounds=1)
    seconds["draws of descents"] = benchmark.stats["mean"]
    assert seconds.get("descents", 0.0) < DESCENTS_OVER_DRAWS * benchmark.stats["mean"]


@pytest.mark.parametrize("chains", [1, CHAINS])
@pytest.mark.parametrize("d", [10, 1000, 100_000])
def test_the_risk_chain_over_its_draws(d: int, chains: int, note: list[str]) -> None:
    """NumPy's own draws, in arrays that fit the processor's cache, against the whole of the chain."""
    spaces = chain.eigenspaces(model_of(spectrum.isotropic(d)))
    configuration, steps = [Configuration(1.0, Polynomial(3.0, 0.5), 1.0)], CHAIN_STEPS * CHAINS // chains // 4
    rng, rows = np.random.default_rng(0), max(1, 25_000 // chains)

    def draws() -> None:
        for _ in range(steps // rows):
            rng.standard_normal((3, rows, chains))
            rng.standard_gamma((d - 1) / 2, (2, rows, chains))

    def run() -> None:
        chain.risk_at(spaces, configuration, steps, [1.0], chains, rng=np.random.default_rng(0))

    ratio = _least(run) / _least(draws)
    note.append(f"{chains} risk chains over NumPy's draws, d = {d}: {ratio:.2f}")
    assert ratio < TIMES_DRAWS


def _least(run: Callable[[], None]) -> float:
    run()
    times = []
    for _ in range(5):
        start = time.process_time()
        run()
        times.append(time.process_time() - start)
    return min(times)
