"""What is measured on the real data of section 7 of arXiv:2505.16329v2."""

from __future__ import annotations

import copy
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from chapters.ranges import CLIP, RHO, SEED, count
from companion.declaration import Parameters, many, parameter
from companion.streams import Runner
from costofprivacy import datasets
from costofprivacy._validate import FINITE_POSITIVE, within
from costofprivacy.datasets import COUNTS, HOUSING, MNIST, NORMALISATION, Regression, Split
from costofprivacy.dpgd import equivalent, tuning
from costofprivacy.dpgd.descent import Configuration
from costofprivacy.dpgd.families import descend_grid
from costofprivacy.dpgd.quadrature import lumped
from costofprivacy.dpgd.schedule import Constant, Harmonic, Polynomial, Schedule
from costofprivacy.dpgd.system import System

# ---- Problems: which rows are trained on, and what the equations are fed ----
#
# A trial is a shuffle of the rows. All problems on one data set share the shuffles: trial k has the same normalisation
# rows for every n and treatment, and the training rows of a smaller n are the first of a larger one.

PAPERS = (MNIST, HOUSING)  # the data sets of section 7
ALPHAS = (0.0, 0.5)  # output perturbation and constant noise
LIMIT = 5.0  # standard deviations at which the remedy clips a feature
SPARED = 4  # of a stand-in's rows one part in so many normalises, and as many at least test
CUT = 1e-9  # eigenvalues below this share of the largest one count as zero


@cache
def loaded(name: str) -> Regression:
    """A data set of the paper, or what stands in for it; read once in a process."""
    return datasets.regression(name, bundled=True)


@dataclass(frozen=True)
class Problem:
    """A data set with its numbers of rows, and how features are treated.

    Args:
        asked: the paper's data set. data: the own name of the one that is used.
        n: training rows. normalisation: rows for means and standard deviations.
        limit: standard deviations at which features are clipped; ∞ clips none.
        constant_scale: what a feature is divided by that is constant in the normalisation rows; ∞ makes it 0.
        held_out: test rows at most; ∞ takes all.
    """

    asked: str
    data: str
    n: int
    normalisation: int
    limit: float = math.inf
    constant_scale: float = math.inf
    held_out: float = math.inf

    @property
    def key(self) -> int:
        return PAPERS.index(self.asked)

    @property
    def d(self) -> int:
        """Number of features, constant ones too."""
        return loaded(self.asked).d

    @property
    def gamma(self) -> float:
        return self.d / self.n

    def split(self, rng: np.random.Generator) -> tuple[Split, np.random.Generator]:
        """The rows of a trial, and the generator of its private noise."""
        rows, noise = rng.spawn(2)
        found = datasets.split(
            loaded(self.asked),
            self.n,
            rng=rows,
            normalisation=self.normalisation,
            limit=self.limit,
            constant_scale=self.constant_scale,
            held_out=self.held_out,
        )
        return found, noise


def problems(
    asked: str, sizes: tuple[float, ...], normalisation: int, held_out: float = math.inf, *, gammas: bool
) -> list[Problem]:
    """A problem for each size, of the paper's data set or of what stands in for it.

    A stand-in has too few rows for the paper's sizes: it takes as many as it can spare, then half of that, and so on.

    Args:
        asked: the paper's data set. sizes: aspect ratios d/n, or numbers of rows. normalisation: the paper's rows.
        held_out: test rows at most.
        gammas: whether sizes are aspect ratios.
    """
    data = loaded(asked)
    if not data.instead_of:
        rows = [round(data.d / size) if gammas else round(size) for size in sizes]
        return [Problem(asked, data.name, n, normalisation, held_out=held_out) for n in rows]
    spared = len(data.y) // SPARED
    most = len(data.y) - 2 * spared
    return [Problem(asked, data.name, most >> k, spared) for k in reversed(range(len(sizes)))]


def schedule(alpha: float, rate: float) -> Schedule:
    """η̃(0)(1 − t)^α, (5.1)."""
    return Polynomial(rate, alpha) if alpha else Constant(rate)


