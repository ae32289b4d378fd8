"""The verdict on what Section 1.1 of arXiv:2504.16000v2 says of attention beyond a linear head."""

import pandas as pd

from chapters.noisyhead.softmax_head import readings
from chapters.noisyhead.softmax_head.audits import SOUND
from chapters.noisyhead.softmax_head.names import SOFTMAX
from chapters.noisyhead.softmax_head.readings import BEST_ROUTE, ROUTES
from companion.judging.findings import Number
from companion.judging.judges import Ruling, judges, reads
from companion.judging.tables import Tables, select
from companion.judging.vocabulary import CONSISTENT

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
    """The audits of the mechanism as it is that find more than its claim, be it of ε or of μ."""
    rows = select(audit, fault=SOUND, head=SOFTMAX)
    return rows[(rows["epsilon_found"] > rows["epsilon"]) | (rows["mu_found"] > rows["mu"])]


def worst(errors: pd.DataFrame, route: tuple[str, str]) -> pd.Series:
    """The private softmax head by a route, with the covariance on which it errs most."""
    rows = [readings.private(errors, SOFTMAX, name, route) for name in readings.covariances(errors)]
    return max(rows, key=lambda row: float(row["test_error"]))


def placed(name: str, row: pd.Series, value: str, error: str, against: float) -> Number:
    """A number of one covariance, size and budget."""
    at = f"covariance = {row['covariance']}, N = {row['N']:.0f}, epsilon = {row['epsilon']:g}"
    return Number(name, row[value], row[error], against, "test-error", at)


@judges("noisyhead/section-1.1-transformers")
def transformers(tables: Tables) -> Ruling:
    """Can a softmax head be pretrained privately by bounding what a prompt does to a gradient, and does it learn?"""
    errors = tables["test-error"]
    rows = {route: worst(errors, route) for route in ROUTES}
    found = tuple(
        placed(f"test error of a softmax head, {WORDS[route]}", row, "test_error", "standard_error", NOTHING)
        for route, row in rows.items()
    )
    sound = broken(tables["audit"]).empty
    verdict = reads(printed=sound and any(map(learns, rows.values())))
    quoted = {"clipped": rows[BEST_ROUTE]["test_error"], "literal": rows[ROUTES[1]]["test_error"]}
    return Ruling(verdict, found, quoted)
