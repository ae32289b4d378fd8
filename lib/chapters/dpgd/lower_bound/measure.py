"""What is measured of the lower bound of arXiv:2505.16329v2: the attack, the bounds, and each step of their proof."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import ClassVar

import numpy as np
import pandas as pd
from scipy.integrate import quad
from scipy.stats import chi2

from chapters.ranges import CLIP, GAMMA, NOISE, RHO, SEED, TRIALS, chance, count
from companion import _fits
from companion.declaration import Parameters, many, parameter
from companion.streams import Runner
from costofprivacy._compiled import compiled
from costofprivacy.dpgd import descent, draws, lower_bound, spectrum, system, tuning
from costofprivacy.dpgd.clipping import descent_reduction
from costofprivacy.dpgd.descent import Configuration
from costofprivacy.dpgd.schedule import Constant, Harmonic, Polynomial, Schedule
from costofprivacy.dpgd.spectrum import RegressionModel, Spectrum
from costofprivacy.dpgd.system import System
from costofprivacy.dpgd.update import averaged_step, best_averaged_risk, dot
from costofprivacy.privacy import GaussianDP, ZeroConcentratedDP

# ---- The tracing attack on algorithms, private and not: its score, the risk, and what both certify ----

ZERO, RIDGE, LEAST_SQUARES = "always zero", "ridge", "least squares"
OUTPUT, EVEN, HARMONIC = "output perturbation", "even noise", "harmonic"
WITHOUT, PRIVATE = (ZERO, RIDGE, LEAST_SQUARES), (OUTPUT, EVEN, HARMONIC)
MEASURES = ("score", "risk", "fresh", "fresh_square")
START = lower_bound.PRIOR_NORM / 2  # R(0) under the prior, Σ = I
COARSE = 1e-3  # relative, of a tuned risk: any schedule is a fair target
MULTIPLES = (1.0, 4.0)  # of the best learning rate of output perturbation
POSITIONS = 12  # records that are replaced, besides the first


@dataclass(frozen=True)
class Setting:
    """A dimension and number of records, and what the private algorithms share; Σ = I."""

    d: int
    n: int
    rho: float
    clip: float
    label_noise: float

    @property
    def gamma(self) -> float:
        return self.d / self.n

    @property
    def key(self) -> int:
        return 10**6 * self.d + 1000 * self.n + (0 if math.isinf(self.rho) else round(100 * self.rho))

    def draw(self, rng: np.random.Generator) -> tuple[RegressionModel, np.ndarray, np.ndarray]:
        shape = spectrum.isotropic(self.d)
        model = RegressionModel(shape, lower_bound.draw_prior(self.d, rng=rng), self.label_noise)
        x, y = spectrum.sample(model, self.n, rng=rng)
        return model, x, y


def tune(cell: Setting, *, rng: np.random.Generator) -> np.ndarray:
    """(η̃(0), τ) of the three schedules that the deterministic equivalent finds best, shape (3, 2); nothing is drawn."""
    equations = system.isotropic(START, cell.gamma, cell.label_noise)
    rates = [tuning.best_rate(equations, family, cell.clip, cell.rho).initial for family in (Constant, root)]
    best = tuning.best_harmonic(equations, cell.clip, cell.rho, COARSE).schedule
    assert isinstance(best, Harmonic)
    return np.array([*([rate, math.nan] for rate in rates), [best.scale / best.offset, best.offset]])


def root(rate: float) -> Polynomial:
    """The schedule with the same noise in every step."""
    return Polynomial(rate, 0.5)


@dataclass(frozen=True)
class AttackCell(Setting):
    """Algorithms that are attacked on the same records: private ones where ρ is finite."""

    rates: tuple[float, ...]
    offset: float

    @property
    def configurations(self) -> list[Configuration]:
        first, second, third = self.rates
        plans: tuple[Schedule, ...] = (Constant(first), root(second), Harmonic(third * self.offset, self.offset))
        return [Configuration(self.clip, plan, self.rho) for plan in plans]


def attack(cell: AttackCell, *, rng: np.random.Generator) -> np.ndarray:
    """`MEASURES` of each algorithm in one trial, shape (3, 4)."""
    model, x, y = cell.draw(rng)
    if math.isinf(cell.rho):
        gram, moment = x.T @ x, x.T @ y
        penalty = cell.label_noise**2 * cell.d / lower_bound.PRIOR_NORM  # for the prior's variance 1/(7d)
        ridge = np.linalg.solve(gram + penalty * np.eye(cell.d), moment)
        theta = np.stack([np.zeros(cell.d), ridge, np.linalg.solve(gram, moment)])
    else:
        theta = descent.descend_samples(x, y, cell.configurations, rng=rng)
    score = lower_bound.tracing_attack(x, y, model.target, theta).sum(axis=1)
    fresh = fresh_attacks(cell, model.risk(theta), rng)
    return np.column_stack([score, model.risk(theta), fresh.sum(axis=1), (fresh**2).mean(axis=1)])


def fresh_attacks(cell: Setting, risks: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """z⟨x, θ − θ*⟩ on n records that no θ knows, for each risk, shape (risks, n).

    Given θ, ⟨x, θ − θ*⟩ is N(0, 2R(θ)) and independent of z ~ N(0, ζ²). Each algorithm has records of its own.
    """
    z, along = draws.normals((2, len(risks), cell.n), rng)
    return cell.label_noise * z * np.sqrt(2 * risks)[:, None] * along


def attack_rows(cell: AttackCell, samples: np.ndarray) -> pd.DataFrame:
    """Means with errors, and what follows: the least score by (D.140), the certified ρ, the bounds on the risk."""
    mean, error = _fits.mean_and_error(samples)
    names = WITHOUT if math.isinf(cell.rho) else PRIVATE
    rows = pd.DataFrame({"d": cell.d, "n": cell.n, "gamma": cell.gamma, "rho": cell.rho, "algorithm": names})
    for k, name in enumerate(MEASURES):
        rows[name], rows[f"{name}_error"] = mean[:, k], error[:, k]
    rows["whole"] = cell.label_noise**2 * cell.d
    rows["least_score"] = lower_bound.least_score(2 * mean[:, 1], cell.d, cell.label_noise)
    rows["certified"] = lower_bound.certified_rho(mean[:, 0], mean[:, 1], cell.n, cell.label_noise)
    rows["lower"] = lower_bound.privacy_bound(cell.gamma, cell.rho, cell.label_noise)
    rows["label_noise"] = cell.label_noise
    return rows.assign(trials=len(samples))


# ---- One record replaced ----


@dataclass(frozen=True)
class TwinCell(Setting):
    """Output perturbation at a multiple of its best learning rate.

    All noise is in the last step, so that E(L − 1)² is in closed form.
    """

    tuned: float
    multiple: float

    @property
    def rate(self) -> float:
        return self.multiple * self.tuned

    @property
    def noise(self) -> float:
        """2Cσ_n, the standard deviation of the noise in a coordinate."""
        return 2 * self.clip * math.sqrt(self.d) * self.rate / self.n / self.rho

    @property
    def positions(self) -> np.ndarray:
        """The records that are replaced: the first, and the middles of equal parts."""
        return np.append(0, ((np.arange(POSITIONS) + 0.5) * self.n / POSITIONS).astype(int))


def twins(cell: TwinCell, *, rng: np.random.Generator) -> np.ndarray:
    """E(L_i − 1)² given the data for each replaced record, then Σ A_i and the risk, noise averaged out.

    Two releases are Gaussian with means T and T' and covariance s²I: then E(L − 1)² = exp(‖T − T'‖²/s²) − 1.
    """
    model, x, y = cell.draw(rng)
    others_x, others_y = spectrum.sample(model, len(cell.positions), rng=rng)
    theta = np.zeros((1 + len(cell.positions), cell.d))
    bound = cell.clip * math.sqrt(cell.d)
    _pass(theta, x, y, others_x, others_y, cell.positions, cell.rate / cell.n, bound)
    square = ((theta[1:] - theta[0]) ** 2).sum(axis=1) / cell.noise**2
    score = lower_bound.tracing_attack(x, y, model.target, theta[0]).sum()
    return np.array([*np.expm1(square), score, model.risk(theta[0]) + cell.d * cell.noise**2 / 2])


@compiled
def _pass(
    theta: np.ndarray,
    x: np.ndarray,
    y: np.ndarray,
    others_x: np.ndarray,
    others_y: np.ndarray,
    positions: np.ndarray,
    rate: float,
    bound: float,
) -> None:
    """All noiseless steps at a constant rate, in place: row 0 of ``theta`` on the data, row j with a record replaced.

    Replaced is the one at ``positions[j - 1]``; before it row j is row 0, from which it starts there.
    """
    for k in range(len(x)):
        square = dot(x[k], x[k])
        for j in range(1, len(theta)):
            if positions[j - 1] == k:
                theta[j] = theta[0]
                _step(theta[j], others_x[j - 1], others_y[j - 1], dot(others_x[j - 1], others_x[j - 1]), rate, bound)
            elif positions[j - 1] < k:
                _step(theta[j], x[k], y[k], square, rate, bound)
        _step(theta[0], x[k], y[k], square, rate, bound)


@compiled
def _step(theta: np.ndarray, x: np.ndarray, y: float, square: float, rate: float, bound: float) -> None:
    """θ ← θ − η̄ḡ, in place; ``square`` is ‖x‖²."""
    limit = bound / math.sqrt(square)
    length = min(rate, 2 / square) * min(max(dot(x, theta) - y, -limit), limit)
    for i in range(len(x)):
        theta[i] -= length * x[i]


def twin_tables(found: dict[TwinCell, np.ndarray]) -> dict[str, pd.DataFrame]:
    """Table ``records``, E(L_i − 1)² along the data, and ``chain``, the two sides of (D.144) link by link."""
    records, chain = [], []
    for cell, samples in found.items():
        mean, error = _fits.mean_and_error(samples)
        most = float(lower_bound.chi_square(cell.rho))
        place = {"d": cell.d, "n": cell.n, "gamma": cell.gamma, "rho": cell.rho, "multiple": cell.multiple}
        shares = {"record": 1 + cell.positions, "share": (1 + cell.positions) / cell.n}
        values = {"value": mean[:-2], "standard_error": error[:-2], "most": most}
        records.append(pd.DataFrame(place | shares | values))
        second = math.sqrt(2 * cell.label_noise**2 * mean[-1])
        first = cell.n * second * np.sqrt(mean[0])
        each = cell.n * second * np.sqrt(mean[1:-2]).mean()
        chain.append(
            place
            | {"rate": cell.rate, "score": mean[-2], "score_error": error[-2], "risk": mean[-1], "trials": len(samples)}
            | {"each": each, "first": first, "first_error": first * error[0] / (2 * mean[0])}
            | {"most": float(lower_bound.largest_score(mean[-1], cell.n, cell.label_noise, cell.rho))}
        )
    return {"records": pd.concat(records, ignore_index=True), "chain": pd.DataFrame(chain)}


# ---- An algorithm that is better ----


@dataclass(frozen=True)
class RivalCell(Setting):
    """DP-GD with its best harmonic schedule against a pilot of it on a share of the records and one averaged step."""

    pilot_share: float

    @property
    def key(self) -> int:
        return 10**12 + super().key

    @property
    def pilot_n(self) -> int:
        return round(self.pilot_share * self.n)


def rival_plans(cell: RivalCell, *, rng: np.random.Generator) -> np.ndarray:
    """For all records and for the pilot's: β, τ and the risk of the best harmonic schedule, shape (2, 3)."""
    rows = []
    for gamma in (cell.gamma, cell.d / cell.pilot_n):
        best = tuning.best_harmonic(system.isotropic(START, gamma, cell.label_noise), cell.clip, cell.rho, COARSE)
        assert isinstance(best.schedule, Harmonic)
        rows.append([best.schedule.scale, best.schedule.offset, best.risk])
    return np.array(rows)


