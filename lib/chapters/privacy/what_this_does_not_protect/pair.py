r"""The neighbours that every attack is tried on: the last record's gradient is clipped, and turned about.

**Many releases of one data set.** The schedule is constant, so all noise comes with the last step. What `dpgd.onepass`
computes before the last block, Θ, and what the block's data part moves it by, v = Σ a_k x_k, are then the same in every
release: a_k reads the noise of earlier steps alone, which is 0. The release is Θ + (s b − v) with one normal vector b,
in this order of operations, so that releases come out as those of `fit` from the same generator, to the last bit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from companion.streams import generator
from costofprivacy._compiled import compiled
from costofprivacy.dpgd import onepass
from costofprivacy.dpgd.descent import Configuration, StepTable, step_table
from costofprivacy.dpgd.schedule import Constant
from costofprivacy.dpgd.update import BLOCK, advance, coefficients

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


def noiseless(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """`fit` without noise to rounding, by steps one after the other: in few dimensions faster than in blocks.

    Args:
        X: features, shape (n, d), not 0 in any record. y: responses, shape (n,).
    """
    n, d = X.shape
    return _one_pass(np.ascontiguousarray(X), y, RATE / n, CLIP * math.sqrt(d))


@compiled
def _one_pass(X: np.ndarray, y: np.ndarray, rate: float, clip_norm: float) -> np.ndarray:
    theta = np.zeros(X.shape[1])
    for k in range(len(X)):
        residual, square = -y[k], 0.0
        for i in range(len(theta)):
            residual += X[k, i] * theta[i]
            square += X[k, i] ** 2
        bound = clip_norm / math.sqrt(square)
        length = min(rate, 2 / square) * max(-bound, min(residual, bound))
        for i in range(len(theta)):
            theta[i] -= length * X[k, i]
    return theta


def noise_std(n: int, d: int, rho: float) -> float:
    """Standard deviation of the noise of `fit` in each coordinate, all of it in the last step."""
    return float(_last_step(n, d, rho).noise_std[0, 0])


def _last_step(n: int, d: int, rho: float) -> StepTable:
    return step_table([Configuration(CLIP, Constant(RATE), rho)], n, d, n - 1, n)


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

    def releases(self, which: int, normals: np.ndarray) -> np.ndarray:
        """`fit` of the first (0) or the second (1) data set with generators that draw these normals, bit for bit.

        Args:
            normals: shape (releases, d).
        """
        start, moved = self._last_block[which]
        return np.asarray(start + (normals * self.noise_std - moved))

    @cached_property
    def _last_block(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """θ before the last block of each data set, and Σ a_k x_k in it."""
        X, *responses = self.data
        rates, none = np.full((BLOCK, 1), self._steps.learning_rates[0, 0]), np.zeros((BLOCK, 1))
        last, found = (self.n - 1) // BLOCK * BLOCK, []
        for y in responses:
            theta = np.zeros((self.d, 1))
            for first in range(0, last + 1, BLOCK):
                rows = slice(first, first + BLOCK)
                x, m = X[rows], len(X[rows])
                told = (y[rows], np.zeros_like(x), rates[:m], none[:m], self._steps.clip_norm)
                if first == last:
                    found.append((theta[:, 0].copy(), (x.T @ coefficients(theta, x, *told))[:, 0]))
                advance(theta, x, *told)
        return found

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
        return float(self._steps.noise_std[0, 0])

    @cached_property
    def _steps(self) -> StepTable:
        """The last step."""
        return _last_step(self.n, self.d, self.rho)


def _last(y: np.ndarray, value: float) -> np.ndarray:
    return np.append(y[:-1], value)
