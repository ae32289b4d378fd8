r"""What a loose bound costs: the loss of a private fit when public bounds are wider than the data by a factor.

Features are independent and uniform on [−1, 1], the response is xᵀθ + b plus noise, and lies within ±`REACH` standard
deviations. So the tight bounds are known exactly. Wider ones move the data towards the middle of the stated scale:
a feature of variance 1/w² there needs a coefficient that is w times as large, at the same noise. The user is taken to
know the bounds and to guess R², and the estimator to assume that features are uniform within their bounds. For the
features there is one more case: the user states their true second moment too (``spectrum``), whatever the bounds.

The loss is exact for a fitted θ̂, b̂: ‖θ̂ − θ‖²/3 + (b̂ − b)², as a share of the variance that the features explain.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from chapters.your_data.estimating import Maker, dp_gd, summarised

FACTORS = (1.0, 2.0, 4.0, 8.0, 16.0)
FEATURES, RESPONSE, BOTH, STATED = "features", "response", "both", "features, variance stated"
WIDENED = (FEATURES, RESPONSE, BOTH, STATED)
REACH = 3.0  # standard deviations of the response that its tight bounds hold


@dataclass(frozen=True)
class Problem:
    """A regression whose tight bounds are known.

    Args:
        n: number of records. d: number of features. r2: the share of the response's variance that they explain.
        epsilon, delta: of each fit.
    """

    n: int = 10_000
    d: int = 5
    r2: float = 0.8
    epsilon: float = 1.0
    delta: float = 1e-6

    @property
    def coefficients(self) -> np.ndarray:
        """θ of equal entries and changing signs, with θᵀθ/3 = 1."""
        return np.sqrt(3 / self.d) * (-1.0) ** np.arange(self.d)

    @property
    def response_deviation(self) -> float:
        """The standard deviation of the response, whose explained part has variance 1."""
        return 1 / math.sqrt(self.r2)

    def draw(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Records: features of shape (n, d), responses of shape (n,)."""
        X = rng.uniform(-1, 1, (self.n, self.d))
        noise = math.sqrt(1 / self.r2 - 1) * rng.standard_normal(self.n)
        return X, X @ self.coefficients + noise


def table(
    seeds: Sequence[int], problem: Problem | None = None, factors: Sequence[float] = FACTORS, make: Maker = dp_gd
) -> pd.DataFrame:
    """The loss at each factor, for wider bounds of the features (their variance stated or not), the response, and both.

    Args:
        seeds: one for each trial; at a seed all fits have the same records and the same seed of the noise.
        problem: `Problem` () where it is left out. factors: at least 1. make: from public arguments to an estimator.

    Returns:
        columns widened, factor, lost, lost_error, trials; ``lost`` is 1 for always predicting the mean.
    """
    stated = problem or Problem()
    rows = [row for seed in seeds for row in _trial(seed, stated, factors, make)]
    return summarised(rows, ["widened", "factor"], ["lost"])


def _trial(seed: int, problem: Problem, factors: Sequence[float], make: Maker) -> list[dict[str, Any]]:
    X, y = problem.draw(np.random.default_rng(seed))
    return [
        {"widened": what, "factor": factor, "lost": _lost(X, y, problem, what, factor, make, seed)}
        for what in WIDENED
        for factor in factors
    ]


def _lost(X: np.ndarray, y: np.ndarray, problem: Problem, what: str, factor: float, make: Maker, seed: int) -> float:
    features = 1.0 if what == RESPONSE else factor
    response = REACH * problem.response_deviation * (factor if what in (RESPONSE, BOTH) else 1.0)
    model = make(
        epsilon=problem.epsilon,
        delta=problem.delta,
        feature_bounds=(-features, features),
        response_bounds=(-response, response),
        expected_r2=problem.r2,
        spectrum=problem.d / factor**2 if what == STATED else None,
        random_state=seed,
    ).fit(X, y)
    off = model.coef_ - problem.coefficients
    return float(off @ off / 3 + model.intercept_**2)
