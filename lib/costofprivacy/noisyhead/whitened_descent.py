r"""A private head that works: noisy descent on the loss of a linear head in privately whitened coordinates.

Algorithm 1 of arXiv:2504.16000v2 descends in the coordinates in which its prompts come. There the Gram matrix of Z =
x mᵀ is Σ ⊗ K with K = E mmᵀ, since the query is independent of the context. Its D² eigenvalues λ_i(Σ) λ_j(K) have the
mean E‖x‖² E‖m‖²/D², and κ(Σ) κ(K) is the largest over the least: κ(Σ)³ for long prompts, where K is about Σ². So some
directions are flat, the steps are many, and each pays. Here two second moments are bought first, and the descent is
made in coordinates in which the Gram matrix is I:

1. Â = mean of the prompts' token moments (L + 1)⁻¹ Σ x xᵀ, each clipped to Frobenius norm C_A, plus noise; x̃ =
Â^{-½}x.
2. M̂ = mean of the prompts' context moments m̃m̃ᵀ, each clipped to C_M, plus noise; m̂ = M̂^{-½}m̃, m̃ = Â^{-½}m.
3. From Γ̃ = 0, T steps Γ̃ ← Π(Γ̃ + g_t (mean of clip_{c_t}(r x̃ m̂ᵀ) + noise)), r = y − x̃ᵀΓ̃m̂, Π on ‖Γ̃‖_F ≤ 1.
4. Γ = Â^{-½} Γ̃ M̂^{-½} Â^{-½}.

Eigenvalues of a noisy moment are not taken to be smaller than √(2D) standard deviations of the noise, about its own
largest eigenvalue: what whitening stretches beyond that is noise, and a step along it would overshoot.

There is no penalty: nothing pulls towards a head that is known. Π does not bias: the best Γ̃ explains ‖Γ̃‖²_F of a
response whose mean square is 1.

**Guarantee**: μ-Gaussian DP of *all* that is released (Â, M̂, every step), for replacing one prompt by any other. Each
release is a Gaussian mechanism on a mean over N prompts of terms that depend on one prompt and on earlier releases:

* positive matrices P, P' of Frobenius norm at most C differ by ‖P − P'‖² ≤ ‖P‖² + ‖P'‖² ≤ 2C², as tr PP' ≥ 0: the
  sensitivity is √2 C/N. The noise is isotropic in the space of symmetric matrices (variance s² on the diagonal, s²/2
  beside it), where the Frobenius norm is the Euclidean one;
* gradients of norm at most c differ by at most 2c: the sensitivity is 2c/N.

So they are Gaussian mechanisms with 0.2 μ², 0.2 μ² and 0.6 μ²/T, adaptively composed: the squares add up to μ²
(arXiv:1905.02383, Corollary 3.3). Roots, products and Π are post-processing. A prompt may hold anything: `examples`
voids what cannot be bounded. The noise that is added is larger than the plan's by the factor 1 +
`costofprivacy.privacy.sums.slack` (N, D²), which pays for the rounding of the means.
"""

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from costofprivacy import _validate
from costofprivacy.noisyhead.examples import Examples
from costofprivacy.noisyhead.whitened_plan import Plan
from costofprivacy.privacy import ApproximateDP, PrivacyProfile, sums
from costofprivacy.privacy.records import numbers


@dataclass(frozen=True, eq=False)
class Transcript:
    """Everything that is released, for B independent releases.

    Args:
        features: Â, shape (B, D, D). contexts: M̂, shape (B, D, D). gradients: of each step, shape (B, T, D, D).
        Gamma: the head, shape (B, D, D): post-processing of the others.
    """

    features: np.ndarray
    contexts: np.ndarray
    gradients: np.ndarray
    Gamma: np.ndarray


class Prompted(Protocol):
    """What the algorithm asks of N prompts: means of their terms, each clipped to a Frobenius norm, shape (B, D, D)."""

    @property
    def size(self) -> tuple[int, int]:
        """N and D."""

    def features(self, clip_norm: float) -> np.ndarray:
        """Of the token moments; B = 1."""

    def contexts(self, W: np.ndarray, clip_norm: float) -> np.ndarray:
        """Of W·(context moment)·W, W symmetric of shape (B, D, D)."""

    def gradients(self, Gamma: np.ndarray, left: np.ndarray, right: np.ndarray, clip_norm: float) -> np.ndarray:
        """Of left·(gradient at Γ)·right, all of shape (B, D, D)."""


@dataclass(frozen=True, eq=False)
class Means:
    """What the noise of a `Transcript` is added to; no release."""

    features: np.ndarray
    contexts: np.ndarray
    gradients: np.ndarray


