"""One training-set size, and what Algorithm 1 is told at it in each setting."""

from __future__ import annotations

from dataclasses import dataclass

from costofprivacy.noisyhead import recipes
from costofprivacy.noisyhead.hyperparameters import Hyperparameters
from costofprivacy.noisyhead.prompts import PromptModel
from costofprivacy.settings import Setting


@dataclass(frozen=True)
class Cell:
    """N prompts with L = ⌊√N⌋, as in section 6.1."""

    N: int
    D: int
    failure: float
    penalty: float
    label_noise: float

    @property
    def key(self) -> int:
        """N names the random stream."""
        return self.N

    @property
    def model(self) -> PromptModel:
        """The law of the prompts."""
        return recipes.square_model(self.D, self.N, self.label_noise)

    @property
    def settings(self) -> dict[Setting, Hyperparameters]:
        """What Algorithm 1 is told in each setting."""
        return recipes.low_dimension(self.model, self.N, self.failure, self.penalty)
