r"""The deterministic equivalent's risk in three parts: what is left of the start, sampling, and the private noise.

Given μ_c(R(t)) and ν_c(R(t)), (4.7) is linear in D with three sources, so R = B + S + P with

.. math:: B(t) = \sum_i r_i e^{-2a_i\Gamma(t)} D_i(0), \qquad \Gamma(t) = \int_0^t \bar\eta\,\mu_c\,ds,

S what the term in ν_c has left by t, P what the noise −c²dη̃²/ρ² has. None is negative. The noise of the last step,
(4.23), is a fourth part, `system.last_step`, of the released parameter alone.

One grid of cells serves all: `exponential.path` gives R at their ends, and with it each cell is crossed once more for
each source alone, by the same step. So the parts add up to R. That is a fraction of the work of
`equivalent.risk_path`, which doubles its grids until six digits stand, and enough for a figure.

**The deterministic equivalent as one implicit equation for the risk: descent, sampling noise and private noise apart.**

With Γ(t) = ∫ η̄ μ ds the equations of `system.System` are linear and diagonal; solved one by one and summed they give
(6.1) and (6.2) of arXiv:2505.16329v2,

.. math:: R(t) = \mathcal F(\Gamma(t))
          + \int_0^t \bar\eta^2\gamma\,\nu_c\mathcal P\,\mathcal K(\Gamma(t) - \Gamma(s))\,ds
          + \frac{2c^2\gamma^2}{\rho^2} \int_0^t \mathcal J(\Gamma(t) - \Gamma(s))\,(-d\tilde\eta^2(s)).

`parts_of_path` evaluates the right side for a given path of the risk: an independent check of that path, and the share
of each of the three causes in it.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from costofprivacy import _validate
from costofprivacy.dpgd import exponential
from costofprivacy.dpgd.schedule import Schedule, check_schedule
from costofprivacy.dpgd.system import System, check_times, noise_scale, reductions

_CELLS = 96  # in which a path is crossed, besides those that the times asked for cut


@dataclass(frozen=True)
class Parts:
    """The risk and its parts at some times, shape (k,) each, in the risk's unit.

    Args:
        risk: R. start: what is left of R(0). sampling: from learning on one record at a time. private: from the noise
            before the last step.
    """

    risk: np.ndarray
    start: np.ndarray
    sampling: np.ndarray
    private: np.ndarray


def risk_parts(system: System, schedule: Schedule, clip: float, rho: float, times: ArrayLike) -> Parts:
    """R(t) of (4.7) and (4.8) of arXiv:2505.16329v2 and its parts at given times, t = 1 before the last step's noise.

    Assumes: as `equivalent.risk_path`, and a risk that does not overflow.
    Guarantees: the parts add up to R to 1e-6 relative, and R is right to 2e-3 (1e-4 where η̃ stays below its cap
    and γη̃ is small).

    Args:
        system: the equations. schedule: η̃. clip: c in (0, ∞]. rho: ρ in (0, ∞].
        times: in [0, 1], ascending, shape (k,).

    Raises:
        ValueError: as `equivalent.risk_path`.

    >>> from costofprivacy.dpgd import schedule, system
    >>> found = risk_parts(system.isotropic(0.5, 0.1, 0.3), schedule.Constant(3.0), 1.0, 1.0, [0.0, 0.5, 1.0])
    >>> print(found.start.round(4), found.sampling.round(4), found.private)
    [0.5   0.04  0.002] [0.     0.0224 0.0102] [0. 0. 0.]
    """
    asked = check_times(times)
    nodes = np.unique([0.0, 1.0, *asked, *(1 - np.cos(np.pi * np.linspace(0, 1, _CELLS + 1))) / 2])
    check_schedule(schedule)
    cells = exponential.cells_of(system, schedule, nodes)
    risks = exponential.path(system, cells, clip, rho)
    table = np.column_stack([risks, _cross(system, cells, clip, rho, risks)])
    return Parts(*table[np.searchsorted(nodes, asked)].T)


def _cross(system: System, cells: exponential.Cells, clip: float, rho: float, risks: np.ndarray) -> np.ndarray:
    """The three parts at the ends of the cells, given R there, shape (ends, 3)."""
    gamma = system.aspect_ratio
    mu, scaled_nu = np.array([reductions(system, clip, risk) for risk in risks]).T
    clocks = cells.progress * (mu[:-1] + mu[1:]) / 2
    leans = cells.lean + (mu[:-1] - mu[1:]) / (mu[:-1] + mu[1:])
    begins = gamma * cells.rate_start * (scaled_nu / mu)[:-1]
    ends = gamma * cells.rate_end * (scaled_nu / mu)[1:]
    noises = 2 * noise_scale(clip, rho) * gamma**2 * cells.noise
    start, sampling, private = np.array(system.initial), np.zeros(len(system.initial)), np.zeros(len(system.initial))
    told = [(system.initial_risk, 0.0, 0.0)]
    law, known, by_end = exponential.law_of(system, clip, rho), np.empty_like(start), np.empty_like(start)
    for clock, lean, begin, end, noise in zip(clocks, leans, begins, ends, noises):
        exponential.respond(law, start, clock, 0.0, 0.0, lean, known, by_end)
        start = known.copy()
        exponential.respond(law, sampling, clock, begin, 0.0, lean, known, by_end)
        sampling = known + end * by_end
        exponential.respond(law, private, clock, 0.0, noise, lean, known, by_end)
        private = known.copy()
        told.append((system.risk(start), system.risk(sampling), system.risk(private)))
    return np.array(told)


# ---- Implicit ----


def kernels(system: System, clock: ArrayLike) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The kernels ℱ, 𝒦 and 𝒥 of (6.3) of arXiv:2505.16329v2, Σ r_i D_i(0) e^(−2a_i x), Σ r_i b_i e^(…), Σ r_i e^(…).

    Args:
        system: the equations. clock: x ≥ 0, any shape.

    Returns:
        Three arrays of the shape of ``clock``.

    Raises:
        ValueError: if a value of ``clock`` is negative or not a number.
    """
    x = np.asarray(clock, dtype=float)
    if not (x >= 0).all():
        raise ValueError(f"clock must be non-negative, got {x.min()!r}")
    decay = np.exp(-2 * np.multiply.outer(x, system.relaxation)) * system.readout
    return decay @ system.initial, decay @ system.sampling, decay.sum(axis=-1)


