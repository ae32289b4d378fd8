"""Damaged caches: a flipped bit, a file cut short, a whole block that is not the one of its place.

Each must be named or change nothing that is read.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from costofprivacy.running import blocks
from tests.faults.chapter import Chapter
from tests.faults.outcome import Fault

TOGETHER = 5  # blocks that are damaged before one run, each in one place
SWAPS = ("key", "shape", "type", "NaN")  # in what a whole block may be another than its place says


@dataclass(frozen=True)
class Damage:
    """Something done to the file of one block.

    Args:
        block: its place among the blocks, as a share. place: in its bytes, as a share. bit: the bit that is flipped;
            None cuts the file off there. swap: one of `SWAPS`, a whole block of another kind in its place instead.
    """

    block: float
    place: float
    bit: int | None
    swap: str = ""

    @property
    def words(self) -> tuple[str, str]:
        """What is done, and where."""
        if self.swap:
            return "block swapped", f"for one of another {self.swap}"
        return ("block cut short" if self.bit is None else "bit flipped"), f"at {self.place:.3f} of it"


def campaign(chapter: Chapter, number: int, rng: random.Random) -> Iterator[Fault]:
    """So many damages, three in four of them flipped bits; then a swap of each kind."""
    every = [Damage(rng.random(), rng.random(), None if k % 4 == 3 else rng.randrange(8)) for k in range(number)]
    every += [Damage(rng.random(), 0.0, None, swap) for swap in SWAPS]
    for first in range(0, len(every), TOGETHER):
        some = every[first : first + TOGETHER]
        yield Fault(tuple(one.words for one in some), partial(damage, chapter, some))


def damage(chapter: Chapter, some: list[Damage]) -> list[str]:
    """Damage as many blocks, remove the results, and run again; what went wrong with each, in words."""
    if len(chapter.blocks) < len(some):
        chapter.fresh()
        chapter.run()
    whole = {path: _trials(path) for path in chapter.blocks}
    paths = _chosen(some, list(whole))
    silent = [_damaged(path, one, whole[path]) for path, one in zip(paths, some, strict=True)]
    chapter.fresh(cache=False)
    done = chapter.run()
    wrong = chapter.judged(done)
    found = []
    for path, harmless in zip(paths, silent, strict=True):
        after = blocks.read(path)
        if not harmless and path.name not in done.stderr:
            found.append("not noticed")
        elif after is None or after.tobytes() != whole[path].tobytes():
            found.append("its block was not kept anew")
        else:
            found.append(wrong)
    return found


def _chosen(some: list[Damage], paths: list[Path]) -> list[Path]:
    """A block for each damage, none twice."""
    left = list(paths)
    return [left.pop(int(one.block * len(left))) for one in some]


def _damaged(path: Path, one: Damage, before: np.ndarray) -> bool:
    """Damage a file; whether what is read from it is the same nonetheless."""
    label = _content(path)["label"]
    if one.swap:
        return _swapped(path, one.swap)
    content = bytearray(path.read_bytes())
    place = int(one.place * len(content))
    if one.bit is None:
        del content[place:]
    else:
        content[place] ^= 1 << one.bit
    path.write_bytes(content)
    try:
        found = _content(path)
        trials = found.pop("trials")
        alike = trials.dtype == before.dtype and trials.tobytes() == before.tobytes()
        return alike and list(found) == ["label"] and str(found["label"]) == str(label)
    except Exception:
        return False


def _swapped(path: Path, swap: str) -> bool:
    """Put a whole block that is not the one asked for in a block's place; never harmless."""
    content = _content(path)
    trials = content["trials"]
    if swap == "key":
        blocks.write(path.with_stem(f"{path.stem}-other"), trials)
        path.with_stem(f"{path.stem}-other").replace(path)
        return False
    others = {"shape": trials[..., None], "type": trials.astype(np.float32), "NaN": np.full(trials.shape, np.nan)}
    np.savez(path, **(content | {"trials": others[swap]}))  # type: ignore[arg-type]
    return False


def _content(path: Path) -> dict[str, np.ndarray]:
    with path.open("rb") as stream, np.load(stream, allow_pickle=False) as read:
        return {name: read[name] for name in read.files}


def _trials(path: Path) -> np.ndarray:
    found = blocks.read(path)
    assert found is not None
    return found
