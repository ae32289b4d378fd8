"""How long each chapter may take at the quick preset, `book/budgets.yml`: those side by side start with the longest."""

import math
from collections.abc import Iterable, Mapping

from companion.build.parameters import read_yaml_file
from companion.build.project import Project

FILE = "budgets.yml"


def seconds(project: Project) -> dict[str, float]:
    """The budget of each chapter that has one, in seconds; none where the book has no such file."""
    path = project.book / FILE
    return {name: float(budget) for name, budget in read_yaml_file(path).items()} if path.is_file() else {}


def longest_first(names: Iterable[str], known: Mapping[str, float]) -> list[str]:
    """Chapters by the seconds that they take, those of which they are not known before all others.

    Where possible, two of the same part do not follow each other: side by side, both would compile what they share.
    """
    waiting = sorted(names, key=lambda name: known.get(name, math.inf), reverse=True)
    found, last = list[str](), ""
    while waiting:
        found.append(next((name for name in waiting if _part(name) != last), waiting[0]))
        waiting.remove(found[-1])
        last = _part(found[-1])
    return found


def _part(name: str) -> str:
    """The part of the book to which a chapter belongs: the folder of its notebook."""
    return name.partition("/")[0]
