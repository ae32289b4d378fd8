"""Private linear regression, judged: the library behind *The Cost of Privacy*."""

from importlib import import_module
from importlib.metadata import version
from typing import Any

__all__ = ["results"]
__version__ = version(__name__)  # it stands in pyproject.toml: a new version is no new measurement


def results(name: str) -> Any:
    """The tables and verdicts of a chapter as the book publishes them: see `companion.published.results`.

    Args:
        name: a chapter's name, such as ``noisyhead/low-dimensional``.

    Returns:
        a mapping of table names to data frames, `companion.published.Results`.

    Raises:
        ValueError: if the book has no such chapter.
    """
    return import_module("companion.published").results(name)  # imported by name: what is measured needs it not
