"""Verdicts on section 4 of arXiv:2504.16000v2: the split of the test error, Theorem 4.1 and Remarks 4.1-4.2."""

import numpy as np
import pandas as pd

from chapters.noisyhead.cost_of_privacy.trends import Trend, lost, told, trend
from companion import _fits
from companion.judging.findings import Verdict
from companion.judging.growth import LOST_POWER, LOST_POWER_SIMULATED, several
from companion.judging.judges import Ruling, judges, numbers, reads
from companion.judging.tables import Tables, select
from companion.judging.vocabulary import CONSISTENT, MUCH_SMALLER, ROUNDING, consistent

IDLE = 0.2  # Π_R plays no part where the noise is below this share of what R allows
DECAYS = -1.0  # power of T beyond which an exponential has fallen
AXES = ("T", "N", "L", "D")
BIAS, NOISE = "rest at ridge(2λ)", "noise of mean zero"


def failure_probability(events: pd.DataFrame) -> float:
    """κ, the same in all rows."""
    return float(events["kappa"].max())


def short(rows: pd.DataFrame, failure: float) -> pd.Series:
    """L ≤ D log(NL/κ): the prompts in which ‖Z‖ does not outgrow C/√L."""
    return rows["D"] * np.log(rows["N"] * rows["L"] / failure) >= rows["L"]


def idle(sides: pd.DataFrame) -> pd.DataFrame:
    """Rows of cells in which Π_R plays no part: the noise is far below what R allows."""
    noise = select(sides, quantity="noise")
    calm = noise[noise["value"] < IDLE * noise["limit_of_R"]]
    return sides.merge(calm[["axis", "setting", "N", "L", "D", "T"]])


def quantity(sides: pd.DataFrame, setting: str, axis: str, name: str) -> pd.DataFrame:
    """The rows of one quantity along one axis, in order."""
    return select(sides, setting=setting, axis=axis, quantity=name).sort_values(["N", "L", "D", "T"])


def _along(rows: pd.DataFrame, axis: str, right: pd.Series | float) -> Trend | None:
    """How a measured quantity goes against ``right`` along an axis."""
    return trend(rows, axis, rows["value"] / right, rows["standard_error"] / right, LOST_POWER_SIMULATED)


@judges("noisyhead/theorem-4.1")
def theorem_41(tables: Tables) -> Ruling:
    """(4.2): left over right along each size, its descent part, and the corrected bound in the corrected setting."""
    sides = tables["both-sides"]
    trends, rests = totals(sides), _rests(sides)
    worst, inside, exceeded = lost(trends), _short_ratio(tables), _corrected_score(sides)
    named = {
        "measured cost over the bound, short prompts, largest": (inside, 1.0, "axis = L, printed"),
        "excess over the corrected bound, in standard errors, largest": (exceeded, CONSISTENT, ""),
    }
    found = (
        *told(trends, "measured cost over the bound", "both-sides", ", printed"),
        *told([rests], "descent over the bound's descent term", "both-sides", ", printed"),
        *numbers("both-sides", named),
    )
    kept = exceeded <= CONSISTENT
    verdict = reads(
        printed=not worst and not lost([rests]),
        corrected=not worst and kept,
        narrower=[g.size for g in worst] == ["L"] and inside <= 1 and kept,
        decided=bool(worst) or None not in (*trends, rests),
    )
    return Ruling(verdict, found, {"power": worst[0].power if worst else np.nan}, vacuous=_trivial(sides))


def _trivial(sides: pd.DataFrame) -> bool:
    """Whether always predicting 0 is within the right side of (4.2) at all sizes."""
    rows = select(sides, setting="printed", quantity="total")
    return bool((rows["zero_risk"] <= rows["bound_descent"] + rows["bound_noise"]).all())


def totals(sides: pd.DataFrame) -> list[Trend | None]:
    """How the left side of (4.2) over its right goes along each size."""
    parts = {axis: quantity(idle(sides), "printed", axis, "total") for axis in AXES}
    return [_along(rows, axis, rows["bound_descent"] + rows["bound_noise"]) for axis, rows in parts.items()]


