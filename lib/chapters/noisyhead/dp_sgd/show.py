"""Does NoisyHead match DP-SGD, and which privacy accounting did each side get?"""

import numpy as np
import pandas as pd

from chapters.noisyhead.dp_sgd.judge import NAMES, READINGS, least_over_zero, ratios
from chapters.noisyhead.dp_sgd.measure import (
    ADD,
    ALGORITHM,
    DP_SGD,
    LOSS,
    NOISYHEAD,
    PAIR,
    PROMPT,
    RECORD,
    REPLACE,
    ZERO,
)
from companion.judging import words
from companion.judging.judges import judges_of
from companion.judging.prose import compact, percent, span
from companion.judging.tables import Tables, select
from companion.showing import figures
from companion.showing.plates import Plate
from costofprivacy.settings import Setting

# ---- Figures ----

PANELS = {"as printed": READINGS["stated"], "same exact accounting": READINGS["same"]}
PROMPTS = "$N$ (training prompts)"


def draw_figure_5(figure: pd.DataFrame, opacus: pd.DataFrame) -> Plate:
    """Both methods against N at the least and the largest ε: as printed with Opacus's runs, and counted alike."""
    budgets = sorted(figure["epsilon"].dropna().unique())
    shown = sorted({budgets[0], budgets[-1]})
    keys = [(method, epsilon) for epsilon in shown for method in NAMES]
    looks = figures.looks(keys)
    published = select(figure, setting=str(Setting.PUBLISHED))
    zero = select(published, method=ZERO).sort_values("N")
    with figures.panels(2, figsize=(9.2, 4.0), sharey=True) as (drawing, panels):
        for axes, (panel, (head, sgd, gradients)) in zip(panels, PANELS.items()):
            curves = {
                NOISYHEAD: select(published, method=NOISYHEAD, account=head),
                DP_SGD: select(published, method=DP_SGD, account=sgd, gradients=gradients),
            }
            for method, rows in curves.items():
                for epsilon in shown:
                    label = f"{NAMES[method]},\n" + rf"$\varepsilon = {epsilon:g}$"
                    look = looks[method, epsilon]
                    figures.points(axes, select(rows, epsilon=epsilon), "N", "excess_risk", label=label, **look)
            axes.plot(zero["N"], zero["excess_risk"], "k--", lw=1, label="answering 0")
            figures.log_axes(axes, PROMPTS, "excess risk")
            figures.plain_ticks(axes, figure["N"].unique())
            axes.set_title(panel if axes is not panels[0] else f"{panel} (circles: Opacus)")
        theirs = opacus[(opacus["gradients"] == LOSS) & opacus["epsilon"].isin(shown)]
        panels[0].plot(theirs["N"], theirs["excess_risk"], "o", mfc="none", mec="black", ms=10)
    stated, same = (ratios(figure, *reading) for reading in PANELS.values())
    worst = opacus.loc[opacus["deviation"].abs().idxmax()]
    caption = (
        f"**Figure 5, re-run**: excess risk over $\\Gamma^*$ in the settings behind Figure 1, for $N$ of "
        f"{span(figure['N'])}. Left, with the noise that each side states, NoisyHead has {span(stated['ratio'])} times "
        f"the risk of DP-SGD. Right, both composed exactly for a replaced prompt, with the same gradients: "
        f"{span(same['ratio'])} times. Opacus's own runs lie within {compact(abs(worst['deviation']))} standard errors "
        "of ours. Bars: two standard errors over the trials."
    )
    return Plate(drawing, caption)


