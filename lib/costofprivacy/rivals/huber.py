r"""The convex loss of output and objective perturbation: squared error, straight where a gradient would be too long.

.. math:: J(\theta) = \sum_i h_i(x_i^\top\theta - y_i) + \frac{\Lambda}{2}\|\theta\|^2 + b^\top\theta, \qquad
    h_i'(r) = \max(-C/\|x_i\|, \min(r, C/\|x_i\|)).

So the gradient of each record is the clipped gradient of DP-GD, ‖h_i'x_i‖ ≤ C (Huber's loss with a threshold of its own
for each record); with C ≥ B(Y + B‖θ‖) it is squared error on the whole ball of that radius. Its second derivative is
a_i x_i x_iᵀ with a_i ∈ [0, 1]. The limits C/‖x_i‖ are doubles, and the loss is the one that these doubles define: a
gradient is at most C(1 + 10⁻¹²) long, for up to some thousands of features.

**Any record.** One without a gradient that doubles can bound is void (`bounds.given`). A record so long that its
curvature exceeds `reach` (n) Λ is shortened to that: beyond, doubles cannot tell where its loss bends, and no minimum
would be found, which would tell of the record. Both are maps of single records, fixed by n and Λ alone.

**The minimum** is found by `costofprivacy.rivals.newton` and certified: ‖∇J(θ)‖ ≤ γ = `TOLERANCE`·C at the θ that is
returned, which therefore is within γ/Λ of the exact minimiser, since J is Λ-strongly convex. γ is a public number, so
that a release can pay for it; nothing that it claims rests on how the solver works.
"""

import math
from dataclasses import replace

import numpy as np

from costofprivacy import _validate
from costofprivacy.privacy import records, sums
from costofprivacy.rivals import newton
from costofprivacy.rivals.bounds import SQUARABLE, Prepared, given, prepare, shortened
from costofprivacy.rivals.newton import TOLERANCE, Minimum, Objective

REACH = 1e5  # the largest ‖x‖²/Λ of a record, for n up to a million
ROUNDING = 1 + 1e-12  # a gradient, or a row that was shortened to a bound, is no longer than this, over the bound
MOST_LINEAR = 1e12  # the largest ‖b‖/C: beyond, its rounding is no longer far below the tolerance
_MODERATE = 100  # binary exponents within which no product on the way leaves the range of doubles


def reach(n: int) -> float:
    """The largest ‖x‖²/Λ of a record among n, by which the minimum can be certified: 10⁵ up to n = 7·10⁵, then less.

    Args:
        n: number of records, at least 1.

    >>> print(reach(1000), reach(10_000_000))
    100000.0 500.0
    """
    return min(REACH, newton.FINEST / _validate.whole("n", n) ** 2)


@np.errstate(all="ignore")
def gradient(theta: np.ndarray, x: np.ndarray, y: np.ndarray, clip_norm: float, penalty: float) -> np.ndarray:
    """∇J at θ without the linear term, shape (d,).

    Guarantee: replacing one record moves the sum over records by at most 2C(1 + `privacy.sums.slack` (n, d)), whatever
    the records, at every θ at which xᵀθ is a double; Λθ is added with one more rounding.

    Args:
        theta: shape (d,). x: shape (n, d). y: shape (n,). clip_norm: C in (0, ∞]. penalty: Λ > 0.
    """
    x, y = given(x, y)
    bound = limits(x, clip_norm)
    return sums.product(x, np.clip(x @ theta - y, -bound, bound)) + penalty * theta


@np.errstate(all="ignore")
def limits(x: np.ndarray, clip_norm: float) -> np.ndarray:
    """C/‖x_i‖, shape (n,); ∞ where x is 0.

    Guarantee: a residual clipped at it gives a gradient of norm at most C, whatever x holds; 0 for a row whose norm is
    not in [10⁻¹⁵⁰, 10¹⁵⁰].

    Raises:
        ValueError: if C is not positive.
    """
    clip_norm = _validate.positive("clip_norm", clip_norm)
    return _limits(x, np.linalg.norm(x, axis=1), clip_norm)


def _limits(x: np.ndarray, norm: np.ndarray, clip_norm: float) -> np.ndarray:
    """`limits` where ‖x_i‖ is known."""
    found: np.ndarray = clip_norm / norm
    odd = ~((norm >= records.NEAR) & (norm <= records.FAR))
    if odd.any():
        found[odd] = np.where(x[odd].any(axis=1), 0.0, np.inf)
    return found


@np.errstate(all="ignore")
def minimiser(
    x: np.ndarray, y: np.ndarray, clip_norm: float, penalty: float, linear: np.ndarray | float = 0.0
) -> np.ndarray:
    """The θ at which J is least, rounded to doubles: `minimum`, high + low.

    Guarantee: replacing one record moves it by at most 2(C + γ)/Λ before the last rounding, whatever the records.

    Args, Raises: as in `minimum`.

    Returns:
        shape (d,).
    """
    found = minimum(x, y, clip_norm, penalty, linear)
    return found.high + found.low


