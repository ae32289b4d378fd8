r"""A private quantile on a public grid, by the exponential mechanism, accounted for as Gaussian DP.

Let g_1 < … < g_K be a public grid, and c_k the number of the n values that are at most g_k; values beyond g_K are taken
for g_K, so that c_K = n, and c_0 = 0. The quantile of level q of the values rounded up to the grid is a g_k with
c_{k−1} ≤ qn ≤ c_k. Released is g_k with probability proportional to

.. math:: e^{\eta u_k}, \qquad u_k = -\max(0,\ c_{k-1} - qn,\ qn - c_k),

as McSherry and Talwar (2007) and Smith (2011) have it. So −u_k is by how many ranks g_k misses the level, and it is
larger than t with probability at most K e^{−ηt}.

**Guarantee**: μ-Gaussian DP for replacing one value by any other, with

.. math:: \eta = \ln\frac{\Phi(\mu/2)}{\Phi(-\mu/2)}, \tag{1}

which is at least 0.797μ. *Proof.* Write P and Q for the laws of what is released from two neighbours.

1. *The privacy loss has a bounded range.* Replacing a value moves each count by at most 1, hence each u_k too. So
   ln P_k/Q_k = η(u_k − u'_k) − ln(Z/Z') lies in an interval of length 2η, [t − 2η, t] say. It holds 0, since both
   laws sum to 1 (Durfee and Rogers, 2019, call this a bounded range).
2. *Two outcomes are the worst case.* Choose p and q in (0, 1) with p/q = e^t and (1 − p)/(1 − q) = e^{t−2η}. (If t is 0
   or 2η, then P = Q.) The laws A = ((1 − q)P − (1 − p)Q)/(p − q) and B = (pQ − qP)/(p − q) are not negative, by step 1,
   and sum to 1. Since P = pA + (1 − p)B and Q = qA + (1 − q)B, both are the same function of a coin that shows heads
   with probability p, or q.
3. *A coin is no better than a Gaussian.* The trade-off function of the two coins is linear but for one corner, that of
   the Gaussian is convex, and both have the same ends. So the coins are μ-Gaussian DP if and only if their corner lies
   above: Φ⁻¹(p) − Φ⁻¹(q) ≤ μ.
4. *The worst interval is the symmetric one.* The log-odds of p and q differ by 2η, whatever t is. Let h(s) =
   Φ⁻¹(1/(1 + e^{−s})), an odd function. Below we show that h is concave on [0, ∞). Then h(s + 2η) − h(s) is largest at
   s = −η, where it is 2h(η), and that is μ by (1).
5. *h is concave on* [0, ∞). With z = h(s), h' = Φ(z)Φ(−z)/φ(z), and (ln h')' = h'z − (2Φ(z) − 1). This is at most 0 if
   G(z) = (2Φ(z) − 1)φ(z) − zΦ(z)Φ(−z) is at least 0. Both ends are 0: G(0) = G(∞) = 0. Its derivative
   2φ² − Φ(z)Φ(−z) is positive at 0, where it is 1/π − 1/4, and 0 at ∞. The derivative of that, φ(2Φ − 1 − 4zφ), is
   negative up to some z and positive beyond, because (2Φ − 1 − 4zφ)' = φ(4z² − 2) and 2Φ − 1 − 4zφ goes from 0 to 1.
   So G' falls from a positive value and then rises to 0: it changes its sign once, and G first rises and then falls. ∎

A pure guarantee of η-DP for each of two choices would need the same η: bounding the range instead of the loss gains
the factor 2 that the usual exponent ε/2 loses.

**Groups.** Let up to k values be taken away and up to k others be added, so that n may change too. Let p of the former
and p' of the latter be at most g, and r and r' of them be above. Then c − qn changes by (1 − q)(p' − p) − q(r' − r),
which is at most (1 − q)k + qk = k in size. So u_k moves by k at most, and η/k in the place of η has the guarantee.

**Any value.** NaN counts as a value beyond the grid, as +∞ does. Counts are whole numbers and exact. The levels qn, the
differences and the exponents are rounded, which moves a difference of two losses by at most 8·2⁻⁵³ηn; η is smaller by
1 + 8n·2⁻⁵³, and by the last digits of the functions in (1), to pay for that. The draw itself is made with
doubles, but by a `privacy.secure.Sampler`.
"""

import math
from collections.abc import Sequence

import numpy as np
from scipy.special import erf, log_ndtr

from costofprivacy import _validate
from costofprivacy.privacy import GaussianDP, records
from costofprivacy.privacy.mechanisms import chosen
from costofprivacy.privacy.sums import UNIT_ROUNDOFF

_ROUNDING = 1 + 1e-12  # of the functions in (1): they are right to a few units of rounding
_RANKS = 20.0  # values for a quantile, times μ min(q, 1 − q): it is far off with probability K e^{−0.8 · 20}
_ROUNDINGS = 8  # in the range of a loss, each of 2⁻⁵³ηn, see the module's text


