"""What is tried on the judges of the chapter on Algorithm 1."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from companion.judging.findings import Verdict
from tests.chapters.dpgd.precision_cases import ABSTRACT_CASES
from tests.chapters.machinery import Case, Change, both, put, trials

HOLDS, CORRECTED, NARROWER, FAILS, UNTESTABLE = Verdict
CHAPTER = "dpgd/algorithm"
IDENTITY, RELEASE, RHO, LEAST, PERFORMANCE = (
    f"dpgd/{name}"
    for name in ("equation-1.1", "proposition-4.1", "equation-4.1", "equation-4.2", "section-4-performance")
)
EARLIER, VOID, OPTIMAL, LOWER = (f"dpgd/equation-1.{k}" for k in (2, 3, 4, 5))
CONVERSION, SIMPLE, STEP = "dpgd/proposition-a.3", "dpgd/equation-a.3", "dpgd/equation-a.9"
DEFINED = [f"dpgd/{name}" for name in ("definition-3.1", "algorithm-1", "definition-a.1", "definition-a.2")]
UNDECIDABLE = dict.fromkeys(DEFINED, "a definition claims nothing")
SPECTRA = ("Σ = I", "two levels")
BOUND = {EARLIER: "(1.2)", LOWER: "(1.5)"}


def ratio(claim: str, axis: str, to: Callable[[pd.DataFrame], Any]) -> Change:
    return put("lower-bounds", "risk", lambda r: to(r) * r["bound"], f"claim == '{BOUND[claim]}' and axis == '{axis}'")


def lower_bound_cases(claim: str) -> list[Case]:
    bounded = put("lower-bounds", "second", 0.9, "axis == 'rho'")
    cases = [
        Case(claim, "nothing falls below it", ratio(claim, "rho", lambda r: 0.06), HOLDS),
        Case(claim, "a power where its term is unbounded", ratio(claim, "rho", lambda r: r["rho"] ** 0.11), HOLDS),
        Case(claim, "a slow fall is none", both(bounded, ratio(claim, "rho", lambda r: r["rho"] ** 0.09)), HOLDS),
        Case(claim, "a power", both(bounded, ratio(claim, "rho", lambda r: r["rho"] ** 0.11)), FAILS),
        Case(claim, "it falls along ρ though its term is bounded", bounded, FAILS),
        Case(claim, "no term is bounded", put("lower-bounds", "second", lambda r: 1.1 / r["n"].clip(upper=1)),
             FAILS if claim == EARLIER else UNTESTABLE),
        Case(
            claim,
            "the steeper of two falls",
            both(ratio(claim, "gamma", lambda r: r["gamma"] ** 0.3), ratio(claim, "both", lambda r: r["gamma"] ** 0.5)),
            FAILS,
        ),
    ]  # fmt: skip
    for axis, fall in (("gamma", lambda r: r["gamma"] ** 0.5), ("both", lambda r: r["gamma"] ** 0.5),
                       ("n", lambda r: r["n"] ** -0.5)):  # fmt: skip
        cases += [
            Case(claim, f"it falls along {axis} too", ratio(claim, axis, fall), FAILS),
            Case(claim, f"it rises along {axis}", ratio(claim, axis, lambda r, f=fall: 1 / f(r)), HOLDS),
        ]
    return cases


def promised(to: Callable[[pd.DataFrame], Any]) -> Change:
    """(1.3) less γ, along n."""
    return put("rates", "rate_1.3", lambda r: r["gamma"] + to(r), "axis == 'n'")


def placed(share: float, where: str) -> Change:
    """The predicted risk of some placements of the noise, as a multiple of that with (4.2)."""

    def changed(t: Any) -> Any:
        own = t["placement-by-covariance"].query("placement == 'as (4.2)'").set_index("covariance")["predicted"]
        to = lambda r: share * r["covariance"].map(own)  # noqa: E731
        return put("placement-by-covariance", "predicted", to, where)(t)

    return changed


def conversion(column: str, to: Callable[[pd.DataFrame], Any], where: str = "rho == 1 and delta == 1e-5") -> Change:
    return put("conversions", column, to, where)


def share(to: Callable[[pd.DataFrame], Any], where: str) -> Change:
    """The risk of Algorithm 1 with constant c as a multiple of its limit, and the largest run, 1.5 times as large."""
    where = f"algorithm == 'c constant' and {where}"
    return both(
        put("rates", "excess_risk", lambda r: to(r) * r["limit"], where),
        put("rates", "largest", lambda r: 1.5 * r["excess_risk"], where),
    )


def run(multiple: float) -> Change:
    """The largest run at one place, as a multiple of the mean."""
    where = "algorithm == 'c constant' and gamma == 0.01 and rho == 0.1"
    return put("rates", "largest", lambda r: multiple * r["excess_risk"], where)


def errors(count: float) -> Callable[[pd.DataFrame], Any]:
    return lambda r: 1 + count * r["standard_error"] / r["limit"]


def along_n(power: float, error: float) -> Change:
    """A risk like a power of n, its relative error, and a half of the limit along γ."""
    rows = "algorithm == 'c constant'"
    return both(
        share(lambda r: 0.3 * (r["n"] / 1000) ** power, "axis == 'n'"),
        share(lambda r: 0.5, "axis == 'gamma'"),
        put("rates", "standard_error", lambda r: error * r["excess_risk"], rows),
    )


RATE_CASES = [
    Case(OPTIMAL, "all below", share(lambda r: 0.5, "n > 0"), HOLDS),
    Case(OPTIMAL, "like the logarithm of γ", share(lambda r: -np.log(r["gamma"]), "axis == 'gamma'"), FAILS),
    Case(OPTIMAL, "like 1/ρ", share(lambda r: 0.5 / r["rho"], "axis == 'gamma'"), FAILS),
    *(
        Case(OPTIMAL, f"{name} far above at {place}", share(errors(5), f"spectrum == '{name}' and {place}"), FAILS)
        for name in SPECTRA
        for place in ("axis == 'n' and n == 1000", "axis == 'n' and n == 100000", "gamma == 0.3 and rho == 0.1",
                      "gamma == 0.001 and rho == 1", "gamma == 0.001 and rho == 0.1")
    ),
    Case(OPTIMAL, "a little above", share(errors(3.9), "gamma == 0.001 and rho == 1"), HOLDS),
    *(
        Case(OPTIMAL, f"like log n, {name}", share(lambda r: 0.5 * np.log(r["n"]) / np.log(1000),
             f"axis == 'n' and spectrum == '{name}'"), FAILS)
        for name in SPECTRA
    ),
    Case(OPTIMAL, "a run far above the mean", run(4.1), FAILS),
    Case(OPTIMAL, "a run above the mean", run(3.9), HOLDS),
    Case(OPTIMAL, "a power of n that is none", along_n(0.02, 1e-4), HOLDS),
    Case(OPTIMAL, "a power of n that is one", along_n(0.04, 1e-4), FAILS),
    Case(OPTIMAL, "a power of n within its errors", along_n(0.08, 0.05), HOLDS),
    Case(OPTIMAL, "a falling power of n", along_n(-0.5, 1e-4), HOLDS),
    Case(OPTIMAL, "other powers of n for the two", both(along_n(0.04, 1e-4),
         share(lambda r: 0.3 * (r["n"] / 1000) ** 0.09,
         "axis == 'n' and spectrum == 'two levels'")), FAILS),
    Case(OPTIMAL, "more standard errors count for more", both(share(lambda r: 0.5, "n > 0"), share(lambda r: 1.02,
         "gamma == 0.3 and rho == 0.1"), share(lambda r: 1.5, "gamma == 0.3 and rho == 1"),
         put("rates", "standard_error",
         lambda r: np.where(r["rho"] == 1, 0.1, 1e-3) * r["limit"])), FAILS),
    Case(OPTIMAL, "two of each", lambda t: {"rates": t["rates"].query("gamma in (0.03, 0.1) or n in (1000, 3000)")},
         HOLDS),
    Case(OPTIMAL, "no limit in one place", put("rates", "limit", np.inf, "gamma == 0.3 and rho == 0.1"),
         UNTESTABLE),
    Case(OPTIMAL, "clipping that is rarely active", both(put("rates", "excess_risk", 9.0,
         "algorithm != 'c constant'"), share(lambda r: 0.7, "n > 0")), HOLDS),
    Case(OPTIMAL, "one γ", lambda t: {"rates": t["rates"].query("axis == 'n' or gamma == 0.1")}, UNTESTABLE),
    Case(OPTIMAL, "one n", lambda t: {"rates": t["rates"].query("axis == 'gamma' or n == 1000")}, UNTESTABLE),
    Case(OPTIMAL, "no limit", put("rates", "limit", np.inf), UNTESTABLE),
]  # fmt: skip

CASES = [
    *lower_bound_cases(EARLIER),
    *lower_bound_cases(LOWER),
    Case(EARLIER, "its second term stays", put("lower-bounds", "second", 1e-3, "axis == 'n'"), FAILS),
    Case(EARLIER, "its second term falls and rises", put("lower-bounds", "second", 1.0, "n == 1e8"), FAILS),
    *RATE_CASES,
    Case(VOID, "like one logarithm", promised(lambda r: np.log(r["n"])), HOLDS),
    Case(VOID, "no logarithm", promised(lambda r: 0.01), FAILS),
    Case(VOID, "it falls", promised(lambda r: 1 / np.log(r["n"])), FAILS),
    Case(VOID, "(1.4) grows as well", put("rates", "rate_1.4", lambda r: np.log(r["n"]), "axis == 'n'"), FAILS),
    Case(VOID, "one n", lambda t: {"rates": t["rates"].query("axis == 'gamma' or n == 1000")}, UNTESTABLE),
    Case(PERFORMANCE, "nothing is better", placed(1.0, "placement != 'as (4.2)'"), HOLDS),
    Case(PERFORMANCE, "a little better", placed(0.99, "covariance != 'Σ = I' and placement != 'as (4.2)'"), HOLDS),
    Case(PERFORMANCE, "even noise is better", placed(0.5, "covariance != 'Σ = I' and placement == 'even'"), NARROWER,
         says="by 50 %"),
    Case(PERFORMANCE, "better for Σ = I", placed(0.9, "covariance == 'Σ = I' and placement == 'even'"), FAILS),
    Case(PERFORMANCE, "better for Σ = I, simulated", put("placement", "above", lambda r: -5 * r["above_error"],
         "placement == 'even'"), FAILS),
    Case(IDENTITY, "equal", put("identity", "ratio", 1.0), HOLDS, says="within 0 standard errors"),
    *(
        Case(IDENTITY, f"{law} off, {s}", put("identity", "ratio", lambda r, s=s: 1 + s * r["standard_error"],
             f"law == '{law}'"), verdict, says=says)
        for law in ("Gaussian", "Student-t (5)")
        for s, verdict, says in ((4.1, FAILS, ""), (-4.1, FAILS, ""), (3.9, HOLDS, "3.9 standard"))
    ),
    Case(RELEASE, "less is spent", put("outputs", "renyi_share", lambda r: r["renyi_share"] / 2), HOLDS),
    Case(RELEASE, "the grid's error", put("outputs", "delta_share", 1.0009, "k == 3"), HOLDS),
    *(
        Case(RELEASE, f"{column} at {place}", put("outputs", column, 1.01, place), FAILS)
        for column in ("renyi_share", "delta_share")
        for place in ("k == 1", "k == 3", "k == 6", "others == 'pulling'", "schedule == 'harmonic'")
    ),
    *(
        Case(RELEASE, f"{column} moves further, bound {b}",
             put("sensitivity", column, lambda r: 1.1 * r["bound"], f"bound == {b}"), FAILS)
        for column in ("largest_found", "constructed")
        for b in (1, 2)
    ),
    *(
        Case(RHO, f"{name} off, {f}",
             put("tightness", "rho_recomputed", lambda r, f=f: f * r["rho"], f"schedule == '{name}'"), FAILS)
        for name in ("constant", "α = 1")
        for f in (1.1, 0.9)
    ),
    Case(RHO, "even noise protects less", put("tightness", "reached_found", 1.1, "placement == 'even'"), FAILS),
    Case(RHO, "no neighbours differ", both(put("tightness", "reached_silent", 0.0),
         put("tightness", "reached_found", 0.0)), FAILS),
    Case(RHO, "every placement attains it", put("tightness", "reached_found", 1.0), HOLDS),
    Case(RHO, "no step of length 0", put("schedules", "last_rate", 0.1), HOLDS),
    *(
        Case(LEAST, f"{column} less", put("schedules", column, 0.9, "schedule == 'α = 1'"), FAILS)
        for column in ("least_total", "least_tail")
    ),
    Case(LEAST, "unequal", put("schedules", "spent_least", 0.8, "schedule == 'α = 5'"), FAILS),
    Case(LEAST, "too much", put("schedules", "spent_most", 1.2), FAILS),
    Case(LEAST, "others are larger", both(put("schedules", "least_total", 1.5),
         put("schedules", "least_tail", 1.5)), HOLDS),
    *(
        Case(CONVERSION, f"{low} above {high} at {place}", conversion(high, lambda r, c=low: 0.9 * r[c], place), FAILS)
        for low, high in (("exact", "renyi"), ("renyi", "proposition_a3"))
        for place in ("rho == 0.1 and delta == 1e-10", "rho == 5 and delta == 0.01", "rho == 0.1 and delta == 0.01")
    ),
    Case(CONVERSION, "equal", conversion("proposition_a3", lambda r: r["exact"], "rho > 0"), FAILS),
    Case(CONVERSION, "exactly what is spent", both(conversion("renyi", lambda r: r["exact"], "rho > 0"),
         conversion("proposition_a3", lambda r: r["exact"], "rho > 0")), HOLDS, says="at least 1[.]"),
    Case(SIMPLE, "exceeded inside", conversion("equation_a3", lambda r: r["proposition_a3"] / 1.1), FAILS),
    Case(SIMPLE, "equal", conversion("equation_a3", lambda r: r["proposition_a3"]), HOLDS, says="at most 1 of it"),
    Case(SIMPLE, "exceeded outside", conversion("equation_a3", lambda r: 0.1, "condition == False"), HOLDS,
         says="0.957"),
    Case(SIMPLE, "far below", conversion("equation_a3", lambda r: 9 * r["proposition_a3"], "rho > 0"), HOLDS,
         says="0.957"),
    Case(SIMPLE, "none inside", conversion("condition", lambda r: False, "rho > 0"), UNTESTABLE),
    *(
        Case(STEP, f"check {row} exceeded", put("steps", "worst", lambda r: 1.2 * r["bound"], f"index == {row}"), FAILS)
        for row in range(5)
    ),
    Case(STEP, "the worst of several", put("steps", "worst", lambda r: (1.5 + r.index) * r["bound"]), FAILS),
    Case(STEP, "differences", put("steps", "worst", lambda r: (1 + 9e-7) * r["bound"]), HOLDS),
    *(
        Case(STEP, f"it stretches at {product}", put("expansion", "shortened", 1.5, f"product == {product}"),
             FAILS)
        for product in (0.25, 3)
    ),
    Case(STEP, "nothing stretches even so", put("expansion", "bare", 1.0), HOLDS),
]  # fmt: skip

test_found, test_cases, test_complete = trials(CHAPTER, [*CASES, *ABSTRACT_CASES], UNDECIDABLE)
