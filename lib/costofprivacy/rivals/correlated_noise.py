r"""DP-FTRL: one pass of mini-batches in which every iterate is released, with noise that is correlated over the steps.

Kairouz et al. (2021); Denisov et al. (2022); Dvijotham, McMahan, Pillutla, Steinke and Thakurta (2024). Each record is
in one of T batches B_t. With C the lower-triangular Toeplitz matrix of a strategy (below), independent standard
normal vectors z_t, and θ_0 = 0,

.. math:: \theta_t = \theta_{t-1} - \frac\eta b\Big(\sum_{i \in B_t}\bar g_i + s\,(C^{-1}z)_t\Big), \qquad
    \|\bar g_i\| \le K, \quad s = \frac{2K}{\mu}\Big(\sum_{j<T} c_j^2\Big)^{1/2}.

C = I is DP-SGD without amplification. For other strategies the noise of a step takes back a part of that of the steps
before. ("Follow the regularised leader" with a quadratic regulariser is this descent.)

**Guarantee**: all of θ_1, …, θ_T together are μ-Gaussian DP for replacing one record. *Proof.* Write g_t for the sum of
clipped gradients, and let y_t = Σ_{j≤t} c_{t−j} g_j + s z_t, that is y = Cg + sz. Since C is lower triangular with
c_0 = 1, the sums with their noise, g_t + s(C⁻¹z)_t = (C⁻¹y)_t, are functions of y_1, …, y_t, and so is θ_t. It is
enough that y_1, …, y_T together are μ-Gaussian DP. Let the replaced record be in B_k. Given y_1, …, y_{t−1}, which fix
θ_0, …, θ_{t−1},

* for t < k the law of y_t does not depend on the record;
* for t ≥ k it is normal with covariance s²I, and its mean depends on the record through c_{t−k} g_k alone: g_j with
  j ≠ k is a function of its own batch and of θ_{j−1}, and these are the same. Two records move g_k by at most 2K.

So y_t is |c_{t−k}|2K/s-Gaussian DP given what was released before, and the composition (arXiv:1905.02383, Corollary
3.3) is Gaussian DP with (2K/s)(Σ_{j≤T−k} c_j²)^{1/2} ≤ μ, with equality for k = 1. ∎ The sensitivity is the norm of the
longest column of C, times 2K. *Assumes* that each record is in one batch (single participation), and that the sizes of
the batches do not depend on what is in the records.

**The formula of `plan`.** Let E‖x‖² = d and Σ = I, v_t = ‖θ_t − θ*‖², ζ² the variance of the label noise, and
P_t = v_t + ζ². A step keeps the share m_t of the mean gradient, that of z_t = K/√(dP_t) in `batch_descent.kept`. A sum
over b records has the mean square bκ_tP_t in each coordinate. For the m_t, v_t follows the recursion that independent
noise would have. With ρ = 1 − ηm_T, at the last step's share, the noise of θ_t has the variance (ηs/b)² Σ_{j<t} p_j² in
each coordinate, p_j the coefficients of 1/((1 − ρx)c(x)), and the samples add η²κP/b Σ_{j<t} ρ^{2j}. For the mean of
several iterates the coefficients are averaged first.

**Strategies for prefix sums: lower-triangular Toeplitz matrices C by which noise is correlated from step to step.**

A stream of T sums g_1, …, g_T is released as g + C⁻¹z with independent normal z_t. What is added up from it, prefix
sums for instance, has the noise A C⁻¹z, A the lower triangle of ones. With C = I each prefix sum has the noise of all
its terms; with other C the noise of one step takes back a part of the noise before (Denisov et al., 2022). A strategy
is given by the first column c_0 = 1, c_1, c_2, … of C, which is the same at each number of steps.

*The square root.* A has the generating function 1/(1 − x). Its square root f(x) = (1 − x)^{−1/2} has the coefficients
f_0 = 1, f_j = f_{j−1}(1 − 1/(2j)). With C = √A the largest variance of a prefix sum, over that of z, times the largest
squared norm of a column of C is (Σ f_j²)², and Σ_{j<T} f_j² is at most 1 + (1 + ln T)/π. This is optimal up to
lower-order terms (Fichtenberger, Henzinger and Upadhyay, 2023). Independent noise has T instead. But C⁻¹z takes all z_s
with s ≤ t, T vectors to keep. Two families keep fewer:

* `Banded`: c_j = 0 from j = b on. The noise w = C⁻¹z is w_t = z_t − Σ_{0<j<b} c_j w_{t−j}: b − 1 vectors are kept.
* `Buffered`: c_j = Σ_i ω_i λ_i^j for j ≥ 1, a *buffered linear Toeplitz* matrix (Dvijotham, McMahan, Pillutla, Steinke
  and Thakurta, 2024). With buffers S_i, w_t = z_t − Σ_i ω_i λ_i S_i and then S_i ← λ_i S_i + w_t: one vector for each
  term is kept, however long the stream is. `square_root` fits f with about (ln T)/2 terms.

*Decay.* A step of descent on a quadratic shortens what was there by the factor ρ = 1 − ηλ. Its iterates are Σ_s ρ^{t−s}
(g + C⁻¹z)_s, whose square root has the coefficients ρ^j f_j (Choquette-Choo et al., 2024).
"""

