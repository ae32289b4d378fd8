"""How time and memory grow with each size: the third part of ``make bench``.

Each subject is a piece of work that the book consists of. One of its sizes is varied, by powers of two, while the
others stay. Every measurement has a process of its own, so that its peak of memory is its own; what an idle process
has is taken off. The exponent of the largest sizes is fitted on log axes.
"""

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

from chapters.noisyhead.low_dimensional.measure import Experiment, trial
from companion.build.environment import in_settled_environment
from companion.running.montecarlo import Runner
from costofprivacy.dpgd import chain, descent
from costofprivacy.dpgd.descent import Configuration
from costofprivacy.dpgd.schedule import Polynomial
from costofprivacy.dpgd.spectrum import RegressionModel, isotropic, projections
from costofprivacy.noisyhead import head
from costofprivacy.noisyhead.prompts import PromptModel

GROWTH = Path("_build/bench/growth.csv")
AT_LEAST = 0.2  # seconds of each measurement
FITTED = 3  # sizes at the end of an axis that the exponent is fitted to
WORKERS = "workers"


def contexts(N: int = 4096, L: int = 32, D: int = 8) -> None:
    """Statistics of N prompts."""
    head.sample_statistics(PromptModel(D, L), N, 3.0, rng=np.random.default_rng(0))


def moments(N: int = 2048, D: int = 8) -> None:
    """Statistics of N prompts of 8 tokens, and their moments."""
    head.moments(head.sample_statistics(PromptModel(D, 8), N, rng=np.random.default_rng(0))[0])


def descents(n: int = 2048, d: int = 128) -> None:
    """DP-GD step by step."""
    descent.descend(_model(d), [_CONFIGURATION], n, [1.0], rng=np.random.default_rng(0))


def chains(n: int = 2048, d: int = 128, trials: int = 64) -> None:
    """DP-GD as a risk chain."""
    chain.risk_at(chain.eigenspaces(_model(d)), [_CONFIGURATION], n, [1.0], trials, rng=np.random.default_rng(0))


def figure(trials: int = 400, workers: int = 1) -> None:
    """The trials of NoisyHead's Figure 1 at N = 1000."""
    Runner(workers).run(trial, Experiment(N=(1000,)).cells, trials, 1)


def _model(d: int) -> RegressionModel:
    return RegressionModel(isotropic(d), projections(isotropic(d)), 0.3)


_CONFIGURATION = Configuration(1.0, Polynomial(1.0, 0.5), 0.5)
AXES: dict[Callable[..., None], dict[str, tuple[int, ...]]] = {
    contexts: {
        "N": tuple(2**k for k in range(10, 18)),
        "L": tuple(2**k for k in range(2, 11)),
        "D": tuple(2**k for k in range(2, 10)),
    },
    moments: {"N": tuple(2**k for k in range(10, 18)), "D": (2, 4, 8, 16, 24, 32)},
    descents: {"n": tuple(2**k for k in range(10, 18)), "d": tuple(2**k for k in range(5, 13))},
    chains: {
        "n": tuple(2**k for k in range(10, 17)),
        "d": tuple(2**k for k in range(5, 13)),
        "trials": tuple(2**k for k in range(4, 11)),
    },
    figure: {"trials": (100, 200, 400, 800, 1600), WORKERS: (1, 2, 4, 8)},
}
SUBJECTS = {subject.__name__: subject for subject in AXES}


def measured(subject: str, sizes: dict[str, int]) -> dict[str, float]:
    """Seconds of one call, and the megabytes that it adds, in this process."""
    call = SUBJECTS[subject]
    small = {name: min(AXES[call][name]) for name in sizes}
    call(**{**small, **({WORKERS: sizes[WORKERS]} if WORKERS in sizes else {})})  # compiles, and starts workers
    idle = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start, calls = time.perf_counter(), 0
    while time.perf_counter() - start < AT_LEAST:
        call(**sizes)
        calls += 1
    seconds = (time.perf_counter() - start) / calls
    return {"seconds": seconds, "memory_mb": (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - idle) / 1024}


def row(subject: str, axis: str, size: int) -> dict[str, object]:
    """The same in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.growth", "--one", json.dumps([subject, {axis: size}])]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return {"subject": subject, "axis": axis, "size": size, **json.loads(done.stdout.splitlines()[-1])}


def exponent(size: pd.Series, value: pd.Series) -> float:
    """The power of a size with which a value grows, over the last sizes; NaN where it is not above 0."""
    size, value = size.to_numpy()[-FITTED:], value.to_numpy()[-FITTED:]
    return float(np.polyfit(np.log(size), np.log(value), 1)[0]) if (value > 0).all() else float("nan")


def main() -> None:
    """Measure, print, and keep the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--one", default="", help="a subject and its sizes, measured in this process")
    asked = parser.parse_args()
    in_settled_environment()
    if asked.one:
        print(json.dumps(measured(*json.loads(asked.one))))
        return
    rows = []
    print("subject and axis        sizes            seconds              exponent  memory (MB)  exponent")
    for subject, axes in AXES.items():
        for axis, sizes in axes.items():
            found = pd.DataFrame([row(subject.__name__, axis, size) for size in sizes])
            rows.append(found)
            ends = [f"{sizes[0]} to {sizes[-1]}", f"{found.seconds.iloc[0]:.3g} to {found.seconds.iloc[-1]:.3g}"]
            told = f"{subject.__name__ + ', ' + axis:<24}{ends[0]:<17}{ends[1]:<21}"
            powers = [exponent(found["size"], found[column]) for column in ("seconds", "memory_mb")]
            print(f"{told}{powers[0]:8.2f}  {found.memory_mb.iloc[-1]:11.0f}  {powers[1]:8.2f}", flush=True)
    GROWTH.parent.mkdir(parents=True, exist_ok=True)
    pd.concat(rows).round(6).to_csv(GROWTH, index=False)


if __name__ == "__main__":
    main()
