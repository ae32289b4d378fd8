"""Can NoisyHead learn the length of a news article in private, and is it best stopped early?"""

import numpy as np
import pandas as pd

from chapters.noisyhead.newsgroups import judge
from chapters.noisyhead.newsgroups.measure import (
    BEST,
    BEST_HEAD,
    DESCENT,
    LAST_STEP,
    LINEAR,
    NO_DATA,
    NOUGHT,
    PRIVATE,
    RIDGE,
)
from companion.judging.prose import along, compact, listed, percent, span, with_errors
from companion.judging.tables import Tables, select
from companion.judging.vocabulary import CONSISTENT
from companion.showing import figures
from companion.showing.plates import Plate
from costofprivacy.noisyhead.accounts import ALGORITHM, EVERY

STEPS = "steps $T$"
BARS = "Bars: two standard errors over the draws of prompts."
ENDS = {  # of what foretells lengths
    NOUGHT: "predicting 0",
    f"{PRIVATE}, {BEST}": "NoisyHead",
    RIDGE: "Γ*",
    BEST_HEAD: "best ridge head",
    LINEAR: "linear model",
}
SHORT = {
    "posts of one group": "one group",
    "paragraphs used once": "paragraphs",
    "over its standard deviation": "over its s.d.",
    "its standardised logarithm": "logarithm",
    "as TF-IDF gives them": "norm kept",
    "section 6.1 in low dimension": "section 6.1",
}
HEADS = {f"{PRIVATE}, {BEST}": "NoisyHead, best $T$", BEST_HEAD: "best ridge head", LINEAR: "linear model of the query"}
TINY = {"posts of one group": "group", "its standardised logarithm": "log", "as TF-IDF gives them": "norm"}
WORST = -0.5  # a share of the variance below which a point is drawn at the edge


def curve(curves: pd.DataFrame, **other: object) -> pd.DataFrame:
    """NoisyHead's rows in the figure's reading, but for some choices."""
    first = curves[curves["method"] == PRIVATE].iloc[0]
    own = {name: first[name] for name in (*judge.CHOICES, "account")}
    return select(curves, **(own | other), method=PRIVATE).sort_values("T")


def caption_figure_6(tables: Tables) -> str:
    """What Figure 6, re-run, shows."""
    curves = tables["figure-6"]
    printed, exact = curve(curves), curve(curves, account=EVERY)
    reading = {name: printed.iloc[0][name] for name in judge.READING}
    descent = select(curves, **reading, start=printed.iloc[0]["start"], method=DESCENT).sort_values("T")
    zero = select(curves, **reading, method=NOUGHT)["excess_risk"].iloc[0]
    errors = judge.figure_errors(tables["test-error"])
    told = ", ".join(f"{percent(errors[method]['gain'])} ({name})" for method, name in ENDS.items())
    least, last = printed.loc[printed["excess_risk"].idxmin()], printed.iloc[-1]
    turns = last["excess_risk"] > 2 * least["excess_risk"]
    head = f"NoisyHead's risk is least after {least['T']} steps" + (" and then rises steeply" if turns else "")
    better = exact["excess_risk"].idxmin() == exact.index[-1]
    return (
        f"**{head}{'; counted exactly, the same budget allows all the steps' if turns and better else ''}.** Left: "
        f"Figure 6, re-run with the first of our settings. NoisyHead's excess risk {along(printed, 'excess_risk')}; "
        f"with the same budget counted exactly it {along(exact, 'excess_risk')}. Without noise it "
        f"{along(descent, 'excess_risk')}; predicting 0 has {compact(zero)}. Right: the share of the variance of the "
        f"lengths that is explained beyond their mean: {told}. {BARS}"
    )


def draw_noise(parts: pd.DataFrame) -> Plate:
    """The growth of a step's variance by account, and of what steps of one size add up to."""
    curves = {f"a step, {account}": select(parts, account=account) for account in (ALGORITHM, EVERY)}
    grown = {label: rows["step_variance"] / rows["step_variance"].iloc[0] for label, rows in curves.items()}
    rows = curves[f"a step, {ALGORITHM}"]
    grown["adding up"] = rows["accumulated"] / rows["accumulated"].iloc[0]
    with figures.panels() as (figure, [axes]):
        for (label, values), look in zip(grown.items(), figures.looks(grown).values(), strict=True):
            axes.plot(rows["T"], values, label=label.replace(", ", ",\n"), **look)
        figures.log_axes(axes, STEPS, "variance over that at the first $T$")
    ends = {label: values.iloc[-1] for label, values in grown.items()}
    error = (rows["standard_error"] / rows["accumulated"]).max()
    printed, _, sums = ends.values()
    word = "more" if printed > sums else "less"
    told = "; ".join(f"{compact(value)} ({label})" for label, value in ends.items())
    head = f"With more steps each step's noise grows {word} than what equal steps add up to"
    caption = (
        f"**{head}.** The variance of one step's noise and what equal steps add up to, for $T$ of {span(rows['T'])}, "
        f"each over its value at the first $T$. At the last $T$: {told}. "
        f"The sums vary by at most {percent(error)} (one standard error) over the draws of prompts."
    )
    return Plate(figure, caption)


