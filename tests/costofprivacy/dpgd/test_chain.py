import dataclasses

import numpy as np
import pytest
from scipy import stats

from costofprivacy.dpgd import chain, descent, spectrum
from costofprivacy.dpgd.descent import Configuration
from costofprivacy.dpgd.schedule import Constant, Harmonic, Polynomial, learning_rates, noise_multipliers
from tests import oracles
from tests.each import each

N, REPEATS = 25, 400
NOISY = Configuration(0.7, Polynomial(8.0, 0.5), 2.0)
MODELS = {
    "isotropic": spectrum.RegressionModel(spectrum.isotropic(4), np.full(4, 0.5), 0.8),
    "three eigenvalues": spectrum.RegressionModel(
        spectrum.Spectrum([0.2, 1.5, 1.5, 0.2, 0.0, 1.0]), np.array([1.0, 0.2, 0.5, -1.0, 1.0, 0.1]), 0.8
    ),
}


def literal_risks(model, configuration):
    """R(θ_⌊n/2⌋) and R(θ_n) of the literal algorithm, shape (2, repeats)."""
    rng = np.random.default_rng(11)
    eta = learning_rates(configuration.schedule, N)
    sigma = noise_multipliers(eta, configuration.rho)
    out = []
    for _ in range(REPEATS):
        x, y = spectrum.sample(model, N, rng=rng)
        b = rng.standard_normal(x.shape)
        path = oracles.dpgd(x, y, eta, configuration.clip_norm(model.d), sigma, b)
        out.append([model.risk(path[N // 2]), model.risk(path[N])])
    return np.array(out).T


@pytest.fixture(scope="module")
def literal():
    return {name: literal_risks(model, NOISY) for name, model in MODELS.items()}


def chain_risks(model, rng):
    return chain.risk_at(chain.eigenspaces(model), [NOISY], N, [0.5, 1.0], 4000, rng=rng)[0].T


def smallest_p_value(ours, theirs):
    return min(stats.ks_2samp(a, b).pvalue for a, b in zip(ours, theirs))


@pytest.mark.parametrize("name", MODELS)
def test_the_chain_has_the_law_of_algorithm_1(name, literal):
    assert smallest_p_value(chain_risks(MODELS[name], np.random.default_rng(5)), literal[name]) > 0.01


TERMS = ["along", "square_rest", "label", "noise_along", "noise_rest"]


@pytest.mark.parametrize("term", TERMS)
def test_a_chain_with_a_term_left_out_is_told_apart(term, literal, monkeypatch):
    def mutilated(*args, whole=chain.draw, **named):
        fresh = whole(*args, **named)
        return dataclasses.replace(fresh, **{term: np.zeros_like(getattr(fresh, term))})

    monkeypatch.setattr(chain, "draw", mutilated)
    ours = chain_risks(MODELS["isotropic"], np.random.default_rng(5))
    assert smallest_p_value(ours, literal["isotropic"]) < 1e-4


@each("name", MODELS)
def test_the_draws_are_those_of_the_features(name):
    """‖x‖² from its parts, each with its mean; an eigenspace of one dimension has no rest."""
    spaces = chain.eigenspaces(MODELS[name])
    fresh = chain.draw(spaces, 400, 50, rng=np.random.default_rng(3))
    np.testing.assert_allclose(fresh.square_norm, (fresh.along**2 + fresh.square_rest).sum(axis=1), rtol=1e-13)
    values, counts = spaces.eigenvalues, spaces.multiplicities
    np.testing.assert_allclose((fresh.along**2).mean(axis=(0, 2)), values, rtol=0.05)
    np.testing.assert_allclose(fresh.square_rest.mean(axis=(0, 2)), values * (counts - 1), rtol=0.05)
    np.testing.assert_allclose(fresh.noise_rest.mean(axis=(0, 2)), counts - 1, rtol=0.05)
    assert fresh.label.std() == pytest.approx(0.8, rel=0.03)


def test_moments_agree_with_descents_in_high_dimension():
    model = spectrum.RegressionModel(spectrum.isotropic(50), spectrum.projections(spectrum.isotropic(50)), 0.3)
    configurations = [Configuration(1.0, Constant(3.0), 1.0), Configuration(0.3, Polynomial(5.0, 0.5), 0.5)]
    times = [0.0, 0.3, 0.7, 1.0]
    ours = chain.risk_at(chain.eigenspaces(model), configurations, 500, times, 2000, rng=np.random.default_rng(7))
    runs = [descent.descend(model, configurations, 500, times, rng=np.random.default_rng(s)).risk for s in range(100)]
    theirs = np.stack(runs, axis=1)
    spread = theirs.std(axis=1, ddof=1)
    error = spread / np.sqrt(100) * np.sqrt(1 + 100 / 2000)
    assert (abs(ours.mean(axis=1) - theirs.mean(axis=1)) <= 4 * error + 1e-12).all()
    np.testing.assert_allclose(ours.std(axis=1)[:, 1:], spread[:, 1:], rtol=0.3)


def test_eigenspaces_gather_equal_eigenvalues():
    spaces = chain.eigenspaces(MODELS["three eigenvalues"])
    assert spaces.eigenvalues.tolist() == [0.0, 0.2, 1.0, 1.5]
    assert spaces.multiplicities.tolist() == [1, 2, 1, 2]
    np.testing.assert_allclose(spaces.target_norms**2, [1.0, 2.0, 0.01, 0.29])
    assert spaces.d == 6


def test_overflow_is_infinite_risk():
    model = MODELS["isotropic"]
    absurd = Configuration(1e100, Polynomial(1e100, 0.5), 1.0)
    risk = chain.risk_at(chain.eigenspaces(model), [NOISY, absurd], N, [0.0, 1.0], 4, rng=np.random.default_rng(0))
    assert np.isinf(risk[1, :, 1]).all()
    assert np.isfinite(risk[0]).all()
    assert np.isfinite(risk[:, :, 0]).all()


def test_bad_input_is_refused():
    model = MODELS["isotropic"]
    spaces = chain.eigenspaces(model)
    with pytest.raises(ValueError, match="chains must be a whole number of at least 1"):
        chain.risks(spaces, [NOISY], N, 0, rng=np.random.default_rng(0))
    with pytest.raises(ValueError, match="n must be a whole number of at least 1"):
        chain.risks(spaces, [NOISY], 0, 1, rng=np.random.default_rng(0))
    other = spectrum.RegressionModel(spectrum.isotropic(2), np.ones(2), 0.1, spectrum.Rademacher())
    with pytest.raises(ValueError, match="law must be Gaussian for the risk chain"):
        chain.eigenspaces(other)


# ---- Chain grid ----

CLIPS, RATES = np.array([1e-3, 0.1, 10.0, 0.1]), np.array([300.0, 5.0, 0.3, 60.0])
SHAPES = {"constant": Constant, "half": lambda r: Polynomial(r, 0.5), "harmonic": lambda r: Harmonic(0.3 * r, 0.3)}


def spaces(d: int, value: float = 1.0) -> chain.Eigenspaces:
    model = spectrum.RegressionModel(spectrum.Spectrum([value] * d), np.full(d, 0.3), 0.3)
    return chain.eigenspaces(model)


def literal_grid(family, rho: float, n: int, d: int) -> np.ndarray:
    runs = [Configuration(float(c), family(float(rate)), rho) for c, rate in zip(CLIPS, RATES)]
    return chain.risk_at(spaces(d), runs, n, [1.0], 1, rng=np.random.default_rng(4))[:, 0, 0]


@each("rho", [0.1, np.inf])
@each("name", SHAPES)
@each(("n", "d"), [(1, 3), (300, 20), (50, 1)])
def test_a_place_of_the_grid_is_the_chain(name, rho, n, d):
    found = chain.released_risks(spaces(d), SHAPES[name](1.0), CLIPS, RATES, rho, n, rng=np.random.default_rng(4))
    np.testing.assert_allclose(found, literal_grid(SHAPES[name], rho, n, d), rtol=1e-10)


def test_chunks_do_not_matter(monkeypatch):
    def run() -> np.ndarray:
        return chain.released_risks(
            spaces(20), SHAPES["half"](1.0), CLIPS, RATES, 0.1, 100, rng=np.random.default_rng(4)
        )

    whole = run()
    monkeypatch.setattr(chain, "CHUNK_STEPS", 7)
    np.testing.assert_array_equal(run(), whole)


def test_several_eigenspaces_are_refused():
    two = chain.eigenspaces(spectrum.RegressionModel(spectrum.Spectrum([0.5, 1.5]), np.ones(2), 0.3))
    with pytest.raises(ValueError, match="spaces must be a single eigenspace, got 2"):
        chain.released_risks(two, Constant(1.0), CLIPS, RATES, 1.0, 10, rng=np.random.default_rng(4))
