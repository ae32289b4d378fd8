r"""Iterative Hessian mixing: noisy clipped gradients, each solved with a fresh Gaussian sketch of the Hessian.

Lev, Shenfeld, Srinivasan, Ligett and Wilson (2026), arXiv:2601.07545, after the iterative Hessian sketch of Pilanci and
Wainwright (2016). From θ_0 = 0, for t = 1, …, T,

.. math:: \theta_t = \theta_{t-1} + a_t\,(Z_t^\top Z_t)^{-1}\Big(\sum_i \bar r_i x_i + 2C_t\sigma b_t\Big), \qquad
    Z_t = S_tX + \sqrt\gamma\,G_t, \quad b_t \sim N(0, I),

with independent standard normal S_t and G_t of k rows, and r̄_i = max(−τ_i, min(y_i − x_iᵀθ_{t−1}, τ_i)), τ_i =
C_t/‖x_i‖. The authors' published code has a_t = k and clips all residuals at one value; then a record moves the sum by
up to 2B times it. Clipping each gradient instead costs the same privacy and cuts less, as in `boosting`.

**Guarantee.** The rows of X have norm B at most after clipping. The T sketches have kT rows in all, with the privacy
loss of `costofprivacy.privacy.mixing`. Round t's gradient is a Gaussian mechanism of 1/σ given the rounds before, since
replacing a record moves the sum by at most 2C_t. The private test of `costofprivacy.rivals.gaussian_mixing`, where
there is one, is another Gaussian mechanism, made once for all rounds. All of these are adaptively composed, exactly
(there), and everything that is released together is (ε, δ)-DP for replacing one record. (The published code divides ε
and δ between sketches and gradients, and takes the noise for a record that is replaced by zeros, half of ours.)

**The rule of `plan`.** As a public guess, half of the directions have the second moment λ_j = 1, and half have λ. Let
M_j = nλ_j + γ, let e_j be the squared error of θ in direction j, and v = Σ λ_j e_j. Let m = erf(c'/√2) be the share of
the mean gradient that clipping at C = c'√d·√(v + ζ²) leaves (`shrinking_clip`), and A_j = (nλ_j m)²e_j + (2Cσ)². By the
first two moments of an inverse Wishart matrix of k degrees of freedom,

.. math:: e_j \leftarrow e_j - 2a\,\frac{n\lambda_j m\,e_j}{(k-d-1)M_j}
    + a^2\,\frac{(k-d-1)\,A_j/M_j^2 + \sum_i A_i/(M_iM_j)}{(k-d)(k-d-1)(k-d-3)} .

The rule takes the a with the least v in each round. Without noise and penalty, a round multiplies v by about d/k where
a = (k − d)(k − d − 3)/((k − 1)m), while a = k diverges unless k is several times d. The noise is multiplied
by `shrinking_clip.SLACK` in this rule, because a clip that falls faster than the error would leave it behind.
"""

import itertools
import math
from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from costofprivacy import _validate
from costofprivacy.privacy import ApproximateDP, GaussianDP, records, sums
from costofprivacy.privacy.mechanisms import gaussian_std
from costofprivacy.rivals.bounds import ROUNDING, Bounds, given, prepare, shortened, within_reach
from costofprivacy.rivals.gaussian_mixing import RADII, Sketching, expected_least, factor, part
from costofprivacy.rivals.shrinking_clip import CLIP_RATIO, SLACK

SPREAD = 0.1  # λ, where nothing is known of the second moment
GRADIENTS = (0.2, 0.4, 0.6, 0.8)  # shares of μ² for the gradients that a plan tries
TESTS = (0.0, 0.05, 0.1)  # and for the private test
ROUNDS = (1, 2, 3, 5, 8, 13, 20)
MOST_ROWS = 10**6


