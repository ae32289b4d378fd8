r"""Products with the records in twice the working precision: what certifies a minimum.

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

import numpy as np

from costofprivacy._compiled import compiled

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
