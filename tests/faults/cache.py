"""Damaged caches: a flipped bit, a file cut short, an empty file, another file's content."""

import random
from collections.abc import Callable, Iterator
from functools import partial

from tests.faults.chapter import Chapter


def campaign(chapter: Chapter, number: int, rng: random.Random) -> Iterator[Callable[[], str]]:
    """So many damages, three in four of them flipped bits."""
    for k in range(number):
        yield partial(damage, chapter, k % 4 == 3, random.Random(rng.random()))


def damage(chapter: Chapter, cut: bool, rng: random.Random) -> str:
    """Damage one block, remove the results, and run again; what went wrong, in words."""
    if not chapter.blocks:
        chapter.fresh()
        chapter.run()
    path = rng.choice(chapter.blocks)
    content = bytearray(path.read_bytes())
    place = rng.randrange(len(content))
    if cut:
        del content[place:]
    else:
        content[place] ^= 1 << rng.randrange(8)
    path.write_bytes(content)
    chapter.fresh(cache=False)
    wrong = chapter.wrong()
    return f"{'cut' if cut else 'bit flipped'} at byte {place} of a block: {wrong}" if wrong else ""
