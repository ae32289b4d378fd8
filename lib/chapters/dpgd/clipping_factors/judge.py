"""Verdicts on the norm of a gradient, (4.5), (4.6), Lemmas B.1 and B.2 and Figure 9 of arXiv:2505.16329v2."""

import math
from itertools import combinations

import numpy as np
import pandas as pd

from chapters.dpgd.clipping_factors.measure import NU_AT_ONE, NU_AT_ONE_MEASURED, NU_AT_ONE_PRINTED, PEAK, PEAK_HEIGHT
from companion import _fits
from companion.judging.findings import Number, Verdict
from companion.judging.growth import several
from companion.judging.judges import Ruling, judges, numbers, reads
from companion.judging.tables import Tables, cite, describe, select
from companion.judging.vocabulary import CONSISTENT, ROUNDING

INVERSE = -0.8  # an exponent below this, error included, is that of 1/d: the next order adds 0.05 at d = 10
TENDS = 0.1  # least power of c/ζ that counts as tending to a limit
SATURATED = 1e-4  # distance from 1 at the end of Figure 9 that counts as having arrived
PRINTED = 0.516  # of (B.24)
DIGITS = 5e-4  # half of its last digit
CHANGES = {"distance": "squared distance", "mu shift": "change of μ", "nu shift": "change of ν"}
MU_LIMIT, NU_LIMIT = math.sqrt(2 / math.pi), 1.0  # of (B.15) and (B.16)


@judges("dpgd/section-4-gradient-norm")
def section_4_gradient_norm(tables: Tables) -> Ruling:
    """Is |r| = √(2𝒫) for every record? Then clipping at c' < 1 would leave no gradient whole, at c' ≥ 1 all of them."""
    curves = tables["factors"].sort_values("ratio")
    below, above = (curves[curves["ratio"] < 1]["mu"].max(), curves[curves["ratio"] >= 1]["mu"].min())
    score = _score(select(tables["definition"], law="Gaussian", quantity="share whole"))
    named = {
        "fraction of gradients left whole, c' just below 1": (below, 0.0),
        "fraction of gradients left whole, c' = 1 or just above": (above, 1.0),
    }
    simulated = {"largest distance of that fraction from the simulation, in standard errors": (score, CONSISTENT)}
    sharp = below <= SATURATED and above >= 1 - SATURATED
    verdict = reads(printed=sharp, corrected=score <= CONSISTENT, decided=math.isfinite(below + above))
    found = numbers("factors", named) + numbers("definition", simulated, "law = Gaussian")
    return Ruling(verdict, found, {"clipped": 1 - above})


@judges("dpgd/equation-4.5")
def equation_45(tables: Tables) -> Ruling:
    """Does clipping the gradient at c√d become clipping the residual at c as d grows, like 1/d?"""
    distance = select(tables["dimension"], quantity="distance").sort_values("d")
    if not several(distance["d"]):
        return Ruling(Verdict.UNTESTABLE)
    last = {str(name): rows.iloc[-2:] for name, rows in distance.groupby("spectrum")}
    fits = {name: _fits.power_law(rows["d"], rows["value"], rows["standard_error"]) for name, rows in last.items()}
    powers = [
        Number("power of d between the last two", *fit, -1.0, "dimension", f"spectrum = {name}, quantity = distance")
        for name, fit in fits.items()
    ]
    falls = all(power + CONSISTENT * error <= INVERSE for power, error in fits.values())
    stays = any(power - CONSISTENT * error > INVERSE for power, error in fits.values())
    verdict = reads(printed=falls, decided=falls or stays)
    return Ruling(verdict, (*powers, *_at_the_largest(tables["dimension"])), {"power": max(fits.values())[0]})


def _at_the_largest(dimension: pd.DataFrame) -> list[Number]:
    """What clipping whole gradients changes at the largest d: the distance beside its leading order, the factors."""
    return [
        Number(
            f"{CHANGES[row['quantity']]} at the largest d",
            row["value"],
            row["standard_error"],
            row["closed_form"] if row["quantity"] == "distance" else 0.0,
            "dimension",
            describe({name: row[name] for name in ("spectrum", "d", "quantity")}),
        )
        for _, row in select(dimension, d=dimension["d"].max()).iterrows()
    ]


@judges("dpgd/equation-4.6")
def equation_46(tables: Tables) -> Ruling:
    """Do the factors depend on the risk alone, and increase in c from 0 to 1?"""
    gaussian = select(tables["definition"], law="Gaussian")
    score = max(_spread(select(gaussian, quantity=name)) for name in ("mu", "nu"))
    found, rising = _from_0_to_1(tables)
    apart = {"largest difference at one risk, in standard errors": (score, CONSISTENT)}
    found = (*numbers("definition", apart, "law = Gaussian"), *found)
    return Ruling(reads(printed=score <= CONSISTENT and rising), found, {"score": score})


