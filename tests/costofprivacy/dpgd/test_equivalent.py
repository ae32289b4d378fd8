"""The coupled equations and the deterministic equivalent against closed forms, LSODA and its own tolerance."""

import dataclasses
import math

import numpy as np
import pytest
from scipy.integrate import quad, solve_ivp

from costofprivacy.dpgd import (
    clipping,
    control,
    diffusion,
    equivalent,
    exponential,
    quadrature,
    risk_bounds,
    spectrum,
    system,
)
from costofprivacy.dpgd.control import released_risk
from costofprivacy.dpgd.schedule import Constant, Flat, Harmonic, Polynomial
from tests.costofprivacy.dpgd.problems import SCHEDULES, TIMES, Rising, uniform_model
from tests.each import each


def linear_risk(schedule, a, b1, b2, initial, time):
    """(D.101) of the paper by quadrature: the solution of (D.100), dR/dt = −a η̃ R + b1 η̃² − b2 dη̃²/dt."""

    def progress(t):
        return quad(lambda s: float(schedule(s)), 0, t, epsabs=1e-13, epsrel=1e-13)[0]

    def inner(s):
        gain = b1 * float(schedule(s)) ** 2 + b2 * float(schedule.squared_decrease(s))
        return math.exp(a * (progress(s) - progress(time))) * gain

    return math.exp(-a * progress(time)) * initial + quad(inner, 0, time, epsabs=1e-13, epsrel=1e-11)[0]


@each("schedule", SCHEDULES)
def test_isotropic_without_clipping_is_lemma_d5(schedule):
    """For γ → 0 the part of the sampling term that is proportional to R is out of sight."""
    equation = system.isotropic(0.5, 1e-9, 0.3)
    for time in (0.3, 1.0):
        expected = linear_risk(schedule, 2.0, 1e-9 * 0.045, 0.0, 0.5, time)
        found = equivalent.risk_path(equation, schedule, math.inf, math.inf, [time])[0]
        assert found == pytest.approx(expected, rel=1e-6, abs=1e-12)


@each("schedule", SCHEDULES)
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


@each("schedule", [Constant(0.99 * 200), Polynomial(0.99 * 200, 0.5), Polynomial(1000.0, 2.0)])
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


def test_divergence_is_infinite_and_never_a_number():
    runaway = risk_bounds.uncapped(system.isotropic(0.5, 0.01, 0.3))
    found = equivalent.risk_path(runaway, Constant(1e5), math.inf, math.inf, [0.0, 0.01, 1.0])
    assert found.tolist() == [0.5, math.inf, math.inf]
    assert equivalent.final_risk(runaway, Constant(1e5), math.inf, math.inf) == math.inf


BAD = [
    ({"clip": 0.0}, "clip must be positive, got 0.0"),
    ({"rho": 0.0}, "rho must be positive, got 0.0"),
    ({"clip": math.inf}, "clip must be finite where rho is, got inf and 1.0"),
    ({"schedule": Rising()}, "schedule must not increase"),
    ({"schedule": lambda t: -np.ones(np.shape(t))}, "schedule must be finite and non-negative"),
    ({"times": []}, "times must be an ascending vector"),
    ({"times": [0.5, 0.1]}, "times must be an ascending vector"),
    ({"times": [math.nan]}, "times must be an ascending vector"),
    ({"tolerance": 0.0}, "tolerance must be positive and finite, got 0.0"),
]


@each(("change", "message"), BAD)
def test_bad_input_is_one_clear_line(change, message):
    given = {"schedule": Constant(1.0), "clip": 1.0, "rho": 1.0, "times": [1.0], "tolerance": 1e-6} | change
    with pytest.raises(ValueError, match=message) as caught:
        equivalent.risk_path(system.isotropic(0.5, 0.1, 0.3), **given)
    assert "\n" not in str(caught.value)