@dataclass(frozen=True)
class Together:
    """Problems that differ by n alone, or maps or runs on them: a trial shuffles the rows once for all of them."""

    cells: tuple[Any, ...]

    @property
    def key(self) -> int:
        return int(self.cells[0].key)

    @property
    def problems(self) -> list[Problem]:
        return list(dict.fromkeys(getattr(each, "problem", each) for each in self.cells))


@dataclass(frozen=True, eq=False)
class Moments:
    """What 𝒫 of (3.2) on some rows needs to know of them, sums over rows; features that are 0 in all are left out.

    𝒫(θ) = (θᵀSθ − 2bᵀθ + s)/(2m) with S = Σ xxᵀ, b = Σ xy and s = Σ y² over m rows.

    Args:
        used: places of the other features. second: S, shape (used, used). cross: b. square: s. rows: m.
    """

    used: np.ndarray
    second: np.ndarray
    cross: np.ndarray
    square: float
    rows: int

    def __add__(self, other: Moments) -> Moments:
        """Of the rows of both, whose used features are the same."""
        second, cross = self.second + other.second, self.cross + other.cross
        return Moments(self.used, second, cross, self.square + other.square, self.rows + other.rows)

    def risks(self, theta: np.ndarray) -> np.ndarray:
        """𝒫 for each row of ``theta``, shape (configurations,)."""
        part = theta[:, self.used]
        quadratic = np.einsum("kd,kd->k", part @ self.second - 2 * self.cross, part)
        return (quadratic + self.square) / (2 * self.rows)


def moments(X: np.ndarray, y: np.ndarray, used: np.ndarray) -> Moments:
    """Of some rows."""
    features = X.take(used, axis=1)
    return Moments(used, features.T @ features, y @ features, float(y @ y), len(y))


@dataclass(frozen=True, eq=False)
class Shuffle:
    """One trial's rows for problems that differ by n alone, held once.

    The training rows of a smaller n are the first of a larger one, and the others are among its test rows.

    Args:
        problems: their n. largest: the split of the largest n.
    """

    problems: Sequence[Problem]
    largest: Split
    _noise: np.random.Generator

    @property
    def noise(self) -> np.random.Generator:
        """The generator of a trial's private noise, each time from its start: all problems meet the same."""
        return copy.deepcopy(self._noise)

    def training(self, problem: Problem) -> tuple[np.ndarray, np.ndarray]:
        return self.largest.X[: problem.n], self.largest.y[: problem.n]

    @property
    def spans(self) -> list[tuple[int, int]]:
        """Of each problem the first and the last of its test rows among all."""
        rows = len(self.largest.y) + len(self.largest.test_y)
        return [(problem.n, int(min(problem.n + problem.held_out, rows))) for problem in self.problems]

    @property
    def splits(self) -> list[Split]:
        """Of each problem, the same as `Problem.split` has."""
        one = self.largest
        X, y = np.concatenate([one.X, one.test_X]), np.concatenate([one.y, one.test_y])
        return [replace(one, X=X[:n], y=y[:n], test_X=X[n:end], test_y=y[n:end]) for n, end in self.spans]

    @property
    def held_out(self) -> list[Moments]:
        """Of each problem's test rows; no row is counted twice on the way."""
        one, n = self.largest, len(self.largest.y)
        used = np.flatnonzero(one.X.any(axis=0) | one.test_X.any(axis=0))
        spans, parts = self.spans, {}
        for a, b in itertools.pairwise(sorted({end for span in spans for end in span})):
            X, y = (one.X[a:b], one.y[a:b]) if a < n else (one.test_X[a - n : b - n], one.test_y[a - n : b - n])
            parts[a, b] = moments(X, y, used)
        inside = [[part for (a, b), part in parts.items() if first <= a and b <= last] for first, last in spans]
        return [sum(rest, start) for start, *rest in inside]


def shuffled(problems: Sequence[Problem], rng: np.random.Generator) -> Shuffle:
    """A trial of problems that differ by n alone."""
    return Shuffle(problems, *max(problems, key=lambda problem: problem.n).split(rng))


def populations(splits: Sequence[Split]) -> list[Population]:
    """Of each split of one shuffle, those that have the same rows in all together."""
    found: dict[int, Population] = {}
    for split in splits:
        rows = len(split.y) + len(split.test_y)
        if rows not in found:
            found[rows] = population(split)
    return [found[len(split.y) + len(split.test_y)] for split in splits]


