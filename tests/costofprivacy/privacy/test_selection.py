import math

import dp_accounting
import numpy as np
import pytest
from scipy.stats import norm

from costofprivacy.privacy import ApproximateDP, GaussianDP, audit_mechanism
from costofprivacy.privacy.selection import (
    best_of_advantage,
    best_of_epsilon,
    composed_epsilon,
    random_stopping_attack,
    random_stopping_epsilon,
)
from tests.each import each

RUN = ApproximateDP(1.0, 1e-5).to_gaussian()


def density(x: np.ndarray, runs: int, shift: float) -> np.ndarray:
    """Of the largest of k scores."""
    return runs * norm.pdf(x - shift) * norm.cdf(x - shift) ** (runs - 1)


@each(("runs", "mu"), [(1, 0.3), (3, 1.0), (10, 0.3)])
def test_the_least_epsilon_makes_the_hockey_stick_delta(runs: int, mu: float) -> None:
    """The integral of (p − e^ε q)₊ over the densities themselves, in both orders."""
    delta, x = 1e-3, np.linspace(-9, 10, 100_001)
    epsilon = best_of_epsilon(GaussianDP(mu), runs, delta)
    p, q = density(x, runs, 0.0), density(x, runs, mu)
    sticks = [np.maximum(one - math.exp(epsilon) * two, 0).sum() * (x[1] - x[0]) for one, two in ((p, q), (q, p))]
    assert max(sticks) == pytest.approx(delta, rel=1e-3)


@each("runs", [1, 10, 100])
def test_it_lies_between_one_run_and_all(runs: int) -> None:
    least, most = best_of_epsilon(RUN, runs, 1e-5), composed_epsilon(RUN, runs, 1e-5)
    assert RUN.epsilon(1e-5) <= least + 1e-4
    assert best_of_epsilon(GaussianDP(math.inf), runs, 1e-5) == math.inf
    assert least <= most + 1e-4
    assert most == pytest.approx(dp_accounting.get_epsilon_gaussian(1 / (math.sqrt(runs) * RUN.mu), 1e-5), rel=1e-6)


def test_the_advantage_is_half_the_integral_of_the_difference() -> None:
    x = np.linspace(-8, 9, 200_001)
    apart = np.abs(density(x, 10, 0.0) - density(x, 10, 1.0)).sum() * (x[1] - x[0]) / 2
    assert best_of_advantage(GaussianDP(1.0), 10) == pytest.approx(apart, rel=1e-5)


def test_an_audit_of_the_best_of_ten_finds_more_than_one_run_spends() -> None:
    def scores(shift: float, count: int, rng: np.random.Generator) -> np.ndarray:
        return -(rng.standard_normal((count, 10)).max(axis=1) + shift)

    rng = np.random.default_rng(0)
    told = audit_mechanism(scores, 0.0, RUN.mu, delta=1e-3, releases=40_000, confidence=0.99, rng=rng)
    assert RUN.epsilon(1e-3) < told.epsilon < best_of_epsilon(RUN, 10, 1e-3)


@each("mean", [1.0, 30.0, 1000.0])
@each("mu", [0.1, 1.0])
def test_no_attack_beats_the_bound_on_random_stopping(mean: float, mu: float) -> None:
    run = GaussianDP(mu)
    assert random_stopping_attack(run, mean, 1e-5) <= random_stopping_epsilon(run, mean, 1e-5) + 1e-9


@each("mean", [2.0, 20.0])
def test_the_release_s_renyi_divergence_obeys_the_theorem(mean: float) -> None:
    """Densities of the best of a geometric number, integrated; λ̂ over a grid, which no formula chose."""
    mu, stop, x = 0.5, 1 / mean, np.linspace(-12, 16, 50_001)

    def log_density(shift: float) -> np.ndarray:
        return math.log(stop) + norm.logpdf(x - shift) - 2 * np.log1p(-(1 - stop) * norm.cdf(x - shift))

    for order in (1.5, 4.0, 10.0):
        value = np.exp(order * log_density(mu) + (1 - order) * log_density(0.0)).sum() * (x[1] - x[0])
        measured = math.log(value) / (order - 1)
        bounds = [
            order * mu**2 / 2 + 2 * (1 - 1 / h) * h * mu**2 / 2 + 2 * math.log(mean) / h + math.log(mean) / (order - 1)
            for h in np.linspace(1, 30, 300)
        ]
        assert order * mu**2 / 2 * 0.2 < measured <= min(bounds)


def test_bad_arguments_are_named() -> None:
    with pytest.raises(ValueError, match="runs must be"):
        best_of_epsilon(RUN, 0, 1e-5)
    with pytest.raises(ValueError, match="delta must be"):
        best_of_epsilon(RUN, 2, 0.0)
    with pytest.raises(ValueError, match=r"mean_runs must be at least 1, got 0\.5"):
        random_stopping_epsilon(RUN, 0.5, 1e-5)
    with pytest.raises(ValueError, match="mean_runs must be"):
        random_stopping_attack(RUN, math.nan, 1e-5)


@each("mean", [3.0, 200.0])
def test_the_bound_is_the_theorem_s_least_over_both_orders(mean: float) -> None:
    """Both orders over grids, and the conversion to ε of Canonne, Kamath and Steinke written out."""
    mu, delta = 0.4, 1e-6
    hats = np.linspace(1, 60, 6000)
    extra = (2 * (1 - 1 / hats) * hats * mu**2 / 2 + 2 * math.log(mean) / hats).min()
    orders = np.linspace(1.05, 200, 20_000)
    divergence = orders * mu**2 / 2 + extra + math.log(mean) / (orders - 1)
    epsilons = divergence + np.log1p(-1 / orders) - (math.log(delta) + np.log(orders)) / (orders - 1)
    assert random_stopping_epsilon(GaussianDP(mu), mean, delta) == pytest.approx(epsilons.min(), rel=1e-3)
