"""Bounds of decaying schedules against quadrature, mpmath and the equations that they solve."""

import math

import mpmath
import numpy as np
import pytest
from scipy.integrate import solve_ivp

from costofprivacy.dpgd import rates
from costofprivacy.dpgd.schedule import Constant, Harmonic, Polynomial, Schedule
from tests.each import each

LINEAR = rates.Linear(7.0, 0.3, 0.04)


def solved(linear: rates.Linear, schedule: Schedule, start: float, end: float) -> float:
    """(D.100) by an independent integrator."""

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


@pytest.mark.parametrize("schedule", [Constant(0.8), Polynomial(1.5, 1.3), Harmonic(1.2, 0.2)])
@pytest.mark.parametrize("time", [0.3, 0.9])
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


@pytest.mark.parametrize("rho", [0.01, 1.0, math.inf])
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


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: rates.polynomial_order(0.5, 0.1, 1.0), "exponent must be at least 1"),
        (lambda: rates.log_log_order(0.5, 1.0), "aspect_ratio must be between 0 and 1/e"),
        (lambda: rates.exponential_integral(1.0, 1.0), "order must be below 1"),
        (lambda: rates.harmonic_end(LINEAR, 0.1, 0.1, 0.5), "scale must be above"),
        (lambda: rates.theorem_2(0.0, 1.0, 0.5), "aspect_ratio must be positive"),
    ],
)
def test_what_is_not_admissible_is_refused(call: object, message: str) -> None:
    with pytest.raises(ValueError, match=rf"^{message}"):
        call()  # type: ignore[operator]
