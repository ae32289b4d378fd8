"""The answer of the page on vanishing label noise."""

from __future__ import annotations

from costofprivacy.experiments.dpgd.small_noise.experiment import FIXED, NONE
from costofprivacy.experiments.dpgd.small_noise.verdicts import TABLE, along
from costofprivacy.judging.prose import compact, times
from costofprivacy.judging.tables import Tables


def answer(tables: Tables) -> str:
    """The chapter's answer."""
    none, end = along(tables[TABLE], NONE).iloc[-1], along(tables[TABLE], FIXED).iloc[-1]
    return (
        f"Without label noise full-batch clipped descent reaches a risk of $e^{{-c\\rho^2/\\gamma^2}}$, where $c$ is "
        f"{compact(-none['exponent'])} at $\\gamma$ = {compact(none['gamma'])}. With a standard deviation of the label "
        f"noise of {compact(end['zeta'])}, its risk is {times(end['risk'] / end['order'])} the order that the paper "
        f"suspects to be optimal, and the risk of one-pass DP-GD is {times(end['one_pass'] / end['order'])} that order."
    )
