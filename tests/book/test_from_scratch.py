"""The page for readers new to differential privacy: live, checked, short, and its solutions print what they say."""

import contextlib
import io
import re
from pathlib import Path
from typing import Any

import pytest

from costofprivacy.book import notebooks
from costofprivacy.book.project import Project, is_plain, place

PROJECT = Project(Path(__file__).parents[2])
NAME = "privacy/from-scratch"
MOST_WORDS = 3500
SOLUTION = re.compile(r"~~~python\n(?P<code>.*?)~~~\n+~~~text\n(?P<said>.*?)~~~", re.DOTALL)


def page() -> Any:
    return notebooks.read(place(PROJECT.book, NAME).notebook)


def test_it_is_a_notebook_alone_and_short() -> None:
    assert is_plain(PROJECT, NAME)
    lines = [line for cell in page().cells if cell.cell_type == "markdown" for line in cell.source.splitlines()]
    prose = " ".join(line for line in lines if not line.startswith((":", "```")))
    captions = [cell.metadata.get("mystnb", {}).get("figure", {}).get("caption", "") for cell in page().cells]
    assert len(f"{prose} {' '.join(captions)}".split()) <= MOST_WORDS


def test_every_printed_number_is_shown_with_its_code_and_compared() -> None:
    printing = [cell for cell in notebooks.code_cells(page()) if any("text" in output for output in cell.outputs)]
    assert len(printing) > 8
    assert all({"shown-input", "nbval-check-output"} <= set(notebooks.tags(cell)) for cell in printing)


def test_every_drawing_has_a_caption_and_words_for_the_ear() -> None:
    kinds = [
        [kind for output in cell.outputs for kind in output.get("data", {})] for cell in notebooks.code_cells(page())
    ]
    drawing = [cell for cell, found in zip(notebooks.code_cells(page()), kinds) if "image/svg+xml" in found]
    assert len(drawing) > 6
    assert all("image/png" not in found for found in kinds)
    for cell in drawing:
        assert len(cell.metadata["mystnb"]["figure"]["caption"]) > 50
        assert len(cell.metadata["mystnb"]["image"]["alt"]) > 50


@pytest.mark.filterwarnings("ignore:.*non-interactive:UserWarning")
def test_the_solutions_print_what_they_say() -> None:
    known: dict[str, Any] = {}
    imports = [line for cell in notebooks.code_cells(page()) for line in cell.source.splitlines() if " import " in line]
    exec("import numpy as np\n" + "\n".join(imports), known)
    solutions = list(SOLUTION.finditer(page().cells[-1].source))
    assert len(solutions) == 2
    for solution in solutions:
        with contextlib.redirect_stdout(io.StringIO()) as said:
            exec(solution["code"], known)
        assert said.getvalue() == solution["said"]
