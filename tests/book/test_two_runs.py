"""Two runs at once into one folder and one cache, and runs that are killed: the results are those of a quiet run."""

import csv
import importlib
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import nbformat
import numpy as np
import psutil
import pytest

from companion.build.project import Project
from companion.running import blocks
from companion.running.montecarlo import BLOCK, Runner

from .conftest import chapter

NAME = "part/first-one"
TRIALS, SEED, CELLS = 3 * BLOCK, 5, (0, 1, 2)
TRIAL = """import time
from dataclasses import dataclass


@dataclass(frozen=True)
class Cell:
    key: int


def draws(cell, *, rng):
    time.sleep(0.002)  # long enough for two runs to meet
    return rng.standard_normal(40) + cell.key
"""
CELL = """import os, pathlib
from {package}.draws import Cell, draws
from companion.running.montecarlo import Runner
runner = Runner(1, pathlib.Path(os.environ["COSTOFPRIVACY_CACHE"]), "")
found = runner.run(draws, [Cell(key) for key in {cells}], {trials}, {seed})
for cell, values in found.items():
    lines = [",".join(map(repr, row.tolist())) for row in values]
    pathlib.Path(f"cell-{{cell.key}}.csv").write_text("\\n".join(lines) + "\\n")"""
RUN = """import sys
from pathlib import Path
from companion.build.execute import Execution, execute
from companion.build.project import Place, Project
root, package, out = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3])
project = Project(root, package)
files = execute(project, Execution("part/first-one", {}, Place(out / "first-one.ipynb", out), project.book), print)
print(*files)"""


@pytest.fixture
def sampled(project: Project) -> Project:
    """The small book, whose first chapter runs trials and keeps their blocks."""
    (project.root / "lib" / project.package / "draws.py").write_text(TRIAL)
    cell = CELL.format(package=project.package, cells=CELLS, trials=TRIALS, seed=SEED)
    nbformat.write(chapter("trials = 10", cell), project.book / f"{NAME}.ipynb")
    return project


def start(project: Project) -> "subprocess.Popen[str]":
    command = [sys.executable, "-c", RUN, str(project.root), project.package, str(project.root / "out")]
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "start_new_session": True}
    return subprocess.Popen(command, text=True, **streams)


def right(project: Project, out: Path) -> None:
    """The folder holds what one process computes without any cache, and nothing else."""
    module = importlib.import_module(f"{project.package}.draws")
    expected = Runner(1).run(module.draws, [module.Cell(key) for key in CELLS], TRIALS, SEED)
    names = {f"cell-{cell}.csv" for cell in CELLS} | {"first-one.ipynb"}
    assert {path.name for path in out.iterdir()} == names
    for cell, values in expected.items():
        with (out / f"cell-{cell.key}.csv").open() as stream:
            found = np.array([[float(value) for value in row] for row in csv.reader(stream)])
        np.testing.assert_array_equal(found, values)


@pytest.mark.slow
def test_two_runs_at_once_into_one_folder_and_one_cache_stay_right(sampled: Project) -> None:
    runs = [start(sampled), start(sampled)]
    for run in runs:
        said, _ = run.communicate(timeout=300)
        assert (run.returncode, said) == (0, "cell-0.csv cell-1.csv cell-2.csv\n")
    right(sampled, sampled.root / "out")
    kept = sorted(sampled.cache.rglob("*.npz"))
    assert len(kept) == len(CELLS) * TRIALS // BLOCK
    assert all(blocks.read(path) is not None for path in kept)
    assert [path for path in sampled.cache.rglob("*") if path.suffix == ".partial"] == []
    assert list((sampled.build / "tmp").iterdir()) == []


@pytest.mark.slow
def test_twenty_kills_leave_nothing_half_written_and_no_process(sampled: Project) -> None:
    """At random moments, the run alone or with its kernel; every fourth time the next run goes on to its end."""
    rng, out = random.Random(34), sampled.root / "out"
    for number in range(20):
        run, kind = start(sampled), rng.choice((signal.SIGINT, signal.SIGTERM, signal.SIGKILL))
        time.sleep(rng.uniform(0.5, 8))
        family = psutil.Process(run.pid).children(recursive=True)
        (os.killpg if rng.random() < 0.5 else os.kill)(run.pid, kind)
        run.communicate(timeout=60)
        assert psutil.wait_procs(family, timeout=60)[1] == []
        if out.exists():
            right(sampled, out)
        if number % 4 == 3:
            last = start(sampled)
            last.communicate(timeout=300)
            assert last.returncode == 0
            right(sampled, out)
            shutil.rmtree(out)
            shutil.rmtree(sampled.cache)
