"""The answer of the page on schedules of arXiv:2505.16329v2."""

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
        "For isotropic data we know the best schedule: constant, then along an explicit curve. Tuned harmonic "
        f"schedules have up to {percent(worst[HARMONIC])} more risk, constant ones up to {times(1 + worst[CONSTANT])} "
        f"the risk, and a constant start with a power after it costs {percent(worst[FLAT_FREE])}. On a uniform "
        f"spectrum harmonic schedules have up to {times(1 + behind)} the risk of polynomial ones."
    )
