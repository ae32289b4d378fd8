"""Verdicts on what sections 1 and 2 of arXiv:2505.16329v2 say of other methods."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from costofprivacy.experiments.privacy.rivals import methods
from costofprivacy.judging.findings import Number
from costofprivacy.judging.judges import Ruling, judges, reads
from costofprivacy.judging.tables import Tables, select
from costofprivacy.judging.vocabulary import CONSISTENT

MOSTLY = 0.5  # the share of clipped gradients from which clipping is called significant
NAMES = {methods.OUTPUT: "output perturbation", methods.OBJECTIVE: "objective perturbation"}


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
    rows = per_feature(tables["thresholds"], methods.FULL)
    slope, error = growth_with_root(tables["thresholds"], methods.FULL)
    first, last = rows.iloc[0], rows.iloc[-1]
    grows = slope > CONSISTENT * error
    numbers = (
        _need(first, methods.FULL),
        _need(last, methods.FULL),
        Number("growth with the root of d", slope, error, 0.0, "thresholds"),
    )
    verdict = reads(printed=not (grows and last["records"] > 2 * first["records"]))
    return Ruling(verdict, numbers, {"records": last["records"], "d": last["d"]}, "slow growth" if grows else "")


@judges("dpgd/section-2-sufficient-statistics")
def sufficient_statistics(tables: Tables) -> Ruling:
    """Do the records that AdaSSP needs for each feature grow like the root of d?"""
    rows, where = per_feature(tables["thresholds"], methods.ADASSP), f"method = {methods.ADASSP}"
    slope, error = growth_with_root(tables["thresholds"], methods.ADASSP)
    first, last = rows.iloc[0], rows.iloc[-1]
    least = (rows["records"] / np.sqrt(rows["d"])).min()
    numbers = (
        _need(first, methods.ADASSP),
        _need(last, methods.ADASSP),
        Number("growth with the root of d", slope, error, 0.0, "thresholds", where),
        Number("least multiple of the root of d", least, None, None, "thresholds", where),
    )
    quoted = {"first": first["records"], "last": last["records"]}
    return Ruling(reads(printed=slope > CONSISTENT * error), numbers, quoted)


def _learns(rows: pd.DataFrame) -> bool:
    """Whether a share of the risk is below one at the largest d, and has not risen to more than twice the first."""
    first, last = rows.iloc[0], rows.iloc[-1]
    slope, error = weighted_slope(np.log(rows["d"].to_numpy(dtype=float)), rows["share"], rows["standard_error"])
    rises = slope > CONSISTENT * error and last["share"] > 2 * first["share"]
    trivial = last["share"] + CONSISTENT * last["standard_error"] >= 1
    return not (trivial or rises)


@judges("dpgd/section-1-perturbation")
def perturbation(tables: Tables) -> Ruling:
    """Do output and objective perturbation learn something at d/n fixed, however large d?"""
    by_method = {method: select(tables["proportional"], method=method).sort_values("d") for method in NAMES}
    last = {method: rows.iloc[-1] for method, rows in by_method.items()}
    numbers = tuple(
        Number(f"share of the risk left, {NAMES[method]}", row["share"], row["standard_error"], 1.0, "proportional",
               f"method = {method}, d = {row['d']:.0f}")
        for method, row in last.items()
    )  # fmt: skip
    quoted = {"output": last[methods.OUTPUT]["share"], "objective": last[methods.OBJECTIVE]["share"]}
    return Ruling(reads(printed=all(map(_learns, by_method.values()))), numbers, quoted)


@judges("dpgd/section-1-significant-clipping")
def significant_clipping(tables: Tables) -> Ruling:
    """Is descent on all records best where most gradients are clipped, and worse where none are?"""
    table = tables["clipping"].sort_values("clip")
    best, open_ = table.loc[table["share"].idxmin()], table.iloc[-1]
    numbers = (
        Number("share of gradients clipped there", best["clipped"], best["clipped_error"], MOSTLY, "clipping",
               f"clip = {best['clip']:g}"),
        Number("least risk over the constant predictor's", best["share"], best["standard_error"], None, "clipping",
               f"clip = {best['clip']:g}"),
        Number("the same with the widest clip", open_["share"], open_["standard_error"], best["share"], "clipping",
               f"clip = {open_['clip']:g}"),
    )  # fmt: skip
    apart = open_["share"] - best["share"] > CONSISTENT * math.hypot(open_["standard_error"], best["standard_error"])
    quoted = {"clipped": best["clipped"], "ratio": open_["share"] / best["share"]}
    return Ruling(reads(printed=best["clipped"] >= MOSTLY and apart), numbers, quoted)
