"""Verdicts on Assumptions 1 and 2, Figure 1, Theorem 1 and Proposition 4.4 of arXiv:2505.16329v2."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from chapters.dpgd.deterministic_equivalent.measure import KINK, SCALE, TAIL, TARGETS
from companion.judging.findings import Number, Verdict
from companion.judging.growth import LOST_POWER, several
from companion.judging.judges import Ruling, judges, numbers, reads
from companion.judging.tables import Tables, cite, describe, pick, select
from companion.judging.vocabulary import ABOUT, CONSISTENT

# ---- Trends ----
# How measured deviations fall with the number of samples, beside the bound log²n/√n, for judges and pages.
#
# A bound with logarithms has no power: between 4320 and 12960 samples log²n/√n falls like n^(−0.28). We compare the
# exponent of a deviation with that of the bound between the same two sizes. Where noise hides the exponent, we compare
# the sizes themselves.

RESOLVED = 0.05  # an exponent with a larger error says nothing: it cannot even distinguish the bound from a constant
STEEP = -0.2  # where the bound does not fall like this power at least, it is too near to a constant
ALLOWED = 0.1  # fraction of the bound that the error of a deviation may make up
LEVEL = 1.2  # what stays below this multiple of what it was has not grown; sizes here differ by 10 to 30 times
SMALL = Ruling(Verdict.UNTESTABLE)  # too few sizes, or too small ones, to show a trend
BY_SIZE = "by size"  # the grounds where no power of n is resolved


@dataclass(frozen=True)
class Fall:
    """What one deviation does from the last but one to the last size.

    Args:
        name: of the deviation. table: where it stands. exponent: of n. error: its standard error.
        bound: the exponent of the bound between the same sizes. share: the deviation over the bound at the last size.
        share_error: its standard error. rise: how many standard errors it is above the largest share before.
    """

    name: str
    table: str
    exponent: float
    error: float
    bound: float
    share: float
    share_error: float
    rise: float

    @property
    def resolved(self) -> bool:
        """Whether the exponent says anything."""
        return self.error <= RESOLVED

    @property
    def excess(self) -> float:
        """How many standard errors the deviation is above what the bound allows."""
        return (self.exponent - self.bound) / max(self.error, 1e-12) if self.resolved else self.rise

    @property
    def contradicted(self) -> bool:
        """Whether it grows against the bound beyond doubt."""
        return self.excess > CONSISTENT

    @property
    def number(self) -> Number:
        """The exponent, or the share of the bound where there is none, as data."""
        if self.resolved:
            return Number(f"power of n: {self.name}", self.exponent, self.error, self.bound, self.table, "last two n")
        return Number(f"over log²n/√n: {self.name}", self.share, self.share_error, 1.0, self.table, "last n")


def trends_fall(name: str, table: str, rows: pd.DataFrame) -> Fall:
    """The fall of the deviation in ``rows``: n, value, bound, and standard_error unless it has none."""
    ordered = rows.sort_values("n")
    value, bound = ordered["value"].abs().to_numpy(dtype=float), ordered["bound"].to_numpy(dtype=float)
    error = ordered.get("standard_error", 0 * ordered["n"]).to_numpy(dtype=float)
    width = math.log(ordered["n"].iloc[-1] / ordered["n"].iloc[-2])
    share, share_error = value / bound, error / bound
    before = share[:-1].argmax()
    difference, combined = share[-1] - share[before], math.hypot(share_error[-1], share_error[before])
    with np.errstate(divide="ignore", invalid="ignore"):
        exponents = np.diff(np.log(np.stack([value, bound]))[:, -2:])[:, 0] / width
        relative = np.hypot(*(error / value)[-2:]) / width
    return Fall(
        name,
        table,
        float(exponents[0]),
        float(np.nan_to_num(relative, nan=math.inf)),
        float(exponents[1]),
        float(share[-1]),
        float(share_error[-1]),
        difference / max(combined, 1e-300),  # without chance any rise is beyond doubt
    )


def too_small(rows: pd.DataFrame, fewest: int = 2) -> bool:
    """Whether the sizes are too few or too small for log²n/√n to have fallen between the last two of them."""
    ends = rows.drop_duplicates("n").sort_values("n").tail(2)
    if rows["n"].nunique() < fewest:
        return True
    (first, last), (low, high) = ends["n"], ends["bound"]
    return bool(math.log(high / low) / math.log(last / first) > STEEP)


def trends_judge(falls: Sequence[Fall]) -> Ruling:
    """Whether deviations fall as fast as the bound: what is found on a claim that they do.

    It quotes the slowest power of n beside that of its bound; where none is resolved, the largest percentage of the
    bound that is left. Nothing is decided where there is no deviation, or one that is no number.
    """
    if not falls or any(math.isnan(fall.excess) for fall in falls):
        return SMALL
    contradicted = max(falls, key=lambda fall: fall.excess).contradicted
    noisy = max(fall.share_error for fall in falls) > ALLOWED
    verdict = reads(printed=not contradicted, decided=contradicted or not noisy)
    found, resolved = tuple(fall.number for fall in falls), [fall for fall in falls if fall.resolved]
    if not resolved:
        return Ruling(verdict, found, {"percentage": 100 * max(fall.share for fall in falls)}, BY_SIZE)
    slowest = max(resolved, key=lambda fall: fall.exponent)
    return Ruling(verdict, found, {"power": slowest.exponent, "bound": slowest.bound})


def as_printed_or_corrected(printed: Fall, corrected: Fall) -> Verdict:
    """The verdict on a claim that a deviation falls as fast as the bound, as printed or once a slip is corrected."""
    decided = printed.resolved and (corrected.resolved or not printed.contradicted)
    return reads(printed=not printed.contradicted, corrected=not corrected.contradicted, decided=decided)


def power(exponent: float) -> str:
    """A power of n for a sentence."""
    return f"$n^{{{exponent:.2f}}}$"


# ---- Judges ----

NEARLY_EVERY = 0.9  # fraction of the times of all panels at which R(t) has to lie inside the band
FEWEST_SIZES = 3  # numbers of samples that show a trend
LIGHT = ("Rademacher", "Student t, 5")  # laws of independent coordinates with light tails, of those that were tried
LAW_COLUMNS = ("law", "target", "relative_gap", "standard_error")
SHOWN = {KINK: "constant schedule at 2/γ"}
DEVIATIONS = {  # what they are on a card
    "path": "largest distance of a run",
    "path, 99 %": "99 % quantile of the largest distance of a run",
    "bias": "largest bias of the mean risk",
    "released": "distance of the released risk",
    "released bias": "bias of the released risk",
}


@judges("dpgd/assumption-1")
def assumption_1(tables: Tables) -> Ruling:
    """Assumption 1 assumes."""
    return Ruling(Verdict.UNTESTABLE)


@judges("dpgd/assumption-2")
def assumption_2(tables: Tables) -> Ruling:
    """Assumption 2 assumes."""
    return Ruling(Verdict.UNTESTABLE)


@judges("dpgd/figure-1")
def figure_1(tables: Tables) -> Ruling:
    """At the largest d the curve R(t) lies inside the band, and runs close in on it as d grows."""
    table = tables["figure-1"]
    later = table[table["t"] > 0]
    gap = later["ode_risk"] - later["risk_mean"]
    inside = gap.abs() <= later["risk_sd"]
    share = inside[later["d"] == later["d"].max()].mean()
    shrinks = _shrinks(later.assign(square=gap**2 + later["risk_sd"] ** 2))
    named = {
        "fraction of the times at which R(t) is in the band": (share, NEARLY_EVERY, "largest d, all panels"),
        **{f"distance from R(t), smallest d over largest, {at}": (by, 1.0) for at, by in shrinks.items()},
    }
    close = share >= NEARLY_EVERY and shrinks.min() > 1
    verdict = reads(printed=close, decided=len(shrinks) > 0 and shrinks.notna().all() and not math.isnan(share))
    return Ruling(verdict, numbers("figure-1", named, ""), {"share": share, "nearer": shrinks.min()})


def _shrinks(marked: pd.DataFrame) -> pd.Series:
    """How many times nearer to R(t) a run is at the largest than at the smallest d, by panel; empty for one d."""
    distance = marked.groupby(["spectrum", "alpha", "d"])["square"].mean().pow(0.5).unstack("d")
    if distance.shape[1] < 2:
        return pd.Series(dtype=float)
    shrinks = distance.iloc[:, 0] / distance.iloc[:, -1]
    names = [f"{spectrum} spectrum, α = {alpha:g}" for spectrum, alpha in shrinks.index]
    return shrinks.set_axis(names)


@judges("dpgd/section-4-tails")
def section_4_tails(tables: Tables) -> Ruling:
    """Is R(t) the mean risk for other features with light tails: wherever θ* lies, or for θ* spread out alone?"""
    rows = tables["laws"]
    rows = rows[rows["law"].isin(LIGHT) & (rows["d"] == rows["d"].max())]
    agrees = rows["relative_gap"].abs() <= CONSISTENT * rows["standard_error"]
    noticed = (CONSISTENT * rows["standard_error"] <= ABOUT).all() and set(TARGETS) == set(rows["target"])
    found = {
        f"relative gap of the mean risk, {law}, target: {target}": {"value": gap, "error": error, "against": 0.0}
        for law, target, gap, error in zip(*(rows[name] for name in LAW_COLUMNS))
    }
    verdict = reads(printed=agrees.all(), narrower=agrees[rows["target"] == TARGETS[0]].all(), decided=noticed)
    gap = select(rows, law=LIGHT[0], target=TARGETS[1])["relative_gap"].abs().max()
    return Ruling(verdict, numbers("laws", found, "largest d"), {"gap": gap})


@judges("dpgd/theorem-1-path")
def theorem_1_path(tables: Tables) -> Ruling:
    """(4.9): sup over t < 1 of |R(θ) − R(t)|, its mean and its 99 % quantile over the chains."""
    return _rate(tables, ("path", "path, 99 %"))


@judges("dpgd/theorem-1-mean")
def theorem_1_mean(tables: Tables) -> Ruling:
    """(4.10): the same for the mean risk."""
    return _rate(tables, ("bias",))


@judges("dpgd/proposition-4.4-path")
def proposition_44_path(tables: Tables) -> Ruling:
    """(4.23): |R(θ_n) − R(1) − 2c²η̃(1)²γ²/ρ²|, its mean."""
    return _rate(tables, ("released",))


@judges("dpgd/proposition-4.4-mean")
def proposition_44_mean(tables: Tables) -> Ruling:
    """(4.24): the bias of the released risk."""
    return _rate(tables, ("released bias",))


def _rate(tables: Tables, quantities: tuple[str, ...]) -> Ruling:
    """Whether deviations fall as fast as log²n/√n, in every spectrum and schedule."""
    if too_small(tables["rates"], FEWEST_SIZES):
        return SMALL
    return trends_judge(falls(tables["rates"], quantities))


def falls(rates: pd.DataFrame, quantities: tuple[str, ...]) -> list[Fall]:
    """The falls of these deviations between the last two n, for every spectrum and schedule."""
    chosen = rates[rates["quantity"].isin(quantities)]
    groups = chosen.groupby(["quantity", "spectrum", "schedule"], sort=False)
    return [
        trends_fall(f"{DEVIATIONS[quantity]}, {spectrum}, {SHOWN.get(schedule, f'{schedule} schedule')}", "rates", rows)
        for (quantity, spectrum, schedule), rows in groups
    ]


# ---- Diffusion ----
# Verdicts on the diffusion (4.14), Theorem 5, (C.45) and Lemmas C.2 to C.4 of arXiv:2505.16329v2.

NOTHING = 0.01  # growth of a logarithm that is none
HEAVIEST = math.log(1 - TAIL) / math.log(1 - SCALE)  # the tail of (C.17) and (C.26) over their value at y = 1
LAST_LINE = 2.0  # the last line of the proof of Lemma C.2 over the sharper bound that `sums` derives


@judges("dpgd/equation-4.14")
def equation_414(tables: Tables) -> Ruling:
    """Which drift has the risk of Algorithm 1?"""
    return _tracking(tables["homogenised"], "risk")


@judges("dpgd/definition-c.1")
def definition_c1(tables: Tables) -> Ruling:
    """The same drift."""
    return _tracking(tables["homogenised"], "risk")


@judges("dpgd/remark-4.3")
def remark_43(tables: Tables) -> Ruling:
    """Does the risk of the diffusion track that of Algorithm 1?"""
    return _tracking(tables["homogenised"], "risk")


@judges("dpgd/theorem-5")
def theorem_5(tables: Tables) -> Ruling:
    """Do all quadratics of (C.2)?"""
    return _tracking(tables["homogenised"], "resolvents")


def _tracking(table: pd.DataFrame, quantity: str) -> Ruling:
    """Whether sup |q(Θ) − q(θ)| falls like log²n/√n, with the drift printed and the drift derived."""
    if too_small(table):
        return SMALL
    names = [f"{quantity}, {drift} drift" for drift in ("printed", "derived")]
    printed, derived = (
        trends_fall(f"distance in the {name}", "homogenised", select(table, quantity=name)) for name in names
    )
    verdict = as_printed_or_corrected(printed, derived)
    return Ruling(verdict, (printed.number, derived.number), {"printed": printed.exponent})


@judges("dpgd/equation-c.45")
def equation_c45(tables: Tables) -> Ruling:
    """Is R the contour integral with i/4π, along the printed diffusion, or with i/2π along the derived one?"""
    table = tables["diffusion"]
    if too_small(table):
        return SMALL
    printed, corrected = (
        trends_fall(f"distance, {drift} drift, {integral}", "diffusion", select(table, drift=drift, integral=integral))
        for drift, integral in {"printed": "i/4π", "derived": "i/2π"}.items()
    )
    verdict = as_printed_or_corrected(printed, corrected)
    powers = {"printed": printed.exponent, "corrected": corrected.exponent}
    return Ruling(verdict, (printed.number, corrected.number), powers)


# ---------------------------------------------------------------------------------------------------- martingales


@judges("dpgd/lemma-c.2")
def lemma_c2(tables: Tables) -> Ruling:
    """The discretisation error against (C.16), the martingale against (C.17)."""
    sums, table, name = tables["sums"], tables["homogenised"], "martingale of the private noise"
    if not (several(sums["n"]) and several(table["n"])):
        return SMALL
    rows = sums[sums["quantity"].str.startswith("(C.16)")]
    proved = LAST_LINE * rows["derived"]
    worst, within = (float((rows["value"] / bound).max(skipna=False)) for bound in (rows["printed"], proved))
    named = {
        "discretisation error over the printed bound": (worst, 1.0),
        "discretisation error over the bound of the proof's last line": (within, 1.0),
    }
    found = (*numbers("sums", named, "quantity = (C.16)"), *_martingale(table, name))
    small, known = _stays_small(table, name), not (math.isnan(worst + within) or _unknown(table, name))
    verdict = reads(printed=small and worst <= 1, corrected=small and min(worst, within) <= 1, decided=known)
    return Ruling(verdict, found, {"worst": worst})


@judges("dpgd/lemma-c.3")
def lemma_c3(tables: Tables) -> Ruling:
    """The martingale of the diffusion, which its drift does not touch."""
    table, name = tables["homogenised"], "martingale of the diffusion"
    if not several(table["n"]):
        return SMALL
    found = _martingale(table, name)
    verdict = reads(printed=_stays_small(table, name), decided=not _unknown(table, name))
    return Ruling(verdict, found, {"power": found[0].value})


def _martingale(table: pd.DataFrame, name: str) -> tuple[Number, ...]:
    """The power of n from the first to the last size, and the heaviest tail."""
    rows = select(table, quantity=name).sort_values("n")
    fall = trends_fall(name, "homogenised", rows.iloc[[0, -1]])
    named = {
        "power of n of the supremum, over all sizes": {"value": fall.exponent, "error": fall.error, "against": -0.5},
        "90 % quantile of the supremum over its 63 % quantile, largest": (
            (rows["tail"] / rows["scale"]).max(),
            HEAVIEST,
        ),
    }
    return numbers("homogenised", named, f"quantity = {name}")


def _stays_small(table: pd.DataFrame, name: str) -> bool:
    """Whether a martingale stays below Cn^(−1/2)y except with probability e^(−y), which its tail shows."""
    rows = select(table, quantity=name).sort_values("n")
    scaled, error = (rows[column] * rows["n"] ** 0.5 for column in ("value", "standard_error"))
    growth = scaled.iloc[-1] - LEVEL * scaled.iloc[0]
    grown = growth > CONSISTENT * math.hypot(error.iloc[-1], LEVEL * error.iloc[0])
    heavy = (rows["tail"] / rows["scale"]).max() > HEAVIEST
    return not (grown or heavy)


def _unknown(table: pd.DataFrame, name: str) -> bool:
    """Whether a size of a martingale, or its tail, is no number."""
    rows = select(table, quantity=name)
    return bool((rows["value"] + rows["standard_error"] + rows["tail"] / rows["scale"]).isna().any())


@judges("dpgd/lemma-c.4")
def lemma_c4(tables: Tables) -> Ruling:
    """Do the errors of both processes grow by no more as n grows, at ‖θ*‖ = 1?"""
    table = tables["homogenised"]
    if not several(table["n"]):
        return SMALL
    ends = {name: _ends(table, name) for name in ("algorithm", "diffusion")}
    named = {
        f"{what}, {name}, {place} n": (size, None, f"quantity = growth of the {name}")
        for name, pair in ends.items()
        for place, row in zip(("first", "last"), pair)
        for what, size in _growths(row).items()
    }
    shown = max(ends.values(), key=lambda pair: float(pair[0]["tail"]))
    first, last = (float(row["tail"]) for row in shown)
    known = not any(math.isnan(size) for size, *_ in named.values())
    verdict = reads(printed=not any(_grows(*pair) for pair in ends.values()), decided=known)
    return Ruling(verdict, numbers("homogenised", named), {"first": first, "last": last})


def _ends(table: pd.DataFrame, name: str) -> tuple[pd.Series, pd.Series]:
    """The growth of a process at the first and the last n."""
    rows = select(table, quantity=f"growth of the {name}")
    return pick(rows.nsmallest(1, "n")), pick(rows.nlargest(1, "n"))


def _grows(first: pd.Series, last: pd.Series) -> bool:
    """Whether any of `_growths` is larger at the last n than at the first."""
    before, after = _growths(first), _growths(last)
    return any(after[what] > LEVEL * before[what] + NOTHING for what in before)


def _growths(row: pd.Series) -> dict[str, float]:
    """Mean and tail of log sup ‖v‖²/‖v_0‖², and its spread in units of n^(−1/2)."""
    scaled = row["standard_deviation"] * row["n"] ** 0.5
    return {"mean log growth": row["value"], "90 % quantile of the log growth": row["tail"], "spread times √n": scaled}


# ---- Equations ----
# Verdicts on Definition 4.2, (4.11) to (4.13), Proposition D.1 and (C.7) of arXiv:2505.16329v2.

FINITE = 2.0  # over d: the size of second-order effects on the mean of a step, as tr Σ²/d² ≤ λ_max/d
SOLVED = 1e-5  # relative difference of two solutions of one equation
EXACT = 1e-6  # relative difference of two sides of an identity, one of them by central differences
SLACK = 0.01  # fraction of the risk by which a bound may be crossed, which the solver's error is far below
READINGS = ("printed", "corrected")
HALVES = {"D, lower half": "D of the smaller half of the eigenvalues", "D, upper half": "D of the larger half"}


# ---------------------------------------------------------------------------------------------------- single steps


@judges("dpgd/definition-4.2")
def definition_42(tables: Tables) -> Ruling:
    """The drift of D_i, term by term and at every d, and one solution from two solvers."""
    steps = tables["one-step"]
    off = _deviation(steps, "derived")
    largest = _at_the_largest(steps)
    over = largest["value"] / largest["derived"]
    ratio = over.loc[(over - 1).abs().idxmax()]
    gap = identity(
        tables, "(4.7), exponential integrator and LSODA", SOLVED, "relative difference of two solvers of (4.7)"
    )
    named = {
        "worst measured term over the term of the equations": (ratio, 1.0, "largest d"),
        "largest deviation beyond 2/d, in standard errors": (off, CONSISTENT),
    }
    verdict = reads(printed=off <= CONSISTENT and gap.value <= SOLVED, decided=not math.isnan(off + gap.value))
    return Ruling(verdict, (*numbers("one-step", named, ""), gap), {"ratio": ratio})


@judges("dpgd/equation-c.7")
def equation_c7(tables: Tables) -> Ruling:
    """Is the sampling term halved?"""
    printed, derived = sampling(tables)
    last = _at_the_largest(select(tables["one-step"], term="sampling"))
    hidden = max(printed, derived) <= CONSISTENT  # too few trials to tell a term from its half
    decided = not (hidden or math.isnan(printed + derived))
    verdict = reads(printed=printed <= CONSISTENT, corrected=derived <= CONSISTENT, decided=decided)
    return Ruling(verdict, sampling_numbers(tables), {"ratio": (last["value"] / last["printed"]).mean()})


def sampling(tables: Tables) -> tuple[float, float]:
    """How far the sampling term deviates at every d, from the printed and from the derived reading."""
    rows = select(tables["one-step"], term="sampling")
    return _deviation(rows, "printed"), _deviation(rows, "derived")


def sampling_numbers(tables: Tables) -> tuple[Number, ...]:
    """The sampling term over the printed one at the largest d, for every quadratic."""
    last = _at_the_largest(select(tables["one-step"], term="sampling"))
    over, errors = last["value"] / last["printed"], last["standard_error"] / last["printed"]
    named = {
        f"measured sampling term over the printed one, {name}": {"value": ratio, "error": error, "against": 1.0}
        for name, ratio, error in zip(last["quadratic"].replace(HALVES), over, errors)
    }
    return numbers("one-step", named, "largest d, term = sampling")


def _at_the_largest(rows: pd.DataFrame) -> pd.DataFrame:
    return rows[rows["d"] == rows["d"].max()]


def _deviation(rows: pd.DataFrame, reading: str) -> float:
    """The largest distance from a reading in standard errors, less what a finite d may do."""
    allowed = FINITE / rows["d"] * rows[reading].abs()
    beyond = ((rows["value"] - rows[reading]).abs() - allowed).clip(lower=0)
    return float((beyond / rows["standard_error"]).max(skipna=False))


# ------------------------------------------------------------------------------------------------------ identities


@judges("dpgd/equation-4.11")
def equation_411(tables: Tables) -> Ruling:
    """For Σ = I, d equations and one."""
    name = "relative difference of the d equations and the single one"
    gap = identity(tables, "(4.11), d equations and one", SOLVED, name)
    return Ruling(reads(printed=gap.value <= SOLVED, decided=not math.isnan(gap.value)), (gap,))


def identity(tables: Tables, identity: str, against: float, name: str) -> Number:
    """How far the two sides of an identity are apart, as a number of this name."""
    return cite(name, tables, "identities", "relative_difference", against=against, identity=identity)


def says(tables: Tables, display: str, reading: str) -> bool:
    """Whether every term of a display says what it should, in this reading."""
    rows = select(tables["displays"], display=display, reading=reading)
    return len(rows) > 0 and bool(((rows["value"] / rows["derived"] - 1).abs() <= EXACT).all())


def ratios(tables: Tables, display: str) -> tuple[Number, ...]:
    """Each term of a display over what it should be, in all readings."""
    return tuple(
        Number(f"{row.term}, {row.reading}, over the independent computation", ratio, None, 1.0, "displays",
               f"display = {row.display}")
        for row in select(tables["displays"], display=display).itertuples()
        for ratio in (row.value / row.derived,)
    )  # fmt: skip


# ------------------------------------------------------------------------------------------- comparison equations


@judges("dpgd/equation-4.12")
def equation_412(tables: Tables) -> Ruling:
    """For Σ = I its two equations are to be (4.11), which has η̄. Nothing is decided if others were solved."""
    inside, beyond, corrected = _isotropic(tables["enclosure"])
    named = {
        "largest error over the risk, as printed, rates below the cap": (inside, ABOUT),
        "largest error over the risk, as printed, rates above the cap": (beyond, ABOUT),
        "largest error over the risk, as corrected": (corrected, ABOUT),
    }
    found = (*numbers("enclosure", named, "isotropic"), *ratios(tables, "(4.12)"))
    exact, known = max(inside, corrected) <= ABOUT, not math.isnan(inside + beyond + corrected)
    decided = known and says(tables, "(4.12)", "corrected")
    verdict = reads(printed=exact and beyond <= ABOUT, corrected=exact, decided=decided)
    return Ruling(verdict, found)


def _isotropic(enclosure: pd.DataFrame) -> tuple[float, float, float]:
    """Largest relative distance of both bounds from the risk, Σ = I: as printed below and above the cap, corrected."""
    rows = select(enclosure, spectrum="isotropic")
    worst = rows[["lower", "upper"]].sub(rows["risk"], axis=0).abs().max(axis=1, skipna=False) / rows["risk"]
    printed, above = rows["reading"] == "printed", rows["share_of_cap"] > 1
    below, beyond, corrected = (worst[at].max(skipna=False) for at in (printed & ~above, printed & above, ~printed))
    return below, beyond, corrected


@judges("dpgd/equation-4.13")
def equation_413(tables: Tables) -> Ruling:
    """Do R̲ and R̄ enclose R?"""
    return _enclosure(tables["enclosure"])


@judges("dpgd/proposition-d.1")
def proposition_d1(tables: Tables) -> Ruling:
    """The same, with its proof's step on tr Σ²."""
    return _enclosure(tables["enclosure"])


