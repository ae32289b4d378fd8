"""Whatever a prompt holds, what learns from prompts moves no further than it claims, and refuses by public facts."""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from costofprivacy.noisyhead import (
    attack,
    bounds,
    covariance_head,
    dynamics,
    elliptical,
    head,
    hyperparameters,
    per_prompt,
    pretraining,
    private_ridge,
    softmax,
    token_laws,
    whitened_descent,
    whitened_plan,
)
from costofprivacy.noisyhead.attack import Attack
from costofprivacy.noisyhead.bounds import shortening_risk
from costofprivacy.noisyhead.curvature import ProductMoments, in_eigenbasis
from costofprivacy.noisyhead.examples import Examples, examples
from costofprivacy.noisyhead.head import LinearAttentionHead, Moments, Statistics
from costofprivacy.noisyhead.hyperparameters import Hyperparameters
from costofprivacy.noisyhead.per_prompt import Plan
from costofprivacy.noisyhead.pretraining import Descent, dp_sgd
from costofprivacy.noisyhead.private_ridge import PrivateRidge
from costofprivacy.noisyhead.prompts import PromptModel, Prompts, sample
from costofprivacy.noisyhead.ridge import RidgeWithOneMore, ridge
from costofprivacy.noisyhead.softmax import Contexts
from costofprivacy.noisyhead.token_laws import TokenLaw
from costofprivacy.noisyhead.whitened_plan import plan
from costofprivacy.privacy import ApproximateDP, GaussianDP, sums
from tests.costofprivacy.privacy import hostile
from tests.costofprivacy.privacy.numerics import Scripted
from tests.costofprivacy.privacy.test_records import ROUNDING, TOLD, D, L, N, bounded, neighbours
from tests.each import each, refused

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


def test_a_context_whose_square_vanishes_is_clipped_all_the_same() -> None:
    told = pretraining.Descent(0.0, 1.0, 1, 1)
    small = Statistics(np.array([[1.0, 0.0]]), np.array([[1e-170, 0.0]]), np.array([1e150]))
    found = pretraining.dp_sgd(small, told, np.ones(1), np.array([1e-40]), np.zeros(1), rng=rng())
    np.testing.assert_allclose(np.linalg.norm(found), 1e-40)


# ------------------------------------------------------------------------------------------------ gradients by prompt


def linear(prompts: Prompts, plans: list[Plan]) -> per_prompt.Gradient:
    return per_prompt.linear_gradient(prompts, plans)


def seen_as_contexts(prompts: Prompts, plans: list[Plan]) -> per_prompt.Gradient:
    return per_prompt.softmax_gradient_of(softmax.contexts(prompts), 1.4, plans)


def test_runs_apart_have_the_noise_of_one_run() -> None:
    plans = [Plan(3, C, 0.5, 0.1)] * 3
    told = [np.ones((D, D)), -np.eye(D), np.ones((D, D)) / 2]
    one, apart = (
        run(linear(ORDINARY, plans), WEIGHTS, plans, rng=Scripted(standard_normal=told)).last
        for run in (per_prompt.descend, per_prompt.descend_apart)
    )
    np.testing.assert_array_equal(one, apart)


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
        *((lambda f=f: f(NONE, PLANS), "number of prompts") for f in (linear, seen_as_contexts)),
        *((lambda f=f: f(BARE, PLANS), "number of labelled tokens") for f in (linear, seen_as_contexts)),
        (lambda: softmax.mean_gradient(WEIGHTS, np.ones(3), softmax.contexts(NONE), np.ones(3)), "number of prompts"),
        (lambda: per_prompt.softmax_gradient_of(softmax.contexts(ORDINARY), 1e200, PLANS), "scale must be between"),
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
    refused(words, call)


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


# ---- What is refused ----


RNG = np.random.default_rng(0)
MODEL, HYPER = PromptModel(3, 12, 0.4), Hyperparameters(1.2, 0.3, 0.8, 0.5, 0.3, 7)
DRAWN = sample(MODEL, 10, rng=RNG)
STATISTICS = head.statistics(DRAWN)
DATA, SILENT = head.moments(STATISTICS), Moments(np.eye(4), np.zeros(4))
CONTEXTS, EXAMPLES = softmax.contexts(DRAWN), examples(DRAWN, every_token=True)
RELEASE = PrivateRidge(1.0, 2.0, 1.0, 9)
TOKENLESS = Prompts(np.ones((3, 1, 2)), np.ones((3, 1)), np.zeros((3, 2)))
TILTED, ROOT = token_laws.unknown(3, 10.0, rng=RNG), np.eye(3)
LONG, OTHER = plan(5, 31, 4000, MU, every_token=False), plan(3, 12, 11, MU, every_token=True)
SIZES = {"D": 5, "L": 31, "N": 4000, "steps": 4}


