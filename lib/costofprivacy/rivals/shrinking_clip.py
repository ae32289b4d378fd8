r"""Noisy gradient descent on all records in each round, with a clip that shrinks by a public rule.

For data with little or no label noise. From a public θ_0, for t = 1, …, K,

.. math:: \theta_t = \theta_{t-1} - \frac{\eta_t}{n}\Big(\sum_{i=1}^n \bar g_i + N(0, s_t^2 I)\Big), \qquad
    \|\bar g_i\| \le C_t, \quad s_t = \frac{2 C_t\sqrt K}{\mu} .

`batch_descent` with all records is the same with one C for all rounds. Here C_t falls with the error that `plan`
predicts, so the noise falls with it too. The plan reads no record: it is computed from n, d, the radius of a ball that
holds θ*, the standard deviation ζ of the label noise and the budget.

**Guarantee.** Replacing one record by any other moves the sum of round t by at most 2C_t, for every θ_{t−1}. So round t
is a Gaussian mechanism of 2C_t/s_t = μ/√K, and K of them, each of which may read what the ones before released, are
exactly μ-Gaussian DP, hence μ²/2-zCDP, also if all iterates are released. This holds whatever the records are; a plan
that was made from a wrong radius or a wrong ζ costs accuracy, never privacy.

**The rule.** Isotropic features are assumed. Write v for the squared error ‖θ − θ*‖², and clip at C = c'√d·√(v + ζ²).
By Stein's identity clipping leaves the share m = erf(c'/√2) of the mean gradient, and the noise of a round has the
squared length η²b(v + ζ²), b = 4c'²Kγ²/μ², γ = d/n. The plan iterates the best step for that noise times `SLACK`,

.. math:: v \leftarrow (1 - \eta m)^2 v + \eta^2 b\,(v + \zeta^2), \qquad \eta = \frac{m v}{m^2 v + b\,(v + \zeta^2)} .

The noise is multiplied by `SLACK` in this rule alone, because a clip that falls faster than the error would leave it
behind. With K = κμ²/γ² rounds b does not depend on γ, so v falls by a constant factor in each round down to ζ², and
like e^{−cμ²/γ²} in all where ζ = 0. From ζ² on the rule averages the private noise.
"""

import math
from dataclasses import dataclass

import numpy as np

from costofprivacy import _validate
from costofprivacy.privacy import GaussianDP, GaussianMechanism, mechanisms, records, sums
from costofprivacy.rivals import huber
from costofprivacy.rivals.bounds import given, within_reach

CLIP_RATIO = 1.0  # c', the clip of a residual over its predicted standard deviation
ROUNDS = 0.05  # κ: rounds over μ²/γ²
SLACK = 2.0  # factor by which the plan overestimates the private noise
MOST_ROUNDS = 10**6
SMALLEST = 1e-100  # ζ over the radius, below which the plan takes this: errors whose squares doubles can hold


@dataclass(frozen=True)
class Plan:
    """What the rounds do, fixed before any record is read.

    Args:
        clip_norms: C_t in [10⁻¹⁵⁰, 10¹⁵⁰], one for each of K ≥ 1 rounds.
        learning_rates: η_t ≥ 0, as many.
        budget: μ in (0, ∞), what all rounds spend together.

    Raises:
        ValueError: if there is no round, the numbers of rounds differ, or a number is outside its range.
    """

    clip_norms: tuple[float, ...]
    learning_rates: tuple[float, ...]
    budget: GaussianDP

    def __post_init__(self) -> None:
        _validate.whole("the number of clip_norms", len(self.clip_norms))
        if len(self.learning_rates) != len(self.clip_norms):
            raise ValueError(
                f"learning_rates must have {len(self.clip_norms)} entries like clip_norms, "
                f"got {len(self.learning_rates)}"
            )
        _validate.keep_all(self, _validate.within(records.NEAR, records.FAR), "clip_norms")
        _validate.keep_all(self, _validate.NONNEGATIVE, "learning_rates")
        _validate.finite_positive("mu", self.budget.mu)

    @property
    def rounds(self) -> int:
        """K."""
        return len(self.clip_norms)

    @property
    def noise_multiplier(self) -> float:
        """s_t over the sensitivity 2C_t: √K/μ, the same in each round."""
        return math.sqrt(self.rounds) / self.budget.mu

    @property
    def guarantee(self) -> GaussianDP:
        """What the release of all iterates spends: K rounds of 1/`noise_multiplier` each."""
        return mechanisms.every_iterate(GaussianDP(1 / self.noise_multiplier), self.rounds)


