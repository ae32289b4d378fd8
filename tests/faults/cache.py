"""Damaged caches: a flipped bit, or a file cut short, must be named or change nothing that is read.

What `blocks.read` makes of each bit is tried in ``tests/running/test_blocks.py``; here, that a whole run stands it.
"""

import random
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from costofprivacy.running import blocks
from tests.faults.chapter import Chapter, Fault

TOGETHER = 5  # blocks that are damaged before one run, each in one place


def campaign(chapter: Chapter, number: int, rng: random.Random) -> Iterator[Fault]:
    """So many damages, three in four of them flipped bits."""
    for _ in range(0, number, TOGETHER):
        yield "damaged cache", partial(damage, chapter, rng)


def damage(chapter: Chapter, rng: random.Random) -> str:
    """Damage a few blocks, remove the results, and run again; what went wrong, in words."""
    if len(chapter.blocks) < TOGETHER:
        chapter.fresh()
        chapter.run()
    before = {path: kept(path) for path in chapter.blocks}
    for path in rng.sample(chapter.blocks, TOGETHER):
        content = bytearray(path.read_bytes())
        place = rng.randrange(len(content))
        if rng.random() < 0.25:
            del content[place:]
        else:
            content[place] ^= 1 << rng.randrange(8)
        path.write_bytes(content)
    chapter.fresh(cache=False)
    return chapter.wrong() or ("" if before == {path: kept(path) for path in before} else "a block was not kept anew")


def kept(path: Path) -> bytes:
    """The bits of the trials that a file holds; none where it is damaged."""
    found = blocks.read(path)
    return b"" if found is None else found.tobytes()
