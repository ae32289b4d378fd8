"""Verdicts on Assumptions 1 and 2, Figure 1, Theorem 1 and Proposition 4.4 of arXiv:2505.16329v2."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from chapters.dpgd.deterministic_equivalent.measure import KINK, SCALE, TAIL, TARGETS
from companion.judging.growth import LOST_POWER, several
from companion.judging.judges import Record, Ruling, judges
from companion.judging.tables import Tables, describe, pick, select
from companion.judging.vocabulary import ABOUT, CONSISTENT

# ---- Trends: how measured deviations fall with the number of samples, beside the bound log²n/√n ----
# A bound with logarithms has no power: between 4320 and 12960 samples log²n/√n falls like n^(−0.28). We compare the
# exponent of a deviation with that of the bound between the same two sizes. Where noise hides the exponent, we compare
# the sizes themselves.

RESOLVED = 0.05  # an exponent with a larger error says nothing: it cannot even distinguish the bound from a constant
STEEP = -0.2  # where the bound does not fall like this power at least, it is too near to a constant
ALLOWED = 0.1  # fraction of the bound that the error of a deviation may make up
LEVEL = 1.2  # what stays below this multiple of what it was has not grown; sizes here differ by 10 to 30 times
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

    def keep(self, found: Record) -> None:
        """Keep the exponent, or the share of the bound where there is none."""
        if self.resolved:
            name, row = f"power of n: {self.name}", "last two n"
            found.number(name, self.exponent, error=self.error, against=self.bound, table=self.table, row=row)
        else:
            name, row = f"over log²n/√n: {self.name}", "last n"
            found.number(name, self.share, error=self.share_error, against=1.0, table=self.table, row=row)


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


def _too_small(rows: pd.DataFrame, fewest: int = 2) -> bool:
    """Whether the sizes are too few or too small for log²n/√n to have fallen between the last two of them."""
    ends = rows.drop_duplicates("n").sort_values("n").tail(2)
    if rows["n"].nunique() < fewest:
        return True
    (first, last), (low, high) = ends["n"], ends["bound"]
    return bool(math.log(high / low) / math.log(last / first) > STEEP)


def _as_fast(found: Record, falls: Sequence[Fall]) -> Ruling:
    """Whether deviations fall as fast as the bound: what is found on a claim that they do.

    It quotes the slowest power of n beside that of its bound; where none is resolved, the largest percentage of the
    bound that is left. Nothing is decided where there is no deviation, or one that is no number.
    """
    found.needs(falls, not any(math.isnan(fall.excess) for fall in falls))
    for fall in falls:
        fall.keep(found)
    contradicted = max(falls, key=lambda fall: fall.excess).contradicted
    decided = contradicted or not max(fall.share_error for fall in falls) > ALLOWED
    resolved = [fall for fall in falls if fall.resolved]
    if not resolved:
        percentage = 100 * max(fall.share for fall in falls)
        return found.ruling(not contradicted, decided=decided, grounds=BY_SIZE, percentage=percentage)
    slowest = max(resolved, key=lambda fall: fall.exponent)
    return found.ruling(not contradicted, decided=decided, power=slowest.exponent, bound=slowest.bound)


def _printed_or_corrected(found: Record, printed: Fall, corrected: Fall) -> Ruling:
    """Whether a deviation falls as fast as the bound, as printed or once a slip is corrected."""
    printed.keep(found)
    corrected.keep(found)
    decided = printed.resolved and (corrected.resolved or not printed.contradicted)
    return found.ruling(not printed.contradicted, corrected=not corrected.contradicted, decided=decided)


# ---- Figure 1, Theorem 1 and Proposition 4.4 ----

NEARLY_EVERY = 0.9  # fraction of the times of all panels at which R(t) has to lie inside the band
FEWEST_SIZES = 3  # numbers of samples that show a trend
LIGHT = ("Rademacher", "Student t, 5")  # laws of independent coordinates with light tails, of those that were tried
DEVIATIONS = {  # what they are on a card
    "path": "largest distance of a run",
    "path, 99 %": "99 % quantile of the largest distance of a run",
    "bias": "largest bias of the mean risk",
    "released": "distance of the released risk",
    "released bias": "bias of the released risk",
}


@judges("dpgd/assumption-1")
@judges("dpgd/assumption-2")
def assumption(found: Record) -> Ruling:
    """An assumption assumes."""
    return found.ruling(decided=False)


@judges("dpgd/figure-1")
def figure_1(found: Record) -> Ruling:
    """At the largest d the curve R(t) lies inside the band, and runs close in on it as d grows, in every panel."""
    table = found["figure-1"]
    later = table[table["t"] > 0]
    gap = later["ode_risk"] - later["risk_mean"]
    share = (gap.abs() <= later["risk_sd"])[later["d"] == later["d"].max()].mean()
    name, row = "fraction of the times at which R(t) is in the band", "largest d, all panels"
    within = found.at_least(name, share, NEARLY_EVERY, table="figure-1", row=row)
    marked = later.assign(square=gap**2 + later["risk_sd"] ** 2)
    distance = marked.groupby(["spectrum", "alpha", "d"])["square"].mean().pow(0.5).unstack("d")
    nearer = distance.iloc[:, 0] / distance.iloc[:, -1] if distance.shape[1] > 1 else pd.Series(dtype=float)
    for (spectrum, alpha), by in nearer.items():
        name = f"distance from R(t), smallest d over largest, {spectrum} spectrum, α = {alpha:g}"
        found.number(name, by, table="figure-1", row="", against=1.0)
    decided = len(nearer) > 0 and nearer.notna().all() and not math.isnan(share)
    return found.ruling(within and nearer.min() > 1, decided=decided, share=share, nearer=nearer.min())


@judges("dpgd/section-4-tails")
def light_tails(found: Record) -> Ruling:
    """Is R(t) the mean risk for other features with light tails: wherever θ* lies, or for θ* spread out alone?"""
    rows = found["laws"]
    rows = rows[rows["law"].isin(LIGHT) & (rows["d"] == rows["d"].max())]
    agrees = rows["relative_gap"].abs() <= CONSISTENT * rows["standard_error"]
    noticed = (CONSISTENT * rows["standard_error"] <= ABOUT).all() and set(TARGETS) == set(rows["target"])
    for r in rows.itertuples():
        name = f"relative gap of the mean risk, {r.law}, target: {r.target}"
        found.number(name, r.relative_gap, error=r.standard_error, against=0.0, table="laws", row="largest d")
    gap = select(rows, law=LIGHT[0], target=TARGETS[1])["relative_gap"].abs().max()
    spread_out = agrees[rows["target"] == TARGETS[0]].all()
    return found.ruling(agrees.all(), narrower=spread_out, decided=noticed, gap=gap)


@judges("dpgd/theorem-1-path", quantities=("path", "path, 99 %"))
@judges("dpgd/theorem-1-mean", quantities=("bias",))
@judges("dpgd/proposition-4.4-path", quantities=("released",))
@judges("dpgd/proposition-4.4-mean", quantities=("released bias",))
def convergence_rate(found: Record, quantities: tuple[str, ...]) -> Ruling:
    """Do deviations fall as fast as log²n/√n, in every spectrum and schedule?

    (4.9): sup over t < 1 of |R(θ) − R(t)|, its mean and its 99 % quantile over the chains; (4.10): the same for the
    mean risk; (4.23): |R(θ_n) − R(1) − 2c²η̃(1)²γ²/ρ²|, its mean; (4.24): the bias of the released risk.
    """
    rates = found["rates"]
    found.needs(not _too_small(rates, FEWEST_SIZES))
    groups = rates[rates["quantity"].isin(quantities)].groupby(["quantity", "spectrum", "schedule"], sort=False)
    falls = []
    for (quantity, spectrum, schedule), rows in groups:
        shown = "constant schedule at 2/γ" if schedule == KINK else f"{schedule} schedule"
        falls.append(trends_fall(f"{DEVIATIONS[quantity]}, {spectrum}, {shown}", "rates", rows))
    return _as_fast(found, falls)


# ---- The diffusion (4.14), Theorem 5, (C.45) and Lemmas C.2 to C.4 ----

NOTHING = 0.01  # growth of a logarithm that is none
HEAVIEST = math.log(1 - TAIL) / math.log(1 - SCALE)  # the tail of (C.17) and (C.26) over their value at y = 1
LAST_LINE = 2.0  # the last line of the proof of Lemma C.2 over the sharper bound that `sums` derives


@judges("dpgd/equation-4.14", quantity="risk")
@judges("dpgd/definition-c.1", quantity="risk")
@judges("dpgd/remark-4.3", quantity="risk")
@judges("dpgd/theorem-5", quantity="resolvents")
def tracking_distance(found: Record, quantity: str) -> Ruling:
    """Does sup |q(Θ) − q(θ)| fall like log²n/√n, with the drift printed or derived, for the risk, or all q of (C.2)?"""
    table = found["homogenised"]
    found.needs(not _too_small(table))
    names = [f"{quantity}, {drift} drift" for drift in ("printed", "derived")]
    printed, derived = (
        trends_fall(f"distance in the {name}", "homogenised", select(table, quantity=name)) for name in names
    )
    return _printed_or_corrected(found, printed, derived)._replace(quoted={"printed": printed.exponent})


@judges("dpgd/equation-c.45")
def equation_c45(found: Record) -> Ruling:
    """Is R the contour integral with i/4π, along the printed diffusion, or with i/2π along the derived one?"""
    table = found["diffusion"]
    found.needs(not _too_small(table))
    printed, corrected = (
        trends_fall(f"distance, {drift} drift, {integral}", "diffusion", select(table, drift=drift, integral=integral))
        for drift, integral in {"printed": "i/4π", "derived": "i/2π"}.items()
    )
    powers = {"printed": printed.exponent, "corrected": corrected.exponent}
    return _printed_or_corrected(found, printed, corrected)._replace(quoted=powers)


@judges("dpgd/lemma-c.2")
def lemma_c2(found: Record) -> Ruling:
    """The discretisation error against (C.16), the martingale against (C.17)."""
    sums = found["sums"]
    found.needs(several(sums["n"]), several(found["homogenised"]["n"]))
    rows, row, name = sums[sums["quantity"].str.startswith("(C.16)")], "quantity = (C.16)", "discretisation error over"
    worst, within = (
        float((rows["value"] / bound).max(skipna=False)) for bound in (rows["printed"], LAST_LINE * rows["derived"])
    )
    as_printed = found.at_most(f"{name} the printed bound", worst, 1.0, table="sums", row=row)
    found.number(f"{name} the bound of the proof's last line", within, table="sums", row=row, against=1.0)
    small, known, _ = _martingale(found, "martingale of the private noise")
    decided = known and not math.isnan(worst + within)
    wide = rows.loc[(rows["value"] / rows["printed"]).idxmax(), "quantity"].rpartition(" ")[2]
    corrected = small and min(worst, within) <= 1
    return found.ruling(small and as_printed, corrected=corrected, decided=decided, worst=worst, wide=wide)


@judges("dpgd/lemma-c.3")
def lemma_c3(found: Record) -> Ruling:
    """The martingale of the diffusion, which its drift does not touch."""
    found.needs(several(found["homogenised"]["n"]))
    small, known, power = _martingale(found, "martingale of the diffusion")
    return found.ruling(small, decided=known, power=power)


def _martingale(found: Record, name: str) -> tuple[bool, bool, float]:
    """Does a martingale stay below Cn^(−1/2)y but with probability e^(−y)? Are its sizes known? Their power of n."""
    rows, place = select(found["homogenised"], quantity=name).sort_values("n"), f"quantity = {name}"
    fall, tail = trends_fall(name, "homogenised", rows.iloc[[0, -1]]), rows["tail"] / rows["scale"]
    size = "power of n of the supremum, over all sizes"
    found.number(size, fall.exponent, error=fall.error, against=-0.5, table="homogenised", row=place)
    size = "90 % quantile of the supremum over its 63 % quantile, largest"
    heaviest = found.number(size, tail.max(), table="homogenised", row=place, against=HEAVIEST)
    scaled, error = (rows[column] * rows["n"] ** 0.5 for column in ("value", "standard_error"))
    growth = scaled.iloc[-1] - LEVEL * scaled.iloc[0]
    grown = growth > CONSISTENT * math.hypot(error.iloc[-1], LEVEL * error.iloc[0])
    known = not (rows["value"] + rows["standard_error"] + tail).isna().any()
    return not (grown or heaviest > HEAVIEST), known, fall.exponent


@judges("dpgd/lemma-c.4")
def lemma_c4(found: Record) -> Ruling:
    """Do the errors of both processes grow by no more as n grows, at ‖θ*‖ = 1?

    Compared are mean and tail of log sup ‖v‖²/‖v_0‖², and its spread in units of n^(−1/2).
    """
    table, grows, sizes, tail = found["homogenised"], False, [], []
    found.needs(several(table["n"]))
    for name in ("algorithm", "diffusion"):
        row = f"quantity = growth of the {name}"
        rows = select(table, quantity=f"growth of the {name}")
        first, last = pick(rows.nsmallest(1, "n")), pick(rows.nlargest(1, "n"))
        before, after = (
            {
                "mean log growth": at["value"],
                "90 % quantile of the log growth": at["tail"],
                "spread times √n": at["standard_deviation"] * at["n"] ** 0.5,
            }
            for at in (first, last)
        )
        for place, growths in (("first", before), ("last", after)):
            for what, size in growths.items():
                sizes.append(found.number(f"{what}, {name}, {place} n", size, table="homogenised", row=row))
        grows |= any(after[what] > LEVEL * before[what] + NOTHING for what in before)
        tail.append((float(first["tail"]), float(last["tail"])))
    first, last = map(max, zip(*tail))
    return found.ruling(not grows, decided=not any(map(math.isnan, sizes)), first=first, last=last)


# ---- Definition 4.2, (4.11) to (4.13), Proposition D.1 and (C.7) ----

FINITE = 2.0  # over d: the size of second-order effects on the mean of a step, as tr Σ²/d² ≤ λ_max/d
SOLVED = 1e-5  # relative difference of two solutions of one equation
EXACT = 1e-6  # relative difference of two sides of an identity, one of them by central differences
SLACK = 0.01  # fraction of the risk by which a bound may be crossed, which the solver's error is far below
READINGS = ("printed", "corrected")
HALVES = {"D, lower half": "D of the smaller half of the eigenvalues", "D, upper half": "D of the larger half"}


@judges("dpgd/definition-4.2")
def definition_42(found: Record) -> Ruling:
    """The drift of D_i, term by term and at every d, and one solution from two solvers."""
    steps = found["one-step"]
    largest, off = _at_the_largest(steps), _deviation(steps, "derived")
    over = largest["value"] / largest["derived"]
    ratio = over.loc[(over - 1).abs().idxmax()]
    name = "worst measured term over the term of the equations"
    found.number(name, ratio, table="one-step", row="largest d", against=1.0)
    near = found.at_most("largest deviation beyond 2/d, in standard errors", off, CONSISTENT, table="one-step", row="")
    name = "relative difference of two solvers of (4.7)"
    gap = _identity(found, "(4.7), exponential integrator and LSODA", SOLVED, name)
    size = steps["d"].max()
    return found.ruling(near and gap <= SOLVED, decided=not math.isnan(off + gap), ratio=ratio, size=size)


@judges("dpgd/equation-c.7")
def equation_c7(found: Record) -> Ruling:
    """Is the sampling term halved?"""
    printed, derived = _sampling(found)
    last = _at_the_largest(select(found["one-step"], term="sampling"))
    hidden = max(printed, derived) <= CONSISTENT  # too few trials to tell a term from its half
    decided, ratio = not (hidden or math.isnan(printed + derived)), (last["value"] / last["printed"]).mean()
    return found.ruling(printed <= CONSISTENT, corrected=derived <= CONSISTENT, decided=decided, ratio=ratio)


def _sampling(found: Record) -> tuple[float, float]:
    """How far the sampling term deviates at every d, as printed and as derived; kept is its ratio at the largest d."""
    rows = select(found["one-step"], term="sampling")
    for r in _at_the_largest(rows).itertuples():
        name = f"measured sampling term over the printed one, {HALVES.get(r.quadratic, r.quadratic)}"
        ratio, error, row = r.value / r.printed, r.standard_error / r.printed, "largest d, term = sampling"
        found.number(name, ratio, error=error, against=1.0, table="one-step", row=row)
    return _deviation(rows, "printed"), _deviation(rows, "derived")


def _at_the_largest(rows: pd.DataFrame) -> pd.DataFrame:
    return rows[rows["d"] == rows["d"].max()]


def _deviation(rows: pd.DataFrame, reading: str) -> float:
    allowed = FINITE / rows["d"] * rows[reading].abs()
    beyond = ((rows["value"] - rows[reading]).abs() - allowed).clip(lower=0)
    return float((beyond / rows["standard_error"]).max(skipna=False))


@judges("dpgd/equation-4.11")
def equation_411(found: Record) -> Ruling:
    """For Σ = I, d equations and one."""
    name = "relative difference of the d equations and the single one"
    gap = _identity(found, "(4.11), d equations and one", SOLVED, name)
    return found.ruling(gap <= SOLVED, decided=not math.isnan(gap))


def _identity(found: Record, identity: str, against: float, name: str) -> float:
    return found.cite(name, "relative_difference", table="identities", against=against, identity=identity)


def _says(tables: Tables, display: str, reading: str) -> bool:
    rows = select(tables["displays"], display=display, reading=reading)
    return len(rows) > 0 and bool(((rows["value"] / rows["derived"] - 1).abs() <= EXACT).all())


def _display(found: Record, display: str) -> tuple[bool, bool]:
    """Whether a display says what it should, as printed and corrected; kept is each term over what it should be."""
    for r in select(found["displays"], display=display).itertuples():
        name, row = f"{r.term}, {r.reading}, over the independent computation", f"display = {r.display}"
        found.number(name, r.value / r.derived, table="displays", row=row, against=1.0)
    return _says(found, display, "printed"), _says(found, display, "corrected")


@judges("dpgd/equation-4.12")
def equation_412(found: Record) -> Ruling:
    """For Σ = I its two equations are to be (4.11), which has η̄. Nothing is decided if others were solved."""
    rows = select(found["enclosure"], spectrum="isotropic")
    worst = rows[["lower", "upper"]].sub(rows["risk"], axis=0).abs().max(axis=1, skipna=False) / rows["risk"]
    printed, above = rows["reading"] == "printed", rows["share_of_cap"] > 1
    inside, beyond, corrected = (
        found.number(f"largest error over the risk at t = 1, as {name}", worst[at].max(skipna=False), table="enclosure",
                     row="isotropic", against=ABOUT)
        for name, at in (
            ("printed, rates below the cap", printed & ~above),
            ("printed, rates above the cap", printed & above),
            ("corrected", ~printed),
        )
    )  # fmt: skip
    exact, known = max(inside, corrected) <= ABOUT, not math.isnan(inside + beyond + corrected)
    _, solved = _display(found, "(4.12)")
    return found.ruling(exact and beyond <= ABOUT, corrected=exact, decided=known and solved)


@judges("dpgd/equation-4.13")
@judges("dpgd/proposition-d.1")
def risk_enclosure(found: Record) -> Ruling:
    """Do R̲ and R̄ enclose R? Also with the step of Proposition D.1's proof on tr Σ²."""
    rows = found["enclosure"]
    margin = rows[["lower_margin", "upper_margin"]].min(axis=1, skipna=False)
    corrected, above = rows["reading"] == "corrected", rows["share_of_cap"] > 1
    safe, printed = (margin[cases].min(skipna=False) for cases in (corrected | ~above, ~corrected & above))
    name = "least margin over the risk, rate capped or below the cap"
    capped = found.at_least(name, safe, -SLACK, table="enclosure", row="")
    crossed = {}
    for side, name in (("lower", "excess of the lower"), ("upper", "deficit of the upper")):
        worst = rows.loc[rows[~corrected][f"{side}_margin"].idxmin()]
        case, name = describe(worst[["spectrum", "schedule", "share_of_cap", "clip"]]), f"{name} bound over the risk"
        by = -worst[f"{side}_margin"]
        crossed[side] = found.number(f"{name}, as printed", by, table="enclosure", row=case, against=SLACK)
    lower, upper = crossed.values()
    side, ratio = ("lower", 1 + lower) if lower > upper else ("upper", 1 - upper)
    decided = not math.isnan(safe + printed)
    return found.ruling(capped and printed >= -SLACK, corrected=capped, decided=decided, side=side, ratio=ratio)


