"""The page for readers new to differential privacy: live, checked, short, and its solutions print what they say."""

import contextlib
import io
import re
from pathlib import Path
from typing import Any

import pytest

from companion.build import notebooks
from companion.build.project import Project, place

PROJECT = Project(Path(__file__).parents[2])
NAME = "privacy/from-scratch"
SOLUTION = re.compile(r"~~~python\n(?P<code>.*?)~~~\n+~~~text\n(?P<said>.*?)~~~", re.DOTALL)


def page() -> Any:
    return notebooks.read(place(PROJECT.book, NAME).notebook)


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