def _rests(sides: pd.DataFrame) -> Trend | None:
    """How printed descent over its part of (4.2) goes along T."""
    descent = quantity(sides, "printed", "T", "descent")
    return _along(descent, "T", descent["bound_descent"])


def _corrected_score(sides: pd.DataFrame) -> float:
    """By how many standard errors the corrected algorithm exceeds the corrected bound where it does so most."""
    rows = select(sides, setting="corrected", quantity="total")
    return float(((rows["value"] - rows["bound_amended"]) / rows["standard_error"]).max())


def _short_ratio(tables: Tables) -> float:
    """The largest left over right of (4.2) among short prompts; ∞ where there are none."""
    rows = quantity(tables["both-sides"], "printed", "L", "total")
    rows = rows[short(rows, failure_probability(tables["events"]))]
    ratio = rows["value"] / (rows["bound_descent"] + rows["bound_noise"])
    return float(ratio.max()) if len(ratio) else np.inf


@judges("noisyhead/remark-4.1")
def remark_41(tables: Tables) -> Ruling:
    """The noise grows with T as its bound does, descent decays as its bound does, and some finite T is best.

    A best T is worth choosing if it is not the largest and its risk is below that of T = 0, which predicts 0: a curve
    that only rises from there passes no more. A start s times as far from Γ* as zero has s² times the descent error,
    which is linear in Γ⁰ − Γ* while Π_R is idle.
    """
    sides, row = tables["both-sides"], "axis = T, printed"
    late, halved = _late_noise(sides), quantity(sides, "corrected", "T", "descent")
    rests, decays = _rests(sides), _along(halved, "T", halved["zero_risk"])
    if not several(late["T"]) or rests is None or decays is None:
        return Ruling(Verdict.UNTESTABLE)
    farther = _farther(halved, quantity(sides, "corrected", "T", "noise"))
    power, error = _fits.power_law(late["T"], late["value"], late["standard_error"])
    claimed, _ = _fits.power_law(late["T"], late["bound_noise"], late["standard_error"])
    total, mended = (quantity(sides, setting, "T", "total") for setting in ("printed", "corrected"))
    best, last = total.loc[total["value"].idxmin()], total["T"].max()
    risk = {"value": best["value"], "error": best["standard_error"], "against": best["zero_risk"]}
    noise = {"power of T in the noise": {"value": power, "error": error, "against": claimed}}
    found = (
        *numbers("both-sides", noise, row),
        rests.number("descent over the bound's descent term", "both-sides", row),
        decays.number("descent, update and Γ* of one loss", "both-sides", "axis = T, corrected"),
        *numbers("both-sides", {"best T": best["T"], "largest T tried": last}, row),
        *numbers("both-sides", {"excess risk at the best T, beside that of always predicting 0": risk}, row),
        *numbers(
            "both-sides",
            {"start's distance from Γ* over that of zero, from which on T ≥ 1 is best": (farther, 1)},
            "axis = T, corrected",
        ),
    )
    grows, falls = consistent(power, claimed, error), decays.power < DECAYS
    verdict = reads(
        printed=grows and not rests.lost and _worth_stopping(total),
        corrected=grows and falls and _worth_stopping(mended),
        narrower=grows and falls and bool(np.isfinite(farther)),
    )
    return Ruling(verdict, found, {"power": power, "farther": farther})


def _worth_stopping(total: pd.DataFrame) -> bool:
    """Whether some T before the last has less risk than T = 0, beyond the errors, and than the last."""
    best = total.loc[total["value"].idxmin()]
    gains = best["zero_risk"] - best["value"] > CONSISTENT * best["standard_error"]
    return bool(gains and best["T"] != total["T"].max())


def _farther(descent: pd.DataFrame, noise: pd.DataFrame) -> float:
    """The least s for which s² descent + noise is less at some T than at T = 0 and at the last T; else infinity."""
    left, added = descent["value"].to_numpy(), noise["value"].to_numpy()
    gained, kept = descent["zero_risk"].to_numpy() - left, left - left[-1]
    with np.errstate(divide="ignore", invalid="ignore"):
        least = np.where(gained > 0, added / gained, np.inf)
        most = np.where(kept > 0, (added[-1] - added) / kept, np.inf)
    inside = (least < most)[:-1]
    return float(np.sqrt(least[:-1][inside].min())) if inside.any() else np.inf


