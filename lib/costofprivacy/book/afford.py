"""What a run or a sweep will take, told before it begins; one that does not fit in memory is refused."""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from joblib import cpu_count

from costofprivacy._validate import ANYWAY, anyway
from costofprivacy.book import parameters
from costofprivacy.book.errors import RequestError
from costofprivacy.book.project import Project
from costofprivacy.declaration import Parameters
from costofprivacy.running import costs, times


def announce(project: Project, name: str, points: Sequence[Mapping[str, Any]], say: Callable[[str], None]) -> None:
    """Say how long a chapter takes on this machine, and how much memory; at each of several points, for a sweep.

    A chapter whose tables are kept takes less: nothing is then measured.

    Args:
        project: the book. name: the chapter.
        points: all its parameters, once for each time that it is measured.
        say: told the line.

    Raises:
        RequestError: it takes more memory than there is, and ANYWAY is not set.
    """
    experiments = [parameters.experiment_of(project, name, values) for values in points]
    if not experiments or not isinstance(experiments[0], Parameters):
        return
    cost = _estimate(experiments, times.seconds(project.book).get(name), points[0].get(parameters.WORKERS, -1))
    label = f"{name} at {len(points)} points" if len(points) > 1 else name
    free = costs.available()
    if cost.memory > free and not anyway():
        needs = f"{label} would need {costs.size(cost.memory)} of memory, and {costs.size(free)} are free"
        raise RequestError(f"{needs}; ask for less, for fewer workers, or for ANYWAY=1")
    say(f"{label} takes {cost}, or less where blocks are kept")


def side_by_side(points: int, cores: int) -> bool:
    """Whether so many points are measured at once, on one core each; few are one after another, each on all cores."""
    return points >= 2 * cores


def go_beyond() -> None:
    """Let this process and its kernels go beyond what is usual."""
    os.environ[ANYWAY] = "1"


def _estimate(experiments: Sequence[Any], timed: float | None, workers: int) -> costs.Cost:
    """What all of them take: time adds up, memory does where they are side by side."""
    cores = cpu_count()
    together = side_by_side(len(experiments), cores)
    each = [costs.estimate(one, timed, 1 if together else cores if workers == -1 else workers) for one in experiments]
    seconds = sum(cost.seconds - costs.START for cost in each) / (cores if together else 1)
    most = sorted((cost.memory for cost in each), reverse=True)
    shared = costs.PARENT + costs.KERNEL
    memory = shared + sum(memory - shared for memory in most[:cores]) if together else most[0]
    return costs.Cost(costs.START + seconds, memory)
