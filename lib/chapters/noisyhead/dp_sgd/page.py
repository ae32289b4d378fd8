"""The lines that open the page on DP-SGD, and its sentences."""

import pandas as pd

from chapters.noisyhead.dp_sgd.cell import DP_SGD, NOISYHEAD, ZERO
from chapters.noisyhead.dp_sgd.opacus import RECORD
from chapters.noisyhead.dp_sgd.verdicts import figure_5
from companion.judging import words
from companion.judging.prose import compact, percent
from companion.judging.tables import Tables, select
from costofprivacy.settings import Setting


def answer(tables: Tables) -> list[str]:
    """How the two compare by each accounting and with answering 0, and what the page derives, runs and judges."""
    published, corrected = (least_over_zero(tables["figure-5"], s) for s in (Setting.PUBLISHED, Setting.CORRECTED))
    return [
        words.headline(figure_5, tables),
        "Opacus protects the addition or removal of a prompt, while the paper replaces one, so the same $\\varepsilon$ "
        "does not mean the same.",
        f"NoisyHead's least excess risk is {compact(published[NOISYHEAD])} times that of always predicting 0; with our "
        f"corrections, {compact(corrected[NOISYHEAD])} times.",
        f"For DP-SGD these are {compact(published[DP_SGD])} and {compact(corrected[DP_SGD])} times.",
        "We derive what clipping and sampling make of a step's privacy, and run DP-SGD by hand.",
    ]


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
