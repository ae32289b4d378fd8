r"""The certified minimum of the loss of `costofprivacy.rivals.huber`: Newton's method with an exact line search.

J is Λ-strongly convex and piecewise quadratic: ∇J(θ) = Σ_i clip(r_i) x_i + Λθ + b with r_i = x_iᵀθ − y_i clipped at
±limit_i. A step solves Hp = −∇J(θ) with the curvature H = ΛI + Σ x_i x_iᵀ over the records with |r_i| ≤ limit_i, by
Cholesky's factors, and goes to the least J along p.

**It ends.** *Convergence.* Let L = Λ + Σ‖x_i‖². As ΛI ⪯ H ⪯ LI, −⟨∇J, p⟩ ≥ ‖∇J‖²/L and ‖p‖ ≤ ‖∇J‖/Λ; the step of
length −⟨∇J, p⟩/(L‖p‖²) lowers J by ⟨∇J, p⟩²/(2L‖p‖²) ≥ Λ²‖∇J‖²/(2L³), and the exact one by no less. J is bounded below,
hence ∇J → 0 and θ → θ*, the minimiser. *Finiteness.* Around θ* there is a ball in which no kink lies but those through
θ*. For θ in it and each record, clip(r_i) − clip(r_i*) = a_i(r_i − r_i*) with a_i = 1 if |r_i| ≤ limit_i, else 0: a
record that is strictly inside or outside at θ* is so at θ, and one at its kink is inside or outside all the way from θ
to θ*, or stays at the kink, where both sides vanish. Summed up, ∇J(θ) = H(θ − θ*): the step ends at θ*. ∎

**Three stages.** (1) Doubles, from 0 or a given start, until a step meets no kink: the quadratic that holds θ then
holds the minimum, to rounding. (2) The same steps with θ, the residuals and ∇J as pairs of doubles
, until ‖∇J‖ ≤ `TOLERANCE` C/2: iterative refinement, and each step gains the
digits that Cholesky's factors have. (3) The bound above is finite but long where most records are outside. So a first
stage that takes more than `FAR_STEPS` gives way to an interior-point method, whose steps are few whatever the data.
That happens with limits so narrow that the loss is next to least absolute deviations, and many features.

**What is certified.** For n records with ‖x_i‖² ≤ βΛ, ∇J is computed to within 8u²βn(n + ‖b‖/C)·C, for u = 2⁻⁵³ and
to leading order: a residual is off by 4u²(‖x‖‖θ‖ + |y|), ‖θ‖ ≤ (n + ‖b‖/C)C/Λ at the minimum, and |y| exceeds ‖x‖‖θ‖
by at most the limit where the error counts, at records that are not clipped. `huber.minimum` keeps n²β ≤ `FINEST`. So
this is at most half the tolerance if ‖b‖ is small against nC, or if βn‖b‖/C is far below `FINEST` too.

**The minimum of the clipped loss by an interior-point method: slower, and indifferent to where the kinks are.**

In units of its own limit a record's residual is ρ_i = r_i/limit_i and its clipped residual s_i solves

.. math:: s_i - \rho_i + \ell_i^+ - \ell_i^- = 0, \qquad \ell_i^+ (1 - s_i) = \ell_i^- (1 + s_i) = \mu\omega_i

for μ → 0. For μ > 0 it is a smooth function of ρ_i, and the equation Σ_i s_i limit_i x_i + Λθ + b = 0 has no kinks. The
method follows its solution as μ falls, by Newton's steps on all the equations at once that keep |s| < 1 and ℓ > 0
(Mehrotra's predictor and corrector; Nocedal and Wright, *Numerical Optimization*, chapters 14 and 16). The shares ω_i
are proportional to 1/limit_i², within public bounds: that is the central path of the dual quadratic program. A step
needs one weighted sum of x_i x_iᵀ. The number of steps grows with the logarithm of the accuracy and hardly with n: it
is about twenty.

**The exact minimum of a convex, piecewise quadratic function along a line.**

Along :math:`\theta + tp` the objective of `costofprivacy.rivals.huber` has the derivative F(t) − F₀ with F₀ = −⟨∇J(θ),
p⟩ > 0 and

.. math:: F(t) = \Lambda\|p\|^2\, t + \sum_i w_i \,\big|[0, t] \cap [e_i, l_i]\big|, \qquad w_i = (x_i^\top p)^2,

where record i enters its quadratic part at e_i and leaves it at l_i. F is continuous, increasing and linear between its
2n kinks, so that F(t) = F₀ has one root. All of its terms are positive: nothing cancels, and F is as accurate as
e_i and l_i are.

**Method.** Keep a bracket of the root. Newton's method on F mostly ends in a few passes over the records. After
ten, every other pass takes the median of the kinks inside the bracket instead, and thereby halves their number: the
search ends after at most 2(log₂ 2n + 1) + 11 passes, whatever the data. Where no kink is left, F is linear, and its
root is known.

**Products with the records in twice the working precision: what certifies a minimum.**

In doubles the gradient of a sum over n records is known to about n·u of the largest term only, u = 2⁻⁵³; the gradient
at a minimum is therefore rounding and nothing else. Here a number is the unevaluated sum of two doubles, high + low.
Sums and products of two doubles are exact as such pairs: TwoSum of Knuth, and TwoProduct of Dekker and Veltkamp, as in
Ogita, Rump and Oishi (2005), *Accurate sum and dot product*. They need no more than correctly rounded additions and
multiplications, hence no ``fastmath`` and no fused operations. Numbers must stay below 10²⁹⁹, or a splitting overflows.

**Errors.** `residuals` is off by at most 4u²(‖x‖‖θ‖ + |y|) for each record, and `weighted_sum` in each entry by at most
4m²u² Σ_i |w_i|‖x_i‖ with m = `ROWS`, both to leading order. The second: within a block of m records each sum or
product leaves at most u times the sum S of the block's sizes. These remainders are added in doubles, and each of at
most 3m additions loses at most u times what they come to, muS. The sums of blocks are added as pairs. Gradients of
length C come to 4m²u²nC, which is below 10⁻²⁰C for a million records.
"""

