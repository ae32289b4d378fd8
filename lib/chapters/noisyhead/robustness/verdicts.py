"""Verdicts on Figure 4 of arXiv:2504.16000v2, its caption, and what section 6.3 and the abstract conclude from it."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from chapters.noisyhead import agreement
from chapters.noisyhead.robustness import arithmetic
from chapters.noisyhead.robustness.verdicts_theorem import HIDDEN
from companion.judging.findings import Number
from companion.judging.growth import several
from companion.judging.judges import Ruling, judges, numbers, reads
from companion.judging.tables import Tables, select
from companion.judging.vocabulary import CONSISTENT, ROUNDING
from costofprivacy.settings import Setting

GROWS = 0.01  # relative change of a displacement from the least to the largest p that counts as growth
WRONG = 1e-2  # relative error of a solution from which on it is nothing but rounding
SMALLEST_SAMPLE = 3  # trials below which nothing is decided
OF_THE_PAPER = (str(Setting.PRINTED), str(Setting.PUBLISHED))


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
    quoted = {"growth": textbook, "printed": _over_ridge(table, "printed")}
    return Ruling(verdict, found, quoted, "rounding" if rounding else "")


@judges("noisyhead/figure-4-caption")
def figure_4_caption(tables: Tables) -> Ruling:
    """Is NoisyHead's test error after the attack below ridge's, in both settings of the paper?"""
    rows = select(tables["test-error"], prompts="attacked").set_index(["setting", "method"])
    noisy, ridge = (rows.xs(method, level="method").loc[list(OF_THE_PAPER)] for method in ("noisyhead", "ridge"))
    distance = noisy["test_error"] - ridge["test_error"]
    error = CONSISTENT * np.hypot(noisy["standard_error"], ridge["standard_error"])
    lower, higher = bool((distance < -error).all()), bool((distance > error).any())
    found = tuple(
        Number("test error after the attack", row.test_error, row.standard_error, row.response_variance,
               "test-error", f"setting = {setting}, method = {method}")
        for method, side in (("noisyhead", noisy), ("ridge", ridge))
        for setting, row in zip(OF_THE_PAPER, side.itertuples())
    )  # fmt: skip
    quoted = {"noisyhead": noisy["test_error"].min(), "ridge": ridge["test_error"].max()}
    return Ruling(reads(printed=lower, decided=lower or higher), found, quoted)


@judges("noisyhead/section-6.3-validation")
def section_63_validation(tables: Tables) -> Ruling:
    """Is Figure 4 inside Theorem 5.1's conditions, hidden constants up to `HIDDEN`, and does it show (5.3)?"""
    conditions, table = tables["conditions"], tables["figure-4"]
    low, high = conditions.min(), conditions.max()
    noisy = select(table, method="noisyhead").groupby("setting")["displacement"].max().loc[list(OF_THE_PAPER)].min()
    ridge = select(table, method="ridge")["displacement"].max() / low["claimed_for_ridge"]
    shown = {"ridge's displacement over the least that (5.3) claims, at most": (ridge, 1.0)}
    ordered = high["claimed_for_noisyhead"] < low["claimed_for_ridge"]
    kept = noisy <= HIDDEN * low["claimed_for_noisyhead"] and ordered and ridge >= 1
    found = (*_met(conditions), *numbers("figure-4", shown, "method = ridge"))
    verdict = reads(printed=bool(_is_inside(conditions) and kept))
    return Ruling(verdict, found, {"upper": high["over_upper_end"], "ridge": 1 / ridge})


@judges("noisyhead/abstract-simulations")
def abstract_simulations(tables: Tables) -> Ruling:
    """Has Theorem 5.1, one finding of all, a simulation inside its conditions? Figure 4 is the only one there is."""
    conditions = tables["conditions"]
    upper = conditions["over_upper_end"].min()
    return Ruling(reads(printed=_is_inside(conditions)), _met(conditions), {"upper": upper})


def _met(conditions: pd.DataFrame) -> tuple[Number, ...]:
    """How far inside or outside the conditions of Theorem 5.1 the attacks of Figure 4 are."""
    low, high = conditions.min(), conditions.max()
    named = {
        r"penalty over the least that the theorem admits": (low["penalty_over_least"], 1.0),
        r"$\alpha^2\mu^4$ over the upper end of (5.2), at most": (high["over_upper_end"], HIDDEN),
        r"$\alpha^2\mu^2$ over the lower end of (5.2), at least": (low["over_lower_end"], 1 / HIDDEN),
        "probability with which the theorem is claimed": (low["probability"], 0.0),
    }
    return numbers("conditions", named, "")


def _is_inside(conditions: pd.DataFrame) -> bool:
    """Whether they meet these conditions at every α, with hidden constants up to `HIDDEN` and some probability."""
    attack = (conditions["over_upper_end"] <= HIDDEN) & (conditions["over_lower_end"] >= 1 / HIDDEN)
    return bool((attack & (conditions["penalty_over_least"] > 1) & (conditions["probability"] > 0)).all())


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
        yield from numbers(
            "figure-4", {"displacement at the largest $p$ over that at the least": (growth, 1.0)}, f"method = {method}"
        )
    for setting in ("printed", "published"):
        over = _over_ridge(table, setting)
        yield from numbers("figure-4", {"NoisyHead's displacement over ridge's": (over, 1.0)}, f"setting = {setting}")


def _published(comparison: pd.DataFrame) -> Iterator[Number]:
    """How many published numbers come out again, and the largest deviation, by method."""
    for method, rows in select(comparison, setting="published").groupby("method"):
        match = agreement.agreements(rows)["published"]
        named = {
            f"published numbers within {CONSISTENT:g} standard errors": (match.near, match.numbers),
            "largest deviation, in standard errors": (match.worst, CONSISTENT),
        }
        yield from numbers("comparison", named, f"setting = published, method = {method}")


def _errors(errors: pd.DataFrame) -> Iterator[Number]:
    """The test errors beside the variance of the responses."""
    for error in errors[(errors["setting"] != "printed") & (errors["method"] != "ridge-normal-equations")].itertuples():
        row = f"setting = {error.setting}, method = {error.method}, prompts = {error.prompts}"
        against = error.response_variance
        yield Number("test error", error.test_error, error.standard_error, against, "test-error", row)
