"""Where a chapter says how far it is: on the terminal; where there is none, line by line on the error stream."""

import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from companion.build.environment import terminal

EVERY = 1.0  # seconds between two looks at what a kernel has written


@contextmanager
def place_for_progress(folder: Path, name: str, say: Callable[[str], None]) -> Iterator[str]:
    """The terminal's device, for a bar; without a terminal a file, whose lines are said as they come.

    Args:
        folder: where that file may lie.
        name: the chapter, which each line begins with.
        say: told each line.
    """
    device = terminal()
    if device:
        yield device
        return
    with tempfile.NamedTemporaryFile("w", dir=folder, suffix=".progress") as written:
        ended = threading.Event()
        reader = threading.Thread(target=_forward, args=(Path(written.name), name, say, ended), daemon=True)
        reader.start()
        try:
            yield str(Path(written.name).resolve())
        finally:
            ended.set()
            reader.join()


def _forward(path: Path, name: str, say: Callable[[str], None], ended: threading.Event) -> None:
    """Say each whole line of a growing file, until it ends."""
    with path.open() as stream:
        while True:
            last = ended.wait(EVERY)
            for line in stream.readlines():
                say(f"{name}: {line.rstrip()}")
            if last:
                return
