"""The private head beside the four ends: test errors at any N, L, D, ε and covariance."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from chapters.noisyhead.a_head_that_works.problems import ENDS, ends, law_of, name_of, settled
from companion.streams import Precision, Runner
from costofprivacy.noisyhead import covariance_head, quadratic, whitened_descent, whitened_plan
from costofprivacy.noisyhead.best_head import head_error
from costofprivacy.noisyhead.token_laws import TokenLaw
from costofprivacy.noisyhead.whitened_descent import Prompted
from costofprivacy.privacy import ApproximateDP, GaussianDP

PRIVATE, LAST_TOKEN, COVARIANCE = "private-head", "last-token", "covariance-alone"
METHODS = (PRIVATE, COVARIANCE)


@dataclass(frozen=True)
class Cell:
    """One size and covariance, all budgets on the same prompts.

    Args:
        condition: κ; 1 for the sphere. N, L, D: sizes. epsilon: budgets. delta: δ. stream: tells apart what has the
            same N and κ.
    """

    condition: float
    N: int
    L: int
    D: int
    epsilon: tuple[float, ...]
    delta: float
    stream: int = 0

    @property
    def key(self) -> int:
        """The same prompts in whichever list the cell stands."""
        return hash_of(self.stream, self.N, self.L, self.D, round(1000 * self.condition))

    @property
    def budgets(self) -> list[GaussianDP]:
        """μ of each ε."""
        return [ApproximateDP(e, self.delta).to_gaussian() for e in self.epsilon]


def hash_of(*numbers: int) -> int:
    """One whole number of several, each below 2³⁰."""
    found = 0
    for number in numbers:
        found = (found << 30) | number
    return found


def trial(cell: Cell, *, rng: np.random.Generator) -> np.ndarray:
    """Test errors on one draw of prompts: of the ends, then for each ε of `METHODS`."""
    law = law_of(cell.condition, cell.D, rng=rng)
    data, raw = quadratic.drawn(law, cell.N, cell.L, rng=rng)
    heads = [*ends(law, cell.L, raw), *private(cell, law, data, rng=rng)]
    return head_error(law, cell.L, np.stack(heads))


def private(cell: Cell, law: TokenLaw, data: Prompted, *, rng: np.random.Generator) -> Iterable[np.ndarray]:
    """For each ε the heads of `METHODS`."""
    moment = data.features(covariance_head.CLIP_NORM)[0]
    for budget in cell.budgets:
        told = whitened_plan.plan(cell.D, cell.L, cell.N, budget, every_token=True)
        yield whitened_descent.simulated(data, told, rng=rng)
        yield covariance_head.release(moment, cell.N, cell.L, budget, law.spread, rng=rng)


def table(runner: Runner, cells: Sequence[Cell], trials: int | Precision, seed: int) -> pd.DataFrame:
    """Test error of each method: covariance, N, L, D, epsilon, method, test_error, standard_error, trials."""
    parts = [_rows(cell, values) for cell, values in runner.run(trial, cells, trials, seed).items()]
    return pd.concat(parts, ignore_index=True)


def _rows(cell: Cell, values: np.ndarray) -> pd.DataFrame:
    """The ends, which have no ε, stand with each."""
    mean, error = settled(values)
    rows = []
    for k, epsilon in enumerate(cell.epsilon):
        places = {name: i for i, name in enumerate(ENDS)}
        places |= {name: len(ENDS) + len(METHODS) * k + i for i, name in enumerate(METHODS)}
        for method, place in places.items():
            where = {"covariance": name_of(cell.condition), "N": cell.N, "L": cell.L, "D": cell.D, "epsilon": epsilon}
            rows.append(where | {"method": method, "test_error": mean[place], "standard_error": error[place]})
    return pd.DataFrame(rows).assign(trials=len(values))
