"""The deterministic equivalent against closed forms, LSODA, mpmath and its own tolerance."""

import dataclasses
import math

import mpmath
import numpy as np
import pytest
from scipy.integrate import quad, solve_ivp

from costofprivacy.dpgd import control, diffusion, equivalent, parts, quadrature, risk_bounds, spectrum, system
from costofprivacy.dpgd.control import released_risk
from costofprivacy.dpgd.schedule import Constant, Flat, Harmonic, Polynomial
from tests.each import each

from .problems import SCHEDULES, TIMES, Rising, uniform_model


def linear_risk(schedule, a, b1, b2, initial, time):
    """(D.101) of the paper by quadrature: the solution of (D.100), dR/dt = −a η̃ R + b1 η̃² − b2 dη̃²/dt."""

    def progress(t):
        return quad(lambda s: float(schedule(s)), 0, t, epsabs=1e-13, epsrel=1e-13)[0]

    def inner(s):
        gain = b1 * float(schedule(s)) ** 2 + b2 * float(schedule.squared_decrease(s))
        return math.exp(a * (progress(s) - progress(time))) * gain

    return math.exp(-a * progress(time)) * initial + quad(inner, 0, time, epsabs=1e-13, epsrel=1e-11)[0]


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_isotropic_without_clipping_is_lemma_d5(schedule):
    """For γ → 0 the part of the sampling term that is proportional to R is out of sight."""
    equation = system.isotropic(0.5, 1e-9, 0.3)
    for time in (0.3, 1.0):
        expected = linear_risk(schedule, 2.0, 1e-9 * 0.045, 0.0, 0.5, time)
        found = equivalent.risk_path(equation, schedule, math.inf, math.inf, [time])[0]
        assert found == pytest.approx(expected, rel=1e-6, abs=1e-12)


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_linear_equation_with_private_noise_is_lemma_d5(schedule):
    """c far above the residuals, so that nothing is clipped, and c/ρ of order one: Lemma D.5 with all its terms."""
    clip, rho, gamma = 1e4, 1e4, 1e-7
    equation = system.isotropic(1e-12, gamma, 0.0)
    b2 = 2 * (clip / rho) ** 2 * gamma**2
    expected = linear_risk(schedule, 2.0, 0.0, b2, 1e-12, 1.0)
    assert equivalent.risk_path(equation, schedule, clip, rho, [1.0])[0] == pytest.approx(expected, rel=2e-6)


def test_at_the_cap_without_clipping_the_risk_grows_linearly():
    found = equivalent.risk_path(system.isotropic(0.5, 0.1, 0.3), Constant(500.0), math.inf, math.inf, TIMES)
    np.testing.assert_allclose(found, 0.5 + 0.1 * 20**2 * 0.045 * TIMES, rtol=1e-9)


@each("schedule", SCHEDULES)
@each("clip", [0.05, 1.0, 10.0])
def test_the_path_agrees_with_lsoda(schedule, clip):
    equations = system.of_model(uniform_model(), 1000)
    reference = system.reference_path(equations, schedule, clip, 0.5, TIMES, 1e-11)
    np.testing.assert_allclose(equivalent.risk_path(equations, schedule, clip, 0.5, TIMES), reference, rtol=3e-6)


@pytest.mark.parametrize("schedule", [Constant(0.99 * 200), Polynomial(0.99 * 200, 0.5), Polynomial(1000.0, 2.0)])
def test_stiff_paths_agree_with_lsoda(schedule):
    equations = quadrature.of_power_law(spectrum.PowerLaw(0.5), 0.01, 0.3, psi=0.3)
    times = np.append(np.geomspace(1e-4, 0.99, 9), 1.0)
    reference = system.reference_path(equations, schedule, 0.1, 1.0, times, 1e-10)
    np.testing.assert_allclose(equivalent.risk_path(equations, schedule, 0.1, 1.0, times), reference, rtol=3e-6)


def test_a_rate_below_half_is_solved_where_its_noise_has_no_derivative():
    """α = 0.2: LSODA in the variable u = (1 − t)^(2α), in which the noise is even."""
    alpha, equation = 0.2, system.isotropic(0.5, 0.1, 0.3)

    def right_side(u, R):
        mu, scaled_nu = system.reductions(equation, 1.0, R[0])
        left = 1 - u
        rate, dt = 3.0 * left**0.5, left ** (1 / (2 * alpha) - 1) / (2 * alpha)
        return [dt * (-2 * rate * mu * R[0] + 0.1 * rate**2 * scaled_nu) + 2 * 0.01 * 9.0]

    expected = solve_ivp(right_side, (0, 1), [0.5], method="LSODA", rtol=1e-11, atol=1e-13).y[0, -1]
    found = equivalent.risk_path(equation, Polynomial(3.0, alpha), 1.0, 1.0, [1.0])[0]
    assert found == pytest.approx(expected, rel=3e-6)


