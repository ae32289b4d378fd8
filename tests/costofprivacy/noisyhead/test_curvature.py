"""The three ways to hold H are one loss: against each other, against sums over prompts, against Algorithm 1 itself."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from costofprivacy.noisyhead import curvature, head, pretraining
from costofprivacy.noisyhead.curvature import EigenMoments, ProductMoments, QuadraticLoss, in_eigenbasis
from costofprivacy.noisyhead.head import Statistics
from costofprivacy.noisyhead.hyperparameters import Hyperparameters
from costofprivacy.noisyhead.prompts import PromptModel, sample
from costofprivacy.noisyhead.ridge import ridge
from tests import oracles
from tests.each import each

MODEL, N = PromptModel(3, 12, 0.4), 25
HYPER = Hyperparameters(clip_norm=1.2, feature_bound=0.3, weight_bound=0.8, penalty=0.5, learning_rate=0.3, steps=7)


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
