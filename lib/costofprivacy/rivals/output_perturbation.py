r"""Output perturbation: the minimiser of a penalised convex loss, plus Gaussian noise once.

Chaudhuri, Monteleoni and Sarwate (2011), section 3.2, with Gaussian noise. Their theorem asks for a loss whose slope is
bounded, which the squared loss has not: here it is the loss of `costofprivacy.rivals.huber`.

**Sensitivity.** Let D and D' differ in one record, and let θ and θ' be points with ‖∇J_D(θ)‖ ≤ γ and ‖∇J_{D'}(θ')‖ ≤ γ:
the minimisers, up to what no solver can avoid. At θ' the two gradients differ by the two records alone, each of norm at
most C. J_D is Λ-strongly convex, so that Λ‖θ − θ'‖ ≤ ‖∇J_D(θ) − ∇J_D(θ')‖ ≤ γ + ‖∇J_{D'}(θ')‖ + 2C. Hence

.. math:: \|\theta - \theta'\| \le \frac{2(C + \gamma)}{\Lambda}. ∎

γ = 10⁻¹⁴ C is certified by `huber.minimum`, whatever the data. The bound is attained, but for γ, as all other features
tend to 0, by two opposite records whose gradients stay clipped.
"""

import numpy as np

from costofprivacy import _validate
from costofprivacy.privacy import GaussianDP, GaussianMechanism
from costofprivacy.rivals import huber
from costofprivacy.rivals.huber import ROUNDING, TOLERANCE, Minimum


def sensitivity(clip_norm: float, penalty: float) -> float:
    """2(C + γ)/Λ: how far replacing one record moves the minimiser that is found, at most; rounding of C included.

    Args:
        clip_norm: C. penalty: Λ, of the sum of losses. Both, and C/Λ, in [10⁻¹⁵⁰, 10¹⁵⁰].

    Raises:
        ValueError: if an argument is outside its range.

    >>> print(round(sensitivity(3.0, 12.0), 9))
    0.5
    """
    clip_norm, penalty = huber.within_doubles(clip_norm, penalty)
    return 2 * clip_norm * (ROUNDING + TOLERANCE) / penalty


@np.errstate(all="ignore")
def release(
    x: np.ndarray, y: np.ndarray, clip_norm: float, penalty: float, budget: GaussianDP, *, rng: np.random.Generator
) -> np.ndarray:
    """The minimiser with noise of standard deviation 2(C + γ)/(Λμ) in each coordinate, shape (d,).

    Guarantee: μ-Gaussian DP for replacing one record, whatever the records: `huber.minimum` bounds each, and certifies
    what it finds. The sum of minimiser and noise is rounded once, at the end.

    Args:
        x: features, shape (n, d), n ≥ 1. y: responses, shape (n,). clip_norm: C. penalty: Λ. Both, and C/Λ, in
            [10⁻¹⁵⁰, 10¹⁵⁰].
        budget: μ in (0, ∞). rng: source of the noise.

    Raises:
        ValueError: if there is no record, shapes disagree, or a number is outside its range.
        ArithmeticError: as in `huber.minimum`.
    """
    return perturbed(huber.minimum(x, y, clip_norm, penalty), clip_norm, penalty, budget, rng=rng)


def perturbed(
    found: Minimum, clip_norm: float, penalty: float, budget: GaussianDP, *, rng: np.random.Generator
) -> np.ndarray:
    """`release` from the minimum that `huber.minimum` found for the same C and Λ, and for one release of it."""
    mechanism = GaussianMechanism(sensitivity(clip_norm, penalty), 1 / _validate.finite_positive("mu", budget.mu))
    return found.high + mechanism.release(found.low, rng=rng)
