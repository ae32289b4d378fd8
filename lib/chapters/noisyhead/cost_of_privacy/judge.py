"""Verdicts on section 4 of arXiv:2504.16000v2: the split of the test error, Theorem 4.1 and Remarks 4.1-4.2."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats

from companion import _fits
from companion.judging.findings import Number, Verdict
from companion.judging.growth import LAST, LOST_POWER, LOST_POWER_SIMULATED, power, several
from companion.judging.judges import Ruling, judges, numbers, reads
from companion.judging.tables import Tables, cite, select
from companion.judging.vocabulary import CONSISTENT, MUCH_SMALLER, ROUNDING, consistent

# ---- Trends ----
# How a ratio goes along a size at the end of a table, with its error: what the judges of this chapter rest on.

_TINY = 1e-300  # for 0
SYMBOLS = {"penalty": "λ", "log_odds": "log(N/κ)"}  # of columns that are no symbols themselves


@dataclass(frozen=True)
class Trend:
    """The power with which a ratio goes over its last sizes.

    Args:
        size: its column, such as ``N``. power, error: of it.
        limit: above which a power is lost (`companion.judging.growth`).
    """

    size: str
    power: float
    error: float
    limit: float

    @property
    def lost(self) -> bool:
        """Whether the ratio grows like a power beyond doubt."""
        return self.power - CONSISTENT * self.error > self.limit

    @property
    def changes(self) -> bool:
        """Whether the ratio grows or falls like a power beyond doubt."""
        return abs(self.power) - CONSISTENT * self.error > self.limit

    def number(self, name: str, table: str, row: str) -> Number:
        """The power as a number of a finding."""
        symbol = SYMBOLS.get(self.size, self.size)
        return Number(f"power of {symbol} in {name}", self.power, self.error, self.limit, table, row)


def trend(rows: pd.DataFrame, size: str, ratio: pd.Series, error: pd.Series | float, limit: float) -> Trend | None:
    """How ``ratio`` goes along ``size``, fitted over the largest sizes; None for fewer than two.

    Args:
        rows: with a column ``size``. ratio, error: of each row, in any order. limit: above which a power is lost.
    """
    points = pd.DataFrame({"size": rows[size], "ratio": ratio, "error": error}).sort_values("size").tail(LAST)
    if not several(points["size"]):
        return None
    value, log_size = np.maximum(points["ratio"], _TINY), np.log(points["size"].to_numpy(float))
    weight = (log_size - log_size.mean()) / ((log_size - log_size.mean()) ** 2).sum()
    error_of_power = np.linalg.norm(weight * points["error"] / value)
    return Trend(size, float(weight @ np.log(value)), float(error_of_power), limit)


def lost(trends: Iterable[Trend | None]) -> list[Trend]:
    """Those that have lost a power, the worst first."""
    return sorted((g for g in trends if g is not None and g.lost), key=lambda g: -g.power)


def told(trends: Iterable[Trend | None], name: str, table: str, where: str = "") -> tuple[Number, ...]:
    """The powers along the axes that have several sizes, as numbers of a finding."""
    return tuple(g.number(name, table, f"axis = {g.size}{where}") for g in trends if g is not None)


# ---- Judges ----

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


# ---- Events ----
# Verdicts on the events of Appendix A.3 of arXiv:2504.16000v2 and their probabilities: (A.10)-(A.14).

CONFIDENCE = 1e-3  # of the binomial statements
LEMMA = math.sqrt(2)  # the constant that serves in Lemma A.2
SHARE = "share above G0, proof"


def _count(events: pd.DataFrame, column: str) -> tuple[int, int, bool]:
    """Failures, data sets, and whether a failure probability of at most κ is compatible with them."""
    failures, data_sets = int(events[column].sum()), int(events["data_sets"].sum())
    return failures, data_sets, bool(stats.binom.sf(failures - 1, data_sets, failure_probability(events)) > CONFIDENCE)


@judges("noisyhead/equation-a.10")
def equation_a10(tables: Tables) -> Ruling:
    """(A.10): 𝒟₃ fails with probability at most κ."""
    events = tables["events"]
    failures, data_sets, compatible = _count(events, "D3_fails")
    union, kappa = events["D3_union_bound"].max(), failure_probability(events)
    named = {
        "data sets with a response beyond C; expected at most": (failures, kappa * data_sets, f"of {data_sets}"),
        "union bound on their probability, largest": (union, kappa, "its largest"),
    }
    undecided = compatible and union > kappa
    return Ruling(reads(printed=compatible, decided=not undecided), numbers("events", named))


@judges("noisyhead/equation-a.11")
def equation_a11(tables: Tables) -> Ruling:
    """(A.11): 𝒟₂ fails with probability at most κ, for the fourth root in G up to a constant."""
    sizes, dimensions = tables["constants"], tables["constants-by-dimension"]
    failures, data_sets, compatible = _count(tables["events"], "D2_lemma_fails")
    logs = trend(sizes, "log_odds", sizes["constant_proof"], 0.0, LOST_POWER)
    across = trend(dimensions, "D", dimensions["constant_proof"], 0.0, LOST_POWER)
    if logs is None or across is None:
        return Ruling(Verdict.UNTESTABLE)
    lemma = max(sizes["constant_lemma"].max(), dimensions["constant_lemma"].max())
    found = (
        logs.number("the constant needed with the printed radius", "constants", "last two N"),
        across.number("the constant needed with the printed radius", "constants-by-dimension", "last two D"),
        *numbers("constants", {"constant needed with Lemma A.2's radius, largest": (lemma, LEMMA)}, "its largest"),
        *numbers("events", {"data sets that exceed Lemma A.2's radius": failures}, f"of {data_sets}"),
    )
    kept = compatible and not across.lost
    return Ruling(reads(printed=kept and not logs.lost, corrected=kept and lemma <= LEMMA), found)


def _closed(norms: pd.DataFrame, norm: str, bound: str) -> list[Trend | None]:
    """How a norm over its bound goes along N, L and D in closed form."""
    parts = {axis: select(norms, axis=axis) for axis in ("N", "L", "D")}
    return [trend(rows, axis, rows[norm] / rows[bound], 0.0, LOST_POWER) for axis, rows in parts.items()]


@judges("noisyhead/equation-a.12")
def equation_a12(tables: Tables) -> Ruling:
    """(A.12): ‖Γ*‖ ≤ R, on data along N, and in closed form along N, L and D."""
    norms, radius = tables["norms"], tables["radius"]
    trends = _closed(norms, "ridge_norm", "weight_bound")
    ratio, worst = norms["ridge_norm"] / norms["weight_bound"], lost(trends)
    measured, sure = (radius["norm_max"] / radius["R_printed"]).max(), ratio[norms["sure"]].max()
    in_norms = {
        "‖Γ*‖/R, largest, prompts of any length": (ratio.max(), 1.0, "all"),
        "‖Γ*‖/R, largest under the condition": (sure, 1.0, "sure"),
    }
    in_data = {
        "‖Γ*‖/R, largest in drawn data": (measured, 1.0, "all"),
        "noise variance with the printed R over that with C/(2√λ), largest": radius["variance_saved"].max(),
    }
    found = (*told(trends, "‖Γ*‖/R", "norms"), *numbers("norms", in_norms), *numbers("radius", in_data))
    left = measured > 1
    verdict = reads(
        printed=not left and not worst,
        narrower=not left and [g.size for g in worst] == ["L"] and sure <= 1,
        decided=left or bool(worst) or None not in trends,
    )
    return Ruling(verdict, found, {"power": worst[0].power if worst else np.nan})


@judges("noisyhead/display-before-a.12")
def display_before_a12(tables: Tables) -> Ruling:
    """Can the largest responses be taken out of Σ y_k Z_k? Both sides, over |y_{1,L+1}|, for one prompt of pairs."""
    paired = tables["signed-sums"]
    excess = paired["statistic_norm"] - paired["allowed"]
    shown = paired.loc[excess.idxmax()]
    named = {
        "left side over the query's response, one prompt": (shown["statistic_norm"], shown["allowed"]),
        "norm of the sum of its features": shown["sum_norm"],
    }
    return Ruling(reads(printed=excess.max() <= ROUNDING), numbers("signed-sums", named, f"L = {shown['L']:.0f}"))


def _statistic(tables: Tables) -> dict[str, list[Trend | None]]:
    """How ‖Z‖/G₀ goes, by table: in data along L, in closed form along N, L and D."""
    events = tables["events"]
    ratio, error = (events[name] / events["G0, proof"] for name in ("mean_norm", "standard_error"))
    measured = trend(events, "L", ratio, error, LOST_POWER_SIMULATED)
    return {"events": [measured], "norms": _closed(tables["norms"], "statistic_norm", "query_bound")}


@judges("noisyhead/equation-a.13")
def equation_a13(tables: Tables) -> Ruling:
    """(A.13): ‖Z‖ ≤ G₀ with probability 1 − κ, for G₀ of order C/√L."""
    events, by_table = tables["events"], _statistic(tables)
    trends, kappa = [*by_table["events"], *by_table["norms"]], failure_probability(events)
    few, worst = short(events, kappa), lost(trends)
    inside = events[SHARE][few].max() if few.any() else np.inf
    named = {
        "share of prompts above G₀, short prompts": (inside, kappa, "L ≤ D log(NL/κ)"),
        "share of prompts above G₀, all": (events[SHARE].max(), kappa, "its largest"),
    }
    powers = (number for table, found in by_table.items() for number in told(found, "‖Z‖/G₀", table))
    verdict = reads(
        printed=not worst,
        narrower={g.size for g in worst} == {"L"} and inside <= kappa,
        decided=bool(worst) or None not in trends,
    )
    return Ruling(verdict, (*powers, *numbers("events", named)), {"power": worst[0].power if worst else np.nan})


@judges("noisyhead/equation-a.14")
def equation_a14(tables: Tables) -> Ruling:
    """(A.14): all events together with probability 1 − 4κ; where ‖Z‖ outgrows G₀ no constant gives that."""
    events, kappa = tables["events"], failure_probability(tables["events"])
    at_most, claimed, few = 1 - events[SHARE], 1 - 4 * kappa, short(events, kappa)  # other events can only cost more
    least, inside = at_most.min(), at_most[few].min() if few.any() else -np.inf
    length = events.loc[at_most.idxmin(), "L"]
    parts = {"sums": _count(events, "D2_lemma_fails"), "responses": _count(events, "D3_fails")}
    named = {
        "probability of all events, at most": (least, claimed, f"L = {length:.0f}"),
        "the same, short prompts": (inside, claimed, "L ≤ D log(NL/κ)"),
    }
    counted = {f"data sets with {name} beyond their radius": (k, None, f"of {n}") for name, (k, n, _) in parts.items()}
    rare = all(compatible for _, _, compatible in parts.values())
    bounded = not any(lost(trends) for trends in _statistic(tables).values())
    verdict = reads(printed=rare and (least >= claimed or bounded), narrower=rare and inside >= claimed)
    return Ruling(verdict, numbers("events", named | counted), {"length": length, "least": least})


# ---- Proof ----
# Verdicts on Appendix A.3 of arXiv:2504.16000v2, its deterministic steps: (A.2) and (A.4)-(A.9).

VANISHES = 1e-20  # of R²


@judges("noisyhead/equation-a.2")
def equation_a2(tables: Tables) -> Ruling:
    """(A.2): the projection brings no iterate farther from Γ*, and noise is split off for every C₀."""
    away, lost_factor = (tables["projection-step"][name].max() for name in ("left_over_middle", "middle_over_right"))
    named = {
        "left side over the middle, largest, up to rounding": (away, 1.0),
        "middle over the right side, largest": (lost_factor, 1.0),
    }
    kept = away <= 1 + ROUNDING and lost_factor <= 1 + ROUNDING
    return Ruling(reads(printed=kept), numbers("projection-step", named))


@judges("noisyhead/equation-a.4")
def equation_a4(tables: Tables) -> Ruling:
    """(A.4): 𝒟₂ and 𝒟₃ imply ‖Z‖ ≤ G. Tried with the least C and G for which the data have 𝒟₂ and 𝒟₃."""
    events, paired = tables["events"].sort_values("L"), tables["signed-sums"]
    few, longest = events[short(events, failure_probability(events))], events.iloc[-1]
    broken = paired[paired["statistic_norm"] > paired["allowed"] + ROUNDING]
    shown = (broken if len(broken) else paired).iloc[0]
    violated, tried = int(events["A4_violated"].sum()), int(events["data_sets"].sum())
    built = {"‖Z‖ beside G, features in opposite pairs": (shown["statistic_norm"], shown["allowed"])}
    named = {
        "data sets in which some ‖Z‖ exceeds G": (violated, 0.0, f"of {tried}"),
        "‖Z‖/G, largest": (longest["A4_ratio"], 1.0, f"L = {longest['L']:.0f}"),
    }
    found = (*numbers("signed-sums", built, f"L = {shown['L']:.0f}"), *numbers("events", named))
    fine_if_short = len(few) > 0 and few["A4_violated"].sum() == 0
    verdict = reads(printed=broken.empty and violated == 0, narrower=broken.empty and fine_if_short)
    return Ruling(verdict, found, grounds="pairs cancel" if (broken["sum_norm"] <= ROUNDING).any() else "")


def _step(tables: Tables, check: str, name: str, against: float, fine: Callable[[float], bool]) -> Ruling:
    """Whether the worst case of a step of the recursion is as claimed, as printed or with λ/2 in the update.

    The latter is (2.7) with 2λ for the penalty λ/2, whose (A.5) and (A.7) ask for less than those of λ.
    """
    settings = {"printed": "as printed", "corrected": "update and Γ* of one loss"}
    found = tuple(
        cite(f"{name}, {words}", tables, "recursion", "worst", against=against, setting=setting, check=check)
        for setting, words in settings.items()
    )
    printed, halved = (fine(number.value) for number in found)
    return Ruling(reads(printed=printed, corrected=halved), found)


@judges("noisyhead/equation-a.5")
def equation_a5(tables: Tables) -> Ruling:
    """(A.5): strong convexity around Γ*, a lower bound."""
    return _step(tables, "(A.5)", "left side over right side, least", 1.0, lambda worst: worst >= 1 - ROUNDING)


@judges("noisyhead/equation-a.6")
def equation_a6(tables: Tables) -> Ruling:
    """(A.6): smoothness, of statistics as drawn and of one built in opposite pairs; of projected ones by ‖Z̃‖ ≤ G.

    Where all prompts are alike the Hessian has the eigenvalue ‖Z‖² + 2λ; responses 0 to the queries make Γ* = 0.
    """
    row = {"setting": "printed", "check": "(A.6)"}
    slope = cite("Lipschitz constant over G² + 2λ, largest", tables, "recursion", "worst", against=1.0, **row)
    paired = tables["signed-sums"]
    built = paired.loc[(paired["statistic_norm"] - paired["allowed"]).idxmax()]
    named = {"‖Z‖ beside G, all prompts alike": (built["statistic_norm"], built["allowed"])}
    drawn, kept = slope.value <= 1 + ROUNDING, built["statistic_norm"] <= built["allowed"] + ROUNDING
    found = (slope, *numbers("signed-sums", named, f"L = {built['L']:.0f}"))
    return Ruling(reads(printed=drawn and kept, corrected=True), found)


@judges("noisyhead/equation-a.7")
def equation_a7(tables: Tables) -> Ruling:
    """(A.7): one step brings Γ nearer to Γ* by the factor of (A.3)."""
    return _step(tables, "(A.7)", "left side over right side, largest", 1.0, lambda worst: worst <= 1 + ROUNDING)


@judges("noisyhead/equation-a.8")
def equation_a8(tables: Tables) -> Ruling:
    """(A.8): without noise the distance to Γ* tends to 0."""
    return _step(
        tables, "(A.8)", "squared distance to Γ* at rest over R², largest", VANISHES, lambda worst: worst < VANISHES
    )


@judges("noisyhead/display-before-a.9")
def display_before_a9(tables: Tables) -> Ruling:
    """The weights' squared distance to Γ*: is what noise leaves there linear in D?"""
    rows = select(tables["noise-response"], quantity="weights")
    if not several(rows["D"]):
        return Ruling(Verdict.UNTESTABLE)
    power, error = _fits.power_law(rows["D"], rows["value"], rows["standard_error"])
    closed, _ = _fits.power_law(rows["D"], rows["closed_form"], rows["standard_error"])
    named = {
        "power of D in the weights' noise": {"value": power, "error": error, "against": 1.0},
        "power of D in closed form": (closed, 1.0),
    }
    verdict = reads(printed=power - 1 <= max(CONSISTENT * error, LOST_POWER))
    return Ruling(verdict, numbers("noise-response", named, "quantity = weights"), {"power": power})