@dataclass(frozen=True)
class RivalTrial(RivalCell):
    """The same with its schedules."""

    whole: tuple[float, float, float]
    pilot: tuple[float, float, float]

    @property
    def averaged(self) -> tuple[float, float]:
        """The risk after the averaged step as d → ∞, and its c."""
        return best_averaged_risk(self.pilot[2], self.d / (self.n - self.pilot_n), self.label_noise, self.rho)


def rival_trial(cell: RivalTrial, *, rng: np.random.Generator) -> np.ndarray:
    """The risks of both on the same records, shape (2,)."""
    model, x, y = cell.draw(rng)
    whole, pilot = (Configuration(cell.clip, Harmonic(*plan[:2]), cell.rho) for plan in (cell.whole, cell.pilot))
    m = cell.pilot_n
    first = descent.descend_samples(x, y, [whole], rng=rng)[0]
    start = descent.descend_samples(x[:m], y[:m], [pilot], rng=rng)[0]
    _, clip = cell.averaged
    mu = float(descent_reduction(clip, cell.pilot[2] + cell.label_noise**2 / 2))
    second = averaged_step(start, x[m:], y[m:], clip, cell.rho, mu, rng=rng)
    return model.risk(np.stack([first, second]))


def rival_rows(cell: RivalTrial, samples: np.ndarray) -> pd.DataFrame:
    """Simulated and predicted risks of both."""
    mean, error = _fits.mean_and_error(samples)
    place = {"d": cell.d, "n": cell.n, "gamma": cell.gamma, "rho": cell.rho}
    names = {"algorithm": [HARMONIC, "pilot and one step"]}
    values = {"risk": mean, "standard_error": error, "predicted": (cell.whole[2], cell.averaged[0])}
    return pd.DataFrame(place | names | values | {"trials": len(samples)})