def _from_0_to_1(tables: Tables) -> tuple[tuple[Number, ...], bool]:
    """The ends of both factors' curves, and whether they rise from 0 to 1 along the clipping ratio."""
    curves = tables["factors"].sort_values("ratio")[["ratio", "mu", "nu"]]
    first, last = curves.iloc[0], curves.iloc[-1]
    start, end = max(first["mu"], first["nu"]), min(last["mu"], last["nu"])
    ends = {
        "larger of the two factors at the least clipping ratio": (start, first["ratio"], f"ratio = {first['ratio']:g}"),
        "smaller of the two factors at the largest clipping ratio": (end, 1.0, f"ratio = {last['ratio']:g}"),
    }
    rising = (np.diff(curves[["mu", "nu"]], axis=0) > 0).all()
    return numbers("factors", ends), bool(rising and start <= first["ratio"] and end >= 1 - SATURATED)


@judges("dpgd/lemma-b.1-mu")
def lemma_b1_mu(tables: Tables) -> Ruling:
    """(B.1), by quadrature and by simulation; μ is also the share of residuals left whole."""
    return _closed_form(tables, "mu_error", "mu", "share whole")


@judges("dpgd/lemma-b.1-nu")
def lemma_b1_nu(tables: Tables) -> Ruling:
    """(B.2) with (B.3), by quadrature and by simulation."""
    return _closed_form(tables, "nu_error", "nu")


def _closed_form(tables: Tables, column: str, *quantities: str) -> Ruling:
    """A formula of Lemma B.1 against quadrature of the moment, in ``column``, and against simulated gradients."""
    precision, gaussian = tables["precision"], select(tables["definition"], law="Gaussian")
    worst = precision.loc[precision[column].idxmax()]
    off = {"largest relative difference from quadrature": (worst[column], ROUNDING)}
    scores = {name: _score(select(gaussian, quantity=name)) for name in quantities}
    simulated, score = "largest distance from the simulation, in standard errors", max(scores.values())
    found = numbers("precision", off, f"ratio = {worst['ratio']:.3g}")
    for name, own in scores.items():
        found += numbers("definition", {simulated: (own, CONSISTENT)}, f"law = Gaussian, quantity = {name}")
    broken = worst[column] > ROUNDING or score > CONSISTENT
    return Ruling(reads(printed=not broken), found, {"score": score})


@judges("dpgd/lemma-b.2-bounds")
def lemma_b2_bounds(tables: Tables) -> Ruling:
    """(B.15): are both ratios between constants of c and ζ that fall in c, and √(2/π) and 1?"""
    bounds = tables["bounds"].sort_values("clip")
    constants = bounds[["mu_sharp", "nu_sharp"]]
    over = {name: (bounds[f"{name}_low"] / bounds[f"{name}_sharp"]).min() for name in ("mu", "nu")}
    named = {
        "largest μ/c'": (bounds["mu_high"].max(), MU_LIMIT, "all, mu_high"),
        "largest ν/c'²": (bounds["nu_high"].max(), NU_LIMIT, "all, nu_high"),
        "least μ/c' over its constant": (over["mu"], 1.0, "all, mu_low"),
        "least ν/c'² over its constant": (over["nu"], 1.0, "all, nu_low"),
        "least constant": (constants.min(axis=None), 0.0, "all, mu_sharp and nu_sharp"),
    }
    falls = all((np.diff(rows, axis=0) < 0).all() for _, rows in constants.groupby(bounds["label_noise"]))
    verdict = reads(printed=_bounded(bounds) and falls and constants.min(axis=None) > 0)
    return Ruling(verdict, numbers("bounds", named), {"pairs": len(bounds)})


def _bounded(bounds: pd.DataFrame) -> bool:
    """Whether both ratios are everywhere between their constants and their limits."""
    low, constant, high = (bounds[[f"mu_{kind}", f"nu_{kind}"]].to_numpy() for kind in ("low", "sharp", "high"))
    limits = np.array([MU_LIMIT, NU_LIMIT])
    outside = (high > limits * (1 + ROUNDING)) | (low < constant * (1 - ROUNDING))
    return not outside.any()


@judges("dpgd/lemma-b.2-limits")
def lemma_b2_limits(tables: Tables) -> Ruling:
    """(B.16): do both ratios tend to √(2/π) and 1 as c/ζ → 0, at the worst risk, along c and along ζ?"""
    small = _gaps(tables["bounds"])
    if not several(small["clip"]):
        return Ruling(Verdict.UNTESTABLE)
    least = small.iloc[0]
    mu, nu, share = (float(least[name]) for name in ("mu", "nu", "share"))
    named = {  # beside the leading orders, derived on the page
        "distance of μ/c' from its limit": (mu, share**2 / math.sqrt(18 * math.pi)),
        "distance of ν/c'² from its limit": (nu, share * math.sqrt(8 / (9 * math.pi))),
    }
    row = describe({name: least[name] for name in ("clip", "label_noise")})
    series = [rows for fixed in ("clip", "label_noise") for _, rows in small.groupby(fixed)]
    tend = all(_tends(rows["share"], rows[name]) for rows in series for name in ("mu", "nu"))
    return Ruling(reads(printed=tend), numbers("bounds", named, row), {"gap": max(mu, nu), "share": share})


