import numpy as np
import pytest
from scipy import optimize

from costofprivacy.noisyhead import head, population
from costofprivacy.noisyhead.prompts import PromptModel, sample
from tests.each import each

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
