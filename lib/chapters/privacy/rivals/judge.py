"""Verdicts on what sections 1 and 2 of arXiv:2505.16329v2 say of other methods."""

import math

import numpy as np
import pandas as pd

from chapters.privacy.rivals import measure
from companion.judging.findings import Number
from companion.judging.growth import several
from companion.judging.judges import Ruling, judges, reads
from companion.judging.tables import Tables, select
from companion.judging.vocabulary import CONSISTENT

MOSTLY = 0.5  # the share of clipped gradients from which clipping is called significant
DOUBLED = 2.0  # up to this factor over all dimensions, growth may be that of a logarithm
NAMES = {measure.OUTPUT: "output perturbation", measure.OBJECTIVE: "objective perturbation"}


def per_feature(thresholds: pd.DataFrame, method: str) -> pd.DataFrame:
    """Records for each feature that a method needs, by d, with the standard error."""
    rows = select(thresholds, method=method).sort_values("d")
    records = np.exp(rows["log_records"]) / rows["d"]
    return pd.DataFrame(
        {"d": rows["d"], "records": records, "standard_error": records * rows["standard_error"]}
    ).reset_index(drop=True)


def growth_with_root(thresholds: pd.DataFrame, method: str) -> tuple[float, float]:
    """The slope of records for each feature against √d, by weighted least squares, and its standard error."""
    rows = per_feature(thresholds, method)
    return weighted_slope(np.sqrt(rows["d"].to_numpy(dtype=float)), rows["records"], rows["standard_error"])


def weighted_slope(x: np.ndarray, y: pd.Series, error: pd.Series) -> tuple[float, float]:
    """Slope of a line through points with these errors, and its standard error."""
    weight = 1 / error.to_numpy() ** 2
    centred = x - np.average(x, weights=weight)
    information = float((weight * centred**2).sum())
    return float((weight * centred * y.to_numpy()).sum() / information), information**-0.5


def _need(row: pd.Series, method: str) -> Number:
    """Records for each feature at one dimension."""
    name, where = f"records for each feature, {method}", f"method = {method}, d = {row['d']:.0f}"
    return Number(name, row["records"], row["standard_error"], None, "thresholds", where)


@judges("dpgd/section-1-linear-samples")
def linear_samples(tables: Tables) -> Ruling:
    """Do records in proportion to d suffice for a gradient method?"""
    rows = per_feature(tables["thresholds"], measure.FULL)
    slope, error = growth_with_root(tables["thresholds"], measure.FULL)
    first, last = rows.iloc[0], rows.iloc[-1]
    grows = slope > CONSISTENT * error
    numbers = (
        _need(first, measure.FULL),
        _need(last, measure.FULL),
        Number(r"slope against $\sqrt d$", slope, error, 0.0, "thresholds"),
    )
    doubled = last["records"] > DOUBLED * first["records"]
    verdict = reads(printed=not (grows and doubled), decided=several(rows["d"]))
    quoted = {"first": first["records"], "records": last["records"]}
    return Ruling(verdict, numbers, quoted, "slow growth" if grows else "")


@judges("dpgd/section-2-sufficient-statistics")
def sufficient_statistics(tables: Tables) -> Ruling:
    """Do the records that AdaSSP needs for each feature grow like the root of d?"""
    rows, where = per_feature(tables["thresholds"], measure.ADASSP), f"method = {measure.ADASSP}"
    slope, error = growth_with_root(tables["thresholds"], measure.ADASSP)
    first, last = rows.iloc[0], rows.iloc[-1]
    least = (rows["records"] / np.sqrt(rows["d"])).min()
    numbers = (
        _need(first, measure.ADASSP),
        _need(last, measure.ADASSP),
        Number(r"slope against $\sqrt d$", slope, error, 0.0, "thresholds", where),
        Number(r"least multiple of $\sqrt d$", least, None, None, "thresholds", where),
    )
    quoted = {"first": first["records"], "last": last["records"]}
    return Ruling(reads(printed=slope > CONSISTENT * error, decided=several(rows["d"])), numbers, quoted)


def _learns(rows: pd.DataFrame) -> bool:
    """Whether a share of the risk is below one at the largest d, and has not risen to more than twice the first."""
    first, last = rows.iloc[0], rows.iloc[-1]
    slope, error = weighted_slope(np.log(rows["d"].to_numpy(dtype=float)), rows["share"], rows["standard_error"])
    rises = slope > CONSISTENT * error and last["share"] > DOUBLED * first["share"]
    trivial = last["share"] + CONSISTENT * last["standard_error"] >= 1
    return not (trivial or rises)


@judges("dpgd/section-1-perturbation")
def perturbation(tables: Tables) -> Ruling:
    """Do output and objective perturbation learn something at d/n fixed, however large d?"""
    by_method = {method: select(tables["proportional"], method=method).sort_values("d") for method in NAMES}
    last = {method: rows.iloc[-1] for method, rows in by_method.items()}
    numbers = tuple(
        Number(f"fraction of the risk left, {NAMES[method]}", row["share"], row["standard_error"], 1.0, "proportional",
               f"method = {method}, d = {row['d']:.0f}")
        for method, row in last.items()
    )  # fmt: skip
    quoted = {"output": last[measure.OUTPUT]["share"], "objective": last[measure.OBJECTIVE]["share"]}
    decided = all(several(rows["d"]) for rows in by_method.values())
    return Ruling(reads(printed=all(map(_learns, by_method.values())), decided=decided), numbers, quoted)


@judges("dpgd/section-1-significant-clipping")
def significant_clipping(tables: Tables) -> Ruling:
    """Is descent on all records best where most gradients are clipped, and worse where none are?"""
    table = tables["clipping"].sort_values("clip")
    best, open_ = table.loc[table["share"].idxmin()], table.iloc[-1]
    at = (f"clip = {best['clip']:g}", f"clip = {open_['clip']:g}")
    clipped, error = best["clipped"], best["clipped_error"]
    least = (best["share"], best["standard_error"], None, "clipping", at[0])
    widest = (open_["share"], open_["standard_error"], best["share"], "clipping", at[1])
    numbers = (
        Number("fraction of the gradients clipped where the risk is least", clipped, error, MOSTLY, "clipping", at[0]),
        Number("least risk over that of the constant predictor", *least),
        Number("the same with the widest clip", *widest),
    )
    apart = open_["share"] - best["share"] > CONSISTENT * math.hypot(open_["standard_error"], best["standard_error"])
    quoted = {"clipped": best["clipped"], "ratio": open_["share"] / best["share"]}
    verdict = reads(printed=best["clipped"] >= MOSTLY and apart, decided=several(table["clip"]))
    return Ruling(verdict, numbers, quoted)
