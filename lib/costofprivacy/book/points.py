"""The points of a sweep: read from the command line and from files, combined, and checked.

A point is one value for each parameter.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import yaml

from costofprivacy.book import parameters
from costofprivacy.book.errors import RequestError
from costofprivacy.book.project import Project, is_plain

Point = Mapping[str, Any]


@dataclass(frozen=True)
class Plan:
    """A sweep that can be run.

    Args:
        name: the chapter. swept: the parameters that are given several values, in their order.
        points: all parameters of each point. experiments: the chapter's experiment at each.
    """

    name: str
    swept: tuple[str, ...]
    points: tuple[Point, ...]
    experiments: tuple[Any, ...]


def plan(project: Project, name: str, fixed: Point, grids: Sequence[str], files: Sequence[Path]) -> Plan:
    """The points of a sweep, every one checked.

    Args:
        project: the book.
        name: the chapter.
        fixed: parameters with one value for all points.
        grids: ``parameter=value,value,...`` each, in YAML.
        files: tables of points.

    Raises:
        RequestError: nothing is swept, a parameter stands in two places, a text cannot be read, or a point is
            inadmissible.
    """
    if is_plain(project, name):
        raise RequestError(f"NAME must be a chapter that measures, got {name!r}")
    axes = [*map(read_grid, grids), *map(read_table_of_points, files)]
    swept = [parameter for axis in axes for parameter in axis[0]]
    if not swept:
        raise RequestError("a sweep needs values: --sweep penalty=0.1,1,5, or --table points.csv")
    twice = sorted({parameter for parameter in swept if swept.count(parameter) > 1 or parameter in fixed})
    if twice or parameters.WORKERS in swept:
        raise RequestError(f"a swept parameter must be given once, and not be workers; got {', '.join(twice or swept)}")
    asked = [{**fixed, **{key: value for part in parts for key, value in part.items()}} for parts in product(*axes)]
    values = [parameters.resolve(project, name, asked[0])]
    values += [
        {key: parameters.coerce(key, point.get(key, was), was) for key, was in values[0].items()} for point in asked[1:]
    ]
    return Plan(
        name, tuple(swept), tuple(values), tuple(parameters.experiment_of(project, name, one) for one in values)
    )


def read_grid(text: str) -> list[Point]:
    """The points of ``parameter=value,value,...``; the values are YAML, a list stands in brackets.

    Raises:
        RequestError: the text is not of this form.
    """
    parameter, equals, values = text.partition("=")
    try:
        found = yaml.safe_load(f"[{values}]")
    except yaml.YAMLError:
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
        text = path.read_text("utf-8")
        if path.suffix == ".csv":
            rows = csv.DictReader(text.splitlines(), skipinitialspace=True)
            found: Any = [{str(key).strip(): yaml.safe_load(value) for key, value in row.items()} for row in rows]
        else:
            found = yaml.safe_load(text)
    except (OSError, UnicodeDecodeError, yaml.YAMLError, AttributeError) as error:
        raise RequestError(f"--table must be a CSV or YAML file of points, got {path}: {error}") from error
    if not isinstance(found, list) or not found or not all(isinstance(point, dict) and point for point in found):
        raise RequestError(f"--table must hold points, a mapping of parameters to values each, got {path}")
    if any(set(point) != set(found[0]) for point in found):
        raise RequestError(f"the points of --table must have the same parameters, got others in {path}")
    return found
