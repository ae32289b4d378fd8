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
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from costofprivacy.dpgd.schedule import Schedule
from costofprivacy.dpgd.system import System, noise_scale, reductions

_GAUSS = np.polynomial.legendre.leggauss(4)  # a cell's integrals of η̄ and η̄η̃², smooth inside the cell
_PASSES = 3  # one alone, with μ frozen, is of first order; so are two where the private noise drives fast modes
_FLOOR = 1e-8  # below it φ₁ and φ₂ are their limits at 0 to 1e-8
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

    The centre of the noise comes by parts, ∫ (F − F_start)(−dη̃²) = ∫ η̃² dF − η̃²_end ΔF, without a derivative.

    Assumes: η̄ smooth inside each cell.

    Args:
        system: for its cap. schedule: η̃. grid: t_0 < … < t_k.
    """
    nodes, weights = _GAUSS
    width = np.diff(grid)[:, None]
    inner = grid[:-1, None] + width * (nodes + 1) / 2
    squared, rate = schedule(inner) ** 2, system.learning_rate(schedule, inner)
    ends, capped = schedule(grid) ** 2, system.learning_rate(schedule, grid)
    progress, noise = (width / 2 * rate) @ weights, ends[:-1] - ends[1:]
    with np.errstate(divide="ignore", invalid="ignore"):
        centre = ((width / 2 * rate * squared) @ weights / progress - ends[1:]) / noise
    lean = np.where(noise > 0, 6 * np.clip(np.nan_to_num(centre, nan=0.5), 0.0, 1.0) - 3, 0.0)
    return Cells(progress, capped[:-1], capped[1:], noise, lean)


class _Cell(NamedTuple):
    """One cell: ΔF, γη̄ at its ends, the private noise (2c²γ²/ρ²)(−Δη̃²) in it and how that leans to the end."""

    progress: float
    rate_start: float
    rate_end: float
    noise: float
    lean: float


class _State(NamedTuple):
    """D, and what follows from it: R, μ_c(R) and ν_c(R)(R + ζ²/2)."""

    energies: np.ndarray
    risk: float
    mu: float
    scaled_nu: float


def path(system: System, cells: Cells, clip: float, rho: float) -> np.ndarray:
    """R at the ends of all cells, R(0) first.

    Args:
        system: the equations. cells: of its schedule, k of them. clip: c in (0, ∞]. rho: ρ in (0, ∞].

    Returns:
        shape (k + 1,): ∞ from where R overflows.

    Raises:
        ValueError: as `system.noise_scale`.
    """
    risks = np.full(len(cells.progress) + 1, math.inf)
    risks[0] = system.initial_risk
    state = _State(system.initial, system.initial_risk, *reductions(system, clip, system.initial_risk))
    with np.errstate(over="ignore", invalid="ignore"):
        for k, cell in enumerate(_scaled(system, cells, clip, rho), start=1):
            state = _cross(system, clip, state, cell)
            if not math.isfinite(state.risk):
                risks[k:] = state.risk
                break
            risks[k] = state.risk
    return risks


def _scaled(system: System, cells: Cells, clip: float, rho: float) -> list[_Cell]:
    gamma = system.aspect_ratio
    noise = 2 * noise_scale(clip, rho) * gamma**2
    columns = (cells.progress, gamma * cells.rate_start, gamma * cells.rate_end, noise * cells.noise, cells.lean)
    return [_Cell(*row) for row in np.column_stack(columns).tolist()]


def _cross(system: System, clip: float, state: _State, cell: _Cell, depth: int = 0) -> _State:
    """The state at the end of a cell, which is halved as long as R grows too fast for its size."""
    after = _advance(system, clip, state, cell)
    if not math.isnan(after.risk) or depth == _DEEPEST:
        return after
    for half in _halves(cell):
        state = _cross(system, clip, state, half, depth + 1)
        if not math.isfinite(state.risk):
            break
    return state


def _halves(cell: _Cell) -> tuple[_Cell, _Cell]:
    """The two halves of a cell in F, of what is linear in it; a half keeps some noise, however the cell leans."""
    middle, shift = (cell.rate_start + cell.rate_end) / 2, min(max(cell.lean / 2, -_ONE_SIDED), _ONE_SIDED)
    return (
        _Cell(cell.progress / 2, cell.rate_start, middle, cell.noise / 2 * (1 - shift), shift / (1 - shift)),
        _Cell(cell.progress / 2, middle, cell.rate_end, cell.noise / 2 * (1 + shift), shift / (1 + shift)),
    )


def _advance(system: System, clip: float, state: _State, cell: _Cell) -> _State:
    """The state at the end of a cell; only its risk is set where that is ∞, or not a number: no value of it is near."""
    start = cell.rate_start * state.scaled_nu / state.mu

    def sampling(risk: float) -> float:
        mu, scaled_nu = reductions(system, clip, risk)
        return cell.rate_end * scaled_nu / mu

    risk, source, tried = state.risk, cell.rate_end * state.scaled_nu / state.mu, [state.mu]
    for _ in range(_PASSES):
        ahead = _limit(tried)
        clock = cell.progress * (state.mu + ahead) / 2
        lean = cell.lean + (state.mu - ahead) / (state.mu + ahead)
        known, by_end = _response(system, state.energies, clock, start, cell.noise, lean)
        offset, slope = float(system.readout @ known), float(system.readout @ by_end)
        risk = _fixed_point(sampling, offset, slope, risk, source)
        if not math.isfinite(risk):
            return state._replace(risk=risk)
        mu, scaled_nu = reductions(system, clip, risk)
        source = cell.rate_end * scaled_nu / mu
        tried.append(mu)
        if abs(mu - ahead) <= _SOLVED * mu:
            break
    return _State(known + source * by_end, risk, mu, scaled_nu)


def _limit(values: list[float]) -> float:
    """The last of the values, or Aitken's limit of the last three, as far as they are monotone."""
    if len(values) < 3:
        return values[-1]
    first, second, third = values[-3:]
    old, new = second - first, third - second
    return third + new * new / (old - new) if abs(new) < abs(old) else third


def _response(
    system: System, energies: np.ndarray, clock: float, start: float, noise: float, lean: float
) -> tuple[np.ndarray, np.ndarray]:
    """D after ΔΓ = ``clock`` as two vectors, ``known + g⁺·by_end``, with g = ``start`` at the start.

    The noise has the mass ``noise`` and the density (1 + lean·(2s − 1))/ΔΓ, s from 0 to 1 through the cell.
    """
    exponent = -2 * clock * system.relaxation
    floored = np.minimum(exponent, -_FLOOR)
    first = np.expm1(floored) / floored
    by_end = (first - 1) / floored
    known = np.exp(exponent) * energies + (first - by_end) * (clock * start * system.sampling + noise * (1 - lean))
    known += by_end * (noise * (1 + lean))
    return known, clock * by_end * system.sampling


def _fixed_point(
    source: Callable[[float], float], offset: float, slope: float, guess: float, source_there: float
) -> float:
    """r = offset + slope·source(r) by the secant method; not a number where the right side rises as fast as r."""
    old, old_value = guess, offset + slope * source_there
    new = old_value
    for _ in range(_ITERATIONS):
        if not math.isfinite(new):
            return new
        value = offset + slope * source(new)
        if abs(value - new) <= _SOLVED * value:
            return value
        rise = (value - old_value) / (new - old) if new != old else 0.0
        if not rise < 1:
            return math.nan if math.isfinite(value) else value
        old, old_value, new = new, value, max(new + (value - new) / (1 - rise), 0.0)
    return math.nan
