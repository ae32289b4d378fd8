"""How long each chapter takes at the papers' scale: ``book/times.yml``, as it was measured."""

from pathlib import Path

import yaml

TIMES = "times.yml"


def seconds(book: Path) -> dict[str, float]:
    """Seconds by chapter on two cores, everything measured anew; nothing where none were measured."""
    path = book / TIMES
    return yaml.safe_load(path.read_text("utf-8")) if path.is_file() else {}


def words(book: Path, name: str) -> str:
    """How long a chapter takes at the papers' scale on two cores; nothing where it was not measured."""
    took = seconds(book).get(name)
    if took is None:
        return ""
    return f"{took} seconds" if took < 100 else f"{round(took / 60)} minutes"
