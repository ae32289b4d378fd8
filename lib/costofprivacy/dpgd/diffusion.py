r"""Homogenised DP-GD: a diffusion whose risk is that of Algorithm 1 up to O(log²n/√n).

With v = Θ − θ* in the eigenbasis of Σ, (4.14) and (C.1) of arXiv:2505.16329v2 are d equations coupled through the risk,

.. math:: dv_i = -k\,\bar\eta\,\mu_c\,\lambda_i v_i\,dt
          + \Bigl(\bar\eta^2\,\frac{2\nu_c\mathcal P\lambda_i}{n} + \frac{4d}{n^2}c^2\tilde\sigma^2\Bigr)^{1/2} dB_i .

The paper prints k = 2. By Itô's formula D_i = d v_i²/2 then has the drift −2kη̄μλ_iD_i + λ_iη̄²ν𝒫γ + 2c²σ̃²γ², which is
the right side of (4.7) for k = 1 and for no other k; (C.9) and (C.27), derived from (C.1), have k = 1 as well.

The simulation takes small steps in time. Over a step μ, ν and 𝒫 are frozen at its start; then v_i is an
Ornstein–Uhlenbeck process, whose transition is sampled exactly, with the step's own mass of private noise, −Δη̃². So
the path is stable for every step and its law is right to first order in the step.
"""

import numpy as np
from numpy.typing import ArrayLike

from costofprivacy import _validate
from costofprivacy.dpgd import draws
from costofprivacy.dpgd.clipping import descent_reduction_at, variance_reduction_at
from costofprivacy.dpgd.schedule import Schedule, check_schedule
from costofprivacy.dpgd.spectrum import RegressionModel
from costofprivacy.dpgd.system import check_times, noise_scale

DERIVED = 1.0  # k by Itô's formula
PRINTED = 2.0  # k of (4.14) and (C.1)


def diffuse(
    model: RegressionModel,
    schedule: Schedule,
    clip: float,
    rho: float,
    n: int,
    times: ArrayLike,
    paths: int,
    drift: float = DERIVED,
    *,
    steps: int = 1000,
    rng: np.random.Generator,
) -> np.ndarray:
    """Errors v = Θ_t − θ* of independent paths of homogenised DP-GD, (4.14) of arXiv:2505.16329v2, in the eigenbasis.

    Assumes: Gaussian features (Assumption 1), which give μ and ν their form.

    Args:
        model: the problem in dimension d. schedule: η̃. clip: c in (0, ∞]. rho: ρ in (0, ∞].
        n: number of records, at least 1.
        times: in [0, 1], ascending, shape (k,); they are moved to the nearest step.
        paths: number of independent paths, at least 1.
        drift: k > 0, the factor of the drift; 1 is the right one, 2 the printed one.
        steps: number of steps in time, at least 1.
        rng: source of randomness.

    Returns:
        v, shape (k, paths, d); ``model.risk(v + model.target)`` is its risk.

    Raises:
        ValueError: if an argument is outside its range, or the schedule increases, is negative or not finite.
    """
    when = check_times(times)
    check_schedule(schedule)
    drift = _validate.finite_positive("drift", drift)
    marks = np.rint(when * _validate.whole("steps", steps)).astype(int)
    errors = np.tile(-model.target, (_validate.whole("paths", paths), 1))
    noise = 4 * model.d / _validate.whole("n", n) ** 2 * noise_scale(clip, rho)
    grid = np.arange(steps + 1) / steps
    squares = schedule(grid) ** 2
    rates = np.minimum((schedule(grid[:-1]) + schedule(grid[1:])) / 2, 2 * n / model.d)
    kept = np.empty((len(marks), *errors.shape))
    for k in range(steps + 1):
        kept[marks == k] = errors
        if k < marks[-1]:
            masses = noise * (squares[k] - squares[k + 1])
            errors = _transition(model, clip, n, errors, drift, rates[k], 1 / steps, masses, rng)
    return kept


def _transition(
    model: RegressionModel,
    clip: float,
    n: int,
    errors: np.ndarray,
    drift: float,
    rate: float,
    step: float,
    private: float,
    rng: np.random.Generator,
) -> np.ndarray:
    """v after a step in which μ and ν𝒫 stay as they are; ``private`` is the variance of the step's private noise."""
    eigenvalues = model.spectrum.eigenvalues
    test_risk = (errors**2 @ eigenvalues / 2 + model.label_noise**2 / 2)[:, None]
    ratio = clip / np.sqrt(2 * np.maximum(test_risk, np.finfo(float).tiny))
    decay = drift * rate * descent_reduction_at(ratio) * step * eigenvalues
    sampled = 2 * rate**2 * step * variance_reduction_at(ratio) * test_risk / n * eigenvalues
    spread = -np.expm1(-2 * decay) / np.where(decay > 0, 2 * decay, 1.0)
    variance = (sampled + private) * np.where(decay > 0, spread, 1.0)
    return np.exp(-decay) * errors + np.sqrt(variance) * draws.normals(errors.shape, rng)
