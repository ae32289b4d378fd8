"""What is measured of the descent and variance reduction factors of arXiv:2505.16329v2."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from scipy.special import erf

from chapters.ranges import CLIP, NOISE, RISK, SEED, TRIALS, amount, count
from companion import _fits
from companion.declaration import Parameters, many, parameter
from companion.streams import Runner
from costofprivacy.dpgd import draws, spectrum
from costofprivacy.dpgd.chain import eigenspaces
from costofprivacy.dpgd.clipping import (
    clipping_ratio,
    descent_reduction,
    descent_reduction_at,
    variance_reduction,
    variance_reduction_at,
)
from costofprivacy.dpgd.spectrum import RegressionModel, Spectrum

RISKS = np.concatenate([[0.0], np.logspace(-8, 8, 129)])
SPECTRA: dict[str, Callable[[int], Spectrum]] = {"isotropic": spectrum.isotropic, "uniform": spectrum.uniform}
LAWS: dict[str, spectrum.FeatureLaw] = {
    "Gaussian": spectrum.Gaussian(),
    "Rademacher": spectrum.Rademacher(),
    "Student-t (5)": spectrum.StudentT(5),
}
PLACES = list(product(LAWS, SPECTRA, ("all coordinates", "one coordinate")))
DEFINITION_DIMENSION = 20
FAR = 40.0  # standard deviations, beyond which there is nothing
CHUNK = 100  # records drawn at a time
PANELS, NODES = 20, 20  # of a composite Gauss-Legendre rule over that range: exact to rounding


class Experiment(Parameters):
    """μ_c and ν_c against their definitions, Lemmas B.1 and B.2, and clipping of whole gradients at finite d."""

    clip: float = parameter(CLIP, 1.0)
    """Clipping constant c of everything that is simulated."""
    label_noise: float = parameter(NOISE, 0.3)
    """Standard deviation ζ of the label noise in everything that is simulated."""
    excess_risk: float = parameter(RISK, 0.5)
    """Risk of the simulated coefficients above that of the best predictor."""
    d: tuple[int, ...] = many(count(2, 10**5), 10, 30, 100, 300, 1000)
    """Dimensions in which whole gradients are clipped."""
    clips: tuple[float, ...] = many(amount(1e-6, 1e4), 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
    """Clipping constants c on which Lemma B.2 is tried."""
    label_noises: tuple[float, ...] = many(NOISE, 0.1, 0.3, 1.0)
    """Standard deviations ζ of the label noise on which Lemma B.2 is tried."""
    points: int = parameter(count(3, 10**5), 250)
    """Points of Figure 9."""
    records: int = parameter(count(2, 10**8), 2000)
    """Records in a trial."""
    trials: int = parameter(TRIALS, 100)
    seed: int = parameter(SEED, 6)

    def run(self, runner: Runner) -> dict[str, pd.DataFrame]:
        places = [self.shared(DefinitionCell, law=law, spectrum=s, direction=way) for law, s, way in PLACES]
        sizes = [self.shared(DimensionCell, spectrum=name, d=d) for name, d in product(SPECTRA, self.d)]
        definition = runner.run(definition_trial, places, self.trials, self.seed)
        dimension = runner.run(dimension_trial, sizes, self.trials, self.seed)
        return {
            "factors": factors(np.linspace(0, 5, self.points + 1)[1:]),
            "precision": precision(),
            "landmarks": landmarks(),
            "bounds": pd.DataFrame([bounds_row(c, z) for z in self.label_noises for c in self.clips]),
            "definition": pd.concat([definition_rows(c, v) for c, v in definition.items()], ignore_index=True),
            "dimension": pd.concat([dimension_rows(c, v) for c, v in dimension.items()], ignore_index=True),
        }


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
    node, weight = np.polynomial.legendre.leggauss(NODES)  # on [−1, 1], then on each panel of [0, 1]
    node = ((np.arange(PANELS)[:, None] + (node + 1) / 2) / PANELS).ravel()
    weight = np.tile(weight / (2 * PANELS), PANELS)
    inner, outer = min(ratio, FAR) * node, ratio + FAR * node
    near, far = (np.exp(-(u**2) / 2) / math.sqrt(2 * math.pi) for u in (inner, outer))
    inside = 2 * min(ratio, FAR) * (weight * inner**2 * near).sum()
    beyond = 2 * FAR * weight * far
    return float(inside), float(inside + ratio * (beyond * outer).sum()), float(inside + ratio**2 * beyond.sum())


def precision() -> pd.DataFrame:
    """Relative differences from the moments by quadrature, for c' from 1e-8 to 1e8; with F as (B.3) prints it, too."""
    z = np.logspace(-8, 8, 65)
    F, mu, nu = np.array([moments_by_quadrature(r) for r in z]).T
    printed_F = erf(z / math.sqrt(2)) - math.sqrt(2 / math.pi) * z * np.exp(-(z**2) / 2)
    printed_nu = z**2 * (1 - erf(z / math.sqrt(2))) + printed_F
    computed = {
        "mu_error": (descent_reduction_at(z), mu),
        "nu_error": (variance_reduction_at(z), nu),
        "printed_nu_error": (printed_nu, nu),
        "printed_F_error": (printed_F, F),
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
    return pd.DataFrame({"landmark": list(value), "value": [float(v) for v in value.values()]})


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


@dataclass(frozen=True)
class Clipping:
    """What every simulated gradient has in common: one risk, one clipping constant."""

    clip: float
    label_noise: float
    excess_risk: float
    records: int

    @property
    def test_risk(self) -> float:
        """𝒫 = R + ζ²/2."""
        return self.excess_risk + self.label_noise**2 / 2

    @property
    def mu(self) -> float:
        return float(descent_reduction(self.clip, self.test_risk))

    @property
    def nu(self) -> float:
        return float(variance_reduction(self.clip, self.test_risk))


@dataclass(frozen=True)
class DefinitionCell(Clipping):
    """One parameter vector of the given risk: a spectrum, a direction of the error, a law of the features."""

    law: str
    spectrum: str
    direction: str

    @property
    def key(self) -> int:
        return PLACES.index((self.law, self.spectrum, self.direction))

    @property
    def model(self) -> RegressionModel:
        """A model whose θ = 0 has the given risk."""
        shape = SPECTRA[self.spectrum](DEFINITION_DIMENSION)
        target = np.ones(shape.d) if self.direction == "all coordinates" else np.eye(shape.d)[-1]
        scale = math.sqrt(2 * self.excess_risk / (target**2 @ shape.eigenvalues))
        return RegressionModel(shape, scale * target, self.label_noise, LAWS[self.law])


def definition_trial(cell: DefinitionCell, *, rng: np.random.Generator) -> np.ndarray:
    """Means over one trial's records, shape (3,): μ along E[rx], ν, and the share of residuals left whole.

    Along E[rx]/‖E[rx]‖² the unclipped gradient has mean 1.
    """
    x, y = spectrum.sample(cell.model, cell.records, rng=rng)
    clipped, mean = np.clip(-y, -cell.clip, cell.clip), -cell.model.spectrum.eigenvalues * cell.model.target
    along = clipped * (x @ (mean / (mean @ mean)))
    second = clipped**2 / (2 * cell.test_risk)
    return np.array([along.mean(), second.mean(), (np.abs(y) < cell.clip).mean()])


def definition_rows(cell: DefinitionCell, samples: np.ndarray) -> pd.DataFrame:
    """Simulated factors beside the closed forms of Lemma B.1; the share of whole residuals is μ again."""
    mean, error = _fits.mean_and_error(samples)
    quantities = ["mu", "nu", "share whole"]
    place = {"law": cell.law, "spectrum": cell.spectrum, "direction": cell.direction, "quantity": quantities}
    closed = (cell.mu, cell.nu, cell.mu)
    return pd.DataFrame(place | {"value": mean, "standard_error": error, "closed_form": closed, "trials": len(samples)})


@dataclass(frozen=True)
class DimensionCell(Clipping):
    """One spectrum at one dimension."""

    spectrum: str
    d: int

    @property
    def key(self) -> int:
        return 1000 + len(SPECTRA) * self.d + list(SPECTRA).index(self.spectrum)

    @property
    def model(self) -> RegressionModel:
        """Equal coefficients; θ = 0 has the given risk."""
        shape = SPECTRA[self.spectrum](self.d)
        return RegressionModel(shape, spectrum.projections(shape, initial_risk=self.excess_risk), self.label_noise)


def dimension_trial(cell: DimensionCell, *, rng: np.random.Generator) -> np.ndarray:
    """Clipping the gradient at c√d against clipping the residual at c, on the same records; shape (3,).

    E‖ḡ − r_c x‖² over E‖r_c x‖²; and by how much of themselves μ and ν differ. Clipping the gradient at c√d clips the
    residual at c√d/‖x‖, so ḡ − r_c x is a multiple of x, and `lengths` say all that is asked of x.
    """
    y, along, square = lengths(cell.model, cell.records, rng=rng)
    clipped, limit = np.clip(-y, -cell.clip, cell.clip), cell.clip * np.sqrt(cell.d / square)
    whole = np.clip(-y, -limit, limit)
    distance = ((whole - clipped) ** 2 @ square) / (clipped**2 @ square)
    second = (whole**2 - clipped**2).mean() / (2 * cell.test_risk * cell.nu)
    return np.array([distance, ((whole - clipped) * along).mean() / cell.mu, second])


def lengths(
    model: RegressionModel, records: int, *, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """y, ⟨x, E[rx]⟩/‖E[rx]‖² and ‖x‖² of Gaussian records, shape (records,), by 2G draws each for G eigenvalues.

    *Proof.* θ* and Σθ* have in the eigenspace of λ_g the direction e_g. The part of x there is √λ_g(ξ_g e_g + w_g) with
    ξ_g ~ N(0, 1) and ‖w_g‖² ~ χ²(m_g − 1) independent, and the three numbers read of it ξ_g and ‖w_g‖² alone. ∎
    """
    spaces = eigenspaces(model)
    values, norms, rest = spaces.eigenvalues, spaces.target_norms, spaces.multiplicities - 1
    slopes = np.stack([np.sqrt(values) * norms, -(values**1.5) * norms / (values**2 @ norms**2)], axis=1)
    products, square = np.empty((records, 2)), np.empty(records)
    for first in range(0, records, CHUNK):
        part = slice(first, min(first + CHUNK, records))
        xi = draws.normals((part.stop - first, len(values)), rng)
        products[part], square[part] = xi @ slopes, xi**2 @ values
    if rest.any():
        square += rng.chisquare(rest[rest > 0], (records, int((rest > 0).sum()))) @ values[rest > 0]
    return products[:, 0] + model.label_noise * draws.normals(records, rng), products[:, 1], square


def dimension_rows(cell: DimensionCell, samples: np.ndarray) -> pd.DataFrame:
    """Means of the three quantities, and the leading order of the first, (1 − μ)c'²/(2ν) · tr Σ²/d².

    Where |r| > c the two gradients are c√d x/‖x‖ and c x, apart by c|√d − ‖x‖|, whose square has mean tr Σ²/(2d).
    """
    mean, error = _fits.mean_and_error(samples)
    place = {"spectrum": cell.spectrum, "d": cell.d, "quantity": ["distance", "mu shift", "nu shift"]}
    clipped = (1 - cell.mu) * float(clipping_ratio(cell.clip, cell.test_risk)) ** 2 / (2 * cell.nu)
    closed = (clipped * cell.model.spectrum.moment(2) / cell.d, math.nan, math.nan)
    return pd.DataFrame(place | {"value": mean, "standard_error": error, "closed_form": closed, "trials": len(samples)})
