"""A real scheduler and real workers, each a process: what they return, and what faults do to it."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from costofprivacy import streams
from costofprivacy.running import blocks, cluster
from costofprivacy.running.montecarlo import BLOCK, Runner

distributed = pytest.importorskip("distributed", reason="a cluster needs the extra costofprivacy[cluster]")

ROOT = Path(__file__).parents[2]
SEED = 3
LONG = 300.0  # seconds that a busy machine may take for what a quiet one does in five


@dataclass(frozen=True)
class Cell:
    key: int
    pause: float = 0.0
    shape: tuple[int, ...] = (3,)


CELLS = [Cell(5), Cell(0), Cell(2**40, shape=(2, 2))]
SLOW = [Cell(key, pause=0.004) for key in range(12)]  # 0.1 s a block


def normals(cell: Cell, *, rng: np.random.Generator) -> np.ndarray:
    time.sleep(cell.pause)
    return cell.key + rng.standard_normal(cell.shape)


def fails(cell: Cell, *, rng: np.random.Generator) -> np.ndarray:
    raise OSError("no such trial")


def where(cell: Cell, *, rng: np.random.Generator) -> np.ndarray:
    return np.array([os.getpid()])


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
        self.scheduler = self._start("scheduler", *options)

    def work(self, **environment: str) -> subprocess.Popen[bytes]:
        options = ["--nthreads", "1", "--no-nanny", "--no-dashboard", "--local-directory", str(self.folder)]
        return self._start("worker", self.address, *options, **environment)

    def _start(self, kind: str, *options: str, **environment: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", f"distributed.cli.dask_{kind}", *options]
        with (self.folder / f"{kind}.log").open("ab") as log:
            started = subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=log, env={**os.environ, **environment})
        self.running.append(started)
        return started

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


@dataclass(frozen=True)
class Started:
    """A run in a thread: what it returns, once it has."""

    thread: threading.Thread
    found: list[dict[Cell, np.ndarray]]

    def result(self) -> dict[Cell, np.ndarray]:
        self.thread.join(LONG)
        assert self.found, "the run did not end"
        return self.found[0]


def start(runner: Runner, trials: int) -> Started:
    found: list[dict[Cell, np.ndarray]] = []
    thread = threading.Thread(target=lambda: found.append(runner.run(normals, SLOW, trials, SEED)), daemon=True)
    thread.start()
    return Started(thread, found)


def wait_until(what: Callable[[], object]) -> None:
    end = time.monotonic() + LONG
    while not what():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)


def kept(folder: Path) -> int:
    return len(list(folder.rglob("*.npz")))


def same(one: dict[Cell, np.ndarray], two: dict[Cell, np.ndarray]) -> None:
    assert list(one) == list(two)
    for cell in one:
        np.testing.assert_array_equal(one[cell], two[cell])


def expected(trials: int) -> dict[Cell, np.ndarray]:
    return Runner(workers=1).run(normals, [Cell(cell.key) for cell in SLOW], trials, SEED)


def same_numbers(found: dict[Cell, np.ndarray], trials: int) -> None:
    right = expected(trials)
    assert [cell.key for cell in found] == [cell.key for cell in right]
    for one, two in zip(found.values(), right.values(), strict=True):
        np.testing.assert_array_equal(one, two)


def test_one_worker_gives_the_bits_of_one_process(local: Local, first: object) -> None:
    here = Runner(workers=1).run(normals, CELLS, trials=60, seed=SEED)
    same(here, Runner(cluster=local.address).run(normals, CELLS, trials=60, seed=SEED))


def test_the_trials_run_on_the_worker(local: Local, first: subprocess.Popen[bytes]) -> None:
    found = Runner(cluster=local.address).run(where, CELLS[:1], trials=1, seed=SEED)
    assert found[CELLS[0]].tolist() == [[first.pid]]


def test_an_error_of_a_trial_is_that_error(local: Local, first: object) -> None:
    with pytest.raises(OSError, match=r"^no such trial$"):
        Runner(cluster=local.address).run(fails, CELLS, trials=2, seed=SEED)


def test_a_worker_keeps_its_blocks_where_it_reaches_the_folder(local: Local, first: object, tmp_path: Path) -> None:
    runner = Runner(cache=tmp_path, cluster=local.address)
    table = runner.run(normals, CELLS, trials=60, seed=SEED)
    assert kept(tmp_path) == 3 * 3
    same(table, Runner(workers=1, cache=tmp_path, cluster="tcp://nowhere:1").run(normals, CELLS, trials=60, seed=SEED))


@pytest.mark.parametrize("reached", [True, False])
def test_a_block_is_kept_by_its_worker_or_from_here(
    reached: bool, local: Local, first: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = []
    monkeypatch.setattr(blocks, "write", lambda path, trials: written.append(path))
    if not reached:
        monkeypatch.setattr(blocks, "mark", lambda folder: "another machine's")
    Runner(cache=tmp_path, cluster=local.address).run(normals, CELLS[:1], trials=60, seed=SEED)
    assert (len(written), kept(tmp_path)) == ((0, 3) if reached else (3, 0))


@pytest.mark.parametrize("fact", ["numpy", "linear algebra", "the code of normals"])
def test_a_worker_of_another_installation_is_refused(
    fact: str, local: Local, first: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = cluster.identity

    def elsewhere(*objects: object) -> cluster.Identity:
        facts = dict(here(*objects).facts)
        return cluster.Identity(objects, tuple((facts | {fact: "other"}).items()))

    monkeypatch.setattr(cluster, "identity", elsewhere)
    line = rf"^the worker tcp://\S+ has {fact} [^;]+ instead of other; {cluster.REMEDY}$"
    with pytest.raises(cluster.ClusterError, match=line):
        Runner(cluster=local.address).run(normals, CELLS, trials=2, seed=SEED)


def test_a_worker_whose_code_was_changed_since_it_read_it_is_unlike(monkeypatch: pytest.MonkeyPatch) -> None:
    alike = cluster.identity(streams.generator)
    assert cluster._unlike.__wrapped__(alike) == ""
    now = cluster._files()
    stale = {name: (0, 0) if name.endswith("streams.py") else version for name, version in now.items()}
    monkeypatch.setattr(cluster, "_files_at_first", lambda: stale)
    assert cluster._unlike.__wrapped__(alike) == "code in memory that was changed on its disk since: streams.py"
    other = {name: (0, 0) if name.endswith("figures.py") else version for name, version in now.items()}
    monkeypatch.setattr(cluster, "_files_at_first", lambda: other)
    assert cluster._unlike.__wrapped__(alike) == ""


def test_a_worker_that_dies_and_one_that_comes_late_change_nothing(
    local: Local, first: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    run = start(Runner(cache=tmp_path, cluster=local.address), 4 * BLOCK)
    wait_until(lambda: kept(tmp_path) > 3)
    first.send_signal(signal.SIGKILL)
    local.work()
    wait_until(lambda: kept(tmp_path) > 12)
    local.work()
    same_numbers(run.result(), 4 * BLOCK)


@pytest.mark.slow
def test_a_scheduler_that_is_started_again_changes_nothing(local: Local, tmp_path: Path) -> None:
    run = start(Runner(cache=tmp_path, cluster=local.address), 4 * BLOCK)
    wait_until(lambda: kept(tmp_path) > 3)
    local.scheduler.kill()
    local.scheduler.wait()
    local.schedule()
    local.work()
    local.work()
    same_numbers(run.result(), 4 * BLOCK)


def test_a_client_that_is_slow_to_close_hides_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    class Slow:
        def __init__(self, **options: object) -> None:
            """Answer at once."""

        def close(self, timeout: float) -> None:
            raise TimeoutError(f"timed out after {timeout} s")

    monkeypatch.setattr("distributed.Client", Slow)
    monkeypatch.setattr(cluster, "_listens", lambda *_: None)
    with pytest.raises(OSError, match="what went wrong"), cluster.connected("tcp://127.0.0.1:1"):
        raise OSError("what went wrong")
    with cluster.connected("tcp://127.0.0.1:1") as client:
        assert isinstance(client, Slow)


def test_an_address_without_a_scheduler_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "FIRST_ANSWER", 1.0)
    with pytest.raises(cluster.ClusterError, match=r"^no Dask scheduler answers at tcp://127.0.0.1:1: "):
        Runner(cluster="tcp://127.0.0.1:1").run(normals, CELLS, trials=2, seed=SEED)


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("nonsense", "an address is such as tcp://host:8786, or a file scheduler.json"),
        ("tcp://127.0.0.1", "an address is such as"),
        ("tcp://127.0.0.1:99999", "an address is such as"),
        ("tcp://no.such.host.invalid:8786", r".*\[Errno -"),
        ("none/scheduler.json", r".*No such file or directory: 'none/scheduler\.json'"),
        ("odd.json", "an address is such as"),
    ],
)
def test_what_is_no_address_is_one_line_and_no_client_is_made(
    address: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def client(**_: object) -> None:
        pytest.fail("a client waits for ever, or leaves a traceback")

    monkeypatch.chdir(tmp_path)
    Path("odd.json").write_text("{}")
    monkeypatch.setattr("distributed.Client", client)
    line = rf"^no Dask scheduler answers at {address}: {words}"
    with pytest.raises(cluster.ClusterError, match=line), cluster.connected(address, 0.5):
        pass


@pytest.mark.slow
@pytest.mark.parametrize("mean", [0.001, 0.1, 10.0, float("inf")])
@pytest.mark.parametrize("cores", [0, 1, 2, 1000, 10_000])
@pytest.mark.parametrize("left", [0, 1, 100, 10**6])
def test_a_task_is_long_enough_for_the_scheduler_and_leaves_two_for_each_core(
    mean: float, cores: int, left: int
) -> None:
    calls = cluster.calls_in_a_task(mean, left, cores)
    assert calls >= 1
    assert calls == 1 or calls * 2 * max(cores, 1) <= left
    longer = (calls + 1) * mean > max(cluster.SHORTEST, cluster.DISPATCH * cores)
    assert longer or (calls + 1) * 2 * max(cores, 1) > left
