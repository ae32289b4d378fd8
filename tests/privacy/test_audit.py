import math

import numpy as np
import pytest
from scipy.stats import beta, binom

from costofprivacy.privacy import (
    ApproximateDP,
    GaussianDP,
    audit_mechanism,
    epsilon_lower_bound,
    exact_noise_multiplier,
)
from costofprivacy.privacy.audit import Audit

BUDGET = ApproximateDP(1.0, 1e-5)


def gaussian(value: float, count: int, rng: np.random.Generator, std: float) -> np.ndarray:
    return value + std * rng.standard_normal(count)


def found(std: float, seed: int = 0, releases: int = 200_000, confidence: float = 0.999) -> Audit:
    return audit_mechanism(
        lambda value, count, rng: gaussian(value, count, rng, std),
        1.0,
        0.0,
        delta=BUDGET.delta,
        releases=releases,
        confidence=confidence,
        rng=np.random.default_rng(seed),
    )


@pytest.mark.parametrize("hits", [(900, 100), (50, 3), (1000, 0), (999, 998)])
def test_the_bound_is_that_of_clopper_and_pearson(hits: tuple[int, int]) -> None:
    n, delta, confidence = 1000, 1e-3, 0.98
    low = beta.ppf(0.01, hits[0], n - hits[0] + 1)
    high = beta.ppf(0.99, hits[1] + 1, n - hits[1])
    expected = max(0.0, math.log((low - delta) / high))
    assert epsilon_lower_bound(hits, n, delta, confidence) == pytest.approx(expected, rel=1e-9)
    assert binom.sf(hits[0] - 1, n, low) == pytest.approx(0.01)
    assert binom.cdf(hits[1], n, high) == pytest.approx(0.01)


def test_nothing_is_found_where_nothing_can_be() -> None:
    assert epsilon_lower_bound((0, 0), 100, 1e-5, 0.9) == 0
    assert epsilon_lower_bound((3, 90), 100, 1e-5, 0.9) == 0
    assert epsilon_lower_bound((90, 3), 100, 0.95, 0.9) == 0


@pytest.mark.parametrize("seed", range(5))
def test_a_right_mechanism_is_never_accused_and_a_wrong_one_is(seed: int) -> None:
    right = exact_noise_multiplier(BUDGET)
    assert found(right, seed).epsilon <= BUDGET.epsilon
    assert found(right / 2, seed).epsilon > BUDGET.epsilon


@pytest.mark.parametrize("std", [0.7, 1.5, 4.0])
def test_the_bound_is_below_the_exact_epsilon_and_not_far_below(std: float) -> None:
    exact = GaussianDP(1 / std).epsilon(BUDGET.delta)
    bound = found(std, releases=1_000_000).epsilon
    assert 0.3 * exact < bound <= exact


def test_the_confidence_is_kept() -> None:
    """500 audits of randomised response, whose one event attains its ε: too high a bound in at most 10 %."""
    epsilon, rng, misses = 1.0, np.random.default_rng(7), 0
    truth = math.exp(epsilon) / (1 + math.exp(epsilon))
    for _ in range(500):
        hits = (int(rng.binomial(300, truth)), int(rng.binomial(300, 1 - truth)))
        misses += epsilon_lower_bound(hits, 300, 1e-9, 0.9) > epsilon
    assert misses <= 50


def test_delta_is_taken_off() -> None:
    """A mechanism that shows its input with probability 0.01 and else nothing is (0, 0.01)-DP."""

    def leaking(value: float, count: int, rng: np.random.Generator) -> np.ndarray:
        return np.where(rng.random(count) < 0.01, value, 0.5)

    common = {"releases": 20_000, "confidence": 0.99}
    for delta, accused in ((0.012, False), (0.005, True)):
        bound = audit_mechanism(leaking, 1.0, 0.0, delta=delta, rng=np.random.default_rng(1), **common).epsilon
        assert (bound > 0) == accused


def test_counts_belong_to_the_half_that_did_not_choose() -> None:
    result = found(1.0, releases=1001)
    assert result.releases == 500
    assert max(result.hits) <= 500
    assert result.epsilon == epsilon_lower_bound(result.hits, 500, BUDGET.delta, 0.999)


def test_constant_scores_reveal_nothing() -> None:
    constant = audit_mechanism(
        lambda value, count, rng: np.zeros(count), 1, 0, delta=1e-5, releases=100, confidence=0.9, rng=None
    )
    assert constant.epsilon == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"delta": 0.0}, "delta must be between 0 and 1"),
        ({"confidence": 1.0}, "confidence must be between 0 and 1"),
        ({"releases": 1}, "releases must be a whole number of at least 2, got 1"),
    ],
)
def test_inadmissible_arguments_are_refused(arguments: dict, message: str) -> None:
    told = {"delta": 1e-5, "releases": 100, "confidence": 0.9, "rng": np.random.default_rng(0)} | arguments
    with pytest.raises(ValueError, match=message):
        audit_mechanism(lambda value, count, rng: rng.standard_normal(count), 1, 0, **told)
