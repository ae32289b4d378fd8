r"""The plan of `checkpoint_descent`: the clip, the step and the number of steps, from public numbers alone.

Write ν for the noise of a mean gradient and m for the share of the curvature H = XᵀX/n that clipping keeps, by the laws
of `gaussian_clipping`. The predicted variance of a coefficient's interval, in the mean over eigendirections λ of
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

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import stdtrit

from costofprivacy import _validate
from costofprivacy.privacy import GaussianDP, records, sums
from costofprivacy.rivals import gaussian_clipping

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
        return gaussian_clipping.squared_norms(np.array(self.spectrum))

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

    @property
    def residual_bound(self) -> float:
        """The bound of a residual in the diagnostics."""
        return BOUND * self.knowledge.label_noise

    @cached_property
    def spread(self) -> float:
        """The standard deviation that the fluctuation of the iterates adds to a residual, √tr(HΣ_∞)."""
        rates = self.learning_rate * np.array(self.knowledge.spectrum)
        return float(self.gradient_noise * np.sqrt(np.sum(self.learning_rate / np.maximum(2 - rates, _LEAST_TURN))))

    @cached_property
    def kept(self) -> float:
        """The share m of the curvature that clipping is expected to keep."""
        total = math.hypot(self.knowledge.label_noise, self.spread)
        return gaussian_clipping.kept(self.clip_norm, total, self.knowledge.norms)

    @property
    def slowest(self) -> float:
        """The least eigenvalue that the clipped descent is expected to see: m times that of H."""
        return self.kept * self.knowledge.extremes[0]

    @property
    def decay(self) -> float:
        """The slowest decay of the autocorrelation in one step, 1 − ηλ_min; 0 where that is negative."""
        return max(0.0, 1 - self.learning_rate * self.slowest)

    @property
    def shape(self) -> tuple[int, int]:
        """(n, d)."""
        return self.knowledge.n, len(self.knowledge.spectrum)

    @property
    def relaxations(self) -> float:
        """How many relaxation times the iterates after the burn-in span: ηλ_min(T − burn-in)."""
        return self.learning_rate * self.slowest * (self.steps - self.burn_in)


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
    >>> print(round(found.clip_norm, 1), found.steps, found.burn_in, round(found.relaxations))
    3.7 99 6 60
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
    slow = gaussian_clipping.kept(clip_norm, math.hypot(known.label_noise, known.signal), known.norms)
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


def excess_risk(plan: Plan) -> float:
    r"""The expected ‖θ̄ − θ_OLS‖² in the norm of E[xxᵀ]: the excess risk over least squares on the same records.

    It is the sum over eigendirections of the module's variances, each times its λ.

    Args:
        plan: of a descent whose public knowledge is right.

    >>> from costofprivacy.privacy import GaussianDP
    >>> print(f"{excess_risk(plan(1000, 3, GaussianDP(1.0), label_noise=1.0)):.1e}")
    3.2e-04
    """
    private, cut = _variances(plan)
    return float(np.sum(np.array(plan.knowledge.spectrum) * (private + cut)))


def _variances(plan: Plan) -> tuple[np.ndarray, np.ndarray]:
    """Of θ̄ − θ_C and of θ_C − θ_OLS in each eigendirection."""
    known, spectrum = plan.knowledge, np.array(plan.knowledge.spectrum)
    lost = gaussian_clipping.smoothed(plan.clip_norm, known.label_noise, plan.spread, known.norms)
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
