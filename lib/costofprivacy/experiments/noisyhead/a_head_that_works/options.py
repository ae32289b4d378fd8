"""Rungs with free numbers: each gives the head for every option of a grid, to be chosen on public prompts."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np

from costofprivacy.dpgd import onepass
from costofprivacy.dpgd.descent import Configuration
from costofprivacy.dpgd.schedule import Constant, Harmonic
from costofprivacy.experiments.noisyhead.a_head_that_works.seen import Seen
from costofprivacy.noisyhead import private_ridge
from costofprivacy.noisyhead.population import context_energy
from costofprivacy.noisyhead.private_ridge import PrivateRidge
from costofprivacy.rivals import sufficient_statistics
from costofprivacy.rivals.bounds import Bounds

Option = tuple[float, ...]
SMALLEST = np.finfo(float).tiny
DESCENTS: list[Option] = list(itertools.product((20, 80, 320), (0.03, 0.1, 0.3), (3.0, 10.0, 30.0, 100.0)))
PASSES: list[Option] = list(itertools.product((0, 1), (0.03, 0.1, 0.3), (3.0, 8.0, 20.0, 50.0, 120.0)))
RIDGES: list[Option] = list(itertools.product((1.0, 2.0, 3.5), (0.2, 0.4, 0.9), np.geomspace(1e-4, 1.0, 9).tolist()))
MOMENTS: list[Option] = list(itertools.product((0.05, 0.1, 0.2, 0.4, 0.9), (0.1, 0.25, 0.5, 1.5, 3.0)))


def descents(seen: Seen, options: Sequence[Option], *, rng: np.random.Generator) -> np.ndarray:
    """Full batches with clipped gradients: options (T, c, η); the last iterate and the mean of the last half.

    Guarantee: T Gaussian mechanisms of sensitivity 2c/N, together μ-Gaussian DP.

    Returns:
        shape (2, options, D, D).
    """
    found = np.empty((2, len(options), seen.law.D**2))
    for T in sorted({int(option[0]) for option in options}):
        rows = [k for k, option in enumerate(options) if option[0] == T]
        c, eta = (np.array([options[k][i] for k in rows]) for i in (1, 2))
        found[:, rows] = _descents(seen, T, c, eta, rng=rng)
    return found.reshape(2, len(options), seen.law.D, -1)


def _descents(seen: Seen, T: int, c: np.ndarray, eta: np.ndarray, *, rng: np.random.Generator) -> np.ndarray:
    """The last iterate and the mean of the later half, shape (2, B, D²), for clip norms and rates of shape (B,)."""
    Z, y = seen.Z, seen.statistics.response
    bound = c[:, None] / np.maximum(np.linalg.norm(Z, axis=1), SMALLEST)
    std = 2 * c * math.sqrt(T) / (seen.N * seen.mu.mu)
    Gamma, later = np.zeros((2, len(c), Z.shape[1]))
    for t in range(T):
        pull = np.clip(y - Gamma @ Z.T, -bound, bound) @ Z / seen.N
        Gamma = Gamma + eta[:, None] * (pull + np.outer(std, rng.standard_normal(Z.shape[1])))
        later += Gamma * (t >= T // 2)
    return np.stack([Gamma, later / (T - T // 2)])


def passes(seen: Seen, options: Sequence[Option], *, rng: np.random.Generator) -> np.ndarray:
    """One pass of DP-GD with d = D² over (vec Z, y): options (harmonic, c, η̃(0)); shape (options, D, D).

    Z is scaled so that, isotropic, E‖Z‖² = d, as the DP-GD paper has its features.
    """
    scale = seen.law.D / math.sqrt(context_energy(seen.model))
    heads = []
    for harmonic, c, rate in options:
        schedule = Harmonic(rate * 0.1, 0.1) if harmonic else Constant(rate)
        told = Configuration(c, schedule, seen.mu.mu)
        batch = [(seen.Z * scale, seen.statistics.response)]
        heads.append(scale * onepass.release(batch, told, seen.N, seen.Z.shape[1], rng=rng).theta)
    return np.nan_to_num(np.stack(heads)).reshape(len(options), seen.law.D, -1)


def ridges(seen: Seen, options: Sequence[Option], *, rng: np.random.Generator) -> np.ndarray:
    """DP-ridge of Appendix B with its sharp sensitivity: options (C, G, λ); shape (options, D, D)."""
    heads = []
    for C, G, penalty in options:
        told = PrivateRidge(C, G, penalty, seen.N)
        std = private_ridge.noise_std(told, seen.budget)
        heads.append(private_ridge.release(seen.bounded(C, G), penalty, [std], rng=rng)[0])
    return np.stack(heads)


def sufficient(seen: Seen, options: Sequence[Option], *, rng: np.random.Generator) -> np.ndarray:
    """AdaSSP on (vec Z, y): options (bound on ‖Z‖, bound on |y|); shape (options, D, D)."""
    heads = []
    for features, response in options:
        bounds = Bounds(features, response)
        data = sufficient_statistics.moments(*bounds.clip(seen.Z, seen.statistics.response))
        heads.append(sufficient_statistics.release(data, bounds, seen.mu, rng=rng))
    return np.stack(heads).reshape(len(options), seen.law.D, -1)
