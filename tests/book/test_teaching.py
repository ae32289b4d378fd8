"""Every chapter teaches: it derives its central quantity, runs it by hand, and asks two questions."""

import ast
import contextlib
import html
import io
import re
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import nbformat
import pytest

from costofprivacy.book import notebooks
from costofprivacy.book.project import LEDGER, Project, chapters, is_plain, place
from costofprivacy.judging.by_hand import DIFFERENT

PROJECT = Project(Path(__file__).parents[2])
NO_LESSON = {LEDGER, "method", "explore/noisyhead", "explore/dpgd"}  # a calculator, toys, an index
NAMES = [name for name in chapters(PROJECT) if name not in NO_LESSON and not is_plain(PROJECT, name)]
BY_HAND, EXERCISES = "## One run, by hand", "## Exercises"
MOST_LINES = 25
STEPS = range(3, 7)  # displayed, numbered equations of a derivation
EQUATION = re.compile(r"^\$\$ \(eq-[\w-]+\)$", re.MULTILINE)
FOLDED = re.compile(r"^(`{3,})\{dropdown\}.*?^\1$", re.MULTILINE | re.DOTALL)
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
def test_the_central_quantity_is_derived_in_the_open(name: str) -> None:
    source = "\n\n".join(cell.source for cell in cells(name) if cell.cell_type == "markdown")
    part, own = name.split("/")
    target = next(target for target in (f"(derivation-{own})=", f"(derivation-{part}-{own})=") if target in source)
    derivation = re.split(r"^## ", source.split(target)[1], flags=re.MULTILINE)[1]
    shown = FOLDED.sub("", derivation)
    assert len(EQUATION.findall(shown)) in STEPS
    assert len(re.findall(r"^\*\*\d\. ", shown, re.MULTILINE)) in STEPS


@each_chapter
def test_one_run_by_hand_is_short_and_uses_the_library_alone(name: str) -> None:
    shown = by_hand(name)
    code = "\n".join(cell.source for cell in shown)
    assert 0 < len([line for line in code.splitlines() if line.strip()]) <= MOST_LINES
    words = set(re.findall(r"[\w.]+", code))
    assert not words & {"chapter", "tables", "short", "trials"}
    assert "costofprivacy" in code
    assert "costofprivacy.experiments" not in code
    assert any("image/svg+xml" in output.get("data", {}) for cell in shown for output in cell.outputs)


@each_chapter
def test_its_number_is_that_of_the_chapters_table(name: str) -> None:
    told = [cell for cell in part(name, BY_HAND) if cell.cell_type == "code" and "chapter.relate(" in cell.source]
    assert told
    for cell in told:
        said = "".join(output.get("data", {}).get("text/markdown", "") for output in cell.outputs)
        assert said.startswith("By hand: ")
        assert DIFFERENT not in said


@each_chapter
def test_it_ends_with_what_to_change(name: str) -> None:
    source = "\n".join(cell.source for cell in part(name, BY_HAND) if cell.cell_type == "markdown")
    assert len(re.findall(r"^- ", source.split("**Change this.**")[1], re.MULTILINE)) >= 2


@each_chapter
def test_a_drawing_made_by_hand_has_a_caption_and_words_for_the_ear(name: str) -> None:
    for cell in by_hand(name):
        kinds = [kind for output in cell.outputs for kind in output.get("data", {})]
        assert "image/png" not in kinds
        if "image/svg+xml" in kinds:
            assert len(cell.metadata["mystnb"]["figure"]["caption"]) > 50
            assert len(cell.metadata["mystnb"]["image"]["alt"]) > 50


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


@each_chapter
def test_the_function_on_which_its_tables_rest_is_shown_folded(name: str) -> None:
    (cell,) = [cell for cell in cells(name) if cell.cell_type == "code" and cell.source.startswith("chapter.source(")]
    (told,) = [output["data"]["text/html"] for output in cell.outputs]
    assert told.startswith('<details class="numbers"><summary>The function on which the tables rest: <code>')
    code = html.unescape(re.sub(r"<[^>]+>", "", told.partition("</summary>")[2]))
    assert re.match(r"(@.*\n)*def \w+\(", code)
