"""Verdicts on what sections 1 and 2 of arXiv:2505.16329v2 say of other methods."""

import math
from typing import Any

import numpy as np
import pandas as pd

from chapters.privacy.rivals import measure
from companion.judging.growth import several
from companion.judging.judges import Record, Ruling, judges
from companion.judging.tables import select
from companion.judging.tolerances import Cases, Declared, Errors, Relative
from companion.judging.vocabulary import CONSISTENT

MOSTLY = 0.5  # the share of clipped gradients from which clipping is called significant
DOUBLED = 2.0  # up to this factor over all dimensions, growth may be that of a logarithm


def per_feature(thresholds: pd.DataFrame, method: str) -> pd.DataFrame:
    """Records for each feature that a method needs, by d, with the standard error."""
    rows = select(thresholds, method=method).sort_values("d").reset_index(drop=True)
    records = np.exp(rows["log_records"]) / rows["d"]
    return pd.DataFrame({"d": rows["d"], "records": records, "standard_error": records * rows["standard_error"]})


def weighted_slope(x: pd.Series, y: pd.Series, error: pd.Series) -> tuple[float, float]:
    """Slope of a line through points with these errors, and its standard error."""
    weight = 1 / error.to_numpy() ** 2
    centred = x.to_numpy() - np.average(x, weights=weight)
    information = float((weight * centred**2).sum())
    return float((weight * centred * y.to_numpy()).sum() / information), information**-0.5


def _needs(found: Record, method: str, row: str) -> tuple[pd.DataFrame, bool]:
    """Records for each feature that a method needs, by d, and whether they grow with √d."""
    rows, table = per_feature(found["thresholds"], method), "thresholds"
    for at in (rows.iloc[0], rows.iloc[-1]):
        name, where = f"records for each feature, {method}", f"method = {method}, d = {at['d']:.0f}"
        found.number(name, at["records"], table=table, row=where, error=at["standard_error"])
    slope, error = weighted_slope(np.sqrt(rows["d"].astype(float)), rows["records"], rows["standard_error"])
    found.number(r"slope against $\sqrt d$", slope, table=table, row=row, error=error, against=0.0)
    return rows, slope > CONSISTENT * error


@judges("dpgd/section-1-linear-samples")
def linear_samples(found: Record) -> Ruling:
    """Do records in proportion to d suffice for a gradient method?"""
    rows, grows = _needs(found, measure.FULL, "")
    first, last = rows["records"].iloc[0], rows["records"].iloc[-1]
    grounds = "slow growth" if grows else ""
    holds = not (grows and last > DOUBLED * first)
    return found.ruling(holds, decided=several(rows["d"]), grounds=grounds, first=first, records=last)


@judges("dpgd/section-2-sufficient-statistics")
def sufficient_statistics(found: Record) -> Ruling:
    """Do the records that AdaSSP needs for each feature grow like the root of d?"""
    where = f"method = {measure.ADASSP}"
    rows, grows = _needs(found, measure.ADASSP, where)
    multiple = (rows["records"] / np.sqrt(rows["d"])).min()
    found.number(r"least multiple of $\sqrt d$", multiple, table="thresholds", row=where)
    first, last = rows["records"].iloc[0], rows["records"].iloc[-1]
    return found.ruling(grows, decided=several(rows["d"]), first=first, last=last)


@judges("dpgd/section-1-perturbation")
def perturbation(found: Record) -> Ruling:
    """Do output and objective perturbation learn something at d/n fixed, however large d?

    A method does if the share of the risk that is left is below one at the largest d, and does not rise with ln d.
    """
    learns, enough, left = True, True, {}
    for key, method in (("output", measure.OUTPUT), ("objective", measure.OBJECTIVE)):
        rows = select(found["proportional"], method=method).sort_values("d")
        last = rows.iloc[-1]
        name, where = f"fraction of the risk left, {method}", f"method = {method}, d = {last['d']:.0f}"
        error = last["standard_error"]
        left[key] = found.number(name, last["share"], table="proportional", row=where, error=error, against=1.0)
        slope, spread = weighted_slope(np.log(rows["d"].astype(float)), rows["share"], rows["standard_error"])
        learns &= not (last["share"] + CONSISTENT * error >= 1 or slope > CONSISTENT * spread)
        enough &= several(rows["d"])
    return found.ruling(learns, decided=enough, output=left["output"], objective=left["objective"])


@judges("dpgd/section-1-significant-clipping")
def significant_clipping(found: Record) -> Ruling:
    """Is descent on all records best where most gradients are clipped, and worse where none are?"""
    rows = found["clipping"].sort_values("clip")
    best, widest = rows.loc[rows["share"].idxmin()], rows.iloc[-1]
    where: dict[str, Any] = {"table": "clipping", "row": f"clip = {best['clip']:g}"}
    error = best["standard_error"]
    name = "fraction of the gradients clipped where the risk is least"
    clipped = found.number(name, best["clipped"], error=best["clipped_error"], against=MOSTLY, **where)
    least = found.number("least risk over that of the constant predictor", best["share"], error=error, **where)
    where["row"], spread = f"clip = {widest['clip']:g}", widest["standard_error"]
    open_ = found.number("the same with the widest clip", widest["share"], error=spread, against=least, **where)
    apart = open_ - least > CONSISTENT * math.hypot(spread, error)
    decided = several(rows["clip"])
    return found.ruling(clipped >= MOSTLY and apart, decided=decided, clipped=clipped, ratio=open_ / least)


# ---- How near numbers come on another machine ----

# Its noise is drawn along eigenvectors of the second moment. MNIST's is singular, and they are any of their space:
# another machine draws another noise from the same law.
TOLD = "DP-GD, told the second moment"
ERROR = Cases("method", {TOLD: Relative(0.7)})  # of the spread of ten trials

BEHIND = Cases("method", {TOLD: Errors(4.0, "behind_error")}, Relative(scale=1e-3))  # a difference of errors

TOLERANCES: Declared = {
    "errors": {
        "test_error": Cases("method", {TOLD: Errors(4.0, "test_error_error")}),
        "lost": Cases("method", {TOLD: Errors(4.0, "lost_error")}),
        "behind": BEHIND,
        "test_error_error": ERROR,
        "lost_error": ERROR,
        "behind_error": ERROR,
    },
}
