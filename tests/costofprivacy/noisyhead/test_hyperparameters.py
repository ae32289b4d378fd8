import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats
from scipy.optimize import brentq

from costofprivacy.noisyhead import accounts, bounds, head, hyperparameters, population, pretraining
from costofprivacy.noisyhead.bounds import shortening_risk
from costofprivacy.noisyhead.head import Moments
from costofprivacy.noisyhead.hyperparameters import Hyperparameters
from costofprivacy.noisyhead.prompts import PromptModel, sample
from costofprivacy.noisyhead.ridge import ridge
from costofprivacy.privacy import ApproximateDP
from costofprivacy.settings import Setting
from tests.each import each

MODEL = PromptModel(D=5, L=31)
HYPER = Hyperparameters(4.5, 1.4, 23.5, 5.0, 0.06, 44)


def test_printed_formulas_by_hand() -> None:
    """N = 1000, L = 31, D = 5, κ = 0.1, τ = 0.5, written out with numbers."""
    model = PromptModel(5, 31, 0.5)
    C = math.sqrt(2 * 1.25 * math.log(310000))
    assert hyperparameters.clip_norm(model, 1000, 0.1) == pytest.approx(C)
    unit = C / math.sqrt(31)
    assert hyperparameters.feature_bound_theorem(model, 1000, 0.1) == pytest.approx(
        unit * (1 + math.log(1e4) ** 0.5 / 5)
    )
    assert hyperparameters.feature_bound_proof(model, 1000, 0.1) == pytest.approx(
        unit * (1 + (math.log(1e4) / 25) ** 0.25)
    )
    assert hyperparameters.query_bound_theorem(model, 1000, 0.1) == pytest.approx(unit * (1 + math.log(10) ** 0.5 / 5))
    assert hyperparameters.query_bound_proof(model, 1000, 0.1) == pytest.approx(
        unit * (1 + (math.log(10) / 25) ** 0.25)
    )
    R = C**2 * math.sqrt(1000 / 31) / 5
    assert hyperparameters.weight_bound(model, 1000, 0.1, 5.0) == pytest.approx(R)
    assert hyperparameters.weight_bound_theorem(model, 1000, 0.1, 5.0) == pytest.approx(
        R * (1 + math.log(10) ** 0.5 / 5)
    )
    assert hyperparameters.weight_bound_kept(model, 1000, 0.1, 5.0) == pytest.approx(C**2 / (5 * math.sqrt(31000)))


def test_learning_rates_and_iterations_by_hand() -> None:
    assert hyperparameters.learning_rate_printed(2.0) == pytest.approx(3.17 / 81)
    assert hyperparameters.learning_rate_published(2.0, 5.0) == pytest.approx(9.5 / (3 * 81))
    assert hyperparameters.learning_rate_interval(2.0, 5.0) == pytest.approx(5 / 196)
    assert hyperparameters.iterations(2.5, 1000, 0.1, 5.0) == math.floor(2.5 * math.log(1000) / math.log(2))
    assert hyperparameters.iterations(2.5, 2, 0.199, 5.0) == 1


def test_the_scaled_learning_rate_by_hand() -> None:
    """0.07ND/(N + DG²)² of section 6.1 is 0.07λ/(λ + G²)² at λ = N/D; the low-dimensional rate has this form too."""
    assert hyperparameters.learning_rate_scaled(2.0, 5.0, 0.3) == pytest.approx(1.5 / 81)
    N, D, G = 900, 30, 1.3
    expected = 0.07 * N * D / (N + D * G**2) ** 2
    assert hyperparameters.learning_rate_scaled(G, N / D, 0.07) == pytest.approx(expected)
    published = hyperparameters.learning_rate_published(2.0, 5.0)
    assert hyperparameters.learning_rate_scaled(2.0, 5.0, 1.9 / 3) == pytest.approx(published)


def test_sensitivity_scale_by_hand() -> None:
    assert hyperparameters.sensitivity_scale(3.0, 2.0, 0.5) == pytest.approx(2 * 0.5 * (3 + 2 * 0.5))
    assert HYPER.sigma == pytest.approx(2 * 1.4 * (4.5 + 23.5 * 1.4))


@each("eta0", [0.01, 0.06, 0.15])
def test_the_contraction_is_the_largest_over_the_spectrum(eta0: float) -> None:
    hyper = replace(HYPER, learning_rate=eta0)
    spectrum = np.linspace(10.0, 10.0 + 1.4**2, 1001)
    assert hyper.contraction == pytest.approx(np.abs(1 - eta0 * spectrum).max())


