"""What the experiments on hyper-parameters share: the two schedules, the equations, and rows to tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from companion.streams import Runner
from costofprivacy.dpgd import system
from costofprivacy.dpgd.rates import CONSTANT, OUTPUT
from costofprivacy.dpgd.schedule import Constant, Polynomial, Schedule
from costofprivacy.dpgd.system import System

ALPHAS = (OUTPUT, CONSTANT)
NAMES = {OUTPUT: "output perturbation", CONSTANT: "constant noise"}
TOLERANCE = 1e-4  # relative, of a risk


def schedule(alpha: float, rate: float) -> Schedule:
    """η̃(0)(1 − t)^α with α = 0 or ½, (5.1)."""
    return Constant(rate) if alpha == OUTPUT else Polynomial(rate, alpha)


def equations(
    gamma: float, label_noise: float, initial_risk: float, least: float = 1.0, aligned: bool = False
) -> System:
    """Definition 4.2 for half of the eigenvalues at λ_min and half at 2 − λ_min, so that tr Σ = d.

    The target is even, (θ*_i)² equal, with the given R(0); or it lies in the lower eigenspace with ‖θ*‖ = 1, and R(0)
    is λ_min/2.
    """
    if least == 1.0:
        return system.isotropic(initial_risk, gamma, label_noise)
    energies = [1.0, 0.0] if aligned else [initial_risk, initial_risk]
    return system.of_spectrum([least, 2 - least], energies, gamma, label_noise)


def tabulated(
    runner: Runner,
    trial: Callable[..., np.ndarray],
    cells: Sequence[Any],
    rows: Callable[[Any, np.ndarray], list[dict[str, Any]]],
) -> pd.DataFrame:
    """The rows of cells in which nothing is drawn, computed by the runner, each once."""
    distinct = list(dict.fromkeys(cells))
    found = runner.run(trial, distinct, 1, 0)
    return pd.DataFrame([row for cell in cells for row in rows(cell, found[cell][0])])
