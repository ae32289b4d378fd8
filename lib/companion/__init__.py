"""What makes a book from measured tables: parameters, runs, stamps, verdicts, figures and pages. It knows no paper.

What a book has of its own stands in the package `CHAPTERS` beside this one: a package for each chapter, ``symbols``
(what a parameter means), ``data_sets`` (the real data) and ``overview`` (the pages around the chapters).
"""

from importlib import import_module
from importlib.metadata import version
from typing import Any

CHAPTERS = "chapters"
LIBRARY = "costofprivacy"  # the distribution whose version the pages show, and whose reference they have
HOUSES = (CHAPTERS, __name__, LIBRARY)  # the packages that measured tables depend on
__version__ = version(LIBRARY)


def of_chapters(module: str) -> Any:
    """A module of the book's own, which no import names here: what it says makes no measurement stale."""
    return import_module(f"{CHAPTERS}.{module}")
