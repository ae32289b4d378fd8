"""What a run will take, before it is begun: seconds and memory, right within a factor of two.

A chapter's package has a module ``load`` with a function of that name: how much is computed, and what a worker holds.
How fast this is, is known from the chapter's time at its own parameters (`costofprivacy.running.times`): the estimate
is that time, scaled by the ratio of the loads. A chapter without ``load`` has the general rule of `general`.
"""

from __future__ import annotations

import importlib
import math
import os
from dataclasses import dataclass
from typing import Any

from costofprivacy.declaration import declarations

MB = 2**20
NUMBER = 8  # bytes of a double
PARENT = 230 * MB  # the command line, and a kernel with what plots and tells
KERNEL = 260 * MB
WORKER = 170 * MB
START = 5.0  # seconds until the first trial, and from the last table to the page
CORES = 2  # on which the book's own times were measured


@dataclass(frozen=True)
class Load:
    """What a run computes and holds.

    Args:
        work: seconds of one core, up to a factor that is the same for all parameters of a chapter.
        worker: bytes of the arrays that a worker holds at once. kept: bytes of results that the kernel gathers.
    """

    work: float
    worker: float
    kept: float = 0.0


@dataclass(frozen=True)
class Cost:
    """What a run is expected to take.

    Args:
        seconds: from start to end; NaN where the chapter has never been timed. memory: bytes, of all its processes.
    """

    seconds: float
    memory: float

    def __str__(self) -> str:
        time = "" if math.isnan(self.seconds) else f"about {_duration(self.seconds)} and "
        return f"{time}{size(self.memory)} of memory"


def estimate(experiment: Any, timed: float | None, workers: int) -> Cost:
    """What a run of an experiment will take on this machine.

    Args:
        experiment: with its parameters. timed: seconds of its defaults on two cores, if they were measured.
        workers: worker processes, -1 for all cores.
    """
    asked, own = load(experiment), load(type(experiment)())
    processes = (os.cpu_count() or 1) if workers == -1 else workers
    memory = PARENT + KERNEL + asked.kept + processes * (WORKER + asked.worker)
    if timed is None:
        return Cost(math.nan, memory)
    spent = max(timed - START, 0.0) * asked.work / own.work * CORES / min(processes, os.cpu_count() or 1)
    return Cost(START + spent, memory)


def load(experiment: Any) -> Load:
    """The load of an experiment, by its chapter's own rule if it has one."""
    package = type(experiment).__module__.rpartition(".")[0]
    try:
        own = importlib.import_module(f"{package}.load")
    except ModuleNotFoundError:
        return general(experiment)
    found: Load = own.load(experiment)
    return found


def general(experiment: Any) -> Load:
    """The rule without further knowledge: time in proportion to every whole number, memory to the two largest.

    A list counts with the sum of its values. It says too much where parts of a chapter have sizes of their own.
    """
    whole = [d.name for d in declarations(type(experiment)) if d.range.convert is int and d.name != "seed"]
    values = [value if isinstance(value, tuple) else (value,) for value in (getattr(experiment, n) for n in whole)]
    largest = sorted(float(max(value)) for value in values)
    return Load(math.prod(max(1.0, float(sum(value))) for value in values), 4 * NUMBER * math.prod(largest[-2:]))


def prompts(N: float, L: float, D: float) -> float:
    """Seconds to draw N prompts and to make their moments: tokens by the number, moments by D⁴."""
    return N * (L * D * 25e-9 + D**2 * 5e-9 + D**4 * 0.5e-9)


def moments(N: float, D: float) -> float:
    """Bytes of the statistics of N prompts, raw and clipped, with Z, and of their moments."""
    return NUMBER * (N * (12 * D + 2 * D**2) + 5 * D**4)


def records(d: float) -> float:
    """Bytes of the records, the noise and the iterates that a pass of DP-GD holds at once."""
    return NUMBER * (3 * max(2**17, 32 * d) + 200 * d)


def available() -> float:
    """Bytes of memory that a run may fill: what is free, or what the group of this process is still allowed."""
    return min(_free(), _allowed())


def _free() -> float:
    """What the machine says is available; all it has where it does not say, infinity where it says nothing."""
    try:
        with open("/proc/meminfo") as told:
            found = dict(line.split(":", 1) for line in told)
        return 1024.0 * int(found["MemAvailable"].split()[0])
    except (OSError, KeyError, ValueError):
        names = getattr(os, "sysconf_names", {})
        known = "SC_PHYS_PAGES" in names and "SC_PAGE_SIZE" in names
        return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")) if known else math.inf


def _allowed() -> float:
    """What a container still has, if it is one."""
    try:
        with open("/sys/fs/cgroup/memory.max") as most, open("/sys/fs/cgroup/memory.current") as used:
            told = most.read().strip()
            return math.inf if told == "max" else float(told) - float(used.read())
    except (OSError, ValueError):
        return math.inf


def _duration(seconds: float) -> str:
    for unit, length in (("days", 86400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{max(1, round(seconds))} seconds"


def size(memory: float) -> str:
    """Bytes in words."""
    return f"{memory / 2**30:.3g} GB" if memory >= 2**30 else f"{memory / MB:.0f} MB"
