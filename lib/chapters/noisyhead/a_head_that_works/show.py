"""How small can the price of a private linear head be, and when is pretraining one worth anything?"""

from collections.abc import Callable, Iterable
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from IPython.display import Markdown
from matplotlib.axes import Axes

from chapters.noisyhead.a_head_that_works import measure
from chapters.noisyhead.a_head_that_works.measure import (
    BEST,
    COVARIANCE,
    ISOTROPIC,
    LAST_TOKEN,
    METHODS,
    NO_DATA,
    NON_PRIVATE,
    PRIVATE,
    UNKNOWN,
    ZERO,
)
from companion.judging.prose import Sentences, checked, compact, listed, measured, percent, plain, span, with_errors
from companion.judging.tables import Tables, select
from companion.judging.vocabulary import CONSISTENT
from companion.showing import figures
from companion.showing.plates import Plate
from companion.showing.spoken import spoken

# ---- What the tables say, and in what words ----

TARGETS = {ISOTROPIC: 0.15, "unknown-10": 0.25}  # over the best non-private head, at the largest N and ε
NAMES = {
    PRIVATE: "private head",
    COVARIANCE: "covariance alone",
    LAST_TOKEN: "private head, last token asked",
    NON_PRIVATE: "least squares, no privacy",
    NO_DATA: "head without data",
    BEST: "best head",
    ZERO: "answering 0",
}
RUNGS = {
    LAST_TOKEN: "whitened, last token asked",
    PRIVATE: "whitened, every token asked",
    COVARIANCE: "covariance alone",
}
TASKS = {
    measure.ALIKE: "isotropic",
    measure.ALONG: "along the features",
    measure.AGAINST: "against the features",
    measure.UNEVEN: "uneven",
}


def title(covariance: str) -> str:
    """A covariance as a panel or a row has it."""
    return "isotropic" if covariance == ISOTROPIC else f"unknown, condition {covariance.removeprefix(UNKNOWN)}"


def readings_where(covariance: str) -> str:
    """A covariance as a sentence has it."""
    if covariance == ISOTROPIC:
        return "on isotropic prompts"
    return f"with an unknown covariance of condition number {covariance.removeprefix(UNKNOWN)}"


def rung(name: str) -> str:
    """A rung of the ladder, or an end of it."""
    return RUNGS.get(name) or NAMES.get(name, name)


def started(sentence: str) -> str:
    """With a capital letter, and nothing else changed."""
    return sentence[:1].upper() + sentence[1:]


def sentences(told: Iterable[str]) -> str:
    """Each as a sentence of its own."""
    return " ".join(f"{started(sentence)}." for sentence in told)


def plain_and_ill(tables: Tables) -> tuple[str, str]:
    """The covariance that the page begins with and one to hold against it, the same where there is one alone.

    Isotropic, where it was asked for, and the first that is not.
    """
    names = list(dict.fromkeys(tables["test-error"]["covariance"]))
    first = ISOTROPIC if ISOTROPIC in names else names[0]
    return first, next((name for name in names if name != first), first)


def corner(tables: Tables, covariance: str) -> pd.Series:
    """Test errors by method at the largest N and ε."""
    rows = select(tables["test-error"], covariance=covariance)
    rows = rows[(rows["N"] == rows["N"].max()) & (rows["epsilon"] == rows["epsilon"].max())]
    return rows.set_index("method")["test_error"]


def over_non_private(tables: Tables, covariance: str) -> float:
    """By what share the private head's test error exceeds the best non-private one's there."""
    row = corner(tables, covariance)
    return float(row[PRIVATE] / row[NON_PRIVATE] - 1)


def steps(tables: Tables, covariance: str, epsilon: float | None = None) -> pd.DataFrame:
    """The ladder at one ε, the largest if none is given, in order, with the rung's share of the gap that is left.

    The gap is from answering 0 to the best head.
    """
    rows = select(tables["ladder"], covariance=covariance)
    rows = select(rows, epsilon=rows["epsilon"].max() if epsilon is None else epsilon).set_index("rung")
    best = rows.loc[BEST, "test_error"]
    left = (rows["test_error"] - best) / (1.0 - best)
    return rows.assign(left=left)


