"""What is tried on the judges of the chapter on robustness."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from chapters.noisyhead.robustness import measure
from chapters.noisyhead.robustness.measure import RESPONSES, SMALL
from companion.judging.findings import Verdict
from tests.chapters.machinery import Case, Tables, both, having, only, put, trials

HOLDS, CORRECTED, NARROWER, FAILS, UNTESTABLE = Verdict
CHAPTER = "noisyhead/robustness"
FIGURE_4, NOISYHEAD = "noisyhead/figure-4", "noisyhead/theorem-5.1-noisyhead"
CAPTION, VALIDATION = "noisyhead/figure-4-caption", "noisyhead/section-6.3-validation"
SIMULATIONS = "noisyhead/abstract-simulations"
FRACTION, DEGRADATION = "noisyhead/section-1.1-fraction", "noisyhead/section-1.1-degradation"
TRUNCATION, ROBUST = "noisyhead/section-1.1-truncation", "noisyhead/abstract-robust"
GAP, RIDGE = "noisyhead/theorem-5.1-gap", "noisyhead/theorem-5.1-ridge"
WINDOW, DIVERGENCE = "noisyhead/remark-5.1-window", "noisyhead/remark-5.1-divergence"
A20, A21, A22, A23, A24 = (f"noisyhead/equation-a.{number}" for number in range(20, 25))
LEFT, SHIFTED = RESPONSES
Rows = Callable[[pd.DataFrame], Any]
Make = Callable[[Tables], dict[str, pd.DataFrame]]


def of(**values: object) -> Rows:
    """The rows with these values."""
    return lambda rows: having(rows, **values)


EVERYWHERE = of()


def measured(name: str, column: str, to: Any, share: float, where: Rows, error: str = "standard_error") -> Make:
    """A measured column with another value in some rows, its standard error a share of that."""
    return both(put(name, column, to, where), put(name, error, lambda r: share * r[column], where))


# Figure 4
def growing(power: float, scale: float = 1.0, **values: object) -> Make:
    """Ridge's displacement like a power of p, from its own beginning, where the rows have these values."""
    grown = lambda r: scale * r["displacement"] * (r["p"] / 2) ** power  # noqa: E731
    return put("figure-4", "displacement", grown, method="ridge", **values)


FIGURE_CASES = [
    Case(FIGURE_4, "ridge grows, far above both", growing(1.0, 1e9), HOLDS),
    Case(FIGURE_4, "ridge grows, below the printed NoisyHead", growing(1.0), CORRECTED),
    Case(FIGURE_4, "growth of 0.5 % does not", growing(0.1), FAILS, says=r"does not grow.* 7\d{3} times"),
    Case(FIGURE_4, "it grows for one c alone", growing(1.0, 1e9, c=2.0), FAILS, says="does not grow"),
    Case(FIGURE_4, "NoisyHead is above ridge", growing(1.0, 0.05), FAILS, silent="rounding"),
    Case(FIGURE_4, "NoisyHead's errors hide the order",
         both(growing(1.0, 1e9), put("figure-4", "standard_error", 1e8, method="noisyhead")), FAILS),
    Case(FIGURE_4, "the published numbers do not come out",
         both(growing(1.0, 1e9), put("comparison", "deviation", -9.0, method="noisyhead")), FAILS),
    Case(FIGURE_4, "ridge's own published numbers are no condition",
         both(growing(1.0, 1e9), put("comparison", "deviation", 9.0, method="ridge-normal-equations")), HOLDS),
    Case(FIGURE_4, "the normal equations are right",
         put("digits", "median_error", 1e-3, evaluation="one product, elimination", alpha=5e7), FAILS,
         silent="rounding"),
    Case(FIGURE_4, "the rank-one update is wrong", put("digits", "median_error", 1.2e-9, evaluation="rank-one update"),
         FAILS, silent="rounding"),
    Case(FIGURE_4, "the normal equations do not grow",
         put("figure-4", "displacement", 0.03, method="ridge-normal-equations"), FAILS, silent="rounding"),
    Case(FIGURE_4, "a single p", only("figure-4", "p == 2.0"), UNTESTABLE),
    Case(FIGURE_4, "two trials", put("figure-4", "trials", 2, c=2.0), UNTESTABLE),
]  # fmt: skip


# What the caption and section 6.3 conclude from it
def errors(method: str, error: float, standard_error: float = 1e-3) -> Make:
    """The test error of a method after the attack, in all settings."""
    where = of(method=method, prompts="attacked")
    return both(
        put("test-error", "test_error", error, where),
        put("test-error", "standard_error", standard_error, where),
    )


