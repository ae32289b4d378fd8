r"""Gaussian mixing: least squares on random Gaussian combinations of the records.

Sheffet (2017), arXiv:1507.02482, with the exact privacy loss of `costofprivacy.privacy.mixing`, and the private test of
Lev et al. (2025), arXiv:2505.24603 (*linear mixing*). With A = [X, cy], a public scale c, and k rows in all,

.. math:: [Z, w] = SA + \sqrt\gamma\,G, \qquad \hat\theta = \frac1c\,\arg\min_\theta \|Z\theta - w\|^2 .

**Guarantee.** Records are clipped to ‖x‖ ≤ B and |y| ≤ Y, so the rows of A have norm R at most, R² = B² + c²Y². The
release is (ε, δ)-DP for replacing one record, by the proof below: θ̂ is computed from one sketch, and γ is Γ or comes
from the private test. We do not use the constants of the two papers. Sheffet's ask for a larger Γ, and the published
code of Lev et al. accounts for a record that is replaced by zeros, which is the weaker relation.

**Error.** Let the features have second moment I, let r = ‖θ*‖, ζ be the standard deviation of the label noise and
η = γ/n. Given Z, the response w/c has the variance v = ζ² + η/c² + r²η/(1 + η) about its best prediction. So

.. math:: E\|\hat\theta - \theta^*\|^2 \approx \Big(\frac{\eta r}{1+\eta}\Big)^2
    + \frac{d}{k-d-1}\cdot\frac{v}{1+\eta} .

The first term is the bias of the penalty. Γ grows like R²√k/μ, and the second term falls like 1/k. `plan` chooses k, c
and the test's share of the budget for the least sum. The test helps where the least eigenvalue of AᵀA exceeds Γ; but
that eigenvalue is at most nc²ζ², so it needs label noise.

**Gaussian sketches of records of bounded norm: the least eigenvalue that they need, and how one is drawn.**

A sketch is SA + √γ G, of which `costofprivacy.privacy.mixing` knows the privacy loss if AᵀA + γI without the replaced
record has no eigenvalue below Γ. The rows of A have norm R at most. There are two ways to ensure that.

**Appended rows.** γ = Γ, whatever the records. This is ridge regression with the penalty Γ.

**A private test** (Lev et al., 2025). Let σ' be the noise with which a value of sensitivity R² is μ'-Gaussian DP. The
test releases λ̃ = λ_min(AᵀA) − R² + σ'(g − z) with a standard normal g and P(g > z) = δ', and γ = max(0, Γ − max(0,
λ̃)).

*Proof.* Let λ₀ be the least eigenvalue of AᵀA without the replaced record, the same for both neighbours. By Weyl,
λ_min(AᵀA) lies in [λ₀, λ₀ + R²] for both. So the release of λ̃ is μ'-Gaussian DP. Moreover λ̃ > λ₀ only if g > z, which
has probability δ'. In all other cases λ₀ + γ ≥ Γ. Let D and D' be neighbours and E a set of results. The results with
λ̃ > λ₀ have probability δ' at most under D. On the rest, the test and the sketches are adaptive rounds of which each
has
its loss bounded, so P_D(E) ≤ δ' + e^ε P_D'(E) + δ. ∎

**The law of a sketch.** k rows of N(0, Σ), Σ = AᵀA + γI = LLᵀ, are GLᵀ with a standard normal G of shape (k, p). Its QR
factor is TLᵀ, where T is that of G: triangular, with independent entries, the i-th diagonal one distributed like
χ_{k−i+1} and those above it standard normal (Bartlett, 1933). All that is used of a sketch is its QR factor, so we draw
T. This needs AᵀA alone and costs O(np² + p³), whatever k is.

**Rounding.** The computed Σ̂ = L̂L̂ᵀ is not Σ. Let f bound the Frobenius norm of Σ^(−1/2)(Σ̂ − Σ)Σ^(−1/2), f ≤ 1/30.
Exact and computed sketches, K rows in all, are then (ε₂, δ₂)-close in both directions if ε₂ ≥ 5f (K/32 + ln(1/δ₂)).

*Proof.* Let f_i be the eigenvalues of that matrix, or of that for the opposite direction, whose norm is at most 1.035
f. The Rényi divergence of order α with α − 1 = 1/(4.14 f) satisfies
(α − 1)D_α = −(K/2)Σ[ln(1 − (α − 1)f_i) + (α − 1)ln(1 + f_i)]. Since −ln(1 − v) ≤ v + 2v²/3 for |v| ≤ 1/4 and
ln(1 + v) ≥ v − v² for |v| ≤ 1/2, this is at most (K/2)(1/24 + 1.035 f/4) ≤ K/32. By Markov's inequality, the loss
exceeds ε₂ with probability e^{K/32 − ε₂/(4.14 f)} ≤ δ₂ at most. ∎

Two such steps, from computed to exact sketches and back, surround the step from one neighbour to the other. Together
they cost ε₁ + 2ε₂ and e^{ε₂}δ₁ + (1 + e^{ε₁ + ε₂})δ₂. `Sketching` takes the public share `FURTHER` of ε and of δ for
them. f is bounded by what the sum of the records (`privacy.sums`), the added γ and the Cholesky factorisation can be
wrong by (Higham, *Accuracy and Stability of Numerical Algorithms*, 2nd edition, (3.13) and Theorem 10.3). With u =
2⁻⁵³, m = min(n, 512) and tr AᵀA ≤ nR², and doubled to be safe, it is 2u((m + log₂ n + p + 8)nR²/Γ + (p + 3)p). What
remains is the rounding of the draws themselves and of what is computed from them.
"""

