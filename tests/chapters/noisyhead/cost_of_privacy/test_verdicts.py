"""What is tried on the judges of the chapter on the cost of privacy; the proof's are in `proof_cases`."""

import math
from collections.abc import Callable
from typing import Any

import pandas as pd

from chapters.noisyhead.cost_of_privacy import judge
from companion.judging.findings import Verdict
from companion.judging.judges import judges_of
from tests.chapters.machinery import Case, Tables, change, committed, having, put, trials
from tests.chapters.noisyhead.cost_of_privacy import proof_cases
from tests.chapters.noisyhead.cost_of_privacy.proof_cases import OTHERWISE

HOLDS, CORRECTED, NARROWER, FAILS, UNTESTABLE = Verdict
CHAPTER = "noisyhead/cost-of-privacy"
T41, R41, R42, R43 = (f"noisyhead/{name}" for name in ("theorem-4.1", "remark-4.1", "remark-4.2", "remark-4.3"))
CHARACTER = "noisyhead/section-1.1-characterization"
SPLIT, EXTRA = "noisyhead/section-4-split", "noisyhead/section-4-extra-error"
To = Callable[[pd.DataFrame], Any]


def sides(t: Tables, to: To, column: str = "value", **values: Any) -> Tables:
    """The table of both sides with a column set in some rows."""
    table = t["both-sides"]
    return {**t, "both-sides": change(table, column, to, having(table, **values))}


def bound(rows: pd.DataFrame) -> pd.Series:
    return rows["bound_descent"] + rows["bound_noise"]


def bounded(t: Tables) -> Tables:
    """Left over right the same in every row, sharply known."""
    sharp = sides(t, lambda r: 1e-6 * bound(r), "standard_error", setting="printed", quantity="total")
    return sides(sharp, lambda r: bound(r) / 50, setting="printed", quantity="total")


def true(t: Tables) -> Tables:
    """Theorem 4.1 as printed: descent too stays below its part."""
    return sides(bounded(t), lambda r: r["bound_descent"] / 2, setting="printed", quantity="descent")


def growing(axis: str, power: float, scale: float = 1 / 50) -> Callable[[Tables], Tables]:
    def changed(t: Tables) -> Tables:
        to = lambda r: scale * bound(r) * (r[axis] / r[axis].min()) ** power  # noqa: E731
        return sides(bounded(t), to, setting="printed", quantity="total", axis=axis)

    return changed


def over_corrected(errors: float) -> Callable[[Tables], Tables]:
    def changed(t: Tables) -> Tables:
        right = {"setting": "corrected", "quantity": "total", "axis": "D", "D": 5}
        return sides(t, lambda r: r["bound_amended"] + errors * r["standard_error"], **right)

    return changed


def capped(axis: str, *idle: int) -> Callable[[Tables], Tables]:
    """Π_R holds the noise back but at these sizes."""

    def changed(t: Tables) -> Tables:
        table = t["both-sides"]
        mask = having(table, axis=axis, setting="printed", quantity="noise") & ~table[axis].isin(idle)
        return {**t, "both-sides": change(table, "value", lambda r: r["limit_of_R"], mask)}

    return changed


def noise(axis: str, power: float, error: float = 1e-6) -> Callable[[Tables], Tables]:
    """The noise part like a power of a size, Π_R idle throughout."""

    def changed(t: Tables) -> Tables:
        rows = {"setting": "printed", "quantity": "noise", "axis": axis}
        first = sides(t, lambda r: 1e-9 * r["limit_of_R"].min() * (r[axis] * 1.0) ** power, **rows)
        return sides(first, lambda r: error * r["value"], "standard_error", **rows)

    return changed


