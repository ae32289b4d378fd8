"""What is measured of the deterministic equivalent of DP-GD: Figure 1, the rate of convergence, and its reach."""

import itertools
import math
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import pandas as pd
from scipy import stats
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicSpline

from chapters.dpgd.deterministic_equivalent import displays
from chapters.dpgd.deterministic_equivalent.displays import (
    ALPHAS,
    LEVELS,
    SCHEDULES,
    Regime,
    Sized,
    bound,
    gathered,
    levelled,
    system_of,
)
from chapters.ranges import CLIP, GAMMA, NOISE, RATE, RHO_OR_INFINITE, SEED, TRIALS, chance, count
from companion import _fits
from companion.declaration import Parameters, many, parameter
from companion.streams import Precision, Runner
from costofprivacy._compiled import compiled
from costofprivacy.dpgd import chain, clipping, diffusion, equivalent, spectrum, system
from costofprivacy.dpgd.chain import Eigenspaces
from costofprivacy.dpgd.clipping import descent_reduction, variance_reduction
from costofprivacy.dpgd.descent import Configuration, descend, steps_at
from costofprivacy.dpgd.schedule import (
    Constant,
    Polynomial,
    Schedule,
    learning_rates,
    noise_intensity,
    noise_multipliers,
)
from costofprivacy.dpgd.spectrum import EllipticalT, FeatureLaw, Gaussian, Rademacher, RegressionModel, StudentT
from costofprivacy.dpgd.system import last_step

# ---- Rates: how fast the risk of Algorithm 1 closes in on R(t) as n grows, Theorem 1 and Proposition 4.4 ----
# The risk is simulated with `dpgd.chain`, exactly in law, so that n can be large and the trials many. For the uniform
# law on [0, 2] a spectrum of four levels stands in, which the chain can follow at any d.

CHAINS = 1000  # in one trial
TIMES = np.arange(80) / 80  # at which the mean is held against R(t)
NODES = np.linspace(0, 1, 201)  # at which R(t) is solved; a spline serves the steps between them
SHARE = 0.99  # of the chains below the quantile reported
SPECTRA = {"isotropic": spectrum.isotropic, "four levels": levelled}
KINK = "constant, 2/γ"


@dataclass(frozen=True)
class Cell:
    """A spectrum and a number of samples; all schedules share a chain's draws."""

    regime: Regime
    n: int
    spectrum: str

    @property
    def key(self) -> int:
        return 2 * self.n + (self.spectrum == "four levels")

    @property
    def d(self) -> int:
        return self.regime.dimension(self.n)

    @property
    def spaces(self) -> Eigenspaces:
        return chain.eigenspaces(self.regime.model(SPECTRA[self.spectrum](self.d)))

    @property
    def schedules(self) -> dict[str, Schedule]:
        """Those of Figure 1, and the constant one at the kink of η̄ = min(η̃, 2/γ)."""
        figure_1 = {SCHEDULES[alpha]: self.regime.schedule(alpha) for alpha in ALPHAS}
        return {**figure_1, KINK: Constant(2 * self.n / self.d)}


@dataclass(frozen=True, eq=False)
class Reference:
    """The deterministic equivalent of a cell, for each schedule.

    Args:
        path: R(k/n) for k < n, shape (schedules, n). mean_path: R at `TIMES`, shape (schedules, times).
        smoothed: R at `TIMES` with the cap 2/γ replaced by its mean, same shape. level: (4.23), shape (schedules,).
    """

    path: np.ndarray
    mean_path: np.ndarray
    smoothed: np.ndarray
    level: np.ndarray


@lru_cache(maxsize=4)
def reference(cell: Cell) -> Reference:
    """Solve Definition 4.2 for each schedule of a cell."""
    equations, clip, rho = system_of(cell.spaces, cell.n), cell.regime.clip, cell.regime.rho

    def solve(plan: Schedule) -> CubicSpline:
        return CubicSpline(NODES, equivalent.risk_path(equations, plan, clip, rho, NODES, 1e-7))

    plans = list(cell.schedules.values())
    curves = [solve(plan) for plan in plans]
    when = steps_at(TIMES, cell.n) / cell.n
    smoothed = [curve(when) for curve in curves[:-1]] + [solve(smoothed_cap(cell))(when)]
    return Reference(
        np.stack([curve(np.arange(cell.n) / cell.n) for curve in curves]),
        np.stack([curve(when) for curve in curves]),
        np.stack(smoothed),
        np.array([curve(1.0) + last_step(equations, plan, clip, rho) for curve, plan in zip(curves, plans)]),
    )


