r"""Learning rates that do not increase, and the noise that makes them private.

A schedule is a function η̃ on [0, 1]; step k of n has the length η_k = η̃(k/n)/n, (4.4) of arXiv:2505.16329v2. The
noise of step k has the standard deviation 2 C_clip σ_k in each coordinate.

**The noise (4.2) is the least.** Privacy at level ρ asks for η_k² ≤ ρ² T_k with T_k = σ_k² + … + σ_n², (4.1), and
T_k does not increase in k. So T_k ≥ max_{j ≥ k} η_j²/ρ², which is η_k²/ρ² where the learning rates do not increase.
(4.2) has equality for every k: of all noise schedules with this ρ it has the least total from *every* step on, hence
also the least Σ_k w_k σ_k² = w_1 T_1 + Σ_{k>1} (w_k − w_{k−1}) T_k for all weights 0 ≤ w_1 ≤ … ≤ w_n (late noise
hurts more: later steps undo the early one).

An increasing learning rate would ask for σ_k² < 0; nothing in the paper's assumptions rules it out.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from costofprivacy import _validate
from costofprivacy._compiled import compiled
from costofprivacy.privacy.amplification import nonnegative_array, spent_by_record

# Of learning rates and clip norms: no square or product that noise is made of vanishes.
SMALLEST, LARGEST = 1e-60, 1e100
STRICTEST, LOOSEST = 1e-20, 1e20  # of ρ


class Form(NamedTuple):
    """The paper's schedules in one formula, η̃(t) = A (1 − t)^α / (t + τ), without the divisor where τ = ∞.

    Times (s/t)^p from the turn s on, where `Flat` begins to fall; without a turn, s = ∞.
    """

    scale: float
    exponent: float
    offset: float
    turn: float = math.inf
    power: float = 0.0


@compiled
def rate_at(form: Form, time: float) -> float:
    """η̃(t) of a `Form`."""
    rate = form.scale
    if form.exponent != 0:
        rate *= (1 - time) ** form.exponent
    if time > form.turn:
        rate *= (form.turn / time) ** form.power
    return rate / (time + form.offset) if form.offset < np.inf else rate


class Schedule(Protocol):
    """A learning rate η̃(t), t in [0, 1], finite, non-negative and not increasing."""

    def __call__(self, time: float | np.ndarray) -> np.ndarray:
        """η̃(t), of the shape of ``time``."""

    def squared_decrease(self, time: float | np.ndarray) -> np.ndarray:
        """−d(η̃²)/dt at t, of the shape of ``time``; ∞ where η̃² falls with a vertical tangent."""


@dataclass(frozen=True)
class Constant:
    """η̃(t) = η̃(0): output perturbation, all noise in the last step. The case α = 0 of (5.1) of arXiv:2505.16329v2.

    Args:
        initial: η̃(0) in (0, ∞).

    Raises:
        ValueError: if ``initial`` is not positive and finite.
    """

    initial: float

    def __post_init__(self) -> None:
        _validate.keep(self, _validate.FINITE_POSITIVE, "initial")

    def __call__(self, time: float | np.ndarray) -> np.ndarray:
        """η̃(0), of the shape of ``time``."""
        return np.full(np.shape(time), float(self.initial))

    @property
    def form(self) -> Form:
        """A = η̃(0)."""
        return Form(float(self.initial), 0.0, math.inf)

    def squared_decrease(self, time: float | np.ndarray) -> np.ndarray:
        """0: before the last step there is no noise."""
        return np.zeros(np.shape(time))


@dataclass(frozen=True)
class Polynomial:
    """η̃(t) = η̃(0)(1 − t)^α, (5.1) of arXiv:2505.16329v2; α = ½ has the same noise in every step.

    Args:
        initial: η̃(0) in (0, ∞).
        exponent: α in (0, ∞); `Constant` is the case α = 0.

    Raises:
        ValueError: if an argument is not positive and finite.
    """

    initial: float
    exponent: float

    def __post_init__(self) -> None:
        _validate.keep(self, _validate.FINITE_POSITIVE, "initial", "exponent")

    def __call__(self, time: float | np.ndarray) -> np.ndarray:
        """η̃(t), of the shape of ``time``."""
        return self.initial * (1 - np.asarray(time, dtype=float)) ** self.exponent

    @property
    def form(self) -> Form:
        """A = η̃(0), and α."""
        return Form(float(self.initial), float(self.exponent), math.inf)

    def squared_decrease(self, time: float | np.ndarray) -> np.ndarray:
        """2α η̃(0)² (1 − t)^(2α−1); for α < ½ it is ∞ at t = 1."""
        with np.errstate(divide="ignore"):
            left = (1 - np.asarray(time, dtype=float)) ** (2 * self.exponent - 1)
        return 2 * self.exponent * self.initial**2 * left


@dataclass(frozen=True)
class Harmonic:
    """η̃(t) = β/(t + τ), (5.18) of arXiv:2505.16329v2.

    Args:
        scale: β in (0, ∞).
        offset: τ in (0, ∞).

    Raises:
        ValueError: if an argument is not positive and finite.
    """

    scale: float
    offset: float

    def __post_init__(self) -> None:
        _validate.keep(self, _validate.FINITE_POSITIVE, "scale", "offset")

    def __call__(self, time: float | np.ndarray) -> np.ndarray:
        """η̃(t), of the shape of ``time``."""
        return self.scale / (np.asarray(time, dtype=float) + self.offset)

    @property
    def form(self) -> Form:
        """A = β, and τ."""
        return Form(float(self.scale), 0.0, float(self.offset))

    def squared_decrease(self, time: float | np.ndarray) -> np.ndarray:
        """2β²/(t + τ)³."""
        return 2 * self.scale**2 / (np.asarray(time, dtype=float) + self.offset) ** 3


@dataclass(frozen=True)
class Flat:
    """η̃(t) = η̃(0)(s/max(t, s))^p: constant up to a turn, then a power of time.

    Args:
        initial: η̃(0) in (0, ∞).
        turn: s in (0, 1].
        power: p in [0, ∞).

    Raises:
        ValueError: if an argument is outside its range.
    """

    initial: float
    turn: float
    power: float

    def __post_init__(self) -> None:
        _validate.keep(self, _validate.FINITE_POSITIVE, "initial")
        if _validate.finite_positive("turn", self.turn) > 1:
            raise ValueError(f"turn must be at most 1, got {self.turn!r}")
        _validate.keep(self, _validate.NONNEGATIVE, "power")

    def __call__(self, time: float | np.ndarray) -> np.ndarray:
        """η̃(t), of the shape of ``time``."""
        return self.initial * (self.turn / np.maximum(np.asarray(time, dtype=float), self.turn)) ** self.power

    @property
    def form(self) -> Form:
        """A = η̃(0), s and p."""
        return Form(float(self.initial), 0.0, math.inf, float(self.turn), float(self.power))

    def squared_decrease(self, time: float | np.ndarray) -> np.ndarray:
        """0 before the turn, then 2p η̃²/t."""
        when = np.asarray(time, dtype=float)
        falls = 2 * self.power * self(when) ** 2 / np.maximum(when, self.turn)
        return np.where(when < self.turn, 0.0, falls)


def lengths(schedule: Schedule, times: float | np.ndarray, n: int) -> np.ndarray:
    """η̃(t)/n, 0 where it is below `SMALLEST`: noise for so short a step could vanish, and the step would be seen.

    Args:
        schedule: η̃. times: t in [0, 1], any shape. n: number of steps.

    >>> print(lengths(Polynomial(3.0, 30.0), np.array([0.0, 0.5, 0.999]), 1))
    [3.00000000e+00 2.79396772e-09 0.00000000e+00]
    """
    rates = np.asarray(schedule(times)) / n
    return np.where((rates < SMALLEST) & (rates > 0), 0.0, rates)


def learning_rates(schedule: Schedule, n: int) -> np.ndarray:
    """Lengths of n steps, η_k = η̃(k/n)/n for k = 1, …, n, (4.4) of arXiv:2505.16329v2; `lengths` says which are 0.

    Args:
        schedule: η̃. n: number of steps, at least 1.

    Returns:
        shape (n,).

    Raises:
        ValueError: if ``n`` is below 1, or the schedule is negative, not finite or increasing.

    >>> print(learning_rates(Polynomial(3.0, 1.0), 3).round(4))
    [0.6667 0.3333 0.    ]
    """
    steps = _validate.whole("n", n)
    rates = lengths(schedule, np.arange(1, steps + 1) / steps, steps)
    check_rates(rates)
    return rates


def noise_multipliers(learning_rates: np.ndarray, rho: float) -> np.ndarray:
    """Noise of each step over 2C_clip that makes the steps private at level ρ, σ_k of (4.2) of arXiv:2505.16329v2.

    ρ²σ_k² = η_k² − η_{k+1}² for k < n, and ρ²σ_n² = η_n²: with η_{n+1} = 0, one formula.

    Guarantee: `privacy_parameter` of the two is ρ, and no other noise with this ρ has a smaller total from any step on.

    Args:
        learning_rates: η_k, 0 or in [`SMALLEST`, `LARGEST`], not increasing, shape (n,).
        rho: ρ in [`STRICTEST`, `LOOSEST`]; without privacy, ρ = ∞, there is no noise.

    Returns:
        σ_k ≥ 0, shape (n,).

    Raises:
        ValueError: if ``rho`` or a rate is outside its range, or a rate larger than the one before.

    >>> print(noise_multipliers(np.array([5.0, 4.0, 0.0]), rho=1.0))
    [3. 4. 0.]
    """
    check_rho(rho)
    rates = np.asarray(learning_rates, dtype=float)
    check_rates(rates)
    following = np.append(rates[1:], 0.0)
    return np.sqrt((rates - following) * (rates + following)) / rho


def privacy_parameter(learning_rates: np.ndarray, noise_multipliers: np.ndarray) -> float:
    """ρ of any pair of schedules, max_k η_k/√(σ_k² + … + σ_n²), (4.1) of arXiv:2505.16329v2.

    Neighbours: replace one record. Guarantee: Algorithm 1 is ρ-Gaussian DP, hence ρ²/2-zCDP (Proposition 4.1).

    A step of length 0 spends nothing, though no noise follow it: where η̃(1) = 0, the last quotient is 0/0 as printed,
    and the last record is never used. Learning rates may increase here; only (4.2) forbids it.

    Args:
        learning_rates: η_k ≥ 0, shape (n,). noise_multipliers: σ_k ≥ 0, shape (n,).

    Returns:
        ρ in [0, ∞].

    Raises:
        ValueError: if a value is negative, not a number or above 10¹⁵⁰, or the lengths differ.

    >>> privacy_parameter(np.array([5.0, 4.0, 0.0]), np.array([3.0, 4.0, 0.0]))
    1.0
    """
    for name, given in (("learning_rates", learning_rates), ("noise_multipliers", noise_multipliers)):
        if (largest := nonnegative_array(name, given).max()) > LARGEST**1.5:
            raise ValueError(f"{name} must be at most {LARGEST**1.5:g}, got {float(largest)}")
    return float(spent_by_record(learning_rates, noise_multipliers).max())


def noise_intensity(schedule: Schedule, time: float | np.ndarray, rho: float) -> np.ndarray:
    """Noise in continuous time, σ̃²(t) = −(dη̃²/dt)/ρ², Definition 4.2 of arXiv:2505.16329v2; n³σ_k² tends to it.

    It leaves out the last step, whose n²σ_n² is `last_noise`.

    Args:
        schedule: η̃. time: t in [0, 1), any shape. rho: ρ in (0, ∞].

    Returns:
        σ̃² ≥ 0, of the shape of ``time``.

    Raises:
        ValueError: if ``rho`` is not positive, or the schedule increases at one of these times.
    """
    rho = _validate.positive("rho", rho)
    falls = schedule.squared_decrease(time)
    if not (falls >= 0).all():
        raise ValueError(f"schedule must not increase, got {schedule!r}")
    return falls / rho**2


def last_noise(schedule: Schedule, rho: float) -> float:
    """Noise of the last step in continuous time, n²σ_n² = η̃(1)²/ρ², (4.2) of arXiv:2505.16329v2.

    It adds 2c²γ²η̃(1)²/ρ² to the risk, the last term of (4.23).

    Raises:
        ValueError: if ``rho`` is not positive.
    """
    return float(schedule(1.0) / _validate.positive("rho", rho)) ** 2


def check_schedule(schedule: Schedule) -> None:
    """Refuse a learning rate that increases, is negative or not finite, seen at 101 even times in [0, 1].

    Args:
        schedule: η̃.

    Raises:
        ValueError: if it does.

    >>> check_schedule(Polynomial(3.0, 0.5))
    """
    rates = schedule(np.linspace(0.0, 1.0, 101))
    if not (np.isfinite(rates) & (rates >= 0)).all():
        raise ValueError(f"schedule must be finite and non-negative on [0, 1], got {schedule!r}")
    if (np.diff(rates) > 0).any():
        raise ValueError(f"schedule must not increase, got {schedule!r}")


def check_rho(rho: float) -> float:
    """Return ρ; refuse what is neither ∞ nor in [`STRICTEST`, `LOOSEST`].

    Raises:
        ValueError: if it is not.
    """
    if _validate.positive("rho", rho) == math.inf:
        return math.inf
    return _validate.between("rho", rho, STRICTEST, LOOSEST)


def check_rates(rates: np.ndarray) -> None:
    """Refuse learning rates that increase, are negative or not finite, or so small or large that noise would vanish.

    Args:
        rates: 0 or in [`SMALLEST`, `LARGEST`], shape (n,).

    Raises:
        ValueError: if they do, or there is none.
    """
    if rates.ndim != 1 or rates.size == 0:
        raise ValueError(f"learning_rates must have shape (n,) with n at least 1, got {rates.shape}")
    wrong = ~((rates >= 0) & (rates < math.inf))
    if wrong.any():
        raise ValueError(f"learning_rates must be finite and non-negative, got {float(rates[wrong][0])}")
    far = (rates > 0) & ~((rates >= SMALLEST) & (rates <= LARGEST))
    if far.any():
        raise ValueError(
            f"learning_rates must be 0 or between {SMALLEST:g} and {LARGEST:g}, got {float(rates[far][0])}"
        )
    rises = np.flatnonzero(np.diff(rates) > 0)
    if rises.size:
        k = int(rises[0])
        raise ValueError(f"learning_rates must not increase, got {rates[k]:g} before {rates[k + 1]:g} at step {k + 2}")
