"""What the literature on private regression offers, on the records (vec Z, y), for every option of a grid."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from chapters.noisyhead.a_head_that_works.options import Option
from chapters.noisyhead.a_head_that_works.seen import Seen
from costofprivacy.noisyhead import private_ridge
from costofprivacy.noisyhead.private_ridge import PrivateRidge
from costofprivacy.privacy import sums
from costofprivacy.privacy.mechanisms import gaussian_std
from costofprivacy.rivals import huber, objective_perturbation, sufficient_statistics, tukey
from costofprivacy.rivals.bounds import Bounds
from costofprivacy.rivals.sufficient_statistics import PARTS, noisy_matrix, share, solver

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
    """Boosted AdaSSP: options (bound on ‖Z‖, C, rounds); shape (options, D, D).

    The numbers of `boosting.release`, to rounding: options with one bound make their rounds side by side.
    """
    each = [_prepared(seen, option, rng) for option in options]
    found = np.empty((len(options), seen.Z.shape[1]))
    for features in sorted({option[0] for option in options}):
        rows = [k for k, option in enumerate(options) if option[0] == features]
        rows.sort(key=lambda k: -len(each[k].noise))
        found[rows] = _rounds(seen.shortened(features), seen.statistics.response, [each[k] for k in rows])
    return found.reshape(len(options), seen.law.D, -1)


@dataclass(frozen=True, eq=False)
class _Boosted:
    """One option of boosted AdaSSP: its matrix's inverse, each record's limit, and the noise of each round."""

    inverse: np.ndarray
    limit: np.ndarray
    noise: np.ndarray


def _prepared(seen: Seen, option: Option, rng: np.random.Generator) -> _Boosted:
    """What `boosting.release` draws and computes before its rounds, in its order, and the noise of these."""
    (features, clip_norm, rounds), bounds = option, Bounds(option[0], 1.0)
    x, T = seen.shortened(features), int(rounds)
    matrix, penalty = noisy_matrix(sums.product(x, x), len(x), bounds, share(seen.mu), rng=rng)
    std = gaussian_std(2 * clip_norm * (1 + sums.slack(*x.shape)), share(seen.mu, PARTS * T))
    inverse = solver(matrix, penalty)(np.eye(len(matrix)))
    return _Boosted(inverse, huber.limits(x, clip_norm), std * rng.standard_normal((T, x.shape[1])))


def _rounds(x: np.ndarray, y: np.ndarray, each: Sequence[_Boosted]) -> np.ndarray:
    """θ of several options after their rounds, made side by side, those with most rounds first; shape (B, d)."""
    lengths = np.array([len(option.noise) for option in each])
    inverse, limit = np.stack([o.inverse for o in each]), np.stack([o.limit for o in each])
    theta = np.zeros((len(each), x.shape[1]))
    for t in range(lengths[0]):
        B = int((lengths > t).sum())
        pull = np.clip(y - theta[:B] @ x.T, -limit[:B], limit[:B]) @ x
        pull += np.stack([option.noise[t] for option in each[:B]])
        theta[:B] += np.matmul(inverse[:B], pull[:, :, None])[:, :, 0]
    return theta


def perturbed(seen: Seen, options: Sequence[Option], *, rng: np.random.Generator) -> np.ndarray:
    """Objective perturbation: options (bound on ‖Z‖, C, share of ε for the curvature); shape (options, D, D)."""
    heads = []
    for features, clip_norm, curvature in options:
        x = seen.shortened(features)
        added = objective_perturbation.calibrate(seen.budget, curvature, clip_norm, features)
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