def draw_guarantee(spent: pd.DataFrame) -> Plate:
    """The exact ε of the released head for an article, by the number of its prompts and T."""
    most = int(spent["prompts_held"].max())
    held = sorted({1, 2, (most + 2) // 2, most})
    claimed = float(spent["claimed"].iloc[0])
    with figures.panels() as (figure, [axes]):
        for k, look in zip(held, figures.looks(held).values(), strict=True):
            rows = select(spent, prompts_held=k).sort_values("T")
            axes.plot(rows["T"], rows["last_iterate"], label="1 prompt" if k == 1 else f"{k} prompts", **look)
        axes.axhline(claimed, color="k", ls=":", lw=1)
        figures.log_axes(axes, STEPS, r"$\varepsilon$ spent on one article")
    ends = (spent["T"].min(), spent["T"].max())
    first, last = (select(spent, T=T).set_index("prompts_held")["last_iterate"] for T in ends)
    over = spent[spent["last_iterate"] > claimed]
    least = int(over["prompts_held"].min()) if len(over) else 0
    beyond = f"above the claim from {least} prompts on at some $T$" if least else "never above the claim"
    caption = (
        f"**The privacy loss of an article that is in several prompts is {beyond}.** It is counted exactly at the "
        f"claimed $\\delta$; dotted: the claimed $\\varepsilon = {claimed:g}$. An article in one prompt spends "
        f"{compact(first[1])} at $T = {ends[0]}$ and {compact(last[1])} at $T = {ends[1]}$, one in {most} prompts "
        f"{compact(first[most])} and {compact(last[most])}. Nothing here is estimated."
    )
    return Plate(figure, caption)


def draw_gains(errors: pd.DataFrame) -> Plate:
    """In each reading the share of the lengths' variance that heads and a linear model foretell beyond the mean."""
    names = ["prompts", "length", "features", "clip"]
    rows = {method: select(errors, method=method) for method in HEADS}
    best = {method: own.loc[own.groupby(names, sort=False)["gain"].idxmax()] for method, own in rows.items()}
    readings = list(errors[names].drop_duplicates().itertuples(index=False, name=None))
    with figures.panels(ends=False, figsize=(7.6, 5.2)) as (figure, [axes]):
        places = np.arange(len(readings))[::-1]
        for shift, ((method, own), look) in enumerate(zip(best.items(), figures.looks(best).values(), strict=True)):
            bars = np.where(own["gain"] < WORST, 0, 2 * own["gain_error"])
            at = places + 0.2 * (1 - shift)
            axes.errorbar(own["gain"].clip(WORST), at, xerr=bars, ls="", capsize=2, label=HEADS[method], **look)
        axes.axvline(0, color="0.35", ls=":", lw=1)
        axes.set_yticks(places, [_short(reading, readings[0]) for reading in readings])
        axes.set(xlabel="share of the variance explained", ylabel="settings")
        figure.legend(ncols=3, loc="outside lower center")
    private, linear = (percent(best[method]["gain"].max()) for method in (f"{PRIVATE}, {BEST}", LINEAR))
    top = listed(f"{percent(own['gain'].max())} ({HEADS[method]})" for method, own in best.items())
    caption = (
        f"**At best a private head explains {private} of the variance of an article's length, a linear model "
        f"{linear}.** Zero is always predicting the mean of the training lengths. Each head has the hyperparameters, "
        f"the number of steps or the penalty that are best on the test prompts. At most it is {top}. {BARS} What is "
        f"below {percent(WORST)} is drawn at the edge."
    )
    return Plate(figure, caption)


def _short(reading: tuple[object, ...], first: tuple[object, ...]) -> str:
    other = [value for value, own in zip(reading, first, strict=True) if value != own]
    if len(other) > 1:
        return " + ".join(TINY.get(str(value), str(value)) for value in other)
    (value,) = other or ["as in the figure"]
    return f"$C$ times {value:g}" if isinstance(value, float) else SHORT.get(str(value), str(value))


PREDICTORS = {
    NOUGHT: "predicting 0",
    RIDGE: r"$\Gamma^*$",
    NO_DATA: "head without data",
    BEST_HEAD: "best ridge head",
    f"{PRIVATE}, {BEST}": "NoisyHead, best $T$",
    f"{PRIVATE}, {LAST_STEP}": "NoisyHead, last $T$",
    f"{DESCENT}, {BEST}": "descent, best $T$",
    f"{DESCENT}, {LAST_STEP}": "descent, last $T$",
}


def show_counts(counts: pd.DataFrame) -> pd.DataFrame:
    """How many prompts each way of cutting gives."""
    if counts.empty:
        return pd.DataFrame({"": {"pieces": "there is no text to cut"}})
    long = counts["piece"] + " of " + counts["least_words"].astype(str) + " words and more"
    numbers = {
        "pieces": "number",
        "disjoint": "prompts that share none",
        "windows": "windows at the nearest stride",
        "wanted": "wanted",
    }
    articles = counts["piece"].where(counts["least_words"] == 1, long).rename("articles")
    shown = counts[list(numbers)].rename(columns=numbers).map(_whole)
    return shown.set_index([counts["removed"].rename("cut out"), articles])


def show_shapes(shapes: pd.DataFrame) -> pd.DataFrame:
    """Each open choice, one at a time from the figure's: where the risk is least, what going on costs, the shape."""
    printed = judge.as_printed(shapes)
    parts = []
    for name, words in judge.CHOICES.items():
        own = judge.own(printed, name)
        parts.append(own.assign(choice=words, value=own[name].map(judge.told)))
    rows = pd.concat(parts, ignore_index=True)
    shown = {
        "choice": rows["choice"],
        "value": rows["value"],
        "best $T$": rows["best_T"],
        "second risk over the first": (rows["second"] / rows["first"]).map(compact),
        "last over the least": (rows["last"] / rows["least"]).map(compact),
        "least over predicting 0": (rows["least"] / rows["zero"]).map(compact),
        "descent": np.where(judge.settles(rows), "settles", "does not settle"),
        "shape of Figure 6": np.where(judge.has_shape(rows), "yes", "no"),
    }
    return pd.DataFrame(shown).set_index(["choice", "value"])


def show_ends(errors: pd.DataFrame) -> pd.DataFrame:
    """Test errors in the figure's own reading, over that of the mean of the training lengths."""
    rows = pd.DataFrame(judge.figure_errors(errors).values())
    shown = {
        "predictor": rows["method"].map(lambda method: PREDICTORS.get(method, method)),
        "$T$": rows["T"].map(lambda T: str(T) if T else "–"),
        "test error": with_errors(rows, "test_error", "standard_error"),
        "share explained beyond the mean": with_errors(rows, "gain", "gain_error"),
    }
    return pd.DataFrame(shown).set_index("predictor")


def show_own_radii(own: pd.DataFrame) -> pd.DataFrame:
    """What one private step with radii of our own explains, by ε."""
    rows, told = own.sort_values("epsilon"), {"clip_norm": "$C$", "feature_bound": "$G$", "weight_bound": "$R$"}
    names = {"epsilon": r"$\varepsilon$"} | told | {"learning_rate": r"$\eta_0$"}
    shown = rows[list(names)].rename(columns=names)
    shown = shown.apply(lambda column: column.map(compact) if column.dtype == float else column)
    gained = with_errors(rows, "gain", "gain_error")
    return shown.assign(**{"share explained beyond the mean": gained}).set_index(r"$\varepsilon$")


def show_scores(scores: pd.DataFrame) -> pd.DataFrame:
    """The share of the length's variance that the scores explain, without heads and prompts."""
    shown = scores.assign(share=with_errors(scores, "explained", "standard_error")).pivot_table(
        index=["features", "length"], columns="model", values="share", aggfunc="first", sort=False
    )
    return shown.rename_axis(index=["scores", "length"], columns=None)


def _whole(value: float) -> str:
    return f"{value:,.0f}"


def answer(tables: Tables) -> list[str]:
    """What was found, and what the page does."""
    shapes, data = tables["shapes"], tables["data"].iloc[0]
    printed = judge.as_printed(shapes)
    seen = judge.has_shape(printed)
    exact = judge.own(shapes, "account").set_index("account").loc[EVERY]
    turn = "also rises in the end" if judge.worsens(exact) else f"falls until $T = {exact['best_T']}$"
    rows, own = select(tables["test-error"], method=f"{PRIVATE}, {BEST}"), tables["own-radii"].iloc[0]
    rows = rows[np.isfinite(rows["gain"]) & np.isfinite(rows["gain_error"])]
    ahead = rows["gain"] > CONSISTENT * rows["gain_error"]
    better = f"in {ahead.sum()} of {len(ahead)} settings a private head is" if ahead.any() else "no private head is"
    return [
        f"With the paper's hyperparameters {better} significantly better than the mean length; with smaller radii one "
        f"private step explains {percent(own['gain'])} of its variance.",
        f"On {data['name']} the shape of Figure 6 appears with the settings of Section 6.2 and with {seen.sum()} of "
        f"{len(seen)} settings in all: the risk first falls and then rises.",
        f"If the same budget is counted exactly, the risk {turn}.",
    ]
