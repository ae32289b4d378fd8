"""Figures of maps, seeds and equations for the page on real data of arXiv:2505.16329v2."""

import itertools
import math
from collections.abc import Iterable

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from chapters.dpgd.heat import dots, heat, papers_lines
from chapters.dpgd.real_data.maps import BLOWN, FIGURES, PLACE
from chapters.dpgd.real_data.problem import LIMIT
from chapters.dpgd.real_data.reading import Panel, panels
from chapters.dpgd.real_data.verdicts_rows import fractions
from companion.judging.prose import compact, percent, plain, span
from companion.judging.tables import select
from companion.showing import figures
from companion.showing.plates import Plate
from companion.showing.spoken import described

CAP = BLOWN  # of the paper's maps: risks above it are not compared
TICKS = (0.05, 0.1, 0.2, 0.3, 0.4)
LEARNT = 0.4  # risks below it are told apart from the risk of answering 0
TREATED = {math.inf: "features as they are", LIMIT: "features limited"}
FORMS = {"printed": r"$\|x\|^2 = d$, as printed", "typical": r"$\|x\|^2$ its median"}
RISK = r"$\mathcal{P}(\theta^p)$ (units of $y^2$)"


# ------------------------------------------------------------------------------------------------------- maps


def draw_map(table: pd.DataFrame, rows: pd.DataFrame, asked: str) -> Plate:
    """A figure of the paper with all seeds, its lines and its valleys.

    Args:
        table: ``figure-5`` or ``figure-6``. rows: the table ``rows``. asked: the paper's data set.
    """
    found, data = panels(table), _data(rows, asked)
    figure = _drawn(found)
    seeds = int(table["seed"].nunique())
    name = f"**Figure {FIGURES[asked][-1]}, re-computed.**" if data == asked else "**Maps of a stand-in.**"
    risks = [panel.least(np.ones(len(panel.clips), bool)) for panel in found]
    return Plate(
        figure,
        caption=(
            f"{name} {data}: mean held-out risk of {seeds} seeds, none left out, capped at {CAP:g}. Dashed red: $c=1$, "
            r"$\tilde\eta(0)=2/\gamma$ and, where it exists, $c\tilde\eta(0)=\ln(1/\gamma)$. Points: the least "
            f"risk of each row. {_blown(found)} The relative standard error of the least risk is "
            f"{_percents(float(r.std(ddof=1) / math.sqrt(len(r)) / r.mean()) for r in risks)}."
        ),
        alt=_described(figure, found),
    )


def draw_remedy(remedy: pd.DataFrame, rows: pd.DataFrame, asked: str) -> Plate:
    """The same maps with limited features; no seed is left out."""
    data = _data(rows, asked)
    chosen = select(remedy, data=data)
    found = panels(chosen.assign(seed=0)[[*PLACE, "seed", "risk"]])
    figure = _drawn(found)
    best = [select(chosen, gamma=p.gamma, alpha=p.alpha).nsmallest(1, "risk").iloc[0] for p in found]
    return Plate(
        figure,
        caption=(
            f"**The same with features limited at {LIMIT:g} standard deviations.** {data}, "
            f"{int(chosen['seeds'].min())} seeds, none left out. The least risks are "
            f"{span(p.mean.min() for p in found)}, with relative standard errors of "
            f"{_percents(each['standard_error'] / each['risk'] for each in best)}."
        ),
        alt=_described(figure, found),
    )


def _data(rows: pd.DataFrame, asked: str) -> str:
    """What is in the place of the paper's data."""
    return str(select(rows, asked=asked)["data"].iloc[0])


def _percents(values: Iterable[float]) -> str:
    ordered = sorted(values)
    low, high = percent(ordered[0]), percent(ordered[-1])
    return low if low == high else f"{low} to {high}"


def _blown(found: list[Panel]) -> str:
    """By how much a single seed of a map is above its median seed, where the mean is drawn in full."""
    over = [(p.risks.max(axis=0) / np.median(p.risks, axis=0))[p.mean < CAP].max(initial=1.0) for p in found]
    return f"Where the mean is below the cap, a single seed is up to {compact(max(over))} times the median seed."


def _drawn(found: list[Panel]) -> Figure:
    """Maps side by side, with the paper's lines and the least risk of each row."""
    with figures.style():
        figure, axes = plt.subplots(2, 2, figsize=(7.8, 6.6))
        for one, panel in zip(axes.ravel(), found):
            image = heat(one, pd.DataFrame(np.minimum(panel.mean, CAP), panel.clips, panel.rates), 0.0, CAP)
            papers_lines(one, panel.gamma)
            dots(one, panel.rates[panel.mean.argmin(axis=1)], panel.clips)
            one.set_title(f"$\\alpha = {panel.alpha:g}$, $\\gamma = {panel.gamma:.3g}$")
        figure.colorbar(image, ax=axes, label=f"{RISK}, capped", shrink=0.7)
    return figure


def _described(figure: Figure, found: list[Panel]) -> str:
    """What the labels tell, and where the least risks and the valleys are, which none tells."""
    return " ".join((described(figure), *map(_place, found)))


