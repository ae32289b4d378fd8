"""The answer and the sentences of the page on DP-SGD."""

import pandas as pd

from costofprivacy.experiments.noisyhead.dp_sgd.cell import DP_SGD, NOISYHEAD, ZERO
from costofprivacy.experiments.noisyhead.dp_sgd.opacus import RECORD
from costofprivacy.experiments.noisyhead.dp_sgd.verdicts import figure_5
from costofprivacy.judging import words
from costofprivacy.judging.prose import compact, percent
from costofprivacy.judging.tables import Tables, select
from costofprivacy.settings import Setting


def answer(tables: Tables) -> str:
    """The chapter's answer."""
    published, corrected = (least_over_zero(tables["figure-5"], s) for s in (Setting.PUBLISHED, Setting.CORRECTED))
    return (
        f"{words.headline(figure_5, tables)} Opacus protects adding or removing a prompt, the paper replacing one. "
        f"Over that of always predicting 0, the least excess risk of NoisyHead is {compact(published[NOISYHEAD])} "
        f"(with our corrections {compact(corrected[NOISYHEAD])}), that of DP-SGD {compact(published[DP_SGD])} "
        f"({compact(corrected[DP_SGD])})."
    )


def least_over_zero(figure: pd.DataFrame, setting: Setting) -> pd.Series:
    """The least excess risk of each method over that of answering 0 at the same N, in a setting; by method."""
    rows = select(figure, setting=str(setting))
    zero = select(rows, method=ZERO).set_index("N")["excess_risk"]
    found: pd.Series = (rows["excess_risk"] / rows["N"].map(zero)).groupby(rows["method"]).min()
    return found


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
