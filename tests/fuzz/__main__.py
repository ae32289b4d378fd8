"""The campaign: ``python -m tests.fuzz --single 3000 --pairs 1000 --runs 100``; reports each set that went wrong."""

import argparse
import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tqdm import tqdm

from costofprivacy.book import parameters
from costofprivacy.book.project import Project
from costofprivacy.book.words import spread
from costofprivacy.running import costs
from tests.fuzz import judge, values

Given = dict[str, Any]
CUT = 4.0  # so many times as long as the slowest estimate may a run take in fact


def main() -> int:
    """Run the campaign; the exit status is 1 where anything went wrong, or too few sets were quick enough to be run."""
    parser = argparse.ArgumentParser(prog="make fuzz", description=__doc__)
    parser.add_argument("--single", type=int, default=3000, help="sets of one parameter")
    parser.add_argument("--pairs", type=int, default=1000, help="sets of two parameters")
    parser.add_argument("--runs", type=int, default=100, help="accepted sets that are run, at small scale")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--slow", type=float, default=60.0, help="seconds that a run may take by its estimate")
    parser.add_argument("--report", type=Path, default=Path("_build/reports/fuzz.json"), help="where it is kept")
    asked = parser.parse_args(spread(sys.argv[1:]))
    asked.report.unlink(missing_ok=True)
    project, rng = Project(Path.cwd()), random.Random(asked.seed)
    kinds = judge.experiments(project)
    accepted, wrong, ran = [], [], 0
    for name, given in tqdm([*values.single(kinds, asked.single, rng), *values.pairs(kinds, asked.pairs, rng)]):
        found, words = judge.validated(project, name, given)
        if words:
            wrong.append((name, str(given)[:200], "validated", words))
        if found:
            accepted.append((name, given))
    rng.shuffle(accepted)
    for name, small, base, given in tqdm(_quick(project, accepted, asked.runs, asked.slow), total=asked.runs):
        ran += 1
        if words := judge.ran(project, name, small, base, CUT * asked.slow):
            wrong.append((name, str(given)[:200], "run", words))
    asked.report.parent.mkdir(parents=True, exist_ok=True)
    content = {"asked": vars(asked), "accepted": len(accepted), "ran": ran, "wrong": wrong}
    asked.report.write_text(json.dumps(content, indent=1, default=str) + "\n", "utf-8")
    print(*(": ".join(each) for each in wrong), sep="\n")
    print(f"{len(accepted)} sets accepted, {ran} of them run, {len(wrong)} went wrong; kept in {asked.report}")
    return bool(wrong) or ran < asked.runs


def _quick(project: Project, accepted: list[Any], runs: int, slow: float) -> Iterator[tuple[str, Given, Given, Given]]:
    """Chapter, parameters, those without the hostile ones, and these: of accepted sets that are quick at small scale.

    Small is the quick preset with few trials. Sets of a seed alone are left out: they change nothing.
    """
    preset = parameters.preset(project, "quick")
    done = 0
    for name, given in accepted:
        small = preset.get(name, {})
        small |= dict.fromkeys((key for key in small if key.endswith("trials") and not key.startswith("lemma")), 2)
        found, _ = judge.validated(project, name, small | given)
        if found is None or set(given) <= set(judge.ALIKE) or done >= runs:
            continue
        cost = costs.estimate(parameters.experiment_of(project, name, found), 150.0, 1)
        if cost.seconds < slow and cost.memory < costs.available() / 2:
            done += 1
            yield name, found, parameters.resolve(project, name, small), given


if __name__ == "__main__":
    sys.exit(main())