# ---- Displays: resolvents and Itô's formula in Section 4 and Appendix C ----


@judges("dpgd/equation-4.17")
@judges("dpgd/equation-c.42")
def resolvent_drift(found: Record) -> Ruling:
    """v'Σ(Σ − z)⁻¹v against ‖v‖² + z q_z(v), and with 2 z q_z(v): along Algorithm 1 and, with (C.44), the diffusion."""
    printed, corrected = (
        _identity(found, f"(4.17), drift with {term}", EXACT, f"relative error of the drift with {term}, {reading}")
        for term, reading in zip(("z q", "2 z q"), READINGS)
    )
    return found.ruling(printed <= EXACT, corrected=corrected <= EXACT)


@judges("dpgd/equation-4.20")
@judges("dpgd/equation-c.43")
def contour_integrals(found: Record) -> Ruling:
    """Squared norm and risk as contour integrals, along Algorithm 1 and the diffusion."""
    printed, _ = _display(found, "(4.20), (C.43)")
    return found.ruling(printed)


@judges("dpgd/equation-4.21")
@judges("dpgd/equation-c.46")
def resolvent_solution(found: Record) -> Ruling:
    """Does the sum over the eigenvalues solve the equation of (4.17), and (C.44)?"""
    printed, corrected = _display(found, "(4.21), (C.46)")
    return found.ruling(printed, corrected=corrected)


