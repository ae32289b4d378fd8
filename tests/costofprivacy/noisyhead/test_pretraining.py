import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from costofprivacy.noisyhead import curvature, head, population, pretraining, recipes
from costofprivacy.noisyhead.curvature import EigenMoments, ProductMoments, QuadraticLoss, in_eigenbasis
from costofprivacy.noisyhead.head import Moments, Statistics
from costofprivacy.noisyhead.hyperparameters import Hyperparameters
from costofprivacy.noisyhead.pretraining import OF_ALGORITHM_1, OF_THE_LOSS, Descent, dp_sgd, noise_risk
from costofprivacy.noisyhead.prompts import PromptModel, sample
from costofprivacy.noisyhead.ridge import ridge
from costofprivacy.privacy import ApproximateDP
from tests import oracles
from tests.each import each

MODEL = PromptModel(3, 12, 0.4)
HYPER = Hyperparameters(clip_norm=1.2, feature_bound=0.3, weight_bound=0.8, penalty=0.5, learning_rate=0.3, steps=7)


def data_of(drawn: object, hyper: Hyperparameters = HYPER) -> Moments:
    return head.moments(head.project(head.statistics(drawn, hyper.clip_norm), hyper.feature_bound))  # type: ignore[arg-type]


@each("start", [None, 0.05])
def test_gradient_descent_is_the_noiseless_twin(start: float | None) -> None:
    data = data_of(sample(MODEL, 25, rng=np.random.default_rng(4)))
    initial = None if start is None else start * np.arange(9.0).reshape(3, 3)
    stepped = pretraining.pretrain(data, HYPER, [0.0], rng=np.random.default_rng(0), initial=initial)[0]
    np.testing.assert_allclose(pretraining.gradient_descent(data, HYPER, initial), stepped, rtol=1e-10, atol=1e-14)


def reach(Gamma: np.ndarray, Z: np.ndarray, y: np.ndarray) -> np.ndarray:
    return ((Gamma * Z).sum(axis=(1, 2)) - y)[:, None, None] * Z


@given(st.floats(0.1, 5), st.floats(0.05, 3), st.floats(0.01, 50), st.integers(0, 2**32 - 1))
@settings(derandomize=True, deadline=None, max_examples=30)
def test_no_pair_of_neighbours_exceeds_the_exact_sensitivity(C: float, G: float, R: float, seed: int) -> None:
    """Random Γ in the ball, random admissible (Z, y), forward and backward of Γ, inside and on the boundary."""
    rng = np.random.default_rng(seed)
    hyper = replace(HYPER, clip_norm=C, feature_bound=G, weight_bound=R)
    a, b = rng.standard_normal((2, 3))
    Gamma = R * np.outer(a, b) / (np.linalg.norm(a) * np.linalg.norm(b))
    across = np.cross(b, rng.standard_normal(3))
    angle = rng.uniform(-math.pi, math.pi, 120)
    direction = np.cos(angle)[:, None] * b / np.linalg.norm(b) + np.sin(angle)[:, None] * across / np.linalg.norm(
        across
    )
    length = min(G, C) * np.where(rng.random(120) < 0.7, 1.0, rng.random(120))
    Z = (a / np.linalg.norm(a))[None, :, None] * (length[:, None] * direction)[:, None, :]
    values = reach(Gamma, Z, C * rng.choice([-1.0, 1.0], 120)).reshape(120, -1)
    gaps = np.linalg.norm(values[:, None] - values[None], axis=2)
    exact = pretraining.update_sensitivity_exact(hyper, 10) * 10 / hyper.learning_rate
    bound = pretraining.update_sensitivity(hyper, 10) * 10 / hyper.learning_rate
    assert gaps.max() <= exact * (1 + 1e-9)
    assert (0.5 * bound if C >= G else 0) <= exact <= bound * (1 + 1e-12)


@each("ratio", [1e-3, 0.3, 1.0, 10.0, 1e3])
def test_the_exact_sensitivity_is_the_largest_chord(ratio: float) -> None:
    """Against a grid over pairs of angles in the forward half: reach A cos θ + B, A/B = ratio."""
    hyper = replace(HYPER, clip_norm=1.0, feature_bound=1.0, weight_bound=ratio)
    theta = np.linspace(-math.pi / 2, math.pi / 2, 721)
    points = (ratio * np.cos(theta) + 1) * np.exp(1j * theta)
    largest = np.abs(points[:, None] - points[None]).max()
    exact = pretraining.update_sensitivity_exact(hyper, 1) / hyper.learning_rate
    assert exact == pytest.approx(largest, rel=1e-4)


