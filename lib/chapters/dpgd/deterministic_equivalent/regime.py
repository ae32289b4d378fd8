"""What the experiments on the deterministic equivalent share: the numbers of Figure 1, its spectra, rows to tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from costofprivacy import _validate
from costofprivacy.dpgd import spectrum, system
from costofprivacy.dpgd.chain import Eigenspaces
from costofprivacy.dpgd.descent import Configuration
from costofprivacy.dpgd.schedule import Constant, Polynomial, Schedule
from costofprivacy.dpgd.spectrum import RegressionModel, Spectrum
from costofprivacy.dpgd.system import System

ALPHAS = (0.0, 0.5)  # of η̃(t) = η̃(0)(1 − t)^α in Figure 1
LEVELS = 4  # distinct eigenvalues where the uniform spectrum is to be cheap
SCHEDULES = {0.0: "constant", 0.5: "square root"}


@dataclass(frozen=True)
class Regime:
    """The numbers of Figure 1 that all cells have in common: γ, ρ, ζ, c and η̃(0)."""

    gamma: float
    rho: float
    label_noise: float
    clip: float
    learning_rate: float

    def samples(self, d: int) -> int:
        """n for dimension d: d/γ, rounded, at least 1."""
        return max(1, round(d / self.gamma))

    def dimension(self, n: int) -> int:
        """d for n samples: γn, rounded, at least 1."""
        return max(1, round(self.gamma * n))

    def model(self, values: Spectrum) -> RegressionModel:
        """The data of Figure 1 with this spectrum: (θ*_i)² = 1/d."""
        return RegressionModel(values, np.full(values.d, values.d**-0.5), self.label_noise)

    def schedule(self, alpha: float) -> Schedule:
        """η̃(0)(1 − t)^α, α = 0 included."""
        return Constant(self.learning_rate) if alpha == 0 else Polynomial(self.learning_rate, alpha)

    def configuration(self, schedule: Schedule) -> Configuration:
        """Algorithm 1 with this schedule."""
        return Configuration(self.clip, schedule, self.rho)


@dataclass(frozen=True)
class Sized:
    """A dimension, with the number of samples that belongs to it."""

    regime: Regime
    d: int

    @property
    def n(self) -> int:
        """Number of samples."""
        return self.regime.samples(self.d)


def levelled(d: int) -> Spectrum:
    """The uniform spectrum on [0, 2] in `LEVELS` levels, its quantiles at dimension `LEVELS`; trace d.

    Raises:
        ValueError: if ``d`` is below `LEVELS`.
    """
    _validate.whole("d", d, at_least=LEVELS)
    shares = np.arange(d) * LEVELS // d
    return Spectrum(spectrum.uniform(LEVELS).eigenvalues[shares]).normalised()


def system_of(spaces: Eigenspaces, n: int) -> System:
    """Definition 4.2 with equal eigenvalues gathered, as many equations as there are distinct ones."""
    energies = spaces.d * spaces.target_norms**2 / (2 * spaces.multiplicities)
    shares = spaces.multiplicities / spaces.d
    return system.of_spectrum(spaces.eigenvalues, energies, spaces.d / n, spaces.label_noise, shares)


def bound(n: float) -> float:
    """log²n/√n, the bound of Theorem 1."""
    return float(np.log(n) ** 2 / np.sqrt(n))


def gathered(rows: Callable[[Any, np.ndarray], pd.DataFrame], samples: Mapping[Any, np.ndarray]) -> pd.DataFrame:
    """The rows of all cells, one after the other."""
    return pd.concat([rows(cell, values) for cell, values in samples.items()], ignore_index=True)