@np.errstate(all="ignore")
def minimum(
    x: np.ndarray,
    y: np.ndarray,
    clip_norm: float,
    penalty: float,
    linear: np.ndarray | float = 0.0,
    start: np.ndarray | None = None,
) -> Minimum:
    """The θ at which J is least, certified, to twice the precision of doubles.

    Guarantee: ‖∇J(θ)‖ ≤ γ = `TOLERANCE`·C. So θ is within γ/Λ of the exact minimiser, and replacing one record moves it
    by at most 2(C + γ)/Λ, whatever the records, and whatever the start.

    Args:
        x: features, shape (n, d). y: responses, shape (n,).
        clip_norm: C, bound on each record's gradient. penalty: Λ, of the sum, not of the mean. Both, and C/Λ, in
            [10⁻¹⁵⁰, 10¹⁵⁰].
        linear: b, shape (d,), or 0; ‖b‖ ≤ 10¹² C.
        start: where the search begins, finite, shape (d,): a point near the minimum saves steps. 0 if left out.

    Raises:
        ValueError: if C, Λ, b or the start is outside its range, there is no record, or shapes disagree.
        ArithmeticError: if no point could be certified. Nothing is released then. By the proof in
            `costofprivacy.rivals.newton` that does not happen, and it was never seen.
    """
    return minimum_of(prepare(x, y), clip_norm, penalty, linear, start)


@np.errstate(all="ignore")
def minimum_of(
    told: Prepared,
    clip_norm: float,
    penalty: float,
    linear: np.ndarray | float = 0.0,
    start: np.ndarray | None = None,
) -> Minimum:
    """`minimum` of prepared records.

    Guarantee, Args, Raises: as there, with `bounds.prepare` for the records.
    """
    clip_norm, penalty = within_doubles(clip_norm, penalty)
    d = len(told.live)
    b, near = np.array(np.broadcast_to(np.asarray(linear, dtype=float), (d,))), np.zeros(d)
    _validate.between("the norm of linear over clip_norm", float(np.linalg.norm(b / clip_norm)), 0.0, MOST_LINEAR)
    if start is not None:
        near = records.numbers("start", start, (d,))
        if not np.isfinite(near).all():
            raise ValueError("start must be finite, got NaN or infinities")
    bound = math.sqrt(reach(len(told.rows)) * penalty)
    if not (told.norm <= bound * ROUNDING).all():
        rows = shortened(told.rows, bound)
        told = replace(told, rows=rows, norm=np.linalg.norm(rows, axis=1))
    found = _search(told, clip_norm, penalty, b[told.live], near[told.live])
    return found if told.live.all() else _with_dead(found, told.live, b, penalty)


def _with_dead(found: Minimum, live: np.ndarray, b: np.ndarray, penalty: float) -> Minimum:
    """The minimum over all features from that over the *live* ones, those that are not 0 in all records.

    Along a dead feature J is Λθ_j²/2 + b_jθ_j and nothing else, so its minimum is at −b_j/Λ, whatever the others are.
    """
    high, low = np.zeros(len(live)), np.zeros(len(live))
    high[live], low[live] = found.high, found.low
    dead = ~live
    high[dead] = -b[dead] / penalty
    low[dead] = -sum(newton.multiple(penalty, high[dead], low[dead], b[dead])) / penalty
    left = sum(newton.multiple(penalty, high[dead], low[dead], b[dead]))
    size = math.hypot(found.gradient_norm, float(np.linalg.norm(left)))
    return replace(found, high=high, low=low, gradient_norm=size)


def within_doubles(clip_norm: float, penalty: float) -> tuple[float, float]:
    """C and Λ; a ``ValueError`` unless they and C/Λ are in [10⁻¹⁵⁰, 10¹⁵⁰]: beyond, their squares leave the doubles."""
    clip_norm, penalty = SQUARABLE("clip_norm", clip_norm), SQUARABLE("penalty", penalty)
    _validate.between("clip_norm / penalty", clip_norm / penalty, records.NEAR, records.FAR)
    return clip_norm, penalty


def _search(told: Prepared, clip_norm: float, penalty: float, b: np.ndarray, start: np.ndarray) -> Minimum:
    """`minimum_of` for the live features, in units that are powers of 2 where products would leave the doubles.

    Responses are brought so near that they still lie beyond what any minimiser predicts, which leaves it where it is:
    ‖θ‖ ≤ (nC + ‖b‖)/Λ at the minimum, whatever the records. A response farther than that times ‖x‖, by twice the limit,
    leaves its record clipped there on the same side.
    """
    limit, x, y, norm = _limits(told.rows, told.norm, clip_norm), told.rows, told.responses, told.norm
    root = math.frexp(penalty)[1] // 2
    size = math.frexp(clip_norm)[1] - root
    if scaled := max(abs(root), abs(size)) > _MODERATE:
        x, norm, start = np.ldexp(x, -root), np.ldexp(norm, -root), np.ldexp(start, root - size)
        y, limit, b = np.ldexp(y, -size), np.ldexp(limit, -size), np.ldexp(b, -size - root)
        clip_norm, penalty = math.ldexp(clip_norm, -size - root), math.ldexp(penalty, -2 * root)
    finite = np.where(np.isfinite(limit), limit, 0.0)
    farthest = 2 * (norm * ((len(x) * clip_norm + float(np.linalg.norm(b))) / penalty) + finite)
    objective = Objective(x, np.clip(y, -farthest, farthest), finite, penalty, b, clip_norm)
    found = newton.minimum(objective, TOLERANCE * clip_norm, start)
    if not scaled:
        return found
    high, low = np.ldexp(found.high, size - root), np.ldexp(found.low, size - root)
    return replace(found, high=high, low=low, gradient_norm=math.ldexp(found.gradient_norm, size + root))
