import math

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import minimize_scalar

from costofprivacy.noisyhead import best_head, covariance_head, elliptical, population, token_laws
from costofprivacy.noisyhead.prompts import PromptModel
from costofprivacy.noisyhead.token_laws import GAUSSIAN, TokenLaw
from costofprivacy.privacy import GaussianDP
from tests.each import each

LAWS = {
    "sphere": token_laws.sphere(3),
    "isotropic": token_laws.gaussian(np.eye(3) / 3),
    "unknown": token_laws.unknown(3, 10.0, rng=np.random.default_rng(5)),
}
CASES = [(law, L, tau) for law in LAWS.values() for L, tau in ((1, 0.0), (8, 0.0), (8, 0.6))]
IDS = [f"{name}-{L}-{tau}" for name in LAWS for L, tau in ((1, 0.0), (8, 0.0), (8, 0.6))]
every_case = pytest.mark.parametrize(("law", "L", "tau"), CASES, ids=IDS)


@every_case
def test_the_best_head_is_the_minimiser(law: TokenLaw, L: int, tau: float) -> None:
    best = best_head.best_head(law, L, tau)
    least = best_head.best_error(law, L, tau)
    assert float(best_head.head_error(law, L, best, tau)) == pytest.approx(least, rel=1e-12)
    around = np.random.default_rng(3).standard_normal((40, 3, 3))
    ahead, behind = (best_head.head_error(law, L, best + sign * around, tau) for sign in (1, -1))
    assert (ahead > least).all()
    np.testing.assert_allclose(ahead, behind, rtol=1e-9)  # a quadratic about its minimum has no slope there
    np.testing.assert_allclose(best, best.T, atol=1e-9)


@pytest.mark.parametrize(("D", "L", "tau"), [(5, 31, 0.0), (2, 1, 0.3), (7, 100, 1.0)])
def test_on_the_sphere_it_is_the_paper_s(D: int, L: int, tau: float) -> None:
    model, law = PromptModel(D, L, tau), token_laws.sphere(D)
    assert best_head.best_error(law, L, tau) == pytest.approx(population.best_prediction_error(model), rel=1e-12)
    np.testing.assert_allclose(best_head.best_head(law, L, tau), population.ridge_scale(model, 0.0) * np.eye(D))
    Gamma = np.random.default_rng(0).standard_normal((4, D, D))
    ours = best_head.head_error(law, L, Gamma, tau)
    np.testing.assert_allclose(ours, population.prediction_error(model, Gamma), rtol=1e-10)


@every_case
def test_the_scale_without_data_is_a_numerical_minimum(law: TokenLaw, L: int, tau: float) -> None:
    found = minimize_scalar(lambda g: float(best_head.head_error(law, L, g * np.eye(3), tau)), tol=1e-10).x
    assert best_head.scale_without_data(law, L, tau) == pytest.approx(found, rel=1e-5)


@pytest.mark.parametrize("spread", [0.0, 2.0])
@pytest.mark.parametrize("tau", [0.0, 0.7])
def test_the_least_error_is_the_page_s_sum_over_eigenvalues_and_falls_like_one_over_the_length(spread, tau):
    values = token_laws.eigenvalues(4, 20.0)
    law = token_laws.TokenLaw(np.diag(values), spread)

    def summed(L):
        return 1 + tau**2 - (L * values**2 / ((L + spread - 1) * values + 1 + tau**2)).sum()

    assert best_head.best_error(law, 9, tau) == pytest.approx(summed(9))
    L = 10**6
    assert L * (best_head.best_error(law, L, tau) - tau**2) == pytest.approx(4 + spread - 1 + 4 * tau**2, rel=1e-3)
    assert best_head.best_error(token_laws.sphere(5), 31) == pytest.approx(4 / 35)


# ---- Laws of tokens ----


TILTED = token_laws.unknown(3, 10.0, rng=np.random.default_rng(5))


@each("law", [token_laws.sphere(3), token_laws.gaussian(np.eye(3) / 3), TILTED])
def test_the_spread_is_that_of_the_tokens_drawn(law: TokenLaw) -> None:
    """E‖x‖²xxᵀ = tr Σ · Σ + sΣ², to five standard errors; a spread that is wrong by a half is seen."""
    x = token_laws.sample(law, 40_000, 4, rng=np.random.default_rng(0)).x.reshape(-1, 3)
    terms = (x**2).sum(axis=1)[:, None, None] * x[:, :, None] * x[:, None, :]
    error = terms.std(axis=0) / np.sqrt(len(x)) + 1e-12

    def far(s: float) -> float:
        S = law.covariance
        return float((np.abs(terms.mean(axis=0) - law.energy * S - s * S @ S) / error).max())

    assert far(law.spread) < 5
    assert min(far(law.spread + 0.5), far(law.spread - 0.5)) > 5


