"""Verdicts on section 4 of arXiv:2504.16000v2: the split of the test error, Theorem 4.1 and Remarks 4.1-4.2."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats

from chapters.noisyhead.cost_of_privacy.measure import BIAS, NOISE
from companion import _fits
from companion.judging.growth import LAST, LOST_POWER, LOST_POWER_SIMULATED, power, several
from companion.judging.judges import Record, Ruling, judges
from companion.judging.tables import select
from companion.judging.tolerances import Cases, Declared, Relative, Squares
from companion.judging.vocabulary import CONSISTENT, MUCH_SMALLER, ROUNDING, consistent

# ---- Trends ----

SYMBOLS = {"penalty": "λ", "log_odds": "log(N/κ)"}  # of columns that are no symbols themselves


@dataclass(frozen=True)
class Trend:
    """The power of a size (its column) with which a ratio goes over its last sizes; lost above the limit."""

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

    def keep(self, found: Record, name: str, table: str, row: str) -> None:
        """The power as a number of the verdict."""
        name = f"power of {SYMBOLS.get(self.size, self.size)} in {name}"
        found.number(name, self.power, error=self.error, against=self.limit, table=table, row=row)


def trend(rows: pd.DataFrame, size: str, ratio: pd.Series, error: pd.Series | float, limit: float) -> Trend | None:
    """How ``ratio``, of each row, goes along the column ``size``, fitted over its largest; None for fewer than two."""
    points = pd.DataFrame({"size": rows[size], "ratio": ratio, "error": error}).sort_values("size").tail(LAST)
    if not several(points["size"]):
        return None
    value, log_size = np.maximum(points["ratio"], 1e-300), np.log(points["size"].to_numpy(float))
    weight = (log_size - log_size.mean()) / ((log_size - log_size.mean()) ** 2).sum()
    error_of_power = np.linalg.norm(weight * points["error"] / value)
    return Trend(size, float(weight @ np.log(value)), float(error_of_power), limit)


def lost(trends: Iterable[Trend | None]) -> list[Trend]:
    """Those that have lost a power, the worst first."""
    return sorted((g for g in trends if g is not None and g.lost), key=lambda g: -g.power)


def keep(found: Record, trends: Iterable[Trend | None], name: str, table: str, where: str = "") -> None:
    """The powers along the axes that have several sizes, as numbers of the verdict."""
    for each in trends:
        if each is not None:
            each.keep(found, name, table, f"axis = {each.size}{where}")


# ---- Judges ----

IDLE = 0.2  # Π_R plays no part where the noise is below this share of what R allows
DECAYS = -1.0  # power of T beyond which an exponential has fallen
AXES = ("T", "N", "L", "D")


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


def along(rows: pd.DataFrame, axis: str, right: pd.Series | float) -> Trend | None:
    """How a measured quantity goes against ``right`` along an axis."""
    return trend(rows, axis, rows["value"] / right, rows["standard_error"] / right, LOST_POWER_SIMULATED)


def totals(sides: pd.DataFrame) -> list[Trend | None]:
    """How the left side of (4.2) over its right goes along each size."""
    parts = {axis: quantity(idle(sides), "printed", axis, "total") for axis in AXES}
    return [along(rows, axis, rows["bound_descent"] + rows["bound_noise"]) for axis, rows in parts.items()]


def rest(sides: pd.DataFrame) -> Trend | None:
    """How printed descent over its part of (4.2) goes along T."""
    descent = quantity(sides, "printed", "T", "descent")
    return along(descent, "T", descent["bound_descent"])


@judges("noisyhead/theorem-4.1")
def theorem_41(found: Record) -> Ruling:
    """(4.2): left over right along each size, its descent part, and the corrected bound in the corrected setting.

    It is vacuous if always predicting 0 is within the right side of (4.2) at all sizes.
    """
    table, sides = "both-sides", found["both-sides"]
    trends, rests = totals(sides), rest(sides)
    keep(found, trends, "measured cost over the bound", table, ", printed")
    keep(found, [rests], "descent over the bound's descent term", table, ", printed")
    lengths = quantity(sides, "printed", "L", "total")
    ratio = lengths["value"] / (lengths["bound_descent"] + lengths["bound_noise"])
    few = ratio[short(lengths, failure_probability(found["events"]))]
    name, largest = "measured cost over the bound, short prompts, largest", few.max() if len(few) else np.inf
    inside = found.at_most(name, largest, 1.0, table=table, row="axis = L, printed")
    corrected = select(sides, setting="corrected", quantity="total")
    exceeded = ((corrected["value"] - corrected["bound_amended"]) / corrected["standard_error"]).max()
    name = "excess over the corrected bound, in standard errors, largest"
    kept = found.at_most(name, exceeded, CONSISTENT, table=table, row="")
    worst, rows = lost(trends), select(sides, setting="printed", quantity="total")
    return found.ruling(
        not worst and not lost([rests]),
        corrected=not worst and kept,
        narrower=[g.size for g in worst] == ["L"] and inside and kept,
        decided=bool(worst) or None not in (*trends, rests),
        vacuous=(rows["zero_risk"] <= rows["bound_descent"] + rows["bound_noise"]).all(),
        power=worst[0].power if worst else np.nan,
        crossed=float(np.exp(np.interp(0, np.log(ratio), np.log(lengths["L"]), left=np.nan, right=np.nan))),
    )


@judges("noisyhead/remark-4.1")
def remark_41(found: Record) -> Ruling:
    """The noise grows with T as its bound does, descent decays as its bound does, and some finite T is best.

    A best T is worth choosing if it is not the largest and its risk is below that of T = 0, which predicts 0: a curve
    that only rises from there passes no more. A start s times as far from Γ* as zero has s² times the descent error,
    which is linear in Γ⁰ − Γ* while Π_R is idle.
    """
    table, sides, printed, corrected = "both-sides", found["both-sides"], "axis = T, printed", "axis = T, corrected"
    noise, halved = quantity(idle(sides), "printed", "T", "noise"), quantity(sides, "corrected", "T", "descent")
    late = noise[noise["T"] >= noise["T"].median()]
    rests, decays = rest(sides), along(halved, "T", halved["zero_risk"])
    if not several(late["T"]) or rests is None or decays is None:
        return found.ruling(decided=False)
    power, error = _fits.power_law(late["T"], late["value"], late["standard_error"])
    claimed, _ = _fits.power_law(late["T"], late["bound_noise"], late["standard_error"])
    found.number("power of T in the noise", power, error=error, against=claimed, table=table, row=printed)
    rests.keep(found, "descent over the bound's descent term", table, printed)
    decays.keep(found, "descent, update and Γ* of one loss", table, corrected)
    total, mended = (quantity(sides, setting, "T", "total") for setting in ("printed", "corrected"))
    best, name = total.loc[total["value"].idxmin()], "excess risk at the best T, beside that of always predicting 0"
    found.number("best T", best["T"], table=table, row=printed)
    found.number("largest T tried", total["T"].max(), table=table, row=printed)
    risk, zero = best["value"], best["zero_risk"]
    found.number(name, risk, error=best["standard_error"], against=zero, table=table, row=printed)
    name = "start's distance from Γ* over that of zero, from which on T ≥ 1 is best"
    start = farther(halved, quantity(sides, "corrected", "T", "noise"))
    found.number(name, start, against=1, table=table, row=corrected)
    grows, falls = consistent(power, claimed, error), decays.power < DECAYS
    return found.ruling(
        grows and not rests.lost and worth_stopping(total),
        corrected=grows and falls and worth_stopping(mended),
        narrower=grows and falls and bool(np.isfinite(start)),
        power=power,
        farther=start,
    )


def worth_stopping(total: pd.DataFrame) -> bool:
    """Whether some T before the last has less risk than T = 0, beyond the errors, and than the last."""
    best = total.loc[total["value"].idxmin()]
    gains = best["zero_risk"] - best["value"] > CONSISTENT * best["standard_error"]
    return bool(gains and best["T"] != total["T"].max())


def farther(descent: pd.DataFrame, noise: pd.DataFrame) -> float:
    """The least s for which s² descent + noise is less at some T than at T = 0 and at the last T; else infinity."""
    left, added, T = (values.to_numpy() for values in (descent["value"], noise["value"], descent["T"]))
    with np.errstate(divide="ignore", invalid="ignore"):
        # Descent is geometric, which gives it at T = 0; ``zero_risk`` has the population's Γ* and not the data's.
        gained, kept = left[0] * (left[0] / left[1]) ** (T[0] / (T[1] - T[0])) - left, left - left[-1]
        least = np.where(gained > 0, added / gained, np.inf)
        most = np.where(kept > 0, (added[-1] - added) / kept, np.inf)
    inside = (least < most)[:-1]
    return float(np.sqrt(least[:-1][inside].min())) if inside.any() else np.inf


@judges("noisyhead/remark-4.2")
def remark_42(found: Record) -> Ruling:
    """At the T of Theorem 4.2(i) noise is far above what is left without it, and does not grow with D."""
    table, few = found["dominance"], select(found["dominance"], axis="D")
    measured = quantity(idle(found["both-sides"]), "printed", "D", "noise")
    fall, seen = trend(few, "D", few["noise"], 0.0, LOST_POWER), along(measured, "D", 1.0)
    if fall is None or seen is None:
        return found.ruling(decided=False)
    as_printed, halved = ((table[f"descent_{p}"] + table["projection"]) / table["noise"] for p in ("printed", "halved"))
    little = []
    for name, left, row in (
        ("error left without noise, over the noise, largest", as_printed, "all"),
        ("the same, update and Γ* of one loss", halved, "all"),
        ("the same, short prompts alone", halved[table["inside"]], "inside"),
    ):
        largest = found.number(name, left.max(), against=MUCH_SMALLER, table="dominance", row=row)
        little.append(largest < MUCH_SMALLER)
    fall.keep(found, "the noise", "dominance", "axis = D")
    seen.keep(found, "the measured noise", "both-sides", "axis = D, printed, noise")
    printed, corrected, narrower = (not lost([fall, seen]) and below for below in little)
    helps = fall.power < 0 and seen.power + CONSISTENT * seen.error < 0
    long = table["axis"] == "N, L = √N"
    return found.ruling(
        printed,
        corrected=corrected,
        narrower=narrower,
        grounds="features help" if helps else "",
        until=table["N"][long & (halved < MUCH_SMALLER)].max(),
        beyond=table["N"][long & (halved > 1)].min(),
    )


@judges("noisyhead/section-4-split")
def section_4_split(found: Record) -> Ruling:
    """L_test(Γ̂) ≤ 2L_test(Γ*) + 2(difference of the predictions)², prompt by prompt."""
    name, worst = "left side over right side, largest of any prompt", found["split"]["split_worst"].max()
    return found.ruling(found.at_most(name, worst, 1.0, table="split", slack=ROUNDING))


@judges("noisyhead/section-4-extra-error")
def section_4_extra_error(found: Record) -> Ruling:
    """Is E L_test(Γ̂) − E L_test(Γ*) the squared difference of predictions, up to one constant for all penalties?"""
    split = found["split"]
    split = split.assign(
        ratio=split["error_gap"] / split["excess_risk"], error=split["gap_error"] / split["excess_risk"]
    )
    noise, bias = (select(split, difference=name) for name in (NOISE, BIAS))
    along_noise, along_bias = (
        trend(part, "penalty", part["ratio"], part["error"], LOST_POWER_SIMULATED) for part in (noise, bias)
    )
    if along_noise is None or along_bias is None:
        return found.ruling(decided=False)
    name = "noise: extra error over squared difference, distance from 1 in standard errors"
    away = found.number(
        name, ((noise["ratio"] - 1) / noise["error"]).abs().max(), against=CONSISTENT, table="split", row=NOISE
    )
    name = "bias: extra error over squared difference, largest"
    largest = found.number(name, bias["ratio"].max(), against=1.0, table="split", row=BIAS)
    along_noise.keep(found, "that ratio", "split", NOISE)
    along_bias.keep(found, "that ratio", "split", BIAS)
    printed, noise_fails = not lost([along_noise, along_bias]), along_noise.lost or away > CONSISTENT
    return found.ruling(printed, narrower=not noise_fails, largest=float(f"{largest:.2g}"))


# ---- Events ----

CONFIDENCE = 1e-3  # of the binomial statements
LEMMA = math.sqrt(2)  # the constant that serves in Lemma A.2
SHARE = "share above G0, proof"


def counted(events: pd.DataFrame, column: str) -> tuple[int, int, bool]:
    """Failures, data sets, and whether a failure probability of at most κ is compatible with them."""
    failures, data_sets = int(events[column].sum()), int(events["data_sets"].sum())
    return failures, data_sets, bool(stats.binom.sf(failures - 1, data_sets, failure_probability(events)) > CONFIDENCE)


@judges("noisyhead/equation-a.10")
def equation_a10(found: Record) -> Ruling:
    """(A.10): 𝒟₃ fails with probability at most κ."""
    events = found["events"]
    (failures, data_sets, compatible), kappa = counted(events, "D3_fails"), failure_probability(events)
    name = "data sets with a response beyond C; expected at most"
    found.number(name, failures, against=kappa * data_sets, table="events", row=f"of {data_sets}")
    name, largest = "union bound on their probability, largest", events["D3_union_bound"].max()
    union = found.number(name, largest, against=kappa, table="events", row="its largest")
    return found.ruling(compatible, decided=not (compatible and union > kappa))


@judges("noisyhead/equation-a.11")
def equation_a11(found: Record) -> Ruling:
    """(A.11): 𝒟₂ fails with probability at most κ, for the fourth root in G up to a constant."""
    sizes, dimensions = found["constants"], found["constants-by-dimension"]
    logs = trend(sizes, "log_odds", sizes["constant_proof"], 0.0, LOST_POWER)
    across = trend(dimensions, "D", dimensions["constant_proof"], 0.0, LOST_POWER)
    if logs is None or across is None:
        return found.ruling(decided=False)
    logs.keep(found, "the constant needed with the printed radius", "constants", f"last {LAST} N")
    across.keep(found, "the constant needed with the printed radius", "constants-by-dimension", f"last {LAST} D")
    name = "constant needed with Lemma A.2's radius, largest"
    needed = max(sizes["constant_lemma"].max(), dimensions["constant_lemma"].max())
    lemma = found.at_most(name, needed, LEMMA, table="constants", row="its largest")
    failures, data_sets, compatible = counted(found["events"], "D2_lemma_fails")
    found.number("data sets that exceed Lemma A.2's radius", failures, table="events", row=f"of {data_sets}")
    kept = compatible and not across.lost
    return found.ruling(kept and not logs.lost, corrected=kept and lemma)


def closed(norms: pd.DataFrame, norm: str, bound: str) -> list[Trend | None]:
    """How a norm over its bound goes along N, L and D in closed form."""
    parts = {axis: select(norms, axis=axis) for axis in ("N", "L", "D")}
    return [trend(rows, axis, rows[norm] / rows[bound], 0.0, LOST_POWER) for axis, rows in parts.items()]


@judges("noisyhead/equation-a.12")
def equation_a12(found: Record) -> Ruling:
    """(A.12): ‖Γ*‖ ≤ R, on data along N, and in closed form along N, L and D."""
    norms, radius = found["norms"], found["radius"]
    trends, ratio = closed(norms, "ridge_norm", "weight_bound"), norms["ridge_norm"] / norms["weight_bound"]
    keep(found, trends, "‖Γ*‖/R", "norms")
    found.number(f"‖Γ*‖/R, largest, up to L = {norms['L'].max():.0e}", ratio.max(), against=1.0, table="norms")
    name = "‖Γ*‖/R, largest under the condition"
    sure = found.at_most(name, ratio[norms["sure"]].max(), 1.0, table="norms", row="sure")
    name, measured = "‖Γ*‖/R, largest in drawn data", (radius["norm_max"] / radius["R_printed"]).max()
    left = found.number(name, measured, against=1.0, table="radius") > 1
    worst = lost(trends)
    return found.ruling(
        not left and not worst,
        narrower=not left and [g.size for g in worst] == ["L"] and sure,
        decided=left or bool(worst) or None not in trends,
        power=worst[0].power if worst else np.nan,
    )


@judges("noisyhead/display-before-a.12")
def display_before_a12(found: Record) -> Ruling:
    """Can the largest responses be taken out of Σ y_k Z_k? Both sides, over |y_{1,L+1}|, for one prompt of pairs."""
    table, paired = "signed-sums", found["signed-sums"]
    excess = paired["statistic_norm"] - paired["allowed"]
    shown, name = paired.loc[excess.idxmax()], "left side over the query's response, one prompt"
    row = f"L = {shown['L']:.0f}"
    found.number(name, shown["statistic_norm"], against=shown["allowed"], table=table, row=row)
    found.number("norm of the sum of its features", shown["sum_norm"], table=table, row=row)
    return found.ruling(excess.max() <= ROUNDING)


def statistic(found: Record) -> dict[str, list[Trend | None]]:
    """How ‖Z‖/G₀ goes, by table: in data along L, in closed form along N, L and D."""
    events = found["events"]
    ratio, error = (events[name] / events["G0, proof"] for name in ("mean_norm", "standard_error"))
    measured = trend(events, "L", ratio, error, LOST_POWER_SIMULATED)
    return {"events": [measured], "norms": closed(found["norms"], "statistic_norm", "query_bound")}


@judges("noisyhead/equation-a.13")
def equation_a13(found: Record) -> Ruling:
    """(A.13): ‖Z‖ ≤ G₀ with probability 1 − κ, for G₀ of order C/√L."""
    events, by_table, kappa = found["events"], statistic(found), failure_probability(found["events"])
    for table, along_sizes in by_table.items():
        keep(found, along_sizes, "‖Z‖/G₀", table)
    few, trends = short(events, kappa), [*by_table["events"], *by_table["norms"]]
    name, largest = "share of prompts above G₀, short prompts", events[SHARE][few].max() if few.any() else np.inf
    inside = found.at_most(name, largest, kappa, table="events", row="L ≤ D log(NL/κ)")
    name, largest = "share of prompts above G₀, largest", events[SHARE].max()
    found.number(name, largest, against=kappa, table="events", row="its largest")
    worst = lost(trends)
    return found.ruling(
        not worst,
        narrower={g.size for g in worst} == {"L"} and inside,
        decided=bool(worst) or None not in trends,
        power=worst[0].power if worst else np.nan,
    )


@judges("noisyhead/equation-a.14")
def equation_a14(found: Record) -> Ruling:
    """(A.14): all events together with probability 1 − 4κ; where ‖Z‖ outgrows G₀ no constant gives that."""
    events, kappa = found["events"], failure_probability(found["events"])
    at_most, claimed, few = 1 - events[SHARE], 1 - 4 * kappa, short(events, kappa)  # other events can only cost more
    least, length = at_most.min(), events.loc[at_most.idxmin(), "L"]
    name, row = "probability of all events, at most", f"L = {length:.0f}"
    likely = found.at_least(name, least, claimed, table="events", row=row)
    name, probability = "the same, short prompts", at_most[few].min() if few.any() else -np.inf
    inside, rare = found.at_least(name, probability, claimed, table="events", row="L ≤ D log(NL/κ)"), True
    for called, column in (("sums", "D2_lemma_fails"), ("responses", "D3_fails")):
        failures, data_sets, compatible = counted(events, column)
        name, row = f"data sets with {called} beyond their radius", f"of {data_sets}"
        found.number(name, failures, table="events", row=row)
        rare &= compatible
    bounded = not any(lost(trends) for trends in statistic(found).values())
    return found.ruling(rare and (likely or bounded), narrower=rare and inside, length=length, least=least)


# ---- Steps of the proof ----

VANISHES = 1e-20  # of R²


@judges("noisyhead/equation-a.2")
def equation_a2(found: Record) -> Ruling:
    """(A.2): the projection brings no iterate farther from Γ*, and noise is split off for every C₀."""
    kept = []
    for column, name in (
        ("left_over_middle", "left side over the middle, largest, up to rounding"),
        ("middle_over_right", "middle over the right side, largest"),
    ):
        worst = found["projection-step"][column].max()
        kept.append(found.at_most(name, worst, 1.0, table="projection-step", slack=ROUNDING))
    return found.ruling(all(kept))


@judges("noisyhead/equation-a.4")
def equation_a4(found: Record) -> Ruling:
    """(A.4): 𝒟₂ and 𝒟₃ imply ‖Z‖ ≤ G. Tried with the least C and G for which the data have 𝒟₂ and 𝒟₃."""
    events, paired = found["events"].sort_values("L"), found["signed-sums"]
    broken = paired[paired["statistic_norm"] > paired["allowed"] + ROUNDING]
    shown, name = (broken if len(broken) else paired).iloc[0], "‖Z‖ beside the least G, features in opposite pairs"
    row = f"L = {shown['L']:.0f}"
    found.number(name, shown["statistic_norm"], against=shown["allowed"], table="signed-sums", row=row)
    name, row = "data sets in which some ‖Z‖ exceeds the least G", f"of {int(events['data_sets'].sum())}"
    violated = found.number(name, events["A4_violated"].sum(), against=0.0, table="events", row=row)
    few, longest = events[short(events, failure_probability(events))], events.iloc[-1]
    row = f"L = {longest['L']:.0f}"
    found.number("‖Z‖ over the least G, largest", longest["A4_ratio"], against=1.0, table="events", row=row)
    fine_if_short = len(few) > 0 and few["A4_violated"].sum() == 0
    grounds = "pairs cancel" if (broken["sum_norm"] <= ROUNDING).any() else ""
    return found.ruling(broken.empty and violated == 0, narrower=broken.empty and fine_if_short, grounds=grounds)


RECURSION: dict[str, tuple[str, float, Callable[[float], bool]]] = {
    "(A.5)": ("left side over right side, least", 1.0, lambda worst: worst >= 1 - ROUNDING),
    "(A.7)": ("left side over right side, largest", 1.0, lambda worst: worst <= 1 + ROUNDING),
    "(A.8)": ("squared distance to Γ* at rest over R², largest", VANISHES, lambda worst: worst < VANISHES),
}


@judges("noisyhead/equation-a.5", check="(A.5)")
@judges("noisyhead/equation-a.7", check="(A.7)")
@judges("noisyhead/equation-a.8", check="(A.8)")
def recursion(found: Record, check: str) -> Ruling:
    """The worst case of a step of the recursion, as printed or with λ/2 in the update.

    (A.5): strong convexity around Γ*, a lower bound. (A.7): one step brings Γ nearer to Γ* by the factor of (A.3).
    (A.8): without noise the distance to Γ* tends to 0. With λ/2 it is (2.7) with 2λ for the penalty λ/2, whose (A.5)
    and (A.7) ask for less than those of λ.
    """
    (name, against, fine), kept = RECURSION[check], []
    for setting, words in (("printed", "as printed"), ("corrected", "update and Γ* of one loss")):
        told = f"{name}, {words}"
        worst = found.cite(told, "worst", table="recursion", against=against, setting=setting, check=check)
        kept.append(fine(worst))
    return found.ruling(kept[0], corrected=kept[1])


@judges("noisyhead/equation-a.6")
def equation_a6(found: Record) -> Ruling:
    """(A.6): smoothness, of statistics as drawn, of projected ones, and of one built in opposite pairs.

    Where all prompts are alike the Hessian has the eigenvalue ‖Z‖² + 2λ; responses 0 to the queries make Γ* = 0.
    """
    name, table, kept = "Lipschitz constant over G² + 2λ, largest", "recursion", []
    for setting, words in (("printed", "as drawn"), ("corrected", "projected, with λ/2")):
        told = f"{name}, {words}"
        worst = found.cite(told, "worst", table=table, against=1.0, setting=setting, check="(A.6)")
        kept.append(worst <= 1 + ROUNDING)
    paired = found["signed-sums"]
    built = paired.loc[(paired["statistic_norm"] - paired["allowed"]).idxmax()]
    name, norm, row = "‖Z‖ beside G, all prompts alike", built["statistic_norm"], f"L = {built['L']:.0f}"
    found.number(name, norm, against=built["allowed"], table="signed-sums", row=row)
    return found.ruling(kept[0] and norm <= built["allowed"] + ROUNDING, corrected=kept[1])


@judges("noisyhead/display-before-a.9")
def display_before_a9(found: Record) -> Ruling:
    """The weights' squared distance to Γ*: is what noise leaves there linear in D?"""
    table, rows = "noise-response", select(found["noise-response"], quantity="weights")
    found.needs(several(rows["D"]))
    power, error = _fits.power_law(rows["D"], rows["value"], rows["standard_error"])
    row = "quantity = weights"
    found.number("power of D in the weights' noise", power, error=error, against=1.0, table=table, row=row)
    in_closed_form, _ = _fits.power_law(rows["D"], rows["closed_form"], rows["standard_error"])
    found.number("power of D in closed form", in_closed_form, against=1.0, table=table, row=row)
    return found.ruling(power - 1 <= max(CONSISTENT * error, LOST_POWER), power=power)


