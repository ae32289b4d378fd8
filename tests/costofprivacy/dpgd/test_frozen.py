"""The closed form of the risk at small γ, against quadrature, the solver, and (6.2) solved by iteration."""

import math
from collections.abc import Callable

import mpmath
import numpy as np
import pytest
from scipy.special import gamma as gamma_function
from scipy.special import gammainc

from costofprivacy.dpgd import equivalent, parts, quadrature, scaling, tuning
from costofprivacy.dpgd.clipping import descent_reduction, variance_reduction
from costofprivacy.dpgd.scaling import Late
from costofprivacy.dpgd.schedule import Constant, Polynomial, Schedule
from costofprivacy.dpgd.spectrum import PowerLaw
from tests.each import each


@each(("phi", "psi"), [(0.0, 0.0), (0.7, 0.1), (-2.0, 1.5)])
@each("x", [0.3, 40.0, 1e6])
def test_kernels_by_incomplete_gamma_and_by_mpmath(phi: float, psi: float, x: float) -> None:
    """Proposition E.1's kernels three ways: the library's nodes, incomplete gamma functions, and mpmath."""
    law = PowerLaw(phi)
    system = quadrature.of_power_law(law, 0.1, 0.3, psi, 0.5, clock=1e7)
    mass, C = (1 - phi) * law.largest ** (phi - 1), law.largest
    scale = (0.5 / law.moment(1 - psi), 1.0, 1.0)
    powers = (2 - phi - psi, 3 - phi, 2 - phi)
    for found, power, size in zip(parts.kernels(system, x), powers, scale):
        closed = size * mass * (2 * x) ** -power * gammainc(power, 2 * C * x) * gamma_function(power)
        exact = size * mass * float(mpmath.gammainc(power, 0, 2 * C * x)) * (2 * x) ** -power
        assert float(found) == pytest.approx(closed, rel=1e-6)
        assert closed == pytest.approx(exact, rel=1e-12)
    assert float(Late(phi, psi, 1.0).start(x)) == pytest.approx(float(parts.kernels(system, x)[0]), rel=1e-6)


@each(("phi", "degree", "s"), [(0.0, 2, 1.5), (0.7, 1, 1.3), (0.5, 1, 1.5), (0.8, 1, 1.2001)])
@each("x", [2.0, 1e5])
def test_moments_by_mpmath(phi: float, degree: int, s: float, x: float) -> None:
    """∫₀ˣ u^(s−1) ∫ p λ^degree e^(−2λu): with k = degree + 1 − φ − s above, at and near 0."""
    law = PowerLaw(phi)
    mass, power = (1 - phi) * law.largest ** (phi - 1), degree + 1 - phi

    def inner(u: mpmath.mpf) -> mpmath.mpf:
        return u ** (s - 1) * mass * (2 * u) ** -power * mpmath.gammainc(power, 0, 2 * law.largest * u)

    edges = [0, *(10.0**e for e in range(-3, math.ceil(math.log10(x)))), x]
    found = scaling._moment(law, degree, s, np.array([x]))[0]
    assert found == pytest.approx(float(mpmath.quad(inner, edges)), rel=1e-7)


CURVES = [(0.0, 0.0, 0.0, 0.0), (0.25, 0.5, 2.0, 0.5), (0.7, 0.0, 2.0, 0.5), (0.5, 0.0, 3.0, 0.6), (0.0, 0.5, 0.5, 0.5)]


def plan(alpha: float, rate: float) -> Schedule:
    return Polynomial(rate, alpha) if alpha else Constant(rate)


@pytest.mark.parametrize(("phi", "psi", "alpha", "b"), CURVES)
def test_the_solver_tends_to_the_closed_form(phi: float, psi: float, alpha: float, b: float) -> None:
    apart = []
    for gamma in (1e-6, 1e-8, 1e-10):
        late = Late(phi, psi, alpha).best(gamma, gamma**b)
        system = quadrature.of_power_law(PowerLaw(phi), gamma, 0.3, psi)
        risk = equivalent.final_risk(system, plan(alpha, late.rate), 0.1, gamma**b)
        apart.append(abs(late.risk / risk - 1))
    assert apart[2] < 2e-3
    assert apart[2] <= apart[1] <= apart[0] < 0.05


def test_the_local_exponent_is_the_derivative() -> None:
    late, b = Late(0.7, 0.1, 4.0), 0.5
    for gamma in (1e-5, 1e-30):
        near = [math.log(late.best(g, g**b).risk) for g in (gamma * 1.01, gamma / 1.01)]
        slope = (near[0] - near[1]) / (2 * math.log(1.01))
        assert late.best(gamma, gamma**b).slope(b) == pytest.approx(slope, abs=1e-6)