def _enclosure(enclosure: pd.DataFrame) -> Ruling:
    margin = enclosure[["lower_margin", "upper_margin"]].min(axis=1, skipna=False)
    corrected, above = enclosure["reading"] == "corrected", enclosure["share_of_cap"] > 1
    safe, printed = (margin[rows].min(skipna=False) for rows in (corrected | ~above, ~corrected & above))
    worst = {side: _worst(enclosure[~corrected], side) for side in ("lower", "upper")}
    lower, upper = (-row[f"{side}_margin"] for side, row in worst.items())
    named = {
        "least margin over the risk, rate capped or below the cap": (safe, -SLACK),
        "excess of the lower bound over the risk, as printed": (lower, SLACK, _case(worst["lower"])),
        "deficit of the upper bound over the risk, as printed": (upper, SLACK, _case(worst["upper"])),
    }
    capped, known = safe >= -SLACK, not math.isnan(safe + printed)
    verdict = reads(printed=capped and printed >= -SLACK, corrected=capped, decided=known)
    side, ratio = ("lower", 1 + lower) if lower > upper else ("upper", 1 - upper)
    return Ruling(verdict, numbers("enclosure", named, ""), {"cases": corrected.sum(), "side": side, "ratio": ratio})


def _worst(rows: pd.DataFrame, side: str) -> pd.Series:
    """The row in which a bound has the smallest margin."""
    return rows.loc[rows[f"{side}_margin"].idxmin()]


