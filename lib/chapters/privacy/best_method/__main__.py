"""Measure the campaign anew: ``python -m chapters.privacy.best_method``, and names of tables."""

import sys
from pathlib import Path

from chapters.privacy.best_method import committed
from companion.running.montecarlo import Runner

CACHE = Path("_build") / "campaign"


def main(words: list[str]) -> int:
    """Measure the tables that are named, or all of them; ends with 2 if a name is wrong."""
    wrong = sorted(set(words) - set(committed.NAMES))
    if wrong:
        print(f"error: tables must be of {', '.join(committed.NAMES)}, got {', '.join(wrong)}", file=sys.stderr)
        return 2
    runner = Runner(cache=CACHE, progress=True)
    for name in words or committed.NAMES:
        committed.measure(runner, (name,))
        print(f"{name} is in {committed.path(name).name}, measured with the code {committed.code(name)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
