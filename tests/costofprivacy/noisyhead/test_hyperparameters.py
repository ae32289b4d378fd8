import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.optimize import brentq

from costofprivacy.noisyhead import head, hyperparameters
from costofprivacy.noisyhead.head import Moments
from costofprivacy.noisyhead.hyperparameters import Hyperparameters
from costofprivacy.noisyhead.prompts import PromptModel, sample
from costofprivacy.noisyhead.ridge import ridge
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


def test_the_clip_norm_covers_all_responses_as_often_as_it_says() -> None:
    kappa, N, model = 0.2, 50, PromptModel(3, 10)
    C = hyperparameters.clip_norm(model, N, kappa)
    fails = sum(np.abs(sample(model, N, rng=np.random.default_rng(s)).y).max() > C for s in range(200))
    assert stats.binom.sf(fails - 1, 200, kappa) > 1e-3


def test_a_failure_of_N_leaves_the_bare_bound() -> None:
    model = PromptModel(5, 31)
    bare = hyperparameters.clip_norm(model, 10, 10.0) / math.sqrt(31)
    assert hyperparameters.feature_bound_proof(model, 10, 10.0) == pytest.approx(bare)


def test_the_uniform_feature_bound_by_hand() -> None:
    """D = 5, L = 500, N = 200, κ = 0.1: h(t) = 5 log(10⁴)/500, solved with scipy."""
    t = brentq(lambda t: (1 + t) * math.log(1 + t) - t - 5 * math.log(200 * 5 / 0.1) / 500, 0, 10)
    model = PromptModel(5, 500)
    expected = hyperparameters.clip_norm(model, 200, 0.1) * math.sqrt((1 + t) / 5)
    assert hyperparameters.feature_bound_uniform(model, 200, 0.1) == pytest.approx(expected)