def _case(row: pd.Series) -> str:
    """Which case of the enclosure a row is."""
    return describe({name: row[name] for name in ("spectrum", "schedule", "share_of_cap", "clip")})


# ---- Displays ----
# Verdicts on displays: resolvents and Itô's formula in Section 4 and Appendix C of arXiv:2505.16329v2.


@judges("dpgd/equation-4.17")
def equation_417(tables: Tables) -> Ruling:
    """The drift of the resolvents along Algorithm 1."""
    return _resolvent_drift(tables)


@judges("dpgd/equation-c.42")
def equation_c42(tables: Tables) -> Ruling:
    """The same drift along the diffusion, and (C.44), which is made of it."""
    return _resolvent_drift(tables)


def _resolvent_drift(tables: Tables) -> Ruling:
    """v'Σ(Σ − z)⁻¹v against ‖v‖² + z q_z(v), and with 2 z q_z(v)."""
    printed, corrected = (
        identity(tables, f"(4.17), drift with {term}", EXACT, f"relative error of the drift with {term}, {reading}")
        for term, reading in zip(("z q", "2 z q"), READINGS)
    )
    verdict = reads(printed=printed.value <= EXACT, corrected=corrected.value <= EXACT)
    return Ruling(verdict, (printed, corrected), {"off": printed.value})