@dataclass(frozen=True, eq=False)
class Population:
    """What the equations are fed: the second moments of all rows but those that normalise.

    Args:
        eigenvalues: of E xxᵀ, the positive ones, shape (m,). target: θ* in their eigenvectors, shape (m,).
        floor: ζ²/2, the least risk of a linear predictor. typical: the median of ‖x‖². d: the dimension.
    """

    eigenvalues: np.ndarray
    target: np.ndarray
    floor: float
    typical: float
    d: int

    @property
    def trace(self) -> float:
        """tr Σ, the mean of ‖x‖²."""
        return float(self.eigenvalues.sum())

    def system(self, n: int, square: float) -> System:
        """Definition 4.2 with the cap where η̄ = 2/‖x‖² takes over if ‖x‖² is ``square``; d in the paper. `lumped`."""
        values = self.eigenvalues
        energies = self.d * self.target**2 / 2
        noise = math.sqrt(2 * self.floor)
        cap = 2 * n / square
        return lumped(System(values, values, values / self.d, energies, self.d / n, noise, cap), cap)


def population(split: Split) -> Population:
    """Second moments and least squares over training and test rows.

    Directions whose eigenvalue is below `CUT` times the largest are left out: the rows do not tell them from none.
    """
    X, y = np.concatenate([split.X, split.test_X]), np.concatenate([split.y, split.test_y])
    rows = X.take(np.flatnonzero(X.any(axis=0)), axis=1)
    values, vectors = np.linalg.eigh(rows.T @ rows / len(y))
    kept = values > CUT * values[-1]
    along = vectors[:, kept].T @ (rows.T @ y) / len(y)
    target = along / values[kept]
    floor = ((y**2).mean() - along @ target) / 2
    typical = float(np.median(np.einsum("ij,ij->i", rows, rows)))
    return Population(values[kept], target, float(floor), typical, X.shape[1])


# ---- Figures 5 and 6: the held-out risk over (c, η̃(0)), measured and by the equations ----
#
# All places of a map meet the same rows and the same private noise; each alone is Algorithm 1 on the records.

CLIPS = (1e-3, 10.0)  # the range of c
SMALLEST, BEYOND = {MNIST: 1e-3, HOUSING: 0.03}, 3.0  # of η̃(0): from this to so many times 2/γ
DIGITS = 3  # of c and η̃(0), as the tables have them
BLOWN = 0.6  # a risk above it is a seed that blows up: the cap of the paper's maps
TOLERANCE = 1e-3  # relative, of a risk by the equations
FIGURES = {MNIST: "figure-5", HOUSING: "figure-6"}
PANEL = ["gamma", "alpha"]
PLACE = [*PANEL, "c", "eta0"]
COLUMNS = [*PLACE, "seed", "risk"]


@dataclass(frozen=True)
class OnProblem:
    """What is run on a problem: all of it on one data set meets the same shuffles."""

    problem: Problem

    @property
    def key(self) -> int:
        return self.problem.key


@dataclass(frozen=True)
class Map(OnProblem):
    """One panel: a problem and a schedule, on a grid even in ln c and ln η̃(0) but for rounding; 2/γ is on it."""

    alpha: float
    rho: float
    points: int

    @property
    def places(self) -> list[tuple[float, float]]:
        axes = np.geomspace(*CLIPS, self.points), self.rates
        clips, rates = ([float(f"{value:.{DIGITS}g}") for value in axis] for axis in axes)
        return list(itertools.product(clips, rates))

    @property
    def rates(self) -> np.ndarray:
        """The values of η̃(0): 2/γ is one of them, and the last is near `BEYOND` times it."""
        cap, least = 2 / self.problem.gamma, SMALLEST[self.problem.asked]
        share = math.log(cap / least) / math.log(BEYOND * cap / least)
        last = min(self.points - 2, round(share * (self.points - 1)))
        return cap * (cap / least) ** ((np.arange(self.points) - last) / last)


