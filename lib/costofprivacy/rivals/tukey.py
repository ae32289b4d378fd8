r"""TukeyEM: least squares on disjoint parts of the data, and a random point that lies deep among the solutions.

Amin, Joseph, Ribero and Vassilvitskii (2023), arXiv:2208.07353. It asks for no bounds on features or response.

The m solutions are points in ℝ^d. The *depth* of a point is the least number of them on either side of it, in the
worst coordinate: T(z) = min_j min(#{i: θ_ij ≤ z_j}, #{i: θ_ij ≥ z_j}). The points of depth at least k form a box, of
volume V_k. Released is a draw from the density proportional to exp(ε₂T(z)/2) on the box of depth t = ⌊m/4⌋, if a
noisy count says that this is stable, and 0 otherwise.

**Guarantee**: (ε₁ + ε₂, δ)-DP for replacing one record. *Proof* (our own, for this relation). The parts do not depend
on the data, so that replacing a record moves one of the m points, and T changes by at most 1 everywhere: V_{k+1}(D) ≤
V_k(D') ≤ V_{k−1}(D). Let W(D) be the integral of exp(ε₂T/2) over {T ≥ t}.

*A stable D.* Let a = exp(ε₂(t − 1)/2)V_{t−1}(D)/W(D). Since T' ≤ T + 1, W(D') ≤ e^{ε₂/2}W(D)(1 + a). Where T' ≥ t, the
ratio of the densities of D and D' is thus at most e^{ε₂}(1 + a); where T' < t ≤ T, T = t, a set of probability at most
e^{ε₂/2}a under D. So P_D(A) ≤ e^{ε₂}P_{D'}(A) + 2e^{ε₂}a, and a ≤ δ/(2e^{ε₂}) is enough for (ε₂, δ) in this direction.
As W(D) ≥ exp(ε₂(t + g)/2)V_{t+g}(D), it follows from

.. math:: \min_{g \ge 0} \frac{V_{t-1-k}(D)}{V_{t+g+k}(D)}\, e^{-\varepsilon_2(g+1)/2} \le
    \frac{\delta}{2e^{\varepsilon_2}} \tag{$*$}

with k = 0. *The count.* Let κ(D) be how many of k = 0, 1, …, t − 2 satisfy (∗), counted from 0 without a gap. By the
inequalities on volumes κ changes by at most 1 between neighbours. The draw is made if κ + Lap(1/ε₁) > ln(1/(2δ))/ε₁.

*Both together.* If κ(D) = 0, the draw is made with probability at most δ; else D is stable. In the first case whatever
needs a draw has probability at most δ under D, in the second P_D(draw, A) ≤ P_D(draw)(min(1, e^{ε₂}P_{D'}(A)) + δ) ≤
e^{ε₁+ε₂}P_{D'}(draw, A) + δ. That no draw is made has probabilities within e^{ε₁}. ∎

**In doubles.** Rounded differences, sums and comparisons keep the order of what they are computed from, and so does the
logarithm. So the computed ln V_k of neighbours satisfy the same inequalities as the exact ones, and κ changes by at
most 1.

**Any record.** The proof asks that a record moves the solution of its own part alone, however far. So a record that
doubles cannot hold is void (`bounds.given`), a solution that is not finite is 0, and one beyond 10¹⁵⁰ is clipped to it:
maps of single records and parts. Whether a part is singular decides how that part is solved, and no other.
"""

import contextlib
import math
from collections.abc import Sequence

import numpy as np

from costofprivacy import _validate
from costofprivacy.privacy import ApproximateDP, records
from costofprivacy.privacy.mechanisms import chosen
from costofprivacy.rivals.bounds import given

LEAST_MODELS = 8  # below it the box of depth t would be all of them


