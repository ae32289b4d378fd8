r"""Noisy clipped gradient descent on all records with a constant step, every iterate of which is released.

Brown, Dvijotham, Evans, Liu, Smith and Thakurta (2024), arXiv:2402.13531. From θ_0 = 0, for t = 1, …, T,

.. math:: \theta_t = \theta_{t-1} - \frac{\eta}{n}\Big(\sum_{i=1}^n \bar g_i + N(0, s^2 I)\Big), \qquad
    \|\bar g_i\| \le C, \quad s = \frac{2C\sqrt T}{\mu_1}.

`batch_descent` runs the same steps and returns the last iterate. Here all iterates come out.

**Guarantee**, for replacing one record by any other: μ-Gaussian DP for all that is released together. The replaced
record moves each sum by at most 2C, whatever θ_{t−1} is, so a step is a Gaussian mechanism of μ₁/√T and all T of them
are μ₁-GDP (arXiv:1905.02383, Corollary 3.3). Two numbers that say how the descent went, `Diagnostics`, are one more
Gaussian mechanism, of μ₂, given θ̄, the mean of the iterates after the burn-in. With w the public share of μ² that is
set aside for it, μ₁² = (1 − w)μ² and μ₂² = wμ². Each record adds to the two numbers a vector in [0, 1] × [0, ½], so
replacing it moves their sum by at most √5/2. Wrong public knowledge costs accuracy, never privacy.

**Where no gradient is clipped** the iterates are a stationary autoregression around least squares θ_OLS: with
H = XᵀX/n and noise ν = s/n of a mean gradient,

.. math:: \theta_t - \theta_{OLS} = (I - \eta H)(\theta_{t-1} - \theta_{OLS}) - \eta\nu\xi_t, \qquad
    \Sigma_\infty = \eta\nu^2 H^{-1}(2I - \eta H)^{-1}, \quad
    \mathrm{Cov}(\theta_{t+k}, \theta_t) = (I - \eta H)^k\,\Sigma_\infty .

The mean of T iterates has the covariance ν²H⁻²/T = (2C/(nμ₁))²H⁻² once T is many relaxation times 1/(ηλ_min). This
does not depend on T or η, and no unbiased function of the iterates does better. Steps are statistically free, so a plan
takes enough of them to see the fluctuations from which a width is estimated. The iterates fluctuate more as T grows,
though: ν² is proportional to T. The residuals that this adds must stay within the clip, which limits T where nμ/d is
small.

**What clipping does to the gradients of Gaussian residuals: which share it keeps, and how much precision it costs.**

A record's gradient (xᵀθ − y)x is clipped at C, so its residual is clipped at C/‖x‖. Let the residual be N(0, τ²) and
independent of x, write ψ for the clipped residual and weigh each record by ‖x‖². Then

* the *kept share* :math:`m = E\,\psi'` is the factor by which clipping shrinks the curvature (Stein's identity);
* the *inefficiency* :math:`f = E\psi^2/(m\tau)^2 - 1` says how far the root of the sum of clipped gradients, which is
  Huber's estimate with a threshold for each record, is from least squares on the same records.

**Proof of the second.** Let θ_C be that root and θ_OLS the solution of least squares, r = y − Xθ_OLS. To first order

.. math:: \theta_C - \theta_{OLS} = \frac{H^{-1}}{mn}\sum_i \psi(r_i)x_i
    = \frac{H^{-1}}{mn}\sum_i(\psi(r_i) - m r_i)x_i,

because Σ r_i x_i = 0. The term in brackets has the variance Eψ² − m²τ² = f m²τ², since E[ψr] = mτ². So the difference
has the covariance fτ²H⁻¹/n, and it is uncorrelated with θ_OLS. ∎

**Iterates that fluctuate** (`smoothed`). If θ fluctuates around the root so that residuals of variance σ² become
residuals of variance τ² = σ² + α², the mean step averages ψ over the fluctuation. With the Hermite coefficients a_k of
ψ at scale τ and ρ = σ²/τ², the averaged clipped residual has the second moment Σ a_k²ρ^k. The first term is m²σ² with
m taken at τ, and only odd k ≥ 3 remain. Hence the inefficiency is at most ρ² times that at τ: noise makes clipping
milder.

**The plan: the clip, the step and the number of steps, from public numbers alone.**

Write ν for the noise of a mean gradient and m for the share of the curvature H = XᵀX/n that clipping keeps, by the laws
above. The predicted variance of a coefficient's interval, in the mean over eigendirections λ of
E[xxᵀ], is

.. math:: \frac{\nu^2}{m^2 T_1}\,\overline{\lambda^{-2}} + \frac{f\sigma^2}{n}\,\overline{\lambda^{-1}},

with T_1 the steps after the burn-in and f the inefficiency of the clipped estimate. The first term falls with C, the
second rises. A plan takes the C and the number of relaxation times ηλ_min T_1 that make the half-width least, with the
quantile of the t law that so many relaxation times allow.

**The burn-in** lasts until what is left of the start, e^{−ηλ_min t}, moves the mean by less than a tenth of its
standard deviation. Gradients at the start are longer, so clipping keeps less of the curvature there; this is counted.

**What an interval is for.** For the coefficients of the population an aggressive clip is best: what Huber's estimate
loses against least squares is less than what a smaller C saves in noise. For least squares on the records themselves
the same loss counts `TAILS` times, because residuals with heavier tails than Gaussian ones make it larger. The clip is
then milder.
"""

