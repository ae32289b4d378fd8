"""Chapters on real data: what is missing, and ``make data``, which fetches it.

A set is missing where it is not in scikit-learn's data folder, or where only some of its files are: that is a state, in
which chapters keep what is committed. A set whose files are all there, but cannot be read, is damaged: whoever reads it
ends with an error that names the file (``data_sets``).
"""

import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

from companion import of_chapters
from companion.build import freshness
from companion.build.parameters import experiment_of
from companion.build.project import BookError, Project, place
from companion.running import stamps

data_sets = of_chapters("data_sets")

READ = "from companion import of_chapters; of_chapters('data_sets').read_large()"
Missing = Mapping[str, tuple[str, ...]]  # the data sets that are missing, by chapter


def used(experiment: Any) -> tuple[str, ...]:
    """The real data sets that an experiment declares in ``data_sets``, or has among its parameters."""
    if experiment is None:
        return ()
    named = [*getattr(experiment, "data_sets", ())]
    for field in fields(experiment):
        value = getattr(experiment, field.name)
        named += value if isinstance(value, (list, tuple)) else [value]
    return tuple(name for name in data_sets.COUNTS if name in named)


def is_missing(name: str) -> bool:
    """Whether a data set is missing; a damaged one is not, whoever reads it says what is wrong with it."""
    try:
        return not data_sets.is_cached(name)
    except data_sets.DataDamaged:
        return False


def missing_of(experiment: Any) -> tuple[str, ...]:
    """The missing data sets among those that an experiment uses."""
    return tuple(name for name in used(experiment) if is_missing(name))


def missing(project: Project, parameters: Mapping[str, Mapping[str, Any]]) -> Missing:
    """The chapters that use data sets which are missing, of those whose parameters are given, in their order."""
    if not any(map(is_missing, data_sets.COUNTS)):
        return {}
    found = {name: missing_of(experiment_of(project, name, values)) for name, values in parameters.items()}
    return {name: sets for name, sets in found.items() if sets}


def listed(missing: Missing) -> str:
    """The chapters with their missing data sets, on one line."""
    return ", ".join(f"{name} ({' and '.join(sets)})" for name, sets in missing.items())


def needed(project: Project, name: str, values: Mapping[str, Any]) -> bool:
    """Whether a committed chapter would be measured, were it refreshed: its tables are not what they would be."""
    committed = place(project.book, name).results
    expected = freshness.to_execute(project, name, values, project.book, (committed,))
    return not stamps.are_saved(committed, expected.measured)


def read_once(project: Project, parameters: Mapping[str, Mapping[str, Any]]) -> None:
    """Have one process read what takes much more memory to read than to keep, before chapters side by side need it.

    A file that cannot be read is left to the chapter that needs it, which says what is wrong.
    """
    if is_missing(data_sets.LARGE):
        return
    if any(data_sets.LARGE in used(experiment_of(project, name, values)) for name, values in parameters.items()):
        subprocess.run([sys.executable, "-c", READ], check=False, capture_output=True)


# ----------------------------------------------------------------------------------------------------- make data


def fetch(say: Callable[[str], Any]) -> None:
    """Fetch what is missing, read everything once, and say each data set with its number of records.

    Where one cannot be had or read, the others are tried first.
    """
    failures = []
    for name, load in data_sets.LOADERS.items():
        try:
            if is_missing(name):
                say(f"fetching {name}: {data_sets.MEGABYTES[name]:.1f} MB")
            say(f"{name}: {load()} records in {data_sets.folder()}")
        except (data_sets.DataMissing, data_sets.DataDamaged) as error:
            failures.append(str(error))
    if failures:
        raise BookError("; ".join(failures))
