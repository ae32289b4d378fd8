"""Figures and tables on rows, seeds and equations for the page on real data of arXiv:2505.16329v2."""

from __future__ import annotations

import itertools
import math

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from costofprivacy.experiments.dpgd.real_data.maps import BLOWN, PLACE
from costofprivacy.experiments.dpgd.real_data.problem import LIMIT
from costofprivacy.experiments.dpgd.real_data.verdicts_rows import fractions
from costofprivacy.judging.prose import measured, percent, plain
from costofprivacy.judging.tables import select
from costofprivacy.showing import figures
from costofprivacy.showing.plates import Plate

CAP = 0.6  # of the paper's maps: risks above it are not compared
TICKS = (0.05, 0.1, 0.2, 0.3, 0.4)
LEARNT = 0.4  # risks below it are told apart from the risk of answering 0


def show_rows(rows: pd.DataFrame) -> pd.DataFrame:
    """What the rows are like, by data set and n: means over the seeds, medians where rare values rule."""
    groups = rows.groupby(["data", "n"], sort=False)
    shown = pd.DataFrame(
        {
            "test rows": groups["test_rows"].first().map(int).map(str),
            "features": groups["d"].first().map(str),
            "that vary": groups["live"].agg(lambda v: _range(v.min(), v.max())),
            "of variance ½ to 2": groups["unit_variance"].agg(lambda v: _range(v.min(), v.max())),
            "tr Σ": groups["trace"].agg(lambda v: _range(v.min(), v.max())),
            "median of ‖x‖²": groups["typical"].agg(lambda v: _range(v.min(), v.max())),
            "risk of answering 0": groups["trivial"].mean().map(plain),
            "least linear risk": groups["floor"].mean().map(plain),
        }
    )
    return shown.rename_axis(["data set", "n"])


def _range(low: float, high: float) -> str:
    return plain(low) if plain(low) == plain(high) else f"{plain(low)} to {plain(high)}"


def show_treatments(table: pd.DataFrame) -> pd.DataFrame:
    """What becomes of the map's best place where constant pixels are treated otherwise."""
    rows = {}
    for name, group in table.groupby("treatment", sort=False):
        rows[name] = {
            "mean of ‖x‖²": _range(group["trace"].min(), group["trace"].max()),
            "median of ‖x‖²": _range(group["typical"].min(), group["typical"].max()),
            "best c·η̃(0)": plain(float((group["c"] * group["eta0"]).iloc[0])),
            "least risk": measured(group["risk"].mean(), group["risk"].sem()),
            "median over seeds": plain(float(group["risk"].median())),
        }
    return pd.DataFrame(rows).T.rename_axis("a pixel that is constant where it is normalised")


# ------------------------------------------------------------------------------------------------------- seeds