@judges("dpgd/equation-c.9")
@judges("dpgd/equation-c.27")
def ito_of_quadratics(found: Record) -> Ruling:
    """Itô's formula on (4.14) for a quadratic."""
    name = "(C.9), (C.27)"
    printed, corrected = _display(found, name)
    descent = pick(found["displays"], display=name, term="descent", reading="printed")
    return found.ruling(printed, corrected=corrected, descent=descent["value"] / descent["derived"])


@judges("dpgd/equation-c.29")
def equation_c29(found: Record) -> Ruling:
    """Itô's formula on (4.14) for log(1 + ‖V‖²)."""
    name = "(C.29), (C.30)"
    printed, corrected = _display(found, name)
    rows = select(found["displays"], display=name, reading="printed")
    off = (rows["value"] / rows["derived"] - 1).abs() > EXACT
    return found.ruling(printed, corrected=corrected, wrong=off.sum(), terms=len(off))


@judges("dpgd/equation-c.5")
def equation_c5(found: Record) -> Ruling:
    """Is the cap 2/‖x‖² or 2/‖x‖?"""
    rows = found["caps"]
    worst = [rows.loc[select(rows, reading=reading)["stretch"].idxmax()] for reading in READINGS]
    for case in worst:
        name, row = "largest factor by which a step stretches distances", describe(case[["d", "reading"]])
        found.number(f"{name}, {case['reading']} cap", case["stretch"], table="caps", row=row, against=1.0)
    printed, corrected = (case["stretch"] <= 1 + EXACT for case in worst)
    return found.ruling(printed, corrected=corrected, stretch=worst[0]["stretch"], d=worst[0]["d"])


