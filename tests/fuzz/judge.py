"""What must come of a set of parameters: one line, or a run that keeps what was announced."""

import importlib
import math
import multiprocessing
import os
import resource
import traceback
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from costofprivacy.book import parameters
from costofprivacy.book.errors import RequestError
from costofprivacy.book.project import Project, chapters, is_plain, module_name, place
from costofprivacy.running import costs
from costofprivacy.running.extras import ExtraMissing
from costofprivacy.running.montecarlo import Runner
from costofprivacy.running.orphans import end_with

ALIKE = ("seed", "paper", "verdict")


def experiments(project: Project) -> dict[str, type]:
    """The class of each chapter that has one."""
    names = [name for name in chapters(project) if not is_plain(project, name)]
    return {name: importlib.import_module(f"{module_name(project, name)}.experiment").Experiment for name in names}


def validated(project: Project, name: str, given: dict[str, Any]) -> tuple[dict[str, Any] | None, str]:
    """The resolved parameters, None where they are refused; and what is wrong with how they were, if anything."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            values = parameters.resolve(project, name, given)
            cost = costs.estimate(parameters.experiment_of(project, name, values), 60.0, 1)
    except RequestError as error:
        words = str(error)
        return None, "" if words and "\n" not in words and "Error" not in words else f"not one clear line: {words!r}"
    except Exception:
        return None, traceback.format_exc(limit=-2)
    fine = 0 < cost.seconds < math.inf and 0 < cost.memory < math.inf
    return values, "" if fine else f"no estimate: {cost}"


def ran(project: Project, name: str, values: dict[str, Any], base: dict[str, Any], limit: float) -> str:
    """What is wrong with a run in a process of its own; nothing, or words.

    Args:
        project: the book. name: the chapter. values: its parameters.
        base: parameters of the same scale that nobody made up; what is empty with them may be empty.
        limit: seconds after which it is cut off.
    """
    announced = costs.estimate(parameters.experiment_of(project, name, values), None, 1).memory - costs.PARENT
    tables, used = _apart(project, name, values, limit)
    if isinstance(tables, str):
        return tables
    committed = place(project.book, name).results
    lost = not_finite(tables, committed)
    if lost:
        ordinary, _ = _apart(project, name, base, limit)
        lost = [column for column in lost if isinstance(ordinary, str) or column not in not_finite(ordinary, committed)]
    if lost:
        return f"not finite: {lost}"
    return "" if used <= 2 * announced else f"{used / costs.MB:.0f} MB used, {announced / costs.MB:.0f} MB announced"


def _apart(project: Project, name: str, values: dict[str, Any], limit: float) -> tuple[Any, float]:
    """The tables of a run in a process of its own, or words; and the most memory that it held."""
    context = multiprocessing.get_context("fork")
    mine, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_measure, args=(parameters.experiment_of(project, name, values), theirs))
    process.start()
    theirs.close()
    if not mine.poll(limit):
        process.kill()
        process.join()
        return f"cut off after {limit:.0f} s", 0.0
    try:
        found: tuple[Any, float] = mine.recv()
    except EOFError:
        found = "the process died", 0.0
    process.join()
    return found


def not_finite(tables: dict[str, pd.DataFrame], committed: Path) -> list[str]:
    """Columns that hold something else than numbers here, and nothing else than numbers in the book.

    A risk may be ∞: the library says so of an iteration that diverges until it overflows, and so do tables and pages.
    """
    found = []
    for name, table in tables.items():
        path = committed / f"{name}.csv"
        book = pd.read_csv(path) if path.is_file() else pd.DataFrame()
        for column in table.select_dtypes("number"):
            fine = column in book and book[column].dtype.kind in "if" and np.isfinite(book[column]).all()
            values = table[column].astype(float)
            overflowed = (values == math.inf) & column.endswith("risk")
            if fine and not (np.isfinite(values) | overflowed).all():
                found.append(f"{name}.{column}")
    return found


def _measure(experiment: Any, answer: Any) -> None:
    """Run it here, and send its tables and the most memory that it held; nothing of it outlives the campaign."""
    end_with(os.getppid())
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tables: Any = experiment.run(Runner(workers=1))
    except ExtraMissing:
        tables = {}  # one clear line says which extra environment it needs
    except Exception:
        tables = traceback.format_exc(limit=-3)
    answer.send((tables, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024.0))
    answer.close()


def answered(status: int, errors: str) -> str:
    """What is wrong with how a command line ended that was to be refused; nothing, or words."""
    lines = errors.splitlines()
    if status == 2 and len(lines) == 1 and lines[0].startswith("error: ") and "Error" not in lines[0]:
        return ""
    return f"status {status}, {len(lines)} lines: {errors[-300:]!r}"