@judges("noisyhead/equation-a.9")
def equation_a9(tables: Tables) -> Ruling:
    """(A.9): both parts of the prediction's error on its event, against both parts of the right side."""
    table = tables["conditional"]
    right = table["bound_noise"] + table["bound_descent"]
    noise = _trends(table, table["noise"] / table["bound_noise"])
    share = {name: table[f"descent_{name}"] / right for name in ("printed", "halved")}
    descent = {name: _trends(table, ratio) for name, ratio in share.items()}
    beyond = {name: share[name].max() > 1 and bool(lost(trends)) for name, trends in descent.items()}
    found = (
        *told(noise, "noise over the bound's noise term", "conditional"),
        *told(descent["printed"], "descent over the bound", "conditional"),
        *numbers("conditional", {"descent over the bound, update and Γ* of one loss": (share["halved"].max(), 1.0)}),
    )
    fails = bool(lost(noise)) or beyond["halved"]
    verdict = reads(
        printed=not fails and not beyond["printed"],
        corrected=not fails,
        decided=fails or len(noise) == len(AXES),
    )
    return Ruling(verdict, found)


def _trends(table: pd.DataFrame, ratio: pd.Series) -> list[Trend]:
    """How a ratio goes along each axis that has two sizes."""
    parts = {axis: select(table, axis=axis) for axis in AXES}
    found = [trend(rows, axis, ratio[rows.index], 0.0, LOST_POWER) for axis, rows in parts.items()]
    return [g for g in found if g is not None]


