"""What must come of a set of parameters: one line, or a run to its end."""

import importlib
import math
import multiprocessing
import os
import traceback
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from costofprivacy.book import parameters
from costofprivacy.book.errors import RequestError
from costofprivacy.book.project import Project, chapters, is_plain, module_name, place
from costofprivacy.running import memory
from costofprivacy.running.extras import ExtraMissing
from costofprivacy.running.montecarlo import Runner
from costofprivacy.running.orphans import end_with

LONGEST = 60.0  # seconds of a run; one that takes longer is cut off, and nothing is said of it


def experiments(project: Project) -> dict[str, type]:
    """The class of each chapter that has one."""
    names = [name for name in chapters(project) if not is_plain(project, name)]
    return {name: importlib.import_module(f"{module_name(project, name)}.experiment").Experiment for name in names}


def validated(project: Project, name: str, given: dict[str, Any]) -> dict[str, Any] | None:
    """The resolved parameters; None where they are refused, which must be in one clear line and without a warning."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            values = parameters.resolve(project, name, given)
            parameters.experiment_of(project, name, values)
    except RequestError as error:
        words = str(error)
        assert words
        assert "\n" not in words
        assert "Error" not in words
        return None
    return values


def ran(project: Project, name: str, values: dict[str, Any], base: dict[str, Any]) -> str:
    """What is wrong with a run in a process of its own; nothing, or words.

    Args:
        project: the book. name: the chapter. values: its parameters.
        base: parameters of the same scale that nobody made up; what is empty with them may be empty.
    """
    tables, committed = _apart(project, name, values), place(project.book, name).results
    if isinstance(tables, str):
        return tables
    if lost := not_finite(tables, committed):
        ordinary = _apart(project, name, base)
        lost = [column for column in lost if isinstance(ordinary, str) or column not in not_finite(ordinary, committed)]
    return f"not finite: {lost}" if lost else ""


def _apart(project: Project, name: str, values: dict[str, Any]) -> Any:
    """The tables of a run in a process of its own, or what is wrong with it in words; no tables if it is cut off."""
    context = multiprocessing.get_context("fork")
    mine, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_measure, args=(parameters.experiment_of(project, name, values), theirs))
    process.start()
    theirs.close()
    try:
        return mine.recv() if mine.poll(LONGEST) else {}
    except EOFError:
        return "the process died"
    finally:
        process.kill()
        process.join()


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
    """Run it here within the memory that is free, and send its tables; nothing of it outlives the campaign."""
    end_with(os.getppid())
    try:
        with warnings.catch_warnings(), memory.limited():
            warnings.simplefilter("ignore")
            tables: Any = experiment.run(Runner(workers=1))
    except (ExtraMissing, MemoryError):
        tables = {}  # one clear line says what it needs
    except Exception:
        tables = traceback.format_exc(limit=-3)
    answer.send(tables)
    answer.close()


def answered(status: int, errors: str) -> str:
    """What is wrong with how a command line ended that was to be refused; nothing, or words."""
    lines = errors.splitlines()
    if status == 2 and len(lines) == 1 and lines[0].startswith("error: ") and "Error" not in lines[0]:
        return ""
    return f"status {status}, {len(lines)} lines: {errors[-300:]!r}"