@dataclass(frozen=True)
class Plan:
    """The rounds, fixed before any record is read.

    Args:
        bounds: B and Y; Y is not used. budget: ε in (0, ∞), and δ. rows: k of each sketch, at least 1; at least d where
            it is used. clip_norms: C_t in [10⁻¹⁵⁰, 10¹⁵⁰], one for each of T ≥ 1 rounds. learning_rates: a_t ≥ 0, as
            many. gradient_share, test_share: of μ², for all gradients, in (0, 1), and for the private test, in [0, 1);
            0 appends rows.

    Raises:
        ValueError: if a number is outside its range, the numbers of rounds differ, or the shares leave nothing.
    """

    bounds: Bounds
    budget: ApproximateDP
    rows: int
    clip_norms: tuple[float, ...]
    learning_rates: tuple[float, ...]
    gradient_share: float = 0.5
    test_share: float = 0.0

    def __post_init__(self) -> None:
        _validate.whole("the number of clip_norms", self.rounds)
        if len(self.learning_rates) != self.rounds:
            raise ValueError(f"learning_rates must have {self.rounds} entries, got {len(self.learning_rates)}")
        _validate.keep_all(self, _validate.within(records.NEAR, records.FAR), "clip_norms")
        _validate.keep_all(self, _validate.NONNEGATIVE, "learning_rates")
        _validate.keep(self, _validate.at_least(1), "rows")
        _validate.between("rows", self.rows, 1, MOST_ROWS)
        _validate.keep(self, _validate.within(0.0, 0.99), "test_share")
        _validate.probability("gradient_share + test_share", self.gradient_share + self.test_share)
        _validate.keep(self, _validate.PROBABILITY, "gradient_share")
        _ = self.sketching

    @property
    def rounds(self) -> int:
        """T."""
        return len(self.clip_norms)

    @property
    def gradients(self) -> GaussianDP:
        """What all gradients spend together: σ is √T over it."""
        return GaussianDP(self.budget.to_gaussian().mu * math.sqrt(self.gradient_share))

    @property
    def sketching(self) -> Sketching:
        """The accounting of everything."""
        test = part(self.budget, self.test_share)
        reach = (self.bounds.features * ROUNDING) ** 2
        return Sketching(reach, self.budget, self.rows * self.rounds, test, self.gradients)


def plan(
    n: int, d: int, bounds: Bounds, radius: float, label_noise: float, budget: ApproximateDP, spread: float = SPREAD
) -> Plan:
    """The plan with the least error by the rule of the module.

    Guarantee: no record is read, so a plan costs nothing.

    Args:
        n: number of records. d: dimension. bounds: B and Y. radius: root mean square of the best prediction,
            in [10⁻⁵⁰, 10⁵⁰], which is ‖θ*‖ where the features have second moment I. label_noise: ζ ≥ 0, of y.
        budget: ε in (0, ∞), and δ. spread: λ in (0, 1].

    Raises:
        ValueError: if an argument is outside its range.

    >>> found = plan(20_000, 20, Bounds(6.7, 3.1), 1.0, 0.3, ApproximateDP(1.0, 1e-6))
    >>> found.rounds, found.rows, found.gradient_share, found.test_share
    (20, 178, 0.8, 0.0)
    """
    n, d = _validate.whole("n", n), _validate.whole("d", d)
    radius, noise = _validate.between("radius", radius, *RADII), _validate.nonnegative("label_noise", label_noise)
    task = _Task(n, d, bounds.features, radius, noise, budget, float(_validate.SHARE("spread", spread)))
    every = np.unique(np.geomspace(d + 5, max(50 * d, 1000), 16).astype(int)).tolist()
    choice = min(itertools.product(ROUNDS, every, GRADIENTS, TESTS), key=lambda tried: task.run(*tried)[0])
    _, clips, rates = task.run(*choice)
    return Plan(bounds, budget, choice[1], tuple(clips), tuple(rates), choice[2], choice[3])


