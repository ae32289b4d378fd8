r"""The head that never looks at a response: the best head of a private covariance.

Where tasks are isotropic, E w wᵀ = I, the best head is a function of the features' covariance alone (`best_head`):

.. math:: \hat\Gamma = \big[(1 + (s-1)/L)\,\hat A + ((\mathrm{tr}\hat A + \tau^2)/L)\,I\big]^{-1},

with Â the mean over prompts of (L + 1)⁻¹ Σ x xᵀ, each clipped to Frobenius norm C, plus noise. It uses N(L + 1) tokens
where a head that learns from responses has N answers, and one release where that has several. What it cannot do is to
learn that tasks are not isotropic; as L → ∞ it need not.

Guarantee: μ-Gaussian DP for replacing one prompt by any other: one Gaussian mechanism of sensitivity √2 C/N, as in
`whitened_descent`. Assumes, for accuracy alone: E w wᵀ = I, and the spread s.
"""

import math

import numpy as np

from costofprivacy import _validate
from costofprivacy.noisyhead import best_head
from costofprivacy.noisyhead.token_laws import TokenLaw
from costofprivacy.privacy import GaussianDP, sums
from costofprivacy.privacy.mechanisms import noisy_symmetric
from costofprivacy.privacy.records import numbers

FLOOR = 2.0  # in standard deviations of the noise: eigenvalues of the noisy moment are not taken to be smaller
CLIP_NORM = 1.0  # C, for features with E‖x‖² = 1: the Frobenius norm of a moment is at most its trace
ROUNDING = 1 + 1e-9
SMALLEST, LARGEST = 1e-100, 1e100  # of C and μ: no square of what is computed from them leaves the doubles


@np.errstate(all="ignore")
def token_moment(x: np.ndarray, clip_norm: float = CLIP_NORM) -> np.ndarray:
    """The mean of the prompts' clipped token moments, shape (D, D).

    Guarantee: replacing one prompt by any other moves it by at most √2 C/N; with rounding, times 1 +
    `costofprivacy.privacy.sums.slack` (N, D²). A prompt that is not finite, or whose moment has a square that
    overflows, counts as 0.

    Args:
        x: tokens of any type of number, shape (N, L + 1, D), N and L + 1 at least 1. clip_norm: C in [`SMALLEST`,
            `LARGEST`].

    Raises:
        ValueError: if there is no prompt or token, x is not of numbers, or C is outside its range.
    """
    x = numbers("x", x, (None, None, None))
    if 0 in x.shape:
        raise ValueError(f"x must have at least one prompt, token and feature, got shape {x.shape}")
    _clip_norm(clip_norm)
    with np.errstate(over="ignore", invalid="ignore"):
        terms = np.swapaxes(x, 1, 2) @ x / x.shape[1]
        norm = np.sqrt(np.einsum("nde,nde->n", terms, terms))
        kept = np.where(np.isfinite(norm), clip_norm / np.maximum(norm, clip_norm), 0.0)
    terms = np.where(kept[:, None, None] > 0, terms, 0.0)
    return sums.pairwise(lambda rows: np.einsum("n,nde->de", kept[rows], terms[rows]), len(x)) / len(x)


def noise_std(N: int, budget: GaussianDP, clip_norm: float = CLIP_NORM) -> float:
    """√2 C/(Nμ), on the diagonal; beside it a factor √2 less.

    Guarantee: what `token_moment` of N prompts needs to be μ-Gaussian DP, for replacing one of them, in exact
    arithmetic. `release` adds the share `costofprivacy.privacy.sums.slack` (N, D²), which pays for rounding.

    Raises:
        ValueError: if N is not a whole number of at least 1, or C or μ is outside [`SMALLEST`, `LARGEST`] (μ = ∞, no
            privacy and no noise, is accepted).
    """
    norm = _clip_norm(clip_norm)
    if budget.mu < math.inf:
        _validate.between("budget.mu", budget.mu, SMALLEST, LARGEST)
    return math.sqrt(2) * norm / (_validate.whole("N", N) * budget.mu)


def _clip_norm(value: float) -> float:
    return _validate.between("clip_norm", _validate.finite_positive("clip_norm", value), SMALLEST, LARGEST)


def release(
    moment: np.ndarray, N: int, L: int, budget: GaussianDP, spread: float, label_noise: float = 0.0,
    *, clip_norm: float = CLIP_NORM, rng: np.random.Generator,
) -> np.ndarray:  # fmt: skip
    """Γ̂ of one release, shape (D, D).

    Guarantee: μ-Gaussian DP for replacing one prompt by any other, if ``moment`` comes from `token_moment` of N prompts
    with the same C, which bounds each of them; one that no such prompts have is refused. Without privacy, μ = ∞, it
    adds no noise.

    Args:
        moment: from `token_moment` of N prompts with the same ``clip_norm``, shape (D, D). N, L: sizes. budget: μ.
        spread: s. label_noise: τ ≥ 0. clip_norm: C in (0, ∞).
        rng: advanced by D² normals.

    Raises:
        ValueError: if ``moment`` is not finite or longer than C (its prompts were not clipped to it), or another
            argument is outside its range.
    """
    moment = numbers("moment", moment, (None, None))
    _validate.shape("moment", moment, (len(moment),) * 2)
    std = noise_std(N, budget, clip_norm) * (1 + sums.slack(N, moment.size))
    L, spread = _validate.whole("L", L), _validate.finite("spread", spread)
    label_noise = _validate.nonnegative("label_noise", label_noise)
    if not np.linalg.norm(moment) <= clip_norm * ROUNDING:
        raise ValueError(f"moment must have a Frobenius norm of at most {clip_norm:g}, got {np.linalg.norm(moment):g}")
    values, vectors = np.linalg.eigh(noisy_symmetric(moment, std, budget.mu, rng=rng))
    raised = (vectors * np.maximum(values, FLOOR * std)) @ vectors.T
    return best_head.best_head(TokenLaw(raised, spread), L, label_noise)