@judges("dpgd/equation-4.20")
def equation_420(tables: Tables) -> Ruling:
    """Squared norm and risk as contour integrals."""
    return _contours(tables)


@judges("dpgd/equation-c.43")
def equation_c43(tables: Tables) -> Ruling:
    """The same along the diffusion."""
    return _contours(tables)


def _contours(tables: Tables) -> Ruling:
    name = "(4.20), (C.43)"
    return Ruling(reads(printed=says(tables, name, "printed")), ratios(tables, name))


@judges("dpgd/equation-4.21")
def equation_421(tables: Tables) -> Ruling:
    """Does the sum over the eigenvalues solve the equation of (4.17)?"""
    return _display(tables, "(4.21), (C.46)")


@judges("dpgd/equation-c.46")
def equation_c46(tables: Tables) -> Ruling:
    """Does the same sum solve (C.44)?"""
    return _display(tables, "(4.21), (C.46)")


@judges("dpgd/equation-c.9")
def equation_c9(tables: Tables) -> Ruling:
    """Itô's formula on (4.14) for a quadratic."""
    return _from_the_diffusion(tables)


@judges("dpgd/equation-c.27")
def equation_c27(tables: Tables) -> Ruling:
    """The same again."""
    return _from_the_diffusion(tables)


def _from_the_diffusion(tables: Tables) -> Ruling:
    descent = pick(tables["displays"], display="(C.9), (C.27)", term="descent", reading="printed")
    return _display(tables, "(C.9), (C.27)", {"descent": descent["value"] / descent["derived"]})


