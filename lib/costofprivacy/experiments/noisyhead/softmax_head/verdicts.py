"""Verdict on section 1.1's words on transformers beyond linear attention, arXiv:2504.16000v2."""

from __future__ import annotations

import pandas as pd

from costofprivacy.experiments.noisyhead.softmax_head import readings
from costofprivacy.experiments.noisyhead.softmax_head.audits import SOUND
from costofprivacy.experiments.noisyhead.softmax_head.names import SOFTMAX
from costofprivacy.experiments.noisyhead.softmax_head.readings import BEST_ROUTE, LITERAL, ROUTES
from costofprivacy.findings import CONSISTENT, Consequence, Finding, Number, Tables, Verdict, compact, judges, select

NOTHING = 1.0  # the test error of answering 0
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
