"""Verdicts on the norm of a gradient, (4.5), (4.6), Lemmas B.1 and B.2 and Figure 9 of arXiv:2505.16329v2."""

import math
from itertools import combinations

import numpy as np
import pandas as pd

from chapters.dpgd.clipping_factors.measure import NU_AT_ONE, NU_AT_ONE_MEASURED, NU_AT_ONE_PRINTED, PEAK, PEAK_HEIGHT
from companion import _fits
from companion.judging.growth import several
from companion.judging.judges import Record, Ruling, judges
from companion.judging.tables import describe, select
from companion.judging.tolerances import Declared, Rounding
from companion.judging.vocabulary import CONSISTENT, ROUNDING

INVERSE = -0.8  # an exponent below this, error included, is that of 1/d: the next order adds 0.05 at d = 10
TENDS = 0.1  # least power of c/ζ that counts as tending to a limit
SATURATED = 1e-4  # distance from 1 at the end of Figure 9 that counts as having arrived
DIGITS = 5e-4  # half of the last digit of (B.24)
CHANGES = {"distance": "squared distance", "mu shift": "change of μ", "nu shift": "change of ν"}
MU_LIMIT, NU_LIMIT = math.sqrt(2 / math.pi), 1.0  # of (B.15) and (B.16)


@judges("dpgd/section-4-gradient-norm")
def gradient_norm(found: Record) -> Ruling:
    """Is |r| = √(2𝒫) for every record? Then clipping at c' < 1 would leave no gradient whole, at c' ≥ 1 all of them."""
    curves = found["factors"].sort_values("ratio")
    below, above = curves[curves["ratio"] < 1]["mu"].max(), curves[curves["ratio"] >= 1]["mu"].min()
    score = _score(select(found["definition"], law="Gaussian", quantity="share whole"))
    found.number("fraction of gradients left whole, c' just below 1", below, table="factors", against=0.0)
    found.number("fraction of gradients left whole, c' = 1 or just above", above, table="factors", against=1.0)
    name = "largest distance of that fraction from the simulation, in standard errors"
    simulated = found.at_most(name, score, CONSISTENT, table="definition", row="law = Gaussian")
    sharp = below <= SATURATED and above >= 1 - SATURATED
    return found.ruling(sharp, corrected=simulated, decided=math.isfinite(below + above), clipped=1 - above)


@judges("dpgd/equation-4.5")
def equation_45(found: Record) -> Ruling:
    """Does clipping the gradient at c√d become clipping the residual at c as d grows, like 1/d?

    At the largest d the distance stands beside its leading order, and the factors beside no change.
    """
    dimension = found["dimension"]
    distance = select(dimension, quantity="distance").sort_values("d")
    found.needs(several(distance["d"]))
    fits = []
    for spectrum, rows in distance.groupby("spectrum"):
        last, row = rows.iloc[-2:], f"spectrum = {spectrum}, quantity = distance"
        power, error = _fits.power_law(last["d"], last["value"], last["standard_error"])
        found.number("power of d between the last two", power, error=error, against=-1.0, table="dimension", row=row)
        fits.append((power, error))
    for _, row in select(dimension, d=dimension["d"].max()).iterrows():
        found.number(
            f"{CHANGES[row['quantity']]} at the largest d",
            row["value"],
            error=row["standard_error"],
            against=row["closed_form"] if row["quantity"] == "distance" else 0.0,
            table="dimension",
            row=describe(row[["spectrum", "d", "quantity"]]),
        )
    falls = all(power + CONSISTENT * error <= INVERSE for power, error in fits)
    stays = any(power - CONSISTENT * error > INVERSE for power, error in fits)
    return found.ruling(falls, decided=falls or stays, power=max(fits)[0])


@judges("dpgd/equation-4.6")
def equation_46(found: Record) -> Ruling:
    """Do the factors depend on the risk alone, and increase in c from 0 to 1?"""
    gaussian = select(found["definition"], law="Gaussian")
    parts = (select(gaussian, quantity=name) for name in ("mu", "nu"))
    pairs = [pair for rows in parts for pair in combinations(zip(rows["value"], rows["standard_error"]), 2)]
    score = max(abs(a - b) / math.hypot(s, t) for (a, s), (b, t) in pairs)
    name = "largest difference at one risk, in standard errors"
    alike = found.at_most(name, score, CONSISTENT, table="definition", row="law = Gaussian")
    return found.ruling(_from_0_to_1(found) and alike, score=score)


