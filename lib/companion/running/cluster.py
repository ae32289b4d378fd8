"""Calls spread over a Dask cluster: each worker is checked before it computes, and the bits are those of one process.

The scheduler gives what a dead worker had to another. joblib's Dask backend is not used: joblib 1.6 waits for ever once
a call has ended worker after worker, and loses with a worker the arrays that it has scattered to it.
"""

import json
import platform
import re
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_info, threadpool_limits

from companion.running import _source

MISSING = 'a cluster needs the package distributed: install costofprivacy with its extra, "costofprivacy[cluster]"'
REMEDY = "start it anew, with the installation that is used here"
FIRST_ANSWER = 10.0  # seconds that a scheduler may take to answer
_LOADED = time.time()  # a file that was changed later is not the code that this process has read


class ClusterError(RuntimeError):
    """A cluster cannot do what it is asked; the text is one line that says what to do."""


def spread(
    address: Any, function: Callable[..., Any], tasks: Sequence[tuple[Any, ...]], objects: Sequence[Any]
) -> Iterator[Any]:
    """``function(*task)`` for each task, by the workers of a cluster, as the results come.

    The code of the ``objects`` must be the same there and here; the first names the tasks. `ClusterError` says that no
    scheduler answers or it is lost, a worker is not alike, or the same call killed four workers.
    """
    with connected(address) as client:
        from distributed import KilledWorker, as_completed
        from distributed.comm import CommClosedError

        common = {"function": function, "objects": tuple(objects), "facts": identity(*objects)}
        sent = client.map(_called, tasks, **common, key=objects[0].__qualname__, pure=False)
        done = as_completed(sent, loop=client.loop)
        del sent  # else the workers keep every result until the end
        try:
            for future in done:
                yield future.result()
        except KilledWorker as error:
            raise ClusterError(f"the same trials ended four workers, perhaps for want of memory: {error}") from error
        except (CancelledError, CommClosedError) as error:
            raise ClusterError("the scheduler is lost; the same command goes on from the finished blocks") from error
        except (ModuleNotFoundError, RuntimeError) as error:
            if isinstance(error, ModuleNotFoundError) or "deserializ" in str(error):
                raise ClusterError(f"a worker cannot load the library: {error}; {REMEDY}") from error
            raise


@contextmanager
def connected(address: Any, patience: float = FIRST_ANSWER) -> Iterator[Any]:
    """A client of the scheduler at an address; `ClusterError` where none answers in ``patience`` seconds."""
    try:
        import distributed
    except ModuleNotFoundError as error:
        raise ClusterError(MISSING) from error
    place = str(getattr(address, "scheduler_address", address))
    try:
        found = str(json.loads(Path(place).read_text("utf-8"))["address"]) if place.endswith(".json") else place
        if not re.fullmatch(r"inproc://.+|([a-z]+://)?\S+:\d+", found):  # a client of such a one does not end
            raise ValueError("an address is such as tcp://host:8786, or a file scheduler.json")
        client = distributed.Client(found, timeout=patience, set_as_default=False)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ClusterError(f"no Dask scheduler answers at {place}: {error}") from error
    try:
        yield client
    finally:
        with suppress(TimeoutError):  # on a busy machine; what was computed, or went wrong, stands
            client.close(timeout=2)


def identity(*objects: Any) -> tuple[tuple[str, str], ...]:
    """What must be the same on two machines for the same bits: versions, kernels and the code of some objects."""
    pools = [pool for pool in threadpool_info() if pool["user_api"] == "blas"]
    kernels = {f"{pool['internal_api']} {pool.get('architecture', '')}".strip() for pool in pools}
    return (
        ("Python", platform.python_version().rpartition(".")[0]),
        *((name, version(name)) for name in ("numpy", "scipy", "numba")),
        ("linear algebra", ", ".join(sorted(kernels))),
        (f"the code of {objects[0].__qualname__}", _source.digest_of(*objects)[:12]),
    )


def _called(
    task: tuple[Any, ...], *, function: Callable[..., Any], objects: tuple[Any, ...], facts: tuple[tuple[str, str], ...]
) -> Any:
    """A function's result, on a worker that is alike."""
    if difference := _difference(objects, facts):
        from distributed import get_worker

        raise ClusterError(f"the worker {get_worker().address} has {difference}; {REMEDY}")
    return function(*task)


@cache
def _difference(objects: tuple[Any, ...], facts: tuple[tuple[str, str], ...]) -> str:
    """In what this process differs, empty where it does not; from now on linear algebra has one thread."""
    threadpool_limits(1)
    files = _source.closure({thing.__module__ for thing in objects}).values()
    if changed := sorted(path.name for path in files if path.stat().st_ctime > _LOADED):
        return f"code in memory that was changed on its disk since: {', '.join(changed)}"
    apart = [(name, mine, value) for (name, value), (_, mine) in zip(facts, identity(*objects), strict=True)]
    return "; ".join(f"{name} {mine} instead of {value}" for name, mine, value in apart if mine != value)
