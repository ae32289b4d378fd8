"""A sweep: a chapter's experiment at many points, its tables joined into one each with the parameters as columns.

Each measured point is a folder of tables below ``points``, named by the digest of all that they depend on, so that a
sweep that was interrupted, or is asked for more, measures the missing ones. A stamp beside them, as a
chapter has one, says when one was damaged. It is written last.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import joblib
import pandas as pd

from companion.build import parameters
from companion.build.errors import BookError
from companion.build.memory import side_by_side
from companion.build.output import temporary
from companion.build.progress import place_for_progress
from companion.build.project import Project, module_name
from companion.build.sweep_points import Point, SweepPlan
from companion.judging.claims import read_register
from companion.judging.judges import judges_of
from companion.judging.words import judged
from companion.running import cluster, memory
from companion.running.montecarlo import Runner
from companion.running.stamps import STAMP, are_saved, file_digest, json_digest, measured_from, saved_tables

Say = Callable[[str], None]
GIVEN = "given_"  # what a parameter's column begins with where the table has one of that name
POINTS, VERDICTS = "points", "verdicts"


def run(project: Project, asked: SweepPlan, folder: Path, address: str, say: Say) -> list[str]:
    """Measure what is missing of a sweep, and join it.

    Leaves in the folder a table for each of the chapter's, ``points.csv`` with all parameters of each point, and
    ``verdicts.csv``.

    Args:
        project: the book.
        asked: the sweep.
        folder: where to.
        address: a Dask scheduler's; empty for this machine.
        say: told how far it is.

    Returns:
        What was found, in lines.

    Raises:
        BookError: a point could not be measured; the others are, and are joined.
    """
    places = homes(project, asked, folder)
    left = missing(places)
    say(f"{asked.name}: {len(places)} points, {len(places) - len(left)} of them already measured")
    for damaged in (places[number].folder for number in left if any(places[number].folder.glob("*"))):
        say(f"{damaged} is damaged, so its point is measured again")
    failures: dict[int, str] = {}
    with temporary(project) as scratch, place_for_progress(scratch, asked.name, say) as progress, memory.limited():
        for number, outcome in _measured(project, asked, left, address, progress):
            if isinstance(outcome, str):
                failures[number] = outcome
            else:
                places[number].keep(outcome)
            said = f"failed: {outcome}" if isinstance(outcome, str) else "measured"
            say(f"point {number + 1} of {len(places)}: {_words(asked, number)}: {said}")
    lines = _joined(project, asked, folder, places, failures)
    if failures:
        raise BookError(
            f"{len(failures)} of {len(places)} points failed, see {folder / POINTS}.csv; the other points are joined"
        )
    return lines


@dataclass(frozen=True)
class Home:
    """Where the tables of a point lie, and what they are measured from.

    Args:
        folder: theirs alone. inputs: a digest for each thing that they depend on, by name.
    """

    folder: Path
    inputs: Mapping[str, str]

    def keep(self, tables: Mapping[str, pd.DataFrame]) -> None:
        """Save the tables, and then a stamp."""
        (self.folder / STAMP).unlink(missing_ok=True)
        _write(tables, self.folder)
        files = {f"{name}.csv": file_digest(self.folder / f"{name}.csv") for name in sorted(tables)}
        stamp = {"measured": {"inputs": dict(self.inputs), "files": files}}
        (self.folder / STAMP).write_text(json.dumps(stamp, indent=1) + "\n", "utf-8")


def homes(project: Project, asked: SweepPlan, folder: Path) -> list[Home]:
    """The place of each point's tables in the folder of a sweep; the points differ in their parameters alone."""
    common = measured_from(asked.experiments[0], project.root)
    own = ({field.name: getattr(one, field.name) for field in fields(one)} for one in asked.experiments)
    inputs = [common | {"parameters": json_digest(values)} for values in own]
    return [Home(folder / POINTS / json_digest(each)[:20], each) for each in inputs]


def missing(homes: Sequence[Home]) -> list[int]:
    """The numbers of the points that are not measured yet, or whose tables were damaged."""
    return [number for number, home in enumerate(homes) if not are_saved(home.folder, home.inputs)]