def _gaps(bounds: pd.DataFrame) -> pd.DataFrame:
    """How far both ratios are from their limits at the worst risk, where c < ζ, along c/ζ."""
    gaps = bounds.assign(
        share=bounds["clip"] / bounds["label_noise"],
        mu=(MU_LIMIT - bounds["mu_low"]).abs(),
        nu=(NU_LIMIT - bounds["nu_low"]).abs(),
    )
    return gaps[gaps["share"] < 1].sort_values("share")


def _tends(x: pd.Series, gap: pd.Series) -> bool:
    """Whether a distance falls at least like x^`TENDS` at each step towards x = 0; ``x`` ascends."""
    ratio = (x / x.shift(-1)).iloc[:-1] ** TENDS
    return bool((gap.iloc[:-1] <= gap.shift(-1).iloc[:-1] * ratio).all())


@judges("dpgd/lemma-b.2-half")
def lemma_b2_half(tables: Tables) -> Ruling:
    """(B.17): are ν/c'² for c' ≤ 1 and ν for c' > 1 above one half?"""
    sides = {"nu_half_clipped": "clipping ratio at most 1", "nu_half_unclipped": "clipping ratio above 1"}
    least = {name: float(tables["bounds"][name].min()) for name in sides}
    named = {f"least, {text}": (least[name], 0.5, name) for name, text in sides.items()}
    lowest = min(least.values())
    verdict = reads(printed=lowest > 0.5, decided=all(map(math.isfinite, least.values())))
    return Ruling(verdict, numbers("bounds", named), {"lowest": lowest})


@judges("dpgd/figure-9")
def figure_9(tables: Tables) -> Ruling:
    """Do the factors rise from 0 to 1, as Section 4 reads off the figure, and does μ/c' fall?"""
    found, rising = _from_0_to_1(tables)
    falling = (tables["factors"].sort_values("ratio")["mu_over_ratio"].diff().iloc[1:] < 0).all()
    return Ruling(reads(printed=rising and bool(falling)), found)


@judges("dpgd/lemma-b.2-monotone")
def lemma_b2_monotone(tables: Tables) -> Ruling:
    """Is ν/c' monotone, from which the proof concludes (B.17)? And ν/c'², with which it would?"""
    curves = tables["factors"].sort_values("ratio").reset_index(drop=True)
    step = curves.diff().iloc[1:]
    ratio, square = step["nu_over_ratio"], step["nu_over_square"]
    named = {
        "steps at which ν/c' rises": ((ratio >= 0).sum(), 0.0),
        "steps at which ν/c' falls": ((ratio <= 0).sum(), len(step)),
        "steps at which ν/c'² rises": ((square >= 0).sum(), 0.0),
    }
    found = (
        cite("largest ν/c'", tables, "landmarks", "value", landmark=PEAK_HEIGHT),
        cite("c' where ν/c' is largest", tables, "landmarks", "value", landmark=PEAK),
        *numbers("factors", named),
    )
    rises = (step["nu"] > 0).all()
    one_way = (ratio < 0).all() or (ratio > 0).all()
    verdict = reads(printed=rises and one_way, corrected=rises and (square < 0).all())
    return Ruling(verdict, found, {"top": curves.loc[ratio.index[ratio >= 0], "nu_over_ratio"].tail(1).max()})


@judges("dpgd/equation-b.24")
def equation_b24(tables: Tables) -> Ruling:
    """(B.24): is ν = 1 − √(2/(πe)) ≈ 0.516 at c' = 1, by (B.2) and by quadrature?"""
    value = tables["landmarks"].set_index("landmark")["value"]
    closed, quadrature, exact = (value[name] for name in (NU_AT_ONE, NU_AT_ONE_MEASURED, NU_AT_ONE_PRINTED))
    named = {
        "by (B.2)": (closed, exact, f"landmark = {NU_AT_ONE}"),
        "by quadrature": (quadrature, exact, f"landmark = {NU_AT_ONE_MEASURED}"),
        "the printed expression": (exact, PRINTED, f"landmark = {NU_AT_ONE_PRINTED}"),
    }
    wrong, misprinted = max(abs(closed - exact), abs(quadrature - exact)) > ROUNDING, abs(exact - PRINTED) > DIGITS
    verdict = reads(printed=not (wrong or misprinted), corrected=not wrong)
    return Ruling(verdict, numbers("landmarks", named), {"exact": exact})


def _score(rows: pd.DataFrame) -> float:
    """Largest distance from the closed form in standard errors."""
    return float(((rows["value"] - rows["closed_form"]).abs() / rows["standard_error"]).max())


def _spread(rows: pd.DataFrame) -> float:
    """Largest difference between two of the rows in combined standard errors."""
    pairs = combinations(zip(rows["value"], rows["standard_error"]), 2)
    return max(abs(a - b) / math.hypot(s, t) for (a, s), (b, t) in pairs)