def trial(cell: Together, *, rng: np.random.Generator) -> np.ndarray:
    """𝒫(θ^p) on all held-out rows in each place of each map, shape (maps, places).

    Maps of one problem meet the same noise, so they are one grid.
    """
    shuffle = shuffled(cell.problems, rng)
    found: dict[Map, np.ndarray] = {}
    for problem, held_out in zip(cell.problems, shuffle.held_out):
        maps = [each for each in cell.cells if each.problem == problem]
        runs = [Configuration(c, schedule(each.alpha, rate), each.rho) for each in maps for c, rate in each.places]
        risks = held_out.risks(descend_grid(*shuffle.training(problem), runs, rng=shuffle.noise))
        found |= dict(zip(maps, risks.reshape(len(maps), -1)))
    return np.array([found[each] for each in cell.cells])


def solve(cell: Together, *, rng: np.random.Generator) -> np.ndarray:
    """𝒫 by the deterministic equivalent on the same rows' spectrum: with ‖x‖² = d, and with its median.

    Returns:
        shape (maps, 2, places).
    """
    laws = dict(zip(cell.problems, populations(shuffled(cell.problems, rng).splits)))
    return np.array([[_solved(each, laws[each.problem], square) for square in (False, True)] for each in cell.cells])


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


DESCRIBED = ("test_rows", "live", "unit_variance", "largest", "trace", "typical", "floor", "trivial")


def described(cell: Together, *, rng: np.random.Generator) -> np.ndarray:
    """What a shuffle's rows are like for each problem, in the order of `DESCRIBED`; shape (problems, measures).

    ``unit_variance`` counts the features with a variance of ½ to 2 in the training rows.
    """
    splits, found = shuffled(cell.problems, rng).splits, []
    for split, law in zip(splits, populations(splits)):
        variance, largest = split.X.var(axis=0), float(np.abs(split.test_X).max())
        counts = len(split.test_y), split.live.sum(), ((variance >= 0.5) & (variance <= 2)).sum()
        found.append([*counts, largest, law.trace, law.typical, law.floor, float((split.test_y**2).mean() / 2)])
    return np.array(found, dtype=float)


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


def risks(cells: Sequence[Map], trials: int, seed: int, runner: Runner) -> dict[Map, np.ndarray]:
    """The trials of some maps on problems that differ by n alone, each of shape (trials, places)."""
    cell = Together(tuple(cells))
    return dict(zip(cells, np.moveaxis(runner.run(trial, [cell], trials, seed)[cell], 1, 0)))


def predicted(cells: list[Map], trials: int, seed: int, runner: Runner) -> pd.DataFrame:
    """The mean risk by the equations over the same shuffles, a row for each place."""
    together = Together(tuple(cells))
    solved = runner.run(solve, [together], trials, seed)[together]
    parts = []
    for cell, values in zip(cells, np.moveaxis(solved, 1, 0)):
        clips, rates = np.array(cell.places).T
        place = {"data": cell.problem.data, "limit": cell.problem.limit, "gamma": round(cell.problem.gamma, 9)}
        printed, typical = values.mean(axis=0)
        place |= {"alpha": cell.alpha, "c": clips, "eta0": rates, "printed": printed, "typical": typical}
        parts.append(pd.DataFrame(place))
    return pd.concat(parts, ignore_index=True)


# ---- Figure 8: schedules on real data as n grows, each at its own best hyper-parameters ----
#
# The hyper-parameters are chosen on a grid by the mean held-out risk of one half of the seeds, which is reported for
# the other half, and the other way round: no seed takes part in its own choice. Such a choice looks at data, so it is
# not private; it shows what a schedule can do, as the paper's does.

EXPONENTS = (0.0, 0.5, 1.0, 2.0)
HARMONIC = "harmonic"
SCHEDULES = (*(f"{exponent:g}" for exponent in EXPONENTS), HARMONIC)
OFFSETS = (0.01, 0.03, 0.1, 0.2, 0.3, 0.5, 1.0, 3.0, 10.0)  # τ
LEAST_RATE = {MNIST: 0.03, HOUSING: 1.0}  # the smallest η̃(0)
STEP = 1.35  # from one η̃(0) to the next
OVER_CAP = 2.0  # the largest η̃(0) of the powers over 2/γ, at most `LARGEST`
LARGEST = {MNIST: 40.0, HOUSING: 600.0}
STEEPER = 8.0  # a harmonic schedule may start so many times higher: it falls at once
ALL, KEPT, LIMITED = "all seeds", "without the seeds that blow up", "features limited"


