"""The answer of the page on vanishing label noise."""

from costofprivacy.experiments.dpgd.small_noise.experiment import FIXED, NONE
from costofprivacy.experiments.dpgd.small_noise.verdicts import TABLE, along
from costofprivacy.judging.prose import compact, times
from costofprivacy.judging.tables import Tables


def answer(tables: Tables) -> str:
    """The chapter's answer."""
    none, end = along(tables[TABLE], NONE).iloc[-1], along(tables[TABLE], FIXED).iloc[-1]
    return (
        "For small label noise the paper suspects the rate $\\zeta^2(\\gamma+\\gamma^2/\\rho^2)$. Full-batch descent "
        f"with a shrinking clip attains it: at $\\zeta$ = {compact(end['zeta'])} its risk is "
        f"{times(end['risk'] / end['order'])} that order, and the risk of one-pass DP-GD is "
        f"{times(end['one_pass'] / end['order'])} that order. Without label noise its risk falls like "
        f"$e^{{-c\\rho^2/\\gamma^2}}$, with $c$ = {compact(-none['exponent'])} at $\\gamma$ = {compact(none['gamma'])}."
    )
