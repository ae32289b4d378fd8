"""The coefficients of a prompt's loss: against its examples, one by one, and the algorithm on the same noise."""

import numpy as np
import pytest
from hypothesis import given, settings

from costofprivacy.noisyhead import covariance_head, head, quadratic, token_laws, whitened_descent
from costofprivacy.noisyhead.examples import MOST, Examples, examples
from costofprivacy.noisyhead.prompts import Prompts
from costofprivacy.noisyhead.quadratic import LANES
from costofprivacy.noisyhead.token_laws import TokenLaw
from costofprivacy.noisyhead.whitened_plan import plan
from costofprivacy.privacy import GaussianDP
from tests import oracles
from tests.costofprivacy.privacy.test_records import arrays
from tests.each import each, refused

FAR = 1e9  # clips nothing
sizes = pytest.mark.parametrize(("N", "L", "D"), [(1, 1, 2), (5, 1, 1), (LANES, 6, 3), (LANES + 3, 9, 5)])


def prompts_of(N: int, L: int, D: int, seed: int = 0) -> Prompts:
    rng = np.random.default_rng(seed)
    return token_laws.sample(token_laws.unknown(D, 10.0, rng=rng), N, L, 0.3, rng=rng)


def matrices(D: int, count: int) -> np.ndarray:
    return np.random.default_rng(7).standard_normal((count, 2, D, D))


def literal(prompts: Prompts, Gamma: np.ndarray, left: np.ndarray, right: np.ndarray, clip_norm: float) -> np.ndarray:
    total = np.zeros_like(Gamma)
    for x, y in zip(prompts.x, prompts.y, strict=True):
        asked = oracles.examples(x, y, True)
        gradient = sum((r - q @ Gamma @ m) * np.outer(q, m) for q, m, r in asked) / len(asked)
        term = left @ gradient @ right
        total += term * min(1.0, clip_norm / np.linalg.norm(term))
    return total / len(prompts.y)


@sizes
@pytest.mark.parametrize("clip_norm", [FAR, 0.8])
def test_gradients_are_those_of_the_examples_one_by_one(N: int, L: int, D: int, clip_norm: float) -> None:
    prompts, (Gamma, left, right) = prompts_of(N, L, D), matrices(D, 3)
    found = quadratic.quadratics(prompts).gradients(Gamma, left, right, clip_norm)
    for one, *three in zip(found, Gamma, left, right, strict=True):
        wanted = literal(prompts, *three, clip_norm)
        np.testing.assert_allclose(one, wanted, rtol=1e-9, atol=1e-11 * np.abs(wanted).max())


@sizes
@pytest.mark.parametrize("clip_norm", [FAR, 0.4])
def test_moments_are_those_of_tokens_and_contexts(N: int, L: int, D: int, clip_norm: float) -> None:
    prompts, data = prompts_of(N, L, D), quadratic.quadratics(prompts_of(N, L, D))
    W = matrices(D, 1)[0] + np.swapaxes(matrices(D, 1)[0], 1, 2)
    wanted = covariance_head.token_moment(prompts.x, clip_norm)
    np.testing.assert_allclose(data.features(clip_norm)[0], wanted, rtol=1e-9, atol=1e-12)
    for one, w in zip(data.contexts(W, clip_norm), W, strict=True):
        total = np.zeros((D, D))
        for x, y in zip(prompts.x, prompts.y, strict=True):
            term = w @ np.mean([np.outer(m, m) for _, m, _ in oracles.examples(x, y, True)], axis=0) @ w
            total += term * min(1.0, clip_norm / np.linalg.norm(term))
        np.testing.assert_allclose(one, total / N, rtol=1e-9, atol=1e-11 * np.abs(total).max())


@sizes
@pytest.mark.parametrize("mu", [0.3, 30.0])
def test_a_simulated_release_is_the_release_on_the_same_noise(N: int, L: int, D: int, mu: float) -> None:
    prompts, told = prompts_of(N, L, D), plan(D, L, N, GaussianDP(mu), every_token=True)
    data = examples(prompts, every_token=True)
    noise = np.random.default_rng(3).standard_normal((2, 2 + len(told.gains), D, D))
    wanted = whitened_descent.common(data, told, noise).Gamma
    found = whitened_descent.simulate(quadratic.quadratics(prompts), told, noise)
    np.testing.assert_allclose(found, wanted, rtol=1e-7, atol=1e-9 * np.abs(wanted).max())
    one = whitened_descent.simulated(quadratic.quadratics(prompts), told, rng=np.random.default_rng(4))
    same = whitened_descent.release(data, told, rng=np.random.default_rng(4))
    np.testing.assert_allclose(one, same, rtol=1e-7, atol=1e-9 * np.abs(same).max())


