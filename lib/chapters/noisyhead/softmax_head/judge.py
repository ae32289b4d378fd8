"""The verdict on what Section 1.1 of arXiv:2504.16000v2 says of attention beyond a linear head."""

import math
from typing import NamedTuple

import pandas as pd

from chapters.noisyhead.softmax_head.measure import (
    BOUNDED,
    CLIPPED,
    EXACT,
    ISOTROPIC,
    LAST,
    LINEAR,
    NO_DATA,
    NON_PRIVATE,
    PRINTED,
    PRIVATE,
    SOFTMAX,
    SOUND,
)
from companion.judging.judges import Record, Ruling, judges
from companion.judging.prose import measured
from companion.judging.tables import pick, select
from companion.judging.vocabulary import CONSISTENT

# ---- Rows of the tables, and the ratios that the judge and the page share ----

ROUTES = ((BOUNDED, PRINTED), (BOUNDED, EXACT), (CLIPPED, PRINTED), (CLIPPED, EXACT))
LITERAL, BEST_ROUTE = ROUTES[0], ROUTES[-1]
ACCOUNTS = {EXACT: "exact noise", PRINTED: "the printed noise"}


def where(covariance: str) -> str:
    """A covariance as a sentence has it."""
    return "on isotropic features" if covariance == ISOTROPIC else "with an unknown covariance"


def under(covariance: str) -> str:
    """The same with its condition number."""
    number = covariance.partition("-")[2]
    return where(covariance) + (f" of condition number {number}" if number else "")


def title(covariance: str) -> str:
    """A covariance as a panel or a row has it."""
    number = covariance.partition("-")[2]
    return f"unknown covariance, condition {number}" if number else "isotropic features"


class Value(NamedTuple):
    """A number with its standard error."""

    value: float
    error: float


def largest(errors: pd.DataFrame) -> dict[str, float]:
    """The largest N and ε: the case that the answer speaks of."""
    return {"N": errors["N"].max(), "epsilon": errors["epsilon"].max()}


def covariances(errors: pd.DataFrame) -> list[str]:
    """The covariances, isotropic first."""
    return sorted(errors["covariance"].unique(), key=lambda name: (name != ISOTROPIC, name))


def private(errors: pd.DataFrame, head: str, covariance: str, route: tuple[str, str] = BEST_ROUTE) -> pd.Series:
    """The row of a private head by a route, at the largest N and ε."""
    rows = select(errors, method=PRIVATE, bound=route[0], account=route[1])
    return pick(rows, covariance=covariance, head=head, **largest(errors))


def other(errors: pd.DataFrame, head: str, covariance: str, method: str) -> pd.Series:
    """The row of another method at the largest N, and at the largest ε where it has one."""
    rows = select(errors, covariance=covariance, head=head, method=method, N=errors["N"].max())
    return pick(rows[rows["epsilon"].isna() | (rows["epsilon"] == errors["epsilon"].max())])


def told(row: pd.Series) -> str:
    """A test error with its standard error."""
    return measured(row["test_error"], row["standard_error"])


def ratio(first: pd.Series, second: pd.Series) -> Value:
    """Of two test errors, as if their errors were independent."""
    value = first["test_error"] / second["test_error"]
    relative = (row["standard_error"] / row["test_error"] for row in (first, second))
    return Value(value, value * math.hypot(*relative))


def cost(errors: pd.DataFrame, head: str, covariance: str) -> Value:
    """The private head's test error over the non-private one's, less 1."""
    found = ratio(private(errors, head, covariance), other(errors, head, covariance, NON_PRIVATE))
    return Value(found.value - 1, found.error)


def prices(errors: pd.DataFrame) -> pd.DataFrame:
    """What privacy multiplies the softmax head's error by, over what it multiplies the linear head's by; everywhere.

    Returns:
        columns covariance, N, epsilon, price and error, its standard error as if all four means were independent.
    """
    place, rows = ["covariance", "N"], select(errors, method=PRIVATE, bound=CLIPPED, account=EXACT)
    factors = []
    for head in (SOFTMAX, LINEAR):
        free = select(errors, head=head, method=NON_PRIVATE)[[*place, "test_error", "standard_error"]]
        both = select(rows, head=head).merge(free, on=place, suffixes=("", "_free"))
        relative = (both["standard_error"] / both["test_error"]) ** 2
        relative += (both["standard_error_free"] / both["test_error_free"]) ** 2
        factor = both["test_error"] / both["test_error_free"]
        factors.append(both[[*place, "epsilon"]].assign(factor=factor, relative=relative))
    both = factors[0].merge(factors[1], on=[*place, "epsilon"], suffixes=("", "_linear"))
    price = both["factor"] / both["factor_linear"]
    error = price * (both["relative"] + both["relative_linear"]) ** 0.5
    return both[[*place, "epsilon"]].assign(price=price, error=error)


