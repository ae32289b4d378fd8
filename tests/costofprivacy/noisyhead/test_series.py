"""Algorithm 1 as a series in powers of H, against the recursion step by step."""

from dataclasses import replace

import numpy as np
import pytest

from costofprivacy.noisyhead import head, pretraining, series
from costofprivacy.noisyhead.hyperparameters import Hyperparameters
from costofprivacy.noisyhead.prompts import PromptModel, sample
from costofprivacy.noisyhead.ridge import ridge
from costofprivacy.noisyhead.series import Training
from costofprivacy.noisyhead.tridiagonal import Configurations, grown, in_tridiagonal_basis, run
from tests import oracles
from tests.costofprivacy.noisyhead.draws import drawn
from tests.each import each

MODEL = PromptModel(4, 9, 0.3)
HYPER = Hyperparameters(1.5, 0.8, 50.0, 8.0, 0.01, 1)
STEPS = (1, 2, 5, 40)
PROMPTS = drawn(30, 2, MODEL)
START = np.random.default_rng(4).standard_normal((4, 4))
TRAINING = Training(head.project(head.statistics(PROMPTS, 1.5), 0.8), START.reshape(-1))


def added(hyper: Hyperparameters = HYPER, rng: int = 7) -> series.Noise:
    count = series.terms(series.ratio(TRAINING, hyper))
    stream = np.random.default_rng(rng)
    (noise,) = series.noises([series.shrink(hyper)], [TRAINING.ends], STEPS, count, rng=stream)
    return noise


@each("share", [1.0, 0.3, 0.0])
def test_the_series_is_algorithm_1_on_the_same_noise(share: float) -> None:
    """Prompt by prompt and step by step, C and G at work, every T from one stream."""
    std, z = 0.4, np.random.default_rng(7).standard_normal((40, 4, 4))
    found = TRAINING.descent(HYPER, STEPS, share) + std * TRAINING.noise([HYPER.learning_rate], [added().sums])[0]
    assert head.statistics(PROMPTS).norm.max() > HYPER.feature_bound
    assert np.abs(PROMPTS.y).max() > HYPER.clip_norm
    for T, Gamma in zip(STEPS, found, strict=True):
        literal = oracles.noisyhead(PROMPTS.x, PROMPTS.y, 1.5, 0.8, 50.0, 8.0, 0.01, std * z[:T], share * START)
        np.testing.assert_allclose(Gamma.reshape(4, 4), literal, rtol=1e-11, atol=1e-13)


def test_one_stream_serves_several_rates() -> None:
    """Each a has the sums that it has alone."""
    other = replace(HYPER, penalty=5.0)
    shrinks, starts = [series.shrink(h) for h in (HYPER, other)], [TRAINING.ends] * 2
    both = series.noises(shrinks, starts, STEPS, 5, rng=np.random.default_rng(7))
    for hyper, noise in zip((HYPER, other), both, strict=True):
        alone = added(hyper)
        count = len(alone.sums)
        np.testing.assert_allclose(noise.sums[:count], alone.sums[: len(noise.sums)], rtol=1e-14)
        np.testing.assert_allclose(noise.squares, alone.squares, rtol=1e-14)


def test_an_image_is_taken_of_every_vector_and_settings_go_together() -> None:
    image, rates = np.random.default_rng(1).standard_normal((16, 3)), [0.01, 0.004]
    seen, sums = replace(TRAINING, image=lambda rows: rows @ image), [added().sums, added(rng=8).sums]
    found = seen.noise(rates, sums)
    alone = np.stack([TRAINING.noise([rate], [nu])[0] for rate, nu in zip(rates, sums, strict=True)])
    np.testing.assert_allclose(found, alone @ image, rtol=1e-10)
    np.testing.assert_allclose(seen.descent(HYPER, STEPS), TRAINING.descent(HYPER, STEPS) @ image, rtol=1e-10)
    np.testing.assert_allclose(seen.ridge(16.0), TRAINING.ridge(16.0) @ image, rtol=1e-10)


def test_a_truncated_series_is_off_by_no_more_than_its_bound() -> None:
    """And by something: each term matters."""
    rho = series.ratio(TRAINING, HYPER)
    assert 0.001 < rho < series.LARGEST_RATIO
    exact, powers = TRAINING.descent(HYPER, STEPS), TRAINING.powers(8)
    for count in range(1, 5):
        start, cross = series.coefficients(HYPER, STEPS, count)
        off = np.linalg.norm(start @ powers[:count, 0] + cross @ powers[:count, 1] - exact, axis=1)
        scale = np.linalg.norm(powers[0, 0]) + np.linalg.norm(powers[0, 1]) / (2 * HYPER.penalty)
        assert 1e-6 * rho**count * scale < off.max() <= rho**count * scale


