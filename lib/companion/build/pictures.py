"""Pictures as a page needs them: matplotlib's SVG in half as many bytes, for the eye the same.

Coordinates keep two decimals of a point, the shapes of letters a four-hundredth of their size, and those of a path are
relative to each other. A word that recurs is spelled once. Names are short, groups that group nothing are dissolved,
and what readers of the page never get (comments, metadata, line ends) is left out. What is smaller already comes out as
it came.
"""

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import count
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
SCALE = re.compile(r"scale\((-?[\d.]+)[ ,)]")
COARSE = 0.2
SHAPE, LARGER, FINER = "scale(0.015625)", "scale(0.25)", 16  # of a letter: 6,400 units high, of which a page shows 400
PLACE = re.compile(r"-?\d+(?:\.\d+)?")
USED = re.compile(r"url\(#([^)]+)\)")
PLACES = ("x", "y", "width", "height", "points")
LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
Word = tuple[frozenset[tuple[str, str]], ...]  # what is said of each of its letters
SHARED = re.compile(r"(?:fill|stroke)(?:-[a-z]+)?")  # what a group hands on to what is in it
GROUP, USE, DEFS = (f"{{{SVG}}}{name}" for name in ("g", "use", "defs"))
WORDS = {f"{{{SVG}}}{name}" for name in ("text", "tspan", "style", "title", "desc")}
STEPS = {"M": 1, "L": 1, "Q": 2, "C": 3}  # points behind a command; a path by matplotlib has no other but z
PART = re.compile(r"([MLQCz])([^MLQCz]*)")
COORDINATE = re.compile(r"-?\d*\.?\d+")
PLAIN = re.compile(r"[MLQCz\d\s.,-]*")
UNIT = 100  # parts of a unit to which the points of a path are rounded


def lighten(pages: Path) -> None:
    """Make the pictures of staged pages lighter, in place: the files, and the outputs of the notebooks."""
    for path in sorted(pages.rglob("*.svg")):
        before = path.read_text("utf-8").strip()  # as notebooks, which show the same pictures, have them
        if (after := lighter(before)) != before:
            path.write_text(after, "utf-8")
    for path in sorted(pages.rglob("*.ipynb")):
        notebook = notebooks.read(path)
        for output in (output for cell in notebook.cells for output in cell.get("outputs", [])):
            if MIME in output.get("data", {}):
                output.data[MIME] = lighter(output.data[MIME].strip())
        notebooks.write(notebook, path)


@cache
def lighter(svg: str) -> str:
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
    _round_letters(root)
    _rename(root)
    _say_once(root)
    _dissolve(root)
    _spell_once(root)
    _classify(root)
    ElementTree.register_namespace("", SVG)
    ElementTree.register_namespace("xlink", XLINK)
    return ElementTree.tostring(root, encoding="unicode").replace(" />", "/>")


def _shorten(node: ElementTree.Element) -> None:
    """Write the attributes and the blanks of an element in fewer bytes."""
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


def _round_letters(root: ElementTree.Element) -> None:
    """Place the letters of a line to a whole unit, where a unit is at most a fifth of a point."""

    def whole(shift: re.Match[str]) -> str:
        return f"translate({float(shift[1]):.0f} {float(shift[2]):.0f})"

    for group in root.iter(f"{{{SVG}}}g"):
        scale = SCALE.search(group.get("transform", ""))
        if scale and abs(float(scale[1])) <= COARSE:
            for letter in group.findall(f"{{{SVG}}}use"):
                for name in ("x", "y"):
                    if name in letter.attrib:
                        letter.set(name, f"{float(letter.attrib[name]):.0f}")
                if "transform" in letter.attrib:
                    letter.set("transform", SHIFT.sub(whole, letter.attrib["transform"], 1))


def _say_once(root: ElementTree.Element) -> None:
    """Leave out how something is shown what it says of itself."""
    named = {f"#{node.get('id')}": _looks(node) for node in root.iter() if node.get("id")}
    for node in root.iter(USE):
        own = named.get(node.get("href", node.get(HREF, "")), {})
        left = {name: look for name, look in _looks(node).items() if not (name in own and SHARED.fullmatch(name))}
        if "style" in node.attrib and not left:
            del node.attrib["style"]
        elif len(left) < len(_looks(node)):
            node.set("style", ";".join(f"{name}:{look}" for name, look in left.items()))


