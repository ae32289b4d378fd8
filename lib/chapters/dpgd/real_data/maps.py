"""Figures 5 and 6 of arXiv:2505.16329v2: the held-out risk over (c, η̃(0)), measured and by the equations.

All places of a map meet the same rows and the same private noise; each alone is Algorithm 1 on the records.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from chapters.dpgd.real_data.problem import ALPHAS, Population, Problem, populations, schedule, shuffled
from companion.streams import Runner
from costofprivacy.datasets import HOUSING, MNIST, Split
from costofprivacy.dpgd import equivalent
from costofprivacy.dpgd.descent import Configuration
from costofprivacy.dpgd.families import descend_grid

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


@dataclass(frozen=True)
class Atlas:
    """Maps on problems that differ by n alone: a trial shuffles the rows once for all of them."""

    maps: tuple[Map, ...]

    @property
    def key(self) -> int:
        """That of each map."""
        return self.maps[0].key

    @property
    def problems(self) -> list[Problem]:
        """Of all maps, each once."""
        return list(dict.fromkeys(each.problem for each in self.maps))


def trial(cell: Atlas, *, rng: np.random.Generator) -> np.ndarray:
    """𝒫(θ^p) on all held-out rows in each place of each map, shape (maps, places).

    Maps of one problem meet the same noise, so they are one grid.
    """
    shuffle = shuffled(cell.problems, rng)
    found: dict[Map, np.ndarray] = {}
    for problem, held_out in zip(cell.problems, shuffle.held_out):
        maps = [each for each in cell.maps if each.problem == problem]
        runs = [Configuration(c, schedule(each.alpha, rate), each.rho) for each in maps for c, rate in each.places]
        risks = held_out.risks(descend_grid(*shuffle.training(problem), runs, rng=shuffle.noise))
        found |= dict(zip(maps, risks.reshape(len(maps), -1)))
    return np.array([found[each] for each in cell.maps])


def solve(cell: Atlas, *, rng: np.random.Generator) -> np.ndarray:
    """𝒫 by the deterministic equivalent on the same rows' spectrum: with ‖x‖² = d, and with its median.

    Returns:
        shape (maps, 2, places).
    """
    laws = dict(zip(cell.problems, populations(shuffled(cell.problems, rng).splits)))
    return np.array([[_solved(each, laws[each.problem], square) for square in (False, True)] for each in cell.maps])


def _solved(cell: Map, law: Population, typical: bool) -> np.ndarray:
    """𝒫 in each place of a map, shape (places,), with ‖x‖² = d, or with its typical value.

    A record's residual is clipped at C/‖x‖ = c√d/‖x‖, while the noise goes with c: in the equations c is divided by
    ‖x‖/√d, and ρ with it.
    """
    square = law.typical if typical else law.d
    clips = sorted({c for c, _ in cell.places})
    plans = [schedule(cell.alpha, rate) for rate in sorted({rate for _, rate in cell.places})]
    given, shorter = law.system(cell.problem.n, square), math.sqrt(law.d / square)
    rows = [equivalent.final_risks(given, plans, c * shorter, cell.rho * shorter, TOLERANCE) for c in clips]
    return np.concatenate(rows) + law.floor


def squares(problem: Problem, *, rng: np.random.Generator) -> np.ndarray:
    """Mean and median of ‖x‖² over a shuffle's training rows, shape (2,)."""
    split, _ = replace(problem, held_out=1).split(rng)
    lengths = np.einsum("ij,ij->i", split.X, split.X)
    return np.array([lengths.mean(), np.median(lengths)])


@dataclass(frozen=True)
class Rows:
    """Problems that differ by n alone, whose rows are described."""

    problems: tuple[Problem, ...]

    @property
    def key(self) -> int:
        """That of each problem."""
        return self.problems[0].key


def described(cell: Rows, *, rng: np.random.Generator) -> np.ndarray:
    """What a shuffle's rows are like for each problem, in the order of `DESCRIBED`; shape (problems, measures)."""
    splits, found = shuffled(cell.problems, rng).splits, []
    for split, law in zip(splits, populations(splits)):
        trivial = float((split.test_y**2).mean() / 2)
        found.append([*_counts(split), law.trace, law.typical, law.floor, trivial])
    return np.array(found)


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


def kept(raw: dict[Map, np.ndarray], limited: dict[Map, np.ndarray]) -> pd.DataFrame:
    """`long` of the seeds that do not blow up in each map, in the place of an eye that leaves seeds out.

    A seed blows up in a map where its risk exceeds `BLOWN` at the place that is best once features are limited.

    Args:
        raw: risks of each map, shape (seeds, places). limited: those with limited features, map by map.
    """
    tables = []
    for (cell, risks), safe in zip(raw.items(), limited.values()):
        stays = np.flatnonzero(risks[:, safe.mean(axis=0).argmin()] <= BLOWN)
        table = long({cell: risks})
        tables.append(table[table["seed"].isin(stays)])
    return pd.concat(tables, ignore_index=True)


def runs(cells: Sequence[Map], trials: int, seed: int, runner: Runner) -> dict[Map, np.ndarray]:
    """The trials of some maps on problems that differ by n alone, each of shape (trials, places)."""
    values = runner.run(trial, [Atlas(tuple(cells))], trials, seed)[Atlas(tuple(cells))]
    return dict(zip(cells, np.moveaxis(values, 1, 0)))


def first(found: dict[Map, np.ndarray], trials: int) -> dict[Map, np.ndarray]:
    """The first trials of each map."""
    return {cell: values[:trials] for cell, values in found.items()}


def predicted(cells: list[Map], trials: int, seed: int, runner: Runner) -> pd.DataFrame:
    """The mean risk by the equations over the same shuffles, a row for each place."""
    atlas = Atlas(tuple(cells))
    solved = runner.run(solve, [atlas], trials, seed)[atlas]
    parts = []
    for cell, values in zip(cells, np.moveaxis(solved, 1, 0)):
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
