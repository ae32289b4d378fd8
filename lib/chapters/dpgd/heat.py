"""Maps of risks over (c, η̃(0)), as the pages on DP-GD draw them."""

import math
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.image import AxesImage

FINE = 6  # pixels of a cell: a heat map is a small picture
LINES: dict[str, Any] = {"color": "#d62728", "ls": "--", "lw": 1}


def heat(axes: Axes, grid: pd.DataFrame, low: float, high: float) -> AxesImage:
    """A map even in the logarithms of both parameters, as a picture with sharp cells.

    Args:
        grid: what is shown, with a row for each c and a column for each η̃(0), rising. low, high: ends of the colours.
    """
    x, y = np.log10(grid.columns.to_numpy(float)), np.log10(grid.index.to_numpy(float))
    half_x, half_y = ((places[-1] - places[0]) / (len(places) - 1) / 2 for places in (x, y))
    place = (x[0] - half_x, x[-1] + half_x, y[0] - half_y, y[-1] + half_y)
    fine = np.kron(grid.to_numpy(), np.ones((FINE, FINE)))
    image = axes.imshow(
        fine, origin="lower", extent=place, aspect="auto", vmin=low, vmax=high, cmap="viridis", interpolation="none"
    )
    axes.grid(False)
    for axis, ends in ((axes.xaxis, place[:2]), (axes.yaxis, place[2:])):
        whole = np.arange(math.ceil(ends[0]), math.floor(ends[1]) + 1)
        axis.set_ticks(whole, [f"$10^{{{k}}}$" for k in whole])
    axes.set(xlabel=r"$\tilde\eta(0)$", ylabel="$c$", xlim=place[:2], ylim=place[2:])
    return image


def papers_lines(axes: Axes, gamma: float) -> None:
    """The lines c = 1, η̃(0) = 2/γ and, where it exists, cη̃(0) = ln(1/γ) on such a map."""
    axes.axhline(0.0, **LINES)
    axes.axvline(math.log10(2 / gamma), **LINES)
    if gamma < 1:
        x, height = np.array(axes.get_xlim()), math.log10(math.log(1 / gamma))
        axes.plot(x, height - x, **LINES)


def dots(axes: Axes, rates: np.ndarray, clips: np.ndarray) -> None:
    """Points of such a map."""
    axes.plot(np.log10(rates), np.log10(clips), ".", color="white", ms=4)
