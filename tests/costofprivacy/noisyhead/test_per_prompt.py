"""Descent on clipped gradients: the literal algorithm, its sensitivity on any neighbours, its privacy."""

from collections.abc import Callable

import numpy as np
import pytest

from costofprivacy.noisyhead import elliptical, per_prompt, softmax
from costofprivacy.noisyhead.per_prompt import Plan
from costofprivacy.noisyhead.prompts import Prompts
from costofprivacy.privacy import ApproximateDP, GaussianDP, every_iterate

D, L, N = 3, 4, 9
PROMPTS = elliptical.sample(np.eye(D) / np.sqrt(D), L, N, rng=np.random.default_rng(0))
PLANS = [Plan(5, 0.1, 2.0, 0.3), Plan(5, np.inf, 1.0, 0.0)]
Make = Callable[[Prompts, list[Plan]], per_prompt.Gradient]
MAKERS: dict[str, Make] = {
    "softmax": lambda prompts, plans: per_prompt.softmax_gradient(prompts, 1.4, plans),
    "linear": per_prompt.linear_gradient,
}
each_head = pytest.mark.parametrize("head", MAKERS)


def gradient_of(head: str, A: np.ndarray, prompts: Prompts, k: int) -> np.ndarray:
    """The gradient of one prompt, written out."""
    x, y, q, t = prompts.x[k, :-1], prompts.y[k, :-1], prompts.x[k, -1], prompts.y[k, -1]
    if head == "linear":
        m = y @ x / len(y)
        return (q @ A @ m - t) * np.outer(q, m)
    p = np.exp(x @ A @ q)
    p /= p.sum()
    mean = p @ y
    return (1.4 * mean - t) * 1.4 * np.outer((p * (y - mean)) @ x, q)


@each_head
def test_it_is_the_literal_algorithm_on_the_same_noise(head: str) -> None:
    start = np.zeros((2, D, D))
    found = per_prompt.descend(MAKERS[head](PROMPTS, PLANS), start, PLANS, rng=np.random.default_rng(1))
    for b, plan in enumerate(PLANS):
        rng, A, path = np.random.default_rng(1), np.zeros((D, D)), []
        for _ in range(plan.steps):
            total = np.zeros((D, D))
            for k in range(N):
                g = gradient_of(head, A, PROMPTS, k)
                total += g * min(1.0, plan.clip_norm / np.linalg.norm(g))
            A = A - plan.learning_rate * (total / N + plan.noise_std * rng.standard_normal((D, D)))
            path.append(A)
        np.testing.assert_allclose(found.last[b], A, rtol=1e-10)
        np.testing.assert_allclose(found.average[b], np.mean(path[2:], axis=0), rtol=1e-10)


@each_head
def test_opposed_prompts_attain_the_sensitivity(head: str) -> None:
    plans = [Plan(1, 0.1, 1.0, 0.0)]
    x, y = PROMPTS.x.copy(), PROMPTS.y.copy()
    x[0, :-1], x[0, -1], y[0, :-1] = np.eye(D)[[0, 1, 2, 0]], np.eye(D)[0], [1e3, 0, 0, 1e3]
    found = []
    for target in (1e9, -1e9):
        y[0, -1] = target
        found.append(MAKERS[head](Prompts(x, y.copy(), PROMPTS.w), plans)(np.zeros((1, D, D))))
    assert np.linalg.norm(found[0] - found[1]) == pytest.approx(per_prompt.sensitivity(0.1, N))


def test_the_noise_is_the_least_that_keeps_the_budget() -> None:
    budget = ApproximateDP(0.7, 1e-5)
    std = per_prompt.noise_std(budget, 0.2, 30, 500)
    step = GaussianDP(per_prompt.sensitivity(0.2, 500) / std)
    assert every_iterate(step, 30).epsilon(1e-5) == pytest.approx(0.7, rel=1e-6)


def test_without_noise_the_linear_head_rests_at_least_squares() -> None:
    prompts = elliptical.sample(np.eye(2) / np.sqrt(2), 20, 300, rng=np.random.default_rng(3))
    plans = [Plan(4000, np.inf, 6.0, 0.0)]
    found = per_prompt.descend(
        per_prompt.linear_gradient(prompts, plans), np.zeros((1, 2, 2)), plans, rng=np.random.default_rng(0)
    )
    data = softmax.contexts(prompts)
    m = np.einsum("nl,nld->nd", data.responses, data.keys) / 20
    Z = np.einsum("nd,ne->nde", data.query, m).reshape(300, -1)
    np.testing.assert_allclose(found.last[0].reshape(-1), np.linalg.lstsq(Z, data.target, rcond=None)[0], rtol=1e-6)


@each_head
def test_apart_every_run_has_noise_of_its_own(head: str) -> None:
    plans = [PLANS[0]] * 3
    gradient, start = MAKERS[head](PROMPTS, plans), np.zeros((3, D, D))
    apart = per_prompt.descend_apart(gradient, start, plans, rng=np.random.default_rng(2)).last
    together = per_prompt.descend(gradient, start, plans, rng=np.random.default_rng(2)).last
    assert np.ptp(together, axis=0).max() < 1e-12
    assert np.ptp(apart, axis=0).min() > 1e-9


def test_prompts_within_bounds_are_left_as_they_are() -> None:
    assert per_prompt.bounded(PROMPTS) is PROMPTS
    x = PROMPTS.x.copy()
    x[3, 0, 0] = np.nan
    found = per_prompt.bounded(Prompts(x, PROMPTS.y, PROMPTS.w))
    assert (found.x[3] == 0).all()
    assert (found.y[3] == 0).all()
    np.testing.assert_array_equal(np.delete(found.x, 3, 0), np.delete(PROMPTS.x, 3, 0))