from dataclasses import dataclass
from typing import cast

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from costofprivacy._compiled import compiled

# ---- Pairs of doubles ----

ROWS = 256  # records in a block of a sum
_SPLIT = 2.0**27 + 1


@compiled
def _two_sum(a: float, b: float) -> tuple[float, float]:
    """fl(a + b) and its error, exactly."""
    s = a + b
    z = s - a
    return s, (a - (s - z)) + (b - z)


@compiled
def _halves(a: float) -> tuple[float, float]:
    """a as the sum of two numbers of 26 bits."""
    c = _SPLIT * a
    high = c - (c - a)
    return high, a - high


@compiled
def add(high: np.ndarray, low: np.ndarray, more: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """high + low + more as a pair, entry by entry."""
    one, two = np.empty_like(high), np.empty_like(high)
    for k in range(len(high)):
        s, e = _two_sum(high[k], more[k])
        one[k], two[k] = _two_sum(s, e + low[k])
    return one, two


@compiled
def multiple(factor: float, high: np.ndarray, low: np.ndarray, more: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """factor·(high + low) + more as a pair, entry by entry."""
    one, two = np.empty_like(high), np.empty_like(high)
    f_high, f_low = _halves(factor)
    for k in range(len(high)):
        p = factor * high[k]
        a_high, a_low = _halves(high[k])
        error = a_low * f_low - (((p - a_high * f_high) - a_low * f_high) - a_high * f_low)
        s, lost = _two_sum(p, more[k])
        one[k], two[k] = _two_sum(s, lost + (error + factor * low[k]))
    return one, two


@compiled
def residuals(
    rows: np.ndarray, responses: np.ndarray, high: np.ndarray, low: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Xθ − y as a pair for θ = high + low.

    Args:
        rows: X, shape (n, d), in C order. responses: y, shape (n,). high, low: shape (d,).

    Returns:
        two arrays of shape (n,).
    """
    n, d = rows.shape
    one, two = np.empty(n), np.empty(n)
    column, s, c, rest = np.empty(ROWS), np.empty(ROWS), np.empty(ROWS), np.empty(ROWS)
    for first in range(0, n, ROWS):
        m = min(ROWS, n - first)
        for i in range(m):
            s[i], c[i], rest[i] = -responses[first + i], 0.0, 0.0
        for j in range(d):
            t, v = high[j], low[j]
            t_high, t_low = _halves(t)
            for i in range(m):
                column[i] = rows[first + i, j]
            for i in range(m):  # one column of a block at a time: many records in one instruction
                a = column[i]
                p = a * t
                a_high, a_low = _halves(a)
                error = a_low * t_low - (((p - a_high * t_high) - a_low * t_high) - a_high * t_low)
                s[i], lost = _two_sum(s[i], p)
                c[i], e = _two_sum(c[i], lost)
                c[i], f = _two_sum(c[i], error + a * v)
                rest[i] += e + f
        for i in range(m):
            a, e = _two_sum(s[i], c[i])
            one[first + i], two[first + i] = _two_sum(a, e + rest[i])
    return one, two


@compiled
def weighted_sum(rows: np.ndarray, high: np.ndarray, low: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The sum over records of (high_i + low_i) x_i as a pair.

    Args:
        rows: X, shape (n, d), in C order. high, low: shape (n,).

    Returns:
        two arrays of shape (d,).
    """
    n, d = rows.shape
    total, rest = np.zeros(d), np.zeros(d)
    for first in range(0, n, ROWS):
        s, c = np.zeros(d), np.zeros(d)
        for i in range(first, min(first + ROWS, n)):
            w, v = high[i], low[i]
            if w == 0.0:
                continue
            w_high, w_low = _halves(w)
            for j in range(d):
                a = rows[i, j]
                p = a * w
                a_high, a_low = _halves(a)
                error = a_low * w_low - (((p - a_high * w_high) - a_low * w_high) - a_high * w_low)
                s[j], lost = _two_sum(s[j], p)
                c[j] += lost + (error + a * v)
        total, rest = add(total, rest, s)
        total, rest = add(total, rest, c)
    return total, rest


# ---- Objective ----

_BLOCK = 2048  # records in a block of a product: it stays in the processor's cache


@dataclass(frozen=True, eq=False)
class Objective:
    """J, by its records and its public numbers.

    Args:
        rows: x_i, shape (n, d), in C order. responses: y_i, shape (n,). limits: bounds on |r_i| at which a gradient is
            clipped, shape (n,), finite. penalty: Λ. linear: b, shape (d,). clip_norm: C.
    """

    rows: np.ndarray
    responses: np.ndarray
    limits: np.ndarray
    penalty: float
    linear: np.ndarray
    clip_norm: float

    @property
    def most_push(self) -> float:
        """nC + ‖b‖, a bound on Λ‖θ‖ at the minimiser."""
        return len(self.rows) * self.clip_norm + float(np.linalg.norm(self.linear))


@np.errstate(all="ignore")
def gram(rows: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
    """The sum of w_i x_i x_iᵀ, w_i = 1 where none are given: shape (d, d)."""
    total = np.zeros(())
    for first in range(0, max(1, len(rows)), _BLOCK):
        part = rows[first : first + _BLOCK]
        added = part.T @ part if weights is None else (part * weights[first : first + _BLOCK, None]).T @ part
        total = total + added if first else added
    return total


# ---- Interior ----

MOST = 120
_CLOSE = 1e-12  # μ, and the equations that are left, where it ends
_INSIDE = 0.995  # of the way to where a bound would be met
_APART = 1e12  # the largest share over the median one
_ROUNDS = 30
_LEAST = 1e-14  # of 1 − |s| at the start
_LEAST_FALL = 1e-6  # of μ in one step


@dataclass(frozen=True, eq=False)
class _Point:
    """θ, s, the distances 1 ∓ s to its bounds, the multipliers ℓ of these, and shares ω."""

    theta: np.ndarray
    s: np.ndarray
    up: np.ndarray
    down: np.ndarray
    over: np.ndarray
    under: np.ndarray
    share: np.ndarray

    def moved(self, length: float, change: "_Change") -> "_Point":
        ds = length * change.s
        return _Point(
            self.theta + length * change.theta,
            self.s + ds,
            self.up - ds,
            self.down + ds,
            self.over + length * change.over,
            self.under + length * change.under,
            self.share,
        )

    @property
    def gap(self) -> float:
        """μ: the mean of the products over their shares."""
        return float(((self.over * self.up + self.under * self.down) / self.share).mean()) / 2

    def longest(self, change: "_Change") -> float:
        """The longest step of at most 1 that keeps distances and multipliers positive."""
        pairs = ((self.up, -change.s), (self.down, change.s), (self.over, change.over), (self.under, change.under))
        falls = [-float((move / value).min()) for value, move in pairs]
        return 1.0 if max(falls) <= _INSIDE else _INSIDE / max(falls)


@dataclass(frozen=True, eq=False)
class _Change:
    theta: np.ndarray
    s: np.ndarray
    over: np.ndarray
    under: np.ndarray


def near_minimum(objective: Objective, theta: np.ndarray) -> tuple[np.ndarray, int]:
    """θ near the minimum, shape (d,), and the number of steps, from a start θ."""
    pulls = objective.limits > 0
    rows, limits, responses = objective.rows[pulls], objective.limits[pulls], objective.responses[pulls]
    if not len(rows):
        return -objective.linear / objective.penalty, 0
    share = np.clip((np.median(limits) / limits) ** 2, 1 / _APART, _APART)
    at = _start(theta, (rows @ theta - responses) / limits, share)

    def solve(first: np.ndarray, second: np.ndarray) -> _Change:
        """Newton's step when the products are to change by so much."""
        q = weight * (off - first / at.up + second / at.down)
        move = cho_solve(factor, -slope - rows.T @ (q * limits))
        ds = weight * ((rows @ move) / limits) + q
        return _Change(move, ds, (first + at.over * ds) / at.up, (second - at.under * ds) / at.down)

    for step in range(MOST):
        slope = rows.T @ (at.s * limits) + objective.penalty * at.theta + objective.linear
        off = (rows @ at.theta - responses) / limits - at.s - at.over + at.under
        if at.gap * float(share.mean()) <= _CLOSE and np.linalg.norm(slope) <= _CLOSE * objective.most_push:
            return at.theta, step
        weight = 1 / (1 + at.over / at.up + at.under / at.down)
        factor = cho_factor(gram(rows, weight) + objective.penalty * np.eye(len(theta)))
        first = solve(-at.over * at.up, -at.under * at.down)
        fall = at.moved(at.longest(first), first).gap / at.gap
        target = share * at.gap * max(min(fall, 1.0) ** 3, _LEAST_FALL)
        more = first.s * first.over, -first.s * first.under
        change = solve(target - at.over * at.up + more[0], target - at.under * at.down + more[1])
        at = at.moved(at.longest(change), change)
    return at.theta, MOST


def _start(theta: np.ndarray, rho: np.ndarray, share: np.ndarray) -> _Point:
    """A point at which the first two equations hold, μ being of the size of |ρ|: s by Newton's method from above."""
    size = np.abs(rho)
    mu = share * (1.0 + float((size / share).mean()))
    s = size / np.maximum(1 + 2 * mu, size + mu)
    for _ in range(_ROUNDS):
        slope = 1 + 2 * mu * (1 + s**2) / (1 - s**2) ** 2
        s = np.clip(s - (s + 2 * mu * s / (1 - s**2) - size) / slope, 0.0, 1 - _LEAST)
    s = np.copysign(s, rho)
    return _Point(theta, s, 1 - s, 1 + s, mu / (1 - s), mu / (1 + s), share)


# ---- Line search ----

_FREE = 10  # passes before the first median


@compiled
def stretches(
    high: np.ndarray, low: np.ndarray, along: np.ndarray, limits: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Where each record is in its quadratic part along a line: the parts of t ≥ 0 with |r_i + t a_i| ≤ limit_i.

    Args:
        high, low: residuals r = high + low, shape (n,). along: a = Xp, shape (n,). limits: shape (n,).

    Returns:
        e, l and w = a² of the records that are in it somewhere: three arrays of one length.
    """
    n, kept = len(along), 0
    enter, leave, weight = np.empty(n), np.empty(n), np.empty(n)
    for i in range(n):
        a = along[i]
        w = a * a
        if w == 0.0:
            continue
        side = limits[i] if a > 0 else -limits[i]
        last = ((side - high[i]) - low[i]) / a
        if not last > 0.0:
            continue
        first = ((-side - high[i]) - low[i]) / a
        enter[kept], leave[kept], weight[kept] = max(first, 0.0), last, w
        kept += 1
    return enter[:kept], leave[:kept], weight[:kept]


@compiled
def root(enter: np.ndarray, leave: np.ndarray, weight: np.ndarray, rate: float, drop: float) -> tuple[float, bool, int]:
    """The t at which F(t) = F₀.

    Args:
        enter, leave, weight: e, l and w of `stretches`, with 0 ≤ e ≤ l. rate: Λ‖p‖² > 0. drop: F₀ > 0.

    Returns:
        t; whether F is linear on [0, t], so that the objective is one quadratic there; the number of passes.

    >>> print(root(np.array([1.0]), np.array([3.0]), np.array([1.0]), 1.0, 3.0)[:2])
    (2.0, False)
    """
    low, high, below, slope = 0.0, drop / rate, 0.0, rate  # F at low; the slope of the records that change no more
    enter, leave, weight = enter.copy(), leave.copy(), weight.copy()
    count, previous, t, by_newton, passes = len(enter), 0.0, 0.0, False, 0
    while True:
        passes += 1
        value, right, left, between = below + slope * (t - low), slope, slope, 0
        start, end = min(previous, t), max(previous, t)
        for k in range(count):
            first, last, w = enter[k], leave[k], weight[k]
            if t > first:
                value += w * (min(t, last) - first)
            right += w if first <= t < last else 0.0
            left += w if first < t <= last else 0.0
            between += (start < first < end) or (start < last < end)
        if by_newton and between == 0:
            return t, previous == 0.0, passes
        if value < drop:
            low, below, newton = t, value, t + (drop - value) / right
        else:
            high, newton = t, t - (value - drop) / left
        count, more = _narrow(enter, leave, weight, count, low, high)
        slope += more
        if count == 0:
            return min(max(low + (drop - below) / slope, low), high), low == 0.0, passes
        by_newton = low < newton < high and (passes < _FREE or passes % 2 == 0)
        previous, t = t, newton if by_newton else _median(enter, leave, count, low, high)


@compiled
def _narrow(
    enter: np.ndarray, leave: np.ndarray, weight: np.ndarray, count: int, low: float, high: float
) -> tuple[int, float]:
    """Keep, in place, records with a kink inside the bracket; their number, and the weight of those on all of it."""
    kept, whole = 0, 0.0
    for k in range(count):
        first, last = max(enter[k], low), leave[k]
        if last <= low or first >= high:
            continue
        if first == low and last >= high:
            whole += weight[k]
            continue
        enter[kept], leave[kept], weight[kept] = first, last, weight[k]
        kept += 1
    return kept, whole


@compiled
def _median(enter: np.ndarray, leave: np.ndarray, count: int, low: float, high: float) -> float:
    """The median of the kinks inside the bracket, of which there is one at least, by Hoare's selection.

    Numba takes seconds to compile ``np.partition``.
    """
    kinks, found = np.empty(2 * count), 0
    for k in range(count):
        for kink in (enter[k], leave[k]):
            if low < kink < high:
                kinks[found] = kink
                found += 1
    place, start, end = found // 2, 0, found - 1
    while start < end:
        pivot, i, j = kinks[place], start, end
        while i <= j:
            while kinks[i] < pivot:
                i += 1
            while kinks[j] > pivot:
                j -= 1
            if i <= j:
                kinks[i], kinks[j] = kinks[j], kinks[i]
                i, j = i + 1, j - 1
        start, end = i if j < place else start, j if place < i else end
    return float(kinks[place])


TOLERANCE = 1e-14  # γ/C, of the gradient where the search ends
FINEST = 5e16  # the largest n²β
FAR_STEPS = 30  # in doubles; a dozen is usual
NEAR_STEPS = 400  # in pairs of doubles; two or three are usual
_ROUNDING = 1e-14  # of a gradient in doubles, relative to the terms that cancel in it
_RENEWED = 0.5  # of the trace: with less left, a curvature that was updated is computed anew


@dataclass(frozen=True, eq=False)
class Minimum:
    """Where J is least: θ = high + low, to twice the precision of doubles.

    Args:
        high, low: shape (d,). gradient_norm: ‖∇J(θ)‖ as it was computed there. far_steps, near_steps: how many steps of
            Newton's method it took in doubles and in pairs of doubles. interior_steps: how many of the interior-point
            method, mostly 0.
    """

    high: np.ndarray
    low: np.ndarray
    gradient_norm: float
    far_steps: int
    near_steps: int
    interior_steps: int


def minimum(objective: Objective, tolerance: float, start: np.ndarray | None = None) -> Minimum:
    """The θ at which ‖∇J‖ ≤ ``tolerance``/2 as computed in pairs of doubles.

    Args:
        objective: J. tolerance: in (0, ∞). start: where the search begins, shape (d,); 0 if left out.

    Raises:
        ArithmeticError: if it was not found. No release is made then; there is no data set for which that was seen.
    """
    curvature, inner = _Curvature(objective), 0
    theta, far, done = _descend(objective, curvature, start)
    if not done:
        theta, inner = near_minimum(objective, theta)
    high, low = theta, np.zeros_like(theta)
    for near in range(NEAR_STEPS):
        residual = residuals(objective.rows, objective.responses, high, low)
        inside, slope = _pair_gradient(objective, high, low, *residual)
        size = float(np.linalg.norm(slope))
        if size <= tolerance / 2:
            return Minimum(high, low, size, far, near, inner)
        move = _move(objective, curvature, inside, slope, *residual)[0]
        high, low = add(high, low, move)
    raise ArithmeticError("the minimiser was not found to the tolerance that the guarantee needs: there is no release")


def _descend(objective: Objective, curvature: "_Curvature", start: np.ndarray | None) -> tuple[np.ndarray, int, bool]:
    """θ, the number of steps and whether the last one met no kink, or nothing is left to gain in doubles."""
    theta = np.zeros(objective.rows.shape[1]) if start is None else start
    residual = objective.rows @ theta - objective.responses
    zero = np.zeros_like(residual)
    floor = _ROUNDING * objective.most_push
    for step in range(FAR_STEPS):
        slope = (
            objective.rows.T @ np.clip(residual, -objective.limits, objective.limits)
            + objective.penalty * theta
            + objective.linear
        )
        if np.linalg.norm(slope) <= floor:
            return theta, step, True
        inside = np.abs(residual) <= objective.limits
        move, along, whole = _move(objective, curvature, inside, slope, residual, zero)
        theta, residual = theta + move, residual + along
        if whole:
            return theta, step + 1, True
    return theta, FAR_STEPS, False


def _move(
    objective: Objective,
    curvature: "_Curvature",
    inside: np.ndarray,
    slope: np.ndarray,
    high: np.ndarray,
    low: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, bool]:
    """The step to the least J along Newton's direction, X times it, and whether it met no kink."""
    direction = -curvature.solve(inside, slope)
    drop = -float(slope @ direction)
    if not drop > 0:  # rounding alone could do that
        direction = -slope / (objective.penalty + float(np.linalg.norm(objective.rows)) ** 2)
        drop = -float(slope @ direction)
    along = objective.rows @ direction
    pieces = stretches(high, low, along, objective.limits)
    length, whole, _ = root(*pieces, objective.penalty * float(direction @ direction), drop)
    return length * direction, length * along, whole


def _pair_gradient(
    objective: Objective, high: np.ndarray, low: np.ndarray, one: np.ndarray, two: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Which records are in their quadratic part, and ∇J, at θ = high + low with the residuals one + two."""
    limits = objective.limits
    above, below = (one > limits) | ((one == limits) & (two > 0)), (one < -limits) | ((one == -limits) & (two < 0))
    inside = ~(above | below)
    clipped = np.where(above, limits, np.where(below, -limits, one))
    total, rest = weighted_sum(objective.rows, clipped, np.where(inside, two, 0.0))
    more, less = multiple(objective.penalty, high, low, objective.linear)
    total, rest = add(total, rest, more)
    return inside, total + (rest + less)


class _Curvature:
    """H for changing sets of records inside: updated by the records that changed, while that is accurate."""

    def __init__(self, objective: Objective) -> None:
        self._objective = objective
        self._inside = np.zeros(len(objective.rows), dtype=bool)
        self._sum = np.zeros((objective.rows.shape[1],) * 2)
        self._largest = 0.0
        self._factor = self._factorised()

    def solve(self, inside: np.ndarray, right: np.ndarray) -> np.ndarray:
        """H⁻¹ times a vector."""
        changed = np.flatnonzero(inside != self._inside)
        if len(changed):
            self._update(inside, changed)
        return cho_solve(self._factor, right)

    def _factorised(self) -> tuple[np.ndarray, bool]:
        found = self._sum.copy(order="F")
        found[np.diag_indices_from(found)] += self._objective.penalty
        return cast(tuple[np.ndarray, bool], cho_factor(found, overwrite_a=True))

    def _update(self, inside: np.ndarray, changed: np.ndarray) -> None:
        rows = self._objective.rows
        if 2 * len(changed) < np.count_nonzero(inside):
            come = inside[changed]
            self._sum += gram(rows[changed[come]])
            self._sum -= gram(rows[changed[~come]])
            self._largest = max(self._largest, float(np.trace(self._sum)))
        if 2 * len(changed) >= np.count_nonzero(inside) or np.trace(self._sum) < _RENEWED * self._largest:
            self._sum = gram(rows[inside])
            self._largest = float(np.trace(self._sum))
        self._inside, self._factor = inside, self._factorised()
