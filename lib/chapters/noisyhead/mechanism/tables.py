"""Short tables for the page on Algorithm 1 and Theorem 3.2 of arXiv:2504.16000v2."""

import pandas as pd

from chapters.noisyhead.mechanism import minimisers
from companion.judging.prose import compact


def show_sensitivity(sensitivity: pd.DataFrame) -> pd.DataFrame:
    """The bound, and the shares of it that are exact, found at random and built, at the first and the last N."""
    ends = _ends(sensitivity)
    names = {"exact": "exact", "largest_found": "largest found", "constructed": "built pair"}
    shares = ends[list(names)].div(ends["bound"], axis=0).rename(columns=names).map("{:.4f}".format)
    shares.insert(0, "bound (A.1)", ends["bound"].map(compact))
    return shares


def show_noise(noise: pd.DataFrame) -> pd.DataFrame:
    """Noise of one step at the first and the last N."""
    ends = _ends(noise)
    shown = {
        "$T$": ends["T"].map(str),
        "printed over exact": (ends["printed_std"] / ends["exact_std"]).map(compact),
        "step over $R$": (ends["step_norm"] / ends["weight_bound"]).map(compact),
        r"$\varepsilon$, every iterate": ends["epsilon_every"].map(compact),
        r"$\varepsilon$, last iterate": ends["epsilon_last"].map(compact),
    }
    return pd.DataFrame(shown)


def _ends(table: pd.DataFrame) -> pd.DataFrame:
    """The rows of the first and the last N, by N and setting."""
    rows = table[table["N"].isin([table["N"].min(), table["N"].max()])]
    return rows.set_index(["N", "setting"]).rename_axis(index=["$N$", "setting"])


def show_minimisers(table: pd.DataFrame) -> pd.DataFrame:
    """Where descent rests, at the first and the last N."""
    wide = table.pivot(index="check", columns="N", values="value").loc[list(minimisers.CHECKS)]
    shown = wide.iloc[:, [0, -1]].map(compact)
    typeset = {"ridge(2λ)": r"$\Gamma_{2\lambda}$", "ridge(λ)": r"$\Gamma_\lambda$", "λ/2": r"$\lambda/2$"}
    for plain, symbol in typeset.items():
        shown.index = shown.index.str.replace(plain, symbol, regex=False)
    return shown.rename(columns="$N$ = {}".format).rename_axis(index=None, columns=None)


def show_noise_law(law: pd.DataFrame) -> pd.DataFrame:
    """The noise's variance against the sensitivity and its square."""
    names = {
        "feature_bound": "$G$",
        "sensitivity": "sensitivity",
        "variance": "variance of the noise",
        "variance_over_sensitivity": "variance over sensitivity",
        "variance_over_square": "variance over its square",
    }
    return law[list(names)].rename(columns=names).map(compact).set_index("$G$")