# ---- What DP-GD reaches beside what no private algorithm can beat: along γ, along ρ and along the label noise ----

ISOTROPIC, UNEVEN = "isotropic", "uneven"
SPECTRA = {ISOTROPIC: (1.0,), UNEVEN: (0.5, 1.5)}  # eigenvalues, equally frequent
BALL, PRIOR = "worst in the ball", "mean over the prior"
STARTS = {BALL: 0.5, PRIOR: START}  # R(0): ‖θ*‖² is 1, and 1/7 on average
PATHS = {"rho = 1": 0.0, "rho = gamma^(1/2)": 0.5, "rho = gamma^(3/4)": 0.75}  # the power b of ρ = γ^b
ALONG_RHO, ALONG_NOISE = "along rho", "along the label noise"
PLACE = ("path", "spectrum", "start", "gamma", "rho", "label_noise", "clip")
FAR_GAMMA = np.logspace(-1, -12, 12)  # of closed forms
FAR_POWERS = {**PATHS, "rho = gamma": 1.0}
FAR_RHO_GAMMA = 1e-12
FAR_RHO = np.logspace(-9, 1, 41)  # from far above that γ; ρ = γ is a path of its own
FAR_NOISES = (0.03, 0.3, 3.0)
SIZES = np.logspace(2, 12, 6)  # n, of the conversion
OMEGA = 0.1  # δ = n^{−1−ω}