def smoothed_cap(cell: Cell) -> Constant:
    """The mean of n·min(2/d, 2/‖x‖²) to order 1/d: (2/γ)(1 − E max(v, 0)), v = ‖x‖²/d − 1 ≈ N(0, 2 tr Σ²/d²)."""
    spaces = cell.spaces
    second = float(spaces.multiplicities @ spaces.eigenvalues**2) / spaces.d
    return Constant(2 * cell.n / cell.d * (1 - math.sqrt(second / (math.pi * spaces.d))))


def trial(cell: Cell, *, rng: np.random.Generator) -> np.ndarray:
    """What `CHAINS` chains do, for each schedule: shape (schedules, 2·times + 9).

    Means and mean squares of the deviations at `TIMES`, of sup_k |R(θ_k) − R(k/n)| over k < n, of |R(θ_n) − level| and
    of R(θ_n) − level; then three quantiles of the supremum, at `SHARE` and one standard error to either side.
    """
    target, ways = reference(cell), [cell.regime.configuration(plan) for plan in cell.schedules.values()]
    records = steps_at(TIMES, cell.n)  # several times have the same step where n is below their number
    largest = np.zeros((len(ways), CHAINS))
    at_times = np.empty((len(ways), CHAINS, len(TIMES)))
    for k, risk in enumerate(chain.risks(cell.spaces, ways, cell.n, CHAINS, rng=rng)):
        if k == cell.n:
            break
        deviation = risk - target.path[:, k, None]
        if (here := records == k).any():
            at_times[:, :, here] = deviation[:, :, None]
        np.maximum(largest, np.abs(deviation), out=largest)
    released = risk - target.level[:, None]
    summands = np.concatenate([at_times, np.stack([largest, np.abs(released), released], axis=-1)], axis=-1)
    spread = math.sqrt(SHARE * (1 - SHARE) / CHAINS)
    quantiles = np.quantile(largest, [SHARE - spread, SHARE, SHARE + spread], axis=1).T
    return np.concatenate([summands.mean(axis=1), (summands**2).mean(axis=1), quantiles], axis=1)


def rows(cell: Cell, samples: np.ndarray) -> pd.DataFrame:
    """Deviations of the risk from R(t), and of its mean, with standard errors over all chains."""
    target, count = reference(cell), len(samples) * CHAINS
    means = samples.mean(axis=0)
    first, second, (low, middle, high) = *np.split(means[:, :-3], 2, axis=1), means[:, -3:].T
    error = np.sqrt((second - first**2) / count)
    out = []
    for i, name in enumerate(cell.schedules):
        bias, smoothed = first[i, : len(TIMES)], first[i, : len(TIMES)] + target.mean_path[i] - target.smoothed[i]
        worst = {"bias": (bias, np.abs(bias).argmax()), "bias, cap smoothed": (smoothed, np.abs(smoothed).argmax())}
        values = {
            "path": (first[i, -3], error[i, -3]),
            "path, 99 %": (middle[i], (high[i] - low[i]) / 2 / math.sqrt(len(samples))),
            **{quantity: (v[at], error[i, at]) for quantity, (v, at) in worst.items()},
            "released": (first[i, -2], error[i, -2]),
            "released bias": (first[i, -1], error[i, -1]),
        }
        if name != KINK:
            del values["bias, cap smoothed"]
        place = {"spectrum": cell.spectrum, "schedule": name, "n": cell.n, "d": cell.d}
        out += [place | {"quantity": q, "value": v, "standard_error": e} for q, (v, e) in values.items()]
    return pd.DataFrame(out).assign(chains=count, bound=bound(cell.n))


# ---- Reach: where the equivalent stops working, with other features, small d, c → 0, η̃ > 2/γ ----
# Everything here has the square-root schedule, whose private noise is the same in every step.

REACH_TIMES = np.arange(101) / 100
LAWS: dict[str, FeatureLaw] = {
    "Gaussian": Gaussian(),
    "Rademacher": Rademacher(),
    "Student t, 5": StudentT(5.0),
    "Student t, 2.5": StudentT(2.5),
    "elliptical t, 5": EllipticalT(5.0),
    "elliptical t, 20": EllipticalT(20.0),
}
TARGETS = ("spread", "one coordinate")
PILOT = 12  # runs from whose spread the number of runs follows
CLIPS = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
RATES = (1.0, 3.0, 10.0, 18.0, 20.0, 22.0, 30.0, 100.0, 1000.0)


