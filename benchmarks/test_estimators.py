"""The estimators: a million records on one core, and what the sequential part in machine code is worth."""

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from costofprivacy.estimators import DPGDRegressor

N, DIMENSION = 1_000_000, 100
SECONDS = 10.0
pytestmark = [
    pytest.mark.benchmark(timer=time.process_time),
    pytest.mark.filterwarnings("ignore:random_state=:costofprivacy.privacy.PrivacyWarning"),
]


@pytest.fixture(autouse=True)
def _one_core() -> Iterator[None]:
    with threadpool_limits(1):
        yield


@pytest.fixture(scope="module")
def records() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((N, DIMENSION))
    return X, X.sum(axis=1) / DIMENSION**0.5 + 0.3 * rng.standard_normal(N)


@pytest.mark.parametrize("schedule", ["constant", "even", "auto"])
def test_a_million_records_in_ten_seconds(
    benchmark: Any, records: tuple[np.ndarray, np.ndarray], schedule: str
) -> None:
    X, y = records
    model = DPGDRegressor(rho=1.0, schedule=schedule, random_state=0)
    model.fit(X[:1000], y[:1000])  # compiles
    benchmark.pedantic(model.fit, args=(X, y), rounds=1)
    assert benchmark.stats.stats.max <= SECONDS


def test_a_stream_of_a_million_records_in_ten_seconds(benchmark: Any, records: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = records
    model = DPGDRegressor(rho=1.0, schedule="even", random_state=0)
    model.fit(X[:1000], y[:1000])

    def batches() -> Iterator[tuple[np.ndarray, np.ndarray]]:
        for start in range(0, N, 10_000):
            yield X[start : start + 10_000], y[start : start + 10_000]

    benchmark.pedantic(lambda: model.fit_stream(batches(), N), rounds=1)
    assert benchmark.stats.stats.max <= SECONDS
