"""The book's look for figures that a notebook draws in its own cells, for the reader to change.

A chapter's figures are plates (`companion.showing.plates`), with a second form for narrow screens. A figure that
is drawn in a cell has one form: a panel so small that its letters can be read on a phone and on a wide screen.
"""

from importlib import import_module

import matplotlib.pyplot as plt

from companion.showing import plates

SIZE = (5.2, 3.1)  # inches
STYLE = "companion.showing.book"
LETTERS = 10  # points


def look(salt: str = "live") -> None:
    """Draw all further figures of this session in the book's style, as vector graphics; same code, same bits."""
    plt.style.use([STYLE, {"figure.figsize": SIZE, "legend.fontsize": LETTERS, "svg.hashsalt": salt}])
    inline = import_module("matplotlib_inline.backend_inline")  # where there is a kernel, there it is
    inline.set_matplotlib_formats("svg", metadata={"Date": None, "Creator": None}, bbox_inches=None)


def picture(name: str, plate: plates.Plate) -> plates.Picture:
    """A plate with its words, as a notebook shows it that has no chapter: in the form for a narrow screen alone."""
    plates.stack(plate.figure)
    drawn = plates.svg(plate.figure, name)
    plt.close(plate.figure)
    return plates.Picture(drawn, {"name": name, "caption": plate.caption, "alt": plate.alt})
