"""What is said before a run begins, and which runs are refused before they do."""

from pathlib import Path

import pytest

from companion.build import cli, parameters
from companion.build import listing as book_memory
from companion.build.project import Project, RequestError
from companion.checks import ANYWAY
from companion.running import memory

PROJECT = Project(Path(__file__).parents[2])
NAME = "noisyhead/low-dimensional"


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
    monkeypatch.setattr("companion.build.environment.in_settled_environment", lambda: None)
    monkeypatch.setattr(memory, "available", lambda: 2.0**10)
    asked = ["--sweep", "penalty=1,5", "--out", str(tmp_path / "out")]
    assert cli.main(["--root", str(PROJECT.root), "sweep", NAME, *asked]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"error: {NAME} would need at least ")
    assert not (tmp_path / "out").exists()