def of_parts(**changed: np.ndarray) -> Examples:
    return Examples(**{name: getattr(EXAMPLES, name) for name in ("token", "query", "context", "response")} | changed)


def spoilt(name: str, value: float) -> np.ndarray:
    array = getattr(EXAMPLES, name).copy()
    array.flat[5] = value
    return array


def pretrained(data: object = DATA, **changed: object) -> object:
    return pretraining.pretrain(data, HYPER, **{"noise_std": [1.0]} | changed, rng=RNG)


REFUSED: list[tuple[Callable[[], object], str]] = [
    *(
        (lambda n=n, v=v: replace(Attack(1.0, 1.0), **{n: v}), f"^{n} must be a finite number, got")
        for n in ("response_shift", "feature_shift", "query_shift")
        for v in (math.nan, math.inf, "1")
    ),
    (lambda: attack.ridge_limit(PromptModel(1, 5), 0.1, 1.0, 0.0), "D must be a whole number of at least 2"),
    *(
        (lambda r=r: bounds.high_dimensional_iterations(r, 0.1, 0.5), f"^progress must be above 1, got {r!r}$")
        for r in (1.0, 0.5, -2.0, math.nan)
    ),
    *(
        (lambda use=use, s=s: use(s), rf"^learning_rate \* penalty must be between 0 and 1, got {s!r}$")
        for s in (0.0, 1.0, 1.5, -0.1, math.nan)
        for use in (
            lambda s: bounds.high_dimensional_iterations(10.0, s, 1.0),
            lambda s: bounds.progress(s, 1.0, 3),
            lambda s: bounds.low_dimensional_iterations(MODEL, 10, s, 1.0),
        )
    ),
    *(
        (lambda level=level, f=f: level(MODEL, 100, f), f"^failure must be between 0 and 1, both excluded, got {f!r}$")
        for level in (bounds.response_level, bounds.feature_sum_level, bounds.product_sum_level)
        for f in (0.0, 1.0, -0.1, math.nan)
    ),
    *(
        (lambda m=m: covariance_head.release(m, 5, 4, MU, 0.0, rng=RNG), "moment must have a Frobenius norm of at most")
        for m in (2 * np.eye(2), np.full((2, 2), math.nan), np.diag([math.inf, 0]))
    ),
    *(
        (
            lambda f=f: pretrained(f(STATISTICS), noise_std=[0.0], initial=np.eye(2)),
            r"^initial must have shape \(3, 3\)",
        )
        for f in (head.moments, ProductMoments, lambda data: in_eigenbasis(head.moments(data)))
    ),
    (lambda: elliptical.spectrum(3, 0.5), r"condition must be at least 1, got 0\.5"),
    (lambda: elliptical.sample(ROOT, 3, 0, rng=RNG), "N must be"),
    *(
        (lambda n=n, v=v: of_parts(**{n: spoilt(n, v)}), f"{n} must be finite and at most")
        for n in ("token", "query", "context", "response")
        for v in (math.nan, -math.inf, 1e13)
    ),
    (lambda: of_parts(context=EXAMPLES.context[:, :1]), "context must"),
    (lambda: examples(TOKENLESS, every_token=True), "at least one labelled token"),
    *((lambda v=v: head.statistics(DRAWN, v), "clip_norm must be positive") for v in (0.0, -1.0, math.nan)),
    *((lambda v=v: head.project(STATISTICS, v), "feature_bound must be") for v in (1e-160, 0.0, -1.0, math.nan)),
    (lambda: LinearAttentionHead(np.eye(3), np.eye(4)), "W_KQ must have shape"),
    (lambda: hyperparameters.clip_norm(MODEL, 0, 1.0), "N must be a whole number of at least 1, got 0"),
    (lambda: hyperparameters.clip_norm(MODEL, 10, 0.0), "failure must be positive and finite, got 0.0"),
    (lambda: hyperparameters.feature_bound_proof(MODEL, 10, 11.0), "failure must be at most N = 10, got 11.0"),
    (lambda: hyperparameters.feature_bound_uniform(MODEL, 10, 1.0), "failure must be between 0 and 1"),
    (lambda: hyperparameters.weight_bound(MODEL, 10, 1.0, 0.0), "penalty must be positive and finite, got 0.0"),
    (lambda: hyperparameters.iterations(2.5, 100, 1.0, 1.0), r"learning_rate \* penalty must be between 0 and 1"),
    (lambda: hyperparameters.learning_rate_scaled(2.0, 5.0, 0.0), "share must be positive and finite, got 0.0"),
    (lambda: replace(HYPER, weight_bound=-1.0), "weight_bound must be positive and finite, got -1.0"),
    (lambda: dynamics.simulate(DATA, HYPER, -1.0, rng=RNG), "noise_std"),
    (lambda: dp_sgd(STATISTICS, Descent(1.0, 0.1, 1, 11), ONE, ONE, ONE, rng=RNG), "batch must be at most N = 10, got"),
    (lambda: dp_sgd(STATISTICS, Descent(1.0, 0.1, 1, 10), ONE, ONE, np.ones(2), rng=RNG), "noise_std"),
    (lambda: Descent(1.0, 0.0, 1, 10), "learning_rate must be"),
    (lambda: Plan(0, 1.0, 1.0, 0.0), "steps"),
    (lambda: Plan(1, 1.0, 1.0, -1.0), "noise_std"),
    (
        lambda: per_prompt.descend(abs, np.zeros((2, 3, 3)), [Plan(k, 1.0, 1.0, 0.0) for k in (1, 2)], rng=RNG),
        "plans must have one number of steps",
    ),
    (lambda: pretrained(noise_std=[-1.0]), "noise_std must be non-negative and finite, got -1.0"),
    (lambda: pretrained(steps=[0]), "steps must be a whole number of at least 1"),
    (lambda: pretrained(steps=[1, 2]), r"steps must have shape \(1\), got \(2,\)"),
    (lambda: replace(RELEASE, clip_norm=0.0), "clip_norm must be positive and finite, got 0.0"),
    (lambda: replace(RELEASE, N=0), "N must be a whole number of at least 1, got 0"),
    *(
        (lambda v=v: private_ridge.release(SILENT, RELEASE, [0.1, v], rng=RNG), "noise_std must be positive and finite")
        for v in (-1.0, 0.0, math.inf, math.nan)
    ),
    (lambda: private_ridge.simulate(SILENT, 1.0, [-1.0], 1, rng=RNG), "noise_std must be non-negative and finite, got"),
    (lambda: private_ridge.releases(SILENT, RELEASE, [1.0], 0, rng=RNG), "count must be a whole number of at least 1"),
    (lambda: private_ridge.worst_neighbours(replace(RELEASE, N=1), 2), "N must be a whole number of at least 2, got 1"),
    (lambda: private_ridge.flipped_neighbours(RELEASE, 1), "D must be a whole number of at least 2, got 1"),
    *((lambda D=D: PromptModel(D, 3, 0.5), f"D must be a whole number of at least 1, got {D}") for D in (-3, 0, 2.5)),
    (lambda: PromptModel(2, 0), "^L must be"),
    *((lambda v=v: PromptModel(2, 3, v), "^label_noise must be") for v in (-0.1, math.nan)),
    (lambda: Prompts(np.zeros((2, 3, 5)), np.zeros((2, 4)), np.zeros((2, 5))), r"y must have shape \(2, 3\), got \(2,"),
    *((lambda v=v: ridge(DATA, v), "penalty must be positive and finite") for v in (0.0, -1.0, math.inf)),
    (lambda: RidgeWithOneMore(DATA, 0, 1.0), "count must be"),
    *((lambda v=v: RidgeWithOneMore(DATA, 5, v), "penalty must be") for v in (0.0, -1.0)),
    (lambda: shortening_risk(0, 1.0, 1.0), "D"),
    (lambda: shortening_risk(5, 1.0, -1.0), "penalty"),
    (lambda: softmax.Contexts(CONTEXTS.keys, CONTEXTS.responses[:, 1:], CONTEXTS.query, CONTEXTS.target), "responses"),
    (lambda: softmax.gradient_bound(-1.0, 1.0), "scale must be"),
    (lambda: token_laws.eigenvalues(3, 0.5), "condition must be between 1"),
    (lambda: token_laws.sphere(0), "D must be a whole number of at least 1, got 0"),
    (lambda: TokenLaw(np.ones((2, 3)), 0.0), "covariance must"),
    (lambda: token_laws.sample(TILTED, 0, 3, rng=RNG), "N must be"),
    (lambda: token_laws.sample(TokenLaw(np.diag([0.3, 0.7]), 0.0), 3, 3, rng=RNG), "law must be Gaussian or"),
    (lambda: whitened_descent.release(EXAMPLES, OTHER, rng=RNG), r"told\.N must be the number of prompts, 10, got 11"),
    (lambda: whitened_descent.releases(EXAMPLES, OTHER, 0, rng=RNG), "count must be a whole number of at least 1"),
    (lambda: replace(LONG, clip_norms=(1.0, 0.0, 1.0, 1.0)), "clip_norms must be positive"),
    (lambda: replace(LONG, gains=(0.5, 1.5, 1.0, 1.0)), "gains must be between 0 and 1"),
    (lambda: replace(LONG, gains=(0.5,)), "gains must be as many as clip_norms, got 1 and 4"),
    (lambda: replace(LONG, feature_norm=-1.0), "feature_norm must be positive"),
    (lambda: replace(LONG, context_norm=math.nan), "context_norm must be positive"),
    *(
        (lambda n=n: plan(**SIZES | {n: 0}, budget=MU, every_token=True), f"{n} must be a whole number of at least 1")
        for n in SIZES
    ),
]