@each("law", [token_laws.sphere(4), token_laws.unknown(4, 20.0, rng=np.random.default_rng(1))])
def test_prompts_that_are_drawn_and_forgotten_are_those_of_the_sample(law: TokenLaw) -> None:
    N, L = LANES + 5, 7
    prompts = token_laws.sample(law, N, L, rng=np.random.default_rng(6))
    data, raw = quadratic.drawn(law, N, L, rng=(rng := np.random.default_rng(6)))
    assert isinstance(data, quadratic.Quadratics)
    np.testing.assert_allclose(data.values, quadratic.quadratics(prompts).values, rtol=1e-8, atol=1e-12)
    wanted = head.statistics(prompts)
    for name in ("query", "context", "response"):
        np.testing.assert_allclose(getattr(raw, name), getattr(wanted, name), rtol=1e-9, atol=1e-13)
    after = np.random.default_rng(6)
    token_laws.sample(law, N, L, rng=after)
    assert rng.standard_normal() == after.standard_normal()


def test_many_features_are_asked_token_by_token_and_agree() -> None:
    D = quadratic.FEW + 1
    law = token_laws.unknown(D, 5.0, rng=np.random.default_rng(2))
    data, raw = quadratic.drawn(law, 40, 12, rng=np.random.default_rng(8))
    assert not isinstance(data, quadratic.Quadratics)
    assert raw.query.shape == (40, D)
    prompts = token_laws.sample(law, 40, 12, rng=np.random.default_rng(8))
    told, noise = (
        plan(D, 12, 40, GaussianDP(2.0), every_token=True),
        np.random.default_rng(9).standard_normal((1, 6, D, D)),
    )
    wanted = whitened_descent.simulate(quadratic.quadratics(prompts), told, noise)
    np.testing.assert_allclose(whitened_descent.simulate(data, told, noise), wanted, rtol=1e-7, atol=1e-9)


def test_what_cannot_be_drawn_or_planned_is_refused() -> None:
    with pytest.raises(ValueError, match="law must be Gaussian or isotropic"):
        quadratic.drawn(TokenLaw(np.diag([0.7, 0.3]), token_laws.CONSTANT_NORM), 5, 3, rng=np.random.default_rng(0))
    told = plan(2, 3, 6, GaussianDP(1.0), every_token=True)
    with pytest.raises(ValueError, match="number of prompts"):
        whitened_descent.simulate(quadratic.quadratics(prompts_of(5, 3, 2)), told, np.zeros((1, 6, 2, 2)))
    refused("noise", whitened_descent.simulate, quadratic.quadratics(prompts_of(6, 3, 2)), told, np.zeros((1, 5, 2, 2)))


# ---- Examples ----


law = settings(derandomize=True, deadline=None, max_examples=15)
both = pytest.mark.parametrize("every_token", [False, True])
PARTS = ("token", "query", "context", "response")
L, D = 3, 2


def drawn(N: int = 6, seed: int = 0) -> Prompts:
    return token_laws.sample(token_laws.unknown(D, 5.0, rng=np.random.default_rng(9)), N, L, 0.2, rng=_rng(seed))


def _rng(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def of(x: np.ndarray, y: np.ndarray, every_token: bool) -> Examples:
    return examples(Prompts(x, y, np.zeros((len(x), x.shape[2]))), every_token=every_token)


@both
def test_contexts_leave_the_token_out_that_is_asked(every_token: bool) -> None:
    prompts = drawn()
    data = examples(prompts, every_token=every_token)
    np.testing.assert_array_equal(data.token, prompts.x)
    for k in range(len(prompts.y)):
        literal = oracles.examples(prompts.x[k], prompts.y[k], every_token)
        assert data.query.shape[1] == len(literal)
        for j, (query, context, response) in enumerate(literal):
            np.testing.assert_allclose(data.query[k, j], query, rtol=1e-12)
            np.testing.assert_allclose(data.context[k, j], context, rtol=1e-9, atol=1e-12)
            assert data.response[k, j] == pytest.approx(response, rel=1e-12)


@both
@law
@given(arrays(4, L + 1, D), arrays(4, L + 1))
def test_whatever_it_holds_a_prompt_is_finite_and_as_it_is_alone(
    every_token: bool, x: np.ndarray, y: np.ndarray
) -> None:
    data = of(x, y, every_token)
    for k in range(4):
        alone = of(x[k : k + 1], y[k : k + 1], every_token)
        for name in PARTS:
            here = getattr(data, name)[k]
            assert np.abs(here).max() <= MOST
            np.testing.assert_array_equal(here, getattr(alone, name)[0])


@both
def test_many_heads_have_the_gradients_of_few(every_token: bool) -> None:
    """Coefficients in the place of the examples, from D² + 1 heads on."""
    data = examples(drawn(), every_token=every_token)
    heads = _rng(2).standard_normal((D * D + 3, D, D))
    few = np.concatenate([data.gradients(heads[:3]), data.gradients(heads[3:6]), data.gradients(heads[6:])])
    np.testing.assert_allclose(data.gradients(heads), few, rtol=1e-9, atol=1e-12)
