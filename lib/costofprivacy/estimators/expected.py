r"""The excess risk that a private fit is expected to have, by formula and from public numbers alone.

On the scale with tr Σ = d let the features' second moment have the eigenvalues λ_i, and write e_i for the mean square
of the error of θ along the i-th eigenvector, so that the excess risk is R = ½ Σ λ_i e_i. Records that are longer than B
are shortened, which keeps the share m of the second moment (`kept`). A clipped gradient keeps the share μ of its mean
and has the second moment 2𝒫ν per coordinate (`costofprivacy.dpgd.clipping`), where 𝒫 = R + ζ²/2.

*A step* of length η on the mean gradient, with noise of standard deviation s in each coordinate of it,

.. math:: e_i \leftarrow (1 - \eta\mu m\lambda_i)^2 e_i + \eta^2 s^2 .

*A perturbed minimum* around a point with the errors e_i, with penalty Λ and noise σ beside the sum of n gradients,

.. math:: R = \tfrac12\sum_i\lambda_i\frac{\Lambda^2 e_i + \sigma^2}{(n\mu m\lambda_i + \Lambda)^2}
    + \frac d{2n}\,\omega\Big(\frac{\nu}{\mu^2}\,2R + a\,\zeta^2\Big),

which is solved for R by iteration. The second term is what n records cannot tell, with or without privacy (least
squares have dζ²/2n). Here a = E ψ²/(P(ψ is not clipped))² for the clipped noise ψ of the response, in units of its
variance; it is ν/μ² where the noise is Gaussian. Shortened records have unequal weights w = min(1, B/‖x‖), so that the
sampling error is larger by ω = d E[w⁴‖x‖²]/(E[w²‖x‖²])² (`unequal`).

*The mean of A iterates* x_t of a descent has the square E(Σx_t)²/A² along an eigenvector. With q = E[x_t Σ_{s≤t} x_s]
and W = E(Σ_{s≤t} x_s)², a step that multiplies the error by f and adds noise gives, one after the other,

.. math:: e \leftarrow f^2 e + \eta^2 s^2, \qquad W \leftarrow W + 2 f q + e, \qquad q \leftarrow f q + e .

*Beside least squares on the same records.* Let p_i be what is left of the way from 0 to the minimum along the i-th
eigenvector. The error of sampling is (1 − p_i) times that of the clipped minimum. Where the noise is Gaussian, this is
that of least squares plus one that is not correlated with it (Gauss and Markov). So the excess over least squares on
the same records has

.. math:: \frac1{2n}\sum_i \Big(p_i^2\zeta^2 + (1 - p_i)^2\big(\omega(2R\nu/\mu^2 + a\zeta^2)
    - a\zeta^2 + b\zeta^2\big)\Big)

where the excess over the truth has (1 − p_i)² ω (2Rν/μ² + aζ²). Here bζ² is the variance of the difference between
the clipped minimum and least squares, b = E(ψ/P(ψ is not clipped) − ε)² for noise ε of variance 1; it is a − 1 where
the noise is Gaussian.

*What is not linear* adds a bias. Where the true relation is not quite linear, clipped gradients and shortened records
aim at another linear predictor than least squares do. The excess risk of that one is taken to be

.. math:: w R(0)\,f, \qquad f = \frac{1}{1 + c^2/2\mathcal{P}} + \frac15\Big(\frac{\sqrt d}{B}\Big)^3 .

This is an empirical rule, not a theorem. It was read off four small data sets of scikit-learn, on which no method is
compared in the book (digits, breast cancer, wine, iris). There w is between 0.001 and 0.1.

*What came before.* A method that clips short first and long later keeps a part of what the first clip did. So along
each eigenvector the size m_i of the bias moves as θ does: a step that leaves the share p of an error makes it
p m_i + (1 − p)√f, from 0 at θ = 0, and a perturbed minimum likewise with p = Λ/(nμmλ_i + Λ). The bias is then
w R(0) Σ λ_i m_i²/d. The distance to least squares on the same records moves in the same way, as if it always had one
sign: its part of R is Σ l_i²/d, and l_i² goes towards d/2n times ω(2Rν/μ² + aζ²) − aζ² + bζ² (`Model.targets`). Where
one c serves throughout, that is what the formula above says.

*Noise with long tails* is taken to be Student's t with three degrees of freedom. Then a clipped minimum is better than
least squares, and differs from it by more than a − 1: a and b are those of `long_tails`.

*Which spectrum, and which w* (`KINDS`). A plan has to do well for more than one spectrum, where none is stated. So a
risk is computed for each of three geometric spectra. Their geometric mean is what a plan is chosen by. Coefficients are
taken to be alike in size, so that a direction explains in proportion to its λ_i. "real" stands for tables of
measurements: strongly correlated columns (scaled to variance 1, those of the sets above have condition numbers from 45
to more than 10⁴) and a relation that is only roughly linear. "textbook" stands for data that were made linear, with
features that are nearly independent. "heavy-tailed" is the same with noise that has long tails.

*What a fit then reaches* (`SPREAD`) was read off simulated fits: 86 cases, each by three methods, with n from 100 to
30,000, d from 2 to 100, ε from 0.05 to 10, R² from 0.1 to 0.9, correlations from 0 to 0.9 (the same between all
features, or falling with their distance), equal or random coefficients and noise that is Gaussian, Laplace or Student's
t. Where a direction that varies much does not explain much, which is what the three spectra suppose, little data and a
small budget reach less than by formula. Where the relation is linear, much data reach more. A range holds 90 % of
single fits, hence more than 90 % of the means of several, and what the campaign of the book measured on real data (up
to three times the formula). In 200 other cases of the same kinds, with up to 187,000 records, the ranges held the mean
of 5 to 40 fits in 198, and 97 % of single fits; half of them are at most 0.11 wide, and nine of ten at most 0.55.
"""