@each(("call", "words"), REFUSED)
def test_it_is_refused_in_one_line(call: Callable[[], object], words: str) -> None:
    with pytest.raises(ValueError, match=words) as refusal:
        call()
    assert "\n" not in str(refusal.value)


def test_what_conjugate_gradients_cannot_solve_is_refused() -> None:
    """Contexts over four orders of magnitude: (λ + ‖H‖)/λ is about 1e8."""
    raw = head.statistics(sample(PromptModel(12, 12, 0.3), 144, rng=np.random.default_rng(0)))
    stretched = Statistics(raw.query, raw.context * np.geomspace(1, 1e4, 144)[:, None], raw.response)
    assert np.linalg.eigvalsh(head.moments(stretched).gram)[-1] / 1e-2 > 1e7
    with pytest.raises(ValueError, match=r"^penalty must be large enough for conjugate gradients, got 0\.01$"):
        ridge(ProductMoments(stretched), 1e-2)


# ---- Types, layouts and sums ----


BUDGET = ApproximateDP(1.0, 1e-5)


# ---------------------------------------------------------------------------------------------------------- as found


@each(("kind", "value"), [("uint8", 16), ("int8", 16), ("int32", 65_536), ("int64", 2**32)])
def test_whole_numbers_do_not_overflow_in_a_norm(kind: str, value: int) -> None:
    """As it was found: the norm of Z was 12.8 where 0.8 is claimed, and 3.4e9 for 64 bits."""
    x = np.zeros((1, 2, 2), dtype=kind)
    x[0, :, 0] = value
    data = bounded(Prompts(x, np.ones((1, 2), dtype=kind), np.zeros((1, 2))))
    assert np.linalg.norm(data.Z) <= TOLD.feature_bound * ROUNDING
    raw = Statistics(x[:, 1], x[:, 0], np.ones(1, dtype=kind))
    assert np.linalg.norm(head.project(raw, 0.8).Z) <= 0.8 * ROUNDING


