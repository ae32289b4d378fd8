"""Whole runs on a cluster of this machine, end to end: `make cluster-test` alone runs these, for they take a minute.

The tables are held against those of the same command without a cluster.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from costofprivacy.running import cluster
from costofprivacy.running.montecarlo import Runner

from .test_cluster import CELLS, LONG, ROOT, SEED, Local, normals, same, wait_until

NAME = "noisyhead/low-dimensional"
SMALL = ["-p", "trials", "4", "-y", "{N: [500, 1000], epsilon: [0.5]}"]


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Local]:
    """A scheduler with four workers, which the book's own command started, with the kernels that it sets."""
    made = Local(tmp_path_factory.mktemp("cluster"))
    options = ["--nworkers", "4", "--local-directory", str(made.folder)]
    made.running.append(start("worker", made.address, *options, log=made.folder / "worker.log"))
    with cluster.connected(made.address, LONG) as client:
        wait_until(lambda: len(client.nthreads()) == 4)
    yield made
    made.end()


def start(*words: str, log: Path) -> "subprocess.Popen[bytes]":
    with log.open("ab") as stream:
        return subprocess.Popen(command(*words), cwd=ROOT, stdout=stream, stderr=stream)


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "costofprivacy.book", *words]


def tables(*words: str, out: Path) -> dict[str, bytes]:
    """What a command of the book leaves: its tables, and the verdicts."""
    done = subprocess.run(command(*words, "--out", str(out)), cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return {path.relative_to(out).as_posix(): path.read_bytes() for path in out.rglob("*.csv")}


def tasks(local: Local) -> set[str]:
    """The kinds of tasks that the scheduler has given out."""
    with cluster.connected(local.address, LONG) as client:
        found: set[str] = client.run_on_scheduler(lambda dask_scheduler: set(dask_scheduler.task_prefixes))
    return found


def test_four_workers_give_the_bits_of_one_process(local: Local) -> None:
    here = Runner(workers=1).run(normals, CELLS, trials=200, seed=SEED)
    same(here, Runner(cluster=local.address).run(normals, CELLS, trials=200, seed=SEED))


def test_a_chapter_on_a_cluster_has_the_tables_of_one_on_this_machine(local: Local, tmp_path: Path) -> None:
    words = ["chapter", NAME, *SMALL, "-p", "seed", str(os.getpid())]  # a seed of its own: no block is kept yet
    before = tasks(local)
    away = tables(*words, "--cluster", local.address, out=tmp_path / "away")
    assert tasks(local) - before, "the trials ran there"
    assert tables(*words, "-p", "workers", "1", out=tmp_path / "here") == away


def test_a_sweep_on_a_cluster_has_the_tables_of_one_on_this_machine(local: Local, tmp_path: Path) -> None:
    """Eight points for four cores: whole points are spread."""
    words = ["sweep", NAME, *SMALL, "-p", "seed", str(os.getpid() + 1)]
    words += ["--sweep", "penalty=0.5,1,2,3,4,5,6,7"]
    away = tables(*words, "--cluster", local.address, out=tmp_path / "away")
    assert "Experiment" in tasks(local)
    assert len([name for name in away if name.endswith("/figure-1.csv")]) == 8
    assert tables(*words, out=tmp_path / "here") == away
