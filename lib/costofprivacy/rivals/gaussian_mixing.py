r"""Gaussian mixing: least squares on random Gaussian combinations of the records.

Sheffet (2017), arXiv:1507.02482, with the exact privacy loss of `costofprivacy.privacy.mixing`, and the private test of
Lev et al. (2025), arXiv:2505.24603 (*linear mixing*). With A = [X, cy], a public scale c, and k rows in all,

.. math:: [Z, w] = SA + \sqrt\gamma\,G, \qquad \hat\theta = \frac1c\,\arg\min_\theta \|Z\theta - w\|^2 .

**Guarantee.** Records are clipped to ‖x‖ ≤ B and |y| ≤ Y, so the rows of A have norm R at most, R² = B² + c²Y². The
release is (ε, δ)-DP for replacing one record, by `costofprivacy.rivals.sketches`: θ̂ is computed from one sketch, and γ
is Γ or comes from the private test. We do not use the constants of the two papers. Sheffet's ask for a larger Γ, and
the published code of Lev et al. accounts for a record that is replaced by zeros, which is the weaker relation.

**Error.** Let the features have second moment I, let r = ‖θ*‖, ζ be the standard deviation of the label noise and
η = γ/n. Given Z, the response w/c has the variance v = ζ² + η/c² + r²η/(1 + η) about its best prediction. So

.. math:: E\|\hat\theta - \theta^*\|^2 \approx \Big(\frac{\eta r}{1+\eta}\Big)^2
    + \frac{d}{k-d-1}\cdot\frac{v}{1+\eta} .

The first term is the bias of the penalty. Γ grows like R²√k/μ, and the second term falls like 1/k. `plan` chooses k, c
and the test's share of the budget for the least sum. The test helps where the least eigenvalue of AᵀA exceeds Γ; but
that eigenvalue is at most nc²ζ², so it needs label noise.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from costofprivacy import _validate
from costofprivacy.privacy import ApproximateDP, sums
from costofprivacy.rivals.bounds import ROUNDING, Bounds, given, within_reach
from costofprivacy.rivals.sketches import RADII, Sketching, expected_least, factor, part

SHARES = (0.0, 0.02, 0.05, 0.1, 0.2, 0.4)  # of μ², for the private test, that a plan tries
SCALES = tuple(float(c) for c in np.geomspace(0.02, 50, 35))  # c over B/Y that a plan tries
MOST_ROWS = 10**6


@dataclass(frozen=True)
class Plan:
    """A sketch, fixed before any record is read.

    Args:
        bounds: B and Y. budget: ε in (0, ∞), and δ. rows: k, at least 1; at least d + 1 where it is used.
        response_scale: c in (0, ∞), such that R² is in [10⁻³⁰⁰, 10³⁰⁰]. test_share: of μ², for the private test, in [0,
            1); 0 appends rows.

    Raises:
        ValueError: if a number is outside its range.
    """

    bounds: Bounds
    budget: ApproximateDP
    rows: int
    response_scale: float = 1.0
    test_share: float = 0.0

    def __post_init__(self) -> None:
        _validate.keep(self, _validate.FINITE_POSITIVE, "response_scale")
        _validate.keep(self, _validate.within(0.0, 0.99), "test_share")
        _validate.keep(self, _validate.at_least(1), "rows")
        _validate.between("rows", self.rows, 1, MOST_ROWS)
        _ = self.sketching

    @property
    def sketching(self) -> Sketching:
        """Its accounting."""
        test = part(self.budget, self.test_share)
        return Sketching(_reach(self.bounds, self.response_scale), self.budget, self.rows, test)


def _reach(bounds: Bounds, scale: float) -> float:
    """R², and what rounding may add to the norm of a row."""
    return ((bounds.features * ROUNDING) ** 2 + (scale * bounds.response) ** 2) * ROUNDING


def plan(n: int, d: int, bounds: Bounds, radius: float, label_noise: float, budget: ApproximateDP) -> Plan:
    """The plan with the least error by the formula of the module, where the features have second moment I.

    Guarantee: no record is read, so a plan costs nothing.

    Args:
        n: number of records. d: dimension. bounds: B and Y. radius: r in [10⁻⁵⁰, 10⁵⁰]. label_noise: ζ ≥ 0, of y.
        budget: ε in (0, ∞), and δ.

    Raises:
        ValueError: if an argument is outside its range.

    >>> found = plan(20_000, 20, Bounds(6.7, 3.1), 1.0, 0.3, ApproximateDP(4.0, 1e-6))
    >>> found.rows, round(found.response_scale, 2), found.test_share
    (675, 1.08, 0.0)
    """
    _validate.whole("n", n), _validate.whole("d", d)
    _validate.between("radius", radius, *RADII), _validate.nonnegative("label_noise", label_noise)
    rows = np.unique(np.geomspace(d + 3, MOST_ROWS, 80).astype(int))
    best, chosen = math.inf, (0, 1.0, 0.0)
    for unit, share in itertools.product(SCALES, SHARES):
        scale = unit * bounds.features / bounds.response
        errors = _predicted(rows, scale, share, n, d, bounds, radius, label_noise, budget)
        if errors.min() < best:
            best, chosen = float(errors.min()), (int(rows[errors.argmin()]), scale, share)
    return Plan(bounds, budget, *chosen)


def predicted_error(plan: Plan, n: int, d: int, radius: float, label_noise: float) -> float:
    """The error of θ̂ by the formula of the module, plus dζ²/n, what n records cannot tell.

    Args:
        plan: the sketch. n, d, radius, label_noise: as for `plan`.

    Raises:
        ValueError: if an argument is outside its range, or k is less than d + 2.
    """
    _validate.whole("n", n), _validate.whole("d", d), _validate.whole("rows", plan.rows, at_least=d + 2)
    _validate.between("radius", radius, *RADII), _validate.nonnegative("label_noise", label_noise)
    public = (plan.response_scale, plan.test_share, n, d, plan.bounds, radius, label_noise, plan.budget)
    return float(_predicted(np.array([plan.rows]), *public)[0]) + d * label_noise**2 / n


def _predicted(
    rows: np.ndarray,
    scale: float,
    share: float,
    n: int,
    d: int,
    bounds: Bounds,
    radius: float,
    label_noise: float,
    budget: ApproximateDP,
) -> np.ndarray:
    """The formula of the module for several k, with the loss of a sketch taken for a Gaussian one of μ = s√k."""
    mu, reach = budget.to_gaussian().mu, _reach(bounds, scale)
    needed = reach * np.sqrt(rows) / (mu * math.sqrt(1 - share))
    if test := part(budget, share):
        block = np.array([[1.0, scale * radius], [scale * radius, scale**2 * (radius**2 + label_noise**2)]])
        sampled = n * max(0.0, 1 - math.sqrt((d + 1) / n)) ** 2 * float(np.linalg.eigvalsh(block)[0])
        needed = np.maximum(0.0, needed - expected_least(sampled, reach, test, budget.delta))
    eta = needed / n
    variance = label_noise**2 + eta / scale**2 + radius**2 * eta / (1 + eta)
    return (eta * radius / (1 + eta)) ** 2 + d / (rows - d - 1) * variance / (1 + eta)


def _square(x: np.ndarray, response: np.ndarray) -> np.ndarray:
    """AᵀA of A = [X, cy], each part by `privacy.sums.product`, without a copy of X."""
    with np.errstate(over="ignore", invalid="ignore"):
        across = sums.product(x, response)
        return np.block([[sums.product(x, x), across[:, None]], [across, sums.product(response, response)]])


@np.errstate(all="ignore")
def release(x: np.ndarray, y: np.ndarray, plan: Plan, *, rng: np.random.Generator) -> np.ndarray:
    """θ̂, shape (d,).

    Guarantee: (ε, δ)-DP of ``plan.budget`` for replacing one record by any other, whatever the records: features beyond
    B are shortened to it, responses beyond Y are clipped, and a record that is not finite is void. What is not exact is
    paid for (`sketches`).

    Args:
        x: features, shape (n, d), n ≥ 1. y: responses, shape (n,). Numbers of any type.
        plan: the sketch; it must not depend on the records. rng: of the sketch.

    Raises:
        ValueError: if there is no record, shapes disagree, an array is not of numbers, k is less than d + 1, or n is
            too large.
    """
    x, y = plan.bounds.clip(*given(x, y))
    sketching, (n, d) = plan.sketching, x.shape
    _validate.whole("rows", plan.rows, at_least=d + 1)
    square = _square(x, plan.response_scale * y)
    square[np.diag_indices(d + 1)] += sketching.added(square, n, rng=rng)
    R = factor(square, plan.rows, rng=rng)
    return within_reach(solve_triangular(R[:d, :d], R[:d, d], check_finite=False) / plan.response_scale)