def noise_as_bounded(t: Tables, errors: float = 0.0, error: float = 0.01) -> Tables:
    """The noise part has the power of T of its bound, or misses it by so many errors of the fit."""
    rows = {"setting": "printed", "quantity": "noise", "axis": "T"}
    logs = pd.Series([math.log(T) for T in (20, 30, 50, 75, 100)])  # the later half of T
    slack = errors * error / math.sqrt(((logs - logs.mean()) ** 2).sum())
    first = sides(t, lambda r: 1e-3 * r["bound_noise"] * r["T"] ** slack, **rows)
    return sides(first, lambda r: error * r["value"], "standard_error", **rows)


def descending(t: Tables) -> Tables:
    """Printed descent goes down with its bound."""
    rows = {"setting": "printed", "quantity": "descent", "axis": "T"}
    first = sides(t, lambda r: r["bound_descent"] / 2, **rows)
    return sides(first, lambda r: 1e-6 * r["value"], "standard_error", **rows)


def best_at(T: int, *settings: str) -> Callable[[Tables], Tables]:
    """Less risk at one T than at T = 0, sharply known, in these settings; by default as printed."""

    def changed(t: Tables) -> Tables:
        for setting in settings or ("printed",):
            place = {"setting": setting, "quantity": "total", "axis": "T", "T": T}
            t = sides(sides(t, lambda r: 1e-9, **place), lambda r: 1e-12, "standard_error", **place)
        return t

    return changed


def dominance(column: str, to: To, **values: Any) -> Callable[[Tables], Tables]:
    return lambda t: {**t, "dominance": change(t["dominance"], column, to, having(t["dominance"], **values))}


def nothing_left(t: Tables) -> Tables:
    return dominance("descent_printed", lambda r: 0.0)(dominance("projection", lambda r: r["noise"] / 11)(t))


def ratio(to: To, error: float = 1e-3, **values: Any) -> Callable[[Tables], Tables]:
    """The extra error over the squared difference."""

    def changed(t: Tables) -> Tables:
        mask = having(t["split"], **values)
        first = change(t["split"], "error_gap", lambda r: to(r) * r["excess_risk"], mask)
        return {**t, "split": change(first, "gap_error", lambda r: error * r["excess_risk"], mask)}

    return changed


def along_length(power: float, setting: str) -> Callable[[Tables], Tables]:
    """The noise in closed form like a power of the prompt length."""
    return lambda t: sides(t, lambda r: 1.0 * r["L"] ** power, "bound_amended", setting=setting, axis="L")


def one_length(setting: str) -> Callable[[Tables], Tables]:
    return lambda t: {"both-sides": t["both-sides"].query(f"axis != 'L' or setting != '{setting}' or L == 100")}


