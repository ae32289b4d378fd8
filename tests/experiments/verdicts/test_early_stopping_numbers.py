"""The numbers behind the findings on early stopping, and its judges just at their thresholds."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from costofprivacy.experiments.noisyhead.early_stopping import verdicts
from costofprivacy.experiments.noisyhead.early_stopping.closed_forms import FROM_R, FROM_ZERO
from costofprivacy.judging.findings import Verdict
from costofprivacy.noisyhead.accounts import ALGORITHM
from tests.each import each
from tests.experiments.verdicts.machinery import change, committed, having, judge
from tests.experiments.verdicts.test_early_stopping import (
    ANY_T,
    C_NOISE,
    CHAPTER,
    FIGURE_3,
    MONOTONE,
    PARTS,
    STOPPED,
    STOPPING,
    cost,
    matched,
    noise,
    outside,
    parts,
    stopped,
)


def numbers(claim: str) -> dict[str, float]:
    found = judge(CHAPTER, claim, committed(CHAPTER))
    assert len({(n.name, n.row) for n in found.numbers}) == len(found.numbers)
    return {f"{n.name}; {n.row}": n.value for n in found.numbers}


def test_the_numbers_stand_in_the_tables() -> None:
    """A number names its table, and its value is there."""
    t = committed(CHAPTER)
    best_steps = t["best-steps"][t["best-steps"]["source"] == "simulation"].set_index(["start", "account"])["best_T"]
    figure = numbers(FIGURE_3)
    for (start, account), value in best_steps.items():
        row = f"source = simulation, start = {start}, account = {account}"
        assert figure[f"best T, {start} start, {account}; {row}"] == value
    own = t["descent"][having(t["descent"], setting="published", start="random")].set_index("T")
    monotone = list(numbers(MONOTONE).values())
    error = own["standard_error"].to_numpy()
    scores = np.diff(own["excess_risk"]) / np.hypot(error[1:], error[:-1])
    inside = own[own["in_figure"]]
    expected = [inside["excess_risk"].iloc[0], inside["excess_risk"].iloc[-1], scores[: len(inside) - 1].max()]
    assert monotone == [*expected, inside["risen"].max(), own["risen"].max(), own["rest"].iloc[-1]]
    part = t["parts-at-stop"]
    zero = part[part["start"] == FROM_ZERO]
    quiet = zero[zero["noise_over_descent"] <= 0.1]
    found = list(numbers(PARTS).values())
    assert found[1] == zero.groupby("N")["noise_over_descent"].min().max()
    assert found[2] == zero[zero["rate_share"] == 1].groupby("N")["noise_over_descent"].min().max()
    assert found[3] == 1 - quiet["descent_over_zero"].min()


def test_what_the_numbers_on_the_proposition_are() -> None:
    t = committed(CHAPTER)
    ratio = t["stopped"]["excess_risk"] / t["stopped"]["bound_46"]
    found = list(numbers(STOPPED).values())
    assert found[1:4] == [ratio.max(), ratio[~outside(t)].max(), t["stopped"]["T_over_log_N"].min()]
    over = t["any-steps"]["excess_risk"] / t["any-steps"]["bound_45"]
    simulated = verdicts.both_sides(t["accounts"], t["bounds"])["over_45"].max()
    share = (t["stopped"]["rest"] / t["stopped"]["least_45"]).max()
    assert list(numbers(ANY_T).values())[4:7] == [over.max(), simulated, share]
    last = t["section-62"].iloc[-1]
    cost = [last["exponent_noise_printed"], last["noise_printed"] / last["noise_45"], len(t["section-62"])]
    assert list(numbers(C_NOISE).values()) == cost


@pytest.mark.parametrize("claim", [ANY_T, STOPPED])
def test_a_bound_is_vacuous_where_always_predicting_0_meets_it(claim: str) -> None:
    t = committed(CHAPTER)
    assert judge(CHAPTER, claim, t).vacuous
    tight = {name: t["stopped"][name] * 1e-10 for name in ("excess_risk", "bound_45", "bound_46", "rest", "least_45")}
    assert not judge(CHAPTER, claim, t | {"stopped": t["stopped"].assign(**tight)}).vacuous


def test_where_noise_never_is_small_no_share_is_told() -> None:
    t = committed(CHAPTER)
    assert judge(CHAPTER, PARTS, t | parts(t, 0.3, start=FROM_ZERO)).numbers[3].value == 0


def test_a_turn_is_counted_in_its_own_errors() -> None:
    curve = pd.DataFrame({"T": [1, 2, 3], "excess_risk": [5.0, 1.0, 8.0], "standard_error": [3.0, 4.0, 1.0]})
    assert verdicts.turn(curve.iloc[::-1]) == pytest.approx((4 / 5, 7 / 17**0.5))


def test_what_the_numbers_on_stopping_are() -> None:
    t = committed(CHAPTER)
    own = t["stopping"][(t["stopping"]["account"] == ALGORITHM) & (t["stopping"]["N"] >= 1e4)]
    over = [own[own["start"] == start]["best_T_over_log_N"] for start in (FROM_R, FROM_ZERO)]
    powers = verdicts.noise_exponents(t["closed-form"], ALGORITHM)
    expected = [powers.iloc[0], powers.iloc[-1], over[0].min(), over[0].max(), over[1].min(), over[1].max()]
    assert list(numbers(STOPPING).values()) == [*expected, own["transient"].max()]


def test_a_cubic_noise_needs_no_correction_of_its_power() -> None:
    t = committed(CHAPTER)
    assert "T^3" in judge(CHAPTER, STOPPING, t).correction
    assert "T^3" not in judge(CHAPTER, STOPPING, t | noise(t, 3.0)).correction


@pytest.mark.parametrize(("budget", "small"), [(0.01, True), (0.1, False), (8.0, False)])
def test_small_budgets_are_those_below_all_others(budget: float, small: bool) -> None:
    table = committed(CHAPTER)["stopped"]
    above = (table["N"] == 1e4) & (table["epsilon"] == budget)
    assert verdicts.only_small_budgets(table, above) == small
    assert verdicts.only_small_budgets(table, table["N"] == 1e4)
    assert not verdicts.only_small_budgets(table, above | having(table, N=1e4, epsilon=0.8))
    apart = having(table, N=1e4, epsilon=0.01) | having(table, N=100.0, epsilon=0.8)
    assert not verdicts.only_small_budgets(table, apart)


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
    assert verdicts.logarithmic(steady)
    assert not verdicts.logarithmic(steady.assign(best_T_over_log_N=[1.0, 2.1, 1.5]))


def test_both_bounds_stand_beside_the_simulation() -> None:
    t = committed(CHAPTER)
    both = verdicts.both_sides(t["accounts"], t["bounds"])
    for row in both.iloc[[0, -1]].itertuples():
        assert row.over_42 == row.excess_risk / (row.descent_42 + row.noise_42)
        assert row.over_45 == row.excess_risk / (row.descent_45 + row.noise_45)