@each("law", [token_laws.sphere(3), TILTED])
def test_prompts_are_those_of_section_2_with_these_features(law: TokenLaw) -> None:
    drawn = token_laws.sample(law, 20_000, 2, 0.5, rng=np.random.default_rng(1))
    assert drawn.x.shape == (20_000, 3, 3)
    noise = drawn.y - np.einsum("nld,nd->nl", drawn.x, drawn.w)
    assert stats.kstest(noise.ravel() / 0.5, "norm").pvalue > 1e-3
    assert stats.kstest(drawn.w.ravel(), "norm").pvalue > 1e-3
    x = drawn.x.reshape(-1, 3)
    np.testing.assert_allclose(x.T @ x / len(x), law.covariance, atol=0.01)
    if law.spread == token_laws.CONSTANT_NORM:
        np.testing.assert_allclose((x**2).sum(axis=1), 1.0)
    else:
        white = np.linalg.solve(np.linalg.cholesky(law.covariance), x.T)
        assert stats.kstest(white.ravel(), "norm").pvalue > 1e-3


@each("condition", [1.0, 10.0, 100.0])
def test_unknown_directions_with_known_eigenvalues(condition: float) -> None:
    law = token_laws.unknown(5, condition, rng=np.random.default_rng(2))
    values = np.linalg.eigvalsh(law.covariance)
    assert law.energy == pytest.approx(1.0)
    assert law.D == 5
    assert values[-1] / values[0] == pytest.approx(condition)
    np.testing.assert_allclose(np.diff(np.log(values)), np.log(condition) / 4, atol=1e-9)
    np.testing.assert_allclose(values[::-1], token_laws.eigenvalues(5, condition))


def test_rotations_are_uniform() -> None:
    """Of a uniform direction in R³ a coordinate is uniform on [−1, 1]; without the signs of R it would not be."""
    rng = np.random.default_rng(3)
    drawn = np.array([token_laws.rotation(3, rng=rng) for _ in range(2000)])
    np.testing.assert_allclose(drawn @ drawn.swapaxes(1, 2), np.broadcast_to(np.eye(3), drawn.shape), atol=1e-12)
    for a, b in np.ndindex(3, 3):
        assert stats.kstest(drawn[:, a, b], "uniform", (-1, 2)).pvalue > 1e-3
    raw = np.array([np.linalg.qr(rng.standard_normal((3, 3)))[0][0, 0] for _ in range(2000)])
    assert stats.kstest(raw, "uniform", (-1, 2)).pvalue < 1e-3
    assert 0.45 < (np.linalg.det(drawn) > 0).mean() < 0.55


# ---- The covariance head ----


UNKNOWN = token_laws.unknown(3, 10.0, rng=np.random.default_rng(5))


def moment_of(x: np.ndarray, C: float) -> np.ndarray:
    total = np.zeros((x.shape[2],) * 2)
    for prompt in x:
        S = sum(np.outer(token, token) for token in prompt) / len(prompt)
        total += S * min(1.0, C / np.linalg.norm(S)) / len(x)
    return total


@each("C", [0.3, 1.0, 50.0])
def test_the_moment_is_the_mean_of_clipped_ones(C: float) -> None:
    x = token_laws.sample(UNKNOWN, 40, 6, rng=np.random.default_rng(0)).x
    np.testing.assert_allclose(covariance_head.token_moment(x, C), moment_of(x, C), rtol=1e-10, atol=1e-14)


def test_the_noise_is_that_of_its_sensitivity_and_floored() -> None:
    """With L → ∞ the head is the inverse of the noisy moment, whose law is then seen."""
    N, budget, C, rng = 20, GaussianDP(50.0), 0.5, np.random.default_rng(2)
    std = covariance_head.noise_std(N, budget, C)
    assert std == pytest.approx(math.sqrt(2) * C / (20 * 50))
    A = C * np.diag([0.4, 0.6])

    def once() -> np.ndarray:
        head = covariance_head.release(A, N, 10**12, budget, GAUSSIAN, clip_norm=C, rng=rng)
        return (np.linalg.inv(head) - A) / std

    noise = np.array([once() for _ in range(1500)])
    seen = np.column_stack([noise[:, 0, 0], noise[:, 1, 1], math.sqrt(2) * noise[:, 0, 1]])
    np.testing.assert_allclose(seen.T @ seen / 1500, np.eye(3), atol=0.15)
    poor = covariance_head.release(np.zeros((2, 2)), N, 10**12, budget, GAUSSIAN, clip_norm=C, rng=rng)
    assert np.linalg.norm(poor, 2) <= 1 / (covariance_head.FLOOR * std) * (1 + 1e-6)


