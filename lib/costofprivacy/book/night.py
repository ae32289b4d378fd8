"""Pictures for a dark page: each has a second palette, in the same file.

A page shows a picture as ``figure.svg``, and in the dark as ``figure.svg#night``: then the picture's root is the target
of its address, and the rules that are added here give its inks and its colours those of the night. Greys change places
with those of the other end; a colour keeps its hue, and becomes as light as it must be to be told from the page. What
is drawn, and the file for who takes it away, stays as it was. ``night.js`` turns the addresses with the page's theme.
"""

import colorsys
import re
from collections.abc import Iterator
from pathlib import Path

BLACK = "#000000"
NIGHT = "night"  # the name of a picture's root
PAGE = "#121212"  # the theme's ground in the dark
LEAST_CONTRAST = 4.5  # of what is drawn with that ground, as for text of any size
INK, GROUND = 0.92, 0.09  # the lightness that black and white become
GREY = 0.08  # the largest difference of the three parts of a grey
PALE = 0.85  # a grey above it, but for white, is the middle of a scale of colours
MOST_HUES = 24  # a picture that fills areas with more colours than these shows a scale of them, which stays
COLOUR = re.compile(r"\b(fill|stroke)(:\s*|=\")(#[0-9a-fA-F]{6})\b")
ROOT = re.compile(r"<svg\b[^>]*>")
SHEET = re.compile(r"<style[^>]*>.*?</style>", re.DOTALL)
CLASS = re.compile(r"\.([\w-]+)\s*\{([^{}]*)\}")


def darken(html: Path) -> None:
    """Give each picture of a rendered book its palette for the night, in place."""
    for path in sorted((html / "_images").glob("*.svg")):
        path.write_text(with_night(path.read_text("utf-8")), "utf-8")


def with_night(svg: str) -> str:
    """A picture with its second palette; one that has it, or is no SVG, as it is.

    The palette is a set of variables: what is drawn once and shown in several places inherits them, too.
    """
    root = ROOT.search(svg)
    if not root or f'id="{NIGHT}"' in svg:
        return svg
    changed = _changed(svg)
    inks = "".join(f"{_variable(colour)}:{turned(colour)};" for colour in sorted({colour for _, colour in changed}))
    rules = "".join(_rules(svg, changed))
    style = f"<style>#{NIGHT}:target{{{inks}fill:{turned(BLACK)}}}{rules}</style>"
    named = root.group().replace("<svg", f'<svg id="{NIGHT}"', 1)
    return f"{svg[: root.start()]}{named}{style}{svg[root.end() :]}"


def turned(colour: str) -> str:
    """A colour of the night.

    Args:
        colour: six hexadecimal digits behind a ``#``.
    """
    red, green, blue = _parts(colour)
    hue, lightness, saturation = colorsys.rgb_to_hls(red, green, blue)
    if _is_grey(colour):
        return _hex(*[INK + (GROUND - INK) * lightness] * 3)
    found = colour.lower()
    while contrast(found, PAGE) < LEAST_CONTRAST and lightness < 1:
        lightness = min(1.0, lightness + 0.01)
        found = _hex(*colorsys.hls_to_rgb(hue, lightness, saturation))
    return found


def contrast(one: str, other: str) -> float:
    """The contrast of two colours, from 1 to 21, as the Web Content Accessibility Guidelines define it."""
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _changed(svg: str) -> set[tuple[str, str]]:
    """What changes at night: fill or stroke, and its colour."""
    uses = {(kind, colour) for kind, _, colour in COLOUR.findall(svg)}
    hues = {colour for kind, colour in uses if kind == "fill" and not _is_grey(colour)}
    pale = {colour for _, colour in uses if _is_grey(colour) and PALE < min(_parts(colour)) < 1}
    scale = hues | pale if len(hues) > MOST_HUES else set()
    return {use for use in uses if turned(use[1]) != use[1].lower() and not (use[0] == "fill" and use[1] in scale)}


def _rules(svg: str, changed: set[tuple[str, str]]) -> Iterator[str]:
    """A rule for each look of a class, and for each way in which an element alone says such a colour."""
    for name, look in CLASS.findall("".join(SHEET.findall(svg))):
        inks = "".join(_ink(kind, colour) for kind, _, colour in COLOUR.findall(look) if (kind, colour) in changed)
        if inks:
            yield f".{name}{{{inks.removesuffix(';')}}}"
    for kind, sign, colour in sorted(set(COLOUR.findall(SHEET.sub("", svg)))):
        if (kind, colour) in changed:
            held = f'[{kind}="{colour}"]' if "=" in sign else f'[style*="{kind}{sign}{colour}"]'
            yield f"{held}{{{_ink(kind, colour).removesuffix(';')}}}"


def _ink(kind: str, colour: str) -> str:
    return f"{kind}:var({_variable(colour)},{colour})!important;"


def _variable(colour: str) -> str:
    return f"--{colour[1:].lower()}"


def _is_grey(colour: str) -> bool:
    return max(_parts(colour)) - min(_parts(colour)) <= GREY


def _parts(colour: str) -> tuple[float, float, float]:
    red, green, blue = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    return red, green, blue


def _hex(*parts: float) -> str:
    return "#" + "".join(f"{round(255 * part):02x}" for part in parts)


def _luminance(colour: str) -> float:
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in _parts(colour)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
