"""What the page on 20 Newsgroups answers, and its figures of excess risk."""

from __future__ import annotations

from collections.abc import Callable

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from costofprivacy.experiments.noisyhead.newsgroups import judging
from costofprivacy.experiments.noisyhead.newsgroups.readings import HIGH, TOKENS
from costofprivacy.experiments.noisyhead.newsgroups.runs import BEST_HEAD, DESCENT, LINEAR, NOUGHT, PRIVATE, RIDGE
from costofprivacy.experiments.noisyhead.newsgroups.shapes import BEST
from costofprivacy.judging.prose import along, compact, percent, plain, span
from costofprivacy.judging.tables import Tables, select
from costofprivacy.judging.vocabulary import CONSISTENT
from costofprivacy.noisyhead.accounts import EVERY
from costofprivacy.showing import figures
from costofprivacy.showing.plates import Plate

STEPS = "steps $T$"
BARS = "Bars: two standard errors over the draws of prompts."
PRINTED, EXACT, PLAIN = "NoisyHead,\nAlgorithm 1", "NoisyHead,\ncounted exactly", "no noise"
ENDS = {  # of what foretells lengths
    NOUGHT: "answering 0",
    f"{PRIVATE}, {BEST}": "NoisyHead",
    RIDGE: "Γ*",
    BEST_HEAD: "best ridge head",
    LINEAR: "linear model",
}
VARIED = {"its standardised logarithm": "the logarithm of the length"}  # all other forms are multiples of the length
SHORT = {
    "posts of one group": "one group",
    "paragraphs used once": "paragraphs",
    "over its standard deviation": "over its s.d.",
    "its standardised logarithm": "logarithm",
    "as TF-IDF gives them": "norm kept",
    "section 6.1 in low dimension": "section 6.1",
}


def answer(tables: Tables) -> str:
    """At most sixty words, computed."""
    shapes, data = tables["shapes"], tables["data"].iloc[0]
    printed = judging.as_printed(shapes)
    seen = judging.has_shape(printed)
    exact = judging.own(shapes, "account").set_index("account").loc[EVERY]
    turn = "rises in the end as well" if judging.worsens(exact) else f"falls until $T = {exact['best_T']}$"
    ahead = beyond_the_mean(tables["test-error"])
    better = f"In {ahead.sum()} of {len(ahead)} readings a private head is" if ahead.any() else "No private head is"
    top = tables["scores"].loc[tables["scores"]["explained"].idxmax()]
    return (
        f"On {data['name']} Figure 6's shape comes out in {seen.sum()} of {len(seen)} readings of section 7. With the "
        f"same budget counted exactly, the figure's risk {turn}. {better} better, beyond the errors, than always "
        f"answering the mean length. The scores alone foretell up to {percent(top['explained'])} of the variance of "
        f"{VARIED.get(top['length'], 'the length')}."
    )


def beyond_the_mean(errors: pd.DataFrame) -> pd.Series:
    """In each reading: is the private head, at its best number of steps, better than the mean, beyond the errors?"""
    rows = select(errors, method=f"{PRIVATE}, {BEST}")
    rows = rows[np.isfinite(rows["gain"]) & np.isfinite(rows["gain_error"])]
    return rows["gain"] > CONSISTENT * rows["gain_error"]


def figure_errors(errors: pd.DataFrame) -> dict[str, pd.Series]:
    """The rows of the figure's own reading and recipe by method."""
    first = errors.iloc[0]
    own = select(errors, **{name: first[name] for name in ("prompts", "length", "features", "clip", "recipe")})
    return {row["method"]: row for _, row in own.iterrows()}


def curve(curves: pd.DataFrame, **other: object) -> pd.DataFrame:
    """NoisyHead's rows in the figure's reading, but for some choices."""
    first = curves[curves["method"] == PRIVATE].iloc[0]
    own = {name: first[name] for name in (*judging.CHOICES, "account")}
    return select(curves, **(own | other), method=PRIVATE).sort_values("T")


def draw_figure_6(curves: pd.DataFrame, errors: pd.DataFrame) -> Plate:
    """Left: excess risk by T, in Algorithm 1's account and exactly. Right: what each foretells of the lengths."""
    runs = {PRINTED: curve(curves), EXACT: curve(curves, account=EVERY)}
    first = runs[PRINTED].iloc[0]
    reading = {name: first[name] for name in ("prompts", "length", "features", "clip", "recipe")}
    runs[PLAIN] = select(curves, **reading, start=first["start"], method=DESCENT).sort_values("T")
    zero = select(curves, **reading, method=NOUGHT)["excess_risk"].iloc[0]
    with figures.style():
        figure, panels = plt.subplots(1, 2, figsize=(9.2, 3.9))
        for (label, rows), look in zip(runs.items(), figures.looks(runs).values(), strict=True):
            figures.points(panels[0], rows, "T", "excess_risk", label=label, **look)
        panels[0].plot(runs[PLAIN]["T"], np.full(len(runs[PLAIN]), zero), "k:", label="answering 0")
        panels[0].set(yscale="log", xlabel=STEPS, ylabel="excess risk over $\\Gamma^*$")
        told = _draw_ends(panels[1], figure_errors(errors))
        figures.end_labels(panels[0])
    return Plate(figure, *_words_on_figure_6(runs, zero, told))


