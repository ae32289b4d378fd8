"""One law of the prompts: a size, and a covariance whose axes nobody knows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from costofprivacy.noisyhead import elliptical, hyperparameters
from costofprivacy.noisyhead.prompts import PromptModel, Prompts


@dataclass(frozen=True)
class Law:
    """Prompts of L = ⌊√N⌋ tokens in D dimensions, with a covariance of some condition number; no label noise."""

    N: int
    D: int
    condition: float

    @property
    def L(self) -> int:
        """Labelled tokens of a prompt."""
        return math.isqrt(self.N)

    @cached_property
    def values(self) -> np.ndarray:
        """Eigenvalues of the covariance: they are public, its axes are not."""
        return elliptical.spectrum(self.D, self.condition)

    def draw(self, axes: np.ndarray, N: int, *, rng: np.random.Generator) -> Prompts:
        """N prompts whose covariance has these axes."""
        root = elliptical.matrix(axes, np.sqrt(self.values))
        return elliptical.sample(root, self.L, N, rng=rng)

    def clip_norm(self) -> float:
        """C of Theorem 4.1 with κ = 1: where NoisyHead clips responses."""
        return hyperparameters.clip_norm(PromptModel(self.D, self.L), self.N, 1.0)
