"""What is tried on the judge of the chapter on vanishing label noise."""

from typing import Any

from companion.judging.findings import Verdict
from tests.chapters.machinery import Case, Tables, change, trials

HOLDS, CORRECTED, NARROWER, FAILS, UNTESTABLE = Verdict
CHAPTER, TABLE = "dpgd/small-noise", "small-noise-full-batch"
CLAIM = "dpgd/section-8-small-noise"


def to(column: str, value: Any, axis: str) -> Any:
    """A column of one axis with other values."""

    def make(t: Tables) -> Tables:
        return {TABLE: change(t[TABLE], column, value, t[TABLE]["axis"] == axis)}

    return make


def only(query: str) -> Any:
    return lambda t: {TABLE: t[TABLE].query(query)}


CASES = [
    Case(CLAIM, "no risk is left without label noise", to("risk", lambda r: 0.0, "zeta = 0"), HOLDS),
    Case(CLAIM, "the order is missed along the label noise",
         to("risk", lambda r: r["order"] * r["size"] ** 0.2, "gamma fixed"), FAILS),
    Case(CLAIM, "it is missed where the label noise is γ²",
         to("risk", lambda r: r["order"] * r["size"] ** 0.2, "zeta = gamma^2"), FAILS),
    Case(CLAIM, "full batch does as DP-GD does", to("risk", lambda r: r["one_pass"], "gamma fixed"), FAILS),
    Case(CLAIM, "a constant multiple of the order", to("risk", lambda r: 9 * r["order"], "gamma fixed"), NARROWER),
    Case(CLAIM, "better than the order", to("risk", lambda r: r["order"] / r["size"], "zeta = gamma^2"), NARROWER),
    Case(CLAIM, "without label noise it is as slow as DP-GD",
         to("exponent", lambda r: r["one_pass_exponent"], "zeta = 0"), FAILS),
    Case(CLAIM, "another constant in the exponent", to("exponent", lambda r: -0.02, "zeta = 0"), NARROWER),
    Case(CLAIM, "a risk of 0 where the order is missed",
         lambda t: {TABLE: change(change(t[TABLE], "risk", lambda r: 0.0, t[TABLE]["axis"] == "zeta = 0"), "risk",
                                  lambda r: r["one_pass"], t[TABLE]["axis"] == "gamma fixed")}, FAILS),
    Case(CLAIM, "one γ alone", only("axis == 'gamma fixed' or gamma == 0.1"), UNTESTABLE),
    Case(CLAIM, "one label noise alone", only("axis != 'gamma fixed' or zeta == 1"), UNTESTABLE),
]  # fmt: skip

test_found, test_cases, test_complete = trials(CHAPTER, CASES)
