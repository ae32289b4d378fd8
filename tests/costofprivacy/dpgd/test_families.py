"""A grid of configurations against the same configurations one by one, on the same records and the same noise."""

import math

import numpy as np
import pytest

from costofprivacy.dpgd import families
from costofprivacy.dpgd.descent import Configuration, descend_records
from costofprivacy.dpgd.families import descend_grid
from costofprivacy.dpgd.schedule import Constant, Flat, Harmonic, Polynomial, Schedule

SCHEDULES: list[Schedule] = [
    Constant(3.0),
    Polynomial(3.0, 0.5),
    Constant(0.7),
    Harmonic(0.5, 0.01),
    Polynomial(40.0, 0.5),
    Harmonic(3.0, 0.1),
    Constant(500.0),  # beyond 2/γ
    Polynomial(5.0, 2.0),
    Flat(2.0, 0.3, 1.5),
]
CONFIGURATIONS = [
    *(Configuration(clip, each, 0.5) for clip in (1e-3, 0.3, 5.0) for each in SCHEDULES),
    Configuration(2.0, Harmonic(0.5, 0.01), math.inf),
    Configuration(math.inf, Constant(3.0), math.inf),
]


def rows(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(n + d)
    x = rng.standard_normal((n, d)) * np.geomspace(0.1, 3, d)
    x[:, d // 2] = 0.0  # a feature that nobody has
    x[n // 2] = 0.0  # and a record that has none
    return x, x.sum(axis=1) + rng.standard_normal(n)


@pytest.mark.parametrize(("n", "d"), [(1, 2), (90, 7), (300, 32), (75, 40), (200, 100)])
def test_a_grid_is_algorithm_1_on_the_same_noise(n: int, d: int) -> None:
    x, y = rows(n, d)
    known = descend_records(x, y, CONFIGURATIONS, rng=np.random.default_rng(1))
    found = descend_grid(x, y, CONFIGURATIONS, rng=np.random.default_rng(1))
    np.testing.assert_allclose(found, known, rtol=1e-9, atol=1e-11)


def test_each_configuration_and_its_order_matter_by_rounding_only(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = rows(130, 40)
    together = descend_grid(x, y, CONFIGURATIONS, rng=np.random.default_rng(2))
    monkeypatch.setattr(families, "BLOCK", 7)
    for k in (0, 4, 17, len(CONFIGURATIONS) - 1):
        alone = descend_grid(x, y, [CONFIGURATIONS[k]], rng=np.random.default_rng(2))[0]
        np.testing.assert_allclose(alone, together[k], rtol=1e-9, atol=1e-11)
    monkeypatch.setattr(families, "ONE_BY_ONE", 64)
    one_by_one = descend_grid(x, y, CONFIGURATIONS[::-1], rng=np.random.default_rng(2))[::-1]
    np.testing.assert_allclose(one_by_one, together, rtol=1e-9, atol=1e-11)


def test_noise_of_another_size_is_seen() -> None:
    """The comparison above tells the noise (4.2) from noise that is a hundredth larger."""
    x, y = rows(90, 7)
    one, louder = (Configuration(0.3, Polynomial(3.0, 0.5), rho) for rho in (0.5, 0.495))
    known = descend_records(x, y, [one], rng=np.random.default_rng(1))
    assert not np.allclose(descend_grid(x, y, [louder], rng=np.random.default_rng(1)), known, rtol=1e-3)


def test_records_and_rates_are_checked() -> None:
    x, y = rows(20, 3)
    with pytest.raises(ValueError, match="learning_rates"):
        descend_grid(x, y, [Configuration(1.0, Constant(1.0), 1.0), Configuration(1.0, Constant(1e200), 1.0)], rng=None)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="configurations"):
        descend_grid(x, y, [], rng=np.random.default_rng(0))
    x[3, 1] = math.nan
    void = x.copy()
    void[3] = 0.0
    found = [descend_grid(data, y, CONFIGURATIONS, rng=np.random.default_rng(0)) for data in (x, void)]
    np.testing.assert_allclose(*found, rtol=1e-12)
