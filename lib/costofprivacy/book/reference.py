"""The library's reference: a page for each package that the table of contents names below ``book/reference``.

Of a chapter's package it has what is measured and how it is judged. The modules that only lay out the chapter's page
are left out: nobody calls them, and with their source they were a third of the reference.
"""

import importlib
import pkgutil

from costofprivacy.book.project import Project, toc_entries
from costofprivacy.running import _source

FOLDER = "book/reference/"
BY_HAND = f"{FOLDER}index"
CHAPTER = "experiments/"  # begins the names of the packages that chapters have
MEASURED_AND_JUDGED = ("experiment", "verdicts")  # these modules of a chapter, and what they import


def write(project: Project) -> None:
    """Write each page of the reference that the table of contents names, but the index, which is written by hand."""
    for entry in generated(project):
        path = project.root / f"{entry}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(page(project.package, entry.removeprefix(FOLDER)), "utf-8")


def generated(project: Project) -> list[str]:
    """The pages of the reference that are made from the library, as the table of contents names them."""
    return [entry for entry in toc_entries(project) if entry.startswith(FOLDER) and entry != BY_HAND]


def page(package: str, name: str) -> str:
    """The page of one package: its own words, then its public modules with all that is public in them.

    Of a chapter's package, the public modules are those that measure and judge, and those that they import.

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
    if name.startswith(CHAPTER):
        needed = _source.closure(f"{whole}.{module}" for module in public if module.startswith(MEASURED_AND_JUDGED))
        public = [module for module in public if f"{whole}.{module}" in needed]
    title = name.removeprefix(CHAPTER).replace("/", ": ").replace("-", " ")
    parts = [f"# {title}", _automodule(whole, ())]
    for module in public:
        parts += [f"## `{module}`", _automodule(f"{whole}.{module}", (":members:", ":member-order: bysource"))]
    return "\n\n".join(parts) + "\n"


def _automodule(name: str, options: tuple[str, ...]) -> str:
    lines = [f".. automodule:: {name}", *(f"   {option}" for option in options)]
    return "\n".join(["```{eval-rst}", *lines, "```"])
