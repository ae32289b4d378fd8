"""A pytest plugin beside nbval: where a chapter writes, that it writes nothing to the error stream, and how it ends.

Where real data is missing, cells run on what stands in for it, and a marked cell is skipped instead of being compared.
"""

import os
import re
import signal
from collections.abc import Generator
from functools import cache
from pathlib import Path

import pytest

from companion import of_chapters
from companion.build import freshness, notebooks
from companion.build.parameters import experiment_class, experiment_of
from companion.build.project import Project

data_sets = of_chapters("data_sets")

ROOT = Path(__file__).parents[3]


def pytest_configure() -> None:
    """An interrupt ends this process with its kernel, also where a shell in the background had it ignored."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Before a notebook's kernel starts: where its results go, and which measured tables it may read."""
    os.environ["COSTOFPRIVACY_RESULTS"] = str(item.path.with_suffix(""))
    if tree := os.environ.get("COSTOFPRIVACY_MEASURED"):
        name = item.path.relative_to(os.environ["COSTOFPRIVACY_BOOK"]).with_suffix("")
        os.environ["COSTOFPRIVACY_SAVED"] = os.path.join(tree, name)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Fail a cell with an output on the error stream, after nbval has run it; skip one that cannot be compared."""
    checked = bool(item.options["check"]) if hasattr(item, "options") else False
    notebook = getattr(item.parent, "nb", None)
    missing: tuple[str, ...] = ()
    if checked and notebook is not None:
        named = (re.search(r'\bChapter\("([^"]+)"', cell.source) for cell in notebooks.code_cells(notebook))
        cell = notebooks.parameters_cell(notebook)
        missing = stand_ins(next((match[1] for match in named if match), ""), cell.source if cell else "")
    if missing:
        item.options["check"] = False  # type: ignore[attr-defined]
    result = yield
    for output in getattr(item, "test_outputs", None) or []:
        if output.get("output_type") == "stream" and output.get("name") == "stderr":
            pytest.fail(f"{item.nodeid} wrote to stderr: {output.text.strip()}", pytrace=False)
    if missing:
        pytest.skip(f"{' and '.join(missing)} not in {data_sets.folder()}: the committed verdicts belong to real data")
    return result


@cache
def stand_ins(chapter: str, parameters: str = "") -> tuple[str, ...]:
    """The data sets of a chapter, with the source of its parameters cell, that are missing and stood in for."""
    if not (chapter and any(map(freshness.is_missing, data_sets.COUNTS))):  # an experiment takes a second to import
        return ()
    values = notebooks.literals(parameters)
    project = Project(ROOT)
    experiment = experiment_of(project, chapter, values) if values else experiment_class(project, chapter)()
    return freshness.missing_of(experiment)
