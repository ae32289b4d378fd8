"""The neighbours that every attack is tried on: the last record's gradient is clipped, and turned about."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from costofprivacy.dpgd import onepass
from costofprivacy.dpgd.descent import Configuration, step_table
from costofprivacy.dpgd.schedule import Constant
from costofprivacy.streams import generator

CLIP, RATE = 0.1, 3.0  # c and η̃: a constant schedule, all noise at the end
FAR = 1e3  # a response that is clipped whatever the coefficients
NOISE = 0.3  # ζ
STREAM = 2**32  # of the data, beside those of the trials


def fit(X: np.ndarray, y: np.ndarray, rho: float, random_state: Any) -> np.ndarray:
    """The coefficients that ``DPGDRegressor`` releases with these settings, to the last bit, without its promises.

    Its arguments: clip = `CLIP`, schedule = Constant(`RATE`), no intercept, no shuffling. The estimator also solves the
    equations that promise a risk; thousands of fits go without.

    Args:
        X: features, shape (n, d). y: responses, shape (n,). rho: ρ in (0, ∞]. random_state: a seed or a generator.
    """
    rng, configuration = np.random.default_rng(random_state), Configuration(CLIP, Constant(RATE), rho)
    return onepass.release([(X, y)], configuration, *X.shape, rng=rng).theta


@dataclass(frozen=True)
class Pair:
    """n records of dimension d, and a neighbour: the last one's response is FAR, or −FAR.

    The last step moves by ηC along its features, in the one direction or in the other: the release of the one data set
    is a Gaussian whose mean is exactly ρ standard deviations from that of the other. No neighbours are easier.

    Args:
        n: records. d: dimension, at least 1. rho: ρ of a fit. seed: of the data.
    """

    n: int
    d: int
    rho: float
    seed: int

    @cached_property
    def data(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Features, and the responses of both."""
        rng = generator(self.seed, STREAM, self.n)
        X = rng.standard_normal((self.n, self.d))
        y = X @ np.full(self.d, 1 / math.sqrt(self.d)) + NOISE * rng.standard_normal(self.n)
        X[-1] = np.sign(X[-1])
        return X, _last(y, FAR), _last(y, -FAR)

    def fit(self, which: int, random_state: Any, rho: float | None = None) -> np.ndarray:
        """The coefficients of one fit of the first (0) or the second (1) data set; ρ = ∞ has no noise."""
        return fit(self.data[0], self.data[1 + which], self.rho if rho is None else rho, random_state)

    def noise_alone(self, random_state: Any) -> np.ndarray:
        """The coefficients of a fit of as many empty records: the noise of that seed, and nothing else."""
        return fit(np.zeros((self.n, self.d)), np.zeros(self.n), self.rho, random_state)

    @cached_property
    def clean(self) -> tuple[np.ndarray, np.ndarray]:
        """What is released without noise, of both."""
        return self.fit(0, 0, math.inf), self.fit(1, 0, math.inf)

    def score(self, released: np.ndarray) -> np.ndarray:
        """The likelihood ratio's statistic of releases, shape (..., d): large for the first data set."""
        return released @ (self.clean[0] - self.clean[1])

    @cached_property
    def noise_std(self) -> float:
        """Standard deviation of the noise in each coordinate, as the fit has it, to the last bit."""
        configuration = Configuration(CLIP, Constant(RATE), self.rho)
        return float(step_table([configuration], self.n, self.d, self.n - 1, self.n).noise_std[0, 0])


def _last(y: np.ndarray, value: float) -> np.ndarray:
    return np.append(y[:-1], value)
