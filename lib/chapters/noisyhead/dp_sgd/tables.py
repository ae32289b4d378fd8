"""The tables of the page on DP-SGD."""

import numpy as np
import pandas as pd

from chapters.noisyhead.dp_sgd.cell import LOSS, ZERO
from chapters.noisyhead.dp_sgd.verdicts import NAMES, READINGS, ratios
from companion.judging.prose import compact
from costofprivacy.settings import Setting

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
