"""The prompts that several modules of these tests draw."""

import numpy as np

from costofprivacy.noisyhead import head
from costofprivacy.noisyhead.head import Statistics
from costofprivacy.noisyhead.prompts import PromptModel, Prompts, sample

MODEL = PromptModel(3, 12, 0.4)


def drawn(count: int, seed: int = 0, model: PromptModel = MODEL) -> Prompts:
    return sample(model, count, rng=np.random.default_rng(seed))


def token_by_token(
    model: PromptModel, N: int, clip_norm: float = np.inf, *, rng: np.random.Generator
) -> tuple[Statistics, Statistics]:
    """`head.sample_statistics` of prompts whose every token is drawn, for tests that look at the tokens."""
    prompts = sample(model, N, rng=rng)
    return head.statistics(prompts), head.statistics(prompts, clip_norm)
