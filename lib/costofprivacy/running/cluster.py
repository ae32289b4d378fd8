"""Calls spread over a Dask cluster: each worker is checked before it computes; what a fault took is asked for again.

A worker that dies takes its calls with it, and the scheduler gives them to others; a scheduler that dies takes all
that was not fetched yet, and this module asks its successor for it. Neither changes a result. How many calls travel
together is found while they run: on more cores a task must be longer, as one scheduler sends so many a second and no
more (see the page *on a cluster*).
"""

import json
import platform
import socket
import time
import uuid
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_info, threadpool_limits

from costofprivacy.running import _source

REMEDY = "start it anew, with the installation that is used here"
MISSING = 'a cluster needs the package distributed: install costofprivacy with its extra, "costofprivacy[cluster]"'
PATIENCE = 600.0  # seconds that a scheduler may take to come back
FIRST_ANSWER = 10.0  # seconds that it may take to answer at first
DISPATCH = 0.004  # seconds between two tasks that leave a scheduler half its time: it needs 2 ms for one
SHORTEST = 0.2  # seconds that a task should take at least
AHEAD = 2  # tasks that are sent for each core, so that none waits for the next
LIBRARIES = ("numpy", "scipy", "numba")
LISTENING = ("", "tcp", "tls", "ws", "wss")  # kinds of addresses that have a host and a port
RECOUNT = 2.0  # seconds after which the cores are counted again: workers come and go


class ClusterError(RuntimeError):
    """A cluster cannot do what it is asked; the text is one line that says what to do."""


@dataclass(frozen=True)
class Identity:
    """What must be the same on two machines for the same bits.

    Args:
        objects: functions and classes that the calls use. facts: names and values: versions, kernels, their code.
    """

    objects: tuple[Any, ...]
    facts: tuple[tuple[str, str], ...]


def identity(*objects: Any) -> Identity:
    """What these functions and classes depend on, in this process."""
    kernels = {f"{pool['internal_api']} {pool.get('architecture', '')}".strip() for pool in _blas()}
    name = objects[0].__qualname__
    facts = {
        "Python": platform.python_version().rpartition(".")[0],
        **{name: _version(name) for name in LIBRARIES},
        "linear algebra": ", ".join(sorted(kernels)),
        f"the code of {name}": _source.digest_of(*objects)[:12],
    }
    return Identity(objects, tuple(facts.items()))


def spread(
    address: Any,
    function: Callable[..., Any],
    tasks: Sequence[tuple[Any, ...]],
    alike: Identity,
    watch: Callable[[str], None] = lambda words: None,
) -> Iterator[Any]:
    """``function(*task)`` for each task, by the workers of a cluster, as the results come.

    Guarantees each result once, whichever workers or schedulers die meanwhile.

    Args:
        address: a scheduler's (``tcp://host:8786``), its file (``scheduler.json``), or a cluster that has one
            (``scheduler_address``).
        function: a module's function. tasks: its arguments.
        alike: what every worker must share with this process.
        watch: told how many workers there are.

    Raises:
        ClusterError: no scheduler answers, a worker is not alike, or the same tasks killed worker after worker.
    """
    waiting = dict(enumerate(tasks))
    patience = FIRST_ANSWER
    while waiting:
        with connected(address, patience) as client:
            for indices, outcome in _outcomes(client, function, waiting, alike, watch):
                if isinstance(outcome, BaseException):
                    raise _told(outcome)
                for index, value in zip(indices, outcome, strict=True):
                    del waiting[index]
                    yield value
        patience = PATIENCE


@contextmanager
def connected(address: Any, patience: float = FIRST_ANSWER) -> Iterator[Any]:
    """A client of the scheduler at an address.

    Raises:
        ClusterError: the package distributed is not installed, the address is none, or none answers in ``patience``
            seconds.
    """
    try:
        import distributed
    except ModuleNotFoundError as error:
        raise ClusterError(MISSING) from error
    place = getattr(address, "scheduler_address", address)
    where = {"scheduler_file": place} if str(place).endswith(".json") else {"address": place}
    end = time.monotonic() + patience
    while True:
        left = max(1.0, end - time.monotonic())
        try:
            _listens(str(place), left)
            client = distributed.Client(**where, timeout=left, set_as_default=False)
            break
        except (OSError, ValueError, TimeoutError) as error:
            hopeless = isinstance(error, (ValueError, socket.gaierror))
            if hopeless or time.monotonic() + 1 > end:
                raise ClusterError(f"no Dask scheduler answers at {place}: {error}") from error
            time.sleep(1)
    try:
        yield client
    finally:
        with suppress(TimeoutError):  # on a busy machine; what was computed, or went wrong, stands
            client.close(timeout=2)


def _listens(place: str, patience: float) -> None:
    """Look whether anything is at a scheduler's address or in its file: a client that finds nothing waits, or clutters.

    Raises:
        OSError: nothing is. ValueError: it is no address.
    """
    if place.endswith(".json"):
        found = json.loads(Path(place).read_text("utf-8"))
        place = str(found.get("address", "")) if isinstance(found, dict) else ""
    kind, _, rest = place.rpartition("://")
    if kind not in LISTENING:
        return
    host, _, port = rest.rpartition(":")
    if not host or not port.isdecimal() or int(port) > 65535:
        raise ValueError("an address is such as tcp://host:8786, or a file scheduler.json")
    socket.create_connection((host.strip("[]"), int(port)), patience).close()


