"""Whether an executed chapter is still what its sources give: its stamp, ``stamp.json``.

It has two parts. What is *measured* (parameters, the experiment's code, data, requirements) makes the tables; what is
*told* (verdicts, figures, prose, claims, style) is made from them. Where only the second has changed, a chapter is
executed on its saved tables (`companion.running.stamps`).
"""

import importlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import companion
from companion import HOUSES, __version__
from companion.build import notebooks
from companion.build.parameters import experiment_of
from companion.build.project import LEDGER, TOLERANCES, Place, Project, chapters, module_name, place
from companion.judging import column_meanings
from companion.judging.claims import read_register
from companion.running import _source, times
from companion.running.stamps import are_saved, file_digest, json_digest, measured_from
from companion.running.stamps import read as read_stamp

TABLES = ".csv"
STYLES = ".mplstyle"
NEVER = "never executed"


@dataclass(frozen=True)
class Inputs:
    """A digest for each thing that an executed chapter depends on, by name.

    Attributes:
        measured: what its tables depend on.
        told: what else its page depends on.
    """

    measured: Mapping[str, str]
    told: Mapping[str, str]


def inputs(project: Project, name: str, parameters: Mapping[str, Any], tree: Path, *, real: bool = False) -> Inputs:
    """What an executed chapter depends on, now.

    Args:
        project: the book.
        name: the chapter.
        parameters: all its parameters.
        tree: the executed chapters whose verdicts the ledger reads, and whose tables others do.
        real: whether real data sets count as they are when they are there. What is committed was measured on them, and
            is as fresh where they are missing.
    """
    notebook = notebooks.read(place(project.book, name).notebook)
    modules = library_modules(project, name, notebooks.code_cells(notebook))
    told = {
        "cells": json_digest([[cell.cell_type, cell.source, cell.metadata] for cell in notebook.cells]),
        "workers": json_digest(parameters.get("workers")),
        "library": _source.digest(modules) if modules else "",
        "style": _style_digest(project, modules),
        "time": json_digest(times.words(project.book, name)),
        "version": __version__,
    }
    if name == LEDGER:
        others = [other for other in chapters(project) if other != LEDGER]
        verdicts = {other: file_digest(place(tree, other).verdicts) for other in others}
        told |= {"claims": file_digest(project.claims), "verdicts": json_digest(verdicts)}
    else:
        told["claims"] = _claims_digest(project, name)
    if project.dictionary.is_file():
        told["columns"] = _columns_digest(project, name)
    if read := tables_read(project, name):
        files = [place(tree, other).results / f"{table}{TABLES}" for other, tables in read.items() for table in tables]
        told["tables"] = json_digest({path.relative_to(tree).as_posix(): file_digest(path) for path in files})
    return Inputs(_measured(project, name, parameters, real), told)


def to_execute(project: Project, name: str, parameters: Mapping[str, Any], tree: Path, saved: Iterable[Path]) -> Inputs:
    """What a chapter depends on, now, whose execution may read saved tables.

    Saved tables of real data are read where that data is missing, too. Otherwise what stands in for it is measured.

    Args:
        project: the book. name: the chapter. parameters: all its parameters. tree: as for :func:`inputs`.
        saved: the folders whose tables it may read.
    """
    found = inputs(project, name, parameters, tree, real=True)
    if any(are_saved(folder, found.measured) for folder in saved):
        return found
    return replace(found, measured=_measured(project, name, parameters, False))


def tables_read(project: Project, name: str) -> Mapping[str, tuple[str, ...]]:
    """The tables of other chapters that a chapter shows, by chapter: ``TABLES`` in its package's module ``reads``."""
    module = f"{module_name(project, name)}.reads"
    return importlib.import_module(module).TABLES if _source.exists(module) else {}


def library_modules(project: Project, name: str, cells: Iterable[Any]) -> list[str]:
    """The modules of the library behind a chapter: what its code imports, and the package of its experiment.

    Its tolerances are left out: no page shows them.
    """
    source = "\n".join(_without_magics(cell.source) for cell in cells)
    families = tuple(f"{house}." for house in (project.package, *HOUSES))
    package = module_name(project, name)
    names = {found for found in _source.imported(source) if found.startswith(families)} | {project.package, package}
    known = _source.closure(name for name in names if _source.exists(name))
    if package in known:
        modules = {path.stem for path in known[package].parent.glob("[!_]*.py")} - {TOLERANCES}
        names |= {f"{package}.{module}" for module in modules}
    return sorted(candidate for candidate in names if _source.exists(candidate))