def test_without_privacy_and_at_the_cap() -> None:
    late = Late(0.25, 0.5, 2.0)
    free = late.best(1e-6, math.inf)
    assert free.parts[2] == 0
    assert free.risk < late.best(1e-6, 1.0).risk
    capped = late.best(1e-6, 1.0, largest=free.rate / 10)
    assert capped.at_cap
    assert capped.rate == pytest.approx(free.rate / 10)
    assert np.isinf(late.parts(1e-3, 1e-6, 1.0)).all()


def kernels_of(law: PowerLaw, psi: float) -> Callable[[np.ndarray], list[np.ndarray]]:
    """ℱ, 𝒦 and 𝒥 in closed form, 0 included."""
    mass = (1 - law.phi) * law.largest ** (law.phi - 1)
    forms = ((0.5 / law.moment(1 - psi), 2 - law.phi - psi), (1.0, 3 - law.phi), (1.0, 2 - law.phi))

    def kernels(x: np.ndarray) -> list[np.ndarray]:
        clock = np.maximum(x, 1e-12)
        return [size * mass * (2 * clock) ** -p * gammainc(p, 2 * law.largest * clock) * gamma_function(p)
                for size, p in forms]  # fmt: skip

    return kernels


def iterated(phi: float, psi: float, alpha: float, gamma: float, rho: float, rate: float, points: int = 360) -> float:
    """The released risk by (6.2) as a fixed point: from a path of the risk its clock, from that the next path."""
    t = (1 - np.cos(np.pi * np.linspace(0, 1, points))) / 2
    kernels, c, zeta = kernels_of(PowerLaw(phi), psi), 0.1, 0.3
    eta = rate * (1 - t) ** alpha
    fall = np.append(-np.diff(eta**2), 0.0) * 2 * (c * gamma / rho) ** 2
    risk = np.full(points, 0.5)
    width = np.diff(t)
    for _ in range(200):
        test_risk = risk + zeta**2 / 2
        speed = eta * descent_reduction(c, test_risk)
        clock = np.concatenate([[0.0], np.cumsum(width * (speed[1:] + speed[:-1]) / 2)])
        lag = np.maximum(clock[:, None] - clock[None, :], 0.0)
        start = kernels(clock)[0]
        _, sampled, private = kernels(lag)
        source = np.tril(gamma * eta**2 * variance_reduction(c, test_risk) * test_risk * sampled)
        noise = np.tril((source[:, 1:] + source[:, :-1]) / 2 * width, -1)
        weight = np.tril((private[:, 1:] + private[:, :-1]) / 2 * fall[:-1], -1)
        found = start + noise.sum(axis=1) + weight.sum(axis=1)
        if np.abs(found / risk - 1).max() < 1e-8:
            break
        risk = (found + risk) / 2
    return float(found[-1] + 2 * (c * gamma / rho * eta[-1]) ** 2)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("phi", "psi", "alpha", "b"), [(0.0, 0.5, 1.0, 0.5), (0.25, 0.0, 0.0, 0.0), (0.7, 0.1, 2.0, 0.5)]
)
def test_optimised_risks_by_iterating_the_implicit_equation(phi: float, psi: float, alpha: float, b: float) -> None:
    """To 1 %: an implementation that shares nothing with the solver, and no rate nearby does better."""
    gamma = 0.01
    system = quadrature.of_power_law(PowerLaw(phi), gamma, 0.3, psi)
    best = tuning.best_rate(system, lambda rate: plan(alpha, rate), 0.1, gamma**b)
    risks = [iterated(phi, psi, alpha, gamma, gamma**b, best.initial * factor) for factor in (0.8, 1.0, 1.25)]
    assert risks[1] == pytest.approx(best.risk, rel=0.01)
    assert min(risks) >= best.risk * 0.99


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"phi": 1.0}, "phi must be"),
        ({"psi": 1.0}, "psi must be below"),
        ({"alpha": -1.0}, "alpha must be non-negative"),
        ({"clip": math.inf}, "clip must be positive and finite"),
        ({"label_noise": 0.0}, "label_noise must be positive"),
    ],
)
def test_what_is_refused(change: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=rf"^{message}"):
        Late(**{"phi": 0.0, "psi": 0.0, "alpha": 1.0} | change)
