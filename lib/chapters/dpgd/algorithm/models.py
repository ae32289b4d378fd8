"""What Algorithm 1 is run on in this chapter: two covariances of trace d, and where the harmonic schedule begins."""

from __future__ import annotations

import numpy as np

from costofprivacy.dpgd import spectrum
from costofprivacy.dpgd.spectrum import RegressionModel

INITIAL_RISK = 0.5  # of θ = 0
ISOTROPIC = "Σ = I"
FEW_STRONG = "few strong directions"
STRONG_SHARE, STRONG = 0.004, 13.0  # how many eigenvalues are strong, and how large they are where the trace is d
SPECTRA: dict[str, tuple[float, ...]] = {ISOTROPIC: (1.0,), "two levels": (0.5, 1.5)}  # eigenvalues, equally many


def regression_model(covariance: str, d: int, label_noise: float) -> RegressionModel:
    """A covariance of `SPECTRA` in dimension d, with a target whose every coordinate counts alike."""
    shape = spectrum.Spectrum(np.resize(SPECTRA[covariance], d)).normalised()
    return RegressionModel(shape, spectrum.projections(shape, initial_risk=INITIAL_RISK), label_noise)


def few_strong(d: int, label_noise: float) -> RegressionModel:
    """A few strong directions hold the whole signal, all others are alike and hold none; trace d and risk ½ at 0."""
    count = max(1, round(STRONG_SHARE * d))
    values, target = np.full(d, (d - count * STRONG) / (d - count)), np.zeros(d)
    values[:count], target[:count] = STRONG, np.sqrt(2 * INITIAL_RISK / (count * STRONG))
    return RegressionModel(spectrum.Spectrum(values), target, label_noise)


def dimension(gamma: float, n: int) -> int:
    """d = γn, rounded, and at least 2."""
    return max(2, round(gamma * n))


def time_offset(share: float, gamma: float, rho: float) -> float:
    """τ of the harmonic schedule β/(t + τ), a multiple of max(γ, γ/ρ) as Theorem 2 scales it."""
    return share * max(gamma, gamma / rho)