def test_limits_of_the_exact_sensitivity() -> None:
    large, small = replace(HYPER, weight_bound=1e9), replace(HYPER, weight_bound=1e-9)
    assert pretraining.update_sensitivity_exact(large, 5) / pretraining.update_sensitivity(large, 5) == pytest.approx(
        0.5
    )
    assert pretraining.update_sensitivity_exact(small, 5) / pretraining.update_sensitivity(small, 5) == pytest.approx(1)


@given(st.lists(st.floats(-1e3, 1e3), min_size=4, max_size=4), st.floats(1e-3, 1e3))
@settings(derandomize=True, deadline=None, max_examples=50)
def test_the_projection_is_the_nearest_point(values: list[float], radius: float) -> None:
    rows = np.array([values, [0.0, 0.0, 0.0, 0.0]])
    expected = [oracles.project(row, radius) for row in rows]
    np.testing.assert_allclose(pretraining.project_ball(rows, radius), expected, rtol=1e-12, atol=1e-300)


def test_the_profile_by_hand() -> None:
    """c = |1 − 0.3·1| = 0.7 at h = 2λ; μ₁ = η₀σ/(N s)."""
    told = pretraining.profile(HYPER, ApproximateDP(1.0, 1e-5), 100, 0.02)
    mu = 0.3 * 2 * 0.3 * (1.2 + 0.8 * 0.3) / 100 / 0.02
    assert told.every_iterate.mu == pytest.approx(math.sqrt(7) * mu)
    assert told.last_iterate.mu == pytest.approx(mu * math.sqrt((1 - 0.7**7) / (1 + 0.7**7) * 1.7 / 0.3))


def test_where_clipping_is_tighter_than_projection_the_sensitivity_is_still_that_of_projection() -> None:
    """‖Z‖ ≤ C holds for tokens of norm one alone: it was relied on, and longer tokens exceeded the sensitivity."""
    loose = replace(HYPER, feature_bound=5 * HYPER.clip_norm)
    same = replace(HYPER, feature_bound=HYPER.clip_norm)
    assert pretraining.update_sensitivity_exact(loose, 9) > 5 * pretraining.update_sensitivity_exact(same, 9)


@each("radius", [0.02, 0.3, 5.0])
@each("form", [lambda data: data, in_eigenbasis])
@each("start", [None, 0.05])
def test_a_batch_is_its_runs_one_by_one(
    form: Callable[[Moments], QuadraticLoss], radius: float, start: float | None
) -> None:
    """Each configuration against the literal update on the same noise; Π_R is idle, active now and then, or always."""
    data = form(data_of(sample(MODEL, 25, rng=np.random.default_rng(4))))
    hyper = replace(HYPER, weight_bound=radius)
    std, steps = np.array([0.05, 0.0, 0.1, 0.001, 0.05, 0.2]), np.array([7, 3, 7, 9, 2, 9])
    initial = None if start is None else start * np.arange(9.0).reshape(3, 3)
    found = pretraining.pretrain(data, hyper, std, rng=np.random.default_rng(8), steps=steps, initial=initial)
    z = np.random.default_rng(8).standard_normal((9, 9))
    step, drift = data.step(1 - 2 * hyper.penalty * hyper.learning_rate, hyper.learning_rate), data.cross
    for Gamma, s, T in zip(found, std, steps, strict=True):
        own = np.zeros((1, 9)) if initial is None else data.coordinates(initial)[None]
        own = pretraining.project_ball(own, radius)
        for t in range(T):
            own = pretraining.project_ball(step(own) + hyper.learning_rate * drift + s * z[t], radius)
        np.testing.assert_allclose(Gamma, data.matrices(own)[0], rtol=1e-9, atol=1e-13)


# ---- Opposed ----

sizes = st.floats(-3, 3).map(lambda power: 10.0**power)


@given(sizes, sizes)
@settings(derandomize=True, deadline=None, max_examples=60)
def test_no_angle_pushes_further_apart(A: float, B: float) -> None:
    def apart(angle: float) -> float:
        return 2 * (A * math.cos(angle) + B) * math.sin(angle)

    best = minimize_scalar(lambda s: -apart(s), bounds=(0, math.pi / 2), method="bounded", options={"xatol": 1e-12})
    found = pretraining.widest_angle(A, B)
    assert 0 <= found <= math.pi / 2
    assert apart(found) >= -best.fun * (1 - 1e-12)
    assert found == pytest.approx(best.x, abs=1e-5)


