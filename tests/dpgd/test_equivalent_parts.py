"""Quadrature, bounds, implicit form and diffusion of the deterministic equivalent."""

import math

import mpmath
import numpy as np
import pytest
from scipy.special import gamma, gammainc

from costofprivacy.dpgd import clipping, diffusion, equivalent, implicit, quadrature, risk_bounds, spectrum, system
from costofprivacy.dpgd.schedule import Constant, Harmonic, Polynomial

TIMES = np.linspace(0, 1, 11)
CLOCKS = np.concatenate([[0.0], np.geomspace(1e-3, 1e6, 60)])


def uniform_model(d=100, label_noise=0.3):
    values = spectrum.uniform(d)
    return spectrum.RegressionModel(values, spectrum.projections(values), label_noise)


def truncated_gamma(power, law, clock):
    """∫ λ^(power − 1 + φ) e^(−2λx) p(λ) dλ in closed form."""
    x = 2 * law.largest * np.maximum(clock, 1e-9)
    share = gammainc(power, x) * gamma(power) / x**power
    return (1 - law.phi) * law.largest ** (law.phi - 1 + power) * share


@pytest.mark.parametrize("phi", [-8.0, -3.0, 0.0, 0.25, 0.5, 0.8])
@pytest.mark.parametrize("share", [-1.0, 0.0, 0.5, 0.9])
def test_the_rule_integrates_the_kernels_of_the_continuum(phi, share):
    law, psi = spectrum.PowerLaw(phi), share * (1 - phi)
    equations = quadrature.of_power_law(law, 0.1, 0.3, psi=psi, initial_risk=0.5)
    start, sampled, private = implicit.kernels(equations, CLOCKS)
    scale = 0.5 / law.moment(1 - psi)
    for found, power, factor in ((start, 2 - phi - psi, scale), (sampled, 3 - phi, 1.0), (private, 2 - phi, 1.0)):
        expected = factor * truncated_gamma(power, law, CLOCKS)
        np.testing.assert_allclose(found, expected, rtol=1e-7)
    assert len(equations.initial) < 160


def test_the_closed_form_of_the_kernels_is_right():
    for clock in (0.3, 40.0):
        expected = mpmath.quad(lambda t, x=clock: t**0.5 * mpmath.exp(-2 * x * t), [0, 0.01, 0.1, 1, 3]) / 12**0.5
        assert truncated_gamma(1.5, spectrum.PowerLaw(0.5), clock) == pytest.approx(float(expected), rel=1e-9)


@pytest.mark.parametrize(("phi", "psi"), [(0.0, 0.0), (0.25, 0.5), (0.8, 0.1), (-3.0, 2.0)])
@pytest.mark.parametrize("schedule", [Constant(1.9e6), Polynomial(1e5, 0.5), Polynomial(1e3, 2.0)])
def test_the_risk_of_the_continuum_is_right_to_1e_6_for_a_clock_up_to_1e6(phi, psi, schedule, monkeypatch):
    law = spectrum.PowerLaw(phi)
    usual = equivalent.final_risk(quadrature.of_power_law(law, 1e-6, 0.3, psi=psi), schedule, 0.1, 1.0, 1e-8)
    monkeypatch.setattr(quadrature, "_ALIAS", 1e-12)
    monkeypatch.setattr(quadrature, "_TAIL", 1e-13)
    monkeypatch.setattr(quadrature, "_RIGHT", 3.4)
    fine = equivalent.final_risk(quadrature.of_power_law(law, 1e-6, 0.3, psi=psi), schedule, 0.1, 1.0, 1e-8)
    assert usual == pytest.approx(fine, rel=1e-6)


def test_many_eigenvalues_tend_to_the_continuum():
    equations = quadrature.of_power_law(spectrum.PowerLaw(0.0), 0.1, 0.3)
    limit = equivalent.final_risk(equations, Polynomial(3.0, 0.5), 1.0, 1.0)
    gaps = []
    for d in (100, 400):
        found = equivalent.final_risk(system.of_model(uniform_model(d), 10 * d), Polynomial(3.0, 0.5), 1.0, 1.0)
        gaps.append(abs(found / limit - 1))
    assert gaps[1] < gaps[0] / 8 < 1e-4


