"""Verdicts on the rates of the introduction, (1.2) to (1.5) of arXiv:2505.16329v2."""

import numpy as np
import pandas as pd

from chapters.dpgd.algorithm.models import ISOTROPIC
from chapters.dpgd.algorithm.rates import ALGORITHMS, BOUNDS
from companion import _fits
from companion.judging.findings import Number, Verdict
from companion.judging.growth import LOST_POWER, power, several
from companion.judging.judges import Ruling, judges, numbers, reads
from companion.judging.tables import Tables, select
from companion.judging.vocabulary import CONSISTENT

BOUNDED = 1.0  # a privacy term that ends below it stays bounded along its axis
SINGLE = 4.0  # a run above this multiple of the mean of its runs contradicts "with high probability"
LEVEL = 0.03  # a power of n that is none: the least sizes are small
ALONG = {"gamma": "γ at constant ρ", "both": "γ = ρ²", "n": "n", "rho": "ρ at constant γ"}


@judges("dpgd/equation-1.2")
def equation_12(tables: Tables) -> Ruling:
    """A lower bound of earlier work, Ω(d/n + d²/(ρ²n² log n)); its second term is negligible where d ≍ n."""
    rows = select(tables["lower-bounds"], claim=BOUNDS[0])
    along = select(rows, axis="n").sort_values("n")
    share = along["second"] / along["gamma"]
    verdict, found, *_ = _lower_bound(rows)
    last = {"privacy term over d/n at the largest n, beside that at the least": (share.iloc[-1], share.iloc[0])}
    found += numbers("lower-bounds", last, "axis = n")
    return Ruling(verdict if (share.diff().dropna() < 0).all() else Verdict.FAILS, found)


@judges("dpgd/equation-1.5")
def equation_15(tables: Tables) -> Ruling:
    """The paper's own lower bound as the introduction prints it, Ω(γ + γ²/ρ²)."""
    return _lower_bound(select(tables["lower-bounds"], claim=BOUNDS[1]))


def _lower_bound(rows: pd.DataFrame) -> Ruling:
    """Does a private predictor fall below every multiple of the bound, where the privacy term stays bounded?

    It does for every ρ of constant order, which Section 1 assumes.
    """
    ends = pd.DataFrame([_far_end(str(axis), part) for axis, part in rows.groupby("axis", sort=False)])
    inside = ends["second"] <= BOUNDED
    name = "power of the size by which the bound outgrows the least known risk"
    falls = {f"{name}, along {ALONG[r.axis]}": (r.fall, LOST_POWER, r.row) for r in ends[inside].itertuples()}
    beyond = {f"{name}, where its privacy term is unbounded": (r.fall, None, r.row) for r in ends[~inside].itertuples()}
    verdict = reads(printed=(ends["fall"][inside] <= LOST_POWER).all(), decided=inside.any())
    return Ruling(verdict, numbers("lower-bounds", falls | beyond))


def _far_end(axis: str, rows: pd.DataFrame) -> dict[str, object]:
    """By which power the risk falls below the bound towards the far end of an axis, and the row that stands there."""
    name = {"both": "gamma"}.get(axis, axis)
    rows = rows.assign(size=rows[name] if name == "n" else 1 / rows[name]).sort_values("size")
    far = rows.iloc[-1]
    where = f"axis = {axis}, {name} = {far[name]:.2g}"
    fall = power(rows, "size", "bound", "risk")
    return {"axis": axis, "fall": fall, "row": where, "second": far["second"]}


@judges("dpgd/equation-1.3")
def equation_13(tables: Tables) -> Ruling:
    """Does the bound, at d = γn and constant ρ, grow without limit where (1.4) does not?"""
    rows = select(tables["rates"], axis="n", spectrum=ISOTROPIC, algorithm=ALGORITHMS[0])
    rows = rows.assign(log_n=np.log(rows["n"]), term=rows["rate_1.3"] - rows["gamma"])
    grows, stays = power(rows, "log_n", "term", ""), power(rows, "log_n", "rate_1.4", "")
    named = {
        "power of log n in the privacy term of (1.3)": (grows, LOST_POWER),
        "power of log n in (1.4)": (stays, LOST_POWER),
    }
    verdict = reads(printed=grows > LOST_POWER >= stays, decided=several(rows["n"]))
    return Ruling(verdict, numbers("rates", named, "axis = n"))


@judges("dpgd/equation-1.4")
def equation_14(tables: Tables) -> Ruling:
    """R = O(γ + γ²/ρ²) for a harmonic learning rate and a constant c: along γ, ρ and n, for each covariance."""
    rows = select(tables["rates"], algorithm=ALGORITHMS[0])
    sizes = select(rows, axis="n")
    seen = several(select(rows, axis="gamma")["gamma"]) and several(sizes["n"])
    if not (seen and np.isfinite(rows["limit"]).all()):
        return Ruling(Verdict.UNTESTABLE)
    share, error = rows["excess_risk"] / rows["limit"], rows["standard_error"] / rows["limit"]
    powers = {str(name): _power_of_n(part) for name, part in sizes.groupby("spectrum", sort=False)}
    above = (share - 1 > CONSISTENT * error).any()
    rises = any(value - CONSISTENT * uncertain > LEVEL for value, uncertain in powers.values())
    scattered = (rows["largest"] > SINGLE * rows["excess_risk"]).any()
    highest = ((share - 1) / error).idxmax()
    most = "mean risk over the derived multiple, the furthest above it in standard errors"
    found = (
        Number(most, share[highest], error[highest], 1.0, "rates", _place(rows.loc[highest])),
        *_sizes(powers),
        *_multiples(rows),
    )
    return Ruling(reads(printed=not (above or rises or scattered)), found)


def _sizes(powers: dict[str, tuple[float, float]]) -> tuple[Number, ...]:
    """The powers of n, by covariance."""
    name = "power of n in the risk at fixed γ and ρ"
    return tuple(
        Number(name, value, error, LEVEL, "rates", f"spectrum = {spectrum}, axis = n")
        for spectrum, (value, error) in powers.items()
    )


def _multiples(rows: pd.DataFrame) -> tuple[Number, ...]:
    """The largest mean risk over the rate, beside that of the limit, by covariance; and a single run over its mean.

    A risk below Aγ + Bγ²/ρ² is below max(A, B) times the rate.
    """
    single = (rows["largest"] / rows["excess_risk"]).max()
    over = rows[["excess_risk", "limit"]].div(rows["rate_1.4"], axis=0).groupby(rows["spectrum"], sort=False).max()
    name = "largest mean risk over γ + γ²/ρ², beside the largest derived multiple"
    return (
        *(Number(name, r.excess_risk, None, r.limit, "rates", f"spectrum = {r.Index}") for r in over.itertuples()),
        *numbers("rates", {"largest single run over its mean": (single, SINGLE)}, f"algorithm = {ALGORITHMS[0]}"),
    )


def _power_of_n(rows: pd.DataFrame) -> tuple[float, float]:
    """The fitted power of n in the risk, with its error, for one covariance."""
    return _fits.power_law(rows["n"], rows["excess_risk"], rows["standard_error"])


def _place(row: pd.Series) -> str:
    return ", ".join(f"{name} = {row[name]}" for name in ("spectrum", "axis", "gamma", "rho", "n"))
