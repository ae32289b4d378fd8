import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad

from costofprivacy.dpgd import schedule
from costofprivacy.dpgd.schedule import Constant, Flat, Harmonic, Polynomial
from tests.costofprivacy.dpgd.problems import Rising
from tests.each import each

law = settings(derandomize=True, deadline=None, max_examples=30)
SCHEDULES = (
    Constant(3.0),
    Polynomial(3.0, 0.25),
    Polynomial(3.0, 0.5),
    Polynomial(2.0, 1.0),
    Polynomial(1.0, 7.0),
    Harmonic(0.8, 0.05),
    Flat(2.0, 0.2, 1.1),
    Flat(2.0, 1.0, 1.1),
)
rates_strategy = st.lists(st.floats(1e-6, 1e3), min_size=1, max_size=30).map(lambda v: np.sort(v)[::-1].copy())


def printed_rho(rates: np.ndarray, sigma: np.ndarray) -> float:
    """(4.1), letter by letter, with the last step left out where it is 0/0."""
    quotients = []
    for k in range(len(rates)):
        later = sum(s**2 for s in sigma[k:])
        if rates[k] > 0:
            quotients.append(rates[k] / math.sqrt(later) if later > 0 else math.inf)
    return max(quotients)


@each("rule", SCHEDULES)
@each("rho", [0.1, 1.0, 30.0])
@each("n", [1, 2, 10, 80])
def test_the_noise_of_42_has_the_privacy_asked_for(rule: schedule.Schedule, rho: float, n: int) -> None:
    rates = schedule.learning_rates(rule, n)
    if rates.max() == 0:  # one step of a schedule that ends at 0
        assert schedule.privacy_parameter(rates, schedule.noise_multipliers(rates, rho)) == 0
        return
    sigma = schedule.noise_multipliers(rates, rho)
    assert schedule.privacy_parameter(rates, sigma) == pytest.approx(rho, rel=1e-9)
    assert printed_rho(rates, sigma) == pytest.approx(rho, rel=1e-9)
    assert sigma[-1] == pytest.approx(rates[-1] / rho)
    np.testing.assert_allclose((rho * sigma[:-1]) ** 2, rates[:-1] ** 2 - rates[1:] ** 2, atol=1e-15 * rates[0] ** 2)