def closed(tables: Tables, covariance: str, name: str) -> float:
    """The share of the gap that a change closes."""
    left = steps(tables, covariance)["left"]
    return float(left[measure.BEFORE[name]] - left[name])


def covariance_is_better(tables: Tables) -> pd.Series:
    """In each cell of the main table whether the covariance alone errs less than the private head."""
    rows = tables["test-error"]
    wide = rows.pivot(index=["covariance", "N", "epsilon"], columns="method", values="test_error")
    return wide[COVARIANCE] < wide[PRIVATE]


def readings_misled(tables: Tables) -> pd.DataFrame:
    """Where tasks are not isotropic, test errors by method, and by what factor the covariance alone errs more."""
    rows = tables["tasks"][tables["tasks"]["tasks"] != "isotropic"]
    wide = rows.pivot(index=["covariance", "tasks"], columns="method", values="test_error").reset_index()
    return wide.assign(factor=wide[COVARIANCE] / wide[PRIVATE])


def worth(area: pd.DataFrame, method: str = PRIVATE) -> pd.DataFrame:
    """The cells of the area with whether the method beats the head without data, beyond doubt, or loses to it."""
    rows = select(area, method=method)
    margin = CONSISTENT * rows["standard_error"]
    wins = rows["test_error"] + margin < rows["no_data"]
    return rows.assign(wins=wins, loses=rows["test_error"] - margin > rows["no_data"])


def won(area: pd.DataFrame, unknown: bool = True, method: str = PRIVATE) -> pd.Series:
    """Whether the method wins, in the cells with an unknown covariance, or in the isotropic ones."""
    rows = worth(area, method)
    return rows.loc[(rows["condition"] > 1) == unknown, "wins"]


def lost(area: pd.DataFrame, unknown: bool = True, method: str = PRIVATE) -> tuple[float, float]:
    """The share of these cells in which it loses, and the largest ratio of its error to that without data."""
    rows = worth(area, method)
    rows = rows[(rows["condition"] > 1) == unknown]
    return float(rows["loses"].mean()), float((rows["test_error"] / rows["no_data"]).max())


def rate_miss(rate: pd.DataFrame, method: str, covariance: str) -> float:
    """The largest factor between the fitted aγ + bγ²/ρ² and the excess."""
    rows = select(rate, method=method, covariance=covariance)
    ratio = rows["fitted"] / rows["excess"]
    return float(np.maximum(ratio, 1 / ratio).max())


def no_data_is_best(tables: Tables) -> bool:
    """Whether the head without data is the best head, on isotropic prompts."""
    row = corner(tables, ISOTROPIC)
    return bool(abs(row[NO_DATA] - row[BEST]) <= 1e-9)


LOOKS: dict[str, dict[str, Any]] = {
    PRIVATE: {"color": figures.COLOURS[0], "marker": "o"},
    COVARIANCE: {"color": figures.COLOURS[2], "marker": "D"},
    NON_PRIVATE: {"color": "black", "marker": "s"},
    NO_DATA: {"color": figures.COLOURS[3], "marker": "^"},
}


def caption_ladder(tables: Tables) -> str:
    """What each change of NoisyHead is worth."""
    parts, told = {name: steps(tables, name) for name in dict.fromkeys(plain_and_ill(tables))}, []
    for name, rows in parts.items():
        most = max(measure.BEFORE, key=lambda change: closed(tables, name, change))
        clipping = "" if most == measure.CLIPPED else f", clipping {percent(closed(tables, name, measure.CLIPPED))}"
        told.append(
            f"{readings_where(name)} “{most}” closes the largest part of the gap from 0 to the best head, "
            f"{percent(closed(tables, name, most))} of it{clipping}; the whitened descent leaves "
            f"{percent(float(rows.loc[PRIVATE, 'left']))}"
        )
    rows = next(iter(parts.values()))
    return (
        f"**{started(told[0])}.** {sentences(told[1:])} Changes are made one after the other, on the same prompts, at "
        f"$\\varepsilon = {rows['epsilon'].iloc[0]:g}$ and $N = {rows['N'].iloc[0]}$. Solid line: the best head; "
        f"dashed: the best head that uses no data; dotted: answering 0. {_bars(rows['trials'])}"
    )


