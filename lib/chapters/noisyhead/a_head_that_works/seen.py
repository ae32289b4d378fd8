"""One draw of prompts as each method of the ladder sees it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from costofprivacy.noisyhead import head
from costofprivacy.noisyhead.examples import Examples, examples
from costofprivacy.noisyhead.head import Moments, Statistics
from costofprivacy.noisyhead.prompts import PromptModel, Prompts
from costofprivacy.noisyhead.token_laws import TokenLaw
from costofprivacy.privacy import ApproximateDP, GaussianDP
from costofprivacy.rivals.bounds import Bounds


@dataclass(frozen=True, eq=False)
class Seen:
    """N prompts and a budget.

    Args:
        law: of the features, for what is public of it. prompts: the data. budget: (ε, δ).
    """

    law: TokenLaw
    prompts: Prompts
    budget: ApproximateDP

    @property
    def N(self) -> int:
        """Prompts."""
        return len(self.prompts.y)

    @property
    def model(self) -> PromptModel:
        """What the paper supposes of them: D and L, isotropic."""
        return PromptModel(self.law.D, self.prompts.y.shape[1] - 1)

    @property
    def mu(self) -> GaussianDP:
        """The budget as μ."""
        return self.budget.to_gaussian()

    def bounded(self, clip_norm: float, feature_bound: float) -> Moments:
        """Moments of responses clipped at C and Z projected at G."""
        return head.moments(head.project(head.statistics(self.prompts, clip_norm), feature_bound))

    @cached_property
    def statistics(self) -> Statistics:
        """Raw."""
        return head.statistics(self.prompts)

    @cached_property
    def Z(self) -> np.ndarray:
        """vec Z, shape (N, D²)."""
        return self.statistics.Z.reshape(self.N, -1)

    def shortened(self, bound: float) -> np.ndarray:
        """vec Z, rows brought to a norm of ``bound`` where they are longer, shape (N, D²)."""
        if bound not in self._short:
            self._short[bound] = Bounds(bound, 1.0).clip(self.Z, self.statistics.response)[0]
        return self._short[bound]

    @cached_property
    def _short(self) -> dict[float, np.ndarray]:
        return {}

    def examples(self, *, every_token: bool) -> Examples:
        """For `whitened_descent`."""
        return examples(self.prompts, every_token=every_token)
