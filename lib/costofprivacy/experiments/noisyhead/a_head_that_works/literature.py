"""What the literature on private regression offers, on the records (vec Z, y), for every option of a grid."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from costofprivacy.experiments.noisyhead.a_head_that_works.options import Option
from costofprivacy.experiments.noisyhead.a_head_that_works.seen import Seen
from costofprivacy.noisyhead import private_ridge
from costofprivacy.noisyhead.private_ridge import PrivateRidge
from costofprivacy.rivals import boosting, objective_perturbation, sufficient_statistics, tukey
from costofprivacy.rivals.bounds import Bounds

RIDGES: list[Option] = list(
    itertools.product(
        (0.05, 0.15, 0.5, 1.5, 4.0), (0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.8), np.geomspace(1e-5, 1.0, 11).tolist()
    )
)
MOMENTS: list[Option] = list(
    itertools.product((0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4), (0.003, 0.01, 0.03, 0.1, 0.25, 0.5, 1.5))
)
BOOSTED: list[Option] = list(itertools.product((0.4, 0.8, 1.6, 3.2), (0.003, 0.01, 0.03, 0.1, 0.3), (10, 40, 160)))
PERTURBED: list[Option] = list(
    itertools.product((0.2, 0.4, 0.8, 1.6, 3.2), (0.003, 0.01, 0.03, 0.1, 0.3), (0.1, 0.5, 0.8, 0.95))
)
DEEP: list[Option] = [(1.0,), (2.0,)]


def ridges(seen: Seen, options: Sequence[Option], *, rng: np.random.Generator) -> np.ndarray:
    """DP-ridge of Appendix B with its sharp sensitivity: options (C, G, λ); shape (options, D, D)."""
    heads, data = [], {pair: seen.bounded(*pair) for pair in {option[:2] for option in options}}
    for C, G, penalty in options:
        told = PrivateRidge(C, G, penalty, seen.N)
        heads.append(private_ridge.release(data[C, G], told, [private_ridge.noise_std(told, seen.budget)], rng=rng)[0])
    return np.stack(heads)


def sufficient(seen: Seen, options: Sequence[Option], *, rng: np.random.Generator) -> np.ndarray:
    """AdaSSP on (vec Z, y): options (bound on ‖Z‖, bound on |y|); shape (options, D, D)."""
    heads = []
    for features, response in options:
        bounds = Bounds(features, response)
        data = sufficient_statistics.moments(seen.Z, seen.statistics.response, bounds)
        heads.append(sufficient_statistics.release(data, bounds, seen.mu, rng=rng))
    return np.stack(heads).reshape(len(options), seen.law.D, -1)


def boosted(seen: Seen, options: Sequence[Option], *, rng: np.random.Generator) -> np.ndarray:
    """Boosted AdaSSP: options (bound on ‖Z‖, C, rounds); shape (options, D, D)."""
    heads = []
    for features, clip_norm, rounds in options:
        bounds = Bounds(features, 1.0)
        x, y = bounds.clip(seen.Z, seen.statistics.response)[0], seen.statistics.response
        heads.append(boosting.release(x, y, bounds, clip_norm, int(rounds), seen.mu, rng=rng))
    return np.stack(heads).reshape(len(options), seen.law.D, -1)


def perturbed(seen: Seen, options: Sequence[Option], *, rng: np.random.Generator) -> np.ndarray:
    """Objective perturbation: options (bound on ‖Z‖, C, share of ε for the curvature); shape (options, D, D)."""
    heads = []
    for features, clip_norm, share in options:
        x = Bounds(features, 1.0).clip(seen.Z, seen.statistics.response)[0]
        added = objective_perturbation.calibrate(seen.budget, share, clip_norm, features)
        heads.append(objective_perturbation.release(x, seen.statistics.response, clip_norm, added, rng=rng))
    return np.stack(heads).reshape(len(options), seen.law.D, -1)


def deep(seen: Seen, options: Sequence[Option], *, rng: np.random.Generator) -> np.ndarray:
    """TukeyEM: options (records a feature in each part,); 0 where that leaves too few parts; shape (options, D, D)."""
    heads, y = [], seen.statistics.response
    for (records,) in options:
        parts = int(seen.N / (records * seen.Z.shape[1]))
        enough = parts >= tukey.LEAST_MODELS
        heads.append(tukey.fit(seen.Z, y, parts, seen.budget, rng=rng) if enough else np.zeros(seen.Z.shape[1]))
    return np.stack(heads).reshape(len(options), seen.law.D, -1)
