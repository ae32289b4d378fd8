"""Spectra, the quadrature rule for a continuous one, and the parts of the risk: closed forms, finer rules, solvers."""

import math

import mpmath
import numpy as np
import pytest
from scipy import integrate
from scipy.integrate import solve_ivp
from scipy.special import gamma, gammainc

from costofprivacy.dpgd import equivalent, parts, quadrature, spectrum, system
from costofprivacy.dpgd import parts as implicit
from costofprivacy.dpgd.parts import risk_parts
from costofprivacy.dpgd.schedule import Constant, Harmonic, Polynomial, noise_intensity
from costofprivacy.dpgd.spectrum import EllipticalT, Gaussian, PowerLaw, Rademacher, RegressionModel, Spectrum, StudentT
from costofprivacy.dpgd.system import System, of_spectrum
from tests.costofprivacy.dpgd.problems import TIMES, Rising, uniform_model
from tests.each import each, refused

PHIS = [-20.0, -1.0, 0.0, 0.5, 0.8]


def quad(f, upper):
    """∫₀^upper with the substitution λ = upper·x⁸, which tames the singularity at 0."""
    return integrate.quad(lambda x: f(upper * x**8) * upper * 8 * x**7, 0, 1, limit=200)[0]


@each("phi", PHIS)
def test_power_law_density_has_mass_one_mean_one_and_the_moments_said(phi):
    law = PowerLaw(phi)
    assert quad(law.density, law.largest) == pytest.approx(1, abs=1e-7)
    assert law.moment(1) == pytest.approx(1, rel=1e-14)
    for s in (0.5, 2.0):
        assert quad(lambda x, s=s: law.density(x) * x**s, law.largest) == pytest.approx(law.moment(s), rel=1e-6)


def test_uniform_quantiles_are_the_papers_with_trace_exactly_d():
    assert spectrum.uniform(4).eigenvalues.tolist() == [0.25, 0.75, 1.25, 1.75]
    assert spectrum.uniform(1000).moment(1) == pytest.approx(1, rel=1e-14)


def test_power_law_quantiles_tend_to_the_continuum_and_normalise():
    coarse, fine = (abs(spectrum.power_law(d, 0.8).moment(1) - 1) for d in (100, 10_000))
    assert fine < coarse / 100
    assert spectrum.power_law(100, 0.8).normalised().moment(1) == pytest.approx(1, rel=1e-14)


@each("psi", [-1.0, 0.0, 0.4])
def test_projections_have_the_shape_and_the_risk_asked_for(psi):
    values = spectrum.power_law(50, 0.3)
    target = spectrum.projections(values, psi, initial_risk=0.7)
    shape = target**2 * values.eigenvalues**psi
    np.testing.assert_allclose(shape, shape[0], rtol=1e-12)
    model = RegressionModel(values, target, label_noise=0.3)
    assert model.initial_risk == pytest.approx(0.7, rel=1e-12)
    assert (values.eigenvalues * model.initial_energies).mean() == pytest.approx(0.7, rel=1e-12)
    assert model.response_variance == pytest.approx(2 * 0.7 + 0.09, rel=1e-12)


def test_initial_energy_is_the_limit_of_the_projections():
    phi, psi, d = 0.3, 0.4, 20_000
    values = spectrum.power_law(d, phi)
    model = RegressionModel(values, spectrum.projections(values, psi, 0.7), 0.3)
    limit = PowerLaw(phi).initial_energy(values.eigenvalues, psi, 0.7)
    np.testing.assert_allclose(model.initial_energies, limit, rtol=1e-4)


def test_risk_is_the_loss_above_its_minimum():
    rng = np.random.default_rng(2)
    values = Spectrum([0.5, 1.0, 1.5])
    model = RegressionModel(values, np.array([1.0, -1.0, 2.0]), label_noise=0.4)
    theta = np.array([0.5, 0.5, 1.0])
    x, y = spectrum.sample(model, 200_000, rng=rng)
    losses = (x @ theta - y) ** 2 / 2
    error = losses.std() / np.sqrt(len(losses))
    assert abs(losses.mean() - model.risk(theta) - 0.4**2 / 2) < 4 * error
    assert model.risk(np.stack([theta, model.target])).tolist() == [model.risk(theta), 0.0]


LAWS = [Gaussian(), Rademacher(), StudentT(5.0), EllipticalT(5.0)]


