"""What one update reveals: the bound (A.1), the exact sensitivity, and the largest change found."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from chapters.noisyhead.mechanism.cell import Cell
from companion.streams import generator
from costofprivacy.noisyhead import head, pretraining
from costofprivacy.noisyhead.hyperparameters import Hyperparameters
from costofprivacy.noisyhead.prompts import PromptModel, Prompts

FAR = 1e6  # a response that every clipping reaches
STREAM = 2**32  # beside the trials of a cell


def neighbour(L: int, token: np.ndarray, query: np.ndarray, response: float) -> Prompts:
    """A prompt with Z along ``query ⊗ token``: L equal tokens with far responses, and its query."""
    x = np.concatenate([np.tile(token, (L, 1)), query[None]])
    return Prompts(x[None], np.array([[*[FAR] * L, response]]), np.zeros((1, len(token))))


def together(drawn: Sequence[Prompts]) -> Prompts:
    """The prompts in one array."""
    return Prompts(*(np.concatenate([getattr(prompt, part) for prompt in drawn]) for part in ("x", "y", "w")))


def contributions(Gamma: np.ndarray, drawn: Prompts, hyper: Hyperparameters) -> np.ndarray:
    """(⟨Γ, Z̃⟩ − clip(y))Z̃ of each prompt, through the very clipping and projection of Algorithm 1; shape (n, D²)."""
    data = head.project(head.statistics(drawn, hyper.clip_norm), hyper.feature_bound)
    error = head.predict(Gamma, data) - data.response
    return error[:, None] * data.Z.reshape(len(error), -1)


def contribution(Gamma: np.ndarray, prompt: Prompts, hyper: Hyperparameters) -> np.ndarray:
    """That of one prompt, shape (D, D)."""
    return contributions(Gamma, prompt, hyper).reshape(Gamma.shape)


def diameter(points: np.ndarray) -> float:
    """The largest distance between two of n points, shape (n, p), by way of their n × n inner products.

    Of the pairs that these place within rounding of the largest, the distance is taken itself.
    """
    square = (points**2).sum(axis=1)
    apart = square[:, None] + square - 2 * points @ points.T
    first, second = np.nonzero(apart >= apart.max() - 1e-9 * square.max())
    return float(np.linalg.norm(points[first] - points[second], axis=1).max())


def measured(
    model: PromptModel, hyper: Hyperparameters, N: int, pairs: int, rng: np.random.Generator
) -> tuple[float, float]:
    """Change of one update: the largest over about ``pairs`` random pairs, and that of the pair built to be worst.

    Γ = R a bᵀ; prompts have their query at a, tokens in the plane of b and a normal c, responses at ±C.
    """
    frame, _ = np.linalg.qr(rng.standard_normal((model.D, model.D)))
    query, along, across = frame[:, 0], frame[:, 0], frame[:, 1]
    Gamma = hyper.weight_bound * np.outer(query, along)
    worst = pretraining.worst_angle(hyper)

    def largest(angles: np.ndarray) -> float:
        tokens = [math.cos(t) * along + math.sin(t) * across for t in angles]
        drawn = together([neighbour(model.L, token, query, y) for token in tokens for y in (-FAR, FAR)])
        return hyper.learning_rate / N * diameter(contributions(Gamma, drawn, hyper))

    angles = rng.uniform(-math.pi, math.pi, max(2, math.isqrt(pairs // 2)))
    return largest(angles), largest(np.array([worst, -worst]))


def rows(cell: Cell, pairs: int, seed: int) -> list[dict[str, object]]:
    """One row a setting; every setting is tried with the same pairs."""
    found_rows = []
    for setting, hyper in cell.settings.items():
        found, built = measured(cell.model, hyper, cell.N, pairs, generator(seed, cell.N, STREAM))
        told = {"clip_norm": hyper.clip_norm, "feature_bound": hyper.feature_bound, "weight_bound": hyper.weight_bound}
        bounds = {
            "bound": pretraining.update_sensitivity(hyper, cell.N),
            "exact": pretraining.update_sensitivity_exact(hyper, cell.N),
        }
        reached = {"largest_found": found, "constructed": built}
        found_rows.append({"setting": str(setting), "N": cell.N} | told | bounds | reached)
    return found_rows