@dataclass(frozen=True)
class Cell:
    """A problem for which the harmonic schedule is tuned."""

    path: str
    spectrum: str
    start: str
    gamma: float
    rho: float
    label_noise: float
    clip: float
    pilot_share: float
    key: ClassVar[int] = 0  # nothing is drawn

    def equations(self, gamma: float) -> System:
        """The deterministic equivalent, the target spread evenly."""
        values = SPECTRA[self.spectrum]
        return system.of_spectrum(values, [STARTS[self.start]] * len(values), gamma, self.label_noise)


def solve(cell: Cell, *, rng: np.random.Generator) -> np.ndarray:
    """The best harmonic risk, its η̃(0) and τ, and the risk of a pilot with one averaged step (Σ = I alone)."""
    best = tuning.best_harmonic(cell.equations(cell.gamma), cell.clip, cell.rho, COARSE)
    offset = getattr(best.schedule, "offset", math.nan)
    if cell.spectrum != ISOTROPIC or cell.start != BALL or cell.path == ALONG_NOISE:
        return np.array([best.risk, best.initial, offset, math.nan])
    pilot = tuning.best_harmonic(cell.equations(cell.gamma / cell.pilot_share), cell.clip, cell.rho, COARSE).risk
    second = best_averaged_risk(pilot, cell.gamma / (1 - cell.pilot_share), cell.label_noise, cell.rho)[0]
    return np.array([best.risk, best.initial, offset, second])