@dataclass(frozen=True)
class Run(OnProblem):
    """All schedules of the grid on one problem, at clipping constant c and privacy ρ."""

    clip: float
    rho: float

    @property
    def grid(self) -> list[tuple[str, float, float]]:
        """(schedule, η̃(0), τ) of each configuration; τ is NaN but for harmonic ones."""
        least = LEAST_RATE[self.problem.asked]
        end = max(min(OVER_CAP * 2 / self.problem.gamma, LARGEST[self.problem.asked]), 4 * least)
        rates = _geometric(least, end)
        found = [(name, rate, math.nan) for name, rate in itertools.product(SCHEDULES[:-1], rates)]
        for offset in OFFSETS:
            steeper = _geometric(least, end * (STEEPER if offset < 1 else 1))
            found += [(HARMONIC, rate, offset) for rate in steeper]
        return found


def _geometric(first: float, last: float) -> list[float]:
    return [first * STEP**k for k in range(1 + math.ceil(math.log(last / first) / math.log(STEP)))]


def grid_trial(cell: Together, *, rng: np.random.Generator) -> np.ndarray:
    """𝒫(θ^p) of each configuration of each grid, one grid behind the other, shape (configurations,)."""
    shuffle, found = shuffled(cell.problems, rng), []
    for run, held_out in zip(cell.cells, shuffle.held_out):
        plans = (Harmonic(a * b, b) if name == HARMONIC else schedule(float(name), a) for name, a, b in run.grid)
        configurations = [Configuration(run.clip, plan, run.rho) for plan in plans]
        theta = descend_grid(*shuffle.training(run.problem), configurations, rng=shuffle.noise)
        found.append(held_out.risks(theta))
    return np.concatenate(found)


def theory(cell: Together, *, rng: np.random.Generator) -> np.ndarray:
    """The least 𝒫 of each schedule by the deterministic equivalent with the median of ‖x‖², shape (runs, schedules)."""
    laws = populations(shuffled(cell.problems, rng).splits)
    return np.array([_least(run, law) for run, law in zip(cell.cells, laws)])


def _least(run: Run, law: Population) -> list[float]:
    shorter = math.sqrt(law.d / law.typical)
    given, clip, rho = law.system(run.problem.n, law.typical), run.clip * shorter, run.rho * shorter
    found = [tuning.best_rate(given, partial(schedule, a), clip, rho, tolerance=1e-3).risk for a in EXPONENTS]
    found.append(min(tuning.best_harmonic(given, clip, rho, 1e-3).risk, found[0]))
    return [risk + law.floor for risk in found]


def figure_8_table(
    problems: list[Problem], clip: float, rho: float, trials: int, seed: int, runner: Runner
) -> pd.DataFrame:
    """``figure-8``: the risk of each schedule at its tuned hyper-parameters, for each problem, view and seed."""
    raw = [Run(problem, clip, rho) for problem in problems]
    ends, found = np.cumsum([len(run.grid) for run in raw]), []
    for runs in (raw, [Run(replace(problem, limit=LIMIT), clip, rho) for problem in problems]):
        cell = Together(tuple(runs))
        found.append(np.split(runner.run(grid_trial, [cell], trials, seed)[cell], ends[:-1], axis=1))
    rows, every = [], np.arange(trials)
    for run, whole, safe in zip(raw, *found):
        kept = np.flatnonzero(~blown(run, whole, safe))
        for view, values, chosen in ((ALL, whole, every), (KEPT, whole, kept), (LIMITED, safe, every)):
            rows += _rows(run, view, values, chosen)
    return pd.DataFrame(rows)


def blown(run: Run, whole: np.ndarray, safe: np.ndarray) -> np.ndarray:
    """Which seeds blow up: above `BLOWN` with the output perturbation that is best once features are limited."""
    places = np.array([name == SCHEDULES[0] for name, _, _ in run.grid])
    best = np.flatnonzero(places)[safe[:, places].mean(axis=0).argmin()]
    return whole[:, best] > BLOWN


