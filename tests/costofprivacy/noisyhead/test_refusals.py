"""What the functions of the private head refuse, each in one line that names the argument."""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

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
from costofprivacy.noisyhead.token_laws import TokenLaw
from costofprivacy.noisyhead.whitened_plan import plan
from costofprivacy.privacy import GaussianDP
from tests.each import each

RNG, ONE = np.random.default_rng(0), np.ones(1)
MODEL, HYPER = PromptModel(3, 12, 0.4), Hyperparameters(1.2, 0.3, 0.8, 0.5, 0.3, 7)
DRAWN = sample(MODEL, 10, rng=RNG)
STATISTICS = head.statistics(DRAWN)
DATA, SILENT = head.moments(STATISTICS), Moments(np.eye(4), np.zeros(4))
CONTEXTS, EXAMPLES = softmax.contexts(DRAWN), examples(DRAWN, every_token=True)
RIDGE = PrivateRidge(1.0, 2.0, 1.0, 9)
BARE = Prompts(np.ones((3, 1, 2)), np.ones((3, 1)), np.zeros((3, 2)))
TILTED, ROOT = token_laws.unknown(3, 10.0, rng=RNG), np.eye(3)
MU = GaussianDP(1.0)
PLAN, OTHER = plan(5, 31, 4000, MU, every_token=False), plan(3, 12, 11, MU, every_token=True)
SIZES = {"D": 5, "L": 31, "N": 4000, "steps": 4}


def of_parts(**changed: np.ndarray) -> Examples:
    return Examples(**{name: getattr(EXAMPLES, name) for name in ("token", "query", "context", "response")} | changed)


def spoilt(name: str, value: float) -> np.ndarray:
    array = getattr(EXAMPLES, name).copy()
    array.flat[5] = value
    return array