# ---- The three ways to hold H ----


N = 25


def eigen(data: Statistics) -> EigenMoments:
    return in_eigenbasis(head.moments(data))


FORMS: list[Callable[[Statistics], QuadraticLoss]] = [head.moments, ProductMoments, eigen]
form_of_moments = pytest.mark.parametrize("form", FORMS, ids=["dense", "products", "eigenbasis"])


def prompts(model: PromptModel = MODEL, N: int = N, seed: int = 0) -> Statistics:
    return head.statistics(sample(model, N, rng=np.random.default_rng(seed)))


def flat(data: QuadraticLoss, Gamma: np.ndarray) -> np.ndarray:
    """Coordinates of a batch of matrices, one by one."""
    return np.stack([data.coordinates(G) for G in Gamma])


@form_of_moments
def test_coordinates_keep_what_algorithm_1_sees(form: Callable[[Statistics], QuadraticLoss]) -> None:
    """An isometry with its inverse, which carries b over."""
    raw = prompts()
    data, Gamma = form(raw), np.random.default_rng(1).standard_normal((4, 3, 3))
    np.testing.assert_allclose(data.matrices(flat(data, Gamma)), Gamma, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(np.linalg.norm(flat(data, Gamma), axis=1), np.linalg.norm(Gamma, axis=(1, 2)))
    literal = sum(y * Z for y, Z in zip(raw.response, raw.Z)) / N
    np.testing.assert_allclose(data.matrices(data.cross[None])[0], literal, rtol=1e-12, atol=1e-15)


@form_of_moments
@pytest.mark.parametrize("lam", [1e-3, 0.1, 5.0])
def test_ridge_is_the_literal_one_in_every_form(form: Callable[[Statistics], QuadraticLoss], lam: float) -> None:
    drawn = sample(MODEL, N, rng=np.random.default_rng(0))
    expected = oracles.ridge(drawn.x, drawn.y, lam)
    np.testing.assert_allclose(ridge(form(head.statistics(drawn)), lam), expected, rtol=1e-9)


@form_of_moments
@pytest.mark.parametrize("std", [0.0, 0.01, 3.0])
@pytest.mark.parametrize("start", [0.0, 5.0])
def test_every_form_runs_algorithm_1_on_the_same_noise(
    form: Callable[[Statistics], QuadraticLoss], std: float, start: float
) -> None:
    """The form draws the noise in its own coordinates; its matrices are what the literal algorithm is given."""
    drawn = sample(MODEL, N, rng=np.random.default_rng(3))
    data = form(head.project(head.statistics(drawn, HYPER.clip_norm), HYPER.feature_bound))
    initial = start * np.random.default_rng(4).standard_normal((3, 3))
    fast = pretraining.pretrain(data, HYPER, [std], rng=np.random.default_rng(5), initial=initial)[0]
    noise = std * data.matrices(np.random.default_rng(5).standard_normal((7, 9)))
    literal = oracles.noisyhead(drawn.x, drawn.y, 1.2, 0.3, 0.8, 0.5, 0.3, noise, initial)
    np.testing.assert_allclose(fast, literal, rtol=1e-9, atol=1e-13)


@each("start", [None, 2.0])
def test_the_descent_path_is_the_stepped_one_at_every_T(start: float | None) -> None:
    """Without Π_R, which the start is outside of."""
    raw, free = prompts(), replace(HYPER, weight_bound=1e9)
    initial = None if start is None else start * np.arange(9.0).reshape(3, 3)
    steps = [1, 2, 30, 5]
    path = pretraining.descent_path(eigen(raw), HYPER, steps, initial)
    stepped = pretraining.pretrain(
        head.moments(raw), free, np.zeros(4), rng=np.random.default_rng(0), steps=steps, initial=initial
    )
    np.testing.assert_allclose(path, stepped, rtol=1e-10, atol=1e-13)


@each("lam", [1.0, 1e-2, 1e-4])
@each(("D", "L", "N"), [(4, 6, 30), (8, 8, 64), (6, 20, 20)])
def test_conjugate_gradients_reach_rounding(D: int, L: int, N: int, lam: float) -> None:
    """Within some hundred roundings, and the condition number where that is more, of a direct solution."""
    raw = prompts(PromptModel(D, L, 0.3), N)
    data = head.moments(raw)
    matrix = data.gram + lam * np.eye(D * D)
    direct = np.linalg.solve(matrix, data.cross)
    error = np.linalg.norm(ProductMoments(raw).solve(lam) - direct) / np.linalg.norm(direct)
    assert error < 1e-15 * (100 + np.linalg.cond(matrix))


@each("D", [10, 11])
def test_moments_for_updates_are_the_same_loss(D: int) -> None:
    """In the eigenbasis for D² = 100 and as they are beyond, with one solution."""
    data = head.moments(head.statistics(sample(PromptModel(D, 9), 30, rng=np.random.default_rng(0))))
    found = curvature.for_updates(data)
    assert isinstance(found, EigenMoments) == (D == 10)
    np.testing.assert_allclose(ridge(found, 0.3), ridge(data, 0.3), rtol=1e-9, atol=1e-12)


# ---- DP-SGD ----


SGD_MODEL = recipes.square_model(3, 100, 0.0)
SGD_DATA = prompts(SGD_MODEL, 100, seed=1)


def literal(data: head.Statistics, descent: Descent, f: float, c: float, s: float, rng: np.random.Generator):
    """DP-SGD prompt by prompt, on the same samples and noise."""
    N, D = data.query.shape
    Gamma = np.zeros((D, D))
    for _ in range(descent.steps):
        drawn = rng.random(N) < descent.batch / N
        total = np.zeros((D, D))
        for k in np.flatnonzero(drawn):
            gradient = f * (np.sum(Gamma * data.Z[k]) - data.response[k]) * data.Z[k]
            total += gradient / max(1.0, np.linalg.norm(gradient) / c)
        noise = s * rng.standard_normal(D * D).reshape(D, D)
        step = total / descent.batch + noise + 2 * descent.penalty * Gamma
        Gamma = Gamma - descent.learning_rate * step
    return Gamma


@each(("f", "c", "s"), [(2.0, 0.1, 0.3), (1.0, 5.0, 0.0), (2.0, 0.02, 1.0)])
def test_it_is_the_literal_algorithm_on_the_same_numbers(f: float, c: float, s: float) -> None:
    descent = Descent(0.5, 0.3, 12, 20)
    others = np.array([f, 1.0]), np.array([c, 1.0]), np.array([s, 0.1])
    found = dp_sgd(SGD_DATA, descent, *others, rng=np.random.default_rng(2))[0]
    np.testing.assert_allclose(
        found, literal(SGD_DATA, descent, f, c, s, np.random.default_rng(2)), rtol=1e-10, atol=1e-14
    )


@each(("f", "share"), [(OF_THE_LOSS, 1.0), (OF_ALGORITHM_1, 2.0)])
def test_without_noise_on_all_prompts_it_rests_at_ridge(f: float, share: float) -> None:
    arrays = np.array([f]), np.array([np.inf]), np.array([0.0])
    found = dp_sgd(SGD_DATA, Descent(0.4, 0.2, 400, 100), *arrays, rng=np.random.default_rng(0))[0]
    np.testing.assert_allclose(found, ridge(head.moments(SGD_DATA), share * 0.4), rtol=1e-9)


@each("f", [OF_THE_LOSS, OF_ALGORITHM_1])
def test_the_closed_form_is_the_noise_of_many_runs(f: float) -> None:
    descent, runs, std = Descent(1.0, 0.2, 15, 20), 4000, 3.0
    arrays = np.full(2, f), np.full(2, np.inf), np.array([0.0, std])
    risks = []
    for seed in range(runs // 40):
        still, noisy = dp_sgd(SGD_DATA, descent, *arrays, rng=np.random.default_rng(seed))
        risks.append(population.excess_risk(SGD_MODEL, noisy - still))
    mean, error = np.mean(risks), np.std(risks) / np.sqrt(len(risks))
    expected = noise_risk(descent, SGD_MODEL, f, std)
    assert abs(mean - expected) < 4 * error + 0.02 * expected
    assert abs(mean - 1.5 * expected) > 4 * error + 0.02 * expected


def test_many_prompts_in_a_step_are_the_literal_algorithm_too() -> None:
    data = head.sample_statistics(SGD_MODEL, 1300, rng=np.random.default_rng(3))[0]
    descent, arrays = Descent(0.5, 0.3, 2, 1200), (np.array([2.0]), np.array([0.3]), np.array([0.1]))
    found = dp_sgd(data, descent, *arrays, rng=np.random.default_rng(4))[0]
    expected = literal(data, descent, 2.0, 0.3, 0.1, np.random.default_rng(4))
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
