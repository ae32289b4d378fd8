"""A real scheduler and real workers, each a process: what they return, and what faults do to it."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from companion import streams
from companion.running import cluster
from companion.running.montecarlo import BLOCK, Runner

distributed = pytest.importorskip("distributed", reason="a cluster needs the extra costofprivacy[cluster]")

ROOT = Path(__file__).parents[3]
SEED = 3
LONG = 300.0  # seconds that a busy machine may take for what a quiet one does in five


@dataclass(frozen=True)
class Cell:
    key: int
    pause: float = 0.0
    shape: tuple[int, ...] = (3,)


CELLS = [Cell(5), Cell(0), Cell(2**40, shape=(2, 2))]
SLOW = [Cell(key, pause=0.004) for key in range(6)]  # 0.1 s a block


def normals(cell: Cell, *, rng: np.random.Generator) -> np.ndarray:
    time.sleep(cell.pause)
    return cell.key + rng.standard_normal(cell.shape)


def fails(cell: Cell, *, rng: np.random.Generator) -> np.ndarray:
    raise OSError("no such trial")


class Local:
    """A scheduler on a fixed port, and workers, as processes of this machine."""

    def __init__(self, folder: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.folder, self.address = folder, f"tcp://127.0.0.1:{self.port}"
        self.running: list[subprocess.Popen[bytes]] = []
        self.schedule()
        with cluster.connected(self.address, LONG):
            pass

    def schedule(self) -> None:
        options = ["--host", "127.0.0.1", "--port", str(self.port), "--no-dashboard", "--no-show"]
        self.scheduler = self.start("distributed.cli.dask_scheduler", *options)

    def work(self) -> subprocess.Popen[bytes]:
        options = ["--nthreads", "1", "--no-nanny", "--no-dashboard", "--local-directory", str(self.folder)]
        return self.start("distributed.cli.dask_worker", self.address, *options)

    def start(self, module: str, *options: str) -> subprocess.Popen[bytes]:
        with (self.folder / f"{module}.log").open("ab") as log:
            command = [sys.executable, "-m", module, *options]
            self.running.append(subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=log))
        return self.running[-1]

    def end(self) -> None:
        for process in self.running:
            process.kill()
            process.wait()


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Local]:
    made = Local(tmp_path_factory.mktemp("cluster"))
    yield made
    made.end()


@pytest.fixture(scope="module")
def first(local: Local) -> subprocess.Popen[bytes]:
    return local.work()


def kept(folder: Path) -> int:
    return len(list(folder.rglob("*.npz")))


def wait_until(what: Callable[[], object]) -> None:
    end = time.monotonic() + LONG
    while not what():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)


def in_a_thread(what: Callable[[], object]) -> Callable[[], object]:
    """Begin something; what is returned waits for its end, and returns its result or raises its error."""
    pool = ThreadPoolExecutor(1)
    return partial(pool.submit(what).result, LONG)


def same(one: Mapping[Cell, np.ndarray], two: Mapping[Cell, np.ndarray]) -> None:
    assert list(one) == list(two)
    for cell in one:
        np.testing.assert_array_equal(one[cell], two[cell])


def test_an_error_of_a_trial_is_that_error(local: Local, first: object) -> None:
    with pytest.raises(OSError, match=r"^no such trial$"):
        Runner(cluster=local.address).run(fails, CELLS, trials=2, seed=SEED)


def test_one_worker_gives_the_bits_of_one_process_and_blocks_are_kept_here(
    local: Local, first: object, tmp_path: Path
) -> None:
    runner = Runner(cache=tmp_path, cluster=local.address)
    table = runner.run(normals, CELLS, trials=60, seed=SEED)
    same(Runner(workers=1).run(normals, CELLS, trials=60, seed=SEED), table)
    assert kept(tmp_path) == 3 * 3
    same(table, Runner(workers=1, cache=tmp_path, cluster="tcp://nowhere:1").run(normals, CELLS, trials=60, seed=SEED))


@pytest.mark.parametrize("fact", ["numpy", "linear algebra", "the code of normals"])
def test_a_worker_of_another_installation_is_refused(
    fact: str, local: Local, first: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = cluster.identity
    monkeypatch.setattr(cluster, "identity", lambda *them: tuple((dict(here(*them)) | {fact: "other"}).items()))
    line = rf"^the worker tcp://\S+ has {fact} [^;]+ instead of other; {cluster.REMEDY}$"
    with pytest.raises(cluster.ClusterError, match=line):
        Runner(cluster=local.address).run(normals, CELLS, trials=2, seed=SEED)


def test_a_worker_whose_code_was_changed_since_it_read_it_is_unlike(monkeypatch: pytest.MonkeyPatch) -> None:
    found = partial(cluster._difference.__wrapped__, (streams.generator,), cluster.identity(streams.generator))
    assert found() == ""
    monkeypatch.setattr(cluster, "_LOADED", 0.0)
    assert found().startswith("code in memory that was changed on its disk since: ")
    assert "streams.py" in found()
    assert "figures.py" not in found()


def test_two_workers_of_which_one_dies_give_the_same_bits(
    local: Local, first: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    local.work()
    run = in_a_thread(lambda: Runner(cache=tmp_path, cluster=local.address).run(normals, SLOW, 4 * BLOCK, SEED))
    wait_until(lambda: kept(tmp_path) > 3)
    first.send_signal(signal.SIGKILL)
    right = Runner(workers=1).run(normals, [Cell(cell.key) for cell in SLOW], 4 * BLOCK, SEED)
    same(dict(zip(SLOW, right.values(), strict=True)), run())


@pytest.mark.slow
def test_a_chapter_and_a_sweep_on_a_cluster_have_the_tables_of_those_on_this_machine(tmp_path: Path) -> None:
    """Eight points: whole points are spread. The workers are those of `make`, with its kernels."""
    local = Local(tmp_path)

    def tables(name: str, *words: str) -> dict[str, bytes]:
        run = [sys.executable, "-m", "companion", *words, "--out", str(tmp_path / name)]
        subprocess.run(run, cwd=ROOT, check=True, capture_output=True)
        return {path.name: path.read_bytes() for path in (tmp_path / name).glob("*.csv")}

    address = local.address
    local.start("companion", "worker", address, "--nworkers", "2")
    asked = ["noisyhead/low-dimensional", "-p", "trials", "4", "-y", "{N: [500, 1000], epsilon: [0.5]}"]
    asked += ["-p", "seed", str(os.getpid())]  # its own: no block is kept yet
    for number, words in enumerate((["chapter"], ["sweep", "--sweep", "penalty=0.5,1,2,3,4,5,6,7"])):
        away = tables(f"away{number}", *words, *asked, "--cluster", address)
        assert away
        assert tables(f"here{number}", *words, *asked) == away
    local.end()


@pytest.mark.slow
def test_a_run_whose_scheduler_is_lost_ends_and_goes_on_later(local: Local, tmp_path: Path) -> None:
    local.work()
    run = in_a_thread(lambda: Runner(cache=tmp_path, cluster=local.address).run(normals, SLOW, 4 * BLOCK, SEED))
    wait_until(lambda: kept(tmp_path) > 3)
    local.scheduler.kill()
    with pytest.raises(cluster.ClusterError, match=r"^the scheduler is lost; the same command goes on"):
        run()


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("nonsense", "an address is such as tcp://host:8786, or a file scheduler.json"),
        ("tcp://127.0.0.1", "an address is such as"),
        ("tcp://127.0.0.1:1", "Timed out"),
        ("none/scheduler.json", r".*No such file or directory: 'none/scheduler\.json'"),
        ("odd.json", "'address'"),
    ],
)
def test_where_no_scheduler_answers_one_line_says_so(
    address: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("odd.json").write_text("{}")
    line = rf"^no Dask scheduler answers at {address}: {words}"
    with pytest.raises(cluster.ClusterError, match=line), cluster.connected(address, 0.5):
        pass
