"""The exponents of the scaling laws, against numerical optima and the printed cases."""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from costofprivacy.dpgd import equivalent, quadrature, scaling
from costofprivacy.dpgd.scaling import Late
from costofprivacy.dpgd.schedule import Constant, Polynomial
from costofprivacy.dpgd.spectrum import PowerLaw
from tests.each import each, refused

PHI = st.floats(-3.0, 0.98)
SLACK = st.floats(0.01, 4.0)  # of ψ below 1 − φ
ALPHA = st.one_of(st.sampled_from([0.0, 0.5]), st.floats(1.0, 20.0))
B = st.floats(-1.0, 0.99)


def least_exponent(a: np.ndarray, phi: float, psi: float, alpha: float, b: float) -> np.ndarray:
    """min(e₁, e₂, e₃) as (E.42) and (E.49) print them."""
    kappa = 2 - phi - psi
    third = 2 - 2 * b + (2 * a / (alpha + 1) if phi * (alpha + 1) < 2 else a * phi)
    return np.minimum(np.minimum(-a * kappa, a / (alpha + 1) + 1), third)


@settings(max_examples=50, deadline=None)
@given(PHI, SLACK, ALPHA, B)
def test_exponents_are_the_numerical_optimum(phi: float, slack: float, alpha: float, b: float) -> None:
    psi = 1 - phi - slack
    a, h = (float(f(phi, psi, alpha, b)) for f in (scaling.rate_exponent, scaling.risk_exponent))
    tried = np.linspace(-3, 0, 3001)
    values = least_exponent(tried, phi, psi, alpha, b)
    assert float(least_exponent(np.array(a), phi, psi, alpha, b)) == pytest.approx(h, abs=1e-12)
    assert values.max() <= h + 1e-12
    assert values.max() == pytest.approx(h, abs=1e-3 * (1 + 2 - phi - psi))
    assert min(map(float, scaling.terms(a, phi, psi, alpha, b))) == pytest.approx(h, abs=1e-12)


def printed(phi: float, psi: float, alpha: float, b: float) -> tuple[float, float]:
    """a and h as Theorem 4 prints them, case by case, (6.4) to (6.6)."""
    K = (2 - phi - psi) * (alpha + 1)
    flat = phi * (alpha + 1) < 2
    bound = K / (2 * (K + 1)) if flat else 1 - (2 - psi) * (alpha + 1) / (2 * (K + 1))
    if b <= bound:
        return -(alpha + 1) / (K + 1), K / (K + 1)
    if flat:
        return -2 * (1 - b) * (alpha + 1) / (K + 2), 2 * K * (1 - b) / (K + 2)
    return -2 * (1 - b) / (2 - psi), 2 * (2 - phi - psi) * (1 - b) / (2 - psi)


@settings(max_examples=100, deadline=None)
@given(PHI, SLACK, ALPHA, B)
def test_the_four_cases_as_printed(phi: float, slack: float, alpha: float, b: float) -> None:
    psi = 1 - phi - slack
    a, h = printed(phi, psi, alpha, b)
    assert float(scaling.rate_exponent(phi, psi, alpha, b)) == pytest.approx(a, abs=1e-12)
    assert float(scaling.risk_exponent(phi, psi, alpha, b)) == pytest.approx(h, abs=1e-12)
    K = (2 - phi - psi) * (alpha + 1)
    flat = phi * (alpha + 1) < 2
    bound = K / (2 * (K + 1)) if flat else 1 - (2 - psi) * (alpha + 1) / (2 * (K + 1))
    assert float(scaling.critical_b(phi, psi, alpha)) == pytest.approx(bound, abs=1e-12)
    if abs(b - bound) > 1e-9 and abs(phi * (alpha + 1) - 2) > 1e-9:
        assert int(scaling.regime(phi, psi, alpha, b)) == 1 + (b > bound) + 2 * (not flat)


def test_values_of_the_paper() -> None:
    """K = 1.5 has its critical b at 0.3; (6.9) at φ = ½, ψ = 0 is ⅓; Figure 13's at φ = 0."""
    assert float(scaling.critical_b(0.5, 0.0, 0.0)) == pytest.approx(0.3)
    assert float(scaling.limit_critical_b(0.5, 0.0)) == pytest.approx(1 / 3)
    assert float(scaling.critical_b(0.0, 0.5, 10.0)) == pytest.approx(16.5 / 35)
    assert scaling.kappas(0.25, 0.5) == (1.25, 2.75, 1.75)