@dataclass(frozen=True)
class LawCell(Sized):
    """Features of some law; a θ* that is spread out and one that is on one coordinate share a run's data."""

    law: str

    @property
    def key(self) -> int:
        return list(LAWS).index(self.law) * 10**7 + self.d

    @property
    def targets(self) -> np.ndarray:
        """θ* of each of `TARGETS`, both of norm 1, shape (targets, d)."""
        return np.stack([np.full(self.d, self.d**-0.5), np.eye(self.d)[0]])

    def model(self, target: np.ndarray) -> RegressionModel:
        return RegressionModel(spectrum.isotropic(self.d), target, self.regime.label_noise, LAWS[self.law])

    @property
    def configuration(self) -> Configuration:
        return self.regime.configuration(self.regime.schedule(0.5))


def law_trial(cell: LawCell, *, rng: np.random.Generator) -> np.ndarray:
    """The risk at `TIMES` in one run for each target, shape (targets, times)."""
    model, ways = cell.model(np.zeros(cell.d)), [cell.configuration] * len(TARGETS)
    return descend(model, ways, cell.n, REACH_TIMES, -cell.targets, rng=rng).risk


def averaged_path(cell: LawCell, law: EllipticalT, times: np.ndarray) -> np.ndarray:
    """R(t) for isotropic elliptical features x = √q g, q random: (4.11) with its first two terms averaged over q.

    Given q, ‖x‖² ≈ qd, so the step is capped at 2/(γq) and the residual r ~ N(0, 2𝒫_q), 𝒫_q = qR + ζ²/2, is clipped at
    c/√q. With μ and ν taken there, R' = −2R E[q η̄_q μ] + γ E[q η̄_q² ν 𝒫_q] + 2c²σ̃²γ².
    """
    regime, way, gamma = cell.regime, cell.configuration, cell.d / cell.n
    scales = (law.degrees - 2) / stats.chi2.isf((np.arange(2000) + 0.5) / 2000, law.degrees)  # its quantiles
    clips = regime.clip / np.sqrt(scales)

    def slope(t: float, risk: np.ndarray) -> np.ndarray:
        rate = np.minimum(way.schedule(t), 2 / (gamma * scales))
        losses = scales * np.maximum(risk, 0) + regime.label_noise**2 / 2
        descent = 2 * risk * (scales * rate * clipping.descent_reduction(clips, losses)).mean()
        sampling = gamma * (scales * rate**2 * clipping.variance_reduction(clips, losses) * losses).mean()
        return sampling - descent + 2 * (regime.clip * gamma) ** 2 * noise_intensity(way.schedule, t, regime.rho)

    start = [cell.model(cell.targets[0]).initial_risk]
    solution = solve_ivp(slope, (0, 1), start, method="LSODA", dense_output=True, rtol=1e-8, atol=1e-10)
    return solution.sol(times)[0]


def law_rows(cell: LawCell, samples: np.ndarray) -> pd.DataFrame:
    """The mean risk against R(t) for each target: averaged over time, and at the release."""
    way, when, law = cell.configuration, steps_at(REACH_TIMES, cell.n) / cell.n, LAWS[cell.law]
    averaged = averaged_path(cell, law, when).mean() if isinstance(law, EllipticalT) else np.nan
    rows = []
    for name, target, paths in zip(TARGETS, cell.targets, np.moveaxis(samples, 1, 0)):
        model = cell.model(target)
        predicted = equivalent.risk_path(system.of_model(model, cell.n), way.schedule, way.clip, way.rho, when)
        gap, gap_error = _fits.mean_and_error((paths - predicted).mean(axis=1) / predicted.mean())
        released, released_error = _fits.mean_and_error(paths[:, -1] / predicted[-1] - 1)
        place = {"law": cell.law, "target": name, "d": cell.d, "n": cell.n}
        whole = {"relative_gap": gap, "standard_error": gap_error}
        end = {"relative_gap_released": released, "standard_error_released": released_error}
        rest = {"ode_released": predicted[-1], "zero_risk": model.initial_risk, "trials": len(paths)}
        rows.append(place | whole | {"relative_gap_averaged": averaged / predicted.mean() - 1} | end | rest)
    return pd.DataFrame(rows)


