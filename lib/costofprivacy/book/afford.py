"""What a run will take, told before it begins; one that does not fit in memory is refused."""

import os
from collections.abc import Callable, Mapping
from typing import Any

from costofprivacy import costs, times
from costofprivacy._validate import ANYWAY, anyway
from costofprivacy.book import parameters
from costofprivacy.book.errors import RequestError
from costofprivacy.book.project import Project
from costofprivacy.declaration import Parameters


def announce(project: Project, name: str, values: Mapping[str, Any], say: Callable[[str], None]) -> None:
    """Say how long a chapter with these parameters takes on this machine, and how much memory.

    A chapter whose tables are kept takes less: nothing is then measured.

    Raises:
        RequestError: it takes more memory than there is, and ANYWAY is not set.
    """
    experiment = parameters.experiment_of(project, name, values)
    if not isinstance(experiment, Parameters):
        return
    workers = values.get(parameters.WORKERS, -1)
    cost = costs.estimate(experiment, times.seconds(project.book).get(name), workers)
    free = costs.available()
    if cost.memory > free and not anyway():
        needs = f"{name} would need {costs.size(cost.memory)} of memory, and {costs.size(free)} are free"
        raise RequestError(f"{needs}; ask for less, for fewer workers, or for ANYWAY=1")
    say(f"{name} takes {cost}, or less where blocks are kept")


def go_beyond() -> None:
    """Let this process and its kernels go beyond what is usual."""
    os.environ[ANYWAY] = "1"
