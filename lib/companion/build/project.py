"""Where things lie: the project's folders, the book's chapters, and a tree of executed chapters."""

import importlib.util
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import yaml

from companion import CHAPTERS, LIBRARY, module_of
from companion.build.errors import RequestError
from companion.judging import column_meanings

LEDGER = "ledger"
EXECUTED = "executed"  # in _build/PRESET: the chapters that `make book` has executed
TOLERANCES = "tolerances"  # the module of a chapter's package that says how near its numbers have to come again


@dataclass(frozen=True)
class Project:
    """A book's root folder, the package of its chapters, and the library that its reference describes."""

    root: Path
    package: str = CHAPTERS
    library: str = LIBRARY

    @property
    def book(self) -> Path:
        """The committed chapters."""
        return self.root / "book"

    @property
    def build(self) -> Path:
        """Everything that can be made again."""
        return self.root / "_build"

    @property
    def cache(self) -> Path:
        """The finished blocks of trials of interrupted runs."""
        return self.build / "cache"

    @property
    def claims(self) -> Path:
        """The list of the papers' claims."""
        return self.book / "claims.yml"

    @property
    def dictionary(self) -> Path:
        """What the columns of the tables mean."""
        return self.book / column_meanings.FILE

    @property
    def requirements(self) -> Path:
        """The lock of the environment."""
        return self.root / "requirements.txt"


@dataclass(frozen=True)
class Place:
    """Where one executed chapter lies: its notebook, and the folder of its tables and verdicts."""

    notebook: Path
    results: Path

    @property
    def stamp(self) -> Path:
        """What the results were made from."""
        return self.results / "stamp.json"

    @property
    def verdicts(self) -> Path:
        """The chapter's verdicts."""
        return self.results / "verdicts.json"


def place(tree: Path, name: str) -> Place:
    """The place of the chapter ``name`` in a tree laid out as ``book/`` is."""
    return Place(tree / f"{name}.ipynb", tree / name)


def chapters(project: Project) -> tuple[str, ...]:
    """The names of the book's chapters, in the order of ``_toc.yml``, the ledger last.

    A chapter is an entry that has a notebook; its name is its path below ``book/``, without the suffix.

    Raises:
        RequestError: the project's root holds no ``_toc.yml``.
    """
    entries = toc_entries(project)
    names = [entry.removeprefix("book/") for entry in entries if (project.root / f"{entry}.ipynb").is_file()]
    return tuple(sorted(names, key=lambda name: name == LEDGER))


def toc_entries(project: Project) -> tuple[str, ...]:
    """The pages that ``_toc.yml`` names, in its order, as paths below the root without a notebook's suffix.

    Raises:
        RequestError: the project's root holds no ``_toc.yml``.
    """
    toc = project.root / "_toc.yml"
    if not toc.is_file():
        raise RequestError(f"no _toc.yml in {project.root.resolve()}: run this in the project's root")
    return tuple(entry.removesuffix(".ipynb") for entry in _files(yaml.safe_load(toc.read_text("utf-8"))))


def check_name(project: Project, name: str) -> str:
    """The name of a chapter, if the book has it.

    Raises:
        RequestError: it has not; the line lists those it has.
    """
    known = chapters(project)
    if name in known:
        return name
    close = get_close_matches(name, known, n=1)
    hint = f" (did you mean {close[0]!r}?)" if close else ""
    raise RequestError(f"NAME must be one of {', '.join(known)}; got {name!r}{hint}")


def module_name(project: Project, name: str) -> str:
    """The package that serves a chapter: ``a/b-c`` has ``chapters.a.b_c``."""
    return f"{project.package}.{name.replace('/', '.').replace('-', '_')}"


def is_plain(project: Project, name: str) -> bool:
    """Whether a chapter is a notebook alone, as a tutorial is: no experiment serves it, it has no tables, and what
    checks its parameters is the code that it shows. A package of its name may hold functions that it calls.
    """
    try:
        return importlib.util.find_spec(module_of(module_name(project, name), "measure", "experiment")) is None
    except ModuleNotFoundError:
        return True


def _files(node: Any) -> Iterator[str]:
    """The pages of a table of contents, in its order."""
    if isinstance(node, dict):
        yield from (node[key] for key in ("root", "file") if key in node)
        for value in node.values():
            yield from _files(value)
    elif isinstance(node, list):
        for item in node:
            yield from _files(item)