@law
@given(rates=rates_strategy, rho=st.floats(0.01, 100), seed=st.integers(0, 2**32 - 1))
def test_no_other_noise_of_this_privacy_is_smaller_from_any_step_on(rates: np.ndarray, rho: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    shape = rng.exponential(size=len(rates)) ** rng.uniform(0.2, 3)
    other = shape * schedule.privacy_parameter(rates, shape) / rho
    assert schedule.privacy_parameter(rates, other) == pytest.approx(rho, rel=1e-9)
    least = schedule.noise_multipliers(rates, rho)
    tails = [np.cumsum(s[::-1] ** 2)[::-1] for s in (least, other)]
    assert (tails[0] <= tails[1] * (1 + 1e-9)).all()


def test_a_schedule_that_ends_at_zero_leaves_no_quotient_0_over_0() -> None:
    rates = schedule.learning_rates(Polynomial(3.0, 1.0), 50)
    sigma = schedule.noise_multipliers(rates, 2.0)
    assert rates[-1] == sigma[-1] == 0
    assert schedule.privacy_parameter(rates, sigma) == pytest.approx(2.0)
    sigma[:-1] = 0
    assert schedule.privacy_parameter(rates, sigma) == math.inf
    assert schedule.last_noise(Constant(1.0), math.inf) == 0


def test_rho_of_other_pairs() -> None:
    constant = np.full(4, 0.5)
    assert schedule.privacy_parameter(constant, np.full(4, 0.1)) == pytest.approx(5.0)  # the last record has one noise
    assert schedule.privacy_parameter(np.array([1.0, 2.0]), np.array([0.0, 1.0])) == 2.0  # rates that increase
    assert schedule.privacy_parameter(np.zeros(3), np.zeros(3)) == 0.0


@each("rule", SCHEDULES)
def test_discrete_noise_tends_to_its_intensity(rule: schedule.Schedule) -> None:
    n, rho = 100_000, 0.7
    sigma = schedule.noise_multipliers(schedule.learning_rates(rule, n), rho)
    k = np.array([1, 1000, 50_000, 90_000])
    expected = schedule.noise_intensity(rule, (k + 0.5) / n, rho)
    np.testing.assert_allclose(n**3 * sigma[k - 1] ** 2, expected, rtol=1e-5, atol=1e-12)
    assert n**2 * sigma[-1] ** 2 == pytest.approx(schedule.last_noise(rule, rho), rel=1e-12)


@each("rule", SCHEDULES)
def test_squared_decrease_integrates_to_the_fall_of_the_square(rule: schedule.Schedule) -> None:
    total, _ = quad(lambda t: float(rule.squared_decrease(t)), 0, 1, points=[0.01, 0.1, 0.99, 0.999999], limit=500)
    assert total == pytest.approx(float(rule(0.0) ** 2 - rule(1.0) ** 2), rel=1e-4, abs=1e-12)
    times = np.array([0.1, 0.5, 0.8])
    step = 1e-6
    slope = -(rule(times + step) ** 2 - rule(times - step) ** 2) / (2 * step)
    np.testing.assert_allclose(rule.squared_decrease(times), slope, rtol=1e-7, atol=1e-9)


def test_values() -> None:
    times = np.array([0.0, 0.75, 1.0])
    np.testing.assert_allclose(Constant(2.0)(times), [2, 2, 2])
    np.testing.assert_allclose(Polynomial(2.0, 0.5)(times), [2, 1, 0])
    np.testing.assert_allclose(Harmonic(2.0, 0.25)(times), [8, 2, 1.6])
    np.testing.assert_allclose(schedule.learning_rates(Harmonic(2.0, 0.25), 4), 2 / np.array([0.5, 0.75, 1, 1.25]) / 4)
    assert Polynomial(2.0, 0.25).squared_decrease(1.0) == math.inf
    assert schedule.noise_intensity(Constant(1.0), 0.3, 1.0) == 0
    assert schedule.last_noise(Polynomial(2.0, 0.5), 1.0) == 0


def test_a_learning_rate_that_increases_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^learning_rates must not increase, got .* before .* at step 2$"):
        schedule.learning_rates(Rising(), 5)
    with pytest.raises(ValueError, match=r"^learning_rates must not increase, got 1 before 2 at step 3$"):
        schedule.noise_multipliers(np.array([1.0, 1.0, 2.0]), 1.0)
    with pytest.raises(ValueError, match=r"^schedule must not increase, got"):
        schedule.noise_intensity(Rising(), 0.5, 1.0)
    with pytest.raises(ValueError, match=r"^schedule must not increase, got"):
        schedule.check_schedule(Rising())


@each("value", [-1.0, math.nan, math.inf])
def test_a_learning_rate_that_is_no_rate_is_refused(value: float) -> None:
    with pytest.raises(ValueError, match=r"^schedule must be finite and non-negative on \[0, 1\], got"):
        schedule.check_schedule(lambda time: np.full(np.shape(time), value))  # type: ignore[arg-type]


@each("rho", [0.0, math.nan, None])
def test_rho_must_be_positive(rho: float) -> None:
    calls = (
        lambda: schedule.noise_multipliers(np.ones(3), rho),
        lambda: schedule.noise_intensity(Constant(1.0), 0.5, rho),
        lambda: schedule.last_noise(Constant(1.0), rho),
    )
    for call in calls:
        with pytest.raises(ValueError, match=r"^rho must be positive, got"):
            call()


@each(
    ("call", "message"),
    [
        (lambda: Polynomial(-1.0, 1.0), "initial must be positive"),
        (lambda: Polynomial(1.0, 0.0), "exponent must be positive"),
        (lambda: Harmonic(1.0, 0.0), "offset must be positive"),
        (lambda: Flat(1.0, 2.0, 1.0), "turn must be at most 1, got 2.0"),
        (lambda: Flat(1.0, 0.5, -1.0), "power must be non-negative"),
        (lambda: schedule.learning_rates(Constant(1.0), 0), "n must be a whole number of at least 1"),
        (lambda: schedule.noise_multipliers(np.array([1.0, -1.0]), 1.0), "learning_rates must be finite and non-neg"),
        (lambda: schedule.noise_multipliers(np.ones(0), 1.0), "learning_rates must have shape"),
        (lambda: schedule.privacy_parameter(np.ones(3), np.ones(2)), "noise_stds must have 3 steps"),
        (
            lambda: schedule.privacy_parameter(np.ones(3), -np.ones(3)),
            "noise_multipliers must be finite and non-negative",
        ),
    ],
)
def test_bad_arguments(call, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}"):
        call()