def plan(n: int, d: int, radius: float, label_noise: float, budget: GaussianDP) -> Plan:
    """Clips and learning rates by the rule of the module, in max(1, ⌊`ROUNDS`·μ²/γ²⌋) rounds.

    Guarantee: no record is read, so a plan costs nothing.

    Args:
        n: number of records. d: dimension. radius: of a ball around θ_0 that holds θ*, in [10⁻⁵⁰, 10¹⁵⁰].
        label_noise: ζ in [0, ∞); below `SMALLEST` times the radius, that is taken for it. budget: μ in (0, ∞).

    Raises:
        ValueError: if an argument is outside its range, or there would be more than `MOST_ROUNDS` rounds, or clips
            outside [10⁻¹⁵⁰, 10¹⁵⁰].

    >>> found = plan(600, 60, 1.0, 0.0, GaussianDP(1.0))
    >>> found.rounds, [round(clip, 2) for clip in found.clip_norms]
    (5, [7.75, 5.26, 3.58, 2.43, 1.65])
    """
    gamma = _validate.whole("d", d) / _validate.whole("n", n)
    rounds = max(1.0, math.floor(ROUNDS * (_validate.finite_positive("mu", budget.mu) / gamma) ** 2 * (1 + 1e-12)))
    if rounds > MOST_ROUNDS:
        raise ValueError(f"mu must be at most {math.sqrt(MOST_ROUNDS / ROUNDS) * gamma:.3g}, got {budget.mu!r}")
    left, noise = math.erf(CLIP_RATIO / math.sqrt(2)), 4 * CLIP_RATIO**2 * rounds * (gamma / budget.mu) ** 2 * SLACK
    error = _validate.between("radius", radius, records.NEAR / SMALLEST, records.FAR) ** 2
    floor = max(_validate.nonnegative("label_noise", label_noise), SMALLEST * radius) ** 2
    clips, rates = [], []
    for _ in range(int(rounds)):
        level = error + floor
        rate = left * error / (left**2 * error + noise * level)
        clips.append(CLIP_RATIO * math.sqrt(d * level))
        rates.append(rate)
        error = (1 - rate * left) ** 2 * error + rate**2 * noise * level
    return Plan(tuple(clips), tuple(rates), budget)


@np.errstate(all="ignore")
def release(
    x: np.ndarray, y: np.ndarray, plan: Plan, start: np.ndarray | None = None, *, rng: np.random.Generator
) -> np.ndarray:
    """θ_K, shape (d,).

    Guarantee: ``plan.guarantee`` for replacing one record by any other, also if every iterate is released: each
    gradient is clipped at C_t, and a record that cannot have one is void (`bounds.given`). The noise is larger by 1 +
    `privacy.sums.slack` (n, d), which pays for the rounding of the sums.

    Args:
        x: features, shape (n, d), n ≥ 1. y: responses, shape (n,). Numbers of any type.
        plan: the rounds; it must not depend on the records. start: θ_0, public, shape (d,); 0 where it is not given.
        rng: of the noise.

    Raises:
        ValueError: if there is no record, shapes disagree, an array is not of numbers, or θ_0 is not finite.
    """
    x, y = given(x, y)
    n, d = x.shape
    theta = np.zeros(d) if start is None else records.numbers("start", start, (d,))
    if not np.isfinite(theta).all():
        raise ValueError("start must be finite")
    unit = huber.limits(x, 1.0)
    for clip_norm, learning_rate in zip(plan.clip_norms, plan.learning_rates, strict=True):
        std = GaussianMechanism(2 * clip_norm * (1 + sums.slack(n, d)), plan.noise_multiplier).noise_std
        limit = clip_norm * unit
        pull = sums.product(x, np.clip(x @ theta - y, -limit, limit))
        theta = within_reach(theta - learning_rate / n * (pull + std * rng.standard_normal(d)))
    return theta