@judges("dpgd/equation-c.29")
def equation_c29(tables: Tables) -> Ruling:
    """Itô's formula on (4.14) for log(1 + ‖V‖²)."""
    wrong = select(tables["displays"], display="(C.29), (C.30)", reading="printed")
    off = (wrong["value"] / wrong["derived"] - 1).abs() > EXACT
    return _display(tables, "(C.29), (C.30)", {"wrong": off.sum(), "terms": len(off)})


def _display(tables: Tables, name: str, quoted: Mapping[str, Any] | None = None) -> Ruling:
    """Whether a display says what it should: as printed, once it is corrected, or neither."""
    printed, corrected = (says(tables, name, reading) for reading in READINGS)
    return Ruling(reads(printed=printed, corrected=corrected), ratios(tables, name), quoted or {})


@judges("dpgd/equation-c.5")
def equation_c5(tables: Tables) -> Ruling:
    """Is the cap 2/‖x‖² or 2/‖x‖?"""
    stretches = {reading: select(tables["caps"], reading=reading)["stretch"].max() for reading in READINGS}
    named = {
        f"largest factor by which a step stretches distances, {reading} cap": (stretch, 1.0, f"reading = {reading}")
        for reading, stretch in stretches.items()
    }
    printed, corrected = (stretch <= 1 + EXACT for stretch in stretches.values())
    verdict = reads(printed=printed, corrected=corrected)
    return Ruling(verdict, numbers("caps", named), {"stretch": stretches["printed"]})


