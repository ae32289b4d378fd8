"""Descents with free numbers: each gives the head for every option of a grid, to be chosen on public prompts."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np

from chapters.noisyhead.a_head_that_works.seen import Seen
from costofprivacy._compiled import compiled
from costofprivacy.dpgd import onepass
from costofprivacy.dpgd.descent import Configuration
from costofprivacy.dpgd.schedule import Constant, Harmonic
from costofprivacy.noisyhead.population import context_energy

Option = tuple[float, ...]
DISTANCES = np.geomspace(30, 1e4, 6)  # ηcT, of clipped descents
SMALLEST = np.finfo(float).tiny
UNCLIPPED: list[Option] = list(
    itertools.product(
        (0.3, 0.6, 1.2, 2.5),
        (0.02, 0.05, 0.1, 0.2, 0.4),
        (1.0, 3.0, 10.0, 30.0),
        (10, 40, 160, 640),
        (0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0),
    )
)
DESCENTS: list[Option] = [
    (T, c, float(far) / (c * T)) for T in (80, 320, 1280) for c in (0.003, 0.01, 0.03) for far in DISTANCES
]
PASSES: list[Option] = list(itertools.product((1,), (0.003, 0.01, 0.03, 0.1, 0.3), (50.0, 120.0, 300.0, 800.0, 2000.0)))


def unclipped(seen: Seen, options: Sequence[Option], *, rng: np.random.Generator) -> np.ndarray:
    """Full batches with NoisyHead's bounds and no penalty, all iterates paid for: options (C, G, R, T, η).

    Guarantee: T Gaussian mechanisms of sensitivity 2G(C + RG)/N, together μ-Gaussian DP: |y| ≤ C, ‖Z‖ ≤ G, ‖Γ‖ ≤ R.

    Returns:
        shape (options, D, D).
    """
    found = np.empty((len(options), seen.law.D**2))
    for C, G in sorted({option[:2] for option in options}):
        data = seen.bounded(C, G)
        for T in sorted({int(option[3]) for option in options}):
            rows = [k for k, option in enumerate(options) if (*option[:2], int(option[3])) == (C, G, T)]
            R, eta = (np.array([options[k][i] for k in rows]) for i in (2, 4))
            std = 2 * G * (C + R * G) * math.sqrt(T) / (seen.N * seen.mu.mu)
            found[rows] = _within(data.gram, data.cross, R, eta, std, rng.standard_normal((T, seen.law.D**2)))
    return found.reshape(len(options), seen.law.D, -1)


@compiled
def _within(
    gram: np.ndarray, cross: np.ndarray, R: np.ndarray, eta: np.ndarray, std: np.ndarray, noise: np.ndarray
) -> np.ndarray:
    """The last iterate of each option, shape (B, p), for R, η and noise of shape (B,), noise directions (T, p)."""
    T, p = noise.shape
    found, pull = np.zeros((len(R), p)), np.empty(p)
    for k in range(len(R)):
        Gamma = found[k]
        for t in range(T):
            for i in range(p):
                pull[i] = cross[i] + std[k] * noise[t, i]
            for j in range(p):
                for i in range(p):
                    pull[i] -= Gamma[j] * gram[j, i]
            square = 0.0
            for i in range(p):
                Gamma[i] += eta[k] * pull[i]
                square += Gamma[i] ** 2
            if square > R[k] ** 2:
                Gamma *= R[k] / np.sqrt(square)
    return found


def descents(seen: Seen, options: Sequence[Option], *, rng: np.random.Generator) -> np.ndarray:
    """Full batches with clipped gradients: options (T, c, η); the last iterate and the mean of the last half.

    The grid has c and ηcT, how far Γ can go: for small c the head depends on the latter alone.

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
    least, residual = -bound, np.empty((len(c), len(Z)))
    std = 2 * c * math.sqrt(T) / (seen.N * seen.mu.mu)
    Gamma, later = np.zeros((2, len(c), Z.shape[1]))
    for t in range(T):
        np.subtract(y, np.matmul(Gamma, Z.T, out=residual), out=residual)
        pull = np.clip(residual, least, bound, out=residual) @ Z / seen.N
        Gamma = Gamma + eta[:, None] * (pull + np.outer(std, rng.standard_normal(Z.shape[1])))
        later += Gamma * (t >= T // 2)
    return np.stack([Gamma, later / (T - T // 2)])


def passes(seen: Seen, options: Sequence[Option], *, rng: np.random.Generator) -> np.ndarray:
    """One pass of DP-GD with d = D² over (vec Z, y): options (harmonic, c, η̃(0)); shape (options, D, D).

    Z is scaled so that, isotropic, E‖Z‖² = d, as the DP-GD paper has its features.
    """
    scale = seen.law.D / math.sqrt(context_energy(seen.model))
    batch, heads = (seen.Z * scale, seen.statistics.response), []
    for harmonic, c, rate in options:
        told = Configuration(c, Harmonic(rate * 0.1, 0.1) if harmonic else Constant(rate), seen.mu.mu)
        heads.append(scale * onepass.release([batch], told, seen.N, seen.Z.shape[1], rng=rng).theta)
    return np.nan_to_num(np.stack(heads)).reshape(len(options), seen.law.D, -1)
