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
from costofprivacy.privacy.evidence import Event, choose
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


# ---- Events ----

EDGES = np.array([-np.inf, 0.0, 1.0, evidence.LARGEST])
NUMBERS = np.array([-np.inf, -5.0, 0.0, 0.5, 1.0, 1.0 + 1e-15, evidence.LARGEST, np.inf, np.nan, 5e-324, -0.0])
BINS = np.array([0, 1, 1, 2, 2, 3, 3, 4, 5, 2, 1])


@pytest.mark.parametrize("bin", range(6))
def test_each_score_is_in_one_bin(bin: int) -> None:
    event = Event(EDGES, np.arange(6) == bin)
    np.testing.assert_array_equal(event.contains(NUMBERS), bin == BINS)


def test_bins_of_sorted_scores_are_counted_as_events_are() -> None:
    counts = evidence._count(EDGES, np.sort(NUMBERS))
    np.testing.assert_array_equal(counts, np.bincount(BINS, minlength=6))


def uniform(shape: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).random(shape)


LEAKS = {  # of a score u, with a coin of its own: what leaks, and scores that are marked and that are not
    "NaN": (lambda u: np.full_like(u, np.nan), [np.nan], [0.5]),
    "inf": (lambda u: np.full_like(u, np.inf), [np.inf], [0.5]),
    "-inf": (lambda u: np.full_like(u, -np.inf), [-np.inf], [0.5]),
    "an atom": (lambda u: np.full_like(u, 0.4), [0.4], [0.7]),
    "the largest": (lambda u: np.full_like(u, evidence.LARGEST), [evidence.LARGEST], [0.7]),
    "a middle": (lambda u: 0.4 + u / 1000, np.linspace(0.4, 0.401, 100), np.linspace(0.5, 0.9, 100)),
    "a tail": (lambda u: 9 + u, np.linspace(9.1, 10, 100), np.linspace(0.1, 0.9, 100)),
    "both tails": (lambda u: np.where(u < 0.5, -9 - u, 9 + u), [-9.3, 9.7], [0.3, 0.7]),
}


@each("swapped", [False, True])
@each("leak", LEAKS)
def test_the_event_is_where_the_samples_differ(leak: str, swapped: bool) -> None:
    marked, inside, outside = LEAKS[leak]
    u, coin = uniform(8000, 1), uniform(8000, 3) < 0.02
    samples = np.where(coin, marked(u), u), uniform(8000, 2)
    for choice in choose(samples[::-1] if swapped else samples, 1e-5, 24_000, 0.99):
        found, other = (choice.event.contains(np.array(scores)).mean() for scores in (inside, outside))
        assert abs(found - other) > 0.8
        assert (found > other) == (choice.swapped == swapped)


def test_order_on_one_half_is_tried_on_the_other() -> None:
    """Were it tried where it was estimated, hundreds of bins would differ by chance more than one does by law."""
    samples = uniform(10_000, 1), uniform(10_000, 2)
    for tried in evidence._candidates(samples)[:3]:
        advantage = (tried.hits - tried.others)[0] / 10_000
        assert np.abs(advantage).max() < 5 * np.sqrt(0.5 / 10_000)
        assert (tried.hits[:, -1] == [10_000, 10_000, 0, 0]).all()