def draw_spent(accounts: pd.DataFrame) -> Plate:
    """The ε that each side spends over the ε that it was given, if a prompt is replaced, against N at the largest ε."""
    rows = select(accounts, setting=str(Setting.PUBLISHED), epsilon=accounts["epsilon"].max())
    rows = rows.assign(share=rows[f"spent, {REPLACE}"] / rows["epsilon"])
    lines = {
        "NoisyHead,\nAlgorithm 1": select(rows, method=NOISYHEAD, account=ALGORITHM),
        "NoisyHead,\nexact": select(rows, method=NOISYHEAD, account=REPLACE),
        "DP-SGD,\nOpacus's": select(rows, method=DP_SGD, account=ADD, gradients=LOSS),
    }
    with figures.panels(figsize=(6.4, 3.6)) as (drawing, [axes]):
        for (name, line), look in zip(lines.items(), figures.looks(lines).values(), strict=True):
            axes.plot(line["N"], line["share"], label=name, **look)
        axes.axhline(1, color="k", ls="--", lw=1)
        figures.log_axes(axes, PROMPTS, r"$\varepsilon$ spent, over $\varepsilon$ claimed")
        figures.plain_ticks(axes, rows["N"].unique())
    algorithm, _, opacus = (span(line["share"]) for line in lines.values())
    caption = (
        f"**The same settings, not the same privacy.** What all iterates together spend, composed exactly, if a prompt "
        f"is replaced, over the budget claimed ($\\varepsilon = {rows['epsilon'].iloc[0]:g}$, "
        f"$N$ of {span(rows['N'])}). NoisyHead with Algorithm 1's noise spends {algorithm} of it, DP-SGD with Opacus's "
        f"accountant, which counts a prompt added or removed, {opacus}. Closed forms: no sampling error."
    )
    return Plate(drawing, caption)


def draw_records(records: pd.DataFrame) -> Plate:
    """Noise of DP-SGD over NoisyHead's against the length of prompts, by what a record is."""
    lines = {record: select(records, record=record).sort_values("L") for record in (PROMPT, PAIR)}
    with figures.panels(figsize=(6.4, 3.6)) as (drawing, [axes]):
        for (record, line), look in zip(lines.items(), figures.looks(lines).values(), strict=True):
            axes.plot(line["L"], line["ratio"], label=record.replace(" is", "\nis"), **look)
        figures.log_axes(axes, "$L$ (pairs in a prompt)", "noise over NoisyHead's")
        figures.plain_ticks(axes, lines[PROMPT]["L"].unique())
    prompt, pair = (span(line["ratio"]) for line in lines.values())
    caption = (
        f"**Which record?** Noise of a step of DP-SGD over NoisyHead's, both composed exactly for the same protection "
        f"of a whole prompt, for $L$ of {span(records['L'])}. Clipping one gradient for each prompt it is "
        f"{prompt}; with each pair a record, and a prompt a group of them, {pair}. Closed forms: no "
        "sampling error."
    )
    return Plate(drawing, caption)


# ---- Short tables ----

WORDS = {
    "stated": r"Algorithm 1's noise; Opacus's accountant, the loss clipped at $\sigma$",
    "same": "both exact for a replaced prompt, the same gradients",
    "mixed": r"both exact, each for its own relation, the loss clipped at $\sigma$",
    "clipped": r"both exact for a replaced prompt, the loss clipped at $\mathcal{C}$",
}


def show_opacus(opacus: pd.DataFrame) -> pd.DataFrame:
    """Opacus's mean excess risk beside ours, and both accountants' noise multipliers z."""
    rows = opacus[opacus["gradients"] == LOSS].sort_values(["N", "epsilon"])
    shown = {
        r"$z$, Opacus": rows["noise_multiplier"].map(compact),
        r"$z$, exact": rows["exact_multiplier"].map(compact),
        "risk, Opacus": rows["excess_risk"].map(compact),
        "risk, ours": rows["own_excess_risk"].map(compact),
        "apart, in errors": rows["deviation"].map(lambda value: f"{value:.1f}".replace("-", "−")),
    }
    index = pd.MultiIndex.from_arrays([rows["N"], rows["epsilon"]], names=["$N$", r"$\varepsilon$"])
    return pd.DataFrame({name: column.to_numpy() for name, column in shown.items()}, index=index)


