"""The real data that chapters use: which sets there are, where they lie, and how each is fetched and counted."""

from collections.abc import Callable

from costofprivacy import datasets
from costofprivacy.datasets import COUNTS, HOUSING, MNIST, NEWSGROUPS, DataDamaged, DataMissing, folder, own_name

__all__ = ["COUNTS", "DataDamaged", "DataMissing", "folder", "own_name"]

MEGABYTES = {HOUSING: 0.4, MNIST: 15.0, NEWSGROUPS: 14.0}  # on the way, about
LOADERS: dict[str, Callable[[], int]] = {
    HOUSING: lambda: len(datasets.regression(HOUSING, fetch=True).y),
    MNIST: lambda: len(datasets.regression(MNIST, fetch=True).y),
    NEWSGROUPS: lambda: len(datasets.newsgroups(fetch=True).texts),
}
LARGE = MNIST  # takes 1.5 GB to read, and a tenth of that once its digits are kept


def is_cached(name: str) -> bool:
    """Whether a set is in the data folder; `DataDamaged` where it cannot be read."""
    return datasets.is_cached(name)


def read_large() -> None:
    """Read `LARGE` once, and keep what chapters need of it."""
    datasets.regression(LARGE)
