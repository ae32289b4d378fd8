"""The ecosystem's own commands, without the Makefile, on the committed chapters and on what a live session says."""

import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

ROOT = Path(__file__).parents[2]
NBVAL = ("pytest", "--nbval", "-p", "no:cacheprovider", "-n", "0")
LIVE = """from companion.running import progress
progress.say("a live session: tables go elsewhere")
with progress.bar(True, 3) as bar:
    bar.update(3)
{more}1 + 1"""


def run(*words: object, folder: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """A command of the environment, as a person types it: none of the book's or of this test's settings are there."""
    ours = ("COSTOFPRIVACY_", "PYTEST_", "IPYTHONDIR", "MPLBACKEND")
    settings = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    settings["PYTHONPATH"] = os.pathsep.join([str(ROOT / "lib"), settings.get("PYTHONPATH", "")]).rstrip(os.pathsep)
    command = [sys.executable, "-m", *map(str, words)]
    return subprocess.run(command, cwd=folder, env=settings, capture_output=True, text=True, check=False)


def committed() -> dict[Path, bytes]:
    """The files of the book."""
    return {path: path.read_bytes() for path in (ROOT / "book").rglob("*") if path.is_file()}


def live(tmp_path: Path) -> Path:
    """A notebook of two cells that say something to a person, draw a bar, and give 2; the second prints, too."""
    cells = [new_code_cell(LIVE.format(more=more)) for more in ("", 'print("odd")\n')]
    for count, cell in enumerate(cells, start=1):
        cell.execution_count = count
        cell.outputs = [nbformat.v4.new_output("execute_result", {"text/plain": "2"}, execution_count=count)]
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    nbformat.write(new_notebook(cells=cells), tmp_path / "live.ipynb")
    return tmp_path / "live.ipynb"


@pytest.mark.slow
def test_nbval_compares_the_outputs_and_not_what_a_live_session_says(tmp_path: Path) -> None:
    done = run(*NBVAL, live(tmp_path), folder=tmp_path)
    assert "1 failed, 1 passed" in done.stdout
    assert "live.ipynb::Cell 1" in done.stdout
    assert "Unexpected output fields from running code: {'stdout'}" in done.stdout


@pytest.mark.slow
def test_a_live_session_says_it_to_a_person(tmp_path: Path) -> None:
    words = ("--to", "notebook", "--execute", "--output", "out.ipynb", live(tmp_path))
    done = run("jupyter", "nbconvert", *words, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    executed = nbformat.read(tmp_path / "out.ipynb", as_version=4)
    shown = [list(output.data) for output in executed.cells[0].outputs]
    assert shown[0] == shown[1] == ["application/vnd.jupyter.widget-view+json"]
    assert shown[-1] == ["text/plain"]
    states = executed.metadata.widgets["application/vnd.jupyter.widget-state+json"]["state"].values()
    assert "a live session: tables go elsewhere" in [state["state"].get("value") for state in states]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["your-data"])
def test_nbval_alone_validates_a_committed_chapter(name: str) -> None:
    before = committed()
    done = run(*NBVAL, f"book/{name}.ipynb")
    assert done.returncode == 0, done.stdout
    assert committed() == before


@pytest.mark.slow
def test_papermill_alone_runs_a_chapter_from_the_root_and_leaves_the_project_as_it_was(tmp_path: Path) -> None:
    before = committed()
    values = ("-y", "{N: [1000], pairs: 100, trials: 2, workers: 1}")
    done = run("papermill", "book/noisyhead/mechanism.ipynb", tmp_path / "out.ipynb", *values)
    assert done.returncode == 0, done.stderr
    assert committed() == before
    assert not (ROOT / "mechanism").exists()
    assert (ROOT / "_build" / "live" / "noisyhead" / "mechanism" / "noise.csv").is_file()
