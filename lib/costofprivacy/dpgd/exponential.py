r"""An exponential integrator in the descent's own clock, for equations that relax fast.

With Γ(t) = ∫ η̄ μ ds as the clock and F(t) = ∫ η̄ ds, a `system.System` reads

.. math:: \frac{dD_i}{d\Gamma} = -2a_i D_i + b_i\,g + p, \qquad
          g = \gamma\bar\eta\,\frac{\nu_c\mathcal P}{\mu_c}, \qquad
          p = \frac{2c^2\gamma^2}{\rho^2}\,\frac{1}{\mu_c}\,\frac{-d\tilde\eta^2}{dF},

linear in D with constant rates, whatever their size. In a cell g and p are taken linear in Γ. Then a step is exact:
with z_i = 2a_iΔΓ,

.. math:: D_i^+ = e^{-z_i} D_i
          + \Delta\Gamma\,[(\varphi_1 - \varphi_2)(b_i g^- + p^-) + \varphi_2\,(b_i g^+ + p^+)],

φ₁ = (1 − e^{−z})/z and φ₂ = (1 − φ₁)/z. Given ΔΓ = ΔF(μ⁻ + μ⁺)/2, g⁺ depends on R⁺ = Σ r_i D_i⁺: one equation for one
number, solved to ten digits, so that modes much faster than the cell sit in their equilibrium whatever its size. For μ⁺
a first pass freezes μ, a second takes what the first one found, a third their limit, which is right to second order for
fast modes too. The error has the powers h², h³, … of the cells' size h on a smooth grid. To freeze μ in a cell, or to
spread its noise evenly over it, costs an order.

The noise of a cell, −Δη̃², enters with its exact mass and its exact centre in F, never as a derivative, which in this
clock is infinite at t = 1 for 0 < α < 1. What is even in F leans by (μ⁻ − μ⁺)/(μ⁻ + μ⁺) in Γ, to the end where this
clock is slower.

**Where the cells of the integrator end: a coordinate of time that has no fast scale, in which they have equal length.**

A third of it is ln(a + t), where a is the time in which the fastest mode relaxes at the start; a third is
−ln(b + (1 − t)^¼), where b⁴ is the time before the end from which on even the fastest mode is at rest; a third is
−ln(η̄ + η̄_b), with η̄_b the learning rate then, for schedules that fall by orders of magnitude on the way. Where η̄
has a kink, and at the times asked for, a cell ends.

The coordinate is a table over `TABLE`, linear in between.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from costofprivacy._compiled import compiled
from costofprivacy.dpgd.schedule import Schedule
from costofprivacy.dpgd.system import System, noise_scale, reductions_at

_GAUSS = np.polynomial.legendre.leggauss(4)  # a cell's integrals of η̄ and η̄η̃², smooth inside the cell
_PLACES, _SHARES = (_GAUSS[0] + 1) / 2, _GAUSS[1] / 2
_PASSES = 3  # one alone, with μ frozen, is of first order; so are two where the private noise drives fast modes
_SMALL = 0.1  # below it φ₁ and φ₂ are summed from their series, seven terms for all digits that count
_SOLVED = 1e-10  # relative accuracy of R⁺ in its scalar equation
_ITERATIONS = 100
_DEEPEST = 60  # halvings of a cell
_ONE_SIDED = 0.9  # the most by which one half of a cell has more noise than the other, over their sum


@dataclass(frozen=True)
class Cells:
    """What the integrator needs to know of a schedule, shape (k,) each: k cells in time.

    Args:
        progress: ΔF = ∫ η̄ dt over the cell.
        rate_start, rate_end: η̄ at its two ends.
        noise: −Δη̃², the private noise in the cell.
        lean: where in F it lies: the slope b of the density 1 + b(2s − 1), s in [0, 1], with the noise's centre.
    """

    progress: np.ndarray
    rate_start: np.ndarray
    rate_end: np.ndarray
    noise: np.ndarray
    lean: np.ndarray


def cells_of(system: System, schedule: Schedule, grid: np.ndarray) -> Cells:
    """Integrals of a schedule over the cells of a grid.

    Assumes: η̄ smooth inside each cell.

    Args:
        system: for its cap. schedule: η̃. grid: t_0 < … < t_k.
    """
    return Cells(*integrals(grid, schedule(inner_times(grid)), schedule(grid), system.cap).T)


@compiled
def inner_times(grid: np.ndarray) -> np.ndarray:
    """The times in each cell at which `integrals` needs η̃, shape (k, 4)."""
    times = np.empty((len(grid) - 1, len(_PLACES)))
    for k in range(len(times)):
        for j in range(len(_PLACES)):
            times[k, j] = grid[k] + (grid[k + 1] - grid[k]) * _PLACES[j]
    return times


@compiled
def integrals(grid: np.ndarray, inner: np.ndarray, ends: np.ndarray, cap: float) -> np.ndarray:
    """The fields of `Cells`, shape (k, 5), from η̃ at the `inner_times` and at the ends.

    The centre of the noise comes by parts, ∫ (F − F_start)(−dη̃²) = ∫ η̃² dF − η̃²_end ΔF, without a derivative.
    """
    rows = np.empty((len(inner), 5))
    for k in range(len(inner)):
        progress, squared = 0.0, 0.0
        for j in range(len(_PLACES)):
            share = (grid[k + 1] - grid[k]) * _SHARES[j] * min(inner[k, j], cap)
            progress += share
            squared += share * inner[k, j] ** 2
        noise = ends[k] ** 2 - ends[k + 1] ** 2
        centre = (squared / progress - ends[k + 1] ** 2) / noise if noise > 0 and progress > 0 else 0.5
        rows[k, 0], rows[k, 1], rows[k, 2] = progress, min(ends[k], cap), min(ends[k + 1], cap)
        rows[k, 3], rows[k, 4] = noise, 6 * min(max(centre, 0.0), 1.0) - 3 if noise > 0 else 0.0
    return rows


class _Cell(NamedTuple):
    """One cell: ΔF, γη̄ at its ends, the private noise (2c²γ²/ρ²)(−Δη̃²) in it and how that leans to the end."""

    progress: float
    rate_start: float
    rate_end: float
    noise: float
    lean: float


class Law(NamedTuple):
    """What does not change on the way: a, b and r of `system.System`, ζ²/2, c, γ and 2c²γ²/ρ²."""

    relaxation: np.ndarray
    sampling: np.ndarray
    readout: np.ndarray
    label: float
    clip: float
    gamma: float
    private: float


class _State(NamedTuple):
    """What follows from D: R, μ_c(R) and ν_c(R)(R + ζ²/2)."""

    risk: float
    mu: float
    scaled_nu: float


class _Room(NamedTuple):
    """D, which the integrator moves, and what it needs on the way: known, by_end of `respond` and the μ tried."""

    energies: np.ndarray
    known: np.ndarray
    by_end: np.ndarray
    tried: np.ndarray


def path(system: System, cells: Cells, clip: float, rho: float) -> np.ndarray:
    """R at the ends of all cells, R(0) first.

    Args:
        system: the equations. cells: of its schedule, k of them. clip: c in (0, ∞]. rho: ρ in (0, ∞].

    Returns:
        shape (k + 1,): ∞ from where R overflows.

    Raises:
        ValueError: as `system.noise_scale`.
    """
    columns = (cells.progress, cells.rate_start, cells.rate_end, cells.noise, cells.lean)
    return risks_at_ends(law_of(system, clip, rho), system.initial, np.column_stack(columns))


def law_of(system: System, clip: float, rho: float) -> Law:
    """What compiled code knows of the equations.

    Args:
        system: the equations. clip: c in (0, ∞]. rho: ρ in (0, ∞].

    Raises:
        ValueError: as `system.noise_scale`.
    """
    gamma, label = system.aspect_ratio, system.label_noise**2 / 2
    private = 2 * noise_scale(clip, rho) * gamma**2
    return Law(system.relaxation, system.sampling, system.readout, label, float(clip), gamma, private)


@compiled
def risks_at_ends(law: Law, energies: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """`path`, from the rows of `integrals`."""
    risks = np.full(len(rows) + 1, np.inf)
    room = _Room(energies.copy(), np.empty(len(energies)), np.empty(len(energies)), np.empty(_PASSES + 1))
    risk = _dot(law.readout, energies)
    risks[0] = risk
    state = _state(law, risk)
    for k in range(len(rows)):
        row = rows[k]
        cell = _Cell(row[0], law.gamma * row[1], law.gamma * row[2], law.private * row[3], row[4])
        after = _advance(law, state, cell, room)
        state = _in_halves(law, state, cell, room) if math.isnan(after.risk) else after
        if not math.isfinite(state.risk):
            risks[k + 1 :] = state.risk
            break
        risks[k + 1] = state.risk
    return risks


@compiled
def _state(law: Law, risk: float) -> _State:
    mu, scaled_nu = reductions_at(risk + law.label, law.clip)
    return _State(risk, mu, scaled_nu)


@compiled
def _in_halves(law: Law, state: _State, cell: _Cell, room: _Room) -> _State:
    """The state at the end of a cell, which is halved as long as R grows too fast for its size."""
    waiting, depths = [cell], [0]
    while len(waiting) > 0:
        part, depth = waiting.pop(), depths.pop()
        after = _advance(law, state, part, room)
        if math.isnan(after.risk) and depth < _DEEPEST:
            first, second = _halves(part)
            waiting.append(second)
            waiting.append(first)
            depths.append(depth + 1)
            depths.append(depth + 1)
            continue
        state = after
        if not math.isfinite(state.risk):
            break
    return state


@compiled
def _halves(cell: _Cell) -> tuple[_Cell, _Cell]:
    """The two halves of a cell in F, of what is linear in it; a half keeps some noise, however the cell leans."""
    middle, shift = (cell.rate_start + cell.rate_end) / 2, min(max(cell.lean / 2, -_ONE_SIDED), _ONE_SIDED)
    return (
        _Cell(cell.progress / 2, cell.rate_start, middle, cell.noise / 2 * (1 - shift), shift / (1 - shift)),
        _Cell(cell.progress / 2, middle, cell.rate_end, cell.noise / 2 * (1 + shift), shift / (1 + shift)),
    )


@compiled
def _advance(law: Law, state: _State, cell: _Cell, room: _Room) -> _State:
    """The state at the end of a cell, with D moved there.

    Where R is ∞ there, or not a number, because no value of it is near, D stays.
    """
    energies, known, by_end, tried = room
    start, risk, ahead, after = cell.rate_start * state.scaled_nu / state.mu, state.risk, state.mu, state
    tried[0] = state.mu
    for trial in range(len(tried) - 1):
        ahead = _limit(tried, trial + 1)
        clock = cell.progress * (state.mu + ahead) / 2
        lean = cell.lean + (state.mu - ahead) / (state.mu + ahead)
        respond(law, energies, clock, start, cell.noise, lean, known, by_end)
        offset, slope = _dot(law.readout, known), _dot(law.readout, by_end)
        risk = _fixed_point(law, cell.rate_end, offset, slope, risk, cell.rate_end * after.scaled_nu / after.mu)
        if not math.isfinite(risk):
            return _State(risk, state.mu, state.scaled_nu)
        after = _state(law, risk)
        tried[trial + 1] = after.mu
        if abs(after.mu - ahead) <= _SOLVED * after.mu:
            break
    source = cell.rate_end * after.scaled_nu / after.mu
    for i in range(len(known)):
        energies[i] = known[i] + source * by_end[i]
    return after


@compiled
def _dot(left: np.ndarray, right: np.ndarray) -> float:
    total = 0.0
    for i in range(len(left)):
        total += left[i] * right[i]
    return total


@compiled
def _limit(values: np.ndarray, count: int) -> float:
    """The last of the first ``count`` values, or Aitken's limit of the last three, as far as they are monotone."""
    last = values[count - 1]
    if count < 3:
        return last
    old, new = values[count - 2] - values[count - 3], last - values[count - 2]
    return last + new * new / (old - new) if abs(new) < abs(old) else last


