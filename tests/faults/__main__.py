"""The campaign: ``python -m tests.faults --kills 100 --flips 100``; reports each fault that something came of."""

import argparse
import random
import sys
from pathlib import Path

from tqdm import tqdm

from costofprivacy.book.words import spread
from tests.faults import cache, disc, kills
from tests.faults.chapter import Chapter, cache_of_its_own


def main() -> int:
    """Run the campaign; the exit status is 1 where anything went wrong."""
    parser = argparse.ArgumentParser(prog="make faults", description=__doc__)
    parser.add_argument("--kills", type=int, default=100, help="signals at random moments")
    parser.add_argument("--flips", type=int, default=100, help="flipped bits and truncations of the cache")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folder", type=Path, default=Path("_build/faults"), help="where runs write")
    asked = parser.parse_args(spread(sys.argv[1:]))
    rng = random.Random(asked.seed)
    with cache_of_its_own(Path.cwd()):
        chapter = Chapter.undisturbed(Path.cwd(), asked.folder)
        print(f"an undisturbed run takes {chapter.seconds:.1f} s", flush=True)
        faults = [
            *kills.campaign(chapter, asked.kills, rng),
            *cache.campaign(chapter, asked.flips, rng),
            *disc.campaign(chapter),
        ]
        found = []
        for fault in tqdm(faults, unit="fault"):
            if words := fault():
                tqdm.write(words)
                found.append(words)
    if not found:
        print(f"{len(faults)} faults: after each the next run ended in the bits of an undisturbed one")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