def inside(**columns: float) -> Make:
    """Conditions of the theorem that hold, but for some columns; the claimed displacements as measured."""
    good = {
        "penalty_over_least": 2.0,
        "over_upper_end": 0.5,
        "over_lower_end": 2.0,
        "probability": 0.5,
        "claimed_for_noisyhead": 0.005,
        "claimed_for_ridge": 0.02,
    }
    return both(*(put("conditions", name, value) for name, value in (good | columns).items()))


OUTSIDE = [
    ("a penalty that is too small", "penalty_over_least", 0.9),
    ("an attack that is too large", "over_upper_end", 11.0),
    ("an attack that is too small", "over_lower_end", 1 / 11),
    ("no probability", "probability", 0.0),
]
CONCLUSION_CASES = [
    Case(CAPTION, "NoisyHead has the lower error", errors("noisyhead", 0.3), HOLDS),
    Case(CAPTION, "in the printed setting alone",
         both(errors("noisyhead", 0.3),
              put("test-error", "test_error", 0.9, method="noisyhead", setting="published", prompts="attacked")),
         FAILS, says="at least 0.3 of"),
    Case(CAPTION, "lower within the errors", errors("noisyhead", 0.41, 0.1), UNTESTABLE),
    Case(VALIDATION, "inside the theorem, and as it says", inside(), HOLDS),
    *(Case(claim, "a hidden constant of nine", inside(over_upper_end=9.0, over_lower_end=1 / 9), HOLDS)
      for claim in (VALIDATION, SIMULATIONS)),
    *(Case(claim, name, inside(**{column: value}), FAILS) for claim in (VALIDATION, SIMULATIONS)
      for name, column, value in OUTSIDE),
    Case(VALIDATION, "NoisyHead moves further", inside(claimed_for_noisyhead=0.0004), FAILS),
    Case(VALIDATION, "ridge moves less far", inside(claimed_for_ridge=0.5), FAILS, says=r"at least 1\d"),
    Case(VALIDATION, "the bounds are in the other order", inside(claimed_for_noisyhead=0.021), FAILS),
    Case(SIMULATIONS, "inside the theorem", inside(), HOLDS),
    Case(SIMULATIONS, "inside, whatever it shows", inside(claimed_for_ridge=0.5), HOLDS),
    Case(SIMULATIONS, "far outside", inside(over_upper_end=11.0), FAILS, says="outside its conditions"),
]  # fmt: skip


# What the introduction says
def risen(method: str, rise: float, error: float = 1e-4, **values: object) -> Make:
    """By how much the test error rises, where some prompts are attacked."""
    where = of(method=method, **values)
    return both(put("fractions", "rise", rise, where), put("fractions", "rise_error", error, where))


def degraded(method: str, rise: float, **values: object) -> Make:
    """The test error after the attack of one prompt, over that before."""

    def make(t: Tables) -> dict[str, pd.DataFrame]:
        table = t["test-error"].copy()
        before = table[table["prompts"] == "clean"].set_index(["setting", "method"])["test_error"]
        rows = of(method=method, prompts="attacked", **values)(table)
        keys = pd.MultiIndex.from_frame(table.loc[rows, ["setting", "method"]])
        table.loc[rows, "test_error"] = before.reindex(keys).to_numpy() + rise
        return {"test-error": table}

    return make


INTRODUCTION_CASES = [
    Case(FRACTION, "less at every fraction", risen("noisyhead", 0.01), HOLDS),
    Case(FRACTION, "more at three tenths of them",
         both(risen("noisyhead", 0.01), risen("noisyhead", 0.9, fraction=0.3, alpha=1.0)), NARROWER,
         says="can reverse"),
    Case(FRACTION, "more at a tenth of them", risen("noisyhead", 0.9, fraction=0.1, alpha=1.0), FAILS),
    Case(FRACTION, "the errors hide everything", risen("noisyhead", 0.5, 100.0), UNTESTABLE),
    Case(DEGRADATION, "ridge rises as little", degraded("ridge", 0.0), UNTESTABLE),
    Case(DEGRADATION, "NoisyHead rises more", degraded("noisyhead", 0.3), FAILS),
    Case(DEGRADATION, "ridge rises more still", degraded("ridge", 0.5), HOLDS, says="by 0.5 of"),
    Case(DEGRADATION, "always predicting 0",
         put("test-error", "test_error", lambda r: r["response_variance"], method="noisyhead"), UNTESTABLE),
    Case(TRUNCATION, "beyond its bound in one setting",
         put("parts", "displacement", lambda r: 1.01 * r["bound"], part="attack", setting="published"), FAILS),
    Case(TRUNCATION, "a fifth of what ridge moves", put("figure-4", "displacement", 2e-5, method="ridge"), FAILS),
]  # fmt: skip