def draw_seeds(table: pd.DataFrame) -> Plate:
    """Every seed: its risk against the largest feature among its held-out rows, and with limited features."""
    sizes = sorted(table["normalisation"].unique())
    own = sizes[len(sizes) // 2]
    rows = table[table["normalisation"] == own]
    data = str(table["data"].iloc[0])
    found = fractions(rows)
    with figures.style():
        counts = sorted(rows["n"].unique())
        figure, panels = plt.subplots(1, len(counts), figsize=(7.8, 3.6), sharey=True, squeeze=False)
        looks = list(figures.looks(["raw", "limited"]).values())
        for axes, n in zip(panels[0], counts):
            group = rows[rows["n"] == n]
            columns = {"risk": "features as they are", "limited": "features limited"}
            for (name, label), look in zip(columns.items(), looks):
                axes.plot(group["largest"], group[name], ls="", ms=3, label=label, rasterized=True, **look)
            axes.axhline(BLOWN, color="0.35", ls="--", lw=1)
            figures.log_axes(axes, "largest feature of a held-out row", r"$\mathcal{P}(\theta^p)$ (units of $y^2$)")
            axes.set_title(f"$n = {n}$")
        figure.legend(*panels[0, 0].get_legend_handles_labels(), ncols=2, loc="outside lower center")
    told = "; ".join(f"n {int(row['n'])}: {percent(row['share'])} of the seeds" for _, row in found.iterrows())
    explained = [value for value in found["explained"] if not math.isnan(value)]
    carried = f" In them the worst 0.2 % of the rows carry {_percents(explained)} of the loss." if explained else ""
    seeds = int(rows.groupby("n").size().min())
    return Plate(
        figure,
        caption=(
            f"**Every seed.** {data}, output perturbation, {seeds} shuffles for each $n$; a point is one shuffle, so "
            f"no error is drawn. Above the dashed line, at {BLOWN:g}, a seed counts as blown up: {told}.{carried} With "
            f"features limited at {LIMIT:g} standard deviations the largest risk is {plain(rows['limited'].max())}."
        ),
        alt=(
            f"{data}. Shares of seeds with a risk above {plain(BLOWN)}: {told}. Largest risk "
            f"{plain(rows['risk'].max())}; with limited features {plain(rows['limited'].max())}."
        ),
    )


def _percents(values: list[float]) -> str:
    low, high = percent(min(values)), percent(max(values))
    return low if low == high else f"{low} to {high}"


def show_seeds(table: pd.DataFrame) -> pd.DataFrame:
    """By n and number of normalisation rows: how many seeds blow up, and what distinguishes them."""
    found = fractions(table)
    shown = pd.DataFrame(
        {
            "n": found["n"].map(int),
            "rows that normalise": found["normalisation"].map(int),
            "seeds that blow up": [measured(s, e) for s, e in zip(found["share"], found["standard_error"])],
            "their typical error, over the others'": found["typical"].map(_or_dash),
            "their training risk, over the others'": found["training"].map(_or_dash),
            "loss in the worst 0.2 % of rows": found["explained"].map(lambda v: "–" if math.isnan(v) else percent(v)),
            "largest feature, median": found["feature_out"].map(_or_dash),
            "the others'": found["feature_in"].map(_or_dash),
            "largest risk": found["worst"].map(plain),
            "features limited": found["worst_limited"].map(plain),
        }
    )
    return shown.set_index(["n", "rows that normalise"])


def _or_dash(value: float) -> str:
    return "–" if math.isnan(value) else plain(value)


# ------------------------------------------------------------------------------------------------------- equations


def compared(equations: pd.DataFrame, remedy: pd.DataFrame, *maps: pd.DataFrame) -> pd.DataFrame:
    """Each place of the maps: the measured risk, and both risks by the equations; all below the cap of the maps.

    Measured is the median over seeds where features are as they are, and the mean over seeds where they are limited.
    """
    raw = pd.concat([table.groupby(PLACE)["risk"].median().reset_index() for table in maps])
    safe = remedy[[*PLACE, "risk"]]
    parts = [
        measured.merge(equations[equations["limit"].isin(limits)], on=PLACE)
        for measured, limits in ((raw, [math.inf]), (safe, [LIMIT]))
    ]
    rows = pd.concat(parts, ignore_index=True)
    return rows[(rows[["risk", "printed", "typical"]] < CAP).all(axis=1)]


def draw_equations(equations: pd.DataFrame, remedy: pd.DataFrame, mnist: pd.DataFrame, housing: pd.DataFrame) -> Plate:
    """Measured risks against those of the deterministic equivalent that is fed the data's spectrum."""
    rows = compared(equations, remedy, mnist, housing)
    sets = list(dict.fromkeys(equations["data"]))
    forms = {"printed": r"$\|x\|^2 = d$, as printed", "typical": r"$\|x\|^2$ its median"}
    with figures.style():
        figure, panels = plt.subplots(2, len(sets), figsize=(7.8, 7.0), squeeze=False, dpi=80)
        for axes, (limit, data) in zip(panels.ravel(), itertools.product((math.inf, LIMIT), sets)):
            part = select(rows, data=data, limit=limit)
            part = part[part["risk"] < LEARNT]
            for (name, look), label in zip(figures.looks(forms).items(), forms.values()):
                axes.plot(part[str(name)], part["risk"], ls="", ms=2, label=label, rasterized=True, **look)
            ends = [part["risk"].min() * 0.9, LEARNT]
            axes.plot(ends, ends, color="0.35", ls="--", lw=1)
            figures.log_axes(axes, r"$\mathcal{P}$ by the equations", r"$\mathcal{P}$ measured")
            for axis in (axes.xaxis, axes.yaxis):
                axis.set_ticks(TICKS, [f"{tick:g}" for tick in TICKS])
            axes.minorticks_off()
            axes.set_title(f"{data.split(',')[0]}, {_treated(limit)}")
        figure.legend(*panels[0, 0].get_legend_handles_labels(), ncols=2, loc="outside lower center")
    told = [
        f"on {data.split(',')[0]}, {_treated(limit)}, {_off(rows, data, limit, 'printed')} as printed and "
        f"{_off(rows, data, limit, 'typical')} with the median"
        for limit, data in itertools.product((math.inf, LIMIT), sets)
    ]
    return Plate(
        figure,
        caption=(
            "**The deterministic equivalent, fed the spectrum of the data.** A point is a place of the maps where less "
            f"than {LEARNT:g} is measured and less than {CAP:g} solved; dashed: equality. Measured is the median seed "
            f"above, the mean of the seeds below. The median relative distance is {'; '.join(told)}. Points of a map "
            "share their rows: they err together."
        ),
        alt=f"Median relative distance of measured risks from the equations': {'; '.join(told)}.",
    )


def _treated(limit: float) -> str:
    return "features as they are" if math.isinf(limit) else "features limited"


def _off(rows: pd.DataFrame, data: str, limit: float, column: str) -> str:
    """The median relative distance at the places of a data set where something is learnt, in words."""
    part = select(rows, data=data, limit=limit)
    part = part[part["risk"] < LEARNT]
    return percent(float(np.median(np.abs(part["risk"] / part[column] - 1)))) if len(part) else "nothing to tell"