@judges("dpgd/figure-9")
def figure_9(found: Record) -> Ruling:
    """Do the factors rise from 0 to 1, as Section 4 reads off the figure, and does μ/c' fall?"""
    falling = (found["factors"].sort_values("ratio")["mu_over_ratio"].diff().iloc[1:] < 0).all()
    return found.ruling(_from_0_to_1(found) and falling)


def _from_0_to_1(found: Record) -> bool:
    curves = found["factors"].sort_values("ratio")[["ratio", "mu", "nu"]]
    (least, *first), (largest, *last) = curves.iloc[0], curves.iloc[-1]
    name = "larger of the two factors at the least clipping ratio"
    starts = found.at_most(name, max(first), least, table="factors", row=f"ratio = {least:g}")
    name = "smaller of the two factors at the largest clipping ratio"
    end = found.number(name, min(last), table="factors", row=f"ratio = {largest:g}", against=1.0)
    return bool((np.diff(curves[["mu", "nu"]], axis=0) > 0).all() and starts and end >= 1 - SATURATED)


@judges("dpgd/lemma-b.1-mu", column="mu_error", quantities=("mu", "share whole"))
@judges("dpgd/lemma-b.1-nu", column="nu_error", quantities=("nu",))
def lemma_b1(found: Record, column: str, quantities: tuple[str, ...]) -> Ruling:
    """(B.1), or (B.2) with (B.3), by quadrature and by simulation; μ is also the share of residuals left whole."""
    precision, gaussian = found["precision"], select(found["definition"], law="Gaussian")
    worst = precision.loc[precision[column].idxmax()]
    name, row = "largest relative difference from quadrature", f"ratio = {worst['ratio']:.3g}"
    error = found.number(name, worst[column], table="precision", row=row, against=ROUNDING)
    name, scores = "largest distance from the simulation, in standard errors", []
    for quantity in quantities:
        score, row = _score(select(gaussian, quantity=quantity)), f"law = Gaussian, quantity = {quantity}"
        scores.append(found.number(name, score, table="definition", row=row, against=CONSISTENT))
    return found.ruling(not (error > ROUNDING or max(scores) > CONSISTENT), score=max(scores))


@judges("dpgd/lemma-b.2-bounds")
def lemma_b2_bounds(found: Record) -> Ruling:
    """(B.15): are both ratios between constants of c and ζ that fall in c, and √(2/π) and 1?"""
    bounds, bounded = found["bounds"].sort_values("clip"), True
    constants = bounds[["mu_sharp", "nu_sharp"]]
    ratios = (("mu", "μ/c'", MU_LIMIT), ("nu", "ν/c'²", NU_LIMIT))
    for factor, ratio, limit in ratios:
        column = f"{factor}_high"
        largest = bounds[column].max()
        bounded &= found.at_most(
            f"largest {ratio}", largest, limit, table="bounds", row=f"all, {column}", slack=ROUNDING
        )
    for factor, ratio, _ in ratios:
        column = f"{factor}_low"
        least = (bounds[column] / bounds[f"{factor}_sharp"]).min()
        name = f"least {ratio} over its constant"
        bounded &= found.number(name, least, table="bounds", row=f"all, {column}", against=1.0) >= 1 - ROUNDING
    row = "all, mu_sharp and nu_sharp"
    least = found.number("least constant", constants.min(axis=None), table="bounds", row=row, against=0.0)
    falls = all((np.diff(rows, axis=0) < 0).all() for _, rows in constants.groupby(bounds["label_noise"]))
    return found.ruling(bounded and falls and least > 0, pairs=len(bounds))


