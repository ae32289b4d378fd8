"""How small can the risk of a private algorithm be when the label noise vanishes?"""

import pandas as pd

from chapters.dpgd.small_noise.judge import TABLE, along
from chapters.dpgd.small_noise.measure import FIXED, NONE
from companion.judging.prose import compact, measured, plain, span, times
from companion.judging.tables import Tables
from companion.showing import figures
from companion.showing.plates import Plate


def answer(tables: Tables) -> list[str]:
    """What the page finds, derives and runs."""
    none, end = along(tables[TABLE], NONE).iloc[-1], along(tables[TABLE], FIXED).iloc[-1]
    return [
        "As small as the paper suspects, $\\zeta^2(\\gamma+\\gamma^2/\\rho^2)$, down to very small label noise "
        "$\\zeta$: full-batch descent with a shrinking clip attains it in our runs.",
        f"At $\\zeta$ = {compact(end['zeta'])} its risk is {times(end['risk'] / end['order'])} that order, and the "
        f"risk of one-pass DP-GD is {times(end['one_pass'] / end['order'])} that order.",
        "Without label noise six steps derive a risk of at most $2e^{-c\\rho^2/\\gamma^2}$. We measured $c$ = "
        f"{compact(-none['exponent'])} at $\\gamma$ = {compact(none['gamma'])}.",
    ]


def draw_risks(table: pd.DataFrame) -> Plate:
    """Left: −ln(risk)·(γ/ρ)² at ζ = 0 against 1/γ. Right: the risk over the suspected order against 1/ζ."""
    none, fixed = along(table, NONE), along(table, FIXED)
    methods = {  # value and error: of the exponent on the left, of the risk on the right
        "full batch,\nshrinking clip": (("exponent", "exponent_error"), ("risk", "standard_error")),
        "one-pass\nDP-GD": (("one_pass_exponent", None), ("one_pass", None)),
    }
    with figures.panels(2, ends=False, figsize=(8.0, 3.9)) as (drawn, (left, right)):
        for (label, columns), look in zip(methods.items(), figures.looks(methods).values()):
            for axes, rows, unit, (value, error) in zip((left, right), (none, fixed), (-1.0, fixed["order"]), columns):
                spread = rows[error] / abs(unit) if error else 0.0
                shown = rows.assign(value=rows[value] / unit, standard_error=spread)
                figures.points(axes, shown, "size", "value", label=label, **look)
        right.axhline(1, color="0.35", ls="--", lw=1)
        exponent = r"$-\ln(\mathrm{risk})\cdot(\gamma/\rho)^2$"
        figures.log_axes(left, r"$1/\gamma=n/d$", exponent)
        figures.plain_ticks(left, none["size"])
        left.set_title(r"$\zeta=0$")
        figures.few_decades(left)
        over = r"risk over $\zeta^2(\gamma+\gamma^2/\rho^2)$"
        figures.log_axes(right, r"$1/\zeta$", over)
        right.set_title(rf"$\gamma={fixed['gamma'].iloc[0]:g}$")
        figures.end_labels(right)
    last, end = none.iloc[-1], fixed.iloc[-1]
    return Plate(
        drawn,
        f"**At the least label noise full-batch descent has {times(end['risk'] / end['order'])} the suspected order, "
        f"one-pass DP-GD {times(end['one_pass'] / end['order'])}.** Both have the same budget. Left: a risk of "
        "$e^{-c\\rho^2/\\gamma^2}$ is a level line at $c$. At the smallest $\\gamma$ the full-batch method is at "
        f"{compact(-last['exponent'])} and DP-GD at {compact(-last['one_pass_exponent'])}. Right: the risk over the "
        f"suspected order (dashed). Full batch: means of {span(table['trials'])} runs, bars of two standard errors. "
        "DP-GD: its deterministic equivalent with the best schedule and a clip that follows the risk.",
    )


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
