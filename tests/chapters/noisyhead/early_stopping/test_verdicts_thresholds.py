"""The judges of the chapter on early stopping just at their thresholds."""

from typing import Any

import pandas as pd
import pytest

from chapters.noisyhead.early_stopping import judge as early_stopping_judge
from companion.judging.findings import Verdict
from costofprivacy.noisyhead.accounts import ALGORITHM
from tests.chapters.machinery import change, committed, having, judge
from tests.chapters.noisyhead.early_stopping.test_verdicts import (
    ANY_T,
    C_NOISE,
    CHAPTER,
    FIGURE_3,
    MONOTONE,
    PARTS,
    STOPPED,
    cost,
    matched,
    parts,
    stopped,
)
from tests.each import each


@pytest.mark.parametrize("claim", [ANY_T, STOPPED])
def test_a_bound_is_vacuous_where_always_predicting_0_meets_it(claim: str) -> None:
    t = committed(CHAPTER)
    assert judge(CHAPTER, claim, t).vacuous
    tight = {name: t["stopped"][name] * 1e-10 for name in ("excess_risk", "bound_45", "bound_46", "rest", "least_45")}
    assert not judge(CHAPTER, claim, t | {"stopped": t["stopped"].assign(**tight)}).vacuous


@pytest.mark.parametrize(("budget", "small"), [(0.01, True), (0.1, False), (8.0, False)])
def test_small_budgets_are_those_below_all_others(budget: float, small: bool) -> None:
    table = committed(CHAPTER)["stopped"]
    above = (table["N"] == 1e4) & (table["epsilon"] == budget)
    assert early_stopping_judge.only_small_budgets(table, above) == small
    assert early_stopping_judge.only_small_budgets(table, table["N"] == 1e4)
    assert not early_stopping_judge.only_small_budgets(table, above | having(table, N=1e4, epsilon=0.8))
    apart = having(table, N=1e4, epsilon=0.01) | having(table, N=100.0, epsilon=0.8)
    assert not early_stopping_judge.only_small_budgets(table, apart)


FOUR = {1: (21.0, 3.0), 161: (1.0, 4.0), 481: (21.0, 3.0)}  # T: risk and its error; both steps are four errors


def figure(points: dict[int, tuple[float, float]]) -> dict[str, Any]:
    """Figure 3 with NoisyHead at these T alone."""
    table = pd.DataFrame([{"T": T, "excess_risk": r, "standard_error": e} for T, (r, e) in points.items()])
    return {"figure-3": table.assign(setting="published", method="noisyhead")}


@each(
    ("points", "verdict"),
    [
        (FOUR | {1: (41.0, 3.0), 481: (41.0, 3.0)}, Verdict.NARROWER),
        (FOUR | {1: (41.0, 3.0)}, Verdict.UNTESTABLE),
        (FOUR | {481: (41.0, 3.0)}, Verdict.UNTESTABLE),
        ({1: (1.0, 4.0), 481: (21.0, 3.0)}, Verdict.UNTESTABLE),
        ({1: (21.0, 3.0), 481: (1.0, 4.0)}, Verdict.UNTESTABLE),
        ({1: (41.0, 3.0), 480: (1.0, 4.0)}, Verdict.FAILS),
        ({1: (41.0, 3.0), 479: (1.0, 4.0)}, Verdict.UNTESTABLE),
        ({1: (50.0, 4.0), 21: (70.0, 3.0), 161: (1.0, 4.0), 441: (70.0, 3.0), 481: (50.0, 4.0)}, Verdict.NARROWER),
    ],
)
def test_four_errors_of_the_figure_are_not_more_than_four(points: dict, verdict: Verdict) -> None:
    assert judge(CHAPTER, FIGURE_3, committed(CHAPTER) | figure(points)).verdict == verdict


def test_four_errors_from_zero_and_without_noise_are_not_more_than_four() -> None:
    t = committed(CHAPTER)
    own = having(t["accounts"], start="zero", account=ALGORITHM)
    flat = change(t["accounts"], "excess_risk", lambda r: r["T"].map({1: 21.0}).fillna(1.0), own)
    sure = change(flat, "standard_error", lambda r: r["T"].map({1: 3.0}).fillna(4.0), own)
    assert judge(CHAPTER, FIGURE_3, t | matched(t) | {"accounts": sure}).verdict == Verdict.NARROWER
    own = having(t["descent"], setting="published", start="random")
    level, error = {1: 1.0, 21: 21.0, 41: 99.0}, {1: 3.0, 21: 4.0, 41: 3.0}
    risen = change(t["descent"], "excess_risk", lambda r: r["T"].map(level).fillna(1.0), own)
    risen = change(risen, "standard_error", lambda r: r["T"].map(error).fillna(4.0), own)
    assert judge(CHAPTER, MONOTONE, t | {"descent": risen}).verdict == Verdict.FAILS
    once = change(risen, "excess_risk", lambda r: 20.0, own & (risen["T"] == 41))
    assert judge(CHAPTER, MONOTONE, t | {"descent": once}).verdict == Verdict.UNTESTABLE


def test_a_tenth_is_much_smaller_and_twice_the_bound_is_where_noise_is_negligible() -> None:
    t = committed(CHAPTER)
    assert judge(CHAPTER, PARTS, t | parts(t, 0.1)).numbers[3].value > 0
    assert judge(CHAPTER, PARTS, t | parts(t, 0.1)).verdict == Verdict.HOLDS
    own = having(t["stopped"], N=100.0, epsilon=0.8)
    edge = change(t["stopped"], "bound_45", lambda r: 2 * r["bound_46"], own)
    nine = stopped({"stopped": edge}, lambda r: 9 * r["bound_46"], own)
    assert judge(CHAPTER, STOPPED, t | nine).verdict == Verdict.HOLDS


def test_as_much_as_a_threshold_is_not_more() -> None:
    t = committed(CHAPTER)
    level = change(cost(t)["section-62"], "noise_printed", lambda r: r["descent"], t["section-62"]["N"] == 1e4)
    assert judge(CHAPTER, C_NOISE, t | {"section-62": level}).verdict == Verdict.HOLDS
    nine = stopped(t, lambda r: 9 * r["bound_46"], having(t["stopped"], N=100.0, epsilon=0.01))["stopped"]
    one = change(nine, "excess_risk", lambda r: r["bound_46"], having(nine, N=100.0, epsilon=0.8))
    assert "at small budgets" in judge(CHAPTER, STOPPED, t | {"stopped": one}).headline
    steady = pd.DataFrame({"N": [1e4, 1e6, 1e8], "best_T": [9, 30, 20], "best_T_over_log_N": [1.0, 2.0, 1.5]})
    assert early_stopping_judge.logarithmic(steady)
    assert not early_stopping_judge.logarithmic(steady.assign(best_T_over_log_N=[1.0, 2.1, 1.5]))