@given(st.floats(0.05, 20), st.floats(0.1, 5), st.integers(1, 40), st.integers(0, 2**32 - 1))
@settings(derandomize=True, deadline=None, max_examples=60)
def test_the_bounds_on_ridge_hold_for_every_data_set(lam: float, C: float, N: int, seed: int) -> None:
    """Whatever the Z_k, with |y| ≤ C."""
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((N, 4)) * np.exp(rng.normal(0, 2))
    y = C * rng.choice([-1.0, 1.0], N)
    norm = np.linalg.norm(ridge(Moments(Z.T @ Z / N, y @ Z / N), lam))
    assert norm <= hyperparameters.weight_bound_singular(C, lam) * (1 + 1e-9)
    assert hyperparameters.weight_bound_singular(C, lam) == pytest.approx(
        hyperparameters.weight_bound_objective(C, lam) / 2
    )


def test_the_singular_bound_is_attained() -> None:
    """N prompts with the same Z of norm √λ, all responses C."""
    lam, C = 0.7, 2.0
    z = np.array([math.sqrt(lam), 0, 0, 0])
    solution = ridge(Moments(np.outer(z, z), C * z), lam)
    assert np.linalg.norm(solution) == pytest.approx(hyperparameters.weight_bound_singular(C, lam))


@each(("D", "L"), [(2, 5), (5, 31), (5, 500), (3, 3000)])
def test_the_uniform_feature_bound_holds_and_does_not_vanish(D: int, L: int) -> None:
    model, kappa, N = PromptModel(D, L), 0.1, 200
    bound = hyperparameters.feature_bound_uniform(model, N, kappa)
    C = hyperparameters.clip_norm(model, N, kappa)
    data = head.statistics(sample(model, N, rng=np.random.default_rng(0)), C)
    assert data.norm.max() <= bound
    assert C / math.sqrt(D) <= bound <= C


def test_the_uniform_feature_bound_by_hand() -> None:
    """D = 5, L = 500, N = 200, κ = 0.1: h(t) = 5 log(10⁴)/500, solved with scipy."""
    t = brentq(lambda t: (1 + t) * math.log(1 + t) - t - 5 * math.log(200 * 5 / 0.1) / 500, 0, 10)
    model = PromptModel(5, 500)
    expected = hyperparameters.clip_norm(model, 200, 0.1) * math.sqrt((1 + t) / 5)
    assert hyperparameters.feature_bound_uniform(model, 200, 0.1) == pytest.approx(expected)


# ---- Bounds ----


BOUNDS_MODEL = PromptModel(4, 9, 0.5)
BOUNDS_HYPER = Hyperparameters(
    clip_norm=3.0, feature_bound=2.0, weight_bound=1.5, penalty=0.5, learning_rate=0.1, steps=20
)
BOUNDS_BUDGET = ApproximateDP(0.7, 1e-4)


def test_low_dimensional_right_sides_by_hand() -> None:
    privacy = math.log(1e4) / 0.49
    expected = 1.25**5 * math.log(900) ** 10 / (100 * 9**3) * (1 + privacy)
    assert bounds.low_dimensional_cost(BOUNDS_MODEL, 100, BOUNDS_BUDGET) == pytest.approx(expected)
    assert bounds.low_dimensional_rate(BOUNDS_MODEL, 100, BOUNDS_BUDGET) == pytest.approx(100**-1.5 * 9**-2 * privacy)
    expected_T = math.floor(math.log(100**2 * 9 * 4**3) / math.log(1 / (1 - 0.05)))
    assert bounds.low_dimensional_iterations(BOUNDS_MODEL, 100, 0.1, 0.5) == expected_T


def test_probability_by_hand() -> None:
    assert bounds.success_probability(0.01) == pytest.approx(0.96)


def test_the_amended_cost_by_hand() -> None:
    """Penalty 0.5 in the update is λ = 1; a = 1 − 0.1."""
    noise = 0.2**2 * sum(0.9 ** (2 * t) for t in range(20))
    expected = population.context_energy(BOUNDS_MODEL) * (0.9**40 * 1.5**2 / 16 + noise)
    assert bounds.amended_cost(BOUNDS_HYPER, BOUNDS_MODEL, 0.2) == pytest.approx(expected)


