import math

import dp_accounting
import numpy as np
import pytest

from costofprivacy.dpgd.update import noiseless_step
from costofprivacy.privacy import ApproximateDP, GaussianDP
from costofprivacy.privacy.groups import group, group_approximate, replaced
from tests.costofprivacy.privacy import numerics


@pytest.mark.parametrize("size", [1, 2, 7])
@pytest.mark.parametrize("mu", [0.1, 0.8])
def test_a_group_is_as_easy_to_see_as_gaussians_so_many_shifts_apart(mu: float, size: int) -> None:
    told = group(GaussianDP(mu), size)
    for epsilon in (0.3, 1.5):
        assert float(told.delta(epsilon)) == pytest.approx(numerics.hockey_stick(size * mu, 1.0, epsilon), rel=1e-9)
    assert float(told.delta(1.0)) > float(GaussianDP(math.sqrt(size) * mu).delta(1.0)) or size == 1


def test_the_general_formula_covers_the_gaussian_group_at_its_own_epsilon() -> None:
    for size in (1, 2, 3, 5):
        for delta in (1e-3, 1e-6):
            one = ApproximateDP(0.5, delta)
            exact = float(group(one.to_gaussian(), size).delta(size * one.epsilon))
            assert exact <= group_approximate(one, size) * (1 + 1e-6)


def test_the_general_formula_is_the_recursion_it_is_proven_by() -> None:
    epsilon, delta, spent = 0.7, 1e-4, 0.0
    for size in range(1, 6):
        spent = math.exp(epsilon) * spent + delta
        assert group_approximate(ApproximateDP(epsilon, delta), size) == pytest.approx(spent, rel=1e-12)


def test_replacing_costs_twice_blanking_where_contributions_fill_a_ball() -> None:
    """The longest move of a step of DP-GD: to a blank record, and to another record, by search."""
    rng, clip, rate = np.random.default_rng(0), 0.5, 0.01
    x, y = 3 * rng.standard_normal((4000, 2)), 100 * rng.standard_normal(4000)
    moves = noiseless_step(np.zeros(2), x, y, rate, clip)
    blanked = np.linalg.norm(moves, axis=1).max()
    apart = np.linalg.norm(moves[:, None][:300] - moves[None], axis=2).max()
    assert apart == pytest.approx(replaced(GaussianDP(float(blanked))).mu, rel=1e-3)


def test_two_blankings_compose_to_no_more_than_a_group() -> None:
    """√2 μ for two records read apart, 2μ for one that is replaced: another calculation with dp-accounting."""
    both = dp_accounting.get_epsilon_gaussian(1 / 0.6, 1e-5)
    assert replaced(GaussianDP(0.3)).epsilon(1e-5) == pytest.approx(both, rel=1e-6)


@pytest.mark.parametrize("size", [0, -1, 1.5, math.nan])
def test_bad_sizes_are_named(size: float) -> None:
    with pytest.raises(ValueError, match="size must be"):
        group(GaussianDP(1.0), size)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="size must be"):
        group_approximate(ApproximateDP(1.0, 1e-5), size)  # type: ignore[arg-type]


def test_no_group_follows_from_no_privacy() -> None:
    with pytest.raises(ValueError, match="epsilon must be"):
        group_approximate(ApproximateDP(math.inf, 1e-5), 2)
