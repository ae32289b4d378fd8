"""What is said before a run begins, and which runs are refused before they do."""

import subprocess
import sys
from pathlib import Path

import pytest

from costofprivacy._validate import ANYWAY
from costofprivacy.book import cli, parameters
from costofprivacy.book import memory as book_memory
from costofprivacy.book.errors import RequestError
from costofprivacy.book.project import Project
from costofprivacy.running import memory, times

PROJECT = Project(Path(__file__).parents[2])
NAME = "noisyhead/low-dimensional"


@pytest.mark.parametrize(("points", "opening"), [(1, NAME), (7, f"each of 7 points of {NAME}")])
def test_it_is_said_how_long_the_papers_parameters_take(points: int, opening: str) -> None:
    said: list[str] = []
    book_memory.announce(PROJECT, NAME, [parameters.resolve(PROJECT, NAME, {})] * points, said.append)
    took = times.words(PROJECT.book, NAME)
    assert took.endswith("seconds")
    assert said[0].startswith(f"{opening} takes about {took} of one core with the papers' parameters")


def test_of_a_sweep_with_nothing_left_to_measure_nothing_is_said() -> None:
    book_memory.announce(PROJECT, NAME, [], pytest.fail)


def test_what_cannot_fit_is_refused_unless_it_is_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    values = parameters.resolve(PROJECT, NAME, {"N": [10**7], "D": 100})
    monkeypatch.setattr(memory, "available", lambda: 4.0 * 2**30)
    with pytest.raises(RequestError, match=rf"^{NAME} would need at least 7.45 GB of memory, but only 4 GB are free"):
        book_memory.announce(PROJECT, NAME, [values], pytest.fail)
    monkeypatch.setenv(ANYWAY, "1")
    said: list[str] = []
    book_memory.announce(PROJECT, NAME, [values], said.append)
    assert len(said) == 1


def test_a_sweep_that_cannot_fit_is_refused_in_one_line_before_anything_is_made(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr("costofprivacy.book.environment.in_settled_environment", lambda: None)
    monkeypatch.setattr(memory, "available", lambda: 2.0**10)
    asked = ["--sweep", "penalty=1,5", "--out", str(tmp_path / "out")]
    assert cli.main(["--root", str(PROJECT.root), "sweep", NAME, *asked]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"error: {NAME} would need at least ")
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
@pytest.mark.parametrize("command", ["chapter", "sweep"])
def test_a_refusal_brings_no_plotting_and_no_notebook(command: str) -> None:
    """It should take three seconds at most, and these alone would take two."""
    words = [NAME, "-p", "trials", "0", *(["--sweep", "penalty=1,5"] if command == "sweep" else [])]
    code = f"import sys\nfrom costofprivacy.book import cli\nassert cli.main({[command, *words]!r}) == 2\n"
    code += "print([name for name in ('matplotlib', 'papermill', 'nbclient', 'IPython') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=PROJECT.root, check=True)
    assert done.stdout == "[]\n"
