"""Whatever a prompt holds, what learns from prompts moves no further than it claims, and refuses by public facts."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from costofprivacy.noisyhead import (
    covariance_head,
    dynamics,
    head,
    per_prompt,
    pretraining,
    private_ridge,
    softmax,
    whitened_descent,
    whitened_plan,
)
from costofprivacy.noisyhead.examples import examples
from costofprivacy.noisyhead.head import Statistics
from costofprivacy.noisyhead.per_prompt import Plan
from costofprivacy.noisyhead.prompts import Prompts
from costofprivacy.noisyhead.softmax import Contexts
from costofprivacy.privacy import ApproximateDP, GaussianDP
from tests.costofprivacy.privacy.test_records import ROUNDING, TOLD, D, L, N, arrays, neighbours
from tests.each import each

law = settings(derandomize=True, deadline=None, max_examples=12)
C, MU, BATCH = 0.6, GaussianDP(1.0), 4.0
PLANS = [Plan(1, C, 1.0, 0.0)] * 3
WEIGHTS = np.stack([np.zeros((D, D)), 5 * np.eye(D), 1e3 * np.ones((D, D))])
NONE = Prompts(np.zeros((0, L + 1, D)), np.zeros((0, L + 1)), np.zeros((0, D)))
BARE = Prompts(np.ones((3, 1, D)), np.ones((3, 1)), np.ones((3, D)))
ORDINARY = Prompts(
    *(np.random.default_rng(0).standard_normal(size) / 3 for size in ((N, L + 1, D), (N, L + 1), (N, D)))
)


def rng() -> np.random.Generator:
    return np.random.default_rng(3)


# --------------------------------------------------------------------------------------------------------- DP-SGD


@st.composite
def statistics(draw: st.DrawFn) -> tuple[Statistics, Statistics]:
    """Statistics that nobody bounded, and the same with another first prompt."""
    rows = draw(arrays(N, 2 * D + 1))
    other = rows.copy()
    other[0] = draw(arrays(2 * D + 1))
    first, second = (Statistics(a[:, :D].copy(), a[:, D:-1].copy(), a[:, -1].copy()) for a in (rows, other))
    return first, second


def trained(data: Statistics, steps: int, clip_norm: float = C) -> np.ndarray:
    """DP-SGD, its sensitivity in the place of its noise."""
    told = pretraining.Descent(0.1, 0.9, steps, BATCH)
    return pretraining.dp_sgd(data, told, np.array([2.0]), np.array([clip_norm]), np.array([0.1]), rng=rng())[0]


@given(statistics(), st.sampled_from((1e-12, C, 1e6)))
@law
def test_one_prompt_moves_a_step_of_dp_sgd_no_further_than_claimed(
    pair: tuple[Statistics, Statistics], clip_norm: float
) -> None:
    one, two = (trained(data, 1, clip_norm) for data in pair)
    assert np.linalg.norm(one - two) <= 0.9 * 2 * clip_norm / BATCH * ROUNDING + 1e-14
    assert np.isfinite(trained(pair[0], 5)).all()


def test_a_context_whose_square_vanishes_is_clipped_all_the_same() -> None:
    told = pretraining.Descent(0.0, 1.0, 1, 1)
    small = Statistics(np.array([[1.0, 0.0]]), np.array([[1e-170, 0.0]]), np.array([1e150]))
    found = pretraining.dp_sgd(small, told, np.ones(1), np.array([1e-40]), np.zeros(1), rng=rng())
    np.testing.assert_allclose(np.linalg.norm(found), 1e-40)


# ------------------------------------------------------------------------------------------------ gradients by prompt


def linear(prompts: Prompts, plans: list[Plan]) -> per_prompt.Gradient:
    return per_prompt.linear_gradient(prompts, plans)


def attending(prompts: Prompts, plans: list[Plan]) -> per_prompt.Gradient:
    return per_prompt.softmax_gradient(prompts, 1.4, plans)


def seen_as_contexts(prompts: Prompts, plans: list[Plan]) -> per_prompt.Gradient:
    return per_prompt.softmax_gradient_of(softmax.contexts(prompts), 1.4, plans)


HEADS = pytest.mark.parametrize("make", [linear, attending, seen_as_contexts], ids=lambda f: f.__name__)


@HEADS
@given(pair=neighbours())
@law
def test_one_prompt_moves_a_mean_of_gradients_no_further_than_claimed(
    make: Callable[[Prompts, list[Plan]], per_prompt.Gradient], pair: tuple[Prompts, Prompts]
) -> None:
    one, two = (make(prompts, PLANS)(WEIGHTS) for prompts in pair)
    assert np.linalg.norm(one - two, axis=(1, 2)).max() <= per_prompt.sensitivity(C, N) * ROUNDING
    plans = [Plan(3, C, 0.5, 0.1)] * 3
    for run in (per_prompt.descend, per_prompt.descend_apart):
        assert np.isfinite(run(make(pair[0], plans), WEIGHTS, plans, rng=rng()).last).all()


@given(neighbours())
@law
def test_prompts_are_bounded_one_by_one(pair: tuple[Prompts, Prompts]) -> None:
    one, two = (per_prompt.bounded(prompts) for prompts in pair)
    assert max(np.abs(one.x).max(), np.abs(one.y).max()) <= per_prompt.LARGEST
    np.testing.assert_array_equal(one.x[:-1], two.x[:-1])
    np.testing.assert_array_equal(one.y[:-1], two.y[:-1])
    data = softmax.contexts(one)
    slopes = softmax.mean_gradient(WEIGHTS, np.full(3, 1.4), data, np.full(3, C))
    assert np.linalg.norm(slopes, axis=(1, 2)).max() <= C * ROUNDING


# ---------------------------------------------------------------------------------------- covariance and whitened head


@given(neighbours())
@law
def test_the_covariance_head_stands_any_prompt(pair: tuple[Prompts, Prompts]) -> None:
    moments = [covariance_head.token_moment(prompts.x, C) for prompts in pair]
    assert np.linalg.norm(moments[0] - moments[1]) <= math.sqrt(2) * C / N * ROUNDING
    assert np.isfinite(covariance_head.release(moments[0], N, L, MU, 0.5, clip_norm=C, rng=rng())).all()


# ------------------------------------------------------------------------------------------------------ public facts


RAW = head.moments(Statistics(np.full((N, D), 9.0), np.ones((N, D)), np.ones(N)))
RIDGE = private_ridge.PrivateRidge(TOLD.clip_norm, TOLD.feature_bound, 0.3, N)
SOUND = head.statistics(ORDINARY)
ONE = np.ones(1)
GRADIENT = linear(ORDINARY, PLANS)
MOMENT = covariance_head.token_moment(ORDINARY.x)
SHOWN = examples(ORDINARY, every_token=True)
PLAN = whitened_plan.plan(D, L, N, MU, every_token=True)


def descended(**changed: np.ndarray) -> object:
    arrays = {"factor": ONE, "clip_norm": ONE, "noise_std": ONE} | changed
    return pretraining.dp_sgd(SOUND, pretraining.Descent(0.1, 0.9, 1, BATCH), **arrays, rng=rng())


def covariance(N: float = N, L: float = L, noise: float = 0.0, **told: float) -> object:
    return covariance_head.release(MOMENT, N, L, MU, 0.5, noise, **told, rng=rng())  # type: ignore[arg-type]


@each(
    ("call", "words"),
    [
        (lambda: descended(factor=-ONE), "factor must be"),
        (lambda: descended(clip_norm=math.nan * ONE), "clip_norm must be"),
        (lambda: descended(noise_std=-ONE), "noise_std must be"),
        (lambda: covariance_head.token_moment(NONE.x), "x must have at least one prompt"),
        (lambda: covariance_head.token_moment(ORDINARY.x, math.inf), "clip_norm must be"),
        *((lambda n=n: covariance_head.noise_std(n, MU), "N must be a whole number") for n in (-5, 0, math.inf)),
        *((lambda n=n: covariance(N=n), "N must be a whole number") for n in (-5, math.inf)),
        (lambda: covariance(L=0), "L must be a whole number"),
        (lambda: covariance(noise=math.nan), "label_noise must be"),
        (lambda: covariance(clip_norm=math.inf), "clip_norm must be positive and finite"),
        (lambda: covariance_head.release(np.zeros((2, 3)), N, L, MU, 0.5, rng=rng()), "moment must have shape"),
        *((lambda f=f: f(NONE, PLANS), "number of prompts") for f in (linear, attending, seen_as_contexts)),
        *((lambda f=f: f(BARE, PLANS), "number of labelled tokens") for f in (linear, attending, seen_as_contexts)),
        (lambda: softmax.mean_gradient(WEIGHTS, np.ones(3), softmax.contexts(NONE), np.ones(3)), "number of prompts"),
        (lambda: per_prompt.softmax_gradient(ORDINARY, 1e200, PLANS), "scale must be between"),
        (lambda: per_prompt.descend(GRADIENT, math.nan * WEIGHTS, PLANS, rng=rng()), "initial must be finite"),
        (lambda: per_prompt.descend(lambda A: A, WEIGHTS, PLANS, rng=rng()), "gradient must be clipped at the norms"),
        (
            lambda: per_prompt.descend(linear(ORDINARY, [Plan(1, math.inf, 1.0, 0.0)] * 3), WEIGHTS, PLANS, rng=rng()),
            "gradient must be clipped at the norms",
        ),
        (lambda: Plan(1, 1e-40, 1.0, 0.0), "clip_norm must be between"),
        (lambda: per_prompt.noise_std(ApproximateDP(1.0, 1e-5), math.inf, 1, 5), "clip_norm must be positive and"),
        (lambda: whitened_descent.common(SHOWN, PLAN, np.zeros((1, 2, D, D))), "noise must have shape"),
        (lambda: whitened_descent.common(SHOWN, PLAN, np.full((1, 6, D, D), math.nan)), "noise must be finite"),
        (lambda: whitened_descent.release(examples(NONE, every_token=True), PLAN, rng=rng()), "told.N must be"),
        (lambda: private_ridge.release(RAW, RIDGE, [0.1], rng=rng()), "data must be moments of"),
        (lambda: private_ridge.releases(RAW, RIDGE, [0.1], 2, rng=rng()), "data must be moments of"),
        (lambda: private_ridge.simulate(RAW, math.nan, [0.1], 1, rng=rng()), "penalty must be"),
        (lambda: pretraining.release(RAW, TOLD, 0.1, rng=rng()), "data must be moments of projected"),
        (lambda: pretraining.release(RAW, TOLD, 0.0, rng=rng()), "noise_std must be positive"),
        (lambda: dynamics.simulate(RAW, TOLD, 0.1, rng=rng()), "data must be moments of projected"),
        *((lambda r=r: pretraining.project_ball(np.ones((1, 3)), r), "radius must be") for r in (math.nan, -1.0, 0.0)),
    ],
)  # fmt: skip
def test_public_facts_are_refused(call: Callable[[], object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        call()


def test_what_is_bounded_or_not_protected_is_not_refused() -> None:
    private_ridge.simulate(RAW, 0.3, [0.0], 1, rng=rng())
    dynamics.simulate(RAW, TOLD, 0.0, rng=rng())
    bounded = head.moments(head.project(head.statistics(ORDINARY, TOLD.clip_norm), TOLD.feature_bound))
    private_ridge.release(bounded, RIDGE, [0.1], rng=rng())
    dynamics.simulate(bounded, TOLD, 0.1, rng=rng())
    found = pretraining.release(bounded, TOLD, 0.1, rng=rng())
    np.testing.assert_array_equal(found, pretraining.pretrain(bounded, TOLD, [0.1], rng=rng())[0])
    assert pretraining.project_ball(np.zeros((0, 3)), 1.0).shape == (0, 3)
    assert covariance_head.noise_std(N, MU) > 0
    assert isinstance(softmax.contexts(ORDINARY), Contexts)
