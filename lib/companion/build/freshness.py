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
from companion.running import _source, stamps
from companion.running.stamps import are_saved, file_digest, json_digest, measured_from

TABLES = ".csv"
STYLES = ".mplstyle"
NEVER = "never executed"


@dataclass(frozen=True)
class Inputs:
    """A digest by name for each thing that a chapter's tables depend on, and for what else its page depends on."""

    measured: Mapping[str, str]
    told: Mapping[str, str]


def inputs(project: Project, name: str, parameters: Mapping[str, Any], tree: Path, *, real: bool = False) -> Inputs:
    """What an executed chapter depends on, now.

    Args:
        project, name, parameters, tree: other chapters' verdicts and tables, which it may show, are those of ``tree``.
        real: whether real data sets count as they are when they are there. What is committed was measured on them, and
            is as fresh where they are missing.
    """
    notebook = notebooks.read(place(project.book, name).notebook)
    modules = library_modules(project, name, notebooks.code_cells(notebook))
    claims = read_register(project.claims) if name != LEDGER and project.claims.is_file() else {}
    told = {
        "cells": json_digest([[cell.cell_type, cell.source, cell.metadata] for cell in notebook.cells]),
        "workers": json_digest(parameters.get("workers")),
        "library": _source.digest(modules) if modules else "",
        "style": "",
        "time": json_digest(stamps.time_in_words(project.book, name)),
        "version": __version__,
        "claims": json_digest([asdict(claim) for claim in claims.values() if claim.chapter == name]) if claims else "",
    }
    if modules:
        roots = [_source.closure([package])[package].parent for package in (project.package, companion.__name__)]
        styles = sorted(path for root in roots for path in root.rglob(f"*{STYLES}"))
        told["style"] = json_digest([(path.name, file_digest(path)) for path in styles])
    if name == LEDGER:
        others = [other for other in chapters(project) if other != LEDGER]
        verdicts = {other: file_digest(place(tree, other).verdicts) for other in others}
        told |= {"claims": file_digest(project.claims), "verdicts": json_digest(verdicts)}
    if project.dictionary.is_file():
        told["columns"] = json_digest(column_meanings.read(project.dictionary.read_text("utf-8")).of_chapter(name))
    if read := tables_read(project, name):
        files = [place(tree, other).results / f"{table}{TABLES}" for other, tables in read.items() for table in tables]
        told["tables"] = json_digest({path.relative_to(tree).as_posix(): file_digest(path) for path in files})
    return Inputs(_measured(project, name, parameters, real), told)


def to_execute(project: Project, name: str, parameters: Mapping[str, Any], tree: Path, saved: Iterable[Path]) -> Inputs:
    """The `inputs` of a chapter whose execution may read the tables saved in some folders.

    Saved tables of real data are read where that data is missing, too. Otherwise what stands in for it is measured.
    """
    found = inputs(project, name, parameters, tree, real=True)
    if any(are_saved(folder, found.measured) for folder in saved):
        return found
    return replace(found, measured=_measured(project, name, parameters, False))


def _measured(project: Project, name: str, parameters: Mapping[str, Any], real: bool) -> dict[str, str]:
    """What a chapter's tables depend on; nothing for one without an experiment."""
    experiment = experiment_of(project, name, parameters)
    return measured_from(experiment, project.root, real=real) if experiment else {}


def tables_read(project: Project, name: str) -> Mapping[str, tuple[str, ...]]:
    """The tables of other chapters that a chapter shows, by chapter: ``TABLES`` in its package's module ``reads``."""
    module = f"{module_name(project, name)}.reads"
    return importlib.import_module(module).TABLES if _source.exists(module) else {}


def library_modules(project: Project, name: str, cells: Iterable[Any]) -> list[str]:
    """The modules of the library behind a chapter: what its code imports, and the package of its experiment.

    Its tolerances are left out: no page shows them.
    """
    lines = (line for cell in cells for line in cell.source.splitlines())
    source = "\n".join(line for line in lines if not line.lstrip().startswith(("%", "!")))  # IPython's own lines
    families = tuple(f"{house}." for house in (project.package, *HOUSES))
    package = module_name(project, name)
    names = {found for found in _source.imported(source) if found.startswith(families)} | {project.package, package}
    known = _source.closure(name for name in names if _source.exists(name))
    if project.package in known:
        folder = known[project.package].parent.joinpath(*package.split(".")[1:])
        names |= {f"{package}.{path.stem}" for path in folder.glob("[!_]*.py") if path.stem != TOLERANCES}
    return sorted(candidate for candidate in names if _source.exists(candidate))


def imported_modules(project: Project, tree: Path, names: Iterable[str]) -> list[str]:
    """The modules of the library behind some chapters of a tree."""
    found: set[str] = set()
    for name in names:
        cells = notebooks.code_cells(notebooks.read(place(tree, name).notebook))
        found.update(library_modules(project, name, cells))
    return sorted(found)


def why_stale(target: Place, expected: Inputs) -> str:
    """Why an executed chapter is not what its `inputs` give, in a few words; empty where it is."""
    stamp = stamps.read(target.results)
    if not {"measured", "told", "outputs"} <= set(stamp) or not target.notebook.is_file():
        return NEVER
    reasons = []
    for part, now in (("measured", expected.measured), ("told", expected.told)):
        before = stamp[part]["inputs"]
        changed = sorted(key for key in {*before, *now} if before.get(key) != now.get(key))
        reasons += [f"{part}: {', '.join(changed)}"] if changed else []
    if reasons:
        return "; ".join(reasons)
    files = stamp["measured"]["files"] | stamp["told"]["files"]
    edited = [name for name, known in files.items() if file_digest(target.results / name) != known]
    if outputs_digest(target.notebook) != stamp["outputs"]:
        edited.append(target.notebook.name)
    return f"edited since: {', '.join(edited)}" if edited else ""


def write(target: Place, made_from: Inputs, files: Iterable[str]) -> None:
    """Stamp an executed chapter, whose result files have these names."""
    made = {name: file_digest(target.results / name) for name in sorted(files)}
    tables = {name: content for name, content in made.items() if name.endswith(TABLES)}
    others = {name: content for name, content in made.items() if name not in tables}
    content = {
        "measured": {"inputs": dict(sorted(made_from.measured.items())), "files": tables},
        "told": {"inputs": dict(sorted(made_from.told.items())), "files": others},
        "outputs": outputs_digest(target.notebook),
    }
    target.results.mkdir(parents=True, exist_ok=True)
    target.stamp.write_text(json.dumps(content, indent=1) + "\n", "utf-8")


def outputs_digest(path: Path) -> str:
    """The digest of a notebook's outputs."""
    return json_digest([cell.outputs for cell in notebooks.code_cells(notebooks.read(path))])
