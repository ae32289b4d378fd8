"""Numbers that state a budget, a bound, a scale or a count are Python's own, whatever type they came in."""

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from costofprivacy import _validate
from costofprivacy.estimators import DPGDRegressor, PrivateLinearRegression, forecast
from costofprivacy.privacy import ApproximateDP, GaussianDP, GaussianMechanism, RenyiDP, ZeroConcentratedDP
from costofprivacy.privacy.budgets import _spent
from costofprivacy.rivals import batch_descent, correlated_noise, huber
from costofprivacy.rivals.bounds import Bounds
from tests.each import each

KINDS = (np.uint8, np.int8, np.int16, np.float16, np.float32, np.longdouble, float, Fraction)
ASKED: tuple[Callable[[object], object], ...] = (
    lambda v: GaussianDP(v).to_zero_concentrated().rho,  # type: ignore[arg-type]
    lambda v: float(GaussianDP(v).delta(20)),  # type: ignore[arg-type]
    lambda v: ZeroConcentratedDP(v).to_renyi(3).renyi_epsilon,  # type: ignore[arg-type]
    lambda v: ZeroConcentratedDP(v).epsilon(1e-6),  # type: ignore[arg-type]
    lambda v: RenyiDP(v, 3).epsilon(1e-6),  # type: ignore[arg-type]
    lambda v: ApproximateDP(v, 1e-6).to_gaussian().mu,  # type: ignore[arg-type]
    lambda v: GaussianMechanism(v, v).noise_std,  # type: ignore[arg-type]
    lambda v: Bounds(v, v).features ** 2,  # type: ignore[arg-type]
    lambda v: batch_descent.Plan(v, (v, v), v).learning_rates[0] ** 2,  # type: ignore[arg-type]
)


@each("kind", KINDS)
@each("asked", ASKED)
def test_narrow_types_take_part_in_no_arithmetic(kind: type, asked: Callable[[object], object]) -> None:
    """As it was found: μ = 17 of 8 bits gave ρ = 16.5, and an ε of half precision was too small."""
    for value in (17, 100):
        assert asked(kind(value)) == asked(value)


@each("asked", ASKED)
@each("wrong", [True, np.bool(True), "17", Decimal(17), np.timedelta64(17, "D"), 17j, np.array([17])])
def test_what_is_no_number_is_refused_everywhere(asked: Callable[[object], object], wrong: object) -> None:
    with pytest.raises(ValueError, match="must be"):
        asked(wrong)


@pytest.mark.filterwarnings("ignore::costofprivacy.estimators.tabular.ScaleWarning")
@pytest.mark.parametrize("model", [PrivateLinearRegression, DPGDRegressor])
@pytest.mark.parametrize("wrong", [True, Decimal(1)])
def test_estimators_refuse_them_too(model: type, wrong: object) -> None:
    with pytest.raises(ValueError, match="epsilon"):
        model(epsilon=wrong, delta=1e-6).fit(np.ones((5, 1)), np.ones(5))
    for argument in ("response_scale", "feature_scale"):
        with pytest.raises(ValueError, match=argument):
            model(epsilon=1.0, delta=1e-6, **{argument: wrong}).fit(np.ones((5, 1)), np.ones(5))


def test_counts_may_be_written_as_floating_point_numbers() -> None:
    assert forecast(1000.0, 10.0, 1.0).equals(forecast(1000, 10, 1))  # type: ignore[arg-type]
    assert _validate.whole("d", 10.0) == 10  # type: ignore[arg-type]
    assert len(correlated_noise.coefficients(4.0)) == 4  # type: ignore[arg-type]


@each("epsilon", [1e-8, 1e-10, 1e-12, 1e-16, 1e-20])
@each("delta", [1e-300, 1e-100, 1e-15, 1e-6])
def test_a_tiny_budget_is_not_overspent(epsilon: float, delta: float) -> None:
    """As it was found: where the search ended far off, the last value was not looked at."""
    assert _spent(ApproximateDP(epsilon, delta).to_gaussian().mu, epsilon) <= delta * (1 + 2e-12)
    assert _spent(1e-12, GaussianDP(1e-12).epsilon(delta)) <= delta * (1 + 2e-12)


@pytest.mark.parametrize("mu", [1e-300, 1e-17, 1e-12, 1e-6])
def test_a_tiny_mu_has_a_delta(mu: float) -> None:
    assert float(GaussianDP(mu).delta(0)) == pytest.approx(mu / math.sqrt(2 * math.pi), rel=1e-9)


def test_the_columns_of_buffered_noise_have_their_length() -> None:
    """As it was found: 1 − λ² lost its digits where λ is near 1."""
    for steps in (1, 2, 10_000_000):
        strategy, wanted = correlated_noise.Buffered((0.5, 0.25), (1 - 1e-8, 0.0)), Fraction(1)
        square = Fraction(strategy.decays[0]) ** 2
        gap = 1 - square
        share = -math.expm1((steps - 1) * math.log1p(-float(gap)))
        wanted += Fraction(1, 4) * square * Fraction(share) / gap
        assert strategy.square(steps) == pytest.approx(float(wanted), rel=1e-13)


def test_which_features_are_live_is_not_read_off_the_records() -> None:
    """As it was found: a record in a dead feature moved the limits of all others by a rounding."""
    dead, n = 1, 3000
    row = np.zeros(40)
    row[::3] = np.random.default_rng(3).standard_normal(14)
    x, y = np.tile(row, (n, 1)), np.full(n, 1e9)
    x[0], y[0] = 0.0, 0.0
    other = x.copy()
    other[0, dead] = 1e-130
    one, two = (huber.minimum(rows, y, 1.0, 1e3) for rows in (x, other))
    assert np.linalg.norm((one.high - two.high) + (one.low - two.low)) * 1e3 < 1e-20
