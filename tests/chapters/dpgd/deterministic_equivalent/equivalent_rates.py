"""Cases for the judges of Figure 1, Theorem 1 and Proposition 4.4."""

from __future__ import annotations

from typing import Any

import numpy as np

from companion.judging.findings import Verdict
from tests.chapters.dpgd.deterministic_equivalent.equivalent_tables import power, sized
from tests.chapters.machinery import Case, Tables, change, only, put

HOLDS, CORRECTED, NARROWER, FAILS, UNTESTABLE = Verdict
A1, A2, FIGURE_1 = "dpgd/assumption-1", "dpgd/assumption-2", "dpgd/figure-1"
TAILS = "dpgd/section-4-tails"
PATH, MEAN = "dpgd/theorem-1-path", "dpgd/theorem-1-mean"
RELEASED, RELEASED_MEAN = "dpgd/proposition-4.4-path", "dpgd/proposition-4.4-mean"
RATES = {PATH: "path", MEAN: "bias", RELEASED: "released", RELEASED_MEAN: "released bias"}


def rates(t: Tables, exponent: float, quantity: str, *, error: float = 0.001, schedule: str = "") -> Tables:
    """Rates of which one deviation follows a power of n."""
    table = t["rates"]
    where = (table["quantity"] == quantity) & (table["schedule"].str.contains(schedule, regex=False))
    return {"rates": power(table, exponent, where, error=error)}


def bound_itself(t: Tables, quantity: str) -> Tables:
    where = t["rates"]["quantity"] == quantity
    sure = change(t["rates"], "standard_error", lambda r: 1e-4 * r["bound"], where)
    return {"rates": change(sure, "value", lambda r: r["bound"], where)}


RATE_CASES = [
    case
    for claim, quantity in RATES.items()
    for case in (
        Case(claim, "the rate of fluctuations", lambda t, q=quantity: rates(t, -0.5, q), HOLDS),
        Case(claim, "exactly the bound", lambda t, q=quantity: bound_itself(t, q), HOLDS),
        Case(claim, "a quarter", lambda t, q=quantity: rates(t, -0.25, q), FAILS),
        Case(claim, "level", lambda t, q=quantity: rates(t, 0.0, q), FAILS),
        Case(
            claim, "level for one schedule alone", lambda t, q=quantity: rates(t, 0.0, q, schedule="square root"), FAILS
        ),
        Case(claim, "an exponent that noise allows", lambda t, q=quantity: rates(t, -0.25, q, error=0.02), HOLDS),
        Case(claim, "noise alone", lambda t, q=quantity: rates(t, -0.5, q, error=100.0), UNTESTABLE),
        Case(claim, "no number", put("rates", "value", np.nan, "n == 12960", quantity=quantity), UNTESTABLE),
        Case(claim, "two sizes", lambda t: sized(t, "rates", lambda n: n > 4000), UNTESTABLE),
        Case(claim, "small sizes", lambda t: sized(t, "rates", lambda n: (n < 500) | (n == 160)), UNTESTABLE),
    )
]


def rising_noise(t: Tables, quantity: str, last: float, error: float = 0.01, schedule: str = "") -> Tables:
    """A deviation whose powers of n are lost in noise, and which at the last n is this share of the bound."""
    where = (t["rates"]["quantity"] == quantity) & t["rates"]["schedule"].str.contains(schedule, regex=False)
    share = lambda r: np.where(r["n"] == r["n"].max(), last, 0.02) * r["bound"]  # noqa: E731
    sure = change(t["rates"], "standard_error", lambda r: error * r["bound"], where)
    return {"rates": change(sure, "value", share, where)}


MORE_RATES = [
    Case(PATH, "the upper percentile is level", lambda t: rates(t, 0.0, "path, 99 %"), FAILS),
    Case(MEAN, "noise that rises", lambda t: rising_noise(t, "bias", 0.1), FAILS),
    Case(MEAN, "noise that hardly rises", lambda t: rising_noise(t, "bias", 0.07), HOLDS),
    Case(RELEASED_MEAN, "noise that rises", lambda t: rising_noise(t, "released bias", 0.1), FAILS),
    Case(
        MEAN,
        "noise, more of it for one schedule",
        lambda t: rising_noise(rising_noise(t, "bias", 0.02), "bias", 0.05, schedule="square root"),
        HOLDS,
    ),
    Case(MEAN, "much noise", lambda t: rising_noise(t, "bias", 0.1, 0.09), HOLDS),
    Case(MEAN, "too much noise", lambda t: rising_noise(t, "bias", 0.1, 0.11), UNTESTABLE),
    Case(PATH, "three sizes", lambda t: sized(t, "rates", lambda n: n.isin([480, 1440, 4320])), HOLDS, says="-0.4"),
    Case(
        RELEASED_MEAN, "noise that falls", lambda t: rising_noise(t, "released bias", 0.01), HOLDS, says="at most 1 %"
    ),
]


