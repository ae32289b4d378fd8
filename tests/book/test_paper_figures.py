"""The figures of the papers are drawn in sight, by code that a reader may change."""

import importlib
import re
from types import SimpleNamespace
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest

from companion.build import notebooks
from companion.build.project import chapters
from companion.running.stamps import read_table
from companion.showing import live

from .conftest import OURS

DRAWN = "chapter.show("


def cells() -> list[tuple[str, str]]:
    """Each cell in sight that draws, with its chapter's name."""
    return [
        (name, cell.source)
        for name in chapters(OURS)
        for cell in notebooks.code_cells(notebooks.read(OURS.book / f"{name}.ipynb"))
        if notebooks.SHOWN in notebooks.tags(cell) and DRAWN in cell.source
    ]


def drawing(name: str, code: str) -> tuple[np.ndarray, str]:
    """The picture that a cell draws of the committed tables, in pixels, and its caption."""
    shown: list[Any] = []
    names = {
        "tables": {path.stem: read_table(path) for path in (OURS.book / name).glob("*.csv")},
        "show": importlib.import_module(f"chapters.{name.replace('/', '.').replace('-', '_')}.show"),
        "chapter": SimpleNamespace(show=lambda *given: shown.extend(given)),
    }
    exec(code, names)
    _, drawn, caption = shown
    drawn.figure.set_dpi(30)
    drawn.figure.canvas.draw()
    pixels = np.asarray(drawn.figure.canvas.buffer_rgba()).copy()
    plt.close("all")
    return pixels, caption


@pytest.mark.parametrize(("name", "code"), cells(), ids=lambda text: text.splitlines()[-1][:60])
def test_a_figure_of_the_paper_changes_with_its_code(name: str, code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "look", lambda: None)
    assert len(code.splitlines()) <= 30
    pixels, caption = drawing(name, code)
    assert caption.startswith("**")
    changed = code.replace('"log"', '"linear"') if '"log"' in code else re.sub(r'label=r?"', r"\g<0>my ", code)
    assert not np.array_equal(drawing(name, changed)[0], pixels)
