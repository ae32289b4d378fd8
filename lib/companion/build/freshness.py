"""Whether an executed chapter is still what its sources give: its stamp, ``stamp.json``.

It has two parts. What is *measured* (parameters, the experiment's code, data, requirements) makes the tables; what is
*told* (verdicts, figures, prose, claims, style) is made from them. Where only the second has changed, a chapter is
executed on its saved tables (`companion.running.stamps`).
"""

import importlib
import json
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

import companion
from companion import HOUSES, __version__, of_chapters
from companion.build import notebooks
from companion.build.parameters import experiment_of
from companion.build.project import LEDGER, TOLERANCES, BookError, Place, Project, Say, chapters, module_name, place
from companion.judging.claims import read_register
from companion.judging.tables import read_schema
from companion.running import _source, stamps
from companion.running.stamps import are_saved, file_digest, json_digest, measured_from

data_sets = of_chapters("data_sets")

TABLES = ".csv"
STYLES = ".mplstyle"
NEVER = "never executed"
READ = "from companion import of_chapters; of_chapters('data_sets').read_large()"
Missing = Mapping[str, tuple[str, ...]]  # the data sets that are missing, by chapter


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
        "style": style(project) if modules else "",
        "time": json_digest(stamps.time_in_words(project.book, name)),
        "version": __version__,
        "claims": json_digest([asdict(claim) for claim in claims.values() if claim.chapter == name]) if claims else "",
    }
    if name == LEDGER:
        others = [other for other in chapters(project) if other != LEDGER]
        verdicts = {other: file_digest(place(tree, other).verdicts) for other in others}
        told |= {"claims": file_digest(project.claims), "verdicts": json_digest(verdicts)}
    if project.dictionary.is_file():
        told["columns"] = json_digest(read_schema(project.dictionary.read_text("utf-8")).of_chapter(name))
    if read := tables_read(project, name):
        files = [place(tree, other).results / f"{table}{TABLES}" for other, tables in read.items() for table in tables]
        told["tables"] = json_digest({path.relative_to(tree).as_posix(): file_digest(path) for path in files})
    return Inputs(_measured(project, name, parameters, real), told)


def style(project: Project) -> str:
    """The digest of matplotlib's style files: the companion's, and those of the chapters."""
    roots = [_source.closure([package])[package].parent for package in (project.package, companion.__name__)]
    styles = sorted(path for root in roots for path in root.rglob(f"*{STYLES}"))
    return json_digest([(path.name, file_digest(path)) for path in styles])


def to_execute(project: Project, name: str, parameters: Mapping[str, Any], tree: Path, saved: Iterable[Path]) -> Inputs:
    """The `inputs` of a chapter that may read saved tables, of real data too where that is missing by now."""
    found = inputs(project, name, parameters, tree, real=True)
    if any(are_saved(folder, found.measured) for folder in saved):
        return found
    return replace(found, measured=_measured(project, name, parameters, False))


def _measured(project: Project, name: str, parameters: Mapping[str, Any], real: bool) -> dict[str, str]:
    experiment = experiment_of(project, name, parameters)
    return measured_from(experiment, project.root, real=real) if experiment else {}


def tables_read(project: Project, name: str) -> Mapping[str, tuple[str, ...]]:
    """The tables of other chapters that a chapter shows, by chapter: ``TABLES`` in its package's module ``reads``."""
    module = f"{module_name(project, name)}.reads"
    return importlib.import_module(module).TABLES if _source.exists(module) else {}


def library_modules(project: Project, name: str, cells: Iterable[Any]) -> list[str]:
    """The modules behind a chapter: what its code imports, and the package of its experiment but for tolerances."""
    lines = (line for cell in cells for line in cell.source.splitlines())
    source = "\n".join(line for line in lines if not line.lstrip().startswith(("%", "!")))  # IPython's own lines
    families = tuple(f"{house}." for house in (project.package, *HOUSES))
    package = module_name(project, name)
    names = {found for found in _source.imported(source) if found.startswith(families)} | {project.package, package}
    if _source.exists(project.package):
        folder = _source.closure([project.package])[project.package].parent.joinpath(*package.split(".")[1:])
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
    expected = to_execute(project, name, values, project.book, (committed,))
    return not are_saved(committed, expected.measured)


def read_once(project: Project, parameters: Mapping[str, Mapping[str, Any]]) -> None:
    """Have one process read what takes more memory to read than to keep, before chapters side by side need it."""
    if is_missing(data_sets.LARGE):
        return
    if any(data_sets.LARGE in used(experiment_of(project, name, values)) for name, values in parameters.items()):
        subprocess.run([sys.executable, "-c", READ], check=False, capture_output=True)


def fetch(say: Say) -> None:
    """Fetch what is missing, read everything once, and say each set's number of records; all are tried."""
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
