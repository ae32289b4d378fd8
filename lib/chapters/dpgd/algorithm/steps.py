"""The two ingredients of Proposition 4.1 of arXiv:2505.16329v2: what a step does to distances, and to a neighbour."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from costofprivacy.dpgd.update import adapted_rates, clipped_gradients, noiseless_step, step_sensitivities

DIMENSION = 5
CLIP_NORM = 1.0
FAR = 1e6  # a response that every clipping reaches
STEP = 1e-5  # of central differences
PRODUCTS = (0.25, 0.5, 1.0, 1.5, 1.9, 2.0, 2.1, 2.5, 3.0, 4.0)  # η‖x‖²
RELATIONS = ("replace one record", "remove one record")


def loss(theta: np.ndarray, x: np.ndarray, y: np.ndarray, learning_rate: np.ndarray, clip_norm: float) -> np.ndarray:
    """The loss (A.7) whose gradient step of length η is a step of Algorithm 1: quadratic, then linear, then shrunk."""
    residual = np.abs(np.einsum("...d,...d", x, theta) - y)
    limit = clip_norm / np.linalg.norm(x, axis=-1)
    huber = np.where(residual <= limit, residual**2 / 2, limit * residual - limit**2 / 2)
    return huber * adapted_rates(learning_rate, x) / learning_rate


def random_records(pairs: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Records of all lengths and responses, and learning rates on both sides of 2/‖x‖²."""
    x = rng.standard_normal((pairs, DIMENSION)) * 10.0 ** rng.uniform(-1, 1, (pairs, 1))
    y = rng.standard_normal(pairs) * 10.0 ** rng.uniform(-2, 2, pairs)
    rate = 10.0 ** rng.uniform(-2, 2, pairs) * 2 / (x**2).sum(axis=1)
    return x, y, rate


CHECKS = (
    "∇ of (A.7) by differences against the step over η, median",
    "‖∇‖ / C_clip, largest found",
    "smoothness · η/2, largest found",
    "smoothness · η/2, built",
    "expansion of a step, largest found",
)


def loss_checks(pairs: int, rng: np.random.Generator) -> pd.DataFrame:
    """(A.5) to (A.9) on random records and parameters: each ``worst`` is to be at most ``bound``."""
    x, y, rate = random_records(pairs, rng)
    theta = rng.standard_normal((pairs, DIMENSION))
    other = theta + rng.standard_normal((pairs, DIMENSION)) * 10.0 ** rng.uniform(-4, 1, (pairs, 1))
    distance = np.linalg.norm(other - theta, axis=1)

    def moved(point: np.ndarray) -> np.ndarray:
        return noiseless_step(point, x, y, rate, CLIP_NORM)

    gradient = (theta - moved(theta)) / rate[:, None]
    change = np.linalg.norm(gradient - (other - moved(other)) / rate[:, None], axis=1)
    gap = np.linalg.norm(_differences(theta, x, y, rate) - gradient, axis=1)
    worst = (
        float(np.median(gap / np.linalg.norm(gradient, axis=1))),
        float((np.linalg.norm(gradient, axis=1) / CLIP_NORM).max()),
        float((change * rate / (2 * distance)).max()),
        _built_smoothness(),
        float((np.linalg.norm(moved(theta) - moved(other), axis=1) / distance).max()),
    )
    return pd.DataFrame({"check": CHECKS, "worst": worst, "bound": (1e-6, 1.0, 1.0, 1.0, 1.0), "pairs": pairs})


def _differences(theta: np.ndarray, x: np.ndarray, y: np.ndarray, rate: np.ndarray) -> np.ndarray:
    """The gradient of the loss by central differences."""
    steps = STEP * np.eye(DIMENSION)[:, None, :]
    high, low = (loss(theta + s * steps, x, y, rate, CLIP_NORM) for s in (1, -1))
    return ((high - low) / (2 * STEP)).T


def _built_smoothness() -> float:
    """A record with η‖x‖² beyond 2, and two parameters along it that are not clipped."""
    x, rate = np.eye(DIMENSION)[0], 3.0
    one, two = 0.1 * x, -0.1 * x
    steps = [noiseless_step(p, x, np.array(0.0), rate, CLIP_NORM) - p for p in (one, two)]
    return float(np.linalg.norm(steps[0] - steps[1]) / (2 * np.linalg.norm(one - two)))


def expansion(pairs: int, rng: np.random.Generator) -> pd.DataFrame:
    """By how much a clipped step can stretch a distance, by η‖x‖²: without the shortened rate, and with it."""
    return pd.DataFrame([_expansion_row(a, max(2, pairs // len(PRODUCTS)), rng) for a in PRODUCTS])


def _expansion_row(product: float, pairs: int, rng: np.random.Generator) -> dict[str, float]:
    x = rng.standard_normal((pairs, DIMENSION))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    y = rng.standard_normal(pairs)
    theta, shift = rng.standard_normal((2, pairs, DIMENSION))
    shift[: pairs // 2] = 1e-3 * x[: pairs // 2]  # half of them along the record
    distance = np.linalg.norm(shift, axis=1)

    def bare(point: np.ndarray) -> np.ndarray:
        return point - product * clipped_gradients(point, x, y, CLIP_NORM)

    def shortened(point: np.ndarray) -> np.ndarray:
        return noiseless_step(point, x, y, product, CLIP_NORM)

    found = [float((np.linalg.norm(f(theta + shift) - f(theta), axis=1) / distance).max()) for f in (bare, shortened)]
    return {"product": product, "exact": max(1.0, abs(1 - product)), "bare": found[0], "shortened": found[1]}


def sensitivity(pairs: int, rng: np.random.Generator) -> pd.DataFrame:
    """How far a step moves when its record is replaced, or removed (its features set to 0), over ηC_clip."""
    half = max(2, math.isqrt(pairs))  # all pairs among them are tried
    x, y, _ = random_records(half, rng)
    origin, unit, rate = np.zeros(DIMENSION), np.eye(DIMENSION)[0], 0.2
    moves = noiseless_step(origin, x, y, rate, CLIP_NORM)
    up, down = (noiseless_step(origin, unit, np.array(sign * FAR), rate, CLIP_NORM) for sign in (1, -1))
    bound = float(step_sensitivities(np.array([rate]), CLIP_NORM)[0])
    pair, alone = np.linalg.norm(moves[:, None] - moves[None], axis=2).max(), np.linalg.norm(moves, axis=1).max()
    replaced = {"bound": bound, "largest_found": pair, "constructed": np.linalg.norm(up - down)}
    removed = {"bound": bound / 2, "largest_found": alone, "constructed": np.linalg.norm(up)}
    lengths = pd.DataFrame([replaced, removed]) / (rate * CLIP_NORM)
    return lengths.assign(relation=RELATIONS)[["relation", *lengths.columns]]
