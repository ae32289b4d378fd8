"""Every chapter teaches: it derives its central quantity, runs it by hand, and asks two questions."""

import ast
import contextlib
import io
import re
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import nbformat
import pytest
from companion.judging.by_hand import DIFFERENT

from companion.build import notebooks
from companion.build.project import LEDGER, Project, chapters, is_plain, place

PROJECT = Project(Path(__file__).parents[2])
NO_LESSON = {LEDGER, "method", "explore/noisyhead", "explore/dpgd"}  # a calculator, toys, an index
NAMES = [name for name in chapters(PROJECT) if name not in NO_LESSON and not is_plain(PROJECT, name)]
BY_HAND, EXERCISES = "## One run, by hand", "## Exercises"
SOLUTION = re.compile(r"~~~python\n(?P<code>.*?)~~~\n+~~~text\n(?P<said>.*?)~~~", re.DOTALL)

each_chapter = pytest.mark.parametrize("name", NAMES)


def cells(name: str) -> list[nbformat.NotebookNode]:
    return notebooks.read(place(PROJECT.book, name).notebook).cells


def part(name: str, heading: str) -> list[nbformat.NotebookNode]:
    """The cells of a section, from its heading to the next one of its kind."""
    found: list[nbformat.NotebookNode] = []
    inside = False
    for cell in cells(name):
        if cell.cell_type == "markdown" and re.search(r"^## ", cell.source, re.MULTILINE):
            inside = bool(re.search(rf"^{heading}", cell.source, re.MULTILINE))
        if inside:
            found.append(cell)
    assert found, f"{name} has no section {heading!r}"
    return found


def by_hand(name: str) -> list[nbformat.NotebookNode]:
    """The cells whose code the reader sees and changes."""
    code = [cell for cell in part(name, BY_HAND) if cell.cell_type == "code"]
    return [cell for cell in code if "shown-input" in notebooks.tags(cell)]


@each_chapter
def test_its_number_is_that_of_the_chapters_table(name: str) -> None:
    told = [cell for cell in part(name, BY_HAND) if cell.cell_type == "code" and "chapter.relate(" in cell.source]
    assert told
    for cell in told:
        said = "".join(output.get("data", {}).get("text/markdown", "") for output in cell.outputs)
        assert said.startswith("By hand: ")
        assert DIFFERENT not in said


@pytest.mark.slow
@each_chapter
@pytest.mark.filterwarnings("ignore:.*non-interactive:UserWarning")
def test_there_are_two_exercises_whose_solutions_say_what_they_print(name: str) -> None:
    source = "\n\n".join(cell.source for cell in part(name, EXERCISES))
    assert len(re.findall(r"^\*\*Exercise \d\.\*\*", source, re.MULTILINE)) >= 2
    assert len(re.findall(r"^`{3,}\{dropdown\} Solution", source, re.MULTILINE)) >= 2
    solutions = list(SOLUTION.finditer(source))
    if solutions:
        known: dict[str, Any] = {}
        with contextlib.redirect_stdout(io.StringIO()):
            exec("\n".join(cell.source for cell in by_hand(name)), known)
        for solution in solutions:
            with contextlib.redirect_stdout(io.StringIO()) as said:
                exec(solution["code"], known)
            assert said.getvalue() == solution["said"]
    plt.close("all")


@each_chapter
def test_it_changes_no_name_that_a_later_cell_reads(name: str) -> None:
    shown, after = by_hand(name), [cell for cell in cells(name) if cell.cell_type == "code"]
    after = after[after.index(shown[-1]) + 1 :]
    own = {cell.source for cell in part(name, BY_HAND)}
    made = used(shown, ast.Store)
    later = used([cell for cell in after if cell.source not in own], ast.Load)
    assert not made & later


def used(found: list[nbformat.NotebookNode], how: type[ast.expr_context]) -> set[str]:
    nodes = [node for cell in found for node in ast.walk(ast.parse(cell.source))]
    return {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, how)}
