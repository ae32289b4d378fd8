"""Where the updates lead without noise: (2.6), (2.7) and the point at which descent comes to rest."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from chapters.noisyhead.mechanism.cell import Cell
from companion import _fits
from costofprivacy.noisyhead import head, pretraining
from costofprivacy.noisyhead.head import Moments, Statistics
from costofprivacy.noisyhead.ridge import ridge
from costofprivacy.settings import Setting

LONG = 10**12  # steps, in closed form, after which descent has come to rest
GRADIENT = "gradient of (2.6) at (2.7), relative"
SINGLE = "update at rest, distance to ridge(λ)"
DOUBLE = "update at rest, distance to ridge(2λ)"
HALVED = "update with λ/2 at rest, distance to ridge(λ)"
NORM = "update at rest, norm over that of ridge(λ)"
CHECKS = (GRADIENT, SINGLE, DOUBLE, HALVED, NORM)


def trial(cell: Cell, *, rng: np.random.Generator) -> np.ndarray:
    """Relative distances on one data set; shape (5,), in the order of `CHECKS`."""
    raw, _ = head.sample_statistics(cell.model, cell.N, rng=rng)
    data, penalty = head.moments(raw), cell.penalty
    hyper = replace(cell.settings[Setting.PUBLISHED], steps=LONG)
    rest = pretraining.gradient_descent(data, hyper)
    rest_half = pretraining.gradient_descent(data, replace(hyper, penalty=penalty / 2))
    single, double = ridge(data, penalty), ridge(data, 2 * penalty)
    found = {
        GRADIENT: _gradient_ratio(raw, data, single, penalty),
        SINGLE: _apart(rest, single),
        DOUBLE: _apart(rest, double),
        HALVED: _apart(rest_half, single),
        NORM: float(np.linalg.norm(rest) / np.linalg.norm(single)),
    }
    return np.array([found[check] for check in CHECKS])


def _apart(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.linalg.norm(a - b) / np.linalg.norm(b))


def _gradient_ratio(raw: Statistics, data: Moments, Gamma: np.ndarray, penalty: float) -> float:
    """‖∇(2.6)‖ at Γ, summed prompt by prompt, over its value at 0."""
    residual = head.predict(Gamma, raw) - raw.response
    gradient = 2 * np.einsum("n,nd,ne->de", residual, raw.query, raw.context) / len(residual) + 2 * penalty * Gamma
    return float(np.linalg.norm(gradient) / (2 * np.linalg.norm(data.cross)))


def rows(cell: Cell, samples: np.ndarray) -> pd.DataFrame:
    """Mean of each check over the data sets."""
    mean, error = _fits.mean_and_error(samples)
    measured = {"check": CHECKS, "value": mean, "standard_error": error}
    return pd.DataFrame({"N": cell.N} | measured | {"trials": len(samples)})
