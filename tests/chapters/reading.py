"""What every page shows, made from tables as its notebook makes it, and what figures and tables are held to."""

import ast
import importlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import matplotlib.pyplot as plt
import pandas as pd
import pytest

from companion import chapters
from companion.judging.findings import word_count
from companion.showing import plates
from companion.showing.plates import Plate
from tests.chapters.machinery import BOOK, Tables, committed, package

NOTEBOOKS = {path.relative_to(BOOK).with_suffix("").as_posix(): path for path in sorted(BOOK.rglob("*.ipynb"))}
MACHINE = re.compile(r"\de-\d|nan|inf\b")
NAMES = re.compile(r"(?a:\w_\w)|\de[-+]\d|nan|NaN")
FORMULA = re.compile(r"\$[^$]*\$")


@dataclass
class OnItsTables:
    """What a notebook takes for its chapter: it gives some tables, and a plate is what a cell shows."""

    tables: Tables

    def run(self) -> Tables:
        return self.tables

    def show(self, _: str, drawn: Any, caption: str = "", alt: str = "") -> Plate:
        return drawn if isinstance(drawn, Plate) else plates.drawn(drawn.figure, caption, alt)

    def __getattr__(self, _: str) -> Any:
        return lambda *_, **__: None


def shown(name: str, tables: Tables | None = None) -> Iterator[tuple[Any, Any]]:
    """What the last expression of each cell of a notebook gives now, and the committed outputs of the cell.

    Args:
        name: the chapter. tables: other tables than its committed ones.
    """
    values: dict[str, Any] = {}
    with pytest.MonkeyPatch.context() as patch:
        chapter = OnItsTables(committed(name) if tables is None else tables)
        patch.setattr(chapters, "Chapter", lambda *_: chapter)
        for cell in json.loads(NOTEBOOKS[name].read_text("utf-8"))["cells"]:
            if cell["cell_type"] == "code":
                plt.close("all")  # as a notebook does after each cell
                *statements, last = ast.parse("".join(cell["source"])).body
                ends = isinstance(last, ast.Expr)
                exec(compile(ast.Module(statements if ends else [*statements, last], []), name, "exec"), values)
                if isinstance(last, ast.Expr):
                    yield eval(compile(ast.Expression(last.value), name, "eval"), values), cell["outputs"]


def check_page(name: str, tables: Tables) -> None:
    """Its answer is short, and all that it shows can be made from other tables than its own."""
    opening = importlib.import_module(f"{package(name)}.show").answer(tables)
    assert word_count(" ".join(opening)) <= chapters.LONGEST_ANSWER
    for found, _ in shown(name, tables):
        if isinstance(found, Plate):
            found.figure.canvas.draw()
            assert "$" not in found.alt


def check_plate(plate: Plate, numbers: int = 3) -> None:
    """It can be drawn; its alternative text has numbers and no mathematics; no number is spelt as machines do."""
    assert plate.figure.axes
    plate.figure.canvas.draw()
    assert len(re.findall(r"\d", plate.alt)) >= numbers
    assert not MACHINE.search(plate.caption + plate.alt)
    assert "\\" not in plate.alt
    assert "$" not in plate.alt


def check_table(table: pd.DataFrame) -> None:
    """It has rows, each of them full, and neither names of columns nor numbers as machines spell them."""
    assert len(table)
    assert not NAMES.search(FORMULA.sub("", table.to_csv()))
    assert table.notna().all(axis=None)
