"""A figure for the ear: what its panels show, read off the figure itself.

Each panel is told by its title, the range of its abscissa, and each labelled curve from the left to the right; marks at
places that have names are told one by one; bars and marks without a course by their range; a map by the range of its
colours.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.container import BarContainer, Container
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedFormatter, FixedLocator, Formatter, FuncFormatter, Locator

from companion.judging.prose import course, plain, spoken

CLEAR = 0.02  # share of the larger end beyond which a value between them is told


def described(figure: Figure) -> str:
    """A figure with titles or labelled axes, in words and numbers, a sentence for each of its panels."""
    bars = [axes for axes in figure.axes if axes.get_label() == "<colorbar>"]
    sentences, ordinate = [], ""
    for axes in figure.axes:
        if axes not in bars:
            ordinate = axes.get_ylabel() or ordinate
            sentences.append(_panel(axes, ordinate))
    colours = (f"Colours: {spoken(label)}." for bar in bars if (label := bar.get_ylabel()))
    return " ".join(filter(None, (*sentences, *colours)))


def _panel(axes: Axes, shared: str) -> str:
    sentences = [*_curves(axes), *_fields(axes)]
    if not sentences:
        return ""
    panels = (axes, *axes.get_shared_x_axes().get_siblings(axes))  # the label may stand at one that shares the axis
    abscissas = filter(None, (panel.get_xlabel() for panel in panels))
    labels = axes.get_title(), axes.get_ylabel() or shared, next(abscissas, "")
    title, ordinate, abscissa = (spoken(text) for text in labels)
    if any(_names(axes)):
        ordinate, abscissa = abscissa if _names(axes)[1] else ordinate, ""
    head = f"{title}, {ordinate}" if title and ordinate else title or ordinate
    handles = axes.get_legend_handles_labels()[0]
    lines = [handle[0] if isinstance(handle, Container) and len(handle) else handle for handle in handles]
    along = [_seen(line)[0] for line in lines if isinstance(line, Line2D) and _in_numbers(axes, line)[0]]
    spans = [value for places in along if len(np.unique(places)) > 1 for value in places]
    over = f" against {abscissa}" if abscissa and ordinate and any(_fields(axes)) else ""
    if abscissa and spans:
        first, last = sorted((min(spans), max(spans)), reverse=bool(axes.xaxis_inverted()))
        over = f" for {abscissa} from {plain(first)} to {plain(last)}"
    return f"{head}{over}: {'; '.join(sentences)}."


def _curves(axes: Axes) -> Iterator[str]:
    """Each labelled curve: how it goes, or where it stands; marks at named places without a label as well."""
    named: list[tuple[Any, str]] = list(zip(*axes.get_legend_handles_labels(), strict=True))
    if not named and any(_names(axes)):
        named = [(marks, "") for marks in axes.containers]
    for handle, label in named:
        if isinstance(handle, BarContainer):
            yield f"{spoken(label)} {_range([bar.get_height() for bar in handle])}"
            continue
        line = handle[0] if isinstance(handle, Container) else handle
        if not isinstance(line, Line2D):
            continue
        x, y = _seen(line)
        if len(x) and not _in_numbers(axes, line)[1]:
            yield f"{spoken(label)} where {spoken(axes.get_xlabel())} is {plain(float(x[0]))}"
        elif len(y):
            steps = np.diff(x)
            unordered = bool((steps < 0).any() and (steps > 0).any())
            cloud = unordered and line.get_linestyle() == "None"
            yield f"{spoken(label)} {_at_names(axes, line) or (_range(list(y)) if cloud else _course(x, y))}".strip()


def _names(axes: Axes) -> tuple[dict[float, str], dict[float, str]]:
    """The places on either axis that have names: its ticks, where words and not numbers stand at all of them."""
    across, up = (_named(axis.get_major_locator(), axis.get_major_formatter()) for axis in (axes.xaxis, axes.yaxis))
    return across, up


def _named(places: Locator, form: Formatter) -> dict[float, str]:
    if not (isinstance(places, FixedLocator) and isinstance(form, (FixedFormatter, FuncFormatter))):
        return {}
    names = {float(place): spoken(form(place, i)) for i, place in enumerate(places())}
    worded = (any(map(str.isalpha, re.sub(r"\de[-+]\d", "", name))) for name in names.values())  # more than a number
    return names if all(worded) else {}


def _at_names(axes: Axes, line: Line2D) -> str:
    """The marks of a line by the names of their places, in the order of reading; empty where these have no names."""
    across, up = _names(axes)
    names = across or up
    if not names or not all(_in_numbers(axes, line)):
        return ""
    x, y = _seen(line)
    places, values = (x, y) if across else (y, x)
    nearest = [min(names, key=lambda name: abs(name - place)) for place in places]
    order = sorted(range(len(nearest)), key=lambda i: nearest[i] if across else -nearest[i])
    return ", ".join(f"{plain(float(values[i]))} ({names[nearest[i]]})" for i in order)


def _course(x: np.ndarray, y: np.ndarray) -> str:
    first, last = float(y[0]), float(y[-1])
    told = course(first, last, tell=plain) if plain(first) != plain(last) else f"at {plain(last)}"
    low, high = int(y.argmin()), int(y.argmax())
    margin = CLEAR * max(abs(first), abs(last))
    if y[low] < min(first, last) - margin:
        told += f", least {plain(float(y[low]))} at {plain(float(x[low]))}"
    if y[high] > max(first, last) + margin:
        told += f", largest {plain(float(y[high]))} at {plain(float(x[high]))}"
    return told


def _fields(axes: Axes) -> Iterator[str]:
    for drawn in (*axes.images, *axes.collections):
        if isinstance(drawn, (AxesImage, QuadMesh)):
            values: np.ndarray = np.ma.masked_invalid(np.ma.asarray(drawn.get_array(), float)).compressed()
            if len(values):
                yield f"colours from {plain(float(values.min()))} to {plain(float(values.max()))}"


def _in_numbers(axes: Axes, line: Line2D) -> tuple[bool, bool]:
    """Whether the places of a line along and up a panel are in its numbers, and not in shares of the panel."""
    along, up = line.get_transform().contains_branch_seperately(axes.transData)
    return bool(along), bool(up)


def _seen(line: Line2D) -> tuple[np.ndarray, np.ndarray]:
    x, y = (np.asarray(values, float) for values in (line.get_xdata(), line.get_ydata()))
    finite = np.isfinite(x) & np.isfinite(y)
    x, y = x[finite], y[finite]
    steps = -np.diff(x) if line.axes and line.axes.xaxis_inverted() else np.diff(x)
    backwards = (steps < 0).any() and not (steps > 0).any()
    return (x[::-1], y[::-1]) if backwards else (x, y)


def _range(values: Sequence[float] | np.ndarray) -> str:
    low, high = plain(min(values)), plain(max(values))
    return f"at {low}" if low == high else f"from {low} to {high}"