def release(data: Examples, told: Plan, *, rng: np.random.Generator) -> np.ndarray:
    """Γ of one release, shape (D, D).

    Guarantee: μ-Gaussian DP, ``told.budget``, for replacing one prompt by any other: `Examples` can only be bounded
    ones, and every term of a mean is clipped here. The module's text has the proof.

    Args:
        data: from `examples.examples`. told: from `whitened_plan.plan`, for the same N.
        rng: source of the noise; advanced by (2 + T)·D² normals.

    Raises:
        ValueError: if the plan is for another number of prompts.
    """
    head: np.ndarray = releases(data, told, 1, rng=rng).Gamma[0]
    return head


def releases(data: Examples, told: Plan, count: int, *, rng: np.random.Generator) -> Transcript:
    """``count`` independent releases, with all that each of them shows.

    Guarantee: each of them is that of `release`, ``count`` together √count as much.

    Args:
        data, told, rng: as in `release`. count: B, at least 1; memory grows with B·N.
    """
    return releases_and_means(data, told, count, rng=rng)[0]


@np.errstate(all="ignore")
def common(data: Examples, told: Plan, noise: np.ndarray) -> Transcript:
    """The releases for given standard normals, shape (B, 2 + T, D, D): common randomness for two data sets.

    Guarantee: that of `releases` where the normals are drawn for it and kept secret, and none for any others.

    Raises:
        ValueError: if the shape of ``noise`` is another, or it is not finite.
    """
    sight = Tokens(data)
    noise = numbers("noise", noise, (None, *_noise(sight, told)))
    if not np.isfinite(noise).all():
        raise ValueError("noise must be finite, got NaN or infinities")
    return _descend(sight, told, noise)[0]


@np.errstate(all="ignore")
def releases_and_means(data: Examples, told: Plan, count: int, *, rng: np.random.Generator) -> tuple[Transcript, Means]:
    """`releases`, with the means that their noise was added to: for audits. The means are no release."""
    sight = Tokens(data)
    return _descend(sight, told, rng.standard_normal((_validate.whole("count", count), *_noise(sight, told))))


@np.errstate(all="ignore")
def means_along(data: Examples, told: Plan, seen: Transcript) -> Means:
    """The means that ``data`` would have had in the course of what was seen: for audits."""
    return _descend(Tokens(data), told, None, seen)[1]


@np.errstate(all="ignore")
def simulate(data: Prompted, told: Plan, noise: np.ndarray) -> np.ndarray:
    """Γ of releases on what stands for examples, such as `quadratic.Quadratics`: for experiments, not for release.

    Nothing is promised to a prompt: what ``data`` answers is taken as it is.

    Args:
        data: N prompts. told: the plan, for the same N. noise: standard normals, shape (B, 2 + T, D, D).

    Returns:
        shape (B, D, D).

    Raises:
        ValueError: if the plan is for another number of prompts, or the shape of ``noise`` is another.
    """
    return _descend(data, told, numbers("noise", noise, (None, *_noise(data, told))))[0].Gamma


def simulated(data: Prompted, told: Plan, *, rng: np.random.Generator) -> np.ndarray:
    """Γ of one release by `simulate`, shape (D, D): from the normals that `release` would draw."""
    head: np.ndarray = simulate(data, told, rng.standard_normal((1, *_noise(data, told))))[0]
    return head


def profile(told: Plan, budget: ApproximateDP) -> PrivacyProfile:
    """What is claimed and what is spent; the last iterate is released with all before it."""
    return PrivacyProfile(budget, told.budget, told.budget)


def _noise(data: Prompted, told: Plan) -> tuple[int, int, int]:
    D = data.size[1]
    return 2 + len(told.gains), D, D


@dataclass(frozen=True, eq=False)
class Tokens:
    """Bounded examples as the algorithm asks of them.

    Tokens stay in their own coordinates: with W = Â^{-½} a prompt's terms are W(·)W for its context moment and
    W(·)W M̂^{-½} for its gradient at Γ = W Γ̃ M̂^{-½} W, which is D × D work for a prompt instead of one for each
    token.
    """

    data: Examples

    @property
    def size(self) -> tuple[int, int]:
        """N and D."""
        N, _, D = self.data.query.shape
        return N, D

    def features(self, clip_norm: float) -> np.ndarray:
        """The mean of the prompts' clipped token moments."""
        return _mean(self.data.token_moments, clip_norm)

    def contexts(self, W: np.ndarray, clip_norm: float) -> np.ndarray:
        """The mean of W·(context moment)·W, each clipped."""
        return _mean(_between(W, self.data.context_moments, W), clip_norm)

    def gradients(self, Gamma: np.ndarray, left: np.ndarray, right: np.ndarray, clip_norm: float) -> np.ndarray:
        """The mean of left·(gradient at Γ)·right, each clipped."""
        return _mean(_between(left, self.data.gradients(Gamma), right), clip_norm)


