"""The library's reference: a page for each package that the table of contents names below ``book/reference``."""

import importlib
import pkgutil

from companion.build.project import Project, toc_entries

FOLDER = "book/reference/"
BY_HAND = f"{FOLDER}index"


def write(project: Project) -> None:
    """Write each page of the reference that the table of contents names, but the index, which is written by hand."""
    for entry in generated(project):
        path = project.root / f"{entry}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(page(project.library, entry.removeprefix(FOLDER)), "utf-8")


def generated(project: Project) -> list[str]:
    """The pages of the reference that are made from the library, as the table of contents names them."""
    return [entry for entry in toc_entries(project) if entry.startswith(FOLDER) and entry != BY_HAND]


def page(package: str, name: str) -> str:
    """The page of one package: its own words, then its public modules with all that is public in them.

    Args:
        package: the library.
        name: the package below it, such as ``dpgd``.

    Returns:
        Markdown for Sphinx's autodoc.

    Raises:
        ModuleNotFoundError: there is no such package.
    """
    whole = f"{package}.{name}"
    modules = pkgutil.iter_modules(importlib.import_module(whole).__path__)
    public = [module.name for module in modules if not module.name.startswith("_") and not module.ispkg]
    parts = [f"# {name}", _automodule(whole, ())]
    for module in public:
        parts += [f"## `{module}`", _automodule(f"{whole}.{module}", (":members:", ":member-order: bysource"))]
    return "\n\n".join(parts) + "\n"


def _automodule(name: str, options: tuple[str, ...]) -> str:
    lines = [f".. automodule:: {name}", *(f"   {option}" for option in options)]
    return "\n".join(["```{eval-rst}", *lines, "```"])
