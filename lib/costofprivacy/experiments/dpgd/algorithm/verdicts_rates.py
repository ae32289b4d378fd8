"""Verdicts on the rates of the introduction, (1.2) to (1.5) of arXiv:2505.16329v2."""

from __future__ import annotations

import numpy as np
import pandas as pd

from costofprivacy import _fits
from costofprivacy.experiments.dpgd.algorithm.rates import ALGORITHMS, BOUNDS, ZERO
from costofprivacy.judging import growth
from costofprivacy.judging.findings import Consequence, Finding, Number, Verdict
from costofprivacy.judging.judges import judges
from costofprivacy.judging.prose import compact
from costofprivacy.judging.tables import Tables, select
from costofprivacy.judging.vocabulary import CONSISTENT

BOUNDED = 1.0  # a privacy term that ends below it stays bounded along its axis
LEVEL = 0.03  # a power of n that is none: the least sizes are small
CAP = r"\Omega\Big(\min\Big\{1,\ \frac dn + "


@judges("dpgd/equation-1.2")
def equation_12(tables: Tables) -> Finding:
    """A lower bound of earlier work, Ω(d/n + d²/(ρ²n² log n)); its second term is negligible where d ≍ n."""
    rows = select(tables["lower-bounds"], claim=BOUNDS[0])
    along = select(rows, axis="n").sort_values("n")
    share = along["second"] / along["gamma"]
    if not (share.diff().dropna() < 0).all():
        last = Number(
            "privacy term over d/n, largest n", share.iloc[-1], None, share.iloc[0], "lower-bounds", "axis = n"
        )
        headline = "The privacy term of the earlier bound does not fall against the other term as the data grow."
        change = "A privacy term that becomes negligible when the dimension is proportional to the number of records."
        return Finding(Verdict.FAILS, headline, (last,), Consequence.NUMBERS, would_change=change)
    correction = (
        rf"${CAP}\frac{{d^2}}{{\rho^2n^2\log n}}\Big\}}\Big)$: true while $d^2/(\rho^2n^2\log n)$ stays bounded. "
        r"Excluded is $\rho$ of smaller order than $d/(n\sqrt{\log n})$."
    )
    return _lower_bound(rows, correction)


@judges("dpgd/equation-1.5")
def equation_15(tables: Tables) -> Finding:
    """The paper's own lower bound as the introduction prints it, Ω(γ + γ²/ρ²)."""
    correction = (
        r"$\Omega\big(\min\{1,\ \gamma+\gamma^2/\rho^2\}\big)$: true while $\gamma^2/\rho^2$ stays bounded, as in "
        r"Theorem 3. Excluded is $\rho$ of smaller order than $\gamma$."
    )
    return _lower_bound(select(tables["lower-bounds"], claim=BOUNDS[1]), correction)


def _lower_bound(rows: pd.DataFrame, correction: str) -> Finding:
    """Does a private predictor fall below every multiple of the bound, towards the far end of an axis?"""
    ends = pd.DataFrame([_far_end(str(axis), part) for axis, part in rows.groupby("axis", sort=False)])
    numbers = [
        Number(f"power of the fall below the bound along {r.axis}", r.fall, None, 0.0, "lower-bounds", r.row)
        for r in ends.itertuples()
    ]
    change = (
        "A private predictor whose worst risk falls below the bound while its privacy term is bounded; or a reading "
        r"with $\rho$ of constant order, under which the bound holds and its privacy term says nothing."
    )
    fallen = ends[ends["fall"] > growth.LOST_POWER]
    if fallen.empty:
        headline = "No private predictor that is known falls below the order of the bound, however strict the privacy."
        return Finding(Verdict.HOLDS, headline, tuple(numbers), would_change=change)
    inside = fallen[fallen["second"] <= BOUNDED]
    worst = (inside if len(inside) else fallen).nlargest(1, "fall").iloc[0]
    if len(inside):
        headline = (
            f"A private predictor falls below the bound like a power {compact(worst['fall'])}, though the privacy term "
            "stays bounded."
        )
        return Finding(Verdict.FAILS, headline, tuple(numbers), Consequence.CONCLUSION, would_change=change)
    who = "Answering zero is private and" if worst["predictor"] == ZERO else "A private algorithm"
    numbers.append(
        Number("risk over the bound at its far end", worst["ratio"], None, 1.0, "lower-bounds", worst["row"])
    )
    headline = (
        f"{who} beats every multiple of the bound where its privacy term grows without limit; while that stays "
        "bounded, nothing known does."
    )
    return Finding(Verdict.NARROWER, headline, tuple(numbers), Consequence.NONE, correction, change)


