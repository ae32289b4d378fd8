"""What is tried on the judges of the chapter on low dimension."""

from costofprivacy.findings import Verdict
from tests.experiments.verdicts.machinery import Case, Tables, change, trials

HOLDS, CORRECTED, NARROWER, FAILS, UNTESTABLE = Verdict
CHAPTER = "noisyhead/low-dimensional"
FIGURE_1, THEOREM_11, THEOREM_42 = "noisyhead/figure-1", "noisyhead/theorem-1.1-low", "noisyhead/theorem-4.2i"
FOUND = {FIGURE_1: NARROWER, THEOREM_11: FAILS, THEOREM_42: FAILS}


def falling(t: Tables, deviation: float = 0.5, where: object = slice(None)) -> Tables:
    """An excess risk like 1/(Nε), and published numbers at this distance."""
    return {
        "figure-1": change(t["figure-1"], "excess_risk", lambda r: 1e3 / (r["N"] * r["epsilon"].fillna(1))),
        "comparison": change(
            change(t["comparison"], "deviation", lambda r: 0.5), "deviation", lambda r: deviation, where
        ),
    }


def printed(t: Tables) -> object:
    return t["comparison"]["setting"] == "printed"


def published(t: Tables) -> object:
    return t["comparison"]["setting"] == "published"


def without_projection(t: Tables) -> Tables:
    return {"floors": change(t["floors"], "floor", lambda r: 0.0, t["floors"]["part"] == "projection")}


def noiseless_descent(t: Tables, risk: float) -> Tables:
    rows = t["figure-1"]["method"] == "gradient-descent"
    return without_projection(t) | {"figure-1": change(t["figure-1"], "excess_risk", lambda r: risk, rows)}


CASES = [
    Case(FIGURE_1, "it falls everywhere, all numbers match", falling, HOLDS, says="falls"),
    Case(FIGURE_1, "the printed settings miss", lambda t: falling(t, 9.0, printed(t)), CORRECTED, says="only 0 of 40"),
    Case(FIGURE_1, "the published settings miss", lambda t: falling(t, 9.0, published(t)), FAILS, says="give 0 again"),
    Case(
        FIGURE_1,
        "it grows with N",
        lambda t: {"figure-1": change(t["figure-1"], "excess_risk", lambda r: r["excess_risk"] * (r["N"] / 1000) ** 4)},
        FAILS,
        says="grows",
        silent="falls",
    ),
    Case(
        FIGURE_1,
        "it rises in between at the loosest budget",
        lambda t: {
            "figure-1": change(
                falling(t)["figure-1"],
                "excess_risk",
                lambda r: 1.5 * r["excess_risk"],
                (t["figure-1"]["N"] == 2000) & (t["figure-1"]["epsilon"] == 1.0),
            )
        },
        NARROWER,
        says="at one budget",
        silent="tightest",
    ),
    Case(
        FIGURE_1,
        "noise hides the trend",
        lambda t: {"figure-1": change(t["figure-1"], "standard_error", lambda r: 10 * r["excess_risk"])},
        UNTESTABLE,
    ),
    Case(THEOREM_11, "the projection leaves nothing", without_projection, HOLDS, says="as fast as claimed"),
    Case(
        THEOREM_11,
        "the noise part has another power",
        lambda t: {
            "exponents": change(
                t["exponents"], "exponent", lambda r: -2.0, t["exponents"]["algorithm"] != "Theorem 1.1"
            )
        },
        FAILS,
        says="slower",
    ),
    Case(
        THEOREM_11,
        "the projection's bias falls with the bound",
        lambda t: {"floors": change(t["floors"], "floor", lambda r: 0.5 * r["bound"])},
        HOLDS,
    ),
    Case(THEOREM_42, "nothing stays", lambda t: noiseless_descent(t, 1e-20), HOLDS, says="falls with the bound"),
    Case(THEOREM_42, "descent alone stays", lambda t: noiseless_descent(t, 1e-3), CORRECTED, says="stops at 0.001"),
]

test_found, test_cases, test_complete = trials(CHAPTER, FOUND, CASES)