def test_a_coupled_pair_by_lsoda_with_nothing_of_the_library():
    """Two eigenvalues, clipped, with private noise: (4.7) letter by letter."""
    values, energies, gamma, zeta, clip, rho = (0.5, 1.5), (0.3, 0.7), 0.2, 0.4, 0.8, 2.0

    def right_side(t, D):
        risk = sum(v * e for v, e in zip(values, D)) / 2
        test_risk = risk + zeta**2 / 2
        ratio = clip / math.sqrt(2 * test_risk)
        mu = math.erf(ratio / math.sqrt(2))
        nu = ratio**2 * (1 - mu) + mu - math.sqrt(2 / math.pi) * ratio * math.exp(-(ratio**2) / 2)
        rate = 4 * (1 - t)
        private = 2 * (clip / rho) ** 2 * gamma**2 * 32 * (1 - t)
        return [-2 * v * rate * mu * e + v * rate**2 * nu * test_risk * gamma + private for v, e in zip(values, D)]

    expected = solve_ivp(right_side, (0, 1), energies, method="LSODA", rtol=1e-12, atol=1e-14).y[:, -1] @ values / 2
    equations = system.of_spectrum(values, energies, gamma, zeta)
    found = equivalent.risk_path(equations, Polynomial(4.0, 1.0), clip, rho, [1.0], 1e-8)[0]
    assert found == pytest.approx(expected, rel=1e-8)


@dataclasses.dataclass(frozen=True)
class Opaque:
    """A schedule that says nothing of its form."""

    inner: Constant | Harmonic | Polynomial

    def __call__(self, time):
        return self.inner(time)

    def squared_decrease(self, time):
        return self.inner.squared_decrease(time)


FORMS = [Constant(3.0), Constant(30.0), Polynomial(30.0, 0.5), Polynomial(30.0, 2.0), Harmonic(2.0, 0.05)]


@each("schedule", FORMS)
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


@each("plan", [Flat(9.0, 0.01, 1.1), Flat(30.0, 0.1, 0.5), Flat(3.0, 1.0, 2.0)])
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


# ---- The equations ----


@each("clip", [0.1, 3.0, math.inf])
def test_the_scalar_reductions_are_those_of_clipping_to_rounding(clip):
    for label_noise in (0.0, 0.3):
        equation = system.isotropic(0.5, 0.1, label_noise)
        for risk in [0.0, *np.geomspace(1e-14, 1e14, 60).tolist(), math.inf]:
            test_risk = equation.test_risk(risk)
            ratio = clip / math.sqrt(2 * max(test_risk, 1e-300))
            mu, scaled_nu = system.reductions(equation, clip, risk)
            if not math.isnan(ratio):
                np.testing.assert_allclose(mu, float(clipping.descent_reduction_at(ratio)), rtol=1e-14)
                expected = float(clipping.variance_reduction_at(ratio)) * test_risk
                np.testing.assert_allclose(scaled_nu, expected, rtol=1e-14)


@each("values", [[1.0, 1.0], [2.0, 2.0], [0.2, 0.6, 3.0]])
def test_the_last_step_adds_its_noise_to_every_energy_whatever_the_trace(values):
    equations, schedule = system.of_spectrum(values, np.ones(len(values)), 0.3, 0.3), Constant(2.0)
    noise = 2 * 0.5**2 * 2.0**2 * 0.3**2 / 1.5**2
    expected = equations.risk(equations.initial + noise) - equations.initial_risk
    assert system.last_step(equations, schedule, 0.5, 1.5) == pytest.approx(expected, rel=1e-12)
    before = equivalent.risk_path(equations, schedule, 0.5, 1.5, [1.0])[0]
    assert equivalent.final_risk(equations, schedule, 0.5, 1.5) == pytest.approx(before + expected, rel=1e-12)


def test_a_finite_spectrum_is_the_same_with_its_eigenvalues_in_any_order_or_weighted():
    model = uniform_model(20)
    values, energies = model.spectrum.eigenvalues, model.initial_energies
    pairs = system.of_spectrum(values, energies, 0.1, 0.3)
    turned = system.of_spectrum(values[::-1], energies[::-1], 0.1, 0.3)
    double = system.of_spectrum(np.repeat(values, 2), np.repeat(energies, 2), 0.1, 0.3, np.full(40, 1 / 40))
    risks = [equivalent.final_risk(s, Polynomial(3.0, 1.0), 1.0, 1.0) for s in (pairs, turned, double)]
    np.testing.assert_allclose(risks, risks[0], rtol=1e-12)


