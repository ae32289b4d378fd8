r"""Every token asked once, a prompt's loss is quadratic in the head: its coefficients in the place of its tokens.

With the examples (x_j, m_j, y_j), j ≤ J, of `examples`, half the negative gradient of a prompt's mean square is affine,

.. math:: \frac1J\sum_j (y_j - x_j^\top\Gamma m_j)\,x_j m_j^\top = B - K[\Gamma],\qquad
    B = \frac1J\sum_j y_j x_j m_j^\top,\quad K[\Gamma]_{ab} = \sum_{c,d} K_{ac,bd}\,\Gamma_{cd},\quad
    K_{ac,bd} = \frac1J\sum_j x_{ja}x_{jc}\,m_{jb}m_{jd} .

*Proof.* (x_jᵀΓm_j) x_{ja} m_{jb} = Σ_{cd} x_{ja} x_{jc} Γ_{cd} m_{jd} m_{jb}. ∎ K is symmetric in a, c and in b, d:
with P = D(D + 1)/2 it has P² numbers, 225 for D = 5, where the tokens of a prompt have (2D + 1)J. Neither clipping nor
whitening needs more than B, K and the two second moments: `whitened_descent` clips a prompt's whole gradient. So the
tokens are read once, however many steps, budgets and ways to clip there are.

*One pass over the tokens.* With t = Σ y_j x_j, S = Σ x xᵀ, U = Σ y² x xᵀ, V₃ = Σ y x⊗x⊗x, V₄ = Σ y² x⊗x⊗x⊗x and
m_j = (t − y_j x_j)/L, L = J − 1,

.. math:: JL\,B = tt^\top - U,\qquad L^2\sum_j m_jm_j^\top = (J - 2)\,tt^\top + U,\qquad
    JL^2 K_{ac,bd} = S_{ac}t_bt_d - V_{3,acb}t_d - V_{3,acd}t_b + V_{4,acbd} .

*Proof.* Put in m_j; in the second Σ_j y_j x_j = t. ∎ Of the symmetric V₃ and V₄ only entries with ascending indices are
added up, 35 and 70 for D = 5.

Prompts stand side by side, `LANES` to a group, so that a processor adds several at once.

Nobody's records enter: this is for experiments on prompts that were drawn. `examples` bounds what a prompt may hold.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from costofprivacy._compiled import compiled
from costofprivacy.noisyhead import token_laws
from costofprivacy.noisyhead.examples import examples
from costofprivacy.noisyhead.head import Statistics, statistics
from costofprivacy.noisyhead.prompts import Prompts
from costofprivacy.noisyhead.token_laws import TokenLaw
from costofprivacy.noisyhead.whitened_descent import Prompted, Tokens

LANES = 64  # prompts side by side: 64 numbers in a row, and a group's coefficients stay in a core's second-level cache


FEW = 6  # features up to which the coefficients are cheaper than reading the tokens in each step


@dataclass(frozen=True, eq=False)
class Quadratics:
    """The coefficients of N prompts' losses, J = L + 1 examples each: what `examples.Examples` has, read once.

    Args:
        values: by groups of `LANES` prompts, shape (⌈N/LANES⌉, P² + D² + 2P, LANES): K, B, (L + 1)⁻¹ Σ x xᵀ and
            J⁻¹ Σ m mᵀ one after the other; 0 where a group has no more prompts.
        N: number of prompts. D: number of features.
    """

    values: np.ndarray
    N: int
    D: int

    @property
    def size(self) -> tuple[int, int]:
        """N and D."""
        return self.N, self.D

    def features(self, clip_norm: float) -> np.ndarray:
        """The mean of the prompts' token moments, each clipped to a Frobenius norm, shape (1, D, D)."""
        start = _pairs(self.D) ** 2 + self.D**2
        return _sum_of_moments(self.values, start, np.eye(self.D), clip_norm)[None] / self.N

    def contexts(self, W: np.ndarray, clip_norm: float) -> np.ndarray:
        """The mean of W(J⁻¹ Σ m mᵀ)W, each clipped, shape (B, D, D), for symmetric W of that shape."""
        start = _pairs(self.D) ** 2 + self.D**2 + _pairs(self.D)
        return np.stack([_sum_of_moments(self.values, start, w, clip_norm) for w in W]) / self.N

    def gradients(self, Gamma: np.ndarray, left: np.ndarray, right: np.ndarray, clip_norm: float) -> np.ndarray:
        """The mean of left(B − K[Γ])right, each clipped, shape (B, D, D), for matrices of that shape."""
        each = zip(Gamma, left, np.ascontiguousarray(right), strict=True)
        return np.stack([_sum_of_gradients(self.values, *three, clip_norm) for three in each]) / self.N