import itertools
import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import chdtri, erf, ndtr, stdtrit

from costofprivacy import _validate
from costofprivacy.privacy import GaussianDP, GaussianMechanism, records, sums
from costofprivacy.rivals.bounds import Prepared, prepare, within_reach

# ---- Gaussian clipping ----

_POINTS = 64  # of the law of ‖x‖²


def squared_norms(spectrum: np.ndarray) -> np.ndarray:
    """Equally likely values of ‖x‖² for Gaussian x, shape (64,): quantiles of the χ² law with two moments matched.

    Args:
        spectrum: eigenvalues of E[xxᵀ], shape (d,), positive.

    >>> print(squared_norms(np.ones(4)).mean().round(1))
    4.0
    """
    total, freedom = spectrum.sum(), spectrum.sum() ** 2 / (spectrum**2).sum()
    levels = (np.arange(_POINTS) + 0.5) / _POINTS
    found = chdtri(freedom, 1 - levels)
    return np.asarray(found * total / found.mean())


def gaussian_clipping_kept(clip_norm: float, std: float, norms: np.ndarray) -> float:
    """The kept share m of the module.

    Args:
        clip_norm: C in (0, ∞). std: τ in (0, ∞). norms: ‖x‖² of equally likely records, any shape.

    >>> print(round(gaussian_clipping_kept(1.5, 1.0, np.ones(1)), 3))  # erf(1.5/√2)
    0.866
    """
    return float(np.average(erf(clip_norm / np.sqrt(2 * norms) / std), weights=norms))


def clipped_square(bound: np.ndarray | float, std: float) -> np.ndarray:
    r"""E min(r², c²) for r ~ N(0, τ²).

    Args:
        bound: c in (0, ∞), any shape. std: τ in (0, ∞).

    Returns:
        τ²(1 − 2Φ(−k) − 2kφ(k)) + 2c²Φ(−k) with k = c/τ, the shape of ``bound``.

    >>> print(float(clipped_square(1e9, 2.0)))
    4.0
    """
    k = np.asarray(bound, dtype=float) / std
    tail, density = ndtr(-k), np.exp(-(k**2) / 2) / math.sqrt(2 * math.pi)
    return np.asarray(std**2 * (1 - 2 * tail - 2 * k * density + 2 * k**2 * tail))


def inefficiency(clip_norm: float, std: float, norms: np.ndarray) -> float:
    """The inefficiency f of the module. Args: those of `gaussian_clipping_kept`.

    >>> print(round(inefficiency(1.345, 1.0, np.ones(1)), 3))  # 95 % of the efficiency of least squares
    0.053
    """
    second = float(np.average(clipped_square(clip_norm / np.sqrt(norms), std), weights=norms))
    return max(0.0, second / (gaussian_clipping_kept(clip_norm, std, norms) * std) ** 2 - 1)