def _descend(
    data: Prompted, told: Plan, noise: np.ndarray | None, seen: Transcript | None = None
) -> tuple[Transcript, Means]:
    """Run the algorithm with given noise, or along what was seen."""
    N, D = data.size
    if told.N != N:
        raise ValueError(f"told.N must be the number of prompts, {N}, got {told.N}")
    paid, edge = 1 + sums.slack(N, D**2), math.sqrt(2 * D)  # Wigner: the noise's own largest eigenvalue, over its std
    features = _symmetric(data.features(told.feature_norm))
    std = paid * told.moment_std(told.feature_norm)
    A = seen.features if seen else features + std * _symmetric(noise[:, 0])  # type: ignore[index]
    W = _inverse_root(A, edge * std)
    contexts = _symmetric(data.contexts(W, told.context_norm))
    std = paid * told.moment_std(told.context_norm)
    M = seen.contexts if seen else contexts + std * _symmetric(noise[:, 1])  # type: ignore[index]
    right = _inverse_root(M, edge * std) @ W
    inner, means, steps = np.zeros_like(A), [], []
    for t, (clip, gain) in enumerate(zip(told.clip_norms, told.gains, strict=True)):
        means.append(data.gradients(W @ inner @ right, W, np.swapaxes(right, 1, 2), clip))
        std = paid * told.step_std(clip)
        step = seen.gradients[:, t] if seen else means[t] + std * noise[:, 2 + t]  # type: ignore[index]
        steps.append(step)
        inner = inner + gain * step
        inner = inner / np.maximum(np.sqrt(np.einsum("bde,bde->b", inner, inner)), 1.0)[:, None, None]  # Π
    return Transcript(A, M, np.stack(steps, axis=1), W @ inner @ right), Means(
        features, contexts, np.stack(means, axis=1)
    )


def _mean(terms: np.ndarray, clip_norm: float) -> np.ndarray:
    """The mean over prompts of matrices clipped to a Frobenius norm, shape (..., N, D, D) to (..., D, D).

    A matrix whose square overflows counts as 0. The mean's rounding is bounded: it is added in pairs.
    """
    norm = np.sqrt(np.einsum("...de,...de->...", terms, terms))
    sound = np.isfinite(norm)
    kept = clip_norm / np.maximum(norm, clip_norm)
    if not sound.all():
        kept, terms = np.where(sound, kept, 0.0), np.where(sound[..., None, None], terms, 0.0)
    N = terms.shape[-3]
    return sums.pairwise(lambda rows: np.einsum("...n,...nde->...de", kept[..., rows], terms[..., rows, :, :]), N) / N


def _symmetric(matrices: np.ndarray) -> np.ndarray:
    """The symmetric part: of standard normals, isotropic noise in the space of symmetric matrices.

    Of a moment, all but rounding, which would else be released without noise.
    """
    half: np.ndarray = (matrices + np.swapaxes(matrices, -1, -2)) / 2
    return half


def _inverse_root(moment: np.ndarray, floor: float) -> np.ndarray:
    """The symmetric inverse square root, no eigenvalue below ``floor``, or below rounding where it is 0."""
    values, vectors = np.linalg.eigh(moment)
    least = np.maximum(floor, np.finfo(float).eps * np.abs(values).max(axis=-1, keepdims=True))
    raised = np.maximum(values, np.maximum(least, np.finfo(float).tiny))
    root: np.ndarray = (vectors / np.sqrt(raised)[..., None, :]) @ np.swapaxes(vectors, -1, -2)
    return root


def _between(left: np.ndarray, terms: np.ndarray, right: np.ndarray) -> np.ndarray:
    """left·term·right for each prompt: shapes (B, D, D), (1 or B, N, D, D), (B, D, D) to (B, N, D, D).

    Row by row, vec(left·term·right) = vec(term) (leftᵀ ⊗ right): one product of matrices for all prompts.
    """
    D = left.shape[-1]
    map_ = np.einsum("bac,bde->bcdae", left, right).reshape(-1, D * D, D * D)
    image: np.ndarray = (terms.reshape(*terms.shape[:2], D * D) @ map_).reshape(-1, terms.shape[1], D, D)
    return image