def _bars(trials: pd.Series) -> str:
    return f"Bars are two standard errors over {span(trials)} trials."


def draw_curves(errors: pd.DataFrame) -> Plate:
    """Test error against N for each ε, in each covariance."""
    names = list(dict.fromkeys(errors["covariance"]))
    with figures.panels(len(names), figsize=(2.8 * len(names) + 0.8, 4.2)) as (figure, panels):
        for axes, name in zip(panels, names, strict=True):
            _draw_curves(axes, select(errors, covariance=name))
            axes.set_title(title(name))
    last = select(errors, N=errors["N"].max(), epsilon=errors["epsilon"].max())
    wide = last.pivot(index="covariance", columns="method", values="test_error")
    over, alone = (span(wide[method] / wide[NON_PRIVATE]) for method in (PRIVATE, COVARIANCE))
    caption = (
        f"**At the largest $N$ and $\\varepsilon$ the private head's error is {over} times that of least squares "
        f"without privacy, that of the covariance alone {alone} times.** Solid: the private head, for each "
        "$\\varepsilon$; dash-dotted, in the same colours: the covariance alone. Squares: least squares; triangles: "
        f"the best head that uses no data; thin line: the best head; dotted: answering 0. {_bars(errors['trials'])}"
    )
    return Plate(figure, caption)


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
    parts = {method: worth(area, method) for method in METHODS}
    every = sorted(area["condition"].unique())
    conditions = [k for k in every if k > 1] or [1.0]
    three = np.unique(np.linspace(0, len(conditions) - 1, 3).round().astype(int))
    shown = [conditions[i] for i in three]
    with figures.style():
        size = (2.85 * len(shown) + 0.6, 3.5 * len(parts))
        figure, panels = plt.subplots(len(parts), len(shown), figsize=size, squeeze=False)
        for row, (method, rows) in zip(panels, parts.items(), strict=True):
            for axes, condition in zip(row, shown, strict=True):
                _draw_map(axes, select(rows, condition=condition))
                axes.set_title(f"{NAMES[method]}, κ = {condition:g}")
    shares = []
    for method, rows in parts.items():
        wins = rows.groupby("condition")["wins"].mean().items()
        told = ", ".join(f"$\\kappa = {condition:g}$: {percent(share)}" for condition, share in wins)
        shares.append(f"Cells that the {NAMES[method]} wins: {told}.")
    said = " ".join(shares)
    kinds = {"with an unknown covariance": won(area), "on isotropic prompts": won(area, unknown=False)}
    where = listed(f"{percent(float(wins.mean()))} of the cells {kind}" for kind, wins in kinds.items() if len(wins))
    caption = (
        f"**The private head beats the head without data in {where}.** Each cell is the test error of a "
        "private head over that of the best head that uses no data and knows the eigenvalues. Circles: it wins, "
        f"beyond {CONSISTENT:g} standard errors; crosses: it loses. Shown are {len(shown)} of {len(every)} condition "
        f"numbers. {said} {area['trials'].iloc[0]} trials a cell."
    )
    return Plate(figure, caption, spoken(said))


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
            axes.set_title(title(name))
    misses = {name: rate_miss(rate, PRIVATE, name) for name in names}
    told, worst = ", ".join(f"{title(n)}: {compact(miss)}" for n, miss in misses.items()), max(misses.values())
    caption = (
        f"**DP-GD's rate, fitted, is off by up to a factor of {compact(worst)} for the private head.** Points: the "
        "excess over the best head, $L$ fixed. Lines: $a\\gamma + b\\gamma^2/\\rho^2$ with the best $a$ and $b$. The "
        f"largest factor between line and point is {told}. {_bars(rate['trials'])}"
    )
    return Plate(figure, caption)


# ---- Checked sentences, the same at every number of trials ----

