r"""The public plan of `whitened_descent`: clip norms, gains and shares of the budget, from D, L, N and μ alone.

In whitened coordinates the loss has curvature I, so that a step of gain g takes the expected excess e of the iterate to

.. math:: e' = (1 - g)^2 e + g^2 D^2 s^2 ,\qquad g = \frac{e}{e + D^2 s^2}\ \Rightarrow\ e' = (1 - g)\,e ,

with s the standard deviation of the noise in one of the D² entries: Kalman's gain. It is least for that g, and starts
at e = 1, since the best head explains at most the whole of a response that is scaled to a mean square of 1. The
whitening is a noisy one; a share `UNEVEN` of the excess that a step would remove is taken to stay.

The clip norm follows the root mean square of what it clips. A prompt's gradient is the mean of r x̃ m̃ᵀ over its
examples, where E r² = e + v, v = (D + 1)/(D + 1 + L) is about the share of the variance that no head explains, and x̃
and m̃ have norms of about √D. Over the examples of one prompt that have the context in common the mean of r x̃ is about
w̃ − Γ̃m̃, with a norm of √(e + v), so

* one example a prompt: c = D √(e + v);
* every token once the query: c = √D √(e + v).

No data are looked at: what is wrong here costs accuracy, never privacy.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from costofprivacy import _validate
from costofprivacy.privacy import GaussianDP

STEPS = 4
WHITENING = 0.2  # of μ², for each of the two second moments
UNEVEN = 0.1
SMALLEST, LARGEST = 1e-50, 1e50  # of clip norms and μ: no square of what is computed from them leaves the doubles
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
    """The plan for prompts whose features have E‖x‖² = 1, to whatever covariance.

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
    left, unexplained = 1.0, (D + 1) / (D + 1 + L)
    clips, gains = [], []
    for _ in range(steps):
        clip = (math.sqrt(D) if every_token else D) * math.sqrt(left + unexplained)
        noise = (D * told.step_std(clip)) ** 2
        gain = left / (left + noise)
        clips.append(clip)
        gains.append(gain)
        left *= 1 - gain + UNEVEN * gain
    return Plan(tuple(clips), tuple(gains), told.feature_norm, told.context_norm, N, budget)
