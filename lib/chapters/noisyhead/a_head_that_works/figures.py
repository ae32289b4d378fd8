"""The figures of the page on a private head that works."""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from chapters.noisyhead.a_head_that_works import ladder, readings
from chapters.noisyhead.a_head_that_works.curves import COVARIANCE, METHODS, PRIVATE
from chapters.noisyhead.a_head_that_works.problems import BEST, NO_DATA, NON_PRIVATE, ZERO
from companion.judging.prose import compact, percent, plain, span
from companion.judging.tables import Tables, select
from companion.judging.vocabulary import CONSISTENT
from companion.showing import figures
from companion.showing.plates import Plate
from companion.showing.spoken import spoken

LABELS = {NO_DATA: "no data", PRIVATE: "private", COVARIANCE: "covariance alone", NON_PRIVATE: "non-private"}
SHOWN_AREA = 3  # condition numbers of the map that are drawn
LOOKS: dict[str, dict[str, Any]] = {
    PRIVATE: {"color": figures.COLOURS[0], "marker": "o"},
    COVARIANCE: {"color": figures.COLOURS[2], "marker": "D"},
    NON_PRIVATE: {"color": "black", "marker": "s"},
    NO_DATA: {"color": figures.COLOURS[3], "marker": "^"},
}


def draw_ladder(tables: Tables) -> Plate:
    """The test error of each rung, at the largest ε, isotropic and not."""
    names = list(dict.fromkeys(readings.plain_and_ill(tables)))
    parts = {name: readings.steps(tables, name) for name in names}
    with figures.panels(len(parts), ends=False, figsize=(9.2, 6.4), sharey=True) as (figure, panels):
        for axes, (name, rows) in zip(panels, parts.items(), strict=True):
            _draw_rungs(axes, rows)
            axes.set_title(readings.title(name))
    first = parts[names[0]].iloc[0]
    caption = (
        f"**One change after the other**, $\\varepsilon = {first['epsilon']:g}$, $N = {first['N']}$, on the same "
        f"prompts. Solid line: the best head; dashed: the best head that uses no data; dotted: answering 0. "
        f"{' '.join(_closing(tables, name) for name in names)} {_bars(parts[names[0]]['trials'])}"
    )
    return Plate(figure, caption)


def _bars(trials: pd.Series) -> str:
    least, most = trials.min(), trials.max()
    return f"Bars are two standard errors over {least if least == most else f'{least} to {most}'} trials."


def _closing(tables: Tables, name: str) -> str:
    """Which change closes most of the gap, and what clipping closes and the whitened descent leaves."""
    most, left = readings.closer(tables, name), readings.steps(tables, name)["left"]
    clipping = "" if most == ladder.CLIPPED else f", clipping {percent(readings.closed(tables, name, ladder.CLIPPED))}"
    return readings.started(
        f"{readings.where(name)} *{most}* closes the largest part of the gap from 0 to the best head, "
        f"{percent(readings.closed(tables, name, most))} of it{clipping}; the whitened descent leaves "
        f"{percent(float(left[PRIVATE]))}."
    )


def _draw_rungs(axes: Axes, rows: pd.DataFrame) -> None:
    places = np.arange(len(ladder.RUNGS))[::-1]
    chosen = rows.loc[list(ladder.RUNGS)]
    ours = np.array([name in readings.RUNGS for name in ladder.RUNGS])
    for mask, marker, colour in ((~ours, "s", figures.COLOURS[3]), (ours, "o", figures.COLOURS[0])):
        look: dict[str, Any] = {"marker": marker, "color": colour, "ls": "none", "capsize": 2}
        axes.errorbar(chosen["test_error"][mask], places[mask], xerr=2 * chosen["standard_error"][mask], **look)
    for name, style in ((BEST, "-"), (NO_DATA, "--"), (ZERO, ":")):
        axes.axvline(rows.loc[name, "test_error"], color="k", ls=style, lw=1)
    axes.set_yticks(places, [readings.rung(name) for name in ladder.RUNGS])
    axes.set(xscale="log", xlabel="test error")
    low, high = axes.get_xlim()
    ticks = [t for t in (0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0) if low <= t <= high]
    axes.set_xticks(ticks, [f"{t:g}" for t in ticks])
    axes.minorticks_off()


