"""Figure 3 with everything a trial needs: the settings, the runs of a trial, and the columns that it returns."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from chapters.noisyhead.early_stopping.closed_forms import Run
from costofprivacy.noisyhead import recipes
from costofprivacy.noisyhead.accounts import ACCOUNTS, ALGORITHM, EVERY, noise_std
from costofprivacy.noisyhead.hyperparameters import Hyperparameters
from costofprivacy.noisyhead.prompts import PromptModel
from costofprivacy.privacy import ApproximateDP
from costofprivacy.settings import Setting

SHARE = {Setting.PRINTED: 0.02 / 3, Setting.PUBLISHED: 0.02 / 3}  # η₀ (λ + G²)²/λ
RANDOM, ZERO = "random", "zero"  # Γ⁰: entries N(0, 0.1²), or 0
RUNS: tuple[tuple[Setting, str, tuple[str, ...]], ...] = (
    (Setting.PRINTED, ZERO, (ALGORITHM,)),
    (Setting.PUBLISHED, RANDOM, ACCOUNTS),
    (Setting.PUBLISHED, ZERO, ACCOUNTS),
    (Setting.CORRECTED, ZERO, (EVERY,)),
)
LATER = tuple(range(600, 3001, 200))  # steps at which descent without noise is followed further


@dataclass(frozen=True)
class Cell:
    """Figure 3 with everything a trial needs."""

    N: int
    T: tuple[int, ...]
    epsilon: float
    delta: float
    failure: float
    label_noise: float
    test_prompts: int

    @property
    def key(self) -> int:
        """N names the random stream."""
        return self.N

    @cached_property
    def model(self) -> PromptModel:
        """D = L = ⌊√N⌋."""
        return recipes.overparametrised_model(self.N, self.label_noise)

    @cached_property
    def penalty(self) -> float:
        """λ = N/D."""
        return recipes.high_dimension_penalty(self.N)

    @cached_property
    def budget(self) -> ApproximateDP:
        """(ε, δ)."""
        return ApproximateDP(self.epsilon, self.delta)

    @cached_property
    def hyper(self) -> dict[Setting, Hyperparameters]:
        """What Algorithm 1 is told in each setting; T comes with the run."""
        return recipes.high_dimension(self.model, self.N, self.failure, SHARE, max(self.T))

    @property
    def published(self) -> Run:
        """The algorithm behind the published numbers, for its closed forms."""
        return Run(self.hyper[Setting.PUBLISHED], self.model, self.N)

    @property
    def later(self) -> tuple[int, ...]:
        """T of the noiseless twin, the figure's and further ones."""
        return (*self.T, *(T for T in LATER if max(self.T) < T))

    @cached_property
    def noise(self) -> dict[tuple[Setting, tuple[str, ...]], np.ndarray]:
        """Standard deviation of an entry of z_t for each account and T, by setting and accounts."""
        return {(setting, accounts): self.stds(setting, accounts) for setting, _, accounts in RUNS}

    def stds(self, setting: Setting, accounts: tuple[str, ...]) -> np.ndarray:
        """Standard deviation of an entry of z_t for each account and T, in this order."""
        hyper = self.hyper[setting]
        return np.array([noise_std(account, hyper, self.budget, self.N, T) for account in accounts for T in self.T])

    @cached_property
    def ranks(self) -> np.ndarray:
        """Which of the distinct T in ascending order each T is."""
        return np.unique(self.T, return_inverse=True)[1]

    @cached_property
    def columns(self) -> pd.DataFrame:
        """(setting, start, account, method, T) of each number that a trial returns."""
        rows: list[dict[str, object]] = []
        for setting, start, accounts in RUNS:
            run = {"setting": str(setting), "start": start}
            rows += [run | {"account": account, "method": "noisyhead", "T": T} for account in accounts for T in self.T]
            rows += [run | {"account": "", "method": "gradient-descent", "T": T} for T in self.later]
        none = {"setting": "", "start": "", "account": "", "T": 0}
        return pd.DataFrame([*rows, none | {"method": "zero"}, none | {"method": "ridge"}])