import functools
import math
from dataclasses import dataclass

import numpy as np
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.stats import chi2

from costofprivacy.dpgd.clipping import descent_reduction_at, variance_reduction_at
from costofprivacy.estimators import public
from costofprivacy.estimators.public import Knowledge

REAL, TEXTBOOK, HEAVY = "real", "textbook", "heavy-tailed"
NEW, SAME = AIMS = ("new records", "least squares")  # what a plan is for
NODES = 7  # eigenvalues that stand for a geometric spectrum
ITERATIONS = 25
NEAR = 1e-12  # smaller eigenvalues, and a smaller share of the response's variance, are planned for as this one
SPOILS = 10.0  # how much more a bias matters to intervals than to the error: it is not seen in their width
FAR = 10.0  # risks are followed up to so many times R(0)
FINEST = 0.01  # of R²: no range ends nearer to its centre, as some thousand new records do not tell more
SPREAD = (  # for a risk of so much of R(0): what it is multiplied by for the centre of a forecast, low and high
    ((0.03, 1.0, 0.35, 2.2), (0.5, 1.0, 0.35, 2.2), (1.0, 1.0, 0.7, 1.35)),  # nearly independent features, or stated
    (
        *((0.003, 1.0, 0.05, 3.3), (0.03, 1.0, 0.1, 3.3), (0.1, 1.0, 0.2, 2.8), (0.3, 1.3, 0.3, 2.6)),
        *((0.6, 1.2, 0.28, 2.1), (0.9, 1.0, 0.3, 1.45), (1.0, 1.0, 0.4, 1.35)),
    ),  # "real"
)


@dataclass(frozen=True)
class Kind:
    """A kind of data that plans are made for.

    Args:
        misfit: w in [0, 1). conditions: of the spectra that are assumed where none is stated, increasing.
        tails: whether the noise has long ones.
    """

    misfit: float
    conditions: tuple[float, ...]
    tails: bool = False


