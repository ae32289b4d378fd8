"""What was being written when a disc was full: an open file does not say."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def naming(what: Path) -> Iterator[None]:
    """Let an error of the system that names no file name the one that is written here."""
    try:
        yield
    except OSError as error:
        if error.errno and not error.filename:
            error.filename = str(what)
        raise
