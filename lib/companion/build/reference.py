"""The library's reference: a page for each package that the table of contents names, and its docstrings for Sphinx.

The library's docstrings have Google's sections, with several short arguments on one line where they fit::

    Args:
        claims: which. found: the findings by claim.

Sphinx wants each on a line of its own, and bars that stand for themselves escaped.
"""

import contextlib
import dataclasses
import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterable
from typing import Any

from companion.build.project import Project, toc_entries

FOLDER = "book/reference/"
BY_HAND = f"{FOLDER}index"
SECTION = re.compile(r"^\s*(?:Args|Attributes):\s*$")
LITERAL = re.compile(r"(``[^`]*``|`[^`]*`)")
VERBATIM = re.compile(r"^\s*(?:\.\. |:|>>>|\.\.\. )|::$")


def write(project: Project) -> None:
    """Write each page of the reference that the table of contents names, but the index, which is written by hand."""
    for entry in generated(project):
        path = project.root / f"{entry}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(page(project.library, entry.removeprefix(FOLDER)), "utf-8")


def generated(project: Project) -> list[str]:
    """The pages of the reference that are made from the library, as the table of contents names them."""
    return [entry for entry in toc_entries(project) if entry.startswith(FOLDER) and entry != BY_HAND]


def page(library: str, name: str) -> str:
    """The page of one package of the library, as Markdown for Sphinx's autodoc.

    It has the package's own words, then its public modules with all that is public in them.
    """
    whole = f"{library}.{name}"
    modules = pkgutil.iter_modules(importlib.import_module(whole).__path__)
    public = [module.name for module in modules if not module.name.startswith("_") and not module.ispkg]

    def automodule(module: str, *options: str) -> str:
        return "\n".join(["```{eval-rst}", f".. automodule:: {module}", *(f"   {each}" for each in options), "```"])

    parts = [f"# {name}", automodule(whole)]
    for module in public:
        parts += [f"## `{module}`", automodule(f"{whole}.{module}", ":members:", ":member-order: bysource")]
    return "\n\n".join(parts) + "\n"


# ---------------------------------------------------------------------------------------------------- docstrings


def argument_names(thing: Any) -> set[str]:
    """The names of the arguments of a callable and of the fields of a dataclass; none for anything else."""
    found: set[str] = set()
    if dataclasses.is_dataclass(thing):
        found |= {field.name for field in dataclasses.fields(thing)}
    with contextlib.suppress(TypeError, ValueError):
        found |= set(inspect.signature(thing).parameters)
    return found


def prepared(lines: Iterable[str], known: Iterable[str]) -> list[str]:
    """A docstring's lines, each argument on a line of its own and each bar outside code and formulas escaped.

    Arguments have one of the ``known`` names; other words before a colon stay where they are.
    """
    return list(_escaped(_separated(list(lines), set(known))))


def _separated(lines: list[str], known: set[str]) -> Iterable[str]:
    """Lines in which each argument of a section begins a line."""
    word = "|".join(sorted(map(re.escape, known), key=len, reverse=True))
    begin = re.compile(rf"(?<=[.;)]) +(?=(?:{word})(?:, (?:{word}))*: )") if known else None
    inside = None
    for line in lines:
        indent = len(line) - len(line.lstrip())
        if SECTION.match(line):
            inside = indent
        elif inside is not None and line.strip() and indent <= inside:
            inside = None
        if begin is None or inside is None or not line.strip():
            yield line
            continue
        yield from (" " * (inside + 4 if n else indent) + part.strip() for n, part in enumerate(begin.split(line)))


def _escaped(lines: Iterable[str]) -> Iterable[str]:
    """Lines whose bars stand for themselves, but in what is set as it is: code, directives and what belongs to them."""
    verbatim = None
    for line in lines:
        indent = len(line) - len(line.lstrip())
        if verbatim is not None and line.strip() and indent <= verbatim:
            verbatim = None
        if verbatim is None and VERBATIM.search(line):
            verbatim = indent
        elif verbatim is None:
            parts = LITERAL.split(line)
            line = "".join(part if n % 2 else part.replace("|", r"\|") for n, part in enumerate(parts))
        yield line
