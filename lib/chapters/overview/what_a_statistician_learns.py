"""What *What a statistician learns here* says."""

from chapters.dpgd.schedules.measure import HARMONIC
from chapters.overview import index
from chapters.overview.saved import Saved
from companion.judging.prose import percent
from companion.judging.tables import select


def values(saved: Saved) -> dict[str, str]:
    """The places of ``what-a-statistician-learns.md``."""
    row = index.head_row(saved)
    return saved.headlines | {
        "bibtex": index.BIBTEX,
        "error": percent(row["test_error"] / row["response_variance"]),
        "best": percent(row["best_linear_head"] / row["response_variance"]),
        "d": f"{index.path_ends(saved)['d'].max()}",
        "off": index.off(saved),
        "harmonic_cost": percent(select(saved.table("dpgd/schedules", "gains"), family=HARMONIC)["excess"].max()),
    }
