"""The single steps of Appendix D.4, each beside an independent calculation."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.integrate import quad
from scipy.stats import chi2

from companion import _fits
from costofprivacy.dpgd import lower_bound, spectrum
from costofprivacy.dpgd.spectrum import RegressionModel, Spectrum

MASS, SQUARE, FIRST, SECOND, REACH = "mass", "mean square", "minus mean of z times score", "mean square score", "reach"
PRIOR_DIMENSIONS = (1, 10, 1000)
ORDERS = (1.01, 1.5, 2.0, 3.0, 5.0)
GAUSSIAN, RESPONSE, LAPLACE = "Gaussian", "randomised response", "Laplace"
FROM_TWIN, FROM_DATA = "from the neighbour", "from the data"
BALL_DIMENSIONS = (10, 30, 100, 300, 1000)
BALL_NOISES = (0.3, 1.0, 1.3, 3.0)
BALL_RATIOS = (1.1, 3.0, 30.0)  # n/d
LEMMA_NOISES = (0.3, 3.0)
GRID = np.concatenate([np.logspace(-6, 0, 61)[:-1], np.logspace(0, 1, 31)[1:]])  # of ρ, without 1
FOUR = 4.0  # (2λ_max)² of (D.156) for λ_max = 1


def prior() -> pd.DataFrame:
    """The moments of the prior by quadrature, beside what (D.133) and (D.134) print."""
    rows = []
    for d in PRIOR_DIMENSIONS:
        edge = d**-0.5

        def mean(of: Callable[[float], float], d: int = d, edge: float = edge) -> float:
            return quad(lambda z: of(z) * float(lower_bound.prior_density(z, d)), -edge, edge, epsabs=0, limit=200)[0]

        def score(z: float, d: int = d) -> float:
            return float(lower_bound.prior_score(z, d))

        rows += [
            (d, MASS, mean(lambda z: 1.0), 1.0),
            (d, SQUARE, d * mean(lambda z: z * z), 1 / 7),
            (d, FIRST, -mean(_first(score)), -1.0),  # (D.134) has a second minus sign inside
            (d, SECOND, mean(_second(score)) / d, 10.0),
            (d, REACH, d * edge**2, 1.0),
        ]
    return pd.DataFrame(rows, columns=["d", "quantity", "value", "printed"])


def _first(score: Callable[[float], float]) -> Callable[[float], float]:
    return lambda z: z * score(z)


def _second(score: Callable[[float], float]) -> Callable[[float], float]:
    return lambda z: score(z) ** 2


def priors() -> pd.DataFrame:
    """κ of the paper's prior beside the least of independent entries on its cube, and the least on the ball."""
    rows = [
        {"d": d, "paper": lower_bound.PRIOR_INFORMATION, "cube": lower_bound.CUBE_INFORMATION,
         "ball": lower_bound.ball_information(d)}
        for d in (1, 10, 100, 1000, 10_000)
    ]  # fmt: skip
    return pd.DataFrame(rows)


def likelihood(rhos: Sequence[float]) -> pd.DataFrame:
    """E L^α of three ρ²/2-zCDP mechanisms beside (5.26), the output drawn from either of the neighbours.

    A mechanism that is ε-DP is ε²/2-zCDP (Bun and Steinke 2016): randomised response and Laplace have ε = ρ.
    """
    rows = []
    for rho in rhos:
        for order in ORDERS:
            for law, power in ((FROM_TWIN, order), (FROM_DATA, order + 1)):
                bound = math.exp(order * (order - 1) * rho**2 / 2)
                for name, of in MECHANISMS.items():
                    rows.append((name, rho, order, law, of(rho, power), bound))
    return pd.DataFrame(rows, columns=["mechanism", "rho", "order", "law", "value", "bound"])


def _gaussian(rho: float, power: float) -> float:
    """∫ p^a q^{1−a} for N(ρ, 1) and N(0, 1), by quadrature."""

    def integrand(u: float) -> float:
        return math.exp(power * (rho * u - rho**2 / 2) - u * u / 2) / math.sqrt(2 * math.pi)

    centre = power * rho
    return quad(integrand, centre - 12, centre + 12, epsabs=0, limit=200)[0]


def _response(rho: float, power: float) -> float:
    """The same for a bit that is told truly with odds e^ρ."""
    true = 1 / (1 + math.exp(-rho))
    return true**power * (1 - true) ** (1 - power) + (1 - true) ** power * true ** (1 - power)


def _laplace(rho: float, power: float) -> float:
    """The same for Laplace noise of scale 1 about 0 and ρ: constant outside, an exponential between."""
    inside = quad(lambda u: 0.5 * math.exp(-power * u - (1 - power) * (rho - u)), 0, rho, epsabs=0)[0]
    return 0.5 * math.exp((power - 1) * rho) + inside + 0.5 * math.exp(-power * rho)