Test = Callable[[Tables], bool]
MOST = 0.5  # of the gap, or of the cells


def statements(tables: Tables) -> Sentences:
    """What was found, of what was asked for alone."""
    return checked(tables, tuple((holds, yes, no) for asked, holds, yes, no in CHECKS if asked(tables)))


def _always(_: Tables) -> bool:
    return True


def _isotropic(tables: Tables) -> bool:
    return ISOTROPIC in set(tables["test-error"]["covariance"])


def _unknown(tables: Tables) -> bool:
    return bool(set(tables["test-error"]["covariance"]) - {ISOTROPIC})


def _near(name: str, share: float) -> tuple[Test, Test, str, str]:
    """Whether the private head comes within a share of least squares, of one covariance."""
    told = f"{started(readings_where(name))} the private head's test error at the largest size is"
    return (
        lambda t: name in set(t["test-error"]["covariance"]),
        lambda t: over_non_private(t, name) <= share,
        f"{told} at most {percent(share)} above that of least squares.",
        f"{told} more than {percent(share)} above that of least squares.",
    )


CHECKS: tuple[tuple[Test, Test, str, str], ...] = (  # where it is asked, whether it holds, and what is said
    *(_near(name, share) for name, share in TARGETS.items()),
    (
        _always,
        lambda t: bool(covariance_is_better(t).mean() > MOST),
        "Where tasks are isotropic, estimating the features' covariance alone has a smaller error than the private "
        "head.",
        "Where tasks are isotropic, estimating the features' covariance alone has no smaller error than the private "
        "head.",
    ),
    (
        _unknown,
        lambda t: bool((readings_misled(t)["factor"] > 1).any()),
        "Where tasks are not isotropic, there are cases in which the covariance alone has a larger error than the "
        "private head.",
        "Where tasks are not isotropic, the covariance alone has no larger error than the private head.",
    ),
    (
        _isotropic,
        no_data_is_best,
        "On isotropic prompts the best head is known before any prompt is seen.",
        "On isotropic prompts the head without data is not the best.",
    ),
    (
        _isotropic,
        lambda t: closed(t, ISOTROPIC, measure.UNCLIPPED) > closed(t, ISOTROPIC, measure.CLIPPED),
        "On isotropic prompts dropping the penalty and searching the bounds closes more of the gap than clipping "
        "each prompt's gradient.",
        "On isotropic prompts clipping each prompt's gradient closes more of the gap than dropping the penalty and "
        "searching the bounds.",
    ),
    (
        _isotropic,
        lambda t: bool(steps(t, ISOTROPIC)["left"][measure.LAST] > MOST),
        "Better accounting alone leaves most of the gap.",
        "Better accounting alone closes most of the gap.",
    ),
    (
        _unknown,
        lambda t: (
            (e := steps(t, plain_and_ill(t)[1])["test_error"])[measure.CLIPPED] < e[NO_DATA] <= e[measure.UNCLIPPED]
        ),
        "With an unknown covariance clipping each prompt's gradient beats the head without data, and the same descent "
        "within bounds does not.",
        "With an unknown covariance clipping each prompt's gradient does not decide whether a descent beats the head "
        "without data.",
    ),
    (
        lambda t: len(won(t["area"])) > 0,
        lambda t: bool(won(t["area"]).any()),
        "With an unknown covariance there are sizes at which private pretraining beats the head without data.",
        "With an unknown covariance private pretraining never beats the head without data.",
    ),
    (
        lambda t: len(won(t["area"], unknown=False)) > 0,
        lambda t: not won(t["area"], unknown=False).any(),
        "On isotropic prompts private pretraining never beats the head that uses no data.",
        "On isotropic prompts private pretraining beats the head that uses no data at some sizes.",
    ),
    (
        _always,
        lambda t: bool((t["poison"]["shift_over_noise"] <= t["poison"]["mu"]).all()),
        "One poisoned prompt moves the head by less than its privacy bound allows.",
        "One poisoned prompt moves the head by more than its privacy bound allows.",
    ),
)


WAYS = {measure.NOISY: "as it is", measure.QUIET: "without noise", measure.FREE: "and without clipped gradients"}


