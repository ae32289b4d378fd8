"""One trial of Figure 2: all methods in all settings on one draw of prompts, D = L = ⌊√N⌋."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd

from chapters.noisyhead import authors
from costofprivacy.noisyhead import accounts, head, population, pretraining, recipes
from costofprivacy.noisyhead.curvature import ProductMoments
from costofprivacy.noisyhead.hyperparameters import Hyperparameters
from costofprivacy.noisyhead.prompts import PromptModel
from costofprivacy.noisyhead.ridge import ridge
from costofprivacy.privacy import ApproximateDP
from costofprivacy.settings import Setting

RATES = {Setting.PRINTED: 0.07, Setting.PUBLISHED: 0.1 * 2 / 3}  # η₀ (λ + G²)²/λ
RANDOM, ZERO = "random", "zero"  # Γ⁰: entries N(0, 0.1²), or 0
VARIANTS = (
    (Setting.PRINTED, ZERO),
    (Setting.PUBLISHED, RANDOM),
    (Setting.PUBLISHED, ZERO),
    (Setting.CORRECTED, ZERO),
)


@dataclass(frozen=True)
class Cell:
    """One training-set size with everything a trial needs."""

    N: int
    epsilon: tuple[float, ...]
    delta: float
    delta_published: float
    failure: float
    T: int
    label_noise: float
    test_prompts: int

    @property
    def key(self) -> int:
        """N names the random stream, so a size gives the same numbers in whichever list it stands."""
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
    def hyper(self) -> dict[Setting, Hyperparameters]:
        """What Algorithm 1 is told in each setting."""
        return recipes.high_dimension(self.model, self.N, self.failure, RATES, self.T)

    @cached_property
    def noise(self) -> dict[Setting, tuple[float, ...]]:
        """Standard deviation of the noise for each ε in each setting."""
        return {
            s: tuple(
                accounts.setting_noise_std(s, hyper, ApproximateDP(e, self._delta(s)), self.N) for e in self.epsilon
            )
            for s, hyper in self.hyper.items()
        }

    def _delta(self, setting: Setting) -> float:
        return self.delta_published if setting == Setting.PUBLISHED else self.delta

    @cached_property
    def columns(self) -> pd.DataFrame:
        """(setting, start, ε, method) of each number that a trial returns; ε is NaN where a method has none."""
        methods = [*((e, "noisyhead") for e in self.epsilon), (np.nan, "gradient-descent")]
        rows = [(str(s), start, e, method) for s, start in VARIANTS for e, method in methods]
        rows += [("", "", np.nan, "zero"), ("", "", np.nan, "ridge")]
        return pd.DataFrame(rows, columns=["setting", "start", "epsilon", "method"])


def trial(cell: Cell, *, rng: np.random.Generator) -> np.ndarray:
    """One draw of training and test prompts, all methods on it: shape (2, columns), excess risk and test error.

    All variants share Γ⁰ and the directions of the noise.
    """
    model, shape = cell.model, (cell.model.D, cell.model.D)
    clip = cell.hyper[Setting.PRINTED].clip_norm
    raw, clipped = head.sample_statistics(model, cell.N, clip, rng=rng)
    test, _ = head.sample_statistics(model, cell.test_prompts, rng=rng)
    start = authors.INITIAL_STD * rng.standard_normal(shape)
    stream = int(rng.integers(2**63))
    seen = ProductMoments(raw)
    reference = ridge(seen, cell.penalty)
    weights = []
    for setting, begins in VARIANTS:
        hyper, initial = cell.hyper[setting], start if begins == RANDOM else None
        data = ProductMoments(head.project(clipped, hyper.feature_bound))
        free = replace(hyper, weight_bound=recipes.FREE)
        noise = np.random.default_rng(stream)
        weights += [
            *pretraining.pretrain(data, hyper, cell.noise[setting], rng=noise, initial=initial),
            *pretraining.pretrain(seen, free, [0.0], rng=noise, initial=initial),
        ]
    Gamma = np.stack([*weights, np.zeros(shape), reference])
    return np.stack([head.mean_square(Gamma - reference, test), population.prediction_error(model, Gamma)])
