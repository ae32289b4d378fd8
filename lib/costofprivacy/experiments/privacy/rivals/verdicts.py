"""Verdicts on what sections 1 and 2 of arXiv:2505.16329v2 say of other methods."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from costofprivacy.experiments.privacy.rivals import methods
from costofprivacy.judging.findings import Consequence, Finding, Number, Verdict
from costofprivacy.judging.judges import judges
from costofprivacy.judging.prose import compact, listed, percent
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


def _needs(rows: pd.DataFrame, method: str) -> tuple[Number, Number]:
    """Records for each feature at both ends."""
    ends = [rows.iloc[0], rows.iloc[-1]]
    told = [
        Number(
            f"records for each feature, {method}",
            row["records"],
            row["standard_error"],
            None,
            "thresholds",
            f"method = {method}, d = {row['d']:.0f}",
        )
        for row in ends
    ]
    return told[0], told[1]


@judges("dpgd/section-1-linear-samples")
def linear_samples(tables: Tables) -> Finding:
    """Do records in proportion to d suffice for a gradient method?"""
    rows = per_feature(tables["thresholds"], methods.FULL)
    slope, error = growth_with_root(tables["thresholds"], methods.FULL)
    first, last = rows.iloc[0], rows.iloc[-1]
    numbers = (*_needs(rows, methods.FULL), Number("growth with the root of d", slope, error, 0.0, "thresholds"))
    would = "Records for each feature that grow with the dimension beyond a logarithm."
    if slope > CONSISTENT * error and last["records"] > 2 * first["records"]:
        headline = (
            f"Clipped descent needs {compact(first['records'])} records for each feature at the smallest dimension, "
            f"and {compact(last['records'])} at the largest."
        )
        return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=would)
    headline = (
        f"Clipped descent halves the risk with {compact(last['records'])} records for each feature at "
        f"$d = {last['d']:.0f}$, no more than at small dimensions."
    )
    if slope > CONSISTENT * error:
        headline = f"Clipped descent needs at most {compact(last['records'])} records for each feature, slowly growing."
    return Finding(Verdict.HOLDS, headline, numbers, would_change=would)


@judges("dpgd/section-2-sufficient-statistics")
def sufficient_statistics(tables: Tables) -> Finding:
    """Do the records that AdaSSP needs for each feature grow like the root of d?"""
    rows = per_feature(tables["thresholds"], methods.ADASSP)
    slope, error = growth_with_root(tables["thresholds"], methods.ADASSP)
    first, last = rows.iloc[0], rows.iloc[-1]
    least = (rows["records"] / np.sqrt(rows["d"])).min()
    numbers = (
        *_needs(rows, methods.ADASSP),
        Number("growth with the root of d", slope, error, 0.0, "thresholds", f"method = {methods.ADASSP}"),
        Number("least multiple of the root of d", least, None, None, "thresholds", f"method = {methods.ADASSP}"),
    )
    would = "A sufficient-statistics method for which records in proportion to the dimension are enough."
    if slope > CONSISTENT * error:
        headline = (
            f"AdaSSP needs {compact(first['records'])} records for each feature at the smallest dimension and "
            f"{compact(last['records'])} at the largest."
        )
        return Finding(Verdict.HOLDS, headline, numbers, would_change=would)
    headline = f"AdaSSP needs {compact(last['records'])} records for each feature at the largest dimension, no more."
    return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=would)


@judges("dpgd/section-1-perturbation")
def perturbation(tables: Tables) -> Finding:
    """Do output and objective perturbation learn something at d/n fixed, however large d?"""
    table, numbers, trivial, rising = tables["proportional"], [], [], []
    for method, name in NAMES.items():
        rows = select(table, method=method).sort_values("d")
        last = rows.iloc[-1]
        slope, error = weighted_slope(np.log(rows["d"].to_numpy(dtype=float)), rows["share"], rows["standard_error"])
        where = f"method = {method}, d = {last['d']:.0f}"
        numbers.append(
            Number(f"share of the risk left, {name}", last["share"], last["standard_error"], 1.0, "proportional", where)
        )
        trivial += [name] if last["share"] + CONSISTENT * last["standard_error"] >= 1 else []
        rising += [name] if slope > CONSISTENT * error and last["share"] > 2 * rows.iloc[0]["share"] else []
    would = "A share of the risk that tends to that of the constant predictor as the dimension grows."
    if trivial or rising:
        bad = listed(dict.fromkeys(trivial + rising))
        what = "learns nothing that can be seen" if trivial else "learns less and less"
        headline = f"With records in proportion to the dimension {bad} {what} as both grow."
        return Finding(Verdict.FAILS, headline, tuple(numbers), Consequence.CONCLUSION, would_change=would)
    left = [number.value for number in numbers]
    headline = (
        f"With records in proportion to the dimension, {percent(left[0])} of the risk is left by output and "
        f"{percent(left[1])} by objective perturbation."
    )
    return Finding(Verdict.HOLDS, headline, tuple(numbers), would_change=would)


@judges("dpgd/section-1-significant-clipping")
def significant_clipping(tables: Tables) -> Finding:
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
    would = "A clip that leaves most gradients as they are and has no larger error."
    apart = open_["share"] - best["share"] > CONSISTENT * math.hypot(open_["standard_error"], best["standard_error"])
    if best["clipped"] >= MOSTLY and apart:
        headline = (
            f"The error is least where {percent(best['clipped'])} of the gradients are clipped; without clipping it is "
            f"{compact(open_['share'] / best['share'])} times as large."
        )
        return Finding(Verdict.HOLDS, headline, numbers, would_change=would)
    if not apart and best["clip"] < open_["clip"]:
        headline = "Clipping makes no difference that can be seen: the widest clip does as well as the best."
    else:
        headline = f"The error is least where only {percent(best['clipped'])} of the gradients are clipped."
    return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=would)
