"""Verdicts on how section 7 of arXiv:2505.16329v2 prepares real data, what it plots, and which seeds it leaves out."""

import math

import pandas as pd

from chapters.dpgd.real_data.maps import BLOWN, FIGURES
from chapters.dpgd.real_data.problem import PAPERS
from chapters.dpgd.real_data.reading import panels
from chapters.dpgd.real_data.verdicts import UNKNOWN, absent
from companion.judging.findings import Number
from companion.judging.judges import Ruling, judges, numbers, reads
from companion.judging.tables import Tables
from costofprivacy.datasets import HOUSING, MNIST, NORMALISATION

ALL_BUT = 0.9  # of the coordinates: a normalisation that reaches so many does what it says
TRACE = 1.25  # quotient up to which tr Σ is d
MOST = 0.5  # of the coordinates that vary where they are normalised
ALIKE = 1.5  # quotient up to which two typical errors, or two lengths of θ, are alike
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
            ("fraction of coordinates with a variance of ½ to 2", found["share"]),
            ("fraction that vary in the normalising rows", found["live"]),
            ("tr Σ over d, median", found["median"]),
            ("tr Σ over d, largest", found["largest"]),
        )
    }
    unit, largest = found["share"] >= ALL_BUT, found["largest"]
    narrower = bool((found["share"] >= MOST * found["live"]).all())
    verdict = reads(printed=unit.all() and (largest <= TRACE).all(), narrower=narrower)
    grounds = "single shuffles" if unit[MNIST] else ""
    return Ruling(verdict, numbers("rows", named), {"share": found["share"][MNIST]}, grounds)


def _normalised(table: pd.DataFrame) -> pd.DataFrame:
    """By data set: the shares of coordinates with unit variance, and that vary; the median and the largest tr Σ/d."""
    over = (table["trace"] / table["d"]).groupby(table["asked"])
    share = (table["unit_variance"] / table["d"]).groupby(table["asked"]).mean()
    groups = table.groupby("asked")
    live = groups["live"].mean() / groups["d"].first()
    return pd.DataFrame({"share": share, "live": live, "median": over.median(), "largest": over.max()})


@judges("dpgd/section-7-loss")
def loss(tables: Tables) -> Ruling:
    """Is what the maps show the mean of half the squares, 𝒫 of (3.2)? Is no map above the cap with that alone?"""
    if absent(tables, MNIST, HOUSING):
        return UNKNOWN
    half = float(tables["rows"]["trivial"].mean())
    named = {"mean of half the squares, always predicting 0": half}
    told, largest = numbers("rows", named), 0.0
    for figure in FIGURES.values():
        highest = max(panels(tables[figure]), key=lambda panel: float(panel.mean.min()))
        least = float(highest.mean.min())
        of_map = {
            f"least mean of half the squares, in the map of {figure} where it is largest": (least, BLOWN),
            f"least mean of the squares, in the map of {figure} where it is largest": (2 * least, BLOWN),
        }
        told, largest = (*told, *numbers(figure, of_map, highest.row)), max(largest, least)
    return Ruling(reads(printed=largest <= BLOWN, decided=2 * largest > BLOWN), told, {"half": half})


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
    """Where the loss of a seed is large, is it the algorithm that is unstable, or do a few validation rows carry it?

    How many seeds it are hangs on the number of rows that normalise, which the paper does not print: no criterion.
    """
    if absent(tables, HOUSING):
        return UNKNOWN
    found = fractions(tables["seeds"])
    out = found[found["share"] > 0]
    rows = _rows_alone(out)
    verdict = reads(printed=not rows, corrected=rows, decided=len(out) > 0)
    told = tuple(number for _, row in found.iterrows() for number in _of_seeds(row))
    quoted = {"least": found["share"].min(), "most": found["share"].max(), "limited": found["worst_limited"].max()}
    return Ruling(verdict, told, quoted, "no cure" if found["limited"].max() > 0 else "")


def _rows_alone(out: pd.DataFrame) -> bool:
    """Whether a few rows hold the losses of all seeds that blow up, while the rest of these seeds is like the others.

    The rest is their typical error on validation rows, and the length of the released θ.
    """
    alike = (out[["typical", "norm"]] <= ALIKE).all(axis=None)
    return bool(alike and (out["explained"] >= EXPLAINED).all())


def _of_seeds(row: pd.Series) -> tuple[Number, ...]:
    where = f"n = {row['n']:g}, {row['normalisation']:g} normalising rows"
    named = {
        f"fraction of seeds with a large loss, {where}": {"value": row["share"], "error": row["standard_error"]},
        f"their median error over the others', {where}": (row["typical"], ALIKE),
        f"length of their θ over the others', {where}": (row["norm"], ALIKE),
        f"fraction of their loss in the worst 0.2 % of rows, {where}": (row["explained"], EXPLAINED),
        f"largest risk, {where}": row["worst"],
        f"largest risk with limited features, {where}": (row["worst_limited"], BLOWN),
    }
    found = numbers("seeds", named, f"n = {row['n']:g}, normalisation = {row['normalisation']:g}")
    return tuple(number for number in found if not math.isnan(number.value))
