"""What is tried on the judges of the chapter on noise and its cost."""

from collections.abc import Callable
from typing import Any

import pandas as pd

from chapters.privacy.how_much_noise import measure
from companion.judging.findings import Verdict
from tests.chapters.machinery import Case, Tables, put, trials

HOLDS, CORRECTED, NARROWER, FAILS, UNTESTABLE = Verdict
CHAPTER = "privacy/how-much-noise"
STEPS, TOGETHER, INCLUDED = (
    f"noisyhead/{name}"
    for name in (
        "appendix-a.2-steps",
        "appendix-a.2-composition",
        "section-3-inclusion",
    )
)
OUTPUT, ORDER = "dpgd/section-4-last-iterate", "dpgd/section-2-constant-order"
ROUNDED = 1 + 5e-10  # 1 to rounding


def spent(to: Callable[[pd.DataFrame], Any], query: str = "") -> Callable[[Tables], Any]:
    return put("single-steps", "spent_over_asked", to, query)


def log_power(power: float) -> Callable[[pd.DataFrame], Any]:
    return lambda r: r["log"] ** power


def outputs(every: float, last: float) -> Callable[[Tables], Any]:
    """What every iterate and the last one spend, where the budget is what the last one spends."""
    spends = {"every_mu": every, "last_mu": last, "rho": last}
    return lambda t: {"outputs": t["outputs"].assign(**spends)}


CASES = [
    Case(STEPS, "nothing is overspent", spent(lambda r: 0.5), HOLDS),
    Case(STEPS, "spent to the last", spent(lambda r: 1.0), HOLDS),
    Case(STEPS, "spent to the last, to rounding", spent(lambda r: ROUNDED), HOLDS),
    Case(STEPS, "shares of two and more overspend", spent(lambda r: 1.1, "epsilon >= 2"), NARROWER),
    Case(STEPS, "small shares overspend", spent(lambda r: 1.1, "epsilon == 0.5"), FAILS),
    Case(STEPS, "a share of one overspends", spent(lambda r: 1.1, "epsilon == 1 and delta > 5e-4"), FAILS),
    Case(STEPS, "small shares overspend beyond an early end",
         lambda t: put("limits", "epsilon_limit", lambda r: 0.3)(t) | spent(lambda r: 1.1, "epsilon == 0.5")(t), FAILS),
    Case(STEPS, "an earlier end", put("limits", "epsilon_limit", lambda r: 3.25), NARROWER, says="3.25"),
    Case(TOGETHER, "one number of steps overspends", put("composition", "delta_together", lambda r: 2 * r["delta"],
         "T == 50"), FAILS),
    Case(TOGETHER, "all spend the budget", put("composition", "delta_together", lambda r: r["delta"]), HOLDS,
         says="at most 100 %"),
    Case(TOGETHER, "rounding is forgiven", put("composition", "delta_together", lambda r: r["delta"] * (1 + 1e-8)),
         HOLDS),
    Case(INCLUDED, "a prompt left out moves further", put("inclusion", "found", lambda r: 1.5 * r["bound"],
         "setting == 'printed'"), FAILS),
    Case(INCLUDED, "by the formula too", put("inclusion", "left_out", lambda r: 1.5 * r["bound"]), FAILS),
    Case(INCLUDED, "as far as the bound", put("inclusion", "left_out", lambda r: r["bound"]), HOLDS, says="100 %"),
    Case(INCLUDED, "as far as the bound, to rounding", put("inclusion", "left_out", lambda r: ROUNDED * r["bound"]),
         HOLDS),
    Case(OUTPUT, "every iterate is as private", put("outputs", "every_mu", lambda r: r["last_mu"]), FAILS),
    Case(OUTPUT, "with one schedule", put("outputs", "every_mu", lambda r: r["last_mu"], "schedule == 'harmonic'"),
         FAILS),
    Case(OUTPUT, "the last spends more", put("outputs", "last_mu", lambda r: 2 * r["rho"]), FAILS),
    Case(OUTPUT, "a little more", put("outputs", "every_mu", lambda r: 1.1 * r["last_mu"]), HOLDS, says="1.1 times"),
    Case(OUTPUT, "half as much again, at another budget", outputs(3.0, 2.0), HOLDS, says="1.5 times"),
    Case(OUTPUT, "no more, at another budget", outputs(2.0, 2.0), FAILS),
    Case(ORDER, "a power parts them", put("orders", "ratio", log_power(0.5)), FAILS),
    Case(ORDER, "in one direction", put("orders", "ratio", log_power(-0.5), f"given == '{measure.RHO_GIVEN}'"),
         FAILS),
    Case(ORDER, "a constant", put("orders", "ratio", lambda r: 2.0), HOLDS, says="2 and 2"),
    Case(ORDER, "one probability", lambda t: {"orders": t["orders"].head(2)}, UNTESTABLE),
]  # fmt: skip


test_found, test_cases, test_complete = trials(CHAPTER, CASES)