MECHANISMS = {GAUSSIAN: _gaussian, RESPONSE: _response, LAPLACE: _laplace}


# ------------------------------------------------------------------------------------------------------- Lemma D.8


def outside() -> pd.DataFrame:
    """(D.156) with the estimator that always says one point of the sphere, Σ = I: does leaving the ball cost so little?

    With w = (spread/d) χ²_d for ‖θ*‖², the risk is ½(1 + w) on average over directions.
    """
    rows = []
    for noise in BALL_NOISES:
        for ratio in BALL_RATIOS:
            spread = noise**2 / (2 * ratio)
            for d in BALL_DIMENSIONS:
                leaves = lower_bound.outside_ball(d, spread)
                cost = 0.5 * (leaves + spread * float(chi2.sf(d / spread, d + 2)))
                rows.append(
                    {"label_noise": noise, "ratio": ratio, "d": d, "spread": spread, "leaves": leaves, "cost": cost,
                     "printed": 2 * math.sqrt(leaves), "square": lower_bound.projected_square(d, spread),
                     "square_printed": FOUR}
                )  # fmt: skip
    return pd.DataFrame(rows)


def lemma_d8() -> pd.DataFrame:
    """Lemma D.8 with every constant, by the prior of Lemma D.6: at n = 2d, at n = d², where n grows alone; Σ = I."""
    rows = []
    sizes = [10.0**k for k in range(1, 7)]
    for noise in LEMMA_NOISES:
        axes = {"n = 2d": [(d, 2 * d) for d in sizes], "n = d²": [(d, d * d) for d in sizes]}
        axes["n alone"] = [(10.0, 10.0 * k) for k in sizes]
        for axis, places in axes.items():
            for d, n in places:
                penalty = lower_bound.PRIOR_INFORMATION * noise**2 * d / n
                lower = lower_bound.spread_bound([1.0], d / n, noise, penalty)
                rows.append({"axis": axis, "label_noise": noise, "d": d, "n": n, "rate": d / n, "lower": lower})
    return pd.DataFrame(rows)


@dataclass(frozen=True)
class BayesCell:
    """The Gaussian prior of Lemma D.8 in a small dimension."""

    spectrum: str
    d: int
    n: int
    label_noise: float

    @property
    def key(self) -> int:
        """Size and spectrum name the stream."""
        return 2 * 10**12 + 1000 * self.n + 10 * self.d + ("isotropic", "uniform").index(self.spectrum)

    @property
    def shape(self) -> Spectrum:
        """The eigenvalues, of mean 1."""
        return spectrum.isotropic(self.d) if self.spectrum == "isotropic" else spectrum.uniform(self.d)

    @property
    def penalty(self) -> float:
        """λ = 2λ_max."""
        return 2 * self.shape.largest


def bayes_trial(cell: BayesCell, *, rng: np.random.Generator) -> np.ndarray:
    """The risk of the posterior mean, and tr{(X'X/n + λ)⁻¹Σ}ζ²/n, shape (2,)."""
    target = cell.label_noise / math.sqrt(cell.penalty * cell.n) * rng.standard_normal(cell.d)
    model = RegressionModel(cell.shape, target, cell.label_noise)
    x, y = spectrum.sample(model, cell.n, rng=rng)
    inverse = np.linalg.inv(x.T @ x / cell.n + cell.penalty * np.eye(cell.d))
    theta = inverse @ (x.T @ y) / cell.n
    trace = float(inverse.diagonal() @ cell.shape.eigenvalues)
    return np.array([float(model.risk(theta)), cell.label_noise**2 / cell.n * trace])


def bayes_rows(cell: BayesCell, samples: np.ndarray) -> dict[str, object]:
    """The measured Bayes risk beside the first and the last line of (D.157)."""
    mean, error = _fits.mean_and_error(samples)
    return {
        "spectrum": cell.spectrum,
        "d": cell.d,
        "n": cell.n,
        "risk": mean[0],
        "standard_error": error[0],
        "trace": mean[1],
        "trace_error": error[1],
        "last": cell.label_noise**2 * cell.d / (4 * cell.shape.largest * cell.n),
        "trials": len(samples),
    }


def orders() -> pd.DataFrame:
    """(D.160) and (D.161) on a grid of ρ, at n = d: the quotient that each says stays between constants."""
    square = GRID**2
    both = lower_bound.chi_square(GRID) / square
    return pd.DataFrame(
        {"rho": GRID, "quotient": both, "first": 1 / lower_bound.chi_square(GRID), "second": 1 / square}
    )