def show_ends(tables: Tables) -> pd.DataFrame:
    """Test errors at the largest N and ε: the four ends and the private heads between them."""
    columns, order = {}, (ZERO, NO_DATA, PRIVATE, COVARIANCE, NON_PRIVATE, BEST)
    for name in dict.fromkeys(tables["test-error"]["covariance"]):
        row, over = corner(tables, name), percent(over_non_private(tables, name))
        told = {NAMES[method]: plain(row[method]) for method in order}
        columns[title(name)] = told | {"private head over least squares": over}
    return pd.DataFrame(columns).rename_axis("at the largest $N$ and $\\varepsilon$")


def show_tasks(tasks: pd.DataFrame) -> pd.DataFrame:
    """Test errors where tasks are not isotropic."""
    names = {"covariance": tasks["covariance"].map(title), "tasks": tasks["tasks"].map(TASKS)}
    text = tasks.assign(text=with_errors(tasks, "test_error"), **names)
    wide = text.pivot(index=["covariance", "tasks"], columns="method", values="text")
    shown = {name: NAMES[name] for name in (BEST, NON_PRIVATE, PRIVATE, COVARIANCE)}
    return wide[list(shown)].rename(columns=shown).rename_axis(index=["features", "tasks"], columns=None)


def show_poison(poison: pd.DataFrame) -> pd.DataFrame:
    """What one poisoned prompt does to the private head and to least squares."""
    return pd.DataFrame(
        {
            "features": poison["covariance"].map(title),
            "the poisoned prompt": poison["attack"],
            "size": poison["size"].map("{:g}".format),
            "private: test error": poison["clean"].map(plain),
            "its change": with_errors(poison, "change"),
            "shift over noise": poison["shift_over_noise"].map(plain),
            "bound $\\mu$": poison["mu"].map(plain),
            "least squares: test error": poison["plain_clean"].map(plain),
            "poisoned": poison["plain_poisoned"].map(plain),
        }
    ).set_index(["features", "the poisoned prompt"])


NEAR = 2.0  # a rate with two fitted constants that misses by more predicts nothing


def answer(tables: Tables) -> list[str]:
    """The result at the largest size, where pretraining is worth anything, and what the page does."""
    table, names = tables["test-error"], sorted(dict.fromkeys(tables["test-error"]["covariance"]), key=ISOTROPIC.__eq__)
    over = [percent(over_non_private(tables, name)) for name in names]
    rows = [corner(tables, name) for name in names]
    excess = [compact(float((row[PRIVATE] - row[BEST]) / (row[NON_PRIVATE] - row[BEST]))) for row in rows]
    known = ISOTROPIC in names and no_data_is_best(tables)
    return [
        f"At $\\varepsilon = {table['epsilon'].max():g}$, $N = {table['N'].max()}$ our head's test error is "
        f"{listed(over)} above that of least squares without privacy ({'; '.join(map(title, names))}). Its "
        f"excess over the best head is {listed(excess)} times as large.",
        *(["On isotropic prompts the head that uses no data beats both."] if known else []),
        *_worth(tables["area"]),
    ]


def _worth(area: pd.DataFrame) -> list[str]:
    """How often pretraining beats the head without data, and loses to it; nothing where none was asked for."""
    wins = won(area)
    if not len(wins):
        return []
    alone = float(won(area, method=COVARIANCE).mean())
    return [
        f"With an unknown covariance it beats the head without data in {percent(float(wins.mean()))} of cases and "
        f"loses in {percent(lost(area)[0])}. For isotropic tasks the covariance alone wins in {percent(alone)}."
    ]


