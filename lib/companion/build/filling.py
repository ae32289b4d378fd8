"""Pages that join the chapters: the places ``{{ key }}`` in their prose, filled from what the chapters saved."""

import importlib
import importlib.util
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from companion.build.errors import BookError
from companion.build.project import Project
from companion.showing import plates
from companion.showing.plates import Plate

PLACE = re.compile(r"\{\{ (\w+) \}\}")
FIGURES = "figures"
FIGURE = """```{{figure}} {path}
:name: {name}
:alt: {alt}

{caption}
```"""


def filled_pages(project: Project) -> dict[str, str]:
    """The module that fills each page that has places, by the page's path below ``book/`` without its suffix.

    A page lies in ``book/`` or in one of its folders; the module has the page's name, without the folder's.
    """
    package = f"{project.package}.overview"
    if importlib.util.find_spec(package) is None:
        return {}
    pages = [path for where in ("*.md", "*/*.md") for path in sorted(project.book.glob(where))]
    modules = {
        path.relative_to(project.book).with_suffix("").as_posix(): f"{package}.{path.stem.replace('-', '_')}"
        for path in pages
        if PLACE.search(path.read_text("utf-8"))
    }
    return {name: module for name, module in modules.items() if importlib.util.find_spec(module)}


def values_of(project: Project, module: str, tree: Path) -> Mapping[str, Any]:
    """What fills the places of a page: texts and plates by key."""
    saved = importlib.import_module(f"{project.package}.overview.saved").Saved(tree)
    return importlib.import_module(module).values(saved)


def fill(project: Project, tree: Path, folder: Path) -> None:
    """Fill the staged pages, in place; their figures are drawn into a folder beside each.

    Args:
        project: the book. tree: the executed chapters. folder: the staged pages.

    Raises:
        BookError: a page has a place that nothing fills.
    """
    for name, module in filled_pages(project).items():
        page = folder / f"{name}.md"
        given = values_of(project, module, tree)
        plate = name.replace("/", "-")
        texts = {key: _text(value, f"{plate}-{key}".replace("_", "-"), page.parent) for key, value in given.items()}
        page.write_text(filled(page.read_text("utf-8"), texts, name), "utf-8")


def filled(text: str, texts: Mapping[str, str], name: str) -> str:
    """A page's text with its places filled.

    Raises:
        BookError: a place has no text.
    """
    missing = sorted(set(PLACE.findall(text)) - set(texts))
    if missing:
        raise BookError(f"the page {name} has placeholders without a value: {', '.join(missing)}")
    return PLACE.sub(lambda found: texts[found[1]], text)


def _text(value: str | Plate, name: str, folder: Path) -> str:
    """A text as it is; a plate as a figure, drawn."""
    if isinstance(value, str):
        return value
    plates.save(value, folder / FIGURES, name)
    alt = " ".join(value.alt.split())
    return FIGURE.format(path=f"{FIGURES}/{name}.svg", name=name, alt=alt, caption=value.caption)
