"""What is tried on the judges of the chapter on the mechanism."""

from collections.abc import Callable
from typing import Any

import pandas as pd

from chapters.noisyhead.mechanism import measure
from companion.judging.findings import Verdict
from tests.chapters.machinery import Case, Tables, change, trials

HOLDS, CORRECTED, NARROWER, FAILS, UNTESTABLE = Verdict
CHAPTER = "noisyhead/mechanism"
DEFINITION, ALGORITHM, A1, T32 = (
    f"noisyhead/{name}" for name in ("definition-3.1", "algorithm-1", "equation-a.1", "theorem-3.2")
)
E27, UPDATE, VARIANCE = (
    f"noisyhead/{name}" for name in ("equation-2.7", "section-3-update", "section-3-noise-variance")
)
EXACT, ANY = "noisyhead/section-1.2-accounting", "noisyhead/section-2-any-noise"
CLIPPED = "noisyhead/section-1.1-clipping"
ROUNDED = 1 + 5e-10  # 1 to rounding
UNDECIDABLE = {DEFINITION: "a definition: no table can contradict it"}


def set_in(
    name: str, column: str, to: Callable[[pd.DataFrame], Any], **values: Any
) -> Callable[[Tables], dict[str, pd.DataFrame]]:
    """A column of a table in some rows."""

    def changed(t: Tables) -> dict[str, pd.DataFrame]:
        mask = pd.Series(True, t[name].index)
        for key, value in values.items():
            mask &= t[name][key] == value
        return {**t, name: change(t[name], column, to, mask)}

    return changed


def check(name: str, value: float, **values: Any) -> Callable[[Tables], dict[str, pd.DataFrame]]:
    return set_in("minimisers", "value", lambda r: value, check=name, **values)


def moved(column: str, share: float, **values: Any) -> Callable[[Tables], dict[str, pd.DataFrame]]:
    return set_in("sensitivity", column, lambda r: share * r["bound"], **values)


def spent(to: Callable[[pd.DataFrame], Any], **values: Any) -> Callable[[Tables], dict[str, pd.DataFrame]]:
    return set_in("single-steps", "delta_spent", to, **values)


def twice_the_penalty(value: float, **values: Any) -> Callable[[Tables], dict[str, pd.DataFrame]]:
    return check(measure.DOUBLE, value, **values)


def times(factor: float) -> Callable[[pd.DataFrame], Any]:
    return lambda r: factor * r["calibrated_std"]


