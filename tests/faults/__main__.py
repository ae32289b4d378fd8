"""The campaign: ``python -m tests.faults --kills 100 --flips 100``; tells of each fault what came of it."""

import argparse
import json
import random
import sys
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

from tqdm import tqdm

from costofprivacy.book.words import spread
from tests.faults import cache, disc, kills
from tests.faults.chapter import Chapter, Skipped, cache_of_its_own

RIGHT, WRONG, SKIPPED = "right", "wrong", "skipped"


def main() -> int:
    """Run the campaign; the exit status is 1 where anything went wrong."""
    parser = argparse.ArgumentParser(prog="make faults", description=__doc__)
    parser.add_argument("--kills", type=int, default=100, help="signals at random moments")
    parser.add_argument("--flips", type=int, default=100, help="flipped bits and truncations of the cache")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folder", type=Path, help="where runs write; what it holds goes. By default a temporary one")
    parser.add_argument("--report", type=Path, default=Path("_build/reports/faults.json"), help="what came of each")
    asked = parser.parse_args(spread(sys.argv[1:]))
    rng, found = random.Random(asked.seed), []
    with cache_of_its_own(Path.cwd()), TemporaryDirectory(prefix="faults-", ignore_cleanup_errors=True) as made:
        Path(made).chmod(0o755)  # a user without privileges has to reach what lies there
        chapter = Chapter.undisturbed(Path.cwd(), asked.folder or Path(made) / "runs")
        print(f"an undisturbed run takes {chapter.seconds:.1f} s, {chapter.processor:.1f} s of a processor", flush=True)
        faults = [
            *disc.campaign(chapter),
            *cache.campaign(chapter, asked.flips, rng),
            *kills.campaign(chapter, asked.kills, rng),
        ]
        for kind, attempt in tqdm(faults, unit="fault"):
            try:
                words = attempt()
                found.append((kind, WRONG if words else RIGHT, words))
            except Skipped as reason:
                found.append((kind, SKIPPED, str(reason)))
            if found[-1][2]:
                tqdm.write(": ".join(found[-1]))
            asked.report.parent.mkdir(parents=True, exist_ok=True)
            asked.report.write_text(json.dumps(found, indent=1) + "\n", "utf-8")
    counts = Counter((kind, verdict) for kind, verdict, _ in found)
    print(*(f"{kind:<28}{verdict:>9}{count:>8}" for (kind, verdict), count in counts.items()), sep="\n")
    print(f"kept in {asked.report}")
    return any(verdict == WRONG for _, verdict, _ in found)


if __name__ == "__main__":
    sys.exit(main())
