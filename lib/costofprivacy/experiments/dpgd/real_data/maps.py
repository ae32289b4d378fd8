"""Figures 5 and 6 of arXiv:2505.16329v2: the held-out risk over (c, η̃(0)), measured and by the equations.

All places of a map meet the same rows and the same private noise; each alone is Algorithm 1 on the records.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from costofprivacy.datasets import HOUSING, MNIST, Split
from costofprivacy.dpgd import equivalent
from costofprivacy.dpgd.descent import Configuration, descend_records
from costofprivacy.experiments.dpgd.real_data.problem import ALPHAS, Problem, population, risks, schedule
from costofprivacy.streams import Runner

CLIPS = (1e-3, 10.0)  # the range of c
SMALLEST, BEYOND = {MNIST: 1e-3, HOUSING: 0.03}, 3.0  # of η̃(0): from this to so many times 2/γ
DIGITS = 3  # of c and η̃(0)
BLOWN = 0.6  # a risk above it is a seed that blows up: the cap of the paper's maps
TOLERANCE = 1e-3  # relative, of a risk by the equations
FIGURES = {MNIST: "figure-5", HOUSING: "figure-6"}
PANEL = ["gamma", "alpha"]
PLACE = [*PANEL, "c", "eta0"]
COLUMNS = [*PLACE, "seed", "risk"]


@dataclass(frozen=True)
class Map:
    """One panel: a problem and a schedule, on a grid even in ln c and ln η̃(0) but for rounding; 2/γ is on it."""

    problem: Problem
    alpha: float
    rho: float
    points: int

    @property
    def key(self) -> int:
        """Both schedules, all n and all treatments meet the same shuffles."""
        return self.problem.key

    @property
    def places(self) -> list[tuple[float, float]]:
        """(c, η̃(0)) of all points, in order."""
        clips, rates = (rounded(axis) for axis in (np.geomspace(*CLIPS, self.points), self.rates))
        return list(itertools.product(clips, rates))

    @property
    def rates(self) -> np.ndarray:
        """The values of η̃(0): 2/γ is one of them, and the last is near `BEYOND` times it."""
        cap, least = 2 / self.problem.gamma, SMALLEST[self.problem.asked]
        share = math.log(cap / least) / math.log(BEYOND * cap / least)
        last = min(self.points - 2, round(share * (self.points - 1)))
        return cap * (cap / least) ** ((np.arange(self.points) - last) / last)


def rounded(values: np.ndarray) -> list[float]:
    """Values with `DIGITS` significant digits, as the tables have them."""
    return [float(f"{value:.{DIGITS}g}") for value in values]


def trial(cell: Map, *, rng: np.random.Generator) -> np.ndarray:
    """𝒫(θ^p) on all held-out rows in each place, shape (places,)."""
    split, noise = cell.problem.split(rng)
    runs = [Configuration(c, schedule(cell.alpha, rate), cell.rho) for c, rate in cell.places]
    return risks(descend_records(split.X, split.y, runs, rng=noise), split.test_X, split.test_y)


def solve(cell: Map, *, rng: np.random.Generator) -> np.ndarray:
    """𝒫 by the deterministic equivalent on the same rows' spectrum: with ‖x‖² = d, and with its median; (2, places).

    A record's residual is clipped at C/‖x‖ = c√d/‖x‖, while the noise goes with c: in the equations c is divided by
    ‖x‖/√d, and ρ with it.
    """
    split, _ = cell.problem.split(rng)
    law, n = population(split), cell.problem.n
    clips = sorted({c for c, _ in cell.places})
    plans = [schedule(cell.alpha, rate) for rate in sorted({rate for _, rate in cell.places})]
    found = []
    for square in (law.d, law.typical):
        given, shorter = law.system(n, square), math.sqrt(law.d / square)
        rows = [equivalent.final_risks(given, plans, c * shorter, cell.rho * shorter, TOLERANCE) for c in clips]
        found.append(np.concatenate(rows) + law.floor)
    return np.array(found)


def squares(problem: Problem, *, rng: np.random.Generator) -> np.ndarray:
    """Mean and median of ‖x‖² over a shuffle's training rows, shape (2,)."""
    split, _ = problem.split(rng)
    lengths = np.einsum("ij,ij->i", split.X, split.X)
    return np.array([lengths.mean(), np.median(lengths)])


