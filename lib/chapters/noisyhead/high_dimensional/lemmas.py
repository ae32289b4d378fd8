"""Lemmas A.1 to A.3 as measured events: the level that a share 1 − κ of the data sets respects, over the lemma's."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import integrate, special, stats

from companion.streams import Runner
from costofprivacy.noisyhead import bounds, prompts
from costofprivacy.noisyhead.prompts import PromptModel

SIZES = ((1, 50, 5), (1, 400, 20), (100, 10, 10), (400, 20, 20), (900, 30, 30), (400, 20, 2), (400, 20, 5))  # N, L, D
LABEL_NOISE = 0.5
LEVELS = (bounds.response_level, bounds.feature_sum_level, bounds.product_sum_level)
NAMES = ("A.1", "A.2", "A.3")
CHUNK = 100  # prompts drawn at a time
DIMENSIONS = (2, 5, 10, 20, 50, 100)
SUM_DIMENSIONS = (2, 5, 20, 100)
LEVELS_OF_SUMS = {1: (1.0, 2.0, 3.0, 4.0), 30: (1.0, 2.0, 3.0, 4.0), math.inf: (1.0, 2.0, 4.0, 8.0, 16.0)}  # t by L


@dataclass(frozen=True)
class Cell:
    """One (N, L, D)."""

    N: int
    L: int
    D: int

    @property
    def key(self) -> int:
        """(N, L, D) names the random stream."""
        return (self.N * 10**4 + self.L) * 10**4 + self.D

    @property
    def model(self) -> PromptModel:
        """The law of a prompt."""
        return PromptModel(self.D, self.L, LABEL_NOISE)


def trial(cell: Cell, *, rng: np.random.Generator) -> np.ndarray:
    """Max |y|, max_k ‖Σ_i x_{k,i}‖ and ‖Σ_{k,i} x_{k,L+1}x_{k,i}ᵀ‖_F of one data set, shape (3,)."""
    largest, longest, total = 0.0, 0.0, np.zeros((cell.D, cell.D))
    for first in range(0, cell.N, CHUNK):
        drawn = prompts.sample(cell.model, min(CHUNK, cell.N - first), rng=rng)
        sums = drawn.x[:, :-1].sum(axis=1)
        largest = max(largest, np.abs(drawn.y[:, :-1]).max())
        longest = max(longest, np.linalg.norm(sums, axis=1).max())
        total += drawn.x[:, -1].T @ sums
    return np.array([largest, longest, np.linalg.norm(total)])


def measure(trials: int, failure: float, runner: Runner, seed: int) -> pd.DataFrame:
    """How often each lemma's event fails with the constants one and √2, and the constant that its data sets need.

    ``constant`` is the (1 − κ) quantile of the left side over the lemma's form, from the data sets;
    ``largest`` is the maximum over all of them.
    """
    rows = []
    for cell, values in runner.run(trial, [Cell(*size) for size in SIZES], trials, seed).items():
        for name, level, left in zip(NAMES, LEVELS, values.T, strict=True):
            ratio = left / level(cell.model, cell.N, failure)
            row = {"lemma": name, "N": cell.N, "L": cell.L, "D": cell.D}
            row |= {"fails_at_1": int((ratio > 1).sum()), "fails_at_root_2": int((ratio > math.sqrt(2)).sum())}
            row |= {"constant": np.quantile(ratio, 1 - failure), "largest": ratio.max(), "data_sets": trials}
            rows.append(row | {"kappa": failure})
    return pd.DataFrame(rows)


def single_prompt_tail() -> pd.DataFrame:
    """The constant that Lemma A.3 needs at N = 1 and κ = e^{−D²}, exactly, as L → ∞, for growing D.

    There ‖Σ_i vec(x_{L+1}x_iᵀ)‖² = ‖Σ x_i‖² with D‖Σ x_i‖²/L → χ²_D in law. Beside it the constant that the form of
    Lemma A.2, √L(1 + D^{-1/2}√log(1/κ)), needs.
    """
    rows = []
    for D in DIMENSIONS:
        square = math.sqrt(stats.chi2.isf(math.exp(-(D**2)), D) / D) if D**2 < 700 else _far_quantile(D)
        rows.append({"D": D, "constant_A3": square / 2, "constant_A2_form": square / (1 + math.sqrt(D))})
    return pd.DataFrame(rows)


def _far_quantile(D: int) -> float:
    """√(q/D) with P(χ²_D > q) = e^{−D²}, where that underflows: Laplace's continued fraction to leading order, solved.

    log P = (D/2 − 1)log(q/2) − q/2 − log Γ(D/2) − log(1 − (D − 2)/q) + o(1), and q is of the order 2D².
    """
    half = D / 2
    q = 2.0 * D**2
    for _ in range(100):
        q = 2 * (D**2 + (half - 1) * math.log(q / 2) - math.lgamma(half) - math.log1p(-(D - 2) / q))
    return math.sqrt(q / D)


def sum_tails() -> pd.DataFrame:
    """P(|aᵀ Σ x_i| > √(L/D) t) for a unit vector a, over e^{−t²} as printed, and over 2e^{−t²/2}.

    A coordinate of a uniform unit vector is sub-Gaussian with its own variance 1/D, so that the second is at most one
    at every D, L and t. As L → ∞ the sum is normal in law.
    """
    rows = []
    for D in SUM_DIMENSIONS:
        for L, levels in LEVELS_OF_SUMS.items():
            for t in levels:
                tail = _sum_tail(D, L, t)
                shares = {"over_printed": tail / math.exp(-t * t), "over_halved": tail / (2 * math.exp(-t * t / 2))}
                rows.append({"D": D, "L": float(L), "t": t, "probability": tail} | shares)
    return pd.DataFrame(rows)


def _sum_tail(D: int, L: float, t: float) -> float:
    if math.isinf(L):
        return float(special.erfc(t / math.sqrt(2)))
    if L == 1:  # the square of a coordinate has the law Beta(1/2, (D − 1)/2)
        return float(stats.beta.sf(min(1.0, t * t / D), 0.5, (D - 1) / 2))
    order, level = D / 2 - 1, math.sqrt(L / D) * t

    def integrand(u: float) -> float:
        """sin(su)/u times the characteristic function of the sum, Γ(D/2)(2/u)^n J_n(u) to the power L, n = D/2 − 1."""
        return math.sin(level * u) / u * float(special.gamma(D / 2) * (2 / u) ** order * special.jv(order, u)) ** L

    end = 14 * math.sqrt(D / L)  # beyond it the characteristic function is below 1e-12 of one
    inside, _ = integrate.quad(integrand, 1e-12, end, limit=2000, epsabs=1e-14)
    return 1 - 2 / math.pi * inside