@compiled
def respond(
    law: Law,
    energies: np.ndarray,
    clock: float,
    start: float,
    noise: float,
    lean: float,
    known: np.ndarray,
    by_end: np.ndarray,
) -> None:
    """D after ΔΓ = ``clock`` as two vectors, ``known + g⁺·by_end``, with g = ``start`` at the start.

    The noise has the mass ``noise`` and the density (1 + lean·(2s − 1))/ΔΓ, s from 0 to 1 through the cell.
    """
    for i in range(len(energies)):
        z = 2 * clock * law.relaxation[i]
        if z < _SMALL:
            second = 0.5 - z * (1 / 6 - z * (1 / 24 - z * (1 / 120 - z * (1 / 720 - z * (1 / 5040 - z / 40320)))))
            first = 1 - z * second
            left = 1 - z * first
        else:
            left = math.exp(-z)
            first = (1 - left) / z
            second = (1 - first) / z
        sampled = clock * law.sampling[i]
        known[i] = left * energies[i] + (first - second) * (start * sampled + noise * (1 - lean))
        known[i] += second * noise * (1 + lean)
        by_end[i] = second * sampled


@compiled
def _fixed_point(law: Law, rate: float, offset: float, slope: float, guess: float, source: float) -> float:
    """r = offset + slope·g(r), g = γη̄⁺νP/μ, by the secant method from ``guess``, where g = ``source``.

    Not a number where the right side rises as fast as r.
    """
    old, old_value = guess, offset + slope * source
    new = old_value
    for _ in range(_ITERATIONS):
        if not math.isfinite(new):
            return new
        mu, scaled_nu = reductions_at(new + law.label, law.clip)
        value = offset + slope * (rate * scaled_nu / mu)
        if abs(value - new) <= _SOLVED * value:
            return value
        rise = (value - old_value) / (new - old) if new != old else 0.0
        if not rise < 1:
            return np.nan if math.isfinite(value) else value
        old, old_value, new = new, value, max(new + (value - new) / (1 - rise), 0.0)
    return np.nan