import functools
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy.optimize import nnls
from scipy.signal import lfilter

from costofprivacy import _validate
from costofprivacy.privacy import GaussianDP, records, sums
from costofprivacy.privacy.mechanisms import gaussian_std
from costofprivacy.rivals import batch_descent
from costofprivacy.rivals.batch_descent import RATES, AveragedSteps, diverged, response_variance
from costofprivacy.rivals.bounds import SQUARABLE, prepare, within_reach

# ---- Toeplitz ----

_FIT_RATIO = math.e**2  # of neighbouring 1 − λ_i: with it the largest error is within 10⁻³ of that of the square root
_FIT_POINTS = 200  # at which the coefficients are fitted, evenly in ln j
_MOST_STEPS = 10**9


@dataclass(frozen=True)
class Banded:
    """c_j for 0 < j < b; the others are 0.

    Args:
        tail: c_1, …, c_{b−1}, finite, at most 10⁶ in size. None of them is independent noise.

    Raises:
        ValueError: if a coefficient is outside its range.

    >>> Banded((0.5,)).column(4).tolist()
    [1.0, 0.5, 0.0, 0.0]
    """

    tail: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        _validate.keep_all(self, _validate.within(-1e6, 1e6), "tail")

    @property
    def memory(self) -> int:
        """b − 1."""
        return len(self.tail)

    def column(self, steps: int) -> np.ndarray:
        """c_0, …, c_{T−1}."""
        found = np.zeros(_validate.whole("steps", steps))
        known = np.array((1.0, *self.tail))[:steps]
        found[: len(known)] = known
        return found

    def square(self, steps: int) -> float:
        """Σ_{j<T} c_j²."""
        return 1 + math.fsum(value**2 for value in self.tail[: _validate.whole("steps", steps) - 1])

    def step(self, state: np.ndarray, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """w_t, and the last b − 1 of them, the newest first."""
        w = z - np.array(self.tail) @ state
        return w, np.vstack([w[None], state])[: self.memory]


@dataclass(frozen=True)
class Buffered:
    """c_j = Σ_i ω_i λ_i^j for j ≥ 1.

    Args:
        weights: ω_i ≥ 0, of which the sum is at most 1. decays: λ_i in [0, 1), as many.

    Raises:
        ValueError: if their numbers differ, or one is outside its range.

    >>> Buffered((0.5,), (0.5,)).column(4).tolist()
    [1.0, 0.25, 0.125, 0.0625]
    """

    weights: tuple[float, ...]
    decays: tuple[float, ...]

    def __post_init__(self) -> None:
        if len(self.weights) != len(self.decays):
            raise ValueError(f"decays must have {len(self.weights)} entries like weights, got {len(self.decays)}")
        _validate.keep_all(self, _validate.NONNEGATIVE, "weights")
        if not math.fsum(self.weights) <= 1 + 1e-12:
            raise ValueError(f"weights must sum to at most 1, got {math.fsum(self.weights)!r}")
        _validate.keep_all(self, _validate.FINITE, "decays")
        for decay in self.decays:
            if not 0 <= decay < 1:
                raise ValueError(f"decays must be in [0, 1), got {decay!r}")

    @property
    def memory(self) -> int:
        """One buffer for each term."""
        return len(self.weights)

    def column(self, steps: int) -> np.ndarray:
        """c_0, …, c_{T−1}."""
        powers = np.array(self.decays)[:, None] ** np.arange(_validate.whole("steps", steps))
        found: np.ndarray = np.array(self.weights) @ powers
        found[0] = 1.0
        return found

    def square(self, steps: int) -> float:
        """Σ_{j<T} c_j² = 1 + Σ_{ik} ω_i ω_k λ_iλ_k (1 − (λ_iλ_k)^{T−1})/(1 − λ_iλ_k)."""
        further, decays = _validate.whole("steps", steps) - 1, np.array(self.decays)
        gaps = (1 - decays)[:, None] + np.outer(decays, 1 - decays)  # 1 − λ_iλ_k: near 1 a product loses its digits
        with np.errstate(divide="ignore"):
            lost = -np.expm1(further * np.log1p(-gaps)) if further else np.zeros_like(gaps)
        return 1 + float(np.array(self.weights) @ (np.outer(decays, decays) * lost / gaps) @ np.array(self.weights))

    def step(self, state: np.ndarray, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """w_t, and the buffers after it."""
        decays = np.array(self.decays)
        w = z - (np.array(self.weights) * decays) @ state
        return w, decays[:, None] * state + w


Strategy = Banded | Buffered  # the first column of C, and the recursion of w = C⁻¹z


def coefficients(steps: int, decay: float = 1.0) -> np.ndarray:
    """ρ^j f_j for j < T, the square root's first column, shape (T,).

    Args:
        steps: T, at least 1. decay: ρ in [0, 1].

    >>> coefficients(4).tolist()
    [1.0, 0.5, 0.375, 0.3125]
    """
    factors = _validate.between("decay", decay, 0, 1) * (1 - 0.5 / np.arange(1, _validate.whole("steps", steps)))
    return np.append(1.0, np.cumprod(factors))


def square_root(steps: int, decay: float = 1.0) -> Buffered:
    """The square root in buffers: non-negative least squares for ω_i at fixed λ_i, in relative error.

    1 − λ_i falls by equal factors from 1/2 to 1/(2T). How good the fit is matters for accuracy alone: what a release
    spends is computed from the coefficients that it uses.

    Args:
        steps: T in [1, 10⁹], for which the fit is good. decay: ρ in [0, 1].

    >>> square_root(1000).memory, square_root(1_000_000).memory
    (5, 9)
    """
    steps = _validate.whole("steps", steps)
    _validate.between("steps", steps, 1, _MOST_STEPS)
    return _square_root(steps, _validate.between("decay", decay, 0, 1))


@functools.lru_cache(maxsize=64)
def _square_root(steps: int, decay: float) -> Buffered:
    count = math.ceil(math.log(2 * steps) / math.log(_FIT_RATIO)) + 1
    decays = 1 - np.geomspace(0.5, 0.5 / steps, count)
    at = np.unique(np.geomspace(1, max(steps - 1, 1), _FIT_POINTS).round())
    log_wanted = [math.lgamma(j + 0.5) - math.lgamma(j + 1) - math.lgamma(0.5) for j in at.tolist()]
    weights, _ = nnls(np.exp(at[:, None] * np.log(decays) - np.array(log_wanted)[:, None]), np.ones(len(at)))
    weights /= max(1.0, math.fsum(weights))
    used = weights > 0
    return Buffered(tuple(weights[used].tolist()), tuple((decay * decays[used]).tolist()))


def noise_coefficients(strategy: Strategy, steps: int) -> np.ndarray:
    """The first column of C⁻¹, shape (T,), by the strategy's own recursion.

    Args:
        strategy: C. steps: T, at least 1.

    >>> noise_coefficients(Banded((0.5,)), 4).tolist()
    [1.0, -0.5, 0.25, -0.125]
    """
    found, state = np.zeros(_validate.whole("steps", steps)), np.zeros((strategy.memory, 1))
    for t in range(steps):
        w, state = strategy.step(state, np.array([float(t == 0)]))
        found[t] = w[0]
    return found


CLIPS = (0.1, 0.3, 1.0)  # K/√d over the standard deviation of the response
STEPS = (4, 8, 16, 32, 64, 128, 256)
_ROUNDING = 1 + 1e-12  # of the norm of a column

Batch = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Plan(AveragedSteps):
    """What the steps do, fixed before any record is read.

    Args:
        clip_norm: K in [10⁻¹⁵⁰, 10¹⁵⁰]. learning_rate: η ≥ 0.
        batch: b, the most records of a batch, at least 1. steps: T, the most batches, at least 1.
        strategy: c. budget: μ in (0, ∞).

    Raises:
        ValueError: if a number is outside its range, or the noise would be beyond the doubles.
    """

    clip_norm: float
    learning_rate: float
    batch: int
    steps: int
    strategy: Strategy
    budget: GaussianDP

    def __post_init__(self) -> None:
        _validate.keep(self, SQUARABLE, "clip_norm")
        _validate.keep(self, _validate.NONNEGATIVE, "learning_rate")
        _validate.keep(self, _validate.at_least(1), "batch", "steps")
        gaussian_std(2 * self.sensitivity, self.budget)

    @property
    def sensitivity(self) -> float:
        """2K times the norm of the longest column of C: how far a replaced record moves Cg, in exact arithmetic."""
        return 2 * self.clip_norm * math.sqrt(self.strategy.square(self.steps)) * _ROUNDING

    def noise_std(self, d: int) -> float:
        """s for sums of d entries: larger by 1 + `privacy.sums.slack` (b, d), which pays for their rounding."""
        return gaussian_std(self.sensitivity * (1 + sums.slack(self.batch, d)), self.budget)


def plan(n: int, d: int, explained_variance: float, noise_variance: float, budget: GaussianDP) -> Plan:
    """K, η, T and the strategy with the least error of the averaged iterate that the module's formula predicts.

    The strategies are the square roots for prefix sums and for sums with the decay of a step, in few buffers.

    Guarantee: no record is read, so a plan costs nothing.

    Args:
        n: number of records. d: dimension. explained_variance: a guess of E(xᵀθ*)², in (0, ∞), for features with E‖x‖²
            = d. noise_variance: a guess of ζ², in [0, ∞). budget: μ in (0, ∞).

    Raises:
        ValueError: if an argument is outside its range.

    >>> found = plan(20_000, 20, 1.0, 0.09, GaussianDP(1.0))
    >>> found.steps, found.batch, found.strategy.memory
    (128, 157, 4)
    """
    n = _validate.whole("n", n)
    deviation = math.sqrt(response_variance(explained_variance, noise_variance))
    clip = deviation * math.sqrt(_validate.whole("d", d))
    candidates = []
    for steps, part, rate in product([T for T in STEPS if n >= T] or [1], CLIPS, RATES):
        size, step = math.ceil(n / steps), rate / batch_descent.kept(part)
        for decay in (1.0, 1 - rate):
            strategy = square_root(steps, decay)
            candidates.append(Plan(part * clip, step, size, steps, strategy, budget))
    return min(candidates, key=lambda found: predicted(found, d, explained_variance, noise_variance))


def predicted(plan: Plan, d: int, explained_variance: float, noise_variance: float) -> float:
    """E‖θ̄ − θ*‖² by the module's formula: the excess mean squared error for isotropic features.

    Args:
        plan: all of it. The others as in `plan`.
    """
    rate, b, std = plan.learning_rate, plan.batch, plan.noise_std(d)
    inverse = _inverse(plan.strategy, plan.steps)
    error, bias, path = explained_variance, 1.0, []
    for _ in range(plan.steps):
        z = plan.clip_norm / math.sqrt(d * (error + noise_variance))
        contraction = 1 - rate * batch_descent.kept(z)
        sampled = d * rate**2 * batch_descent.mean_square(z) * (error + noise_variance) / b
        bias *= contraction
        path.append(bias)
        error = contraction**2 * error + sampled + d * (rate * std / b) ** 2  # as if the noise were independent
        if diverged(error, explained_variance, noise_variance):
            return math.inf
    private = _mean_square(lfilter([1.0], [1.0, -contraction], inverse), plan.averaged)
    samples = _mean_square(contraction ** np.arange(plan.steps), plan.averaged)
    left = explained_variance * float(np.mean(path[-plan.averaged :])) ** 2
    return left + d * (rate * std / b) ** 2 * private + sampled * samples


@functools.lru_cache(maxsize=256)
def _inverse(strategy: Strategy, steps: int) -> np.ndarray:
    """The first column of C⁻¹, once for several plans."""
    return noise_coefficients(strategy, steps)


def _mean_square(column: np.ndarray, last: int) -> float:
    """The variance of the mean of the last entries of Mz, M the lower-triangular Toeplitz matrix of a first column."""
    sums_to = np.append(0.0, np.cumsum(column))
    ends = np.arange(1, len(column) + 1)
    means = (sums_to[ends] - sums_to[np.maximum(ends - last, 0)]) / last
    return float(np.sum(means**2))


def stream(batches: Iterable[Batch], d: int, plan: Plan, *, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """θ_1, θ_2, …, each of shape (d,), while batches of records arrive.

    Guarantee: ``plan.guarantee`` for replacing one record by any other, for all iterates together and whatever the
    records: each gradient is clipped at K, and a record that cannot have one is void (`bounds.given`). A stream may end
    early. Memory for one batch and ``plan.strategy.memory`` vectors, whatever the number of records.

    Args:
        batches: x of shape (m, d) and y of shape (m,), of any type of number, each 1 ≤ m ≤ b; at most T; read once.
        d: dimension, at least 1. plan: the steps; it must not depend on the records. rng: of the noise.

    Raises:
        ValueError: if a batch is empty, or longer than b, there are more than T, shapes disagree, or an array is not of
            numbers.
    """
    theta, std = np.zeros(_validate.whole("d", d)), plan.noise_std(d)
    state = np.zeros((plan.strategy.memory, d))  # no noise yet
    for count, (x, y) in enumerate(batches, start=1):
        told = prepare(records.numbers("x", x, (None, d)), y)
        if count > plan.steps or told.shape[0] > plan.batch:
            raise ValueError(f"batches must be at most {plan.steps}, of at most {plan.batch} records, got more")
        noise, state = plan.strategy.step(state, rng.standard_normal(d))
        with np.errstate(over="ignore", invalid="ignore"):
            pull = told.pulls(theta[:, None], np.array([plan.clip_norm]))[:, 0]
            theta = within_reach(theta - plan.learning_rate / plan.batch * (pull + std * noise))
        yield theta


@np.errstate(all="ignore")
def iterates(x: np.ndarray, y: np.ndarray, plan: Plan, *, rng: np.random.Generator) -> np.ndarray:
    """All θ_t of one pass over given records in their order, shape (⌈n/b⌉, d).

    Guarantee: that of `stream`.

    Args:
        x: features, shape (n, d), n ≥ 1. y: responses, shape (n,). Numbers of any type. plan, rng: as in `stream`.

    Raises:
        ValueError: if there is no record, or more than bT, shapes disagree, or an array is not of numbers.
    """
    x = records.numbers("x", x, (None, None))
    y = records.numbers("y", y, x.shape[:1])
    n = _validate.whole("the number of records", len(x))
    if n > plan.batch * plan.steps:
        raise ValueError(f"n must be at most {plan.batch * plan.steps} for this plan, got {n}")
    cuts = [slice(first, first + plan.batch) for first in range(0, n, plan.batch)]
    return np.stack(list(stream(((x[part], y[part]) for part in cuts), x.shape[1], plan, rng=rng)))


@np.errstate(all="ignore")
def release(x: np.ndarray, y: np.ndarray, plan: Plan, *, rng: np.random.Generator) -> np.ndarray:
    """The mean of the last iterates of one pass, ``plan.averaged`` of them, shape (d,).

    Guarantee, Args, Raises: as in `iterates`; the mean is post-processing.

    >>> draw = np.random.default_rng(0)
    >>> x, w = draw.standard_normal((20_000, 3)), np.array([1.0, -0.5, 0.0])
    >>> told = plan(20_000, 3, 1.25, 0.01, GaussianDP(1.0))
    >>> release(x, x @ w + 0.1 * draw.standard_normal(20_000), told, rng=draw).round(1) + 0.0
    array([ 1. , -0.5,  0. ])
    """
    return within_reach(iterates(x, y, plan, rng=rng)[-plan.averaged :].mean(axis=0))
