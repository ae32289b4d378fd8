"""The softmax head: against a loop over tokens, finite differences, quadrature and simulated prompts."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy.integrate import quad

from costofprivacy.noisyhead import elliptical, per_prompt, softmax
from costofprivacy.noisyhead.per_prompt import Plan
from costofprivacy.noisyhead.prompts import Prompts
from costofprivacy.privacy import ApproximateDP, GaussianDP, every_iterate
from tests.each import each

D, L, N = 3, 4, 7
RNG = np.random.default_rng(0)
PROMPTS = elliptical.sample(np.eye(D) / np.sqrt(D), L, N, 0.3, rng=RNG)
DATA = softmax.contexts(PROMPTS)
HEADS = RNG.standard_normal((2, D, D))
SCALES = np.array([1.3, -0.4])


def literal(A: np.ndarray, scale: float, prompts: Prompts, k: int) -> float:
    query = prompts.x[k, -1]
    weights = [math.exp(x @ A @ query) for x in prompts.x[k, :-1]]
    return scale * sum(p * y for p, y in zip(weights, prompts.y[k, :-1])) / sum(weights)


def literal_gradient(A: np.ndarray, scale: float, prompts: Prompts, k: int, clip: float) -> np.ndarray:
    """The clipped gradient of one prompt, by central differences of its loss, entry by entry."""
    step, gradient = 1e-6, np.zeros((D, D))
    for i in range(D):
        for j in range(D):
            losses = []
            for sign in (1, -1):
                moved = A.copy()
                moved[i, j] += sign * step
                losses.append((literal(moved, scale, prompts, k) - prompts.y[k, -1]) ** 2 / 2)
            gradient[i, j] = (losses[0] - losses[1]) / (2 * step)
    return gradient * min(1.0, clip / np.linalg.norm(gradient))


def test_it_answers_as_the_loop_does() -> None:
    found = softmax.predict(HEADS, SCALES, DATA)
    told = [[literal(A, v, PROMPTS, k) for A, v in zip(HEADS, SCALES)] for k in range(N)]
    np.testing.assert_allclose(found, told, rtol=1e-12)


@each("clip", [np.inf, 0.1, 0.003])
def test_the_gradient_is_that_of_differences(clip: float) -> None:
    found = softmax.mean_gradient(HEADS, SCALES, DATA, np.array([clip, 0.05]))
    for b, c in enumerate((clip, 0.05)):
        told = np.mean([literal_gradient(HEADS[b], SCALES[b], PROMPTS, k, c) for k in range(N)], axis=0)
        np.testing.assert_allclose(found[b], told, atol=1e-8)


def test_scores_of_any_size_do_not_overflow() -> None:
    assert np.isfinite(softmax.predict(1e8 * HEADS, SCALES, DATA)).all()


def test_the_test_error_is_that_of_drawn_tasks() -> None:
    rng, noise = np.random.default_rng(1), 0.5
    drawn = elliptical.sample(np.diag([0.5, 0.5, 0.7]), L, 100_000, noise, rng=rng)
    error = ((softmax.predict(HEADS, SCALES, softmax.contexts(drawn)) - drawn.y[:, -1:]) ** 2).mean(axis=0)
    np.testing.assert_allclose(softmax.prediction_error(HEADS, SCALES, drawn, noise), error, rtol=0.03)


def test_the_best_scale_is_the_best() -> None:
    scale, error = softmax.best_scale(HEADS, DATA)
    for factor in (0.9, 1.0, 1.1):
        found = ((softmax.predict(HEADS, factor * scale, DATA) - DATA.target[:, None]) ** 2).mean(axis=0)
        assert (found >= error - 1e-12).all()
        assert (found == pytest.approx(error)) == (factor == 1.0)


def test_a_fit_with_a_penalty_has_no_slope_left() -> None:
    prompts = elliptical.sample(np.eye(D) / np.sqrt(D), 12, 300, rng=np.random.default_rng(2))
    data, penalty, free = softmax.contexts(prompts), 1e-3, np.array([np.inf])
    A, scale = softmax.fit(data, 2 * np.eye(D), penalty)
    slope = 2 * softmax.mean_gradient(A[None], np.array([scale]), data, free)[0] + 2 * penalty * A
    assert np.abs(slope).max() < 1e-5
    assert np.abs(slope - 2 * penalty * A).max() > 1e-4  # without the penalty's own it has


def moment(d: int, f) -> float:
    """E f(⟨u, e⟩) for u uniform on the sphere, by quadrature over the angle."""
    weight = lambda a: math.sin(a) ** (d - 2)  # noqa: E731
    return quad(lambda a: f(math.cos(a)) * weight(a), 0, math.pi)[0] / quad(weight, 0, math.pi)[0]


@each(("d", "kappa"), [(2, 0.3), (3, 2.0), (5, 5.5), (10, 20.0), (4, 250.0), (40, 150.0)])
def test_long_prompts_against_quadrature(d: int, kappa: float) -> None:
    Z = moment(d, lambda c: math.exp(kappa * c))
    rho = moment(d, lambda c: c * math.exp(kappa * c)) / Z
    assert softmax.share(d, kappa) == pytest.approx(rho, rel=1e-8)
    v, noise = 1 / rho, 0.6
    still, noisy = (
        moment(d, lambda c, top=top: math.exp(2 * kappa * c) * (v**2 * top - 2 * v * c + 1)) / Z**2
        for top in (1, 1 + noise**2)
    )
    assert softmax.long_prompt_error(d, kappa) == pytest.approx(still, rel=1e-7)
    assert softmax.long_prompt_error(d, kappa, noise) == pytest.approx(noisy, rel=1e-7)


def test_long_prompts_against_draws_for_any_covariance() -> None:
    values, kappa, length = elliptical.spectrum(D, 10.0), 3.0, 400
    prompts = elliptical.sample(np.diag(np.sqrt(values)), length, 4000, rng=np.random.default_rng(3))
    A = np.diag(kappa / D / values)[None]
    found = softmax.prediction_error(A, 1 / softmax.share(D, np.array([kappa])), prompts)[0]
    assert length * found == pytest.approx(softmax.long_prompt_error(D, kappa), rel=0.08)
    assert length * found != pytest.approx(2 * softmax.long_prompt_error(D, kappa), rel=0.2)


def test_the_best_temperature_is_the_best() -> None:
    for d in (4, 5, 20):
        kappa = softmax.best_kappa(d)
        least = softmax.long_prompt_error(d, kappa)
        assert all(softmax.long_prompt_error(d, f * kappa) > least for f in (0.9, 1.1))


@each("scale", [0.2, 1.4, 30.0])
def test_no_prompt_within_bounds_has_a_longer_gradient(scale: float) -> None:
    rng, C = np.random.default_rng(6), 2.0
    bound, free = softmax.gradient_bound(scale, C), np.array([np.inf])
    x = rng.standard_normal((400, 5, 2)) * np.exp(rng.standard_normal((400, 1, 1)))
    x /= np.maximum(1, np.linalg.norm(x, axis=2, keepdims=True))
    y = C * np.sign(rng.standard_normal((400, 5)))
    for A in rng.standard_normal((2, 1, 2, 2)) * 5:
        lengths = [
            np.linalg.norm(softmax.mean_gradient(A, np.array([scale]), softmax.Contexts(*parts), free))
            for parts in zip(x[:, None, :-1], y[:, None, :-1], x[:, None, -1], y[:, None, -1])
        ]
        assert max(lengths) <= bound * (1 + 1e-12)


@each("scale", [0.2, 1.4, 30.0])
def test_a_prompt_attains_the_bound(scale: float) -> None:
    C, e = 2.0, np.array([1.0, 0.0])
    tilt = np.linspace(0, 3, 4001)  # of A along e: it sets the weights of the two keys, so ȳ
    A = tilt[:, None, None] * np.outer(e, e)
    data = softmax.Contexts(np.array([[e, -e]]), np.array([[C, -C]]), e[None], np.array([-C]))
    found = softmax.mean_gradient(A, np.full(len(A), scale), data, np.full(len(A), np.inf))
    assert np.linalg.norm(found, axis=(1, 2)).max() == pytest.approx(softmax.gradient_bound(scale, C), rel=1e-5)


# ---- Descent on clipped gradients ----


COUNT = 9
NINE = elliptical.sample(np.eye(D) / np.sqrt(D), L, COUNT, rng=np.random.default_rng(0))
PLANS = [Plan(5, 0.1, 2.0, 0.3), Plan(5, np.inf, 1.0, 0.0)]
Make = Callable[[Prompts, list[Plan]], per_prompt.Gradient]
MAKERS: dict[str, Make] = {
    "softmax": lambda prompts, plans: per_prompt.softmax_gradient_of(softmax.contexts(prompts), 1.4, plans),
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
    found = per_prompt.descend(MAKERS[head](NINE, PLANS), start, PLANS, rng=np.random.default_rng(1))
    for b, plan in enumerate(PLANS):
        rng, A, path = np.random.default_rng(1), np.zeros((D, D)), []
        for _ in range(plan.steps):
            total = np.zeros((D, D))
            for k in range(COUNT):
                g = gradient_of(head, A, NINE, k)
                total += g * min(1.0, plan.clip_norm / np.linalg.norm(g))
            A = A - plan.learning_rate * (total / COUNT + plan.noise_std * rng.standard_normal((D, D)))
            path.append(A)
        np.testing.assert_allclose(found.last[b], A, rtol=1e-10)
        np.testing.assert_allclose(found.average[b], np.mean(path[2:], axis=0), rtol=1e-10)


@each_head
def test_opposed_prompts_attain_the_sensitivity(head: str) -> None:
    plans = [Plan(1, 0.1, 1.0, 0.0)]
    x, y = NINE.x.copy(), NINE.y.copy()
    x[0, :-1], x[0, -1], y[0, :-1] = np.eye(D)[[0, 1, 2, 0]], np.eye(D)[0], [1e3, 0, 0, 1e3]
    found = []
    for target in (1e9, -1e9):
        y[0, -1] = target
        found.append(MAKERS[head](Prompts(x, y.copy(), NINE.w), plans)(np.zeros((1, D, D))))
    assert np.linalg.norm(found[0] - found[1]) == pytest.approx(per_prompt.sensitivity(0.1, COUNT))


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
    gradient, start = MAKERS[head](NINE, plans), np.zeros((3, D, D))
    apart = per_prompt.descend_apart(gradient, start, plans, rng=np.random.default_rng(2)).last
    together = per_prompt.descend(gradient, start, plans, rng=np.random.default_rng(2)).last
    assert np.ptp(together, axis=0).max() < 1e-12
    assert np.ptp(apart, axis=0).min() > 1e-9


def test_prompts_within_bounds_are_left_as_they_are() -> None:
    assert per_prompt.bounded(NINE) is NINE
    x = NINE.x.copy()
    x[3, 0, 0] = np.nan
    found = per_prompt.bounded(Prompts(x, NINE.y, NINE.w))
    assert (found.x[3] == 0).all()
    assert (found.y[3] == 0).all()
    np.testing.assert_array_equal(np.delete(found.x, 3, 0), np.delete(NINE.x, 3, 0))
