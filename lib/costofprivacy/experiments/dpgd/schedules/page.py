"""The answer of the page on schedules of arXiv:2505.16329v2."""

from __future__ import annotations

from costofprivacy.experiments.dpgd.schedules.best import CONSTANT, FLAT_FREE
from costofprivacy.experiments.dpgd.schedules.figure_seven import HARMONIC, UNIFORM
from costofprivacy.experiments.dpgd.schedules.verdicts import excess, wide
from costofprivacy.judging.prose import percent, times
from costofprivacy.judging.tables import Tables


def answer(tables: Tables) -> str:
    """The chapter's answer."""
    worst = tables["gains"].groupby("family")["excess"].max()
    behind = excess(wide(tables["figure-7"], UNIFORM)).max()
    return (
        "For isotropic data the best schedule is known: constant, then along an explicit curve. A tuned harmonic one "
        f"costs up to {percent(worst[HARMONIC])} more, a constant one {times(1 + worst[CONSTANT])} the risk, a flat "
        f"start with a power after it {percent(worst[FLAT_FREE])}. On a uniform spectrum harmonic has up to "
        f"{times(1 + behind)} the risk of a power of $1-t$."
    )
