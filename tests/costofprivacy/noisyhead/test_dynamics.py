"""The closed forms against simulation to Monte-Carlo error, and exactly where the data are such that they are exact."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import optimize

from costofprivacy.noisyhead import dynamics, head, population, pretraining, recipes
from costofprivacy.noisyhead.curvature import in_eigenbasis
from costofprivacy.noisyhead.dynamics import noise_limit, noiseless_gain
from costofprivacy.noisyhead.head import Moments
from costofprivacy.noisyhead.hyperparameters import Hyperparameters
from costofprivacy.noisyhead.prompts import PromptModel, sample
from costofprivacy.noisyhead.ridge import ridge
from costofprivacy.settings import Setting
from tests import oracles
from tests.each import each

MODEL = PromptModel(4, 9, 0.5)
HYPER = Hyperparameters(clip_norm=3.0, feature_bound=3.0, weight_bound=1e9, penalty=0.5, learning_rate=0.1, steps=20)


def score(values: np.ndarray, expected: float) -> float:
    return abs(values.mean() - expected) / (values.std(ddof=1) / np.sqrt(len(values)))


def test_the_noise_risk_is_the_literal_sum() -> None:
    square = (1 - 0.1 * (1.0 + 0.3)) ** 2
    expected = 0.2**2 * population.context_energy(MODEL) * sum(square**t for t in range(20))
    assert dynamics.noise_risk(HYPER, MODEL, 0.2, 0.3) == pytest.approx(expected)
    assert dynamics.noise_risk(HYPER, MODEL, 0.2) == dynamics.noise_risk(HYPER, MODEL, 0.2, 0.0) > expected


@each("model", [PromptModel(5, 31), PromptModel(3, 4, 0.8)])
def test_the_curvature_is_every_eigenvalue_of_the_population(model: PromptModel) -> None:
    """The energy of vec(Z) in random directions, of which none is special."""
    Z = head.statistics(sample(model, 40000, rng=np.random.default_rng(1))).Z.reshape(40000, -1)
    directions = np.random.default_rng(2).standard_normal((6, model.D**2))
    for a in directions / np.linalg.norm(directions, axis=1, keepdims=True):
        values = (Z @ a) ** 2
        assert score(values, dynamics.curvature(model)) < 4
        assert score(values, 1.1 * dynamics.curvature(model)) > 4


@each("N", [1, 2, 10])
@each("model", [PromptModel(3, 5), PromptModel(2, 3, 1.0), PromptModel(4, 1, 0.6), PromptModel(1, 2)])
def test_the_cross_moment_has_its_energy(model: PromptModel, N: int) -> None:
    """Mean ‖b‖² over many data sets of N prompts; wrong by 10 % it would be seen."""
    sets = 60000 // N
    data = head.statistics(sample(model, sets * N, rng=np.random.default_rng(3)))
    b = (data.response[:, None, None] * data.Z).reshape(sets, N, model.D, model.D).mean(axis=1)
    energy = (b**2).sum(axis=(1, 2))
    expected = dynamics.cross_energy(model, N)
    assert score(energy, expected) < 4
    assert score(energy, 1.1 * expected) > 4
    assert score(energy, expected / 1.1) > 4


def isotropic(h: float, seed: int) -> tuple[Moments, np.ndarray]:
    """A data set with H = hI and b of energy one, and a start of energy four across it."""
    rng = np.random.default_rng(seed)
    b, start = rng.standard_normal((2, 16))
    b /= np.linalg.norm(b)
    start -= (start @ b) * b
    return Moments(h * np.eye(16), b), (2 * start / np.linalg.norm(start)).reshape(4, 4)


@each("penalty", [0.5, 1.0, 3.0])
def test_the_descent_risk_is_exact_where_H_is_a_multiple_of_one(penalty: float) -> None:
    """The start is orthogonal to b, as a random one is in the mean; b is scaled to its mean energy."""
    data, start = isotropic(dynamics.curvature(MODEL), 0)
    scaled = Moments(data.gram, data.cross * np.sqrt(dynamics.cross_energy(MODEL, 50)))
    steps = np.array([1, 3, 20, 400])
    path = pretraining.descent_path(in_eigenbasis(scaled), HYPER, steps.tolist(), start)
    literal = population.excess_risk(MODEL, path - ridge(scaled, penalty))
    found = dynamics.descent_risk(HYPER, MODEL, 50, penalty, 4.0, steps)
    np.testing.assert_allclose(found, literal, rtol=1e-9, atol=1e-30)


@each("half", [False, True])
def test_the_descent_risk_is_the_mean_over_data_sets(half: bool) -> None:
    """Random Γ⁰, and λ = 10N/D, so that O(h/λ) is below the error: the mean over data sets; wrong formulas are seen."""
    model, N, lam, std, steps = PromptModel(4, 4, 0.3), 16, 40.0, 0.0015, np.array([1, 5, 20])
    hyper = replace(HYPER, penalty=lam / 2 if half else lam, learning_rate=0.003)
    rng, risks = np.random.default_rng(4), []
    for _ in range(600):
        raw, _ = head.sample_statistics(model, N, rng=rng)
        data, start = head.moments(raw), std * rng.standard_normal((4, 4))
        path = pretraining.descent_path(in_eigenbasis(data), hyper, steps.tolist(), start)
        risks.append(population.excess_risk(model, path - ridge(data, lam)))
    energy = std**2 * 16
    expected = dynamics.descent_risk(hyper, model, N, lam, energy, steps)
    wrong = [
        dynamics.descent_risk(hyper, model, N, 1.1 * lam, energy, steps),
        dynamics.descent_risk(hyper, model, 10 * N, lam, energy, steps),
        dynamics.descent_risk(hyper, model, N, lam, 2 * energy, steps),
    ]
    for i, values in enumerate(np.array(risks).T):
        assert score(values, expected[i]) < 4.5
    assert all(max(score(values, w[i]) for i, values in enumerate(np.array(risks).T)) > 5 for w in wrong)


# ---- Learning curve ----

CURVE_MODEL = PromptModel(D=3, L=15, label_noise=0.4)
CURVE_HYPER = Hyperparameters(50.0, 50.0, 1e6, 0.2, 0.8, 25)  # nothing is clipped or projected


@each("penalty", [1e-6, 0.05, 3.0])
def test_on_many_prompts_it_ends_at_the_ridge_solution_of_the_population(penalty: float) -> None:
    hyper = replace(CURVE_HYPER, penalty=penalty / 2, learning_rate=0.3)
    found = noiseless_gain(hyper, CURVE_MODEL, 10**13, np.array([10**9]))[0]
    assert 1.16 - found == pytest.approx(population.ridge_prediction_error(CURVE_MODEL, penalty), rel=1e-9)


def test_it_is_the_mean_of_the_literal_algorithm_on_data() -> None:
    """In law, from prompts drawn one by one; a learning rate or penalty that is off is found out."""
    N, trials, rng = 200, 40, np.random.default_rng(3)
    steps = np.zeros((2, 3, 3))
    told = (
        CURVE_HYPER.clip_norm,
        CURVE_HYPER.feature_bound,
        CURVE_HYPER.weight_bound,
        CURVE_HYPER.penalty,
        CURVE_HYPER.learning_rate,
    )
    gains = []
    for _ in range(trials):
        data = sample(CURVE_MODEL, N, rng=rng)
        Gamma = oracles.noisyhead(data.x, data.y, *told, steps, np.zeros((3, 3)))
        gains.append(1.16 - population.prediction_error(CURVE_MODEL, Gamma))
    mean, error = np.mean(gains), np.std(gains, ddof=1) / np.sqrt(trials)
    found, wrong, other = (
        noiseless_gain(hyper, CURVE_MODEL, N, np.array([len(steps)]))[0]
        for hyper in (CURVE_HYPER, replace(CURVE_HYPER, penalty=0.5), replace(CURVE_HYPER, learning_rate=0.5))
    )
    assert abs(found - mean) < 4 * error
    assert abs(wrong - mean) > 8 * error
    assert abs(other - mean) > 8 * error


@each("std", [0.02, 0.1, 0.5, 20.0])
def test_noise_adds_at_most_the_less_of_its_limit_and_of_what_it_would_be_without_projection(std: float) -> None:
    """The chain Γ ← Π_R((1 − η₀(2λ + h))Γ + z) itself, many times over: never above, and close to the bound."""
    hyper, h = replace(CURVE_HYPER, weight_bound=1.0), dynamics.curvature(CURVE_MODEL)
    rng, Gamma = np.random.default_rng(1), np.zeros((20_000, 9))
    for _ in range(hyper.steps):
        Gamma = (1 - hyper.learning_rate * (2 * hyper.penalty + h)) * Gamma + std * rng.standard_normal(Gamma.shape)
        norms = np.linalg.norm(Gamma, axis=1, keepdims=True)
        Gamma *= np.minimum(1.0, hyper.weight_bound / norms)
    added = h * (Gamma**2).sum(axis=1).mean()
    bound = min(noise_limit(hyper, CURVE_MODEL), dynamics.noise_risk(hyper, CURVE_MODEL, std, h))
    assert added < 1.02 * bound
    assert added > 0.75 * bound


def test_the_limit_of_the_corrected_radius_does_not_grow_as_the_penalty_falls_faster_than_its_inverse() -> None:
    """h C²/(4λ) with R = C/(2√λ)."""
    model = recipes.square_model(5, 1000, 0.0)
    hyper = recipes.low_dimension(model, 1000, 1.0, 5.0)[Setting.CORRECTED]
    assert noise_limit(hyper, model) == pytest.approx(dynamics.curvature(model) * hyper.clip_norm**2 / 20, rel=1e-12)


# ---- Last iterate ----

LAST_MODEL = PromptModel(D=2, L=6)
DATA = head.moments(head.statistics(sample(LAST_MODEL, 30, rng=np.random.default_rng(0))))  # nothing is compiled for it
LAST_HYPER = Hyperparameters(
    clip_norm=2.0, feature_bound=1.0, weight_bound=1e6, penalty=0.3, learning_rate=0.4, steps=2
)
DRAWS = 2000


def drawn(hyper: Hyperparameters, std: float) -> np.ndarray:
    rng = np.random.default_rng(1)
    return np.stack([dynamics.simulate(DATA, hyper, std, rng=rng).ravel() for _ in range(DRAWS)])


def distance(left: np.ndarray, right: np.ndarray) -> float:
    """Largest difference of means and of covariances in standard errors."""
    spread = np.sqrt((left.var(axis=0) + right.var(axis=0)) / DRAWS)
    means = np.abs(left.mean(axis=0) - right.mean(axis=0)) / spread
    a, b = np.cov(left.T), np.cov(right.T)
    scale = np.sqrt(np.outer(np.diag(a), np.diag(a))) * np.sqrt(2 * 2 / DRAWS)
    return float(max(means.max(), (np.abs(a - b) / scale).max()))


def test_it_has_the_law_of_the_algorithm_and_no_other() -> None:
    rng = np.random.default_rng(2)
    runs = np.stack([pretraining.pretrain(DATA, LAST_HYPER, [0.1], rng=rng)[0].ravel() for _ in range(DRAWS)])
    assert distance(drawn(LAST_HYPER, 0.1), runs) < 4
    assert distance(drawn(replace(LAST_HYPER, steps=3), 0.1), runs) > 6
    assert distance(drawn(LAST_HYPER, 0.12), runs) > 6


def test_without_noise_it_is_gradient_descent() -> None:
    released = dynamics.simulate(DATA, LAST_HYPER, 0.0, rng=np.random.default_rng(3))
    np.testing.assert_allclose(released, pretraining.gradient_descent(DATA, LAST_HYPER), rtol=1e-12)


# ---- Population ----


MODELS = [PromptModel(2, 1), PromptModel(5, 31), PromptModel(3, 7, 0.8), PromptModel(1, 4, 0.5)]


@each("model", MODELS)
def test_moments_against_simulation(model: PromptModel) -> None:
    drawn = sample(model, 40000, rng=np.random.default_rng(5))
    data = head.statistics(drawn)
    rng = np.random.default_rng(6)
    Gamma = rng.standard_normal((model.D, model.D))
    predicted = head.predict(Gamma, data)
    pairs = [
        (data.norm**2, population.context_energy(model)),
        (predicted**2, float(population.excess_risk(model, Gamma))),
        ((data.response - predicted) ** 2, float(population.prediction_error(model, Gamma))),
    ]
    for values, expected in pairs:
        score = (values.mean() - expected) / (values.std() / np.sqrt(len(values)))
        assert abs(score) < 4.5


@each("model", MODELS)
@each("lam", [0.0, 0.01, 5.0])
def test_the_ridge_scale_minimises_the_population_objective(model: PromptModel, lam: float) -> None:
    def objective(g: float) -> float:
        Gamma = g * np.eye(model.D)
        return float(population.prediction_error(model, Gamma)) + lam * g**2 * model.D

    found = optimize.minimize_scalar(objective, bracket=(0, population.ridge_scale(model, lam) * 2)).x
    assert population.ridge_scale(model, lam) == pytest.approx(found, rel=1e-5)
    direct = float(population.prediction_error(model, population.ridge_scale(model, lam) * np.eye(model.D)))
    assert population.ridge_prediction_error(model, lam) == pytest.approx(direct, rel=1e-12)


@each("model", MODELS)
def test_the_best_head_in_closed_form(model: PromptModel) -> None:
    nu = model.response_variance
    assert population.best_prediction_error(model) == pytest.approx(nu - model.L / (nu * model.D + model.L - 1))
    rng = np.random.default_rng(7)
    for _ in range(20):
        other = population.ridge_scale(model, 0) * np.eye(model.D) + 0.1 * rng.standard_normal((model.D, model.D))
        assert population.prediction_error(model, other) >= population.best_prediction_error(model)


def test_the_gaps_are_the_risks_of_their_differences() -> None:
    model, lam, eye = PromptModel(5, 63), 5.0, np.eye(5)
    single, double = (population.ridge_scale(model, p) * eye for p in (lam, 2 * lam))
    assert population.minimiser_gap(model, lam) == pytest.approx(float(population.excess_risk(model, single - double)))
    assert population.zero_excess_risk(model, lam) == pytest.approx(float(population.excess_risk(model, single)))
