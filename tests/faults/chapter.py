"""The chapter that is run: small, with trials in blocks that a cache keeps."""

import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from tests.faults import processes

NAME = "noisyhead/low-dimensional"
PARAMETERS = "-p trials 100 -y '{N: [1000, 2000], epsilon: [0.5]}' -p workers 2"
LEFT = (".staged", ".ready", "*.partial", ".writable")
Fault = tuple[str, Callable[[], str]]  # its kind; does it, and returns what went wrong, in words


class Skipped(Exception):
    """A fault cannot be made here; the text says why."""


@dataclass(frozen=True)
class Chapter:
    """A chapter at small sizes, run into a folder with a cache of its own, and what an undisturbed run gives.

    Attributes:
        root: the project's root.
        folder: where runs write: its ``out``, and what else a fault needs.
        seconds: how long an undisturbed run takes. processor: how long on a processor, all its processes together.
        bits: what it leaves.
    """

    root: Path
    folder: Path
    seconds: float
    processor: float
    bits: dict[str, bytes]

    @classmethod
    def undisturbed(cls, root: Path, folder: Path) -> "Chapter":
        """Run the chapter once from nothing.

        Raises:
            RuntimeError: it does not succeed.
        """
        shutil.rmtree(root / folder, ignore_errors=True)
        made = cls(root, folder, 0.0, 0.0, {})
        made.fresh()
        start, before = time.perf_counter(), processes.of_children()
        if (done := made.run()).returncode:
            raise RuntimeError(f"an undisturbed run must succeed, got status {done.returncode}: {done.stderr}")
        took = time.perf_counter() - start
        return cls(root, folder, took, processes.of_children() - before, made.contents())

    @property
    def out(self) -> Path:
        """Where its results go."""
        return self.root / self.folder / "out"

    @property
    def blocks(self) -> list[Path]:
        """The files of its cache."""
        return sorted(self.cache.rglob("*.npz"))

    @property
    def cache(self) -> Path:
        """Where its blocks lie."""
        return self.root / "_build" / "cache"

    def command(self, target: str = "chapter", words: str = PARAMETERS) -> list[str]:
        """What is run."""
        return ["make", target, f"NAME={NAME}", f"P={words}", f"OUT={self.folder / 'out'}"]

    def start(self) -> processes.Marked:
        """Start a run."""
        return processes.start(self.command(), self.root)

    def run(self, command: list[str] | None = None) -> "subprocess.CompletedProcess[str]":
        """Run to the end."""
        return subprocess.run(command or self.command(), cwd=self.root, capture_output=True, text=True, check=False)

    def fresh(self, cache: bool = True) -> None:
        """Remove the results, and the cache too."""
        shutil.rmtree(self.out, ignore_errors=True)
        if cache:
            shutil.rmtree(self.cache, ignore_errors=True)

    def contents(self) -> dict[str, bytes]:
        """Everything in its folder of results."""
        return {p.relative_to(self.out).as_posix(): p.read_bytes() for p in self.out.rglob("*") if p.is_file()}

    def wrong(self, met: processes.Marked | None = None) -> str:
        """What a run after a fault has left that an undisturbed one does not; empty where there is nothing.

        Args:
            met: the run that met the fault, if it left processes.
        """
        if (done := self.run()).returncode:
            return f"the next run ended with status {done.returncode}: {done.stderr[-300:]}"
        after = self.contents()
        if after != self.bits:
            names = sorted(name for name in {*after, *self.bits} if after.get(name) != self.bits.get(name))
            return f"the next run gave other bits: {'; '.join(self._apart(name, after.get(name)) for name in names)}"
        left = [p for pattern in LEFT for top in (self.out, self.root / "_build/cache") for p in top.rglob(pattern)]
        left += [*(self.root / "_build" / "tmp").iterdir(), *(processes.left_by(met) if met else ())]
        return f"left over: {', '.join(str(path) for path in left)}" if left else ""

    def _apart(self, name: str, found: bytes | None) -> str:
        """A file's name, and the first line in which it is another."""
        pairs = zip_longest(self.bits.get(name, b"").splitlines(), (found or b"").splitlines())
        return next((f"{name} has {there!r} for {here!r}" for here, there in pairs if here != there), name)


@contextmanager
def cache_of_its_own(root: Path) -> Iterator[None]:
    """Put the person's cache aside meanwhile; one that a killed campaign left aside is put back first."""
    own, aside = root / "_build" / "cache", root / "_build" / "cache-aside"
    _put_back(own, aside)
    if own.exists():
        own.rename(aside)
    try:
        yield
    finally:
        _put_back(own, aside)


def _put_back(own: Path, aside: Path) -> None:
    """Let the cache that was put aside be the project's again."""
    if aside.exists():
        shutil.rmtree(own, ignore_errors=True)
        aside.rename(own)