@judges("noisyhead/equation-a.9")
def equation_a9(found: Record) -> Ruling:
    """(A.9): both parts of the prediction's error on its event, against both parts of the right side."""
    name, table = "conditional", found["conditional"]
    right = table["bound_noise"] + table["bound_descent"]

    def trends(ratio: pd.Series) -> list[Trend]:  # along each axis that has two sizes
        parts = {axis: select(table, axis=axis) for axis in AXES}
        every = (trend(rows, axis, ratio[rows.index], 0.0, LOST_POWER) for axis, rows in parts.items())
        return [g for g in every if g is not None]

    noise = trends(table["noise"] / table["bound_noise"])
    printed, halved = (table[f"descent_{update}"] / right for update in ("printed", "halved"))
    keep(found, noise, "noise over the bound's noise term", name)
    keep(found, trends(printed), "descent over the bound", name)
    found.number("descent over the bound, update and Γ* of one loss", halved.max(), against=1.0, table=name)
    beyond, still = (share.max() > 1 and bool(lost(trends(share))) for share in (printed, halved))
    fails = bool(lost(noise)) or still
    return found.ruling(not fails and not beyond, corrected=not fails, decided=fails or len(noise) == len(AXES))


# ---- What section 1.1 and Remark 4.3 say of Theorem 4.1 ----