@each("std", [0.0, 0.05])
def test_the_amended_bound_holds_where_its_assumptions_do(std: float) -> None:
    lam, model = 1.0, PromptModel(3, 15)
    raw, _ = head.sample_statistics(model, 300, rng=np.random.default_rng(1))
    data = head.moments(raw)
    reference = ridge(data, lam)
    hyper = replace(BOUNDS_HYPER, penalty=lam / 2, weight_bound=max(1.0, float(np.linalg.norm(reference))))
    for T in (1, 5, 40):
        told = replace(hyper, steps=T)
        runs = [pretraining.pretrain(data, told, [std], rng=np.random.default_rng(s))[0] for s in range(50)]
        mean = np.mean([population.excess_risk(model, run - reference) for run in runs])
        assert mean <= bounds.amended_cost(told, model, std) * (1 + (0.3 if std else 0))


LOGS, PRIVACY = math.log(100 * 9), math.log(1e4) / 0.49  # NL = 900 and log(1/δ)/ε² of MODEL and BUDGET at N = 100


def test_both_terms_of_44_by_hand() -> None:
    """ν = 1.25, L = 9, D = 4, N = 100, λ = 2, r = 30."""
    descent, noise = bounds.high_dimensional_cost(BOUNDS_MODEL, 100, 2.0, 30.0, BOUNDS_BUDGET)
    assert descent == pytest.approx(100 * 1.25**5 * LOGS**3 / (81 * 4 * 30))
    inner = 4 * 30 * math.log(30) ** 3 / 100**3 * (1 + LOGS**2 * 100 / (81 * 4)) * PRIVACY
    assert noise == pytest.approx(descent * inner)


def test_both_terms_of_45_and_46_by_hand() -> None:
    descent, noise = bounds.overparametrised_cost(BOUNDS_MODEL, 100, 30.0, BOUNDS_BUDGET)
    assert descent == pytest.approx(1.25**5 * LOGS**3 * 16 / (100 * 81 * 30))
    assert noise == pytest.approx(1.25**5 * LOGS**3 * 4**3 * math.log(30) ** 3 / (100**4 * 81) * PRIVACY)
    assert bounds.stopped_cost(BOUNDS_MODEL, 100) == pytest.approx(1.25**5 * LOGS**3 * 16 / (100**2 * 81))
    assert bounds.high_dimensional_rate(BOUNDS_MODEL, 100, BOUNDS_BUDGET) == pytest.approx(16 / (100**2 * 81) * PRIVACY)
    section_62 = 4 * 3 / (100 * LOGS) * math.log(30) ** 3
    assert bounds.noise_cost_section_62(BOUNDS_MODEL, 100, 30.0) == pytest.approx(section_62)


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
    assert bounds.response_level(BOUNDS_MODEL, 100, 0.02) == pytest.approx(math.sqrt(1.25 * math.log(4 * 900 / 0.02)))
    assert bounds.feature_sum_level(BOUNDS_MODEL, 100, 0.02) == pytest.approx(3 * (1 + math.sqrt(math.log(5000)) / 2))
    assert bounds.product_sum_level(BOUNDS_MODEL, 100, 0.02) == pytest.approx(30 * (1 + math.sqrt(math.log(50)) / 4))


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


# ---- Accounts ----


ACCOUNTS_HYPER = Hyperparameters(
    clip_norm=1.2, feature_bound=0.3, weight_bound=0.8, penalty=0.5, learning_rate=0.3, steps=7
)
BUDGET, N, T = ApproximateDP(0.7, 1e-5), 100, 20


@each("account", accounts.ACCOUNTS)
def test_the_steps_are_those_asked_for(account: str) -> None:
    expected = accounts.noise_std(account, replace(ACCOUNTS_HYPER, steps=T), BUDGET, N, T)
    assert accounts.noise_std(account, ACCOUNTS_HYPER, BUDGET, N, T) == expected
    assert accounts.noise_std(account, ACCOUNTS_HYPER, BUDGET, N, 2 * T) != expected


def test_a_setting_has_its_account() -> None:
    corrected = accounts.noise_std(accounts.EVERY, ACCOUNTS_HYPER, BUDGET, N, ACCOUNTS_HYPER.steps)
    printed = accounts.noise_std(accounts.ALGORITHM, ACCOUNTS_HYPER, BUDGET, N, ACCOUNTS_HYPER.steps)
    assert accounts.setting_noise_std(Setting.CORRECTED, ACCOUNTS_HYPER, BUDGET, N) == corrected
    for setting in (Setting.PRINTED, Setting.PUBLISHED):
        assert accounts.setting_noise_std(setting, ACCOUNTS_HYPER, BUDGET, N) == printed