@pytest.mark.parametrize("law", LAWS, ids=lambda law: type(law).__name__)
def test_features_have_the_covariance_of_the_spectrum(law):
    model = RegressionModel(Spectrum([0.5, 1.5]), np.array([1.0, 1.0]), label_noise=0.3, law=law)
    x, y = spectrum.sample(model, 200_000, rng=np.random.default_rng(3))
    np.testing.assert_allclose(x.T @ x / len(x), np.diag([0.5, 1.5]), atol=0.03)
    np.testing.assert_allclose(x.mean(axis=0), 0, atol=0.01)
    assert y.var() == pytest.approx(model.response_variance, rel=0.02)


def norm_spread(law, d):
    """The standard deviation of ‖x‖²/d."""
    return (law.draw(2000, d, rng=np.random.default_rng(4)) ** 2).mean(axis=1).std()


def test_what_tells_the_laws_apart():
    assert norm_spread(Rademacher(), 100) == 0
    assert norm_spread(Gaussian(), 400) == pytest.approx(norm_spread(Gaussian(), 100) / 2, rel=0.1)
    assert norm_spread(StudentT(10.0), 400) < 0.7 * norm_spread(StudentT(10.0), 100)
    assert norm_spread(EllipticalT(10.0), 400) == pytest.approx(norm_spread(EllipticalT(10.0), 100), rel=0.1)


@each(
    ("make", "message"),
    [
        (lambda: Spectrum([]), "eigenvalues must be a non-empty vector"),
        (lambda: Spectrum([1.0, -0.1]), "eigenvalues must be non-negative and not all 0"),
        (lambda: Spectrum([1.0, np.nan]), "eigenvalues must be finite, got nan"),
        (lambda: Spectrum([0.0, 1.0]).moment(-1), "s must be non-negative where an eigenvalue is 0"),
        (lambda: PowerLaw(1.0), "phi must be finite and below 1, got 1.0"),
        (lambda: PowerLaw(0.5).moment(-0.5), "s must exceed phi - 1"),
        (lambda: PowerLaw(0.5).initial_energy(1.0, 0.5, 1.0), r"psi must be below 1 - phi = 0.5, got 0.5"),
        (lambda: PowerLaw(0.5).initial_energy(1.0, 0.0, 0.0), "initial_risk must be positive"),
        (lambda: spectrum.uniform(2.5), "d must be a whole number of at least 1"),
        (lambda: spectrum.projections(Spectrum([0.0, 1.0]), 1.5), "psi must be at most 0 where an eigenvalue is 0"),
        (lambda: spectrum.projections(spectrum.isotropic(2), 0.0, -1.0), "initial_risk must be positive"),
        (lambda: StudentT(2.0), "degrees must be finite and above 2"),
        (lambda: EllipticalT(np.inf), "degrees must be finite and above 2"),
        (lambda: RegressionModel(spectrum.isotropic(2), np.ones(3), 0.1), r"target must have shape \(2\), got \(3,\)"),
        (lambda: RegressionModel(spectrum.isotropic(2), np.ones(2), -0.1), "label_noise must be non-negative"),
        (
            lambda: RegressionModel(spectrum.isotropic(2), np.ones(2), 0.1).risk(np.ones(3)),
            "theta must have a last axis of length 2",
        ),
    ],
)
def test_bad_input_is_refused_in_one_line(make, message):
    with pytest.raises(ValueError, match=message) as error:
        make()
    assert "\n" not in str(error.value)


GAMMA = 1e-10
CLOCKS = np.concatenate([[0.0], np.geomspace(1e-3, 2 / GAMMA, 80)])


def truncated_gamma(power, law, clock):
    """∫ λ^(power − 1 + φ) e^(−2λx) p(λ) dλ in closed form."""
    x = 2 * law.largest * np.maximum(clock, 1e-9)
    share = gammainc(power, x) * gamma(power) / x**power
    return (1 - law.phi) * law.largest ** (law.phi - 1 + power) * share


@each("phi", [-8.0, -3.0, 0.0, 0.25, 0.5, 0.8])
@each("share", [-1.0, 0.0, 0.5, 0.9])
def test_the_rule_integrates_the_kernels_of_the_continuum(phi, share):
    law, psi = spectrum.PowerLaw(phi), share * (1 - phi)
    equations = quadrature.of_power_law(law, GAMMA, 0.3, psi=psi, initial_risk=0.5)
    start, sampled, private = parts.kernels(equations, CLOCKS)
    scale = 0.5 / law.moment(1 - psi)
    for found, power, factor in ((start, 2 - phi - psi, scale), (sampled, 3 - phi, 1.0), (private, 2 - phi, 1.0)):
        expected = factor * truncated_gamma(power, law, CLOCKS)
        np.testing.assert_allclose(found, expected, rtol=1e-7)
    assert len(equations.initial) < 200


