"""What the experiments on the deterministic equivalent share: the setting of Figure 1 and its spectra."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from costofprivacy import _validate
from costofprivacy.dpgd import spectrum, system
from costofprivacy.dpgd.chain import Eigenspaces
from costofprivacy.dpgd.schedule import Constant, Polynomial, Schedule
from costofprivacy.dpgd.spectrum import RegressionModel, Spectrum
from costofprivacy.dpgd.system import System

ALPHAS = (0.0, 0.5)  # of η̃(t) = η̃(0)(1 − t)^α in Figure 1
LEVELS = 4  # distinct eigenvalues where the uniform spectrum is to be cheap
SCHEDULES = {0.0: "constant", 0.5: "square root"}


@dataclass(frozen=True)
class Setting:
    """The numbers of Figure 1 that all cells have in common.

    Args:
        gamma: γ. rho: ρ. zeta: ζ. c: clipping constant. initial_rate: η̃(0). All positive; only ρ may be ∞.

    Raises:
        ValueError: if a number is outside its range.
    """

    gamma: float = 0.1
    rho: float = 1.0
    zeta: float = 0.3
    c: float = 1.0
    initial_rate: float = 3.0

    def __post_init__(self) -> None:
        for name in ("gamma", "zeta", "c", "initial_rate"):
            _validate.finite_positive(name, getattr(self, name))
        _validate.positive("rho", self.rho)

    def samples(self, d: int) -> int:
        """n for dimension d: d/γ, rounded, at least 1."""
        return max(1, round(d / self.gamma))

    def model(self, values: Spectrum) -> RegressionModel:
        """The data of Figure 1 with this spectrum: (θ*_i)² = 1/d."""
        return RegressionModel(values, np.full(values.d, values.d**-0.5), self.zeta)


def polynomial(initial_rate: float, alpha: float) -> Schedule:
    """η̃(0)(1 − t)^α, α = 0 included."""
    return Constant(initial_rate) if alpha == 0 else Polynomial(initial_rate, alpha)


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