def test_long_sums_of_single_precision_lose_nothing() -> None:
    """As it was found: with 191,073 prompts of single precision one moved the moment by 235 times its sensitivity."""
    N = 60_000
    x = np.ones((N, 1, 1), dtype=np.float32)
    x[0] = 4097.0
    other = x.copy()
    other[0] = 0.0
    moved = covariance_head.token_moment(x, 1.0) - covariance_head.token_moment(other, 1.0)
    assert abs(moved[0, 0]) <= math.sqrt(2) / N * ROUNDING


# --------------------------------------------------------------------------------------------------- the same array


@each("layout", hostile.LAYOUTS)
def test_a_void_record_does_not_change_a_bit_of_what_the_others_give(layout: hostile.Layout) -> None:
    """Where a record is void arrays are copied; products of matrices depend on the layout in their last bit."""
    rng = np.random.default_rng(1)
    x, y = rng.standard_normal((40, L + 1, 7)), rng.standard_normal((40, L + 1))
    hurt = x.copy()
    hurt[3, 0] = math.nan
    one, two = (
        head.project(head.statistics(Prompts(layout(a), layout(y), np.zeros((40, 7))), 1.0), 0.5) for a in (x, hurt)
    )
    rest = np.arange(40) != 3
    np.testing.assert_array_equal(one.Z[rest], two.Z[rest])
    A = 30 * rng.standard_normal((1, 7, 7))
    silent = np.where(rest[:, None, None], x, 0.0)
    sound = per_prompt.bounded(Prompts(layout(hurt), y, np.zeros((40, 7))))
    np.testing.assert_array_equal(sound.x, silent)
    given = (sound, Prompts(layout(x), y, np.zeros((40, 7))))
    p, q = (np.concatenate([p for _, p in softmax.attend(A, softmax.contexts(prompts))]) for prompts in given)
    np.testing.assert_array_equal(p[rest], q[rest])


