"""Chapters on real data where that data is missing: their cells run, and what cannot be compared is skipped."""

import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

from companion.build import nbval_plugin
from companion.build.validate import OPTIONS, PLUGINS
from costofprivacy import datasets

REAL, OTHER = "dpgd/real-data", "dpgd/schedules"


@pytest.fixture
def nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder without anything in it, in which nothing was looked for yet."""
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path / "data"))
    nbval_plugin.stand_ins.cache_clear()
    yield tmp_path
    nbval_plugin.stand_ins.cache_clear()


def test_only_a_chapter_that_names_its_data_sets_has_stand_ins(nothing: Path) -> None:
    assert nbval_plugin.stand_ins(REAL) == (datasets.HOUSING, datasets.MNIST)
    assert nbval_plugin.stand_ins(OTHER) == nbval_plugin.stand_ins("") == ()


def test_nothing_stands_in_for_data_that_is_there(nothing: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(datasets, "is_cached", lambda name: True)
    assert nbval_plugin.stand_ins(REAL) == ()


@pytest.mark.slow
@pytest.mark.parametrize(("chapter", "status", "said"), [(REAL, 0, "2 passed, 1 skipped"), (OTHER, 1, "1 failed")])
def test_marked_cells_are_run_and_skipped_with_the_reason(nothing: Path, chapter: str, status: int, said: str) -> None:
    book = new_notebook(metadata={"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}})
    sources = f'# Chapter("{chapter}", globals())\nx = 1', "# NBVAL_CHECK_OUTPUT\nx = 2\nprint('now')", "assert x == 2"
    book.cells = [new_code_cell(source, execution_count=1) for source in sources]
    book.cells[1].outputs = [new_output("stream", name="stdout", text="committed\n")]
    nbformat.write(book, nothing / "page.ipynb")
    command = [sys.executable, "-m", "pytest", "--nbval-lax", "-rs", *PLUGINS, *OPTIONS, str(nothing / "page.ipynb")]
    done = subprocess.run(command, capture_output=True, text=True, cwd=nothing, check=False)
    assert done.returncode == status, done.stdout
    assert said in done.stdout
    assert ("the committed verdicts belong to real data" in done.stdout) == (status == 0)