@judges("dpgd/lemma-b.2-limits")
def lemma_b2_limits(found: Record) -> Ruling:
    """(B.16): do both ratios tend to √(2/π) and 1 as c/ζ → 0, at the worst risk, along c and along ζ?

    A distance tends to 0 if it falls at least like (c/ζ)^`TENDS` at each step. Beside both distances stand their
    leading orders, which the page derives.
    """
    rows = found["bounds"]
    mu, nu = (MU_LIMIT - rows["mu_low"]).abs(), (NU_LIMIT - rows["nu_low"]).abs()
    gaps = rows.assign(share=rows["clip"] / rows["label_noise"], mu=mu, nu=nu)
    small = gaps[gaps["share"] < 1].sort_values("share")
    found.needs(several(small["clip"]))
    least, row = small.iloc[0], describe(small.iloc[0][["clip", "label_noise"]])
    share = float(least["share"])
    orders = {"μ/c'": share**2 / math.sqrt(18 * math.pi), "ν/c'²": share * math.sqrt(8 / (9 * math.pi))}
    for (ratio, order), gap in zip(orders.items(), (least["mu"], least["nu"])):
        found.number(f"distance of {ratio} from its limit", float(gap), table="bounds", row=row, against=order)
    tend = True
    for fixed in ("clip", "label_noise"):
        for _, rows in small.groupby(fixed):
            now, before = rows.iloc[:-1], rows.shift(-1).iloc[:-1]
            fall = (now["share"] / before["share"]) ** TENDS
            tend &= all((now[factor] <= before[factor] * fall).all() for factor in ("mu", "nu"))
    return found.ruling(tend, gap=float(max(least["mu"], least["nu"])), share=share)


@judges("dpgd/lemma-b.2-half")
def lemma_b2_half(found: Record) -> Ruling:
    """(B.17): are ν/c'² for c' ≤ 1 and ν for c' > 1 above one half?"""
    sides = {"nu_half_clipped": "clipping ratio at most 1", "nu_half_unclipped": "clipping ratio above 1"}
    least = [
        found.number(f"least, {side}", float(found["bounds"][name].min()), table="bounds", row=name, against=0.5)
        for name, side in sides.items()
    ]
    return found.ruling(min(least) > 0.5, decided=all(map(math.isfinite, least)), lowest=min(least))


@judges("dpgd/lemma-b.2-monotone")
def lemma_b2_monotone(found: Record) -> Ruling:
    """Is ν/c' monotone, from which the proof concludes (B.17)? And ν/c'², with which it would?"""
    curves = found["factors"].sort_values("ratio").reset_index(drop=True)
    step = curves.diff().iloc[1:]
    ratio, square, rises = step["nu_over_ratio"], step["nu_over_square"], (step["nu"] > 0).all()
    found.cite("largest ν/c'", "value", table="landmarks", landmark=PEAK_HEIGHT)
    found.cite("c' where ν/c' is largest", "value", table="landmarks", landmark=PEAK)
    found.number("steps at which ν/c' rises", (ratio >= 0).sum(), table="factors", against=0.0)
    found.number("steps at which ν/c' falls", (ratio <= 0).sum(), table="factors", against=len(step))
    found.number("steps at which ν/c'² rises", (square >= 0).sum(), table="factors", against=0.0)
    one_way = (ratio < 0).all() or (ratio > 0).all()
    top = curves.loc[ratio.index[ratio >= 0], "nu_over_ratio"].tail(1).max()
    return found.ruling(rises and one_way, corrected=rises and (square < 0).all(), top=top)


@judges("dpgd/equation-b.24")
def equation_b24(found: Record) -> Ruling:
    """(B.24): is ν = 1 − √(2/(πe)) ≈ 0.516 at c' = 1, by (B.2) and by quadrature?"""
    printed = 0.516
    exact = float(found["landmarks"].set_index("landmark")["value"][NU_AT_ONE_PRINTED])
    closed = found.cite("by (B.2)", "value", table="landmarks", against=exact, landmark=NU_AT_ONE)
    quadrature = found.cite("by quadrature", "value", table="landmarks", against=exact, landmark=NU_AT_ONE_MEASURED)
    found.cite("the printed expression", "value", table="landmarks", against=printed, landmark=NU_AT_ONE_PRINTED)
    wrong = max(abs(closed - exact), abs(quadrature - exact)) > ROUNDING
    misprinted = abs(exact - printed) > DIGITS
    return found.ruling(not (wrong or misprinted), corrected=not wrong, exact=exact)


def _score(rows: pd.DataFrame) -> float:
    return float(((rows["value"] - rows["closed_form"]).abs() / rows["standard_error"]).max())


# ---- How near numbers come on another machine ----

EPS = 2.0**-52


TOLERANCES: Declared = {
    "precision": {  # all four columns are rounding errors; as printed, ν ~ c'² and F ~ c'³ are differences of order c'
        "mu_error": Rounding(),
        "nu_error": Rounding(),
        "printed_nu_error": Rounding(floor=lambda table: (EPS / table["ratio"]).clip(lower=EPS)),
        "printed_F_error": Rounding(floor=lambda table: (EPS / table["ratio"] ** 2).clip(lower=EPS)),
    },
}
