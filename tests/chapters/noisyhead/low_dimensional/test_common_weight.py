"""Linear regression on prompts that share one coefficient vector, private per prompt."""

import math

import numpy as np
import pytest

from chapters.noisyhead.low_dimensional import measure
from chapters.noisyhead.low_dimensional.measure import CommonWeightCell, common_weight_trial, maximal_coupling
from costofprivacy.privacy import ApproximateDP, GaussianDP


def test_the_two_stages_spend_the_budget() -> None:
    """Each stage moves by at most 2C/N for any two prompts; the sum of squares is that of the whole budget."""
    cell = CommonWeightCell(64, 3, 0.7, 1e-5)
    spent = [2 * clip / cell.N / std for clip, std in zip(cell.bounds[:2], cell.noise_stds)]
    assert GaussianDP(math.hypot(*spent)).delta(0.7) == pytest.approx(1e-5)
    assert ApproximateDP(0.7, 1e-5).to_gaussian().mu == pytest.approx(math.hypot(*spent))
    rng = np.random.default_rng(1)
    x, y = rng.standard_normal((2, 4, 5, 3)), 1e6 * rng.standard_normal((2, 4, 5))
    means = [measure._clipped_mean(x[0], y[0], 2.0)]
    x[0, 2], y[0, 2] = x[1, 2], y[1, 2]
    means.append(measure._clipped_mean(x[0], y[0], 2.0))
    assert 0 < np.linalg.norm(means[0] - means[1]) <= 2 * 2.0 / 4


@pytest.mark.parametrize("a", [0.01, 1.0, 3.0])
def test_the_maximal_coupling_by_drawing_from_it(a: float) -> None:
    """Rejection: X' = X with probability min(p', p)/p at X, else X' from the part of p' above p."""
    rng = np.random.default_rng(2)
    draws = 4_000_000
    different, square = maximal_coupling(a)
    X, other = rng.standard_normal((2, draws))
    other += a
    log = a * X - a**2 / 2  # of p'/p
    moves = np.log(rng.random(draws)) > log
    above = np.log(rng.random(draws)) > -(a * other - a**2 / 2)
    assert moves.mean() == pytest.approx(different, abs=4 / draws**0.5)
    low, high = X[moves], other[above]
    size = min(len(low), len(high))
    assert np.mean((high[:size] - low[:size]) ** 2) == pytest.approx(square, rel=0.03)
    assert different * np.mean(high[:size] - low[:size]) == pytest.approx(a, rel=0.03)


@pytest.mark.parametrize("noise", [measure.CONSTANT, measure.SMALL, measure.NONE])
def test_the_cost_is_the_noise_of_the_second_stage_and_no_less_than_the_lower_bound(noise: str) -> None:
    cell = CommonWeightCell(2000, 2, 1.0, 1e-5, noise)
    costs = np.array([common_weight_trial(cell, rng=np.random.default_rng(k))[0] for k in range(60)])
    assert costs.mean() == pytest.approx(cell.upper, rel=0.5)
    assert cell.lower < costs.mean()


def test_what_the_release_differs_from_least_squares_without_the_second_noise() -> None:
    """At a large budget and without label noise that is all of the cost, and the closed form bounds it."""
    cell = CommonWeightCell(400, 2, 1e6, 1e-5, measure.NONE)
    cost = np.mean([common_weight_trial(cell, rng=np.random.default_rng(k))[0] for k in range(60)])
    assert cell.noise_stds[1] ** 2 < 0.1 * cost < cost < cell.upper
