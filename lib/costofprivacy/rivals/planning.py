r"""What the plans of clipped descents share: the public guesses that they start from, what they try, when they give up.

A plan reads no record. It is told E(xᵀθ*)², the variance ζ² of the label noise, and the dimension, for features with
E‖x‖² = d; it runs a recursion for v = ‖θ − θ*‖² at every candidate, and takes the one with the least error.
"""

from __future__ import annotations

from costofprivacy import _validate
from costofprivacy.privacy import GaussianDP

LEVELS = (0.5, 0.7, 0.9)  # q, the share of what a clip leaves as it is
# a, the share of a whole step: with 1, uneven features overshoot; with 0, the answer is 0
RATES = (0.0, 0.03, 0.1, 0.3, 0.6)
_DIVERGED = 1e6  # v + ζ² over what it is at the start


class AveragedSteps:
    """A plan of T steps that spend μ together, and of whose iterates the last half is averaged."""

    steps: int
    budget: GaussianDP

    @property
    def guarantee(self) -> GaussianDP:
        """What the release of all iterates, and of all that chose their clips, spends."""
        return self.budget

    @property
    def averaged(self) -> int:
        """How many of the last of T iterates are averaged: half of them, rounded up."""
        return self.steps - self.steps // 2


def response_variance(explained_variance: float, noise_variance: float) -> float:
    """The variance of the response, E(xᵀθ*)² + ζ².

    Args:
        explained_variance: a guess of E(xᵀθ*)², in (0, ∞). noise_variance: a guess of ζ², in [0, ∞).

    Raises:
        ValueError: if an argument is outside its range.

    >>> response_variance(1.0, 0.25)
    1.25
    """
    explained = _validate.finite_positive("explained_variance", explained_variance)
    return explained + _validate.nonnegative("noise_variance", noise_variance)


def diverged(error: float, explained_variance: float, noise_variance: float) -> bool:
    """Whether the steps of a plan drive θ away, so that its error counts as infinite: v, where it is NaN too."""
    return not error < _DIVERGED * (explained_variance + noise_variance)