def learnable(errors: pd.DataFrame, head: str, covariance: str) -> Value:
    """The test error of the best head that uses no data, over the best non-private head's."""
    return ratio(other(errors, head, covariance, NO_DATA), other(errors, head, covariance, NON_PRIVATE))


def worth(errors: pd.DataFrame, head: str, route: tuple[str, str]) -> Value:
    """What another route multiplies a head's test error by, on isotropic features."""
    return ratio(private(errors, head, ISOTROPIC, route), private(errors, head, ISOTROPIC))


def averaging(errors: pd.DataFrame, head: str, covariance: str) -> Value:
    """The last iterate's test error over the average's, each by its own best plan."""
    return ratio(other(errors, head, covariance, LAST), private(errors, head, covariance))


def heads(errors: pd.DataFrame, covariance: str) -> Value:
    """The softmax head's test error over the linear head's, both private by the best route."""
    return ratio(private(errors, SOFTMAX, covariance), private(errors, LINEAR, covariance))


def heads_without_privacy(errors: pd.DataFrame, covariance: str) -> Value:
    """The same, both trained without privacy."""
    return ratio(other(errors, SOFTMAX, covariance, NON_PRIVATE), other(errors, LINEAR, covariance, NON_PRIVATE))


def edges(choices: pd.DataFrame) -> pd.DataFrame:
    """How far the plans that were tried enclose the chosen ones: each gradient clipped, exact noise, for the average.

    Returns:
        columns N, epsilon, head; enclosed, whether plans with a smaller and a larger cηT were tried at the chosen c;
        smallest, whether c is the smallest that was tried; lost, the share that is lost without plans of that c, NaN
        where there are no others.
    """
    rows = []
    for (N, epsilon, head), tried in select(choices, bound=CLIPPED, account=EXACT).groupby(["N", "epsilon", "head"]):
        error, best = tried["test_error, average"], tried[tried["chosen, average"]].iloc[0]
        like = select(tried, clip_norm=best["clip_norm"])["time"]
        small = tried["clip_norm"] == tried["clip_norm"].min()
        row = {"N": N, "epsilon": epsilon, "head": head, "enclosed": like.min() < best["time"] < like.max()}
        rows.append(row | {"smallest": small[best.name], "lost": error[~small].min() / error.min() - 1})
    return pd.DataFrame(rows)


# ---- The judge ----

NOTHING = 1.0  # the test error of answering 0


@judges("noisyhead/section-1.1-transformers")
def transformers(found: Record) -> Ruling:
    """Can a softmax head be pretrained privately by bounding what a prompt does to a gradient, and does it learn?"""
    errors, worst, learns = found["test-error"], {}, False
    for bound, account in ROUTES:
        rows = [private(errors, SOFTMAX, name, (bound, account)) for name in covariances(errors)]
        row = max(rows, key=lambda row: float(row["test_error"]))
        name = f"test error of a softmax head, {bound}, {ACCOUNTS[account]}"
        at = f"covariance = {row['covariance']}, N = {row['N']:.0f}, epsilon = {row['epsilon']:g}"
        value, error = row["test_error"], row["standard_error"]
        found.number(name, value, error=error, against=NOTHING, table="test-error", row=at)
        worst[bound, account] = value
        learns |= bool(value + CONSISTENT * error < NOTHING)
    audit = select(found["audit"], fault=SOUND, head=SOFTMAX)
    broken = (audit["epsilon_found"] > audit["epsilon"]) | (audit["mu_found"] > audit["mu"])
    return found.ruling(learns and not broken.any(), clipped=worst[BEST_ROUTE], literal=worst[ROUTES[1]])
