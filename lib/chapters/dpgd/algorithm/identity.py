"""(1.1) of arXiv:2505.16329v2: the excess risk from simulated prediction errors, for several laws of the features."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from companion import _fits
from costofprivacy.dpgd import spectrum
from costofprivacy.dpgd.spectrum import RegressionModel

DIMENSION = 10
LAWS: dict[str, spectrum.FeatureLaw] = {"Gaussian": spectrum.Gaussian(), "Student-t (5)": spectrum.StudentT(5)}
RECORDS = 20_000


@dataclass(frozen=True)
class IdentityCell:
    """One law of the features."""

    law: str
    label_noise: float

    @property
    def key(self) -> int:
        """The law names the random stream."""
        return 10**9 + list(LAWS).index(self.law)


def identity_trial(cell: IdentityCell, *, rng: np.random.Generator) -> np.ndarray:
    """Half the mean squared error of a random θ on fresh records, less ζ²/2, over its risk; shape (1,)."""
    shape = spectrum.uniform(DIMENSION)
    model = RegressionModel(shape, spectrum.projections(shape), cell.label_noise, LAWS[cell.law])
    theta = rng.standard_normal(shape.d)
    x, y = spectrum.sample(model, RECORDS, rng=rng)
    error = ((x @ theta - y) ** 2).mean() / 2 - cell.label_noise**2 / 2
    return np.array([error / float(model.risk(theta))])


def identity_rows(cell: IdentityCell, samples: np.ndarray) -> pd.DataFrame:
    """Mean ratio of the two sides of (1.1)."""
    mean, error = _fits.mean_and_error(samples)
    return pd.DataFrame({"law": cell.law, "ratio": mean, "standard_error": error, "trials": len(samples)})
