r"""The best of all learning rate schedules that do not increase, by optimal control of the deterministic equivalent.

**One equation, Σ = I.** Let w be what the private noise is made from: w = η̃ for a constant clip c, w = η̃c where c is
a function of time (below). With u = R + κw² the equation (4.11) of arXiv:2505.16329v2 loses the derivative of
the schedule, and the noise of the last step:

.. math:: \dot u = g(R, w) = -2w\,h(R) + \gamma w^2 q(R), \qquad R = u - \kappa w^2,\qquad u(0) = R(0) + \kappa w(0)^2,

and the released risk (4.23) is u(1). For a constant clip h = μ_c R, q = ν_c(R + ζ²/2) and κ = 2c²γ²/ρ².

**Theorem.** Fix w(0) = m. Let w*(u) minimise g over w at fixed u, and let it fall with u. Then w = min(m, w*(u)) gives
the least u(1) of all schedules that do not increase from m.

*Proof.* All schedules from m have the same u(0), and g(·, w) ≥ g(·, min(m, w*)) at the same u for every w ≤ m, where
g(·, ·) falls in w up to w*. By comparison no other u is ever below this one. It falls as long as g < 0, so w does not
increase: it is admissible. ∎

What is left is the one number m: more of it descends faster and costs κm² at once. So the best schedule is constant
until w*(u) = m, and then follows a curve that does not depend on m: with the derivative of g,

.. math:: h - \gamma w q - 2\kappa w^2 h' + \gamma\kappa w^3 q' = 0 .

The paper's heuristic (5.21) is this rule without its terms in κ. `least` puts both together by quadratures.

**Many equations** have no such rule. `search` minimises over the values of ln η̃ at some times, by a quasi-Newton
descent with all difference quotients in one batch, for any `System`; for one equation it has to find what `least` does.

**A clipping constant that changes in time: what a release costs then, and the risk.**

**The noise.** Let step k clip at C_k and take the length η_k. Replacing its record moves the step by at most 2η_kC_k,
each step is nonexpansive for any C_k, and so the theorem of `privacy.amplification` asks of the noises s_j only

.. math:: \frac{2\eta_k C_k}{\rho} \le \sqrt{s_k^2 + \dots + s_n^2} \qquad\text{for all } k .

That is (4.1) of arXiv:2505.16329v2 with η_kC_k in the place of η_k: the least noise is (4.2) for the *product* where
that does not increase, and (4.2) for its least non-increasing majorant otherwise. Neither factor has to fall. In
continuous time, with w(t) = η̃(t)c(t), the private noise of (4.11) is −2(γ²/ρ²) dw²/dt, and the last step adds
2γ²w(1)²/ρ².

This holds for clips that are known beforehand: functions of k, n, d, ζ, ρ and a guess of R(0), such as the
deterministic equivalent gives. **A clip that follows the data** has to be released. Disjoint records compose in
parallel, so a scalar taken from records held out costs those records a level ρ' and no more. But it is taken at an
iterate, which the records before have moved by up to 2ηC: they pay too, for K releases at most ρ² + Kρ'² in all. The
residuals' scale on a held-out batch moves by at most 2η̃cγ when one earlier record is replaced, so its noise is
2wγ/ρ': next to √R, which is at least of the order wγ/ρ on the best schedule, a constant factor where ρ' ≍ ρ. With the
clip halved ln₂(1/ζ) times, K = ln₂(1/ζ) such releases at ρ'² = ρ²/K suffice for the scale up to a factor √K.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import minimize, minimize_scalar

from costofprivacy import _validate
from costofprivacy._compiled import compiled
from costofprivacy.dpgd.clipping import descent_reduction_at, variance_reduction_at
from costofprivacy.dpgd.exponential import Law, law_of
from costofprivacy.dpgd.schedule import Schedule, check_rho
from costofprivacy.dpgd.system import System, noise_scale, reductions_at
from costofprivacy.privacy.amplification import nonnegative_array, spent_by_record

_A_DECADE = 200  # risks in the table: its trapezoids err by 1e-5
_DECADES = 80  # at most
_HALVINGS = 60  # of the interval in which w* lies
_SCAN = 24  # values of m before the last, local search
_LOWEST = 1e-5  # the smallest m over the largest
_KNOTS, _STEPS = 44, 400  # of `search`: free values of the schedule, and steps of the integrator
_EARLIEST = 1e-3  # the first of these times over γ
_END = 1e-3  # distance from t = 1 at which they are even again
_QUOTIENT = 1e-5  # of the difference quotients in ln η̃
_TINY = 1e-300

Factor = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]  # a function of R with its derivative


@dataclass(frozen=True)
class Drift:
    """The equation u' = −2w h(R) + γw²q(R) with R = u − κw²; see the module.

    Args:
        pull: h and h'. spread: q and q'. noise: κ. aspect_ratio: γ. initial_risk: R(0). largest: the largest w(0).
    """

    pull: Factor
    spread: Factor
    noise: float
    aspect_ratio: float
    initial_risk: float
    largest: float

    def slope(self, risk: np.ndarray, w: np.ndarray | float) -> np.ndarray:
        """u' at these R and w."""
        return -2 * w * self.pull(risk)[0] + self.aspect_ratio * np.square(w) * self.spread(risk)[0]

    def best(self, risk: np.ndarray) -> np.ndarray:
        """w on the best curve at these R, by bisection of the cubic in the module's docstring."""
        (h, dh), (q, dq) = self.pull(risk), self.spread(risk)
        return _best(h, dh, q, dq, float(self.noise), float(self.aspect_ratio))