import itertools
import math
from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh, solve_triangular
from scipy.special import ndtri

from costofprivacy import _validate
from costofprivacy.privacy import ApproximateDP, GaussianDP, mixing, sums
from costofprivacy.privacy.mechanisms import gaussian_std
from costofprivacy.rivals.bounds import ROUNDING, Bounds, given, within_reach
from costofprivacy.rivals.sufficient_statistics import MOST, eigenvalue_error, smallest_eigenvalue

# ---- Sketches ----

FURTHER = 1e-3  # the share of ε, and of δ, that pays for rounding
MISSED = 0.05  # δ'/δ: the share of δ for a test that promises too much
RADII = (1e-50, 1e50)  # of the root mean square of a prediction, where a plan is told one
_TINY = 1e-12  # eigenvalues below this share of the trace are raised to it where a factorisation fails


@dataclass(frozen=True)
class Sketching:
    """What some sketches of the same records, a test and other Gaussian mechanisms may spend together.

    Guarantee: the sketches by `factor`, of AᵀA plus what `added` returns, with the test of `added` and other
    mechanisms that are ``other``-Gaussian DP together, are (ε, δ)-DP for replacing one record.

    Args:
        reach: R² in [10⁻³⁰⁰, 10³⁰⁰]. budget: ε in (0, ∞) and δ. rows: K of all sketches together, at least 1.
        test: μ' of the private test, None for appended rows. other: None, or what other mechanisms spend together.

    Raises:
        ValueError: if a number is outside its range, or nothing is left for the sketches.
    """

    reach: float
    budget: ApproximateDP
    rows: int
    test: GaussianDP | None = None
    other: GaussianDP | None = None

    def __post_init__(self) -> None:
        _validate.keep(self, _validate.within(1e-300, 1e300, _validate.FINITE_POSITIVE), "reach")
        _validate.finite_positive("epsilon", self.budget.epsilon)
        _validate.keep(self, _validate.at_least(1), "rows")
        _ = self.ratio

    @property
    def ratio(self) -> float:
        """s = R²/Γ, the largest that the budget admits."""
        left = 1 - FURTHER - (MISSED if self.test else 0.0)
        delta = left * self.budget.delta * math.exp(-FURTHER * self.budget.epsilon / 2)
        main = ApproximateDP((1 - FURTHER) * self.budget.epsilon, delta)
        spent = math.hypot(*(part.mu for part in (self.test, self.other) if part))
        return mixing.largest_ratio(main, self.rows, GaussianDP(spent) if spent else None)

    @property
    def least(self) -> float:
        """Γ, the least eigenvalue that AᵀA + γI needs without the replaced record."""
        return self.reach / self.ratio

    def added(self, square: np.ndarray, count: int, *, rng: np.random.Generator) -> float:
        """γ: Γ, or what the private test finds to be missing of it.

        Guarantee: `Sketching`, if ``square`` is a sum by `privacy.sums.product` over ``count`` records with ‖a‖² ≤ R².
        Rounding is paid for: the noise is larger by 2 `slack` and 2 `eigenvalue_error`, λ̃ is smaller by the latter and
        by the error of the sum.

        Args:
            square: AᵀA, shape (p, p). count: n ≥ 1. rng: of the noise of the test.

        Raises:
            ValueError: if n R² exceeds 10³⁰⁷, or n is so large that rounding is not covered: public facts.
        """
        p = len(square)
        _validate.between("n R²", count * self.reach, 0.0, MOST)
        relative = 2 * (_relative_error(count, p) * count * self.ratio + sums.UNIT_ROUNDOFF * (p + 3) * p)
        log_close = math.log(FURTHER * self.budget.delta) - float(np.logaddexp(0.0, self.budget.epsilon))
        needed = 5 * relative * (self.rows / 32 - log_close)
        if not (relative <= 1 / 30 and needed <= FURTHER * self.budget.epsilon / 2):
            raise ValueError(f"n must be smaller for a budget of {self.budget} and {self.rows} rows, got {count}")
        if self.test is None:
            return self.least
        wrong = eigenvalue_error(count, p)
        std = gaussian_std(self.reach * (1 + 2 * sums.slack(count, p * p) + 2 * wrong), self.test)
        found = smallest_eigenvalue(square) - self.reach * (1 + wrong + _relative_error(count, p) * count)
        told = found + std * (rng.standard_normal() - float(-ndtri(MISSED * self.budget.delta)))
        return max(0.0, self.least - max(0.0, told))