def test_a_strongly_negative_exponent_is_the_identity():
    near = quadrature.of_power_law(spectrum.PowerLaw(-1e3), 0.1, 0.3)
    risk = equivalent.final_risk(near, Constant(3.0), 1.0, 1.0)
    assert risk == pytest.approx(
        equivalent.final_risk(system.isotropic(0.5, 0.1, 0.3), Constant(3.0), 1.0, 1.0), rel=1e-4
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"psi": 0.5}, "psi must be below 1 - phi"),
        ({"clock": 0.0}, "clock must be positive and finite, got 0.0"),
        ({"clock": math.inf}, "clock must be positive and finite, got inf"),
        ({"initial_risk": 0.0}, "initial_risk must be positive"),
    ],
)
def test_bad_rules_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        quadrature.of_power_law(spectrum.PowerLaw(0.5), 0.1, 0.3, **arguments)


SYSTEMS = [
    system.of_model(uniform_model(), 1000),
    system.of_model(uniform_model(20), 10),
    system.of_spectrum([0.2, 1.0, 1.8], [2.0, 0.1, 0.1], 0.5, 0.0),
    system.of_spectrum([0.5, 1.5], [0.0, 1.0], 0.1, 0.3),
    system.of_spectrum([1.5, 3.0], [0.3, 0.1], 0.1, 0.3),  # tr Σ = 2.25d
    system.of_spectrum([0.1, 0.3], [1.0, 3.0], 0.1, 0.3),  # tr Σ = d/5
]


@pytest.mark.parametrize("equations", SYSTEMS)
@pytest.mark.parametrize("schedule", [Constant(3.0), Polynomial(50.0, 0.5), Harmonic(2.0, 0.05)])
@pytest.mark.parametrize("clip", [0.05, 1.0, 20.0])
def test_the_bounds_enclose_the_risk(equations, schedule, clip):
    risk = equivalent.risk_path(equations, schedule, clip, 1.0, TIMES)
    low, high = (
        equivalent.risk_path(bound(equations), schedule, clip, 1.0, TIMES)
        for bound in (risk_bounds.lower, risk_bounds.upper)
    )
    tight = [equivalent.risk_path(b, schedule, clip, 1.0, TIMES) for b in risk_bounds.tightened(equations)]
    for smaller, larger in ((low, tight[0]), (tight[0], risk), (risk, tight[1]), (tight[1], high)):
        assert (smaller <= larger * (1 + 4e-6)).all()


@pytest.mark.parametrize("scale", [0.3, 1.0, 2.0])
def test_the_bounds_of_a_multiple_of_the_identity_are_its_risk(scale):
    equation = system.of_spectrum([scale, scale], [0.4, 0.6], 0.1, 0.3)
    risk = equivalent.risk_path(equation, Polynomial(3.0, 0.5), 1.0, 1.0, TIMES)
    for bound in (risk_bounds.lower, risk_bounds.upper):
        np.testing.assert_allclose(
            equivalent.risk_path(bound(equation), Polynomial(3.0, 0.5), 1.0, 1.0, TIMES), risk, rtol=1e-9
        )


@pytest.mark.parametrize("values", [[1.0, 1.0], [2.0, 2.0], [0.2, 0.6, 3.0]])
def test_the_last_step_adds_its_noise_to_every_energy_whatever_the_trace(values):
    equations, schedule = system.of_spectrum(values, np.ones(len(values)), 0.3, 0.3), Constant(2.0)
    noise = 2 * 0.5**2 * 2.0**2 * 0.3**2 / 1.5**2
    expected = equations.risk(equations.initial + noise) - equations.initial_risk
    assert system.last_step(equations, schedule, 0.5, 1.5) == pytest.approx(expected, rel=1e-12)
    before = equivalent.risk_path(equations, schedule, 0.5, 1.5, [1.0])[0]
    assert equivalent.final_risk(equations, schedule, 0.5, 1.5) == pytest.approx(before + expected, rel=1e-12)


