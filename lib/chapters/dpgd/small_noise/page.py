"""The answer of the page on vanishing label noise."""

from chapters.dpgd.small_noise.experiment import FIXED, NONE
from chapters.dpgd.small_noise.verdicts import TABLE, along
from companion.judging.findings import LABEL
from companion.judging.judges import judges_of
from companion.judging.prose import compact, times
from companion.judging.tables import Tables


def answer(tables: Tables) -> list[str]:
    """What the page finds, derives and runs."""
    none, end = along(tables[TABLE], NONE).iloc[-1], along(tables[TABLE], FIXED).iloc[-1]
    (conjecture,) = (judge(tables).verdict for judge in judges_of(__package__).values())
    return [
        "As small as the paper suspects, $\\zeta^2(\\gamma+\\gamma^2/\\rho^2)$, down to very small label noise "
        "$\\zeta$: full-batch descent with a shrinking clip attains it.",
        f"At $\\zeta$ = {compact(end['zeta'])} its risk is {times(end['risk'] / end['order'])} that order, and the "
        f"risk of one-pass DP-GD is {times(end['one_pass'] / end['order'])} that order.",
        "Without label noise its risk falls like $e^{-c\\rho^2/\\gamma^2}$, as six steps derive. We measured "
        f"$c$ = {compact(-none['exponent'])} at $\\gamma$ = {compact(none['gamma'])}.",
        "Ten releases by hand show clip and error shrinking together.",
        f"The paper's conjecture {LABEL[conjecture]}.",
    ]
