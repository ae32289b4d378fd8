r"""The deterministic equivalent of DP-GD: the risk that Algorithm 1 has, up to O(log²n/√n), along its whole path.

`risk_path` solves Definition 4.2 for any spectrum and schedule; `final_risk` adds the noise of the last step, (4.23),
and `final_risks` does so for many schedules. All integrate by `exponential`, on cells which are
halved until the answer settles. The integrator's error has the powers h², h³, … of the cells' length; two of them are
taken out by extrapolation, and what that changes estimates the error.

For the schedules of the paper (`schedule.Form`) `final_risks` runs wholly in machine code; any other one is asked for
its values at the times of each grid.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq

from costofprivacy import _validate
from costofprivacy._compiled import compiled
from costofprivacy.dpgd import exponential
from costofprivacy.dpgd.schedule import Form, Schedule, check_schedule, rate_at
from costofprivacy.dpgd.system import System, check_times, last_step

TOLERANCE = 1e-6
_LEVELS = 13  # grids that are tried, each twice as fine as the one before
_POWERS = 2  # of the cells' length in the error, h² and h³, taken out by extrapolation
_UNSETTLED = "the risk has not settled to {tolerance!r} on grids of up to {cells} cells"


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
    tolerance = _validate.finite_positive("tolerance", tolerance)
    check_schedule(schedule)
    law = exponential.law_of(system, clip, rho)
    breaks = np.unique([0.0, 1.0, *_kinks(system, schedule), *when])
    coordinates = exponential.coordinates(np.minimum(schedule(exponential.TABLE), system.cap), exponential.fastest(law))
    row = np.empty((0, len(breaks)))
    for level in range(_LEVELS):
        nodes, ends = exponential.nodes(coordinates, breaks, level)
        cells = exponential.integrals(nodes, schedule(exponential.inner_times(nodes)), schedule(nodes), system.cap)
        row = _extrapolated(exponential.risks_at_ends(law, system.initial, cells)[ends], row)
        if _settled(row, tolerance):
            return row[-1][np.searchsorted(breaks, when)]
    raise RuntimeError(_UNSETTLED.format(tolerance=tolerance, cells=len(nodes) - 1))


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
    return float(final_risks(system, [schedule], clip, rho, tolerance)[0])


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
    tolerance = _validate.finite_positive("tolerance", tolerance)
    law = exponential.law_of(system, clip, rho)
    forms = [getattr(schedule, "form", None) for schedule in schedules]
    table = np.array([form for form in forms if form is not None]).reshape(-1, len(Form._fields))
    solved = iter(_ends(law, system.initial, system.cap, table, tolerance))
    risks = np.empty(len(schedules))
    for k, schedule in enumerate(schedules):
        form = forms[k]
        before = risk_path(system, schedule, clip, rho, [1.0], tolerance)[0] if form is None else next(solved)
        risks[k] = before + last_step(system, schedule, clip, rho)
    if np.isnan(risks).any():
        raise RuntimeError(_UNSETTLED.format(tolerance=tolerance, cells=exponential.CELLS * 2 ** (_LEVELS - 1)))
    return risks


@compiled
def _ends(law: exponential.Law, initial: np.ndarray, cap: float, forms: np.ndarray, tolerance: float) -> np.ndarray:
    """R(1) for each row of a `Form`; NaN where it has not settled."""
    risks = np.full(len(forms), np.nan)
    for k in range(len(forms)):
        form = Form(forms[k, 0], forms[k, 1], forms[k, 2], forms[k, 3], forms[k, 4])
        breaks = _breaks(form, cap)
        coordinates = exponential.coordinates(_rates(form, exponential.TABLE, cap), exponential.fastest(law))
        row = np.empty((0, 1))
        for level in range(_LEVELS):
            nodes, _ = exponential.nodes(coordinates, breaks, level)
            inner = exponential.inner_times(nodes)
            rates = _rates(form, inner.ravel(), np.inf).reshape(inner.shape)
            cells = exponential.integrals(nodes, rates, _rates(form, nodes, np.inf), cap)
            row = _extrapolated(exponential.risks_at_ends(law, initial, cells)[-1:], row)
            if _settled(row, tolerance):
                risks[k] = row[-1, 0]
                break
    return risks


@compiled
def _breaks(form: Form, cap: float) -> np.ndarray:
    """0, 1 and what kinks lie between: where η̃ falls below the cap, and its turn."""
    kink, breaks = _kink(form, cap), [0.0]
    for time in (min(kink, form.turn), max(kink, form.turn)):
        if breaks[-1] < time < 1:
            breaks.append(time)
    breaks.append(1.0)
    return np.array(breaks)


@compiled
def _rates(form: Form, times: np.ndarray, cap: float) -> np.ndarray:
    """min(η̃, cap) at times, shape (k,)."""
    rates = np.empty(len(times))
    for k in range(len(times)):
        rates[k] = min(rate_at(form, times[k]), cap)
    return rates


@compiled
def _kink(form: Form, cap: float) -> float:
    """The time at which η̃ falls below the cap by bisection; 0 where it does so nowhere inside (0, 1)."""
    low, high = 0.0, 1.0
    if not rate_at(form, low) > cap > rate_at(form, high):
        return 0.0
    for _ in range(60):
        middle = (low + high) / 2
        if rate_at(form, middle) > cap:
            low = middle
        else:
            high = middle
    return high


def _kinks(system: System, schedule: Schedule) -> list[float]:
    """The time at which η̃ falls below the cap, and the turn of a schedule in machine code, inside (0, 1)."""

    def above(time: float) -> float:
        return float(schedule(time)) - system.cap

    form = getattr(schedule, "form", None)
    found = [form.turn] if form is not None and form.turn < 1 else []
    return [*found, brentq(above, 0.0, 1.0, xtol=1e-15)] if above(0.0) > 0 > above(1.0) else found


@compiled
def _extrapolated(risks: np.ndarray, coarser: np.ndarray) -> np.ndarray:
    """A row of Richardson's table: the risks, then with h² and h³ taken out of the error, shape (up to 3, k).

    It is ∞ where the finer and the coarser risk are, and not a number where one of them alone is not finite.
    """
    row = np.empty((min(len(coarser), _POWERS) + 1, len(risks)))
    for k in range(len(risks)):
        row[0, k] = risks[k]
        for j in range(len(row) - 1):
            fine, coarse = row[j, k], coarser[j, k]
            if np.isfinite(fine) and np.isfinite(coarse):
                row[j + 1, k] = fine + (fine - coarse) / (2 ** (j + 2) - 1)
            else:
                row[j + 1, k] = np.inf if np.isinf(fine) and np.isinf(coarse) else np.nan
    return row


@compiled
def _settled(row: np.ndarray, tolerance: float) -> bool:
    """Whether the last two extrapolations agree, and not by accident: an error h² has the power ³⁄₂ of size h³."""
    if len(row) <= _POWERS:
        return False
    for k in range(row.shape[1]):
        raw, once, twice = row[0, k], row[1, k], row[2, k]
        if raw != twice and not max(abs(twice / once - 1), abs(once / raw - 1) ** 1.5) <= tolerance:
            return False
    return True
