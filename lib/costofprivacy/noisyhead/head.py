r"""The linear attention head (2.2) and its reduction to ŷ = ⟨Γ, Z⟩, (2.3)-(2.5) of arXiv:2504.16000v2.

Z = x_{L+1} m^T with the *context* m = L⁻¹ Σ_{i≤L} y_i x_i: a matrix of rank one with ‖Z‖_F = ‖m‖₂, since the query
has norm one. So a prompt enters pretraining only through (query, context, response), and projecting Z onto the ball of
radius G shortens m. The head's Γ is w₂₂ W₁₁ᵀ: with the Z of (2.5), the transpose that the paper's formula leaves out
is needed (⟨Γ, x mᵀ⟩ = xᵀ Γ m, while (2.3) gives w₂₂ mᵀ W₁₁ x).

**The context of a prompt, exactly in law, from 2L + D scalars instead of L·D normals.**

A prompt of section 2 of arXiv:2504.16000v2 enters pretraining through its context :math:`m = L^{-1}\sum_i c(y_i) x_i`,
its query and the query's response alone, where c clips to [−C, C]. Their joint law can be drawn without the features.

1. Write the task as :math:`w = r v` with :math:`r = \|w\|` and a unit vector v, and a token as
   :math:`x_i = t_i v + s_i u_i` with :math:`t_i = \langle x_i, v\rangle` and :math:`s_i = \sqrt{1 - t_i^2}`. Since
   :math:`x_i` is uniform on the sphere of R^D and independent of w, :math:`t_i` is distributed as one coordinate of
   such a point, and :math:`u_i` is uniform on the unit sphere of the orthogonal complement of v, a sphere of R^(D−1).
   All of them are independent, and independent of w.
2. The response :math:`y_i = r t_i + \tau\xi_i` does not depend on :math:`u_i`. So with :math:`a_i = c(y_i) s_i`

   .. math:: L m = \Big(\sum_i c(y_i) t_i\Big) v + S, \qquad S = \sum_i a_i u_i ,

   where, given w, all t and all ξ, the lengths :math:`|a_i|` are fixed and the directions :math:`u_i` are uniform.
3. The length of S follows by a recursion. With :math:`S_k = S_{k-1} + a_k u_k`,

   .. math:: \|S_k\|^2 = \|S_{k-1}\|^2 + 2 a_k \|S_{k-1}\| q_k + a_k^2 ,

   where :math:`q_k`, the cosine between :math:`u_k` and :math:`S_{k-1}`, is one coordinate of a uniform point on the
   sphere of R^(D−1), whatever :math:`S_{k-1}` is (for :math:`S_{k-1} = 0` it does not matter): independent of the past.
4. The direction of S is uniform on the sphere of the complement and independent of its length, since rotating all
   :math:`u_i` about v changes no length. ∎

So a token takes two cosines (and one normal for its label noise), and a prompt D normals for its task, D for its query
and D for the direction of S. The raw context and the clipped one share all of them. A token whose response is
clipped has different lengths in the two; its :math:`u_i` is then drawn whole, and S holds the other tokens alone. The
same numbers thus serve for both, with their joint law.

**The cosines.** One coordinate of a uniform point on the unit sphere of R^d has density proportional to
:math:`(1 - q^2)^{k}` on [−1, 1] with :math:`k = (d - 3)/2`. For d = 1 it is a sign, for d = 2 the cosine of a uniform
angle, for d = 3 it is uniform, for d = 4 it is the abscissa of a uniform point in the unit disc, and for d = 5 the
median of three uniform numbers, whose density is proportional to :math:`1 - q^2`. From d = 6 on it is drawn from a
normal of variance 1/(2k) by rejection, since :math:`(1 - q^2)^k \le e^{-kq^2}`; at least 80 % are accepted. With
:math:`x = q^2`, :math:`\log(1 - x) + x \ge -x^2/(2(1 - x))` accepts most of these without a logarithm.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.linalg import solve

from costofprivacy import _validate
from costofprivacy._compiled import compiled
from costofprivacy.noisyhead.prompts import PromptModel, Prompts
from costofprivacy.privacy import records, sums
from costofprivacy.privacy.records import numbers

# ---- Contexts ----


class Drawn(NamedTuple):
    """N prompts without their features.

    Attributes:
        task: w, shape (N, D).
        query: shape (N, D), rows of norm one.
        response: to the query, not clipped, shape (N,).
        raw: the context with C = ∞, shape (N, D).
        clipped: the context with the C asked for, shape (N, D).
    """

    task: np.ndarray
    query: np.ndarray
    response: np.ndarray
    raw: np.ndarray
    clipped: np.ndarray


def sample(model: PromptModel, N: int, clip_norm: float = math.inf, *, rng: np.random.Generator) -> Drawn:
    """Draw N prompts, prompt by prompt: N of them in one call or in several are the same.

    Args:
        model: the law of a prompt. N: number of prompts, at least 1. clip_norm: C in (0, ∞]. rng: source of randomness.

    Raises:
        ValueError: if ``N`` is not a whole number of at least 1, or ``clip_norm`` is not positive.
    """
    C, shape = _validate.positive("clip_norm", clip_norm), (_validate.whole("N", N), model.D)
    drawn = Drawn(np.empty(shape), np.empty(shape), np.empty(N), np.empty(shape), np.empty(shape))
    draw(rng, model.L, float(model.label_noise), C, *drawn)
    return drawn


@compiled
def cosine(rng: np.random.Generator, d: int) -> float:
    """One coordinate of a uniform point on the unit sphere of R^d, d ≥ 1."""
    if d == 1:
        return 1.0 if rng.random() < 0.5 else -1.0
    if d == 2:
        return math.cos(math.pi * rng.random())
    if d == 3:
        return 2 * rng.random() - 1
    if d == 4:
        while True:
            q, u = 2 * rng.random() - 1, rng.random()
            if u * u < 1 - q * q:
                return q
    if d == 5:
        a, b, c = rng.random(), rng.random(), rng.random()
        return 2 * max(min(a, b), min(max(a, b), c)) - 1
    k = 0.5 * (d - 3)
    scale = 1 / math.sqrt(2 * k)
    while True:
        q, u = scale * rng.standard_normal(), rng.random()
        x = q * q
        if x < 1 and (u <= 1 - 0.5 * k * x * x / (1 - x) or u <= math.exp(k * (math.log1p(-x) + x))):
            return q


@compiled
def unit(rng: np.random.Generator, u: np.ndarray) -> float:
    """Fill u with a uniform unit vector; returns the norm, independent of it, of the normals that it came from."""
    square = 0.0
    for j in range(len(u)):
        u[j] = rng.standard_normal()
        square += u[j] * u[j]
    norm = math.sqrt(square)
    for j in range(len(u)):
        u[j] /= norm
    return norm


@compiled
def across(rng: np.random.Generator, v: np.ndarray, u: np.ndarray) -> None:
    """Fill u with a uniform unit vector orthogonal to the unit vector v; with zeros for D = 1, where there is none."""
    unit(rng, u)
    along, square = 0.0, 0.0
    for j in range(len(v)):
        along += u[j] * v[j]
    for j in range(len(v)):
        u[j] -= along * v[j]
        square += u[j] * u[j]
    scale = 1 / math.sqrt(square) if len(v) > 1 else 0.0
    for j in range(len(v)):
        u[j] *= scale


@compiled
def draw(
    rng: np.random.Generator,
    L: int,
    label_noise: float,
    clip_norm: float,
    task: np.ndarray,
    query: np.ndarray,
    response: np.ndarray,
    raw: np.ndarray,
    clipped: np.ndarray,
) -> None:
    """Fill the arrays of `Drawn` with N prompts of L ≥ 1 labelled tokens, label noise τ ≥ 0, clipped at C."""
    N, D = query.shape
    v, u = np.empty(D), np.empty(D)
    for n in range(N):
        r = unit(rng, v)
        unit(rng, query[n])
        response[n] = 0.0
        for j in range(D):
            task[n, j] = r * v[j]
            response[n] += task[n, j] * query[n, j]
        if label_noise > 0:
            response[n] += label_noise * rng.standard_normal()
        along, along_clipped, square = 0.0, 0.0, 0.0
        raw[n], clipped[n] = 0.0, 0.0
        for _ in range(L):
            t = cosine(rng, D)
            y = r * t
            if label_noise > 0:
                y += label_noise * rng.standard_normal()
            s = math.sqrt(1 - t * t)
            along += y * t
            if abs(y) <= clip_norm:
                along_clipped += y * t
                if D > 1:
                    square += y * s * (y * s + 2 * math.sqrt(square) * cosine(rng, D - 1))
                    square = max(square, 0.0)  # below 0 by rounding alone
            else:
                kept = math.copysign(clip_norm, y)
                along_clipped += kept * t
                across(rng, v, u)
                for j in range(D):
                    raw[n, j] += y * s * u[j]
                    clipped[n, j] += kept * s * u[j]
        across(rng, v, u)
        length = math.sqrt(square)
        for j in range(D):
            raw[n, j] = (raw[n, j] + along * v[j] + length * u[j]) / L
            clipped[n, j] = (clipped[n, j] + along_clipped * v[j] + length * u[j]) / L


_UNIT = 1 + 1e-12  # a query that was normalised is no longer than this


@dataclass(frozen=True)
class LinearAttentionHead:
    """Weights θ = (W^PV, W^KQ) of the head (2.2), each of shape (D + 1, D + 1)."""

    W_PV: np.ndarray
    W_KQ: np.ndarray

    def __post_init__(self) -> None:
        _validate.shape("W_PV", self.W_PV, (None, self.W_PV.shape[0]))
        _validate.shape("W_KQ", self.W_KQ, self.W_PV.shape)

    @property
    def Gamma(self) -> np.ndarray:
        """Γ = w₂₂ W₁₁ᵀ, shape (D, D): (2.5), transposed so that ŷ = ⟨Γ, Z⟩ (see the module's text)."""
        return self.W_PV[-1, -1] * self.W_KQ[:-1, :-1].T


@dataclass(frozen=True)
class Statistics:
    """What pretraining needs of N prompts, in double precision whatever was given.

    Args:
        query: x_{L+1}, shape (N, D), unit rows (`project` sees to it where they are longer).
        context: m = L⁻¹ Σ y_i x_i, shape (N, D).
        response: y_{L+1}, shape (N,).

    Raises:
        ValueError: if the shapes disagree.
    """

    query: np.ndarray
    context: np.ndarray
    response: np.ndarray

    def __post_init__(self) -> None:
        query = numbers("query", self.query, (None, None))
        object.__setattr__(self, "query", query)
        object.__setattr__(self, "context", numbers("context", self.context, query.shape))
        object.__setattr__(self, "response", numbers("response", self.response, query.shape[:1]))

    @property
    @np.errstate(all="ignore")
    def Z(self) -> np.ndarray:
        """Z of (2.5), shape (N, D, D)."""
        return self.query[:, :, None] * self.context[:, None, :]

    @property
    @np.errstate(all="ignore")
    def norm(self) -> np.ndarray:
        """‖Z‖_F = ‖m‖₂ of each prompt, for queries of norm one; shape (N,)."""
        return np.linalg.norm(self.context, axis=1)


@dataclass(frozen=True)
class Moments:
    """The sufficient statistic of a data set for every quadratic loss in Γ (vectorised row by row, p = D²).

    Args:
        gram: N⁻¹ Σ vec(Z) vec(Z)ᵀ, shape (p, p).
        cross: N⁻¹ Σ y_{L+1} vec(Z), shape (p,).

    Raises:
        ValueError: if the shapes disagree, or an array is not of numbers.
    """

    gram: np.ndarray
    cross: np.ndarray

    def __post_init__(self) -> None:
        cross = numbers("cross", self.cross, (None,))
        object.__setattr__(self, "cross", cross)
        object.__setattr__(self, "gram", numbers("gram", self.gram, cross.shape * 2))

    @property
    def trace(self) -> float:
        """N⁻¹ Σ ‖Z‖²_F, the trace of the Gram matrix."""
        return float(self.gram.trace())

    def step(self, shrink: float, rate: float) -> Callable[[np.ndarray], np.ndarray]:
        """The map Γ ↦ shrink·Γ − rate·HΓ on coordinates of shape (B, p), H the Gram matrix."""
        matrix = shrink * np.eye(len(self.cross)) - rate * self.gram
        return lambda Gamma: Gamma @ matrix

    def solve(self, penalty: float) -> np.ndarray:
        """(H + λI)⁻¹b in coordinates, shape (p,), b the cross moment, by a Cholesky factorisation."""
        return solve(self.gram + penalty * np.eye(len(self.cross)), self.cross, assume_a="pos")

    def coordinates(self, Gamma: np.ndarray) -> np.ndarray:
        """Γ as a vector, row by row, shape (p,)."""
        return Gamma.reshape(-1)

    def matrices(self, coordinates: np.ndarray) -> np.ndarray:
        """The inverse of `coordinates` for rows of shape (B, p): shape (B, D, D)."""
        D = math.isqrt(len(self.cross))
        return coordinates.reshape(-1, D, D)


def attention(E: np.ndarray, head: LinearAttentionHead) -> np.ndarray:
    """f(E; θ) = E + W^PV E · (Eᵀ W^KQ E)/L, (2.2), for E of shape (N, D + 1, L + 1)."""
    L = E.shape[2] - 1
    return E + head.W_PV @ E @ (E.transpose(0, 2, 1) @ head.W_KQ @ E) / L


def predict_by_attention(E: np.ndarray, head: LinearAttentionHead) -> np.ndarray:
    """ŷ_{L+1}: the last entry of f(E; θ), shape (N,)."""
    return attention(E, head)[:, -1, -1]


def predict(Gamma: np.ndarray, statistics: Statistics) -> np.ndarray:
    """ŷ_{L+1} = ⟨Γ, Z⟩ = x_{L+1}ᵀ Γ m, shape (N,)."""
    return np.einsum("nd,de,ne->n", statistics.query, Gamma, statistics.context, optimize=True)


def mean_square(differences: np.ndarray, statistics: Statistics) -> np.ndarray:
    """Mean of ⟨A, Z⟩² over the prompts for each A of shape (B, D, D): shape (B,); the excess risk of Γ' + A over Γ'."""
    Z = statistics.Z.reshape(len(statistics.response), -1)
    return ((differences.reshape(len(differences), -1) @ Z.T) ** 2).mean(axis=1)


@np.errstate(all="ignore")
def bilinear_terms(prompts: Prompts, head: LinearAttentionHead) -> dict[str, np.ndarray]:
    """The four terms of the prediction (2.3), each of shape (N,), for any weights.

    With S = Σ_{i≤L+1} x_i x_iᵀ/L, v = w₂₁^PV, u = w₂₁^KQ (the last rows of the two matrices):
    ``task`` = w₂₂ mᵀ W₁₁ x, ``rank-one`` = (v·m)(u·x), ``features`` = vᵀ S W₁₁ x, ``energy`` = w₂₂ (Σ y²/L)(u·x).
    The last two do not change when all responses change sign, the first two do.
    """
    x, y = prompts.x, prompts.y[:, :-1]
    L = y.shape[1]
    query, context = x[:, -1], statistics(prompts).context
    v, u = head.W_PV[-1, :-1], head.W_KQ[-1, :-1]
    w22, W11 = head.W_PV[-1, -1], head.W_KQ[:-1, :-1]
    transformed = query @ W11.T
    return {
        "task": w22 * np.einsum("nd,nd->n", context, transformed),
        "rank-one": (context @ v) * (query @ u),
        "features": np.einsum("nl,nl->n", x @ v, np.einsum("nld,nd->nl", x, transformed)) / L,
        "energy": w22 * (y**2).mean(axis=1) * (query @ u),
    }


@np.errstate(all="ignore")
def statistics(prompts: Prompts, clip_norm: float = np.inf) -> Statistics:
    """The statistics behind Z, with responses clipped to [−C, C]; raw for C = ∞.

    Guarantee: each prompt's statistics are finite and depend on that prompt alone, and its response is within [−C, C];
    a prompt whose statistics would not be finite is void, all 0 (`costofprivacy.privacy.records`). Norms are left to
    `project`.

    Args:
        prompts: N prompts.
        clip_norm: C in (0, ∞]; clips every response, the query's as well (Algorithm 1).

    Raises:
        ValueError: if ``clip_norm`` is not positive, or a prompt has no labelled token.
    """
    clip_norm = _validate.positive("clip_norm", clip_norm)
    y = prompts.y if np.isinf(clip_norm) else np.clip(prompts.y, -clip_norm, clip_norm)
    x = prompts.x[:, :-1]
    if x.shape[1] == 0:
        raise ValueError(f"prompts must have at least one labelled token and a query, got x of {prompts.x.shape}")
    context = np.matmul(y[:, None, :-1], x)[:, 0] / x.shape[1]
    query, context, response = records.voided(prompts.x[:, -1].copy(), context, y[:, -1].copy())
    return Statistics(query, context, response)


@np.errstate(all="ignore")
def project(raw: Statistics, feature_bound: float) -> Statistics:
    """Π_G, first line of Algorithm 1: each Z scaled to Frobenius norm at most G; G = ∞ scales nothing.

    Guarantee: ‖Z‖_F ≤ G for every prompt, whatever it holds, to rounding. A query longer than one is shortened to
    norm one, its length moves into the context, and contexts are shortened to G. (Queries of norm one come out bit for
    bit as they came; a shorter one with a context beyond G ends below G.) What is not finite is void, all 0. Each
    prompt's result depends on that prompt alone, so neighbours stay neighbours.

    Raises:
        ValueError: if ``feature_bound`` is not in [10⁻¹⁵⁰, ∞]: the square of a smaller one vanishes.
    """
    feature_bound = _validate.between(
        "feature_bound", _validate.positive("feature_bound", feature_bound), records.NEAR, math.inf
    )
    sound = _unit_queries(raw)
    norm = sound.norm
    scale = np.divide(feature_bound, norm, out=np.ones_like(norm), where=norm > feature_bound)
    return Statistics(sound.query, sound.context * scale[:, None], sound.response)


def _unit_queries(raw: Statistics) -> Statistics:
    """The same Z, no query longer than one and no context so long that its square overflows; void where not finite."""
    square = np.einsum("nd,nd->n", raw.query, raw.query)
    odd = ~((square <= _UNIT**2) & (np.abs(raw.context).max(axis=1, initial=0.0) <= records.FAR))
    if not odd.any() and np.isfinite(raw.response).all():
        return raw
    query, context, response = (p.copy(order="K") for p in records.voided(raw.query, raw.context, raw.response))
    length = records.lengths(query[odd])
    longer = length > 1
    query[odd] = np.where(longer[:, None], query[odd] / length[:, None], query[odd])
    context[odd] = np.clip(np.where(longer[:, None], context[odd] * length[:, None], context[odd]), *records.REACH)
    return Statistics(*records.voided(query, context, response))


def sample_statistics(
    model: PromptModel, N: int, clip_norm: float = np.inf, *, rng: np.random.Generator
) -> tuple[Statistics, Statistics]:
    """Draw the statistics of N prompts: raw, and with responses clipped at C; exactly in law, without the features.

    The joint law is that of ``statistics(prompts)`` and ``statistics(prompts, clip_norm)`` for
    ``prompts = sample(model, N, rng=rng)``, from other random numbers and about 2L + 3D of them for each prompt
    (`costofprivacy.noisyhead.head` has the proof). Prompt follows prompt, so that N prompts in one call or in
    several are the same prompts. The time grows as N(L + D), the memory as ND.

    Args:
        model: the law of a prompt.
        N: number of prompts, at least 1.
        clip_norm: C in (0, ∞]; clips every response, the query's as well.
        rng: source of randomness.

    Raises:
        ValueError: if ``N`` is not a whole number of at least 1, or ``clip_norm`` is not positive.
    """
    drawn = sample(model, N, clip_norm, rng=rng)
    response = np.clip(drawn.response, -clip_norm, clip_norm)
    return Statistics(drawn.query, drawn.raw, drawn.response), Statistics(drawn.query, drawn.clipped, response)


@np.errstate(all="ignore")
def moments(data: Statistics) -> Moments:
    """Gram matrix and cross moment of vec(Z): all that ridge and Algorithm 1 see of the prompts.

    Guarantee: replacing one prompt moves the Gram matrix by at most 2G²/N and the cross moment by at most 2CG/N (in
    Frobenius norm; with rounding, times 1 + `costofprivacy.privacy.sums.slack` (N, D⁴)), if ``data`` come from
    `statistics` with C and `project` with G, which bound every prompt. By itself this function bounds nothing; it
    refuses what is not finite, which those two never return.

    Raises:
        ValueError: if there is no prompt, or a statistic is not finite.
    """
    N = len(data.response)
    if N == 0:
        raise ValueError("data must hold at least 1 prompt, got none")
    Z = data.Z.reshape(N, -1)
    found = Moments(sums.product(Z, Z) / N, sums.product(data.response, Z) / N)
    records.refuse_not_finite("data", found.cross, found.gram.diagonal())
    return found
