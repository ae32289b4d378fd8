"""What each chapter costs at the papers' scale, and how near that is to the limit: the second part of ``make bench``.

Two ratios stand beside the processor time of a run: over the random numbers and operations that the chapter's own
sampling scheme needs, and over those of the cheapest exact scheme known (`work` of the chapter's package). Random
numbers and operations are priced in the same process, just before the run and just after it. Each chapter runs in a
process of its own, with nothing kept from earlier runs, as many at a time as there are cores.
"""

import argparse
import importlib.util
import json
import resource
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
from joblib import Parallel, cpu_count, delayed

from benchmarks import prices
from costofprivacy.book import budgets
from costofprivacy.book.environment import in_settled_environment
from costofprivacy.book.parameters import PAPER, experiment_of, resolve_preset
from costofprivacy.book.project import Project, is_plain, module_name
from costofprivacy.book.project import chapters as names_of
from costofprivacy.running import times
from costofprivacy.running.montecarlo import Runner

COSTS = Path("_build/bench/chapters.csv")
COLUMNS = ["chapter", "seconds", "scheme_seconds", "ratio", "cheapest_seconds", "cheapest_ratio", "memory_mb"]


def measured(name: str) -> dict[str, object]:
    """One row of the table, measured in this process."""
    project = Project(Path())
    experiment = experiment_of(project, name, resolve_preset(project, PAPER, [name])[name])
    work = importlib.import_module(f"{module_name(project, name)}.work")
    before, start = prices.measure(), time.process_time()
    experiment.run(Runner(1))
    seconds = time.process_time() - start
    price = before + prices.measure()
    scheme, cheapest = (price.seconds(of(experiment)) for of in (work.scheme, work.cheapest))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return dict(
        zip(COLUMNS, (name, seconds, scheme, seconds / scheme, cheapest, seconds / cheapest, memory), strict=True)
    )


def row(name: str) -> dict[str, object]:
    """The same, measured in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.chapters", "--one", name], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"{name}: {done.stderr.strip().splitlines()[-1]}")
    found: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    return found


def has_work(project: Project, name: str) -> bool:
    """Whether a chapter measures anything."""
    return not is_plain(project, name) and importlib.util.find_spec(f"{module_name(project, name)}.work") is not None


def table(names: list[str]) -> pd.DataFrame:
    """The chapters' rows, those that take longest first; each is printed when it is there."""
    project = Project(Path())
    order = budgets.longest_first([name for name in names if has_work(project, name)], times.seconds(project.book))
    rows = []
    print(" processor  scheme  cheapest   MB  chapter")
    for found in Parallel(cpu_count(), backend="threading", return_as="generator_unordered")(
        delayed(row)(name) for name in order
    ):
        rows.append(found)
        line = "{seconds:8.1f} s {ratio:7.2f} {cheapest_ratio:9.2f} {memory_mb:4.0f}  {chapter}"
        print(line.format(**found), flush=True)
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
    total, scheme = found["seconds"].sum(), found["scheme_seconds"].sum()
    print(f"{total:8.1f} s {total / scheme:7.2f}: all {len(found)} chapters, {cpu_count()} of them side by side")
    COSTS.parent.mkdir(parents=True, exist_ok=True)
    found.round(4).to_csv(COSTS, index=False)


if __name__ == "__main__":
    main()