def test_the_sensitivity_is_attained() -> None:
    x = np.zeros((5, 4, 2))
    along, across = x.copy(), x.copy()
    along[0, :, 0] = across[0, :, 1] = 10.0
    moved = covariance_head.token_moment(along) - covariance_head.token_moment(across)
    assert np.linalg.norm(moved) == pytest.approx(math.sqrt(2) * covariance_head.CLIP_NORM / 5)


@each("wrong", [math.nan, math.inf, -1e200])
def test_a_prompt_that_is_not_finite_counts_as_0(wrong: float) -> None:
    x = token_laws.sample(UNKNOWN, 6, 4, rng=np.random.default_rng(0)).x
    changed, void = x.copy(), x.copy()
    changed[2, 1, 0] = wrong
    void[2] = 0.0
    np.testing.assert_array_equal(covariance_head.token_moment(changed), covariance_head.token_moment(void))


# ---- Elliptical features ----


D, L = 4, 6
VALUES = elliptical.spectrum(D, 10.0)
Q = elliptical.axes(D, rng=np.random.default_rng(0))
ROOT = elliptical.matrix(Q, np.sqrt(VALUES))


def contexts(prompts) -> np.ndarray:
    return np.einsum("nl,nld->nd", prompts.y[:, :-1], prompts.x[:, :-1]) / (prompts.x.shape[1] - 1)


def test_the_spectrum_has_trace_one_and_its_condition() -> None:
    assert VALUES.sum() == pytest.approx(1)
    assert VALUES[-1] / VALUES[0] == pytest.approx(10)
    np.testing.assert_allclose(elliptical.spectrum(D, 1.0), 1 / D)
    np.testing.assert_allclose(Q.T @ Q, np.eye(D), atol=1e-12)


def test_features_have_the_covariance_and_responses_its_variance() -> None:
    prompts = elliptical.sample(ROOT, 1, 200_000, 0.5, rng=np.random.default_rng(1))
    x = prompts.x.reshape(-1, D)
    np.testing.assert_allclose(x.T @ x / len(x), ROOT @ ROOT, atol=4e-3)
    assert prompts.y.var() == pytest.approx(1.25, rel=0.02)
    noise = prompts.y - np.einsum("nld,nd->nl", prompts.x, prompts.w)
    assert noise.std() == pytest.approx(0.5, rel=0.01)


def test_isotropic_features_are_those_of_the_paper() -> None:
    prompts = elliptical.sample(np.eye(D) / np.sqrt(D), L, 50, rng=np.random.default_rng(2))
    np.testing.assert_allclose(np.linalg.norm(prompts.x, axis=2), 1)
    values = elliptical.spectrum(D, 1.0)
    for noise in (0.0, 0.7):
        model = PromptModel(D, L, noise)
        assert elliptical.best_linear(values, L, noise)[1] == pytest.approx(population.best_prediction_error(model))
        assert elliptical.public_linear(values, L, noise)[1] == pytest.approx(population.best_prediction_error(model))
        energy = elliptical.context_moment(values, L, noise).sum()
        assert energy == pytest.approx(population.context_energy(model))


def test_the_moment_of_contexts_is_that_of_draws() -> None:
    m = contexts(elliptical.sample(ROOT, L, 100_000, 0.5, rng=np.random.default_rng(3)))
    found = np.diagonal(Q.T @ (m.T @ m / len(m)) @ Q)
    np.testing.assert_allclose(found, elliptical.context_moment(VALUES, L, 0.5), rtol=0.03)


@each("noise", [0.0, 0.5])
def test_the_error_of_a_linear_head_is_that_of_draws(noise: float) -> None:
    rng = np.random.default_rng(4)
    Gamma = rng.standard_normal((2, D, D))
    prompts = elliptical.sample(ROOT, L, 60_000, noise, rng=rng)
    answers = np.einsum("nd,bde,ne->bn", prompts.x[:, -1], Gamma, contexts(prompts), optimize=True)
    drawn = ((answers - prompts.y[:, -1]) ** 2).mean(axis=1)
    np.testing.assert_allclose(elliptical.linear_error(Gamma, Q, VALUES, L, noise), drawn, rtol=0.03)


def test_the_best_heads_are_the_minima_of_the_error() -> None:
    rng = np.random.default_rng(5)
    values, error = elliptical.best_linear(VALUES, L, 0.3)
    best = elliptical.matrix(Q, values)
    assert elliptical.linear_error(best[None], Q, VALUES, L, 0.3)[0] == pytest.approx(error)
    near = best + 0.1 * rng.standard_normal((50, D, D))
    assert (elliptical.linear_error(near, Q, VALUES, L, 0.3) > error).all()
    width, public = elliptical.public_linear(VALUES, L, 0.3)
    shown = elliptical.linear_error(np.array([0.9, 1.0, 1.1])[:, None, None] * width * np.eye(D), Q, VALUES, L, 0.3)
    assert shown[1] == pytest.approx(public)
    assert error < shown[1] < min(shown[0], shown[2])
