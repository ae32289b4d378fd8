"""Verdicts on how section 7 of arXiv:2505.16329v2 prepares real data, what it plots, and which seeds it leaves out."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import pandas as pd

from costofprivacy.datasets import HOUSING, MNIST, NORMALISATION
from costofprivacy.experiments.dpgd.real_data.maps import BLOWN, FIGURES
from costofprivacy.experiments.dpgd.real_data.problem import PAPERS
from costofprivacy.experiments.dpgd.real_data.verdicts import absent, plainly
from costofprivacy.judging.findings import Consequence, Finding, Number, Verdict
from costofprivacy.judging.judges import judges
from costofprivacy.judging.prose import compact, percent
from costofprivacy.judging.tables import Tables
from costofprivacy.judging.vocabulary import CONSISTENT

ALL_BUT = 0.9  # of the coordinates: a normalisation that reaches so many does what it says
TRACE = 1.25  # quotient up to which tr Σ is d
FEW = 0.2  # of the seeds: more than that are not a few
ALIKE = 1.5  # quotient up to which two typical errors are alike
EXPLAINED = 0.5  # of a blown-up loss: what the worst rows must hold to explain it


# ------------------------------------------------------------------------------------------- what is prepared


@judges("dpgd/section-7-normalisation")
def normalisation(tables: Tables) -> Finding:
    """Has each coordinate unit variance after normalisation by a subset, on the rows that are trained on?"""
    if missing := absent(tables, MNIST, HOUSING):
        return missing
    rows = tables["rows"].assign(share=lambda t: t["unit_variance"] / t["d"], over=lambda t: t["trace"] / t["d"])
    groups = rows.groupby("asked")
    shares, over, live = groups["share"].mean(), groups["over"].median(), (groups["live"].mean() / groups["d"].first())
    worst = rows.groupby("asked")["over"].max()
    numbers = tuple(
        Number(f"{name}, {asked.split(',')[0]}", values[asked], against=1.0, table="rows", row=f"asked = {asked}")
        for asked in PAPERS
        for name, values in (
            ("share of coordinates with a variance of ½ to 2", shares),
            ("share that vary where they are normalised", live),
            ("tr Σ over d, median", over),
            ("tr Σ over d, largest", worst),
        )
    )
    change = "A subset whose standard deviations are those of the rows that are trained on."
    if (shares >= ALL_BUT).all() and (worst <= TRACE).all():
        headline = "Nearly every coordinate has a variance near one in the rows that are trained on, too."
        return Finding(Verdict.HOLDS, headline, numbers, would_change=change)
    headline = f"On MNIST {percent(shares[MNIST])} of the coordinates have a variance near one in the training rows."
    if shares[MNIST] >= ALL_BUT:
        headline = f"Single shuffles have a total variance {compact(worst.max())} times what unit variances would give."
    correction = (
        "True of the normalisation rows and of coordinates that vary there. Elsewhere a coordinate that is nearly "
        rf"constant in those rows has values of hundreds of standard deviations: $\mathrm{{tr}}\,\Sigma$ is up to "
        f"{compact(worst[MNIST])} times $d$ on MNIST and {compact(worst[HOUSING])} times on housing, against "
        r"Assumption 1's $\mathrm{tr}\,\Sigma=d$."
    )
    return Finding(Verdict.NARROWER, headline, numbers, Consequence.NUMBERS, correction, change)


@judges("dpgd/section-7-loss")
def loss(tables: Tables) -> Finding:
    """Is what the maps show the mean square, capped at 0.6, or half of it, as in (3.2)?"""
    if missing := absent(tables, MNIST, HOUSING):
        return missing
    trivial = float(tables["rows"]["trivial"].mean())
    least = [(gamma, alpha, value) for gamma, alpha, value in plainly(tables[FIGURES[MNIST]])]
    gamma, alpha, worst = max(least, key=lambda each: each[2])
    row = f"gamma = {gamma:g}, alpha = {alpha:g}"
    numbers = (
        Number("the constant predictor, halved", trivial, against=BLOWN, table="rows", row="all"),
        Number("the constant predictor, mean square", 2 * trivial, against=BLOWN, table="rows", row="all"),
        Number("least mean square of a map, where it is largest", worst, against=BLOWN, table="figure-5", row=row),
    )
    change = "Maps whose plain mean squares show their valleys below the cap."
    if 2 * trivial <= BLOWN or trivial > BLOWN:
        headline = "The cap does not tell the two apart: both forms of the constant predictor are on one side of it."
        return Finding(Verdict.HOLDS, headline, numbers, would_change=change)
    headline = (
        f"The cap fits half the mean square; otherwise a whole map would lie above it, at {compact(worst)} or more."
        if worst > BLOWN
        else "The cap fits half the mean square; otherwise the constant predictor would lie above it."
    )
    correction = r"What is plotted is half the average square loss, $\mathcal{P}$ of (3.2)."
    return Finding(Verdict.CORRECTED, headline, numbers, Consequence.NUMBERS, correction, change)


# ------------------------------------------------------------------------------------------- seeds that blow up


def fractions(table: pd.DataFrame) -> pd.DataFrame:
    """By n and number of normalisation rows: the share of seeds that blow up, its error, and what they are like.

    Columns ``typical``, ``training`` and ``norm`` are medians over the seeds that blow up, over those of the others;
    ``explained`` is the median share of their loss in the worst rows.
    """
    rows = []
    for (n, size), group in table.groupby(["n", "normalisation"]):
        out = group["risk"] > BLOWN
        share = float(out.mean())
        found: dict[str, float] = {"n": n, "normalisation": size, "seeds": len(group), "share": share}
        found["standard_error"] = math.sqrt(max(share * (1 - share), 1 / len(group)) / len(group))
        for name in ("typical", "training", "norm"):
            found[name] = float(group.loc[out, name].median() / group.loc[~out, name].median())
        found["explained"] = float((1 - group["without_worst"] / group["risk"])[out].median())
        found["limited"] = float((group["limited"] > BLOWN).mean())
        found["worst_limited"], found["worst"] = float(group["limited"].max()), float(group["risk"].max())
        found["feature_out"] = float(group.loc[out, "largest"].median())
        found["feature_in"] = float(group.loc[~out, "largest"].median())
        rows.append(found)
    return pd.DataFrame(rows)


def own_fractions(table: pd.DataFrame) -> pd.DataFrame:
    """`fractions` with the number of normalisation rows that the maps have, ascending in n; all where none has it."""
    own = table[table["normalisation"] == NORMALISATION]
    return fractions(own if len(own) else table).sort_values("n")


@judges("dpgd/section-7-seeds")
def seeds(tables: Tables) -> Finding:
    """Is it the algorithm that becomes unstable as n grows, in a few seeds?"""
    if missing := absent(tables, HOUSING):
        return missing
    own = own_fractions(tables["seeds"])
    numbers = tuple(number for _, row in own.iterrows() for number in _of_seeds(row))
    change = "Shuffles whose loss is large on typical rows too, or rows with such features that do no harm."
    out = own[own["share"] > 0]
    if out.empty:
        headline = "No seed's loss is disproportionate."
        correction = "No seed need be excluded."
        return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, correction, change)
    rows_alone = bool((out["typical"] <= ALIKE).all() and (out["explained"] >= EXPLAINED).all())
    first, last = own.iloc[0], own.iloc[-1]
    rises = last["share"] - first["share"] > CONSISTENT * np.hypot(first["standard_error"], last["standard_error"])
    few = own["share"].max() <= FEW
    if not rows_alone and few and rises:
        headline = f"The loss blows up in at most {percent(own['share'].max())} of the seeds, and in more as data grow."
        return Finding(Verdict.HOLDS, headline, numbers, would_change=change)
    told = f"Up to {percent(own['share'].max())} of the seeds blow up"
    if not rows_alone:
        trend = "in more" if rises else "not in more"
        headline = f"{told} on typical rows too, {trend} of them as data grow."
        correction = "The share of such seeds is as told here."
        return Finding(Verdict.NARROWER, headline, numbers, Consequence.CONCLUSION, correction, change)
    headline = f"{told}: not training is unstable, a few held-out rows with huge features carry the loss."
    correction = _remedy(own)
    return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, correction, change)


def _remedy(own: pd.DataFrame) -> str:
    """What can be done, as far as the table shows that it helps."""
    if own["limited"].max() > 0:
        left = percent(own["limited"].max())
        return f"Features limited to five standard deviations leave {left} of the seeds blown up."
    return (
        "No seed need be excluded: with features limited to five standard deviations, which spends no privacy, the "
        f"largest risk of all is {compact(own['worst_limited'].max())}."
    )


def _of_seeds(row: pd.Series) -> tuple[Number, ...]:
    told = partial(Number, table="seeds", row=f"n = {row['n']:g}, normalisation = {row['normalisation']:g}")
    where = f"n = {row['n']:g}"
    found = (
        told(f"share of seeds that blow up, {where}", row["share"], row["standard_error"], FEW),
        told(f"their typical error over the others', {where}", row["typical"], None, ALIKE),
        told(f"share of their loss in the worst rows, {where}", row["explained"], None, EXPLAINED),
        told(f"largest risk, {where}", row["worst"]),
        told(f"largest risk with limited features, {where}", row["worst_limited"], None, BLOWN),
    )
    return tuple(number for number in found if not math.isnan(number.value))
