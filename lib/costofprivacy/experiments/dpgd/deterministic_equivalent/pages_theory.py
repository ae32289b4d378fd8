"""Figures and short tables on the equations of Section 4 and Appendix C of arXiv:2505.16329v2."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.ticker import NullFormatter

from costofprivacy.experiments.dpgd.deterministic_equivalent import trends
from costofprivacy.judging.prose import compared, listed, measured, plain
from costofprivacy.showing import figures
from costofprivacy.showing.plates import Plate

DRIFTS = ("derived", "printed")
QUANTITIES = {"risk": "in the risk", "resolvents": "in all quadratics of (C.2)"}


def draw_homogenised(table: pd.DataFrame) -> Plate:
    """The distance of Algorithm 1 from the diffusion against n, with the drift derived and the drift printed."""
    sizes = np.sort(table["n"].unique())
    with figures.style():
        figure, panels = plt.subplots(1, 2, figsize=(7.6, 3.8))
        for axes, (quantity, title) in zip(panels, QUANTITIES.items()):
            series = _drifts(table, quantity)
            for (drift, rows), look in zip(series.items(), figures.looks(DRIFTS).values()):
                figures.points(axes, rows, "n", "value", label=f"drift as\n{drift}", **look)
            first = series["derived"].iloc[0]
            shape = 2 * first["value"] * series["derived"]["bound"] / first["bound"]
            axes.plot(sizes, shape, ":", color="0.35", lw=1.5, label="claimed:\n$\\log^2n/\\sqrt{n}$")
            figures.slope(axes, sizes, first["value"] / 1.5, -0.5, "$n^{-1/2}$")
            figures.log_axes(axes, "$n$ (records)", "largest distance")
            axes.yaxis.set_minor_formatter(NullFormatter())
            figures.plain_ticks(axes, sizes, most=4)
            axes.set_title(title)
            figures.end_labels(axes)
    return Plate(figure, _homogenised_caption(table), _homogenised_alt(table))


def _drifts(table: pd.DataFrame, quantity: str) -> dict[str, pd.DataFrame]:
    """The distances in a quantity along n, by drift."""
    rows = table.sort_values("n")
    return {drift: rows[rows["quantity"] == f"{quantity}, {drift} drift"] for drift in DRIFTS}


def _homogenised_caption(table: pd.DataFrame) -> str:
    risk = {drift: trends.fall(drift, "homogenised", rows) for drift, rows in _drifts(table, "risk").items()}
    told = listed(f"{trends.power(fall.exponent)} with the drift as {drift}" for drift, fall in risk.items())
    derived, printed = risk["derived"], risk["printed"]
    error = float(np.hypot(derived.error, printed.error))
    word = compared(derived.exponent, printed.exponent, ("faster than", "as fast as", "more slowly than"), error)
    return (
        "**Algorithm 1 and homogenised DP-GD**: their largest distance over a grid of times, mean over "
        f"{table['trials'].min()} pairs of independent paths with bars of two standard errors. Left in the risk, right "
        "in all quadratics of (C.2). Between the last two sizes the distance in the risk goes like "
        f"{told}: as derived it falls {word} as printed."
    )


def _homogenised_alt(table: pd.DataFrame) -> str:
    texts = []
    for quantity in QUANTITIES:
        for drift, rows in _drifts(table, quantity).items():
            first, last = rows["value"].iloc[[0, -1]]
            texts.append(f"{quantity}, drift as {drift}: {plain(first)} to {plain(last)}")
    return f"Largest distances from n = {table['n'].min()} to n = {table['n'].max()}. {'; '.join(texts)}."


def show_one_step(one_step: pd.DataFrame) -> pd.DataFrame:
    """Each term of a step's mean over the derived and over the printed one, at the largest d, for the page."""
    rows = one_step[one_step["d"] == one_step["d"].max()]
    ratios = {}
    for reading in ("derived", "printed"):
        ratio, error = rows["value"] / rows[reading], rows["standard_error"] / rows[reading].abs()
        ratios[f"over the {reading} term"] = [measured(r, e) for r, e in zip(ratio, error)]
    return rows[["quadratic", "term"]].assign(**ratios).set_index(["quadratic", "term"])


def show_enclosure(enclosure: pd.DataFrame) -> pd.DataFrame:
    """R(1) between its two bounds, as printed and with η̄, for the page: the cases in which the two readings differ."""
    names = {"share_of_cap": "η̃(0)γ/2", "clip": "c"}
    index = ["spectrum", "schedule", *names.values()]
    wide = enclosure.rename(columns=names).pivot(index=index, columns="reading")
    differ = (wide["lower"]["printed"] - wide["lower"]["corrected"]).abs() > 1e-9
    chosen = wide[differ]
    table = pd.DataFrame({"R(1)": chosen["risk"]["corrected"].map(plain)})
    for reading in ("printed", "corrected"):
        bounds = zip(chosen["lower"][reading], chosen["upper"][reading])
        table[f"bounds, {reading}"] = [f"{plain(low)} to {plain(high)}" for low, high in bounds]
    return table.rename(index=lambda value: plain(value) if isinstance(value, float) else value)


def show_displays(displays: pd.DataFrame) -> pd.DataFrame:
    """Each display over what it should say, in both readings, for the page."""
    ratio = (displays["value"] / displays["derived"]).map("{:.3f}".format)
    wide = displays.assign(ratio=ratio).pivot(index=["display", "term"], columns="reading", values="ratio")
    order = displays.drop_duplicates(["display", "term"]).set_index(["display", "term"]).index
    return wide.reindex(order)[["printed", "corrected"]].fillna("–")


def show_last_step(last_step: pd.DataFrame) -> pd.DataFrame:
    """The remainder of the last step over (1 + √R)/√d, its upper percentile by dimension and risk, for the page."""
    scaled = last_step.assign(scaled=last_step["upper"] / last_step["scale"], risk=last_step["squared_norm"] / 2)
    wide = scaled.pivot(index="d", columns="risk", values="scaled").map("{:.2f}".format)
    return wide.rename(columns=lambda risk: f"risk {plain(risk)}").rename_axis(columns=None)


def show_caps(caps: pd.DataFrame) -> pd.DataFrame:
    """The largest stretch of a step under either cap, by dimension, for the page."""
    wide = caps.groupby(["d", "reading"])["stretch"].max().unstack("reading").map(plain)
    names = {"printed": "stretch under 2/‖x‖, printed", "corrected": "stretch under 2/‖x‖²"}
    return wide[list(names)].rename(columns=names).rename_axis(columns=None)


def show_integrals(diffusion: pd.DataFrame) -> pd.DataFrame:
    """The distance of the diffusion's risk from either integral, for both drifts, for the page."""
    text = [measured(value, error) for value, error in zip(diffusion["value"], diffusion["standard_error"])]
    return diffusion.assign(text=text).pivot(index="n", columns=["drift", "integral"], values="text")


def show_sums(sums: pd.DataFrame) -> pd.DataFrame:
    """The sums at the smallest and the largest n, for the page."""
    ends = sums[sums["n"].isin([sums["n"].min(), sums["n"].max()])]
    wide = ends.pivot(index="quantity", columns="n", values="value").map(plain)
    return wide.rename(columns=lambda n: f"n = {n}").rename_axis(columns=None)