@judges("dpgd/equation-c.8")
def equation_c8(tables: Tables) -> Ruling:
    """The Hessian's error, small if the sampling term that it subtracts is the right one, and the product term."""
    deviations = sampling(tables)
    terms = {  # as printed, and as corrected
        "the Hessian's error": [deviation <= CONSISTENT for deviation in deviations],
        "the product of gradient and noise": [says(tables, "(C.8)", reading) for reading in READINGS],
    }
    amiss = [name for name, (printed, _) in terms.items() if not printed]
    hidden = max(deviations) <= CONSISTENT  # too few trials to tell a term from its half
    verdict = reads(printed=not amiss, corrected=all(terms[name][1] for name in amiss), decided=not hidden)
    return Ruling(verdict, (*sampling_numbers(tables), *ratios(tables, "(C.8)")), {"places": " and in ".join(amiss)})


# ---- Sums ----
# Verdicts on (4.22), Lemma C.5 and the last step, (C.60) and (C.61), of arXiv:2505.16329v2.

SUMS_NOTHING = 1e-6  # of the bound
SUMS_HEAVIEST = 4.5  # 99 % over 63 % quantile: 2.9 for a Gaussian's size, 4.6 for an exponential tail


@judges("dpgd/equation-4.22")
def equation_422(tables: Tables) -> Ruling:
    """The noise before the last step, and by how much the last one is larger."""
    sums = tables["sums"]
    if not several(sums["n"]):
        return SMALL
    jump, none = (_sum(sums, f"last over the one before, {name}") for name in ("harmonic", "square root"))
    last, zero = jump.iloc[-1], none.iloc[-1]
    falls, rises = _power(_sum(sums, "(4.22), harmonic")), _power(jump)
    off = _sum(sums, "(4.22), square root")["value"].max()
    named: dict[str, tuple[Any, ...]] = {
        "variance of the last noise over the one before": (last["value"], last["printed"], _place(last)),
        "the same where the rate ends at zero": (zero["value"], 0.0, _place(zero)),
        "power of n in the relative error of (4.22)": (falls, -1.0, "quantity = (4.22), harmonic"),
        "power of n in the last variance over the one before": (rises, 1.0),
        "relative error of (4.22), square root": (off, SOLVED),
    }
    unlike = [abs(ratio - 1) > ABOUT for ratio in (last["value"] / last["printed"], rises)]
    broken = [*unlike, none["value"].any(), falls > -1 + ABOUT, off > SOLVED]
    decided = not any(math.isnan(value[0]) for value in named.values())
    quoted = {"jump": last["value"], "n": last["n"]}
    return Ruling(reads(printed=not any(broken), decided=decided), numbers("sums", named, ""), quoted)