BIAS, NOISE = {"difference": "rest at ridge(2λ)"}, {"difference": "noise of mean zero"}
SHORT_SCALE = 1 / (31 / 10) ** 0.9  # at which left over right reaches 1 at the longest of the short prompts, L = 31
THEOREM = [
    Case(T41, "nothing grows, descent is below its part", true, HOLDS),
    Case(T41, "descent alone rests above", bounded, CORRECTED),
    Case(T41, "length counts a little", growing("L", 0.24), CORRECTED),
    Case(T41, "length counts", growing("L", 0.26), NARROWER, says=r"longer than .*L\^\{0\.26\}"),
    Case(
        T41,
        "length seems to count",
        lambda t: sides(growing("L", 0.5)(t), lambda r: r["value"], "standard_error", axis="L", setting="printed"),
        CORRECTED,
    ),
    Case(T41, "short prompts are inside", growing("L", 0.9, 0.99 * SHORT_SCALE), NARROWER, says=r"L\^\{0\.90\}"),
    Case(T41, "short prompts are outside", growing("L", 0.9, 1.01 * SHORT_SCALE), FAILS),
    *(Case(T41, f"{axis} counts", growing(axis, 0.5), FAILS) for axis in "NDT"),
    Case(
        T41,
        "the worst size is named",
        lambda t: growing("N", 0.7)(growing("L", 0.4)(t)) | {"events": t["events"]},
        FAILS,
    ),
    Case(T41, "the corrected bound is kept within the error", over_corrected(3.9), NARROWER),
    Case(T41, "the corrected bound is exceeded", over_corrected(4.1), FAILS),
    *(
        Case(T41, f"{axis} has one size", lambda t, a=axis, s=size: capped(a, s)(true(t)), UNTESTABLE)
        for axis, size in (("L", 1000), ("N", 1000), ("D", 3), ("T", 50))
    ),
    Case(T41, "two sizes will do", lambda t: capped("L", 100, 1000)(true(t)), HOLDS),
]
REMARKS = [
    Case(R41, "both parts as claimed", lambda t: best_at(30)(descending(noise_as_bounded(t))), HOLDS),
    Case(R41, "but from zero the risk only rises", lambda t: descending(noise_as_bounded(t)), NARROWER),
    Case(R41, "always predicting 0", lambda t: sides(t, lambda r: r["zero_risk"], axis="T"), FAILS),
    Case(R41, "no noise", lambda t: sides(t, lambda r: 0.0, setting="corrected", quantity="noise", axis="T"), FAILS),
    Case(R41, "the noise is near", lambda t: noise_as_bounded(t, 3.9), NARROWER, says=r"T\^\{2\.09\}"),
    Case(R41, "the noise is faster", lambda t: noise_as_bounded(t, 4.1), FAILS),
    Case(R41, "the noise is slower", lambda t: noise_as_bounded(t, -4.1), FAILS),
    Case(R41, "the noise is linear", noise("T", 1.0), FAILS),
    Case(R41, "the last T is the best", best_at(100, "printed", "corrected"), NARROWER),
    Case(R41, "another T is the best", best_at(75, "printed", "corrected"), CORRECTED),
    Case(R41, "another T is the best, with Γ* of the other loss", best_at(75), NARROWER),
    Case(
        R41,
        "half the penalty does not help",
        lambda t: sides(t, lambda r: 1e-6, setting="corrected", quantity="descent"),
        FAILS,
    ),
    *(
        Case(
            R41,
            f"half the penalty lets descent fall like T to the {power}",
            lambda t, p=power: sides(t, lambda r: 1e-6 * (r["T"] * 1.0) ** p, setting="corrected", quantity="descent"),
            verdict,
        )
        for power, verdict in ((-0.9, FAILS), (-1.1, NARROWER))
    ),
    Case(R41, "three T without capped noise", capped("T", 50, 75, 100), NARROWER),
    Case(R41, "one T without capped noise", capped("T", 20), UNTESTABLE),
    Case(
        R41,
        "one T of descent",
        lambda t: {"both-sides": t["both-sides"].query("axis != 'T' or quantity != 'descent' or T == 1")},
        UNTESTABLE,
    ),
    Case(
        R41,
        "one T with half the penalty",
        lambda t: {"both-sides": t["both-sides"].query("axis != 'T' or setting != 'corrected' or T == 1")},
        UNTESTABLE,
    ),
    Case(R42, "nothing is left", nothing_left, HOLDS),
    Case(R42, "a tenth is left", lambda t: dominance("projection", lambda r: r["noise"] / 9)(nothing_left(t)), FAILS),
    Case(R42, "descent alone is left", dominance("projection", lambda r: 0.0), CORRECTED),
    Case(
        R42,
        "something is left for short prompts",
        dominance("projection", lambda r: r["noise"] / 9, axis="N, short prompts", N=1e24),
        FAILS,
    ),
    Case(
        R42,
        "little is left for short prompts",
        dominance("projection", lambda r: r["noise"] / 11, axis="N, short prompts", N=1e24),
        NARROWER,
        says="only for prompts no longer",
    ),
    Case(R42, "the noise grows with D", dominance("noise", lambda r: r["D"] ** 0.12, axis="D"), FAILS),
    Case(
        R42,
        "the noise hardly grows with D",
        dominance("noise", lambda r: r["D"] ** 0.08, axis="D"),
        NARROWER,
        says=OTHERWISE,
    ),
    Case(R42, "the measured noise grows with D", noise("D", 0.3), FAILS),
    Case(R42, "the measured noise stays level", noise("D", 0.0), NARROWER, says=OTHERWISE),
    Case(R42, "the measured noise falls within its error", noise("D", -0.3, 0.5), NARROWER, says=OTHERWISE),
    Case(R42, "the measured noise falls", noise("D", -0.3, 0.06), NARROWER, says="only for prompts no longer"),
    Case(R42, "one D without capped noise", capped("D", 3), UNTESTABLE),
    Case(
        SPLIT,
        "a prompt is outside",
        put("split", "split_worst", 1.02, penalty=0.1),
        FAILS,
    ),
    Case(EXTRA, "a bias too", ratio(lambda r: 3.0, **BIAS), HOLDS),
    Case(EXTRA, "a bias nearly", ratio(lambda r: 3 * r["penalty"] ** 0.24, **BIAS), HOLDS),
    Case(EXTRA, "a bias not", ratio(lambda r: 3 * r["penalty"] ** 0.26, **BIAS), NARROWER, says="can be 4.56 times"),
    Case(EXTRA, "noise neither", ratio(lambda r: r["penalty"], **NOISE), FAILS),
    Case(EXTRA, "noise near 1", ratio(lambda r: 1.0039, **NOISE), NARROWER),
    Case(EXTRA, "noise above 1", ratio(lambda r: 1.0041, **NOISE), FAILS),
    Case(EXTRA, "noise below 1", ratio(lambda r: 0.9959, **NOISE), FAILS),
    Case(EXTRA, "one penalty", lambda t: {"split": t["split"][t["split"]["penalty"] == 5.0]}, UNTESTABLE),
]
IN_WORDS = [
    Case(CHARACTER, "cost and bound are one", true, HOLDS),
    *(Case(CHARACTER, f"the cost grows along {a}", growing(a, 0.3), NARROWER) for a in "LD"),
    *(Case(CHARACTER, f"the cost falls along {a}", growing(a, -0.3), NARROWER) for a in "LD"),
    *(Case(CHARACTER, f"the cost hardly falls along {a}", growing(a, -0.2), HOLDS) for a in "NLDT"),
    *(Case(CHARACTER, f"the cost grows along {a}", growing(a, 0.3), FAILS) for a in "NT"),
    *(Case(CHARACTER, f"the cost falls along {a}", growing(a, -0.3), FAILS) for a in "NT"),
    Case(CHARACTER, "one length with idle projection", lambda t: capped("L", 1000)(true(t)), UNTESTABLE),
    Case(R43, "long prompts too", along_length(-0.3, "corrected"), HOLDS),
    Case(R43, "no prompts", along_length(-0.2, "corrected"), FAILS),
    Case(R43, "nowhere", along_length(0.2, "printed"), FAILS),
    Case(R43, "the other way", along_length(0.3, "printed"), NARROWER),
    *(Case(R43, f"one length, {setting}", one_length(setting), UNTESTABLE) for setting in ("printed", "corrected")),
]
CASES = [*THEOREM, *REMARKS, *IN_WORDS, *proof_cases.CASES]


def test_the_bound_is_vacuous_while_predicting_0_meets_it() -> None:
    tables, theorem = committed(CHAPTER), judges_of("chapters.noisyhead.cost_of_privacy")[T41]
    assert theorem(tables).vacuous
    beyond = sides(tables, lambda r: 2 * bound(r), "zero_risk", setting="printed", quantity="total", axis="L", L=2000)
    assert not theorem(beyond).vacuous


def test_short_prompts_end_at_d_times_the_logarithm() -> None:
    """5 log(1000·L/0.01) is 79.4 at L = 79 and 79.5 at L = 80."""
    rows = pd.DataFrame({"N": 1000, "L": [79, 80], "D": 5})
    assert list(judge.short(rows, 0.01)) == [True, False]


test_found, test_cases, test_complete = trials(CHAPTER, CASES)
