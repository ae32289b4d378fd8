"""What is measured of the descent and variance reduction factors of arXiv:2505.16329v2."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from scipy.special import erf

from costofprivacy import _fits, _validate
from costofprivacy.dpgd import spectrum
from costofprivacy.dpgd.clipping import (
    clipping_ratio,
    descent_reduction,
    descent_reduction_at,
    variance_reduction,
    variance_reduction_at,
)
from costofprivacy.dpgd.spectrum import RegressionModel, Spectrum
from costofprivacy.dpgd.update import clipped_gradients
from costofprivacy.montecarlo import Runner

LAST_RATIO = 5.0  # Figure 9 ends here
PRECISION_RATIOS = np.logspace(-8, 8, 65)
RISKS = np.concatenate([[0.0], np.logspace(-8, 8, 129)])
SPECTRA: dict[str, Callable[[int], Spectrum]] = {"isotropic": spectrum.isotropic, "uniform": spectrum.uniform}
LAWS: dict[str, spectrum.FeatureLaw] = {
    "Gaussian": spectrum.Gaussian(),
    "Rademacher": spectrum.Rademacher(),
    "Student-t (5)": spectrum.StudentT(5),
}
DIRECTIONS = ("all coordinates", "one coordinate")
DEFINITION_DIMENSION = 20
FAR = 40.0  # standard deviations, beyond which there is nothing
PANELS, NODES = 20, 20  # of a composite Gauss-Legendre rule over that range: exact to rounding


@dataclass(frozen=True)
class Experiment:
    """μ_c and ν_c against their definitions, Lemmas B.1 and B.2, and clipping of whole gradients at finite d.

    Args:
        clip: c > 0, for everything that is simulated.
        label_noise: ζ > 0. excess_risk: R > 0, likewise.
        d: dimensions, each at least 2.
        clips, label_noises: the grid on which Lemma B.2 is tried, each > 0.
        points: points of Figure 9, at least 3.
        records: records in a trial, at least 2. trials: at least 2.
        seed: root of all random streams, ≥ 0.
    """

    clip: float = 1.0
    label_noise: float = 0.3
    excess_risk: float = 0.5
    d: tuple[int, ...] = (10, 30, 100, 300, 1000)
    clips: tuple[float, ...] = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
    label_noises: tuple[float, ...] = (0.1, 0.3, 1.0)
    points: int = 250
    records: int = 2000
    trials: int = 100
    seed: int = 6

    def __post_init__(self) -> None:
        for name in ("clip", "label_noise", "excess_risk"):
            _validate.finite_positive(name, getattr(self, name))
        object.__setattr__(self, "d", _validate.each(_validate.whole, "d", self.d, at_least=2))
        for name in ("clips", "label_noises"):
            object.__setattr__(self, name, _validate.each(_validate.finite_positive, name, getattr(self, name)))
        _validate.whole("points", self.points, at_least=3)
        _validate.whole("records", self.records, at_least=2)
        _validate.whole("trials", self.trials, at_least=2)
        _validate.whole("seed", self.seed, at_least=0)

    @property
    def test_risk(self) -> float:
        """𝒫 = R + ζ²/2 of everything that is simulated."""
        return self.excess_risk + self.label_noise**2 / 2

    def run(self, runner: Runner) -> dict[str, pd.DataFrame]:
        """Tables ``factors``, ``precision``, ``landmarks``, ``bounds``, ``definition`` and ``dimension``."""
        defined = [DefinitionCell(self, *place) for place in DefinitionCell.places()]
        sized = [DimensionCell(self, name, d) for name in SPECTRA for d in self.d]
        definition = runner.run(definition_trial, defined, self.trials, self.seed)
        dimension = runner.run(dimension_trial, sized, self.trials, self.seed)
        return {
            "factors": factors(np.linspace(0, LAST_RATIO, self.points + 1)[1:]),
            "precision": precision(),
            "landmarks": landmarks(),
            "bounds": pd.DataFrame([bounds_row(c, z) for z in self.label_noises for c in self.clips]),
            "definition": pd.concat([definition_rows(c, v) for c, v in definition.items()], ignore_index=True),
            "dimension": pd.concat([dimension_rows(c, v) for c, v in dimension.items()], ignore_index=True),
        }


# ------------------------------------------------------------------------------------------------ closed forms


def factors(ratio: np.ndarray) -> pd.DataFrame:
    """Figure 9: the factors and their quotients by c', with ν/c'² beside them."""
    mu, nu = descent_reduction_at(ratio), variance_reduction_at(ratio)
    return pd.DataFrame(
        {
            "ratio": ratio,
            "mu": mu,
            "mu_over_ratio": mu / ratio,
            "nu": nu,
            "nu_over_ratio": nu / ratio,
            "nu_over_square": nu / ratio**2,
        }
    )


def moments_by_quadrature(ratio: float) -> tuple[float, float, float]:
    """E[ξ²; |ξ| < c'], E[ξ clip(ξ)] and E[clip(ξ)²] of a standard normal ξ clipped at ±c', by Gauss–Legendre.

    These are F, μ and ν by definition; no closed form is used.
    """
    node, weight = _unit_rule()
    inner, outer = min(ratio, FAR) * node, ratio + FAR * node
    inside = 2 * min(ratio, FAR) * (weight * inner**2 * _density(inner)).sum()
    beyond = 2 * FAR * weight * _density(outer)
    return float(inside), float(inside + ratio * (beyond * outer).sum()), float(inside + ratio**2 * beyond.sum())


def _unit_rule() -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights on [0, 1]."""
    node, weight = np.polynomial.legendre.leggauss(NODES)
    start = np.arange(PANELS)[:, None]
    return ((start + (node + 1) / 2) / PANELS).ravel(), np.tile(weight / (2 * PANELS), PANELS)


def _density(u: np.ndarray) -> np.ndarray:
    return np.exp(-(u**2) / 2) / math.sqrt(2 * math.pi)


def printed_F(ratio: np.ndarray) -> np.ndarray:
    """F as the difference that (B.3) prints."""
    return erf(ratio / math.sqrt(2)) - math.sqrt(2 / math.pi) * ratio * np.exp(-(ratio**2) / 2)


def precision() -> pd.DataFrame:
    """Relative differences from the moments by quadrature, for c' from 1e-8 to 1e8; with F as (B.3) has it as well."""
    z = PRECISION_RATIOS
    F, mu, nu = np.array([moments_by_quadrature(r) for r in z]).T
    printed_nu = z**2 * (1 - erf(z / math.sqrt(2))) + printed_F(z)
    computed = {
        "mu_error": (descent_reduction_at(z), mu),
        "nu_error": (variance_reduction_at(z), nu),
        "printed_nu_error": (printed_nu, nu),
        "printed_F_error": (printed_F(z), F),
    }
    return pd.DataFrame({"ratio": z} | {name: np.abs(ours / exact - 1) for name, (ours, exact) in computed.items()})


NU_AT_ONE = "ν at c' = 1, (B.2)"
NU_AT_ONE_MEASURED = "ν at c' = 1, quadrature"
NU_AT_ONE_PRINTED = "1 − √(2/(πe))"
PEAK = "c' at the peak of ν/c'"
PEAK_HEIGHT = "ν/c' at its peak"


def landmarks() -> pd.DataFrame:
    """ν at c' = 1, three ways, and the peak of ν/c', where the two parts of ν are equal: ν = 2c'²(1 − μ)."""
    peak = brentq(lambda z: 2 * z**2 * (1 - descent_reduction_at(z)) - variance_reduction_at(z), 0.5, 3.0, xtol=1e-14)
    value = {
        NU_AT_ONE: variance_reduction_at(1.0),
        NU_AT_ONE_MEASURED: moments_by_quadrature(1.0)[2],
        NU_AT_ONE_PRINTED: 1 - math.sqrt(2 / (math.pi * math.e)),
        PEAK: peak,
        PEAK_HEIGHT: variance_reduction_at(peak) / peak,
    }
    return pd.DataFrame([(name, float(v)) for name, v in value.items()], columns=["landmark", "value"])


def bounds_row(clip: float, label_noise: float) -> dict[str, float]:
    """The two ratios of (B.15) over all risks, their sharp lower bounds at R = 0, and the two cases of (B.17)."""
    test_risk = RISKS + label_noise**2 / 2
    ratio = clipping_ratio(clip, test_risk)
    nu = variance_reduction(clip, test_risk)
    over, square = descent_reduction(clip, test_risk) / ratio, nu / ratio**2
    widest = clip / label_noise
    return {
        "clip": clip,
        "label_noise": label_noise,
        "mu_low": over.min(),
        "mu_high": over.max(),
        "mu_sharp": float(descent_reduction_at(widest)) / widest,
        "nu_low": square.min(),
        "nu_high": square.max(),
        "nu_sharp": float(variance_reduction_at(widest)) / widest**2,
        "nu_half_clipped": square[ratio <= 1].min(initial=math.inf),
        "nu_half_unclipped": nu[ratio > 1].min(initial=math.inf),
    }


# --------------------------------------------------------------------------------------------------- definition


@dataclass(frozen=True)
class DefinitionCell:
    """One parameter vector of the given risk: a spectrum, a direction of the error, a law of the features."""

    experiment: Experiment
    law: str
    spectrum: str
    direction: str

    @staticmethod
    def places() -> list[tuple[str, str, str]]:
        """All of them, in order."""
        return [(law, name, direction) for law in LAWS for name in SPECTRA for direction in DIRECTIONS]

    @property
    def key(self) -> int:
        """The place names the random stream."""
        return self.places().index((self.law, self.spectrum, self.direction))

    @property
    def model(self) -> RegressionModel:
        """A model whose θ = 0 has the given risk."""
        shape = SPECTRA[self.spectrum](DEFINITION_DIMENSION)
        target = np.ones(shape.d) if self.direction == "all coordinates" else np.eye(shape.d)[-1]
        scale = math.sqrt(2 * self.experiment.excess_risk / (target**2 @ shape.eigenvalues))
        return RegressionModel(shape, scale * target, self.experiment.label_noise, LAWS[self.law])


def definition_trial(cell: DefinitionCell, *, rng: np.random.Generator) -> np.ndarray:
    """Means over one trial's records, shape (3,): μ along E[rx], ν, and the share of residuals left whole.

    Along w = E[rx]/‖E[rx]‖² the gradient of θ = 0 has mean 1.
    """
    model, clip = cell.model, cell.experiment.clip
    x, y = spectrum.sample(model, cell.experiment.records, rng=rng)
    mean = -model.spectrum.eigenvalues * model.target
    clipped = np.clip(-y, -clip, clip)
    along = clipped * (x @ (mean / (mean @ mean)))
    second = clipped**2 / (2 * cell.experiment.test_risk)
    return np.array([along.mean(), second.mean(), (np.abs(y) < clip).mean()])


QUANTITIES = ("mu", "nu", "share whole")


def definition_rows(cell: DefinitionCell, samples: np.ndarray) -> pd.DataFrame:
    """Simulated factors beside the closed forms of Lemma B.1; the share of whole residuals is μ again."""
    e = cell.experiment
    mean, error = _fits.mean_and_error(samples)
    mu, nu = float(descent_reduction(e.clip, e.test_risk)), float(variance_reduction(e.clip, e.test_risk))
    place = (cell.law, cell.spectrum, cell.direction)
    rows = [
        (*place, name, *row, len(samples)) for name, *row in zip(QUANTITIES, mean, error, (mu, nu, mu), strict=True)
    ]
    columns = ["law", "spectrum", "direction", "quantity", "value", "standard_error", "closed_form", "trials"]
    return pd.DataFrame(rows, columns=columns)


# ------------------------------------------------------------------------------------------- finite dimension


@dataclass(frozen=True)
class DimensionCell:
    """One spectrum at one dimension."""

    experiment: Experiment
    spectrum: str
    d: int

    @property
    def key(self) -> int:
        """Spectrum and dimension name the random stream."""
        return 1000 + len(SPECTRA) * self.d + list(SPECTRA).index(self.spectrum)

    @property
    def model(self) -> RegressionModel:
        """Equal coefficients; θ = 0 has the given risk."""
        shape = SPECTRA[self.spectrum](self.d)
        target = spectrum.projections(shape, initial_risk=self.experiment.excess_risk)
        return RegressionModel(shape, target, self.experiment.label_noise)


DIMENSION_QUANTITIES = ("distance", "mu shift", "nu shift")


def dimension_trial(cell: DimensionCell, *, rng: np.random.Generator) -> np.ndarray:
    """Clipping the gradient at c√d against clipping the residual at c, on the same records; shape (3,).

    E‖ḡ − r_c x‖² over E‖r_c x‖²; and by how much of themselves μ and ν differ.
    """
    e, model = cell.experiment, cell.model
    x, y = spectrum.sample(model, e.records, rng=rng)
    whole = clipped_gradients(np.zeros(model.d), x, y, e.clip * math.sqrt(model.d))
    clipped = np.clip(-y, -e.clip, e.clip)
    difference = whole - clipped[:, None] * x
    square = np.einsum("nd,nd->n", x, x)
    distance = (difference**2).sum() / (clipped**2 @ square)
    mean = -model.spectrum.eigenvalues * model.target
    mu, nu = float(descent_reduction(e.clip, e.test_risk)), float(variance_reduction(e.clip, e.test_risk))
    along = (difference @ (mean / (mean @ mean))).mean() / mu
    residual = np.clip(-y, -e.clip * np.sqrt(model.d / square), e.clip * np.sqrt(model.d / square))
    return np.array([distance, along, (residual**2 - clipped**2).mean() / (2 * e.test_risk * nu)])


def leading_distance(cell: DimensionCell) -> float:
    """Leading order of the squared distance, (1 − μ)c'²/(2ν) · tr Σ²/d².

    Where |r| > c the two gradients are c√d x/‖x‖ and c x, apart by c|√d − ‖x‖|, whose square has mean tr Σ²/(2d).
    """
    e = cell.experiment
    mu, nu = float(descent_reduction(e.clip, e.test_risk)), float(variance_reduction(e.clip, e.test_risk))
    clipped = (1 - mu) * float(clipping_ratio(e.clip, e.test_risk)) ** 2 / (2 * nu)
    return clipped * cell.model.spectrum.moment(2) / cell.d


def dimension_rows(cell: DimensionCell, samples: np.ndarray) -> pd.DataFrame:
    """Means of the three quantities with their standard errors, and the leading order of the first."""
    mean, error = _fits.mean_and_error(samples)
    closed = (leading_distance(cell), math.nan, math.nan)
    rows = [
        (cell.spectrum, cell.d, *row, len(samples))
        for row in zip(DIMENSION_QUANTITIES, mean, error, closed, strict=True)
    ]
    return pd.DataFrame(rows, columns=["spectrum", "d", "quantity", "value", "standard_error", "closed_form", "trials"])