def row(cell: Cell, found: np.ndarray) -> dict[str, object]:
    """One row of the table ``bounds``."""
    values, gamma = SPECTRA[cell.spectrum], cell.gamma
    variance = cell.label_noise**2
    if cell.start == PRIOR:
        penalty = lower_bound.PRIOR_INFORMATION * variance * gamma
        statistical = lower_bound.spread_bound(values, gamma, cell.label_noise, penalty)
        private = lower_bound.privacy_bound(gamma, cell.rho, cell.label_noise, min(values))
    else:
        statistical = lower_bound.spread_bound(values, gamma, cell.label_noise, variance * gamma)
        if cell.spectrum == ISOTROPIC:
            statistical = float(lower_bound.bayes_risk(gamma, cell.label_noise))
        private = lower_bound.privacy_bound(
            gamma, cell.rho, cell.label_noise, min(values), lower_bound.BALL_INFORMATION
        )
    lower = max(statistical, float(private))
    reached = dict(zip(("harmonic", "initial", "offset", "two_stage"), found))
    proven = {"statistical": statistical, "private": float(private), "lower": lower, "trivial": STARTS[cell.start]}
    order = {"rate": gamma + (gamma / cell.rho) ** 2, "factor": found[0] / lower}
    return {name: getattr(cell, name) for name in PLACE} | reached | proven | order


# ---- In closed form ----


def far() -> pd.DataFrame:
    """The proven bounds with the paper's prior, far out: along γ on each path, along ρ, and along λ_min."""
    rows = []
    for noise in FAR_NOISES:
        for axis, power in FAR_POWERS.items():
            rows += [_far_row(axis, g, g**power, noise, 1.0) for g in FAR_GAMMA]
        rows += [_far_row(ALONG_RHO, FAR_RHO_GAMMA, rho, noise, 1.0) for rho in FAR_RHO]
        # λ_min as small as Lemma D.7 allows, and no smaller: d²/(ρ²n²λ_min) = 1
        rows += [_far_row("along the smallest eigenvalue", g, 1.0, noise, g**2) for g in FAR_GAMMA]
    return pd.DataFrame(rows)


def _far_row(axis: str, gamma: float, rho: float, noise: float, smallest: float) -> dict[str, object]:
    private = float(lower_bound.privacy_bound(gamma, rho, noise, smallest))
    statistical = lower_bound.spread_bound([1.0], gamma, noise, lower_bound.PRIOR_INFORMATION * noise**2 * gamma)
    at = {"axis": axis, "gamma": gamma, "inverse_gamma": 1 / gamma, "rho": rho}
    at |= {"label_noise": noise, "smallest": smallest}
    rates = {"rate": gamma + (gamma / rho) ** 2, "private_rate": gamma**2 / float(lower_bound.chi_square(rho))}
    lemma = float(lower_bound.lemma_bound(gamma, rho, noise, smallest))
    bounds = {"private": private, "statistical": statistical, "lower": max(private, statistical)}
    return {**at, **rates, "lemma": lemma, **bounds}


