"""Verdicts on what sections 1.1 and 8 say of attention beyond a linear head, arXiv:2504.16000v2."""

from __future__ import annotations

import pandas as pd

from costofprivacy.experiments.noisyhead.softmax_head import readings
from costofprivacy.experiments.noisyhead.softmax_head.audits import SOUND
from costofprivacy.experiments.noisyhead.softmax_head.names import PRIVATE, SOFTMAX
from costofprivacy.experiments.noisyhead.softmax_head.readings import BEST_ROUTE, LITERAL, ROUTES
from costofprivacy.judging.findings import Number
from costofprivacy.judging.judges import Ruling, judges, reads
from costofprivacy.judging.prose import compared
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
BESIDE_NOTHING = ("better than", "no better than", "worse than")


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
    """Can one softmax head be pretrained privately by NoisyHead's design, and does it learn then?"""
    errors = tables["test-error"]
    rows = {route: worst(errors, route) for route in ROUTES}
    found = tuple(
        placed(f"test error of a softmax head, {WORDS[route]}", row, "test_error", "standard_error", NOTHING)
        for route, row in rows.items()
    )
    literal, sound = rows[LITERAL], broken(tables["audit"]).empty
    verdict = reads(printed=sound and learns(literal), narrower=sound and learns(rows[BEST_ROUTE]))
    quoted = {
        "where": readings.where(literal["covariance"]).capitalize(),
        "literal": literal["test_error"],
        "beside": compared(literal["test_error"], NOTHING, BESIDE_NOTHING, literal["standard_error"]),
        "clipped": readings.private(errors, SOFTMAX, literal["covariance"])["test_error"],
    }
    return Ruling(verdict, found, quoted)


def agree(prices: pd.DataFrame) -> bool:
    """Whether all prices agree with their weighted mean, each within its errors."""
    weight = 1 / prices["error"] ** 2
    factor = (weight * prices["price"]).sum() / weight.sum()
    return bool(((prices["price"] - factor).abs() <= CONSISTENT * prices["error"]).all())


def learns_anywhere(errors: pd.DataFrame) -> bool:
    """Whether the private softmax head predicts better than answering 0 at some size, budget and covariance."""
    bound, account = BEST_ROUTE
    rows = select(errors, head=SOFTMAX, method=PRIVATE, bound=bound, account=account)
    return any(learns(row) for _, row in rows.iterrows())


@judges("noisyhead/section-8-softmax")
def tradeoff(tables: Tables) -> Ruling:
    """Does one factor turn the linear head's trade-off into a softmax head's, so that its law is the other's, too?

    Section 8 names a direction, and a law in N and ε would be its proof. The one that can be read off here is the
    linear head's times a factor. Where none fits, another law may: then nothing is found for or against it.
    """
    prices = readings.prices(tables["test-error"])
    ends = {"least": prices.loc[prices["price"].idxmin()], "largest": prices.loc[prices["price"].idxmax()]}
    found = tuple(
        placed(f"{end} price of privacy over the linear head's", row, "price", "error", 1.0)
        for end, row in ends.items()
    )
    learnt = learns_anywhere(tables["test-error"])
    enough = min(prices["N"].nunique(), prices["epsilon"].nunique()) >= FEWEST
    common = enough and agree(prices)
    verdict = reads(printed=learnt and common, decided=common or not learnt)
    return Ruling(verdict, found, {"prices": prices["price"]}, "" if enough else "few sizes")