@judges("noisyhead/section-1.1-characterization")
def section_11_characterization(found: Record) -> Ruling:
    """Is the cost of privacy the bound (4.2) up to a constant, along every size?"""
    trends = {g.size: g for g in totals(found["both-sides"]) if g is not None}
    found.needs(len(trends) >= len(AXES))
    keep(found, trends.values(), "measured cost over the bound (4.2)", "both-sides", ", printed")
    apart = {size for size, g in trends.items() if g.changes}
    length, dimension = trends["L"].power, trends["D"].power
    return found.ruling(not apart, narrower=apart <= {"L", "D"}, length=length, dimension=dimension)


@judges("noisyhead/remark-4.3")
def remark_43(found: Record) -> Ruling:
    """Does L enter the rate of the noise, with the printed radii and with those that leave the statistics alone?

    The noise is followed in closed form, with Π_R idle: the corrected bound without its descent, which has vanished.
    """
    printed, corrected = (quantity(found["both-sides"], name, "L", "noise") for name in ("printed", "corrected"))
    found.needs(several(printed["L"]), several(corrected["L"]))
    enters = []
    for name, rows, setting in (
        ("power of L in the noise, printed radii", printed, "printed"),
        ("power of L in the noise, radii at every length", corrected, "corrected"),
        ("the same between the two shortest", corrected.nsmallest(2, "L"), "corrected"),
    ):
        of_length, row = power(rows, "L", "bound_amended", ""), f"axis = L, {setting}"
        found.number(name, of_length, against=LOST_POWER_SIMULATED, table="both-sides", row=row)
        enters.append(abs(of_length) > LOST_POWER_SIMULATED)
    depends, still, early = enters
    return found.ruling(depends and still, narrower=depends and early)


# ---- How near this chapter's numbers come on another machine ----

BITS = 2e-17  # of weights whose norm is 0.02; after many steps descent is as near to the minimiser as that

TOLERANCES: Declared = {
    "both-sides": {"value": Squares(BITS), "standard_error": Squares(BITS, of="value")},
    "recursion": {"worst": Cases("check", {"(A.8)": Relative(scale=1e-29)})},  # the square of a rounding error, at rest
}