@np.errstate(all="ignore")
def models(x: np.ndarray, y: np.ndarray, parts: int, *, rng: np.random.Generator) -> np.ndarray:
    """Least squares on disjoint parts of equal size, drawn at random, shape (parts, d); what is left over is not used.

    Guarantee: a record moves the solution of its own part alone, and all are within ±10¹⁵⁰, whatever the records.

    Args:
        x: features, shape (n, d). y: responses, shape (n,). Numbers of any type. parts: m, at most n/d.
        rng: draws the parts.

    Raises:
        ValueError: if a part would hold fewer than d records, or shapes disagree.
    """
    x, y = given(x, y)
    n, d = x.shape
    _check_parts(parts, n, d)
    rows = rng.permutation(n)[: n // parts * parts].reshape(parts, -1)
    chosen, response = x[rows], y[rows]
    square = np.swapaxes(chosen, 1, 2) @ chosen
    product = np.einsum("pnd,pn->pd", chosen, response)
    try:
        return _within_reach(np.linalg.solve(square, product[..., None])[..., 0])
    except np.linalg.LinAlgError:  # a feature that is constant on a part, say
        each = zip(square, product, chosen, response, strict=True)
        return _within_reach(np.stack([_solution(*part) for part in each]))


def _check_parts(parts: int, n: int, d: int) -> None:
    if _validate.whole("parts", parts, at_least=LEAST_MODELS) * d > n:
        raise ValueError(f"parts must be at most n/d = {n // d}, got {parts}")


def _solution(square: np.ndarray, product: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Least squares on one part: the shortest solution where it is singular, 0 where none is found."""
    for solve in (lambda: np.linalg.solve(square, product), lambda: np.linalg.lstsq(x, y, rcond=None)[0]):
        with contextlib.suppress(np.linalg.LinAlgError):
            return solve()
    return np.zeros(x.shape[1])


def _within_reach(solutions: np.ndarray) -> np.ndarray:
    """The solutions, 0 where one is not finite and clipped to ±10¹⁵⁰; each by itself."""
    if np.abs(solutions).max(initial=0.0) <= records.FAR:
        return solutions
    sound = np.isfinite(solutions).all(axis=1, keepdims=True)
    return np.clip(np.where(sound, solutions, 0.0), *records.REACH)


def log_volumes(ordered: np.ndarray) -> np.ndarray:
    """ln V_k for k = 1, …, ⌊m/2⌋, shape (⌊m/2⌋,); −∞ where a side has no length.

    Args:
        ordered: the solutions, each coordinate sorted by itself, shape (m, d).
    """
    ordered = records.numbers("ordered", ordered, (None, None))
    half = len(ordered) // 2
    with np.errstate(divide="ignore"):
        return np.log(ordered[::-1][:half] - ordered[:half]).sum(axis=1)


def stable_count(volumes: np.ndarray, depth: int, epsilon: float, delta: float) -> int:
    """κ of the module's docstring.

    Args:
        volumes: ln V_k from k = 1 on. depth: t. epsilon: ε₂. delta: δ.
    """
    most = len(volumes)
    for k in range(depth - 1):
        inner = volumes[depth + k - 1 :]  # V_{t+k+g} for g = 0, 1, …
        if len(inner) == 0:
            return k
        with np.errstate(invalid="ignore"):
            falls = volumes[depth - 2 - k] - inner - epsilon / 2 * np.arange(1, len(inner) + 1)
        if not np.nanmin(falls, initial=math.inf) <= math.log(delta / 2) - epsilon:
            return k
    return min(depth - 1, most)


@np.errstate(all="ignore")
def fit(x: np.ndarray, y: np.ndarray, parts: int, budget: ApproximateDP, *, rng: np.random.Generator) -> np.ndarray:
    """TukeyEM: a deep point among the solutions of ``parts`` parts, or 0 where the count says no: `fits` at one budget.

    Guarantee, Args, Raises: as there. Shape (d,).
    """
    return fits(x, y, parts, [budget], rng=rng)[0]


@np.errstate(all="ignore")
def fits(
    x: np.ndarray, y: np.ndarray, parts: int, budgets: Sequence[ApproximateDP], *, rng: np.random.Generator
) -> np.ndarray:
    """TukeyEM at several budgets from the same parts, shape (budgets, d); 0 where the count says no.

    Guarantee: each alone is (ε, δ)-DP for replacing one record, whatever the records, half of ε for the count. The
    noise of the counts is drawn first: where no count could pass with it, nothing is fitted.

    Args:
        x: features, shape (n, d). y: responses, shape (n,). Numbers of any type. parts: m, at least `LEAST_MODELS`, at
        most n/d. budgets: ε in [10⁻¹⁵⁰, 10¹⁵⁰] and δ, at least one. rng: source of all randomness.

    Raises:
        ValueError: if there are too few or too many parts, or shapes disagree.
    """
    x, y = given(x, y)
    _check_parts(parts, *x.shape)
    noises = [_count_noise(budget, rng=rng) for budget in budgets]
    hopeful = [parts // 4 - 1 + noise > count_threshold(budget) for noise, budget in zip(noises, budgets, strict=True)]
    found = np.zeros((len(budgets), x.shape[1]))
    if any(hopeful):
        solutions = models(x, y, parts, rng=rng)
        for k in np.flatnonzero(hopeful).tolist():
            found[k] = _deep_point(solutions, budgets[k], noises[k], rng=rng)
    return found


def _count_noise(budget: ApproximateDP, *, rng: np.random.Generator) -> float:
    """A draw of Lap(1/ε₁), ε₁ = ε/2."""
    _validate.between("epsilon", _validate.finite_positive("epsilon", budget.epsilon), records.NEAR, records.FAR)
    return float(rng.laplace(scale=2 / budget.epsilon))


def count_threshold(budget: ApproximateDP) -> float:
    """What the noisy count has to exceed, ln(1/(2δ))/ε₁ with ε₁ = ε/2."""
    return 2 * math.log(1 / (2 * budget.delta)) / budget.epsilon


@np.errstate(all="ignore")
def release(solutions: np.ndarray, budget: ApproximateDP, *, rng: np.random.Generator) -> np.ndarray:
    """A deep point among given solutions, or 0 where the noisy count says no; shape (d,).

    Guarantee: (ε, δ)-DP for replacing one *solution* by any other, hence for replacing a record of `models`; one that
    is not finite is 0.

    Args:
        solutions: from `models`, shape (m, d), m at least `LEAST_MODELS`. budget: ε in [10⁻¹⁵⁰, 10¹⁵⁰] and δ.
        rng: source of all randomness.

    Raises:
        ValueError: if there are too few solutions, they are no array of numbers, or ε is outside its range.
    """
    return _deep_point(solutions, budget, _count_noise(budget, rng=rng), rng=rng)


def _deep_point(
    solutions: np.ndarray, budget: ApproximateDP, count_noise: float, *, rng: np.random.Generator
) -> np.ndarray:
    """`release` with a noise of the count that was drawn before."""
    solutions = _within_reach(records.numbers("solutions", solutions, (None, None)))
    m, half = _validate.whole("parts", len(solutions), at_least=LEAST_MODELS), budget.epsilon / 2
    ordered, depth = np.sort(solutions, axis=0) + 0.0, m // 4  # no −0: a range from 0 to −0 is refused
    volumes = log_volumes(ordered)
    if not stable_count(volumes, depth, half, budget.delta) + count_noise > count_threshold(budget):
        return np.zeros(solutions.shape[1])
    within = volumes[depth - 1 :]
    with np.errstate(divide="ignore", invalid="ignore"):
        shells = within + np.log(-np.expm1(np.append(within[1:] - within[:-1], -np.inf)))
    weights = np.nan_to_num(shells, nan=-np.inf) + half / 2 * np.arange(depth, depth + len(within))
    return _in_shell(ordered, depth + chosen(weights, rng=rng), len(volumes), rng)


def _in_shell(ordered: np.ndarray, depth: int, deepest: int, rng: np.random.Generator) -> np.ndarray:
    """A uniform point of depth exactly ``depth``: in the box of that depth, outside the next one.

    The shell is cut by the first coordinate that leaves the inner box: those before it stay inside, those after are
    free.
    """
    low, high = ordered[depth - 1], ordered[-depth]
    if depth == deepest:
        return rng.uniform(low, high)
    inner_low, inner_high = ordered[depth], ordered[-depth - 1]
    with np.errstate(divide="ignore"):
        outer, inner = np.log(high - low), np.log(inner_high - inner_low)
        rim = np.log((inner_low - low) + (high - inner_high))
    before, after = np.cumsum(np.append(0.0, inner[:-1])), np.cumsum(np.append(0.0, outer[:0:-1]))[::-1]
    first = chosen(before + rim + after, rng=rng)
    point = np.where(np.arange(len(low)) < first, rng.uniform(inner_low, inner_high), rng.uniform(low, high))
    left, right = inner_low[first] - low[first], high[first] - inner_high[first]
    along = rng.uniform(0, left + right)
    point[first] = low[first] + along if along < left else inner_high[first] + (along - left)
    return point
