"""What is tried on the judges of the chapter on in-context regression."""

from typing import Any

import pandas as pd

from chapters.foundations.in_context_regression import judge
from companion.judging.findings import Verdict
from tests.chapters.machinery import Case, only, put, trials

HOLDS, CORRECTED, NARROWER, FAILS, UNTESTABLE = Verdict
CHAPTER = "foundations/in-context-regression"
FORM, EXPANDED, REDUCED = "noisyhead/equation-2.3", "noisyhead/equation-2.4", "noisyhead/equation-2.5"
DROPPED, INVERSE = "noisyhead/appendix-a.1", "noisyhead/appendix-a.1-inverse-moment"
OTHERWISE = "other than in the book"  # the verdict of the book, on other grounds


def identity(value: float, *names: str, shape: slice = slice(None)) -> Any:
    """These identities with this difference, in all shapes or in some."""

    def rows(t: pd.DataFrame) -> pd.Series:
        return t["identity"].isin(names) & t.index.isin(t.groupby("identity").nth(shape).index)

    return put("identities", "relative_difference", value, rows)


def product(name: str, score: float, table: str = "dropped-terms", shape: int = -1) -> Any:
    """One mean product this many standard errors from 0, in one shape."""

    def rows(t: pd.DataFrame) -> Any:
        return t.index == t.index[t["product"] == name][shape]

    return put(table, "mean", lambda r: score * r["standard_error"], rows)


def ratio(of: Any, column: str = "over_normalised", where: str = "penalty == 0") -> Any:
    """Ratios of the weight to the inverse moment, as a function of the rows."""
    return put("inverse-moment", column, of, where)


def near(power: float, level: float = 1.0, sign: int = -1) -> Any:
    """A distance from 1 like a power of D/L."""
    return lambda r: 1 + sign * level * (r["D"] / r["L"]) ** power


CASES = [
    Case(FORM, "a difference in the last shape", identity(1e-3, judge.ALL_WEIGHTS, shape=slice(-1, None)), FAILS),
    Case(FORM, "a difference just above rounding", identity(2e-9, judge.ALL_WEIGHTS), FAILS),
    Case(FORM, "another rounding error", identity(0.9e-9, judge.ALL_WEIGHTS), HOLDS),
    *(
        case
        for claim, printed, corrected in (
            (EXPANDED, judge.PRINTED_24, judge.TRANSPOSED_24),
            (REDUCED, judge.PRINTED_25, judge.TRANSPOSED_25),
        )
        for case in (
            Case(claim, "the printed form is right", identity(0.9e-9, printed), HOLDS),
            Case(claim, "both are right", identity(1e-15, printed, corrected), HOLDS),
            Case(claim, "the printed form is off by little", identity(0.25, printed), CORRECTED, says="up to 25 %"),
            Case(claim, "it is off in one shape", identity(2.5, printed, shape=slice(0, 1)), CORRECTED, says="250 %"),
            Case(claim, "the transposed form is off", identity(2e-9, corrected), FAILS),
            Case(claim, "the transposed form is off once", identity(0.3, corrected, shape=slice(-1, None)), FAILS),
        )
    ),
    Case(DROPPED, "correlated with the response", product("even terms × y", 4.1), FAILS),
    Case(DROPPED, "correlated with it, negative", product("even terms × y", -9.0, shape=0), FAILS),
    Case(DROPPED, "correlated with the rest", product("even terms × odd terms", 4.1), FAILS),
    Case(DROPPED, "nearly correlated", product("even terms × y", 3.9), HOLDS),
    Case(DROPPED, "a slope in one block", product("W^PV", 4.1, "zero-blocks"), FAILS),
    Case(DROPPED, "a slope in the other", product("W^KQ", -4.1, "zero-blocks"), FAILS),
    Case(DROPPED, "nearly a slope", product("W^KQ", 3.9, "zero-blocks"), HOLDS),
    Case(DROPPED, "the fourth term is another", identity(0.1, judge.CONTAINED), FAILS),
    Case(DROPPED, "but for rounding", identity(0.9e-9, judge.CONTAINED), HOLDS),
    Case(DROPPED, "fewer shapes", only("dropped-terms", "L > 10"), HOLDS, says="any of 18 "),
    Case(INVERSE, "equal at all lengths", ratio(lambda r: 1.07), HOLDS),
    Case(INVERSE, "equal with the features in X", ratio(lambda r: 0.91, "over_features"), HOLDS),
    Case(INVERSE, "the features in X, but for a constant", ratio(lambda r: 0.89, "over_features"), NARROWER),
    Case(INVERSE, "far at the shortest alone", ratio(near(1.0, 0.5)), NARROWER, says="at least 10 times"),
    Case(INVERSE, "near from above", ratio(near(1.0, 2.0, 1)), NARROWER, says="at least 30 times"),
    Case(INVERSE, "penalised too", ratio(lambda r: 1.0, where="penalty > 0"), NARROWER, says=OTHERWISE),
    Case(INVERSE, "near in one dimension only for long", ratio(near(0.5, 1.5), where="penalty == 0 and D == 5"),
         NARROWER, says="without penalty .* 300 times"),
    Case(INVERSE, "never near", ratio(near(0.1)), FAILS),
    Case(INVERSE, "never near in one dimension", ratio(near(0.1), where="penalty == 0 and D == 2"), FAILS),
    Case(INVERSE, "level", ratio(lambda r: 0.5), FAILS),
    Case(INVERSE, "from near to far", ratio(lambda r: 1 - 1e-3 * r["L"] / r["D"]), FAILS),
    Case(INVERSE, "level and near in one dimension", ratio(lambda r: 0.95, where="penalty == 0 and D == 10"), NARROWER),
    Case(INVERSE, "errors hide whether it is near", ratio(lambda r: 0.03, "ratio_error"), FAILS),
    Case(INVERSE, "errors that leave it near", ratio(lambda r: 0.02, "ratio_error"), NARROWER, says="100 times"),
    Case(INVERSE, "with the features in X at one length", ratio(lambda r: 1.0, "over_features", "L == 3000"), NARROWER),
    Case(INVERSE, "penalised at one length", ratio(lambda r: 1.0, where="penalty > 0 and L == 3000"), NARROWER,
         silent=OTHERWISE),
    Case(INVERSE, "there at last", ratio(lambda r: 1.0 - 0.2 * (r["L"] / r["D"] < 5)), NARROWER,
         says="at least 10 times"),
]  # fmt: skip

test_found, test_cases, test_complete = trials(CHAPTER, CASES)
