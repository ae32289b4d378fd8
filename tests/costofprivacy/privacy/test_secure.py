"""Noise from OpenDP: the arithmetic around its draws exactly, their laws, and what goes through them or is refused."""

import math
import sys
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from scipy.stats import chisquare, kstest
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer

from costofprivacy.estimators import (
    Account,
    BoostedAdaSSPRegressor,
    ClippedDescentRegressor,
    DPGDRegressor,
    ObjectivePerturbationRegressor,
    PrivateLinearRegression,
    PrivateSearch,
    private_bounds,
    private_mean_loss,
    private_r2,
)
from costofprivacy.privacy import GaussianDP, secure
from costofprivacy.privacy.mechanisms import chosen, noisy, noisy_symmetric
from tests.each import each

X = np.random.default_rng(0).uniform(-1, 1, (400, 2))
Y = X @ [0.5, -0.5]
TOLD = {"epsilon": 5.0, "delta": 1e-6, "feature_bounds": (-1, 1), "response_bounds": (-2, 2), "noise": "secure"}
needs_opendp = pytest.mark.skipif(find_spec("opendp") is None, reason="the extra `secure` is not installed")


def _read() -> Iterator[tuple[np.ndarray, np.ndarray]]:
    yield from ((X[k : k + 150], Y[k : k + 150]) for k in range(0, 400, 150))


def search(kind: Any, **told: Any) -> PrivateSearch:
    model = kind(**{name: value for name, value in TOLD.items() if name not in ("epsilon", "delta")})
    settings = [{"expected_r2": 0.3}, {"expected_r2": 0.8}]
    return PrivateSearch(model, settings, epsilon=18.0, delta=1e-6, loss_bound=1.0, **told).fit(X, Y)


