"""Figures of the page on 20 Newsgroups about the noise, what it protects, and what the heads foretell."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from costofprivacy.experiments.noisyhead.newsgroups.pages import BARS, SHORT, STEPS
from costofprivacy.experiments.noisyhead.newsgroups.runs import BEST_HEAD, LINEAR, PRIVATE
from costofprivacy.experiments.noisyhead.newsgroups.shapes import BEST
from costofprivacy.judging.prose import compact, listed, percent, plain, span
from costofprivacy.judging.tables import select
from costofprivacy.noisyhead.accounts import ALGORITHM, EVERY
from costofprivacy.showing import figures
from costofprivacy.showing.plates import Plate

HEADS = {f"{PRIVATE}, {BEST}": "NoisyHead, best $T$", BEST_HEAD: "best ridge head", LINEAR: "linear model of the query"}
TINY = {"posts of one group": "group", "its standardised logarithm": "log", "as TF-IDF gives them": "norm"}
WORST = -0.5  # a share of the variance below which a point is drawn at the edge


def draw_noise(parts: pd.DataFrame) -> Plate:
    """The growth of a step's variance by account, and of what steps of one size add up to."""
    curves = {f"a step, {account}": select(parts, account=account) for account in (ALGORITHM, EVERY)}
    grown = {label: rows["step_variance"] / rows["step_variance"].iloc[0] for label, rows in curves.items()}
    rows = curves[f"a step, {ALGORITHM}"]
    grown["adding up"] = rows["accumulated"] / rows["accumulated"].iloc[0]
    with figures.style():
        figure, axes = plt.subplots()
        for (label, values), look in zip(grown.items(), figures.looks(grown).values(), strict=True):
            axes.plot(rows["T"].to_numpy(), values.to_numpy(), label=label.replace(", ", ",\n"), **look)
        figures.log_axes(axes, STEPS, "variance over that at the first $T$")
        figures.end_labels(axes)
    ends = {label: float(values.iloc[-1]) for label, values in grown.items()}
    error = float((rows["standard_error"] / rows["accumulated"]).max())
    steps = span(rows["T"])
    caption = (
        f"**Why the noise grows with $T$**, for $T$ of {steps}: the variance of one step's noise and what equal steps "
        "add up to, each over its value at the first $T$. At the last $T$: "
        + "; ".join(f"{compact(value)} ({label})" for label, value in ends.items())
        + f". The sums vary by at most {percent(error)} (one standard error) over the draws of prompts."
    )
    alt = f"For T of {steps}, growth: " + "; ".join(f"{label} {plain(value)}" for label, value in ends.items()) + "."
    return Plate(figure, caption, alt)


def draw_guarantee(spent: pd.DataFrame) -> Plate:
    """The exact ε of the released head for an article, by the number of its prompts and T."""
    most = int(spent["prompts_held"].max())
    held = sorted({1, 2, (most + 2) // 2, most})
    claimed = float(spent["claimed"].iloc[0])
    with figures.style():
        figure, axes = plt.subplots()
        for k, look in zip(held, figures.looks(held).values(), strict=True):
            rows = select(spent, prompts_held=k).sort_values("T")
            axes.plot(rows["T"], rows["last_iterate"], label="1 prompt" if k == 1 else f"{k} prompts", **look)
        axes.axhline(claimed, color="k", ls=":", lw=1)
        figures.log_axes(axes, STEPS, r"$\varepsilon$ spent on one article")
        figures.end_labels(axes)
    ends = (spent["T"].min(), spent["T"].max())
    first, last = (select(spent, T=T).set_index("prompts_held")["last_iterate"] for T in ends)
    over = spent[spent["last_iterate"] > claimed]
    least = int(over["prompts_held"].min()) if len(over) else 0
    beyond = f"above the claim from {least} prompts on at some $T$" if least else "never above the claim"
    caption = (
        f"**What the noise protects**, counted exactly at the claimed $\\delta$; dotted: the claimed "
        f"$\\varepsilon = {claimed:g}$. An article in one prompt costs {compact(first[1])} at $T = {ends[0]}$ and "
        f"{compact(last[1])} at $T = {ends[1]}$, one in {most} prompts {compact(first[most])} and "
        f"{compact(last[most])}: {beyond}. Nothing here is estimated."
    )
    alt = (
        f"Claimed {plain(claimed)}. First T: {plain(first[1])} for one prompt, {plain(first[most])} for {most}. "
        f"Last T: {plain(last[1])} and {plain(last[most])}."
    )
    return Plate(figure, caption, alt)


def draw_gains(errors: pd.DataFrame) -> Plate:
    """In each reading the share of the lengths' variance that heads and a linear model foretell beyond the mean."""
    names = ["prompts", "length", "features", "clip"]
    readings = list(errors[names].drop_duplicates().itertuples(index=False, name=None))
    best = {method: [_best(errors, names, reading, method) for reading in readings] for method in HEADS}
    with figures.style():
        figure, axes = plt.subplots(figsize=(7.6, 5.2))
        places = np.arange(len(readings))[::-1]
        for shift, ((method, rows), look) in enumerate(zip(best.items(), figures.looks(best).values(), strict=True)):
            gain = np.array([row["gain"] for row in rows])
            bars = np.where(gain < WORST, 0, [2 * row["gain_error"] for row in rows])
            axes.errorbar(np.maximum(gain, WORST), places + 0.2 * (1 - shift), xerr=bars, ls="", capsize=2,
                          label=HEADS[method], **look)  # fmt: skip
        axes.axvline(0, color="0.35", ls=":", lw=1)
        axes.set_yticks(places, [_short(reading, readings[0]) for reading in readings])
        axes.set(xlabel="share of the variance foretold", ylabel="reading")
        figure.legend(ncols=3, loc="outside lower center")
    top = {method: max(row["gain"] for row in rows) for method, rows in best.items()}
    caption = (
        "**What is foretold of an article's length, in every reading.** Zero is answering the mean of the training "
        "lengths. Each head with the recipe, the number of steps or the penalty that is best on the test prompts. At "
        "most it is "
        + listed(f"{percent(value)} ({HEADS[method]})" for method, value in top.items())
        + f". {BARS} What is below {percent(WORST)} stands at the edge."
    )
    alt = f"{len(readings)} readings; at most: " + ", ".join(
        f"{percent(value)} {HEADS[method].replace('$', '')}" for method, value in top.items()
    )
    return Plate(figure, caption, alt + ".")


def _best(errors: pd.DataFrame, names: list[str], reading: tuple[object, ...], method: str) -> pd.Series:
    """The row with the largest share among the recipes."""
    rows = select(errors, **dict(zip(names, reading, strict=True)), method=method)
    return rows.loc[rows["gain"].idxmax()]


def _short(reading: tuple[object, ...], first: tuple[object, ...]) -> str:
    """A reading by what differs from the figure's own."""
    other = [value for value, own in zip(reading, first, strict=True) if value != own]
    if len(other) > 1:
        return " + ".join(TINY.get(str(value), str(value)) for value in other)
    return _shortest(other[0]) if other else "as in the figure"


def _shortest(value: object) -> str:
    return f"$C$ times {value:g}" if isinstance(value, float) else SHORT.get(str(value), str(value))
