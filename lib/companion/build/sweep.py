"""A sweep: a chapter's experiment at many points, its tables joined into one each with the parameters as columns.

Each measured point is a folder of tables below ``points``, named by the digest of all that they depend on, with a stamp
as a chapter has one, written last: a sweep that was interrupted, or is asked for more, measures the missing ones.
"""

import csv
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import product
from pathlib import Path
from typing import Any

import joblib
import pandas as pd

from companion.build import parameters
from companion.build.environment import place_for_progress
from companion.build.execute import temporary
from companion.build.project import BookError, Project, RequestError, Say, is_plain, module_name
from companion.checks import anyway
from companion.judging.claims import read_register
from companion.judging.judges import judges_of
from companion.judging.words import judged
from companion.running import cluster, memory
from companion.running.montecarlo import Runner
from companion.running.stamps import (
    STAMP,
    are_saved,
    file_digest,
    json_digest,
    measured_from,
    saved_tables,
    write_tables,
)

Point = Mapping[str, Any]
GIVEN = "given_"  # what a parameter's column begins with where the table has one of that name
POINTS, VERDICTS = "points", "verdicts"
MOST_POINTS = 10_000


@dataclass(frozen=True)
class SweepPlan:
    """A sweep that can be run: a chapter, the parameters that are given several values, all parameters of each point,
    and the chapter's experiment at each.
    """

    name: str
    swept: tuple[str, ...]
    points: tuple[Point, ...]
    experiments: tuple[Any, ...]


def plan(project: Project, name: str, fixed: Point, grids: Sequence[str], files: Sequence[Path]) -> SweepPlan:
    """The points of a sweep, every one checked.

    ``fixed`` parameters have one value for all points; ``grids`` are ``parameter=value,value,...`` each, in YAML;
    ``files`` are CSV tables of points. Nothing is measured where a point is inadmissible or stands twice.
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
    number = math.prod(len(axis) for axis in axes)
    if number > MOST_POINTS and not anyway():
        raise RequestError(f"a sweep must have at most {MOST_POINTS} points, got {number} (ANYWAY=1 goes beyond)")
    combined = [{**fixed, **{key: value for part in parts for key, value in part.items()}} for parts in product(*axes)]
    first = parameters.resolve(project, name, combined[0]).items()
    values = [{key: parameters.coerce(key, point.get(key, was), was) for key, was in first} for point in combined]
    experiments = tuple(parameters.experiment_of(project, name, one) for one in values)
    seen: set[str] = set()
    for point, experiment in zip(values, experiments, strict=True):
        if repr(experiment) in seen:
            point_in_words = ", ".join(f"{name} = {point[name]}" for name in swept)
            raise RequestError(f"the points of a sweep must be distinct, got {point_in_words} twice")
        seen.add(repr(experiment))
    return SweepPlan(name, tuple(swept), tuple(values), experiments)


def read_grid(text: str) -> list[Point]:
    """The points of ``parameter=value,value,...``; the values are YAML, a list stands in brackets."""
    parameter, equals, values = text.partition("=")
    try:
        found = parameters.load(f"[{values}]")
    except ValueError:
        found = None
    if not equals or not parameter.strip() or not found:
        raise RequestError(f"--sweep must be NAME=VALUE,VALUE,... with lists in brackets, got {text!r}")
    return [{parameter.strip(): value} for value in found]


def read_table_of_points(path: Path) -> list[Point]:
    """The points in a CSV file, a column for each parameter."""
    try:
        reader = csv.DictReader(path.read_text("utf-8-sig").strip().splitlines(), skipinitialspace=True, strict=True)
        rows = list(reader)
        names = [name.strip() for name in reader.fieldnames or ()]
        if not rows:
            raise ValueError("it has no rows below the names of its columns")
        if len(set(names)) < len(names) or any(None in row or None in row.values() for row in rows):
            raise ValueError(f"each of its rows must have a value for each of its distinct columns, {', '.join(names)}")
        return [{name.strip(): parameters.load(value) for name, value in row.items()} for row in rows]
    except (OSError, ValueError, csv.Error) as error:
        raise RequestError(f"--table must be a CSV file of points, got {path}: {error}") from error


def run(project: Project, sweep: SweepPlan, folder: Path, address: str, say: Say) -> list[str]:
    """Measure what is missing of a sweep, and join it; returns what was found, in lines.

    Leaves in the folder a table for each of the chapter's, ``points.csv`` with all parameters of each point, and
    ``verdicts.csv``. A `BookError` says that a point could not be measured; the others are, and are joined.
    """
    places = homes(project, sweep, folder)
    left = missing(places)
    say(f"{sweep.name}: {len(places)} points, {len(places) - len(left)} of them already measured")
    for damaged in (places[number].folder for number in left if any(places[number].folder.glob("*"))):
        say(f"{damaged} is damaged, so its point is measured again")
    failures: dict[int, str] = {}
    with temporary(project) as scratch, place_for_progress(scratch, sweep.name, say) as progress, memory.limited():
        for number, outcome in _measured(project, sweep, left, address, progress):
            if isinstance(outcome, str):
                failures[number] = outcome
            else:
                home = places[number]
                (home.folder / STAMP).unlink(missing_ok=True)
                write_tables(outcome, home.folder)
                files = {f"{name}.csv": file_digest(home.folder / f"{name}.csv") for name in sorted(outcome)}
                stamp = {"measured": {"inputs": dict(home.inputs), "files": files}}
                (home.folder / STAMP).write_text(json.dumps(stamp, indent=1) + "\n", "utf-8")
            here = ", ".join(f"{name} = {value}" for name, value in _swept(sweep, number).items())
            said = f"failed: {outcome}" if isinstance(outcome, str) else "measured"
            say(f"point {number + 1} of {len(places)}: {here}: {said}")
    lines = _joined(project, sweep, folder, places, failures)
    if failures:
        raise BookError(
            f"{len(failures)} of {len(places)} points failed, see {folder / POINTS}.csv; the other points are joined"
        )
    return lines


@dataclass(frozen=True)
class Home:
    """Where the tables of a point lie, in a folder of theirs alone, and what they are measured from."""

    folder: Path
    inputs: Mapping[str, str]


def homes(project: Project, sweep: SweepPlan, folder: Path) -> list[Home]:
    """The place of each point's tables in the folder of a sweep; the points differ in their parameters alone."""
    common = measured_from(sweep.experiments[0], project.root)
    own = ({field.name: getattr(one, field.name) for field in fields(one)} for one in sweep.experiments)
    inputs = [common | {"parameters": json_digest(values)} for values in own]
    return [Home(folder / POINTS / json_digest(each)[:20], each) for each in inputs]


