"""What is tried on the judges of the chapter on early stopping."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from chapters.noisyhead.early_stopping import judge as early_stopping_judge
from chapters.noisyhead.early_stopping.measure import FROM_R, FROM_ZERO
from companion.judging.findings import Verdict
from costofprivacy.noisyhead.accounts import ALGORITHM
from tests.chapters.machinery import Case, Tables, change, committed, having, judge, put, trials
from tests.each import each

HOLDS, CORRECTED, NARROWER, FAILS, UNTESTABLE = Verdict
CHAPTER = "noisyhead/early-stopping"
FIGURE_3, MONOTONE = "noisyhead/figure-3", "noisyhead/section-6.2-monotone"
STOPPING, C_NOISE = "noisyhead/section-4-optimal-stopping", "noisyhead/section-6.2-c-noise"
ANY_T, STOPPED = "noisyhead/proposition-4.1-any-t", "noisyhead/proposition-4.1-stopped"
TRANSITION, NECESSITY = "noisyhead/section-1.1-phase-transition", "noisyhead/section-8-necessity"
PARTS = "noisyhead/section-3-noise-below-descent"
To = Callable[[pd.DataFrame], Any]


def expected(t: Tables, total: To, start: str) -> dict:
    """The closed form of Algorithm 1's own account with another risk from a start."""
    return put("closed-form", "total", total, start=start, account=ALGORITHM)(t)


def curve(t: Tables, risk: To, error: float = 1e-6, first: int = 1, last: int = 481) -> dict:
    """Figure 3 over some T with another risk of NoisyHead, its relative error given."""
    own = having(t["figure-3"], method="noisyhead")
    bent = change(t["figure-3"], "excess_risk", risk, own)
    certain = change(bent, "standard_error", lambda r: error * r["excess_risk"].min(), own)
    return {"figure-3": certain[certain["T"].between(first, last)]}


def turning(r: pd.DataFrame, at: int = 161) -> Any:
    return 1e-6 + 1e-6 * np.abs(r["T"] - at)


def stepped(t: Tables, before: float = 0.0, after: float = 0.0) -> dict:
    """A turn whose fall and rise are as many errors as is said, one step each."""
    depth = {141: before, 161: 0.0, 181: after}
    risk = lambda r: 1.0 + r["T"].map(lambda T: depth.get(T, before if T < 161 else after)) * 2**0.5 * 1e-3  # noqa: E731
    return curve(t, risk, 1e-3)


def matched(t: Tables, deviation: float = 0.5, **where: Any) -> dict:
    """Published numbers that come out again, but for those at this distance."""
    near = change(t["comparison"], "deviation", lambda r: 0.5)
    return {"comparison": change(near, "deviation", lambda r: deviation, having(near, **where))}


def from_zero(t: Tables, risk: To, error: float = 1e-9) -> dict:
    """Another risk from Γ⁰ = 0 in Algorithm 1's account."""
    own = having(t["accounts"], start="zero", account=ALGORITHM)
    return {"accounts": change(change(t["accounts"], "excess_risk", risk, own), "standard_error", lambda r: error, own)}


def fallen(t: Tables, errors: float) -> dict:
    """A risk from Γ⁰ = 0 that falls by some errors once, and stays."""
    return from_zero(t, lambda r: 1.0 - 2**0.5 * 1e-3 * errors * (r["T"] > 1), 1e-3)


def descent(t: Tables, column: str, to: To, **where: Any) -> dict:
    own = having(t["descent"], setting="published", start="random", **where)
    return {"descent": change(t["descent"], column, to, own)}


def nudged(t: Tables, errors: float) -> dict:
    """Descent at T = 21 raised over T = 1 by some errors."""
    table = t["descent"][having(t["descent"], setting="published", start="random")]
    first = table[table["T"] == 1].iloc[0]
    sure = descent(t, "standard_error", lambda r: first["standard_error"], T=21)["descent"]
    level = first["excess_risk"] + errors * 2**0.5 * first["standard_error"]
    return descent({"descent": sure}, "excess_risk", lambda r: level, T=21)


def noise(t: Tables, power: float) -> dict:
    """A noise part that goes like a power of T."""
    return {"closed-form": change(t["closed-form"], "noise", lambda r: 1e-12 * r["T"] ** power)}