def _far_end(axis: str, rows: pd.DataFrame) -> dict[str, object]:
    """By which power the risk falls below the bound towards the far end of an axis, and the row that stands there."""
    name = {"both": "gamma"}.get(axis, axis)
    rows = rows.assign(size=rows[name] if name == "n" else 1 / rows[name]).sort_values("size")
    far = rows.iloc[-1]
    where = f"axis = {axis}, {name} = {far[name]:.2g}"
    fall = growth.power(rows, "size", "bound", "risk")
    return {"axis": axis, "fall": fall, "row": where} | far[["second", "ratio", "predictor"]].to_dict()


@judges("dpgd/equation-1.3")
def equation_13(_: Tables) -> Finding:
    """A theorem on an algorithm that is not run here, with a power of log n that it does not state."""
    headline = (
        "A theorem on another algorithm, with an unstated power of the logarithm: no simulation here could refute it."
    )
    change = "A run of the cited algorithm along its sizes, at a stated power of the logarithm."
    return Finding(Verdict.UNTESTABLE, headline, would_change=change)


@judges("dpgd/equation-1.4")
def equation_14(tables: Tables) -> Finding:
    """R = O(γ + γ²/ρ²) for a harmonic learning rate and a constant c: along γ, ρ and n, for each covariance."""
    rows = select(tables["rates"], algorithm=ALGORITHMS[0])
    grid, sizes = select(rows, axis="gamma"), select(rows, axis="n")
    change = r"A well-conditioned covariance whose risk grows against $\gamma+\gamma^2/\rho^2$ along a size or $\rho$."
    if not growth.several(grid["gamma"]) or not growth.several(sizes["n"]) or not np.isfinite(rows["limit"]).all():
        headline = "Too few sizes, or a learning rate that falls too fast for the slowest direction."
        return Finding(Verdict.UNTESTABLE, headline, would_change=change)
    share, error = rows["excess_risk"] / rows["limit"], rows["standard_error"] / rows["limit"]
    over = ((share - 1) / error).idxmax()
    powers = {name: _power_of_n(part) for name, part in sizes.groupby("spectrum", sort=False)}
    rising = {name: power for name, (power, error) in powers.items() if power - CONSISTENT * error > LEVEL}
    worst = rows.loc[over]
    numbers = (
        Number("mean risk over the limit, largest in standard errors", share[over], error[over], 1.0, "rates",
               _place(worst)),
        *(Number("power of n at fixed γ and ρ", power, error, 0.0, "rates", f"spectrum = {name}, axis = n")
          for name, (power, error) in powers.items()),
        *(Number("the limit over γ + γ²/ρ², most", (part["limit"] / part["rate_1.4"]).max(), None, None, "rates",
                 f"spectrum = {name}") for name, part in rows.groupby("spectrum", sort=False)),
        Number("largest single run over its mean", (rows["largest"] / rows["excess_risk"]).max(), None, None, "rates",
               f"algorithm = {ALGORITHMS[0]}"),
    )  # fmt: skip
    if (share - 1 > CONSISTENT * error).any():
        headline = f"The simulated risk reaches {compact(share[over])} times the limit derived here."
        return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=change)
    if rising:
        power = compact(max(rising.values()))
        headline = f"At a fixed ratio of dimension to records the risk grows like a power {power} of their number."
        return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=change)
    headline = (
        r"The simulated risks stay below a multiple of $\gamma+\gamma^2/\rho^2$, derived here, within "
        f"{compact(CONSISTENT)} standard errors, at all sizes and privacy levels tried."
    )
    return Finding(Verdict.HOLDS, headline, numbers, would_change=change)


def _power_of_n(rows: pd.DataFrame) -> tuple[float, float]:
    """The fitted power of n in the risk, with its error, for one covariance."""
    return _fits.power_law(rows["n"], rows["excess_risk"], rows["standard_error"])


def _place(row: pd.Series) -> str:
    return ", ".join(f"{name} = {row[name]}" for name in ("spectrum", "axis", "gamma", "rho", "n"))
