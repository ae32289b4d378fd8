"""Attack every guarantee: `python -m tests.attacks --pairs 100000 [--only NAME]`, on all cores.

What was found for a claim is kept in _build/attacks, so that another call goes on where one was stopped, or adds pairs;
it begins anew once the library or the attacks have changed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from dataclasses import asdict
from pathlib import Path

from joblib import Parallel, delayed
from tqdm import tqdm

from tests.attacks import CLAIMS, Outcome, attacked
from tests.attacks.neighbours import PAIRS

BLOCK = 100  # seeds
ROOT = Path(__file__).parents[2]
KEPT = ROOT / "_build" / "attacks"


def main() -> int:
    """Run the campaign; the exit status is the number of claims that were broken."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--pairs", type=int, default=1000, help="pairs of neighbours for each claim (1000)")
    asked.add_argument("--only", default="", help="claims with this in their name")
    told = asked.parse_args()
    sources = sorted(path for part in ("lib/costofprivacy", "tests/attacks") for path in (ROOT / part).rglob("*.py"))
    code = hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()
    files = {name: KEPT / code[:16] / f"{name}.json" for name in CLAIMS if told.only in name}
    known = {name: json.loads(file.read_text()) for name, file in files.items() if file.exists()}
    starts = range(0, -(-told.pairs // PAIRS), BLOCK)
    blocks = [
        (name, BLOCK, start) for start in starts for name in files if start >= known.get(name, {"seeds": 0})["seeds"]
    ]
    running = Parallel(n_jobs=-1, return_as="generator")(delayed(attacked)(*block) for block in blocks)
    for (name, _, start), found in zip(blocks, tqdm(running, total=len(blocks), disable=None)):
        worst = max(asdict(found), known.get(name, asdict(found)), key=lambda each: each["share"])
        known[name] = {**worst, "seeds": start + BLOCK}
        files[name].parent.mkdir(parents=True, exist_ok=True)
        part = files[name].with_suffix(".part")
        part.write_text(json.dumps(known[name]))
        part.replace(files[name])
    broken = 0
    for name in files:
        found = Outcome(*(known[name][part] for part in ("share", "seed", "error")))
        pairs, broken = known[name]["seeds"] * PAIRS, broken + (not found.kept)
        print(f"{'kept  ' if found.kept else 'BROKEN'} {found.share:.12g}  {name}  ({pairs} pairs, seed {found.seed})")
        print(found.error, end="")
    print(f"{broken} of {len(files)} claims broken")
    return min(broken, 100)


if __name__ == "__main__":
    sys.exit(main())
