r"""The deterministic equivalent of DP-GD: the risk that Algorithm 1 has, up to O(log²n/√n), along its whole path.

`risk_path` solves Definition 4.2 for any spectrum and schedule; `final_risk` adds the noise of the last step, (4.23).
Both integrate with `exponential.path` on grids that are doubled until the answer settles. The integrator's error has
the powers h², h³, … of the cells' length; two of them are taken out by extrapolation, and what that changes estimates
the error.

Cells have equal length in a coordinate of time that has no fast scale: a third of it is ln(a + t), where a is the
time in which the fastest mode relaxes at the start; a third is −ln(b + (1 − t)^¼), where b⁴ is the time before the
end from which on even the fastest mode is at rest; a third is −ln(η̄ + η̄_b), with η̄_b the learning rate then, for
schedules that fall by orders of magnitude on the way. Where η̄ has a kink, and at the times asked for, a cell ends.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq

from costofprivacy import _validate
from costofprivacy.dpgd import exponential
from costofprivacy.dpgd.schedule import Schedule, check_schedule
from costofprivacy.dpgd.system import System, check_times, last_step, noise_scale, reductions

TOLERANCE = 1e-6
_CELLS = 16  # of the coarsest grid
_LEVELS = 12  # grids that are tried, each twice as fine as the one before
_POWERS = (2, 3)  # of the cells' length in the error, taken out by extrapolation
_RELAXED = 0.25  # of a relaxation time: for less than that a mode is at rest
_NEAREST = 1e-9  # the smallest b⁴: 1 − t has seven digits there
_GRADING = 0.25  # the power of 1 − t in which the grid is even at the end
_TABLE = 500  # points to an end of the table of the coordinate, many more than cells


def risk_path(
    system: System, schedule: Schedule, clip: float, rho: float, times: ArrayLike, tolerance: float = TOLERANCE
) -> np.ndarray:
    """The risk R(t) of the deterministic equivalent, (4.7) and (4.8) of arXiv:2505.16329v2, at given times.

    Assumes: a schedule that is smooth inside (0, 1) and does not increase.
    Guarantees: a relative error of about ``tolerance``, estimated from grids doubled until they agree.

    Args:
        system: the equations: `system.of_model`, `system.isotropic`, `quadrature.of_power_law`, `risk_bounds`.
        schedule: η̃. clip: c in (0, ∞]. rho: ρ in (0, ∞].
        times: in [0, 1], ascending, shape (k,); t = 1 is the state before the last step's noise.
        tolerance: relative, positive.

    Returns:
        R at the times, shape (k,). A risk that overflows is ∞, from there on.

    Raises:
        ValueError: if an argument is outside its range, or the schedule increases, is negative or not finite.
        RuntimeError: if the finest grid has not settled.

    >>> from costofprivacy.dpgd import schedule, system
    >>> print(risk_path(system.isotropic(0.5, 0.1, 0.3), schedule.Constant(3.0), 1.0, 1.0, [0.0, 0.5, 1.0]).round(5))
    [0.5     0.06236 0.01224]
    """
    when = check_times(times)
    _validate.finite_positive("tolerance", tolerance)
    noise_scale(clip, rho)
    check_schedule(schedule)
    grid = _grid(system, schedule, clip, when)
    rows: list[list[np.ndarray]] = []
    for level in range(_LEVELS):
        nodes, ends = grid.nodes(level)
        risks = exponential.path(system, exponential.cells_of(system, schedule, nodes), clip, rho)[ends]
        rows.append(_extrapolated(risks, rows[-1] if rows else []))
        if level >= len(_POWERS) and _settled(rows[-1], tolerance):
            return rows[-1][-1][np.searchsorted(grid.breaks, when)]
    raise RuntimeError(f"the risk has not settled to {tolerance!r} on grids of {_CELLS} to {len(nodes)} cells")


def final_risk(system: System, schedule: Schedule, clip: float, rho: float, tolerance: float = TOLERANCE) -> float:
    """The risk of the released parameter, R(1) + 2c²η̃(1)²γ²/ρ²·tr Σ/d, (4.23) of arXiv:2505.16329v2.

    Assumes and guarantees: as `risk_path`, for any trace; the paper has tr Σ = d.

    Args:
        system: the equations. schedule: η̃. clip: c in (0, ∞]. rho: ρ in (0, ∞]. tolerance: relative, positive.

    Returns:
        The excess risk; ∞ where it overflows.

    Raises:
        ValueError, RuntimeError: as `risk_path`.

    >>> from costofprivacy.dpgd import schedule, system
    >>> round(final_risk(system.isotropic(0.5, 0.1, 0.3), schedule.Constant(3.0), 1.0, 1.0), 5)
    0.19224
    """
    before = risk_path(system, schedule, clip, rho, [1.0], tolerance)
    return float(before[0]) + last_step(system, schedule, clip, rho)


def final_risks(
    system: System, schedules: Sequence[Schedule], clip: float, rho: float, tolerance: float = TOLERANCE
) -> np.ndarray:
    """`final_risk` of many schedules at once.

    Args:
        system: the equations. schedules: k of them. clip: c in (0, ∞]. rho: ρ in (0, ∞]. tolerance: relative.

    Returns:
        The excess risks, shape (k,); ∞ where one overflows.

    Raises:
        ValueError, RuntimeError: as `risk_path`.
    """
    return np.array([final_risk(system, schedule, clip, rho, tolerance) for schedule in schedules])


@dataclass(frozen=True)
class _Grid:
    """Cells of equal length in a coordinate of time, cut where they must end.

    Args:
        times, coordinates: a table, both ascending; linear in between.
        breaks: the times, 0 and 1 among them, that are ends of cells, ascending.
    """

    times: np.ndarray
    coordinates: np.ndarray
    breaks: np.ndarray

    def nodes(self, level: int) -> tuple[np.ndarray, np.ndarray]:
        """The ends of the cells, halved ``level`` times from the coarsest, and which of them are the breaks."""
        marks = np.interp(self.breaks, self.times, self.coordinates)
        share = np.diff(marks) / (marks[-1] - marks[0])
        counts = 2**level * np.maximum(np.ceil(share * _CELLS - 1e-9), 1).astype(int)
        ends = np.concatenate([[0], np.cumsum(counts)])
        within = (np.arange(ends[-1]) - np.repeat(ends[:-1], counts)) / np.repeat(counts, counts)
        places = np.repeat(marks[:-1], counts) + within * np.repeat(np.diff(marks), counts)
        nodes = np.interp(np.append(places, marks[-1]), self.coordinates, self.times)
        nodes[ends] = self.breaks
        return nodes, ends


def _grid(system: System, schedule: Schedule, clip: float, times: np.ndarray) -> _Grid:
    """The grid of the module's docstring, with ``times`` among the ends of its cells."""
    fastest = 2 * float(system.relaxation.max()) * reductions(system, clip, 0.0)[0]
    left = np.geomspace(_NEAREST, 0.5, _TABLE)
    table = np.concatenate([[0.0], np.geomspace(_NEAREST**2, 0.5, 2 * _TABLE)[:-1], 1 - left[::-1], [1.0]])
    rates = system.learning_rate(schedule, table)
    early = _RELAXED / max(fastest * rates[0], 2 * _RELAXED)
    late = float(np.interp(_RELAXED, fastest * left * system.learning_rate(schedule, 1 - left), left))
    slow = float(system.learning_rate(schedule, 1 - late))
    parts = [np.log(early + table), -np.log(late**_GRADING + (1 - table) ** _GRADING)]
    if rates[-1] < rates[0]:
        parts.append(-np.log(rates + slow))
    coordinates = sum((part - part[0]) / (part[-1] - part[0]) for part in parts)
    return _Grid(table, coordinates, np.unique([0.0, 1.0, *_kinks(system, schedule), *times]))


