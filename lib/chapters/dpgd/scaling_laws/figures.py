"""Figures 2 and 3 of arXiv:2505.16329v2 recomputed, and how small γ must be for their slopes."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from chapters.dpgd.scaling_laws.curves import PLACE, WITHIN
from chapters.dpgd.scaling_laws.trends import furthest, least, smallest
from chapters.dpgd.scaling_laws.verdicts import figure_2, figure_3
from companion.judging import words
from companion.judging.prose import compact, span
from companion.judging.tables import select
from companion.showing import figures
from companion.showing.plates import Plate
from companion.showing.spoken import described

GAMMA = r"$\gamma = d/n$"
FLOOR = 1e-5  # a distance from h below this is not drawn
DRAWN_ALPHA = 4  # values of α in a panel at most


def privacy(b: float) -> str:
    """ρ = γ^b in words of mathematics."""
    return r"$\rho = 1$" if b == 0 else r"$\rho = \sqrt{\gamma}$" if b == 0.5 else rf"$\rho = \gamma^{{{b:g}}}$"


def _spectrum(phi: float) -> str:
    return rf"$\varphi = {phi:g}$"


def draw_figure_2(points: pd.DataFrame, slopes: pd.DataFrame, fits: pd.DataFrame) -> Plate:
    """The first two panels of Figure 2: the optimised risk of the constant schedule, a panel a problem."""
    alpha = points["alpha"].min()
    rows = select(points, alpha=alpha)
    problems = list(rows.groupby(["phi", "psi"], sort=False))
    with _grid(len(problems), 2) as (figure, panels):
        for axes, ((phi, psi), chosen) in zip(panels, problems):
            _risks(axes, chosen, "b", privacy)
            axes.set_title(rf"$\varphi = {phi:g}$, $\psi = {psi:g}$")
    found = words.headline(figure_2, {"figure-2": points, "slopes": slopes, "fits": fits})
    return Plate(
        figure,
        f"**Figure 2, recomputed to smaller $\\gamma$.** Risk with the best learning rate at each $\\gamma$, "
        f"$\\alpha={alpha:g}$. Dashed: $\\gamma^h$ of Theorem 4 through the last point. {found} Crosses: "
        f"{int(rows['at_cap'].sum())} points at the cap $2/\\gamma$. Solved equations: no sampling error.",
    )


def draw_figure_3(points: pd.DataFrame, slopes: pd.DataFrame, fits: pd.DataFrame) -> Plate:
    """The first three panels of Figure 3: the optimised risk for a small, a middling and the largest α."""
    alphas = sorted(points["alpha"].unique())
    shown = sorted({alphas[0], alphas[len(alphas) // 2], alphas[-1]})
    rows = select(points, psi=points["psi"].min())
    rows = rows[rows["alpha"].isin(shown)]
    with _grid(len(shown), 3) as (figure, panels):
        for axes, alpha in zip(panels, shown):
            _risks(axes, select(rows, alpha=alpha), "phi", _spectrum)
            axes.set_title(rf"$\alpha = {alpha:g}$")
    found = words.headline(figure_3, {"figure-3": points, "slopes": slopes, "fits": fits})
    return Plate(
        figure,
        f"**Figure 3, recomputed to smaller $\\gamma$.** Risk with the best learning rate, "
        f"{privacy(rows['b'].iloc[0])}, $\\psi={rows['psi'].iloc[0]:g}$. Dashed: $\\gamma^h$ through the last point. "
        f"{found} Crosses: {int(rows['at_cap'].sum())} points at the cap. Solved equations: no sampling error.",
    )


@contextmanager
def _grid(count: int, columns: int) -> Iterator[tuple[Figure, list[Axes]]]:
    """As many panels as asked for, in a few columns, whose curves are named once all are drawn."""
    rows = -(-count // columns)
    with figures.style():
        figure, panels = plt.subplots(rows, min(count, columns), figsize=(7.8, 3.1 * rows), squeeze=False, sharey=True)
        for extra in panels.flat[count:]:
            extra.remove()
        yield figure, list(panels.flat[:count])
        for axes in panels.flat[:count]:
            figures.end_labels(axes)


def _risks(axes: Axes, rows: pd.DataFrame, by: str, name: Callable[[float], str]) -> None:
    """Risk against γ, a curve for each value of a column, each with its claimed slope."""
    values = sorted(rows[by].unique())
    for value, look in zip(values, figures.looks(values).values()):
        curve = select(rows, **{by: value}).sort_values("gamma")
        axes.plot(curve["gamma"], curve["risk"], label=name(value), **look)
        first = curve.iloc[0]
        line = first["risk"] * (curve["gamma"] / first["gamma"]) ** first["h"]
        axes.plot(curve["gamma"], line, "--", color="0.35", lw=1, label="_claimed")
        capped = curve[curve["at_cap"]]
        axes.plot(capped["gamma"], capped["risk"], "x", color="black", ms=9, label="_capped")
    figures.log_axes(axes, GAMMA, "excess risk")


def draw_slopes(points: pd.DataFrame, fits: pd.DataFrame, slopes: pd.DataFrame) -> Plate:
    """The last panels of Figures 2 and 3: slopes against α, fitted at large γ and local at the least, beside h."""
    places = points[PLACE].drop_duplicates()
    early = select(fits.merge(places, on=PLACE), window=0)
    last = smallest(slopes.merge(places, on=PLACE))
    column, name = ("b", privacy) if early["b"].nunique() > 1 else ("phi", _spectrum)
    with _grid(early[column].nunique(), 2) as (figure, panels):
        for axes, value in zip(panels, early[column].unique()):
            _slopes(axes, select(early, **{column: value}), last)
            axes.set_title(name(value))
    worst, end = furthest(early), furthest(last)
    told = f"Fitted slopes are {span(early['slope'])}, exponents h {span(last['h'])}."
    return Plate(
        figure,
        f"**Slopes against the schedule's exponent.** Marks: fits down to $\\gamma={_power(early['to_gamma'].min())}$, "
        f"a range that solvers of many equations reach; full lines: local slopes at "
        f"$\\gamma={_power(last['gamma'].min())}$; dashed: $h$. The fits miss $h$ by up to "
        f"{compact(abs(worst['distance']))}, the local slopes by up to {compact(abs(end['distance']))}. No sampling "
        "error.",
        f"{described(figure)} {told}",
    )


def _slopes(axes: Axes, early: pd.DataFrame, last: pd.DataFrame) -> None:
    """Slopes along α for the first and the last problem of a panel."""
    problems = list(dict.fromkeys(zip(early["phi"], early["psi"])))
    places = list(dict.fromkeys((problems[0], problems[-1])))
    for (phi, psi), look in zip(places, figures.looks(places).values()):
        fitted = select(early, phi=phi, psi=psi).sort_values("alpha")
        end = last.merge(fitted[PLACE], on=PLACE).sort_values("alpha")
        axes.plot(fitted["alpha"], fitted["slope"], ls="", label="_fits", **look)
        label = rf"$\varphi={phi:g}$," + "\n" + rf"$\psi={psi:g}$"
        axes.plot(end["alpha"], end["slope"], "-", color=look["color"], label=label)
        axes.plot(end["alpha"], end["h"], "--", color="0.35", lw=1, label="_h")
    axes.set(xlabel=r"$\alpha$, exponent of the schedule", ylabel="slope")


def _power(gamma: float) -> str:
    return f"10^{{{round(np.log10(gamma))}}}"


def draw_approach(slopes: pd.DataFrame, far: pd.DataFrame, settled: pd.DataFrame, points: pd.DataFrame) -> Plate:
    """How far the local slope is from h, decade by decade: solved, then continued in closed form."""
    place = points[["phi", "psi", "b"]].iloc[0]
    solved, continued = (select(table, **place) for table in (slopes, far))
    continued = continued[continued["distance"].abs() > FLOOR].sort_values("gamma")
    every = sorted(solved["alpha"].unique())
    alphas = sorted({*every[: DRAWN_ALPHA - 1], every[-1]})
    with figures.panels(ends=False, figsize=(6.8, 4.0)) as (figure, (axes,)):
        for alpha, look in figures.looks(alphas).items():
            marks, line = select(solved, alpha=alpha), select(continued, alpha=alpha)
            line = line[line["gamma"] < marks["gamma"].min()]
            axes.plot(marks["gamma"], marks["distance"].abs().clip(lower=FLOOR), ls="", **look, label="_solved")
            axes.plot(line["gamma"], line["distance"].abs(), "-", color=look["color"], label=rf"$\alpha = {alpha:g}$")
        axes.axhline(WITHIN, color="0.35", ls="--", lw=1)
        figures.log_axes(axes, GAMMA, "distance of the local slope from $h$")
        axes.set(ylim=(FLOOR, None))
        axes.invert_xaxis()
        axes.legend(loc="upper right")
        for marks, alpha in zip(axes.lines[::2], alphas):
            marks.set_label(rf"solved, $\alpha = {alpha:g}$")  # after the legend, which has no marks
    table = settled.merge(points[PLACE].drop_duplicates(), on=PLACE)
    latest = least(table, "settles_at")
    return Plate(
        figure,
        f"**How small $\\gamma$ must be.** $\\varphi={place['phi']:g}$, $\\psi={place['psi']:g}$, "
        f"{privacy(place['b'])}; marks: solved; lines: closed form. Of {len(table)} curves "
        f"{int(table['settles_at'].notna().sum())} end within {WITHIN:g} (dashed). The slowest "
        f"one needs $\\gamma={_power(latest['settles_at'])}$: $\\varphi={latest['phi']:g}$, "
        f"$\\psi={latest['psi']:g}$, $\\alpha={latest['alpha']:g}$, where $\\varphi(\\alpha+1)="
        f"{latest['phi'] * (latest['alpha'] + 1):.3g}$.",
    )
