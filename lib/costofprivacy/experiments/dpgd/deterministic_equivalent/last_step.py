"""What the last step does to the risk, (C.60) and (C.61), and how far the cap of (C.5) lets a step reach.

Algorithm 1 takes its last step from a state of given risk, v = √s·θ*, at the rate η̃(1) = η̃(0) of the constant
schedule, which leaves all private noise to it. The remainder is |R(θ_n) − R(θ_{n−1}) − 2c²η̃(1)²γ²/ρ²|.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from costofprivacy import _fits
from costofprivacy.dpgd import spectrum, system
from costofprivacy.dpgd.spectrum import RegressionModel, sample
from costofprivacy.dpgd.update import adapted_rates, clipped_gradients
from costofprivacy.experiments.dpgd.deterministic_equivalent.regime import Regime, Sized

DIMENSIONS = (10, 30, 100, 300, 1000)
SCALES = (0.1, 1.0, 100.0, 10000.0)  # ‖v‖² before the step, ‖θ*‖² being 1
RECORDS = 100  # in one trial
UPPER = 0.99  # share of the steps below the upper quantile
MIDDLE = 1 - math.exp(-1)  # and below the middle one: u = 1 in the tail of (C.60), but for constants
BEYOND_THE_CAP = 2.0  # η̃γ/2 at which (C.5) is tried, at every d and times √d


@dataclass(frozen=True)
class Cell(Sized):
    """A dimension and the squared norm of the error before the step; the spectrum is uniform on [0, 2]."""

    scale: float

    @property
    def key(self) -> int:
        """Dimension and norm name the random stream."""
        return len(SCALES) * self.d + SCALES.index(self.scale)

    @property
    def model(self) -> RegressionModel:
        """The data."""
        return self.regime.model(spectrum.uniform(self.d))

    @property
    def start(self) -> np.ndarray:
        """θ_{n−1}."""
        return (1 + math.sqrt(self.scale)) * self.model.target


def cells(regime: Regime) -> list[Cell]:
    """Every dimension at every scale."""
    return [Cell(regime, d, scale) for scale in SCALES for d in DIMENSIONS]


def trial(cell: Cell, *, rng: np.random.Generator) -> np.ndarray:
    """The remainder in `RECORDS` independent last steps, shape (records,)."""
    regime, model, theta, n = cell.regime, cell.model, cell.start, cell.n
    clip_norm, rate, schedule = regime.clip * math.sqrt(cell.d), regime.learning_rate / n, regime.schedule(0.0)
    x, y = sample(model, RECORDS, rng=rng)
    step = adapted_rates(rate, x)[:, None] * clipped_gradients(theta, x, y, clip_norm)
    noise = 2 * clip_norm * rate / regime.rho * rng.standard_normal(x.shape)
    expected = system.last_step(system.of_model(model, n), schedule, regime.clip, regime.rho)
    return np.abs(model.risk(theta - step + noise) - model.risk(theta[None])[0] - expected)


def rows(cell: Cell, samples: np.ndarray) -> pd.DataFrame:
    """Mean and two quantiles of the remainder beside (1 + √R)/√d of (C.60) and log d/√d of (C.61).

    ``squared_norm`` is ‖v‖² before the step, ``risk`` the risk there.
    """
    values = samples.ravel()
    mean, error = _fits.mean_and_error(values)
    spread = math.sqrt(UPPER * (1 - UPPER) / len(values))
    low, upper, high = np.quantile(values, [UPPER - spread, UPPER, UPPER + spread])
    risk = float(cell.model.risk(cell.start[None])[0])
    row = {
        "d": cell.d,
        "squared_norm": cell.scale,
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
    return pd.DataFrame([row])


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