@each(
    ("arguments", "message"),
    [
        (([], [], 0.1, 0.3), "non-empty vector"),
        (([1.0, 2.0], [1.0], 0.1, 0.3), "as initial has"),
        (([1.0, -2.0], [1.0, 1.0], 0.1, 0.3), "non-negative and finite, got -2.0"),
        (([1.0], [math.inf], 0.1, 0.3), "non-negative and finite, got inf"),
        (([1.0], [1.0], 0.0, 0.3), "aspect_ratio must be positive"),
        (([1.0], [1.0], 0.1, -0.3), "label_noise must be non-negative"),
        (([1.0], [1.0], 0.1, 0.3, [0.5, 0.5]), "weights must have shape"),
    ],
)
def test_bad_systems_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message) as caught:
        system.of_spectrum(*arguments)
    assert "\n" not in str(caught.value)


# ---- The integrator ----


@each("schedule", [Constant(3.0), Polynomial(3.0, 0.5), Polynomial(3.0, 2.0)])
def test_the_integrator_is_of_second_order(schedule):
    """R(1) by the integrator alone, on smooth grids of 160 and 640 cells."""
    equations, errors = system.of_model(uniform_model(), 200), []
    best = system.reference_path(equations, schedule, 0.3, 0.2, [1.0], 1e-11)[0]
    for cells in (160, 640):
        parts = exponential.cells_of(equations, schedule, 1 - (1 - np.linspace(0, 1, cells + 1)) ** 3)
        errors.append(abs(exponential.path(equations, parts, 0.3, 0.2)[-1] - best))
    assert math.log(errors[0] / errors[1], 4) == pytest.approx(2, abs=0.15)


@each("relaxation", [1e2, 1e4])
def test_fast_modes_driven_by_private_noise_keep_the_second_order(relaxation):
    """R follows the noise, and μ follows R, however fast the mode: two passes for μ are of first order here."""
    equation = dataclasses.replace(
        system.isotropic(0.5, 0.1, 0.0), relaxation=np.array([relaxation]), sampling=np.zeros(1)
    )
    risks = []
    for level in (3, 4, 5):
        cells = exponential.cells_of(equation, Polynomial(3.0, 2.0), np.linspace(0, 0.5, 10 * 2**level + 1))
        risks.append(exponential.path(equation, cells, 1.0, 0.35 / math.sqrt(relaxation))[-1])
    assert math.log2((risks[1] - risks[0]) / (risks[2] - risks[1])) == pytest.approx(2, abs=0.1)


def test_a_cell_ends_where_it_is_asked_to_and_where_the_cap_lets_go():
    schedule, breaks = Polynomial(40.0, 1.0), np.array([0.0, 0.3, 0.5, 1.0])
    assert equivalent._kink(schedule.form, 20.0) == pytest.approx(0.5, abs=1e-12)  # 2/γ = 20: at t = ½
    assert equivalent._kink(Constant(3.0).form, 20.0) == 0.0
    equation = system.isotropic(0.5, 0.1, 0.3)
    rates = np.minimum(schedule(exponential.TABLE), equation.cap)
    place = exponential.coordinates(rates, exponential.fastest(exponential.law_of(equation, 1.0, 1.0)))
    for level in (0, 3):
        nodes, ends = exponential.nodes(place, breaks, level)
        assert nodes[ends].tolist() == breaks.tolist()
        assert (np.diff(nodes) > 0).all()


# ---- Homogenised DP-GD ----


def test_the_mean_of_the_diffusion_is_the_ode_up_to_1_over_d():
    """With the derived drift; the gap of the mean falls with d, and the printed drift is refused."""
    model, n, schedule = uniform_model(200), 2000, Polynomial(3.0, 0.5)
    expected = equivalent.risk_path(system.of_model(model, n), schedule, 1.0, 1.0, TIMES)
    for drift, right in ((diffusion.DERIVED, True), (diffusion.PRINTED, False)):
        rng = np.random.default_rng(7)
        errors = diffusion.diffuse(model, schedule, 1.0, 1.0, n, TIMES, 60, drift, steps=600, rng=rng)
        risks = model.risk(errors + model.target)
        gap = np.abs(risks.mean(axis=1)[1:] / expected[1:] - 1)
        assert (gap.max() < 0.04) == right
        np.testing.assert_allclose(risks[0], model.initial_risk, rtol=1e-14)