def conversion(rho: float = 1.0) -> pd.DataFrame:
    """ε at δ = n^{−1−ω} of what is ρ²/2-zCDP, by Proposition A.3, and exactly for the Gaussian mechanism."""
    table = pd.DataFrame({"n": SIZES, "rho": rho, "delta": [float(n ** (-1 - OMEGA)) for n in SIZES]})
    table["log_n"] = [math.log(n) for n in SIZES]
    table["converted"] = [ZeroConcentratedDP(rho**2 / 2).epsilon(delta) for delta in table["delta"]]
    table["exact"] = [GaussianDP(rho).epsilon(delta) for delta in table["delta"]]
    return table.assign(lost=(table["exact"] / table["rho"]) ** 2, kept=1.0)


# ---- The single steps of Appendix D.4, each beside an independent calculation ----

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

        def mean(of: Callable[[float, float], float], d: int = d, edge: float = edge) -> float:
            """Of a function of z and of its score."""

            def weighted(z: float) -> float:
                return of(z, float(lower_bound.prior_score(z, d))) * float(lower_bound.prior_density(z, d))

            return quad(weighted, -edge, edge, epsabs=0, limit=200)[0]

        rows += [
            (d, MASS, mean(lambda z, score: 1.0), 1.0),
            (d, SQUARE, d * mean(lambda z, score: z * z), 1 / 7),
            (d, FIRST, -mean(lambda z, score: z * score), -1.0),  # (D.134) has a second minus sign inside
            (d, SECOND, mean(lambda z, score: score**2) / d, 10.0),
            (d, REACH, d * edge**2, 1.0),
        ]
    return pd.DataFrame(rows, columns=["d", "quantity", "value", "printed"])


def priors() -> pd.DataFrame:
    """κ of the paper's prior beside the least of independent entries on its cube, and the least on the ball."""
    sizes = (1, 10, 100, 1000, 10_000)
    ball = [lower_bound.ball_information(d) for d in sizes]
    paper, cube = lower_bound.PRIOR_INFORMATION, lower_bound.CUBE_INFORMATION
    return pd.DataFrame({"d": sizes, "paper": paper, "cube": cube, "ball": ball})


def likelihood(rhos: Sequence[float]) -> pd.DataFrame:
    """E L^α of three ρ²/2-zCDP mechanisms beside (5.26), the output drawn from either of the neighbours.

    A mechanism that is ε-DP is ε²/2-zCDP (Bun and Steinke 2016): randomised response and Laplace have ε = ρ.
    """
    rows = []
    for rho, order in product(rhos, ORDERS):
        bound = math.exp(order * (order - 1) * rho**2 / 2)
        for law, power in ((FROM_TWIN, order), (FROM_DATA, order + 1)):
            rows += [(name, rho, order, law, of(rho, power), bound) for name, of in MECHANISMS.items()]
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


# ---- Lemma D.8 ----


def outside() -> pd.DataFrame:
    """(D.156) with the estimator that always says one point of the sphere, Σ = I: does leaving the ball cost so little?

    With w = (spread/d) χ²_d for ‖θ*‖², the risk is ½(1 + w) on average over directions.
    """
    rows = []
    for noise, ratio, d in product(BALL_NOISES, BALL_RATIOS, BALL_DIMENSIONS):
        spread = noise**2 / (2 * ratio)
        leaves = lower_bound.outside_ball(d, spread)
        cost = 0.5 * (leaves + spread * float(chi2.sf(d / spread, d + 2)))
        found = {"leaves": leaves, "cost": cost, "printed": 2 * math.sqrt(leaves)}
        found |= {"square": lower_bound.projected_square(d, spread), "square_printed": FOUR}
        rows.append({"label_noise": noise, "ratio": ratio, "d": d, "spread": spread} | found)
    return pd.DataFrame(rows)


