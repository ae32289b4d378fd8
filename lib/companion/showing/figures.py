"""The look of the book's plots: style, colours with redundant marks, and the few drawings that figures share."""

import math
from collections.abc import Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib.resources import as_file, files
from typing import Any, TypeVar, cast

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.container import Container
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import NullFormatter
from matplotlib.transforms import offset_copy
from scipy.optimize import isotonic_regression

Key = TypeVar("Key", bound=Hashable)
MARKS = "osD^vPX*<>h"  # eleven to ten colours: a hundred and ten looks before one comes back
# seaborn's palette "colorblind", written out: importing seaborn takes longer than drawing a figure.
COLOURS = (
    "#0173b2", "#de8f05", "#029e73", "#d55e00", "#cc78bc", "#ca9161", "#fbafe4", "#949494", "#ece133", "#56b4e9",
)  # fmt: skip
LETTERS = 9  # points: the least size of letters in a figure
LOWEST_PANEL = 2.3  # inches: the height of a panel on a narrow screen, where labels are closest
MOVED = 0.03  # share of a panel's height from which on a label is away from the end of its curve
NEAR_EDGE = 0.9  # share of a panel's width in which a curve must end to have a leader
ASIDE = 14  # points between a panel and its labels where there are leaders
INK = 0.7  # letters in a curve's colour have this share of its light, which is legible on white


@contextmanager
def style() -> Iterator[None]:
    """The book's style, for the figures drawn inside."""
    with as_file(files("companion.showing") / "book.mplstyle") as path, plt.style.context(str(path)):
        yield


@contextmanager
def panels(count: int = 1, *, ends: bool = True, **options: Any) -> Iterator[tuple[Figure, list[Axes]]]:
    """Panels of ``plt.subplots(1, count, **options)`` in the book's style; ``ends``: curves named at their ends."""
    with style():
        figure, axes = plt.subplots(1, count, squeeze=False, **options)
        yield figure, list(axes[0])
        for panel in axes[0] if ends else ():
            end_labels(panel)


def curves(axes: Axes, table: pd.DataFrame, x: str, y: str, by: str, named: Mapping[Any, str], **look: Any) -> None:
    """A curve of `points` for each value of the column ``by``, in the order and under the names that are given."""
    for (value, label), own in zip(named.items(), looks(named).values(), strict=True):
        points(axes, table[table[by] == value], x, y, label=label, **own | look)


def looks(keys: Iterable[Key]) -> dict[Key, dict[str, Any]]:
    """A colour (colour-blind safe) and a mark for each key, in order."""
    return {key: {"color": COLOURS[i % len(COLOURS)], "marker": MARKS[i % len(MARKS)]} for i, key in enumerate(keys)}


def points(axes: Axes, table: pd.DataFrame, x: str, y: str, **look: Any) -> None:
    """Means against ``x`` with bars of two standard errors; a row without error has no bar."""
    rows = table.sort_values(x)
    error = 2 * rows["standard_error"] if "standard_error" in rows else None
    axes.errorbar(rows[x], rows[y], yerr=error, capsize=2, **look)


def slope(axes: Axes, x: np.ndarray, y0: float, exponent: float, label: str) -> None:
    """A dashed line of slope ``exponent`` on log axes through (x[0], y0)."""
    x = np.asarray(x, dtype=float)
    axes.plot(x, y0 * (x / x[0]) ** exponent, "--", color="0.35", linewidth=1, label=label)


def log_axes(axes: Axes, xlabel: str, ylabel: str) -> None:
    """Logarithmic axes with these labels."""
    axes.set(xscale="log", yscale="log", xlabel=xlabel, ylabel=ylabel)