def smoothed(clip_norm: float, std: float, spread: float, norms: np.ndarray) -> float:
    """A bound on the inefficiency where iterates fluctuate, as the module proves.

    Args:
        clip_norm: C. std: σ, of the residuals at the root. spread: α ≥ 0, the standard deviation of what the
            fluctuation adds to a residual. norms: as in `gaussian_clipping_kept`.
    """
    total = math.hypot(std, spread)
    return (std / total) ** 4 * inefficiency(clip_norm, total, norms)


# ---- Checkpoint plan ----

OF = ("empirical", "population")  # least squares on the records, or the coefficients behind them
TAILS = 5.0  # allowance: Var(θ_C − θ_OLS) over that for Gaussian residuals; t with 5 degrees of freedom has 3 to 4
SHARE = 0.05  # of μ² for the two diagnostic numbers
BOUND = 3.0  # of a residual in the diagnostics, over its expected standard deviation
MOST_STEPS = 2000
_RATES = (0.5, 0.7, 0.9)  # η over 1/λ_max
_RELAXATIONS = (6.0, 9.0, 13.0, 20.0, 30.0, 45.0, 60.0)  # candidates for ηλ_min T after the burn-in
_CLIPS = tuple(np.geomspace(0.7, 6.0, 36).tolist())  # candidates for C over the gradients' expected size
_MOST_SPREAD = 1.0  # variance that the iterates add to a residual, over that of the residual
_LEFT = 0.1  # what is left of the start after the burn-in, over the standard deviation of the mean
_SETTLE = 3.0  # relaxation times of the burn-in, at least
_LEAST_TURN = 0.1  # 2 − ηλ, at least, in what a plan predicts
_ITERATIONS, _CLOSE = 20, 1e-3
_LEVEL = 0.95  # of the quantile by which plans are compared
LARGEST = 1.5  # factor by which the last cosine's square may be enlarged
LEAST = 3  # cosines


@dataclass(frozen=True)
class Knowledge:
    """What is public of the data: it decides the accuracy, never the privacy.

    Args:
        n: number of records, at least 1. spectrum: eigenvalues of E[xxᵀ], shape (d,), positive.
        label_noise: expected standard deviation of y given x, positive.
        signal: expected standard deviation of xᵀθ, positive: how far away the start is.

    Raises:
        ValueError: if a number is outside its range.
    """

    n: int
    spectrum: tuple[float, ...]
    label_noise: float
    signal: float

    def __post_init__(self) -> None:
        _validate.whole("the number of eigenvalues in spectrum", len(self.spectrum))
        _validate.keep(self, _validate.at_least(1), "n")
        _validate.keep_all(self, _validate.within(1e-50, 1e50), "spectrum")
        _validate.keep(self, _validate.within(1e-50, 1e50), "label_noise", "signal")

    @cached_property
    def norms(self) -> np.ndarray:
        """Equally likely values of ‖x‖²."""
        return squared_norms(np.array(self.spectrum))

    @property
    def extremes(self) -> tuple[float, float]:
        """The least and the largest eigenvalue of H to expect: λ(1 ∓ √(d/n))², after Marchenko and Pastur."""
        ratio = math.sqrt(len(self.spectrum) / self.n)
        return min(self.spectrum) * max(0.0, 1 - ratio) ** 2, max(self.spectrum) * (1 + ratio) ** 2


