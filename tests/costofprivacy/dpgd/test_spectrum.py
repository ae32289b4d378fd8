import numpy as np
import pytest
from scipy import integrate

from costofprivacy.dpgd import spectrum
from costofprivacy.dpgd.spectrum import (
    EllipticalT,
    Gaussian,
    PowerLaw,
    Rademacher,
    RegressionModel,
    Spectrum,
    StudentT,
)
from tests.each import each

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


@each("phi", PHIS)
def test_quantile_inverts_the_distribution_function(phi):
    law = PowerLaw(phi)
    for u in (0.1, 0.5, 0.9):
        assert quad(law.density, law.quantile(u)) == pytest.approx(u, abs=1e-7)


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


def test_sample_wants_a_whole_number():
    model = RegressionModel(spectrum.isotropic(2), np.ones(2), 0.1)
    with pytest.raises(ValueError, match="n must be a whole number of at least 1"):
        spectrum.sample(model, 0, rng=np.random.default_rng(0))