_NEAR_ONE = (1.0, 4.0, 10.0)
KINDS = {
    REAL: Kind(0.02, (30.0, 100.0, 300.0)),
    TEXTBOOK: Kind(0.0, _NEAR_ONE),
    HEAVY: Kind(0.0, _NEAR_ONE, tails=True),
}


@dataclass(frozen=True)
class Expected:
    """What a plan promises, on the scale of its `Knowledge`.

    Args:
        risk: expected excess risk over the best coefficients, the geometric mean over the assumed spectra.
        privacy: the part of it that least squares on the same records does not have, likewise.
        low, high: a range that holds the risk of 90 % of fits (`spread`).
    """

    risk: float
    privacy: float
    low: float
    high: float

    def missed(self, aim: str) -> float:
        """What is to be small, one of `AIMS`."""
        return self.risk if aim == NEW else self.privacy


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


@functools.cache
def unequal(d: int, bound: float) -> float:
    """ω = d E[w⁴‖x‖²]/(E[w²‖x‖²])², w = min(1, B/‖x‖), for Gaussian features: what unequal weights cost.

    Args:
        d: dimension, at least 1. bound: B > 0; infinite where no record is shortened.

    >>> print(round(unequal(10, 3.5), 3), round(unequal(10, 2.0), 3), unequal(10, math.inf))
    1.026 1.202 1.0
    """
    if math.isinf(bound):
        return 1.0
    square = bound**2
    beyond = quad(lambda s: chi2.pdf(s, d) / s, square, math.inf)[0]
    return float((d * chi2.cdf(square, d + 2) + square**2 * beyond) / (d * kept(d, bound) ** 2))


@dataclass(frozen=True, eq=False)
class Records:
    """How the records of each candidate are shortened; all of shape (K,).

    Args:
        bound, kept, weighed: B, m and ω.
    """

    bound: np.ndarray
    kept: np.ndarray
    weighed: np.ndarray

    @classmethod
    def whole(cls, count: int = 1) -> "Records":
        """None is shortened."""
        return cls(np.full(count, math.inf), np.ones(count), np.ones(count))

    @classmethod
    def within(cls, d: int, bound: np.ndarray) -> "Records":
        """Of features with d dimensions, shortened to B, shape (K,)."""
        several, place = np.unique(bound, return_inverse=True)
        told = np.array([(kept(d, float(each)), unequal(d, float(each))) for each in several]).T
        return cls(bound, *told[:, place])

    def at(self, on: np.ndarray | slice) -> "Records":
        """Those of some of the candidates."""
        return Records(self.bound[on], self.kept[on], self.weighed[on])


