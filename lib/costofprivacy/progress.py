"""How far a run is: a bar in a terminal or a notebook; without either, a line in a file now and then."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any, TextIO

from tqdm.auto import tqdm as tqdm_auto
from tqdm.std import tqdm

EVERY = 15.0  # seconds between two lines


def bar(progress: bool | str, total: int) -> Any:
    """What shows progress: it is updated block by block, and is a context.

    Args:
        progress: True for a bar in the terminal or notebook, a path for a bar on that terminal, or for lines at the end
            of that file where it is none; False or empty for nothing.
        total: number of blocks.
    """
    if progress is True:
        return tqdm_auto(total=total, leave=False, unit="block")
    if not progress:
        return _TerminalBar(total=total, file=None, disable=True)
    stream = open(progress, "a")  # noqa: SIM115
    if not os.isatty(stream.fileno()):
        stream.close()
        return Lines(Path(progress), total)
    return _TerminalBar(total=total, leave=False, unit="block", file=stream)


class Lines:
    """A line at the end of a file, at most one in `EVERY` seconds."""

    def __init__(self, path: Path, total: int) -> None:
        self._path, self._total, self._done, self._words = path, total, 0, ""
        self._start = self._last = time.monotonic()

    def __enter__(self) -> Lines:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing is left to close."""

    def set_postfix_str(self, words: str) -> None:
        """Say this beside the numbers, as a bar does."""
        self._words = f", {words}" if words else ""

    def update(self, blocks: int = 1) -> None:
        """Count finished blocks, and write a line if it is time."""
        self._done += blocks
        now = time.monotonic()
        if now - self._last < EVERY:
            return
        self._last, took = now, now - self._start
        left = took * (self._total - self._done) / self._done
        with self._path.open("a") as stream:
            stream.write(f"{self._done} of {self._total} blocks, {took:.0f} s, {left:.0f} s to go{self._words}\n")


class _TerminalBar(tqdm):
    """A bar that closes the terminal it draws on."""

    def __init__(self, *, file: TextIO | None, **options: Any) -> None:
        self._terminal = file
        super().__init__(file=file, **options)

    def close(self) -> None:
        super().close()
        if self._terminal is not None:
            self._terminal.close()
            self._terminal = None