def _late_noise(sides: pd.DataFrame) -> pd.DataFrame:
    """The noise along the later half of T, Π_R idle."""
    noise = quantity(idle(sides), "printed", "T", "noise")
    return noise[noise["T"] >= noise["T"].median()]


@judges("noisyhead/remark-4.2")
def remark_42(tables: Tables) -> Ruling:
    """At the T of Theorem 4.2(i) noise is far above what is left without it, and does not grow with D."""
    table = tables["dominance"]
    few, measured = select(table, axis="D"), quantity(idle(tables["both-sides"]), "printed", "D", "noise")
    fall, seen = trend(few, "D", few["noise"], 0.0, LOST_POWER), _along(measured, "D", 1.0)
    if fall is None or seen is None:
        return Ruling(Verdict.UNTESTABLE)
    printed, halved, inside = _left_over(table)
    named = {
        "error left without noise, over the noise, largest": (printed, MUCH_SMALLER),
        "the same, update and Γ* of one loss": (halved, MUCH_SMALLER),
        "the same, short prompts alone": (inside, MUCH_SMALLER, "inside"),
    }
    found = (
        *numbers("dominance", named),
        fall.number("the noise", "dominance", "axis = D"),
        seen.number("the measured noise", "both-sides", "axis = D, printed, noise"),
    )
    level, helps = not lost([fall, seen]), fall.power < 0 and seen.power + CONSISTENT * seen.error < 0
    verdict = reads(
        printed=level and printed < MUCH_SMALLER,
        corrected=level and halved < MUCH_SMALLER,
        narrower=level and inside < MUCH_SMALLER,
    )
    return Ruling(verdict, found, grounds="features help" if helps else "")


def _left_over(table: pd.DataFrame) -> tuple[float, float, float]:
    """The largest that is left over noise: as printed, with half the penalty, and the latter for short prompts."""
    printed, halved = ((table[f"descent_{p}"] + table["projection"]) / table["noise"] for p in ("printed", "halved"))
    return printed.max(), halved.max(), halved[table["inside"]].max()


@judges("noisyhead/section-4-split")
def section_4_split(tables: Tables) -> Ruling:
    """L_test(Γ̂) ≤ 2L_test(Γ*) + 2(difference of the predictions)², prompt by prompt."""
    worst = tables["split"]["split_worst"].max()
    return Ruling(
        reads(printed=worst <= 1 + ROUNDING),
        numbers("split", {"left side over right side, largest of any prompt": (worst, 1.0)}),
    )


@judges("noisyhead/section-4-extra-error")
def section_4_extra_error(tables: Tables) -> Ruling:
    """Is E L_test(Γ̂) − E L_test(Γ*) the squared difference of predictions, up to one constant for all penalties?"""
    noise, bias = (_extra(tables["split"], name) for name in (NOISE, BIAS))
    trends = [trend(part, "penalty", part["ratio"], part["error"], LOST_POWER_SIMULATED) for part in (noise, bias)]
    if None in trends:
        return Ruling(Verdict.UNTESTABLE)
    away, largest = ((noise["ratio"] - 1) / noise["error"]).abs().max(), bias["ratio"].max()
    named = {
        "noise: extra error over squared difference, distance from 1 in standard errors": (away, CONSISTENT, NOISE),
        "bias: extra error over squared difference, largest": (largest, 1.0, BIAS),
    }
    powers = (g.number("that ratio", "split", name) for name, g in zip((NOISE, BIAS), trends) if g)
    noise_fails = lost(trends[:1]) or away > CONSISTENT
    verdict = reads(printed=not lost(trends), narrower=not noise_fails)
    return Ruling(verdict, (*numbers("split", named), *powers), {"largest": largest})


def _extra(split: pd.DataFrame, difference: str) -> pd.DataFrame:
    """The extra error over the squared difference, with its error, for one kind of difference."""
    rows = select(split, difference=difference)
    return rows.assign(ratio=rows["error_gap"] / rows["excess_risk"], error=rows["gap_error"] / rows["excess_risk"])
