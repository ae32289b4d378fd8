"""Figure 1 of arXiv:2505.16329v2: the risk along Algorithm 1 beside the solution of (4.7) and (4.8)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from chapters.dpgd.deterministic_equivalent.regime import ALPHAS, Sized
from companion import _fits
from costofprivacy.dpgd import equivalent, spectrum, system
from costofprivacy.dpgd.descent import Configuration, descend, steps_at
from costofprivacy.dpgd.spectrum import RegressionModel

TIMES = np.arange(101) / 100  # t = 1 is the released iterate
SPECTRA = {"isotropic": spectrum.isotropic, "uniform": spectrum.uniform}


@dataclass(frozen=True)
class Cell(Sized):
    """A spectrum in one dimension; both schedules run on its data."""

    spectrum: str

    @property
    def key(self) -> int:
        """(d, spectrum) names the random stream."""
        return 2 * self.d + (self.spectrum == "uniform")

    @property
    def model(self) -> RegressionModel:
        """The data."""
        return self.regime.model(SPECTRA[self.spectrum](self.d))

    @property
    def configurations(self) -> list[Configuration]:
        """Algorithm 1 with the schedule of each α."""
        return [self.regime.configuration(self.regime.schedule(alpha)) for alpha in ALPHAS]


def trial(cell: Cell, *, rng: np.random.Generator) -> np.ndarray:
    """The risk at `TIMES` in one run of each schedule, shape (schedules, times)."""
    return descend(cell.model, cell.configurations, cell.n, TIMES, rng=rng).risk


def rows(cell: Cell, samples: np.ndarray) -> pd.DataFrame:
    """Mean and standard deviation of the risk beside R(t); at t = 1 beside the level of (4.23)."""
    model, equations = cell.model, system.of_model(cell.model, cell.n)
    when = steps_at(TIMES, cell.n) / cell.n
    parts = []
    for a, (alpha, way) in enumerate(zip(ALPHAS, cell.configurations)):
        mean, error = _fits.mean_and_error(samples[:, a])
        told = (equations, way.schedule, way.clip, way.rho)
        predicted = equivalent.risk_path(*told, when)
        predicted[-1] = equivalent.final_risk(*told)
        columns = {
            "spectrum": cell.spectrum,
            "alpha": alpha,
            "d": cell.d,
            "t": TIMES,
            "risk_mean": mean,
            "risk_sd": error * np.sqrt(len(samples)),
            "ode_risk": predicted,
            "trials": len(samples),
            "standard_error": error,
            "test_error": 2 * mean + model.label_noise**2,
            "response_variance": model.response_variance,
        }
        parts.append(pd.DataFrame(columns))
    return pd.concat(parts, ignore_index=True)
