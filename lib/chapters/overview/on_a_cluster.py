"""What *On a cluster* says about costs: each chapter's time and memory, and how time and memory grow."""

import numpy as np
import pandas as pd

from chapters.overview.saved import Saved
from companion.judging.prose import compact
from companion.showing import figures
from companion.showing.plates import Plate

FITTED = 3  # sizes at the end of an axis that an exponent is fitted to, as in `benchmarks.growth`
LEAST_MEMORY = 5.0  # megabytes: less growth cannot be told from an idle process
SUBJECTS = {
    "contexts": "prompts' statistics",
    "moments": "their moments",
    "descents": "DP-GD, step by step",
    "chains": "DP-GD, risk alone",
    "figure": "trials of a figure",
}
PANELS = (("N", "L", "D"), ("n", "d"), ("trials", "workers"))


def values(saved: Saved) -> dict[str, str | Plate]:
    """The places of ``on-a-cluster.md``."""
    costs, growth = saved.table("costs", "chapters"), saved.table("costs", "growth")
    figure = costs[costs["chapter"] == "noisyhead/low-dimensional"].iloc[0]
    return {
        "chapters": chapters(costs),
        "whole": compact(costs["seconds"].sum() / 60),
        "count": str(len(costs)),
        "memory": compact(costs["memory_mb"].max()),
        "figure_seconds": compact(figure["seconds"]),
        "growth": draw(growth),
        "exponents": exponents(growth),
    }


def chapters(costs: pd.DataFrame) -> str:
    """A row for each chapter, those that take longest first."""
    head = "| chapter | seconds of one core | memory (MB) |"
    rows = [
        f"| [{row.chapter}]({row.chapter}.ipynb) | {compact(row.seconds)} | {row.memory_mb:.0f} |"
        for row in costs.sort_values("seconds", ascending=False).itertuples()
    ]
    return "\n".join([head, "|---|--:|--:|", *rows])


def power(table: pd.DataFrame, value: str) -> float:
    """The power of its size with which a value grows at the largest sizes; NaN where it is not above 0 there."""
    last = table.sort_values("size").tail(FITTED)
    if not (last[value] > 0).all():
        return float("nan")
    return float(np.polyfit(np.log(last["size"].astype(float)), np.log(last[value]), 1)[0])


def exponents(growth: pd.DataFrame) -> str:
    """A row for each subject and size: the powers of time and of memory."""
    rows = ["| what | size | from … to | time grows like | memory grows like |", "|---|---|---|---|---|"]
    for (subject, axis), table in growth.groupby(["subject", "axis"], sort=False):
        time = f"$\\mathtt{{{axis}}}^{{{power(table, 'seconds'):.1f}}}$"
        grows = table["memory_mb"].max() >= LEAST_MEMORY
        memory = f"$\\mathtt{{{axis}}}^{{{power(table, 'memory_mb'):.1f}}}$" if grows else "not at all"
        symbol = f"${axis}$" if len(axis) == 1 else axis
        sizes = f"{table['size'].min()} … {table['size'].max()}"
        rows.append(f"| {SUBJECTS[subject]} | {symbol} | {sizes} | {time} | {memory} |")
    return "\n".join(rows)


def draw(growth: pd.DataFrame) -> Plate:
    """Seconds against each size, on log axes; the dashed lines are the fitted powers."""
    with figures.panels(len(PANELS), figsize=(9, 3.2), sharey=True) as (figure, axes):
        for panel, names in zip(axes, PANELS, strict=True):
            chosen = growth[growth["axis"].isin(names)]
            groups = dict(list(chosen.groupby(["subject", "axis"], sort=False)))
            for (subject, axis), look in figures.looks(groups).items():
                table = groups[subject, axis].sort_values("size")
                panel.plot(table["size"], table["seconds"], label=f"{SUBJECTS[subject]}, {axis}", linewidth=1, **look)
                last = table.tail(FITTED)
                figures.slope(panel, last["size"].to_numpy(), last["seconds"].iloc[0], power(table, "seconds"), "_fit")
            figures.log_axes(panel, " or ".join(names), "seconds" if panel is axes[0] else "")
    powers = {key: power(table, "seconds") for key, table in growth.groupby(["subject", "axis"])}
    caption = (
        "Time of one call as one size grows and the others stay the same. Each dashed line is a power law fitted to "
        "the last three sizes. The statistics of prompts are drawn without their features, so their time grows only "
        f"like $D^{{{powers['contexts', 'D']:.1f}}}$ with the dimension. The time of DP-GD's risk grows like "
        f"$d^{{{powers['chains', 'd']:.1f}}}$, and that of DP-GD step by step like "
        f"$d^{{{powers['descents', 'd']:.1f}}}$."
    )
    return Plate(figure, caption)
