"""Does NoisyHead match DP-SGD, and which privacy accounting did each side get?"""

import pandas as pd

from chapters.noisyhead.dp_sgd.judge import READINGS, least_over_zero, ratios
from chapters.noisyhead.dp_sgd.measure import (
    ADD,
    ALGORITHM,
    DP_SGD,
    LOSS,
    NOISYHEAD,
    RECORD,
    REPLACE,
)
from companion.judging import words
from companion.judging.judges import judges_of
from companion.judging.prose import compact, percent, span
from companion.judging.tables import Tables, select
from companion.showing import figures
from companion.showing.plates import Plate
from costofprivacy.settings import Setting

PROMPTS = "$N$ (training prompts)"


def caption_figure_5(tables: Tables) -> str:
    """What Figure 5, re-run, shows."""
    figure, opacus = tables["figure-5"], tables["opacus"]
    stated, same = (ratios(figure, *READINGS[name])["ratio"] for name in ("stated", "same"))
    worst = opacus["deviation"].abs().max()
    head = f"NoisyHead's excess risk is {span(stated)} times that of DP-SGD with the noise that each side states"
    return (
        f"**{head}, {span(same)} times with equal accounting.** Figure 5 of the paper, re-run in the settings behind "
        f"Figure 1, for $N$ of {span(figure['N'])}: excess risk over $\\Gamma^*$. Right: both sides are composed "
        f"exactly for a replaced prompt, with the same gradients. Opacus's own runs lie within {compact(worst)} "
        "standard errors of ours. Bars: two standard errors over the trials."
    )


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
        f"**If a prompt is replaced, NoisyHead with Algorithm 1's noise spends {algorithm} of the budget claimed, "
        f"DP-SGD with Opacus's accountant {opacus}.** That accountant counts a prompt added or removed. The curves "
        f"have what all iterates spend together, composed exactly ($\\varepsilon = {rows['epsilon'].iloc[0]:g}$, $N$ "
        f"of {span(rows['N'])}). Closed forms: no sampling error."
    )
    return Plate(drawing, caption)


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


def show_readings(figure: pd.DataFrame) -> pd.DataFrame:
    """NoisyHead's excess risk over DP-SGD's by reading: the least and the largest ratio over all sizes and budgets."""
    found = {words: ratios(figure, *READINGS[name]) for name, words in WORDS.items()}
    rows = {words: (table["ratio"].min(), table["ratio"].max(), table["error"].max()) for words, table in found.items()}
    columns = ["least ratio", "largest ratio", "largest error"]
    return pd.DataFrame.from_dict(rows, orient="index", columns=columns).map(compact).rename_axis("the two sides")


def answer(tables: Tables) -> list[str]:
    """How the two compare by each accounting and with answering 0, and what the page derives, runs and judges."""
    published, corrected = (least_over_zero(tables["figure-5"], s) for s in (Setting.PUBLISHED, Setting.CORRECTED))
    return [
        words.headline(judges_of(__package__)["noisyhead/figure-5"], tables),
        "Opacus protects the addition or removal of a prompt, while the paper replaces one, so the same $\\varepsilon$ "
        "does not mean the same.",
        f"NoisyHead's least excess risk is {compact(published[NOISYHEAD])} times that of always predicting 0, or "
        f"{compact(corrected[NOISYHEAD])} times with our corrections. For DP-SGD these are "
        f"{compact(published[DP_SGD])} and {compact(corrected[DP_SGD])} times.",
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
