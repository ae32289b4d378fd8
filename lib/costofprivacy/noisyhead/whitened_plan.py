r"""The public plan of `whitened_descent`: clip norms, gains and shares of the budget, from D, L, N and μ alone.

In whitened coordinates the loss has curvature I, so that a step of gain g takes the expected excess e of the iterate to

.. math:: e' = (1 - g)^2 e + g^2 D^2 s^2 ,\qquad g = \frac{e}{e + D^2 s^2}\ \Rightarrow\ e' = (1 - g)\,e ,

with s the standard deviation of the noise in one of the D² entries: Kalman's gain. It is least for that g, and starts
at e = 1, since the best head explains at most the whole of a response that has a mean square of 1. The
whitening is a noisy one; a share `UNEVEN` of the excess that a step would remove is taken to stay.

*What is clipped.* A prompt's gradient G is the mean of r x̃ m̃ᵀ over its examples, where E r² = e + v, v = (D + 1)/(D +
1 + L) is about the share of the variance that no head explains, and x̃ and m̃ have norms of about √D. Over the examples
of one prompt that have the context in common the mean of r x̃ is about w̃ − Γ̃m̃, with a norm of √(e + v), so that the
root mean square of ‖G‖ is about

* one example a prompt: q = D √(e + v);
* every token once the query: q = √D √(e + v).

*Bias against noise.* Clipping at c takes hG away, h = (1 − c/‖G‖)₊. At the best head E G = 0, so that in a direction U
the mean moves by Cov(h, ⟨G, U⟩), at most √(E h²) √(E⟨G, U⟩²). As (1 − 1/t)² ≤ t²/16 for t ≥ 1, E h² ≤ q²/(16c²); where
the D² directions are alike, E⟨G, U⟩² = q²/D². With s = 2c/(Nμ_s), μ_s the budget of a step, bias and noise cost at most

.. math:: \frac{q^4}{16D^2c^2} + \frac{4D^2c^2}{(N\mu_s)^2},\qquad
    \text{least, and } \frac{q^2}{N\mu_s},\text{ at}\quad c = q\,\frac1D\sqrt{\frac{N\mu_s}8} .

So the clip norm grows with the budget, and the bias vanishes. Where c < q nearly every gradient is clipped and about
c/q is kept of their mean: the gain is larger by q/c, as long as that is at most 1. The context moments' clip norm
grows alike from 1.25 times E‖m̃‖² = 1/(1 − v) on.

No data are looked at: what is wrong here costs accuracy, never privacy.
"""

import math
from dataclasses import dataclass

from costofprivacy import _validate
from costofprivacy.privacy import GaussianDP

STEPS = 4
WHITENING = 0.2  # of μ², for each of the two second moments
UNEVEN = 0.1
SMALLEST, LARGEST = 1e-50, 1e50  # of clip norms and μ: no square of what is computed from them leaves the doubles
MOST = 1e20  # a budget beyond which clip norms do not grow: no gradient reaches them
_WITHIN = _validate.within(SMALLEST, LARGEST, _validate.FINITE_POSITIVE)


@dataclass(frozen=True)
class Plan:
    """All that `whitened_descent` is told.

    Args:
        clip_norms: c of each step, each in [`SMALLEST`, `LARGEST`]. gains: g of each step, each in (0, 1], as many.
        feature_norm, context_norm: clip norms of a prompt's second moments of tokens and of whitened contexts, too.
        N: number of prompts, at least 1.
        budget: what all releases together may spend, μ in [`SMALLEST`, `LARGEST`]; or ∞: no privacy and no noise.

    Raises:
        ValueError: if an argument is outside its range.
    """

    clip_norms: tuple[float, ...]
    gains: tuple[float, ...]
    feature_norm: float
    context_norm: float
    N: int
    budget: GaussianDP

    def __post_init__(self) -> None:
        _validate.keep(self, _WITHIN, "feature_norm", "context_norm")
        _validate.keep_all(self, _WITHIN, "clip_norms")
        _validate.keep_all(self, _validate.SHARE, "gains")
        if self.budget.mu < math.inf:
            _WITHIN("budget.mu", self.budget.mu)
        if not self.clip_norms or len(self.clip_norms) != len(self.gains):
            raise ValueError(f"gains must be as many as clip_norms, got {len(self.gains)} and {len(self.clip_norms)}")
        _validate.keep(self, _validate.at_least(1), "N")

    @property
    def moment_budget(self) -> GaussianDP:
        """What the release of each of the two second moments spends: μ√`WHITENING`."""
        return GaussianDP(self.budget.mu * math.sqrt(WHITENING))

    @property
    def step_budget(self) -> GaussianDP:
        """What each of T steps spends: μ√((1 − 2·`WHITENING`)/T); all together spend exactly μ."""
        return GaussianDP(self.budget.mu * math.sqrt((1 - 2 * WHITENING) / len(self.gains)))

    def moment_std(self, clip_norm: float) -> float:
        """Standard deviation of the noise on a diagonal entry of a mean of clipped positive matrices."""
        return math.sqrt(2) * clip_norm / (self.N * self.moment_budget.mu)

    def step_std(self, clip_norm: float) -> float:
        """Standard deviation of the noise on an entry of a mean of clipped gradients."""
        return 2 * clip_norm / (self.N * self.step_budget.mu)


def plan(D: int, L: int, N: int, budget: GaussianDP, *, every_token: bool, steps: int = STEPS) -> Plan:
    """The plan for prompts with E‖x‖² = 1 and E y² = 1, whatever the features' covariance.

    Args:
        D, L, N: sizes, each at least 1. budget: μ.
        every_token: whether each token of a prompt serves once as its query, or the last one alone.
        steps: T, at least 1.

    Raises:
        ValueError: if a size is below 1.
    """
    sizes = {"D": D, "L": L, "N": N, "steps": steps}
    D, L, N, steps = (_validate.whole(name, size) for name, size in sizes.items())
    told = Plan((1.0,) * steps, (1.0,) * steps, 1.0, 1.25, N, budget)
    room = math.sqrt(N * min(told.step_budget.mu, MOST) / 8) / D  # c/q
    left, unexplained, kept = 1.0, (D + 1) / (D + 1 + L), min(1.0, room)
    clips, gains = [], []
    for _ in range(steps):
        clip = room * (math.sqrt(D) if every_token else D) * math.sqrt(left + unexplained)
        noise = (D * told.step_std(clip) / kept) ** 2
        gain = left / (left + noise)
        clips.append(clip)
        gains.append(min(1.0, gain / kept))
        left *= 1 - gain + UNEVEN * gain
    context_norm = told.context_norm * max(1.0, room) / (1 - unexplained)
    return Plan(tuple(clips), tuple(gains), told.feature_norm, context_norm, N, budget)
