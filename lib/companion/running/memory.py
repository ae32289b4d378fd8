"""How much memory a run may take: what is free when it begins, and a limit that the system keeps.

A run that asks for more ends with a `MemoryError` of one line. Without the limit the system would end some process of
its own choice. The limit counts the private memory of one process (``RLIMIT_DATA``), so it exists on Linux only.
"""

import math
import os
import resource
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import joblib
import psutil

from companion.checks import anyway

REMEDY = "ask for less, for fewer workers, or for ANYWAY=1"
GROUP = "/sys/fs/cgroup/memory"  # of this process, in a container
FILLED = 0.9  # of what is free: the rest is left to whatever else the machine does


@contextmanager
def limited() -> Iterator[None]:
    """Let this process, and those that it starts meanwhile, take no more memory than is free now.

    With ANYWAY set, and where the system has no such limit, nothing is limited. What was done inside and needs more
    ends with a ``MemoryError`` of one line that says what to do.
    """
    earlier, room = _limit(), confine(math.inf if anyway() else available())
    try:
        yield
    except MemoryError as error:
        most = f"the {size(room)} of memory that are free for it" if room < math.inf else "the memory that is free"
        raise MemoryError(f"this needs more than {most}; {REMEDY}") from error
    finally:
        if room < math.inf:
            _set_limit(earlier)


def confine(room: float) -> float:
    """Let this process take so many more bytes and no more; returns how many it may take, an earlier limit counted."""
    held, limit = _held(), _limit()
    if limit <= held + room or math.isinf(held):
        return limit - held if limit < math.inf else math.inf
    _set_limit(held + room)
    return room


def share(processes: int) -> float:
    """Bytes for each of several processes, if together they may take what is left to this one."""
    limit = _limit()
    return limit if math.isinf(limit) else max(limit - _held(), 0.0) / processes


def pool(workers: int, tasks: int) -> joblib.Parallel:
    """At most as many workers as tasks, -1 for all cores, with their shares of memory; results as they are done."""
    initargs = (os.getpid(), share(joblib.effective_n_jobs(workers)))
    return joblib.Parallel(min(workers, tasks), return_as="generator_unordered", initializer=_begin, initargs=initargs)


def _begin(owner: int, share: float) -> None:
    """What a worker process does first; a pool of one works in the owner itself."""
    if owner != os.getpid():
        confine(share)


def available() -> float:
    """Bytes that a run may fill: most of what is free, or of what the group of this process is still allowed."""
    free = float(psutil.virtual_memory().available)
    with suppress(OSError, ValueError), open(f"{GROUP}.max") as most, open(f"{GROUP}.current") as used:
        free = min(free, float(most.read()) - float(used.read()))  # "max" is no number
    return FILLED * free


def size(memory: float) -> str:
    """Bytes in words."""
    return f"{memory / 2**30:.3g} GB" if memory >= 2**30 else f"{memory / 2**20:.0f} MB"


def _held() -> float:
    try:
        return float(Path("/proc/self/statm").read_text().split()[5]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError):
        return math.inf


def _limit() -> float:
    if math.isinf(_held()):
        return math.inf
    soft, _ = resource.getrlimit(resource.RLIMIT_DATA)
    return math.inf if soft == resource.RLIM_INFINITY else float(soft)


def _set_limit(most: float) -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (resource.RLIM_INFINITY if math.isinf(most) else int(most), hard))