def exponent(budget: GaussianDP) -> float:
    """η of (1) in the module's text: the weight of one rank in the exponent.

    Args:
        budget: μ in [10⁻¹⁵⁰, 10¹⁵⁰].

    Raises:
        ValueError: if μ is outside its range.

    >>> round(exponent(GaussianDP(1.0)), 4)
    0.807
    """
    mu = _validate.between("mu", _validate.finite_positive("mu", budget.mu), records.NEAR, records.FAR)
    if mu < 1:  # the logarithms would cancel
        return 2 * math.atanh(float(erf(mu / math.sqrt(8)))) / _ROUNDING
    return float(log_ndtr(mu / 2) - log_ndtr(-mu / 2)) / _ROUNDING


def geometric_grid(scale: float, below: float = 1e-3, above: float = 10.0, ratio: float = 2**0.25) -> tuple[float, ...]:
    """A public grid around a public guess: scale·below, and from there by equal factors up to scale·above.

    Args:
        scale: the guess, in (0, ∞). below, above: the ends over the guess, 0 < below < above. ratio: of neighbouring
            points, above 1; about: the last point is exact.

    Raises:
        ValueError: if an argument is outside its range.

    >>> geometric_grid(2.0, 0.25, 2.0, 2.0)
    (0.5, 1.0, 2.0, 4.0)
    """
    given = {"scale": scale, "below": below, "above": above, "ratio": ratio}
    scale, below, above, ratio = (_validate.finite_positive(name, value) for name, value in given.items())
    if not (below < above and ratio > 1):
        raise ValueError(f"below must be less than above, and ratio more than 1, got {below!r}, {above!r}, {ratio!r}")
    points = math.ceil(math.log(above / below) / math.log(ratio) - 1e-9) + 1
    return tuple((scale * np.geomspace(below, above, points)).tolist())


def enough(most: float, level: float, budget: GaussianDP, *, needed: bool) -> int:
    """How many values make it improbable that their quantile is far off, at most ``most`` of them.

    Args:
        most: how many there may be. level: q in (0, 1). budget: μ in (0, ∞).
        needed: whether fewer will not do. If they will, there is at least 1.

    Returns:
        The number; 0 where that many are needed and there may not be.

    >>> enough(100, 0.9, GaussianDP(4.0), needed=True), enough(10, 0.9, GaussianDP(4.0), needed=True)
    (50, 0)
    """
    wanted = _RANKS / (budget.mu * min(level, 1 - level))
    if needed and max(1.0, wanted) > most:
        return 0
    return max(1, math.floor(min(wanted, most)))


def misses(values: np.ndarray, level: float, grid: Sequence[float] | np.ndarray) -> np.ndarray:
    """−u_k: by how many ranks each point of the grid misses the level, shape (K,). Not private.

    Args:
        values: shape (n,), n ≥ 1. level: q in (0, 1). grid: increasing, shape (K,).

    >>> misses(np.array([1.0, 2.0, 2.5, 9.0]), 0.5, [1.0, 2.0, 4.0]).tolist()
    [1.0, 0.0, 0.0]
    """
    values = records.numbers("values", values, (None,))
    cuts = records.numbers("grid", grid, (None,))
    _validate.whole("the number of points of the grid", len(cuts))
    if not (np.isfinite(cuts).all() and (np.diff(cuts) > 0).all()):
        raise ValueError("grid must be finite and increasing")
    n = _validate.whole("the number of values", len(values))
    rank = _validate.probability("level", level) * n
    beyond = len(cuts) - 1
    places = np.minimum(np.searchsorted(cuts, values, side="left"), beyond)  # NaN comes after all numbers
    counts = np.bincount(places, minlength=len(cuts)).cumsum()
    before = np.append(0, counts[:-1])
    return np.asarray(np.maximum(0.0, np.maximum(before - rank, rank - counts)))


@np.errstate(all="ignore")
def quantile(
    values: np.ndarray,
    level: float,
    grid: Sequence[float] | np.ndarray,
    budget: GaussianDP,
    *,
    group: int = 1,
    most: int | None = None,
    rng: np.random.Generator,
) -> float:
    """A point of a public grid whose rank among the values is near ``level`` times n: the module's mechanism.

    The values count as rounded up to the grid, so that what is returned is at least the quantile, up to one step of the
    grid, where the noise does not move it.

    Guarantee: μ-Gaussian DP for replacing one value by any other, whatever the values; NaN counts as +∞.

    Args:
        values: shape (n,), n ≥ 1. Numbers of any type.
        level: q in (0, 1).
        grid: finite and increasing, shape (K,), K ≥ 1. It must not depend on the values. A geometric grid costs a
            factor of the answer and few points; 10 to 100 are usual.
        budget: μ in [10⁻¹⁵⁰, 10¹⁵⁰]. The rank is wrong by about (ln K)/(0.8μ) at most.
        group: k ≥ 1: the guarantee is for taking up to k values away and adding up to k others.
        most: public, how many values there may be; their number is public where it is left out.
        rng: of the draw; K numbers.

    Returns:
        one of the grid's points.

    Raises:
        ValueError: if there is no value, the values are not an array of numbers, the grid is not finite and increasing,
            or a number is outside its range.

    >>> values = np.random.default_rng(0).standard_normal(10_000)
    >>> quantile(values, 0.975, np.linspace(0, 4, 401), GaussianDP(1.0), rng=np.random.default_rng(1))
    1.96
    """
    missed = misses(values, level, grid)
    eta = exponent(budget) / (1 + _ROUNDINGS * (most or len(values)) * UNIT_ROUNDOFF) / group
    return float(grid[chosen(-eta * missed, rng=rng)])
