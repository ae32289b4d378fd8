"""Figures on the equations of arXiv:2505.16329v2: Figure 1, how fast the risk closes in on them, and the diffusion."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import NullFormatter

from chapters.dpgd.deterministic_equivalent import trends
from chapters.dpgd.deterministic_equivalent.rates import KINK
from chapters.dpgd.deterministic_equivalent.regime import SCHEDULES
from chapters.dpgd.deterministic_equivalent.verdicts import figure_1
from companion import _fits
from companion.judging import words
from companion.judging.prose import compared, listed, measured
from companion.judging.tables import select
from companion.showing import figures
from companion.showing.plates import Plate
from companion.showing.spoken import described

PAST = (1.0, 1.1)  # where the released iterate is drawn
CUT = 5  # the lower edge of a band is drawn no lower than this part of the mean: a log axis has no place for 0
EVERY = 2  # of the times are drawn
NAMES = {"constant": "constant", "square root": "square root", KINK: "constant\nat $2/\\gamma$"}
CURED = "at $2/\\gamma$, with\nthe mean cap"
APART = 2.0  # factor between the first points and the reference lines above and below
DRIFTS = ("derived", "printed")
QUANTITIES = {"risk": "in the risk", "resolvents": "in all quadratics of (C.2)"}


def draw_figure_1(table: pd.DataFrame) -> Plate:
    """The four panels: bands of one standard deviation around the mean, and R(t)."""
    with figures.style():
        figure, panels = plt.subplots(2, 2, figsize=(7.4, 4.1), sharex=True, sharey=True)
        for axes, ((alpha, spectrum), rows) in zip(panels.flat, table.groupby(["alpha", "spectrum"])):
            _draw_panel(axes, rows)
            axes.set(yscale="log", title=f"{SCHEDULES[alpha]} schedule, {spectrum} spectrum")
        for axes in panels[:, 0]:
            axes.set_ylabel("excess risk")
        for axes in panels[-1]:
            axes.set_xlabel("$t$ (past 1: released)")
        figure.legend(*panels[0, 0].get_legend_handles_labels(), ncols=3, loc="outside lower center")
    return Plate(
        figure,
        f"**Figure 1, re-run.** Excess risk along Algorithm 1, mean and standard deviation over "
        f"{table['trials'].max()} runs, beside the solution $R(t)$ of (4.7). "
        f"{words.headline(figure_1, {'figure-1': table})} Past $t = 1$: what is released.",
        f"{described(figure)} Released, mean and standard deviation: {_released(table)}.",
    )


def _draw_panel(axes: Axes, rows: pd.DataFrame) -> None:
    dimensions = sorted(rows["d"].unique())
    places = np.linspace(*PAST, len(dimensions) + 2)[1:-1]
    for (d, look), place in zip(figures.looks(dimensions).items(), places):
        part = select(rows, d=d)
        before, released = part[part["t"] < 1].iloc[::EVERY], select(part, t=1)
        low, high = before["risk_mean"] - before["risk_sd"], before["risk_mean"] + before["risk_sd"]
        floor = before["risk_mean"] / CUT
        axes.fill_between(before["t"], np.maximum(low, floor), high, color=look["color"], alpha=0.25, lw=0)
        axes.plot(before["t"], before["risk_mean"], color=look["color"], lw=1.2, label=f"$d = {d}$")
        axes.errorbar([place], released["risk_mean"], released["risk_sd"], **look, capsize=2, ms=3.5, lw=1.2)
    axes.plot(before["t"], before["ode_risk"], "k--", lw=1.2, label="$R(t)$")
    axes.hlines(released["ode_risk"].iloc[0], *PAST, color="k", lw=1.5, zorder=1, label="level of (4.23)")


def _released(table: pd.DataFrame) -> str:
    """What is released in each panel, and what is predicted."""
    panels = []
    for (alpha, spectrum), rows in select(table, t=1).groupby(["alpha", "spectrum"]):
        found = listed(f"{measured(r.risk_mean, r.risk_sd)} for d = {r.d}" for r in rows.itertuples())
        predicted = rows.loc[rows["d"].idxmax(), "ode_risk"]
        panels.append(f"{SCHEDULES[alpha]} schedule, {spectrum} spectrum {found}, predicted {predicted:.3g}")
    return "; ".join(panels)


def draw_rates(rates: pd.DataFrame) -> Plate:
    """Left: the supremum of the deviation of a run. Right: of the deviation of the mean. Both against n."""
    chosen = select(rates, spectrum=rates["spectrum"].iloc[0]).sort_values("n")
    runs, means = (
        {name: select(chosen, quantity=quantity, schedule=schedule) for schedule, name in NAMES.items()}
        for quantity in ("path", "bias")
    )
    means[CURED] = select(chosen, quantity="bias, cap smoothed")
    with figures.panels(2, figsize=(7.8, 4.0)) as (figure, (left, right)):
        _draw_falls(left, runs, -0.5, "$n^{-1/2}$")
        _draw_falls(right, means, -1.0, "$n^{-1}$")
        left.set(ylabel=r"largest $|\mathcal{R}(\theta) - R(t)|$", title="a run")
        right.set(ylabel="largest bias", title="the mean of many runs")
    return Plate(figure, _rates_caption(runs, means))


def _draw_falls(axes: Axes, series: dict[str, pd.DataFrame], exponent: float, name: str) -> None:
    """Deviations along n between the shape of the claimed bound above them and a power of n below."""
    looks = figures.looks([*NAMES.values(), CURED])
    for label, rows in series.items():
        figures.points(axes, rows.assign(value=rows["value"].abs()), "n", "value", label=label, **looks[label])
    first, starts = next(iter(series.values())), [abs(rows["value"].iloc[0]) for rows in series.values()]
    _draw_bound(axes, first, APART * max(starts))
    figures.slope(axes, first["n"].to_numpy(), min(starts) / APART, exponent, name)
    figures.log_axes(axes, "$n$ (records)", "")
    figures.plain_ticks(axes, first["n"].unique(), most=3)


def _draw_bound(axes: Axes, rows: pd.DataFrame, start: float) -> None:
    """The shape of the claimed bound along n."""
    shape = start * rows["bound"] / rows["bound"].iloc[0]
    axes.plot(rows["n"], shape, ":", color="0.35", lw=1.5, label="claimed:\n$\\log^2n/\\sqrt{n}$")


def _rates_caption(runs: dict[str, pd.DataFrame], means: dict[str, pd.DataFrame]) -> str:
    parts = []
    for place, series in (("Left, the largest deviation along a run", runs), ("Right, that of the mean", means)):
        powers = (f"{trends.power(power(rows)[0])} ({' '.join(name.split())})" for name, rows in series.items())
        parts.append(f"{place}: over all sizes it goes like {listed(powers)}.")
    every = [*runs.values(), *means.values()]
    (slowest, error), bound = max(power(rows) for rows in every), bound_power(every[0])
    texts = ("All fall faster than", "Not all fall faster than", "Not all fall as fast as")
    return (
        "**Distance from the equations** against $n$ at $d = \\gamma n$, isotropic spectrum; bars of two standard "
        f"errors. {' '.join(parts)} {compared(slowest, bound, texts, error)} the claimed bound (dotted), which goes "
        f"like {trends.power(bound)} here."
    )


def power(rows: pd.DataFrame) -> tuple[float, float]:
    """The power of n of a deviation over all sizes, with its standard error."""
    return _fits.power_law(rows["n"], rows["value"].abs(), rows["standard_error"])


def bound_power(rows: pd.DataFrame) -> float:
    """The power of n of log²n/√n between the first and the last size."""
    ends = rows.sort_values("n").iloc[[0, -1]]
    return float(np.diff(np.log(ends["bound"]))[0] / np.diff(np.log(ends["n"]))[0])


def draw_homogenised(table: pd.DataFrame) -> Plate:
    """The distance of Algorithm 1 from the diffusion against n, with the drift derived and the drift printed."""
    labels = {drift: f"drift as\n{drift}" for drift in DRIFTS}
    with figures.panels(len(QUANTITIES), figsize=(7.6, 3.8)) as (figure, panels):
        for axes, (quantity, title) in zip(panels, QUANTITIES.items()):
            series = _drifts(table, quantity)
            figures.curves(axes, pd.concat(series, names=["drift"]).reset_index("drift"), "n", "value", "drift", labels)
            start = series["derived"]["value"].iloc[0]
            _draw_bound(axes, series["derived"], 2 * start)
            figures.slope(axes, series["derived"]["n"].to_numpy(), start / 1.5, -0.5, "$n^{-1/2}$")
            figures.log_axes(axes, "$n$ (records)", "largest distance")
            axes.yaxis.set_minor_formatter(NullFormatter())
            figures.plain_ticks(axes, table["n"].unique(), most=4)
            axes.set_title(title)
    return Plate(figure, _homogenised_caption(table))


def _drifts(table: pd.DataFrame, quantity: str) -> dict[str, pd.DataFrame]:
    """The distances in a quantity along n, by drift."""
    return {drift: select(table, quantity=f"{quantity}, {drift} drift").sort_values("n") for drift in DRIFTS}


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
