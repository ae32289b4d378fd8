r"""The exact minimum of a convex, piecewise quadratic function along a line.

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
"""

from __future__ import annotations

import numpy as np

from costofprivacy._compiled import compiled

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
    """The median of the kinks inside the bracket, of which there is one at least."""
    kinks, found = np.empty(2 * count), 0
    for k in range(count):
        for kink in (enter[k], leave[k]):
            if low < kink < high:
                kinks[found] = kink
                found += 1
    return float(np.partition(kinks[:found], found // 2)[found // 2])