@pytest.mark.parametrize(("phi", "psi"), [(0.25, 0.5), (0.8, 0.1), (-3.0, 2.0)])
@pytest.mark.parametrize("schedule", [Constant(1.9e6), Polynomial(1e3, 2.0)])
def test_the_risk_of_the_continuum_is_right_to_1e_6_for_a_clock_up_to_1e6(phi, psi, schedule, monkeypatch):
    law = spectrum.PowerLaw(phi)
    usual = equivalent.final_risk(quadrature.of_power_law(law, 1e-6, 0.3, psi=psi), schedule, 0.1, 1.0, 1e-8)
    monkeypatch.setattr(quadrature, "_ALIAS", 1e-12)
    monkeypatch.setattr(quadrature, "_TAIL", 1e-13)
    monkeypatch.setattr(quadrature, "_RIGHT", 3.4)
    fine = equivalent.final_risk(quadrature.of_power_law(law, 1e-6, 0.3, psi=psi), schedule, 0.1, 1.0, 1e-8)
    assert usual == pytest.approx(fine, rel=1e-6)


@each(
    ("arguments", "message"),
    [
        ({"psi": 0.5}, "psi must be below 1 - phi"),
        ({"clock": 0.0}, "clock must be positive and finite, got 0.0"),
        ({"clock": math.inf}, "clock must be positive and finite, got inf"),
        ({"initial_risk": 0.0}, "initial_risk must be positive"),
    ],
)
def test_bad_rules_are_refused(arguments, message):
    refused(message, quadrature.of_power_law, spectrum.PowerLaw(0.5), 0.1, 0.3, **arguments)


def test_the_closed_form_of_the_kernels_is_right():
    for clock in (0.3, 40.0):
        expected = mpmath.quad(lambda t, x=clock: t**0.5 * mpmath.exp(-2 * x * t), [0, 0.01, 0.1, 1, 3]) / 12**0.5
        assert truncated_gamma(1.5, spectrum.PowerLaw(0.5), clock) == pytest.approx(float(expected), rel=1e-9)


# ---- Lumped ----

LONG_GAMMA = 0.1


def long_spectrum(d: int = 300) -> System:
    """Eigenvalues over eight decades, and a target that is rough in them."""
    values = np.append(np.geomspace(1e-6, 30.0, d - 1), 500.0)
    energies = np.random.default_rng(0).exponential(size=d) / (0.1 + values)
    return of_spectrum(values, energies, LONG_GAMMA, 0.4)


def test_gauss_has_the_first_moments() -> None:
    rng = np.random.default_rng(1)
    values, weights = rng.uniform(1, 3, 50), rng.exponential(size=50)
    nodes, shares = quadrature.gauss(values, weights)
    assert len(nodes) == 3
    assert (shares > 0).all()
    for power in range(6):
        assert shares @ nodes**power == pytest.approx(weights @ values**power, rel=1e-12)
    assert shares @ nodes**6 != pytest.approx(weights @ values**6, rel=1e-9)


@each("schedule", [Constant(60.0), Harmonic(1.0, 0.01)])
@each("clip", [0.01, 10.0])
def test_the_risk_is_that_of_the_whole_spectrum(schedule: Constant, clip: float) -> None:
    whole = long_spectrum()
    few = quadrature.lumped(whole, whole.cap)
    assert len(few.initial) < 100
    assert few.initial_risk == pytest.approx(whole.initial_risk, rel=1e-8)
    known, found = (equivalent.final_risk(each, schedule, clip, 0.5, 1e-7) for each in (whole, few))
    assert found == pytest.approx(known, rel=3e-4)


SYSTEMS = {
    "isotropic": system.isotropic(0.5, 0.1, 0.3),
    "few records": system.isotropic(0.5, 0.3, 0.3),
    "uniform": system.of_model(uniform_model(20), 200),
    "power law": quadrature.of_power_law(PowerLaw(0.5), 0.1, 0.3, clock=20.0),
}


@each("name", SYSTEMS)
@each("schedule", [Constant(3.0), Polynomial(3.0, 0.5), Harmonic(2.0, 0.1)])
@each(("clip", "rho"), [(1.0, 1.0), (3.0, math.inf), (0.3, 0.3)])
def test_the_parts_add_up_to_the_risk_of_the_book_s_solver(
    name: str, schedule: object, clip: float, rho: float
) -> None:
    told = (SYSTEMS[name], schedule, clip, rho, TIMES)
    found, risk = risk_parts(*told), equivalent.risk_path(*told)
    np.testing.assert_allclose(found.start + found.sampling + found.private, found.risk, rtol=1e-6)
    np.testing.assert_allclose(found.risk, risk, rtol=2e-3)
    for part in (found.start, found.sampling, found.private):
        assert (part >= 0).all()


