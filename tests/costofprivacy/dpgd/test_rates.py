"""Orders, bounds and linear equations of Section 5, each against an oracle of another kind."""

import math
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad, solve_ivp

from costofprivacy.dpgd import equivalent, rates, system
from costofprivacy.dpgd.clipping import descent_reduction
from costofprivacy.dpgd.schedule import Constant, Harmonic, Polynomial, Schedule
from tests.each import each, refused

GAMMA, RHO, CLIP, ZETA, START = 0.01, 0.3, 0.1, 0.3, 0.5


@each(("alpha", "power"), [(0.0, 1.0), (0.5, 2 / 3)])
def test_orders_are_those_of_the_proposition(alpha: float, power: float) -> None:
    log = math.log(100)
    assert rates.order(alpha, GAMMA, RHO) == pytest.approx(GAMMA * log**power + GAMMA**2 * log ** (2 * power) / RHO**2)
    assert rates.order(alpha, GAMMA, math.inf) == pytest.approx(GAMMA * log**power)


@each("alpha", [0.0, 0.5])
def test_general_bounds_are_the_orders_at_eigenvalues_of_one_and_scale(alpha: float) -> None:
    assert rates.upper(alpha, GAMMA, RHO, 1.0, 1.0) == rates.lower(alpha, GAMMA, RHO, 1.0)
    assert rates.lower(alpha, GAMMA, RHO, 2.0) == pytest.approx(rates.order(alpha, GAMMA, RHO) / 4)
    sampling, private = rates.order(alpha, GAMMA, math.inf), rates.order(alpha, GAMMA, RHO)
    private -= sampling
    found = rates.upper(alpha, GAMMA, RHO, 0.5, 1.5)
    assert found == pytest.approx((1.5 * sampling + private) / 0.25)


