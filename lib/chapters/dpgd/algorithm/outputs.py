"""The law of DP-GD's output on pairs of neighbouring data sets in one dimension, and what it gives away.

Records have x = 1 or x = 0 and C_clip = 1. Densities are propagated on a grid; until the first noisy step the iterate
is a point.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from costofprivacy.dpgd.schedule import Schedule, learning_rates, noise_multipliers, privacy_parameter
from costofprivacy.dpgd.update import noiseless_step
from costofprivacy.privacy import GaussianDP

CLIP_NORM = 1.0
FAR = 1e3  # a response beyond every clipping
CELLS = 1501
TRANSLATED = 1e-9  # of a cell: what a map moves all points alike by, but for rounding
REACH = 8.0  # standard deviations of all the noise that the grid covers on each side
FINEST = 2.0  # cells in the standard deviation of a step's noise
ORDERS = (1.5, 2.0, 4.0)  # of Rényi divergences
EPSILONS = (0.0, 0.5, 1.0, 2.0)
OTHERS: Mapping[str, tuple[float, float]] = {
    "silent": (0.0, 0.0),
    "far": (1.0, FAR),
    "pulling": (1.0, 0.0),
}  # x and y of all the other records: no step, a translation, a step that draws to 0


def resolved(schedule: Schedule, n: int, rho: float) -> bool:
    """Whether every noise of (4.2) that is not 0 is wide enough for the grid."""
    rates = learning_rates(schedule, n)
    stds = 2 * CLIP_NORM * noise_multipliers(rates, rho)
    grid = _grid(rates, stds, FAR)
    return bool(stds[stds > 0].min() > FINEST * (grid[1] - grid[0]))


def _grid(rates: np.ndarray, stds: np.ndarray, response: float) -> np.ndarray:
    reach = REACH * math.sqrt((stds**2).sum()) + 2 * rates.max() * CLIP_NORM
    drift = rates.sum() * CLIP_NORM if response == FAR else 0.0
    return np.linspace(-reach, drift + reach, CELLS)


def _map(theta: np.ndarray, record: tuple[float, float], rate: float) -> np.ndarray:
    x, y = (np.full(theta.shape, value) for value in record)
    return noiseless_step(theta[..., None], x[..., None], y, rate, CLIP_NORM)[..., 0]


def _normal(u: np.ndarray, std: float) -> np.ndarray:
    return np.exp(-(u**2) / (2 * std**2)) / (math.sqrt(2 * math.pi) * std)


def _spread(grid: np.ndarray, density: np.ndarray, record: tuple[float, float], rate: float, std: float) -> np.ndarray:
    """The density after one noisy step; ``density`` has shape (cells, ...). A translation makes it a convolution."""
    means, width = _map(grid, record, rate), grid[1] - grid[0]
    shift = means - grid
    if np.ptp(shift) > TRANSLATED * width:
        return _normal(grid[:, None] - means, std) @ density * width
    kernel = _normal(np.arange(1 - len(grid), len(grid)) * width - shift.mean(), std)
    columns = [np.convolve(column, kernel, "valid") for column in density.reshape(len(grid), -1).T]
    return np.stack(columns, axis=1).reshape(density.shape) * width


def output_laws(
    rates: np.ndarray, stds: np.ndarray, k: int, others: tuple[float, float]
) -> tuple[np.ndarray, np.ndarray, float]:
    """Densities of the output on the two data sets that differ in record k, and the width of a cell.

    Record k pulls to +∞ on the one and to −∞ on the other; the noises are 2 C_clip σ_k = ``stds``.

    Raises:
        ValueError: if there is no noise, or a step moves without noise after the first noisy one.
    """
    grid = _grid(rates, stds, others[1])
    points, densities = np.zeros(2), None
    for j, (rate, std) in enumerate(zip(rates, stds), start=1):
        records = ((1.0, FAR), (1.0, -FAR)) if j == k else (others, others)
        if densities is None:
            points = np.array([float(_map(np.asarray(p), r, rate)) for p, r in zip(points, records)])
            densities = _normal(grid[:, None] - points, std) if std > 0 else None
        elif std > 0 and j == k:
            columns = [_spread(grid, densities[:, i], records[i], rate, std) for i in (0, 1)]
            densities = np.stack(columns, axis=1)
        elif std > 0:
            densities = _spread(grid, densities, others, rate, std)
        elif rate > 0:
            raise ValueError(f"stds must stay positive after the first noisy step, got 0 at step {j}")
    if densities is None:
        raise ValueError("stds must not all be 0")
    return densities[:, 0], densities[:, 1], float(grid[1] - grid[0])


def divergences(one: np.ndarray, two: np.ndarray, cell: float) -> tuple[list[float], list[float]]:
    """Rényi divergences at `ORDERS`, and the hockey-stick divergences δ at `EPSILONS`."""
    tiny = np.finfo(float).tiny
    p, q = np.maximum(one, tiny), np.maximum(two, tiny)
    renyi = [math.log((p**a * q ** (1 - a)).sum() * cell) / (a - 1) for a in ORDERS]
    sticks = [float(np.maximum(p - math.exp(e) * q, 0).sum() * cell) for e in EPSILONS]
    return renyi, sticks


def output_rows(name: str, schedule: Schedule, n: int, rho: float, steps: Sequence[int]) -> pd.DataFrame:
    """Divergences of the outputs over what ρ²/2-zCDP and ρ-Gaussian DP allow.

    ``renyi_share`` is the largest D_α/(αρ²/2) over the orders, ``delta_share`` the largest δ(ε) over that of ρ-GDP.
    """
    rates = learning_rates(schedule, n)
    sigma = noise_multipliers(rates, rho)
    fixed = {"schedule": name, "n": n, "rho": rho}
    spent = {"rho_recomputed": privacy_parameter(rates, sigma)}
    cases = [(others, k) for others in OTHERS for k in steps]
    return pd.DataFrame(
        [
            fixed | {"k": k, "others": others} | spent | shares(rates, 2 * CLIP_NORM * sigma, rho, k, others)
            for others, k in cases
        ]
    )


def shares(rates: np.ndarray, stds: np.ndarray, rho: float, k: int, others: str) -> dict[str, float]:
    """The two shares of `output_rows` where record k differs and the other records are ``others``."""
    renyi, sticks = divergences(*output_laws(rates, stds, k, OTHERS[others]))
    allowed = GaussianDP(rho)
    return {
        "renyi_share": max(d / (a * rho**2 / 2) for a, d in zip(ORDERS, renyi)),
        "delta_share": max(s / float(allowed.delta(e)) for e, s in zip(EPSILONS, sticks)),
    }
