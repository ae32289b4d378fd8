"""Rendered pages whose figures take the form that fits the screen: panels stacked where it is narrow."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

NARROW = 600  # pixels: screens up to this width get the stacked form
IMAGE = re.compile(r'<img\b[^>]*?\bsrc="(?P<address>[^"]*_images/(?P<file>[^"/]+\.svg))"[^>]*/?>')


def widen(html: Path, pages: Path) -> None:
    """Offer the stacked form of each figure to narrow screens, in every page of a rendered book.

    Args:
        html: the rendered book; its pages and ``_images`` are changed in place.
        pages: the staged pages, among which ``<name>.narrow.svg`` lies beside ``<name>.svg``.
    """
    # Notebooks drop the last line's end: contents are compared without it.
    stacked = {path.read_bytes().strip(): narrow for path, narrow in _pairs(pages)}
    shown = {image.name: image.read_bytes().strip() for image in (html / "_images").glob("*.svg")}
    narrow_of = {name: stacked[content] for name, content in shown.items() if content in stacked}
    for name, narrow in narrow_of.items():
        shutil.copyfile(narrow, html / "_images" / _narrow(name))
    for page in html.rglob("*.html"):
        text = page.read_text("utf-8")
        widened = IMAGE.sub(lambda found: _picture(found) if found["file"] in narrow_of else found.group(), text)
        if widened != text:
            page.write_text(widened, "utf-8")


def _pairs(pages: Path) -> Iterator[tuple[Path, Path]]:
    """Each figure with its stacked form."""
    for narrow in pages.rglob("*.narrow.svg"):
        path = narrow.with_name(narrow.name.replace(".narrow.svg", ".svg"))
        if path.is_file():
            yield path, narrow


def _narrow(name: str) -> str:
    return name.removesuffix(".svg") + ".narrow.svg"


def _picture(found: re.Match[str]) -> str:
    """An image with a source for narrow screens."""
    source = f'<source media="(max-width: {NARROW}px)" srcset="{_narrow(found["address"])}">'
    return f"<picture>{source}{found.group()}</picture>"
