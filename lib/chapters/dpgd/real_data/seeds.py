"""Why some seeds blow up on California housing: many shuffles of the rows, with and without a limit on features."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from chapters.dpgd.real_data.problem import LIMIT, Problem
from companion.streams import Runner
from costofprivacy.dpgd.descent import Configuration
from costofprivacy.dpgd.families import descend_grid
from costofprivacy.dpgd.schedule import Constant

RATES = (3.0, 5.0, 8.0, 13.0, 20.0, 30.0)  # η̃(0), of which the best is told once features are limited
WORST = 500  # one held-out row in so many is among the worst
MEASURES = ("risk", "without_worst", "typical", "training", "limited", "largest", "norm")


@dataclass(frozen=True)
class Many:
    """Output perturbation at one clipping constant on a problem, for several η̃(0)."""

    problem: Problem
    clip: float
    rho: float

    @property
    def key(self) -> int:
        """The shuffles are those of the data set: the first of them are those of its map."""
        return self.problem.key


def trial(cell: Many, *, rng: np.random.Generator) -> np.ndarray:
    """`MEASURES` for each η̃(0), shape (rates, measures).

    ``risk`` is 𝒫 on all held-out rows, ``without_worst`` on all but the worst of them, ``typical`` half the median
    squared error, ``training`` 𝒫 on the training rows, ``limited`` the risk with features clipped in training and test,
    ``largest`` the largest feature of a held-out row, ``norm`` the length of the released θ.
    """
    split, noise = cell.problem.split(rng)
    runs = [Configuration(cell.clip, Constant(rate), cell.rho) for rate in RATES]
    same_noise = copy.deepcopy(noise)
    theta = descend_grid(split.X, split.y, runs, rng=noise)
    lost, learnt = (_losses(theta, *rows) for rows in ((split.test_X, split.test_y), (split.X, split.y)))
    lost.sort(axis=0)
    worst = max(1, len(lost) // WORST)
    safe = [np.clip(rows, -LIMIT, LIMIT) for rows in (split.X, split.test_X)]
    safe_theta = descend_grid(safe[0], split.y, runs, rng=same_noise)
    largest = np.full(len(RATES), np.abs(split.test_X).max())
    columns = (
        lost.mean(axis=0),
        lost[:-worst].sum(axis=0) / len(lost),
        np.median(lost, axis=0),
        learnt.mean(axis=0),
        _losses(safe_theta, safe[1], split.test_y).mean(axis=0),
        largest,
        np.linalg.norm(theta, axis=1),
    )
    return np.stack(columns, axis=1)


def _losses(theta: np.ndarray, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Half the squared error of each row, shape (rows, configurations)."""
    return (X @ theta.T - y[:, None]) ** 2 / 2


def table(
    problems: list[Problem], sizes: list[int], clip: float, rho: float, trials: int, seed: int, runner: Runner
) -> pd.DataFrame:
    """``seeds``: a row for each shuffle, problem and number of normalisation rows.

    η̃(0) is the one that is best in the mean once features are limited.

    Args:
        problems: of several n. sizes: numbers of normalisation rows that are tried with the middle problem besides its
            own. clip: c. rho: ρ.
    """
    middle = problems[len(problems) // 2]
    others = [replace(middle, normalisation=size) for size in sizes if size != middle.normalisation]
    cells = [Many(problem, clip, rho) for problem in [*problems, *others]]
    found = runner.run(trial, cells, trials, seed)
    parts = []
    for cell, values in found.items():
        best = values[:, :, MEASURES.index("limited")].mean(axis=0).argmin()
        place = {"data": cell.problem.data, "n": cell.problem.n, "normalisation": cell.problem.normalisation}
        chosen = dict(zip(MEASURES, values[:, best].T))
        parts.append(pd.DataFrame(place | {"eta0": RATES[best], "seed": np.arange(len(values))} | chosen))
    return pd.concat(parts, ignore_index=True)
