"""Guarantees that were false until version 0.15.0, each as an attack: what it gained then, and what it gains now.

As in `repaired`: the old numbers come from the arithmetic that decided then, which stands here, the new ones from the
library itself.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import log_ndtr

from costofprivacy.estimators import PrivateLinearRegression, search_plans
from costofprivacy.privacy import ApproximateDP, GaussianDP
from costofprivacy.privacy.evidence import epsilon_lower_bound

READING, COUNT, NARROW = "two ways to read a cell", "a search that shows its number of runs", "a budget of 8 bits"
GAINED = {
    READING: "$\\varepsilon$ that 40 fits of each data set prove",
    COUNT: "$\\delta$ at the claimed $\\varepsilon$",
    NARROW: "$\\rho$ that is spent over the one that is stated",
}
EPSILON, DELTA = 1.0, 1e-6
RECORDS, FITS, CONFIDENCE = 3000, 40, 0.999
SLOPE, BETWEEN = 2.0, 1.0  # of the response on the stay, and what tells the two data sets apart
SETTINGS = 10  # of the search
ENOUGH = 40  # times the mean: more runs have a probability below 10⁻¹⁷
MU = np.uint8(17)  # its square leaves the whole numbers of 8 bits


def table(seed: int) -> pd.DataFrame:
    """What each attack gained in 0.15.0 and gains now, beside what the guarantee allows, in the fault's own unit.

    Args:
        seed: of the fits.
    """
    rows = {READING: _reading(seed), COUNT: _count(), NARROW: _narrow()}
    names = ("allowed", "before", "now")
    return pd.DataFrame([{"fault": fault} | dict(zip(names, row, strict=True)) for fault, row in rows.items()])


def converted(cells: list[list[Any]]) -> np.ndarray:
    """What 0.15.0 made of cells: what NumPy makes of all of them together, and only if that fails of each."""
    try:
        return np.array(cells, dtype=np.float64)
    except (TypeError, ValueError):
        return np.array([[_alone(cell) for cell in row] for row in cells])


def _alone(cell: Any) -> float:
    try:
        return float(cell)
    except (TypeError, ValueError):
        return math.nan


def neighbours() -> tuple[list[list[Any]], list[list[Any]], np.ndarray]:
    """Stays as durations beside ages, of which one is a word on the second data set; and the responses."""
    days = np.arange(RECORDS) % 10
    cells: list[list[Any]] = [[np.timedelta64(int(day), "D"), 20.0 + k % 60] for k, day in enumerate(days)]
    return cells, [*cells[:-1], [cells[-1][0], "unknown"]], SLOPE * days


def _reading(seed: int) -> tuple[float, float, float]:
    """A word in one record made all others void: without it the slope is near 2, with it near 0."""
    *both, y = neighbours()
    before, now = ([_high(read(cells), y, seed) for cells in both] for read in (converted, list))
    return EPSILON, _proved(before), _proved(now)


def _high(X: Any, y: np.ndarray, seed: int) -> int:
    """Of how many fits the slope is beyond `BETWEEN`."""
    bounds = np.array([0, 20]), np.array([9, 79])
    told: dict[str, Any] = {"feature_bounds": bounds, "response_bounds": (0, 18), "not_finite": "void"}
    found = 0
    for k in range(FITS):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = PrivateLinearRegression(epsilon=EPSILON, delta=DELTA, random_state=seed + k, **told)
            found += model.fit(X, y).coef_[0] > BETWEEN
    return int(found)


def _proved(hits: list[int]) -> float:
    return max(epsilon_lower_bound((a, b), FITS, DELTA, CONFIDENCE) for a, b in (hits, hits[::-1]))


def _count() -> tuple[float, float, float]:
    """The search printed the warnings of each run, so that its number of runs could be counted."""
    plan = search_plans.random_number(ApproximateDP(EPSILON, DELTA), SETTINGS)
    assert plan.mean_runs is not None
    return DELTA, seen(plan.score, plan.mean_runs, EPSILON), unseen(plan.score, plan.mean_runs, EPSILON)


def seen(run: GaussianDP, mean_runs: float, epsilon: float) -> float:
    """δ at ε of the best score of a geometric number of runs and of that number, by a half-line for each number.

    Given k, the best of k scores is below t with probability Φ(t)^k, or Φ(t − μ)^k.

    Args:
        run: μ of a score. mean_runs: m. epsilon: ε.
    """
    stop, sides = 1 / mean_runs, _scores(run)
    total = np.zeros(2)
    for k in range(1, round(ENOUGH * mean_runs)):
        below, shifted = (np.exp(k * side) for side in sides)
        total += stop * (1 - stop) ** (k - 1) * _half_lines(below, shifted, epsilon)
    return float(total.max())


def unseen(run: GaussianDP, mean_runs: float, epsilon: float) -> float:
    """The same where the number stays secret; arguments as in `seen`."""
    stop = 1 / mean_runs
    below, shifted = (stop * np.exp(side) / (1 - (1 - stop) * np.exp(side)) for side in _scores(run))
    return float(_half_lines(below, shifted, epsilon).max())


def _scores(run: GaussianDP) -> tuple[np.ndarray, np.ndarray]:
    """ln Φ(t) and ln Φ(t − μ) on a grid."""
    t = np.linspace(-12.0, 12.0 + run.mu, 20_001)
    return log_ndtr(t), log_ndtr(t - run.mu)


def _half_lines(below: np.ndarray, shifted: np.ndarray, epsilon: float) -> np.ndarray:
    """The largest P − e^ε Q over half-lines, in both orders, at least 0; shape (2,)."""
    weight = math.exp(epsilon)
    orders = ((below, shifted), (shifted, below))
    return np.array([max(0.0, (p - weight * q).max(), (1 - p - weight * (1 - q)).max()) for p, q in orders])


def _narrow() -> tuple[float, float, float]:
    """ρ = μ²/2 was computed in the type of μ."""
    spent = float(MU) ** 2 / 2
    with np.errstate(over="ignore"):
        stated = float(MU**2) / 2
    return 1.0, spent / stated, spent / GaussianDP(MU).to_zero_concentrated().rho  # type: ignore[arg-type]