def best(t: Tables, start: str, to: Callable[[pd.Series], Any]) -> dict:
    """The best T of Algorithm 1 from a start as a function of log N."""
    own = having(t["stopping"], start=start, account=ALGORITHM)
    logs = np.log(t["stopping"]["N"][own])
    steps = np.maximum(1, np.rint(to(logs))).astype(int)
    table = change(t["stopping"], "best_T", lambda r: steps, own)
    return {"stopping": change(table, "best_T_over_log_N", lambda r: steps / logs, own)}


def cost(t: Tables, exponent: float = 0.0, ahead: bool = False) -> dict:
    """A printed noise cost like that of (4.5), but for an exponent, and perhaps a factor."""
    section = t["section-62"]
    near = change(section, "exponent_noise_printed", lambda r: r["exponent_noise_45"] + exponent)
    return {"section-62": change(near, "noise_printed", lambda r: r["noise_45"] * (1e40 if ahead else 1.0))}


def along(t: Tables, axis: str, column: str, power: float, inverse: bool = False) -> dict:
    """The cost over (4.5) grows like a power along one axis."""
    own, sign = having(t["any-steps"], axis=axis), -1 if inverse else 1
    to = lambda r: r["bound_45"] * r[column].astype(float) ** (sign * power)  # noqa: E731
    return {"any-steps": change(t["any-steps"], "excess_risk", to, own)}


def stopped(t: Tables, to: To, where: Any = slice(None)) -> dict:
    """Another cost at r = N, half of (4.6) elsewhere."""
    half = change(t["stopped"], "excess_risk", lambda r: r["bound_46"] / 2)
    return {"stopped": change(half, "excess_risk", to, where)}


def outside(t: Tables) -> Any:
    return t["stopped"]["bound_45"] > 2 * t["stopped"]["bound_46"]


def longest(t: Tables, ratio: float, **where: Any) -> dict:
    """What the longest training costs, over the best, in some accounts and from some starts."""
    table = t["stopping"]
    return {"stopping": change(table, "risk_at_longest_over_best", lambda r: ratio, having(table, **where))}


def loud(t: Tables) -> dict:
    """A second term of (4.5) that exceeds descent at one size."""
    section = cost(t, 0.2)["section-62"]
    return {"section-62": change(section, "noise_45", lambda r: 2 * r["descent"], section["N"] == 1e4)}


def parts(t: Tables, ratio: float, **where: Any) -> dict:
    table = t["parts-at-stop"]
    return {"parts-at-stop": change(table, "noise_over_descent", lambda r: ratio, having(table, **where))}