def plain_ticks(axes: Axes, values: np.ndarray, most: int = 5) -> None:
    """Ticks of a logarithmic abscissa at these values, written out, every other one where they are too many."""
    ticks = sorted(values)
    ticks = ticks[:: 1 + (len(ticks) - 1) // most]
    axes.set_xticks(ticks, [f"{v:g}" for v in ticks])
    axes.minorticks_off()


def few_decades(axes: Axes) -> None:
    """Ticks of a logarithmic ordinate that spans few decades at 1, 2 and 5, written out, within its present limits."""
    low, high = axes.get_ylim()
    exponents = range(math.floor(math.log10(low)), math.ceil(math.log10(high)))
    ticks = [digit * 10.0**exponent for exponent in exponents for digit in (1, 2, 5)]
    axes.set_yticks([tick for tick in ticks if low <= tick <= high], minor=False)
    axes.yaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_minor_formatter(NullFormatter())


def name_curves(axes: Axes) -> None:
    """Give each curve the name under which seaborn's legend has it: seaborn names empty curves of the same look."""

    def look(line: Line2D) -> tuple[Any, ...]:
        return line.get_color(), line.get_marker(), line.get_linestyle()

    empty = [line for line in axes.lines if not np.size(line.get_xydata())]
    named = {look(line): line for line in empty if not str(line.get_label()).startswith("_")}
    for line in axes.lines:
        if line not in empty and look(line) in named:
            line.set_label(named[look(line)].get_label())
    for line in named.values():
        line.remove()


def end_labels(axes: Axes, lowest: float = LOWEST_PANEL) -> None:
    """Name each labelled curve at the right edge, at the height of its last point and in its colour, without overlap.

    Call it last: the limits of the axes are fixed here. A curve without a finite point has no label. The places are
    shares of the panel's height, far enough apart for a panel of ``lowest`` inches, by default for a narrow screen
    too. Where a label has to move away from the end of its curve, thin leaders join the two in this panel. A label may
    have several lines.
    """
    name_curves(axes)
    if legend := axes.get_legend():
        legend.remove()
    axes.set(xlim=axes.get_xlim(), ylim=axes.get_ylim())
    handles, labels = axes.get_legend_handles_labels()
    curves = [cast(Line2D, handle[0] if isinstance(handle, Container) else handle) for handle in handles]
    named = [(curve, label) for curve, label in zip(curves, labels, strict=True) if len(_places(axes, curve))]
    if not named:
        return
    last = np.array([_places(axes, curve)[-1] for curve, _ in named])
    ends = np.clip(last[:, 1], 0, 1)
    order = np.argsort(ends, kind="stable")
    lines = np.array([1 + named[i][1].count("\n") for i in order])
    sizes = lines * 1.25 * LETTERS / (72 * lowest)
    offsets = np.concatenate([[0], np.cumsum((sizes[1:] + sizes[:-1]) / 2)])  # labels touch no neighbour and no edge
    bottom = sizes[0] / 2
    top = max(bottom, 1 - sizes[-1] / 2 - offsets[-1])
    heights = np.clip(isotonic_regression(ends[order] - offsets).x, bottom, top) + offsets
    inside = (last[:, 0] > NEAR_EDGE) & (last[:, 1] >= 0) & (last[:, 1] <= 1)  # others end elsewhere
    leads = bool((abs(heights - ends[order]) > MOVED)[inside[order]].any())
    for i, height in zip(order, heights, strict=True):
        curve, label = named[i]
        ink = tuple(INK * light for light in to_rgb(curve.get_color()))
        leader = {"arrowstyle": "-", "color": ink, "linewidth": 0.6, "shrinkA": 1, "shrinkB": 2, "relpos": (0, 0.5)}
        axes.annotate(
            label,
            (min(last[i, 0], 1), ends[i]) if inside[i] else (1, height),
            (1, height),
            xycoords="axes fraction",
            textcoords=offset_copy(axes.transAxes, axes.get_figure(root=True), x=ASIDE if leads else 4, units="points"),
            arrowprops=leader if leads and inside[i] else None,
            color=ink,
            fontsize=LETTERS,
            va="center",
            annotation_clip=False,
        )


def _places(axes: Axes, curve: Line2D) -> np.ndarray:
    with np.errstate(divide="ignore"):
        places = axes.transAxes.inverted().transform(curve.get_transform().transform(curve.get_xydata()))
    return places[np.isfinite(places).all(axis=1)]