def _looks(node: ElementTree.Element) -> dict[str, str]:
    return dict(part.split(":", 1) for part in node.get("style", "").split(";") if ":" in part)


def _rename(root: ElementTree.Element) -> None:
    """Give what is referred to a short name, and take the others' names away."""
    targets = {node.get(key, "").removeprefix("#") for node in root.iter() for key in LINKS}
    targets |= {name for node in root.iter() for value in node.attrib.values() for name in USED.findall(value)}
    short = dict(zip((node.get("id") for node in root.iter() if node.get("id") in targets), _names()))
    for node in root.iter():
        name = node.attrib.pop("id", None)
        if name in short:
            node.set("id", short[name])
        for key, value in node.attrib.items():
            if key in LINKS and value.removeprefix("#") in short:
                node.set(key, f"#{short[value.removeprefix('#')]}")
            elif "url(#" in value:
                node.set(key, USED.sub(lambda found: f"url(#{short.get(found[1], found[1])})", value))


def _spell_once(root: ElementTree.Element) -> None:
    """Spell a word once: where it recurs, refer to where it stands first."""
    names = {node.get("id") for node in root.iter()}
    free = (name for name in _names() if name not in names)
    first: dict[Word, ElementTree.Element] = {}
    named: dict[Word, str] = {}
    for group in list(root.iter(GROUP)):
        letters = [node for node in group if node.tag == USE]
        if len(letters) < 2 or any(node.tag not in (USE, DEFS) for node in group):
            continue
        word = tuple(frozenset(letter.attrib.items()) for letter in letters)
        if len(letters) < len(group) or word not in first:
            first.setdefault(word, group)
            continue
        if word not in named:
            named[word] = next(free)
            spelled = ElementTree.Element(GROUP, id=named[word])
            spelled[:], first[word][:] = first[word][:], [spelled]
        group.tag, group[:] = USE, []
        group.set("href", f"#{named[word]}")


def _classify(root: ElementTree.Element) -> None:
    """Write a look that recurs once, as a class."""
    sheet = next(root.iter(f"{{{SVG}}}style"), None)
    if sheet is None or sheet.text is None:
        return
    looks = Counter(look for node in root.iter() if (look := node.get("style")))
    named = dict(zip((look for look, times in looks.items() if times > 1), _names()))
    for node in root.iter():
        if (look := node.get("style", "")) in named:
            del node.attrib["style"]
            node.set("class", named[look])
    sheet.text += "".join(f".{name}{{{look}}}" for look, name in named.items())


def _names() -> Iterator[str]:
    yield from LETTERS
    for number in count():
        yield from (f"{letter}{number}" for letter in LETTERS)


def _dissolve(node: ElementTree.Element) -> None:
    """Replace groups that say nothing by what they hold; what all in a group say alike, the group says."""
    children = []
    for child in node:
        _dissolve(child)
        children += list(child) if child.tag == f"{{{SVG}}}g" and not child.attrib else [child]
    node[:] = children
    styles = {child.get("style", "") for child in node}
    if node.tag == f"{{{SVG}}}g" and len(node) > 1 and len(styles) == 1 and "style" not in node.attrib:
        style = styles.pop()
        if style and all(SHARED.fullmatch(part.partition(":")[0]) for part in style.split(";")):
            node.set("style", style)
            for child in node:
                del child.attrib["style"]


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
    """The points of one command relative to where it starts, and where it ends."""
    written = ""
    for place, number in enumerate(numbers):
        difference = number - here[place % 2]
        whole, rest = divmod(abs(difference), UNIT)
        decimals = f".{rest:02d}".rstrip("0").rstrip(".")
        sign = "-" if difference < 0 else " " if place else ""
        written += f"{sign}{whole or ('' if decimals else '0')}{decimals}"
    return written, (numbers[-2], numbers[-1])
