r"""The context of a prompt, exactly in law, from 2L + D scalars instead of L·D normals.

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

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from costofprivacy import _validate
from costofprivacy._compiled import compiled
from costofprivacy.noisyhead.prompts import PromptModel


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
                raw[n] += y * s * u
                clipped[n] += kept * s * u
        across(rng, v, u)
        length = math.sqrt(square)
        for j in range(D):
            raw[n, j] = (raw[n, j] + along * v[j] + length * u[j]) / L
            clipped[n, j] = (clipped[n, j] + along_clipped * v[j] + length * u[j]) / L