def _place(panel: Panel) -> str:
    clip, rate = panel.best
    slope = "" if math.isnan(panel.slope) else f", valley of slope {plain(panel.slope)}"
    return (
        f"α = {plain(panel.alpha)}, γ = {plain(panel.gamma)}: least risk at c = {plain(clip)}, η(0) = "
        f"{plain(rate)}{slope}."
    )


# ------------------------------------------------------------------------------------------------------- seeds


def draw_seeds(table: pd.DataFrame) -> Plate:
    """Every seed: its risk against the largest feature among its held-out rows, and with limited features."""
    sizes = sorted(table["normalisation"].unique())
    rows = select(table, normalisation=sizes[len(sizes) // 2])
    columns = dict(zip(("risk", "limited"), TREATED.values(), strict=True))
    groups = rows.groupby("n")
    with figures.panels(groups.ngroups, ends=False, figsize=(7.8, 3.6), sharey=True) as (figure, beside):
        for axes, (n, group) in zip(beside, groups, strict=True):
            for name, look in figures.looks(columns).items():
                axes.plot(group["largest"], group[name], ls="", ms=3, label=columns[name], rasterized=True, **look)
            axes.axhline(BLOWN, color="0.35", ls="--", lw=1)
            figures.log_axes(axes, "largest feature of a held-out row", RISK)
            axes.set_title(f"$n = {n}$")
        figure.legend(*beside[0].get_legend_handles_labels(), ncols=2, loc="outside lower center")
    found = fractions(rows)
    told = "; ".join(f"n {int(n)}: {percent(share)} of the seeds" for n, share in zip(found["n"], found["share"]))
    explained = found["explained"].dropna()
    carried = ""
    if len(explained):
        carried = f" In them the worst 0.2 % of the rows carry {_percents(explained)} of the loss."
    return Plate(
        figure,
        caption=(
            f"**Every seed.** {table['data'].iloc[0]}, output perturbation, {int(groups.size().min())} shuffles for "
            "each $n$; a point is one shuffle, so "
            f"no error is drawn. Above the dashed line, at {BLOWN:g}, a seed counts as blown up: {told}.{carried} With "
            f"features limited at {LIMIT:g} standard deviations the largest risk is {plain(rows['limited'].max())}."
        ),
    )


# ------------------------------------------------------------------------------------------------------- equations


def compared(equations: pd.DataFrame, remedy: pd.DataFrame, *maps: pd.DataFrame) -> pd.DataFrame:
    """Each place of the maps: the measured risk, and both risks by the equations; all below the cap of the maps.

    Measured is the median over seeds where features are as they are, and the mean over seeds where they are limited.
    """
    raw = pd.concat([table.groupby(PLACE, as_index=False)["risk"].median() for table in maps])
    found = pd.concat([raw.assign(limit=math.inf), remedy[[*PLACE, "risk"]].assign(limit=LIMIT)])
    rows = found.merge(equations, on=[*PLACE, "limit"])
    return rows[(rows[["risk", "printed", "typical"]] < CAP).all(axis=1)]


def draw_equations(equations: pd.DataFrame, remedy: pd.DataFrame, mnist: pd.DataFrame, housing: pd.DataFrame) -> Plate:
    """Measured risks against those of the deterministic equivalent that is fed the data's spectrum."""
    rows = compared(equations, remedy, mnist, housing)
    learnt = rows[rows["risk"] < LEARNT]
    sets = list(dict.fromkeys(equations["data"]))
    cases = {
        f"{data.split(',')[0]}, {treated}": select(learnt, data=data, limit=limit)
        for (limit, treated), data in itertools.product(TREATED.items(), sets)
    }
    with figures.style():
        figure, panels = plt.subplots(2, len(sets), figsize=(7.8, 7.0), squeeze=False, dpi=80)
        for axes, (name, part) in zip(panels.ravel(), cases.items(), strict=True):
            for form, look in figures.looks(FORMS).items():
                axes.plot(part[form], part["risk"], ls="", ms=2, label=FORMS[form], rasterized=True, **look)
            ends = [part["risk"].min() * 0.9, LEARNT]
            axes.plot(ends, ends, color="0.35", ls="--", lw=1)
            figures.log_axes(axes, r"$\mathcal{P}$ by the equations", r"$\mathcal{P}$ measured")
            for axis in (axes.xaxis, axes.yaxis):
                axis.set_ticks(TICKS, [f"{tick:g}" for tick in TICKS])
            axes.minorticks_off()
            axes.set_title(name)
        figure.legend(*panels[0, 0].get_legend_handles_labels(), ncols=2, loc="outside lower center")
    told = "; ".join(
        f"on {name}, {_off(part, 'printed')} as printed and {_off(part, 'typical')} with the median"
        for name, part in cases.items()
    )
    return Plate(
        figure,
        caption=(
            "**The deterministic equivalent, fed the spectrum of the data.** A point is a place of the maps where less "
            f"than {LEARNT:g} is measured and less than {CAP:g} solved; dashed: equality. Measured is the median seed "
            f"above, the mean of the seeds below. The median relative distance is {told}. Points of a map "
            "share their rows, so that their errors are correlated."
        ),
    )


def _off(rows: pd.DataFrame, column: str) -> str:
    """The median relative distance from the measured risks, in words."""
    return percent(float((rows["risk"] / rows[column] - 1).abs().median())) if len(rows) else "nothing to tell"