def test_the_tolerance_is_kept():
    equations = quadrature.of_power_law(spectrum.PowerLaw(0.25), 1e-3, 0.3, psi=0.5)
    for schedule in (Constant(20.0), Polynomial(500.0, 0.5), Polynomial(500.0, 2.0), Polynomial(500.0, 10.0)):
        best = equivalent.final_risk(equations, schedule, 0.1, 1.0, 1e-8)
        for tolerance in (1e-3, 1e-4, 1e-6):
            found = equivalent.final_risk(equations, schedule, 0.1, 1.0, tolerance)
            assert found == pytest.approx(best, rel=2 * tolerance)


def test_final_risks_at_the_default_agree_with_lsoda_to_1e_5():
    equations = system.of_model(uniform_model(), 1000)
    for schedule in SCHEDULES:
        reference = system.reference_path(equations, schedule, 1.0, 1.0, [1.0], 1e-10)[0]
        last = 2 * float(schedule(1.0)) ** 2 * 0.01
        assert equivalent.final_risk(equations, schedule, 1.0, 1.0) == pytest.approx(reference + last, rel=1e-5)


def test_an_eigenvalue_0_gathers_noise_that_no_one_sees():
    with_zero = system.of_spectrum([0.0, 2.0], [0.5, 0.5], 0.1, 0.3)
    reference = system.reference_path(with_zero, Polynomial(3.0, 0.5), 1.0, 1.0, TIMES)
    np.testing.assert_allclose(
        equivalent.risk_path(with_zero, Polynomial(3.0, 0.5), 1.0, 1.0, TIMES), reference, rtol=2e-6
    )


def test_divergence_is_infinite_and_never_a_number():
    runaway = risk_bounds.uncapped(system.isotropic(0.5, 0.01, 0.3))
    found = equivalent.risk_path(runaway, Constant(1e5), math.inf, math.inf, [0.0, 0.01, 1.0])
    assert found.tolist() == [0.5, math.inf, math.inf]
    assert equivalent.final_risk(runaway, Constant(1e5), math.inf, math.inf) == math.inf


BAD = [
    ({"clip": 0.0}, "clip must be positive, got 0.0"),
    ({"clip": -1.0}, "clip must be positive, got -1.0"),
    ({"rho": 0.0}, "rho must be positive, got 0.0"),
    ({"clip": math.inf}, "clip must be finite where rho is, got inf and 1.0"),
    ({"schedule": Rising()}, "schedule must not increase"),
    ({"schedule": lambda t: -np.ones(np.shape(t))}, "schedule must be finite and non-negative"),
    ({"times": []}, "times must be an ascending vector"),
    ({"times": [0.5, 0.1]}, "times must be an ascending vector"),
    ({"times": [1.1]}, "times must be an ascending vector"),
    ({"times": [math.nan]}, "times must be an ascending vector"),
    ({"tolerance": 0.0}, "tolerance must be positive and finite, got 0.0"),
]


@each(("change", "message"), BAD)
def test_bad_input_is_one_clear_line(change, message):
    given = {"schedule": Constant(1.0), "clip": 1.0, "rho": 1.0, "times": [1.0], "tolerance": 1e-6} | change
    with pytest.raises(ValueError, match=message) as caught:
        equivalent.risk_path(system.isotropic(0.5, 0.1, 0.3), **given)
    assert "\n" not in str(caught.value)


def test_mpmath_agrees_on_a_coupled_pair():
    """Two eigenvalues, clipped, with private noise, by mpmath's Taylor series at 15 digits."""
    values, energies, gamma, zeta, clip, rho = (0.5, 1.5), (0.3, 0.7), 0.2, 0.4, 0.8, 2.0
    schedule = Polynomial(4.0, 1.0)

    def right_side(t, D):
        risk = sum(v * e for v, e in zip(values, D)) / 2
        test_risk = risk + zeta**2 / 2
        ratio = clip / mpmath.sqrt(2 * test_risk)
        mu = mpmath.erf(ratio / mpmath.sqrt(2))
        second = mu - mpmath.sqrt(2 / mpmath.pi) * ratio * mpmath.exp(-(ratio**2) / 2)
        nu = ratio**2 * mpmath.erfc(ratio / mpmath.sqrt(2)) + second
        rate = 4 * (1 - t)
        private = 2 * (clip / rho) ** 2 * gamma**2 * 32 * (1 - t)
        return [-2 * v * rate * mu * e + v * rate**2 * nu * test_risk * gamma + private for v, e in zip(values, D)]

    with mpmath.workdps(15):
        solution = mpmath.odefun(right_side, 0, list(map(mpmath.mpf, energies)), tol=mpmath.mpf("1e-10"))(1)
        expected = float(sum(v * e for v, e in zip(values, solution)) / 2)
    equations = system.of_spectrum(values, energies, gamma, zeta)
    assert equivalent.risk_path(equations, schedule, clip, rho, [1.0], 1e-8)[0] == pytest.approx(expected, rel=1e-8)


