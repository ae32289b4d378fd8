"""How long each chapter takes at the papers' scale: ``book/costs/chapters.csv``, as ``make bench`` measured it."""

from pathlib import Path

import pandas as pd

COSTS = "costs/chapters.csv"
SHORT = 100.0  # seconds; what takes longer is told in minutes


def seconds(book: Path) -> dict[str, float]:
    """Seconds of one core by chapter, everything measured anew; nothing where none were measured."""
    path = book / COSTS
    if not path.is_file():
        return {}
    table = pd.read_csv(path)
    return dict(zip(table["chapter"], table["seconds"].astype(float), strict=True))


def words(book: Path, name: str) -> str:
    """How long one core takes for a chapter at the papers' scale; nothing where that was not measured."""
    took = seconds(book).get(name)
    if took is None:
        return ""
    if took >= SHORT:
        return f"{round(took / 60)} minutes"
    whole = max(1, round(took))
    return "1 second" if whole == 1 else f"{whole} seconds"
