"""What DP-GD pays for a budget: the best excess risk of its deterministic equivalent, by route and relation."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from chapters.privacy.how_much_noise.conversions import EXACT, PROPOSITION, ROUTES, RULE
from companion.streams import Runner
from costofprivacy.dpgd import system, tuning
from costofprivacy.privacy import ApproximateDP
from costofprivacy.privacy.groups import BLANK, RELATIONS, REPLACE

ZERO_RISK = 0.5  # R(0) of the paper's figures, and the excess risk of answering 0
CLIP = 0.1  # c: the risk hardly depends on it where it is small
COSTED = (EXACT, PROPOSITION, RULE)  # the routes whose cost is computed


@dataclass(frozen=True)
class Cell:
    """One number of records for each feature, with every ρ that is asked for; ∞ is no privacy."""

    records: int
    label_noise: float
    rhos: tuple[float, ...]

    @property
    def key(self) -> int:
        """Nothing is drawn."""
        return 0


def solve(cell: Cell, *, rng: np.random.Generator) -> np.ndarray:
    """For each ρ the excess risk of the best harmonic schedule, and its η̃(1); shape (rhos, 2)."""
    equations = system.isotropic(ZERO_RISK, 1 / cell.records, cell.label_noise)
    found = [tuning.best_harmonic(equations, CLIP, rho) for rho in cell.rhos]
    return np.array([[best.risk, float(best.schedule(1.0))] for best in found])


def noise_rho(rho: float, relation: str) -> float:
    """The ρ of Algorithm 1's noise (4.2) that makes it ρ-Gaussian DP in this relation: 2ρ for one blank record.

    A step moves by at most 2ηC where its record is replaced and by at most ηC where it is left blank.
    """
    return 2 * rho if relation == BLANK else rho


def table(
    runner: Runner, epsilons: Sequence[float], deltas: Sequence[float], records: Sequence[int], label_noise: float
) -> pd.DataFrame:
    """The cost of each budget, a row for each n/d, budget and route; one left blank for the exact route alone.

    ``noise_over_step`` is the standard deviation of all the noise that protects a record, in each coordinate, over the
    longest step ηC that the record can make: 2/ρ as the paper has it. ``released_noise`` is the length of the last
    step's noise in θ, whose target has length 1, ``private_risk`` the excess risk beyond that of no privacy.
    """
    asked = list(_asked(epsilons, deltas))
    rhos = (*sorted({row["noise_rho"] for row in asked}), math.inf)
    cells = [Cell(ratio, label_noise, rhos) for ratio in records]
    rows = []
    for cell, values in runner.run(solve, cells, 1, 0).items():
        risks = dict(zip(rhos, values[0], strict=True))
        free = risks[math.inf][0]
        for row in asked:
            risk, rate = risks[row["noise_rho"]]
            length = 2 * CLIP * rate / cell.records / row["noise_rho"]
            found = {"released_noise": length, "excess_risk": risk, "free_risk": free, "private_risk": risk - free}
            rows.append({"records": cell.records} | row | found)
    half_noise = label_noise**2 / 2
    found_rows = pd.DataFrame(rows)
    halves = {"half_test_error": found_rows["excess_risk"] + half_noise}
    return found_rows.assign(**halves, half_response_variance=ZERO_RISK + half_noise)


def _asked(epsilons: Sequence[float], deltas: Sequence[float]) -> Iterator[dict[str, Any]]:
    for epsilon in epsilons:
        for delta in deltas:
            for route in COSTED:
                rho = ROUTES[route](ApproximateDP(epsilon, delta))
                for relation in RELATIONS if route == EXACT else (REPLACE,):
                    noise = noise_rho(rho, relation)
                    told = {"epsilon": epsilon, "delta": delta, "route": route, "relation": relation, "rho": rho}
                    yield told | {"noise_rho": noise, "noise_over_step": 2 / noise}
