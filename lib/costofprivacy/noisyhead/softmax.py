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

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.optimize import least_squares, minimize_scalar
from scipy.special import gammaln, hyp0f1, ive

from costofprivacy import _validate
from costofprivacy._compiled import compiled
from costofprivacy.noisyhead.prompts import Prompts
from costofprivacy.privacy import sums
from costofprivacy.privacy.records import numbers

CHUNK = 2**16  # scores computed at once: half a MB of doubles stays in a core's cache
SAFE = 300.0  # e^±SAFE, times any number and the number of tokens, is far from the ends of doubles
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
        """What attention averages: x, yx, y and 1 of each token, shape (N, 2D + 2, L)."""
        N, L, D = self.keys.shape
        found = np.empty((N, 2 * D + 2, L))
        found[:, :D] = self.keys.transpose(0, 2, 1)
        np.multiply(found[:, :D], self.responses[:, None], out=found[:, D : 2 * D])
        found[:, 2 * D], found[:, 2 * D + 1] = self.responses, 1.0
        return found

    @cached_property
    def longest(self) -> np.ndarray:
        """The length of each prompt's longest key, shape (N,)."""
        return np.sqrt(np.einsum("nld,nld->nl", self.keys, self.keys).max(axis=1, initial=0.0))

    @property
    def reach(self) -> np.ndarray:
        """‖x‖ of each query, shape (N,)."""
        return np.linalg.norm(self.query, axis=1)


@np.errstate(all="ignore")
def contexts(prompts: Prompts) -> Contexts:
    """What the head sees of prompts: their last token is the query."""
    return Contexts(prompts.x[:, :-1], prompts.y[:, :-1], prompts.x[:, -1], prompts.y[:, -1])


@np.errstate(all="ignore")
def every_task(prompts: Prompts) -> Contexts:
    """The same features with each task w = e_1 … e_D in turn, N·D prompts without label noise.

    D times a mean over them is the mean over w ~ N(0, I): no randomness of the tasks is left in a test error.
    """
    x, D = prompts.x, prompts.x.shape[2]
    y = np.moveaxis(x, 2, 0).reshape(-1, x.shape[1])
    x = np.tile(x, (D, 1, 1))
    return Contexts(x[:, :-1], y[:, :-1], x[:, -1], y[:, -1])


