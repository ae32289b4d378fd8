"""The campaign: ``python -m tests.fuzz --sets 4000 --runs 100`` is `tests.fuzz.test_parameters` with more sets."""

import argparse
import os
import sys

import pytest

from costofprivacy.book.words import spread
from tests.fuzz import RUNS, SETS


def main() -> int:
    """Run the campaign; the exit status is pytest's."""
    parser = argparse.ArgumentParser(prog="make fuzz", description=__doc__)
    parser.add_argument("--sets", type=int, default=4000, help="sets of parameters that are validated")
    parser.add_argument("--runs", type=int, default=100, help="accepted sets that are run, at small scale")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--report", default="_build/reports/fuzz.xml", help="where it is kept")
    asked = parser.parse_args(spread(sys.argv[1:]))
    os.environ |= {SETS: str(asked.sets), RUNS: str(asked.runs)}
    options = ["-q", "-n", "0", f"--hypothesis-seed={asked.seed}", f"--junitxml={asked.report}"]
    return pytest.main([*options, "tests/fuzz/test_parameters.py"])


if __name__ == "__main__":
    sys.exit(main())