def parts_of_path(
    system: System, schedule: Schedule, clip: float, rho: float, times: ArrayLike, risks: ArrayLike
) -> np.ndarray:
    """The three terms on the right of (6.2) at the last time, for a given path of the risk, by the trapezoidal rule.

    Guarantee: for the path that solves (4.7) their sum is R(t) up to an error of second order in the times' distance.

    Args:
        system: the equations. schedule: η̃. clip: c in (0, ∞]. rho: ρ in (0, ∞].
        times: from 0, ascending, shape (k,). risks: R at these times, shape (k,).

    Returns:
        What is left of the start, the sampling noise, the private noise: shape (3,).

    Raises:
        ValueError: if the shapes disagree, the times do not start at 0, an argument is outside its range, or
            the schedule increases, is negative or not finite.
    """
    when, values = check_times(times), np.asarray(risks, dtype=float)
    _validate.shape("risks", values, when.shape)
    check_schedule(schedule)
    if when[0] != 0:
        raise ValueError(f"times must start at 0, got {when[0]!r}")
    mu, scaled_nu = np.array([reductions(system, clip, risk) for risk in values]).T
    rate = system.learning_rate(schedule, when)
    width = np.diff(when)
    clock = np.concatenate([[0.0], np.cumsum(width * _means(rate * mu))])
    _, sampled, private = kernels(system, clock[-1] - clock)
    noise = 2 * noise_scale(clip, rho) * system.aspect_ratio**2 * -np.diff(schedule(when) ** 2)
    sampling = system.aspect_ratio * rate**2 * scaled_nu * sampled
    return np.array([kernels(system, clock[-1])[0], width @ _means(sampling), noise @ _means(private)])


def _means(values: np.ndarray) -> np.ndarray:
    return (values[1:] + values[:-1]) / 2
