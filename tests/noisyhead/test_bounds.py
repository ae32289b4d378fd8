import math
from dataclasses import replace

import numpy as np
import pytest

from costofprivacy.noisyhead import bounds, dynamics, head, population, pretraining
from costofprivacy.noisyhead.head import Moments
from costofprivacy.noisyhead.hyperparameters import Hyperparameters
from costofprivacy.noisyhead.prompts import PromptModel
from costofprivacy.noisyhead.ridge import ridge
from costofprivacy.privacy import ApproximateDP

MODEL = PromptModel(4, 9, 0.5)
HYPER = Hyperparameters(clip_norm=3.0, feature_bound=2.0, weight_bound=1.5, penalty=0.5, learning_rate=0.1, steps=20)
BUDGET = ApproximateDP(0.7, 1e-4)


def test_both_terms_of_the_bound_by_hand() -> None:
    assert bounds.cost_of_descent(HYPER, 1.1) == pytest.approx(1.1**2 * 0.95**20 * 1.5**2)
    sigma = 2 * 2.0 * (3.0 + 1.5 * 2.0)
    expected = 1.1**2 * sigma**2 * 0.1**2 * 4 * 20**2 * math.log(2 * 20 / 1e-4) / (300**2 * 0.7**2)
    assert bounds.cost_of_noise(HYPER, 1.1, MODEL, BUDGET, 300) == pytest.approx(expected)


def test_low_dimensional_right_sides_by_hand() -> None:
    privacy = math.log(1e4) / 0.49
    expected = 1.25**5 * math.log(900) ** 10 / (100 * 9**3) * (1 + privacy)
    assert bounds.low_dimensional_cost(MODEL, 100, BUDGET) == pytest.approx(expected)
    assert bounds.low_dimensional_rate(MODEL, 100, BUDGET) == pytest.approx(100**-1.5 * 9**-2 * privacy)
    expected_T = math.floor(math.log(100**2 * 9 * 4**3) / math.log(1 / (1 - 0.05)))
    assert bounds.low_dimensional_iterations(MODEL, 100, 0.1, 0.5) == expected_T


def test_probability_by_hand() -> None:
    assert bounds.success_probability(0.01) == pytest.approx(0.96)


def test_the_noise_risk_is_that_of_the_algorithm() -> None:
    """H = hI, no responses: the mean over runs of the exact risk, and a wrong formula would be seen."""
    h, std, p = 0.3, 0.2, 16
    free = replace(HYPER, weight_bound=1e9)
    silent = Moments(h * np.eye(p), np.zeros(p))
    rng = np.random.default_rng(0)
    risks = np.array(
        [population.excess_risk(MODEL, pretraining.pretrain(silent, free, [std], rng=rng)[0]) for _ in range(400)]
    )
    error = risks.std() / 20
    expected = dynamics.noise_risk(free, MODEL, std, h)
    assert abs(risks.mean() - expected) < 4 * error
    for wrong in (dynamics.noise_risk(free, MODEL, std, 2 * h + 0.5), 1.2 * expected, expected / 1.2):
        assert abs(risks.mean() - wrong) > 4 * error


def test_the_noise_risk_is_the_literal_sum() -> None:
    square = (1 - 0.1 * (1.0 + 0.3)) ** 2
    expected = 0.2**2 * population.context_energy(MODEL) * sum(square**t for t in range(20))
    assert dynamics.noise_risk(HYPER, MODEL, 0.2, 0.3) == pytest.approx(expected)


def test_the_amended_cost_by_hand() -> None:
    """Penalty 0.5 in the update is λ = 1; a = 1 − 0.1."""
    noise = 0.2**2 * sum(0.9 ** (2 * t) for t in range(20))
    expected = population.context_energy(MODEL) * (0.9**40 * 1.5**2 / 16 + noise)
    assert bounds.amended_cost(HYPER, MODEL, 0.2) == pytest.approx(expected)


@pytest.mark.parametrize("std", [0.0, 0.05])
def test_the_amended_bound_holds_where_its_assumptions_do(std: float) -> None:
    lam, model = 1.0, PromptModel(3, 15)
    raw, _ = head.sample_statistics(model, 300, rng=np.random.default_rng(1))
    data = head.moments(raw)
    reference = ridge(data, lam)
    hyper = replace(HYPER, penalty=lam / 2, weight_bound=max(1.0, float(np.linalg.norm(reference))))
    for T in (1, 5, 40):
        told = replace(hyper, steps=T)
        runs = [pretraining.pretrain(data, told, [std], rng=np.random.default_rng(s))[0] for s in range(50)]
        mean = np.mean([population.excess_risk(model, run - reference) for run in runs])
        assert mean <= bounds.amended_cost(told, model, std) * (1 + (0.3 if std else 0))
