r"""The best hyper-parameters of DP-GD, by the deterministic equivalent: no data is looked at, so nothing is spent.

The released risk (4.23) as a function of the logarithm of a learning rate may have several minima: one where the start
is forgotten, one where it is not, and the end of the range. So the range is scanned as a whole, to a coarse tolerance
and in one batch of `equivalent.final_risks`. What the scan takes for a local minimum is solved anew, with its
neighbours, to the tolerance that is asked for, and followed between them by parabolas (Brent's method). A risk that is
smooth at its minimum costs eight solutions there, where scans within scans cost thirty-six.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize, minimize_scalar

from costofprivacy import _validate
from costofprivacy.dpgd import equivalent
from costofprivacy.dpgd.schedule import Harmonic, Schedule
from costofprivacy.dpgd.system import System

SMALLEST = 1e-2  # the smallest η̃(0) that is tried: less does not move the risk
TOLERANCE = 1e-5  # relative, of a risk
_A_DECADE = 6  # learning rates of the scan
_COARSE = 1e-3  # relative, of the risks of a scan
_FOUND = 5e-4  # of ln η̃(0): the rate is right to a share of 1e-3 then, the risk to 1e-6
_OFFSETS = 3  # values of τ to a decade in the scan of harmonic schedules
_OFFSET_RANGE = (1e-2, 10.0)  # the smallest τ over γ, and the largest τ: the schedule is all but constant there
_FLAT = math.log(1e6)  # of τ: beyond, a harmonic schedule falls by less than rounding lets the equations see
_STARTS = 3  # harmonic schedules of the scan from which a descent starts

Family = Callable[[float], Schedule]  # a schedule for each η̃(0)


@dataclass(frozen=True)
class Best:
    """The best hyper-parameters of a family, and what they reach.

    Args:
        schedule: η̃. clip: c. risk: the released risk R(1) + 2c²η̃(1)²γ²/ρ².
        at_end: whether η̃(0) is the largest that was allowed: the risk still falls there.
        minima: local minima that the scan of η̃(0) saw, at the best other hyper-parameters.
    """

    schedule: Schedule
    clip: float
    risk: float
    at_end: bool
    minima: int

    @property
    def initial(self) -> float:
        """η̃(0)."""
        return float(self.schedule(0.0))


def best_rate(
    system: System, family: Family, clip: float, rho: float, largest: float | None = None, tolerance: float = TOLERANCE
) -> Best:
    """The η̃(0) of a family of schedules with the least released risk, (4.23) of arXiv:2505.16329v2.

    Guarantee: the least of all local minima that a scan with six values to a decade sees, its risk to ``tolerance``.

    Args:
        system: the equations. family: the schedule η̃ for each η̃(0), such as `Constant`.
        clip: c in (0, ∞]. rho: ρ in (0, ∞].
        largest: the end of the range, above `SMALLEST`; by default the system's cap, 2/γ in the paper.
        tolerance: relative, of a risk.

    Raises:
        ValueError: if an argument is outside its range.

    >>> from costofprivacy.dpgd import schedule, system
    >>> found = best_rate(system.isotropic(0.5, 0.01, 0.3), schedule.Constant, 0.1, 1.0)
    >>> print(round(found.initial, 1), round(found.risk, 5), found.at_end)
    20.7 0.00287 False
    """
    end = _end(system, largest)

    def risks(logs: np.ndarray, tolerance: float) -> np.ndarray:
        return equivalent.final_risks(system, [family(math.exp(log)) for log in logs], clip, rho, tolerance)

    logs = np.linspace(math.log(SMALLEST), math.log(end), _rates(end))
    coarse = max(_COARSE, tolerance)
    found, exact = risks(logs, coarse), np.full(len(logs), coarse == tolerance)
    places = _local_minima(found)
    while not exact[near := np.unique((places[:, None] + [-1, 0, 1]).clip(0, len(logs) - 1))].all():
        found[near], exact[near] = risks(logs[near], tolerance), True
        places = _local_minima(found)

    def risk(log: float) -> float:
        return float(risks(np.array([log]), tolerance)[0])

    log, least = min((_refined(risk, logs, found, place) for place in places), key=lambda pair: pair[1])
    return Best(family(math.exp(log)), clip, least, bool(log >= logs[-1]), len(places))


def best_harmonic(
    system: System, clip: float, rho: float, tolerance: float = TOLERANCE, largest: float | None = None
) -> Best:
    """The harmonic schedule β/(t + τ), (5.18) of arXiv:2505.16329v2, with the least released risk.

    Guarantee: the least that descents find from the three best (η̃(0), τ) of a scan of both.

    Args:
        system: the equations. clip: c in (0, ∞]. rho: ρ in (0, ∞]. tolerance: relative, of a risk.
        largest: the end of the range of η̃(0) = β/τ, above `SMALLEST`; by default the system's cap, 2/γ in the paper.

    Raises:
        ValueError: if an argument is outside its range.
    """
    end = _end(system, largest)
    low, high = math.log(_OFFSET_RANGE[0] * min(system.aspect_ratio, 1.0)), math.log(_OFFSET_RANGE[1])
    offsets = np.exp(np.linspace(low, high, 1 + math.ceil(_OFFSETS * (high - low) / math.log(10))))
    logs = np.linspace(math.log(SMALLEST), math.log(end), _rates(end))
    grid = [_harmonic(offset)(rate) for offset in offsets for rate in np.exp(logs)]
    scan = equivalent.final_risks(system, grid, clip, rho, max(_COARSE, tolerance)).reshape(len(offsets), -1)
    order = np.argsort(np.nan_to_num(scan, nan=math.inf).min(axis=1))[:_STARTS]

    def schedule(place: np.ndarray) -> Schedule:
        return _harmonic(math.exp(min(place[1], _FLAT)))(min(math.exp(place[0]), end))

    def risk(place: np.ndarray) -> float:
        return equivalent.final_risk(system, schedule(place), clip, rho, tolerance)

    def descent(k: int) -> tuple[float, np.ndarray]:
        start = np.array([logs[np.nanargmin(scan[k])], math.log(offsets[k])])
        simplex = start + np.array([[0.0, 0.0], [-0.2, 0.0], [0.0, 0.5]])
        options = {"initial_simplex": simplex, "xatol": 1e-3, "fatol": tolerance * np.nanmin(scan[k])}
        found = minimize(risk, start, method="Nelder-Mead", options=options)
        return float(found.fun), found.x

    least, place = min((descent(int(k)) for k in order), key=lambda pair: pair[0])
    return Best(schedule(place), clip, least, math.exp(place[0]) >= end, len(_local_minima(scan[order[0]])))


def _end(system: System, largest: float | None) -> float:
    """The end of the range of η̃(0)."""
    end = _validate.finite_positive("largest", system.cap if largest is None else largest)
    if end <= SMALLEST:
        raise ValueError(f"largest must be above {SMALLEST:g}, got {end!r}")
    return end


def _rates(end: float) -> int:
    """Learning rates of a scan up to ``end``."""
    return 2 + math.ceil(_A_DECADE * math.log10(end / SMALLEST))


def _harmonic(offset: float) -> Family:
    return lambda rate: Harmonic(rate * offset, offset)


def _local_minima(values: np.ndarray) -> np.ndarray:
    """Places that no neighbour is below; of equal neighbours the first."""
    padded = np.concatenate([[math.inf], np.nan_to_num(values, nan=math.inf), [math.inf]])
    inner = padded[1:-1]
    return np.flatnonzero((inner < padded[:-2]) & (inner <= padded[2:]))


def _refined(risk: Callable[[float], float], logs: np.ndarray, found: np.ndarray, place: int) -> tuple[float, float]:
    """The least risk between the neighbours of a local minimum, and where it is."""
    ends = (float(logs[max(place - 1, 0)]), float(logs[min(place + 1, len(logs) - 1)]))
    inner = minimize_scalar(risk, bounds=ends, method="bounded", options={"xatol": _FOUND})
    best = float(logs[place]), float(found[place])
    return (float(inner.x), float(inner.fun)) if inner.fun < best[1] else best
