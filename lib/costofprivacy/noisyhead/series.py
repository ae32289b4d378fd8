r"""Algorithm 1 while Π_R is idle, as a series in powers of H: every T and noise level from one stream, no eigenbasis.

Write a = 1 − 2λη₀ and M = aI − η₀H. Without Π_R, Γ^T = M^TΓ⁰ + Σ_{t<T} M^t η₀b + s Σ_{t≤T} M^{T−t}z_t for noise of
standard deviation s. By the binomial theorem M^t = Σ_j C(t, j) a^{t−j} (−η₀H)^j, so

.. math:: \Gamma^T = \sum_j (-\eta_0 H)^j\big(\alpha_{Tj}\Gamma^0 + \beta_{Tj}\,b + s\,\nu_{Tj}\big),\qquad
    \nu_{t+1,j} = a\,\nu_{tj} + \nu_{t,j-1},\quad \nu_{t+1,0} = a\,\nu_{t0} + z_{t+1},

with numbers α_{Tj} = C(T, j)a^{T−j}, β_{Tj} = η₀ Σ_{t<T} C(t, j)a^{t−j} and vectors ν_{Tj} that know nothing of the
data. The ridge solution is such a series too: Γ* = Σ_j (−H)^j b/λ^{j+1}.

*How many terms.* Let ρ = ‖H‖/(2λ) and η₀‖H‖ ≤ a. What the first J terms leave of M^t has norm at most
C(t, J) a^{t−J}(η₀‖H‖)^J (Taylor's remainder of (a − x)^t, 0 ≤ x ≤ a), and C(t, J) a^{t−J}(1 − a)^J is the probability
of J successes in t trials: with 1 − a = 2λη₀ the remainder is at most ρ^J of what M^t is applied to. Where λ = N/D,
ρ is a few 1e-5 and three terms do. ∎

*When Π_R is idle.* Let g_t be the first term of the series, the path with H = 0 in M. Then e_t = Γ^t − g_t obeys
e_{t+1} = Me_t − η₀Hg_t with ‖M‖ ≤ a, so ‖Γ^t‖ ≤ (1 + ρ) max_{u≤t} ‖g_u‖: if that stays within R, no iterate is ever
projected. ∎ The norms of all g_u, for every s, follow from ‖ν_u‖² and ⟨ν_u, Γ⁰⟩, ⟨ν_u, b⟩.

Nothing here is a release: these are experiments on many configurations at once. `pretraining.pretrain` is the literal
form; on `head.Moments` it takes the same numbers from the same stream, and serves where Π_R is not idle.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import binom

from costofprivacy._compiled import compiled
from costofprivacy.noisyhead.curvature import ProductMoments
from costofprivacy.noisyhead.head import Statistics
from costofprivacy.noisyhead.hyperparameters import Hyperparameters

REMAINDER = 1e-12  # bound on the share that the terms left out may have
LARGEST_RATIO = 0.1  # of ‖H‖ to 2λ for which the series is used: a dozen terms


Rows = Callable[[np.ndarray], np.ndarray]


def same(rows: np.ndarray) -> np.ndarray:
    """The identity."""
    return rows


@dataclass(frozen=True, eq=False)
class Training:
    """N prompts and a start: H is applied, never formed, in 4ND² operations.

    Args:
        data: the N statistics.
        start: Γ⁰ as a vector, shape (D²,).
        image: a linear map of rows (B, D²) ↦ (B, q): what is wanted of the weights. The series is linear, so the map
            is applied to its few vectors, not to the weights of every configuration.
    """

    data: Statistics
    start: np.ndarray
    image: Rows = same

    @cached_property
    def moments(self) -> ProductMoments:
        """H and b of the prompts."""
        return ProductMoments(self.data)

    @cached_property
    def bound(self) -> float:
        """A bound on ‖H‖: max ‖x_k‖² times the largest eigenvalue of N⁻¹ Σ m_k m_kᵀ.

        H = N⁻¹ Σ (x_k x_kᵀ) ⊗ (m_k m_kᵀ), and x_k x_kᵀ ≤ ‖x_k‖² I.
        """
        query, context = self.data.query, self.data.context
        longest = np.einsum("nd,nd->n", query, query).max()
        return float(longest * np.linalg.eigvalsh(context.T @ context / len(context))[-1])

    @cached_property
    def _Z(self) -> np.ndarray:
        return self.data.Z.reshape(len(self.data.response), -1)

    def times(self, Gamma: np.ndarray) -> np.ndarray:
        """HΓ for many rows, shape (B, D²): by the rows vec(Z_k), which are worth forming here."""
        return (Gamma @ self._Z.T) @ self._Z / len(self._Z)

    @cached_property
    def _powers(self) -> list[np.ndarray]:
        return [np.stack([self.start, self.moments.cross])]

    @cached_property
    def _images(self) -> list[np.ndarray]:
        return [self.image(self.ends)]

    @property
    def ends(self) -> np.ndarray:
        """Γ⁰ and b, shape (2, D²)."""
        return self._powers[0]

    def powers(self, count: int) -> np.ndarray:
        """Images of H^jΓ⁰ and H^jb for j < J = ``count``, shape (J, 2, q); each is computed once."""
        while len(self._images) < count:
            self._powers.append(self.moments.times(self._powers[-1]))
            self._images.append(self.image(self._powers[-1]))
        return np.stack(self._images[:count])

    def ridge(self, penalty: float) -> np.ndarray:
        """Image of Γ* for penalty λ, shape (q,)."""
        count = terms(self.bound / penalty)
        return (-1.0 / penalty) ** np.arange(count) / penalty @ self.powers(count)[:, 1]

    def descent(self, hyper: Hyperparameters, steps: Sequence[int], share: float = 1.0) -> np.ndarray:
        """Images of Algorithm 1 without noise and without Π_R from share·Γ⁰, each T of ``steps``: (len(steps), q)."""
        count = terms(ratio(self, hyper))
        start, cross = coefficients(hyper, steps, count)
        powers = self.powers(count)
        return share * start @ powers[:, 0] + cross @ powers[:, 1]

    def noise(self, rates: Sequence[float], sums: Sequence[np.ndarray]) -> np.ndarray:
        """Images of what unit noise leaves in Γ^T, Σ_j (−η₀H)^j ν_{Tj} by Horner's rule, for S settings at once.

        Args:
            rates: η₀ of each. sums: ν of each, shape (J, B, D²).

        Returns:
            shape (S, B, q).
        """
        nu, rate = np.stack(sums, axis=1), np.array(rates)[:, None, None]
        rows, total = (-1, nu.shape[-1]), nu[-1]
        for before in nu[-2::-1]:
            total = before - rate * self.times(total.reshape(rows)).reshape(total.shape)
        return self.image(total.reshape(rows)).reshape(*total.shape[:2], -1)


def ratio(training: Training, hyper: Hyperparameters) -> float:
    """A bound on ρ = ‖H‖/(2λ); ∞ where the series is not to be used, ρ above `LARGEST_RATIO` or η₀‖H‖ above a."""
    found = training.bound / (2 * hyper.penalty)
    usable = found <= LARGEST_RATIO and hyper.learning_rate * training.bound <= shrink(hyper)
    return found if usable else math.inf


def terms(ratio: float) -> int:
    """The least J ≥ 1 with ρ^J ≤ `REMAINDER`.

    >>> terms(4e-5)
    3
    """
    return max(1, math.ceil(math.log(REMAINDER) / math.log(max(ratio, REMAINDER))))


def shrink(hyper: Hyperparameters) -> float:
    """a = 1 − 2λη₀."""
    return 1 - 2 * hyper.penalty * hyper.learning_rate


def coefficients(hyper: Hyperparameters, steps: Sequence[int], count: int) -> tuple[np.ndarray, np.ndarray]:
    """(−η₀)^j α_{Tj} and (−η₀)^j β_{Tj}, what H^jΓ⁰ and H^jb have in Γ^T: two of shape (len(steps), J).

    For H = h these are the coefficients of h^j in A(h) = (a − η₀h)^T and B(h) = η₀ Σ_{t<T} (a − η₀h)^t, a geometric
    sum: (2λ + h)B(h) = 1 − A(h), hence 2λB_j = [j = 0] − A_j − B_{j−1}.
    """
    T, j = np.asarray(steps, dtype=float)[:, None], np.arange(count)
    start = (-hyper.learning_rate) ** j * binom(T, j) * shrink(hyper) ** np.maximum(T - j, 0)
    cross, before = np.empty_like(start), -1.0
    for k in range(count):
        before = cross[:, k] = -(start[:, k] + before) / (2 * hyper.penalty)
    return start, cross


@dataclass(frozen=True, eq=False)
class Noise:
    """Unit noise added up along one path, for one a.

    Args:
        sums: ν_{Tj} for each T that was asked for, shape (J, len(steps), D²).
        squares: ‖ν_{t0}‖² for t = 1, 2, …, max T. products: ⟨ν_{t0}, Γ⁰⟩ and ⟨ν_{t0}, b⟩, shape (max T, 2).
    """

    sums: np.ndarray
    squares: np.ndarray
    products: np.ndarray


def noises(
    shrinks: Sequence[float],
    starts: Sequence[np.ndarray],
    steps: Sequence[int],
    count: int,
    *,
    rng: np.random.Generator,
) -> list[Noise]:
    """One stream of unit noise z_1, z_2, … added up for each a of ``shrinks``.

    Args:
        shrinks: a, S of them. starts: Γ⁰ and b beside each a, of shape (2, D²). steps: T, ascending. count: J.
        rng: source of the noise; advanced by max(steps)·D² normals.
    """
    found = _added(rng, np.array(shrinks), np.ascontiguousarray(starts), np.array(steps), count)
    return [Noise(*parts) for parts in zip(*found, strict=True)]


@compiled
def _added(
    rng: np.random.Generator, shrinks: np.ndarray, starts: np.ndarray, steps: np.ndarray, count: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The recursion of ν for every a, with what `Noise` keeps of it."""
    S, _, p = starts.shape
    nu, sums = np.zeros((S, count, p)), np.empty((S, count, len(steps), p))
    squares, products = np.empty((S, steps[-1])), np.empty((S, steps[-1], 2))
    z, row = np.empty(p), 0
    for t in range(steps[-1]):
        for i in range(p):
            z[i] = rng.standard_normal()
        for s in range(S):
            for j in range(count - 1, 0, -1):
                for i in range(p):
                    nu[s, j, i] = shrinks[s] * nu[s, j, i] + nu[s, j - 1, i]
            for i in range(p):
                nu[s, 0, i] = shrinks[s] * nu[s, 0, i] + z[i]
            squares[s, t] = np.dot(nu[s, 0], nu[s, 0])
            for k in range(2):
                products[s, t, k] = np.dot(nu[s, 0], starts[s, k])
        if t + 1 == steps[row]:
            for s in range(S):
                for j in range(count):
                    for i in range(p):
                        sums[s, j, row, i] = nu[s, j, i]
            row += 1
    return sums, squares, products


def idle(
    training: Training, hyper: Hyperparameters, noise: Noise, std: np.ndarray, steps: np.ndarray, share: float = 1.0
) -> np.ndarray:
    """Whether Π_R surely projects no iterate of a configuration, shape (B,): (1 + ρ) max ‖g_t‖ ≤ R, t ≤ T.

    Args:
        training: what the configurations see; they start at share·Γ⁰, within the ball. noise: theirs.
        std, steps: standard deviation of an entry of z_t and T of each configuration, shape (B,).
    """
    rho = ratio(training, hyper)
    if math.isinf(rho):
        return np.zeros(len(std), dtype=bool)
    start, cross = coefficients(hyper, range(1, len(noise.squares) + 1), 1)
    plain = np.hstack([share * start, cross])
    square = ((plain @ (training.ends @ training.ends.T)) * plain).sum(axis=1)
    mixed = 2 * (plain * noise.products).sum(axis=1)
    longest = np.maximum.accumulate(square + std[:, None] * mixed + std[:, None] ** 2 * noise.squares, axis=1)
    return (1 + rho) ** 2 * longest[np.arange(len(std)), steps - 1] <= hyper.weight_bound**2