# ---------------------------------------------------------------------------------------------------------- long sums


@given(neighbours((1, 6, 700, 3000)))
@law
def test_long_sums_move_no_further_than_claimed(pair: tuple[Prompts, Prompts]) -> None:
    N, G = len(pair[0].x), TOLD.feature_bound
    data = [bounded(prompts) for prompts in pair]
    one, two = (head.moments(each) for each in data)
    paid = 1 + 2e-12 + sums.slack(N, D**4)
    assert np.linalg.norm(one.gram - two.gram) <= 2 * G**2 / N * paid
    assert np.linalg.norm(one.cross - two.cross) <= 2 * TOLD.clip_norm * G / N * paid
    told = PrivateRidge(TOLD.clip_norm, G, 0.3, N)
    assert np.linalg.norm(ridge(one, 0.3) - ridge(two, 0.3)) <= private_ridge.sensitivity(told) * ROUNDING
    np.testing.assert_allclose(ProductMoments(data[0]).cross, one.cross, atol=1e-13)
    np.testing.assert_allclose(ProductMoments(data[0]).times(np.eye(D * D)), one.gram, atol=1e-13)
    plans = [Plan(3, C, 0.5, 0.1)] * 3
    for make in (linear, seen_as_contexts):
        first, second = (make(prompts, plans) for prompts in pair)
        moved = np.linalg.norm(first(WEIGHTS) - second(WEIGHTS), axis=(1, 2))
        assert moved.max() <= per_prompt.sensitivity(C, N) * ROUNDING
        for run in (per_prompt.descend, per_prompt.descend_apart):
            assert np.isfinite(run(first, WEIGHTS, plans, rng=rng()).last).all()
    told_descent = pretraining.Descent(0.1, 0.9, 1, N)
    steps = [
        pretraining.dp_sgd(each, told_descent, np.ones(1), np.array([C]), np.zeros(1), rng=np.random.default_rng(0))
        for each in data
    ]
    assert np.linalg.norm(steps[0] - steps[1]) <= 0.9 * 2 * C / N * ROUNDING