def read_audit(audit: pd.DataFrame) -> Markdown:
    """Whether the mechanism is acquitted and each fault is found, by the way in which it asks."""
    above, told = (audit["found_epsilon"] > audit["exact_epsilon"]) | (audit["found_mu"] > audit["mu"]), []
    for every, rows in audit.assign(above=above).groupby("every_token", sort=False):
        found = rows.groupby("fault", sort=False)["above"].any()
        right, faults = bool(found.iloc[0]), found.iloc[1:]
        told.append(
            f"{'every token' if every else 'the last token alone'} asked, the mechanism is found "
            f"{'above' if right else 'below'} its claim, and {int(faults.sum())} of {len(faults)} faults above it"
        )
    least = percent(float(audit["least_deficit"].max()))
    return Markdown(
        f"With {'; with '.join(told)}. On neighbours that attain the sensitivity, noise that is {least} too small "
        "would be found with probability 90 %."
    )


def read_ladder(tables: Tables) -> Markdown:
    """What the ladder says of the start and of the end: NoisyHead as printed, and which tokens are best asked."""
    steps, case = tables["ladder"], ["covariance", "N", "epsilon"]
    wide = steps.pivot(index=case, columns="rung", values=["test_error", "standard_error"])
    error, spread = wide["test_error"], wide["standard_error"]
    more, margin = error[PRIVATE] - error[LAST_TOKEN], CONSISTENT * np.hypot(spread[PRIVATE], spread[LAST_TOKEN])
    printed = select(steps[steps["epsilon"] == steps["epsilon"].min()], rung=measure.PRINTED)
    errors = ", ".join(
        f"{measured(row.test_error, row.standard_error)} {readings_where(row.covariance)}"
        for row in printed.itertuples()
    )
    worse = more.index[more > margin]
    cases = [f"{readings_where(covariance)} at $\\varepsilon = {epsilon:g}$" for covariance, _, epsilon in worse]
    among = f" ({listed(cases)})" if cases else ""
    edges = steps[steps["rung"].isin(measure.SEARCHED)]["edge"]
    return Markdown(
        f"Always predicting 0 has error 1. At $\\varepsilon = {printed['epsilon'].iloc[0]:g}$ NoisyHead as printed has "
        f"error {errors}. Asking every token has a smaller error than asking the last one alone in "
        f"{int((more < -margin).sum())} of {len(more)} cases of the table *ladder*, and a larger one in "
        f"{len(worse)}{among}. A searched number is at an edge of its grid in {int(edges.sum())} of {len(edges)} cases."
    )


def read_area(area: pd.DataFrame) -> Markdown:
    """How often each head wins and loses, and by how much at worst."""
    told = []
    for method in METHODS:
        for unknown, kind in ((True, "with an unknown covariance"), (False, "on isotropic prompts")):
            wins = won(area, unknown, method)
            if len(wins):
                share, worst = lost(area, unknown, method)
                told.append(
                    f"{kind} the {NAMES[method]} wins {int(wins.sum())} of {len(wins)} cells and loses "
                    f"{round(share * len(wins))}, at worst with {compact(worst)} times the error without data"
                )
    rows = area[area["method"] == PRIVATE]
    more = int((rows["non_private"] > rows["no_data"]).sum())
    return Markdown(
        f"{sentences(told)} Least squares without privacy has a larger error than the head without "
        f"data in {more} of {len(rows)} cells."
    )


def read_tasks(tables: Tables) -> Markdown:
    """When to take which head."""
    fewer, misled = covariance_is_better(tables), readings_misled(tables)
    worst = misled.loc[misled["factor"].idxmax()]
    return Markdown(
        f"Where tasks are known to be isotropic, the covariance alone has a smaller error than the private head "
        f"in {int(fewer.sum())} of {len(fewer)} cells of the main table. Where they are not, its error is up to "
        f"{compact(worst['factor'])} times as large ({compact(worst[COVARIANCE])} against {compact(worst[PRIVATE])}, "
        f"{readings_where(worst['covariance'])}, tasks {TASKS[worst['tasks']]}). "
        '`PrivateHeadRegressor` is the private head; with `tasks="isotropic"` it is the covariance alone.'
    )


def read_poison(poison: pd.DataFrame) -> Markdown:
    """The bound that needs no normal law, and how near the attacks come to the other one."""
    share = float((poison["shift_over_noise"] / poison["mu"]).max())
    where = f"$N = {poison['N'].iloc[0]}$, $\\varepsilon = {poison['epsilon'].iloc[0]:g}$"
    return Markdown(
        f"At {where} no event's probability moves by more than "
        f"{percent(float(poison['probability_bound'].max()))}, whatever the prompt and whatever is released. These "
        f"attacks move the mean by at most {percent(share)} of what $\\mu$ allows."
    )