def _rows(run: Run, view: str, values: np.ndarray, chosen: np.ndarray) -> list[dict[str, object]]:
    """Rows of one view; fewer than four seeds cannot be halved, and give none."""
    if len(chosen) < 4:
        return []
    names = np.array([name for name, _, _ in run.grid])
    rows = []
    for name in SCHEDULES:
        places = np.flatnonzero(names == name)
        told = cross_fitted(values[np.ix_(chosen, places)])
        rate, offset = run.grid[places[values[np.ix_(chosen, places)].mean(axis=0).argmin()]][1:]
        place = {"data": run.problem.data, "n": run.problem.n, "view": view, "schedule": name}
        best = {"eta0": rate, "offset": offset}
        rows += [place | best | {"seed": int(s), "risk": r} for s, r in zip(chosen, told)]
    return rows


def cross_fitted(values: np.ndarray) -> np.ndarray:
    """The risk of each seed at the place that is best in the mean of the other half of the seeds.

    Args:
        values: shape (seeds, places), at least two seeds; halves are even and odd ones.

    Returns:
        shape (seeds,).
    """
    odd = np.arange(len(values)) % 2 == 1
    found = np.empty(len(values))
    for half in (odd, ~odd):
        found[half] = values[half, values[~half].mean(axis=0).argmin()]
    return found


# ---- Why some seeds blow up on California housing: many shuffles, with and without a limit on features ----

RATES = (3.0, 5.0, 8.0, 13.0, 20.0, 30.0)  # η̃(0), of which the best is told once features are limited
WORST = 500  # one held-out row in so many is among the worst
MEASURES = ("risk", "without_worst", "typical", "training", "limited", "largest", "norm")


@dataclass(frozen=True)
class Many(OnProblem):
    """Output perturbation at one clipping constant on a problem, for several η̃(0)."""

    clip: float
    rho: float


def seeds_trial(cell: Many, *, rng: np.random.Generator) -> np.ndarray:
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
    safe, safe_test = (np.clip(rows, -LIMIT, LIMIT) for rows in (split.X, split.test_X))
    safe_theta = descend_grid(safe, split.y, runs, rng=same_noise)
    columns = (
        lost.mean(axis=0),
        lost[:-worst].sum(axis=0) / len(lost),
        np.median(lost, axis=0),
        learnt.mean(axis=0),
        _losses(safe_theta, safe_test, split.test_y).mean(axis=0),
        np.full(len(RATES), np.abs(split.test_X).max()),
        np.linalg.norm(theta, axis=1),
    )
    return np.stack(columns, axis=1)