def quadratics(prompts: Prompts) -> Quadratics:
    """The coefficients of prompts that are finite, each token asked once."""
    N, J, D = prompts.x.shape
    return _gathered((N, J, D), lambda rows, tokens, answers: _lay(prompts.x[rows], prompts.y[rows], tokens, answers))


def drawn(law: TokenLaw, N: int, L: int, *, rng: np.random.Generator) -> tuple[Prompted, Statistics]:
    """What `whitened_descent.simulate` and `head` see of prompts that are drawn and forgotten, group by group.

    Args:
        law, N, L: as `token_laws.sample` takes them. rng: advanced as there, and so of the same prompts to rounding.
    """
    if law.D > FEW:
        prompts = token_laws.sample(law, N, L, rng=rng)
        return asked(prompts), statistics(prompts)
    token_laws.refuse_unknown(law)
    w, (query, context, response) = rng.standard_normal((N, law.D)), (np.empty((N, law.D)) for _ in range(3))
    root = np.linalg.cholesky(law.covariance) if law.spread == token_laws.GAUSSIAN else np.zeros((0, 0))

    def draw(rows: slice, tokens: np.ndarray, answers: np.ndarray) -> None:
        normals = rng.standard_normal((len(w[rows]), L + 1, law.D))
        _draw(w[rows], normals, root, tokens, answers)
        _last(tokens, answers, query[rows], context[rows], response[rows])

    return _gathered((N, L + 1, law.D), draw), Statistics(query, context, response[:, 0].copy())