@dataclass(frozen=True)
class _Task:
    """The public numbers of a plan."""

    n: int
    d: int
    bound: float
    radius: float
    label_noise: float
    budget: ApproximateDP
    spread: float

    def added(self, rounds: int, k: int, gradients: float, test: float) -> float:
        """γ, with the loss of a sketch taken for a Gaussian one of μ = s√(kT)."""
        mu, reach = self.budget.to_gaussian().mu, self.bound**2
        needed = reach * math.sqrt(k * rounds / (1 - gradients - test)) / mu
        if tested := part(self.budget, test):
            sampled = self.n * self.spread * max(0.0, 1 - math.sqrt(self.d / self.n)) ** 2
            needed -= expected_least(sampled, reach, tested, self.budget.delta)
        return max(0.0, needed)

    def run(self, rounds: int, k: int, gradients: float, test: float) -> tuple[float, list[float], list[float]]:
        """The error at the end, the clips and the learning rates."""
        errors, clips, rates = np.full(2, 2 * self.radius**2 / (self.d * self.values.sum())), [], []
        gamma, sigma = (
            self.added(rounds, k, gradients, test),
            math.sqrt(rounds / gradients) / self.budget.to_gaussian().mu,
        )
        for _ in range(rounds):
            clip = CLIP_RATIO * math.sqrt(self.d * (self.risk(errors) + self.label_noise**2))
            linear, square = self.moments(errors, k, gamma, SLACK * (2 * clip * sigma) ** 2)
            rate = self.risk(linear) / self.risk(square)
            clips.append(clip)
            rates.append(rate)
            errors = errors - 2 * rate * linear + rate**2 * square
        return self.risk(errors), clips, rates

    @property
    def values(self) -> np.ndarray:
        """The second moment in a direction of either kind."""
        return np.array([1.0, self.spread])

    def risk(self, errors: np.ndarray) -> float:
        """v, of half of the directions each."""
        return self.d / 2 * float(self.values @ errors)

    def moments(self, errors: np.ndarray, k: int, gamma: float, noise: float) -> tuple[np.ndarray, np.ndarray]:
        """What −2a and a² multiply in a round, with noise of that variance in each coordinate of its gradient."""
        n, d, left = self.n, self.d, math.erf(CLIP_RATIO / math.sqrt(2))
        curvature, pull = n * self.values + gamma, n * self.values * left
        moment = pull**2 * errors + noise
        square = (k - d - 1) * moment / curvature**2 + d / 2 * (moment / curvature).sum() / curvature
        return pull * errors / curvature / (k - d - 1), square / ((k - d) * (k - d - 1) * (k - d - 3))


@np.errstate(all="ignore")
def release(x: np.ndarray, y: np.ndarray, plan: Plan, *, rng: np.random.Generator) -> np.ndarray:
    """θ_T, shape (d,).

    Guarantee: (ε, δ)-DP of ``plan.budget`` for replacing one record by any other, whatever the records, also if every
    sketch and every iterate is released: features beyond B are shortened to it, each gradient is clipped at C_t, and a
    record that cannot have one is void. The noise of the gradients is larger by 1 + `privacy.sums.slack` (n, d), which
    pays for the rounding of their sums; for that of the sketches see `gaussian_mixing`.

    Args:
        x: features, shape (n, d), n ≥ 1. y: responses, shape (n,). Numbers of any type.
        plan: the rounds; it must not depend on the records. rng: of the test, and then of each round's gradient and
            sketch.

    Raises:
        ValueError: if there is no record, shapes disagree, an array is not of numbers, k is less than d, or n is too
            large.
    """
    x, y = given(x, y)
    told, sketching = prepare(shortened(x, plan.bounds.features), y), plan.sketching
    n, d = told.shape
    _validate.whole("rows", plan.rows, at_least=d)
    each = GaussianDP(plan.gradients.mu / math.sqrt(plan.rounds))
    matrix = told.square.copy()
    matrix[np.diag_indices(d)] += sketching.added(told.square, n, rng=rng)
    theta = np.zeros(d)
    for clip_norm, rate in zip(plan.clip_norms, plan.learning_rates, strict=True):
        std = gaussian_std(2 * clip_norm * (1 + sums.slack(n, d)), each)
        pull = std * rng.standard_normal(d) - told.pulls(theta[:, None], np.array([clip_norm]))[:, 0]
        R = factor(matrix, plan.rows, rng=rng)
        half = solve_triangular(R, pull, trans="T", check_finite=False)
        theta = within_reach(theta + rate * solve_triangular(R, half, check_finite=False))
    return theta
