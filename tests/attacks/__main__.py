"""Attack every guarantee: `python -m tests.attacks --pairs 100000 [--only NAME] [--first SEED]`, on all cores."""

from __future__ import annotations

import argparse
import sys

from joblib import Parallel, delayed
from tqdm import tqdm

from tests.attacks import CLAIMS, Outcome, attacked

BLOCK = 500


def main() -> int:
    """Run the campaign; the exit status is the number of claims that were broken."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--pairs", type=int, default=1000, help="pairs of neighbours for each claim (1000)")
    asked.add_argument("--first", type=int, default=0, help="first seed (0)")
    asked.add_argument("--only", default="", help="claims with this in their name")
    told = asked.parse_args()
    names = [name for name in CLAIMS if told.only in name]
    blocks = [
        (name, min(BLOCK, told.pairs - start), told.first + start)
        for start in range(0, told.pairs, BLOCK)
        for name in names
    ]
    running = Parallel(n_jobs=-1, return_as="generator")(delayed(attacked)(*block) for block in blocks)
    worst: dict[str, Outcome] = {}
    for (name, _, _), found in zip(blocks, tqdm(running, total=len(blocks), disable=None)):
        known = worst.setdefault(name, found)
        if found.share > known.share or (found.error and not known.error):
            worst[name] = found
    for name, found in worst.items():
        print(f"{'kept  ' if found.kept else 'BROKEN'} {found.share:.12g}  {name}  (seed {found.seed})")
        if found.error:
            print(found.error)
    broken = sum(not found.kept for found in worst.values())
    print(f"{told.pairs} pairs for each of {len(worst)} claims: {broken} broken")
    return min(broken, 100)


if __name__ == "__main__":
    sys.exit(main())
