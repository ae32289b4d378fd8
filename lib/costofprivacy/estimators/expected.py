r"""The excess risk that a private fit is expected to have, by formula and from public numbers alone.

On the scale with tr Σ = d let the features' second moment have the eigenvalues λ_i, and write e_i for the mean square
of the error of θ along the i-th eigenvector, so that the excess risk is R = ½ Σ λ_i e_i. Records that are longer than B
are shortened, which keeps the share m of the second moment (`kept`). A clipped gradient keeps the share μ of its mean
and has the second moment 2𝒫ν per coordinate (`costofprivacy.dpgd.clipping`), where 𝒫 = R + ζ²/2.

*A step* of length η on the mean gradient, with noise of standard deviation s in each coordinate of it,

.. math:: e_i \leftarrow (1 - \eta\mu m\lambda_i)^2 e_i + \eta^2 s^2 .

*A perturbed minimum* around a point with the errors e_i, with penalty Λ and noise σ beside the sum of n gradients,

.. math:: R = \tfrac12\sum_i\lambda_i\frac{\Lambda^2 e_i + \sigma^2}{(n\mu m\lambda_i + \Lambda)^2}
    + \frac d{2n}\cdot\frac{2\nu\mathcal{P}}{\mu^2} + w R(0)\big((1 - \mu) + 2 (\sqrt d/B)^3\big),

which is solved for R by iteration. The second term is what n records cannot tell, with or without privacy (least
squares have dζ²/2n). The last one is a precaution: where the true relation is not quite linear, clipped gradients and
shortened records aim at another linear predictor than least squares do. Its form and the share w = `MISFIT` of the
signal R(0) are rough: on California housing the bias falls about like this in B, and is a few times larger. With it,
plans clip less and less as n grows. It is an assumption, not a theorem, and no part of a forecast.

*Which spectrum.* Where nothing is known of the eigenvalues, a plan has to do well for more than one spectrum. So a risk
is computed for each of `CONDITIONS`, geometric spectra with these condition numbers; their geometric mean is what a
plan is chosen by, and their range is the range of a forecast.
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

CONDITIONS = (1.0, 4.0, 10.0)  # of the spectra that are assumed where none is stated
NODES = 7  # eigenvalues that stand for a geometric spectrum
MISFIT = 0.002  # w: the share of the signal that clipping everything would turn into bias
ITERATIONS = 25
NEAR = 1e-12  # smaller eigenvalues, and a smaller share of the response's variance, are planned for as this one
FAR = 10.0  # risks are followed up to so many times R(0)


@dataclass(frozen=True)
class Expected:
    """What a plan promises, on the scale of its `Knowledge`.

    Args:
        risk: expected excess risk over the best coefficients where the relation is linear: the geometric mean over the
            assumed spectra.
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


def knowledge(eigenvalues: np.ndarray, intercept: bool, expected_r2: float) -> Knowledge:
    """What is public of a regression whose response has variance 1.

    Args:
        eigenvalues, intercept: as in `public.knowledge`. expected_r2: in (0, 1).
    """
    return public.knowledge(eigenvalues, intercept, math.sqrt(1 - expected_r2), max(expected_r2, NEAR) / 2)


@dataclass(frozen=True, eq=False)
class Model:
    """The formulas for one spectrum; candidates stand side by side in arrays, with one axis more for the eigenvalues.

    Args:
        known: what is public. n: number of records. eigenvalues, weights: of mean 1 and of sum 1, shape (g,).
    """

    known: Knowledge
    n: int
    eigenvalues: np.ndarray
    weights: np.ndarray

    @property
    def start(self) -> np.ndarray:
        """e_i at θ = 0, where every direction explains the same, shape (g,)."""
        return 2 * self.known.initial_risk / self.known.d / np.maximum(self.eigenvalues, NEAR)

    def risk(self, errors: np.ndarray) -> np.ndarray:
        """R = ½ Σ λ_i e_i, over the last axis."""
        return 0.5 * self.known.d * (errors * (self.weights * self.eigenvalues)).sum(axis=-1)

    def factors(self, clip: np.ndarray, risk: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """𝒫, μ and ν at a risk, for the clipping constant c."""
        test_risk = np.asarray(risk) + self.known.label_noise**2 / 2
        ratio = clip / np.sqrt(2 * test_risk)
        return test_risk, np.asarray(descent_reduction_at(ratio)), np.asarray(variance_reduction_at(ratio))

    def stepped(
        self, errors: np.ndarray, clip: np.ndarray, length: np.ndarray, noise: np.ndarray, kept: np.ndarray
    ) -> np.ndarray:
        """e after a step.

        Args:
            errors: shape (…, g). clip: c. length: η. noise: s. kept: m; each of shape (…).
        """
        reduction = self.factors(clip, self.risk(errors))[1]
        step = (length * kept * reduction)[..., None] * self.eigenvalues
        return np.minimum((1 - step) ** 2 * errors + ((length * noise) ** 2)[..., None], FAR * self.start)

    def minimum(
        self,
        errors: np.ndarray,
        clip: np.ndarray,
        penalty: np.ndarray,
        noise: np.ndarray,
        kept: np.ndarray,
        bound: np.ndarray,
        piloted: bool,
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Of the perturbed minimum: R, R without the precaution, and what least squares on the same records lack of it.

        Args:
            errors: of the point that it is pulled to, shape (…, g). clip, penalty, noise, kept, bound: c, Λ, σ, m, B.
            piloted: whether that point comes from the same records; if it is 0, the penalty shrinks the sampling error.
        """
        n, d, start = self.n, self.known.d, self.known.initial_risk
        risk = self.risk(errors)
        for _ in range(ITERATIONS):
            test_risk, mu, nu = self.factors(clip, risk)
            curvature = n * (kept * mu)[..., None] * self.eigenvalues + penalty[..., None]
            left = self.risk(((penalty / noise)[..., None] ** 2 * errors + 1) * (noise[..., None] / curvature) ** 2)
            shrunk = np.ones(1) if piloted else (1 - penalty[..., None] / curvature) ** 2
            share = d / (2 * n) * (shrunk * self.weights).sum(axis=-1)
            bias = MISFIT * start * (1 - mu + 2 * (math.sqrt(d) / bound) ** 3)
            risk = np.sqrt(risk * np.minimum(left + share * 2 * nu * test_risk / mu**2 + bias, FAR * start))
        linear = np.minimum(left + share * 2 * nu * test_risk / mu**2, FAR * start)
        return risk, linear, np.maximum(linear - share * self.known.label_noise**2, left)


def models(known: Knowledge, n: int, stated: bool) -> list[Model]:
    """The models that a plan should do well in: one if the spectrum is stated, else one for each of `CONDITIONS`.

    Args:
        known: what is public. n: number of records, at least 1. stated: whether its eigenvalues are known.
    """
    if stated or known.d == 1:
        return [Model(known, n, np.array(known.eigenvalues), np.array(known.weights))]
    found = []
    for condition in CONDITIONS:
        values = np.geomspace(1.0, condition, min(known.d, NODES))
        found.append(Model(known, n, values / values.mean(), np.full(len(values), 1 / len(values))))
    return found


def summary(risks: np.ndarray, costs: np.ndarray) -> Expected:
    """One promise from the risks, and their private parts, under each spectrum: arrays of shape (spectra,)."""
    middle, cost = (float(np.exp(np.log(part).mean())) for part in (risks, costs))
    return Expected(middle, cost, float(risks.min()), float(risks.max()))