@dataclass(frozen=True)
class Plan:
    """One descent, fixed before the data.

    Args:
        clip_norm: C in [10⁻¹⁵⁰, 10¹⁵⁰]. learning_rate: η in (0, ∞). steps: T, at least 1. burn_in: the steps after
            which iterates count as stationary, fewer than T. budget: μ in (0, ∞), of all that is released.
        share: w in [0, 1) of μ² for the diagnostics; with 0 there are none.
        knowledge: what is public of the data; intervals rest on it.

    Raises:
        ValueError: if a number is outside its range.
    """

    clip_norm: float
    learning_rate: float
    steps: int
    burn_in: int
    budget: GaussianDP
    knowledge: Knowledge
    share: float = SHARE

    def __post_init__(self) -> None:
        _validate.keep(self, _validate.within(records.NEAR, records.FAR), "clip_norm")
        _validate.keep(self, _validate.FINITE_POSITIVE, "learning_rate")
        _validate.keep(self, _validate.at_least(1), "steps")
        _validate.keep(self, _validate.at_least(0), "burn_in")
        _validate.between("burn_in", self.burn_in, 0, self.steps - 1)
        _validate.finite_positive("mu", self.budget.mu)
        if self.share != 0:
            _validate.keep(self, _validate.PROBABILITY, "share")

    @property
    def noise_multiplier(self) -> float:
        """σ, the noise of a step over the sensitivity 2C: √T/μ₁."""
        return math.sqrt(self.steps / (1 - self.share)) / self.budget.mu

    @property
    def gradient_noise(self) -> float:
        """ν = s/n, the standard deviation of the noise in each coordinate of a mean gradient."""
        n, d = self.shape
        return 2 * self.clip_norm * (1 + sums.slack(n, d)) * self.noise_multiplier / n

    @cached_property
    def spread(self) -> float:
        """The standard deviation that the fluctuation of the iterates adds to a residual, √tr(HΣ_∞)."""
        rates = self.learning_rate * np.array(self.knowledge.spectrum)
        return float(self.gradient_noise * np.sqrt(np.sum(self.learning_rate / np.maximum(2 - rates, _LEAST_TURN))))

    @cached_property
    def kept(self) -> float:
        """The share m of the curvature that clipping is expected to keep."""
        total = math.hypot(self.knowledge.label_noise, self.spread)
        return gaussian_clipping_kept(self.clip_norm, total, self.knowledge.norms)

    @property
    def decay(self) -> float:
        """The slowest decay of the autocorrelation in one step, 1 − ηmλ_min(H); 0 where that is negative."""
        return max(0.0, 1 - self.learning_rate * (self.kept * self.knowledge.extremes[0]))

    @property
    def shape(self) -> tuple[int, int]:
        """(n, d)."""
        return self.knowledge.n, len(self.knowledge.spectrum)


def plan(
    n: int,
    d: int,
    budget: GaussianDP,
    label_noise: float,
    *,
    signal: float | None = None,
    spectrum: np.ndarray | None = None,
    of: str = "population",
    share: float = SHARE,
    most_steps: int = MOST_STEPS,
) -> Plan:
    """The plan of the module: the least predicted half-width over clips, numbers of steps and learning rates.

    Guarantee: no record is read, so a plan costs nothing.

    Args:
        n: number of records, more than d. d: dimension. budget: μ in (0, ∞), of all that is released.
        label_noise: expected standard deviation of y given x, positive. signal: that of xᵀθ; ``label_noise`` where it
            is left out. spectrum: eigenvalues of E[xxᵀ], shape (d,); all 1 where it is left out.
        of: "empirical" or "population", what the intervals will be for. Both can be had from each plan.
        share: w in [0, 1), of μ² for the diagnostics. most_steps: the largest T, at least 8; a step reads all records.

    Raises:
        ValueError: if an argument is outside its range.

    >>> found = plan(1000, 3, GaussianDP(1.0), label_noise=1.0)
    >>> print(round(found.clip_norm, 1), found.steps, found.burn_in)
    3.7 99 6
    """
    most_steps = _validate.whole("most_steps", most_steps, 8)
    eigenvalues = np.ones(_validate.whole("d", d)) if spectrum is None else np.asarray(spectrum, dtype=float)
    _validate.shape("spectrum", eigenvalues, (d,))
    n = _validate.whole("n", n, d + 1)
    known = Knowledge(n, tuple(eigenvalues.tolist()), label_noise, label_noise if signal is None else signal)
    unit = math.sqrt(sum(known.spectrum)) * label_noise
    ways = itertools.product([unit * c for c in _CLIPS], _RELAXATIONS, _RATES)
    found = [_candidate(known, budget, share, most_steps, *way) for way in ways]
    weight = TAILS if _validate.one_of("of", of, OF) == "empirical" else 1.0
    return min(found, key=lambda candidate: _half_width(candidate, weight))


