import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

from costofprivacy.noisyhead import bounds, head, population, pretraining
from costofprivacy.noisyhead.bounds import shortening_risk
from costofprivacy.noisyhead.hyperparameters import Hyperparameters
from costofprivacy.noisyhead.prompts import PromptModel
from costofprivacy.noisyhead.ridge import ridge
from costofprivacy.privacy import ApproximateDP
from tests.each import each

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


def test_the_amended_cost_by_hand() -> None:
    """Penalty 0.5 in the update is λ = 1; a = 1 − 0.1."""
    noise = 0.2**2 * sum(0.9 ** (2 * t) for t in range(20))
    expected = population.context_energy(MODEL) * (0.9**40 * 1.5**2 / 16 + noise)
    assert bounds.amended_cost(HYPER, MODEL, 0.2) == pytest.approx(expected)


@each("std", [0.0, 0.05])
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


LOGS, PRIVACY = math.log(100 * 9), math.log(1e4) / 0.49  # NL = 900 and log(1/δ)/ε² of MODEL and BUDGET at N = 100


def test_both_terms_of_44_by_hand() -> None:
    """ν = 1.25, L = 9, D = 4, N = 100, λ = 2, r = 30."""
    descent, noise = bounds.high_dimensional_cost(MODEL, 100, 2.0, 30.0, BUDGET)
    assert descent == pytest.approx(100 * 1.25**5 * LOGS**3 / (81 * 4 * 30))
    inner = 4 * 30 * math.log(30) ** 3 / 100**3 * (1 + LOGS**2 * 100 / (81 * 4)) * PRIVACY
    assert noise == pytest.approx(descent * inner)


def test_both_terms_of_45_and_46_by_hand() -> None:
    descent, noise = bounds.overparametrised_cost(MODEL, 100, 30.0, BUDGET)
    assert descent == pytest.approx(1.25**5 * LOGS**3 * 16 / (100 * 81 * 30))
    assert noise == pytest.approx(1.25**5 * LOGS**3 * 4**3 * math.log(30) ** 3 / (100**4 * 81) * PRIVACY)
    assert bounds.stopped_cost(MODEL, 100) == pytest.approx(1.25**5 * LOGS**3 * 16 / (100**2 * 81))
    assert bounds.high_dimensional_rate(MODEL, 100, BUDGET) == pytest.approx(16 / (100**2 * 81) * PRIVACY)
    section_62 = 4 * 3 / (100 * LOGS) * math.log(30) ** 3
    assert bounds.noise_cost_section_62(MODEL, 100, 30.0) == pytest.approx(section_62)


@given(st.floats(1.001, 1e30), st.floats(1e-3, 0.5), st.floats(0.1, 1.9))
@settings(derandomize=True, deadline=None, max_examples=60)
def test_the_iterations_are_the_first_to_reach_r(r: float, eta: float, lam: float) -> None:
    T = bounds.high_dimensional_iterations(r, eta, lam)
    assert T >= 1
    assert bounds.progress(eta, lam, T) >= r * (1 - 1e-9)
    assert bounds.progress(eta, lam, T - 1) < r * (1 + 1e-9)
    assert bounds.progress(eta, lam, T) == pytest.approx((1 - eta * lam) ** -T, rel=1e-9)


def test_the_levels_of_the_lemmas_by_hand() -> None:
    """τ = 0.5, L = 9, D = 4, N = 100, κ = 0.02."""
    assert bounds.response_level(MODEL, 100, 0.02) == pytest.approx(math.sqrt(1.25 * math.log(4 * 900 / 0.02)))
    assert bounds.feature_sum_level(MODEL, 100, 0.02) == pytest.approx(3 * (1 + math.sqrt(math.log(5000)) / 2))
    assert bounds.product_sum_level(MODEL, 100, 0.02) == pytest.approx(30 * (1 + math.sqrt(math.log(50)) / 4))


# ---- Shortening ----


@each("D", [1, 30])
@each("bound", [0.01, 0.5])
@each("penalty", [0.1, 5.0])
def test_it_is_the_integral_over_the_norm_of_w(D: int, bound: float, penalty: float) -> None:
    density = stats.chi(D).pdf

    def mean(of):
        return sum(
            integrate.quad(lambda r: of(r, min(r / D, bound)) * density(r), *ends, epsabs=1e-14)[0]
            for ends in ((0, bound * D), (bound * D, bound * D + 60))
        )

    short = mean(lambda r, m: r * m) / (mean(lambda r, m: m * m) + penalty * D**2)
    whole = 1 / (1 / D + penalty * D**2)
    assert shortening_risk(D, bound, penalty) == pytest.approx(((short - whole) / D) ** 2, rel=1e-6, abs=1e-20)


def test_it_is_the_mean_over_drawn_vectors() -> None:
    w = np.random.default_rng(3).standard_normal((100_000, 4))
    m = w / 4
    short = m * np.minimum(1, 0.3 / np.linalg.norm(m, axis=1))[:, None]
    g, shortened = ((w * v).sum(1).mean() / ((v**2).sum(1).mean() + 2.0 * 16) for v in (m, short))
    assert shortening_risk(4, 0.3, 2.0) == pytest.approx((g - shortened) ** 2 / 16, rel=0.02)


def test_it_runs_from_nothing_to_answering_0() -> None:
    risks = [shortening_risk(5, bound, 5.0) for bound in (1e3, 3.0, 0.5, 0.1, 1e-9)]
    assert risks[0] == 0
    assert risks == sorted(risks)
    assert risks[-1] == pytest.approx(population.zero_excess_risk(PromptModel(5, 10**9), 5.0), rel=1e-6)
