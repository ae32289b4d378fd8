"""The figures of the page on DP-SGD."""

import pandas as pd

from chapters.noisyhead.dp_sgd.cell import ADD, ALGORITHM, DP_SGD, LOSS, NOISYHEAD, REPLACE, ZERO
from chapters.noisyhead.dp_sgd.records import PAIR, PROMPT
from chapters.noisyhead.dp_sgd.verdicts import NAMES, READINGS, ratios
from companion.judging.prose import compact, span
from companion.judging.tables import select
from companion.showing import figures
from companion.showing.plates import Plate
from costofprivacy.settings import Setting

PANELS = {"as printed": READINGS["stated"], "same exact accounting": READINGS["same"]}
PROMPTS = "$N$ (training prompts)"


def curves(figure: pd.DataFrame, panel: str) -> dict[str, pd.DataFrame]:
    """The rows of the two methods in a panel, by method, in the published setting."""
    head, sgd, gradients = PANELS[panel]
    rows = select(figure, setting=str(Setting.PUBLISHED))
    return {
        NOISYHEAD: select(rows, method=NOISYHEAD, account=head),
        DP_SGD: select(rows, method=DP_SGD, account=sgd, gradients=gradients),
    }


def draw_figure_5(figure: pd.DataFrame, opacus: pd.DataFrame) -> Plate:
    """Both methods against N at the least and the largest ε: as printed with Opacus's runs, and counted alike."""
    budgets = sorted(figure["epsilon"].dropna().unique())
    shown = sorted({budgets[0], budgets[-1]})
    keys = [(method, epsilon) for epsilon in shown for method in NAMES]
    looks = figures.looks(keys)
    zero = select(figure, setting=str(Setting.PUBLISHED), method=ZERO).sort_values("N")
    with figures.panels(2, figsize=(9.2, 4.0), sharey=True) as (drawing, panels):
        for axes, panel in zip(panels, PANELS):
            for method, rows in curves(figure, panel).items():
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
    stated, same = (ratios(figure, *PANELS[panel]) for panel in PANELS)
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
