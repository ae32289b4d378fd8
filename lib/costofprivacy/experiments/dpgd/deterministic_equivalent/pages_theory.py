"""Figures and short tables on the equations of Section 4 and Appendix C of arXiv:2505.16329v2."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from costofprivacy import figures
from costofprivacy.plates import Plate


def draw_homogenised(table: pd.DataFrame) -> Plate:
    """The distance of Algorithm 1 from the diffusion against n, with the drift derived and the drift printed."""
    titles = {"risk": "in the risk", "resolvents": "in all quadratics of (C.2)"}
    sizes = np.sort(table["n"].unique())
    with figures.style():
        figure, panels = plt.subplots(1, 2, figsize=(9.2, 4.2))
        for axes, (quantity, title) in zip(panels, titles.items()):
            for drift, look in figures.looks(("derived", "printed")).items():
                rows = table[table["quantity"] == f"{quantity}, {drift} drift"]
                figures.points(axes, rows, "n", "value", label=f"drift as {drift}", **look)
            first = table.loc[table["quantity"] == f"{quantity}, derived drift"].sort_values("n").iloc[0]
            figures.slope(axes, sizes, first["value"] / 1.3, -0.5, "slope −1/2")
            bound = np.log(sizes) ** 2 / np.sqrt(sizes)
            axes.plot(
                sizes, 1.3 * first["value"] * bound / bound[0], ":", color="0.35", lw=1, label="shape of the bound"
            )
            figures.log_axes(axes, "$n$ (samples)", "sup over $t$ of the distance")
            figures.plain_ticks(axes, sizes)
            axes.set_title(title)
        panels[0].legend(fontsize=8)
        return Plate(
            figure,
            caption=(
                "**Algorithm 1 and homogenised DP-GD**: the supremum of their distance over a grid of times, "
                "mean over pairs of independent paths with bars of two standard errors; uniform spectrum, "
                "square-root schedule. Left: in the risk. Right: the largest over the quadratics of (C.2) at a "
                "grid of $z$ on their circle. With the drift as derived the distance falls along the dashed "
                r"slope; with the drift as printed it levels off. Dotted: the shape of $\log^2n/\sqrt n$."
            ),
            alt=(
                "Two panels on log axes: distance against the number of samples, falling for the derived drift "
                "and level for the printed one."
            ),
        )


def show_one_step(one_step: pd.DataFrame) -> pd.DataFrame:
    """Each term of a step's mean over the derived and over the printed one, at the largest d, for the page."""
    rows = one_step[one_step["d"] == one_step["d"].max()]
    ratios = {}
    for reading in ("derived", "printed"):
        ratio, error = rows["value"] / rows[reading], rows["standard_error"] / rows[reading].abs()
        ratios[f"over the {reading} term"] = [f"{r:.3f} ± {e:.3f}" for r, e in zip(ratio, error)]
    return rows[["quadratic", "term"]].assign(**ratios).set_index(["quadratic", "term"])


def show_enclosure(enclosure: pd.DataFrame) -> pd.DataFrame:
    """R(1) between its two bounds, as printed and with η̄, for the page: the cases in which the two readings differ."""
    wide = enclosure.pivot(index=["spectrum", "schedule", "share_of_cap", "clip"], columns="reading")
    differ = (wide["lower"]["printed"] - wide["lower"]["corrected"]).abs() > 1e-9
    chosen = wide[differ]
    table = pd.DataFrame({"R(1)": chosen["risk"]["corrected"]})
    for reading in ("printed", "corrected"):
        bounds = zip(chosen["lower"][reading], chosen["upper"][reading])
        table[f"bounds, {reading}"] = [f"{low:.3g} to {high:.3g}" for low, high in bounds]
    return table.assign(**{"R(1)": table["R(1)"].map("{:.3g}".format)})


def show_displays(displays: pd.DataFrame) -> pd.DataFrame:
    """Each display over what it should say, in both readings, for the page."""
    ratio = (displays["value"] / displays["derived"]).map("{:.3f}".format)
    wide = displays.assign(ratio=ratio).pivot(index=["display", "term"], columns="reading", values="ratio")
    order = displays.drop_duplicates(["display", "term"]).set_index(["display", "term"]).index
    return wide.reindex(order)[["printed", "corrected"]].fillna("")


def show_last_step(last_step: pd.DataFrame) -> pd.DataFrame:
    """The remainder of the last step over (1 + √R)/√d, its upper percentile by dimension and risk, for the page."""
    scaled = last_step.assign(scaled=last_step["upper"] / last_step["scale"], risk=last_step["squared_norm"] / 2)
    return scaled.pivot(index="d", columns="risk", values="scaled").map("{:.2f}".format)


def show_caps(caps: pd.DataFrame) -> pd.DataFrame:
    """The largest stretch of a step under either cap, by dimension, for the page."""
    return caps.groupby(["d", "reading"])["stretch"].max().unstack("reading").map("{:.3g}".format)


def show_integrals(diffusion: pd.DataFrame) -> pd.DataFrame:
    """The distance of the diffusion's risk from either integral, for both drifts, for the page."""
    text = [f"{v:.4f} ± {e:.4f}" for v, e in zip(diffusion["value"], diffusion["standard_error"])]
    return diffusion.assign(text=text).pivot(index="n", columns=["drift", "integral"], values="text")


def show_sums(sums: pd.DataFrame) -> pd.DataFrame:
    """The sums at the smallest and the largest n, for the page."""
    ends = sums[sums["n"].isin([sums["n"].min(), sums["n"].max()])]
    return ends.pivot(index="quantity", columns="n", values="value").map("{:.2g}".format)