@dataclass(frozen=True)
class AxisCell(Sized):
    """Points along one axis that share a dimension, and so a chain's draws.

    Args:
        axis: "d", "c", "c, η̃(0)c fixed" or "initial rate". values: of the axis.
    """

    axis: str
    values: tuple[float, ...]

    @property
    def model(self) -> RegressionModel:
        return self.regime.model(spectrum.isotropic(self.d))

    @property
    def configurations(self) -> list[Configuration]:
        regime, ways = self.regime, []
        for value in self.values:
            clip = value if self.axis.startswith("c") else regime.clip
            rates = {"initial rate": value, "c, η̃(0)c fixed": regime.learning_rate * regime.clip / value}
            plan = Polynomial(rates.get(self.axis, regime.learning_rate), 0.5)
            ways.append(Configuration(clip, plan, regime.rho))
        return ways


def axis_trial(cell: AxisCell, *, rng: np.random.Generator) -> np.ndarray:
    """Means over `CHAINS` chains of the risk at `TIMES` and of its square, shape (2, configurations, times)."""
    risk = chain.risk_at(chain.eigenspaces(cell.model), cell.configurations, cell.n, REACH_TIMES, CHAINS, rng=rng)
    return np.stack([risk.mean(axis=1), (risk**2).mean(axis=1)])


def axis_rows(cell: AxisCell, samples: np.ndarray) -> pd.DataFrame:
    """The largest bias and spread of the risk along the path, each over R(t) at its time."""
    (mean, square), when = samples.mean(axis=0), steps_at(REACH_TIMES, cell.n) / cell.n
    sd, chains = np.sqrt(np.maximum(square - mean**2, 0)), len(samples) * CHAINS
    equations, out = system.of_model(cell.model, cell.n), []
    for i, (value, way) in enumerate(zip(cell.values, cell.configurations)):
        predicted = equivalent.risk_path(equations, way.schedule, way.clip, way.rho, when)
        bias, spread = mean[i] / predicted - 1, sd[i] / predicted
        at = np.abs(bias).argmax()
        place = {"axis": cell.axis, "value": value, "d": cell.d, "n": cell.n}
        path = {"relative_bias": bias[at], "standard_error": spread[at] / np.sqrt(chains)}
        path |= {"relative_spread": spread.max()}
        released = {"ode_released": predicted[-1], "risk_released": mean[i, -1], "zero_risk": cell.model.initial_risk}
        out.append(place | path | released | {"diverged": int(not np.isfinite(mean[i]).all()), "chains": chains})
    return pd.DataFrame(out)


# ---- Algorithm 1 beside homogenised DP-GD, (4.14) and (C.1), on independent paths ----
# For each n: how far the two are apart, in the risk and in all quadratics of (C.2), with the drift derived and the
# drift printed; how large the martingale parts of q(v) = ½ v'Σv/λ_max (‖q‖_{C²} = 1) become, Lemmas C.2 and C.3; how
# far the errors grow, Lemma C.4; and how far the risk of the diffusion is from R(t), (C.45). The schedule is
# η̃(0)√(1 − t), with private noise in every step; the spectrum is uniform on [0, 2].

PATHS = 8  # in one trial
STEPS = 400  # of the diffusion
TAIL = 0.9  # share of the paths below the tail; their number bears hardly more
SCALE = 1 - np.exp(-1.0)  # share below Cn^(−1/2)y at y = 1, the least y of (C.17) and (C.26)
HOMOGENISED_TIMES = np.arange(40) / 40  # t < 1
ANGLES = np.linspace(0, np.pi, 9)  # of z on the upper half of its circle; the lower one mirrors it
QUANTITIES = (
    "risk, derived drift",
    "risk, printed drift",
    "resolvents, derived drift",
    "resolvents, printed drift",
    "martingale of the private noise",
    "martingale of the diffusion",
    "growth of the algorithm",
    "growth of the diffusion",
)
INTEGRALS = {"i/2π": 1.0, "i/4π": 0.5}  # times ∮ z q̂ dz, as (4.20) and as (C.45) have it, over R(t)
SMALL = (1.0, 1e-2, 1e-4)  # ‖θ*‖² at which the growth is tried