def _place(row: pd.Series) -> str:
    return describe({name: row[name] for name in ("n", "quantity")})


@judges("dpgd/lemma-c.5")
def lemma_c5(tables: Tables) -> Ruling:
    """What the random cap changes compared with 2/d, in the mean over the features, in both lines of (C.33)."""
    sums = tables["sums"]
    rows = sums[sums["quantity"].str.startswith("(C.32)")].assign(bound=lambda r: r["printed"])
    if too_small(rows):
        return SMALL
    falls = [trends_fall(_line(str(name)), "sums", part) for name, part in rows.groupby("quantity", sort=False)]
    return trends_judge([fall for fall in falls if not fall.share <= SUMS_NOTHING])


def _line(quantity: str) -> str:
    """Which line of (C.33) a sum is, and where its learning rate lies."""
    place, _, squares = quantity.removeprefix("(C.32), ").partition(", ")
    return f"{'second' if squares else 'first'} line of (C.33), learning rate {place}"


def _sum(sums: pd.DataFrame, quantity: str) -> pd.DataFrame:
    return select(sums, quantity=quantity).sort_values("n")


def _power(rows: pd.DataFrame, size: str = "n", column: str = "value") -> float:
    """The exponent between the last two sizes."""
    ends = np.log(rows.sort_values(size)[[size, column]].tail(2).to_numpy(dtype=float))
    return float((ends[1, 1] - ends[0, 1]) / (ends[1, 0] - ends[0, 0]))