@pytest.mark.parametrize("clip", [1e-8, 0.1, 3.0, 1e3, math.inf])
def test_the_scalar_reductions_are_those_of_clipping_to_the_last_bit(clip):
    for label_noise in (0.0, 0.3):
        equation = system.isotropic(0.5, 0.1, label_noise)
        for risk in [0.0, *np.geomspace(1e-14, 1e14, 300).tolist(), math.inf]:
            test_risk = equation.test_risk(risk)
            ratio = clip / math.sqrt(2 * max(test_risk, 1e-300))
            mu, scaled_nu = system.reductions(equation, clip, risk)
            assert mu == float(clipping.descent_reduction_at(ratio)) or math.isnan(ratio)
            np.testing.assert_equal(scaled_nu, float(clipping.variance_reduction_at(ratio)) * test_risk)


def test_as_printed_beyond_the_cap_neither_bound_holds():
    equation = system.isotropic(0.5, 0.1, 0.3)
    for clip, bound, sign in ((1.0, risk_bounds.lower, 1), (0.01, risk_bounds.upper, -1)):
        risk = equivalent.risk_path(equation, Constant(60.0), clip, 1.0, [1.0])[0]
        printed = equivalent.risk_path(risk_bounds.uncapped(bound(equation)), Constant(60.0), clip, 1.0, [1.0])[0]
        assert sign * (printed - risk) > 0.1 * risk


def test_the_parts_of_the_risk_answer_for_their_causes():
    equations, times = system.of_model(uniform_model(), 1000), np.linspace(0, 1, 201)
    for clip, rho, _label_noise, absent in ((1.0, math.inf, 0.3, 2), (1.0, 1.0, 0.3, None)):
        risks = equivalent.risk_path(equations, Polynomial(3.0, 0.5), clip, rho, times)
        parts = implicit.risk_parts(equations, Polynomial(3.0, 0.5), clip, rho, times, risks)
        assert (parts >= 0).all()
        assert (parts[2] == 0) == (absent == 2)
        assert parts.sum() == pytest.approx(risks[-1], rel=1e-3)


class Rising:
    """A learning rate that increases."""

    def __call__(self, time):
        return 1.0 + np.asarray(time, dtype=float)

    def squared_decrease(self, time):
        return -2 * (1.0 + np.asarray(time, dtype=float))


WRONG = [
    (Rising(), "schedule must not increase, got"),
    (lambda t: -np.ones(np.shape(t)), "schedule must be finite and"),
]


@pytest.mark.parametrize(("schedule", "message"), WRONG)
def test_no_part_takes_a_learning_rate_that_is_not_allowed(schedule, message):
    """Its private noise would have a negative mass."""
    calls = (
        lambda: implicit.risk_parts(system.isotropic(0.5, 0.1, 0.3), schedule, 1.0, 1.0, [0.0, 1.0], [0.5, 0.4]),
        lambda: diffusion.diffuse(
            uniform_model(4), schedule, 1.0, 1.0, 10, [1.0], 2, steps=10, rng=np.random.default_rng(0)
        ),
        lambda: equivalent.risk_path(system.isotropic(0.5, 0.1, 0.3), schedule, 1.0, 1.0, [1.0]),
    )
    for call in calls:
        with pytest.raises(ValueError, match=f"^{message}") as caught:
            call()
        assert "\n" not in str(caught.value)


def test_bad_paths_are_refused():
    equation = system.isotropic(0.5, 0.1, 0.3)
    with pytest.raises(ValueError, match="times must start at 0, got"):
        implicit.risk_parts(equation, Constant(1.0), 1.0, 1.0, [0.5, 1.0], [0.5, 0.4])
    with pytest.raises(ValueError, match=r"risks must have shape \(2\), got"):
        implicit.risk_parts(equation, Constant(1.0), 1.0, 1.0, [0.0, 1.0], [0.5])
    with pytest.raises(ValueError, match="clock must be non-negative"):
        implicit.kernels(equation, [-1.0])