def test_the_bound_on_the_curvature_is_one() -> None:
    largest = np.linalg.eigvalsh(head.moments(TRAINING.data).gram)[-1]
    assert largest <= TRAINING.bound <= head.moments(TRAINING.data).trace


def test_where_h_is_too_large_there_is_no_series() -> None:
    small = replace(HYPER, penalty=TRAINING.bound / (2.1 * series.LARGEST_RATIO))
    assert np.isinf(series.ratio(TRAINING, small))
    fast = replace(HYPER, learning_rate=0.999 / (2 * HYPER.penalty))
    assert np.isinf(series.ratio(TRAINING, fast))
    assert not series.idle(TRAINING, small, added(), np.zeros(1), np.array([2])).any()


def test_a_configuration_is_idle_if_no_iterate_comes_near_the_ball() -> None:
    """The literal path of every configuration: its longest iterate against R, for many R."""
    std, z = np.array([0.1, 0.1, 0.6, 0.6]), np.random.default_rng(7).standard_normal((40, 4, 4))
    steps, longest, share = np.array([5, 40, 5, 40]), [], 1.0
    for s, T in zip(std, steps, strict=True):
        data, path = head.moments(TRAINING.data), START.reshape(-1)
        lengths = []
        for t in range(T):
            path = data.step(1 - 2 * 8.0 * 0.01, 0.01)(path) + 0.01 * data.cross + s * z[t].reshape(-1)
            lengths.append(np.linalg.norm(path))
        longest.append(max(lengths))
    for R in (*longest, 1.0, 5.0, 100.0):
        for factor in (0.999, 1.03):
            hyper = replace(HYPER, weight_bound=factor * R)
            sure = series.idle(TRAINING, hyper, added(), std, steps, share)
            assert (np.array(longest)[sure] <= hyper.weight_bound).all()
            assert sure[np.array(longest) * 1.02 <= hyper.weight_bound].all()


def test_h_and_its_ridge_solution_are_those_of_the_moments() -> None:
    moments, rows = head.moments(TRAINING.data), np.random.default_rng(0).standard_normal((3, 16))
    np.testing.assert_allclose(TRAINING.times(rows), rows @ moments.gram, rtol=1e-12)
    np.testing.assert_allclose(TRAINING.ends[1], moments.cross, rtol=1e-12)
    np.testing.assert_allclose(TRAINING.ridge(16.0).reshape(4, 4), ridge(moments, 16.0), rtol=1e-12)


# ---- The tridiagonal basis ----


DATA = head.project(head.statistics(sample(PromptModel(4, 6), 40, rng=np.random.default_rng(1)), 2.0), 1.5)
MOMENTS, BASIS = head.moments(DATA), in_tridiagonal_basis(DATA)
RNG = np.random.default_rng(2)
ROWS = RNG.standard_normal((3, 16))


def test_the_basis_is_orthonormal_and_makes_h_tridiagonal() -> None:
    Q = BASIS.along(np.eye(16))
    np.testing.assert_allclose(Q.T @ Q, np.eye(16), atol=1e-13)
    T = np.diag(BASIS.diagonal) + np.diag(BASIS.beside, 1) + np.diag(BASIS.beside, -1)
    np.testing.assert_allclose(Q @ T @ Q.T, MOMENTS.gram, atol=1e-14)
    np.testing.assert_allclose(BASIS.matrices(BASIS.along(ROWS)).reshape(3, 16), ROWS, atol=1e-13)
    np.testing.assert_allclose(BASIS.coordinates(ROWS[0].reshape(4, 4)), BASIS.along(ROWS)[0], atol=1e-13)