# ---- Words ----
# Verdicts on what arXiv:2504.16000v2 says of Theorem 4.1 in words: section 1.1 and Remark 4.3.


@judges("noisyhead/section-1.1-characterization")
def section_11_characterization(tables: Tables) -> Ruling:
    """Is the cost of privacy the bound (4.2) up to a constant, along every size?"""
    trends = totals(tables["both-sides"])
    if None in trends:
        return Ruling(Verdict.UNTESTABLE)
    powers = {g.size: g.power for g in trends if g is not None}
    apart = {g.size for g in trends if g is not None and g.changes}
    found = told(trends, "measured cost over the bound (4.2)", "both-sides", ", printed")
    verdict = reads(printed=not apart, narrower=apart <= {"L", "D"})
    return Ruling(verdict, found, {"length": powers["L"], "dimension": powers["D"]})


@judges("noisyhead/remark-4.3")
def remark_43(tables: Tables) -> Ruling:
    """Does L enter the rate of the noise, with the printed radii and with those that leave the statistics alone?

    The noise is followed in closed form, with Π_R idle: the corrected bound without its descent, which has vanished.
    """
    sides = tables["both-sides"]
    rows = {name: quantity(sides, name, "L", "noise") for name in ("printed", "corrected")}
    if not all(several(part["L"]) for part in rows.values()):
        return Ruling(Verdict.UNTESTABLE)
    printed, corrected = (power(part, "L", "bound_amended", "") for part in rows.values())
    short = power(rows["corrected"].nsmallest(2, "L"), "L", "bound_amended", "")
    named = {
        "power of L in the noise, printed radii": (printed, LOST_POWER_SIMULATED, "axis = L, printed"),
        "power of L in the noise, radii at every length": (corrected, LOST_POWER_SIMULATED, "axis = L, corrected"),
        "the same between the two shortest": (short, LOST_POWER_SIMULATED, "axis = L, corrected"),
    }
    depends, still, early = (abs(p) > LOST_POWER_SIMULATED for p in (printed, corrected, short))
    verdict = reads(printed=depends and still, narrower=depends and early)
    return Ruling(verdict, numbers("both-sides", named))
