"""Plots as a page takes them: vector graphics with words, and a form with stacked panels for a narrow screen.

A drawing is a pure function of tables that returns a `Plate`: the figure, its caption and its alternative text, so that
what the words say is computed from what is drawn.
"""

import io
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from companion.showing import WIDE_ONLY, WORDS, figures, spoken

SVG = "image/svg+xml"
NARROW_WIDTH = 4.4  # inches: at the column width of a phone its letters are as large as on the screen
NARROW_HEIGHT = 3.3  # inches a panel
TALL = 4.5  # inches from which on a panel has many names beside it, and keeps its height
NARROW_COLUMNS = 2  # of a legend that stands outside the panels


@dataclass(frozen=True)
class Plate:
    """A figure with its words.

    The caption, Markdown, says what is seen and what follows from it; uncertainty is named there. The alternative text
    says the same for the ear: values, not shapes; by default what `spoken.described` reads off the figure. ``narrow``
    is the form for a narrow screen of a drawing that is more than panels; by default the panels, stacked.
    """

    figure: Figure
    caption: str
    alt: str = ""
    narrow: Figure | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "alt", self.alt or spoken.described(self.figure))
        for name in ("caption", "alt"):
            if not getattr(self, name).strip():
                raise ValueError(f"{name} must say something, got {getattr(self, name)!r}")


def drawn(figure: Figure, caption: str, alt: str = "") -> Plate:
    """A plate of a figure that a notebook drew with matplotlib or seaborn."""
    for axes in figure.axes:
        figures.name_curves(axes)
    return Plate(figure, caption, alt)


@dataclass(frozen=True)
class Picture:
    """A saved plate, as a cell shows it, with its name, caption and alternative text."""

    svg: str
    words: dict[str, str]

    def __repr__(self) -> str:
        return f"<Picture {self.words['name']}>"

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> tuple[dict, dict]:
        return {SVG: self.svg, "text/plain": repr(self)}, {WORDS: self.words}


def save(plate: Plate, folder: Path, name: str) -> str:
    """Save a plate as ``<name>.svg`` and, laid out for a narrow screen, as ``<name>.narrow.svg``; close it.

    The narrow form is left out where the environment's `WIDE_ONLY` is set. Returns the first, as vector graphics.
    """
    folder.mkdir(parents=True, exist_ok=True)
    wide = svg(plate.figure, name)
    (folder / f"{name}.svg").write_text(wide, "utf-8")
    if not os.environ.get(WIDE_ONLY):
        if plate.narrow is None:
            stack(plate.figure)
        (folder / f"{name}.narrow.svg").write_text(svg(plate.narrow or plate.figure, name), "utf-8")
    for figure in filter(None, (plate.figure, plate.narrow)):
        plt.close(figure)
    return wide


def svg(figure: Figure, name: str) -> str:
    """A figure as vector graphics, the same bits for the same figure: no date, no random names."""
    buffer, engine = io.StringIO(), figure.get_layout_engine()
    own = {"canvas": figure.canvas, "dpi": figure.dpi}
    with plt.rc_context({"svg.hashsalt": name, "figure.constrained_layout.use": False, "figure.autolayout": False}):
        if engine is not None:  # laid out here, as matplotlib would draw a figure with an engine once more to do so
            figure.set(canvas=FigureCanvasSVG(figure), dpi=72)  # letters are as wide as in the file
            engine.execute(figure)
            figure.set(**own)
            figure.set_layout_engine(None)
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None, "Title": name}, transparent=True)
        figure.set_layout_engine(engine)
    return "\n".join(line.rstrip() for line in buffer.getvalue().splitlines()) + "\n"


def stack(figure: Figure) -> None:
    """Lay a figure out for a narrow screen, in place: its panels one below the other, each with its own labels."""
    panels = [axes for axes in figure.axes if axes.get_subplotspec() is not None]
    own = figure.get_figheight() / max(1, len({at.rowspan.start for p in panels if (at := p.get_subplotspec())}))
    if panels:
        _label_each(panels)
        grid = figure.add_gridspec(len(panels), 1)
        for row, panel in enumerate(panels):
            panel.set_subplotspec(grid[row, 0])
    named = [zip(*axes.get_legend_handles_labels(), strict=True) for axes in figure.axes]
    curves = {label: handle for handle, label in reversed([curve for pairs in named for curve in pairs])}
    for legend in list(figure.legends):  # a legend that is laid out keeps its columns: make it again
        labels = [text.get_text() for text in legend.get_texts()]
        drawn = [curves.get(label, handle) for label, handle in zip(labels, legend.legend_handles, strict=True)]
        legend.remove()
        figure.legend(
            list(filter(None, drawn)), labels, ncols=NARROW_COLUMNS, loc="outside lower center", frameon=False
        )
    figure.set_size_inches(NARROW_WIDTH, (own if own > TALL else NARROW_HEIGHT) * max(1, len(panels)))


def _label_each(panels: Sequence[Axes]) -> None:
    """Give panels of a grid what they share with neighbours; the only label of an axis holds for all panels."""
    places = [(panel, place) for panel in panels if (place := panel.get_subplotspec())]
    rows = {panel: place.rowspan.start for panel, place in places}
    columns = {panel: place.colspan.start for panel, place in places}
    _share(panels, rows, Axes.get_ylabel, Axes.set_ylabel)
    _share(panels, columns, Axes.get_xlabel, Axes.set_xlabel)
    for where in ("left", "center"):
        if len(set(rows.values())) > 1:
            _share(panels, columns, partial(Axes.get_title, loc=where), partial(Axes.set_title, loc=where), alone=False)
    for panel in panels:
        panel.tick_params(labelleft=True, labelbottom=True)
        panel.yaxis.label.set_visible(True)  # seaborn hides it beside a panel with the same axis


def _share(
    panels: Sequence[Axes],
    lines: Mapping[Axes, int],
    get: Callable[[Axes], str],
    put: Callable[..., object],
    *,
    alone: bool = True,
) -> None:
    """Give each panel without words those of the first panel on its line; if ``alone``, the only ones there are."""
    said = {panel: get(panel) for panel in panels}
    every = {text for text in said.values() if text}
    for panel in (panel for panel in panels if not said[panel]):
        beside = [said[other] for other in panels if lines[other] == lines[panel] and said[other]]
        if found := [*beside, *(every if alone and len(every) == 1 else ())]:
            put(panel, found[0])