def test_without_clipping_the_mean_of_the_diffusion_is_exact():
    """c = ∞: 𝒫 is linear in the second moments, so E[R] solves the ODE; in the steps' limit, within four errors.

    A drift wrong by a twentieth is seen.
    """
    model, n, paths = uniform_model(10), 20, 4000
    schedule = Constant(1.0)
    expected = equivalent.risk_path(system.of_model(model, n), schedule, math.inf, math.inf, [0.5, 1.0])
    for drift, right in ((diffusion.DERIVED, True), (1.05, False)):
        rng = np.random.default_rng(3)
        errors = diffusion.diffuse(model, schedule, math.inf, math.inf, n, [0.5, 1.0], paths, drift, steps=150, rng=rng)
        risks = model.risk(errors + model.target)
        score = (risks.mean(axis=1) - expected) / (risks.std(axis=1) / math.sqrt(paths))
        assert (np.abs(score).max() < 4) == right


def test_private_noise_alone_has_its_own_variance():
    """A flat direction keeps all of it: (4c²d/n²)(η̃(0)² − η̃(t)²)/ρ² in each coordinate."""
    values = spectrum.Spectrum(np.array([0.0, 2.0]))
    model = spectrum.RegressionModel(values, np.zeros(2), 0.3)
    rng = np.random.default_rng(5)
    errors = diffusion.diffuse(model, Polynomial(3.0, 1.0), 0.7, 2.0, 40, [0.5], 20000, steps=50, rng=rng)
    expected = 4 * 0.49 * 2 / 40**2 * (9.0 - 2.25) / 4
    assert errors[0, :, 0].var() == pytest.approx(expected, rel=4 * math.sqrt(2 / 20000))


def test_the_diffusion_keeps_to_the_cap():
    """At η̄ = 2/γ without clipping and with Σ = I the mean risk grows by γη̄²ζ²/2 a unit of time.

    A quarter less would be seen.
    """
    values = spectrum.isotropic(20)
    model = spectrum.RegressionModel(values, spectrum.projections(values), 0.3)
    rng = np.random.default_rng(8)
    errors = diffusion.diffuse(model, Constant(5.0), math.inf, math.inf, 10, [1.0], 10000, steps=50, rng=rng)
    risks = model.risk(errors + model.target)[0]
    error = risks.std() / math.sqrt(10000)
    assert abs(risks.mean() - 0.59) < 4 * error < abs(risks.mean() - 0.5675)


def test_the_diffusion_without_noise_is_the_gradient_flow():
    """With endless data: v_i(t) = v_i(0) exp(−λ_i ∫ η̃), exactly in one step where η̃ is linear."""
    model = spectrum.RegressionModel(spectrum.uniform(4), np.full(4, 0.5), 0.0)
    errors = diffusion.diffuse(
        model, Polynomial(3.0, 1.0), math.inf, math.inf, 10**18, [1.0], 1, steps=1, rng=np.random.default_rng(1)
    )
    expected = -0.5 * np.exp(-1.5 * model.spectrum.eigenvalues)
    np.testing.assert_allclose(errors[0, 0], expected, rtol=1e-6)


def test_bad_diffusions_are_refused():
    good = {"schedule": Constant(1.0), "n": 10, "times": [1.0], "paths": 2, "steps": 10}
    for change, message in (
        ({"n": 0}, "n must be a whole number"),
        ({"paths": 0}, "paths must be a whole number"),
        ({"steps": 0}, "steps must be a whole number"),
        ({"times": [2.0]}, "times must be an ascending vector"),
        ({"drift": 0.0}, "drift must be positive"),
        ({"schedule": Rising()}, "schedule must not increase"),
    ):
        with pytest.raises(ValueError, match=message):
            diffusion.diffuse(uniform_model(4), clip=1.0, rho=1.0, **(good | change), rng=np.random.default_rng(0))