@judges("dpgd/equation-c.8")
def equation_c8(found: Record) -> Ruling:
    """The Hessian's error, small if the sampling term that it subtracts is the right one, and the product term."""
    deviations = _sampling(found)
    terms = {  # as printed, and as corrected
        "the Hessian's error": [deviation <= CONSISTENT for deviation in deviations],
        "the product of gradient and noise": _display(found, "(C.8)"),
    }
    amiss = [name for name, (printed, _) in terms.items() if not printed]
    hidden = max(deviations) <= CONSISTENT  # too few trials to tell a term from its half
    corrected = all(terms[name][1] for name in amiss)
    return found.ruling(not amiss, corrected=corrected, decided=not hidden, places=" and in ".join(amiss))


# ---- Sums: (4.22), Lemma C.5 and the last step, (C.60) and (C.61) ----

SUMS_NOTHING = 1e-6  # of the bound
SUMS_HEAVIEST = 4.5  # 99 % over 63 % quantile: 2.9 for a Gaussian's size, 4.6 for an exponential tail
SUMS_TAIL = "99 % quantile of the remainder over its 63 % quantile, largest"


@judges("dpgd/equation-4.22")
def equation_422(found: Record) -> Ruling:
    """The noise before the last step, and by how much the last one is larger."""
    sums = found["sums"]
    found.needs(several(sums["n"]))
    jump, none, error, level = (
        select(sums, quantity=name).sort_values("n")
        for name in (
            "last over the one before, harmonic",
            "last over the one before, square root",
            "(4.22), harmonic",
            "(4.22), square root",
        )
    )
    last, zero, off = jump.iloc[-1], none.iloc[-1], level["value"].max()
    place, end = (describe(row[["n", "quantity"]]) for row in (last, zero))
    name = "variance of the last noise over the one before"
    found.number(name, last["value"], table="sums", row=place, against=last["printed"])
    found.number("the same where the rate ends at zero", zero["value"], table="sums", row=end, against=0.0)
    name, row = "power of n in the relative error of (4.22)", "quantity = (4.22), harmonic"
    falls = found.number(name, _power(error), table="sums", row=row, against=-1.0)
    name = "power of n in the last variance over the one before"
    rises = found.number(name, _power(jump), table="sums", row="", against=1.0)
    found.number("relative error of (4.22), square root", off, table="sums", row="", against=SOLVED)
    unlike = [abs(ratio - 1) > ABOUT for ratio in (last["value"] / last["printed"], rises)]
    broken = [*unlike, none["value"].any(), falls > -1 + ABOUT, off > SOLVED]
    decided = not any(math.isnan(number.value) for number in found.numbers)
    return found.ruling(not any(broken), decided=decided, jump=last["value"], n=last["n"])


