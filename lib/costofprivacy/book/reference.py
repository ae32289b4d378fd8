"""The library's reference: a page for each package that the table of contents names below ``book/reference``."""

import importlib
import pkgutil
from pathlib import Path

from costofprivacy.book.project import Project, toc_entries

FOLDER = "book/reference/"


def write(project: Project, pages: Path) -> None:
    """Write each page of the reference that the table of contents names and that nobody wrote by hand.

    Args:
        project: the book.
        pages: the staged pages.
    """
    for entry in toc_entries(project):
        path = pages / f"{entry}.md"
        if entry.startswith(FOLDER) and not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(page(project.package, entry.removeprefix(FOLDER)), "utf-8")


def page(package: str, name: str) -> str:
    """The page of one package: its own words, then its public modules with all that is public in them.

    Args:
        package: the library.
        name: the package below it, with slashes and dashes, such as ``experiments/dpgd/algorithm``.

    Returns:
        Markdown for Sphinx's autodoc.

    Raises:
        ModuleNotFoundError: there is no such package.
    """
    whole = f"{package}.{name.replace('/', '.').replace('-', '_')}"
    modules = pkgutil.iter_modules(importlib.import_module(whole).__path__)
    public = [module.name for module in modules if not module.name.startswith("_") and not module.ispkg]
    title = name.removeprefix("experiments/").replace("/", ": ").replace("-", " ")
    parts = [f"# {title}", _automodule(whole, ())]
    for module in public:
        parts += [f"## `{module}`", _automodule(f"{whole}.{module}", (":members:", ":member-order: bysource"))]
    return "\n\n".join(parts) + "\n"


def _automodule(name: str, options: tuple[str, ...]) -> str:
    lines = [f".. automodule:: {name}", *(f"   {option}" for option in options)]
    return "\n".join(["```{eval-rst}", *lines, "```"])
