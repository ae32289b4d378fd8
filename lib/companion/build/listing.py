"""What there is to run: the chapters with their questions, and the parameters of one."""

import importlib
import inspect
import textwrap
from collections.abc import Iterator
from typing import Any

from companion import of_chapters, symbols
from companion.build import budgets, notebooks
from companion.build.parameters import experiment_class
from companion.build.project import LEDGER, Project, chapters, check_name, is_plain, module_name, place
from companion.judging.claims import read_register

WIDTH = 100


def chapter_lines(project: Project) -> Iterator[str]:
    """Name, number of claims, seconds at the quick preset, and question of each chapter, a line each."""
    claims = read_register(project.claims).values() if project.claims.is_file() else []
    seconds = budgets.seconds(project)
    names = chapters(project)
    width = max(map(len, names), default=0)
    for name in names:
        judged = sum(claim.chapter == name and not claim.pending for claim in claims)
        amount = "every claim" if name == LEDGER else f"{judged:>3} claims"
        yield f"{name:<{width}}  {amount:>11}  {seconds.get(name, 0):>3.0f} s  {question(project, name)}"


def question(project: Project, name: str) -> str:
    """What a chapter asks: the words of the package that serves it; the title of a plain notebook."""
    if is_plain(project, name):
        first = notebooks.read(place(project.book, name).notebook).cells[0].source
        return f"{first.splitlines()[0].lstrip('# ')}."
    module = importlib.import_module(module_name(project, name))
    return " ".join(inspect.cleandoc(module.__doc__ or "").split())


def parameters_of(project: Project, name: str) -> str:
    """The parameters of a chapter: name, value in the book, meaning, unit and range, for a terminal.

    Raises:
        RequestError: the book has no such chapter.
    """
    if is_plain(project, check_name(project, name)):
        known = notebooks.defaults(notebooks.read(place(project.book, name).notebook))
        told = ", ".join(f"{key} = {_shown(value)}" for key, value in known.items())
        return f"{name} has {f'the parameters {told}' if told else 'no parameters'}: {question(project, name)}"
    experiment = experiment_class(project, name)
    rows = symbols.rows(experiment)
    lines = [f"Parameters of {name}: {question(project, name)}", ""]
    for row in rows:
        lines.append(f"  {row.name} = {_shown(row.default)}{f' {row.unit}' if row.unit else ''}")
        told = f"{row.meaning} Must be {row.range}."
        lines.append(textwrap.fill(told, WIDTH, initial_indent=" " * 6, subsequent_indent=" " * 6))
    return "\n".join([*lines, "  workers = -1", " " * 6 + of_chapters("symbols").BY_NAME["workers"].meaning])


def _shown(value: Any) -> str:
    """A default as it is typed on the command line."""
    return "[" + ", ".join(map(_shown, value)) + "]" if isinstance(value, tuple) else f"{value}"
