"""The figure of the page on vanishing label noise."""

from typing import Any

import pandas as pd

from chapters.dpgd.small_noise.experiment import FIXED, NONE
from chapters.dpgd.small_noise.verdicts import along
from companion.judging.prose import compact, times
from companion.showing import figures
from companion.showing.plates import Plate

METHODS = {"full batch": "full batch,\nshrinking clip", "one pass": "one-pass\nDP-GD"}
LEVEL: dict[str, Any] = {"color": "0.35", "ls": "--", "lw": 1}


def draw_risks(table: pd.DataFrame) -> Plate:
    """Left: −ln(risk)·(γ/ρ)² at ζ = 0 against 1/γ. Right: the risk over the suspected order against 1/ζ."""
    none, fixed = along(table, NONE), along(table, FIXED)
    looks = figures.looks(METHODS)
    exponents = {
        "full batch": none.assign(value=-none["exponent"], standard_error=none["exponent_error"]),
        "one pass": none.assign(value=-none["one_pass_exponent"], standard_error=0.0),
    }
    over = {
        "full batch": fixed.assign(value=fixed["risk"] / fixed["order"],
                                   standard_error=fixed["standard_error"] / fixed["order"]),
        "one pass": fixed.assign(value=fixed["one_pass"] / fixed["order"], standard_error=0.0),
    }  # fmt: skip
    with figures.panels(2, ends=False, figsize=(8.0, 3.9)) as (drawn, (left, right)):
        for name in METHODS:
            figures.points(left, exponents[name], "size", "value", label=METHODS[name], **looks[name])
            figures.points(right, over[name], "size", "value", label=METHODS[name], **looks[name])
        right.axhline(1, **LEVEL)
        figures.log_axes(left, r"$1/\gamma=n/d$", r"$-\ln(\mathrm{risk})\cdot(\gamma/\rho)^2$")
        figures.plain_ticks(left, none["size"])
        figures.few_decades(left)
        left.set_title(r"$\zeta=0$")
        figures.log_axes(right, r"$1/\zeta$", r"risk over $\zeta^2(\gamma+\gamma^2/\rho^2)$")
        right.set_title(rf"$\gamma={fixed['gamma'].iloc[0]:g}$")
        figures.end_labels(right)
    last, end = none.iloc[-1], fixed.iloc[-1]
    return Plate(
        drawn,
        caption=(
            "**Full-batch descent with a shrinking clip against one-pass DP-GD** at the same budget. Left: a risk of "
            "$e^{-c\\rho^2/\\gamma^2}$ is a level line at $c$. At the smallest $\\gamma$ the full-batch method is at "
            f"{compact(-last['exponent'])} and DP-GD at {compact(-last['one_pass_exponent'])}. Right: at the least "
            f"label noise the full-batch risk is {times(end['risk'] / end['order'])} the suspected order (dashed), "
            f"that of DP-GD {times(end['one_pass'] / end['order'])}. Full batch: means of {_runs(table['trials'])} "
            "runs, bars of two standard errors. DP-GD: its deterministic equivalent with the best schedule and a clip "
            "that follows the risk."
        ),
    )


def _runs(trials: pd.Series) -> str:
    least, most = int(trials.min()), int(trials.max())
    return f"{most}" if least == most else f"{least} to {most}"
