"""Verdicts on what sections 1.1 and 8 say of attention beyond a linear head, arXiv:2504.16000v2."""

from __future__ import annotations

import pandas as pd

from costofprivacy.experiments.noisyhead.softmax_head import readings
from costofprivacy.experiments.noisyhead.softmax_head.audits import SOUND
from costofprivacy.experiments.noisyhead.softmax_head.names import ISOTROPIC, SOFTMAX
from costofprivacy.experiments.noisyhead.softmax_head.readings import BEST_ROUTE, LITERAL, ROUTES
from costofprivacy.findings import CONSISTENT, Consequence, Finding, Number, Tables, Verdict, compact, judges, select
from costofprivacy.prose import span

NOTHING = 1.0  # the test error of answering 0
PAR = 2.0  # prices within this factor of each other are of one order
WORDS = {
    ROUTES[0]: "responses clipped, the printed noise",
    ROUTES[1]: "responses clipped, exact noise",
    ROUTES[2]: "each gradient clipped, the printed noise",
    ROUTES[3]: "each gradient clipped, exact noise",
}


def learns(row: pd.Series) -> bool:
    """Whether a head predicts better than answering 0, beyond its error."""
    return bool(row["test_error"] + CONSISTENT * row["standard_error"] < NOTHING)


def broken(audit: pd.DataFrame) -> pd.DataFrame:
    """The audits of the mechanism as it is that find more than its claim."""
    rows = select(audit, fault=SOUND, head=SOFTMAX)
    return rows[rows["epsilon_found"] > rows["epsilon"]]


@judges("noisyhead/section-1.1-transformers")
def transformers(tables: Tables) -> Finding:
    """Can one softmax head be pretrained privately by NoisyHead's design, and does it learn then?"""
    errors, audit = tables["test-error"], tables["audit"]
    rows = {
        (route, name): readings.private(errors, SOFTMAX, name, route)
        for route in ROUTES
        for name in readings.covariances(errors)
    }
    worst = {r: max((rows[k] for k in rows if k[0] == r), key=lambda row: row["test_error"]) for r in ROUTES}
    numbers = tuple(
        Number(f"test error of a softmax head, {WORDS[route]}", row["test_error"], row["standard_error"], NOTHING,
               "test-error", f"covariance = {row['covariance']}, N = {row['N']:.0f}, epsilon = {row['epsilon']:g}")
        for route, row in worst.items()
    )  # fmt: skip
    change = "A tighter bound on one prompt's gradient by clipped responses, or another head that learns or does not."
    if len(broken(audit)):
        row = broken(audit).iloc[0]
        headline = (
            f"A private softmax head gives away more than it claims: an audit finds {compact(row['epsilon_found'])}."
        )
        return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=change)
    literal, best = worst[LITERAL]["test_error"], worst[BEST_ROUTE]["test_error"]
    if learns(worst[LITERAL]):
        headline = (
            f"By NoisyHead's own design a private softmax head errs {compact(literal)}, where answering zero errs more."
        )
        return Finding(Verdict.HOLDS, headline, numbers, would_change=change)
    if learns(worst[BEST_ROUTE]):
        literal = rows[LITERAL, worst[BEST_ROUTE]["covariance"]]["test_error"]  # on the same prompts
        headline = (
            f"By NoisyHead's own design a softmax head is private but errs {compact(literal)}; with each prompt's "
            f"gradient clipped and exact accounting it errs {compact(best)}."
        )
        correction = (
            "Where each prompt's gradient is clipped and the noise is composed exactly. Clipped responses alone bound "
            "a softmax head's gradient, too, but far above its usual length."
        )
        return Finding(Verdict.NARROWER, headline, numbers, Consequence.CONCLUSION, correction, change)
    headline = f"No private softmax head predicts better than answering zero; the best one errs {compact(best)}."
    return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=change)


def of_one_order(prices: pd.DataFrame) -> bool:
    """Whether every price is within a factor of two, and the errors, of the linear head's."""
    low, high = prices["price"] - CONSISTENT * prices["error"], prices["price"] + CONSISTENT * prices["error"]
    return bool((low <= PAR).all() and (high >= 1 / PAR).all())


@judges("noisyhead/section-8-softmax")
def tradeoff(tables: Tables) -> Finding:
    """Does privacy multiply a softmax head's error by what it multiplies a linear head's by, at every size and law?"""
    prices = readings.prices(tables["test-error"])
    isotropic = select(prices, covariance=ISOTROPIC)
    numbers = tuple(
        Number(f"{word} price of privacy over the linear head's", row["price"], row["error"], 1.0, "test-error",
               f"covariance = {row['covariance']}, N = {row['N']:.0f}, epsilon = {row['epsilon']:g}")
        for word, row in (("least", prices.loc[prices["price"].idxmin()]),
                          ("largest", prices.loc[prices["price"].idxmax()]))
    )  # fmt: skip
    change = (
        "A size, a budget or a covariance where the prices are more than a factor two apart, or more heads and layers."
    )
    if of_one_order(prices):
        headline = (
            f"Privacy multiplies a softmax head's error by {told(prices)} times what it multiplies a linear head's by."
        )
        return Finding(Verdict.HOLDS, headline, numbers, would_change=change)
    if of_one_order(isotropic):
        headline = (
            f"On isotropic features privacy multiplies a softmax head's error by {told(isotropic)} times what it "
            "multiplies a linear head's by, elsewhere not."
        )
        correction = "For isotropic features. With an unknown covariance the linear head's price says little."
        return Finding(Verdict.NARROWER, headline, numbers, Consequence.CONCLUSION, correction, change)
    headline = f"Privacy costs a softmax head {told(prices)} times what it costs a linear head: no common law shows."
    return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=change)


def told(prices: pd.DataFrame) -> str:
    """The range of prices, in words."""
    return span(prices["price"])
