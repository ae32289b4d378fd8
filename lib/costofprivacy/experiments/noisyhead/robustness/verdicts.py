"""Verdict on Figure 4 of arXiv:2504.16000v2."""

from __future__ import annotations

import numpy as np
import pandas as pd

from costofprivacy.experiments.noisyhead import agreement
from costofprivacy.experiments.noisyhead.robustness import arithmetic, rates
from costofprivacy.judging.findings import Consequence, Finding, Number, Verdict
from costofprivacy.judging.growth import several
from costofprivacy.judging.judges import judges
from costofprivacy.judging.prose import compact
from costofprivacy.judging.tables import Tables, select
from costofprivacy.judging.vocabulary import CONSISTENT

HOLDS, CORRECTED, NARROWER, FAILS, UNTESTABLE = Verdict
NONE, NUMBERS, CONCLUSION = Consequence
GROWS = 0.01  # relative change of a displacement from the least to the largest p that counts as growth
RIGHT, WRONG = 1e-9, 1e-2  # relative errors of a solution up to which it is right, from which on it is rounding
SMALLEST_SAMPLE = 3  # trials below which nothing is decided


@judges("noisyhead/figure-4")
def figure_4(tables: Tables) -> Finding:
    """Is NoisyHead's displacement below ridge's throughout, and does ridge's grow with p?"""
    table = tables["figure-4"]
    change = "A displacement of ridge that grows with $p$ in exact arithmetic."
    rule = rates.ruling(change, _numbers(tables))
    noisy = agreement.agreements(select(tables["comparison"], method="noisyhead")).get("published")
    if not several(table["p"]) or table["trials"].min() < SMALLEST_SAMPLE:
        return rule(UNTESTABLE, "A single power or too few trials show no growth.")
    if not (_growth(table, "ridge") > 1 + GROWS).all():
        return rule(FAILS, _not_growing(tables), CONCLUSION)
    if not _is_below(table, "published"):
        times = compact(_over_ridge(table, "published"))
        headline = f"In the authors' settings NoisyHead moves {times} times as far as ridge."
        return rule(FAILS, headline, CONCLUSION)
    if noisy and not noisy.complete:
        headline = f"Of {noisy.numbers} published displacements of NoisyHead {noisy.near} come out again."
        return rule(FAILS, headline, NUMBERS)
    if not _is_below(table, "printed"):
        times = compact(_over_ridge(table, "printed"))
        headline = f"With the printed settings NoisyHead moves {times} times as far as ridge."
        correction = r"$R = 0.1\,\mathcal C^2\sqrt{N/L}$ in place of (4.1)'s, and $G$ of the proof."
        return rule(CORRECTED, headline, NUMBERS, correction)
    headline = "Under attack ridge's predictions move the more the larger $p$, and NoisyHead's less than ridge's."
    return rule(HOLDS, headline)


def _not_growing(tables: Tables) -> str:
    """What ridge does in place of growing, and what the growth of the normal equations is."""
    textbook = _growth(select(tables["figure-4"], setting="published"), "ridge-normal-equations").max()
    if _is_rounding(tables) and textbook > 1 + GROWS:
        times = compact(textbook)
        return f"Ridge's displacement does not grow with $p$: the growth shown, here {times} times, is rounding error."
    return "Ridge's displacement does not grow with $p$ in this range."


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


def _over_ridge(table: pd.DataFrame, setting: str) -> float:
    mean = select(table, setting=setting).groupby("method")["displacement"].mean()
    return float(mean["noisyhead"] / mean["ridge"])


def _is_rounding(tables: Tables) -> bool:
    """Whether, against fifty digits, the rank-one update is right and the normal equations are not, at every α."""
    errors = tables["digits"].pivot_table(index="alpha", columns="evaluation", values="median_error")
    right = errors[arithmetic.RANK_ONE] < RIGHT
    return bool((right & (errors[arithmetic.REPORTED] > WRONG)).all())


def _numbers(tables: Tables) -> tuple[Number, ...]:
    """Ridge's growth by method, NoisyHead over ridge and published numbers by setting, and the test errors."""
    table, errors = tables["figure-4"], tables["test-error"]
    found = []
    for method in ("ridge", "ridge-normal-equations"):
        growth = _growth(table, method).max()
        found.append(Number("largest p over least, at most", growth, None, 1.0, "figure-4", f"method = {method}"))
    for setting in ("printed", "published"):
        over = _over_ridge(table, setting)
        found.append(Number("NoisyHead over ridge", over, None, 1.0, "figure-4", f"setting = {setting}"))
    for method, rows in select(tables["comparison"], setting="published").groupby("method"):
        match, row = agreement.agreements(rows)["published"], f"setting = published, method = {method}"
        name = f"published numbers within {CONSISTENT:g} standard errors"
        found.append(Number(name, match.near, None, match.numbers, "comparison", row))
        found.append(Number("largest deviation", match.worst, None, CONSISTENT, "comparison", row))
    for error in errors[(errors["setting"] != "printed") & (errors["method"] != "ridge-normal-equations")].itertuples():
        row = f"setting = {error.setting}, method = {error.method}, prompts = {error.prompts}"
        against = error.response_variance
        found.append(Number("test error", error.test_error, error.standard_error, against, "test-error", row))
    return tuple(found)