def show_risks(figure: pd.DataFrame) -> pd.DataFrame:
    """Excess risks at the largest N and ε: every method and accounting, in the three settings, and answering 0."""
    rows = figure[(figure["N"] == figure["N"].max())]
    rows = rows[rows["epsilon"].isna() | (rows["epsilon"] == rows["epsilon"].max())]
    symbols = {"σ/2": r"$\sigma/2$", "σ": r"$\sigma$", "C": r"$\mathcal{C}$"}

    def name(row: pd.Series) -> str:
        if row["method"] == ZERO:
            return "answering 0"
        words, _, at = str(row["gradients"]).partition(", at ")
        clip = f", {words} clipped at {symbols[at]}" if at else ""
        return f"{NAMES[row['method']]}{clip}: {row['account']}"

    ways = rows.apply(name, axis=1)
    table = rows.assign(way=ways).pivot(index="way", columns="setting", values="excess_risk")
    shown = table.loc[ways.unique(), [str(s) for s in Setting]].map(compact)
    return shown.rename_axis(index="method and accounting", columns=None)


def show_readings(figure: pd.DataFrame) -> pd.DataFrame:
    """NoisyHead's excess risk over DP-SGD's by reading: the least and the largest ratio over all sizes and budgets."""
    found = {words: ratios(figure, *READINGS[name]) for name, words in WORDS.items()}
    rows = {words: (table["ratio"].min(), table["ratio"].max(), table["error"].max()) for words, table in found.items()}
    columns = ["least ratio", "largest ratio", "largest error"]
    return pd.DataFrame.from_dict(rows, orient="index", columns=columns).map(compact).rename_axis("the two sides")


def show_resting(runs: pd.DataFrame) -> pd.DataFrame:
    """How far from Γ* Opacus without noise comes to rest, by where the penalty stands."""
    rest = runs[np.isinf(runs["epsilon"])]
    distance = rest.groupby("penalised", sort=False)["distance"].max()
    names = {"weight decay": "the optimiser's weight decay, $2\\lambda$", "in the loss": "a term of the loss"}
    shown = distance.rename(index=names).map(compact).rename_axis("the penalty is")
    return shown.to_frame(r"distance from $\Gamma^*$ over $\|\Gamma^*\|$")


# ---- What opens the page ----


def answer(tables: Tables) -> list[str]:
    """How the two compare by each accounting and with answering 0, and what the page derives, runs and judges."""
    published, corrected = (least_over_zero(tables["figure-5"], s) for s in (Setting.PUBLISHED, Setting.CORRECTED))
    return [
        words.headline(judges_of(__package__)["noisyhead/figure-5"], tables),
        "Opacus protects the addition or removal of a prompt, while the paper replaces one, so the same $\\varepsilon$ "
        "does not mean the same.",
        f"NoisyHead's least excess risk is {compact(published[NOISYHEAD])} times that of always predicting 0; with our "
        f"corrections, {compact(corrected[NOISYHEAD])} times.",
        f"For DP-SGD these are {compact(published[DP_SGD])} and {compact(corrected[DP_SGD])} times.",
        "We derive what clipping and sampling make of a step's privacy, and run DP-SGD by hand.",
    ]


def origin(tables: Tables) -> str:
    """Where Opacus's runs on this page come from."""
    return f"*Opacus.* {RECORD.origin(tables['opacus-runs'])}"


def published_gap(comparison: pd.DataFrame) -> str:
    """How far NoisyHead's risks are from the published ones of Figure 1, in words."""
    if comparison.empty:
        return "These parameters have no published numbers."
    apart = (comparison["excess_risk"] / comparison["excess_risk_theirs"] - 1).abs().max()
    return (
        f"NoisyHead with Algorithm 1's noise is the chapter on low dimension's: its risks, here in closed form over a "
        f"fresh prompt, lie within {percent(apart)} of the published numbers of Figure 1."
    )