def described(problem: Problem, *, rng: np.random.Generator) -> np.ndarray:
    """What a shuffle's rows are like, in the order of `DESCRIBED`."""
    split, _ = problem.split(rng)
    law = population(split)
    return np.array([*_counts(split), law.trace, law.typical, law.floor, float((split.test_y**2).mean() / 2)])


DESCRIBED = ("test_rows", "live", "unit_variance", "largest", "trace", "typical", "floor", "trivial")


def _counts(split: Split) -> tuple[float, ...]:
    """Test rows, live features, those with a variance of ½ to 2 in the training rows, and the largest test feature."""
    variance = split.X.var(axis=0)
    return (
        len(split.test_y),
        int(split.live.sum()),
        int(((variance >= 0.5) & (variance <= 2)).sum()),
        float(np.abs(split.test_X).max()),
    )


# ------------------------------------------------------------------------------------------------------- tables


def long(found: dict[Map, np.ndarray]) -> pd.DataFrame:
    """A row for each place and seed; a data set that stands in for the paper's is named in each row."""
    parts = []
    for cell, values in found.items():
        clips, rates = np.array(cell.places).T
        place = {"gamma": round(cell.problem.gamma, 9), "alpha": cell.alpha, "c": clips, "eta0": rates}
        for seed, row in enumerate(values):
            parts.append(pd.DataFrame(place | {"seed": seed, "risk": row})[COLUMNS])
    table = pd.concat(parts, ignore_index=True)
    problem = next(iter(found)).problem
    return table if problem.data == problem.asked else table.assign(data=problem.data)


def kept(found: dict[Map, tuple[np.ndarray, np.ndarray]]) -> pd.DataFrame:
    """`long` of the seeds that do not blow up in each map, in the place of an eye that leaves seeds out.

    A seed blows up in a map where its risk exceeds `BLOWN` at the place that is best once features are limited.

    Args:
        found: for each map its risks, and those with limited features, both of shape (seeds, places).
    """
    tables = []
    for cell, (raw, limited) in found.items():
        stays = np.flatnonzero(raw[:, limited.mean(axis=0).argmin()] <= BLOWN)
        table = long({cell: raw})
        tables.append(table[table["seed"].isin(stays)])
    return pd.concat(tables, ignore_index=True)


def measured(cells: list[Map], trials: int, seed: int, runner: Runner) -> pd.DataFrame:
    """`long` of the trials of some maps."""
    return long(runner.run(trial, cells, trials, seed))


def predicted(cells: list[Map], trials: int, seed: int, runner: Runner) -> pd.DataFrame:
    """The mean risk by the equations over the same shuffles, a row for each place."""
    solved = runner.run(solve, cells, trials, seed)
    parts = []
    for cell, values in solved.items():
        clips, rates = np.array(cell.places).T
        place = {"data": cell.problem.data, "limit": cell.problem.limit, "gamma": round(cell.problem.gamma, 9)}
        place |= {"alpha": cell.alpha}
        printed, typical = values.mean(axis=0)
        parts.append(pd.DataFrame(place | {"c": clips, "eta0": rates, "printed": printed, "typical": typical}))
    return pd.concat(parts, ignore_index=True)


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """Mean, standard error and number of seeds in each place."""
    groups = table.groupby(PLACE, sort=False)["risk"]
    found = groups.agg(["mean", "sem", "count"]).reset_index()
    return found.rename(columns={"mean": "risk", "sem": "standard_error", "count": "seeds"})


def cells(found: list[Problem], rho: float, points: int) -> list[Map]:
    """Both schedules on each problem."""
    return [Map(problem, alpha, rho, points) for problem, alpha in itertools.product(found, ALPHAS)]
