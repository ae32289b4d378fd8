r"""Linear regression on prompts that share one coefficient vector: what the privacy of a prompt (Definition 3.1) costs.

Prompt k holds L pairs (x, y) with x uniform on the unit sphere and y = ⟨w, x⟩ + τξ, and w is the same in all N prompts.

**Mechanism.** Clip D/L Σ yx of each prompt at r; their mean over the prompts plus N(0, (2r/(Nμ₁))² I) is w₁. Clip
D/L Σ (y − ⟨w₁, x⟩)x at c; their mean plus N(0, (2c/(Nμ₂))² I), added to w₁, is the release.

**Guarantee.** √(μ₁² + μ₂²)-Gaussian DP for replacing one prompt: each mean moves by at most 2r/N or 2c/N, and Gaussian
mechanisms compose adaptively by the sum of squares.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import norm, poisson

from companion import _fits
from companion.streams import Runner
from costofprivacy.privacy import ApproximateDP

SIZES = (1000, 2000, 4000, 8000)  # N at which the mechanism is run; L = ⌊√N⌋
FAR = tuple(10**k for k in range(5, 31, 5))  # N at which its closed form is followed
TRIALS = 20
CONSTANT, SMALL, NONE = "1", "L^(-1/2)", "none"  # τ; without label noise one prompt alone gives w exactly
FAILURE = 0.01  # κ of each of the events under which no clip acts


@dataclass(frozen=True)
class Cell:
    """N prompts of L = ⌊√N⌋ pairs with one coefficient vector."""

    N: int
    D: int
    epsilon: float
    delta: float
    noise: str = CONSTANT

    @property
    def key(self) -> int:
        """N names the random stream."""
        return self.N

    @property
    def L(self) -> int:
        """Pairs in a prompt."""
        return math.isqrt(self.N)

    @property
    def label_noise(self) -> float:
        """Standard deviation τ of the label noise."""
        return {CONSTANT: 1.0, SMALL: self.L**-0.5, NONE: 0.0}[self.noise]

    @property
    def share(self) -> float:
        """μ₁ = μ₂ = μ/√2 of each stage."""
        return ApproximateDP(self.epsilon, self.delta).to_gaussian().mu / math.sqrt(2)

    @property
    def bounds(self) -> tuple[float, float, float]:
        """The clips r and c and what bounds ‖w − w₁‖; all hold, and no clip acts, but with probability at most 5κ."""
        D, pairs, tail = self.D, self.N * self.L, math.sqrt(2 * math.log(1 / FAILURE))
        longest = math.sqrt(D) + tail  # ‖w‖
        token = self.label_noise * D / math.sqrt(self.L) * (1 + math.sqrt(2 * math.log(self.N / FAILURE)))
        first = D * longest + token
        sampled = (math.sqrt(D - 1) + D * tail) * longest + self.label_noise * D * (1 + tail)
        away = sampled / math.sqrt(pairs) + 2 * first / (self.N * self.share) * longest
        return first, D * away + token, away

    @property
    def noise_stds(self) -> tuple[float, float]:
        """Standard deviation of the noise of each stage."""
        first, second = (2 * clip / (self.N * self.share) for clip in self.bounds[:2])
        return first, second

    @property
    def upper(self) -> float:
        """What the release costs: the noise of its second stage, and E‖Σ A_k/N − I‖²‖w − w₁‖²/D without that noise."""
        return self.noise_stds[1] ** 2 + (self.D - 1) / (self.N * self.L) * self.bounds[2] ** 2

    @property
    def lower(self) -> float:
        """No private release is nearer to least squares for every w, in squared prediction: see the page's lemma.

        The largest of the lemma's bounds over a few shifts, shares of a shift and numbers of prompts, for balanced
        prompts, Σ xxᵀ = (L/D)I.
        """
        best = 0.0
        for shift in np.geomspace(0.5, 64, 29):
            a = shift / (self.epsilon * self.N)
            different, moved = maximal_coupling(a)
            variance = moved * different / (self.N * a**2) - 1 / self.N
            expected = self.N * different
            for theta in (0.3, 0.5, 0.7):
                far = 1 - variance / (variance + (1 - theta) ** 2)
                m = np.arange(math.ceil(expected) + 1, math.ceil(3 * expected) + 20)
                grown = np.exp(m * self.epsilon)
                sure = (far - poisson.sf(m, expected) - m * grown * self.delta) / (1 + grown)
                best = max(best, (theta * a / 2) ** 2 * sure.max())
        return self.label_noise**2 / self.L * best


def maximal_coupling(a: float) -> tuple[float, float]:
    """P(X ≠ X') and E[(X' − X)² | X ≠ X'] of the maximal coupling of X from N(0, 1) and X' from N(a, 1).

    Where they differ, X and X' are independent, X below a/2 and X' above it.
    """
    different = math.erf(a / math.sqrt(8))
    mean = a * norm.cdf(a / 2) / different
    square = 1 + (a * norm.pdf(a / 2) + a**2 * norm.cdf(a / 2)) / different
    return different, float(2 * (square - mean**2) + (2 * mean - a) ** 2)


def trial(cell: Cell, *, rng: np.random.Generator) -> np.ndarray:
    """Squared distance in prediction of one private release to least squares on all pairs, shape (1,)."""
    N, L, D = cell.N, cell.L, cell.D
    w = rng.standard_normal(D)
    x = rng.standard_normal((N, L, D))
    x /= np.linalg.norm(x, axis=2, keepdims=True)
    y = x @ w + cell.label_noise * rng.standard_normal((N, L))
    (first, second, _), stds = cell.bounds, cell.noise_stds
    start = _clipped_mean(x, y, first) + stds[0] * rng.standard_normal(D)
    found = start + _clipped_mean(x, y - x @ start, second) + stds[1] * rng.standard_normal(D)
    flat = x.reshape(-1, D)
    best = np.linalg.solve(flat.T @ flat, flat.T @ y.ravel())
    return np.array([np.sum((found - best) ** 2) / D])


def _clipped_mean(x: np.ndarray, y: np.ndarray, clip: float) -> np.ndarray:
    """Mean over the prompts of D/L Σ yx, shortened to ``clip``."""
    D, L = x.shape[2], x.shape[1]
    every = D / L * np.einsum("kl,kld->kd", y, x)
    lengths = np.linalg.norm(every, axis=1, keepdims=True)
    return np.asarray((every * np.minimum(1, clip / lengths)).mean(axis=0))


def table(D: int, budget: ApproximateDP, runner: Runner, seed: int) -> pd.DataFrame:
    """The cost of the mechanism, run and in closed form, the lower bound, and both rates that Section 1.1 compares.

    The mechanism is run with label noise of constant size alone.
    """
    told = (D, budget.epsilon, budget.delta)
    near = [Cell(N, *told) for N in SIZES]
    far = [Cell(N, *told, noise) for noise in (CONSTANT, SMALL, NONE) for N in FAR]
    samples = runner.run(trial, near, TRIALS, seed)
    measured = {cell: _fits.mean_and_error(values[:, 0]) for cell, values in samples.items()}
    rows = []
    for cell in (*near, *far):
        cost, error = measured.get(cell, (math.nan, math.nan))
        N, L = float(cell.N), float(cell.L)
        budgeted = math.log(1 / cell.delta) / cell.epsilon**2
        rows.append(
            {
                "label_noise": cell.noise,
                "N": N,
                "L": L,
                "cost": float(cost),
                "standard_error": float(error),
                "upper": cell.upper,
                "lower": cell.lower,
                "expected": budgeted / (N * L) ** 2,
                "claimed": budgeted / (N**1.5 * L**2),
            }
        )
    return pd.DataFrame(rows)