def imported_modules(project: Project, tree: Path, names: Iterable[str]) -> list[str]:
    """The modules of the library behind some chapters of a tree."""
    found: set[str] = set()
    for name in names:
        cells = notebooks.code_cells(notebooks.read(place(tree, name).notebook))
        found.update(library_modules(project, name, cells))
    return sorted(found)


def why_stale(target: Place, expected: Inputs) -> str:
    """Why an executed chapter is not what its sources give; empty where it is.

    Args:
        target: where it lies.
        expected: its :func:`inputs`, now.

    Returns:
        The reason in a few words.
    """
    stamp = read_stamp(target.results)
    if not {"measured", "told", "outputs"} <= set(stamp) or not target.notebook.is_file():
        return NEVER
    reasons = [
        f"{part}: {', '.join(changed)}"
        for part, now in (("measured", expected.measured), ("told", expected.told))
        if (changed := _differences(stamp[part]["inputs"], now))
    ]
    if reasons:
        return "; ".join(reasons)
    files = stamp["measured"]["files"] | stamp["told"]["files"]
    edited = [name for name, known in files.items() if file_digest(target.results / name) != known]
    if outputs_digest(target.notebook) != stamp["outputs"]:
        edited.append(target.notebook.name)
    return f"edited since: {', '.join(edited)}" if edited else ""


def write(target: Place, made_from: Inputs, files: Iterable[str]) -> None:
    """Stamp an executed chapter.

    Args:
        target: where it lies.
        made_from: its :func:`inputs`.
        files: the names of its result files.
    """
    made = {name: file_digest(target.results / name) for name in sorted(files)}
    tables = {name: content for name, content in made.items() if name.endswith(TABLES)}
    content = {
        "measured": {"inputs": dict(sorted(made_from.measured.items())), "files": tables},
        "told": {
            "inputs": dict(sorted(made_from.told.items())),
            "files": {name: content for name, content in made.items() if name not in tables},
        },
        "outputs": outputs_digest(target.notebook),
    }
    target.results.mkdir(parents=True, exist_ok=True)
    target.stamp.write_text(json.dumps(content, indent=1) + "\n", "utf-8")


def _measured(project: Project, name: str, parameters: Mapping[str, Any], real: bool) -> dict[str, str]:
    """What a chapter's tables depend on; nothing for one without an experiment."""
    experiment = experiment_of(project, name, parameters)
    return measured_from(experiment, project.root, real=real) if experiment else {}


def _differences(before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """The names under which two sets of digests differ."""
    return sorted(key for key in {*before, *now} if before.get(key) != now.get(key))


def outputs_digest(path: Path) -> str:
    """The digest of a notebook's outputs."""
    return json_digest([cell.outputs for cell in notebooks.code_cells(notebooks.read(path))])


def _without_magics(source: str) -> str:
    """A cell's source without IPython's own lines."""
    return "\n".join(line for line in source.splitlines() if not line.lstrip().startswith(("%", "!")))


def _style_digest(project: Project, modules: list[str]) -> str:
    """The digest of the style files, the companion's own among them."""
    if not modules:
        return ""
    roots = [_source.closure([name])[name].parent for name in (project.package, companion.__name__)]
    files = sorted(path for root in roots for path in root.rglob(f"*{STYLES}"))
    return json_digest([(path.name, file_digest(path)) for path in files])


def _columns_digest(project: Project, name: str) -> str:
    """The digest of the lines that may say what the columns of a chapter's tables mean."""
    told = column_meanings.read(project.dictionary.read_text("utf-8"))
    return json_digest(
        asdict(column_meanings.Dictionary(told.columns, {name: told.chapters.get(name, column_meanings.Part())}))
    )


def _claims_digest(project: Project, name: str) -> str:
    """The digest of the claims that a chapter judges."""
    if not project.claims.is_file():
        return ""
    own = [claim for claim in read_register(project.claims).values() if claim.chapter == name]
    return json_digest([asdict(claim) for claim in own])