def lemma_d8() -> pd.DataFrame:
    """Lemma D.8 with every constant, by the prior of Lemma D.6: at n = 2d, at n = d², where n grows alone; Σ = I."""
    rows = []
    sizes = [10.0**k for k in range(1, 7)]
    places = [("n = 2d", d, 2 * d) for d in sizes] + [("n = d²", d, d * d) for d in sizes]
    places += [("n alone", 10.0, 10.0 * k) for k in sizes]
    for noise, (axis, d, n) in product(LEMMA_NOISES, places):
        lower = lower_bound.spread_bound([1.0], d / n, noise, lower_bound.PRIOR_INFORMATION * noise**2 * d / n)
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
        return 2 * 10**12 + 1000 * self.n + 10 * self.d + ("isotropic", "uniform").index(self.spectrum)

    @property
    def shape(self) -> Spectrum:
        return spectrum.isotropic(self.d) if self.spectrum == "isotropic" else spectrum.uniform(self.d)

    @property
    def penalty(self) -> float:
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
    last = cell.label_noise**2 * cell.d / (4 * cell.shape.largest * cell.n)
    found = {"risk": mean[0], "standard_error": error[0], "trace": mean[1], "trace_error": error[1], "last": last}
    return {"spectrum": cell.spectrum, "d": cell.d, "n": cell.n, **found, "trials": len(samples)}


def orders() -> pd.DataFrame:
    """(D.160) and (D.161) on a grid of ρ, at n = d: the quotient that each says stays between constants."""
    square, chi_square = GRID**2, lower_bound.chi_square(GRID)
    return pd.DataFrame({"rho": GRID, "quotient": chi_square / square, "first": 1 / chi_square, "second": 1 / square})


