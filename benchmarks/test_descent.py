"""DP-GD: the batch against the literal algorithm and against its own draws; the risk chain against its own draws.

Process time on one core: the batch and the literal algorithm are timed per step and configuration in one run.
"""

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from tests import oracles
from threadpoolctl import threadpool_limits

from costofprivacy.dpgd import chain, descent, spectrum
from costofprivacy.dpgd.descent import Configuration
from costofprivacy.dpgd.schedule import Polynomial, learning_rates, noise_multipliers
from costofprivacy.experiments.dpgd.deterministic_equivalent import paths
from costofprivacy.experiments.dpgd.deterministic_equivalent.experiment import Experiment

N, DIMENSION = 100_000, 100
LITERAL_STEPS = 100
CHAIN_STEPS, CHAINS = 2000, 1000
SECONDS = 20.0  # for 400 descents
TIMES_DRAWS = 2.0  # for a risk chain, whatever d: most of it is its draws
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
    assert benchmark.stats["mean"] < SECONDS


def test_figure_1_at_full_scale(benchmark: Any, note: list[str]) -> None:
    figure = Experiment()
    cells = [paths.Cell(figure.regime, d, name) for name in paths.SPECTRA for d in figure.d]

    def run() -> None:
        for cell in cells:
            samples = [paths.trial(cell, rng=np.random.default_rng(seed)) for seed in range(figure.trials)]
            paths.rows(cell, np.stack(samples))

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


@pytest.mark.parametrize("d", [10, 1000, 100_000])
def test_the_risk_chain(benchmark: Any, seconds: dict[str, float], d: int) -> None:
    spaces = chain.eigenspaces(model_of(spectrum.isotropic(d)))
    configuration = [Configuration(1.0, Polynomial(3.0, 0.5), 1.0)]
    run = lambda: chain.risk_at(spaces, configuration, CHAIN_STEPS, [1.0], CHAINS, rng=np.random.default_rng(0))  # noqa: E731
    benchmark.pedantic(run, rounds=5)
    seconds[f"chain, {d}"] = benchmark.stats["mean"]


@pytest.mark.parametrize("d", [10, 1000, 100_000])
def test_the_draws_of_the_chain(benchmark: Any, seconds: dict[str, float], d: int) -> None:
    rng, rows = np.random.default_rng(0), 25

    def run() -> None:
        for _ in range(CHAIN_STEPS // rows):
            rng.standard_normal((3, rows, CHAINS))
            rng.standard_gamma((d - 1) / 2, (2, rows, CHAINS))

    benchmark.pedantic(run, rounds=5)
    seconds[f"draws of the chain, {d}"] = benchmark.stats["mean"]
    assert seconds.get(f"chain, {d}", 0.0) < TIMES_DRAWS * benchmark.stats["mean"]