def _relative_error(count: int, p: int) -> float:
    """What the computed AᵀA and its factor may be wrong by in Frobenius norm, over nR²."""
    return sums.UNIT_ROUNDOFF * (min(count, sums.ROWS) + math.log2(count) + p + 8)


def part(budget: ApproximateDP, share: float) -> GaussianDP | None:
    """What a mechanism spends that has a share of μ², for instance the private test; None without a share.

    Args:
        budget: ε and δ. share: in [0, 1].
    """
    return GaussianDP(budget.to_gaussian().mu * math.sqrt(share)) if share else None


def expected_least(least: float, reach: float, test: GaussianDP, delta: float) -> float:
    """About what the private test will find of λ_min(AᵀA), for plans alone.

    Args:
        least: what λ_min(AᵀA) is expected to be. reach: R². test: μ' of the test. delta: δ of the whole budget.
    """
    z = math.sqrt(2 * math.log(1 / (MISSED * delta)))
    return max(0.0, least - reach - gaussian_std(reach, test) * z)


@np.errstate(all="ignore")
def factor(matrix: np.ndarray, rows: int, *, rng: np.random.Generator) -> np.ndarray:
    """The QR factor of a sketch of ``rows`` rows of N(0, matrix): upper triangular, shape (p, p).

    Args:
        matrix: AᵀA + γI, shape (p, p); eigenvalues that are not positive are raised to be. rows: k ≥ p. rng: of it.

    Raises:
        ValueError: if ``rows`` is not a whole number of at least p.

    >>> import numpy as np
    >>> R = factor(np.diag([4.0, 1.0]), 1_000_000, rng=np.random.default_rng(0))
    >>> print((R.T @ R / 1_000_000).round(2))
    [[ 4. -0.]
     [-0.  1.]]
    """
    p = len(matrix)
    k = _validate.whole("rows", rows, at_least=p)
    triangle = np.triu(rng.standard_normal((p, p)), 1)
    triangle[np.diag_indices(p)] = np.sqrt(rng.chisquare(k - np.arange(p)))
    return np.asarray(triangle @ _root(matrix).T)


def _root(matrix: np.ndarray) -> np.ndarray:
    """The Cholesky factor L."""
    try:
        return np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        values, vectors = eigh(matrix)
        raised = np.maximum(values, _TINY * max(float(np.abs(values).sum()), 1e-300))
        return np.linalg.qr((vectors * np.sqrt(raised)).T)[1].T


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
    n, d = _validate.whole("n", n), _validate.whole("d", d)
    radius, label_noise = _validate.between("radius", radius, *RADII), _validate.nonnegative("label_noise", label_noise)
    rows = np.unique(np.geomspace(d + 3, MOST_ROWS, 80).astype(int))
    best, chosen = math.inf, (0, 1.0, 0.0)
    for unit, share in itertools.product(SCALES, SHARES):
        scale = unit * bounds.features / bounds.response
        errors = _predicted(rows, scale, share, n, d, bounds, radius, label_noise, budget)
        if errors.min() < best:
            best, chosen = float(errors.min()), (int(rows[errors.argmin()]), scale, share)
    return Plan(bounds, budget, *chosen)


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


@np.errstate(all="ignore")
def release(x: np.ndarray, y: np.ndarray, plan: Plan, *, rng: np.random.Generator) -> np.ndarray:
    """θ̂, shape (d,).

    Guarantee: (ε, δ)-DP of ``plan.budget`` for replacing one record by any other, whatever the records: features beyond
    B are shortened to it, responses beyond Y are clipped, and a record that is not finite is void. What is not exact is
    paid for (see the module).

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
    y = plan.response_scale * y
    across = sums.product(x, y)  # AᵀA of A = [X, cy], without a copy of X
    square = np.block([[sums.product(x, x), across[:, None]], [across, sums.product(y, y)]])
    square[np.diag_indices(d + 1)] += sketching.added(square, n, rng=rng)
    R = factor(square, plan.rows, rng=rng)
    return within_reach(solve_triangular(R[:d, :d], R[:d, d], check_finite=False) / plan.response_scale)