def _candidate(
    known: Knowledge, budget: GaussianDP, share: float, most_steps: int, clip_norm: float, span: float, rate: float
) -> Plan:
    """The plan for one C, with a burn-in and then ``span`` relaxation times, as far as ``most_steps`` goes.

    What the iterates add to residuals grows with T, which grows as clipping keeps less of the curvature: the three are
    found together, by iteration.
    """
    low, high = known.extremes
    step, kept = rate / high, 1.0
    mean_error = 2 * clip_norm / (known.n * budget.mu) / float(np.mean(known.spectrum))
    start = known.signal / math.sqrt(sum(known.spectrum))
    settle = max(_SETTLE, math.log(max(1.0, start / (span * _LEFT * mean_error))))
    slow = gaussian_clipping_kept(clip_norm, math.hypot(known.label_noise, known.signal), known.norms)
    for _ in range(_ITERATIONS):
        speed = step * low * kept
        burn_in = math.ceil(settle / (step * low * min(kept, slow)))
        steps = min(most_steps, burn_in + math.ceil(span / speed))
        burn_in = min(burn_in, steps // 3)
        found = Plan(clip_norm, step, steps, burn_in, budget, known, share)
        if abs(found.kept - kept) < _CLOSE:
            break
        kept = found.kept
    return found


def _variances(plan: Plan) -> tuple[np.ndarray, np.ndarray]:
    """Of θ̄ − θ_C and of θ_C − θ_OLS in each eigendirection."""
    known, spectrum = plan.knowledge, np.array(plan.knowledge.spectrum)
    lost = smoothed(plan.clip_norm, known.label_noise, plan.spread, known.norms)
    private = (plan.gradient_noise / (plan.kept * spectrum)) ** 2 / (plan.steps - plan.burn_in)
    return private, lost * known.label_noise**2 / (known.n * spectrum)


def _half_width(found: Plan, weight: float) -> float:
    """The predicted half-width of an interval, in the mean over eigendirections, if clipping counts ``weight`` times.

    It is enlarged where the iterates add more to residuals than `_MOST_SPREAD`.
    """
    private, cut = _variances(found)
    freedom = cosine_count(found.steps - found.burn_in, found.decay)
    beyond = max(1.0, (found.spread / found.knowledge.label_noise) ** 2 / _MOST_SPREAD)
    return float(stdtrit(freedom, _LEVEL) * np.sqrt(np.mean(private + weight * cut)) * beyond**2)


def cosine_count(steps: int, decay: float) -> int:
    r"""B, how many cosines of a stationary trajectory tell the variance of its mean, at least `LEAST`.

    For k = 1, …, B let Λ_k = √(2/T) Σ_t cos(πk(t − ½)/T) θ_t (Lazarus et al., 2018). Its variance is the spectral
    density of the trajectory at ω_k = πk/T, and √T(θ̄ − θ) has that at 0. An eigenvalue λ of H has the density
    ν²η²/(1 + b² − 2b cos ω) with b = 1 − ηλ, so

    .. math:: \frac{f(0)}{f(\omega)} = 1 + \frac{2b(1-\cos\omega)}{(1-b)^2}
        \le 1 + \frac{2a(1-\cos\omega)}{(1-a)^2} \qquad (\lambda \ge \lambda_{\min}),

    where the bound is 1 for b ≤ 0. With each Λ_k² multiplied by its bound, their mean gives a t law with B degrees of
    freedom. B is as large as keeps the last bound below `LARGEST`.

    Args:
        steps: T, at least 6. decay: a in [0, 1).

    >>> print(cosine_count(120, 0.5), cosine_count(1200, 0.95))
    19 13
    """
    a = _validate.between("decay", decay, 0.0, 1.0)
    if a == 1:
        raise ValueError(f"decay must be below 1, got {decay!r}")
    most = _validate.whole("steps", steps, 2 * LEAST) // 2
    if a == 0:
        return most
    turn = (LARGEST - 1) * (1 - a) ** 2 / (2 * a)
    return most if turn >= 1 else min(most, max(LEAST, math.floor(steps / math.pi * math.acos(1 - turn))))


WEIGHT = 0.5  # of a clipped record in the diagnostics, against 1 of a residual's square


@dataclass(frozen=True)
class Diagnostics:
    """Two numbers on the residuals at the mean of the iterates, each with Gaussian noise.

    Args:
        clipped: the share of the records whose gradient is clipped, plus noise. clipped_std: of that noise.
        square: the mean over records of min(r², R²), plus noise, R being `BOUND` times the expected label noise.
        square_std: of that noise.
    """

    clipped: float
    clipped_std: float
    square: float
    square_std: float


@dataclass(frozen=True, eq=False)
class Trajectory:
    """All that is released.

    Args:
        iterates: θ_0, …, θ_T, shape (T + 1, d). diagnostics: None where the plan sets no share aside.
    """

    iterates: np.ndarray
    diagnostics: Diagnostics | None

    def stationary(self, plan: Plan) -> np.ndarray:
        """The iterates after the burn-in, shape (T − burn-in, d)."""
        return self.iterates[plan.burn_in + 1 :]

    def mean(self, plan: Plan) -> np.ndarray:
        """θ̄, the mean of the iterates after the burn-in: the estimate, shape (d,)."""
        return np.asarray(self.stationary(plan).mean(axis=0))


@np.errstate(all="ignore")
def release(x: np.ndarray, y: np.ndarray, plan: Plan, *, rng: np.random.Generator) -> Trajectory:
    """All iterates, and the diagnostics.

    Guarantee: ``plan.budget``, whatever the records: each gradient is clipped at C, a record that cannot have one is
    void (`bounds.given`), and each number that the diagnostics add is bounded by itself. The noise is larger by 1 +
    `privacy.sums.slack` (n, d), and in the diagnostics by 1 + 2 slack, which pays for the rounding of the sums.

    Args:
        x: features, shape (n, d) with the n and d of the plan. y: responses, shape (n,). Numbers of any type.
        plan: fixed before the data. rng: of the noise.

    Raises:
        ValueError: if shapes disagree with each other or with the plan, or an array is not of numbers.
    """
    told = prepare(x, y)
    n, d = told.shape
    if (n, d) != plan.shape:
        raise ValueError(f"x must have shape {plan.shape}, which the plan was made for, got {(n, d)}")
    std = GaussianMechanism(2 * plan.clip_norm * (1 + sums.slack(n, d)), plan.noise_multiplier).noise_std
    iterates, clips = np.zeros((plan.steps + 1, d)), np.array([plan.clip_norm])
    for t in range(plan.steps):
        pull = told.pulls(iterates[t][:, None], clips)[:, 0] + std * rng.standard_normal(d)
        iterates[t + 1] = within_reach(iterates[t] - plan.learning_rate / n * pull)
    found = Trajectory(iterates, None)
    return Trajectory(iterates, _diagnose(told, found.mean(plan), plan, rng)) if plan.share else found


def _diagnose(told: Prepared, theta: np.ndarray, plan: Plan, rng: np.random.Generator) -> Diagnostics:
    """`Diagnostics` at a released θ.

    A record's (min(r²/R², 1), `WEIGHT`·[clipped]) is at least 0 and at most (1, ½), so two of them are at most √5/2
    apart. An infinite residual is cut to R.
    """
    n, bound = len(told.rows), BOUND * plan.knowledge.label_noise
    with np.errstate(all="ignore"):
        residual = np.abs(told.rows @ theta - told.responses)
        cut = residual * told.norm > plan.clip_norm
        parts = np.column_stack([np.minimum(residual / bound, 1.0) ** 2, WEIGHT * cut])
    mechanism = GaussianMechanism(
        math.hypot(1.0, WEIGHT) * (1 + 2 * sums.slack(n, 2)), 1 / (math.sqrt(plan.share) * plan.budget.mu)
    )
    noise = mechanism.noise_std / n
    square, clipped = sums.product(parts, np.ones(n)) / n + noise * rng.standard_normal(2)
    return Diagnostics(float(clipped / WEIGHT), noise / WEIGHT, float(square * bound**2), noise * bound**2)
