"""Whether an executed chapter is still what its sources give: its stamp, ``stamp.json``."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from costofprivacy import _source
from costofprivacy.book import notebooks
from costofprivacy.book.project import LEDGER, Place, Project, chapters, module_name, place

DATA = {".csv", ".json", ".mplstyle", ".yaml", ".yml"}


@dataclass(frozen=True)
class Stamp:
    """What an executed chapter was made from, and what it made.

    Attributes:
        inputs: a digest for each thing it depends on, by name.
        files: a digest for each file among its results, by name.
        outputs: the digest of the outputs in its notebook.
    """

    inputs: Mapping[str, str]
    files: Mapping[str, str]
    outputs: str


def sha256(content: bytes | str) -> str:
    """The digest of a text or of bytes."""
    return hashlib.sha256(content.encode() if isinstance(content, str) else content).hexdigest()


def file_digest(path: Path) -> str:
    """The digest of a file's bytes; of nothing, where there is no file."""
    return sha256(path.read_bytes() if path.is_file() else b"")


def library_digest(modules: Iterable[str]) -> str:
    """The digest of the code that the modules run; see :func:`costofprivacy._source.digest`."""
    return _source.digest(modules)


def inputs(project: Project, name: str, parameters: Mapping[str, Any], tree: Path) -> dict[str, str]:
    """A digest for each thing that an executed chapter depends on.

    Args:
        project: the book.
        name: the chapter.
        parameters: all its parameters.
        tree: the executed chapters whose verdicts the ledger reads.

    Returns:
        Digests by name; a name tells a reader why a chapter is stale.
    """
    notebook = notebooks.read(place(project.book, name).notebook)
    modules = library_modules(project, name, notebooks.code_cells(notebook))
    found = {
        "cells": _json_digest([[cell.cell_type, cell.source] for cell in notebook.cells]),
        "parameters": _json_digest(dict(parameters)),
        "library": library_digest(modules) if modules else "",
        "data": _data_digest(modules, project.package),
        "requirements": file_digest(project.requirements),
    }
    if name == LEDGER:
        others = [other for other in chapters(project) if other != LEDGER]
        verdicts = {other: file_digest(place(tree, other).verdicts) for other in others}
        return found | {"claims": file_digest(project.claims), "verdicts": _json_digest(verdicts)}
    return found | {"claims": _quoted_claims(project, notebook, modules)}


def library_modules(project: Project, name: str, cells: Iterable[Any]) -> list[str]:
    """The modules of the library that a chapter's code imports, and the one that holds its experiment."""
    source = "\n".join(_without_magics(cell.source) for cell in cells)
    family = f"{project.package}."
    names = [found for found in _source.imported(source) if found.startswith(family)]
    candidates = {project.package, module_name(project, name), *names}
    return sorted(candidate for candidate in candidates if _exists(candidate))


def why_stale(target: Place, expected: Mapping[str, str]) -> str:
    """Why an executed chapter is not what its sources give; empty where it is.

    Args:
        target: where it lies.
        expected: its :func:`inputs`, now.

    Returns:
        The reason in a few words.
    """
    stamp = read(target)
    if stamp is None or not target.notebook.is_file():
        return "never executed"
    changed = sorted(key for key in {*expected, *stamp.inputs} if expected.get(key) != stamp.inputs.get(key))
    if changed:
        return f"changed: {', '.join(changed)}"
    edited = [name for name, known in stamp.files.items() if file_digest(target.results / name) != known]
    if outputs_digest(target.notebook) != stamp.outputs:
        edited.append(target.notebook.name)
    return f"edited since: {', '.join(edited)}" if edited else ""


def read(target: Place) -> Stamp | None:
    """The stamp of an executed chapter; ``None`` where there is none that can be read."""
    try:
        content = json.loads(target.stamp.read_text("utf-8"))
        return Stamp(content["inputs"], content["files"], content["outputs"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def write(target: Place, made_from: Mapping[str, str], files: Iterable[str]) -> None:
    """Stamp an executed chapter, and remove what only its earlier execution made.

    Args:
        target: where it lies.
        made_from: its :func:`inputs`.
        files: the names of its result files.
    """
    earlier = read(target)
    made = {name: file_digest(target.results / name) for name in sorted(files)}
    for name in set(earlier.files if earlier else ()) - set(made):
        (target.results / name).unlink(missing_ok=True)
    content = {
        "inputs": dict(sorted(made_from.items())),
        "files": made,
        "outputs": outputs_digest(target.notebook),
    }
    target.results.mkdir(parents=True, exist_ok=True)
    target.stamp.write_text(json.dumps(content, indent=1) + "\n", "utf-8")


def outputs_digest(path: Path) -> str:
    """The digest of a notebook's outputs."""
    return _json_digest([cell.outputs for cell in notebooks.code_cells(notebooks.read(path))])


def _json_digest(value: Any) -> str:
    """The digest of a value's JSON."""
    return sha256(json.dumps(value, sort_keys=True, default=str))


def _without_magics(source: str) -> str:
    """A cell's source without IPython's own lines."""
    return "\n".join(line for line in source.splitlines() if not line.lstrip().startswith(("%", "!")))


def _exists(module: str) -> bool:
    """Whether a name is that of a module with a source file."""
    try:
        _source.closure([module])
    except ValueError:
        return False
    return True


def _data_digest(modules: list[str], package: str) -> str:
    """The digest of the data files that come with the package."""
    if not modules:
        return ""
    root = _source.closure([package])[package].parent
    files = sorted(path for path in root.rglob("*") if path.suffix in DATA)
    return _json_digest({path.relative_to(root).as_posix(): file_digest(path) for path in files})


def _quoted_claims(project: Project, notebook: Any, modules: list[str]) -> str:
    """The digest of those claims whose ids a chapter or its library quotes."""
    if not project.claims.is_file():
        return ""
    texts = [cell.source for cell in notebook.cells]
    texts += [path.read_text("utf-8") for path in _source.closure(modules).values()]
    text = "\n".join(texts)
    claims = _by_id(yaml.safe_load(project.claims.read_text("utf-8")))
    return _json_digest({key: claim for key, claim in claims.items() if key in text})


def _by_id(content: Any) -> dict[str, Any]:
    """The claims of ``claims.yml`` by id, whether it lists or maps them, at whatever depth."""
    if isinstance(content, list):
        return {key: claim for item in content for key, claim in _by_id(item).items()}
    if not isinstance(content, dict):
        return {}
    if isinstance(content.get("id"), str):
        return {content["id"]: content}
    mapped = {key: value for key, value in content.items() if isinstance(key, str) and "/" in key}
    nested = [value for key, value in content.items() if key not in mapped]
    return mapped | _by_id([value for value in nested if isinstance(value, (dict, list))])