# Theorem 5.1
def heads(T: int, power: float, size: str = "L", error: float = 1e-3) -> Make:
    """Two runs of T steps apart like a power of a size times the bound."""
    apart = lambda r: 0.1 * r["bound_theorem"] * r[size] ** power  # noqa: E731
    return measured("heads", "displacement", apart, error, of(T=T, noise="independent"))


def sizes(claim: str, ratio: Rows, where: Rows = EVERYWHERE) -> Make:
    """The two sides of a claim in closed form."""

    def chosen(rows: pd.DataFrame) -> pd.Series:
        return of(claim=claim)(rows) & rows.index.isin(rows.loc[where(rows)].index)

    return both(put("sizes", "ratio", ratio, chosen), put("sizes", "left", lambda r: r["ratio"] * r["right"], chosen))


def axis(name: str) -> Rows:
    return lambda r: r["axis"] == name


SHORT, LONG = heads(6, 0.0), heads(1000, 0.0)
CALM = sizes(measure.FEW_STEPS, 0.1)
NOISYHEAD_CASES = [
    Case(NOISYHEAD, "no side outgrows the other", both(SHORT, LONG, CALM), HOLDS),
    Case(NOISYHEAD, "a power of 0.24 is none", both(SHORT, heads(1000, 0.24), CALM), HOLDS),
    Case(NOISYHEAD, "a power of 0.26 is lost", both(SHORT, heads(1000, 0.26), CALM), NARROWER, says="0.26 of prompt"),
    Case(NOISYHEAD, "many steps lose a power of D", both(SHORT, heads(1000, 1.0, "D"), CALM), NARROWER, says="dimens"),
    Case(NOISYHEAD, "few steps lose a power of L", both(heads(6, 0.5), LONG), FAILS),
    Case(NOISYHEAD, "far out few steps lose a power of N", sizes(measure.FEW_STEPS, lambda r: r["N"], axis("N")),
         FAILS),
    Case(NOISYHEAD, "a large constant where the condition holds",
         sizes(measure.FEW_STEPS, 11.0, lambda r: r["length_over"] <= 1e-6), FAILS),
    Case(NOISYHEAD, "no run of the order of log N", put("heads", "T", 17, T=6), UNTESTABLE),
    Case(NOISYHEAD, "a single length", only("heads", "axis == 'D'"), UNTESTABLE),
]  # fmt: skip


def small(r: pd.DataFrame) -> Any:
    return r["penalty"] ** 2 <= r["penalty"] / r["penalty_over_least"] * r["L"] / 2


def large(r: pd.DataFrame) -> Any:
    return ~small(r)


def gap(inside: float, outside: float) -> Make:
    return both(put("windows", "gap", inside, small), put("windows", "gap", outside, large))


GAP_CASES = [
    Case(GAP, "open everywhere", gap(5.0, 1.0), HOLDS),
    Case(GAP, "shut at large penalties", gap(1.0, 0.9), NARROWER, says="small penalties"),
    Case(GAP, "shut at small ones", gap(0.9, 5.0), FAILS),
    Case(GAP, "shut at the least penalty", put("windows", "gap", 0.9, penalty_over_least=1.01), FAILS),
    Case(GAP, "shut along a size", sizes(measure.GAP, 1.1, axis("D")), FAILS),
    Case(GAP, "a single penalty", only("windows", "penalty_over_least == 3.0"), UNTESTABLE),
]  # fmt: skip


def moved(share: Rows, where: Rows = EVERYWHERE, error: float = 1e-3) -> Make:
    """Ridge's displacement at a share of its claimed lower bound."""
    return measured("perturbations", "displacement", lambda r: share(r) * r["claimed"], error, where)


RIDGE_CASES = [
    Case(RIDGE, "it moves twice as far", moved(lambda r: 2.0), HOLDS),
    Case(RIDGE, "it is not surely short", moved(lambda r: 0.9, error=0.03), HOLDS),
    Case(RIDGE, "it moves a tenth as far", moved(lambda r: 0.1), CORRECTED),
    Case(RIDGE, "the query's response left alone is short",
         both(moved(lambda r: 2.0), moved(lambda r: 1 / r["L"], of(response=LEFT))), CORRECTED),
    Case(RIDGE, "it falls with L alone", moved(lambda r: r["L"] ** -0.3), FAILS, says="56 of the 56"),
    Case(RIDGE, "no attack is admitted", put("perturbations", "admissible", False), UNTESTABLE),
]  # fmt: skip


