r"""The excess risk that a private fit is expected to have, by formula and from public numbers alone.

On the scale with tr Σ = d let the features' second moment have the eigenvalues λ_i, and write e_i for the mean square
of the error of θ along the i-th eigenvector, so that the excess risk is R = ½ Σ λ_i e_i. Records that are longer than B
are shortened, which keeps the share m of the second moment (`kept`). A clipped gradient keeps the share μ of its mean
and has the second moment 2𝒫ν per coordinate (`costofprivacy.dpgd.clipping`), where 𝒫 = R + ζ²/2.

*A step* of length η on the mean gradient, with noise of standard deviation s in each coordinate of it,

.. math:: e_i \leftarrow (1 - \eta\mu m\lambda_i)^2 e_i + \eta^2 s^2 .

*A perturbed minimum* around a point with the errors e_i, with penalty Λ and noise σ beside the sum of n gradients,

.. math:: R = \tfrac12\sum_i\lambda_i\frac{\Lambda^2 e_i + \sigma^2}{(n\mu m\lambda_i + \Lambda)^2}
    + \frac d{2n}\cdot\frac{2\nu\mathcal{P}}{\mu^2},

which is solved for R by iteration. The second term is what n records cannot tell, with or without privacy (least
squares have dζ²/2n).

*Beside least squares on the same records.* Let p_i be what is left of the way from 0 to the minimum along the i-th
eigenvector. The error of sampling is (1 − p_i) times that of the clipped minimum, and this is that of least squares
plus one that is not correlated with it (Gauss and Markov). So the excess over least squares on the same records has

.. math:: \frac1{2n}\sum_i \Big(p_i^2\zeta^2 + (1 - p_i)^2\big(2\nu\mathcal{P}/\mu^2 - \zeta^2\big)\Big)

where the excess over the truth has (1 − p_i)² 2ν𝒫/μ².

*What is not linear* adds a bias. Where the true relation is not quite linear, clipped gradients and shortened records
aim at another linear predictor than least squares do. The excess risk of that one is taken to be

.. math:: w R(0)\Big(\frac{1}{1 + c^2/2\mathcal{P}} + \frac15\Big(\frac{\sqrt d}{B}\Big)^3\Big).

This is an empirical rule, not a theorem. It was read off four small data sets of scikit-learn, on which no method is
compared in the book (digits, breast cancer, wine, iris). There w is between 0.001 and 0.1.

*Which spectrum, and which w* (`KINDS`). A plan has to do well for more than one spectrum, where none is stated. So a
risk is computed for each of three geometric spectra. Their geometric mean is what a plan is chosen by and what a
forecast says, and their range is its range. Coefficients are taken to be alike in size, so that a direction
explains in proportion to its λ_i. "real" stands for tables of measurements: strongly correlated columns (scaled to
variance 1, those of the sets above have condition numbers from 45 to more than 10⁴) and a relation that is only roughly
linear. "textbook" stands for data that were made linear, with features that are nearly independent.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.stats import chi2

from costofprivacy.dpgd.clipping import descent_reduction_at, variance_reduction_at
from costofprivacy.estimators import public
from costofprivacy.estimators.public import Knowledge

REAL, TEXTBOOK = "real", "textbook"
NODES = 7  # eigenvalues that stand for a geometric spectrum
ITERATIONS = 25
NEAR = 1e-12  # smaller eigenvalues, and a smaller share of the response's variance, are planned for as this one
FAR = 10.0  # risks are followed up to so many times R(0)


@dataclass(frozen=True)
class Kind:
    """A kind of data that plans are made for.

    Args:
        misfit: w in [0, 1). conditions: of the spectra that are assumed where none is stated, increasing.
    """

    misfit: float
    conditions: tuple[float, ...]


KINDS = {REAL: Kind(0.02, (30.0, 100.0, 300.0)), TEXTBOOK: Kind(0.0, (1.0, 4.0, 10.0))}


@dataclass(frozen=True)
class Expected:
    """What a plan promises, on the scale of its `Knowledge`.

    Args:
        risk: expected excess risk over the best coefficients, the geometric mean over the assumed spectra.
        privacy: the part of it that least squares on the same records does not have, likewise.
        low, high: the range of ``risk`` over these spectra.
    """

    risk: float
    privacy: float
    low: float
    high: float


def kept(d: int, bound: float) -> float:
    """m = E min(‖x‖², B²)/d for Gaussian features: the share of their second moment that the bound keeps.

    Args:
        d: dimension, at least 1. bound: B > 0.

    >>> round(kept(10, 3.5), 2)
    0.9
    """
    square = bound**2
    return float(chi2.cdf(square, d + 2) + square / d * chi2.sf(square, d))


@functools.cache
def feature_bound(d: int, share: float) -> float:
    """B: so long that Gaussian features keep the share m of their second moment (`kept`).

    Args:
        d: dimension, at least 1. share: m in (0, 1).

    >>> print([round(feature_bound(d, 0.9) / d**0.5, 2) for d in (1, 3, 10, 100)])
    [1.9, 1.36, 1.1, 0.96]
    """
    return float(brentq(lambda bound: kept(d, bound) - share, 0.1 * math.sqrt(d), 10.0 * math.sqrt(d)))


@dataclass(frozen=True)
class Relation(Knowledge):
    """What is public of a regression, with the kind of data that it is taken to be.

    Args:
        kind: one of `KINDS`.
    """

    kind: str = REAL


def knowledge(eigenvalues: np.ndarray, intercept: bool, expected_r2: float, kind: str = REAL) -> Relation:
    """What is public of a regression whose response has variance 1.

    Args:
        eigenvalues, intercept: as in `public.knowledge`. expected_r2: in (0, 1). kind: one of `KINDS`.
    """
    known = public.knowledge(eigenvalues, intercept, math.sqrt(1 - expected_r2), max(expected_r2, NEAR) / 2)
    return Relation(**vars(known), kind=kind)


@dataclass(frozen=True, eq=False)
class Model:
    """The formulas for one spectrum; candidates stand side by side in arrays, with one axis more for the eigenvalues.

    Args:
        known: what is public. n: number of records. eigenvalues, weights: of mean 1 and of sum 1, shape (g,).
    """

    known: Relation
    n: int
    eigenvalues: np.ndarray
    weights: np.ndarray

    @property
    def start(self) -> np.ndarray:
        """e_i at θ = 0, where all coefficients are alike in size, so that a direction explains in proportion to λ_i."""
        return np.full(len(self.eigenvalues), 2 * self.known.initial_risk / self.known.d)

    def risk(self, errors: np.ndarray) -> np.ndarray:
        """R = ½ Σ λ_i e_i, over the last axis."""
        return 0.5 * self.known.d * (errors * (self.weights * self.eigenvalues)).sum(axis=-1)

    def factors(self, clip: np.ndarray, risk: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """𝒫, μ and ν at a risk, for the clipping constant c."""
        test_risk = np.asarray(risk) + self.known.label_noise**2 / 2
        ratio = clip / np.sqrt(2 * test_risk)
        return test_risk, np.asarray(descent_reduction_at(ratio)), np.asarray(variance_reduction_at(ratio))

    def factor(self, errors: np.ndarray, clip: np.ndarray, length: np.ndarray, kept: np.ndarray) -> np.ndarray:
        """1 − ημmλ_i, what a step leaves of the error of each direction, shape (…, g); at most √`FAR` in size.

        Args:
            errors: e, shape (…, g). clip: c. length: η. kept: m; each of shape (…).
        """
        reduction = self.factors(clip, self.risk(errors))[1]
        return np.maximum(1 - (length * kept * reduction)[..., None] * self.eigenvalues, -math.sqrt(FAR))

    def stepped(self, errors: np.ndarray, factor: np.ndarray, length: np.ndarray, noise: np.ndarray) -> np.ndarray:
        """e after a step.

        Args:
            errors, factor: shape (…, g). length: η. noise: s; both of shape (…).
        """
        return np.minimum(factor**2 * errors + ((length * noise) ** 2)[..., None], FAR * self.start)

    def minimum(
        self,
        errors: np.ndarray,
        clip: np.ndarray,
        penalty: np.ndarray,
        noise: np.ndarray,
        kept: np.ndarray,
        bound: np.ndarray,
        piloted: bool,
    ) -> np.ndarray:
        """Of the perturbed minimum, as `outcome`: R, what least squares on the same records lack of it, and the bias.

        Args:
            errors: of the point that it is pulled to, shape (…, g). clip, penalty, noise, kept, bound: c, Λ, σ, m, B.
            piloted: whether that point comes from the same records; if it is 0, the penalty shrinks the sampling error.
        """
        risk = self.risk(errors)
        for _ in range(ITERATIONS):
            mu = self.factors(clip, risk)[1]
            curvature = self.n * (kept * mu)[..., None] * self.eigenvalues + penalty[..., None]
            left = self.risk(((penalty / noise)[..., None] ** 2 * errors + 1) * (noise[..., None] / curvature) ** 2)
            still = np.zeros_like(curvature) if piloted else penalty[..., None] / curvature
            found = self.outcome(left, still, clip, bound, risk)
            risk = np.sqrt(risk * np.minimum(found[0], FAR * self.known.initial_risk))
        return found

    def outcome(
        self,
        left: np.ndarray,
        still: np.ndarray,
        clip: np.ndarray,
        bound: np.ndarray | float,
        risk: np.ndarray | None = None,
    ) -> np.ndarray:
        """R where the relation is linear, the excess over least squares on the same records, and the bias: (3, …).

        Args:
            left: R without the error of sampling. still: p, shape (…, g). clip: c at the end. bound: B, infinite where
                no record is shortened. risk: at which gradients are clipped; ``left`` if left out.
        """
        known, kind = self.known, KINDS[self.known.kind]
        test_risk, mu, nu = self.factors(clip, left if risk is None else risk)
        scale, floor = known.d / (2 * self.n), known.label_noise**2
        gone = (np.minimum((1 - still) ** 2, FAR) * self.weights).sum(axis=-1)
        stays = (np.minimum(still**2, FAR) * self.weights).sum(axis=-1)
        sampling = 2 * nu * test_risk / mu**2
        beside = left + scale * (stays * floor + gone * np.maximum(sampling - floor, 0.0))
        short = (math.sqrt(known.d) / np.asarray(bound)) ** 3 / 5
        bias = kind.misfit * known.initial_risk * (1 / (1 + clip**2 / (2 * test_risk)) + short)
        return np.stack(np.broadcast_arrays(left + scale * gone * sampling, beside, bias))


def models(known: Relation, n: int, stated: bool) -> list[Model]:
    """The models that a plan should do well in: one if the spectrum is stated, else three (`KINDS`).

    Args:
        known: what is public. n: number of records, at least 1. stated: whether its eigenvalues are known.
    """
    if stated or known.d == 1:
        return [Model(known, n, np.array(known.eigenvalues), np.array(known.weights))]
    found = []
    for condition in KINDS[known.kind].conditions:
        values = np.geomspace(1.0, condition, min(known.d, NODES))
        found.append(Model(known, n, values / values.mean(), np.full(len(values), 1 / len(values))))
    return found


def best(outcomes: np.ndarray, weight: float = 1.0) -> int:
    """The plan with the least geometric mean, over the spectra, of the risk with its bias.

    Args:
        outcomes: of `Model.outcome` for each spectrum, shape (spectra, 3, K). weight: of the bias.
    """
    return int(np.log(outcomes[:, 0] + weight * outcomes[:, 2]).mean(axis=0).argmin())


def summary(outcomes: np.ndarray) -> Expected:
    """One promise.

    Args:
        outcomes: of `Model.outcome` for each spectrum, shape (spectra, 3).
    """
    linear, beside, bias = outcomes.T
    risk, cost = (float(np.exp(np.log(part + bias).mean())) for part in (linear, beside))
    return Expected(risk, cost, float((linear + bias).min()), float((linear + bias).max()))