def missing(homes: Sequence[Home]) -> list[int]:
    """The numbers of the points that are not measured yet, or whose tables were damaged."""
    return [number for number, home in enumerate(homes) if not are_saved(home.folder, home.inputs)]


def _measured(
    project: Project, sweep: SweepPlan, missing: list[int], address: str, progress: str
) -> Iterator[tuple[int, dict[str, pd.DataFrame] | str]]:
    cache = project.cache.resolve()
    workers = {number: int(sweep.points[number].get(parameters.WORKERS, -1)) for number in missing}
    alone = {number: (number, sweep.experiments[number]) for number in missing}
    cores = joblib.cpu_count()
    if address:
        with cluster.connected(address) as client:
            cores = sum(client.nthreads().values())
    if len(missing) < 2 * cores:
        for number in missing:
            yield measure(*alone[number], Runner(workers[number], cache, progress, address or None))
    elif address:
        tasks = [(*alone[number], Runner(1)) for number in missing]
        yield from cluster.spread(address, measure, tasks, [type(sweep.experiments[0])])
    else:
        pool = memory.pool(-1, len(missing))
        yield from pool(joblib.delayed(measure)(*alone[number], Runner(1, cache)) for number in missing)


def measure(number: int, experiment: Any, runner: Runner) -> tuple[int, dict[str, pd.DataFrame] | str]:
    """The tables of a point with its number; in their place one line, if its experiment fails."""
    try:
        with memory.limited():
            return number, experiment.run(runner)
    except (cluster.ClusterError, KeyboardInterrupt):
        raise
    except Exception as error:  # the other points go on
        return number, " ".join(f"{type(error).__name__}: {error}".split())


def _joined(
    project: Project, sweep: SweepPlan, folder: Path, homes: list[Home], failures: Mapping[int, str]
) -> list[str]:
    measured = {number: saved_tables(home.folder, home.inputs) for number, home in enumerate(homes)}
    tables = {number: saved for number, saved in measured.items() if saved and number not in failures}
    rows = [
        {"point": number + 1, **_plain(point), "failed": failures.get(number, "")}
        for number, point in enumerate(sweep.points)
    ]
    files = {POINTS: pd.DataFrame(rows)}
    for name in dict.fromkeys(name for saved in tables.values() for name in saved):
        parts = []
        for number, table in ((number, saved[name]) for number, saved in tables.items() if name in saved):
            values = _swept(sweep, number).items()
            front = {f"{GIVEN}{key}" if key in table.columns else key: value for key, value in values}
            parts.append(pd.concat([pd.DataFrame(front, index=table.index), table], axis=1))
        files[name] = pd.concat(parts, ignore_index=True)
    files[VERDICTS] = _verdicts(project, sweep, tables)
    write_tables(files, folder)
    written = ", ".join(f"{name}.csv ({len(table)} rows)" for name, table in files.items())
    lines = [f"the sweep is in {folder}: {written}"]
    for claim, found in files[VERDICTS].groupby("claim", sort=False):
        if (found["verdict"] != found["book"]).any():
            counts = ", ".join(f"{verdict} at {count}" for verdict, count in found["verdict"].value_counts().items())
            lines.append(f"{claim}: {counts} of {len(found)} points; the book: {found['book'].iloc[0]}")
    return lines


def _verdicts(project: Project, sweep: SweepPlan, tables: Mapping[int, Mapping[str, pd.DataFrame]]) -> pd.DataFrame:
    register = read_register(project.claims) if project.claims.is_file() else {}
    book = {claim.id: claim for claim in register.values() if claim.verdict}
    judges = judges_of(module_name(project, sweep.name))
    rows = []
    for number, found in tables.items():
        values = _swept(sweep, number)
        for claim in (claim for claim in judges if claim in book):
            try:
                finding = judged(book[claim], judges[claim], dict(found))
                outcome = {"verdict": str(finding.verdict), "headline": finding.headline}
            except Exception as error:  # a judge may need rows that a point has not
                outcome = {"verdict": "not judged", "headline": f"{type(error).__name__}: {error}"}
            rows.append({**values, "claim": claim, "book": book[claim].verdict, **outcome})
    return pd.DataFrame(rows, columns=[*sweep.swept, "claim", "verdict", "book", "headline"])


def _plain(point: Point) -> dict[str, Any]:
    return {key: json.dumps(value) if isinstance(value, (list, tuple)) else value for key, value in point.items()}


def _swept(sweep: SweepPlan, number: int) -> dict[str, Any]:
    return _plain({name: sweep.points[number][name] for name in sweep.swept})
