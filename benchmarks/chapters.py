"""What each chapter costs at the papers' scale, in processor time and memory: the second part of ``make bench``.

Each chapter runs in a process of its own, with nothing kept from earlier runs, as many at a time as there are cores.
"""

import argparse
import json
import resource
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
from joblib import Parallel, cpu_count, delayed

from companion.build.environment import in_settled_environment
from companion.build.parameters import PAPER, experiment_of, resolve_preset
from companion.build.project import LEDGER, Project, is_plain
from companion.build.project import chapters as names_of
from companion.running import stamps
from companion.running.montecarlo import Runner

COSTS = Path("_build/bench/chapters.csv")
COLUMNS = ["chapter", "seconds", "memory_mb"]


def measured(name: str) -> dict[str, object]:
    """One row of the table, measured in this process."""
    project = Project(Path())
    experiment = experiment_of(project, name, resolve_preset(project, PAPER, [name])[name])
    start = time.process_time()
    experiment.run(Runner(1))
    seconds = time.process_time() - start
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return dict(zip(COLUMNS, (name, seconds, memory), strict=True))


def row(name: str) -> dict[str, object]:
    """The same, measured in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.chapters", "--one", name], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"{name}: {done.stderr.strip().splitlines()[-1]}")
    found: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    return found


def table(names: list[str]) -> pd.DataFrame:
    """The chapters' rows, those that take longest first; each is printed when it is there."""
    project = Project(Path())
    order = project.longest_first(
        [name for name in names if name != LEDGER and not is_plain(project, name)], stamps.seconds(project.book)
    )
    rows = []
    print(" processor   MB  chapter")
    for found in Parallel(cpu_count(), backend="threading", return_as="generator_unordered")(
        delayed(row)(name) for name in order
    ):
        rows.append(found)
        print("{seconds:8.1f} s {memory_mb:4.0f}  {chapter}".format(**found), flush=True)
    return pd.DataFrame(rows, columns=COLUMNS).sort_values("seconds", ascending=False)


def main() -> None:
    """Measure, print, and keep the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", help="chapters; all of them where none is named")
    parser.add_argument("--one", default="", help="measure this one in this process")
    asked = parser.parse_args()
    in_settled_environment()
    if asked.one:
        print(json.dumps(measured(asked.one)))
        return
    found = table(asked.names or list(names_of(Project(Path()))))
    print(f"{found['seconds'].sum():8.1f} s: all {len(found)} chapters, {cpu_count()} of them side by side")
    COSTS.parent.mkdir(parents=True, exist_ok=True)
    found.round(4).to_csv(COSTS, index=False)


if __name__ == "__main__":
    main()