def _measured(
    project: Project, asked: SweepPlan, missing: list[int], address: str, progress: str
) -> Iterator[tuple[int, dict[str, pd.DataFrame] | str]]:
    """Tables of points, or why there are none. Few points spread their trials, many are spread themselves."""
    cache = project.cache.resolve()
    workers = {number: int(asked.points[number].get(parameters.WORKERS, -1)) for number in missing}
    alone = {number: (number, asked.experiments[number]) for number in missing}
    if not side_by_side(len(missing), _cores(address)):
        for number in missing:
            yield measure(*alone[number], Runner(workers[number], cache, progress, address or None))
    elif address:
        tasks = [(*alone[number], Runner(1)) for number in missing]
        yield from cluster.spread(address, measure, tasks, [type(asked.experiments[0])])
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


def _cores(address: str) -> int:
    if not address:
        return joblib.cpu_count()
    with cluster.connected(address) as client:
        return sum(client.nthreads().values())


def _write(tables: Mapping[str, pd.DataFrame], folder: Path) -> None:
    """Write tables into a folder, by name."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, table in tables.items():
        table.to_csv(folder / f"{name}.csv", index=False)


def _joined(
    project: Project, asked: SweepPlan, folder: Path, homes: list[Home], failures: Mapping[int, str]
) -> list[str]:
    """Write the joined tables; returns what they are, and where verdicts are other than the book's."""
    found = {number: saved_tables(home.folder, home.inputs) for number, home in enumerate(homes)}
    tables = {number: saved for number, saved in found.items() if saved and number not in failures}
    rows = [
        {"point": number + 1, **_plain(point), "failed": failures.get(number, "")}
        for number, point in enumerate(asked.points)
    ]
    files = {POINTS: pd.DataFrame(rows)}
    for name in dict.fromkeys(name for saved in tables.values() for name in saved):
        parts = [_with_columns(asked, number, saved[name]) for number, saved in tables.items() if name in saved]
        files[name] = pd.concat(parts, ignore_index=True)
    files[VERDICTS] = _verdicts(project, asked, tables)
    _write(files, folder)
    written = ", ".join(f"{name}.csv ({len(table)} rows)" for name, table in files.items())
    return [f"the sweep is in {folder}: {written}", *_told(files[VERDICTS])]


def _with_columns(asked: SweepPlan, number: int, table: pd.DataFrame) -> pd.DataFrame:
    """A table of a point behind the values of the swept parameters."""
    values = _plain({name: asked.points[number][name] for name in asked.swept})
    front = {f"{GIVEN}{name}" if name in table.columns else name: value for name, value in values.items()}
    return pd.concat([pd.DataFrame(front, index=table.index), table], axis=1)


def _verdicts(project: Project, asked: SweepPlan, tables: Mapping[int, Mapping[str, pd.DataFrame]]) -> pd.DataFrame:
    """The verdict on each of the chapter's claims at each point, beside the book's."""
    register = read_register(project.claims) if project.claims.is_file() else {}
    book = {claim.id: claim for claim in register.values() if claim.verdict}
    judges = judges_of(module_name(project, asked.name))
    rows = []
    for number, found in tables.items():
        values = _plain({name: asked.points[number][name] for name in asked.swept})
        for claim in (claim for claim in judges if claim in book):
            try:
                finding = judged(book[claim], judges[claim], dict(found))
                told = {"verdict": str(finding.verdict), "headline": finding.headline}
            except Exception as error:  # a judge may need rows that a point has not
                told = {"verdict": "not judged", "headline": f"{type(error).__name__}: {error}"}
            rows.append({**values, "claim": claim, "book": book[claim].verdict, **told})
    return pd.DataFrame(rows, columns=[*asked.swept, "claim", "verdict", "book", "headline"])


def _told(verdicts: pd.DataFrame) -> list[str]:
    """A line for each claim whose verdict is not the book's somewhere."""
    lines = []
    for claim, rows in verdicts.groupby("claim", sort=False):
        if (rows["verdict"] != rows["book"]).any():
            counts = ", ".join(f"{verdict} at {count}" for verdict, count in rows["verdict"].value_counts().items())
            lines.append(f"{claim}: {counts} of {len(rows)} points; the book: {rows['book'].iloc[0]}")
    return lines


def _plain(point: Point) -> dict[str, Any]:
    """Values as a table's cells hold them: lists as JSON."""
    return {key: json.dumps(value) if isinstance(value, (list, tuple)) else value for key, value in point.items()}


def _words(asked: SweepPlan, number: int) -> str:
    return ", ".join(f"{name} = {value}" for name, value in _plain(asked.points[number]).items() if name in asked.swept)