@pytest.mark.parametrize("schedule", [Constant(3.0), Polynomial(3.0, 0.5)])
def test_the_mean_of_the_diffusion_is_the_ode_up_to_1_over_d(schedule):
    """With the derived drift; the gap of the mean falls with d, and the printed drift is refused."""
    model, n = uniform_model(200), 2000
    expected = equivalent.risk_path(system.of_model(model, n), schedule, 1.0, 1.0, TIMES)
    for drift, right in ((diffusion.DERIVED, True), (diffusion.PRINTED, False)):
        rng = np.random.default_rng(7)
        errors = diffusion.diffuse(model, schedule, 1.0, 1.0, n, TIMES, 60, drift, steps=600, rng=rng)
        risks = model.risk(errors + model.target)
        gap = np.abs(risks.mean(axis=1)[1:] / expected[1:] - 1)
        assert (gap.max() < 0.04) == right
        np.testing.assert_allclose(risks[0], model.initial_risk, rtol=1e-14)


def test_without_clipping_the_mean_of_the_diffusion_is_exact():
    """c = ∞: 𝒫 is linear in the second moments, so E[R] solves the ODE; in the steps' limit, within four errors."""
    model, n, paths = uniform_model(10), 20, 20000
    schedule = Constant(1.0)
    expected = equivalent.risk_path(system.of_model(model, n), schedule, math.inf, math.inf, [0.5, 1.0])
    rng = np.random.default_rng(3)
    errors = diffusion.diffuse(model, schedule, math.inf, math.inf, n, [0.5, 1.0], paths, steps=400, rng=rng)
    risks = model.risk(errors + model.target)
    score = (risks.mean(axis=1) - expected) / (risks.std(axis=1) / math.sqrt(paths))
    assert np.abs(score).max() < 4


def test_private_noise_alone_has_its_own_variance():
    """A flat direction keeps all of it: (4c²d/n²)(η̃(0)² − η̃(t)²)/ρ² in each coordinate."""
    values = spectrum.Spectrum(np.array([0.0, 2.0]))
    model = spectrum.RegressionModel(values, np.zeros(2), 0.3)
    rng = np.random.default_rng(5)
    errors = diffusion.diffuse(model, Polynomial(3.0, 1.0), 0.7, 2.0, 40, [0.5], 20000, steps=50, rng=rng)
    expected = 4 * 0.49 * 2 / 40**2 * (9.0 - 2.25) / 4
    assert errors[0, :, 0].var() == pytest.approx(expected, rel=4 * math.sqrt(2 / 20000))


def test_bad_diffusions_are_refused():
    good = {"n": 10, "times": [1.0], "paths": 2, "steps": 10}
    for change, message in (
        ({"n": 0}, "n must be a whole number"),
        ({"paths": 0}, "paths must be a whole number"),
        ({"steps": 0}, "steps must be a whole number"),
        ({"times": [2.0]}, "times must be an ascending vector"),
        ({"drift": 0.0}, "drift must be positive"),
    ):
        with pytest.raises(ValueError, match=message):
            diffusion.diffuse(
                uniform_model(4), Constant(1.0), 1.0, 1.0, **(good | change), rng=np.random.default_rng(0)
            )


def test_the_diffusion_keeps_to_the_cap():
    """At η̄ = 2/γ without clipping and with Σ = I the mean risk grows by γη̄²ζ²/2 a unit of time."""
    values = spectrum.isotropic(20)
    model = spectrum.RegressionModel(values, spectrum.projections(values), 0.3)
    rng = np.random.default_rng(8)
    errors = diffusion.diffuse(model, Constant(5.0), math.inf, math.inf, 10, [1.0], 20000, steps=200, rng=rng)
    risks = model.risk(errors + model.target)[0]
    assert abs(risks.mean() - 0.59) < 4 * risks.std() / math.sqrt(20000)


def test_the_diffusion_without_noise_is_the_gradient_flow():
    """With endless data: v_i(t) = v_i(0) exp(−λ_i ∫ η̃), exactly in one step where η̃ is linear."""
    model = spectrum.RegressionModel(spectrum.uniform(4), np.full(4, 0.5), 0.0)
    errors = diffusion.diffuse(
        model, Polynomial(3.0, 1.0), math.inf, math.inf, 10**18, [1.0], 1, steps=1, rng=np.random.default_rng(1)
    )
    expected = -0.5 * np.exp(-1.5 * model.spectrum.eigenvalues)
    np.testing.assert_allclose(errors[0, 0], expected, rtol=1e-6)