def test_sums_in_pairs_are_the_sums() -> None:
    rng = np.random.default_rng(2)
    data = Statistics(*rng.standard_normal((2, 1300, 3)), rng.standard_normal(1300))
    found, Z = head.moments(data), data.Z.reshape(1300, -1)
    np.testing.assert_allclose(found.gram, Z.T @ Z / 1300, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(found.cross, data.response @ Z / 1300, rtol=1e-12, atol=1e-15)
    few = Statistics(*(part[:512] for part in (data.query, data.context, data.response)))
    found, Z = head.moments(few), few.Z.reshape(512, -1)
    np.testing.assert_array_equal(found.gram, Z.T @ Z / 512)
    np.testing.assert_array_equal(found.cross, few.response @ Z / 512)


# ------------------------------------------------------------------------------------------------------ public numbers


sizes = st.one_of(
    st.sampled_from([1e-310, 1e-170, 1e-150, 1e-60, 1e-8, 1.0, 1e8, 1e60, 1e150, 1e170, 1e300]), st.floats(1e-3, 1e3)
)


@given(C=sizes, G=sizes, R=sizes, penalty=sizes, rate=sizes, N=st.sampled_from([1, 7, 10**9]))
@settings(law, max_examples=100)
def test_noise_is_positive_for_every_accepted_number(
    C: float, G: float, R: float, penalty: float, rate: float, N: int
) -> None:
    try:
        hyper = Hyperparameters(C, G, R, penalty, rate, 3)
    except ValueError:
        assert min(C, G, R, penalty, rate) < 1e-50 or max(C, G, R, penalty, rate) > 1e50
        return
    moved = pretraining.update_sensitivity(hyper, N)
    assert 0 < moved < math.inf
    assert moved == pytest.approx(math.exp(math.log(2 * rate * G) + math.log(C + R * G) - math.log(N)), rel=1e-9)
    told = PrivateRidge(C, G, penalty, N)
    for std in (private_ridge.noise_std(told, BUDGET), private_ridge.noise_std_printed(told, BUDGET)):
        assert 0 < std < math.inf
    spent = private_ridge.profile(told, BUDGET, private_ridge.noise_std(told, BUDGET)).last_iterate
    assert spent.delta(BUDGET.epsilon) <= BUDGET.delta * ROUNDING


@given(c=sizes, mu=sizes, N=st.sampled_from([1, 7, 10**9]))
@settings(law, max_examples=60)
def test_noise_of_means_is_positive_for_every_accepted_number(c: float, mu: float, N: int) -> None:
    try:
        std = covariance_head.noise_std(N, GaussianDP(mu), c)
        assert mu * std * N == pytest.approx(math.sqrt(2) * c, rel=1e-9)
        assert std**2 > 0
    except ValueError:
        assert min(c, mu) < 1e-100 or max(c, mu) > 1e100
    try:
        plan = whitened_plan.Plan((c,), (1.0,), c, c, N, GaussianDP(mu))
        assert min(plan.moment_std(c), plan.step_std(c)) ** 2 > 0
        assert max(plan.moment_std(c), plan.step_std(c)) ** 2 < math.inf
    except ValueError:
        assert min(c, mu) < 1e-50 or max(c, mu) > 1e50
    try:
        assert 0 < per_prompt.noise_std(BUDGET, c, 2, N) < math.inf
    except ValueError:
        assert c < 1e-30 or c > 1e100


def test_public_numbers_beyond_all_measure_are_refused() -> None:
    one = np.ones(1)
    data = head.statistics(Prompts(np.ones((3, 2, 2)), np.ones((3, 2)), np.ones((3, 2))))
    for told in ({"factor": 1e40 * one}, {"clip_norm": 1e-120 * one}, {"noise_std": 1e40 * one}):
        arrays = {"factor": one, "clip_norm": one, "noise_std": one} | told
        with pytest.raises(ValueError, match=f"{next(iter(told))} must be between"):
            pretraining.dp_sgd(data, pretraining.Descent(0.1, 0.1, 1, 1), **arrays, rng=np.random.default_rng(0))
    for wrong in ((1e200, 0.1, 1, 1.0), (0.1, 1e200, 1, 1.0), (0.1, 0.1, 1, 1e-200)):
        refused("must be between", pretraining.Descent, *wrong)
    for wrong in ((1, 1.0, 1e200, 0.1), (1, 1.0, 0.1, 1e200)):
        refused("must be between", Plan, *wrong)
    refused("clip_norm must be between", covariance_head.token_moment, np.ones((2, 2, 2)), 1e-170)


# ---- What NumPy has to say of private numbers is not heard ----


def test_tiny_numbers_of_a_prompt_end_nothing() -> None:
    """As it was found: under ``np.seterr(all="raise")`` a prompt of tiny numbers ended a run, where others did not."""
    size = np.full((3, 4, 2), 1e-100)
    prompts, weights = Prompts(size, size[..., 0], np.zeros((3, 2))), np.full((1, 2, 2), 1e-100)
    tiny = np.full((3, 2), 1e-200)
    with np.errstate(all="raise"):
        assert not per_prompt.linear_gradient(prompts, [per_prompt.Plan(1, 1.0, 0.1, 1.0)])(weights).any()
        assert not head.Statistics(tiny, tiny, tiny[:, 0]).Z.any()
        assert not head.Statistics(tiny, tiny, tiny[:, 0]).norm.all()
        assert not sums.product(tiny, tiny).any()
