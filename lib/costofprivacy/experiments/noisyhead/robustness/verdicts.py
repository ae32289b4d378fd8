"""Verdict on Figure 4 of arXiv:2504.16000v2."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from costofprivacy.experiments.noisyhead import agreement
from costofprivacy.experiments.noisyhead.robustness import arithmetic
from costofprivacy.judging.findings import Number
from costofprivacy.judging.growth import several
from costofprivacy.judging.judges import Ruling, judges, numbers, reads
from costofprivacy.judging.tables import Tables, select
from costofprivacy.judging.vocabulary import CONSISTENT, ROUNDING

GROWS = 0.01  # relative change of a displacement from the least to the largest p that counts as growth
WRONG = 1e-2  # relative error of a solution from which on it is nothing but rounding
SMALLEST_SAMPLE = 3  # trials below which nothing is decided


@judges("noisyhead/figure-4")
def figure_4(tables: Tables) -> Ruling:
    """Is NoisyHead's displacement below ridge's throughout, and does ridge's grow with p?"""
    table, comparison = tables["figure-4"], tables["comparison"]
    decided = several(table["p"]) and table["trials"].min() >= SMALLEST_SAMPLE
    grown = bool((_growth(table, "ridge") > 1 + GROWS).all())
    published = grown and _is_below(table, "published") and _comes_out_again(comparison)
    verdict = reads(published and _is_below(table, "printed"), corrected=published, decided=decided)
    textbook = _growth(select(table, setting="published"), "ridge-normal-equations").max()
    rounding = decided and not grown and textbook > 1 + GROWS and _is_rounding(tables["digits"])
    found = (*_displacements(table), *_published(comparison), *_errors(tables["test-error"]))
    return Ruling(verdict, found, {"growth": textbook}, "rounding" if rounding else "")


def _growth(table: pd.DataFrame, method: str) -> pd.Series:
    """Displacement at the largest p over that at the least, by setting and c."""
    rows = select(table, method=method).sort_values("p").groupby(["setting", "c"])["displacement"]
    return rows.last() / rows.first()


def _is_below(table: pd.DataFrame, setting: str) -> bool:
    """Whether NoisyHead's displacement is below ridge's at every p and c beyond doubt."""
    rows = select(table, setting=setting).set_index(["c", "p"])
    noisy, ridge = (select(rows, method=method) for method in ("noisyhead", "ridge"))
    error = np.hypot(noisy["standard_error"], ridge["standard_error"])
    return bool((ridge["displacement"] - noisy["displacement"] > CONSISTENT * error).all())


def _comes_out_again(comparison: pd.DataFrame) -> bool:
    """Whether all published displacements of NoisyHead do, if there are any."""
    noisy = agreement.agreements(select(comparison, method="noisyhead")).get("published")
    return noisy is None or noisy.complete


def _over_ridge(table: pd.DataFrame, setting: str) -> float:
    mean = select(table, setting=setting).groupby("method")["displacement"].mean()
    return float(mean["noisyhead"] / mean["ridge"])


def _is_rounding(digits: pd.DataFrame) -> bool:
    """Whether, against fifty digits, the rank-one update is right and the normal equations are not, at every α."""
    errors = digits.pivot_table(index="alpha", columns="evaluation", values="median_error")
    right = errors[arithmetic.RANK_ONE] < ROUNDING
    return bool((right & (errors[arithmetic.REPORTED] > WRONG)).all())


def _displacements(table: pd.DataFrame) -> Iterator[Number]:
    """Ridge's growth by method, and NoisyHead over ridge by setting."""
    for method in ("ridge", "ridge-normal-equations"):
        growth = _growth(table, method).max()
        yield from numbers("figure-4", {"largest p over least, at most": (growth, 1.0)}, f"method = {method}")
    for setting in ("printed", "published"):
        over = _over_ridge(table, setting)
        yield from numbers("figure-4", {"NoisyHead over ridge": (over, 1.0)}, f"setting = {setting}")


def _published(comparison: pd.DataFrame) -> Iterator[Number]:
    """How many published numbers come out again, and the largest deviation, by method."""
    for method, rows in select(comparison, setting="published").groupby("method"):
        match = agreement.agreements(rows)["published"]
        named = {
            f"published numbers within {CONSISTENT:g} standard errors": (match.near, match.numbers),
            "largest deviation": (match.worst, CONSISTENT),
        }
        yield from numbers("comparison", named, f"setting = published, method = {method}")


def _errors(errors: pd.DataFrame) -> Iterator[Number]:
    """The test errors beside the variance of the responses."""
    for error in errors[(errors["setting"] != "printed") & (errors["method"] != "ridge-normal-equations")].itertuples():
        row = f"setting = {error.setting}, method = {error.method}, prompts = {error.prompts}"
        against = error.response_variance
        yield Number("test error", error.test_error, error.standard_error, against, "test-error", row)
