"""The figures of the page on what a correct ε leaves open."""

import numpy as np
import pandas as pd

from chapters.privacy.what_this_does_not_protect.bits import ESTIMATOR, ROUNDED
from chapters.privacy.what_this_does_not_protect.page import beyond, gaps, several
from chapters.privacy.what_this_does_not_protect.scaling import SCALES
from companion.judging.prose import compact, listed, plain, span
from companion.judging.tables import Tables, pick, select
from companion.judging.vocabulary import CONSISTENT
from companion.showing import figures
from companion.showing.plates import Plate


def draw_gaps(tables: Tables) -> Plate:
    """The advantage of each attack beside what one release promises."""
    table = gaps(tables)
    over, promise, places = beyond(table), float(table["bound"].iloc[0]), np.arange(len(table))
    with figures.panels(ends=False, figsize=(7.6, 4.8)) as (figure, (axes,)):
        for shown, fmt, colour in ((over, "s", figures.COLOURS[3]), (~over, "o", figures.COLOURS[0])):
            rows = table[shown]
            error = 2 * rows["standard_error"]
            axes.errorbar(rows["advantage"], places[shown], xerr=error, fmt=fmt, color=colour, capsize=2)
        axes.axvline(promise, color="k", ls="--", lw=1)
        axes.set_yticks(places, table["attack"])
        axes.set(xlim=(-0.08, 1.08), xlabel="advantage of the attack")
    names = table["attack"].str.replace("\n", " ")
    told = zip(names, table["advantage"], strict=True)
    return Plate(
        figure,
        caption=(
            f"**What the budget does not cover.** Each attack tells two neighbouring data sets apart. The dashed line "
            f"is the most that one Gaussian release allows, {compact(promise)}. Squares are beyond it: "
            f"{listed(names[over]) if over.any() else 'none'}. Bars are two standard errors; one person's records are "
            f"exact."
        ),
        alt=f"Advantages: {', '.join(f'{name} {plain(value)}' for name, value in told)}.",
    )


def draw_bits(bits: pd.DataFrame, rounding: pd.DataFrame) -> Plate:
    """Left: the attack on last bits by the value's size. Right: on the estimator's releases, rounded to fewer bits."""
    rounded = select(rounding, attack=ROUNDED).sort_values("bits", ascending=False)
    whole = pick(rounding, attack=ESTIMATOR)
    names = {d: f"{d} number{'s' if d != 1 else ''}" for d in sorted(bits["d"].unique(), reverse=True)}
    with figures.panels(2, ends=False, figsize=(9.4, 4.0)) as (figure, (left, right)):
        figures.curves(left, bits, "ratio", "advantage", "d", names)
        left.set(xscale="log", xlabel="value over noise", ylabel="advantage", ylim=(-0.05, 1.05))
        left.set_title("Gaussian mechanism")
        error = 2 * rounded["standard_error"]
        right.errorbar(rounded["bits"], rounded["advantage"], yerr=error, fmt="o-", capsize=2, label="rounded")
        right.axhline(whole["advantage"], color=figures.COLOURS[3], ls="-.", lw=1, label="as released")
        right.set(xlabel="bits kept below the noise", ylabel="advantage", ylim=(-0.05, 1.05))
        right.set_title(f"estimator, {whole['d']:.0f} coefficients")
        for axes in (left, right):
            axes.axhline(whole["bound"], color="k", ls="--", lw=1)
        figures.end_labels(left)
        right.legend()
    small = select(bits, ratio=bits["ratio"].min()).set_index("d")["advantage"]
    first = rounded[rounded["advantage"] <= CONSISTENT * rounded["standard_error"]]
    hidden = f"At {int(first['bits'].max())} bits nothing is left to see. " if len(first) else ""
    return Plate(
        figure,
        caption=(
            f"**The last bits.** The attacker rules a data set out if no double could have given the release. Left: "
            f"values small beside the noise give away {span(small)} for {span(small.index)} numbers. Right: the "
            f"coefficients of `DPGDRegressor` give away {compact(whole['advantage'])}, and rounding hides it. {hidden}"
            f"Dashed: what the guarantee allows. Bars are two standard errors."
        ),
    )


def draw_tuning(tuning: pd.DataFrame) -> Plate:
    """ε against the number of runs of which the best is released."""
    lines = {
        "composed": "all released",
        "best": "best of k,\nat least",
        "stopped_at_most": "random number,\nat most",
        "one": "one run",
    }
    with figures.panels(figsize=(6.6, 4.2)) as (figure, (axes,)):
        for (column, look), label in zip(figures.looks(lines).items(), lines.values(), strict=True):
            figures.points(axes, tuning, "runs", str(column), label=label, **look)
        figures.log_axes(axes, "runs $k$, or their expected number", "$\\varepsilon$ spent")
    last, ten = tuning.iloc[-1], several(tuning, "runs")
    return Plate(
        figure,
        caption=(
            f"**The best of several runs.** Each run alone spends {compact(ten['one'])}. Releasing the best of "
            f"{ten['runs']:.0f} spends at least {compact(ten['best'])}, computed exactly for scores that are Gaussian; "
            f"all together spend {compact(ten['composed'])}. With a random number of runs, {last['runs']:.0f} "
            f"expected, {compact(last['stopped_at_most'])} is enough. Closed forms have no sampling error."
        ),
    )


def draw_scaling(scaling: pd.DataFrame) -> Plate:
    """The advantage by the size of the record that may be there, for each way to scale."""
    with figures.panels(figsize=(6.6, 4.0)) as (figure, (axes,)):
        names = {way: way.replace(" of the", "\nof the") for way in SCALES}
        figures.curves(axes, scaling, "size", "advantage", "way", names)
        axes.axhline(scaling["bound"].iloc[0], color="k", ls="--", lw=1)
        axes.set(xscale="log", xlabel="the record's feature, in standard deviations", ylabel="advantage")
    last = select(scaling, size=scaling["size"].max()).set_index("way")["advantage"]
    return Plate(
        figure,
        caption=(
            f"**Scaled by private data.** Was a record with one large feature there? Advantage at the largest size: "
            f"{', '.join(f'{way} {compact(last[way])}' for way in SCALES)}. The fit itself is private at the budget, "
            f"dashed. Bars are two standard errors over {scaling['trials'].min()} releases of each."
        ),
    )