@dataclass(frozen=True)
class HomogenisedCell:
    """A number of samples, and the squared norm of the true parameter."""

    regime: Regime
    n: int
    scale: float = 1.0

    @property
    def key(self) -> int:
        return len(SMALL) * self.n + SMALL.index(self.scale)

    @property
    def model(self) -> RegressionModel:
        unit = self.regime.model(spectrum.uniform(self.regime.dimension(self.n)))
        return RegressionModel(unit.spectrum, unit.target * self.scale**0.5, unit.label_noise)

    @property
    def schedule(self) -> Schedule:
        return self.regime.schedule(0.5)


def homogenised_trial(cell: HomogenisedCell, *, rng: np.random.Generator) -> np.ndarray:
    """`QUANTITIES` on each of `PATHS` pairs of independent paths, then the distances from `INTEGRALS` for both drifts.

    Shape (paths, quantities + drifts · integrals).
    """
    values, times = cell.model.spectrum.eigenvalues, np.arange(STEPS) / STEPS
    algorithm, noise = homogenised_descend(cell, rng)
    told = (cell.model, cell.schedule, cell.regime.clip, cell.regime.rho, cell.n, times, PATHS)
    derived, printed = (
        diffusion.diffuse(*told, drift, steps=STEPS, rng=rng) for drift in (diffusion.DERIVED, diffusion.PRINTED)
    )
    coarse = [paths[:: STEPS // len(HOMOGENISED_TIMES)] for paths in (derived, printed)]
    resolvents = 1 / (values[:, None] - 2 * values.max() * np.exp(1j * ANGLES))  # of (C.3)
    integrals = [  # sup_t of the distance of the diffusion's risk from a share of R(t)
        np.abs(paths**2 @ values / 2 - share * equivalent_risk(cell)[:, None]).max(axis=0)
        for paths in coarse
        for share in INTEGRALS.values()
    ]
    return np.column_stack(
        [
            *(np.abs((algorithm**2 - paths**2) @ values / 2).max(axis=0) for paths in coarse),
            *(np.abs((algorithm**2 - paths**2) @ resolvents / 2).max(axis=(0, 2)) for paths in coarse),
            noise,
            _ito_remainder(cell, derived),
            _growth(algorithm),
            _growth(derived),
            *integrals,
        ]
    )


def growth_trial(cell: HomogenisedCell, *, rng: np.random.Generator) -> np.ndarray:
    """log sup ‖v‖²/‖v_0‖² and log sup (1 + ‖v‖²)/(1 + ‖v_0‖²) on `PATHS` paths of the algorithm, shape (paths, 2)."""
    squares = (homogenised_descend(cell, rng)[0] ** 2).sum(axis=-1)
    return np.column_stack([np.log(squares.max(0) / squares[0]), np.log((1 + squares.max(0)) / (1 + squares[0]))])


def homogenised_descend(cell: HomogenisedCell, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Errors of `PATHS` independent runs at `TIMES`, and the largest value of each private-noise martingale.

    Its increment is the part with b in q(v + δ) − q(v) less its mean, for q = ½ v'hv and s = 2C_clip σ_k:
    s⟨b, h(v − η̄ḡ)⟩ + ½s²(b'hb − tr h). (C.8) has the product of ḡ and b with half its size and the other sign.

    Returns:
        v, shape (times, paths, d), and sup_k |M_k|, shape (paths,).
    """
    n, model = cell.n, cell.model
    clip_norm, rates = cell.regime.clip * model.d**0.5, learning_rates(cell.schedule, n)
    noise = 2 * clip_norm * noise_multipliers(rates, cell.regime.rho)
    kept, largest = np.empty((len(HOMOGENISED_TIMES), PATHS, model.d)), np.empty(PATHS)
    values, told = model.spectrum.eigenvalues.astype(float), (rates, noise, steps_at(HOMOGENISED_TIMES, n))
    _descend(kept, largest, values, model.target, float(model.label_noise), clip_norm, *told, rng)
    return kept, largest


@compiled
def _descend(
    kept: np.ndarray,
    largest: np.ndarray,
    eigenvalues: np.ndarray,
    target: np.ndarray,
    label_noise: float,
    clip_norm: float,
    rates: np.ndarray,
    noise: np.ndarray,
    records: np.ndarray,
    rng: np.random.Generator,
) -> None:
    """Fill ``kept`` with the errors before the steps in ``records``, and ``largest`` with sup_k |M_k|.

    Drawn in a step are the features of all paths, then their label noise, then their private noise.
    """
    _, paths, d = kept.shape
    hessian, roots = eigenvalues / eigenvalues.max(), np.sqrt(eigenvalues)
    trace, martingale = hessian.sum(), np.zeros(paths)
    error, x = np.empty((paths, d)), np.empty((paths, d))
    for p in range(paths):
        error[p], largest[p] = -target, 0.0
    for k in range(records[-1] + 1):
        for t in range(len(records)):
            if records[t] == k:
                kept[t] = error
        for p in range(paths):
            for i in range(d):
                x[p, i] = roots[i] * rng.standard_normal()
        for p in range(paths):
            residual, square = -label_noise * rng.standard_normal(), 0.0
            for i in range(d):
                residual += x[p, i] * error[p, i]
                square += x[p, i] ** 2
            bound = clip_norm / math.sqrt(square)
            length = min(rates[k], 2 / square) * min(max(residual, -bound), bound)
            for i in range(d):
                error[p, i] -= length * x[p, i]
        for p in range(paths):
            cross, inside = 0.0, 0.0
            for i in range(d):
                b = rng.standard_normal()
                cross += hessian[i] * b * error[p, i]
                inside += hessian[i] * b * b
                error[p, i] += noise[k] * b
            martingale[p] += noise[k] * cross + noise[k] ** 2 / 2 * (inside - trace)
            largest[p] = max(largest[p], abs(martingale[p]))


@lru_cache(maxsize=4)
def equivalent_risk(cell: HomogenisedCell) -> np.ndarray:
    """R at `TIMES`."""
    equations = system.of_model(cell.model, cell.n)
    return equivalent.risk_path(equations, cell.schedule, cell.regime.clip, cell.regime.rho, HOMOGENISED_TIMES)


def _ito_remainder(cell: HomogenisedCell, errors: np.ndarray) -> np.ndarray:
    """sup_t |q(V_t) − q(V_0) − ∫ drift of (C.9)|, the martingale of Lemma C.3, by the trapezoidal rule."""
    clip, model, times = cell.regime.clip, cell.model, np.arange(STEPS) / STEPS
    values, d, n = model.spectrum.eigenvalues, cell.model.d, cell.n
    hessian = values / values.max()
    test_risk = errors**2 @ values / 2 + model.label_noise**2 / 2
    rate = np.minimum(cell.schedule(times), 2 * n / d)[:, None]
    descent = -rate * descent_reduction(clip, test_risk) * (errors**2 @ (values * hessian))
    sampling = rate**2 * variance_reduction(clip, test_risk) * test_risk * (values @ hessian) / n
    intensity = noise_intensity(cell.schedule, times, cell.regime.rho)[:, None]
    private = 2 * d / n**2 * clip**2 * intensity * hessian.sum()
    drift = descent + sampling + private
    quadratic = errors**2 @ hessian / 2
    passed = np.cumsum((drift[1:] + drift[:-1]) / (2 * STEPS), axis=0)
    return np.abs(quadratic[1:] - quadratic[0] - passed).max(axis=0)


def _growth(errors: np.ndarray) -> np.ndarray:
    squares = (errors**2).sum(axis=-1)
    return np.log(squares.max(axis=0) / squares[0])


def homogenised_rows(cell: HomogenisedCell, samples: np.ndarray) -> pd.DataFrame:
    """Mean, spread and two upper quantiles of each quantity over all paths, with log²n/√n beside it."""
    values = samples.reshape(-1, samples.shape[-1])[:, : len(QUANTITIES)]
    mean, error = _fits.mean_and_error(values)
    return pd.DataFrame(
        {
            "n": cell.n,
            "quantity": QUANTITIES,
            "value": mean,
            "standard_error": error,
            "standard_deviation": values.std(axis=0, ddof=1),
            "scale": np.quantile(values, SCALE, axis=0),
            "tail": np.quantile(values, TAIL, axis=0),
            "bound": bound(cell.n),
            "trials": len(values),
        }
    )


def integral_rows(cell: HomogenisedCell, samples: np.ndarray) -> pd.DataFrame:
    """Mean distance of the diffusion's risk from each integral, for both drifts, with log²n/√n beside it."""
    values = samples.reshape(-1, samples.shape[-1])[:, len(QUANTITIES) :]
    mean, error = _fits.mean_and_error(values)
    names = pd.DataFrame(itertools.product(("derived", "printed"), INTEGRALS), columns=["drift", "integral"])
    names.insert(0, "n", cell.n)
    return names.assign(value=mean, standard_error=error, bound=bound(cell.n), trials=len(values))


def growth_rows(cell: HomogenisedCell, samples: np.ndarray) -> pd.DataFrame:
    """Mean of both logarithms and their standard error."""
    values = samples.reshape(-1, 2)
    mean, error = _fits.mean_and_error(values)
    place = {"squared_norm": cell.scale, "quantity": ["‖v‖²", "1 + ‖v‖²"]}
    return pd.DataFrame(place | {"value": mean, "standard_error": error, "trials": len(values)})


# ---- Paths: Figure 1, the risk along Algorithm 1 beside the solution of (4.7) and (4.8) ----

FIGURE_1_TIMES = np.arange(101) / 100  # t = 1 is the released iterate
FIGURE_1_SPECTRA = {"isotropic": spectrum.isotropic, "uniform": spectrum.uniform}


@dataclass(frozen=True)
class Figure1Cell(Sized):
    """A spectrum in one dimension; both schedules run on its data."""

    spectrum: str

    @property
    def key(self) -> int:
        return 2 * self.d + (self.spectrum == "uniform")

    @property
    def model(self) -> RegressionModel:
        return self.regime.model(FIGURE_1_SPECTRA[self.spectrum](self.d))

    @property
    def configurations(self) -> list[Configuration]:
        return [self.regime.configuration(self.regime.schedule(alpha)) for alpha in ALPHAS]


def figure_1_trial(cell: Figure1Cell, *, rng: np.random.Generator) -> np.ndarray:
    """The risk at `TIMES` in one run of each schedule, shape (schedules, times)."""
    return descend(cell.model, cell.configurations, cell.n, FIGURE_1_TIMES, rng=rng).risk


def figure_1_rows(cell: Figure1Cell, samples: np.ndarray) -> pd.DataFrame:
    """Mean and standard deviation of the risk beside R(t); at t = 1 beside the level of (4.23)."""
    model, equations = cell.model, system.of_model(cell.model, cell.n)
    when = steps_at(FIGURE_1_TIMES, cell.n) / cell.n
    parts = []
    for a, (alpha, way) in enumerate(zip(ALPHAS, cell.configurations)):
        mean, error = _fits.mean_and_error(samples[:, a])
        told = (equations, way.schedule, way.clip, way.rho)
        predicted = equivalent.risk_path(*told, when)
        predicted[-1] = equivalent.final_risk(*told)
        columns = {
            "spectrum": cell.spectrum,
            "alpha": alpha,
            "d": cell.d,
            "t": FIGURE_1_TIMES,
            "risk_mean": mean,
            "risk_sd": error * np.sqrt(len(samples)),
            "ode_risk": predicted,
            "trials": len(samples),
            "standard_error": error,
            "test_error": 2 * mean + model.label_noise**2,
            "response_variance": model.response_variance,
        }
        parts.append(pd.DataFrame(columns))
    return pd.concat(parts, ignore_index=True)


class Experiment(Parameters):
    """Figure 1 of arXiv:2505.16329v2, and what it does not show."""

    d: tuple[int, ...] = many(count(1, 10**5), 10, 100, 1000, ascending=True)
    """Dimensions of Figure 1; the number of samples is d over the aspect ratio."""
    gamma: float = parameter(GAMMA, 0.1)
    rho: float = parameter(RHO_OR_INFINITE, 1.0)
    """Privacy parameter of Gaussian differential privacy; infinite for no privacy."""
    label_noise: float = parameter(NOISE, 0.3)
    clip: float = parameter(CLIP, 1.0)
    learning_rate: float = parameter(RATE, 3.0)
    """Learning rate at the start; a step has this length over n."""
    trials: int = parameter(TRIALS, 10)
    """Runs for each curve of Figure 1."""
    n: tuple[int, ...] = many(count(1, 10**7), 160, 480, 1440, 4320, 12960, ascending=True)
    """Numbers of samples at which the rates are measured, each with at least four dimensions."""
    chain_steps: int = parameter(count(1, 10**12), 5_000_000)
    """Steps of simulated chains at each of these numbers of samples; there are at least 2 times 1000 chains."""
    law_d: tuple[int, ...] = many(count(1, 10**5), 20, 60, 200, 600, ascending=True)
    """Dimensions in which other laws of the features are tried."""
    law_trials: int = parameter(TRIALS, 50)
    """Most runs for each law and dimension, at least 2."""
    law_precision: float = parameter(chance(1e-4, 0.5), 0.0075)
    """Standard error of the mean risk for other laws, as a share of it, that is enough."""
    axis_d: tuple[int, ...] = many(count(1, 10**5), 1, 2, 3, 5, 10, 30, 100, 300, 1000, ascending=True)
    """Dimensions along which the equivalent is followed down to the smallest."""
    theory_n: tuple[int, ...] = many(count(2, 10**7), 160, 480, 1440, 4320, ascending=True)
    """Numbers of samples at which Algorithm 1 is compared with the diffusion."""
    step_d: tuple[int, ...] = many(count(1, 10**5), 10, 100, 300, ascending=True)
    """Dimensions in which single steps are measured."""
    theory_trials: int = parameter(TRIALS, 20)
    """Trials of the diffusion, 8 paths each; ten times as many of single steps."""
    seed: int = parameter(SEED, 7)

    def check(self) -> None:
        if self.regime.dimension(self.n[0]) < LEVELS:
            raise ValueError(f"n must be at least {LEVELS} / gamma = {LEVELS / self.gamma:g}, got {self.n[0]!r}")

    @property
    def regime(self) -> Regime:
        return self.shared(Regime)

    def run(self, runner: Runner) -> dict[str, pd.DataFrame]:
        regime, rates = self.regime, []
        panels = [Figure1Cell(regime, d, name) for name in FIGURE_1_SPECTRA for d in self.d]
        figure_1 = gathered(figure_1_rows, runner.run(figure_1_trial, panels, self.trials, self.seed))
        for n in self.n:
            cells = [Cell(regime, n, name) for name in SPECTRA]
            batches = max(2, round(self.chain_steps / (n * CHAINS)))
            rates.append(gathered(rows, runner.run(trial, cells, batches, self.seed + 1)))
        tried = [LawCell(regime, d, law) for law in LAWS for d in self.law_d]
        # the precision of the mean risk along a run is that of the relative gap
        enough = Precision(self.law_precision, self.law_trials, PILOT, lambda samples: samples.mean(axis=-1))
        laws = gathered(law_rows, runner.run(law_trial, tried, enough, self.seed + 2))
        places = [laws["law"].map(list(LAWS).index), laws["target"].map(TARGETS.index), laws["d"]]
        axes = [AxisCell(regime, size, "d", (float(size),)) for size in self.axis_d]
        others = {"c": CLIPS, "c, η̃(0)c fixed": CLIPS, "initial rate": RATES}
        axes += [AxisCell(regime, 100, axis, values) for axis, values in others.items()]
        return {
            "figure-1": figure_1,
            "rates": pd.concat(rates, ignore_index=True),
            "laws": laws.iloc[np.lexsort(places[::-1])].reset_index(drop=True),
            "axes": gathered(axis_rows, runner.run(axis_trial, axes, 2, self.seed + 3)),
            **self._theory(runner),
        }

    def _theory(self, runner: Runner) -> dict[str, pd.DataFrame]:
        """Definition 4.2, (4.11)–(4.14), (4.17)–(4.22) and Appendix C; with ρ = 1 where Figure 1 has ρ = ∞."""
        regime = self.regime if math.isfinite(self.rho) else replace(self.regime, rho=1.0)
        sizes, trials, seed = self.theory_n, self.theory_trials, self.seed + 10
        steps = [displays.OneStepCell(regime, d) for d in self.step_d]
        pairs = runner.run(homogenised_trial, [HomogenisedCell(regime, n) for n in sizes], trials, seed + 1)
        small = [HomogenisedCell(regime, sizes[0], scale) for scale in SMALL]
        single = runner.run(displays.one_step_trial, steps, 10 * trials, seed)
        ends = [displays.Cell(regime, d) for d in displays.DIMENSIONS]
        last = runner.run(displays.trial, ends, 10 * trials, seed + 3)
        return {
            "identities": displays.identities(regime, seed),
            "one-step": gathered(displays.one_step_rows, single),
            "enclosure": displays.enclosure_table(regime),
            "sums": displays.sums_table(regime, sizes),
            "homogenised": gathered(homogenised_rows, pairs),
            "growth": gathered(growth_rows, runner.run(growth_trial, small, trials, seed + 2)),
            "diffusion": gathered(integral_rows, pairs),
            "displays": displays.table(regime, seed),
            "last-step": gathered(displays.rows, last).sort_values(["squared_norm", "d"], ignore_index=True),
            "caps": displays.caps(),
        }
