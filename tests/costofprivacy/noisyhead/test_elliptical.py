import numpy as np
import pytest

from costofprivacy.noisyhead import elliptical, population
from costofprivacy.noisyhead.prompts import PromptModel
from tests.each import each

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