def draw_curves(errors: pd.DataFrame) -> Plate:
    """Test error against N for each ε, in each covariance."""
    names = list(dict.fromkeys(errors["covariance"]))
    with figures.panels(len(names), figsize=(2.8 * len(names) + 0.8, 4.2)) as (figure, panels):
        for axes, name in zip(panels, names, strict=True):
            _draw_curves(axes, select(errors, covariance=name))
            axes.set_title(readings.title(name))
    last = select(errors, N=errors["N"].max(), epsilon=errors["epsilon"].max())
    over, alone = (span(_over_non_private(last, "covariance", method)) for method in (PRIVATE, COVARIANCE))
    caption = (
        f"**Private heads against $N$** for each $\\varepsilon$. Solid: the private head; dash-dotted, in the "
        f"same colours: the covariance alone. Squares: least squares without privacy; triangles: the best head "
        f"that uses no data; thin line: the best head; dotted: answering 0. At the right end and the largest "
        f"$\\varepsilon$ the private head's error is {over} times that of least squares, that of the "
        f"covariance alone {alone} times. {_bars(errors['trials'])}"
    )
    return Plate(figure, caption)


def _over_non_private(rows: pd.DataFrame, by: str, method: str = PRIVATE) -> pd.Series:
    """A method's test error over that of least squares without privacy."""
    wide = rows.pivot(index=by, columns="method", values="test_error")
    return wide[method] / wide[NON_PRIVATE]


def _draw_curves(axes: Axes, rows: pd.DataFrame) -> None:
    alone = dict(list(select(rows, method=COVARIANCE).groupby("epsilon")))
    for k, (epsilon, part) in enumerate(select(rows, method=PRIVATE).groupby("epsilon")):
        look = {"color": figures.COLOURS[k], "marker": figures.MARKS[k]}
        figures.points(axes, part, "N", "test_error", label=f"ε = {epsilon:g}", **look)
        dashed = alone[epsilon].sort_values("N")
        axes.plot(dashed["N"], dashed["test_error"], "-.", color=look["color"], lw=1)
    ends = rows[rows["epsilon"] == rows["epsilon"].max()]
    figures.points(axes, select(ends, method=NON_PRIVATE), "N", "test_error", label="non-private", **LOOKS[NON_PRIVATE])
    none = select(ends, method=NO_DATA).sort_values("N")
    axes.plot(none["N"], none["test_error"], "--^", color=figures.COLOURS[9], label="no data")
    for method, style in ((BEST, "-"), (ZERO, ":")):
        line = select(ends, method=method).sort_values("N")
        axes.plot(line["N"], line["test_error"], style, color="black", lw=0.8)
    figures.log_axes(axes, "$N$", "test error")
    figures.plain_ticks(axes, none["N"].to_numpy())
    figures.few_decades(axes)


def draw_area(area: pd.DataFrame) -> Plate:
    """Where each private head beats the head that uses no data: maps over (N, ε) for some condition numbers."""
    parts = {method: readings.worth(area, method) for method in METHODS}
    every = sorted(area["condition"].unique())
    conditions = [k for k in every if k > 1] or [1.0]
    shown = [conditions[i] for i in np.unique(np.linspace(0, len(conditions) - 1, SHOWN_AREA).round().astype(int))]
    with figures.style():
        size = (2.85 * len(shown) + 0.6, 3.5 * len(parts))
        figure, panels = plt.subplots(len(parts), len(shown), figsize=size, squeeze=False)
        for row, (method, rows) in zip(panels, parts.items(), strict=True):
            for axes, condition in zip(row, shown, strict=True):
                _draw_map(axes, select(rows, condition=condition))
                axes.set_title(f"{readings.METHODS[method]}, κ = {condition:g}")
    won = " ".join(_won(method, rows.groupby("condition")["wins"].mean()) for method, rows in parts.items())
    caption = (
        f"**Where private pretraining is worth anything.** Each cell is the test error of a private head over that "
        f"of the best head that uses no data and knows the eigenvalues. Circles: it wins, beyond {CONSISTENT:g} "
        f"standard errors; crosses: it loses. Shown are {len(shown)} of {len(every)} condition numbers. {won} "
        f"{area['trials'].iloc[0]} trials a cell."
    )
    return Plate(figure, caption, spoken(won))


