"""How deviations are compared with log²n/√n."""

import math

import numpy as np
import pandas as pd
import pytest

from costofprivacy.experiments.dpgd.deterministic_equivalent import trends
from costofprivacy.experiments.dpgd.deterministic_equivalent.regime import bound

SIZES = np.array([100, 1000, 10000])
BOUND = np.array([bound(n) for n in SIZES])
LAST = -0.5 + 2 * math.log(4 / 3) / math.log(10)  # the exponent of the bound between the last two sizes


def series(value, error=None):
    table = pd.DataFrame({"n": SIZES, "value": value, "bound": BOUND})
    return table if error is None else table.assign(standard_error=error)


def test_a_power_has_its_exponent_and_the_error_of_the_last_two_sizes():
    value = 3.0 * SIZES**-0.5
    found = trends.fall("x", "t", series(-value, value * [9.0, 0.03, 0.04]).iloc[[2, 0, 1]])
    assert (found.exponent, found.error) == pytest.approx((-0.5, 0.05 / math.log(10)))
    assert found.bound == pytest.approx(LAST)
    assert (found.share, found.share_error) == pytest.approx((value[-1] / BOUND[-1], 0.04 * value[-1] / BOUND[-1]))
    assert found.resolved
    assert found.excess == pytest.approx((found.exponent - found.bound) / found.error)
    assert (found.number.value, found.number.error, found.number.against) == (found.exponent, found.error, found.bound)


def test_what_is_lost_in_noise_is_compared_with_the_largest_share_before():
    found = trends.fall("x", "t", series(BOUND * [0.1, 0.2, 0.5], BOUND * [0.01, 0.03, 0.04]))
    assert not found.resolved
    assert found.excess == found.rise == pytest.approx((0.5 - 0.2) / 0.05)
    assert found.contradicted
    assert (found.number.value, found.number.error, found.number.against) == pytest.approx((0.5, 0.04, 1.0))


@pytest.mark.parametrize(("errors", "contradicted"), [(3.9, False), (4.1, True)])
def test_four_errors_above_the_bound_contradict(errors, contradicted):
    relative = 0.01
    value = (SIZES / 1000) ** (LAST + errors * math.sqrt(2) * relative / math.log(10))
    assert trends.fall("x", "t", series(value, relative * value)).contradicted == contradicted


@pytest.mark.parametrize("value", [BOUND, [1.0, 1e-9, 0.0], [0.0, 0.0, 0.0]])
def test_without_chance_the_bound_itself_is_allowed_and_zero_is_no_rise(value):
    assert not trends.fall("x", "t", series(np.array(value))).contradicted


@pytest.mark.parametrize(("sizes", "small"), [((480, 1440), False), ((160, 1440), True), ((1440,), True)])
def test_sizes_between_which_the_bound_hardly_falls_are_too_small(sizes, small):
    table = pd.DataFrame({"n": sizes, "bound": [bound(n) for n in sizes]})
    assert trends.too_small(table) == small
    assert trends.too_small(table, 3)


def test_of_several_the_slowest_is_quoted():
    fast, slow = (trends.fall(str(a), "t", series(SIZES**a, 0.001 * SIZES**a)) for a in (-0.6, -0.5))
    found = trends.judge([slow, fast])
    assert (found.verdict, found.grounds) == ("holds", "")
    assert found.quoted == pytest.approx({"power": -0.5, "bound": LAST})
    assert [number.name for number in found.numbers] == ["power of n: -0.5", "power of n: -0.6"]


def test_what_is_no_number_decides_nothing():
    fine = trends.fall("x", "t", series(SIZES**-0.5, 0.001 * SIZES**-0.5))
    unknown = trends.fall("x", "t", series(np.array([0.3, 0.1, math.nan])))
    for falls in ([], [unknown], [fine, unknown], [unknown, fine]):
        assert trends.judge(falls).verdict == "untestable"


def test_of_several_without_a_power_the_largest_is_quoted():
    small, large = (trends.fall("x", "t", series(BOUND * share, BOUND * 0.05)) for share in (0.1, 0.2))
    found = trends.judge([large, small])
    assert (found.verdict, found.grounds) == ("holds", trends.BY_SIZE)
    assert found.quoted == pytest.approx({"percentage": 20.0})
