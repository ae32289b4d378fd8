r"""Auditing by one run: many canaries in one data set, one release, and a guess about each.

Steinke, Nasr and Jagielski (2023), arXiv:2305.08846. `costofprivacy.privacy.audit` needs many releases on two data
sets. Here one release is enough, because m records are chosen independently, each by a fair coin.

**The relation.** Privacy here is for the replacement of one record. So every coin decides between *two records*, a_i or
b_i, that stand in the same place of the data set: whatever the coins are, there are n records. Two outcomes that differ
in one coin are then neighbours, and nothing else is used below. "Included or not" is the special case in which b_i is a
record that is known to add nothing, such as x = 0 with y = 0. (The paper's canaries are added or removed. An
(ε, δ) for that relation is compared with what is found here only if the mechanism is told of the empty record.)

The auditor sees the release. She guesses r of the coins, r fixed beforehand, abstains from the others, and is right K
times.

**Theorem.** Let the mechanism be (ε, δ)-DP, q = e^ε/(1 + e^ε), and W binomial (r, q). For all v ≥ 1

.. math:: P(K \ge v) \le P(W \ge v) + m\delta\,\frac{P(W < v)\,P(W \ge v)}{v\,P(W = v)} .

*Proof.* Let p_k = P(K = k), let S be the coins, T the guesses, and L a set of numbers from 1 to r. For a place i and
coins s consider the event E that T guesses s_i, and is right k ∈ L times in all. Seen from the coins s' that differ in
place i, E says that T is wrong about place i, and right k − 1 times. Privacy says P(E | s) ≤ e^ε P(E | s') + δ. Average
over s, and add over the m places: the left-hand side counts each outcome K = k ∈ L once for each right guess, and the
right-hand side each outcome K = k − 1 once for each wrong one. So

.. math:: \sum_{k \in L}\big(k\,p_k - e^\varepsilon (r - k + 1)\,p_{k-1}\big) \le m\delta \quad\text{for every } L .

Hence the positive parts x_k of these terms add up to mδ at most. The binomial weights b_k = P(W = k) have k b_k =
e^ε (r − k + 1) b_{k−1}, so that u_k = p_k/b_k satisfies u_k ≤ u_{k−1} + x_k/(k b_k). For j < v ≤ k this gives u_k ≤
u_j + Σ_{j<l≤k} x_l/(l b_l). Multiply by b_j b_k and add over all such j and k; as Σ b_j u_j over j < v is 1 − P(K ≥ v),

.. math:: P(K \ge v) \le P(W \ge v) + \sum_l x_l\,\frac{P(W < \min(l, v))\,P(W \ge \max(l, v))}{l\,b_l} .

The fraction is largest at l = v. Above, P(W ≥ l)/b_l falls, since the binomial law is log-concave. Below, l b_l is rq
times the probability that a binomial (r − 1, q) variable is l − 1, and P(W < l) is P(W' ≤ l − 1) less q times that
probability: their ratio increases for the same reason. ∎

No smaller bound holds for all mechanisms, as long as it is at most 1: u may jump at v alone. The correction in the
paper's code is 2mδ max_i P(v > W ≥ v − i)/i instead. For δ = 0 the two agree. For r below 40 and
a few up to 1000, it is at least twice the above where P(W ≥ v) ≤ 1/2, which is where an audit looks. For smaller v it
can be too small, which does an audit no harm: r = m = 5, ε = 0, δ = 10⁻³ and v = 1 give 0.9691 in place of 0.9697.

*Abstaining costs δ and not ε*: m, not r, multiplies δ. If mδ is no smaller than 1 less the confidence, nothing can be
found: a mechanism may show one canary openly with probability mδ.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import bisect
from scipy.special import expit
from scipy.stats import binom

from costofprivacy import _validate

Scores = Callable[[np.ndarray, np.random.Generator], np.ndarray]

LEAST = 1e-300  # a probability below has few digits
LARGEST = 100.0  # ε beyond which an audit does not look: a coin is then wrong with probability 10⁻⁴³


@dataclass(frozen=True)
class OneRun:
    """What one release has shown.

    Args:
        canaries: m, places of the data set that hold one of two records by a coin.
        guesses: r, in how many of them a guess was made.
        right: how many guesses were right.
        delta: δ for which the bound holds. confidence: probability, at least, with which the bound is below ε.
        epsilon: lower bound on ε at δ; 0 where nothing was found.
    """

    canaries: int
    guesses: int
    right: int
    delta: float
    confidence: float
    epsilon: float


def placed(first: np.ndarray, second: np.ndarray, coins: np.ndarray) -> np.ndarray:
    """The canaries of one data set: a_i where the coin is true, else b_i.

    Args:
        first, second: a and b, of one shape (m, …). coins: booleans, shape (m,).

    Raises:
        ValueError: if the shapes disagree.

    >>> placed(np.array([1.0, 2.0]), np.zeros(2), np.array([True, False]))
    array([1., 0.])
    """
    _validate.shape("second", second, first.shape)
    _validate.shape("coins", coins, first.shape[:1])
    return np.where(coins.reshape(-1, *[1] * (first.ndim - 1)), first, second)


def guesses_of(scores: np.ndarray, guesses: int) -> np.ndarray:
    """Guesses from scores: their signs where they are farthest from 0, with 1 for 0 itself; 0 where she abstains.

    Args:
        scores: shape (m,), positive where a_i is likelier, negative where b_i is; NaN counts as 0.
        guesses: r in [1, m].

    Raises:
        ValueError: if r is outside its range.

    >>> guesses_of(np.array([0.3, 5.0, np.nan, -2.0, 0.1]), 3).tolist()
    [1, 1, 0, -1, 0]
    """
    guesses = _validate.whole("guesses", guesses)
    _validate.between("guesses", guesses, 1, len(scores))
    known = np.where(np.isnan(scores), 0.0, scores)
    surest = np.argsort(-np.abs(known), kind="stable")[:guesses]
    found = np.zeros(len(scores), dtype=int)
    found[surest] = np.where(known[surest] < 0, -1, 1)
    return found


def audit_one_run(
    scores: Scores, canaries: int, guesses: int, *, delta: float, confidence: float, rng: np.random.Generator
) -> OneRun:
    """Audit a mechanism by one release: throw the coins, ask for scores, guess, and count.

    Assumes: ``scores`` puts a_i or b_i in the i-th place as the coins say, releases once, and computes the scores from
    the release and from what does not depend on the coins.

    Guarantee: with probability at least ``confidence`` the bound is at most what the mechanism spends at ``delta`` for
    the replacement of one record, whatever the mechanism is.

    Args:
        scores: (coins, rng) ↦ scores, both of shape (m,); positive where a_i is likelier, see `guesses_of`.
        canaries: m, at least 1. guesses: r in [1, m], chosen before the release.
        delta: δ in [0, 1). confidence: in (0, 1).
        rng: source of all randomness.

    Raises:
        ValueError: if an argument is outside its range, or if the scores have another shape.
    """
    canaries = _validate.whole("canaries", canaries)
    coins = rng.random(canaries) < 0.5
    given = np.asarray(scores(coins.copy(), rng), dtype=float)
    _validate.shape("scores", given, (canaries,))
    guessed = guesses_of(given, guesses)
    right = int(((guessed == 1) & coins).sum() + ((guessed == -1) & ~coins).sum())
    bound = one_run_lower_bound(right, guesses, canaries, delta=delta, confidence=confidence)
    return OneRun(canaries, guesses, right, delta, confidence, bound)


def one_run_lower_bound(right: int, guesses: int, canaries: int, *, delta: float, confidence: float) -> float:
    """The largest ε that so many right guesses refute at δ: 0 if none, at most `LARGEST`.

    Guarantee: at most the ε of every (ε, δ)-DP mechanism with probability at least ``confidence``, for a number of
    guesses that was fixed before the release.

    Args:
        right: K in [0, r]. guesses: r in [1, m]. canaries: m. delta: δ in [0, 1). confidence: in (0, 1).

    Raises:
        ValueError: if an argument is outside its range.

    >>> print(round(one_run_lower_bound(90, 100, 1000, delta=0.0, confidence=0.95), 3))
    1.631
    """
    failure = 1 - _validate.probability("confidence", confidence)

    def beyond(epsilon: float) -> float:
        return p_value(right, guesses, canaries, epsilon, delta) - failure

    if beyond(0.0) > 0:
        return 0.0
    if beyond(LARGEST) <= 0:
        return LARGEST
    return float(bisect(beyond, 0.0, LARGEST, xtol=1e-10))


def p_value(right: int, guesses: int, canaries: int, epsilon: float, delta: float) -> float:
    """The largest probability of at least so many right guesses under (ε, δ)-DP: the module's theorem.

    Args:
        right: v in [0, r]. guesses: r in [1, m]. canaries: m. epsilon: ε in [0, ∞). delta: δ in [0, 1).

    Raises:
        ValueError: if an argument is outside its range.

    >>> print(round(p_value(3, 3, 3, 0.0, 0.0), 3))
    0.125
    """
    guesses = _validate.whole("guesses", guesses)
    canaries = _validate.whole("canaries", canaries)
    _validate.between("guesses", guesses, 1, canaries)
    right = _validate.whole("right", right, at_least=0)
    _validate.between("right", right, 0, guesses)
    epsilon = _validate.finite("epsilon", _validate.nonnegative("epsilon", epsilon))
    share = _validate.number(delta)
    if share is None or not 0 <= share < 1:
        raise ValueError(f"delta must be in [0, 1), got {delta!r}")
    delta = float(share)
    if right == 0:
        return 1.0
    q = float(expit(epsilon))
    above = float(binom.sf(right - 1, guesses, q))
    if delta == 0:
        return above
    below = float(binom.logcdf(right - 1, guesses, q))
    if below == -math.inf:
        return 1.0
    log_pmf = binom.logpmf(right, guesses, q)
    if above > LEAST:
        log_above = binom.logsf(right - 1, guesses, q)
    else:  # few digits or none: P(W ≥ v) is at most that of a geometric series with the ratio of the first two terms
        log_above = log_pmf - math.log1p(-(guesses - right) / (right + 1) * math.exp(epsilon))
    log_share = below + log_above - log_pmf - math.log(right)
    return min(1.0, above + canaries * delta * math.exp(log_share))