def _kinks(system: System, schedule: Schedule) -> list[float]:
    """The time at which η̃ falls below the cap, if it does inside (0, 1)."""

    def above(time: float) -> float:
        return float(schedule(time)) - system.cap

    return [brentq(above, 0.0, 1.0, xtol=1e-15)] if above(0.0) > 0 > above(1.0) else []


def _extrapolated(risks: np.ndarray, coarser: list[np.ndarray]) -> list[np.ndarray]:
    """A row of Richardson's table: the risks, then with the error's powers of `_POWERS` taken out one by one.

    It is ∞ where the finer and the coarser risk are, and not a number where one of them alone is not finite.
    """
    row = [risks]
    for power, coarse in zip(_POWERS, coarser):
        fine = row[-1]
        with np.errstate(invalid="ignore"):
            change = np.where(np.isfinite(fine - coarse), fine - coarse, math.nan) / (2**power - 1)
        row.append(np.where(np.isinf(fine) & np.isinf(coarse), math.inf, fine + change))
    return row


def _settled(row: list[np.ndarray], tolerance: float) -> bool:
    """Whether the last two extrapolations agree, and not by accident: an error h² has the power ³⁄₂ of size h³."""
    raw, once, twice = row
    with np.errstate(invalid="ignore", divide="ignore"):
        last, first = np.abs(twice / once - 1), np.abs(once / raw - 1)
        small = np.maximum(last, first**1.5) <= tolerance
    return bool((small | (raw == twice)).all())