# ------------------------------------------------------------------------------------------------------- last step


@judges("dpgd/equation-c.60")
def equation_c60(tables: Tables) -> Ruling:
    """The remainder over (1 + √R)/√d, along d at every R and along R at every d; and how heavy its tail is."""
    table = tables["last-step"].assign(scaled=lambda r: r["upper"] / r["scale"])
    if not (several(table["d"]) and several(table["squared_norm"])):
        return SMALL
    along_d = table.sort_values("d").groupby("squared_norm")["scaled"]
    growth = (along_d.last() / along_d.apply(lambda scaled: scaled.iloc[:-1].max())).max()
    power = max(_power(rows, "risk", "scaled") for _, rows in table.groupby("d"))
    tail, worst = (table["upper"] / table["middle"]).max(), table["scaled"].max()
    named = {
        "scaled remainder at the largest d over the largest before": (growth, LEVEL),
        "power of the risk in the scaled remainder, two largest risks": (power, LOST_POWER),
        "99 % quantile of the remainder over its 63 % quantile, largest": (tail, SUMS_HEAVIEST),
        "largest 99 % quantile of the scaled remainder": (worst,),
    }
    known = not (table["scaled"] + table["middle"]).isna().any()
    verdict = reads(printed=growth <= LEVEL and power <= LOST_POWER and tail <= SUMS_HEAVIEST, decided=known)
    return Ruling(verdict, numbers("last-step", named, ""), {"most": math.ceil(10 * worst) / 10 if known else worst})


@judges("dpgd/equation-c.61")
def equation_c61(tables: Tables) -> Ruling:
    """The same compared with log d/√d, at risks of order one."""
    table = tables["last-step"]
    one = min(table["squared_norm"], key=lambda square: abs(math.log(square)))
    rows = select(table, squared_norm=one).sort_values("d")
    if not several(rows["d"]):
        return SMALL
    power, bound = _power(rows, "d", "upper"), _power(rows, "d", "bound")
    relative = (rows["upper_error"] / rows["upper"]).tail(2)
    error = float(np.hypot(*relative) / np.log(rows["d"].iloc[-1] / rows["d"].iloc[-2]))
    named = {"power of d in the 99 % quantile of the remainder": {"value": power, "error": error, "against": bound}}
    found = numbers("last-step", named, "last two d, risk of order one")
    verdict = reads(printed=power <= bound + CONSISTENT * error, decided=not math.isnan(power + bound + error))
    return Ruling(verdict, found, {"power": power, "bound": bound})
