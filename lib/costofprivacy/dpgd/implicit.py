r"""The deterministic equivalent as one implicit equation for the risk: descent, sampling noise and private noise apart.

With Γ(t) = ∫ η̄ μ ds the equations of `system.System` are linear and diagonal; solved one by one and summed they give
(6.1) and (6.2) of arXiv:2505.16329v2,

.. math:: R(t) = \mathcal F(\Gamma(t))
          + \int_0^t \bar\eta^2\gamma\,\nu_c\mathcal P\,\mathcal K(\Gamma(t) - \Gamma(s))\,ds
          + \frac{2c^2\gamma^2}{\rho^2} \int_0^t \mathcal J(\Gamma(t) - \Gamma(s))\,(-d\tilde\eta^2(s)).

`parts_of_path` evaluates the right side for a given path of the risk: an independent check of that path, and the share of
each of the three causes in it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from costofprivacy import _validate
from costofprivacy.dpgd.schedule import Schedule, check_schedule
from costofprivacy.dpgd.system import System, check_times, noise_scale, reductions


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
