"""Figures as a page takes them: vector graphics with their words, and a form with stacked panels for a narrow screen.

A drawing is a pure function of tables that returns a `Plate`: the figure, its caption and its alternative text, so that
what the words say is computed from what is drawn.
"""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from costofprivacy.showing import spoken

SVG = "image/svg+xml"
WORDS = "plate"  # the key of a picture's words in the metadata of a cell's output
NARROW_WIDTH = 4.4  # inches: at the column width of a phone its letters are as large as on the screen
NARROW_HEIGHT = 3.3  # inches a panel
NARROW_COLUMNS = 2  # of a legend that stands outside the panels


@dataclass(frozen=True)
class Plate:
    """A figure with its words.

    Args:
        figure: what is drawn.
        caption: Markdown that says what is seen and what follows from it; uncertainty is named here.
        alt: the same for the ear: values, not shapes; by default what `spoken.described` reads off the figure.

    Raises:
        ValueError: if a word is missing.
    """

    figure: Figure
    caption: str
    alt: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "alt", self.alt or spoken.described(self.figure))
        for name in ("caption", "alt"):
            if not getattr(self, name).strip():
                raise ValueError(f"{name} must say something, got {getattr(self, name)!r}")


@dataclass(frozen=True)
class Picture:
    """A saved plate, as a cell shows it.

    Args:
        svg: the vector graphics. words: its name, caption and alternative text.
    """

    svg: str
    words: dict[str, str]

    def __repr__(self) -> str:
        return f"<Picture {self.words['name']}>"

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> tuple[dict, dict]:
        return {SVG: self.svg, "text/plain": repr(self)}, {WORDS: self.words}


def save(plate: Plate, folder: Path, name: str) -> str:
    """Save a plate as ``<name>.svg`` and, laid out for a narrow screen, as ``<name>.narrow.svg``; close it.

    Returns:
        The vector graphics of the first.
    """
    folder.mkdir(parents=True, exist_ok=True)
    wide = svg(plate.figure, name)
    (folder / f"{name}.svg").write_text(wide, "utf-8")
    stack(plate.figure)
    (folder / f"{name}.narrow.svg").write_text(svg(plate.figure, name), "utf-8")
    plt.close(plate.figure)
    return wide


def svg(figure: Figure, name: str) -> str:
    """A figure as vector graphics, the same bits for the same figure: no date, no random names."""
    buffer = io.StringIO()
    with plt.rc_context({"svg.hashsalt": name}):
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None, "Title": name}, transparent=True)
    return "\n".join(line.rstrip() for line in buffer.getvalue().splitlines()) + "\n"


def stack(figure: Figure) -> None:
    """Lay a figure out for a narrow screen, in place: its panels one below the other, each with its own labels."""
    panels = [axes for axes in figure.axes if axes.get_subplotspec() is not None]
    if panels:
        grid = figure.add_gridspec(len(panels), 1)
        for row, panel in enumerate(panels):
            panel.set_subplotspec(grid[row, 0])
        _label_each(panels)
    for legend in list(figure.legends):  # a legend that is laid out keeps its columns: make it again
        handles, labels = legend.legend_handles, [text.get_text() for text in legend.get_texts()]
        legend.remove()
        drawn = [handle for handle in handles if handle]
        figure.legend(drawn, labels, ncols=NARROW_COLUMNS, loc="outside lower center")
    figure.set_size_inches(NARROW_WIDTH, NARROW_HEIGHT * max(1, len(panels)))


def _label_each(panels: Sequence[Axes]) -> None:
    """Give labels back to panels that shared an axis with a neighbour."""
    for axis in ("x", "y"):
        first = next((text for panel in panels if (text := getattr(panel, f"get_{axis}label")())), "")
        for panel in panels:
            panel.set(**{f"{axis}label": getattr(panel, f"get_{axis}label")() or first})
            panel.tick_params(axis=axis, labelleft=True, labelbottom=True)
