r"""One softmax attention head for in-context linear regression.

The head sees the L labelled tokens of a prompt and answers its query x with a weighted mean of their responses,

.. math:: \hat y = v\sum_{l\le L} p_l\,y_l, \qquad p = \operatorname{softmax}_l(x_l^\top A x),

A of shape (D, D), v a number: (2.2) of arXiv:2504.16000v2 with the softmax of the scores in the place of the scores
over L, the query masked, W^PV and W^KQ reduced as there. (The linear head, ŷ = xᵀΓm, has Γ in the place of A and v.)

*Gradient.* With ȳ = Σ p_l y_l and :math:`\operatorname{cov}_p(y, x) = \sum_l p_l(y_l - \bar y)x_l`,

.. math:: \nabla_A \tfrac12(\hat y - t)^2 = (v\bar y - t)\,v\,\operatorname{cov}_p(y, x)\,x^\top .

*Long prompts.* For x_l = √D Σ^½ u_l, u_l uniform on the sphere, and A = (κ/D) Σ⁻¹ the score is κ⟨u_l, u⟩. The softmax
tilts the law of u_l into that of von Mises and Fisher, whose mean is ρ(κ)u with ρ = I_{D/2}/I_{D/2−1}: as L → ∞ the
prediction is vρ(κ)⟨w, x⟩, and with v = 1/ρ(κ) exactly ⟨w, x⟩, for every Σ and every κ > 0. (For Gaussian features the
tilted law is N(ΣAx, Σ), and A = Σ⁻¹/v does it.)

*Prompts of length L.* The error of that head is D‖Σ^½(v Σ p_l u_l − u)‖² in the mean over w, and the bracket has an
isotropic law. So its test error is the same for every Σ of trace 1. To first order in 1/L it has a closed form,
`long_prompt_error`: small κ divide a small mean by a small ρ, large κ average few tokens.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.optimize import minimize, minimize_scalar
from scipy.special import gammaln, hyp0f1, ive

from costofprivacy import _validate
from costofprivacy.noisyhead.prompts import Prompts
from costofprivacy.privacy import sums
from costofprivacy.privacy.records import numbers

CHUNK = 2**17  # scores computed at once: 1 MB of doubles stays in a core's cache
KAPPAS = (1e-2, 1e3)  # where the best κ is looked for
LARGE_KAPPA = 200.0  # e^κ is far from the end of doubles below, and Bessel functions from their underflow above


@dataclass(frozen=True)
class Contexts:
    """What the head sees of N prompts, in double precision whatever was given.

    Args:
        keys: x_1 … x_L, shape (N, L, D). responses: y_1 … y_L, shape (N, L). query: x, shape (N, D).
        target: the query's response, shape (N,).

    Raises:
        ValueError: if the shapes disagree.
    """

    keys: np.ndarray
    responses: np.ndarray
    query: np.ndarray
    target: np.ndarray

    def __post_init__(self) -> None:
        keys = numbers("keys", self.keys, (None, None, None))
        N, L, D = keys.shape
        for name, array in (
            ("keys", keys),
            ("responses", numbers("responses", self.responses, (N, L))),
            ("query", numbers("query", self.query, (N, D))),
            ("target", numbers("target", self.target, (N,))),
        ):
            object.__setattr__(self, name, array)

    @cached_property
    def values(self) -> np.ndarray:
        """What attention averages: x, yx and y of each token, shape (N, 2D + 1, L)."""
        y = self.responses[:, :, None]
        return np.ascontiguousarray(np.concatenate([self.keys, y * self.keys, y], axis=2).transpose(0, 2, 1))

    @property
    def reach(self) -> np.ndarray:
        """‖x‖ of each query, shape (N,)."""
        return np.linalg.norm(self.query, axis=1)


def contexts(prompts: Prompts) -> Contexts:
    """What the head sees of prompts: their last token is the query."""
    return Contexts(prompts.x[:, :-1], prompts.y[:, :-1], prompts.x[:, -1], prompts.y[:, -1])


def every_task(prompts: Prompts) -> Contexts:
    """The same features with each task w = e_1 … e_D in turn, N·D prompts without label noise.

    D times a mean over them is the mean over w ~ N(0, I): no randomness of the tasks is left in a test error.
    """
    x, D = prompts.x, prompts.x.shape[2]
    y = np.moveaxis(x, 2, 0).reshape(-1, x.shape[1])
    x = np.tile(x, (D, 1, 1))
    return Contexts(x[:, :-1], y[:, :-1], x[:, -1], y[:, -1])


def attend(A: np.ndarray, data: Contexts, rows: slice | None = None) -> Iterator[tuple[slice, np.ndarray]]:
    """Attention weights p of heads A, shape (B, D, D), chunk by chunk: which prompts, and p of shape (n, L, B).

    Of all prompts, or of those from ``rows.start`` to ``rows.stop``.
    """
    N, L, _ = data.keys.shape
    first, last = (rows.start, rows.stop) if rows else (0, N)
    size = max(1, CHUNK // (L * len(A)))
    for start in range(first, last, size):
        chunk = slice(start, min(last, start + size))
        turned = np.einsum("bde,ne->ndb", A, data.query[chunk], optimize=True)
        p = np.matmul(data.keys[chunk], turned)
        p -= p.max(axis=1, keepdims=True)
        np.exp(p, out=p)
        p /= p.sum(axis=1, keepdims=True)
        yield chunk, p


def predict(A: np.ndarray, scale: np.ndarray, data: Contexts) -> np.ndarray:
    """ŷ = v Σ p_l y_l of heads A, shape (B, D, D), with scales v, shape (B,): shape (N, B)."""
    means = [np.einsum("nl,nlb->nb", data.responses[chunk], p, optimize=True) for chunk, p in attend(A, data)]
    return scale * np.concatenate(means)


def mean_gradient(A: np.ndarray, scale: np.ndarray, data: Contexts, clip_norm: np.ndarray) -> np.ndarray:
    """Mean over the prompts of ∇_A ½(ŷ − t)², each prompt's clipped at a Frobenius norm.

    Guarantee: one prompt contributes at most c/N, whatever it holds, if its numbers, A and v are within
    `per_prompt.LARGEST` and c is not below its inverse. By itself this function bounds nothing but gradients;
    `per_prompt.softmax_gradient` sees to the numbers. Gradients are added in pairs, so that the sum's rounding is
    bounded as that of `costofprivacy.privacy.sums.product`.

    Args:
        A: shape (B, D, D). scale: v, shape (B,). data: N prompts. clip_norm: c in (0, ∞], shape (B,).

    Returns:
        shape (B, D, D).

    Raises:
        ValueError: if there is no prompt.
    """
    N, _, D = data.keys.shape
    _validate.whole("number of prompts", N)
    reach = data.reach

    def block(rows: slice) -> np.ndarray:
        total = np.zeros(A.shape)
        for chunk, p in attend(A, data, rows):
            means = np.matmul(data.values[chunk], p)
            answer = means[:, -1]
            left = scale * (means[:, D:-1] - means[:, :D] * answer[:, None])  # v cov_p(y, x), shape (n, D, B)
            residual = scale * answer - data.target[chunk, None]
            length = np.abs(residual) * np.sqrt(np.einsum("ndb,ndb->nb", left, left)) * reach[chunk, None]
            left *= (residual * kept(clip_norm, length))[:, None]
            total += np.matmul(left.transpose(2, 1, 0), data.query[chunk])
        return total

    return sums.pairwise(block, N) / N


def kept(clip_norm: np.ndarray, length: np.ndarray) -> np.ndarray:
    """The factor min(1, c/length) by which gradients are clipped, of the common shape; 1 where c is infinite."""
    clip_norm, length = np.broadcast_arrays(clip_norm, length)
    return np.divide(clip_norm, length, out=np.ones(length.shape), where=length > clip_norm)


def best_scale(A: np.ndarray, data: Contexts) -> tuple[np.ndarray, np.ndarray]:
    """The v with the least mean square error of each head A, shape (B, D, D), and that error; shapes (B,)."""
    answer = predict(A, np.ones(len(A)), data)
    cross, square = data.target @ answer / len(answer), (answer**2).mean(axis=0)
    scale = np.divide(cross, square, out=np.zeros_like(cross), where=square > 0)
    return scale, (data.target**2).mean() - scale * cross


def prediction_error(A: np.ndarray, scale: np.ndarray, prompts: Prompts, label_noise: float = 0.0) -> np.ndarray:
    """E_w (ŷ − y)² of heads on the features of test prompts, their tasks averaged exactly: shape (B,).

    ‖v Σ p_l x_l − x‖² + τ²(1 + v² Σ p_l²), in the mean over the prompts, for A of shape (B, D, D) and v of shape (B,).
    """
    data, found = contexts(prompts), []
    for chunk, p in attend(A, data):
        mean = np.matmul(data.keys[chunk].transpose(0, 2, 1), p)
        off = scale * mean - data.query[chunk][:, :, None]
        blur = 1 + scale**2 * np.einsum("nlb,nlb->nb", p, p)
        found.append((off**2).sum(axis=1) + label_noise**2 * blur)
    return np.concatenate(found).mean(axis=0)


def fit(data: Contexts, initial: np.ndarray, penalty: float = 0.0, steps: int = 100) -> tuple[np.ndarray, float]:
    """A and v that minimise the mean square error on the prompts, without privacy: L-BFGS on A, v at its best for A.

    The objective is not convex: what is found is a local minimum near ``initial``, shape (D, D).
    """
    free = np.array([np.inf])

    def objective(flat: np.ndarray) -> tuple[float, np.ndarray]:
        A = flat.reshape(1, *initial.shape)
        scale, error = best_scale(A, data)
        slope = 2 * mean_gradient(A, scale, data, free).reshape(-1)
        return float(error[0] + penalty * flat @ flat), slope + 2 * penalty * flat

    found = minimize(objective, initial.reshape(-1), jac=True, method="L-BFGS-B", options={"maxiter": steps})
    A = found.x.reshape(initial.shape)
    return A, float(best_scale(A[None], data)[0][0])


def share(D: int, kappa: float | np.ndarray) -> np.ndarray:
    """ρ(κ) = I_{D/2}(κ)/I_{D/2−1}(κ): the mean of von Mises and Fisher on the sphere in D dimensions.

    >>> bool(abs(share(3, 2.0) - (1 / np.tanh(2.0) - 0.5)) < 1e-12)
    True
    """
    ratio = np.exp(_log_normaliser(D + 2, kappa) - _log_normaliser(D, kappa))
    return np.asarray(kappa) / D * ratio


def _log_normaliser(D: int, kappa: float | np.ndarray) -> np.ndarray:
    """ln Z(κ), Z(κ) = E e^{κ⟨u, e⟩} = ₀F₁(D/2; κ²/4) for u uniform on the sphere; by Bessel functions for large κ."""
    kappa, order = np.asarray(kappa, dtype=float), D / 2 - 1
    small, large = np.minimum(kappa, LARGE_KAPPA), np.maximum(kappa, LARGE_KAPPA)
    far = gammaln(D / 2) + order * (np.log(2) - np.log(large)) + np.log(ive(order, large)) + large
    return np.where(kappa < LARGE_KAPPA, np.log(hyp0f1(D / 2, small**2 / 4)), far)


def long_prompt_error(D: int, kappa: float | np.ndarray, label_noise: float = 0.0) -> np.ndarray:
    r"""The limit of L·(test error − τ²) as L → ∞ for A = (κ/D)Σ⁻¹ and v = 1/ρ(κ), for any Σ of trace 1.

    .. math:: \frac{Z(2\kappa)}{Z(\kappa)^2}\big((1 + \tau^2)v^2 - 2v\rho(2\kappa) + 1\big),
              \qquad Z(\kappa) = \mathbb{E}\,e^{\kappa\langle u, e\rangle}.

    v Σ p_l u_l − u is a mean of e^{s_l}(v u_l − u) over a mean of e^{s_l}; the delta method, and E e^{2s} ‖v u_l − u‖²
    is Z(2κ) times its mean under the law tilted by 2κ. The best linear head has D − 1 + Dτ² in its place.

    >>> bool(long_prompt_error(5, 5.4) > 4)
    True
    """
    v = 1 / share(D, kappa)
    weight = np.exp(_log_normaliser(D, 2 * np.asarray(kappa)) - 2 * _log_normaliser(D, kappa))
    return weight * ((1 + label_noise**2) * v**2 - 2 * v * share(D, 2 * np.asarray(kappa)) + 1)


def best_kappa(D: int, label_noise: float = 0.0) -> float:
    """The κ of the least `long_prompt_error`, for D ≥ 2.

    >>> 5 < best_kappa(5) < 6
    True
    """
    low, high = np.log(KAPPAS)
    found = minimize_scalar(
        lambda log: float(np.log(long_prompt_error(D, np.exp(log), label_noise))),
        bounds=(low, high),
        method="bounded",
        options={"xatol": 1e-8},
    )
    return float(np.exp(found.x))


def gradient_bound(scale: float, clip_norm: float) -> float:
    r"""The longest gradient in A of a prompt with |y| ≤ C and features of norm at most 1, at any A.

    .. math:: v C^2 \max_{0\le s\le 1} (1 + v s)(1 - s^2).

    |ȳ| = sC leaves |cov_p(y, x)| ≤ E_p|y − ȳ| ≤ C(1 − s²), the residual is at most C(1 + vs), and two keys ±e with
    responses ±C attain both. So responses alone have to be clipped: a softmax head answers with a mean of them, and
    its weights need no bound, where a linear head's do (R in Theorem 3.2 of arXiv:2504.16000v2).

    Args:
        scale: v > 0. clip_norm: C > 0.
    """
    v, C = _validate.finite_positive("scale", scale), _validate.finite_positive("clip_norm", clip_norm)
    s = v / (1 + np.sqrt(1 + 3 * v**2))  # the root of v − 2s − 3vs²
    return float(v * C**2 * (1 + v * s) * (1 - s**2))