def attend(A: np.ndarray, data: Contexts, rows: slice | None = None) -> Iterator[tuple[slice, np.ndarray]]:
    """Attention weights of heads A, shape (B, D, D), chunk by chunk: which prompts, and e of shape (n, L, B), p = e/Σe.

    Of all prompts, or of those from ``rows.start`` to ``rows.stop``. Scores s that may be beyond `SAFE` are lowered by
    their largest; e = e^s of the others. Which they are depends on the prompt alone.
    """
    N, L, D = data.keys.shape
    B = len(A)
    first, last = (rows.start, rows.stop) if rows else (0, N)
    size = max(1, CHUNK // (L * B))
    turn = A.transpose(2, 1, 0).reshape(D, D * B)
    for start in range(first, last, size):
        chunk = slice(start, min(last, start + size))
        turned = (data.query[chunk] @ turn).reshape(-1, D, B)
        scores = np.matmul(data.keys[chunk], turned)
        square = np.einsum("ndb,ndb->nb", turned, turned).max(axis=1)
        wild = ~(data.longest[chunk] * np.sqrt(square) <= SAFE)
        if wild.any():
            scores[wild] -= scores[wild].max(axis=1, keepdims=True)
        yield chunk, np.exp(scores, out=scores)


def _averages(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Σ p_l v_l of values v, shape (n, k + 1, L), the last of which are 1: shape (n, k, B); weights of `attend`."""
    sums = np.matmul(values, weights)
    return sums[:, :-1] / sums[:, -1:]


@np.errstate(all="ignore")
def predict(A: np.ndarray, scale: np.ndarray, data: Contexts) -> np.ndarray:
    """ŷ = v Σ p_l y_l of heads A, shape (B, D, D), with scales v, shape (B,): shape (N, B)."""
    responses = data.values[:, -2:]
    return scale * np.concatenate([_averages(responses[chunk], e)[:, 0] for chunk, e in attend(A, data)])


@np.errstate(all="ignore")
def mean_gradient(A: np.ndarray, scale: np.ndarray, data: Contexts, clip_norm: np.ndarray) -> np.ndarray:
    """Mean over the prompts of ∇_A ½(ŷ − t)², each prompt's clipped at a Frobenius norm.

    Guarantee: one prompt contributes at most c/N, whatever it holds, if its numbers, A and v are within
    `per_prompt.LARGEST` and c is not below its inverse. By itself this function bounds nothing but gradients;
    `per_prompt.softmax_gradient_of` sees to the numbers. Gradients are added in pairs, so that the sum's rounding is
    bounded as that of `costofprivacy.privacy.sums.product`.

    Args:
        A: shape (B, D, D). scale: v, shape (B,). data: N prompts. clip_norm: c in (0, ∞], shape (B,).

    Returns:
        shape (B, D, D).

    Raises:
        ValueError: if there is no prompt.
    """
    N = len(data.target)
    _validate.whole("number of prompts", N)
    reach = data.reach

    def block(rows: slice) -> np.ndarray:
        total = np.zeros((*A.shape[1:], len(A)))
        for chunk, weights in attend(A, data, rows):
            means = np.matmul(data.values[chunk], weights)
            _add(total, means, data.query[chunk], data.target[chunk], reach[chunk], scale, clip_norm)
        return total.transpose(2, 0, 1)

    return sums.pairwise(block, N) / N


@compiled
def _add(
    total: np.ndarray,
    means: np.ndarray,
    query: np.ndarray,
    target: np.ndarray,
    reach: np.ndarray,
    scale: np.ndarray,
    clip_norm: np.ndarray,
) -> None:
    """Add the clipped gradients of some prompts to ``total``, shape (D, D, B), prompt by prompt.

    Of ``means``, Σ e (x, yx, y, 1) of each prompt and head, shape (n, 2D + 2, B), what is needed is made in place:
    v cov_p(y, x) in the first D rows, then (ŷ − t) times the factor min(1, c/length).
    """
    n, _, B = means.shape
    D = query.shape[1]
    square = np.empty(B)
    for i in range(n):
        answer, weight = means[i, 2 * D], means[i, 2 * D + 1]
        square[:] = 0.0
        for b in range(B):
            weight[b] = 1 / weight[b]
            answer[b] *= weight[b]
        for d in range(D):
            left, products = means[i, d], means[i, D + d]
            for b in range(B):
                left[b] = scale[b] * weight[b] * (products[b] - left[b] * answer[b])
                square[b] += left[b] * left[b]
        for b in range(B):
            residual = scale[b] * answer[b] - target[i]
            length = abs(residual) * math.sqrt(square[b]) * reach[i]
            answer[b] = residual * (clip_norm[b] / length if length > clip_norm[b] else 1.0)
        for d in range(D):
            left = means[i, d]
            for b in range(B):
                left[b] *= answer[b]
            for e in range(D):
                into, x = total[d, e], query[i, e]
                for b in range(B):
                    into[b] += left[b] * x


def kept(clip_norm: np.ndarray, length: np.ndarray) -> np.ndarray:
    """The factor min(1, c/length) by which gradients are clipped, of the common shape; 1 where c is infinite."""
    longer = length > clip_norm
    return np.divide(clip_norm, length, out=np.ones(longer.shape), where=longer)


@np.errstate(all="ignore")
def best_scale(A: np.ndarray, data: Contexts) -> tuple[np.ndarray, np.ndarray]:
    """The v with the least mean square error of each head A, shape (B, D, D), and that error; shapes (B,)."""
    answer = predict(A, np.ones(len(A)), data)
    cross, square = data.target @ answer / len(answer), (answer**2).mean(axis=0)
    scale = np.divide(cross, square, out=np.zeros_like(cross), where=square > 0)
    return scale, (data.target**2).mean() - scale * cross


@np.errstate(all="ignore")
def prediction_error(A: np.ndarray, scale: np.ndarray, prompts: Prompts, label_noise: float = 0.0) -> np.ndarray:
    """E_w (ŷ − y)² of heads on the features of test prompts, their tasks averaged exactly: shape (B,).

    ‖v Σ p_l x_l − x‖² + τ²(1 + v² Σ p_l²), in the mean over the prompts, for A of shape (B, D, D) and v of shape (B,).
    """
    data, found = contexts(prompts), []
    tokens = np.concatenate([data.keys, np.ones((*data.responses.shape, 1))], axis=2).transpose(0, 2, 1)
    for chunk, e in attend(A, data):
        sums_of = np.matmul(tokens[chunk], e)
        off = scale * (sums_of[:, :-1] / sums_of[:, -1:]) - data.query[chunk][:, :, None]
        error = (off**2).sum(axis=1)
        if label_noise > 0:
            error += label_noise**2 * (1 + (scale / sums_of[:, -1]) ** 2 * np.einsum("nlb,nlb->nb", e, e))
        found.append(error)
    return np.concatenate(found).mean(axis=0)


@np.errstate(all="ignore")
def fit(data: Contexts, initial: np.ndarray, penalty: float = 0.0, steps: int = 100) -> tuple[np.ndarray, float]:
    """A and v that minimise the mean square error on the prompts, without privacy: Levenberg's and Marquardt's method.

    It begins at ``initial``, shape (D, D), with the best v there, and uses ∂ŷ/∂A = v cov_p(y, x) xᵀ. The objective,
    mean square error + penalty·‖A‖², is not convex: what is found is a local minimum near ``initial``.
    """
    start = np.append(initial.reshape(-1), best_scale(initial[None], data)[0])
    shrink = np.sqrt(penalty * len(data.target))

    def off(told: np.ndarray) -> np.ndarray:
        answer = predict(told[:-1].reshape(1, *initial.shape), told[-1:], data)[:, 0]
        return np.append(answer - data.target, shrink * told[:-1])

    def slope(told: np.ndarray) -> np.ndarray:
        pull = shrink * np.eye(initial.size, initial.size + 1)
        return np.concatenate([_jacobian(told[:-1].reshape(1, *initial.shape), told[-1], data), pull])

    found = least_squares(off, start, slope, method="lm", max_nfev=steps).x
    return found[:-1].reshape(initial.shape), float(found[-1])


def _jacobian(A: np.ndarray, scale: float, data: Contexts) -> np.ndarray:
    """The derivatives of ŷ in A, entry by entry, and in v, of one head: shape (N, D² + 1)."""
    parts, D = [], data.query.shape[1]
    for chunk, weights in attend(A, data):
        means = _averages(data.values[chunk], weights)
        answer = means[:, -1]  # ȳ
        left = means[:, D:-1] - means[:, :D] * answer[:, None]  # cov_p(y, x)
        query = data.query[chunk]
        parts.append(np.concatenate([(scale * left * query[:, None]).reshape(len(query), -1), answer], axis=1))
    return np.concatenate(parts)


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