def test_it_is_the_same_loss() -> None:
    assert BASIS.trace == pytest.approx(MOMENTS.trace)
    np.testing.assert_allclose(BASIS.matrices(BASIS.cross[None])[0].reshape(-1), MOMENTS.cross, atol=1e-14)
    moved = BASIS.matrices(BASIS.step(0.9, 0.3)(BASIS.along(ROWS))).reshape(3, 16)
    np.testing.assert_allclose(moved, MOMENTS.step(0.9, 0.3)(ROWS), atol=1e-13)
    for penalty in (1e-4, 1.0, 30.0):
        found = BASIS.matrices(BASIS.solve(penalty)[None])[0].reshape(-1)
        np.testing.assert_allclose(found, MOMENTS.solve(penalty), rtol=1e-9, atol=1e-12)
    with pytest.raises(np.linalg.LinAlgError, match="positive definite"):
        BASIS.solve(-1e3)


@each("radius", [0.6, 0.05, 1e3])
def test_the_runs_are_those_of_algorithm_1_on_the_same_noise(radius: float) -> None:
    """Steps, noise, start, penalty and rate each configuration's own; Π_R idle, now and then, and in every step."""
    steps, std, begun = np.array([1, 5, 3, 5]), np.array([0.1, 0.0, 0.3, 0.02]), np.array([0.0, 1.0, 2.0, 1.0])
    penalty, rate = np.array([0.5, 0.1, 2.0, 0.5]), np.array([0.2, 0.3, 0.1, 0.2])
    noise, start = RNG.standard_normal((5, 16)), RNG.standard_normal((4, 4)) / 4
    told = Configurations(penalty, rate, np.full(4, radius), std, steps, begun)
    found = BASIS.matrices(run(BASIS, told, BASIS.coordinates(start), noise))
    for k in range(4):
        hyper = Hyperparameters(2.0, 1.5, radius, penalty[k], rate[k], int(steps[k]))
        one = pretraining.pretrain(BASIS, hyper, [std[k]], rng=Replay(noise), initial=begun[k] * start)[0]  # type: ignore[arg-type]
        np.testing.assert_allclose(found[k], one, rtol=1e-11, atol=1e-14)
        assert np.linalg.norm(found[k]) <= radius * (1 + 1e-12)


def test_runs_on_one_line_are_those_of_algorithm_1_whether_they_stay_on_it_or_leave() -> None:
    std, steps, one = np.array([0.0, 0.05, 0.3, 0.3, 0.3, 1.0]), np.array([9, 9, 1, 4, 9, 9]), np.ones(6)
    noise, start = RNG.standard_normal((9, 16)), RNG.standard_normal((4, 4)) / 10
    hyper = Hyperparameters(2.0, 1.5, 2.0, 0.5, 0.2, 1)
    told = Configurations(0.5 * one, 0.2 * one, 2.0 * one, std, steps, one)
    found = BASIS.matrices(run(BASIS, told, BASIS.coordinates(start), noise))
    expected = pretraining.pretrain(BASIS, hyper, std, rng=Replay(noise), steps=steps, initial=start)  # type: ignore[arg-type]
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-14)
    at_the_edge = np.linalg.norm(found, axis=(1, 2)) > 2 - 1e-9
    assert at_the_edge.any()
    assert not at_the_edge[:3].any()


def test_without_noise_it_is_the_closed_form_of_descent() -> None:
    steps, one = np.array([1, 7, 40]), np.ones(3)
    told = Configurations(0.5 * one, 0.2 * one, np.inf * one, 0 * one, steps, 0 * one)
    found = BASIS.matrices(run(BASIS, told, np.zeros(16), np.zeros((40, 16))))
    for Gamma, T in zip(found, steps.tolist(), strict=True):
        expected = pretraining.gradient_descent(MOMENTS, Hyperparameters(2.0, 1.5, 0.6, 0.5, 0.2, T))
        np.testing.assert_allclose(Gamma, expected, rtol=1e-10, atol=1e-14)


class Replay:
    """A source that gives the rows of an array."""

    def __init__(self, rows: np.ndarray) -> None:
        self._rows = iter(rows)

    def standard_normal(self, size: int) -> np.ndarray:
        return next(self._rows)[:size]


def test_the_noise_of_many_steps_is_a_sum_of_matrix_powers() -> None:
    step = (1 - 2 * 0.5 * 0.2) * np.eye(16) - 0.2 * MOMENTS.gram
    powers = np.cumsum([np.linalg.matrix_power(step, 2 * t) for t in range(5)], axis=0)
    expected = np.einsum("kp,tpq,kq->kt", ROWS, powers, ROWS)
    np.testing.assert_allclose(grown(BASIS, 0.5, 0.2, BASIS.along(ROWS), 5), expected, rtol=1e-12)
