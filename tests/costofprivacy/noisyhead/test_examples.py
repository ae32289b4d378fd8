import numpy as np
import pytest
from hypothesis import given, settings

from costofprivacy.noisyhead import examples, token_laws
from costofprivacy.noisyhead.examples import Examples
from costofprivacy.noisyhead.prompts import Prompts
from tests import oracles
from tests.costofprivacy.privacy.test_records import arrays

law = settings(derandomize=True, deadline=None, max_examples=15)
both = pytest.mark.parametrize("every_token", [False, True])
PARTS = ("token", "query", "context", "response")
L, D = 3, 2


def drawn(N: int = 6, seed: int = 0) -> Prompts:
    return token_laws.sample(token_laws.unknown(D, 5.0, rng=np.random.default_rng(9)), N, L, 0.2, rng=_rng(seed))


def _rng(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def of(x: np.ndarray, y: np.ndarray, every_token: bool) -> Examples:
    return examples.examples(Prompts(x, y, np.zeros((len(x), x.shape[2]))), every_token=every_token)


@both
def test_contexts_leave_the_token_out_that_is_asked(every_token: bool) -> None:
    prompts = drawn()
    data = examples.examples(prompts, every_token=every_token)
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
            assert np.abs(here).max() <= examples.MOST
            np.testing.assert_array_equal(here, getattr(alone, name)[0])


@both
def test_many_heads_have_the_gradients_of_few(every_token: bool) -> None:
    """Coefficients in the place of the examples, from D² + 1 heads on."""
    data = examples.examples(drawn(), every_token=every_token)
    heads = _rng(2).standard_normal((D * D + 3, D, D))
    few = np.concatenate([data.gradients(heads[:3]), data.gradients(heads[3:6]), data.gradients(heads[6:])])
    np.testing.assert_allclose(data.gradients(heads), few, rtol=1e-9, atol=1e-12)