def _won(method: str, wins: pd.Series) -> str:
    """The share of the cells that a method wins, by condition number."""
    told = ", ".join(f"$\\kappa = {condition:g}$: {percent(share)}" for condition, share in wins.items())
    return f"Cells that the {readings.METHODS[method]} wins: {told}."


def _draw_map(axes: Axes, rows: pd.DataFrame) -> None:
    rows = rows.assign(ratio=rows["test_error"] / rows["no_data"])
    N, epsilon = sorted(rows["N"].unique()), sorted(rows["epsilon"].unique())
    for _, cell in rows.iterrows():
        at = N.index(cell["N"]), epsilon.index(cell["epsilon"])
        marker, colour = ("o", figures.COLOURS[0]) if cell["wins"] else ("x", figures.COLOURS[3])
        if cell["wins"] or cell["loses"]:
            axes.plot(at[0] - 0.28, at[1], marker, color=colour, ms=5)
        axes.text(at[0] + 0.08, at[1], plain(float(f"{cell['ratio']:.2g}")), ha="center", va="center", fontsize=9)
    axes.set(xlim=(-0.6, len(N) - 0.4), ylim=(-0.6, len(epsilon) - 0.4), xlabel="$N$", ylabel="$\\varepsilon$")
    axes.set_xticks(range(len(N)), [str(n) for n in N])
    axes.set_yticks(range(len(epsilon)), [f"{e:g}" for e in epsilon])
    axes.grid(False)


def draw_sizes(sizes: pd.DataFrame, D: int) -> Plate:
    """Test error against D at one L, and against L at one D."""
    L = int(sizes.loc[sizes["D"] != D, "L"].iloc[0]) if (sizes["D"] != D).any() else int(sizes["L"].iloc[0])
    parts = {"D": sizes[sizes["L"] == L], "L": sizes[sizes["D"] == D]}
    with figures.panels(2, figsize=(9.4, 3.9)) as (figure, panels):
        for axes, (name, rows) in zip(panels, parts.items(), strict=True):
            for method, label in LABELS.items():
                figures.points(axes, select(rows, method=method), name, "test_error", label=label, **LOOKS[method])
            figures.log_axes(axes, f"${name}$", "test error")
            figures.plain_ticks(axes, np.unique(rows[name]))
            figures.few_decades(axes)
    first = sizes.iloc[0]
    over_D, over_L = (span(_over_non_private(rows, name)) for name, rows in parts.items())
    where = f"{readings.title(first['covariance'])}, $N = {first['N']}$, $\\varepsilon = {first['epsilon']:g}$"
    caption = (
        f"**Dimension and length** ({where}). Left: $L = {L}$. Right: $D = {D}$. The private head's error is "
        f"{over_D} times the non-private one's over $D$, {over_L} times over $L$. {_bars(sizes['trials'])}"
    )
    return Plate(figure, caption)


def draw_rate(rate: pd.DataFrame) -> Plate:
    """Excess over the best head against γ = D²/N, and the fitted aγ + bγ²/ρ²."""
    names = list(dict.fromkeys(rate["covariance"]))
    with figures.panels(len(names), figsize=(4.6 * len(names), 3.9)) as (figure, panels):
        for axes, name in zip(panels, names, strict=True):
            found = select(rate, covariance=name, method=PRIVATE).sort_values("gamma")
            for epsilon, look in figures.looks(sorted(found["epsilon"].unique())).items():
                rows = select(found, epsilon=epsilon)
                figures.points(axes, rows, "gamma", "excess", ls="none", **look)
                axes.plot(rows["gamma"], rows["fitted"], color=look["color"], label=f"ε = {epsilon:g}")
            figures.log_axes(axes, "$\\gamma = D^2/N$", "excess test error")
            figures.plain_ticks(axes, found["gamma"].unique().round(4))
            axes.set_title(readings.title(name))
    told = ", ".join(f"{readings.title(n)}: {compact(readings.rate_miss(rate, PRIVATE, n))}" for n in names)
    caption = (
        f"**DP-GD's rate on this head.** Points: the private head's excess over the best head, $L$ fixed. Lines: "
        f"$a\\gamma + b\\gamma^2/\\rho^2$ with the best $a$ and $b$. The largest factor between line and point is "
        f"{told}. {_bars(rate['trials'])}"
    )
    return Plate(figure, caption)
