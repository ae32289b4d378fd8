r"""The equations of the deterministic equivalent: relaxing energies that are coupled through the risk alone.

Everything that the paper integrates has one form,

.. math:: \dot D_i = -2 a_i\,\bar\eta\,\mu_c(R)\,D_i + b_i\,\bar\eta^2\,\gamma\,\nu_c(R)\,(R + \zeta^2/2)
          + 2c^2\tilde\sigma^2\gamma^2, \qquad R = \sum_i r_i D_i,

with η̄ = min(η̃, 2/γ) and ρ²σ̃² = −dη̃²/dt. Definition 4.2 has a_i = b_i = λ_i and r_i = λ_i/d; (4.11) is its case
λ_i = 1, a single equation; the comparison equations (4.12) are single equations too, with a = λ_min, b = λ_max, r = 1
and a = λ_max, b = 1, r = 1. A spectrum with a density is a quadrature rule for it: r_i = w_i λ_i.

**Where (4.7) comes from.** Let v = θ − θ* and v_i its coordinate along the i-th eigenvector. A step of Algorithm 1
changes v_i² by −2v_i η̄_k ḡ_i + η̄_k² ḡ_i² + 4C²σ_k² b_i² and a term of mean zero. Now ḡ = r_c x with ‖x‖² ≈ d, and
E[r_c x] = μ Σv by (4.6), so the first term has the mean −2η̄ μ λ_i v_i²/n. The second has the mean η̄² E[r_c²
x_i²]/n² ≈ η̄² · 2ν𝒫 · λ_i/n²: a single coordinate tells little about r. The third is 4c²d σ̃²/n³. With D_i = d v_i²/2
and n steps to the unit of time these are the three terms of (4.7): the middle one is not halved, as (C.7) of the
paper has it."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.integrate import solve_ivp

from costofprivacy import _validate
from costofprivacy._compiled import compiled
from costofprivacy.dpgd.schedule import Schedule, last_noise, noise_intensity
from costofprivacy.dpgd.spectrum import RegressionModel

_ROOT_HALF, _SATURATED = math.sqrt(0.5), 40.0  # as in `clipping`: from 40 on, 1 − ν is below the smallest double
_ROOT_TWO_OVER_PI, _ROUNDING = math.sqrt(2 / math.pi), 1e-17
_TINY = 1e-300  # keeps c/√(2𝒫) finite where 𝒫 = 0


@dataclass(frozen=True, eq=False)
class System:
    """Equations D_i' = −2 a_i η̄ μ D_i + b_i η̄² γ ν (R + ζ²/2) + 2c²σ̃²γ² with R = Σ r_i D_i; see the module.

    Args:
        relaxation: a_i ≥ 0, shape (m,).
        sampling: b_i ≥ 0, shape (m,).
        readout: r_i ≥ 0, shape (m,).
        initial: D_i(0) ≥ 0, shape (m,).
        aspect_ratio: γ = d/n > 0.
        label_noise: ζ ≥ 0.
        cap: the largest learning rate that is used, η̄ = min(η̃, cap): 2/γ in the paper, ∞ for no cap.

    Raises:
        ValueError: if shapes disagree or a value is outside its range.
    """

    relaxation: np.ndarray
    sampling: np.ndarray
    readout: np.ndarray
    initial: np.ndarray
    aspect_ratio: float
    label_noise: float
    cap: float

    def __post_init__(self) -> None:
        _validate.keep(self, _validate.FINITE_POSITIVE, "aspect_ratio")
        _validate.keep(self, _validate.NONNEGATIVE, "label_noise")
        _validate.keep(self, _validate.POSITIVE, "cap")
        for name in ("relaxation", "sampling", "readout", "initial"):
            object.__setattr__(self, name, _coefficients(name, getattr(self, name), len(np.atleast_1d(self.initial))))

    @property
    def initial_risk(self) -> float:
        """R(0)."""
        return self.risk(self.initial)

    def risk(self, energies: np.ndarray) -> float:
        """R = Σ r_i D_i, (4.8) of arXiv:2505.16329v2."""
        return float(self.readout @ energies)

    def test_risk(self, risk: float) -> float:
        """𝒫 = R + ζ²/2."""
        return risk + self.label_noise**2 / 2

    def learning_rate(self, schedule: Schedule, time: float | np.ndarray) -> np.ndarray:
        """η̄(t) = min(η̃(t), cap), of the shape of ``time``."""
        return np.minimum(schedule(time), self.cap)


def _coefficients(name: str, values: ArrayLike, length: int) -> np.ndarray:
    vector = np.array(values, dtype=float)
    if vector.ndim != 1 or vector.size == 0:
        raise ValueError(f"{name} must be a non-empty vector, got shape {vector.shape}")
    if len(vector) != length:
        raise ValueError(f"{name} must have shape ({length},) as initial has, got {vector.shape}")
    if not ((vector >= 0) & (vector < math.inf)).all():
        raise ValueError(
            f"{name} must be non-negative and finite, got {vector[~((vector >= 0) & (vector < math.inf))][0]}"
        )
    vector.flags.writeable = False
    return vector


def of_spectrum(
    eigenvalues: ArrayLike,
    energies: ArrayLike,
    aspect_ratio: float,
    label_noise: float,
    weights: ArrayLike | None = None,
) -> System:
    """The system of Definition 4.2, (4.7) and (4.8) of arXiv:2505.16329v2.

    Args:
        eigenvalues: λ_i ≥ 0, shape (m,).
        energies: D_i(0) = d(ω_i'θ*)²/2 ≥ 0, shape (m,).
        aspect_ratio: γ = d/n > 0.
        label_noise: ζ ≥ 0.
        weights: share of the spectrum that each eigenvalue stands for, shape (m,); by default 1/m each.

    Raises:
        ValueError: if shapes disagree or a value is outside its range.
    """
    values = np.array(eigenvalues, dtype=float)
    shares = np.full(values.shape, 1 / max(values.size, 1)) if weights is None else np.array(weights, dtype=float)
    _validate.shape("weights", shares, values.shape)
    gamma = _validate.finite_positive("aspect_ratio", aspect_ratio)
    return System(values, values, shares * values, np.array(energies), gamma, label_noise, 2 / gamma)


def of_model(model: RegressionModel, n: int) -> System:
    """The system of Definition 4.2 of arXiv:2505.16329v2 for a regression model in finite dimension.

    Args:
        model: the problem in dimension d. n: number of records, at least 1; γ = d/n.

    Returns:
        d equations, one for each eigenvalue.

    Raises:
        ValueError: if ``n`` is not a whole number of at least 1.
    """
    gamma = model.d / _validate.whole("n", n)
    return of_spectrum(model.spectrum.eigenvalues, model.initial_energies, gamma, model.label_noise)


def isotropic(initial_risk: float, aspect_ratio: float, label_noise: float) -> System:
    """The single equation (4.11) of arXiv:2505.16329v2, for Σ = I.

    Args:
        initial_risk: R(0) = ‖θ*‖²/2 ≥ 0. aspect_ratio: γ = d/n > 0. label_noise: ζ ≥ 0.

    Raises:
        ValueError: if a value is outside its range.
    """
    return of_spectrum([1.0], [initial_risk], aspect_ratio, label_noise)


def reductions(system: System, clip: float, risk: float) -> tuple[float, float]:
    """μ_c(R) and ν_c(R)(R + ζ²/2), which couple the equations. Checks nothing.

    Args:
        system: the equations. clip: c in (0, ∞]. risk: R ≥ 0.

    Returns:
        μ_c(R) and ν_c(R)(R + ζ²/2).
    """
    return reductions_at(system.test_risk(risk), float(clip))


@compiled
def reductions_at(test_risk: float, clip: float) -> tuple[float, float]:
    """μ and ν𝒫 at the test risk 𝒫: `clipping.descent_reduction_at` and `variance_reduction_at` to rounding, in numbers.

    The variance that clipping leaves whole is F(z) = erf(z/√2) − √(2/π) z e^(−z²/2); where it cancels, from its series.
    """
    ratio = clip / math.sqrt(2 * max(test_risk, _TINY))
    z = min(ratio, _SATURATED)
    square = z * z
    whole = math.erf(_ROOT_HALF * z)
    if z < 1:
        term, kept, k = _ROOT_TWO_OVER_PI * z * square, 0.0, 0
        while term / (2 * k + 3) > _ROUNDING * kept or -term / (2 * k + 3) > _ROUNDING * kept:
            kept += term / (2 * k + 3)
            k += 1
            term *= -square / (2 * k)
    else:
        kept = whole - _ROOT_TWO_OVER_PI * z * math.exp(-0.5 * square)
    nu = square * math.erfc(_ROOT_HALF * z) + kept
    return (math.erf(_ROOT_HALF * ratio) if ratio < np.inf else 1.0), nu * test_risk


def derivative(
    system: System, schedule: Schedule, clip: float, rho: float, time: float, energies: np.ndarray
) -> np.ndarray:
    """The right side of (4.7) of arXiv:2505.16329v2, shape (m,). Checks nothing but the schedule.

    Args:
        system: the equations. schedule: η̃. clip: c in (0, ∞]. rho: ρ in (0, ∞].
        time: t in [0, 1). energies: D, shape (m,).
    """
    mu, scaled_nu = reductions(system, clip, system.risk(energies))
    rate, gamma = float(system.learning_rate(schedule, time)), system.aspect_ratio
    private = 2 * noise_scale(clip, rho) * gamma**2 * float(noise_intensity(schedule, time, 1.0))
    return -2 * rate * mu * system.relaxation * energies + gamma * rate**2 * scaled_nu * system.sampling + private


def noise_scale(clip: float, rho: float) -> float:
    """c²/ρ², the size of the private noise; 0 where ρ = ∞, also for c = ∞.

    Args:
        clip: c in (0, ∞]. rho: ρ in (0, ∞].

    Raises:
        ValueError: if an argument is not positive, or c = ∞ with a finite ρ, whose noise would be infinite.
    """
    clip = _validate.positive("clip", clip)
    rho = _validate.positive("rho", rho)
    if rho == math.inf:
        return 0.0
    if clip == math.inf:
        raise ValueError(f"clip must be finite where rho is, got inf and {rho!r}")
    return (clip / rho) ** 2


def last_step(system: System, schedule: Schedule, clip: float, rho: float) -> float:
    """What the noise of the last step adds to the risk, 2c²η̃(1)²γ²/ρ²·tr Σ/d, (4.23) of arXiv:2505.16329v2.

    The noise adds 2c²η̃(1)²γ²/ρ² to each D_i, so Σ r_i = tr Σ/d times that to R; the paper has tr Σ = d.

    Args:
        system: the equations. schedule: η̃. clip: c in (0, ∞]. rho: ρ in (0, ∞].

    Returns:
        The addition to R, non-negative.

    Raises:
        ValueError: as `noise_scale`.
    """
    each = 2 * noise_scale(clip, rho) * system.aspect_ratio**2 * last_noise(schedule, 1.0)
    return each * float(system.readout.sum())


def reference_path(
    system: System, schedule: Schedule, clip: float, rho: float, times: ArrayLike, tolerance: float = 1e-10
) -> np.ndarray:
    """R(t) by LSODA on (4.7) as it stands: slow and independent of `equivalent.risk_path`, which it checks.

    Assumes: η̃² differentiable in [0, t] for the times asked for (for α < ½ stay below t = 1).

    Args:
        system: the equations. schedule: η̃. clip: c in (0, ∞]. rho: ρ in (0, ∞].
        times: in [0, 1], ascending, shape (k,).
        tolerance: relative, of LSODA.

    Returns:
        R at the times, shape (k,).

    Raises:
        ValueError: if an argument is outside its range. RuntimeError: if LSODA gives up.
    """
    when = check_times(times)
    noise_scale(clip, rho)
    solution = solve_ivp(
        lambda t, energies: derivative(system, schedule, clip, rho, t, energies),
        (0.0, float(max(when[-1], _TINY))),
        system.initial,
        method="LSODA",
        t_eval=when,
        rtol=tolerance,
        atol=tolerance * 1e-3 * max(system.initial_risk, _TINY),
    )
    if not solution.success:
        raise RuntimeError(f"LSODA stopped: {solution.message}")
    return system.readout @ solution.y


def check_times(times: ArrayLike) -> np.ndarray:
    """Times as a vector.

    Raises:
        ValueError: if they are not a non-empty ascending vector in [0, 1].
    """
    when = np.array(times, dtype=float)
    if when.ndim != 1 or when.size == 0 or not (np.diff(when) >= 0).all() or not (when[0] >= 0 and when[-1] <= 1):
        raise ValueError("times must be an ascending vector in [0, 1], not empty")
    return when