@compiled
def _best(h: np.ndarray, dh: np.ndarray, q: np.ndarray, dq: np.ndarray, noise: float, gamma: float) -> np.ndarray:
    """`Drift.best`, from h, h', q and q' at each R."""
    found = np.empty(len(h))
    for k in range(len(h)):
        low, high = 0.0, h[k] / (gamma * q[k])
        for _ in range(_HALVINGS):
            w = (low + high) / 2
            if h[k] - gamma * w * (q[k] - noise * w**2 * dq[k]) - 2 * noise * w**2 * dh[k] > 0:
                low = w
            else:
                high = w
        found[k] = (low + high) / 2
    return found


def fixed_clip(initial_risk: float, aspect_ratio: float, label_noise: float, clip: float, rho: float) -> Drift:
    """The equation (4.11) of arXiv:2505.16329v2 for w = η̃ and a constant clip, η̃ at most 2/γ.

    Args:
        initial_risk: R(0) > 0. aspect_ratio: γ > 0. label_noise: ζ > 0. clip: c > 0. rho: ρ in (0, ∞].

    Raises:
        ValueError: if an argument is outside its range.
    """
    gamma, offset = _validate.finite_positive("aspect_ratio", aspect_ratio), label_noise**2 / 2
    label_noise = _validate.finite_positive("label_noise", label_noise)
    initial_risk = _validate.finite_positive("initial_risk", initial_risk)

    def pull(risk: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        ratio = clip / np.sqrt(2 * (risk + offset))
        mu = descent_reduction_at(ratio)
        fall = math.sqrt(2 / math.pi) * np.exp(-(ratio**2) / 2) * ratio / (2 * (risk + offset))
        return mu * risk, mu - risk * fall

    def spread(risk: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        ratio = clip / np.sqrt(2 * (risk + offset))
        nu = variance_reduction_at(ratio)
        return nu * (risk + offset), nu - ratio**2 * (1 - descent_reduction_at(ratio))

    return Drift(pull, spread, 2 * noise_scale(clip, rho) * gamma**2, gamma, initial_risk, 2 / gamma)


def following_clip(initial_risk: float, aspect_ratio: float, label_noise: float, ratio: float, rho: float) -> Drift:
    """The same for w = η̃c and a clip that follows the risk, c(t) = c'√(2R(t) + ζ²): μ and ν do not change.

    Then h = μ(c')R/c and q = ν(c')/(2c'²), and κ = 2γ²/ρ². The clip is a function of time known beforehand, so
    nothing is spent on it.

    Args:
        initial_risk: R(0) > 0. aspect_ratio: γ > 0. label_noise: ζ > 0. ratio: c' > 0. rho: ρ in (0, ∞].

    Raises:
        ValueError: if an argument is outside its range.
    """
    gamma, offset = _validate.finite_positive("aspect_ratio", aspect_ratio), label_noise**2 / 2
    label_noise = _validate.finite_positive("label_noise", label_noise)
    mu = float(descent_reduction_at(_validate.finite_positive("ratio", ratio)))
    level = float(variance_reduction_at(ratio)) / (2 * ratio**2)

    def pull(risk: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        clip = ratio * np.sqrt(2 * (risk + offset))
        return mu * risk / clip, mu * (risk / 2 + offset) / (clip * (risk + offset))

    def spread(risk: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.full(risk.shape, level), np.zeros(risk.shape)

    largest = 2 / gamma * ratio * math.sqrt(2 * (_validate.finite_positive("initial_risk", initial_risk) + offset))
    return Drift(pull, spread, 2 * noise_scale(1.0, rho) * gamma**2, gamma, initial_risk, largest)


@dataclass(frozen=True, eq=False)
class Tabulated:
    """A schedule w(t) that is constant up to a switch and then a table, interpolated on log axes.

    Args:
        initial: w(0). switch: when it begins to fall; 1 or more for never. times, values: the table, times ascending
            from the switch on, values falling.
    """

    initial: float
    switch: float
    times: np.ndarray
    values: np.ndarray

    def __call__(self, time: float | np.ndarray) -> np.ndarray:
        """w(t), of the shape of ``time``."""
        when = np.asarray(time, dtype=float)
        if self.switch >= 1:
            return np.full(when.shape, self.initial)
        logs = np.interp(np.log(np.maximum(when, self.switch)), np.log(self.times), np.log(self.values))
        return np.where(when <= self.switch, self.initial, np.exp(logs))

    def squared_decrease(self, time: float | np.ndarray) -> np.ndarray:
        """−d(w²)/dt at t, of the shape of ``time``: 0 before the switch, a power of t in each cell of the table."""
        when = np.asarray(time, dtype=float)
        if self.switch >= 1:
            return np.zeros(when.shape)
        powers = np.diff(np.log(self.values)) / np.diff(np.log(self.times))
        cell = np.clip(np.searchsorted(self.times, when, side="right") - 1, 0, len(powers) - 1)
        falls = -2 * powers[cell] * self(when) ** 2 / np.maximum(when, self.times[0])
        return np.where(when < self.switch, 0.0, falls)


@dataclass(frozen=True)
class Optimum:
    """The best schedule, and what it reaches.

    Args:
        schedule: w(t). risk: the released risk u(1). path: R at ``schedule.times``, the end included.
    """

    schedule: Tabulated
    risk: float
    path: np.ndarray


def least(drift: Drift) -> Optimum:
    """The schedule with the least released risk of all that do not increase, for one equation; see the module.

    Guarantee: the risk to 1e-4, relative.

    Args:
        drift: `fixed_clip` or `following_clip`.

    Raises:
        RuntimeError: if the best curve does not fall, so that the theorem does not apply.

    >>> found = least(fixed_clip(0.5, 1e-3, 0.3, 0.1, 0.1))
    >>> print(f"{found.risk:.3e} {found.schedule.initial:.2g} {found.schedule.switch:.3f}")
    2.871e-04 2.4e+02 0.026
    """
    curve = _curve(drift)
    top = min(drift.largest, float(curve.w[0]))

    def risk(log: float) -> float:
        return _released_from(curve, math.exp(log), float(drift.noise), float(drift.aspect_ratio))

    logs = np.linspace(math.log(_LOWEST * top), math.log(top), _SCAN)
    risks = [risk(log) for log in logs]
    k = int(np.argmin(risks))
    near = (float(logs[max(k - 1, 0)]), float(logs[min(k + 1, _SCAN - 1)]))
    found = minimize_scalar(risk, bounds=near, method="bounded", options={"xatol": 1e-5})
    inner = _from(drift, curve, math.exp(found.x))
    return min((inner, _from(drift, curve, math.exp(logs[k]))), key=lambda optimum: optimum.risk)


class _Curve(NamedTuple):
    """The best curve: R falling, w there, the time that it takes to get there from R(0); and h and q at these R."""

    risk: np.ndarray
    w: np.ndarray
    times: np.ndarray
    pull: np.ndarray
    spread: np.ndarray


def _curve(drift: Drift) -> _Curve:
    decades = 4
    while True:
        risk = drift.initial_risk * np.logspace(0, -decades, 1 + _A_DECADE * decades)
        w = drift.best(risk)
        times = _crossing(risk + drift.noise * w**2, -drift.slope(risk, w))
        if times[-1] > 1 or decades >= _DECADES:
            break
        decades *= 2
    if (np.diff(w) > 0).any():
        raise RuntimeError("the best learning rate does not fall with the risk")
    return _Curve(risk, w, times, drift.pull(risk)[0], drift.spread(risk)[0])


def _crossing(u: np.ndarray, speed: np.ndarray) -> np.ndarray:
    """The times at which falling values are passed at these speeds, by the trapezoidal rule; ∞ from a stop on."""
    if (speed <= 0).any():
        speed = np.where(np.cumsum(speed <= 0) > 0, _TINY, speed)
    return np.concatenate([[0.0], np.cumsum(-np.diff(u) * (1 / speed[:-1] + 1 / speed[1:]) / 2)])


def _from(drift: Drift, curve: _Curve, initial: float) -> Optimum:
    """Constant at ``initial`` until the curve is met, then along the curve."""
    joined = math.exp(np.interp(-math.log(initial), -np.log(curve.w), np.log(curve.risk)))
    before = np.append(curve.risk[curve.risk > joined], joined)
    passed = _crossing(before, -drift.slope(before, initial))
    if passed[-1] >= 1:
        end = float(np.interp(1.0, passed, before))
        return Optimum(Tabulated(initial, 1.0, np.array([1.0]), np.array([initial])),
                       end + drift.noise * initial**2, np.array([end]))  # fmt: skip
    start = float(np.interp(-math.log(joined), -np.log(curve.risk), curve.times))
    later = (curve.times > start) & (curve.times - start < 1 - passed[-1])
    marks = np.concatenate([[start], curve.times[later], [start + 1 - passed[-1]]])
    w = np.exp(np.interp(marks, curve.times, np.log(curve.w)))
    risk = np.exp(np.interp(marks, curve.times, np.log(curve.risk)))
    w[0] = initial
    schedule = Tabulated(initial, float(passed[-1]), marks - start + passed[-1], w)
    return Optimum(schedule, float(risk[-1] + drift.noise * w[-1] ** 2), risk)


@compiled
def _released_from(curve: _Curve, initial: float, noise: float, gamma: float) -> float:
    """The released risk of `_from`, h and q at the point where the curve is met interpolated as w is."""
    risk, w, times = curve.risk, curve.w, curve.times
    last = len(risk) - 1
    k = 1
    while k < last and w[k] > initial:
        k += 1
    share = min(max(math.log(w[k - 1] / initial) / math.log(w[k - 1] / w[k]), 0.0), 1.0) if w[k] < w[k - 1] else 0.0
    passed, before = 0.0, 1 / _speed(curve, 0, initial, gamma)
    for j in range(1, k):
        after = 1 / _speed(curve, j, initial, gamma)
        step = (risk[j - 1] - risk[j]) * (before + after) / 2
        if passed + step >= 1:
            return risk[j - 1] + (risk[j] - risk[j - 1]) * (1 - passed) / step + noise * initial**2
        passed, before = passed + step, after
    joined = risk[k - 1] * (risk[k] / risk[k - 1]) ** share
    after = 1 / (_speed(curve, k - 1, initial, gamma) ** (1 - share) * _speed(curve, k, initial, gamma) ** share)
    step = (risk[k - 1] - joined) * (before + after) / 2
    if passed + step >= 1:
        return risk[k - 1] + (joined - risk[k - 1]) * (1 - passed) / step + noise * initial**2
    end = times[k - 1] + share * (times[k] - times[k - 1]) + 1 - passed - step
    place = min(max(np.searchsorted(times, end), 1), last)
    part = min((end - times[place - 1]) / (times[place] - times[place - 1]), 1.0)
    w_end = w[place - 1] * (w[place] / w[place - 1]) ** part
    return risk[place - 1] * (risk[place] / risk[place - 1]) ** part + noise * w_end**2


@compiled
def _speed(curve: _Curve, k: int, w: float, gamma: float) -> float:
    """−u' at w and the k-th risk of the curve, never below `_TINY`."""
    return max(2 * w * curve.pull[k] - gamma * w * w * curve.spread[k], _TINY)


def search(system: System, clip: float, rho: float, start: Schedule) -> Optimum:
    """The schedule with the least released risk for any spectrum, by descent from a schedule to start from.

    Guarantee: no worse than ``start`` on the grid of its own integrator, which errs by 1e-3; a local minimum.

    Args:
        system: the equations. clip: c > 0. rho: ρ in (0, ∞]. start: η̃, such as what `least` finds for one equation.

    Returns:
        The schedule with η̃(0) ≤ 2/γ, as a table from its first knot on, with an empty path.
    """
    first = _EARLIEST * system.aspect_ratio
    times = np.concatenate([[0.0], _graded(first, _STEPS)])
    place = np.interp(_coordinate(np.maximum(times, first)), _coordinate(_graded(first, _KNOTS)), np.arange(_KNOTS))
    left = np.minimum(place.astype(int), _KNOTS - 2)
    weights = np.zeros((len(times), _KNOTS))
    weights[np.arange(len(times)), left] = 1 - (place - left)
    weights[np.arange(len(times)), left + 1] = place - left
    cap = math.log(system.cap)
    falls = np.tril(np.ones((_KNOTS, _KNOTS)))  # ln η̃ at the knots is the sum of non-negative falls, from the cap

    noise = 2 * noise_scale(clip, rho) * system.aspect_ratio**2  # κ of u_i = D_i + κη̃²

    def risks(places: np.ndarray) -> np.ndarray:
        rates = np.ascontiguousarray(np.exp((cap - places @ falls.T) @ weights.T))
        return _heun(law_of(system, clip, rho), system.initial, noise, np.diff(times), rates)

    def objective(place: np.ndarray) -> tuple[float, np.ndarray]:
        tried = np.vstack([place, place + _QUOTIENT * np.eye(_KNOTS)])
        logs = np.log(risks(tried))
        return float(logs[0]), (logs[1:] - logs[0]) / _QUOTIENT

    known = start(_graded(first, _KNOTS))
    logs = np.minimum(np.log(np.maximum(known, _LOWEST * known[0])), cap)
    begin = np.maximum(np.concatenate([[cap - logs[0]], -np.diff(logs)]), 0.0)
    found = minimize(objective, begin, jac=True, method="L-BFGS-B", bounds=[(0.0, None)] * _KNOTS,
                     options={"maxiter": 150, "ftol": 1e-7})  # fmt: skip
    rates = np.minimum.accumulate(np.exp(weights[1:] @ (cap - np.cumsum(found.x))))
    table = Tabulated(float(rates[0]), first, times[1:], rates)
    return Optimum(table, float(np.exp(found.fun)), np.empty(0))


def _coordinate(times: np.ndarray) -> np.ndarray:
    """A coordinate that is fine at both ends, ln t − ln(1 − t), cut off at t = 1."""
    return np.log(times) - np.log(1 + _END - times)


def _graded(first: float, count: int) -> np.ndarray:
    """Times from ``first`` to 1, even in `_coordinate`."""
    low, high = _coordinate(np.array([first, 1.0])).tolist()
    odds = np.exp(np.linspace(low, high, count))
    times = odds * (1 + _END) / (1 + odds)
    times[0], times[-1] = first, 1.0
    return times


@compiled
def _heun(law: Law, initial: np.ndarray, noise: float, steps: np.ndarray, rates: np.ndarray) -> np.ndarray:
    """`_released`, schedule by schedule."""
    found = np.empty(len(rates))
    u, ahead, slope, there = initial.copy(), initial.copy(), initial.copy(), initial.copy()
    for j in range(len(rates)):
        for i in range(len(u)):
            u[i] = initial[i] + noise * rates[j, 0] ** 2
        for k in range(len(steps)):
            _slopes(law, noise, u, rates[j, k], slope)
            for i in range(len(u)):
                ahead[i] = u[i] + steps[k] * slope[i]
            _slopes(law, noise, ahead, rates[j, k + 1], there)
            for i in range(len(u)):
                u[i] += steps[k] * (slope[i] + there[i]) / 2
        found[j] = max((u * law.readout).sum(), _TINY)
    return found


@compiled
def _slopes(law: Law, noise: float, u: np.ndarray, rate: float, found: np.ndarray) -> None:
    """u_i', into ``found``."""
    risk = 0.0
    for i in range(len(u)):
        risk += law.readout[i] * (u[i] - noise * rate * rate)
    mu, scaled_nu = reductions_at(max(risk, 0.0) + law.label, law.clip)
    descent, sampled = 2 * rate * mu, law.gamma * rate * rate * scaled_nu
    for i in range(len(u)):
        energy = u[i] - noise * rate * rate
        found[i] = sampled * law.sampling[i] - descent * law.relaxation[i] * energy


# ---- Clip schedule ----

SMALLEST, LARGEST = 1e-100, 1e100  # of η_kC_k and of noise: their squares stay within doubles


def noise_stds(learning_rates: np.ndarray, clip_norms: np.ndarray, rho: float) -> np.ndarray:
    """Standard deviations of each step's private noise in a coordinate, the least for these steps and this ρ.

    Guarantee: `privacy_parameter` of the result is at most ρ, with equality where η_kC_k does not increase.

    Args:
        learning_rates: η_k ≥ 0, shape (n,). clip_norms: C_k ≥ 0, known beforehand, shape (n,).
        rho: ρ as in `descent.Configuration`.

    Raises:
        ValueError: if ``rho`` is outside its range, a value is negative or not finite, or a product η_kC_k of positive
            numbers is not in [`SMALLEST`, `LARGEST`].

    >>> print(noise_stds(np.array([1.0, 2.0, 2.0]), np.array([5.0, 2.0, 0.0]), rho=2.0))
    [3. 4. 0.]
    """
    check_rho(rho)
    products = _products(learning_rates, clip_norms)
    squares = np.square(np.maximum.accumulate(products[::-1])[::-1])
    return 2 * np.sqrt(squares - np.append(squares[1:], 0.0)) / rho


def privacy_parameter(learning_rates: np.ndarray, clip_norms: np.ndarray, noise_stds: np.ndarray) -> float:
    """ρ of any schedules, max_k 2η_kC_k/√(s_k² + … + s_n²): the last iterate is ρ-Gaussian DP.

    Args:
        learning_rates: η_k ≥ 0. clip_norms: C_k ≥ 0, known beforehand. noise_stds: s_k ≥ 0; all of shape (n,).

    Raises:
        ValueError: if a value is negative or not a number, a product or a noise is so large or small that its square is
            no double, or the lengths differ.
    """
    sensitivities, noise = 2 * _products(learning_rates, clip_norms), nonnegative_array("noise_stds", noise_stds)
    if noise.max() > LARGEST**1.5:
        raise ValueError(f"noise_stds must be at most {LARGEST**1.5:g}, got {float(noise.max())}")
    return float(spent_by_record(sensitivities, noise).max())


def _products(learning_rates: np.ndarray, clip_norms: np.ndarray) -> np.ndarray:
    """η_kC_k, refused where its square is none of a double, or where it vanishes though neither factor does."""
    rates, clips = nonnegative_array("learning_rates", learning_rates), nonnegative_array("clip_norms", clip_norms)
    with np.errstate(over="ignore", under="ignore"):
        products: np.ndarray = rates * clips
    none = (rates == 0) | (clips == 0)
    wrong = ~(none | ((products >= SMALLEST) & (products <= LARGEST)))
    if wrong.any():
        raise ValueError(
            f"learning_rates times clip_norms must be 0 or between {SMALLEST:g} and {LARGEST:g}, "
            f"got {float(products[wrong][0])}"
        )
    return products


def released_risk(
    drift: Drift,
    product: Callable[[float], float],
    clip: Callable[[float, float], float],
    label_noise: float,
    rho: float,
) -> float:
    """The released risk for Σ = I with η̃(t) = w(t)/c(t), by LSODA in u = R + 2γ²w²/ρ²; an oracle, not fast.

    Args:
        drift: for γ and R(0). product: w(t), not increasing. label_noise: ζ. rho: ρ in (0, ∞].
        clip: c from t and R(t); the equation's own risk is a function of time, so c is one too.

    Raises:
        RuntimeError: if LSODA gives up.
    """
    gamma = drift.aspect_ratio
    noise = 2 * noise_scale(1.0, rho) * gamma**2

    def slope(time: float, u: np.ndarray) -> np.ndarray:
        w = float(product(time))
        risk = max(float(u[0]) - noise * w**2, 0.0)
        c = clip(time, risk)
        test_risk = risk + label_noise**2 / 2
        ratio, rate = c / math.sqrt(2 * test_risk), min(w / c, 2 / gamma)
        sampled = gamma * rate**2 * float(variance_reduction_at(ratio)) * test_risk
        return np.array([sampled - 2 * rate * float(descent_reduction_at(ratio)) * risk])

    start = np.array([drift.initial_risk + noise * float(product(0.0)) ** 2])
    found = solve_ivp(slope, (0.0, 1.0), start, method="LSODA", rtol=1e-8, atol=1e-8 * label_noise**2 * gamma)
    if not found.success:
        raise RuntimeError(f"LSODA stopped: {found.message}")
    return float(found.y[0, -1])