# Remark 5.1
LARGE_SHIFTS = put("perturbations", "admissible", False, lambda r: r["mu"] < 1)


def like(power: float, where: Rows = EVERYWHERE) -> Make:
    return put("simplified", "ratio", lambda r: r["N"] ** power, where)


WINDOW_CASES = [
    Case(WINDOW, "bounded at every length, no small shift", both(like(0.09), LARGE_SHIFTS), HOLDS),
    Case(WINDOW, "small shifts are admitted", like(0.0), NARROWER, silent="long"),
    Case(WINDOW, "one length loses a power", both(like(0.0), like(0.11, of(power=1.25)), LARGE_SHIFTS), NARROWER,
         silent="long"),
    Case(WINDOW, "every length loses a power", like(1.0), FAILS),
    Case(WINDOW, "a single number of prompts", only("simplified", "N == 1e6"), UNTESTABLE),
]  # fmt: skip


def diverging(power: float, response: str) -> Make:
    where = of(perturbation=SMALL, response=response)
    return measured("perturbations", "displacement", lambda r: r["L"] ** power, 1e-3, where)


VANISHING = put("path", "limit_many_steps", lambda r: 1 / r["N"])
DIVERGENCE_CASES = [
    Case(DIVERGENCE, "as the remark has it", both(diverging(0.5, LEFT), VANISHING), HOLDS),
    Case(DIVERGENCE, "the query's response has to be shifted", both(diverging(0.5, SHIFTED), VANISHING), CORRECTED),
    Case(DIVERGENCE, "and the dimension has to stay", VANISHING, NARROWER),
    Case(DIVERGENCE, "only few steps vanish", diverging(0.5, LEFT), NARROWER, silent="query"),
    Case(DIVERGENCE, "ridge grows by no power", both(diverging(0.24, LEFT), diverging(0.24, SHIFTED)), FAILS),
    Case(DIVERGENCE, "the small shifts are not admitted", LARGE_SHIFTS, UNTESTABLE),
    Case(DIVERGENCE, "few steps do not vanish along L", put("heads", "displacement", 0.1, T=6), FAILS),
    Case(DIVERGENCE, "no run of the order of log N", put("heads", "T", 100, T=6), UNTESTABLE),
]  # fmt: skip


# The proof
def ball(power: float, size: str = "L", scale: float = 1.0) -> Make:
    apart = lambda r: scale * r["bound_ball"] * r[size] ** power  # noqa: E731
    return measured("heads", "displacement", apart, 1e-3, of(T=1000, noise="independent"))


def gram(power: float, size: str = "L", scale: float = 1.0) -> Make:
    return measured("gram", "norm", lambda r: scale * r["bound"] * r[size] ** power, 1e-3, EVERYWHERE)


def bounded(claim: str, name: str, measured: Callable[..., Make], allowed: float) -> list[Case]:
    """What is tried on a claim that a side stays below another, measured and in closed form."""
    calm, beyond = sizes(name, 0.5), 1.2 * allowed
    return [
        Case(claim, "below along every size", both(measured(0.0, scale=0.9), calm), HOLDS),
        Case(claim, "above by a constant", both(measured(0.0, scale=2.0), calm), CORRECTED),
        Case(claim, "above within the errors", both(measured(0.0, scale=1.003), calm), HOLDS),
        Case(claim, "a power of 0.2 is a constant", both(measured(0.2), calm), CORRECTED),
        Case(claim, "a measured power of L", both(measured(1.0, scale=1e-5), calm), NARROWER, says="long prompts"),
        Case(claim, "a measured power of D", both(measured(1.0, "D"), calm), FAILS),
        Case(claim, "above on short prompts", measured(1.0), FAILS),
        Case(claim, "a power of L far out",
             both(measured(0.0, scale=0.9), calm, sizes(name, lambda r: 0.5 * (1 + r["length_over"]), axis("L"))),
             NARROWER, says="long prompts"),
        Case(claim, "a power of N far out", sizes(name, lambda r: 1e-20 * r["N"], axis("N")), FAILS),
        Case(claim, "a power of D far out", sizes(name, lambda r: 1e-9 * r["D"], axis("D")), FAILS),
        Case(claim, "above on short prompts far out", sizes(name, beyond, lambda r: r["length_over"] < 0.1), FAILS),
    ]  # fmt: skip