@pytest.fixture
def scales(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """OpenDP replaced by no noise at all; the scales that it was asked for."""
    asked: list[float] = []

    def silent(scale: float) -> Callable[[list[int]], list[int]]:
        asked.append(scale)
        return lambda integers: integers

    for name in ("opendp", "opendp.prelude"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setattr(secure, "_gaussian", silent)
    return asked


def _delta(apart: int, scale: float, epsilon: float) -> float:
    """δ at ε of two discrete Gaussians, exactly."""
    k = np.arange(-int(12 * scale), int(12 * scale) + apart)
    one, two = (np.exp(-((k - at) ** 2) / (2 * scale**2)) / (scale * math.sqrt(2 * math.pi)) for at in (apart, 0))
    return float(np.maximum(0.0, one - math.exp(epsilon) * two).sum())


@each("steps, per_unit", [(65.02, 256), (65.02, 64), (256.02, 64)])
def test_a_coarse_grid_is_paid_for_and_without_that_or_with_a_tenth_less_noise_it_is_found(
    steps: float, per_unit: int, scales: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the exact δ of neighbours whose rounding moves them apart: noise of standard deviation 1, μ apart."""
    monkeypatch.setattr(secure, "_FINE", 6)
    mu, grid, draws = steps / per_unit, 1 / per_unit, secure.Sampler()
    near, far = (round(float(draws.noisy(at, 1.0, mu)) / grid) for at in (0.49 * grid, 0.49 * grid + mu))
    assert (near, far) == (0, math.ceil(steps))
    for epsilon in np.linspace(0.0, 3 * mu, 7):
        assert _delta(far, scales[-1], epsilon) <= GaussianDP(mu).delta(epsilon) * (1 + 1e-9)
    for less in (0.9 * scales[-1], 1 / grid):
        assert _delta(far, less, mu) > GaussianDP(mu).delta(mu) * (1 + 1e-9)


def test_each_coordinate_has_its_noise_and_the_grid_costs_next_to_nothing(scales: list[float]) -> None:
    """And the value comes back to half a step of the grid, or is cut where it is far away."""
    draws = secure.Sampler()
    found = draws.noisy([[1 / 3, -2e9], [1e300, 0.0]], [1.0, 3.0], 0.5)
    assert np.abs(found - [[1 / 3, -2e9], [2.0**31, 0.0]]).max() <= 2.0**-32
    assert np.array(scales) * 2.0**-31 == pytest.approx([1.0, 3.0], rel=1e-8)
    assert (np.array(scales) * 2.0**-31 > [1.0, 3.0]).all()
    matrix = np.array([[2.0, 0.25], [0.25, 1.0]])
    assert (noisy_symmetric(matrix, 2.0, 0.5, rng=draws) == matrix).all()
    assert scales[2] / scales[3] == pytest.approx(math.sqrt(0.5), rel=1e-15)


def test_no_other_law_is_drawn_and_orders_may_be(scales: list[float]) -> None:
    draws = secure.Sampler()
    for law in ("standard_normal", "normal", "laplace", "gumbel", "chisquare", "uniform"):
        with pytest.raises(TypeError, match="exact draws of Gaussian noise, choices and counts alone"):
            getattr(draws, law)(2)
    assert sorted(draws.permutation(5)) == list(range(5))


@needs_opendp
def test_the_draws_have_their_laws() -> None:
    draws = secure.Sampler()
    found = noisy(np.full(8000, 7.0), 2.0, 1.0, rng=draws)
    assert kstest((found - 7) / 2, "norm").pvalue > 1e-6
    assert np.std(found) == pytest.approx(2, rel=0.04)
    weights = np.array([0.0, -1.0, 1.0, -50.0])
    counts = np.bincount([chosen(weights, rng=draws) for _ in range(1500)], minlength=4)
    expected = 1500 * np.exp(weights) / np.exp(weights).sum()
    assert counts[3] == 0
    assert chisquare(counts[:3], expected[:3] / expected[:3].sum() * counts[:3].sum()).pvalue > 1e-6
    assert np.mean([draws.geometric(0.25) for _ in range(4000)]) == pytest.approx(4, abs=0.3)
    assert np.bincount([draws.integers(3) for _ in range(3000)]) == pytest.approx(1000, abs=130)
    matrix = noisy_symmetric(np.zeros((60, 60)), 1.0, 1.0, rng=draws)
    assert (matrix == matrix.T).all()
    assert np.var(matrix[np.triu_indices(60, 1)]) == pytest.approx(0.5, rel=0.2)


RELEASES: list[Callable[[], Any]] = [
    lambda: ClippedDescentRegressor(**TOLD).fit(X, Y),
    lambda: BoostedAdaSSPRegressor(**TOLD).fit(X, Y),
    lambda: PrivateLinearRegression(**TOLD).fit(X, Y),
    lambda: PrivateLinearRegression(**TOLD, most_per_unit=2).fit(X, Y, unit=np.arange(400) // 2),
    lambda: PrivateLinearRegression(**TOLD).fit_stream(_read, n=400),
    lambda: BoostedAdaSSPRegressor(**TOLD).fit_stream(_read, n=400),
    lambda: search(ClippedDescentRegressor),
    lambda: search(BoostedAdaSSPRegressor, strategy="random"),
]


@needs_opendp
@each("release", RELEASES)
def test_a_fit_draws_all_its_noise_there_and_says_so(release: Callable[[], Any]) -> None:
    """NumPy's noise would raise a TypeError. At ε = 5 the coefficients have the right signs."""
    model = release()
    coefficients = getattr(model, "best_estimator_", model).coef_
    assert coefficients[0] > coefficients[1]
    told = model.receipt()
    assert told.data()["noise"].startswith("OpenDP ")
    assert "drawn by OpenDP" in " ".join(str(told).split())
    assert "NumPy's generator" not in str(told)


@needs_opendp
def test_bounds_and_scores_draw_there() -> None:
    assert private_bounds(Y, mu=20.0, noise="secure").high > 0.3
    assert private_mean_loss(np.full(400, 0.5), 1.0, mu=20.0, noise="secure") == pytest.approx(0.5, abs=0.01)
    assert private_r2(Y, Y, response_bounds=(-1, 1), mu=50.0, noise="secure") == pytest.approx(1.0, abs=0.2)


def swapped() -> Any:
    """A setting that puts another method in the place of one that has exact noise."""
    steps = Pipeline([("scaled", FunctionTransformer()), ("private", ClippedDescentRegressor(noise="secure"))])
    others = [{"private": ObjectivePerturbationRegressor(feature_scale=1.0, response_scale=1.0)}]
    told = {"accounting": "approximate", "epsilon": 5.0, "delta": 1e-6, "loss_bound": 1.0}
    return PrivateSearch(steps, others, **told).fit(X, Y)


REFUSED: list[tuple[Callable[[], Any], str]] = [
    (lambda: PrivateLinearRegression(**TOLD, random_state=1).fit(X, Y), "random_state must be None"),
    (lambda: private_mean_loss(Y, 1.0, mu=1.0, noise="secure", random_state=1), "random_state"),
    (lambda: private_bounds(Y, mu=1.0, noise="exact"), "noise must be 'fast' or 'secure', got 'exact'"),
    (lambda: ObjectivePerturbationRegressor(**TOLD).fit(X, Y), "for ObjectivePerturbationRegressor: rounding"),
    (lambda: PrivateLinearRegression("objective", **TOLD).fit(X, Y), "for method='objective': rounding .* objective"),
    (lambda: PrivateLinearRegression(**TOLD).fit_stream([(X, Y)], n=400), "for method='one pass': the proof .* Use"),
    (lambda: DPGDRegressor(mu=1.0, noise="secure").fit(X, Y), "for DPGDRegressor: the proof .* needs steps that move"),
    (lambda: search(ObjectivePerturbationRegressor, accounting="approximate"), "for Objective.*: rounding"),
    (swapped, "for ObjectivePerturbationRegressor: rounding"),
]


@each("fit, message", REFUSED)
def test_what_is_not_proved_is_refused_before_anything_is_charged(
    fit: Callable[[], Any], message: str, scales: list[float]
) -> None:
    with Account(epsilon=10.0, delta=1e-3) as account, pytest.raises(ValueError, match=message):
        fit()
    assert not account.charges


def test_without_opendp_one_is_told_what_to_install_and_nothing_is_charged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opendp", None)
    for release in (RELEASES[2], lambda: private_bounds(Y, mu=1.0, noise="secure")):
        with Account(epsilon=10.0, delta=1e-3) as account, pytest.raises(ImportError, match='pip install "opendp'):
            release()
        assert not account.charges