def read_rate(rate: pd.DataFrame) -> Markdown:
    """Whether the rate predicts each method, by the largest miss over the covariances, and how excesses end."""
    misses = {
        method: max(rate_miss(rate, method, name) for name in rate["covariance"].unique())
        for method in dict.fromkeys(rate["method"])
    }
    told = [
        f"{NAMES[m]}: {'yes' if miss <= NEAR else 'no'} (within a factor {plain(miss)})" for m, miss in misses.items()
    ]
    ends = []
    for name, rows in select(rate, epsilon=rate["epsilon"].max()).groupby("covariance", sort=False):
        excess = rows.pivot(index="N", columns="method", values="excess").iloc[-2:]
        (before, last), factors = excess.index, excess.iloc[1] / excess.iloc[0]
        ends.append(
            f"{readings_where(str(name))}, from $N = {before}$ to ${last}$ at "
            f"$\\varepsilon = {rows['epsilon'].iloc[0]:g}$, the private head's excess changes by a factor "
            f"{compact(factors[PRIVATE])}, that of least squares by {compact(factors[NON_PRIVATE])}"
        )
    return Markdown(f"Does it predict the excess to a factor {NEAR:g}? {started(listed(told))}. {sentences(ends)}")


def read_floor(tables: Tables) -> Markdown:
    """How much of the private head's excess is no noise, and whether more budget ever makes it worse."""
    quiet = select(tables["floor"], method=PRIVATE, epsilon=tables["floor"]["epsilon"].max())
    told = []
    for name, rows in quiet.groupby("covariance", sort=False):
        excess = (rows.set_index("way")["test_error"] - rows["best"].iloc[0]).to_dict()
        told.append(
            f"{readings_where(str(name))}, {percent(excess[measure.QUIET] / excess[measure.NOISY])} of the excess is "
            f"left without noise, {percent(excess[measure.FREE] / excess[measure.NOISY])} without clipping either"
        )
    size = f"$N = {quiet['N'].iloc[0]}$, $\\varepsilon = {quiet['epsilon'].iloc[0]:g}$"
    return Markdown(f"This is at {size}. {sentences(told)} {_dearer(tables)}")


def _dearer(tables: Tables) -> str:
    """Whether more budget makes the private head worse, and what the same plans do without noise."""
    pairs = select(tables["test-error"], method=PRIVATE).sort_values("epsilon")
    later = pairs.groupby(["covariance", "N"], sort=False)[["epsilon", "test_error", "standard_error"]].shift(-1)
    pairs = pairs.join(later.add_prefix("more_")).dropna(subset=["more_epsilon"])  # neighbouring ε at one N
    margin = CONSISTENT * np.hypot(pairs["standard_error"], pairs["more_standard_error"])
    found = pairs[pairs["more_test_error"] > pairs["test_error"] + margin]
    if not len(found):
        return "Nowhere in the main table does more budget make the private head worse beyond doubt."
    row = found.loc[(found["more_test_error"] / found["test_error"]).idxmax()]
    where = readings_where(row["covariance"])
    quiet = select(tables["floor"], method=PRIVATE, way=measure.QUIET, covariance=row["covariance"])
    errors = quiet.set_index("epsilon")["test_error"]
    same = ", ".join(f"{compact(errors[e])} by the plan of $\\varepsilon = {e:g}$" for e in errors.index)
    return (
        f"More budget is not always better: from one $\\varepsilon$ of the main table to the next the error grows "
        f"beyond doubt in {len(found)} of {len(pairs)} cases, {where} and "
        f"$N = {row['N']}$ from {row['test_error']:.4g} at $\\varepsilon = {row['epsilon']:g}$ to "
        f"{row['more_test_error']:.4g} at ${row['more_epsilon']:g}$. Without noise, at the largest $N$: {same}."
    )