@judges("dpgd/lemma-c.5")
def lemma_c5(found: Record) -> Ruling:
    """What the random cap changes compared with 2/d, in the mean over the features, in both lines of (C.33)."""
    sums, falls = found["sums"], []
    rows = sums[sums["quantity"].str.startswith("(C.32)")].assign(bound=lambda r: r["printed"])
    found.needs(not _too_small(rows))
    for quantity, part in rows.groupby("quantity", sort=False):
        place, _, squares = str(quantity).removeprefix("(C.32), ").partition(", ")
        name = f"{'second' if squares else 'first'} line of (C.33), learning rate {place}"
        falls.append(trends_fall(name, "sums", part))
    return _as_fast(found, [fall for fall in falls if not fall.share <= SUMS_NOTHING])


def _power(rows: pd.DataFrame, size: str = "n", column: str = "value") -> float:
    ends = np.log(rows.sort_values(size)[[size, column]].tail(2).to_numpy(dtype=float))
    return float((ends[1, 1] - ends[0, 1]) / (ends[1, 0] - ends[0, 0]))


@judges("dpgd/equation-c.60")
def equation_c60(found: Record) -> Ruling:
    """The remainder over (1 + √R)/√d, along d at every R and along R at every d; and how heavy its tail is."""
    table = found["last-step"].assign(scaled=lambda r: r["upper"] / r["scale"])
    at: dict[str, Any] = {"table": "last-step", "row": ""}
    found.needs(several(table["d"]), several(table["squared_norm"]))
    along_d = table.sort_values("d").groupby("squared_norm")["scaled"]
    growth = (along_d.last() / along_d.apply(lambda scaled: scaled.iloc[:-1].max())).max()
    level = found.at_most("scaled remainder at the largest d over the largest before", growth, LEVEL, **at)
    power = max(_power(rows, "risk", "scaled") for _, rows in table.groupby("d"))
    level &= found.at_most("power of the risk in the scaled remainder, two largest risks", power, LOST_POWER, **at)
    tail, worst = (table["upper"] / table["middle"]).max(), table["scaled"].max()
    level &= found.at_most(SUMS_TAIL, tail, SUMS_HEAVIEST, **at)
    found.number("largest 99 % quantile of the scaled remainder", worst, **at)
    return found.ruling(level, decided=not (table["scaled"] + table["middle"]).isna().any())


@judges("dpgd/equation-c.61")
def equation_c61(found: Record) -> Ruling:
    """The same compared with log d/√d, at risks of order one; and its tail there."""
    table = found["last-step"]
    one = min(table["squared_norm"], key=lambda square: abs(math.log(square)))
    rows = select(table, squared_norm=one).sort_values("d")
    found.needs(several(rows["d"]))
    power, bound = _power(rows, "d", "upper"), _power(rows, "d", "bound")
    relative, tail = (rows["upper_error"] / rows["upper"]).tail(2), (rows["upper"] / rows["middle"]).max(skipna=False)
    error = float(np.hypot(*relative) / np.log(rows["d"].iloc[-1] / rows["d"].iloc[-2]))
    name, row = "power of d in the 99 % quantile of the remainder", "last two d, risk of order one"
    found.number(name, power, error=error, against=bound, table="last-step", row=row)
    light = found.at_most(SUMS_TAIL, tail, SUMS_HEAVIEST, table="last-step", row="risk of order one")
    falls, decided = power <= bound + CONSISTENT * error, not math.isnan(power + bound + error + tail)
    return found.ruling(falls and light, decided=decided, power=power, bound=bound)
