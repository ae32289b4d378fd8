import math

import numpy as np
import pytest
from scipy.stats import norm

from costofprivacy.privacy import GaussianDP
from costofprivacy.privacy.advantage import largest_advantage, of_decisions, of_scores


@pytest.mark.parametrize("mu", [0.01, 0.27, 1.0, 5.0])
def test_the_largest_advantage_is_the_total_variation(mu: float) -> None:
    x = np.linspace(-10, 10 + mu, 400_001)
    apart = np.abs(norm.pdf(x) - norm.pdf(x, mu)).sum() * (x[1] - x[0]) / 2
    assert largest_advantage(GaussianDP(mu)) == pytest.approx(apart, rel=1e-6)
    assert largest_advantage(GaussianDP(mu)) == pytest.approx(2 * norm.cdf(mu / 2) - 1, rel=1e-9)


def test_without_noise_everything_is_told() -> None:
    assert largest_advantage(GaussianDP(math.inf)) == 1


def test_scores_find_the_gaussian_s_advantage_and_no_other() -> None:
    rng = np.random.default_rng(0)
    told = of_scores(1.0 + rng.standard_normal(200_000), rng.standard_normal(200_000))
    assert abs(told.value - largest_advantage(GaussianDP(1.0))) < 4 * told.standard_error + 0.003
    assert abs(told.value - largest_advantage(GaussianDP(1.1))) > 4 * told.standard_error + 0.003
    assert told.releases == 100_000


def test_the_same_law_gives_no_advantage() -> None:
    rng = np.random.default_rng(1)
    found = [of_scores(*rng.standard_normal((2, 400))) for _ in range(200)]
    values = np.array([told.value for told in found])
    assert abs(values.mean()) < 4 * values.std() / math.sqrt(len(values))
    assert values.std() == pytest.approx(np.mean([told.standard_error for told in found]), rel=0.2)


def test_decisions_are_counted() -> None:
    told = of_decisions(np.array([True, True, False, True]), np.array([False, False, False, True]))
    assert (told.hits, told.false_alarms, told.value) == (0.75, 0.25, 0.5)
    assert of_decisions(np.ones(10, bool), np.zeros(10, bool)).standard_error == 0.1  # not 0


@pytest.mark.parametrize(("first", "second"), [(0, 0), (3, 3), (5, 4)])
def test_too_few_scores_are_refused(first: int, second: int) -> None:
    with pytest.raises(ValueError, match="first and second must"):
        of_scores(np.zeros(first), np.zeros(second))


def test_as_many_decisions_are_needed_of_both() -> None:
    with pytest.raises(ValueError, match="on_second must"):
        of_decisions(np.ones(3, bool), np.ones(2, bool))
