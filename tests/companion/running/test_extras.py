"""Extra environments: calls into one, what is said where there is none, and which runs are read or measured."""

import os
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from companion.running import extras
from companion.running.extras import Extra, ExtraFailed, ExtraMissing, Record

ROOT = Path(__file__).parents[3]
LOCK = "plain==1.2+cpu ; sys_platform == 'linux' \\\n    --hash=sha256:00\nbelow==3.4 \\\n    --hash=sha256:01\n"


def worker(x: np.ndarray, words: np.ndarray, factor: float) -> dict[str, np.ndarray]:
    """What is called elsewhere: a function of a module that imports nothing of the package at its top."""
    return {"scaled": factor * x, "words": words, "process": np.array(os.getpid())}


def refuse() -> dict[str, np.ndarray]:
    raise ValueError("no such thing")


@dataclass(frozen=True)
class Cell:
    n: int


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with one extra environment, not installed, and one table of committed runs."""
    (tmp_path / "environments").mkdir()
    (tmp_path / "environments" / "plain.in").write_text("# a comment\nplain>=1\n")
    (tmp_path / "environments" / "plain.txt").write_text(LOCK)
    return tmp_path


def install(project: Path) -> None:
    python = project / ".venv-plain" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    (project / ".venv-plain" / ".complete").touch()


@pytest.fixture
def standalone(tmp_path: Path) -> object:
    """The functions above, in a module of their own, as a worker is."""
    import importlib.util
    import inspect

    path = tmp_path / "elsewhere.py"
    path.write_text("\n\n".join(["import os", "import numpy as np", *map(inspect.getsource, (worker, refuse))]))
    spec = importlib.util.spec_from_file_location("elsewhere", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def record(project: Path) -> Record:
    return Record(Extra("plain", project), "part/chapter", "runs", (worker,))


def commit(project: Path, cells: list[Cell], trials: int) -> pd.DataFrame:
    """The runs of some cells, measured and committed."""
    own = record(project)
    table = pd.concat(
        [pd.DataFrame({"trial": range(trials), "value": c.n / 7, "digest": own.digest(c)}) for c in cells]
    )
    own.path.parent.mkdir(parents=True)
    table.to_csv(own.path, index=False)
    return table


def never(cells: object) -> list[pd.DataFrame]:
    raise AssertionError("nothing is to be measured")


def test_a_function_is_called_in_another_process_with_arrays_texts_and_values(project: Path, standalone) -> None:
    install(project)
    x = np.array([[1.0, np.pi], [np.inf, -0.0]])
    out = Extra("plain", project).call(standalone.worker, {"x": x, "words": np.array(["a", "Γ"])}, factor=3.0)
    np.testing.assert_array_equal(out["scaled"], 3 * x)
    assert out["words"].tolist() == ["a", "Γ"]
    assert out["process"] != os.getpid()


def test_a_missing_environment_is_one_line_with_its_remedy(project: Path) -> None:
    with pytest.raises(ExtraMissing, match=r"^the extra environment plain is not installed: make .* extra NAME=plain$"):
        Extra("plain", project).call(worker)


def test_an_interrupted_installation_is_none(project: Path) -> None:
    install(project)
    assert Extra("plain", project).present
    (project / ".venv-plain" / ".complete").unlink()
    assert not Extra("plain", project).present


def test_a_failure_there_is_its_last_line_here(project: Path, standalone) -> None:
    install(project)
    with pytest.raises(ExtraFailed, match=r"^refuse failed in the extra environment plain: ValueError: no such thing$"):
        Extra("plain", project).call(standalone.refuse)


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(ValueError, match=r"name must be one of .*opacus.*, got 'none'"):
        extras.find("none")


def test_committed_runs_are_read_without_the_environment(project: Path) -> None:
    table = commit(project, [Cell(1), Cell(2)], trials=3)
    own = record(project)
    read = own.runs([Cell(2), Cell(1)], 2, never)
    assert read["value"].tolist() == [2 / 7] * 2 + [1 / 7] * 2
    assert "Of its 6 runs here, 6 are read from the committed run and 0 were measured" in own.origin(table)
    assert " extra NAME=plain`" in own.origin(table)


@pytest.mark.parametrize(("cells", "trials"), [([Cell(3)], 3), ([Cell(1)], 4)])
def test_runs_that_are_not_committed_ask_for_the_environment(project: Path, cells: list[Cell], trials: int) -> None:
    commit(project, [Cell(1)], trials=3)
    with pytest.raises(ExtraMissing, match=r"1 of 1 settings at \d trials .* extra NAME=plain"):
        record(project).runs(cells, trials, never)


def test_other_code_or_another_lock_makes_committed_runs_others(project: Path) -> None:
    own = record(project).digest(Cell(1))
    assert Record(Extra("plain", project), "part/chapter", "runs", (refuse,)).digest(Cell(1)) != own
    (project / "environments" / "plain.txt").write_text(LOCK.replace("1.2", "1.3"))
    assert record(project).digest(Cell(1)) != own
    (project / "environments" / "plain.txt").write_text(LOCK.replace("3.4", "3.5").replace("+cpu", ""))
    assert record(project).digest(Cell(1)) == own


def test_only_what_is_missing_is_measured_and_anew_all_is(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commit(project, [Cell(1)], trials=2)
    install(project)
    asked = []

    def measure(cells: list[Cell]) -> list[pd.DataFrame]:
        asked.append(list(cells))
        return [pd.DataFrame({"value": [float(c.n)] * 2}) for c in cells]

    found = record(project).runs([Cell(1), Cell(5)], 2, measure)
    assert asked == [[Cell(5)]]
    assert found["value"].tolist() == [1 / 7, 1 / 7, 5.0, 5.0]
    assert found["trial"].tolist() == [0, 1, 0, 1]
    assert "2 are read from the committed run and 2 were measured" in record(project).origin(found)
    monkeypatch.setenv("COSTOFPRIVACY_EXTRAS", extras.ANEW)
    assert record(project).runs([Cell(1)], 2, measure)["value"].tolist() == [1.0, 1.0]
    assert "measured anew" in record(project).origin(found)


@pytest.mark.parametrize(
    "name", ["requirements", *(f"environments/{path.stem}" for path in ROOT.glob("environments/*.txt"))]
)
def test_each_extra_has_a_lock_with_hashes_and_no_cuda(name: str) -> None:
    lock = (ROOT / f"{name}.txt").read_text("utf-8")
    entries = [line for line in lock.splitlines() if line and not line.startswith((" ", "#"))]
    assert entries
    assert all("==" in line and line.endswith("\\") for line in entries)
    assert lock.count("--hash=sha256:") >= len(entries)
    assert not any(line.startswith(("nvidia", "cuda", "triton")) for line in entries)
