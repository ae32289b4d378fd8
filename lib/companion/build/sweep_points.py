"""The points of a sweep: read from the command line and from files, combined, and checked.

A point is one value for each parameter.
"""

import csv
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from companion.build import parameters
from companion.build.errors import RequestError
from companion.build.project import Project, is_plain
from companion.checks import anyway

MOST_POINTS = 10_000
Point = Mapping[str, Any]


@dataclass(frozen=True)
class SweepPlan:
    """A sweep that can be run.

    Args:
        name: the chapter. swept: the parameters that are given several values, in their order.
        points: all parameters of each point. experiments: the chapter's experiment at each.
    """

    name: str
    swept: tuple[str, ...]
    points: tuple[Point, ...]
    experiments: tuple[Any, ...]


def plan(project: Project, name: str, fixed: Point, grids: Sequence[str], files: Sequence[Path]) -> SweepPlan:
    """The points of a sweep, every one checked.

    Args:
        project: the book.
        name: the chapter.
        fixed: parameters with one value for all points.
        grids: ``parameter=value,value,...`` each, in YAML.
        files: tables of points.

    Raises:
        RequestError: nothing is swept, a parameter stands in two places, a text cannot be read, a point is
            inadmissible or stands twice, or there are more than `MOST_POINTS`.
    """
    if is_plain(project, name):
        raise RequestError(f"NAME must be a chapter with an experiment, got {name!r}")
    axes = [*map(read_grid, grids), *map(read_table_of_points, files)]
    swept = [parameter for axis in axes for parameter in axis[0]]
    if not swept:
        raise RequestError("a sweep needs values: --sweep penalty=0.1,1,5, or --table points.csv")
    twice = sorted({parameter for parameter in swept if swept.count(parameter) > 1 or parameter in fixed})
    if twice or parameters.WORKERS in swept:
        raise RequestError(
            f"a swept parameter must be given only once and cannot be workers; got {', '.join(twice or swept)}"
        )
    _few_enough(math.prod(len(axis) for axis in axes))
    asked = [{**fixed, **{key: value for part in parts for key, value in part.items()}} for parts in product(*axes)]
    values = [parameters.resolve(project, name, asked[0])]
    values += [
        {key: parameters.coerce(key, point.get(key, was), was) for key, was in values[0].items()} for point in asked[1:]
    ]
    made = SweepPlan(
        name, tuple(swept), tuple(values), tuple(parameters.experiment_of(project, name, one) for one in values)
    )
    _all_distinct(made)
    return made


def _few_enough(number: int) -> None:
    """Refuse more points than `MOST_POINTS`, before any is made."""
    if number > MOST_POINTS and not anyway():
        raise RequestError(f"a sweep must have at most {MOST_POINTS} points, got {number} (ANYWAY=1 goes beyond)")


def _all_distinct(made: SweepPlan) -> None:
    """Refuse a point that stands twice: its rows would."""
    seen: set[str] = set()
    for point, experiment in zip(made.points, made.experiments, strict=True):
        if repr(experiment) in seen:
            told = ", ".join(f"{name} = {point[name]}" for name in made.swept)
            raise RequestError(f"the points of a sweep must be distinct, got {told} twice")
        seen.add(repr(experiment))


def read_grid(text: str) -> list[Point]:
    """The points of ``parameter=value,value,...``; the values are YAML, a list stands in brackets.

    Raises:
        RequestError: the text is not of this form.
    """
    parameter, equals, values = text.partition("=")
    try:
        found = parameters.load(f"[{values}]")
    except ValueError:
        found = None
    if not equals or not parameter.strip() or not found:
        raise RequestError(f"--sweep must be NAME=VALUE,VALUE,... with lists in brackets, got {text!r}")
    return [{parameter.strip(): value} for value in found]


def read_table_of_points(path: Path) -> list[Point]:
    """The points in a CSV file, a column for each parameter, or in a YAML file, a list of mappings.

    Raises:
        RequestError: the file cannot be read, holds no points, or points with different parameters.
    """
    try:
        text = parameters.read_small(path)
        is_csv = path.suffix.lower() == ".csv"
        if not text.strip():
            raise ValueError("it is empty")
        found: Any = _rows(text) if is_csv else parameters.load(text)
    except (OSError, ValueError, csv.Error) as error:
        raise RequestError(f"--table must be a CSV or YAML file of points, got {path}: {error}") from error
    if not isinstance(found, list) or not found or not all(map(_is_point, found)):
        told = "" if is_csv else "; it was read as YAML, because its name does not end in .csv"
        raise RequestError(
            f"--table must be a list of points, each a mapping of parameters to values, got {path}{told}"
        )
    if any(set(point) != set(found[0]) for point in found):
        raise RequestError(f"all points of --table must have the same parameters; those in {path} differ")
    return found


def _rows(text: str) -> list[dict[str, Any]]:
    """The points in a CSV file's text; ``ValueError`` where names or rows are not those of a table with commas."""
    header, *rows = csv.reader(text.strip().splitlines(), skipinitialspace=True, strict=True)
    names = [name.strip() for name in header]
    for mark, word in {";": "semicolons", "\t": "tabs"}.items():
        if len(names) == 1 and mark in names[0]:
            raise ValueError(f"its columns must be separated by commas, got {word}")
    if len(set(names)) < len(names) or not all(names):
        raise ValueError(f"its columns must have distinct names, got {', '.join(map(repr, names))}")
    if not any(rows):
        raise ValueError("it has no rows below the names of its columns")
    for number, row in enumerate(rows, start=2):
        if row and len(row) != len(names):
            raise ValueError(f"row {number} has {len(row)} values for {len(names)} columns")
    return [dict(zip(names, map(parameters.load, row), strict=True)) for row in rows if row]


def _is_point(found: Any) -> bool:
    return isinstance(found, dict) and bool(found) and all(isinstance(name, str) for name in found)
