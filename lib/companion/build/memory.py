"""What is said before a run or a sweep begins, and which are refused at once because they cannot fit in memory."""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from companion.build import parameters
from companion.build.errors import RequestError
from companion.build.project import Project
from companion.checks import ANYWAY, anyway
from companion.running import memory, times

NUMBER = 8  # bytes of a double


def announce(project: Project, name: str, points: Sequence[Mapping[str, Any]], say: Callable[[str], None]) -> None:
    """Say how long a chapter takes at the papers' parameters; how long it takes at others, its progress bar says.

    Args:
        project: the book. name: the chapter.
        points: all its parameters, once for each time that it is measured.
        say: told the line.

    Raises:
        RequestError: the prompts alone take more memory than there is, and ANYWAY is not set.
    """
    least = max((_least(values) for values in points), default=0.0)
    free = memory.available()
    if least > free and not anyway():
        needs = f"{name} would need at least {memory.size(least)} of memory, but only {memory.size(free)} are free"
        raise RequestError(f"{needs}; {memory.REMEDY}")
    took = times.words(project.book, name)
    if points and took and parameters.experiment_of(project, name, points[0]):
        each = f"each of {len(points)} points of {name}" if len(points) > 1 else name
        say(f"{each} takes about {took} of one core with the papers' parameters, less if trials are already saved")


def side_by_side(points: int, cores: int) -> bool:
    """Whether so many points are measured at once, on one core each; few are one after another, each on all cores."""
    return points >= 2 * cores


def go_beyond() -> None:
    """Let this process and its kernels go beyond what is usual."""
    os.environ[ANYWAY] = "1"


def _least(values: Mapping[str, Any]) -> float:
    """Bytes of what no trial does without: N prompts of D numbers. Everything else is left to the limit of a run."""
    if not {"N", "D", "trials"} <= set(values):
        return 0.0
    return float(NUMBER * _largest(values["N"]) * _largest(values["D"]))


def _largest(value: Any) -> Any:
    return max(value) if isinstance(value, (list, tuple)) else value