def test_relaxation_solves_its_equation() -> None:
    times = np.linspace(0, 1, 7)
    found = solve_ivp(lambda t, r: -3 * r + 0.4, (0, 1), [0.5], t_eval=times, rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(rates.relaxation(times, 3.0, 0.4, 0.5), found.y[0], rtol=1e-8)


@settings(max_examples=30, deadline=None)
@given(st.floats(0.05, 300), st.floats(0, 5), st.floats(0, 5), st.just(0.0) | st.floats(1e-200, 1))
def test_square_root_path_is_the_variation_of_constants(rate: float, first: float, second: float, time: float) -> None:
    def clock(start: float) -> float:
        return 2 * rate / 3 * ((1 - start) ** 1.5 - (1 - time) ** 1.5)

    def source(start: float) -> float:
        return math.exp(-clock(start)) * (first * (1 - start) + second)

    middle = max(0.0, time - 5 / rate)
    found = sum(quad(source, *ends, epsrel=1e-11, limit=200)[0] for ends in ((0, middle), (middle, time)))
    expected = 0.5 * math.exp(-clock(0.0)) + found
    assert float(rates.square_root_path(time, rate, first, second, 0.5)) == pytest.approx(expected, rel=1e-7, abs=1e-12)


@each("time", [0.2, 0.9])
def test_square_root_path_is_the_printed_form(time: float) -> None:
    """(D.54) with mpmath's generalised exponential integrals, symbol for symbol."""
    a, b1, b2, initial, s = 4.0, 0.7, 0.2, 0.5, 1 - time
    k, x = 2 * a / 3, s**1.5
    first = mpmath.expint(-1 / 3, k) - s**2 * mpmath.expint(-1 / 3, k * x)
    second = mpmath.expint(1 / 3, k) - s * mpmath.expint(1 / 3, k * x)
    inner = 3 - 2 / initial * mpmath.exp(k) * (b1 * first + b2 * second)
    printed = initial / 3 * mpmath.exp(-k * (1 - x)) * inner
    assert float(rates.square_root_path(time, a, b1, b2, initial)) == pytest.approx(float(printed), rel=1e-10)


@each(("sampling", "private"), [(1.0, 0.0), (0.0, 1.0)])
def test_the_end_is_the_path_s_where_the_start_is_forgotten(sampling: float, private: float) -> None:
    end = float(rates.square_root_path(1.0, 80.0, sampling, private, 0.5))
    assert rates.square_root_end(80.0, sampling, private) == pytest.approx(end, rel=1e-9)


@each("alpha", [0.0, 0.5])
def test_leading_order_is_approached(alpha: float) -> None:
    """The least risk over η̃(0) comes down to the leading order, by the slow logarithm of the next one."""
    found = []
    for gamma in (1e-8, 1e-16):
        given_, log = system.isotropic(START, gamma, ZETA), -math.log(gamma)
        products = np.linspace(0.1, 1.0, 60) * log
        plans = [Constant(p / CLIP) if alpha == 0 else Polynomial(p / CLIP, alpha) for p in products]
        least = equivalent.final_risks(given_, plans, CLIP, 1.0, 1e-5).min()
        found.append(least / rates.leading(alpha, gamma, 1.0, CLIP, ZETA))
    assert 1 < found[1] < found[0] < 1.6
    assert found[1] < 1.25


def test_small_clips_have_one_leading_order_and_one_product() -> None:
    values = [rates.leading(0.0, 1e-6, 0.1, c, ZETA) for c in (1e-4, 1e-3)]
    assert values[0] == pytest.approx(values[1], rel=3e-3)
    log, gamma = math.log(1e6), 1e-6
    limit = math.pi * ZETA**2 / 16 * gamma * log + math.pi * ZETA**2 / 4 * (gamma * log / 0.1) ** 2
    assert values[0] == pytest.approx(limit, rel=1e-3)


def test_descent_time_is_the_time_of_the_descent() -> None:
    """With γ → 0 nothing but descent is left: after that time at unit rate the ODE is there."""
    time = rates.descent_time(START, 0.05, CLIP, ZETA)
    reached = equivalent.risk_path(system.isotropic(START, 1e-12, ZETA), Constant(time), CLIP, math.inf, [1.0], 1e-8)
    assert float(reached[0]) == pytest.approx(0.05, rel=1e-6)
    assert rates.descent_time(START, START, CLIP, ZETA) == 0


@each("alpha", [0.0, 0.5])
@each("gamma", [1e-3, 1e-6])
def test_the_advised_rate_is_nearly_best(alpha: float, gamma: float) -> None:
    given_ = system.isotropic(START, gamma, ZETA)
    rate = rates.advised_rate(alpha, gamma, 0.1, CLIP, ZETA, START)
    plans = [Constant(r) if alpha == 0 else Polynomial(r, alpha) for r in (rate, *(rate * np.geomspace(0.2, 5, 80)))]
    risks = equivalent.final_risks(given_, plans, CLIP, 0.1, 1e-5)
    assert risks[0] < 1.25 * risks.min()


@each("initial", [0.1, 0.5, 3.0])
def test_the_factor_is_large_enough(initial: float) -> None:
    """With the descent that Lemma B.2 grants, both schedules bring the start below γ."""
    large = rates.factor(initial, CLIP, ZETA)
    least = ZETA / CLIP * float(descent_reduction(CLIP, ZETA**2 / 2))
    descent = 2 * large * math.log(1 / GAMMA) * least / math.sqrt(2 * initial + 2 + ZETA**2)
    for alpha in (0.0, 0.5):
        assert math.exp(-descent * rates.CLOCK[alpha]) <= GAMMA * (1 + 1e-9)


@each(
    ("call", "message"),
    [
        (lambda: rates.order(0.3, GAMMA, RHO), "alpha must be 0 or 0.5"),
        (lambda: rates.order(0.0, 1.0, RHO), "aspect_ratio must be between 0 and 1"),
        (lambda: rates.order(0.0, GAMMA, 0.0), "rho must be positive"),
        (lambda: rates.upper(0.0, GAMMA, RHO, 0.0, 1.0), "least must be positive"),
        (lambda: rates.smallness(0.5, GAMMA, RHO, 1.0, -1.0), "largest must be positive"),
        (lambda: rates.product(GAMMA, factor=0.0), "factor must be positive"),
        (lambda: rates.relaxation(1.0, 0.0, 1.0, 1.0), "rate must be positive"),
        (lambda: rates.descent_time(0.5, 0.6, CLIP, ZETA), "final_risk must be between 0 and 0.5"),
        (lambda: rates.clipping_order(-1.0, GAMMA, RHO), "clip must be positive"),
        (lambda: rates.polynomial_order(0.5, 0.1, 1.0), "exponent must be at least 1"),
        (lambda: rates.log_log_order(0.5, 1.0), "aspect_ratio must be between 0 and 1/e"),
        (lambda: rates.exponential_integral(1.0, 1.0), "order must be below 1"),
        (lambda: rates.harmonic_end(LINEAR, 0.1, 0.1, 0.5), "scale must be above"),
        (lambda: rates.theorem_2(0.0, 1.0, 0.5), "aspect_ratio must be positive"),
    ],
)
def test_bad_arguments(call: Any, message: str) -> None:
    refused(rf"^{message}", call)


def test_conditions() -> None:
    log = math.log(100)
    assert rates.smallness(0.0, GAMMA, RHO, 0.5, 1.5) == pytest.approx(1.5 / 0.25 * log * GAMMA)
    both = log**2 * GAMMA / 0.25 * (1.5 + GAMMA / RHO**2)
    assert rates.smallness(0.5, GAMMA, RHO, 0.5, 1.5) == pytest.approx(both)
    assert rates.product(GAMMA, 0.5, 3.0) == pytest.approx(6 * log)


@each(("clip", "worst"), [(0.1, 1.0), (1.0, 1.0), (10.0, 100.0)])
def test_a_large_clip_costs_its_square(clip: float, worst: float) -> None:
    assert rates.clipping_order(clip, GAMMA, RHO) == pytest.approx(GAMMA + worst * GAMMA**2 / RHO**2)


# ---- Decaying schedules ----


LINEAR = rates.Linear(7.0, 0.3, 0.04)


def solved(linear: rates.Linear, schedule: Schedule, start: float, end: float) -> float:

    def slope(t: float, risk: np.ndarray) -> np.ndarray:
        rate, step = float(schedule(t)), 1e-6
        falls = (float(schedule(t - step)) ** 2 - float(schedule(t + step)) ** 2) / (2 * step)
        return linear.sampling * rate**2 + linear.noise * falls - linear.descent * rate * risk

    return float(solve_ivp(slope, (0.0, end), [start], method="DOP853", rtol=1e-10, atol=1e-12).y[0, -1])


@each("order", [-6.0, -1.0, -0.6, 0.0, 0.7])
@each("x", [1e-3, 0.4, 3.0, 40.0])
def test_the_exponential_integral_is_mpmaths(order: float, x: float) -> None:
    found = float(rates.exponential_integral(order, x))
    assert found == pytest.approx(float(mpmath.expint(order, x)), rel=1e-12)
    assert found <= float(rates.exponential_integral_ceiling(order, x))
    if order >= 0 or x >= -2 * order:
        assert found <= float(rates.exponential_integral_tail(x))


@each("schedule", [Constant(0.8), Polynomial(1.5, 1.3), Harmonic(1.2, 0.2)])
@each("time", [0.3, 0.9])
def test_lemma_d5_solves_its_equation(schedule: Schedule, time: float) -> None:
    found = rates.linear_solution(LINEAR, schedule, 0.5, time)
    assert found == pytest.approx(solved(LINEAR, schedule, 0.5, time), rel=1e-6)


def test_closed_forms_are_lemma_d5() -> None:
    for exponent in (0.5, 1.0, 3.0):
        told = rates.polynomial_solution(LINEAR, exponent, 0.5, 0.7)
        assert told == pytest.approx(rates.linear_solution(LINEAR, Polynomial(1.0, exponent), 0.5, 0.7), rel=1e-8)
    told = rates.harmonic_solution(LINEAR, 1.1, 0.15, 0.5, 1.0)
    assert told == pytest.approx(rates.linear_solution(LINEAR, Harmonic(1.1, 0.15), 0.5), rel=1e-8)


def test_bounds_of_the_harmonic_schedule_bound_it() -> None:
    told = rates.theorem_2(1e-4, 0.3, level=0.6)
    ceiling = rates.harmonic_ceiling(told.linear, told.scale, told.offset, 0.5)
    path = [rates.harmonic_solution(told.linear, told.scale, told.offset, 0.5, t) for t in np.linspace(0, 1, 30)]
    assert max(path) <= ceiling
    assert path[-1] <= rates.harmonic_end(told.linear, told.scale, told.offset, 0.5)


@each("rho", [0.01, 1.0, math.inf])
def test_theorem_2s_constants_fit_each_other(rho: float) -> None:
    told = rates.theorem_2(1e-5, rho, 0.7, smallest=0.4, largest=1.9)
    assert told.linear.descent * told.scale == pytest.approx(3.0)
    assert told.offset == pytest.approx(max(told.linear.sampling, 2 * math.sqrt(told.linear.noise)))
    base = 0.7 + 90
    assert told.offset == pytest.approx(
        max(9 * base * 1.9 / 0.4**2 * 1e-5, 12 * math.sqrt(2 * base) / 0.4 * 1e-5 / rho)
    )


def test_the_least_end_is_attained_by_harmonic_schedules_alone() -> None:
    """4b₁/a² at aβ = 2 and 27b₂/a² at aβ = 3, with the jump of the last step, as τ → 0."""
    for linear, power in ((rates.Linear(1.5, 0.2, 0.0), 2.0), (rates.Linear(1.5, 0.0, 0.2), 3.0)):
        ends = {}
        for tried in (power - 0.3, power, power + 0.3):
            scale, tau = max(tried, 2.01 if linear.noise else 1.2) / 1.5, 1e-7
            a = linear.descent * scale
            sampling = linear.sampling * scale**2 / (a - 1)
            noise = linear.noise * scale**2 * (1 + 2 / (a - 2)) if linear.noise else 0.0
            ends[tried] = sampling + noise + tau
        assert min(ends, key=lambda p: ends[p]) == power
        assert ends[power] == pytest.approx(rates.least_end(linear), rel=1e-5)


def test_orders_are_those_printed() -> None:
    log = math.log(1e6)
    expected = 2 * 1e-6 * log ** (1 / 3) + 4 * 1e-12 / 0.01**2 * log ** (2 / 3)
    assert rates.polynomial_order(2.0, 1e-6, 0.01) == pytest.approx(expected)
    general = rates.polynomial_order(2.0, 1e-6, math.inf, smallest=0.5, largest=3.0)
    assert general == pytest.approx(3 / 0.25 * 2 * 1e-6 * log ** (1 / 3))
    assert rates.log_log_order(1e-6, math.inf) == pytest.approx(1e-6 * math.log(log))
