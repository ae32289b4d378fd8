"""Pictures as a page needs them: matplotlib's SVG in half as many bytes, for the eye the same.

Coordinates keep two decimals of a point, the shapes of letters a four-hundredth of their size. Names are short, and
what readers of the page never get (comments, metadata, line ends) is left out. What is smaller already comes out as it
came.
"""

import re
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

from companion.build import notebooks
from companion.build.project import rewrite

SVG, XLINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
MIME = "image/svg+xml"
MAKER = "matplotlib"  # what other programs draw stays as it is
HREF = f"{{{XLINK}}}href"
DECIMALS = 2
NUMBER = re.compile(r"-?\d*\.\d+(?:[eE][-+]?\d+)?")
COMMAND = re.compile(r"\s*([A-Za-z])\s*")
SHIFT = re.compile(r"translate\((-?[\d.]+)[ ,]+(-?[\d.]+)\)")
SHAPE, LARGER, FINER = "scale(0.015625)", "scale(0.25)", 16  # of a letter: 6,400 units high, of which a page shows 400
PLACE = re.compile(r"-?\d+(?:\.\d+)?")
USED = re.compile(r"url\(#([^)]+)\)")
PLACES = ("x", "y", "width", "height", "points")
WORDS = {f"{{{SVG}}}{name}" for name in ("text", "tspan", "style", "title", "desc")}
PLAIN = re.compile(r"[MLQCz\d\s.,-]*")


def shrink_all(pages: Path) -> None:
    """Shrink the pictures of staged pages, in place: the files, and the outputs of the notebooks."""
    rewrite(pages.rglob("*.svg"), lambda svg: shrunk(svg.strip()))  # as notebooks, which show the same, have them
    for path in sorted(pages.rglob("*.ipynb")):
        notebook = notebooks.read(path)
        for output in (output for cell in notebook.cells for output in cell.get("outputs", [])):
            if MIME in output.get("data", {}):
                output.data[MIME] = shrunk(output.data[MIME].strip())
        notebooks.write(notebook, path)


@cache
def shrunk(svg: str) -> str:
    """A picture by matplotlib in fewer bytes; another one as it is."""
    if MAKER not in svg or "<script" in svg:
        return svg
    try:
        root = ElementTree.fromstring(svg)
    except ElementTree.ParseError:
        return svg
    for metadata in root.findall(f"{{{SVG}}}metadata"):
        root.remove(metadata)
    for node in root.iter():
        shape = node.get("d", "")
        if node.get("transform") == SHAPE and PLAIN.fullmatch(shape):  # a letter, drawn on a grid of a fortieth point
            node.set("transform", LARGER)
            node.set("d", PLACE.sub(lambda number: f"{float(number.group()) / FINER:.0f}", shape))
        _shorten(node)
    _rename(root)
    ElementTree.register_namespace("", SVG)
    ElementTree.register_namespace("xlink", XLINK)
    return ElementTree.tostring(root, encoding="unicode").replace(" />", "/>")


def _shorten(node: ElementTree.Element) -> None:
    if node.tag not in WORDS:
        node.text = (node.text or "").strip() or None
    if node.tail and not node.tail.strip():
        node.tail = None
    for name, value in node.attrib.items():
        if name == "d":
            node.set(name, COMMAND.sub(r"\1", NUMBER.sub(_rounded, " ".join(value.split()))))
        elif name in PLACES:
            node.set(name, NUMBER.sub(_rounded, value))
        elif name == "transform":
            node.set(name, SHIFT.sub(lambda found: NUMBER.sub(_rounded, found.group()), value))
        elif name == "style":
            node.set(name, ";".join(":".join(map(str.strip, part.split(":", 1))) for part in value.split(";")))
    if node.tag != f"{{{SVG}}}use":
        return
    if HREF in node.attrib:
        node.set("href", node.attrib.pop(HREF))
    moved = SHIFT.fullmatch(node.get("transform", ""))
    if moved and not {"x", "y"} & set(node.attrib):
        del node.attrib["transform"]
        for name, value in zip("xy", moved.groups()):
            if float(value):
                node.set(name, value)


def _rounded(number: re.Match[str]) -> str:
    text = f"{float(number.group()):.{DECIMALS}f}".rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text


def _rename(root: ElementTree.Element) -> None:
    """Give what is referred to a short name, and take the others' names away."""
    targets = {node.get(HREF, "").removeprefix("#") for node in root.iter()}
    targets |= {name for node in root.iter() for value in node.attrib.values() for name in USED.findall(value)}
    named = dict.fromkeys(name for node in root.iter() if (name := node.get("id")) in targets)
    short = {name: f"i{number}" for number, name in enumerate(named)}
    for node in root.iter():
        name = node.attrib.pop("id", None)
        if name in short:
            node.set("id", short[name])
        for key, value in node.attrib.items():
            if key == HREF and value.removeprefix("#") in short:
                node.set(key, f"#{short[value.removeprefix('#')]}")
            elif "url(#" in value:
                node.set(key, USED.sub(lambda found: f"url(#{short.get(found[1], found[1])})", value))