# ---- Grid ----

CELLS = 12  # of the coarsest grid
_RELAXED = 0.25  # of a relaxation time: for less than that a mode is at rest
_NEAREST = 1e-9  # the smallest b⁴: 1 − t has seven digits there
_GRADING = 0.25  # the power of 1 − t in which the grid is even at the end
_HALF = 120  # points of the table to an end, several to a cell
_LEFT = np.geomspace(_NEAREST, 0.5, _HALF)
TABLE = np.concatenate([[0.0], np.geomspace(_NEAREST**2, 0.5, 2 * _HALF)[:-1], 1 - _LEFT[::-1], [1.0]])
_ROOT = (1 - TABLE) ** _GRADING


@compiled
def fastest(law: Law) -> float:
    """The rate at which the fastest mode relaxes at R = 0, for η̄ = 1: 2 max a_i μ_c(0)."""
    largest = 0.0
    for rate in law.relaxation:
        largest = max(largest, rate)
    return 2 * largest * reductions_at(law.label, law.clip)[0]


@compiled
def coordinates(rates: np.ndarray, fastest: float) -> np.ndarray:
    """The coordinate of each time of `TABLE`, from 0 to 2 or 3, ascending.

    Args:
        rates: η̄ at the times of `TABLE`, not increasing. fastest: of that name.
    """
    early = _RELAXED / max(fastest * rates[0], 2 * _RELAXED)
    late, slow = _late(rates, fastest)
    root = late**_GRADING
    found = np.empty(len(TABLE))
    start, finish = math.log(early), math.log(root + 1)
    span, length = math.log(early + 1) - start, finish - math.log(root)
    falls = rates[-1] < rates[0]
    top = math.log(rates[0] + slow) if falls else 0.0
    depth = top - math.log(rates[-1] + slow) if falls else 1.0
    for k in range(len(TABLE)):
        place = (math.log(early + TABLE[k]) - start) / span + (finish - math.log(root + _ROOT[k])) / length
        found[k] = place + ((top - math.log(rates[k] + slow)) / depth if falls else 0.0)
    return found


