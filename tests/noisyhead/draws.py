"""The prompts that several modules of these tests draw."""

import numpy as np

from costofprivacy.noisyhead.prompts import PromptModel, Prompts, sample

MODEL = PromptModel(3, 12, 0.4)


def drawn(count: int, seed: int = 0, model: PromptModel = MODEL) -> Prompts:
    return sample(model, count, rng=np.random.default_rng(seed))
