"""The figures of the page on rivals."""

import math

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from chapters.privacy.rivals import methods, problems
from chapters.privacy.rivals.cells import best_settings, least_epsilon, public, short, winners
from chapters.privacy.rivals.joined import METHODS
from chapters.privacy.rivals.verdicts import per_feature
from companion.judging.prose import listed, percent, plain
from companion.judging.tables import Tables, pick, select
from companion.showing import figures
from companion.showing.plates import Plate

LOWEST, HIGHEST = 3e-5, 3.0  # of the lost share, in figures


def leading(errors: pd.DataFrame) -> pd.DataFrame:
    """The cells of the leading figure: the least ε, and the middle size of each data set."""
    rows = least_epsilon(errors)
    sizes = {name: sorted(part["n"].unique()) for name, part in rows.groupby("problem", sort=False)}
    return pd.concat([select(rows, problem=name, n=s[len(s) // 2]) for name, s in sizes.items()])


def draw_rivals(errors: pd.DataFrame) -> Plate:
    """A panel for each data set, two in a row, a line for each method: what is lost at both settings."""
    shown = leading(errors)
    names = list(shown["problem"].unique())
    rows = math.ceil(len(names) / 2)
    with figures.style():
        drawn, grid = plt.subplots(rows, 2, figsize=(8.2, 3.7 * rows + 0.4), sharey=True, squeeze=False)
        panels = list(grid.flat)
        for spare in panels[len(names) :]:
            spare.remove()
        panels = panels[: len(names)]
        for axes, name in zip(panels, names, strict=True):
            _draw_panel(axes, select(shown, problem=name))
        panels[0].set_yticks(range(len(METHODS)), METHODS)
        panels[0].invert_yaxis()
        drawn.legend(*panels[0].get_legend_handles_labels(), ncols=3, loc="outside lower center")
    found = winners(shown)
    said = listed(f"{row.least} on {short(row.problem)} data ({plain(row.lost)})" for row in found.itertuples())
    ours = listed(f"{plain(row.ours_lost)} on {short(row.problem)}" for row in found.itertuples())
    return Plate(
        drawn,
        caption=(
            f"**What each method loses of what can be explained**, $\\varepsilon = {shown['epsilon'].min():g}$: 0 is "
            f"the best linear predictor, 1 the constant one (dashed); dotted is least squares without privacy, where "
            f"it fits. Filled: settings from public knowledge, with bars of two standard errors. Open: the best of "
            f"{methods.SETTINGS} settings, not private. An arrow is beyond the axis; diffprivlib has a mark where it "
            f"was run. Least: {said}. The best of DP-GD: {ours}."
        ),
        alt=f"Share lost at the public setting. Least: {said}. Best form of DP-GD: {ours}. Constant predictor: 1.",
    )


def _draw_panel(axes: Axes, rows: pd.DataFrame) -> None:
    """One data set."""
    asked, best = public(rows).set_index("method"), best_settings(rows).set_index("method")
    for ours, colour in ((True, figures.COLOURS[0]), (False, figures.COLOURS[3])):
        names = [name for name in METHODS if (name in methods.OURS) == ours and name in asked.index]
        places = [METHODS.index(name) for name in names]
        lost = asked.loc[names, "lost"]
        within, bars = lost.where(lost <= HIGHEST), 2 * asked.loc[names, "lost_error"]
        label = "DP-GD" if ours else "rivals"
        axes.errorbar(within, places, xerr=bars, fmt="o", color=colour, capsize=2, label=label)
        axes.plot(np.full(len(places), HIGHEST), np.where(lost > HIGHEST, places, np.nan), ">", color=colour)
        axes.plot(
            best.loc[names, "lost"].clip(LOWEST, HIGHEST), places, "o", mfc="none", mec=colour, ms=9,
            label="best setting, not private" if ours else "_others",
        )  # fmt: skip
    free = pick(rows, method=methods.LEAST_SQUARES)["lost"]
    axes.axvline(1, ls="--", lw=1, color="0.35")
    if LOWEST < free < 1:
        axes.axvline(free, ls=":", lw=1.5, color="0.35")
    axes.set(xscale="log", xlim=(min(LOWEST * 10, asked["lost"].min() / 3, best["lost"].min() / 3), HIGHEST * 1.3))
    first = rows.iloc[0]
    axes.set(title=f"{short(first['problem'])}\n$n={first['n']}$, $d={first['d']}$", xlabel="share lost")


def draw_sizes(errors: pd.DataFrame) -> Plate:
    """Gaussian data: what is lost against n, for some methods."""
    shown = (methods.HARMONIC, methods.FULL, methods.OBJECTIVE, methods.ADASSP)
    rows = least_epsilon(errors, setting=0)
    own, free = rows.rename(columns={"lost_error": "standard_error"}), select(rows, method=methods.LEAST_SQUARES)
    with figures.panels(2, ends=False, figsize=(8.6, 3.9), sharey=True) as (drawn, panels):
        for axes, name in zip(panels, problems.SYNTHETIC, strict=True):
            figures.curves(axes, select(own, problem=name), "n", "lost", "method", _broken(shown))
            line = select(free, problem=name).sort_values("n")
            axes.plot(line["n"], line["lost"], "k:", lw=1.5, label="no privacy")
            figures.log_axes(axes, "$n$ (records)", "share lost")
            axes.set_title(f"{name}, $d={line['d'].iloc[0]}$")
        figures.end_labels(panels[1])
    uneven = select(rows, problem=problems.UNEVEN)
    lost = select(uneven, n=uneven["n"].max()).set_index("method")["lost"]
    values = listed(f"{name} {plain(lost[name])}" for name in shown)
    return Plate(
        drawn,
        caption=(
            f"**More records**, Gaussian data at $\\varepsilon = {rows['epsilon'].min():g}$; bars of two standard "
            f"errors. At the right end on uneven data: {values}."
        ),
    )


def _broken(names: tuple[str, ...]) -> dict[str, str]:
    """Methods with their names for the ends of curves."""
    return {name: name.replace(", ", ",\n") for name in names}


def draw_needs(tables: Tables) -> Plate:
    """Left: records for each feature that halve the risk, against d. Right: risk against the clip."""
    needs = {name: per_feature(tables["thresholds"], name) for name in (methods.ADASSP, methods.FULL)}
    dimensions, clipping = needs[methods.ADASSP]["d"].to_numpy(), tables["clipping"]
    rows = pd.concat([need.assign(method=name) for name, need in needs.items()])
    with figures.panels(2, ends=False, figsize=(8.2, 3.6)) as (drawn, (left, right)):
        figures.curves(left, rows, "d", "records", "method", _broken(tuple(needs)))
        figures.slope(left, dimensions, needs[methods.ADASSP]["records"].iloc[0], 0.5, r"$\sqrt{d}$")
        figures.log_axes(left, "$d$", "$n/d$ that halves the risk")
        figures.plain_ticks(left, dimensions)
        figures.few_decades(left)
        figures.end_labels(left)
        look = {"color": figures.COLOURS[2], "marker": "D", "label": "ten steps on all records"}
        figures.points(right, clipping, "clip", "share", **look)
        figures.log_axes(right, "$c$ over the response's deviation", "share of the risk left")
    best = clipping.loc[clipping["share"].idxmin()]
    ends = {name: [plain(need["records"].iloc[end]) for end in (0, -1)] for name, need in needs.items()}
    told = listed(f"{name} {first} to {last}" for name, (first, last) in ends.items())
    return Plate(
        drawn,
        caption=(
            f"**How many records are needed, and how hard to clip.** Left: records for each feature, from the smallest "
            f"to the largest dimension: {told}. Right: ten steps on all records; the risk is least at "
            f"{plain(best['clip'])} deviations, where {percent(best['clipped'])} of the gradients are clipped. "
            "Bars of two standard errors."
        ),
    )