CASES = [
    Case(FIGURE_3, "it turns from both starts, all match", lambda t: from_zero(t, turning) | matched(t), HOLDS),
    Case(FIGURE_3, "it turns from both starts", lambda t: from_zero(t, turning), CORRECTED),
    Case(FIGURE_3, "one printed number is missed",
         lambda t: from_zero(t, turning) | matched(t, -4.1, setting="printed", T=41, method="noisyhead"), CORRECTED),
    Case(FIGURE_3, "all match, from zero there is no fall", matched, NARROWER, says=r"after 1 step\."),
    Case(FIGURE_3, "from zero it falls by 3.9 errors", lambda t: fallen(t, 3.9) | matched(t), NARROWER,
         says="after 21 steps"),
    Case(FIGURE_3, "from zero it falls by 4.1 errors", lambda t: fallen(t, 4.1) | matched(t), HOLDS),
    Case(FIGURE_3, "no published numbers belong here", lambda t: {"comparison": t["comparison"].head(0)}, NARROWER),
    Case(FIGURE_3, "none belong here, from zero it turns",
         lambda t: {"comparison": t["comparison"].head(0)} | from_zero(t, turning), HOLDS),
    Case(FIGURE_3, "the published settings miss one",
         lambda t: matched(t, 4.1, setting="published", T=41, method="noisyhead"),
         FAILS),
    Case(FIGURE_3, "the published settings almost miss one",
         lambda t: matched(t, 3.9, setting="published", T=41, method="noisyhead"), NARROWER),
    Case(FIGURE_3, "it only rises", lambda t: curve(t, lambda r: 1e-3 * r["T"]), FAILS),
    Case(FIGURE_3, "it only falls", lambda t: curve(t, lambda r: 1e-3 / r["T"]), FAILS),
    Case(FIGURE_3, "it only rises at first", lambda t: curve(t, lambda r: 1e-3 * r["T"], last=161), FAILS),
    Case(FIGURE_3, "it only falls at first", lambda t: curve(t, lambda r: 1e-3 / r["T"], last=161), UNTESTABLE),
    Case(FIGURE_3, "it only rises late", lambda t: curve(t, lambda r: 1e-3 * r["T"], first=161), UNTESTABLE),
    Case(FIGURE_3, "it only rises from the second step on",
         lambda t: {"figure-3": curve(t, lambda r: 1e-3 * r["T"])["figure-3"].replace({"T": {1: 2}})}, UNTESTABLE),
    Case(FIGURE_3, "it only falls, till late", lambda t: curve(t, lambda r: 1e-3 / r["T"], first=161), FAILS),
    Case(FIGURE_3, "it rises on the way down", lambda t: curve(t, lambda r: turning(r) + 1e-4 * (r["T"] == 41)), FAILS),
    Case(FIGURE_3, "it falls on the way up", lambda t: curve(t, lambda r: turning(r) + 1e-4 * (r["T"] == 341)), FAILS),
    Case(FIGURE_3, "noise hides the turn", lambda t: curve(t, turning, 1e4), UNTESTABLE),
    Case(FIGURE_3, "it hardly falls", lambda t: stepped(t, 3.9, 9.0), UNTESTABLE),
    Case(FIGURE_3, "it hardly rises", lambda t: stepped(t, 9.0, 3.9), UNTESTABLE),
    Case(FIGURE_3, "it falls and rises just enough", lambda t: stepped(t, 4.1, 4.1), NARROWER),
    Case(MONOTONE, "it rises with T", lambda t: descent(t, "excess_risk", lambda r: 1e-3 * r["T"]), FAILS),
    Case(MONOTONE, "it rises beyond the figure", lambda t: descent(t, "excess_risk", lambda r: 1.0, T=3000), HOLDS),
    Case(MONOTONE, "it rises at one step", lambda t: descent(t, "excess_risk", lambda r: 1.0, T=441), FAILS),
    Case(MONOTONE, "one data set in 500 rises", lambda t: descent(t, "risen", lambda r: 0.002, T=481), NARROWER),
    Case(MONOTONE, "data sets rise beyond the figure", lambda t: descent(t, "risen", lambda r: 1.0, T=600), HOLDS),
    Case(MONOTONE, "a step may be a rise", lambda t: nudged(t, 3.9), UNTESTABLE),
    Case(MONOTONE, "a step is a rise", lambda t: nudged(t, 4.1), FAILS),
    Case(MONOTONE, "a step is flat", lambda t: nudged(t, 0.0), UNTESTABLE),
    Case(STOPPING, "a cube, and log N from zero too", lambda t: noise(t, 3.0) | best(t, FROM_ZERO, lambda x: 3 * x),
         HOLDS),
    Case(STOPPING, "log N from zero too", lambda t: best(t, FROM_ZERO, lambda x: 3 * x), CORRECTED),
    *(
        Case(STOPPING, f"T^{power}, and log N from zero too",
             lambda t, p=power: noise(t, p) | best(t, FROM_ZERO, lambda x: 3 * x), verdict)
        for power, verdict in ((2.65, CORRECTED), (2.75, HOLDS), (3.25, HOLDS), (3.35, FAILS))
    ),
    Case(STOPPING, "a cube", lambda t: noise(t, 3.0), NARROWER, says="other than in the book"),
    Case(STOPPING, "seven steps from zero", lambda t: best(t, FROM_ZERO, lambda x: 7 + 0 * x),
         NARROWER, says="at most 7"),
    Case(STOPPING, "a power of N from R", lambda t: best(t, FROM_R, lambda x: x * np.exp(x / 10)), FAILS),
    Case(STOPPING, "one step from R", lambda t: best(t, FROM_R, lambda x: 0 * x), UNTESTABLE),
    Case(STOPPING, "affine from R", lambda t: best(t, FROM_R, lambda x: 1.6 * x - 20), NARROWER),
    Case(STOPPING, "affine from R at uneven sizes",
         lambda t: best({"stopping": t["stopping"][t["stopping"]["N"] != 1e10]}, FROM_R, lambda x: 1.6 * x - 20),
         NARROWER),
    Case(STOPPING, "affine from R, moved at three sizes", lambda t: best(t, FROM_R, lambda x: 1.6 * x - 42), NARROWER),
    Case(STOPPING, "affine and late from R", lambda t: best(t, FROM_R, lambda x: 1.6 * x - 50), UNTESTABLE),
    Case(STOPPING, "half of log N from R", lambda t: best(t, FROM_R, lambda x: 0.5 * x), NARROWER),
    Case(STOPPING, "five or six steps from zero", lambda t: best(t, FROM_ZERO, lambda x: 5 + (x > 20)), NARROWER,
         says="at most 6"),
    Case(STOPPING, "a cube but for the last step, and log N from zero too",
         lambda t: best(t, FROM_ZERO, lambda x: 3 * x)
         | {"closed-form": change(t["closed-form"], "noise", lambda r: r["T"] ** 3.0 * (1 - 0.1 * (r["T"] == 962)))},
         CORRECTED),
    Case(STOPPING, "another multiple from R", lambda t: best(t, FROM_R, lambda x: 3 * x), NARROWER),
    Case(STOPPING, "a square from R", lambda t: best(t, FROM_R, lambda x: x**2), FAILS),
    Case(STOPPING, "fewer and fewer from R", lambda t: best(t, FROM_R, lambda x: 50 - x), FAILS),
    Case(C_NOISE, "the same", cost, HOLDS),
    Case(C_NOISE, "the same but for three logarithms", lambda t: cost(t, 0.17), HOLDS),
    Case(C_NOISE, "the same with three logarithms less", lambda t: cost(t, -0.17), HOLDS),
    Case(C_NOISE, "the same but for a small power", lambda t: cost(t, 0.2), CORRECTED,
         says=r"N\^\{-3.27\}.*N\^\{-3.50\}"),
    Case(C_NOISE, "the term that it quotes exceeds descent, too", loud, FAILS),
    Case(TRANSITION, "it turns from zero, too", lambda t: expected(t, turning, "zero"), HOLDS),
    Case(TRANSITION, "it only rises", lambda t: expected(t, lambda r: 1e-3 * r["T"], "random"), FAILS),
    Case(TRANSITION, "it only falls", lambda t: expected(t, lambda r: 1e-3 / r["T"], "random"), FAILS),
    Case(TRANSITION, "few steps", lambda t: {"closed-form": t["closed-form"][t["closed-form"]["T"] < 99]}, UNTESTABLE),
    Case(TRANSITION, "another depth", lambda t: expected(t, turning, "random"), NARROWER, says="0.016 %"),
    Case(NECESSITY, "needed in every account", lambda t: longest(t, 1.03), HOLDS),
    Case(NECESSITY, "hardly needed in one", lambda t: longest(t, 1.02, account="last iterate"), NARROWER),
    Case(NECESSITY, "not needed at one size in Algorithm 1's own",
         lambda t: longest(t, 1.01, account=ALGORITHM, start=FROM_R, N=100.0), FAILS),
    Case(C_NOISE, "the same but at one size",
         lambda t: {
             "section-62": change(cost(t)["section-62"], "noise_printed", lambda r: 9.0, t["section-62"].index == 1)},
         CORRECTED),
    Case(C_NOISE, "the same but for a factor", lambda t: cost(t, ahead=True), CORRECTED),
    *(
        Case(ANY_T, f"it grows like N^{power}",
             lambda t, p=power: {"stopped": change(t["stopped"], "excess_risk", lambda r: r["bound_45"] * r["N"] ** p)},
             verdict)
        for power, verdict in ((0.09, HOLDS), (0.11, FAILS))
    ),
    *(
        Case(ANY_T, f"it grows along {axis} like the power {power}",
             lambda t, a=axis, c=column, p=power: along(t, a, c, p, c == "epsilon"), verdict)
        for axis, column in (("T", "T"), ("ε", "epsilon"), ("T, ε = T", "T"))
        for power, verdict in ((0.09, HOLDS), (0.11, FAILS))
    ),
    Case(ANY_T, "it grows like N at one budget",
         lambda t: {
             "stopped": change(
                 stopped(t, lambda r: r["bound_45"] * r["N"], t["stopped"]["epsilon"] == 8.0)["stopped"],
                 "bound_45", lambda r: 1e40 * r["bound_45"], t["stopped"]["epsilon"] == 0.01)},
         FAILS),
    Case(ANY_T, "it grows along two sizes",
         lambda t: along(t | along(t, "T", "T", 0.3), "T, ε = T", "T", 0.7), FAILS),
    Case(ANY_T, "it is a large constant",
         put("stopped", "excess_risk", lambda r: 1e6 * r["bound_45"]), HOLDS),
    *(
        Case(ANY_T, f"the rest lags like N^{power}",
             lambda t, p=power: {"stopped": change(t["stopped"], "rest", lambda r: r["least_45"] * r["N"] ** p)},
             verdict)
        for power, verdict in ((0.09, HOLDS), (0.11, CORRECTED))
    ),
    Case(STOPPED, "half of it", lambda t: stopped(t, lambda r: r["excess_risk"]), HOLDS),
    Case(STOPPED, "twice it", lambda t: stopped(t, lambda r: 2 * r["bound_46"]), HOLDS),
    Case(STOPPED, "twice it where noise counts", lambda t: stopped(t, lambda r: 2 * r["bound_46"], outside(t)),
         NARROWER, says="at small budgets.* 2"),
    Case(STOPPED, "just below it where noise counts", lambda t: stopped(t, lambda r: 0.99 * r["bound_46"], outside(t)),
         HOLDS),
    Case(STOPPED, "just above it where noise counts", lambda t: stopped(t, lambda r: 1.01 * r["bound_46"], outside(t)),
         NARROWER),
    Case(STOPPED, "above it elsewhere alone",
         lambda t: stopped(t, lambda r: 9 * r["bound_46"], (t["stopped"]["N"] == 100) & ~outside(t)), HOLDS),
    Case(STOPPED, "above it at the larger of small budgets",
         lambda t: stopped(t, lambda r: 9 * r["bound_46"], having(t["stopped"], N=100.0, epsilon=0.8)),
         NARROWER, says="at some budgets.* 9"),
    *(
        Case(STOPPED, f"it grows like N^{power} at one budget",
             lambda t, p=power: stopped(t, lambda r: r["bound_46"] * r["N"] ** p, t["stopped"]["epsilon"] == 8.0),
             verdict)
        for power, verdict in ((0.09, HOLDS), (0.11, FAILS))
    ),
    Case(PARTS, "small at the theorem's rate too", lambda t: parts(t, 0.05, start=FROM_ZERO, rate_share=1.0), HOLDS),
    Case(PARTS, "small at the theorem's rate but for one N",
         lambda t: parts(t | parts(t, 0.05, start=FROM_ZERO, rate_share=1.0), 0.11, start=FROM_ZERO, rate_share=1.0,
                         N=1e8), NARROWER),
    Case(PARTS, "descent removes nothing", put("parts-at-stop", "descent", 1e-8), FAILS),
    Case(PARTS, "a tenth from zero", lambda t: parts(t, 0.1, start=FROM_ZERO), HOLDS, says="other than in the book"),
    Case(PARTS, "above a tenth from zero", lambda t: parts(t, 0.11, start=FROM_ZERO), NARROWER),
    Case(PARTS, "above a tenth from zero at one N", lambda t: parts(t, 0.3, start=FROM_ZERO, N=1e16), NARROWER),
    Case(PARTS, "above a tenth from a far start", lambda t: parts(t, 0.11, start=FROM_R), FAILS),
    Case(PARTS, "above a tenth from a far start at one N", lambda t: parts(t, 4.0, start=FROM_R, N=100.0), FAILS),
    Case(PARTS, "as large everywhere", lambda t: parts(t, 9.0), FAILS),
]  # fmt: skip

test_found, test_cases, test_complete = trials(CHAPTER, CASES)


# just at the thresholds


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
