"""What is said before anything runs: the chapters, the parameters of one, and how long a run takes."""

import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from companion import of_chapters, question, symbols
from companion.build import notebooks
from companion.build.parameters import experiment_class, experiment_of
from companion.build.project import (
    LEDGER,
    Project,
    budgets,
    chapters,
    check_name,
    is_plain,
    module_name,
    place,
)
from companion.judging.claims import read_register
from companion.running import stamps

WIDTH = 100


def chapter_lines(project: Project) -> Iterator[str]:
    """Name, number of claims, seconds at the quick preset, and question of each chapter, a line each."""
    claims = read_register(project.claims).values() if project.claims.is_file() else []
    seconds, names = budgets(project), chapters(project)
    width = max(map(len, names), default=0)
    for name in names:
        judged = sum(claim.chapter == name and not claim.pending for claim in claims)
        amount = "every claim" if name == LEDGER else f"{judged:>3} claims"
        yield f"{name:<{width}}  {amount:>11}  {seconds.get(name, 0):>3.0f} s  {asks(project, name)}"


def asks(project: Project, name: str) -> str:
    """What a chapter asks; the title of a plain notebook."""
    if is_plain(project, name):
        return f"{notebooks.title(notebooks.read(place(project.book, name).notebook))}."
    return question(module_name(project, name))


def parameters_of(project: Project, name: str) -> str:
    """The parameters of a chapter: name, value in the book, meaning, unit and range, for a terminal."""
    if is_plain(project, check_name(project, name)):
        known = notebooks.defaults(notebooks.read(place(project.book, name).notebook))
        given = ", ".join(f"{key} = {_shown(value)}" for key, value in known.items())
        return f"{name} has {f'the parameters {given}' if given else 'no parameters'}: {asks(project, name)}"
    lines = [f"Parameters of {name}: {asks(project, name)}", ""]
    for row in symbols.rows(experiment_class(project, name)):
        lines.append(f"  {row.name} = {_shown(row.default)}{f' {row.unit}' if row.unit else ''}")
        meaning = f"{row.meaning} Must be {row.range}."
        lines.append(textwrap.fill(meaning, WIDTH, initial_indent=" " * 6, subsequent_indent=" " * 6))
    return "\n".join([*lines, "  workers = -1", " " * 6 + of_chapters("symbols").BY_NAME["workers"].meaning])


def _shown(value: Any) -> str:
    """A default as it is typed on the command line."""
    return "[" + ", ".join(map(_shown, value)) + "]" if isinstance(value, tuple) else f"{value}"


def announce(project: Project, name: str, points: Sequence[Mapping[str, Any]], say: Callable[[str], None]) -> None:
    """Say how long a chapter takes, once for each of some points, at the papers' parameters."""
    took = stamps.time_in_words(project.book, name)
    if points and took and experiment_of(project, name, points[0]):
        each = f"each of {len(points)} points of {name}" if len(points) > 1 else name
        say(f"{each} takes about {took} of one core with the papers' parameters, less if trials are already saved")
