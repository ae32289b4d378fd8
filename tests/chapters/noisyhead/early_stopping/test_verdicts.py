"""What is tried on the judges of the chapter on early stopping."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from chapters.noisyhead.early_stopping.measure import FROM_R, FROM_ZERO
from companion.judging.findings import Verdict
from costofprivacy.noisyhead.accounts import ALGORITHM
from tests.chapters.machinery import Case, Tables, both, change, committed, having, judge, put, trials

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
    own = {"start": "zero", "account": ALGORITHM}
    return both(put("accounts", "excess_risk", risk, **own), put("accounts", "standard_error", error, **own))(t)


def fallen(t: Tables, errors: float) -> dict:
    """A risk from Γ⁰ = 0 that falls by some errors once, and stays."""
    return from_zero(t, lambda r: 1.0 - 2**0.5 * 1e-3 * errors * (r["T"] > 1), 1e-3)


def descent(t: Tables, column: str, to: To, **where: Any) -> dict:
    return put("descent", column, to, setting="published", start="random", **where)(t)


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
    sign = -1 if inverse else 1
    to = lambda r: r["bound_45"] * r[column].astype(float) ** (sign * power)  # noqa: E731
    return put("any-steps", "excess_risk", to, axis=axis)(t)


def stopped(t: Tables, to: To, where: Any = slice(None)) -> dict:
    """Another cost at r = N, half of (4.6) elsewhere."""
    half = change(t["stopped"], "excess_risk", lambda r: r["bound_46"] / 2)
    return {"stopped": change(half, "excess_risk", to, where)}


def outside(t: Tables) -> Any:
    return t["stopped"]["bound_45"] > 2 * t["stopped"]["bound_46"]


def longest(t: Tables, ratio: float, **where: Any) -> dict:
    """What the longest training costs, over the best, in some accounts and from some starts."""
    return put("stopping", "risk_at_longest_over_best", ratio, **where)(t)


def loud(t: Tables) -> dict:
    """A second term of (4.5) that exceeds descent at one size."""
    section = cost(t, 0.2)["section-62"]
    return {"section-62": change(section, "noise_45", lambda r: 2 * r["descent"], section["N"] == 1e4)}


def parts(t: Tables, ratio: float, **where: Any) -> dict:
    return put("parts-at-stop", "noise_over_descent", ratio, **where)(t)


CASES = [
    Case(FIGURE_3, "it turns from both starts, all match", lambda t: from_zero(t, turning) | matched(t), HOLDS),
    Case(FIGURE_3, "it turns from both starts", lambda t: from_zero(t, turning), CORRECTED),
    Case(FIGURE_3, "all match, from zero there is no fall", matched, NARROWER, says=r"after 1 step\."),
    Case(FIGURE_3, "from zero it falls by 3.9 errors", lambda t: fallen(t, 3.9) | matched(t), NARROWER,
         says="after 21 steps"),
    Case(FIGURE_3, "from zero it falls by 4.1 errors", lambda t: fallen(t, 4.1) | matched(t), HOLDS),
    Case(FIGURE_3, "no published numbers belong here", lambda t: {"comparison": t["comparison"].head(0)}, NARROWER),
    Case(FIGURE_3, "the published settings miss one",
         lambda t: matched(t, 4.1, setting="published", T=41, method="noisyhead"),
         FAILS),
    Case(FIGURE_3, "the published settings almost miss one",
         lambda t: matched(t, 3.9, setting="published", T=41, method="noisyhead"), NARROWER),
    Case(FIGURE_3, "it only rises", lambda t: curve(t, lambda r: 1e-3 * r["T"]), FAILS),
    Case(FIGURE_3, "it only falls", lambda t: curve(t, lambda r: 1e-3 / r["T"]), FAILS),
    Case(FIGURE_3, "it only rises late", lambda t: curve(t, lambda r: 1e-3 * r["T"], first=161), UNTESTABLE),
    Case(FIGURE_3, "it rises on the way down", lambda t: curve(t, lambda r: turning(r) + 1e-4 * (r["T"] == 41)), FAILS),
    Case(FIGURE_3, "noise hides the turn", lambda t: curve(t, turning, 1e4), UNTESTABLE),
    Case(FIGURE_3, "it hardly falls", lambda t: stepped(t, 3.9, 9.0), UNTESTABLE),
    Case(FIGURE_3, "it falls and rises just enough", lambda t: stepped(t, 4.1, 4.1), NARROWER),
    Case(MONOTONE, "it rises with T", lambda t: descent(t, "excess_risk", lambda r: 1e-3 * r["T"]), FAILS),
    Case(MONOTONE, "it rises beyond the figure", lambda t: descent(t, "excess_risk", lambda r: 1.0, T=3000), HOLDS),
    Case(MONOTONE, "it rises at one step", lambda t: descent(t, "excess_risk", lambda r: 1.0, T=441), FAILS),
    Case(MONOTONE, "one data set in 500 rises", lambda t: descent(t, "risen", lambda r: 0.002, T=481), NARROWER),
    Case(MONOTONE, "a step may be a rise", lambda t: nudged(t, 3.9), UNTESTABLE),
    Case(MONOTONE, "a step is a rise", lambda t: nudged(t, 4.1), FAILS),
    Case(STOPPING, "a cube, and log N from zero too", lambda t: noise(t, 3.0) | best(t, FROM_ZERO, lambda x: 3 * x),
         HOLDS),
    Case(STOPPING, "log N from zero too", lambda t: best(t, FROM_ZERO, lambda x: 3 * x), CORRECTED),
    *(
        Case(STOPPING, f"T^{power}, and log N from zero too",
             lambda t, p=power: noise(t, p) | best(t, FROM_ZERO, lambda x: 3 * x), verdict)
        for power, verdict in ((2.65, CORRECTED), (2.75, HOLDS), (3.25, HOLDS), (3.35, FAILS))
    ),
    Case(STOPPING, "a cube", lambda t: noise(t, 3.0), NARROWER, says="other than in the book"),
    Case(STOPPING, "a power of N from R", lambda t: best(t, FROM_R, lambda x: x * np.exp(x / 10)), FAILS),
    Case(STOPPING, "affine from R", lambda t: best(t, FROM_R, lambda x: 1.6 * x - 20), NARROWER),
    Case(STOPPING, "affine and late from R", lambda t: best(t, FROM_R, lambda x: 1.6 * x - 50), UNTESTABLE),
    Case(STOPPING, "five or six steps from zero", lambda t: best(t, FROM_ZERO, lambda x: 5 + (x > 20)), NARROWER,
         says="at most 6"),
    Case(STOPPING, "a square from R", lambda t: best(t, FROM_R, lambda x: x**2), FAILS),
    Case(C_NOISE, "the same", cost, HOLDS),
    Case(C_NOISE, "the same but for three logarithms", lambda t: cost(t, 0.17), HOLDS),
    Case(C_NOISE, "the same but for a small power", lambda t: cost(t, 0.2), CORRECTED,
         says=r"N\^\{-3.27\}.*N\^\{-3.50\}"),
    Case(C_NOISE, "the term that it quotes exceeds descent, too", loud, FAILS),
    Case(TRANSITION, "it turns from zero, too", lambda t: expected(t, turning, "zero"), HOLDS),
    Case(TRANSITION, "it only rises", lambda t: expected(t, lambda r: 1e-3 * r["T"], "random"), FAILS),
    Case(TRANSITION, "it only falls", lambda t: expected(t, lambda r: 1e-3 / r["T"], "random"), FAILS),
    Case(TRANSITION, "another depth", lambda t: expected(t, turning, "random"), NARROWER, says="0.016 %"),
    Case(NECESSITY, "needed in every account", lambda t: longest(t, 1.03), HOLDS),
    Case(NECESSITY, "hardly needed in one", lambda t: longest(t, 1.02, account="last iterate"), NARROWER),
    Case(C_NOISE, "the same but at one size",
         lambda t: {
             "section-62": change(cost(t)["section-62"], "noise_printed", lambda r: 9.0, t["section-62"].index == 1)},
         CORRECTED),
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
    Case(PARTS, "descent removes nothing", put("parts-at-stop", "descent", 1e-8), FAILS),
    Case(PARTS, "a tenth from zero", lambda t: parts(t, 0.1, start=FROM_ZERO), HOLDS, says="other than in the book"),
    Case(PARTS, "above a tenth from zero", lambda t: parts(t, 0.11, start=FROM_ZERO), NARROWER),
    Case(PARTS, "above a tenth from a far start", lambda t: parts(t, 0.11, start=FROM_R), FAILS),
    Case(PARTS, "above a tenth from a far start at one N", lambda t: parts(t, 4.0, start=FROM_R, N=100.0), FAILS),
]  # fmt: skip

test_found, test_cases, test_complete = trials(CHAPTER, CASES)


@pytest.mark.parametrize("claim", [ANY_T, STOPPED])
def test_a_bound_is_vacuous_where_always_predicting_0_meets_it(claim: str) -> None:
    t = committed(CHAPTER)
    assert judge(CHAPTER, claim, t).vacuous
    tight = {name: t["stopped"][name] * 1e-10 for name in ("excess_risk", "bound_45", "bound_46", "rest", "least_45")}
    assert not judge(CHAPTER, claim, t | {"stopped": t["stopped"].assign(**tight)}).vacuous
