"""The answer, the figures and the checked sentences of the page on a private head that works."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from costofprivacy import figures
from costofprivacy.experiments.noisyhead.a_head_that_works import findings, ladder
from costofprivacy.experiments.noisyhead.a_head_that_works.curves import COVARIANCE, LAST_TOKEN, PRIVATE
from costofprivacy.experiments.noisyhead.a_head_that_works.problems import BEST, ISOTROPIC, NO_DATA, NON_PRIVATE, ZERO
from costofprivacy.findings import Tables, compact, select
from costofprivacy.plates import Plate
from costofprivacy.prose import percent, plain, span
from costofprivacy.sentences import Check, Sentences, checked

NAMES = {
    LAST_TOKEN: "whitened, last token asked",
    PRIVATE: "whitened, every token asked",
    COVARIANCE: "covariance alone",
}
LOOKS: dict[str, dict[str, Any]] = {
    PRIVATE: {"color": figures.COLOURS[0], "marker": "o"},
    COVARIANCE: {"color": figures.COLOURS[2], "marker": "D"},
    NON_PRIVATE: {"color": "black", "marker": "s"},
    NO_DATA: {"color": figures.COLOURS[3], "marker": "^"},
}
LABELS = {PRIVATE: "private", COVARIANCE: "covariance alone", NON_PRIVATE: "non-private", NO_DATA: "no data"}

MOST = 0.5  # of the gap


def answer(tables: Tables) -> str:
    """The result at the largest size, and where pretraining is worth anything."""
    table, (name, _) = tables["test-error"], findings.plain_and_ill(tables)
    over, row = findings.over_non_private(tables, name), findings.corner(tables, name)
    printed, wins = findings.rung(tables, name, ladder.PRINTED), findings.won(tables["area"])
    known = " But there the best head is known without data." if findings.no_data_is_best(tables, name) else ""
    worth = (
        f" With an unknown covariance private pretraining beats the head without data in {percent(float(wins.mean()))} "
        f"of the cases tried."
    )
    return (
        f"At $\\varepsilon = {table['epsilon'].max():g}$, $N = {table['N'].max()}$ on {name} prompts our private "
        f"head errs {compact(row[PRIVATE])}, {percent(abs(over))} {'above' if over > 0 else 'below'} the non-private "
        f"one; NoisyHead as printed errs {compact(printed)}.{known}{worth if len(wins) else ''}"
    )


def draw_ladder(tables: Tables) -> Plate:
    """The test error of each rung, at the largest ε, isotropic and not."""
    names = findings.plain_and_ill(tables)
    parts = {name: findings.steps(tables, name) for name in dict.fromkeys(names)}
    with figures.style():
        figure, panels = plt.subplots(1, len(parts), figsize=(9.8, 5.2), sharey=True, squeeze=False)
        for axes, (name, rows) in zip(panels[0], parts.items(), strict=True):
            _draw_rungs(axes, rows)
            axes.set_title(name)
    first, other, rows = parts[names[0]], parts[names[1]]["left"], findings.closer(tables, names[0])
    left = first["left"]
    epsilon, N = first["epsilon"].iloc[0], first["N"].iloc[0]
    return Plate(
        figure,
        caption=(
            f"**One change after the other**, $\\varepsilon = {epsilon:g}$, $N = {N}$, on the same prompts. Solid "
            f"line: the best head; dashed: the best head that uses no data; dotted: answering 0. On {names[0]} prompts "
            f"*{rows}* closes most: of the gap from 0 to the best head {percent(float(left[rows]))} is left. On "
            f"{names[1]} prompts the whitened descent leaves {percent(float(other[PRIVATE]))}, clipping alone "
            f"{percent(float(other[ladder.CLIPPED]))}. Bars are two standard errors over "
            f"{first['trials'].iloc[0]} trials."
        ),
        alt=f"Test errors, {names[0]}: "
        + ", ".join(f"{_named(r)} {plain(first['test_error'][r])}" for r in ladder.RUNGS)
        + ".",
    )


def _draw_rungs(axes: Axes, rows: pd.DataFrame) -> None:
    places = np.arange(len(ladder.RUNGS))[::-1]
    chosen = rows.loc[list(ladder.RUNGS)]
    ours = np.array([name in NAMES for name in ladder.RUNGS])
    for mask, marker, colour in ((~ours, "s", figures.COLOURS[3]), (ours, "o", figures.COLOURS[0])):
        look: dict[str, Any] = {"marker": marker, "color": colour, "ls": "none", "capsize": 2}
        axes.errorbar(chosen["test_error"][mask], places[mask], xerr=2 * chosen["standard_error"][mask], **look)
    for name, style in ((BEST, "-"), (NO_DATA, "--"), (ZERO, ":")):
        axes.axvline(rows.loc[name, "test_error"], color="k", ls=style, lw=1)
    axes.set_yticks(places, [_named(name) for name in ladder.RUNGS])
    axes.set(xscale="log", xlabel="test error")
    low, high = axes.get_xlim()
    ticks = [t for t in (0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0) if low <= t <= high]
    axes.set_xticks(ticks, [f"{t:g}" for t in ticks])
    axes.minorticks_off()


def _named(rung: str) -> str:
    return NAMES.get(rung, rung)


def draw_curves(errors: pd.DataFrame) -> Plate:
    """Test error against N for each ε, in each covariance."""
    names = list(dict.fromkeys(errors["covariance"]))
    with figures.style():
        figure, panels = plt.subplots(1, len(names), figsize=(3.4 * len(names) + 1, 3.9), squeeze=False)
        for axes, name in zip(panels[0], names, strict=True):
            _draw_curves(axes, select(errors, covariance=name))
            axes.set_title(name)
    last = errors[(errors["N"] == errors["N"].max()) & (errors["epsilon"] == errors["epsilon"].max())]
    wide = last.pivot(index="covariance", columns="method", values="test_error").loc[names]
    over = wide[PRIVATE] / wide[NON_PRIVATE]
    return Plate(
        figure,
        caption=(
            f"**The private head against $N$** for each $\\varepsilon$. Squares: least squares "
            f"without privacy; triangles: the best head that uses no data. At the right end and the largest "
            f"$\\varepsilon$ the private head's error is {span(over)} times the non-private one's. Bars are two "
            f"standard errors over {errors['trials'].iloc[0]} trials."
        ),
        alt="At the right end, private over non-private: "
        + ", ".join(f"{n} {plain(v)}" for n, v in over.items())
        + ".",
    )


def _draw_curves(axes: Axes, rows: pd.DataFrame) -> None:
    for k, (epsilon, part) in enumerate(select(rows, method=PRIVATE).groupby("epsilon")):
        look = {"color": figures.COLOURS[k], "marker": figures.MARKS[k]}
        figures.points(axes, part, "N", "test_error", label=f"ε = {epsilon:g}", **look)
    ends = rows[rows["epsilon"] == rows["epsilon"].max()]
    figures.points(axes, select(ends, method=NON_PRIVATE), "N", "test_error", label="non-private", **LOOKS[NON_PRIVATE])
    none = select(ends, method=NO_DATA).sort_values("N")
    axes.plot(none["N"], none["test_error"], "--^", color=figures.COLOURS[9], label="no data")
    figures.log_axes(axes, "$N$", "test error")
    figures.plain_ticks(axes, none["N"].to_numpy())
    figures.few_decades(axes)
    figures.end_labels(axes)


def statements(tables: Tables) -> Sentences:
    """What was found, in sentences that are the same at every number of trials; of what was asked for alone."""
    asked = set(tables["test-error"]["covariance"])
    needs = (
        (bool(findings.aims(tables)), AIMS),
        (ISOTROPIC in asked, ON_ISOTROPIC),
        (len(findings.won(tables["area"])) > 0, WORTH),
        (len(findings.won(tables["area"], unknown=False)) > 0, NEVER),
        (True, POISONED),
    )
    return checked(tables, tuple(check for met, checks in needs if met for check in checks))


AIMS: tuple[Check, ...] = (
    (
        lambda t: all(findings.over_non_private(t, name) <= share for name, share in findings.aims(t).items()),
        "At the largest size the private head is about as good as the best non-private one.",
        "At the largest size the private head is far from the best non-private one.",
    ),
)
ON_ISOTROPIC: tuple[Check, ...] = (
    (
        findings.no_data_is_best,
        "On isotropic prompts the best head is known before any prompt is seen.",
        "On isotropic prompts the head without data is not the best.",
    ),
    (
        lambda t: findings.closer(t, ISOTROPIC) == ladder.CLIPPED,
        "Of the changes to Algorithm 1, clipping each prompt's gradient closes most of the gap.",
        "Clipping each prompt's gradient is not what closes most of the gap.",
    ),
    (
        lambda t: bool(findings.steps(t, ISOTROPIC)["left"][ladder.LAST] > MOST),
        "Better accounting alone leaves most of the gap.",
        "Better accounting alone closes most of the gap.",
    ),
)
WORTH: tuple[Check, ...] = (
    (
        lambda t: bool(findings.won(t["area"]).any()),
        "With an unknown covariance there are sizes at which private pretraining beats the head without data.",
        "With an unknown covariance private pretraining never beats the head without data.",
    ),
)
NEVER: tuple[Check, ...] = (
    (
        lambda t: not findings.won(t["area"], unknown=False).any(),
        "On isotropic prompts it never does.",
        "It does so on isotropic prompts too.",
    ),
)
POISONED: tuple[Check, ...] = (
    (
        lambda t: bool((t["poison"]["shift_over_noise"] <= t["poison"]["mu"]).all()),
        "One poisoned prompt moves the head by less than the bound.",
        "One poisoned prompt moves the head by more than the bound.",
    ),
)
