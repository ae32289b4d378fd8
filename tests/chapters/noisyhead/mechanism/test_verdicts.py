"""What is tried on the judges of the chapter on the mechanism."""

from typing import Any

from chapters.noisyhead.mechanism.measure import CLAIMED, DOUBLE, EVERY, GRADIENT, LAST, SINGLE
from companion.judging.findings import Verdict
from tests.chapters.machinery import Case, Change, both, put, trials

HOLDS, CORRECTED, NARROWER, FAILS, UNTESTABLE = Verdict
CHAPTER = "noisyhead/mechanism"
DEFINITION, ALGORITHM, A1 = (f"noisyhead/{name}" for name in ("definition-3.1", "algorithm-1", "equation-a.1"))
T32, E27, UPDATE = (f"noisyhead/{name}" for name in ("theorem-3.2", "equation-2.7", "section-3-update"))
VARIANCE, EXACT = "noisyhead/section-3-noise-variance", "noisyhead/section-1.2-accounting"
ANY, CLIPPED = "noisyhead/section-2-any-noise", "noisyhead/section-1.1-clipping"
ROUNDED = 1 + 5e-10  # 1 to rounding
UNDECIDABLE = {DEFINITION: "a definition: no table can contradict it"}


def check(name: str, value: float, **values: Any) -> Change:
    return put("minimisers", "value", value, check=name, **values)


def moved(column: str, share: float, **values: Any) -> Change:
    return put("sensitivity", column, lambda r: share * r["bound"], **values)


def spent(share: float, **values: Any) -> Change:
    return put("single-steps", "delta_spent", lambda r: share * r["delta"], **values)


def epsilon(value: float, accounting: str = EVERY, **values: Any) -> Change:
    return put("composition", "epsilon", value, accounting=accounting, **values)


def printed(factor: float, **values: Any) -> Change:
    return put("noise", "printed_std", lambda r: factor * r["calibrated_std"], **values)


def saved(factor: float, **values: Any) -> Change:
    return put("noise", "exact_std", lambda r: r["printed_std"] / factor, **values)


CASES = [
    Case(ALGORITHM, "a factor is missing", printed(0.5), CORRECTED),
    Case(ALGORITHM, "in one setting", printed(0.5, setting="printed"), FAILS),
    Case(ALGORITHM, "at one size", printed(2.0, N=1500), FAILS),
    *(
        Case(A1, f"a pair moves further, {column}", moved(column, 1.01, N=1500, setting="printed"), FAILS)
        for column in ("largest_found", "constructed")
    ),
    Case(A1, "every pair does", moved("largest_found", 2.0), CORRECTED),
    Case(A1, "every pair reaches it", moved("largest_found", 1.0), HOLDS, says="reaches 100 % of it"),
    Case(T32, "nothing is overspent", spent(1 / 2), HOLDS),
    Case(T32, "everything is overspent", spent(2.0), FAILS),
    Case(T32, "overspent at ε = T", spent(2.0, T=5, epsilon_per_step=1.0), FAILS),
    Case(T32, "overspent above ε = T", spent(2.0, T=5, epsilon_per_step=2.0), NARROWER, says="= 10"),
    Case(T32, "all iterates overspend", epsilon(1.1, T=50), FAILS),
    Case(T32, "all iterates spend the budget", epsilon(1.0), NARROWER),
    Case(T32, "an update reaches the bound", moved("constructed", 1.0), NARROWER),
    Case(T32, "the last iterate is not asked", both(epsilon(1.1, LAST), spent(1 / 3)), HOLDS),
    Case(T32, "budgets beyond T are not asked", both(epsilon(3.0, CLAIMED, T=2), epsilon(4.0, T=2), spent(1 / 3)),
         HOLDS),
    Case(T32, "an update moves further", moved("constructed", 1.01, N=4000), FAILS),
    Case(E27, "a slope is left", check(GRADIENT, 0.1, N=2000), FAILS),
    Case(E27, "rounding is left", check(GRADIENT, 1e-9), HOLDS),
    Case(UPDATE, "it rests there", check(SINGLE, 1e-9), HOLDS),
    Case(UPDATE, "but for one size", both(check(SINGLE, 1e-15), check(SINGLE, 0.3, N=1000)), CORRECTED,
         says=", 30 % of"),
    Case(UPDATE, "twice the penalty misses", check(DOUBLE, 1.1e-9, N=3000), FAILS),
    Case(UPDATE, "twice the penalty nearly misses", check(DOUBLE, 1e-9), CORRECTED),
    Case(VARIANCE, "the variance is", put("noise-law", "variance_over_sensitivity", 7.0), HOLDS),
    Case(VARIANCE, "neither is", put("noise-law", "variance_over_square", lambda r: r["sensitivity"]), FAILS),
    Case(VARIANCE, "two sensitivities", lambda t: {"noise-law": t["noise-law"].head(2)}, CORRECTED),
    Case(VARIANCE, "one sensitivity", lambda t: {"noise-law": t["noise-law"].head(1)}, UNTESTABLE),
    Case(EXACT, "at one size it saves nothing", saved(1.0, N=2500), FAILS),
    Case(EXACT, "at one size it saves a little", saved(2, N=2500), HOLDS, says="2 to 9.91 times"),
    Case(EXACT, "at one size it saves rounding alone", saved(ROUNDED, N=2500), FAILS),
    Case(CLIPPED, "a context that is not clipped moves further", moved("exact", 1.1, N=2000), HOLDS),
    Case(CLIPPED, "no query moves further", put("sensitivity", "weight_bound", 1e7), FAILS),
    Case(CLIPPED, "the clip is the tighter bound", put("sensitivity", "feature_bound", 9.0, N=1000), UNTESTABLE),
    Case(ANY, "a built pair moves further", moved("constructed", 1.2, N=1000, setting="corrected"), FAILS),
    Case(ANY, "a found pair moves further", moved("largest_found", 1.2, N=1000), FAILS),
    Case(ANY, "it reaches the bound", moved("constructed", 1.0), HOLDS, says="by 100 % of"),
]  # fmt: skip


test_found, test_cases, test_complete = trials(CHAPTER, CASES, UNDECIDABLE)