@pytest.mark.parametrize("schedule", [Polynomial(3.0, 0.5), Polynomial(3.0, 1.0), Harmonic(0.5, 0.1)], ids=str)
@pytest.mark.parametrize("name", ["isotropic", "uniform"])
def test_each_part_solves_its_own_equation(name: str, schedule: Polynomial) -> None:
    """(4.7) for each source alone, with μ and ν from their sum, by LSODA: nothing of the integrator is used."""
    equations, clip, rho = SYSTEMS[name], 1.0, 1.0
    m, gamma = len(equations.initial), equations.aspect_ratio

    def right_side(time: float, parts: np.ndarray) -> np.ndarray:
        start, sampling, private = parts.reshape(3, m)
        mu, scaled_nu = system.reductions(equations, clip, equations.risk(start + sampling + private))
        rate = float(equations.learning_rate(schedule, time))
        noise = 2 * clip**2 * gamma**2 * float(noise_intensity(schedule, min(time, 1 - 1e-12), rho))
        fall = -2 * rate * mu * equations.relaxation
        source = gamma * rate**2 * scaled_nu * equations.sampling
        return np.concatenate([fall * start, fall * sampling + source, fall * private + noise])

    first = np.concatenate([equations.initial, np.zeros(2 * m)])
    solved = solve_ivp(right_side, (0, 1), first, method="LSODA", t_eval=TIMES, rtol=1e-8, atol=1e-12)
    expected = np.einsum("i,pit->pt", equations.readout, solved.y.reshape(3, m, -1))
    found = risk_parts(equations, schedule, clip, rho, TIMES)
    np.testing.assert_allclose([found.start, found.sampling, found.private], expected, rtol=2e-3, atol=1e-9)


def test_without_clipping_the_start_decays_as_the_clock_tells() -> None:
    """μ = 1: B(t) = R(0) exp(−2∫η̄), below the cap 2/γ."""
    found = risk_parts(SYSTEMS["isotropic"], Polynomial(3.0, 1.0), math.inf, math.inf, TIMES)
    np.testing.assert_allclose(found.start, 0.5 * np.exp(-3.0 * (1 - (1 - TIMES) ** 2)), rtol=1e-10)


def test_what_makes_no_noise_has_no_private_part() -> None:
    for schedule, rho in ((Polynomial(3.0, 0.5), math.inf), (Constant(3.0), 1.0)):
        assert (risk_parts(SYSTEMS["uniform"], schedule, 1.0, rho, TIMES).private == 0).all()
    assert risk_parts(SYSTEMS["uniform"], Polynomial(3.0, 0.5), 1.0, 1.0, TIMES).private[-1] > 0


def test_inadmissible_arguments_are_refused() -> None:
    refused("increase", risk_parts, SYSTEMS["isotropic"], Rising(), 1.0, 1.0, TIMES)
    refused(r"^times must be", risk_parts, SYSTEMS["isotropic"], Constant(1.0), 1.0, 1.0, [0.5, 0.2])
    refused(r"^rho must be", risk_parts, SYSTEMS["isotropic"], Constant(1.0), 1.0, 0.0, TIMES)


# ---- Implicit ----


def test_the_implicit_equation_refuses_a_path_with_another_reduction():
    equations = system.of_model(uniform_model(), 1000)
    times = np.linspace(0, 1, 401)
    risks = equivalent.risk_path(equations, Constant(3.0), 1.1, 1.0, times)
    assert abs(implicit.parts_of_path(equations, Constant(3.0), 1.0, 1.0, times, risks).sum() / risks[-1] - 1) > 0.01


def test_bad_paths_are_refused():
    equation = system.isotropic(0.5, 0.1, 0.3)
    refused("schedule must not increase", implicit.parts_of_path, equation, Rising(), 1.0, 1.0, [0.0, 1.0], [0.5, 0.4])
    with pytest.raises(ValueError, match="times must start at 0, got"):
        implicit.parts_of_path(equation, Constant(1.0), 1.0, 1.0, [0.5, 1.0], [0.5, 0.4])
    with pytest.raises(ValueError, match=r"risks must have shape \(2\), got"):
        implicit.parts_of_path(equation, Constant(1.0), 1.0, 1.0, [0.0, 1.0], [0.5])
    refused("clock must be non-negative", implicit.kernels, equation, [-1.0])