CASES = [
    Case(ALGORITHM, "a factor is missing", set_in("noise", "printed_std", times(0.5)), CORRECTED),
    Case(ALGORITHM, "in one setting", set_in("noise", "printed_std", times(0.5), setting="printed"), FAILS),
    Case(ALGORITHM, "at one size", set_in("noise", "printed_std", times(2.0), N=1500), FAILS),
    *(
        Case(A1, f"a pair moves further, {column}", moved(column, 1.01, N=1500, setting="printed"), FAILS)
        for column in ("largest_found", "constructed")
    ),
    Case(A1, "every pair does", moved("largest_found", 2.0), CORRECTED),
    Case(A1, "every pair reaches it", moved("largest_found", 1.0), HOLDS, says="reaches 100 % of it"),
    Case(A1, "every pair reaches it, to rounding", moved("largest_found", ROUNDED), HOLDS),
    Case(T32, "nothing is overspent", spent(lambda r: r["delta"] / 2), HOLDS),
    Case(T32, "just not overspent", spent(lambda r: r["delta"]), HOLDS),
    Case(T32, "everything is overspent", spent(lambda r: 2 * r["delta"]), FAILS),
    Case(T32, "overspent at ε = T", spent(lambda r: 2 * r["delta"], T=5, epsilon_per_step=1.0), FAILS),
    Case(T32, "overspent above ε = T", spent(lambda r: 2 * r["delta"], T=5, epsilon_per_step=2.0), NARROWER,
         says="= 10"),
    Case(T32, "all iterates overspend",
         set_in("composition", "epsilon", lambda r: 1.1, accounting=measure.EVERY, T=50),
         FAILS),
    Case(T32, "overspent by all at ε = T", set_in("composition", "epsilon", lambda r: 1.1, accounting=measure.EVERY,
         T=1),
         FAILS),
    Case(T32, "all iterates spend the budget", set_in("composition", "epsilon", lambda r: 1.0,
         accounting=measure.EVERY),
         NARROWER),
    Case(T32, "all iterates spend the budget, to rounding", set_in("composition", "epsilon", lambda r: ROUNDED,
         accounting=measure.EVERY),
         NARROWER),
    Case(T32, "an update reaches the bound", moved("constructed", 1.0), NARROWER),
    Case(T32, "an update reaches the bound, to rounding", moved("constructed", ROUNDED), NARROWER),
    Case(T32, "the last iterate is not asked",
         lambda t: spent(lambda r: r["delta"] / 3)(
             set_in("composition", "epsilon", lambda r: 1.1, accounting=measure.LAST)(t)), HOLDS),
    Case(T32, "budgets beyond T are not asked",
         lambda t: spent(lambda r: r["delta"] / 3)(
             set_in("composition", "epsilon", lambda r: 4.0, accounting=measure.EVERY, T=2)(
                 set_in("composition", "epsilon", lambda r: 3.0, accounting=measure.CLAIMED, T=2)(t))), HOLDS),
    Case(T32, "an update moves further", moved("constructed", 1.01, N=4000), FAILS),
    Case(E27, "a slope is left", check(measure.GRADIENT, 0.1, N=2000), FAILS),
    Case(E27, "rounding is left", check(measure.GRADIENT, 1e-9), HOLDS),
    Case(UPDATE, "it rests there", check(measure.SINGLE, 1e-9), HOLDS),
    Case(UPDATE, "it rests there to the last digit", check(measure.SINGLE, 1e-15), HOLDS),
    Case(UPDATE, "but for one size",
         lambda t: check(measure.SINGLE, 0.3, N=1000)(check(measure.SINGLE, 1e-15)(t)),
         CORRECTED, says=", 30 % of"),
    Case(UPDATE, "twice the penalty misses", twice_the_penalty(1.1e-9, N=3000), FAILS),
    Case(UPDATE, "twice the penalty nearly misses", twice_the_penalty(1e-9), CORRECTED),
    Case(VARIANCE, "the variance is", set_in("noise-law", "variance_over_sensitivity", lambda r: 7.0), HOLDS),
    Case(VARIANCE, "neither is", set_in("noise-law", "variance_over_square", lambda r: r["sensitivity"]), FAILS),
    Case(VARIANCE, "two sensitivities", lambda t: {"noise-law": t["noise-law"].head(2)}, CORRECTED),
    Case(VARIANCE, "one sensitivity", lambda t: {"noise-law": t["noise-law"].head(1)}, UNTESTABLE),
    Case(EXACT, "at one size it saves nothing", set_in("noise", "exact_std", lambda r: r["printed_std"], N=2500),
         FAILS),
    Case(EXACT, "at one size it saves a little", set_in("noise", "exact_std", lambda r: r["printed_std"] / 2, N=2500),
         HOLDS, says="2 to 9.91 times"),
    Case(EXACT, "it saves a little", set_in("noise", "exact_std", lambda r: r["printed_std"] / 1.5), HOLDS,
         says="1.5 to 1.5 times"),
    Case(EXACT, "at one size it saves rounding alone", set_in("noise", "exact_std",
         lambda r: r["printed_std"] / ROUNDED, N=2500), FAILS),
    Case(CLIPPED, "a context that is not clipped moves further", moved("exact", 1.1, N=2000), HOLDS),
    Case(CLIPPED, "it reaches the bound, to rounding", moved("exact", ROUNDED), NARROWER),
    Case(CLIPPED, "no query moves further", set_in("sensitivity", "weight_bound", lambda r: 1e7), FAILS),
    Case(CLIPPED, "at one size none does", set_in("sensitivity", "weight_bound", lambda r: 1e7, N=3000), FAILS),
    Case(CLIPPED, "the clip is the tighter bound", set_in("sensitivity", "feature_bound", lambda r: 9.0, N=1000),
         UNTESTABLE),
    Case(ANY, "a built pair moves further", moved("constructed", 1.2, N=1000, setting="corrected"), FAILS),
    Case(ANY, "a found pair moves further", moved("largest_found", 1.2, N=1000), FAILS),
    Case(ANY, "it reaches the bound", moved("constructed", 1.0), HOLDS, says="by 100 % of"),
    Case(ANY, "with corrected radii alone", moved("constructed", 1.0, setting="corrected"), HOLDS, says="by 53 % of"),
    Case(ANY, "it reaches the bound, to rounding", moved("constructed", ROUNDED), HOLDS),
]  # fmt: skip


test_found, test_cases, test_complete = trials(CHAPTER, CASES, UNDECIDABLE)
