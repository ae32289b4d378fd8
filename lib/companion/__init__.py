"""What makes a book from measured tables: parameters, runs, stamps, verdicts, figures and pages. It knows no paper.

What a book has of its own stands in the package `CHAPTERS` beside this one: a package for each chapter, ``symbols``
(what a parameter means), ``data_sets`` (the real data) and ``overview`` (the pages around the chapters).
"""

import ast
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

CHAPTERS = "chapters"
LIBRARY = "costofprivacy"  # the distribution whose version the pages show, and whose reference they have
HOUSES = (CHAPTERS, __name__, LIBRARY)  # the packages that measured tables depend on
__version__ = version(LIBRARY)


def of_chapters(module: str) -> Any:
    """A module of the book's own, which no import names here: what it says makes no measurement stale."""
    return import_module(f"{CHAPTERS}.{module}")


def question(package: str) -> str:
    """What a chapter asks: the docstring of the module ``show`` in its package, which is read, not run."""
    spec = find_spec(f"{package}.show")
    text = Path(spec.origin).read_text("utf-8") if spec and spec.origin else ""
    return " ".join((ast.get_docstring(ast.parse(text)) or "").split())
