"""The answer, the figures and the checked sentences of the page on a private head that works."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from costofprivacy.experiments.noisyhead.a_head_that_works import findings, ladder, words
from costofprivacy.experiments.noisyhead.a_head_that_works.curves import COVARIANCE, PRIVATE
from costofprivacy.experiments.noisyhead.a_head_that_works.problems import BEST, ISOTROPIC, NO_DATA, NON_PRIVATE, ZERO
from costofprivacy.judging.prose import compact, percent, plain, span
from costofprivacy.judging.tables import Tables, select
from costofprivacy.showing import figures
from costofprivacy.showing.plates import Plate

LOOKS: dict[str, dict[str, Any]] = {
    PRIVATE: {"color": figures.COLOURS[0], "marker": "o"},
    COVARIANCE: {"color": figures.COLOURS[2], "marker": "D"},
    NON_PRIVATE: {"color": "black", "marker": "s"},
    NO_DATA: {"color": figures.COLOURS[3], "marker": "^"},
}


def answer(tables: Tables) -> str:
    """The result at the largest size, and where pretraining is worth anything."""
    table, (name, _) = tables["test-error"], findings.plain_and_ill(tables)
    over, row = findings.over_non_private(tables, name), findings.corner(tables, name)
    known = " There the best head needs no data." if findings.no_data_is_best(tables, name) else ""
    alike = " (features alike in all directions)" if name == ISOTROPIC else ""
    return (
        f"At $\\varepsilon = {table['epsilon'].max():g}$, $N = {table['N'].max()}$ {words.where(name)}{alike} our "
        f"head errs {compact(row[PRIVATE])} (answering 0: {compact(row[ZERO])}), {percent(abs(over))} "
        f"{'above' if over > 0 else 'below'} no privacy.{known}{_worth(tables['area'])}"
    )


def _worth(area: pd.DataFrame) -> str:
    """How often pretraining beats the head without data, and loses to it; nothing where none was asked for."""
    wins = findings.won(area)
    if not len(wins):
        return ""
    alone = float(findings.won(area, method=COVARIANCE).mean())
    return (
        f" With an unknown covariance ours beats the head without data in {percent(float(wins.mean()))} of cases and "
        f"loses in {percent(findings.lost(area)[0])}; for isotropic tasks the covariance alone wins in "
        f"{percent(alone)}."
    )


def draw_ladder(tables: Tables) -> Plate:
    """The test error of each rung, at the largest ε, isotropic and not."""
    names = list(dict.fromkeys(findings.plain_and_ill(tables)))
    parts = {name: findings.steps(tables, name) for name in names}
    with figures.style():
        figure, panels = plt.subplots(1, len(parts), figsize=(9.8, 6.4), sharey=True, squeeze=False)
        for axes, (name, rows) in zip(panels[0], parts.items(), strict=True):
            _draw_rungs(axes, rows)
            axes.set_title(words.title(name))
    first = parts[names[0]]
    epsilon, N = first["epsilon"].iloc[0], first["N"].iloc[0]
    return Plate(
        figure,
        caption=(
            f"**One change after the other**, $\\varepsilon = {epsilon:g}$, $N = {N}$, on the same prompts. Solid "
            f"line: the best head; dashed: the best head that uses no data; dotted: answering 0. "
            f"{' '.join(_closing(tables, name) for name in names)} Bars are two standard errors over "
            f"{first['trials'].iloc[0]} trials."
        ),
        alt=f"Test errors, {words.title(names[0])}: "
        + ", ".join(f"{words.rung(r)} {plain(first['test_error'][r])}" for r in ladder.RUNGS)
        + ".",
    )


def _closing(tables: Tables, name: str) -> str:
    """Which change closes most of the gap, and what clipping closes and the whitened descent leaves."""
    most, left = findings.closer(tables, name), findings.steps(tables, name)["left"]
    clipping = "" if most == ladder.CLIPPED else f", clipping {percent(findings.closed(tables, name, ladder.CLIPPED))}"
    return words.started(
        f"{words.where(name)} *{most}* closes the largest part of the gap from 0 to the best head, "
        f"{percent(findings.closed(tables, name, most))} of it{clipping}; the whitened descent leaves "
        f"{percent(float(left[PRIVATE]))}."
    )


def _draw_rungs(axes: Axes, rows: pd.DataFrame) -> None:
    places = np.arange(len(ladder.RUNGS))[::-1]
    chosen = rows.loc[list(ladder.RUNGS)]
    ours = np.array([name in words.RUNGS for name in ladder.RUNGS])
    for mask, marker, colour in ((~ours, "s", figures.COLOURS[3]), (ours, "o", figures.COLOURS[0])):
        look: dict[str, Any] = {"marker": marker, "color": colour, "ls": "none", "capsize": 2}
        axes.errorbar(chosen["test_error"][mask], places[mask], xerr=2 * chosen["standard_error"][mask], **look)
    for name, style in ((BEST, "-"), (NO_DATA, "--"), (ZERO, ":")):
        axes.axvline(rows.loc[name, "test_error"], color="k", ls=style, lw=1)
    axes.set_yticks(places, [words.rung(name) for name in ladder.RUNGS])
    axes.set(xscale="log", xlabel="test error")
    low, high = axes.get_xlim()
    ticks = [t for t in (0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0) if low <= t <= high]
    axes.set_xticks(ticks, [f"{t:g}" for t in ticks])
    axes.minorticks_off()


def draw_curves(errors: pd.DataFrame) -> Plate:
    """Test error against N for each ε, in each covariance."""
    names = list(dict.fromkeys(errors["covariance"]))
    with figures.style():
        figure, panels = plt.subplots(1, len(names), figsize=(3.4 * len(names) + 1, 4.2), squeeze=False)
        for axes, name in zip(panels[0], names, strict=True):
            _draw_curves(axes, select(errors, covariance=name))
            axes.set_title(words.title(name))
    last = errors[(errors["N"] == errors["N"].max()) & (errors["epsilon"] == errors["epsilon"].max())]
    wide = last.pivot(index="covariance", columns="method", values="test_error").loc[names]
    over, alone = wide[PRIVATE] / wide[NON_PRIVATE], wide[COVARIANCE] / wide[NON_PRIVATE]
    return Plate(
        figure,
        caption=(
            f"**Private heads against $N$** for each $\\varepsilon$. Solid: the private head; dash-dotted, in the "
            f"same colours: the covariance alone. Squares: least squares without privacy; triangles: the best head "
            f"that uses no data; thin line: the best head; dotted: answering 0. At the right end and the largest "
            f"$\\varepsilon$ the private head's error is {span(over)} times that of least squares, that of the "
            f"covariance alone {span(alone)} times. Bars are two standard errors over {errors['trials'].iloc[0]} "
            f"trials."
        ),
        alt="At the right end, private over non-private: "
        + ", ".join(f"{words.title(n)} {plain(v)}" for n, v in over.items())
        + "; covariance alone over non-private: "
        + ", ".join(f"{words.title(n)} {plain(v)}" for n, v in alone.items())
        + ".",
    )


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
    figures.end_labels(axes)
