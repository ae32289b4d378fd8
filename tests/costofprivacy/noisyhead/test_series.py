"""Algorithm 1 as a series in powers of H, against the recursion step by step."""

from dataclasses import replace

import numpy as np

from costofprivacy.noisyhead import head, series
from costofprivacy.noisyhead.hyperparameters import Hyperparameters
from costofprivacy.noisyhead.prompts import PromptModel
from costofprivacy.noisyhead.ridge import ridge
from costofprivacy.noisyhead.series import Training
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