def _draw_ends(axes: Axes, found: dict[str, pd.Series]) -> str:
    """What each end foretells of the lengths' variance, with its bar; returns the same in words."""
    rows = [found[method] for method in ENDS]
    places = np.arange(len(rows))[::-1]
    bars = [2 * row["gain_error"] for row in rows]
    axes.errorbar([row["gain"] for row in rows], places, xerr=bars, fmt="o", capsize=2)
    axes.axvline(0, color="0.35", ls=":", lw=1)
    axes.set_yticks(places, list(ENDS.values()))
    axes.set(xlabel="share of the variance foretold", ylabel="predictor", ylim=(-0.6, len(rows) - 0.4))
    return ", ".join(f"{percent(row['gain'])} ({name})" for row, name in zip(rows, ENDS.values(), strict=True))


def _words_on_figure_6(runs: dict[str, pd.DataFrame], zero: float, told: str) -> tuple[str, str]:
    """Caption and alternative text of `draw_figure_6`."""
    printed, exact, descent = (runs[name] for name in (PRINTED, EXACT, PLAIN))
    best = {name: rows.loc[rows["excess_risk"].idxmin()] for name, rows in runs.items()}
    caption = (
        f"**Figure 6, in the first of our readings.** Left: NoisyHead's excess risk {along(printed, 'excess_risk')}, "
        f"with its least, {compact(best[PRINTED]['excess_risk'])}, at $T = {best[PRINTED]['T']}$. With the same budget "
        f"counted exactly it {along(exact, 'excess_risk')}. Without noise it {along(descent, 'excess_risk')}; "
        f"answering 0 has {compact(zero)}. Right: the share of the lengths' variance that is foretold beyond their "
        f"mean: {told}. {BARS}"
    )
    alt = (
        f"For T of {span(printed['T'])}. Excess risk, Algorithm 1: {along(printed, 'excess_risk', plain)}, least at "
        f"T = {best[PRINTED]['T']}. Counted exactly: {along(exact, 'excess_risk', plain)}. No noise: "
        f"{along(descent, 'excess_risk', plain)}. Answering 0: {plain(zero)}. Share of the variance foretold: {told}."
    )
    return caption, alt


PANELS = {
    "prompts": "prompts made of",
    "length": "length taken",
    "recipe": "hyperparameters of",
    "epsilon": r"budget $\varepsilon$",
}
HIDDEN = (TOKENS, HIGH)  # a curve too many for a panel; the table has them


def draw_readings(curves: pd.DataFrame) -> Plate:
    """One choice at a time from the figure's: excess risk over that at the first T."""
    with figures.style():
        figure, panels = plt.subplots(2, 2, figsize=(9.2, 7.0))
        told = {name: _draw_choice(axes, curves, name) for axes, name in zip(panels.flat, PANELS, strict=True)}
        for axes in panels.flat:
            axes.minorticks_off()
            figures.end_labels(axes)
    caption = (
        "**One open choice at a time**, at every other $T$. NoisyHead's excess risk over that at the fewest steps, all "
        "other choices as in the first figure; below 1, further steps help. At the last $T$ it is: "
        + "; ".join(f"{PANELS[name]} {_spoken(ends, compact)}" for name, ends in told.items())
        + f". {BARS}"
    )
    alt = "Risk at the last T over that at the first. " + " ".join(
        f"{_words(PANELS[name])} {_spoken(ends, plain)}." for name, ends in told.items()
    )
    return Plate(figure, caption, alt)


def _draw_choice(axes: Axes, curves: pd.DataFrame, name: str) -> dict[str, float]:
    """The curves of one choice; returns where each ends."""
    first = curves[curves["method"] == PRIVATE].iloc[0]
    like = {column: first[column] for column in (*judging.CHOICES, "account") if column != name}
    rows = select(curves, **like, method=PRIVATE)
    values = [value for value in dict.fromkeys(rows[name]) if value not in HIDDEN]
    ends = {}
    for value, look in zip(values, figures.looks(values).values(), strict=True):
        own = rows[rows[name] == value].sort_values("T")
        own = own.iloc[sorted({*range(0, len(own), 2), len(own) - 1})]
        start = own["excess_risk"].iloc[0]
        own = own.assign(excess_risk=own["excess_risk"] / start, standard_error=own["standard_error"] / start)
        label = f"{value:g}" if isinstance(value, float) else SHORT.get(value, value)
        figures.points(axes, own, "T", "excess_risk", label=label, **look)
        ends[label] = float(own["excess_risk"].iloc[-1])
    axes.axhline(1, color="0.35", ls=":", lw=1)
    axes.set(yscale="log", xlabel=STEPS, ylabel="risk over that at the first $T$", title=PANELS[name])
    return ends


def _spoken(ends: dict[str, float], tell: Callable[[float], str]) -> str:
    return ", ".join(f"{tell(value)} ({label})" for label, value in ends.items())


def _words(title: str) -> str:
    return title.replace(r"$\varepsilon$", "epsilon").capitalize()
