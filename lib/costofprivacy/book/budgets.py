"""How long each chapter may take at the quick preset, `book/budgets.yml`: those side by side start with the longest."""

import math
from collections.abc import Iterable, Mapping

from costofprivacy.book.parameters import read_yaml_file
from costofprivacy.book.project import Project

FILE = "budgets.yml"


def seconds(project: Project) -> dict[str, float]:
    """The budget of each chapter that has one, in seconds; none where the book has no such file."""
    path = project.book / FILE
    return {name: float(budget) for name, budget in read_yaml_file(path).items()} if path.is_file() else {}


def longest_first(names: Iterable[str], known: Mapping[str, float]) -> list[str]:
    """Chapters by the seconds that they take, those of which they are not known before all others."""
    return sorted(names, key=lambda name: known.get(name, math.inf), reverse=True)
