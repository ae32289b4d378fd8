"""What the last step does to the risk, (C.60) and (C.61), and how far the cap of (C.5) lets a step reach.

Algorithm 1 takes its last step from a state of given risk, v = √s·θ*, at the rate η̃(1) = η̃(0) of the constant
schedule, which leaves all private noise to it. The remainder is |R(θ_n) − R(θ_{n−1}) − 2c²η̃(1)²γ²/ρ²|.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from chapters.dpgd.deterministic_equivalent.regime import Regime, Sized
from companion import _fits
from costofprivacy.dpgd import draws, spectrum, system
from costofprivacy.dpgd.spectrum import RegressionModel, sample

DIMENSIONS = (10, 30, 100, 300, 1000)
SCALES = (0.1, 1.0, 100.0, 10000.0)  # ‖v‖² before the step, ‖θ*‖² being 1
RECORDS = 100  # in one trial
UPPER = 0.99  # share of the steps below the upper quantile
MIDDLE = 1 - math.exp(-1)  # and below the middle one: u = 1 in the tail of (C.60), but for constants
BEYOND_THE_CAP = 2.0  # η̃γ/2 at which (C.5) is tried, at every d and times √d


@dataclass(frozen=True)
class Cell(Sized):
    """A dimension; the spectrum is uniform on [0, 2]. Steps from errors of all `SCALES` share their draws."""

    @property
    def key(self) -> int:
        """The dimension names the random stream."""
        return self.d

    @property
    def model(self) -> RegressionModel:
        """The data."""
        return self.regime.model(spectrum.uniform(self.d))


def cells(regime: Regime) -> list[Cell]:
    """Every dimension."""
    return [Cell(regime, d) for d in DIMENSIONS]


def trial(cell: Cell, *, rng: np.random.Generator) -> np.ndarray:
    """The remainder in `RECORDS` independent last steps from each scale, shape (scales, records).

    A step from v = √s·θ* ends in v − ax + tb with a = η̄ clip(r, ±C/‖x‖), r = √s⟨x, θ*⟩ − z and t = 2Cσ_n. So of x and
    b the change of the risk ½v'Λv reads ⟨x, θ*⟩, ⟨x, Λθ*⟩, ⟨b, Λθ*⟩, x'Λx, x'Λb, b'Λb and ‖x‖², the same at all scales.
    """
    regime, n = cell.regime, cell.n
    target, values = cell.model.target, cell.model.spectrum.eigenvalues
    clip_norm, rate = regime.clip * math.sqrt(cell.d), regime.learning_rate / n
    std, root = 2 * clip_norm * rate / regime.rho, np.sqrt(SCALES)[:, None]
    x, y = sample(cell.model, RECORDS, rng=rng)
    b, square = draws.normals(x.shape, rng), np.einsum("kd,kd->k", x, x)
    bound = clip_norm / np.sqrt(square)
    a = np.minimum(rate, 2 / square) * np.clip((1 + root) * (x @ target) - y, -bound, bound)
    first = root * (std * (b @ (values * target)) - a * (x @ (values * target)))
    second = a**2 * (x**2 @ values) - 2 * a * std * ((x * b) @ values) + std**2 * (b**2 @ values)
    expected = system.last_step(system.of_model(cell.model, n), regime.schedule(0.0), regime.clip, regime.rho)
    return np.abs(first + second / 2 - expected)


def rows(cell: Cell, samples: np.ndarray) -> pd.DataFrame:
    """`scale_row` of each scale."""
    return pd.DataFrame([scale_row(cell, scale, samples[:, i].ravel()) for i, scale in enumerate(SCALES)])


def scale_row(cell: Cell, scale: float, values: np.ndarray) -> dict[str, float]:
    """Mean and two quantiles of the remainder beside (1 + √R)/√d of (C.60) and log d/√d of (C.61).

    ``squared_norm`` is ‖v‖² before the step, ``risk`` the risk there.
    """
    mean, error = _fits.mean_and_error(values)
    spread = math.sqrt(UPPER * (1 - UPPER) / len(values))
    low, upper, high = np.quantile(values, [UPPER - spread, UPPER, UPPER + spread])
    risk = scale * cell.model.initial_risk
    return {
        "d": cell.d,
        "squared_norm": scale,
        "risk": risk,
        "value": mean,
        "standard_error": error,
        "middle": np.quantile(values, MIDDLE),
        "upper": upper,
        "upper_error": (high - low) / 2,
        "scale": (1 + math.sqrt(risk)) / math.sqrt(cell.d),
        "bound": math.log(cell.d) / math.sqrt(cell.d),
        "trials": len(values),
    }


def caps() -> pd.DataFrame:
    """η̄‖x‖² at ‖x‖² = d, and how much a step can then stretch a distance, with 2/‖x‖² and with 2/‖x‖ as the cap.

    A step multiplies distances along x by 1 or, where the gradient is not clipped, by 1 − η̄‖x‖².
    """
    found = []
    for d in (10, 100, 1000):
        for share in (BEYOND_THE_CAP, BEYOND_THE_CAP * math.sqrt(d)):
            rate = share * 2 / d
            for reading, cap in (("printed", 2 / math.sqrt(d)), ("corrected", 2 / d)):
                product = min(rate, cap) * d
                stretch = max(1.0, abs(1 - product))
                case = {"d": d, "share_of_cap": share, "reading": reading}
                found.append(case | {"product": product, "stretch": stretch})
    return pd.DataFrame(found)
