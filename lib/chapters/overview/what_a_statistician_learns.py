"""What *What a statistician learns here* says."""

from chapters.dpgd.schedules.measure import HARMONIC
from chapters.overview import index
from chapters.overview.saved import Saved
from companion.judging.prose import percent
from companion.judging.tables import select


def values(saved: Saved) -> dict[str, str]:
    """The places of ``what-a-statistician-learns.md``."""
    row, end = index.head_row(saved), index.path_end(saved)
    return saved.headlines | {
        "error": percent(row["test_error"] / row["response_variance"]),
        "best": percent(row["best_linear_head"] / row["response_variance"]),
        "d": f"{end['d']:.0f}",
        "off": percent(abs(index.off(end))),
        "harmonic_cost": percent(select(saved.table("dpgd/schedules", "gains"), family=HARMONIC)["excess"].max()),
    }
