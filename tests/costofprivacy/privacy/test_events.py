import numpy as np
import pytest

from costofprivacy.privacy import evidence
from costofprivacy.privacy.evidence import Event, choose
from tests.each import each

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