def energy(power: Rows, size: str = "L") -> Make:
    """‖Z_bad‖² like a power of a size times its claimed order."""
    like = lambda r: r["energy_claimed"] * r[size] ** power(r)  # noqa: E731
    return measured("perturbations", "energy", like, 1e-3, EVERYWHERE, "energy_error")


def stepped(ratio: Any, **where: Any) -> Make:
    return put("perturbations", "a23_ratio", ratio, **where)


def frequency(share: float, response: str) -> Make:
    return both(*(put(name, "a24_frequency", share, response=response) for name in ("perturbations", "long-prompts")))


def small_shifts(share: float) -> Make:
    """The shifts below C have this share, with the query's response shifted."""
    return put("long-prompts", "a24_frequency", share, lambda r: (r["alpha_over_C"] < 1) & (r["response"] == SHIFTED))


FLAT = sizes(measure.OUTLIER, 7.0)
NONE_ADMITTED = put("perturbations", "admissible", False)
PROOF_CASES = [
    *bounded(A20, measure.BALL, ball, 4.0),
    *bounded(A21, measure.GRAM, gram, 1.0),
    Case(A20, "a single length", only("heads", "axis == 'D'"), UNTESTABLE),
    Case(A21, "a single length", only("gram", "axis == 'D'"), UNTESTABLE),
    Case(A22, "of the claimed order", both(energy(lambda r: 0.2), FLAT), HOLDS),
    Case(A22, "a power of L for small shifts", both(energy(lambda r: np.where(r["mu"] < 1, 0.3, 0.0)), FLAT),
         NARROWER),
    Case(A22, "a power of L for large ones", both(energy(lambda r: np.where(r["mu"] < 1, 0.0, 0.3)), FLAT), FAILS,
         says="0.3 of prompt length"),
    Case(A22, "a power far out alone", energy(lambda r: 0.0), FAILS, says="like a power of its sizes, far out"),
    Case(A22, "no attack is admitted", NONE_ADMITTED, UNTESTABLE),
    Case(A23, "left is larger", stepped(lambda r: 1.0), HOLDS),
    Case(A23, "left is a third", stepped(lambda r: 0.3), CORRECTED),
    Case(A23, "it falls with L", stepped(lambda r: r["L"] ** -0.3), FAILS, says="56 of the 56"),
    Case(A23, "no attack is admitted", NONE_ADMITTED, UNTESTABLE),
    Case(A24, "so it is as printed", frequency(0.99, LEFT), HOLDS),
    Case(A24, "not surely as printed", both(frequency(0.98, LEFT), small_shifts(0.99)), CORRECTED),
    Case(A24, "small shifts do not", both(frequency(0.98, LEFT), small_shifts(0.98)), NARROWER, says="small ones"),
    Case(A24, "nor if shifted", frequency(0.9, SHIFTED), FAILS),
    Case(A24, "no attack is admitted", both(NONE_ADMITTED, put("long-prompts", "admissible", False)), UNTESTABLE),
]  # fmt: skip


def robust(own: float, alone: float, bound: float = 0.0) -> Make:
    """Ridge's displacement grows like these powers of α under (5.1) and under an attack on the query alone."""

    def make(t: Tables) -> dict[str, pd.DataFrame]:
        growing, query = t["growth"], t["query-alone"]
        return {
            "growth": growing.assign(displacement=growing["alpha"] ** own),
            "query-alone": query.assign(ridge=query["alpha"] ** alone, bound=query["alpha"] ** bound),
        }

    return make


CASES = [
    Case(ROBUST, "ridge diverges under (5.1)", robust(2.0, 2.0), HOLDS),
    Case(ROBUST, "ridge is bounded under every attack", robust(0.0, 0.0), FAILS),
    Case(ROBUST, "ridge diverges if the query alone is attacked", robust(0.0, 2.0), NARROWER),
    Case(ROBUST, "so does NoisyHead", robust(2.0, 2.0, 2.0), FAILS),
    Case(ROBUST, "the attack moves NoisyHead beyond its bound", put("parts", "bound", 0.0), FAILS),
    *FIGURE_CASES,
    *CONCLUSION_CASES,
    *INTRODUCTION_CASES,
    *NOISYHEAD_CASES,
    *GAP_CASES,
    *RIDGE_CASES,
    *WINDOW_CASES,
    *DIVERGENCE_CASES,
    *PROOF_CASES,
]

test_found, test_cases, test_complete = trials(CHAPTER, CASES)
