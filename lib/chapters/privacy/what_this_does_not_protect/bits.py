"""The last bits of a release: what they prove about the value below the noise, and what rounding hides of them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd

from chapters.privacy.what_this_does_not_protect.pair import Pair
from chapters.privacy.what_this_does_not_protect.seeds import row
from companion.streams import generator
from costofprivacy.privacy import GaussianDP, GaussianMechanism
from costofprivacy.privacy.advantage import of_decisions, of_scores
from costofprivacy.privacy.low_bits import could_have_come_from, discrete_gaussian

RATIOS = (0.001, 0.01, 0.1, 0.3, 1.0, 3.0, 10.0, 100.0)  # the value over the noise
KEPT_BITS = (52, 51, 50, 49, 48, 44, 40)  # of a number of the noise's size, when releases are rounded
UNIT = 0.731  # the noise: any number that is no power of 2
MECHANISM, ESTIMATOR, ROUNDED, DISCRETE = "Gaussian mechanism", "DPGDRegressor", "rounded", "discrete Gaussian"
GRID = 64  # units of the discrete Gaussian's grid to a standard deviation
STREAM_ESTIMATOR = 10**6
MOST_CANDIDATES = 16  # doubles of a cell that are tried
ESTIMATOR_RECORDS = 32  # a pass of one block: its release is one rounded sum


def by_ratio(dimensions: Sequence[int], rho: float, trials: int, seed: int) -> pd.DataFrame:
    """The advantage of "this cannot have come from the second" by the value's size and the number of coordinates."""
    rows = []
    for d in dimensions:
        for k, ratio in enumerate(RATIOS):
            rng = generator(seed, d, k)
            first, second, noise = _values(d, ratio, rho, rng)
            rows.append({"d": d, "ratio": ratio} | _tried(first, second, noise, trials, rng, rho))
    return pd.DataFrame(rows)


def _values(d: int, ratio: float, rho: float, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, float]:
    """Two vectors ρ standard deviations apart, their entries about ``ratio`` of the noise, and the noise."""
    first = ratio * UNIT * rng.standard_normal(d)
    direction = rng.standard_normal(d)
    return first, first + rho * UNIT * direction / np.linalg.norm(direction), UNIT


def _tried(
    first: np.ndarray, second: np.ndarray, noise: float, trials: int, rng: np.random.Generator, rho: float
) -> dict[str, object]:
    mechanism = GaussianMechanism(noise * rho, 1 / rho)  # its noise is this product, to the last bit
    releases = [mechanism.release(np.tile(value, (trials, 1)), rng=rng) for value in (first, second)]
    says_first = [np.logical_not(could_have_come_from(y, second, mechanism.noise_std).all(axis=1)) for y in releases]
    return row(MECHANISM, of_decisions(says_first[0], says_first[1]), GaussianDP(rho))


def of_estimator(d: int, rho: float, trials: int, seed: int) -> pd.DataFrame:
    """The same attack on the estimator's own coefficients, and on the same releases rounded afterwards."""
    pair, rng = Pair(ESTIMATOR_RECORDS, d, rho, seed), generator(seed, d, STREAM_ESTIMATOR)
    fits = [pair.releases(k, rng.standard_normal((trials, d))) for k in (0, 1)]
    says_first = [np.logical_not(could_have_come_from(y, pair.clean[1], pair.noise_std).all(axis=1)) for y in fits]
    rows = [row(ESTIMATOR, of_decisions(says_first[0], says_first[1]), GaussianDP(rho)) | {"bits": math.nan}]
    for bits in KEPT_BITS:
        unit = 2.0 ** (math.floor(math.log2(pair.noise_std)) - bits)
        rounded = [np.round(y / unit) * unit for y in fits]
        says = [np.logical_not(_could_round_to(y, pair.clean[1], pair.noise_std, unit).all(axis=1)) for y in rounded]
        rows.append(row(ROUNDED, of_decisions(says[0], says[1]), GaussianDP(rho)) | {"bits": bits})
    return pd.DataFrame(rows).assign(d=d)


def _could_round_to(released: np.ndarray, value: np.ndarray, noise_std: float, unit: float) -> np.ndarray:
    """Whether some release that could have come from the value rounds to this one.

    Where a cell holds few doubles all are tried; where it holds many, one of them could have.
    """
    step = np.minimum(np.spacing(np.abs(released)), np.spacing(np.abs(released - value)))
    found = unit / step > MOST_CANDIDATES
    for k in range(-MOST_CANDIDATES // 2, MOST_CANDIDATES // 2 + 1):
        tried = released + k * step
        found |= could_have_come_from(tried, value, noise_std) & (np.round(tried / unit) * unit == released)
    return found


def of_discrete(rho: float, trials: int, seed: int) -> pd.DataFrame:
    """The advantage of the best attack, the likelihood ratio's, on a discrete Gaussian around a whole number.

    It releases whole numbers, and each has a positive probability whatever the value: there is nothing to rule out.
    """
    rng, moved = generator(seed, GRID, STREAM_ESTIMATOR), round(rho * GRID)
    noise = discrete_gaussian(GRID**2, 2 * trials, rng=rng).reshape(2, trials)
    told = of_scores(noise[0] + moved, noise[1])
    return pd.DataFrame([row(DISCRETE, told, GaussianDP(moved / GRID))]).assign(grid=GRID)
