"""Pictures as a page needs them: matplotlib's SVG in half as many bytes, for the eye the same.

Coordinates keep two decimals of a point, the shapes of letters a four-hundredth of their size, and those of a path are
relative to each other. Names are short, groups that group nothing are dissolved, and what readers of the page never get
(comments, metadata, line ends) is left out. What is smaller already comes out as it came.
"""

import re
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

from companion.build import notebooks

SVG, XLINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
MIME = "image/svg+xml"
MAKER = "matplotlib"  # what other programs draw stays as it is
HREF = f"{{{XLINK}}}href"
LINKS = ("href", HREF)
DECIMALS = 2
NUMBER = re.compile(r"-?\d*\.\d+(?:[eE][-+]?\d+)?")
COMMAND = re.compile(r"\s*([A-Za-z])\s*")
SHIFT = re.compile(r"translate\((-?[\d.]+)[ ,]+(-?[\d.]+)\)")
SHAPE, LARGER, FINER = "scale(0.015625)", "scale(0.25)", 16  # of a letter: 6,400 units high, of which a page shows 400
PLACE = re.compile(r"-?\d+(?:\.\d+)?")
USED = re.compile(r"url\(#([^)]+)\)")
PLACES = ("x", "y", "width", "height", "points")
GROUP, USE = f"{{{SVG}}}g", f"{{{SVG}}}use"
WORDS = {f"{{{SVG}}}{name}" for name in ("text", "tspan", "style", "title", "desc")}
STEPS = {"M": 1, "L": 1, "Q": 2, "C": 3}  # points behind a command; a path by matplotlib has no other but z
PART = re.compile(r"([MLQCz])([^MLQCz]*)")
COORDINATE = re.compile(r"-?\d*\.?\d+")
PLAIN = re.compile(r"[MLQCz\d\s.,-]*")
UNIT = 100  # parts of a unit to which the points of a path are rounded


def shrink_all(pages: Path) -> None:
    """Shrink the pictures of staged pages, in place: the files, and the outputs of the notebooks."""
    for path in sorted(pages.rglob("*.svg")):
        before = path.read_text("utf-8").strip()  # as notebooks, which show the same pictures, have them
        if (after := shrunk(before)) != before:
            path.write_text(after, "utf-8")
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
    _dissolve(root)
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
            node.set(name, relative(COMMAND.sub(r"\1", NUMBER.sub(_rounded, " ".join(value.split())))))
        elif name in PLACES:
            node.set(name, NUMBER.sub(_rounded, value))
        elif name == "transform":
            node.set(name, SHIFT.sub(lambda found: NUMBER.sub(_rounded, found.group()), value))
        elif name == "style":
            node.set(name, ";".join(":".join(map(str.strip, part.split(":", 1))) for part in value.split(";")))
    if node.tag != USE:
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
    targets = {node.get(key, "").removeprefix("#") for node in root.iter() for key in LINKS}
    targets |= {name for node in root.iter() for value in node.attrib.values() for name in USED.findall(value)}
    named = dict.fromkeys(name for node in root.iter() if (name := node.get("id")) in targets)
    short = {name: f"i{number}" for number, name in enumerate(named)}
    for node in root.iter():
        name = node.attrib.pop("id", None)
        if name in short:
            node.set("id", short[name])
        for key, value in node.attrib.items():
            if key in LINKS and value.removeprefix("#") in short:
                node.set(key, f"#{short[value.removeprefix('#')]}")
            elif "url(#" in value:
                node.set(key, USED.sub(lambda found: f"url(#{short.get(found[1], found[1])})", value))


def _dissolve(node: ElementTree.Element) -> None:
    children = []
    for child in node:
        _dissolve(child)
        children += list(child) if child.tag == GROUP and not child.attrib else [child]
    node[:] = children


def relative(path: str) -> str:
    """A path's data in fewer letters, each point relative to the one before; as it is where nothing is gained.

    A point is rounded first, and only then are differences taken, so that no rounding adds up along a path.

    >>> relative("M100.5 20L103 22.25L103 19z")
    'm100.5 20 2.5 2.25 0-3.25z'
    """
    if not PLAIN.fullmatch(path):
        return path
    written, here, start, last = "", (0, 0), (0, 0), ""
    for command, text in PART.findall(path):
        if command == "z":
            written, here, last = f"{written}z", start, ""
            continue
        numbers = [round(float(number) * UNIT) for number in COORDINATE.findall(text)]
        size = 2 * STEPS[command]
        if not numbers or len(numbers) % size:
            return path
        for first in range(0, len(numbers), size):
            step, here = _step(numbers[first : first + size], here)
            name = "l" if command == "M" and first else command.lower()
            repeats = name == last
            written += step if repeats and step.startswith("-") else f" {step}" if repeats else f"{name}{step}"
            last = "l" if name == "m" else name
            start = here if command == "M" and not first else start
    return written if len(written) < len(path) else path


def _step(numbers: list[int], here: tuple[int, int]) -> tuple[str, tuple[int, int]]:
    written = ""
    for place, number in enumerate(numbers):
        difference = number - here[place % 2]
        whole, rest = divmod(abs(difference), UNIT)
        decimals = f".{rest:02d}".rstrip("0").rstrip(".")
        sign = "-" if difference < 0 else " " if place else ""
        written += f"{sign}{whole or ('' if decimals else '0')}{decimals}"
    return written, (numbers[-2], numbers[-1])
