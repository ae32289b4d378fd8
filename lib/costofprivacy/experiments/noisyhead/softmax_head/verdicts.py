"""Verdicts on what sections 1.1 and 8 say of attention beyond a linear head, arXiv:2504.16000v2."""

from __future__ import annotations

import pandas as pd

from costofprivacy.experiments.noisyhead.softmax_head import readings
from costofprivacy.experiments.noisyhead.softmax_head.audits import SOUND
from costofprivacy.experiments.noisyhead.softmax_head.names import PRIVATE, SOFTMAX
from costofprivacy.experiments.noisyhead.softmax_head.readings import BEST_ROUTE, LITERAL, ROUTES
from costofprivacy.judging.findings import Consequence, Finding, Number, Verdict
from costofprivacy.judging.judges import judges
from costofprivacy.judging.prose import compact, span
from costofprivacy.judging.tables import Tables, select
from costofprivacy.judging.vocabulary import CONSISTENT

NOTHING = 1.0  # the test error of answering 0
FEWEST = 3  # sizes, and budgets, along which a law can show
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
    """The audits of the mechanism as it is that find more than its claim, be it of ε or of μ."""
    rows = select(audit, fault=SOUND, head=SOFTMAX)
    return rows[(rows["epsilon_found"] > rows["epsilon"]) | (rows["mu_found"] > rows["mu"])]


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
        over = row["epsilon_found"] > row["epsilon"]
        found = compact(row["epsilon_found"]) if over else f"$\\mu$ = {compact(row['mu_found'])}"
        headline = f"A private softmax head gives away more than it claims: an audit finds {found}."
        return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=change)
    if learns(worst[LITERAL]):
        headline = (
            f"By NoisyHead's own design a private softmax head errs {compact(worst[LITERAL]['test_error'])}, where "
            "answering zero errs more."
        )
        return Finding(Verdict.HOLDS, headline, numbers, would_change=change)
    best = worst[BEST_ROUTE]
    if learns(best):
        headline = _narrower(worst[LITERAL], rows[BEST_ROUTE, worst[LITERAL]["covariance"]])
        correction = (
            "Where each prompt's gradient is clipped and the noise is composed exactly. Clipped responses alone bound "
            "a softmax head's gradient, too, but far above its usual length."
        )
        return Finding(Verdict.NARROWER, headline, numbers, Consequence.CONCLUSION, correction, change)
    headline = (
        f"No private softmax head predicts better than answering zero; the best one errs {compact(best['test_error'])}."
    )
    return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=change)


def _narrower(literal: pd.Series, best: pd.Series) -> str:
    """The headline where the design learns nothing as it is, and its mended form does; rows of one covariance."""
    error = CONSISTENT * literal["standard_error"]
    word = "no better than" if abs(literal["test_error"] - NOTHING) <= error else "worse than"
    place = readings.where(literal["covariance"])
    return (
        f"{place[0].upper()}{place[1:]} a private softmax head errs {compact(literal['test_error'])} by NoisyHead's "
        f"design, {word} answering zero, and {compact(best['test_error'])} with clipped, exactly counted gradients."
    )


def common_factor(prices: pd.DataFrame) -> float | None:
    """The one price that all agree with, each within its errors; None where there is none."""
    weight = 1 / prices["error"] ** 2
    factor = float((weight * prices["price"]).sum() / weight.sum())
    return factor if ((prices["price"] - factor).abs() <= CONSISTENT * prices["error"]).all() else None


def _learns_anywhere(errors: pd.DataFrame) -> bool:
    """Whether the private softmax head predicts better than answering 0 at some size, budget and covariance."""
    bound, account = BEST_ROUTE
    rows = select(errors, head=SOFTMAX, method=PRIVATE, bound=bound, account=account)
    return any(learns(row) for _, row in rows.iterrows())


@judges("noisyhead/section-8-softmax")
def tradeoff(tables: Tables) -> Finding:
    """Does one factor turn the linear head's trade-off into a softmax head's, so that its law is the other's, too?

    Section 8 names a direction, and a law in N and ε would be its proof. The one that can be read off here is the
    linear head's times a factor. Where none fits, another law may: then nothing is found for or against it.
    """
    errors = tables["test-error"]
    prices = readings.prices(errors)
    numbers = tuple(
        Number(f"{word} price of privacy over the linear head's", row["price"], row["error"], 1.0, "test-error",
               f"covariance = {row['covariance']}, N = {row['N']:.0f}, epsilon = {row['epsilon']:g}")
        for word, row in (("least", prices.loc[prices["price"].idxmin()]),
                          ("largest", prices.loc[prices["price"].idxmax()]))
    )  # fmt: skip
    change = (
        "A law for a softmax head's test error in the number of prompts and the budget, proved or fitted to more sizes."
    )
    if not _learns_anywhere(errors):
        headline = "No private softmax head beats answering zero at any size or budget: there is nothing to trade."
        return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=change)
    if min(prices["N"].nunique(), prices["epsilon"].nunique()) < FEWEST:
        headline = "Section 8 names a direction, not a law; too few sizes and budgets were run to show one."
        return Finding(Verdict.UNTESTABLE, headline, numbers, would_change=change)
    factor = common_factor(prices)
    if factor is not None:
        headline = (
            f"Privacy raises a softmax head's error {compact(factor)} times as much as a linear head's at every size, "
            "budget and covariance: one law serves both."
        )
        return Finding(Verdict.HOLDS, headline, numbers, would_change=change)
    headline = (
        "Section 8 names a direction, not a law; privacy raises a softmax head's error "
        f"{span(prices['price'])} times as much as a linear head's."
    )
    return Finding(Verdict.UNTESTABLE, headline, numbers, would_change=change)