# ------------------------------------------------------------------------------------------------------ Figure 1


def curve(t: Tables, factor: float, where: Any = slice(None)) -> Tables:
    return {"figure-1": change(t["figure-1"], "ode_risk", lambda r: factor * r["ode_risk"], where)}


def outside(t: Tables, share: float) -> Tables:
    """R(t) outside the band at this share of the times of the largest d."""
    table = t["figure-1"]
    where = (table["d"] == table["d"].max()) & (table["t"] > 1 - share)
    return {"figure-1": change(table, "ode_risk", lambda r: r["risk_mean"] + 1.5 * r["risk_sd"], where)}


def spread(t: Tables, exponent: float, where: Any) -> Tables:
    """A band that widens with this power of d, R(t) in its middle."""
    inside = change(t["figure-1"], "ode_risk", lambda r: r["risk_mean"], where)
    return {"figure-1": change(inside, "risk_sd", lambda r: 0.1 * (r["d"] / 10) ** exponent, where)}


def panel(t: Tables, alpha: float, spectrum: str) -> Any:
    return (t["figure-1"]["alpha"] == alpha) & (t["figure-1"]["spectrum"] == spectrum)


FIGURE_CASES = [
    Case(FIGURE_1, "the curve is off", lambda t: curve(t, 1.5), FAILS),
    Case(FIGURE_1, "a tenth is off", lambda t: outside(t, 0.1), HOLDS, says="90 % of the time"),
    Case(FIGURE_1, "more than a tenth is off", lambda t: outside(t, 0.2), FAILS),
    Case(FIGURE_1, "off at small d", lambda t: curve(t, 3.0, t["figure-1"]["d"] == 10), HOLDS, says="100 %"),
    Case(FIGURE_1, "bands widen in one panel", lambda t: spread(t, 0.1, panel(t, 0.5, "uniform")), FAILS),
    Case(FIGURE_1, "bands as wide", lambda t: spread(t, 0.0, panel(t, 0.5, "uniform")), FAILS),
    Case(FIGURE_1, "bands narrow", lambda t: spread(t, -0.1, panel(t, 0.0, "isotropic")), HOLDS, says="1.58 times"),
    Case(
        FIGURE_1,
        "two dimensions",
        lambda t: {"figure-1": t["figure-1"][t["figure-1"]["d"] != 10]},
        HOLDS,
        says=r"2\.67 times",
    ),
    Case(FIGURE_1, "farther off at small d", lambda t: curve(t, 9.0, t["figure-1"]["d"] == 10), HOLDS, says="100 %"),
    Case(FIGURE_1, "no number", lambda t: {"figure-1": t["figure-1"].assign(risk_mean=np.nan)}, UNTESTABLE),
    Case(FIGURE_1, "a single dimension", lambda t: {"figure-1": t["figure-1"][t["figure-1"]["d"] == 10]}, UNTESTABLE),
]

LAST, LONE = "d == 600 and law in ('Rademacher', 'Student t, 5')", "one coordinate"
LAW_CASES = [
    Case(TAILS, "all agree", put("laws", "relative_gap", 0.001, LAST), HOLDS),
    Case(TAILS, "just four errors", put("laws", "relative_gap", lambda r: 4 * r["standard_error"], LAST), HOLDS),
    Case(TAILS, "off at small d alone", put("laws", "relative_gap", lambda r: 0.3 * (r["d"] < 600)), HOLDS),
    Case(TAILS, "another gap", put("laws", "relative_gap", 0.2, LAST, target=LONE), NARROWER, says="20 % off"),
    Case(TAILS, "one law off", put("laws", "relative_gap", lambda r: 0.2 * (r["law"] == "Rademacher"), LAST,
         target=LONE), NARROWER),
    Case(TAILS, "spread out, too", put("laws", "relative_gap", -0.2, LAST, target="spread"), FAILS),
    Case(TAILS, "elliptical laws alone off", put("laws", "relative_gap", lambda r: 0.5 * (r["law"] > "e"), "d == 600"),
         HOLDS),
    Case(TAILS, "noise", put("laws", "standard_error", 0.03, LAST), UNTESTABLE),
    Case(TAILS, "one target", only("laws", "target == 'spread'"), UNTESTABLE),
    Case(TAILS, "no light tails", only("laws", "law == 'Gaussian'"), UNTESTABLE),
    Case(TAILS, "no number", put("laws", "standard_error", np.nan, LAST), UNTESTABLE),
]  # fmt: skip

CASES = [*RATE_CASES, *MORE_RATES, *FIGURE_CASES, *LAW_CASES]
UNDECIDABLE = {
    A1: "it is assumed, and nothing measurable follows",
    A2: "it is assumed, and nothing measurable follows",
}