def trained(data: object = DATA, **changed: object) -> object:
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
            lambda f=f: trained(f(STATISTICS), noise_std=[0.0], initial=np.eye(2)),
            r"^initial must have shape \(3, 3\)",
        )
        for f in (head.moments, ProductMoments, lambda data: in_eigenbasis(head.moments(data)))
    ),
    (lambda: elliptical.spectrum(3, 0.5), r"condition must be at least 1, got 0\.5"),
    (lambda: elliptical.sample(ROOT, 3, 0, rng=RNG), "N must be"),
    (lambda: elliptical.sample(ROOT, 3, 2, -1.0, rng=RNG), "label_noise"),
    *(
        (lambda n=n, v=v: of_parts(**{n: spoilt(n, v)}), f"{n} must be finite and at most")
        for n in ("token", "query", "context", "response")
        for v in (math.nan, -math.inf, 1e13)
    ),
    (lambda: of_parts(context=EXAMPLES.context[:, :1]), "context must"),
    (lambda: examples(BARE, every_token=True), "at least one labelled token"),
    *((lambda v=v: head.statistics(DRAWN, v), "clip_norm must be positive") for v in (0.0, -1.0, math.nan)),
    *((lambda v=v: head.project(STATISTICS, v), "feature_bound must be positive") for v in (0.0, -1.0, math.nan)),
    (lambda: LinearAttentionHead(np.eye(3), np.eye(4)), "W_KQ must have shape"),
    (lambda: LinearAttentionHead(np.ones((3, 4)), np.eye(3)), "W_PV must have shape"),
    (lambda: hyperparameters.clip_norm(MODEL, 0, 1.0), "N must be a whole number of at least 1, got 0"),
    (lambda: hyperparameters.clip_norm(MODEL, 10, 0.0), "failure must be positive and finite, got 0.0"),
    (lambda: hyperparameters.clip_norm(MODEL, 10, 120.0), "failure must be below NL = 120, got 120.0"),
    (lambda: hyperparameters.feature_bound_proof(MODEL, 10, 11.0), "failure must be at most N = 10, got 11.0"),
    (lambda: hyperparameters.feature_bound_uniform(MODEL, 10, 1.0), "failure must be between 0 and 1"),
    (lambda: hyperparameters.weight_bound(MODEL, 10, 1.0, 0.0), "penalty must be positive and finite, got 0.0"),
    (lambda: hyperparameters.iterations(2.5, 100, 1.0, 1.0), r"learning_rate \* penalty must be between 0 and 1"),
    (lambda: hyperparameters.learning_rate_scaled(2.0, 5.0, 0.0), "share must be positive and finite, got 0.0"),
    (lambda: hyperparameters.learning_rate_scaled(2.0, 5.0, math.inf), "share must be positive and finite, got"),
    (lambda: replace(HYPER, steps=0), "steps must be a whole number of at least 1, got 0"),
    (lambda: replace(HYPER, weight_bound=-1.0), "weight_bound must be positive and finite, got -1.0"),
    (lambda: dynamics.simulate(DATA, HYPER, -1.0, rng=RNG), "noise_std"),
    (lambda: dp_sgd(STATISTICS, Descent(1.0, 0.1, 1, 11), ONE, ONE, ONE, rng=RNG), "batch must be at most N = 10, got"),
    (lambda: dp_sgd(STATISTICS, Descent(1.0, 0.1, 1, 10), ONE, ONE, np.ones(2), rng=RNG), "noise_std"),
    (lambda: Descent(1.0, 0.0, 1, 10), "learning_rate must be"),
    (lambda: Plan(0, 1.0, 1.0, 0.0), "steps"),
    (lambda: Plan(1, 0.0, 1.0, 0.0), "clip_norm"),
    (lambda: Plan(1, 1.0, -1.0, 0.0), "learning_rate"),
    (lambda: Plan(1, 1.0, 1.0, -1.0), "noise_std"),
    (
        lambda: per_prompt.descend(abs, np.zeros((2, 3, 3)), [Plan(k, 1.0, 1.0, 0.0) for k in (1, 2)], rng=RNG),
        "plans must have one number of steps",
    ),
    (lambda: trained(noise_std=[-1.0]), "noise_std must be non-negative and finite, got -1.0"),
    (lambda: trained(noise_std=[math.inf]), "noise_std must be non-negative and finite, got inf"),
    (lambda: trained(steps=[0]), "steps must be a whole number of at least 1"),
    (lambda: trained(steps=[1, 2]), r"steps must have shape \(1\), got \(2,\)"),
    (lambda: replace(RIDGE, clip_norm=0.0), "clip_norm must be positive and finite, got 0.0"),
    (lambda: replace(RIDGE, feature_bound=math.inf), "feature_bound must be positive and finite, got inf"),
    (lambda: replace(RIDGE, penalty=-1.0), "penalty must be positive and finite, got -1.0"),
    (lambda: replace(RIDGE, N=0), "N must be a whole number of at least 1, got 0"),
    *(
        (lambda v=v: private_ridge.release(SILENT, RIDGE, [0.1, v], rng=RNG), "noise_std must be positive and finite")
        for v in (-1.0, 0.0, math.inf, math.nan)
    ),
    (lambda: private_ridge.simulate(SILENT, 1.0, [-1.0], 1, rng=RNG), "noise_std must be non-negative and finite, got"),
    (lambda: private_ridge.releases(SILENT, RIDGE, [1.0], 0, rng=RNG), "count must be a whole number of at least 1"),
    (lambda: private_ridge.worst_neighbours(replace(RIDGE, N=1), 2), "N must be a whole number of at least 2, got 1"),
    (lambda: private_ridge.flipped_neighbours(RIDGE, 1), "D must be a whole number of at least 2, got 1"),
    *((lambda D=D: PromptModel(D, 3, 0.5), f"D must be a whole number of at least 1, got {D}") for D in (-3, 0, 2.5)),
    (lambda: PromptModel(2, 0), "^L must be"),
    *((lambda v=v: PromptModel(2, 3, v), "^label_noise must be") for v in (-0.1, math.nan)),
    (lambda: Prompts(np.zeros((2, 3, 5)), np.zeros((2, 4)), np.zeros((2, 5))), r"y must have shape \(2, 3\), got \(2,"),
    *((lambda v=v: ridge(DATA, v), "penalty must be positive and finite") for v in (0.0, -1.0, math.inf)),
    (lambda: RidgeWithOneMore(DATA, 0, 1.0), "count must be"),
    *((lambda v=v: RidgeWithOneMore(DATA, 5, v), "penalty must be") for v in (0.0, -1.0)),
    (lambda: shortening_risk(0, 1.0, 1.0), "D"),
    (lambda: shortening_risk(5, 0.0, 1.0), "feature_bound"),
    (lambda: shortening_risk(5, 1.0, -1.0), "penalty"),
    (lambda: softmax.Contexts(CONTEXTS.keys, CONTEXTS.responses[:, 1:], CONTEXTS.query, CONTEXTS.target), "responses"),
    (lambda: softmax.gradient_bound(-1.0, 1.0), "scale must be"),
    (lambda: token_laws.eigenvalues(3, 0.5), "condition must be between 1"),
    (lambda: token_laws.sphere(0), "D must be a whole number of at least 1, got 0"),
    (lambda: TokenLaw(np.ones((2, 3)), 0.0), "covariance must"),
    (lambda: token_laws.sample(TILTED, 0, 3, rng=RNG), "N must be"),
    (lambda: token_laws.sample(TILTED, 3, 0, rng=RNG), "L must be"),
    (lambda: token_laws.sample(TILTED, 3, 3, -1.0, rng=RNG), "label_noise must be"),
    (lambda: token_laws.sample(TokenLaw(np.diag([0.3, 0.7]), 0.0), 3, 3, rng=RNG), "law must be Gaussian or"),
    (lambda: whitened_descent.release(EXAMPLES, OTHER, rng=RNG), r"told\.N must be the number of prompts, 10, got 11"),
    (lambda: whitened_descent.releases(EXAMPLES, OTHER, 0, rng=RNG), "count must be a whole number of at least 1"),
    (lambda: replace(PLAN, clip_norms=(1.0, 0.0, 1.0, 1.0)), "clip_norms must be positive"),
    (lambda: replace(PLAN, clip_norms=(1.0, math.inf, 1.0, 1.0)), "clip_norms must be positive and finite"),
    (lambda: replace(PLAN, gains=(0.5, 0.0, 1.0, 1.0)), "gains must be"),
    (lambda: replace(PLAN, gains=(0.5, 1.5, 1.0, 1.0)), "gains must be between 0 and 1"),
    (lambda: replace(PLAN, gains=(0.5,)), "gains must be as many as clip_norms, got 1 and 4"),
    (lambda: replace(PLAN, gains=(), clip_norms=()), "gains must be as many"),
    (lambda: replace(PLAN, feature_norm=-1.0), "feature_norm must be positive"),
    (lambda: replace(PLAN, context_norm=math.nan), "context_norm must be positive"),
    (lambda: replace(PLAN, N=0), "N must be a whole number of at least 1, got 0"),
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
