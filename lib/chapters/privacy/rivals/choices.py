r"""Each rival's hyper-parameters from what is public, by a formula for its risk: no data are looked at.

The formulas are those of Σ = I with the stated ζ and R(0), as DP-GD's are. A clipped gradient keeps the share μ of
its mean and has the mean square 2𝒫ν per coordinate (`costofprivacy.dpgd.clipping`), 𝒫 = R + ζ²/2. With n records, a
penalty Λ and noise of variance s² per coordinate beside the sum of gradients,

.. math:: R = \Big(\frac{\Lambda}{n\mu+\Lambda}\Big)^2 R(0) + \frac{d\,(2n\nu\mathcal{P} + s^2)}{2(n\mu+\Lambda)^2},

which is solved for R by iteration. Descent starts at R(0); a step of length η on the mean gradient multiplies R by
(1 − ημ)² and adds the noise's d(ηs/n)²/2; what n records cannot tell, γν𝒫/μ², is added at the end.
"""

import functools
import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product

import numpy as np

from costofprivacy.dpgd.clipping import descent_reduction_at, variance_reduction_at
from costofprivacy.privacy import ApproximateDP
from costofprivacy.rivals import batch_descent, objective_perturbation
from costofprivacy.rivals.sufficient_statistics import FAILURE, PARTS, share

CLIPS = (0.03, 0.1, 0.3, 1.0, 3.0)  # for c, in standard deviations of the response
PENALTIES = tuple(np.geomspace(1e-3, 10.0, 25).tolist())  # Λ/n of output perturbation
SHARES = (0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9)  # κ/ε of objective perturbation
STEPS = (1, 3, 10, 30)
RATES = (0.03, 0.1, 0.3, 0.6)  # ημ: with 1, uneven data overshoot
ROUNDS = (1, 3, 10, 30)  # of boosting
SAMPLING, SAMPLED_STEPS = 0.1, (10, 30, 100)
_ROUNDS = 60


@dataclass(frozen=True)
class Public:
    """The one bundle of public knowledge, on the scale where tr Σ = d.

    Args:
        n: number of records. d: dimension. budget: ε and δ. features: B, bound on ‖x‖. response: Y, bound on |y|.
        label_noise: ζ, a guess. initial_risk: R(0), a guess.
    """

    n: int
    d: int
    budget: ApproximateDP
    features: float
    response: float
    label_noise: float = 0.3
    initial_risk: float = 0.5

    @property
    def deviation(self) -> float:
        """√(2R(0) + ζ²), the response's root mean square."""
        return math.sqrt(2 * self.initial_risk + self.label_noise**2)

    @property
    def gamma(self) -> float:
        return self.d / self.n

    def clip_norm(self, clip: float) -> float:
        return clip * math.sqrt(self.d)

    @property
    def clips(self) -> list[float]:
        return [share * self.deviation for share in CLIPS]


def factors(public: Public, clip: float, risk: float) -> tuple[float, float, float]:
    """𝒫, μ and ν at a risk R."""
    test_risk = risk + public.label_noise**2 / 2
    ratio = clip / math.sqrt(2 * test_risk)
    return test_risk, float(descent_reduction_at(ratio)), float(variance_reduction_at(ratio))


def minimiser_risk(public: Public, clip: float, penalty: float, gradient_noise: float, shift: float = 0.0) -> float:
    """R of the penalised minimiser: the module's formula, at its fixed point; ``shift`` is the noise on θ itself."""
    risk, n = public.initial_risk, public.n
    for _ in range(_ROUNDS):
        test_risk, mu, nu = factors(public, clip, risk)
        curvature = n * mu + penalty
        spread = public.d * (2 * n * nu * test_risk + gradient_noise**2) / (2 * curvature**2)
        new = public.initial_risk * (penalty / curvature) ** 2 + spread + public.d * shift**2 / 2
        risk = min(math.sqrt(risk * new), 1e6)
    return risk


