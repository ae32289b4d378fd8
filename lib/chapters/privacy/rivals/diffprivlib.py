r"""diffprivlib's ``LinearRegression``: measured in its extra environment, or read from the committed runs.

It is the functional mechanism: Laplace noise on each of the :math:`L = 1 + d + d(d+1)/2` coefficients of the sum of
squares, each with ε/L, so it is ε-private with δ = 0. With symmetric bounds and no intercept each coefficient's
sensitivity there is its range, that of a record that is *replaced*. Of the noisy quadratic the library takes whatever
its minimiser returns: nothing keeps it convex.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product

import numpy as np
import pandas as pd
from scipy.special import erf

from chapters.privacy.rivals import problems, worker
from companion.running import extras
from companion.streams import Runner, generator

NAME = "diffprivlib"
MOST = 100  # features: with MNIST's 784 each coefficient gets a 308,505th of ε, and a fit takes many seconds
BOXES = (1.0, 2.0, 3.0)  # b in deviations of a feature on the public scale; B itself is the fourth
NARROWER = 0.5  # of Y: the other bound on |y|
DEVIATION = math.sqrt(2 * problems.INITIAL_RISK + problems.LABEL_NOISE**2)  # of the response, a guess
SETTINGS = len(BOXES) + 2
CAP = 1000.0  # errors over the constant predictor's are counted up to here
VALUES = ["zero", "floor", *(f"{name}_{k}" for name in ("error", "unsolved") for k in range(SETTINGS))]
LABELS = ["problem", "n", "d", "epsilon"]


@dataclass(frozen=True)
class Run:
    """What a run depends on besides its trial: the records are those of the other methods."""

    problem: str
    n: int
    d: int
    epsilon: float
    records: int
    """The key of the records' stream."""
    seed: int


@dataclass(frozen=True)
class Runs:
    """A run, and how often."""

    run: Run
    trials: int

    @property
    def key(self) -> int:
        """That of the records."""
        return self.run.records


def coefficients(d: int) -> int:
    """L, the noisy numbers of d features."""
    return 1 + d + d * (d + 1) // 2


def expected_risk(b: float, bound: float, run: Run) -> tuple[float, float]:
    r"""R on isotropic Gaussian records in the box ±b, with the public guesses ζ and R(0), and how near it is to none.

    Clipped features have the second moment m, and p of the product with the whole ones is left, q of that with a
    clipped response: θ turns into θpq/m. Laplace noise of deviation :math:`2\sqrt2\,b^2L/\varepsilon` makes a matrix
    of norm 2√d times that; where this is more than nm, the second answer is above 1 and the risk infinite.

    Args:
        b: the box. bound: on |y|. run: n, d and ε.
    """
    density = math.exp(-(b**2) / 2) / math.sqrt(2 * math.pi)
    p, q = float(erf(b / math.sqrt(2))), float(erf(bound / math.sqrt(2) / DEVIATION))
    m = p - 2 * b * density + b**2 * (1 - p)
    second, first = (2 * math.sqrt(2) * b * other * coefficients(run.d) / run.epsilon for other in (b, bound))
    near, kept = 2 * math.sqrt(run.d) * second / (run.n * m), p * q / m
    if near >= 1:
        return math.inf, near
    noise = (run.d * first**2 + second**2 * run.d * 2 * problems.INITIAL_RISK * kept**2) / (2 * (run.n * m) ** 2)
    return problems.INITIAL_RISK * (1 - kept) ** 2 + noise / (1 - near) ** 2, near


def settings(run: Run, features: float, response: float) -> list[tuple[float, float]]:
    """(b, bound on y) of each setting: the public choice first, then the other boxes, then the other bound."""
    boxes, bounds = [min(b, features) for b in BOXES] + [features], [response, NARROWER * response]
    b, bound = min(product(boxes, bounds), key=lambda pair: expected_risk(pair[0], pair[1], run))
    boxes.remove(b)
    bounds.remove(bound)
    return [(b, bound), *((other, bound) for other in boxes), (b, bounds[0])]


def fit(runs: Runs, *, rng: np.random.Generator) -> np.ndarray:
    """All trials of a run, shape (trials, len(VALUES)); ``rng`` is not used: the streams are the other methods'."""
    run, found, told = runs.run, [], []
    for trial in range(runs.trials):
        stream = generator(run.seed, runs.key, trial)
        problem = problems.draw(run.problem, run.n, run.d, rng=stream)
        features, response = np.array(settings(run, problem.bounds.features, problem.bounds.response)).T
        told.append((problem.x, problem.y, stream.integers(2**31, size=SETTINGS), features, response))
        found.append(problem)
    names = ("x", "y", "seed", "features", "response")
    arrays = dict(zip(names, map(np.stack, zip(*told, strict=True)), strict=True))
    out = extras.find(NAME).call(worker.fit, arrays, epsilon=run.epsilon)
    zero, floor = np.array([[problem.zero, problem.floor] for problem in found]).T
    errors = np.array(
        [[p.error(theta) for theta in answers] for p, answers in zip(found, out["coefficients"], strict=True)]
    )
    within = errors < CAP * zero[:, None]
    errors = np.where(within, errors, CAP * zero[:, None])
    return np.column_stack([zero, floor, errors, ~(out["convex"] & within)])


def measure(cells: Sequence[Run], trials: int, runner: Runner) -> list[pd.DataFrame]:
    """The runs of some cells, a table for each."""
    tables = []
    for runs, values in runner.run(fit, [Runs(cell, trials) for cell in cells], 1, 0).items():
        table = pd.DataFrame(values[0], columns=VALUES)
        for place, name in enumerate(LABELS):
            table.insert(place, name, getattr(runs.run, name))
        tables.append(table)
    return tables


RECORD = extras.Record(extras.Extra(NAME), "privacy/rivals", NAME, (worker.fit, fit, measure))


def table(asked: Sequence[tuple[Sequence[Run], int]], runner: Runner) -> pd.DataFrame:
    """The runs of cells of at most `MOST` features; without the environment, those that are committed.

    Args:
        asked: cells and the trials of each. runner: runs what is to be measured.
    """
    parts = []
    for cells, trials in asked:
        fitting = [cell for cell in cells if cell.d <= MOST]
        if not (extras.is_anew() or RECORD.extra.present):
            fitting = [cell for cell in fitting if RECORD.committed(cell, trials) is not None]
        if fitting:
            parts.append(RECORD.runs(fitting, trials, partial(measure, trials=trials, runner=runner)))
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=["trial", *LABELS, *VALUES, "digest"])