def _losses(theta: np.ndarray, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    return (X @ theta.T - y[:, None]) ** 2 / 2


def seeds_table(
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
    found = runner.run(seeds_trial, cells, trials, seed)
    parts = []
    for cell, values in found.items():
        best = values[:, :, MEASURES.index("limited")].mean(axis=0).argmin()
        place = {"data": cell.problem.data, "n": cell.problem.n, "normalisation": cell.problem.normalisation}
        chosen = dict(zip(MEASURES, values[:, best].T))
        parts.append(pd.DataFrame(place | {"eta0": RATES[best], "seed": np.arange(len(values))} | chosen))
    return pd.concat(parts, ignore_index=True)


# ---- The experiment ----

ASPECT_RATIO = within(0, 10, after=FINITE_POSITIVE)
FEATURES = {MNIST: 784, HOUSING: 8}


class Experiment(Parameters):
    """Figures 5, 6 and 8 of arXiv:2505.16329v2, the seeds that blow up, and the equivalent fed real spectra."""

    data_sets: ClassVar[tuple[str, ...]] = PAPERS

    mnist_gamma: tuple[float, ...] = many(ASPECT_RATIO, 1.0, 0.1)
    """Aspect ratios d/n of the maps on MNIST."""
    housing_gamma: tuple[float, ...] = many(ASPECT_RATIO, 0.01, 0.001)
    """Aspect ratios d/n of the maps on California housing."""
    rho: float = parameter(RHO, 0.1)
    """Privacy parameter of the maps and of the seeds."""
    points: int = parameter(count(4, 100), 20)
    """Values of c, and of the learning rate, in a map."""
    mnist_trials: int = parameter(count(2, 10**4), 10)
    """Shuffles of MNIST behind each point of a map."""
    housing_trials: int = parameter(count(2, 10**4), 5)
    """Shuffles of California housing behind each point of a map."""
    kept_trials: int = parameter(count(5, 10**4), 60)
    """Shuffles of California housing of which those that do not blow up are kept."""
    normalisation: int = parameter(count(2, 15000), NORMALISATION)
    """Rows that only give means and standard deviations."""
    held_out: int = parameter(count(10, 10**6), 100000)
    """Test rows at most; the paper takes all that there are, which are fewer."""
    mnist_n: tuple[int, ...] = many(count(10, 13000), 100, 300, 1000, 3000, 10000, ascending=True)
    """Training rows of Figure 8 on MNIST."""
    housing_n: tuple[int, ...] = many(count(10, 20000), 100, 300, 1000, 3000, 10000, 17000, ascending=True)
    """Training rows of Figure 8 on California housing."""
    clip: float = parameter(CLIP, 0.1)
    """Clipping constant of Figure 8, and of the seeds."""
    schedule_rho: float = parameter(RHO, 1.0)
    """Privacy parameter of Figure 8."""
    schedule_trials: int = parameter(count(4, 10**4), 10)
    """Shuffles of MNIST behind each point of Figure 8."""
    housing_schedule_trials: int = parameter(count(4, 10**4), 20)
    """Shuffles of California housing behind each point of Figure 8, those included that blow up."""
    equation_trials: int = parameter(count(1, 10**3), 3)
    """Shuffles on whose spectra the equations are solved."""
    seed_n: tuple[int, ...] = many(count(10, 18000), 800, 8000, 16000, ascending=True)
    """Training rows with which seeds that blow up are counted."""
    seed_normalisation: tuple[int, ...] = many(count(2, 15000), 500, 2000, 8000, ascending=True)
    """Numbers of normalisation rows with which they are."""
    seed_trials: int = parameter(count(5, 10**4), 200)
    """Shuffles among which they are counted."""
    seed: int = parameter(SEED, 2505)

    def check(self) -> None:
        """Refuse more rows than the data sets have: one at least is left to test on."""
        middle = self.seed_n[len(self.seed_n) // 2]
        self._have("mnist_gamma", MNIST, FEATURES[MNIST] / min(self.mnist_gamma), self.normalisation)
        self._have("housing_gamma", HOUSING, FEATURES[HOUSING] / min(self.housing_gamma), self.normalisation)
        self._have("mnist_n", MNIST, max(self.mnist_n), self.normalisation)
        self._have("housing_n", HOUSING, max(self.housing_n), self.normalisation)
        self._have("seed_n", HOUSING, max(self.seed_n), self.normalisation)
        self._have("seed_normalisation", HOUSING, middle, max(self.seed_normalisation))

    @staticmethod
    def _have(name: str, data: str, n: float, normalisation: int) -> None:
        if n + normalisation >= COUNTS[data]:
            asked = f"{n:.6g} training and {normalisation} normalisation rows"
            raise ValueError(f"{name} asks for {asked}; {data} has {COUNTS[data]}, and some are to test on")

    def run(self, runner: Runner) -> dict[str, pd.DataFrame]:
        tried = problems(HOUSING, self.seed_n, self.normalisation, self.held_out, gammas=False)
        sizes = list(self.seed_normalisation) if tried[0].data == HOUSING else []
        seeds = seeds_table(tried, sizes, self.clip, self.rho, self.seed_trials, self.seed, runner)
        return self._maps(runner) | self._figure_8(runner) | {"seeds": seeds}

    def _problems(self, asked: str) -> list[Problem]:
        sizes = self.mnist_gamma if asked == MNIST else self.housing_gamma
        return problems(asked, sizes, self.normalisation, self.held_out, gammas=True)

    def _maps(self, runner: Runner) -> dict[str, pd.DataFrame]:
        tables: dict[str, pd.DataFrame] = {}
        parts: dict[str, list[pd.DataFrame]] = {name: [] for name in ("remedy", "equations", "rows", "treatments")}
        for asked in PAPERS:
            found, trials = self._problems(asked), self.mnist_trials if asked == MNIST else self.housing_trials
            places = list(itertools.product(found, ALPHAS))
            cells = [Map(problem, alpha, self.rho, self.points) for problem, alpha in places]
            limited = [replace(cell, problem=replace(cell.problem, limit=LIMIT)) for cell in cells]
            most = trials if asked == MNIST else max(trials, self.kept_trials)
            runs, safe_runs = (risks(each, most, self.seed, runner) for each in (cells, limited))
            raw, safe = (long({cell: v[:trials] for cell, v in each.items()}) for each in (runs, safe_runs))
            tables[FIGURES[asked]] = raw
            groups = safe.groupby(PLACE, sort=False)["risk"]
            summary = groups.agg(risk="mean", standard_error="sem", seeds="count").reset_index()
            parts["remedy"].append(summary.assign(data=found[0].data))
            for each in (cells, limited):
                parts["equations"].append(predicted(each, min(trials, self.equation_trials), self.seed, runner))
            parts["rows"].append(self._rows(found, trials, runner))
            if asked == MNIST:
                parts["treatments"].append(self._treatments(raw, safe, runner))
            else:
                tables["kept"] = kept(
                    *({c: v[: self.kept_trials] for c, v in each.items()} for each in (runs, safe_runs))
                )
        return tables | {name: pd.concat(each, ignore_index=True) for name, each in parts.items()}

    def _rows(self, found: list[Problem], trials: int, runner: Runner) -> pd.DataFrame:
        cell = Together(tuple(found))
        measured = runner.run(described, [cell], trials, self.seed)[cell]
        parts = []
        for problem, values in zip(found, np.moveaxis(measured, 1, 0)):
            own = {"asked": problem.asked, "data": problem.data, "d": problem.d, "n": problem.n}
            own |= {"gamma": round(problem.gamma, 9), "normalisation": problem.normalisation}
            measures = dict(zip(DESCRIBED, values.T))
            parts.append(pd.DataFrame(own | {"seed": range(len(values))} | measures))
        return pd.concat(parts, ignore_index=True)

    def _treatments(self, raw: pd.DataFrame, safe: pd.DataFrame, runner: Runner) -> pd.DataFrame:
        """What other ways to treat constant pixels do to the last map with output perturbation, over its seeds."""
        problem = self._problems(MNIST)[-1]
        divided = replace(problem, constant_scale=1.0)
        other = long(risks([Map(divided, 0.0, self.rho, self.points)], self.mnist_trials, self.seed, runner))
        treated = {
            "set to 0": (problem, raw),
            "divided by 1": (divided, other),
            f"set to 0, and features limited at {LIMIT:g}": (replace(problem, limit=LIMIT), safe),
        }
        lengths = runner.run(squares, [each for each, _ in treated.values()], self.mnist_trials, self.seed)
        rows = []
        for name, (each, table) in treated.items():
            chosen = table[(table["gamma"] == round(problem.gamma, 9)) & (table["alpha"] == 0)]
            wide = chosen.pivot(index="seed", columns=["c", "eta0"], values="risk")
            clip, rate = wide.mean().idxmin()
            told = cross_fitted(wide.to_numpy())
            for seed, (risk, (mean, median)) in enumerate(zip(told, lengths[each])):
                place = {"data": problem.data, "treatment": name, "c": clip, "eta0": rate}
                rows.append(place | {"seed": seed, "trace": mean, "typical": median, "risk": risk})
        return pd.DataFrame(rows)

    def _figure_8(self, runner: Runner) -> dict[str, pd.DataFrame]:
        figure, solved = [], []
        for asked, sizes, trials in (
            (MNIST, self.mnist_n, self.schedule_trials),
            (HOUSING, self.housing_n, self.housing_schedule_trials),
        ):
            found = problems(asked, sizes, self.normalisation, self.held_out, gammas=False)
            figure.append(figure_8_table(found, self.clip, self.schedule_rho, trials, self.seed, runner))
            cell = Together(tuple(Run(problem, self.clip, self.schedule_rho) for problem in found))
            means = runner.run(theory, [cell], self.equation_trials, self.seed)[cell].mean(axis=0)
            for problem, values in zip(found, means):
                own = {"data": problem.data, "n": problem.n}
                solved += [own | {"schedule": name, "risk": risk} for name, risk in zip(SCHEDULES, values)]
        return {"figure-8": pd.concat(figure, ignore_index=True), "theory": pd.DataFrame(solved)}