@dataclasses.dataclass(frozen=True)
class Opaque:
    """A schedule that says nothing of its form."""

    inner: Constant | Harmonic | Polynomial

    def __call__(self, time):
        return self.inner(time)

    def squared_decrease(self, time):
        return self.inner.squared_decrease(time)


FORMS = [Constant(3.0), Constant(30.0), Polynomial(30.0, 0.5), Polynomial(30.0, 2.0), Harmonic(2.0, 0.05)]


@pytest.mark.parametrize("schedule", FORMS)
def test_the_papers_schedules_in_machine_code_are_any_schedules(schedule):
    """One asks the schedule for its values, the other computes them; the cap 2/γ = 20 lets go on the way."""
    for equations in (system.isotropic(0.5, 0.1, 0.3), system.of_model(uniform_model(), 50)):
        path = equivalent.risk_path(equations, schedule, 0.5, 1.0, [1.0])[0]
        whole = path + system.last_step(equations, schedule, 0.5, 1.0)
        opaque, known = equivalent.final_risks(equations, [Opaque(schedule), schedule], 0.5, 1.0)
        assert opaque == pytest.approx(whole, rel=1e-12)
        assert known == pytest.approx(whole, rel=3e-6)


def test_a_batch_is_its_members_one_by_one():
    equations = system.of_model(uniform_model(), 200)
    batch = [Constant(2.0), Harmonic(1.0, 0.1), Polynomial(5.0, 0.5)]
    found = equivalent.final_risks(equations, batch, 0.5, 0.7)
    assert found.tolist() == [equivalent.final_risk(equations, schedule, 0.5, 0.7) for schedule in batch]
    assert equivalent.final_risks(equations, [], 0.5, 0.7).shape == (0,)


WRONG = [
    (Rising(), "schedule must not increase, got"),
    (lambda t: -np.ones(np.shape(t)), "schedule must be finite and"),
]


@pytest.mark.parametrize(("schedule", "message"), WRONG)
def test_no_part_takes_a_learning_rate_that_is_not_allowed(schedule, message):
    """Its private noise would have a negative mass."""
    calls = (
        lambda: parts.parts_of_path(system.isotropic(0.5, 0.1, 0.3), schedule, 1.0, 1.0, [0.0, 1.0], [0.5, 0.4]),
        lambda: diffusion.diffuse(
            uniform_model(4), schedule, 1.0, 1.0, 10, [1.0], 2, steps=10, rng=np.random.default_rng(0)
        ),
        lambda: equivalent.risk_path(system.isotropic(0.5, 0.1, 0.3), schedule, 1.0, 1.0, [1.0]),
    )
    for call in calls:
        with pytest.raises(ValueError, match=f"^{message}") as caught:
            call()
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("plan", [Flat(9.0, 0.01, 1.1), Flat(30.0, 0.1, 0.5), Flat(3.0, 1.0, 2.0)])
def test_a_schedule_that_is_flat_at_first_has_the_risk_that_lsoda_finds(plan):
    """In u = R + κη̃², whose slope has no jump; a turn elsewhere has another risk."""
    drift = control.fixed_clip(0.5, 0.01, 0.3, 0.1, 0.1)
    equations = system.isotropic(0.5, 0.01, 0.3)

    def solved(schedule):
        return released_risk(drift, lambda t: 0.1 * float(schedule(t)), lambda t, risk: 0.1, 0.3, 0.1)

    found = equivalent.final_risk(equations, plan, 0.1, 0.1)
    assert found == pytest.approx(solved(plan), rel=1e-5)
    path = equivalent.risk_path(equations, plan, 0.1, 0.1, [1.0])[0]
    assert found == pytest.approx(path + system.last_step(equations, plan, 0.1, 0.1), rel=3e-6)
    moved = dataclasses.replace(plan, turn=0.9 * plan.turn)
    assert found != pytest.approx(solved(moved), rel=1e-3)
