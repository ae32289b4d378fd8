"""Where things lie (the project's folders, the book's chapters, a tree of executed chapters), and what can go wrong."""

import importlib.util
import math
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from companion import CHAPTERS, LIBRARY
from companion.judging.claims import load_yaml
from companion.judging.tables import SCHEMA_FILE

Say = Callable[[str], None]  # receives what is to be shown, line by line
LEDGER = "ledger"
EXECUTED = "executed"  # in _build/PRESET: the chapters that `make book` has executed
TOLERANCES = "tolerances"  # the module of a chapter's package that says how near its numbers have to come again
BUDGETS = "budgets.yml"  # in book/: seconds of each chapter at the quick preset


class BookError(Exception):
    """The run cannot go on; its text is the one line to show."""

    status = 1

    def __init__(self, text: object) -> None:
        super().__init__(" ".join(str(text).split()))


class RequestError(BookError):
    """What was asked for is inadmissible; nothing has been computed."""

    status = 2


class Interrupted(BookError):
    """Somebody ended the run."""

    status = 130


def system_error(error: OSError) -> str:
    """What the system refused, and on which file: of several, such as a folder that is copied, the first."""
    if isinstance(error, shutil.Error) and isinstance(error.args[0], list):
        _, target, reason = error.args[0][0]
        return f"{target}: {reason}"
    target, reason = error.filename2 or error.filename, error.strerror or str(error) or type(error).__name__
    return f"{target}: {reason}" if target else reason


@dataclass(frozen=True)
class Project:
    """A book's root folder, the package of its chapters, and the library that its reference describes.

    Attributes:
        book: the committed chapters. build: everything that can be made again. requirements: the environment's lock.
        cache: the finished blocks of trials of interrupted runs.
        claims: the list of the papers' claims. dictionary: what the columns of the tables mean.
    """

    root: Path
    package: str = CHAPTERS
    library: str = LIBRARY
    book: Path = field(init=False)
    build: Path = field(init=False)
    cache: Path = field(init=False)
    claims: Path = field(init=False)
    dictionary: Path = field(init=False)
    requirements: Path = field(init=False)

    def __post_init__(self) -> None:
        below = {"book": "book", "build": "_build", "cache": "_build/cache", "requirements": "requirements.txt"}
        for name, path in (below | {"claims": "book/claims.yml", "dictionary": f"book/{SCHEMA_FILE}"}).items():
            object.__setattr__(self, name, self.root / path)


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


def rewrite(pages: Iterable[Path], change: Callable[[str], str]) -> None:
    """Change the texts of files, in place; what stays the same is not written."""
    for page in pages:
        text = page.read_text("utf-8")
        if (changed := change(text)) != text:
            page.write_text(changed, "utf-8")


def chapters(project: Project) -> tuple[str, ...]:
    """The names of the chapters, entries with a notebook, in the order of ``_toc.yml``, the ledger last."""
    entries = toc_entries(project)
    names = [entry.removeprefix("book/") for entry in entries if (project.root / f"{entry}.ipynb").is_file()]
    return tuple(sorted(names, key=lambda name: name == LEDGER))


def chosen_chapters(project: Project, names: Iterable[str]) -> tuple[str, ...]:
    """The chapters of these names, in the book's order; all of them where none is named."""
    named = set(names)
    return tuple(name for name in chapters(project) if name in named or not named)


def toc_entries(project: Project) -> tuple[str, ...]:
    """The pages that ``_toc.yml`` names, in its order, as paths below the root without a notebook's suffix."""
    toc = project.root / "_toc.yml"
    if not toc.is_file():
        raise RequestError(f"no _toc.yml in {project.root.resolve()}: run this in the project's root")

    def files(node: Any) -> Iterator[str]:
        if isinstance(node, dict):
            yield from (node[key] for key in ("root", "file") if key in node)
            node = list(node.values())
        for item in node if isinstance(node, list) else ():
            yield from files(item)

    return tuple(entry.removesuffix(".ipynb") for entry in files(load_yaml(toc.read_text("utf-8"))))


def check_name(project: Project, name: str) -> str:
    """The name of a chapter, if the book has it; a `RequestError` lists those it has."""
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
        return importlib.util.find_spec(f"{module_name(project, name)}.measure") is None
    except ModuleNotFoundError:
        return True


def budgets(project: Project) -> dict[str, float]:
    """How long each chapter may take at the quick preset, in seconds; none where the book has no such file."""
    path = project.book / BUDGETS
    content = load_yaml(path.read_text("utf-8")) if path.is_file() else {}
    return {name: float(budget) for name, budget in content.items()}


def longest_first(names: Iterable[str], seconds: Mapping[str, float]) -> list[str]:
    """Chapters by the seconds that they take, unknown ones first; two of a part, which compile the same, apart."""
    waiting = sorted(names, key=lambda name: seconds.get(name, math.inf), reverse=True)
    found, part = list[str](), ""
    while waiting:
        found.append(next((name for name in waiting if name.partition("/")[0] != part), waiting[0]))
        waiting.remove(found[-1])
        part = found[-1].partition("/")[0]
    return found
