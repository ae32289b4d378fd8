"""What a record is: how the noise of DP-SGD grows with the length of prompts, by prompt and by pair."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from chapters.noisyhead.dp_sgd.cell import Cell
from companion.streams import generator
from costofprivacy.noisyhead import head, recipes
from costofprivacy.noisyhead.prompts import PromptModel
from costofprivacy.privacy import ApproximateDP
from costofprivacy.privacy.subsampled import Neighbours, poisson_noise_multiplier
from costofprivacy.settings import Setting

PROMPT, PAIR = "a prompt is a record", "a pair is a record"
SWAPPED = 1000  # prompts that are replaced, all their pairs at once


def by_length(lengths: Sequence[int], cell: Cell, seed: int) -> pd.DataFrame:
    """Noise of a step of DP-SGD over NoisyHead's, both exactly composed for the same relation, at each length.

    Where a pair is a record, a prompt is a group of L + 1 of them: the noise that protects the group is L + 1 times
    that of one (exactly so for Gaussians). ``moved`` is the largest distance, in clip norms, by which a step's sum of
    gradients was seen to move when a whole prompt was replaced; 2 is the most that clipping by prompt allows.
    """
    budget, rows = ApproximateDP(max(cell.epsilon), cell.delta), []
    for L in lengths:
        model = PromptModel(cell.D, L, cell.label_noise)
        hyper = recipes.low_dimension(model, cell.N, cell.failure, cell.penalty)[Setting.PUBLISHED]
        sampled = poisson_noise_multiplier(budget, cell.batch / cell.N, hyper.steps, Neighbours.REPLACE) / cell.batch
        whole = poisson_noise_multiplier(budget, 1.0, hyper.steps, Neighbours.REPLACE) / cell.N
        moved = _moved(model, hyper.sigma / 2, hyper.weight_bound, generator(seed, L, 0))
        for record, factor in ((PROMPT, 1), (PAIR, L + 1)):
            ratio = factor * sampled / whole
            rows.append({"L": L, "N": cell.N, "record": record, "steps": hyper.steps, "ratio": ratio, "moved": moved})
    return pd.DataFrame(rows)


def _moved(model: PromptModel, clip: float, radius: float, rng: np.random.Generator) -> float:
    """The largest distance between the clipped gradients of two whole prompts, over the clip norm."""
    Gamma = rng.standard_normal((model.D, model.D))
    Gamma *= radius / np.linalg.norm(Gamma)
    raw, _ = head.sample_statistics(model, 2 * SWAPPED, rng=rng)
    gradient = (head.predict(Gamma, raw) - raw.response)[:, None] * raw.Z.reshape(2 * SWAPPED, -1)
    clipped = gradient * np.minimum(1.0, clip / np.linalg.norm(gradient, axis=1))[:, None]
    return float(np.linalg.norm(clipped[:SWAPPED] - clipped[SWAPPED:], axis=1).max() / clip)