def _gathered(size: tuple[int, int, int], lay: Callable[[slice, np.ndarray, np.ndarray], None]) -> Quadratics:
    """The coefficients of N prompts of J tokens, laid side by side by a function of the group's rows."""
    N, J, D = size
    P = _pairs(D)
    values = np.zeros((-(-N // LANES), P * P + D * D + 2 * P, LANES))
    tokens, answers = np.zeros((J, D, LANES)), np.zeros((J, LANES))
    for group in range(len(values)):
        rows = slice(group * LANES, min(N, (group + 1) * LANES))
        if rows.stop - rows.start < LANES:
            tokens[:], answers[:] = 0.0, 0.0
        lay(rows, tokens, answers)
        _coefficients(tokens, answers, values[group])
    return Quadratics(values, N, D)


def asked(prompts: Prompts) -> Prompted:
    """Prompts as `whitened_descent.simulate` asks of them, each token asked once, in the cheaper of the two ways."""
    if prompts.x.shape[2] <= FEW:
        return quadratics(prompts)
    return Tokens(examples(prompts, every_token=True))


@compiled
def _pairs(D: int) -> int:
    return D * (D + 1) // 2


@compiled
def _lay(x: np.ndarray, y: np.ndarray, tokens: np.ndarray, answers: np.ndarray) -> None:
    """Tokens and answers of a group of prompts, side by side."""
    for j in range(len(tokens)):
        for n in range(len(x)):
            answers[j, n] = y[n, j]
        for a in range(tokens.shape[1]):
            for n in range(len(x)):
                tokens[j, a, n] = x[n, j, a]


@compiled
def _draw(w: np.ndarray, normals: np.ndarray, root: np.ndarray, tokens: np.ndarray, answers: np.ndarray) -> None:
    """`_lay` for prompts of these tasks and normals: tokens are root·normals, or of norm 1 where there is no root."""
    J, D, _ = tokens.shape
    raw, square = np.empty((D, LANES)), np.empty(LANES)
    for j in range(J):
        square[:] = 0.0
        for a in range(D):
            for n in range(len(w)):
                raw[a, n] = normals[n, j, a]
                square[n] += raw[a, n] ** 2
        tokens[j] = 0.0
        answers[j] = 0.0
        for a in range(D):
            for c in range(a + 1 if len(root) else 0):
                for n in range(len(w)):
                    tokens[j, a, n] += root[a, c] * raw[c, n]
            if len(root) == 0:
                for n in range(len(w)):
                    tokens[j, a, n] = raw[a, n] / np.sqrt(square[n])
            for n in range(len(w)):
                answers[j, n] += w[n, a] * tokens[j, a, n]


@compiled
def _last(
    tokens: np.ndarray, answers: np.ndarray, query: np.ndarray, context: np.ndarray, response: np.ndarray
) -> None:
    """The last token, its answer, and the context of all others, a row for each prompt."""
    L, D = len(tokens) - 1, tokens.shape[1]
    total = np.zeros((D, LANES))
    for j in range(L):
        for a in range(D):
            for n in range(LANES):
                total[a, n] += answers[j, n] * tokens[j, a, n]
    for n in range(len(query)):
        response[n] = answers[L, n]
        for a in range(D):
            query[n, a] = tokens[L, a, n]
            context[n, a] = total[a, n] / L


@compiled
def _coefficients(tokens: np.ndarray, answers: np.ndarray, values: np.ndarray) -> None:
    """The coefficients of a group."""
    J, D, _ = tokens.shape
    P = _pairs(D)
    places, total = _places(D), np.zeros((D, LANES))
    square, weighted = np.zeros((P, LANES)), np.zeros((P, LANES))
    third, fourth = np.zeros((P, D, LANES)), np.zeros((P, P, LANES))
    for j in range(J):
        _add(tokens[j], answers[j], places, total, square, weighted, third, fourth)
    _expand(total, square, weighted, third, fourth, places, J, values)


@compiled
def _add(
    x: np.ndarray, y: np.ndarray, places: np.ndarray, total: np.ndarray,
    square: np.ndarray, weighted: np.ndarray, third: np.ndarray, fourth: np.ndarray,
) -> None:  # fmt: skip
    """One token of each prompt of a group to t, S, U, V₃ and V₄, whose indices ascend."""
    D = len(x)
    product = np.empty((len(square), LANES))
    for a in range(D):
        for n in range(LANES):
            total[a, n] += y[n] * x[a, n]
        for b in range(a, D):
            p = places[a, b]
            for n in range(LANES):
                square[p, n] += x[a, n] * x[b, n]
                product[p, n] = y[n] * x[a, n] * x[b, n]
                weighted[p, n] += y[n] * product[p, n]
    for a in range(D):
        for b in range(a, D):
            p = places[a, b]
            for c in range(b, D):
                for n in range(LANES):
                    third[p, c, n] += product[p, n] * x[c, n]
                for d in range(c, D):
                    q = places[c, d]
                    for n in range(LANES):
                        fourth[p, q, n] += product[p, n] * product[q, n]


@compiled
def _expand(
    total: np.ndarray, square: np.ndarray, weighted: np.ndarray, third: np.ndarray, fourth: np.ndarray,
    places: np.ndarray, J: int, values: np.ndarray,
) -> None:  # fmt: skip
    """K, B and the two moments of a group by the formulas of the module's text."""
    D, P, L, t = len(total), len(square), J - 1, total
    for a in range(D):
        for b in range(D):
            p = places[a, b]
            for n in range(LANES):
                values[P * P + a * D + b, n] = (t[a, n] * t[b, n] - weighted[p, n]) / (J * L)
                values[P * P + D * D + p, n] = square[p, n] / J
                values[P * P + D * D + P + p, n] = ((J - 2) * t[a, n] * t[b, n] + weighted[p, n]) / (J * L * L)
    for a in range(D):
        for c in range(a, D):
            for b in range(D):
                for d in range(b, D):
                    row, p = places[a, c] * P + places[b, d], places[a, c]
                    one, other = third[_third(places, a, c, b)], third[_third(places, a, c, d)]
                    even = fourth[_fourth(places, a, c, b, d)]
                    for n in range(LANES):
                        odd = one[n] * t[d, n] + other[n] * t[b, n]
                        values[row, n] = (square[p, n] * t[b, n] * t[d, n] - odd + even[n]) / (J * L * L)


@compiled
def _third(places: np.ndarray, a: int, c: int, b: int) -> tuple[int, int]:
    """Where V₃ stands at a ≤ c and any b."""
    return (places[a, c], b) if b >= c else (places[a, b], c)


@compiled
def _fourth(places: np.ndarray, a: int, c: int, b: int, d: int) -> tuple[int, int]:
    """Where V₄ stands at a ≤ c and b ≤ d."""
    one, other = max(a, b), min(c, d)
    return places[min(a, b), min(one, other)], places[max(one, other), max(c, d)]


@compiled
def _places(D: int) -> np.ndarray:
    """Where the product of a and b stands, shape (D, D)."""
    places, place = np.zeros((D, D), np.int64), 0
    for a in range(D):
        for b in range(a, D):
            places[a, b] = places[b, a] = place
            place += 1
    return places


@compiled
def _sum_of_moments(values: np.ndarray, start: int, W: np.ndarray, clip_norm: float) -> np.ndarray:
    """The sum of clipped W·moment·Wᵀ over the prompts, the moments from a row of the coefficients on."""
    D = len(W)
    places, moment, scratch, kept = _places(D), np.zeros((D, D, LANES)), np.zeros((D, D, LANES)), np.zeros(LANES)
    total, turned = np.zeros((D, D, LANES)), np.ascontiguousarray(W.T)
    for group in range(len(values)):
        for a in range(D):
            for b in range(D):
                for n in range(LANES):
                    moment[a, b, n] = values[group, start + places[a, b], n]
        _clipped(moment, W, turned, clip_norm, scratch, kept, total)
    return total.sum(axis=2)


@compiled
def _sum_of_gradients(
    values: np.ndarray, Gamma: np.ndarray, left: np.ndarray, right: np.ndarray, clip_norm: float
) -> np.ndarray:
    """The sum of clipped left(B − K[Γ])right over the prompts."""
    D = len(Gamma)
    P = _pairs(D)
    places, gradient, scratch, kept = _places(D), np.zeros((D, D, LANES)), np.zeros((D, D, LANES)), np.zeros(LANES)
    total, moved = np.zeros((D, D, LANES)), Gamma.any()  # the first step starts at 0
    for group in range(len(values)):
        for a in range(D):
            for b in range(D):
                for n in range(LANES):
                    gradient[a, b, n] = values[group, P * P + a * D + b, n]
                for c in range(D * moved):
                    for d in range(D):
                        row = places[a, c] * P + places[b, d]
                        for n in range(LANES):
                            gradient[a, b, n] -= values[group, row, n] * Gamma[c, d]
        _clipped(gradient, left, right, clip_norm, scratch, kept, total)
    return total.sum(axis=2)


@compiled
def _clipped(
    terms: np.ndarray, left: np.ndarray, right: np.ndarray, clip_norm: float,
    scratch: np.ndarray, kept: np.ndarray, total: np.ndarray,
) -> None:  # fmt: skip
    """Add left·term·right of a group's prompts, each shortened to the clip norm; the terms are overwritten."""
    D = len(left)
    _apply(left, terms, scratch)
    terms[:] = 0.0
    for a in range(D):
        for b in range(D):
            for c in range(D):
                for n in range(LANES):
                    terms[a, b, n] += scratch[a, c, n] * right[c, b]
    kept[:] = 0.0
    for a in range(D):
        for b in range(D):
            for n in range(LANES):
                kept[n] += terms[a, b, n] ** 2
    for n in range(LANES):
        kept[n] = clip_norm / max(np.sqrt(kept[n]), clip_norm)
    for a in range(D):
        for b in range(D):
            for n in range(LANES):
                total[a, b, n] += kept[n] * terms[a, b, n]


@compiled
def _apply(left: np.ndarray, terms: np.ndarray, image: np.ndarray) -> None:
    """left·term of each prompt of a group."""
    D = len(left)
    image[:] = 0.0
    for a in range(D):
        for b in range(D):
            for c in range(D):
                for n in range(LANES):
                    image[a, b, n] += left[a, c] * terms[c, b, n]
