import math

import numpy as np
import pytest
from scipy.stats import beta, binom, norm

from costofprivacy.privacy import (
    GaussianDP,
    epsilon_lower_bound,
    evidence,
    mu_lower_bound,
    pooled_epsilon_lower_bound,
    pooled_mu_lower_bound,
)
from tests.each import each

COUNTS = [(900, 100), (50, 3), (1000, 0), (999, 998), (7, 0), (1, 0)]


@pytest.mark.parametrize("hits", COUNTS)
def test_the_bounds_are_those_of_clopper_and_pearson(hits: tuple[int, int]) -> None:
    n, delta, confidence = 1000, 1e-3, 0.98
    low = beta.ppf(0.01, hits[0], n - hits[0] + 1)
    high = beta.ppf(0.99, hits[1] + 1, n - hits[1])
    expected = max(0.0, math.log((low - delta) / high)) if low > delta else 0.0
    assert epsilon_lower_bound(hits, n, delta, confidence) == pytest.approx(expected, rel=1e-9)
    assert mu_lower_bound(hits, n, confidence) == pytest.approx(max(0.0, norm.ppf(low) - norm.ppf(high)), rel=1e-9)
    assert binom.sf(hits[0] - 1, n, low) == pytest.approx(0.01)
    assert binom.cdf(hits[1], n, high) == pytest.approx(0.01)


@pytest.mark.parametrize("hits", COUNTS)
def test_the_pooled_bounds_are_one_limit_of_clopper_and_pearson(hits: tuple[int, int]) -> None:
    n, delta, correct = 1000, 1e-3, hits[0] + 1000 - hits[1]
    mean = beta.ppf(0.02, correct, 2 * n - correct + 1)
    expected = max(0.0, math.log((mean - delta) / (1 - mean)))
    assert pooled_epsilon_lower_bound(hits, n, delta, 0.98) == pytest.approx(expected, rel=1e-9)
    assert pooled_mu_lower_bound(hits, n, 0.98) == pytest.approx(max(0.0, 2 * norm.ppf(mean)), rel=1e-9)


def test_nothing_is_found_where_nothing_can_be() -> None:
    assert epsilon_lower_bound((0, 0), 100, 1e-5, 0.9) == 0
    assert epsilon_lower_bound((3, 90), 100, 1e-5, 0.9) == 0
    assert epsilon_lower_bound((90, 3), 100, 0.95, 0.9) == 0
    for hits in ((0, 0), (100, 100), (0, 100), (3, 90)):
        assert mu_lower_bound(hits, 100, 0.9) == 0
        assert pooled_mu_lower_bound(hits, 100, 0.9) == 0
        assert pooled_epsilon_lower_bound(hits, 100, 1e-5, 0.9) == 0


def spends_mu(q: np.ndarray, mu: float) -> np.ndarray:
    return norm.cdf(norm.ppf(q) + mu)


def spends_epsilon(q: np.ndarray, epsilon: float, delta: float) -> np.ndarray:
    return np.minimum(np.exp(epsilon) * q + delta, 1 - np.exp(-epsilon) * np.maximum(1 - q - delta, 0.0))


@each("confidence", [0.4, 0.75, 0.9, 0.99])
@each("n", [3, 10, 40])
def test_no_event_is_accused_more_often_than_the_confidence_allows(n: int, confidence: float) -> None:
    """Exactly, over all pairs of counts, for events on the edge of what a claim allows, far and near the middle."""
    first, second = np.meshgrid(np.arange(n + 1), np.arange(n + 1), indexing="ij")
    pairs = list(zip(first.ravel().tolist(), second.ravel().tolist()))
    q = np.concatenate([[1e-6, 1e-3], np.linspace(0.02, 0.98, 25)])
    bounds = {
        "mu": ([f(pair, n, confidence) for pair in pairs] for f in (mu_lower_bound, pooled_mu_lower_bound)),
        "epsilon": (
            [f(pair, n, 0.01, confidence) for pair in pairs] for f in (epsilon_lower_bound, pooled_epsilon_lower_bound)
        ),
    }
    for claim in (0.05, 0.7, 2.0):
        for p, found in ((spends_mu(q, claim), "mu"), (spends_epsilon(q, claim, 0.01), "epsilon")):
            law = binom.pmf(np.arange(n + 1)[:, None], n, p)[:, None] * binom.pmf(np.arange(n + 1)[:, None], n, q)
            bounds[found] = [np.array(bound).reshape(n + 1, n + 1) for bound in bounds[found]]
            for bound in bounds[found]:
                accused = (law * (bound > claim + 1e-12)[:, :, None]).sum(axis=(0, 1))
                assert accused.max() <= 1 - confidence + 1e-9


def test_an_event_half_way_attains_the_pooled_bounds() -> None:
    """Were the probabilities counted exactly: Φ(μ/2) of a Gaussian, e^ε/(1 + e^ε) of randomised response."""
    n = 10**12
    for mu in (0.1, 1.0, 3.0):
        p = norm.cdf(mu / 2)
        assert pooled_mu_lower_bound((round(p * n), round((1 - p) * n)), n, 0.99) == pytest.approx(mu, abs=1e-4)
        p = math.exp(mu) / (1 + math.exp(mu))
        found = pooled_epsilon_lower_bound((round(p * n), round((1 - p) * n)), n, 1e-9, 0.99)
        assert found == pytest.approx(mu, abs=1e-4)


def test_no_event_of_a_gaussian_exceeds_its_mu_or_its_profile() -> None:
    """With the probabilities themselves: the inequalities, at every threshold and on both sides."""
    t = np.linspace(-3, 6, 600)
    for mu in (0.1, 1.0, 3.0):
        p, q = norm.sf(t - mu), norm.sf(t)
        np.testing.assert_allclose(evidence.mu_of(p, q), mu, rtol=1e-5)
        assert evidence.epsilon_of(p, q, 1e-3).max() == pytest.approx(GaussianDP(mu).epsilon(1e-3), rel=1e-3)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: mu_lower_bound((3, 1), 2, 0.9), "hits must be at most the number of releases, 2, got"),
        (lambda: mu_lower_bound((-1, 1), 2, 0.9), "hits must be a whole number of at least 0, got -1"),
        (lambda: mu_lower_bound((0, 0), 0, 0.9), "releases must be a whole number of at least 1, got 0"),
        (lambda: pooled_mu_lower_bound((0, 0), 1, 1.0), "confidence must be between 0 and 1"),
        (lambda: pooled_epsilon_lower_bound((0, 0), 1, 1.0, 0.9), "delta must be between 0 and 1"),
        (lambda: epsilon_lower_bound((0, 0), 1, 0.0, 0.9), "delta must be between 0 and 1"),
    ],
)
def test_inadmissible_counts_are_refused(call: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