class Experiment(Parameters):
    """Theorem 3: the tracing attack on DP-GD, its upper bound beside the lower one, and the steps of the proof."""

    d: int = parameter(count(2, 10**5), 50)
    """Dimension of everything that is simulated."""
    ratios: tuple[int, ...] = many(count(2, 10**6), 5, 10, 20, 50, ascending=True)
    """Records over dimension, n/d, where algorithms are attacked."""
    rho: tuple[float, ...] = many(RHO, 0.3, 1.0, 3.0, ascending=True)
    """Privacy parameters ρ of the algorithms that are attacked."""
    label_noise: float = parameter(NOISE, 0.3)
    clip: float = parameter(CLIP, 0.1)
    gammas: tuple[float, ...] = many(GAMMA, 1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.1, ascending=True)
    """Aspect ratios γ at which the harmonic schedule is tuned."""
    gamma: float = parameter(GAMMA, 1e-4)
    """Aspect ratio γ along which ρ varies."""
    rhos: tuple[float, ...] = many(RHO, *(1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3, 1.0, 3.0), ascending=True)
    """Privacy parameters ρ at that aspect ratio."""
    noises: tuple[float, ...] = many(NOISE, 0.003, 0.03, 0.3, 3.0, ascending=True)
    """Standard deviations ζ of the label noise, for Section 8's remark; c is proportional to them."""
    rival_n: int = parameter(count(100, 10**8), 50_000)
    """Records of the comparison with a pilot and one averaged step."""
    rival_rho: float = parameter(RHO, 0.02)
    """Privacy parameter ρ of that comparison."""
    pilot_share: float = parameter(chance(1e-3, 0.999), 0.25)
    """Share of the records that the pilot uses."""
    trials: int = parameter(TRIALS, 200)
    rival_trials: int = parameter(TRIALS, 40)
    """Independent repetitions of that comparison."""
    seed: int = parameter(SEED, 10)

    def check(self) -> None:
        least = 2 * POSITIONS
        if self.d * self.ratios[0] < least:
            raise ValueError(f"d times each of ratios must be at least {least}, got {self.d * self.ratios[0]}")

    def run(self, runner: Runner) -> dict[str, pd.DataFrame]:
        sizes = {"n": self.rival_n, "rho": self.rival_rho}
        cell = self.shared(RivalCell, **sizes)
        whole, pilot = runner.run(rival_plans, [cell], 1, 0)[cell][0].tolist()
        trial = self.shared(RivalTrial, **sizes, whole=tuple(whole), pilot=tuple(pilot))
        rivals = runner.run(rival_trial, [trial], self.rival_trials, self.seed)[trial]
        bounds = runner.run(solve, self._places(), 1, 0)
        priors_of_d8 = [
            self.shared(BayesCell, spectrum=name, n=ratio * self.d)
            for name in ("isotropic", "uniform")
            for ratio in sorted({self.ratios[0], self.ratios[-1]})
        ]
        bayes = runner.run(bayes_trial, priors_of_d8, self.trials, self.seed)
        return {
            **self._attacks(runner),
            "rivals": rival_rows(trial, rivals),
            "bounds": pd.DataFrame([row(cell, values[0]) for cell, values in bounds.items()]),
            "far": far(),
            "conversion": conversion(),
            "prior": prior(),
            "priors": priors(),
            "likelihood": likelihood(self.rho),
            "outside": outside(),
            "lemma": lemma_d8(),
            "bayes": pd.DataFrame([bayes_rows(cell, samples) for cell, samples in bayes.items()]),
            "orders": orders(),
        }

    def _attacks(self, runner: Runner) -> dict[str, pd.DataFrame]:
        settings = [self.shared(Setting, n=ratio * self.d, rho=rho) for ratio in self.ratios for rho in self.rho]
        tuned = {cell: found[0] for cell, found in runner.run(tune, settings, 1, 0).items()}
        cells = [
            self.shared(AttackCell, n=c.n, rho=c.rho, rates=tuple(t[:, 0].tolist()), offset=float(t[2, 1]))
            for c, t in tuned.items()
        ]
        bare = [self.shared(AttackCell, n=ratio * self.d, rho=math.inf, rates=(), offset=0.0) for ratio in self.ratios]
        found = runner.run(attack, bare + cells, self.trials, self.seed)
        pairs = [
            self.shared(TwinCell, n=c.n, rho=c.rho, tuned=float(t[0, 0]), multiple=multiple)
            for c, t in tuned.items()
            for multiple in MULTIPLES
        ]
        table = pd.concat([attack_rows(cell, samples) for cell, samples in found.items()], ignore_index=True)
        return {"attack": table, **twin_tables(runner.run(twins, pairs, self.trials, self.seed))}

    def _places(self) -> list[Cell]:
        """Where the schedule is tuned: the paths to small γ, an uneven spectrum, the prior's mean, along ρ and along ζ.

        Along ζ the clipping constant is proportional to it.
        """
        noise, clip, (slow, *_, fast) = self.label_noise, self.clip, PATHS
        sides = [(path, ISOTROPIC, BALL) for path in PATHS]
        sides += [(slow, UNEVEN, BALL), (fast, UNEVEN, BALL), (slow, ISOTROPIC, PRIOR)]
        found = [(*side, g, g ** PATHS[side[0]], noise, clip) for side in sides for g in self.gammas]
        found += [(ALONG_RHO, ISOTROPIC, BALL, self.gamma, rho, noise, clip) for rho in self.rhos]
        along = product(self.noises, self.gammas)
        found += [(ALONG_NOISE, ISOTROPIC, BALL, g, 1.0, z, clip * z / noise) for z, g in along]
        return [self.shared(Cell, **dict(zip(PLACE, values))) for values in found]