@functools.cache
def output_perturbation(public: Public) -> tuple[float, float]:
    """The best (c, Λ)."""
    mu = public.budget.to_gaussian().mu

    def risk(clip: float, penalty: float) -> float:
        return minimiser_risk(public, clip, penalty, 0.0, 2 * public.clip_norm(clip) / (penalty * mu))

    return min(product(public.clips, [public.n * p for p in PENALTIES]), key=lambda pair: risk(*pair))


@functools.cache
def objective_perturbation_choice(public: Public) -> tuple[float, float]:
    """The best (c, κ/ε)."""

    def risk(clip: float, part: float) -> float:
        added = objective_perturbation.calibrate(public.budget, part, public.clip_norm(clip), public.features)
        return minimiser_risk(public, clip, added.penalty, added.noise_std)

    return min(product(public.clips, SHARES), key=lambda pair: risk(*pair))


@dataclass(frozen=True)
class Plan:
    """A descent that was planned in public.

    Args:
        clip: c. rates: η_t, each the share of a whole step at the risk that is expected then. risk: what is promised.
    """

    clip: float
    rates: tuple[float, ...]
    risk: float


def plan(public: Public, clip: float, share: float, steps: int, noise: float, sampled: float = 0.0) -> Plan:
    """Steps of length share/μ on mean gradients, with μ at the risk that the formula expects by then.

    ``noise`` is the standard deviation of a coordinate's noise beside the mean gradient, and ``sampled`` how much a
    gradient's variance counts in each step, 1/(qn) − 1/n.
    """
    risk, rates = public.initial_risk, []
    for _ in range(steps):
        test_risk, mu, nu = factors(public, clip, risk)
        rates.append(share / mu)
        risk = (1 - share) ** 2 * risk + public.d * rates[-1] ** 2 * (noise**2 + sampled * 2 * nu * test_risk) / 2
        if risk > public.initial_risk * 10:
            return Plan(clip, tuple(rates), math.inf)
    test_risk, mu, nu = factors(public, clip, risk)
    return Plan(clip, tuple(rates), risk + public.gamma * nu * test_risk / mu**2)


def _best_plan(public: Public, steps: Iterable[int], sampling: float) -> Plan:
    found = []
    multipliers = {T: batch_descent.noise_multiplier(public.budget, sampling, T) for T in steps}
    for T, clip, part in product(multipliers, public.clips, RATES):
        noise = 2 * public.clip_norm(clip) * multipliers[T] / (sampling * public.n)
        found.append(plan(public, clip, part, T, noise, (1 / sampling - 1) / public.n))
    return min(found, key=lambda candidate: candidate.risk)


@functools.cache
def full_batch(public: Public) -> Plan:
    """The best descent on all records."""
    return _best_plan(public, STEPS, 1.0)


@functools.cache
def sampled(public: Public) -> Plan:
    """The best DP-SGD at its sampling rate."""
    return _best_plan(public, SAMPLED_STEPS, SAMPLING)


@functools.cache
def boosting(public: Public) -> tuple[float, int]:
    """The best (c, T) of boosted AdaSSP: its penalty is that which the noise of XᵀX asks for."""
    mu, z = public.budget.to_gaussian(), math.sqrt(2 * math.log(1 / FAILURE))
    each = share(mu).mu
    lowest = max(0.0, public.n * max(0.0, 1 - math.sqrt(public.gamma)) ** 2 - z * public.features**2 / each)
    penalty = max(0.0, math.sqrt(2) * public.features**2 / each * (math.sqrt(2 * public.d) + z) - lowest)
    kept = public.n / (public.n + penalty)

    def risk(clip: float, rounds: int) -> float:
        noise = kept * 2 * public.clip_norm(clip) / share(mu, PARTS * rounds).mu / public.n
        expected = public.initial_risk
        for _ in range(rounds):
            factor = factors(public, clip, expected)[1]
            expected = (1 - kept * factor) ** 2 * expected + public.d * noise**2 / 2
        test_risk, factor, nu = factors(public, clip, expected)
        return expected + public.gamma * nu * test_risk / factor**2

    return min(product(public.clips, ROUNDS), key=lambda pair: risk(*pair))


def models(public: Public) -> int:
    """m of TukeyEM: the thousand that its authors recommend, or as many as there can be."""
    return min(1000, public.n // public.d)
