"""The book's one look: style, colours with redundant marks, and the few drawings that figures share."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from contextlib import contextmanager
from importlib.resources import as_file, files
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes

MARKS = "osD^vPX*<>h"  # eleven to ten colours: a hundred and ten looks before one comes back
# seaborn's palette "colorblind", written out: importing seaborn takes longer than drawing a figure.
COLOURS = (
    "#0173b2",
    "#de8f05",
    "#029e73",
    "#d55e00",
    "#cc78bc",
    "#ca9161",
    "#fbafe4",
    "#949494",
    "#ece133",
    "#56b4e9",
)


@contextmanager
def style() -> Iterator[None]:
    """The book's style, for the figures drawn inside."""
    with as_file(files("costofprivacy") / "book.mplstyle") as path, plt.style.context(str(path)):
        yield


def looks(keys: Iterable[Hashable]) -> dict[Hashable, dict[str, Any]]:
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
