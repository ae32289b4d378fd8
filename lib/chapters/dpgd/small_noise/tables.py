"""Short tables for the page on vanishing label noise."""

import pandas as pd

from chapters.dpgd.small_noise.experiment import FIXED, NONE
from chapters.dpgd.small_noise.verdicts import along
from companion.judging.prose import measured, plain


def show_exponents(table: pd.DataFrame) -> pd.DataFrame:
    """At ζ = 0: the rounds, both risks, the bound on every one-pass schedule, and ln(risk)·(γ/ρ)²."""
    rows = along(table, NONE)
    shown = {
        "γ": rows["gamma"].map(plain),
        "rounds": rows["rounds"].map(str),
        "full-batch risk": rows["risk"].map(plain),
        "DP-GD": rows["one_pass"].map(plain),
        "no DP-GD is below": rows["one_pass_floor"].map(plain),
        "ln(risk)·(γ/ρ)², full batch": [measured(v, e) for v, e in zip(rows["exponent"], rows["exponent_error"])],
        "the same, DP-GD": rows["one_pass_exponent"].map(plain),
    }
    return pd.DataFrame(shown).set_index("γ")


def show_orders(table: pd.DataFrame) -> pd.DataFrame:
    """At the fixed γ: both risks over ζ²(γ + γ²/ρ²), by ζ."""
    rows = along(table, FIXED)
    over = rows[["risk", "standard_error", "one_pass"]].div(rows["order"], axis=0)
    shown = {
        "ζ": rows["zeta"].map(plain),
        "suspected order": rows["order"].map(plain),
        "full batch over it": [measured(v, e) for v, e in zip(over["risk"], over["standard_error"])],
        "DP-GD over it": over["one_pass"].map(plain),
    }
    return pd.DataFrame(shown).set_index("ζ")