def long_tails(ratio: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """a and b of the module for noise of Student's t with three degrees of freedom, scaled to variance 1.

    With t = √3 tan φ its density is (2/π) cos² φ dφ. So for a clip at r standard deviations, φ = arctan r, the share
    p = (2/π)(φ + sin φ cos φ) of the noise is not clipped and has the second moment (2/π)(φ − sin φ cos φ); beyond,
    E|ε| = (2/π) cos² φ.

    Args:
        ratio: r > 0, any shape.

    >>> a, b = long_tails(np.array([0.1, 1.0, 100.0]))
    >>> print(a.round(2), b.round(2))
    [0.57 0.54 0.99] [0.57 0.32 0.  ]
    """
    angle = np.arctan(ratio)
    product = np.sin(angle) * np.cos(angle)
    free, square = (2 / math.pi * part for part in (angle + product, angle - product))
    clipped = square + np.asarray(ratio) ** 2 * (1 - free)
    crossed = square + 2 / math.pi * ratio * np.cos(angle) ** 2
    spread = clipped / free**2
    return spread, spread - 2 * crossed / free + 1


@dataclass(frozen=True)
class Relation(Knowledge):
    """What is public of a regression, with the kind of data that it is taken to be.

    Args:
        kind: one of `KINDS`. aim: one of `AIMS`.
    """

    kind: str = REAL
    aim: str = NEW


def knowledge(
    eigenvalues: np.ndarray, intercept: bool, expected_r2: float, kind: str = REAL, aim: str = NEW
) -> Relation:
    """What is public of a regression whose response has variance 1.

    Args:
        eigenvalues, intercept: as in `public.knowledge`. expected_r2: in (0, 1). kind: one of `KINDS`.
        aim: one of `AIMS`.
    """
    known = public.knowledge(eigenvalues, intercept, math.sqrt(1 - expected_r2), max(expected_r2, NEAR) / 2)
    return Relation(**vars(known), kind=kind, aim=aim)


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

    def test_risk(self, risk: np.ndarray) -> np.ndarray:
        """𝒫 = R + ζ²/2."""
        return np.asarray(risk) + self.known.label_noise**2 / 2

    def reduction(self, clip: np.ndarray, risk: np.ndarray) -> np.ndarray:
        """μ at a risk, for the clipping constant c."""
        return np.asarray(descent_reduction_at(clip / np.sqrt(2 * self.test_risk(risk))))

    def factors(self, clip: np.ndarray, risk: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """𝒫, μ and ν at a risk, for the clipping constant c."""
        ratio = clip / np.sqrt(2 * self.test_risk(risk))
        return self.test_risk(risk), self.reduction(clip, risk), np.asarray(variance_reduction_at(ratio))

    def factor(self, errors: np.ndarray, clip: np.ndarray, length: np.ndarray, kept: np.ndarray) -> np.ndarray:
        """1 − ημmλ_i, what a step leaves of the error of each direction, shape (…, g); at most √`FAR` in size.

        Args:
            errors: e, shape (…, g). clip: c. length: η. kept: m; each of shape (…).
        """
        reduction = self.reduction(clip, self.risk(errors))
        return np.maximum(1 - (length * kept * reduction)[..., None] * self.eigenvalues, -math.sqrt(FAR))

    def stepped(self, errors: np.ndarray, factor: np.ndarray, length: np.ndarray, noise: np.ndarray) -> np.ndarray:
        """e after a step.

        Args:
            errors, factor: shape (…, g). length: η. noise: s; both of shape (…).
        """
        return np.minimum(factor**2 * errors + ((length * noise) ** 2)[..., None], FAR * self.start)

    def targets(self, clip: np.ndarray, records: Records, risk: np.ndarray) -> np.ndarray:
        """Where the sizes of the bias and of the distance to least squares go: √f and the other root, (2, K, 1).

        Args:
            clip: c. records: how they are shortened. risk: at which gradients are clipped.
        """
        short = (math.sqrt(self.known.d) / records.bound) ** 3 / 5
        bias = 1 / (1 + clip**2 / (2 * self.test_risk(risk))) + short
        return np.sqrt(np.stack([bias, self.sampling(clip, records, risk)[1]]))[..., None]

    def minimum(
        self,
        errors: np.ndarray,
        sizes: np.ndarray,
        clip: np.ndarray,
        penalty: np.ndarray,
        noise: np.ndarray,
        records: Records,
        piloted: bool,
    ) -> np.ndarray:
        """Of the perturbed minimum, as `outcome`: R, what least squares on the same records lack of it, and the bias.

        Args:
            errors: of the point that it is pulled to, shape (K, g). sizes: m and l there, shape (2, K, g). clip,
                penalty, noise: c, Λ, σ. records: how they are shortened. piloted: whether that point comes from the
                same records; if it is 0, the penalty shrinks the sampling error.
        """
        risk = self.risk(errors)
        for iteration in range(ITERATIONS):
            mu = self.reduction(clip, risk)
            curvature = self.n * (records.kept * mu)[..., None] * self.eigenvalues + penalty[..., None]
            left = self.risk(((penalty / noise)[..., None] ** 2 * errors + 1) * (noise[..., None] / curvature) ** 2)
            pulled = penalty[..., None] / curvature
            still = np.zeros_like(curvature) if piloted else pulled
            if iteration + 1 < ITERATIONS:
                total = left + self.share(1 - still) * self.sampling(clip, records, risk)[0]
                risk = np.sqrt(risk * np.minimum(total, FAR * self.known.initial_risk))
        ends = pulled * sizes + (1 - pulled) * self.targets(clip, records, risk)
        return self.outcome(left, still, ends, clip, records, risk)

    def share(self, size: np.ndarray) -> np.ndarray:
        """Σ_i size_i²/d over all directions.

        Args:
            size: shape (…, g).
        """
        return np.asarray((np.minimum(size**2, FAR) * self.weights).sum(axis=-1))

    def sampling(self, clip: np.ndarray, records: Records, risk: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The error of sampling of a clipped minimum as a part of R, and the part that least squares do not have.

        Args:
            clip: c. records: how they are shortened. risk: at which gradients are clipped.
        """
        test_risk, mu, nu = self.factors(clip, risk)
        scale, floor = self.known.d / (2 * self.n), self.known.label_noise**2
        spread = nu / mu**2
        tails = KINDS[self.known.kind].tails
        a, b = long_tails(clip / np.sqrt(2 * test_risk)) if tails else (spread, spread - 1)
        whole = records.weighed * ((2 * test_risk - floor) * spread + a * floor)
        return scale * whole, scale * np.maximum(whole - (a - b) * floor, 0.0)

    def outcome(
        self,
        left: np.ndarray,
        still: np.ndarray,
        sizes: np.ndarray,
        clip: np.ndarray,
        records: Records,
        risk: np.ndarray | None = None,
    ) -> np.ndarray:
        """R where the relation is linear, the excess over least squares on the same records, and the bias: (3, K).

        Args:
            left: R without the error of sampling. still: p, shape (K, g). sizes: m and l, shape (2, K, g). clip: c at
                the end. records: how they are shortened. risk: at which gradients are clipped; ``left`` if left out.
        """
        known = self.known
        whole, beyond = self.sampling(clip, records, left if risk is None else risk)
        apart = self.share(sizes[1])
        total = left + self.share(1 - still) * (whole - beyond) + apart
        beside = left + self.share(still) * known.d / (2 * self.n) * known.label_noise**2 + apart
        bias = (np.minimum(sizes[0] ** 2, FAR) * self.weights * self.eigenvalues).sum(axis=-1)
        return np.stack(np.broadcast_arrays(total, beside, KINDS[known.kind].misfit * known.initial_risk * bias))


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


def best(outcomes: np.ndarray, aim: str) -> int:
    """The plan with the least geometric mean, over the spectra, of the excess over the truth or over least squares.

    Args:
        outcomes: of `Model.outcome` for each spectrum, shape (spectra, 3, K). aim: one of `AIMS`.
    """
    return int(np.log(outcomes[:, AIMS.index(aim)] + outcomes[:, 2]).mean(axis=0).argmin())


def summary(known: Relation, outcomes: np.ndarray) -> Expected:
    """One promise.

    Args:
        known: what is public. outcomes: of `Model.outcome` for each spectrum, shape (spectra, 3).
    """
    linear, beside, bias = outcomes.T
    risk, cost = (float(np.exp(np.log(part + bias).mean())) for part in (linear, beside))
    centre, low, high = spread(risk / known.initial_risk, known.kind)
    finest = FINEST / 2 * known.response_deviation**2
    return Expected(centre * risk, centre * cost, low * risk - finest, high * risk + finest)


def spread(share: float, kind: str) -> np.ndarray:
    """What multiplies a risk by formula, for the forecast and for the two ends of its range: `SPREAD`, shape (3,).

    Args:
        share: of R(0) that the risk is. kind: one of `KINDS`.

    >>> print(spread(0.3, REAL), spread(0.3, TEXTBOOK))
    [1.3 0.3 2.6] [1.   0.35 2.2 ]
    """
    shares, *rows = np.log(SPREAD[kind == REAL]).T
    return np.array([math.exp(np.interp(math.log(share), shares, row)) for row in rows])
