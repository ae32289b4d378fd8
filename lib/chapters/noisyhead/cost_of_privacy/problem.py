"""One size of the problem, and what Algorithm 1 is told at it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from costofprivacy.noisyhead import hyperparameters, recipes
from costofprivacy.noisyhead.hyperparameters import Hyperparameters
from costofprivacy.noisyhead.prompts import PromptModel
from costofprivacy.settings import Setting


@dataclass(frozen=True)
class Size:
    """N prompts of L tokens in dimension D, with all that their law and the radii depend on."""

    N: int
    L: int
    D: int
    failure: float
    label_noise: float

    @property
    def key(self) -> int:
        """(N, L, D) names the random stream: the axes meet in common prompts."""
        return (self.N * 10**6 + self.L) * 10**3 + self.D

    @property
    def model(self) -> PromptModel:
        """The law of the prompts."""
        return PromptModel(self.D, self.L, self.label_noise)


@dataclass(frozen=True)
class Problem(Size):
    """A size with a penalty: what (2.6) and Algorithm 1 without noise need."""

    penalty: float

    @cached_property
    def hyper(self) -> dict[Setting, Hyperparameters]:
        """Theorem 4.1's hyperparameters, and the corrected ones, both with η₀ at 0.9 of its interval's end."""
        printed = recipes.theorem(self.model, self.N, self.failure, self.penalty)
        C, G = printed.clip_norm, hyperparameters.feature_bound_uniform(self.model, self.N, self.failure)
        R = hyperparameters.weight_bound_singular(C, self.penalty)
        rate = recipes.INTERVAL_SHARE * hyperparameters.learning_rate_interval(G, self.penalty)
        return {
            Setting.PRINTED: printed,
            Setting.CORRECTED: Hyperparameters(C, G, R, self.penalty / 2, rate, 1),
        }
