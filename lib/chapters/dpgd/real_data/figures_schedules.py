"""Figure 8 of the page on real data of arXiv:2505.16329v2."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from chapters.dpgd.real_data.figure_eight import ALL, KEPT, LIMITED, SCHEDULES
from chapters.dpgd.real_data.figures import RISK
from chapters.dpgd.real_data.problem import LIMIT
from chapters.dpgd.real_data.reading import student
from chapters.dpgd.real_data.tables import means
from chapters.dpgd.real_data.verdicts_schedules import leads, margins
from companion.judging.prose import compact, listed, measured, plain
from companion.judging.tables import select
from companion.judging.vocabulary import CONSISTENT
from companion.showing import figures
from companion.showing.plates import Plate

NAMES = {name: name if name == "harmonic" else rf"$\alpha = {name}$" for name in SCHEDULES}


def draw_figure_8(table: pd.DataFrame, rows: pd.DataFrame) -> Plate:
    """The risk of each tuned schedule against n: what the paper shows, and with limited features."""
    found = means(table)
    sets = list(dict.fromkeys(table["data"]))
    views = {data: ALL if k == 0 or KEPT not in set(select(found, data=data)["view"]) else KEPT
             for k, data in enumerate(sets)}  # fmt: skip
    with figures.style():
        figure, panels = plt.subplots(2, len(sets), figsize=(7.8, 6.4), squeeze=False)
        for column, data in enumerate(sets):
            for axes, view in zip(panels[:, column], (views[data], LIMITED)):
                for name, look in figures.looks(NAMES).items():
                    chosen = select(found, data=data, view=view, schedule=name).sort_values("n")
                    bars = 2 * chosen["standard_error"]
                    axes.errorbar(chosen["n"], chosen["risk"], bars, label=NAMES[name], ms=4, **look)
                figures.log_axes(axes, "$n$", RISK)
                figures.few_decades(axes)
                axes.set_title(f"{data.split(',')[0]},\n{view}")
        figure.legend(*panels[0, 0].get_legend_handles_labels(), ncols=5, loc="outside lower center")
    named = "**Figure 8, re-computed.**" if set(sets) == set(rows["asked"]) else "**Schedules on stand-ins.**"
    return Plate(
        figure,
        caption=(
            f"{named} Held-out risk of each schedule at $c$, $\\rho$ of the figure, its other hyper-parameters chosen "
            f"on the other half of the seeds; bars are two standard errors. Below: features limited at {LIMIT:g} "
            f"standard deviations. At the largest $n$, {_ends(found, sets, views)}. {_behind(table, sets, views)}"
        ),
    )


def _behind(table: pd.DataFrame, sets: list[str], views: dict[str, str]) -> str:
    """Seed by seed: where the harmonic schedule leads all others, and where another is better, or next to it."""
    cases = _cases(sets, views)
    rows = pd.concat([margins(table, data, view).assign(data=data, view=view) for data, view in cases])
    places = [group for _, group in rows.groupby(["data", "view", "n"])]
    if not places:
        return ""
    lead = f"Compared seed by seed, the harmonic one is lowest beyond the errors in {leads(places)} of {len(places)}"
    found = rows[rows["behind"].astype(bool)]
    if len(found):
        return f"{lead} cases; it is behind {listed(_better(row) for _, row in found.iterrows())}."
    asked = np.array([student(CONSISTENT, seeds) for seeds in rows["seeds"]])
    passed = np.log(rows["quotient"].to_numpy(float)) / rows["standard_error"].to_numpy(float)
    nearest = int(np.nanargmax(passed / asked))
    return (
        f"{lead} cases, and no other is lower than it beyond the errors. The closest is {_better(rows.iloc[nearest])}: "
        f"{plain(passed[nearest])} standard errors, where {plain(asked[nearest])} are needed."
    )


def _better(row: pd.Series) -> str:
    """Which schedule is below the harmonic one, where, and by how much."""
    error = row["quotient"] * row["standard_error"]
    return (
        f"{NAMES[row['schedule']]} on {row['data'].split(',')[0]}, {row['view']}, $n={int(row['n'])}$, by a factor "
        f"{measured(row['quotient'], error)}"
    )


def _ends(found: pd.DataFrame, sets: list[str], views: dict[str, str]) -> str:
    """Which schedule is lowest at the largest n, by data set and view."""
    texts = []
    for data, view in _cases(sets, views):
        rows = select(found, data=data, view=view)
        if len(rows):
            last = rows[rows["n"] == rows["n"].max()].set_index("schedule")["risk"]
            texts.append(
                f"on {data.split(',')[0]}, {view}, {NAMES[str(last.idxmin())]} is lowest at {compact(last.min())}"
            )
    return listed(texts)


def _cases(sets: list[str], views: dict[str, str]) -> list[tuple[str, str]]:
    """The panels: each data set with its own view, then with limited features."""
    return [(data, view) for data in sets for view in (views[data], LIMITED)]