@settings(max_examples=40, deadline=None)
@given(PHI, SLACK, B)
def test_limits_along_the_schedule(phi: float, slack: float, b: float) -> None:
    psi, alpha = 1 - phi - slack, 1e7
    if abs(phi) * alpha < 10:
        return
    first, second = scaling.limit_exponents(phi, psi)
    wanted = min(float(first), 2 * (1 - b) * float(second))
    assert float(scaling.risk_exponent(phi, psi, alpha, b)) == pytest.approx(wanted, abs=1e-5)
    assert float(scaling.critical_b(phi, psi, alpha)) == pytest.approx(
        float(scaling.limit_critical_b(phi, psi)), abs=1e-5
    )


def test_the_order_of_the_risk() -> None:
    """(E.16) by hand, and (E.17) in its three cases."""
    v, gamma, rho = 100.0, 1e-3, 0.1
    found = float(scaling.order(v, gamma, rho, 0.25, 0.5, 1.0))
    assert found == pytest.approx(v**-1.25 + gamma * v**0.5 + (gamma / rho) ** 2 * v)
    assert float(scaling.noise_growth(v, 0.5, 3.0)) == pytest.approx(math.sqrt(v) * math.log(v))
    assert float(scaling.noise_growth(v, 0.6, 3.0)) == pytest.approx(v**0.6)
    assert scaling.has_logarithm(0.8, 1.5)
    assert not scaling.has_logarithm(0.8, 1.6)


def test_the_logarithm() -> None:
    """(6.6) and (E.55) at γ = 1e-10."""
    phi, psi, alpha, b, gamma = 0.5, 0.0, 3.0, 0.6, 1e-10
    a = float(scaling.rate_exponent(phi, psi, alpha, b))
    wanted = 0.6 + math.log(a * math.log(gamma)) / math.log(gamma)
    assert scaling.risk_exponent_at(gamma, phi, psi, alpha, b) == pytest.approx(wanted)
    assert scaling.risk_exponent_at(gamma, 0.6, psi, alpha, b) == float(scaling.risk_exponent(0.6, psi, alpha, b))


@each(
    ("call", "message"),
    [
        (lambda: scaling.size(1.0, 0.0, 1.0), "phi must be below 1"),
        (lambda: scaling.size(0.5, 0.5, 1.0), "psi must be below 1 - phi"),
        (lambda: scaling.size(0.0, 0.0, -1.0), "alpha must be non-negative"),
        (lambda: scaling.risk_exponent(0.0, 0.0, 1.0, 1.0), "b must be below 1"),
    ],
)
def test_what_is_refused(call, message: str) -> None:  # type: ignore[no-untyped-def]
    refused(rf"^{message}", call)


# ---- The closed form of the risk at small γ ----


@each(("phi", "degree", "s"), [(0.0, 2, 1.5), (0.7, 1, 1.3), (0.8, 1, 1.2001)])
@each("x", [1e3])
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


@each(("phi", "psi", "alpha", "b"), CURVES)
def test_the_solver_tends_to_the_closed_form(phi: float, psi: float, alpha: float, b: float) -> None:
    apart = []
    for gamma in (1e-6, 1e-8, 1e-10):
        late = Late(phi, psi, alpha).best(gamma, gamma**b)
        system = quadrature.of_power_law(PowerLaw(phi), gamma, 0.3, psi)
        plan = Polynomial(late.rate, alpha) if alpha else Constant(late.rate)
        risk = equivalent.final_risk(system, plan, 0.1, gamma**b)
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


@each(
    ("change", "message"),
    [
        ({"phi": 1.0}, "phi must be"),
        ({"psi": 1.0}, "psi must be below"),
        ({"alpha": -1.0}, "alpha must be non-negative"),
        ({"clip": math.inf}, "clip must be positive and finite"),
        ({"label_noise": 0.0}, "label_noise must be positive"),
    ],
)
def test_what_the_closed_form_refuses(change: dict[str, float], message: str) -> None:
    refused(rf"^{message}", Late, **{"phi": 0.0, "psi": 0.0, "alpha": 1.0} | change)
