"""What the page on schedules of arXiv:2505.16329v2 opens with."""

from chapters.dpgd.schedules.best import CONSTANT, FLAT_FREE
from chapters.dpgd.schedules.figure_seven import HARMONIC, UNIFORM
from chapters.dpgd.schedules.verdicts import excess, wide
from companion.judging.prose import percent, times
from companion.judging.tables import Tables


def answer(tables: Tables) -> list[str]:
    """What the chapter found, and what its page shows."""
    worst = tables["gains"].groupby("family")["excess"].max()
    behind = excess(wide(tables["figure-7"], UNIFORM)).max()
    return [
        "For isotropic data we know the best schedule: it is constant at first and then falls like $1/t$, along an "
        "explicit curve.",
        f"Tuned harmonic schedules have up to {percent(worst[HARMONIC])} more risk, and constant ones up to "
        f"{times(1 + worst[CONSTANT])} the risk.",
        f"A constant start with a power of time after it costs at most {percent(worst[FLAT_FREE])}. On a uniform "
        f"spectrum harmonic schedules have up to {times(1 + behind)} the risk of polynomial ones.",
        "We derive the best schedule from what one step contracts and what noise it needs, follow it in a run by hand, "
        "and judge the paper's claims.",
    ]
