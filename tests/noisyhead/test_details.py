"""Corners that mutations of a formula were seen to survive elsewhere."""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import brentq

from costofprivacy.noisyhead import bounds, head, hyperparameters, pretraining
from costofprivacy.noisyhead.head import LinearAttentionHead
from costofprivacy.noisyhead.hyperparameters import Hyperparameters
from costofprivacy.noisyhead.prompts import PromptModel, embed, sample
from costofprivacy.privacy import ApproximateDP

HYPER = Hyperparameters(clip_norm=1.2, feature_bound=0.3, weight_bound=0.8, penalty=0.5, learning_rate=0.3, steps=7)


def test_iterations_are_never_none() -> None:
    assert bounds.low_dimensional_iterations(PromptModel(1, 1), 1, 0.1, 0.5) == 1


def test_the_whole_output_of_the_head_is_the_literal_one() -> None:
    rng = np.random.default_rng(0)
    E = embed(sample(PromptModel(3, 5, 0.3), 4, rng=rng))
    h = LinearAttentionHead(rng.standard_normal((4, 4)), rng.standard_normal((4, 4)))
    literal = [e + h.W_PV @ e @ (e.T @ h.W_KQ @ e) / 5 for e in E]
    np.testing.assert_allclose(head.attention(E, h), literal, rtol=1e-11)


@pytest.mark.parametrize(
    "condition",
    [lambda y: y.min() < -1 and y.max() < 1, lambda y: np.abs(y[:-1]).max() < 1 < abs(y[-1])],
    ids=["below -C alone", "the query alone"],
)
def test_the_streamed_sample_clips_every_response_that_needs_it(condition: Callable[[np.ndarray], bool]) -> None:
    model = PromptModel(2, 2)
    seed = next(s for s in range(10**5) if condition(sample(model, 1, rng=np.random.default_rng(s)).y[0]))
    _, clipped = head.sample_statistics(model, 1, 1.0, rng=np.random.default_rng(seed))
    whole = head.statistics(sample(model, 1, rng=np.random.default_rng(seed)), 1.0)
    np.testing.assert_allclose(clipped.context, whole.context)
    np.testing.assert_allclose(clipped.response, whole.response)


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


def test_the_profile_by_hand() -> None:
    """c = |1 − 0.3·1| = 0.7 at h = 2λ; μ₁ = η₀σ/(N s)."""
    told = pretraining.profile(HYPER, ApproximateDP(1.0, 1e-5), 100, 0.02)
    mu = 0.3 * 2 * 0.3 * (1.2 + 0.8 * 0.3) / 100 / 0.02
    assert told.every_iterate.mu == pytest.approx(math.sqrt(7) * mu)
    assert told.last_iterate.mu == pytest.approx(mu * math.sqrt((1 - 0.7**7) / (1 + 0.7**7) * 1.7 / 0.3))


def test_the_profile_of_an_expanding_update_is_that_of_every_iterate() -> None:
    told = pretraining.profile(replace(HYPER, learning_rate=3.0), ApproximateDP(1.0, 1e-5), 100, 0.2)
    assert told.last_iterate.mu == told.every_iterate.mu


def test_where_clipping_is_tighter_than_projection_it_sets_the_sensitivity() -> None:
    """‖Z‖ ≤ C always, so a G above C moves nothing."""
    loose = replace(HYPER, feature_bound=5.0)
    same = replace(HYPER, feature_bound=HYPER.clip_norm)
    assert pretraining.update_sensitivity_exact(loose, 9) == pretraining.update_sensitivity_exact(same, 9)
