"""Verdicts on how section 7 of arXiv:2505.16329v2 prepares real data, what it plots, and which seeds it leaves out."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from costofprivacy.datasets import HOUSING, MNIST, NORMALISATION
from costofprivacy.experiments.dpgd.real_data.maps import BLOWN, FIGURES
from costofprivacy.experiments.dpgd.real_data.problem import PAPERS
from costofprivacy.experiments.dpgd.real_data.reading import panels
from costofprivacy.experiments.dpgd.real_data.verdicts import UNKNOWN, absent
from costofprivacy.judging.findings import Number
from costofprivacy.judging.judges import Ruling, judges, numbers, reads
from costofprivacy.judging.tables import Tables
from costofprivacy.judging.vocabulary import CONSISTENT

ALL_BUT = 0.9  # of the coordinates: a normalisation that reaches so many does what it says
TRACE = 1.25  # quotient up to which tr Σ is d
FEW = 0.2  # of the seeds: more than that are not a few
ALIKE = 1.5  # quotient up to which two typical errors are alike
EXPLAINED = 0.5  # of a blown-up loss: what the worst rows must hold to explain it


# ------------------------------------------------------------------------------------------- what is prepared


@judges("dpgd/section-7-normalisation")
def normalisation(tables: Tables) -> Ruling:
    """Has each coordinate unit variance after normalisation by a subset, on the rows that are trained on?"""
    if absent(tables, MNIST, HOUSING):
        return UNKNOWN
    found = _normalised(tables["rows"])
    named = {
        f"{name}, {asked.split(',')[0]}": (values[asked], 1.0, f"asked = {asked}")
        for asked in PAPERS
        for name, values in (
            ("share of coordinates with a variance of ½ to 2", found["share"]),
            ("share that vary where they are normalised", found["live"]),
            ("tr Σ over d, median", found["median"]),
            ("tr Σ over d, largest", found["largest"]),
        )
    }
    unit, largest = found["share"] >= ALL_BUT, found["largest"]
    quoted = {"share": found["share"][MNIST], "mnist": largest[MNIST], "housing": largest[HOUSING]}
    verdict = reads(printed=unit.all() and (largest <= TRACE).all(), narrower=True)
    return Ruling(verdict, numbers("rows", named), quoted, "single shuffles" if unit[MNIST] else "")


def _normalised(table: pd.DataFrame) -> pd.DataFrame:
    """By data set: the shares of coordinates with unit variance, and that vary; the median and the largest tr Σ/d."""
    over = (table["trace"] / table["d"]).groupby(table["asked"])
    share = (table["unit_variance"] / table["d"]).groupby(table["asked"]).mean()
    groups = table.groupby("asked")
    live = groups["live"].mean() / groups["d"].first()
    return pd.DataFrame({"share": share, "live": live, "median": over.median(), "largest": over.max()})


@judges("dpgd/section-7-loss")
def loss(tables: Tables) -> Ruling:
    """Is what the maps show the mean square, capped at 0.6, or half of it, as in (3.2)?"""
    if absent(tables, MNIST, HOUSING):
        return UNKNOWN
    trivial = float(tables["rows"]["trivial"].mean())
    highest = max(panels(tables[FIGURES[MNIST]]), key=lambda panel: float(panel.mean.min()))
    least = 2 * float(highest.mean.min())
    found = {"the constant predictor, halved": trivial, "the constant predictor, mean square": 2 * trivial}
    of_map = {"least mean square of a map, where it is largest": (least, BLOWN)}
    told = (
        *numbers("rows", {name: (value, BLOWN) for name, value in found.items()}),
        *numbers(FIGURES[MNIST], of_map, highest.row),
    )
    verdict = reads(printed=2 * trivial <= BLOWN or trivial > BLOWN, corrected=True)
    return Ruling(verdict, told, {"least": least}, "" if least > BLOWN else "constant predictor")


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
def seeds(tables: Tables) -> Ruling:
    """Is it the algorithm that becomes unstable as n grows, in a few seeds?"""
    if absent(tables, HOUSING):
        return UNKNOWN
    own = own_fractions(tables["seeds"])
    share, limited = own["share"].max(), own["limited"].max()
    unstable = not _rows_alone(own[own["share"] > 0])
    verdict = reads(printed=unstable and share <= FEW and _rises(own), narrower=unstable)
    grounds = "" if share > 0 and limited == 0 else "no cure"
    found = tuple(number for _, row in own.iterrows() for number in _of_seeds(row))
    return Ruling(verdict, found, {"share": share, "largest": own["worst_limited"].max()}, grounds)


def _rows_alone(out: pd.DataFrame) -> bool:
    """Whether a few rows hold the losses of all seeds that blow up, and on others these seeds are like the rest."""
    return bool((out["typical"] <= ALIKE).all() and (out["explained"] >= EXPLAINED).all())


def _rises(own: pd.DataFrame) -> bool:
    """Whether the share of seeds that blow up grows with n beyond the errors."""
    first, last = own.iloc[0], own.iloc[-1]
    error = np.hypot(first["standard_error"], last["standard_error"])
    return bool(last["share"] - first["share"] > CONSISTENT * error)


def _of_seeds(row: pd.Series) -> tuple[Number, ...]:
    where = f"n = {row['n']:g}"
    share = {"value": row["share"], "error": row["standard_error"], "against": FEW}
    named = {
        f"share of seeds that blow up, {where}": share,
        f"their typical error over the others', {where}": (row["typical"], ALIKE),
        f"share of their loss in the worst rows, {where}": (row["explained"], EXPLAINED),
        f"largest risk, {where}": row["worst"],
        f"largest risk with limited features, {where}": (row["worst_limited"], BLOWN),
    }
    found = numbers("seeds", named, f"{where}, normalisation = {row['normalisation']:g}")
    return tuple(number for number in found if not math.isnan(number.value))