@compiled
def _late(rates: np.ndarray, fastest: float) -> tuple[float, float]:
    """b⁴ and η̄_b: the time before the end from which on even the fastest mode is at rest, and the rate then."""
    first = len(TABLE) - 1 - len(_LEFT)  # of the times 1 − `_LEFT`, the furthest from the end first
    for k in range(len(TABLE) - 2, first, -1):
        nearer, further = 1 - TABLE[k], 1 - TABLE[k - 1]
        low, high = fastest * nearer * rates[k], fastest * further * rates[k - 1]
        if high >= _RELAXED:
            if low >= _RELAXED:
                return nearer, rates[k]
            share = (_RELAXED - low) / (high - low)
            return nearer + share * (further - nearer), rates[k] + share * (rates[k - 1] - rates[k])
    return 1 - TABLE[first], rates[first]


@compiled
def nodes(coordinates: np.ndarray, breaks: np.ndarray, level: int) -> tuple[np.ndarray, np.ndarray]:
    """The ends of the cells, halved ``level`` times from the coarsest, and which of them are the breaks.

    Args:
        coordinates: of the times of `TABLE`. breaks: times that are ends of cells, ascending, 0 and 1 among them.
        level: 0 for the coarsest grid.
    """
    marks, ends = _interpolated(breaks, TABLE, coordinates), np.zeros(len(breaks), np.int64)
    for k in range(len(breaks) - 1):
        share = (marks[k + 1] - marks[k]) / (marks[-1] - marks[0])
        ends[k + 1] = ends[k] + 2**level * max(math.ceil(share * CELLS - 1e-9), 1)
    places = np.empty(ends[-1] + 1)
    for k in range(len(breaks) - 1):
        count = ends[k + 1] - ends[k]
        for j in range(count):
            places[ends[k] + j] = marks[k] + (marks[k + 1] - marks[k]) * j / count
    places[-1] = marks[-1]
    found = _interpolated(places, coordinates, TABLE)
    for k in range(len(breaks)):
        found[ends[k]] = breaks[k]
    return found, ends


@compiled
def _interpolated(x: np.ndarray, places: np.ndarray, values: np.ndarray) -> np.ndarray:
    """``np.interp`` for finite numbers, to the last bit. Numba takes seconds to compile its own."""
    found, j, last = np.empty(len(x)), 0, len(places) - 1
    for k in range(len(x)):
        while j < last and places[j + 1] <= x[k]:
            j += 1
        while j > 0 and places[j] > x[k]:
            j -= 1
        if j == last or x[k] <= places[j]:
            found[k] = values[j]
        else:
            slope = (values[j + 1] - values[j]) / (places[j + 1] - places[j])
            found[k] = slope * (x[k] - places[j]) + values[j]
    return found