def _outcomes(
    client: Any,
    function: Callable[..., Any],
    waiting: dict[int, tuple[Any, ...]],
    alike: Identity,
    watch: Callable[[str], None],
) -> Iterator[tuple[list[int], Any]]:
    """The numbers of some tasks with their results, or with what was raised; ends early where the scheduler is lost."""
    from distributed import as_completed
    from distributed.comm import CommClosedError

    flow = _Flow(client, list(waiting), watch)
    sent: dict[Any, list[int]] = {}

    def send() -> list[Any]:
        futures = []
        for indices in flow.next(len(sent)):
            calls = [waiting[index] for index in indices]
            key = f"{alike.objects[0].__qualname__}-{uuid.uuid4().hex}"
            future = client.submit(_called, alike, function, calls, key=key, pure=False)
            sent[future] = indices
            futures.append(future)
        return futures

    try:
        done = as_completed(send(), loop=client.loop)
        for batch in done.batches():
            failed = [future for future in batch if future.status == "error"]
            if failed:
                yield sent[failed[0]], failed[0].exception()
            if any(future.status != "finished" for future in batch):
                return
            for future, (seconds, values) in zip(batch, client.gather(batch), strict=True):
                indices = sent.pop(future)
                flow.took(seconds, len(indices))
                yield indices, values
            done.update(send())
    except (CancelledError, CommClosedError, OSError, TimeoutError):
        return


class _Flow:
    """How many tasks are on their way, and how many calls each of them holds."""

    def __init__(self, client: Any, indices: Sequence[int], watch: Callable[[str], None]) -> None:
        self._client, self._queue, self._watch = client, deque(indices), watch
        self._seconds, self._calls = 0.0, 0
        self._counted, self._cores = float("-inf"), 0

    def took(self, seconds: float, calls: int) -> None:
        """Note how long some calls took."""
        self._seconds, self._calls = self._seconds + seconds, self._calls + calls

    def next(self, on_their_way: int) -> Iterator[list[int]]:
        """The tasks to send now, while so many are on their way."""
        cores = self._count()
        for _ in range(AHEAD * max(cores, 1) + AHEAD - on_their_way):
            if not self._queue:
                return
            yield [self._queue.popleft() for _ in range(calls_in_a_task(self._mean(), len(self._queue), cores))]

    def _mean(self) -> float:
        return self._seconds / self._calls if self._calls else float("inf")

    def _count(self) -> int:
        if time.monotonic() - self._counted > RECOUNT:
            threads = self._client.nthreads()
            self._cores, self._counted = sum(threads.values()), time.monotonic()
            self._watch(f"{len(threads)} workers" if threads else "waiting for a worker")
        return self._cores


def calls_in_a_task(mean: float, left: int, cores: int) -> int:
    """How many calls travel together.

    So many that all cores together finish tasks no faster than a scheduler sends them, and few enough that each core
    gets two at least of those that are left.

    Args:
        mean: seconds that a call takes; infinite while that is unknown. left: calls that are left. cores: their number.
    """
    seconds = max(SHORTEST, DISPATCH * cores)
    wanted = 1 if mean == float("inf") else seconds / max(mean, 1e-9)
    return max(1, int(min(wanted, left / (2 * max(cores, 1)))))


def _called(alike: Identity, function: Callable[..., Any], calls: Sequence[tuple[Any, ...]]) -> tuple[float, list[Any]]:
    """The results of some calls and the seconds that they took, on a worker that is alike."""
    _one_thread()
    unlike = _unlike(alike)
    if unlike:
        from distributed import get_worker

        raise ClusterError(f"the worker {get_worker().address} has {unlike}; {REMEDY}")
    start = time.perf_counter()
    values = [function(*call) for call in calls]
    return time.perf_counter() - start, values


@cache
def _one_thread() -> None:
    """Linear algebra in one thread from now on: threads of a worker that set it in turn would undo one another's."""
    threadpool_limits(1)


@cache
def _unlike(alike: Identity) -> str:
    """In what this process differs; empty where it does not."""
    changed = _changed({thing.__module__ for thing in alike.objects})
    if changed:
        return f"code in memory that was changed on its disk since: {', '.join(changed)}"
    here = dict(identity(*alike.objects).facts)
    apart = [(name, here.get(name, "other"), value) for name, value in alike.facts if here.get(name) != value]
    return "; ".join(f"{name} {mine} instead of {value}" for name, mine, value in apart)


def _changed(modules: set[str]) -> list[str]:
    """Files behind some modules that are others than this process has read, or may have."""
    first, now = _files_at_first(), _files()
    needed = {str(path) for path in _source.closure(modules).values()}
    return sorted(Path(name).name for name in needed if name in now and first.get(name) != now[name])


@cache
def _files_at_first() -> dict[str, tuple[int, int]]:
    """The library's files as they were when this process first computed: it keeps the code that it has read."""
    return _files()


def _files() -> dict[str, tuple[int, int]]:
    """The library's files, with what tells one content from another."""
    found = ((path, path.stat()) for path in sorted(Path(__file__).parents[1].rglob("*.py")))
    return {str(path): (status.st_mtime_ns, status.st_size) for path, status in found}


def _blas() -> list[dict[str, Any]]:
    import numpy  # noqa: F401  (its kernels are looked at)

    return [pool for pool in threadpool_info() if pool["user_api"] == "blas"]


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def _told(error: BaseException) -> BaseException:
    """What a task raised; in words of ours, where it was the cluster's fault."""
    from distributed import KilledWorker

    if isinstance(error, KilledWorker):
        return ClusterError(f"the same trials ended worker after worker, perhaps for want of memory: {error}")
    if isinstance(error, ModuleNotFoundError) or "deserializ" in str(error):
        return ClusterError(f"a worker cannot load the library: {error}; {REMEDY}")
    return error
