"""The campaign: ``python -m tests.faults --kills 100 --flips 100``; tells of each fault what came of it."""

import argparse
import random
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tqdm import tqdm

from costofprivacy.book.words import spread
from tests.faults import cache, disc, kills, outcome
from tests.faults.chapter import Chapter, cache_of_its_own


def main() -> int:
    """Run the campaign; the exit status is 1 where anything went wrong."""
    parser = argparse.ArgumentParser(prog="make faults", description=__doc__)
    parser.add_argument("--kills", type=int, default=100, help="signals at random moments")
    parser.add_argument("--flips", type=int, default=100, help="flipped bits and truncations of the cache")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folder", type=Path, help="where runs write; what it holds goes. By default a temporary one")
    parser.add_argument(
        "--report", type=Path, default=Path("_build/reports/faults.json"), help="where outcomes are kept"
    )
    asked = parser.parse_args(spread(sys.argv[1:]))
    rng = random.Random(asked.seed)
    found: list[outcome.Outcome] = []
    with cache_of_its_own(Path.cwd()), TemporaryDirectory(prefix="faults-", ignore_cleanup_errors=True) as made:
        Path(made).chmod(0o755)  # a user without privileges has to reach what lies there
        chapter = Chapter.undisturbed(Path.cwd(), asked.folder or Path(made) / "runs")
        print(f"an undisturbed run takes {chapter.seconds:.1f} s, {chapter.processor:.1f} s of a processor", flush=True)
        faults = [
            *disc.campaign(chapter),
            *cache.campaign(chapter, asked.flips, rng),
            *kills.campaign(chapter, asked.kills, rng),
        ]
        for fault in tqdm(faults, unit="fault"):
            new = fault.outcomes()
            found += new
            for each in new:
                if each.words:
                    tqdm.write(str(each))
            outcome.write(asked.report, found, {"kills": asked.kills, "flips": asked.flips, "seed": asked.seed})
    print(outcome.in_words(found), f"kept in {asked.report}", sep="\n")
    return any(each.verdict == outcome.WRONG for each in found)


if __name__ == "__main__":
    sys.exit(main())
