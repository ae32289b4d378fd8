r"""What of Appendix C is a sum over the steps, computed without chance.

- (4.22): n³σ_k² against σ̃²(k/n), and how much larger σ_n² is than the noise of the step before.
- (C.16), for Σ = I and q(v) = −½‖v‖² (z = 2, ‖q‖_{C²} = 1): the schedule's discretisation error in the drift,
  2d²c² |Σ_k (σ_k² − σ̃²(k/n)/n³)|. As σ_k² − σ̃²/n³ is a Taylor remainder, (η̃²)''/(2ρ²n⁴) at some place, it is at most
  γ_n²c²C_{η,2}/(ρ²n). The paper's bound, 2γ_nC_{η,2}/(ρ²n), has lost γ_nc².
- (C.32), for Σ = I: what the random cap 2/‖x‖² in the place of 2/d does to the mean learning rate. With X ~ χ²_d and
  E[1/X; X > x] = P(χ²_{d−2} > x)/(d − 2), it is n|E min(η, 2/X) − min(η, 2/d)| in closed form, summed over n steps of
  size 1/n: the first line of (C.33), whose other factor is O(1). Its second line is half the change of the square
  times O(d): nd/2 |E min(η, 2/X)² − min(η, 2/d)²|, with E[1/X²; X > x] = P(χ²_{d−4} > x)/((d − 2)(d − 4)).
"""

import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import chi2

from companion import _fits
from costofprivacy import _validate
from costofprivacy.dpgd import diffusion, draws, equivalent, risk_bounds, spectrum, system
from costofprivacy.dpgd.chain import Eigenspaces
from costofprivacy.dpgd.descent import Configuration
from costofprivacy.dpgd.schedule import (
    Constant,
    Harmonic,
    Polynomial,
    Schedule,
    learning_rates,
    noise_intensity,
    noise_multipliers,
)
from costofprivacy.dpgd.spectrum import RegressionModel, Spectrum, sample
from costofprivacy.dpgd.system import System

# ---- Regime: the numbers of Figure 1, its spectra, rows to tables ----

ALPHAS = (0.0, 0.5)  # of η̃(t) = η̃(0)(1 − t)^α in Figure 1
LEVELS = 4  # distinct eigenvalues where the uniform spectrum is to be cheap
SCHEDULES = {0.0: "constant", 0.5: "square root"}


@dataclass(frozen=True)
class Regime:
    """The numbers of Figure 1 that all cells have in common: γ, ρ, ζ, c and η̃(0)."""

    gamma: float
    rho: float
    label_noise: float
    clip: float
    learning_rate: float

    def samples(self, d: int) -> int:
        """n for dimension d: d/γ, rounded, at least 1."""
        return max(1, round(d / self.gamma))

    def dimension(self, n: int) -> int:
        """d for n samples: γn, rounded, at least 1."""
        return max(1, round(self.gamma * n))

    def model(self, values: Spectrum) -> RegressionModel:
        """The data of Figure 1 with this spectrum: (θ*_i)² = 1/d."""
        return RegressionModel(values, np.full(values.d, values.d**-0.5), self.label_noise)

    def schedule(self, alpha: float) -> Schedule:
        """η̃(0)(1 − t)^α, α = 0 included."""
        return Constant(self.learning_rate) if alpha == 0 else Polynomial(self.learning_rate, alpha)

    def configuration(self, schedule: Schedule) -> Configuration:
        return Configuration(self.clip, schedule, self.rho)


@dataclass(frozen=True)
class Sized:
    """A dimension, with the number of samples that belongs to it."""

    regime: Regime
    d: int

    @property
    def n(self) -> int:
        return self.regime.samples(self.d)

    @property
    def key(self) -> int:
        return self.d


def levelled(d: int) -> Spectrum:
    """The uniform spectrum on [0, 2] in `LEVELS` levels, its quantiles at dimension `LEVELS`; trace d.

    Raises:
        ValueError: if ``d`` is below `LEVELS`.
    """
    _validate.whole("d", d, at_least=LEVELS)
    shares = np.arange(d) * LEVELS // d
    return Spectrum(spectrum.uniform(LEVELS).eigenvalues[shares]).normalised()


def system_of(spaces: Eigenspaces, n: int) -> System:
    """Definition 4.2 with equal eigenvalues gathered, as many equations as there are distinct ones."""
    energies = spaces.d * spaces.target_norms**2 / (2 * spaces.multiplicities)
    shares = spaces.multiplicities / spaces.d
    return system.of_spectrum(spaces.eigenvalues, energies, spaces.d / n, spaces.label_noise, shares)


def bound(n: float) -> float:
    """log²n/√n, the bound of Theorem 1."""
    return float(np.log(n) ** 2 / np.sqrt(n))


def gathered(rows: Callable[[Any, np.ndarray], pd.DataFrame], samples: Mapping[Any, np.ndarray]) -> pd.DataFrame:
    """The rows of all cells, one after the other."""
    return pd.concat([rows(cell, values) for cell, values in samples.items()], ignore_index=True)


# ---- Displays of Section 4 and Appendix C at a random state, each beside what it stands for ----
# Nothing but the state is random. What a display stands for is found by other means: Itô's terms by central
# differences of the function, contour integrals by the trapezoidal rule, which is exact to rounding on a circle.
# ``reading`` is ``printed``, with everything as the paper has it, the drift of (4.14) included, or ``corrected``.
# ``value`` is what the display says and ``derived`` what it should say, to eight digits at least.
# The state is an error v of a regression model with its learning rate η̄ and noise σ̃, all in the eigenbasis of Σ.

DIMENSION = 12
TIME = 0.3
STEP = 1e-4  # of the central differences: their error is of its square
NODES = 64  # on the circle
PLACES = {"z = 2‖Σ‖": 0, "z = 2i‖Σ‖": NODES // 4, "z = −2‖Σ‖": NODES // 2}  # among them
DRIFTS = {"printed": diffusion.PRINTED, "corrected": diffusion.DERIVED}


@dataclass(frozen=True, eq=False)
class State:
    """One point of the diffusion (4.14), and the coefficients of its equation there.

    Args:
        eigenvalues: λ_i, shape (d,). error: v = Θ − θ*, shape (d,). n: samples.
        descent: η̄μ. sampling: η̄²ν𝒫. private: c²σ̃².
    """

    eigenvalues: np.ndarray
    error: np.ndarray
    n: int
    descent: float
    sampling: float
    private: float

    @property
    def d(self) -> int:
        return len(self.error)

    @property
    def circle(self) -> np.ndarray:
        """`NODES` values of z with |z| = 2‖Σ‖."""
        return 2 * self.eigenvalues.max() * np.exp(2j * np.pi * np.arange(NODES) / NODES)


def table(regime: Regime, seed: int) -> pd.DataFrame:
    """Every display at one random state, at `TIME` under the square-root schedule: display, term, reading, value, …"""
    rng, schedule, n = np.random.default_rng(seed), regime.schedule(0.5), regime.samples(DIMENSION)
    values, error = spectrum.uniform(DIMENSION).eigenvalues, 0.4 * rng.standard_normal(DIMENSION)
    equations = system.of_model(regime.model(spectrum.Spectrum(values)), n)
    mu, scaled_nu = system.reductions(equations, regime.clip, float(values @ error**2) / 2)
    rate = float(equations.learning_rate(schedule, TIME))
    private = regime.clip**2 * float(noise_intensity(schedule, TIME, regime.rho))
    state = State(values, error, n, rate * mu, rate**2 * scaled_nu, private)
    energies = rng.exponential(size=DIMENSION)
    rows = [*quadratic(state), *logarithm(state), *product(state, rng=rng)]
    rows += [*integrals(state, energies), *resolvents(regime, state, energies), *comparison(regime)]
    return pd.DataFrame(rows)


def row(display: str, term: str, reading: str, value: float, derived: float) -> dict[str, object]:
    """A display's term beside what it should be."""
    return {"display": display, "term": term, "reading": reading, "value": value, "derived": derived}


def ito(function: Callable[[np.ndarray], float], state: State, drift: float) -> dict[str, float]:
    """Terms of the drift of f(V) along (4.14) with k = ``drift`` in its first term, by central differences of f."""
    steps = STEP * np.eye(state.d)
    up, down = (np.array([function(state.error + sign * step) for step in steps]) for sign in (1, -1))
    gradient, second = (up - down) / (2 * STEP), (up + down - 2 * function(state.error)) / STEP**2
    return {
        "descent": float(gradient @ (-drift * state.descent * state.eigenvalues * state.error)),
        "sampling": float(second @ (2 * state.sampling * state.eigenvalues / state.n)) / 2,
        "private noise": float(second.sum()) * 4 * state.d / state.n**2 * state.private / 2,
    }


def quadratic(state: State) -> list[dict[str, object]]:
    """(C.9) and (C.27): the drift of q(v) = ½ v'hv, whose descent term has no 2."""
    values, v = state.eigenvalues, state.error
    hessian = 1 / (values + 2 * values.max())
    shown = {
        "descent": -state.descent * float((values * v) @ (hessian * v)),
        "sampling": state.sampling * float(values @ hessian) / state.n,
        "private noise": 2 * state.d / state.n**2 * state.private * float(hessian.sum()),
    }
    rows = []
    for reading, drift in DRIFTS.items():
        found = ito(lambda u: float(hessian @ u**2) / 2, state, drift)
        rows += [row("(C.9), (C.27)", term, reading, shown[term], found[term]) for term in found]
    return rows


def logarithm(state: State) -> list[dict[str, object]]:
    """(C.29) and (C.30): the drift of log(1 + ‖v‖²) and the gradient in its martingale."""
    n, d, values, v = state.n, state.d, state.eigenvalues, state.error
    square = float(v @ v)
    descent, sampling = float(values @ v**2) / (1 + square), state.sampling / (n * (1 + square) ** 2)
    private = state.private / (1 + square) ** 2
    shown = {
        "printed": {
            "descent": -state.descent * descent,
            "sampling": 2 * sampling * float(values @ (1 + square - v**2)),
            "private noise": 2 * d / n * private,
        },
        "corrected": {
            "descent": -2 * state.descent * descent,
            "sampling": 2 * sampling * float(values @ (1 + square - 2 * v**2)),
            "private noise": 4 * d / n**2 * private * (d * (1 + square) - 2 * square),
        },
    }
    rows = []
    for (reading, drift), factor in zip(DRIFTS.items(), (1, 2)):
        found = ito(lambda u: math.log1p(float(u @ u)), state, drift)
        rows += [row("(C.29), (C.30)", term, reading, shown[reading][term], found[term]) for term in found]
        along = (math.log1p(square * (1 + STEP) ** 2) - math.log1p(square * (1 - STEP) ** 2)) / (2 * STEP)
        rows.append(row("(C.29), (C.30)", "gradient", reading, factor * square / (1 + square), along))
    return rows


def product(state: State, *, rng: np.random.Generator) -> list[dict[str, object]]:
    """(C.8): the part of q(v − ηg + sb) − q(v), s = 2c√dσ_k, with one factor g and one b.

    It is bilinear in g and b, so a difference of four values of q has it exactly.
    """
    hessian = 1 / (state.eigenvalues + 2 * state.eigenvalues.max())
    gradient, noise = rng.standard_normal((2, state.d))
    q = lambda u: float(hessian @ u**2) / 2  # noqa: E731
    found = q(noise - gradient) - q(noise) - q(gradient)
    # the display's c√d σ_k η̄_k is half of sη = 1
    factors = {"printed": 1 / 2, "corrected": -2 / 2}
    term, inner = "product of gradient and noise", float(hessian @ (noise * gradient))
    return [row("(C.8)", term, reading, factor * inner, found) for reading, factor in factors.items()]


def integrals(state: State, energies: np.ndarray) -> list[dict[str, object]]:
    """(4.20) and (C.43): ‖v‖² and R as contour integrals of q_z = d⁻¹ Σ D_i/(λ_i − z), for D_i = ``energies``."""
    z, q = state.circle, _resolvents(state, energies)
    square, risk = 1j / np.pi * _contour(z, q), 1j / (2 * np.pi) * _contour(z, z * q)
    return [
        row("(4.20), (C.43)", "squared norm", "printed", float(square.real), 2 * float(energies.mean())),
        row("(4.20), (C.43)", "risk", "printed", float(risk.real), float(state.eigenvalues @ energies) / state.d),
    ]


def _resolvents(state: State, energies: np.ndarray) -> np.ndarray:
    """d⁻¹ Σ D_i/(λ_i − z) on the circle."""
    return (energies / (state.eigenvalues - state.circle[:, None])).mean(axis=1)


def _contour(z: np.ndarray, values: np.ndarray) -> complex:
    """∮ f dz, counter-clockwise."""
    return complex(2 * np.pi * (values * 1j * z).mean())


def resolvents(regime: Regime, state: State, energies: np.ndarray) -> list[dict[str, object]]:
    """(4.21) and (C.46) put into the equation of (4.17) and (C.44), at t = `TIME` and three places of the circle.

    ``value`` is the real part of the equation's right side, ``derived`` that of its left side.
    """
    model = regime.model(spectrum.Spectrum(state.eigenvalues))
    equations = system.of_spectrum(state.eigenvalues, energies, state.d / state.n, model.label_noise)
    schedule, z, q = regime.schedule(0.5), state.circle, _resolvents(state, energies)
    gamma, rate = state.d / state.n, float(equations.learning_rate(schedule, TIME))
    mu, scaled_nu = system.reductions(equations, regime.clip, equations.risk(energies))
    left = _resolvents(state, system.derivative(equations, schedule, regime.clip, regime.rho, TIME, energies))
    sampling = rate**2 * scaled_nu * gamma * _resolvents(state, state.eigenvalues)
    private = 2 * state.private * gamma**2 * _resolvents(state, np.ones(state.d))
    rows = []
    for reading, factor in (("printed", 1), ("corrected", 2)):
        right = -rate * mu * (2 * energies.mean() + factor * z * q) + sampling + private
        for place, at in PLACES.items():
            rows.append(row("(4.21), (C.46)", place, reading, float(right[at].real), float(left[at].real)))
    return rows


def comparison(regime: Regime) -> list[dict[str, object]]:
    """(4.12) on two levels of eigenvalues, written out below the cap, beside the equations that are solved here."""
    eigenvalues = np.repeat([0.5, 1.5], DIMENSION // 2)
    equations = system.of_model(regime.model(spectrum.Spectrum(eigenvalues)), regime.samples(DIMENSION))
    schedule, gamma, risk = regime.schedule(0.5), equations.aspect_ratio, equations.initial_risk / 2
    mu, scaled_nu = system.reductions(equations, regime.clip, risk)
    rate = float(equations.learning_rate(schedule, TIME))
    private = 2 * regime.clip**2 * gamma**2 * float(noise_intensity(schedule, TIME, regime.rho))
    rows = []
    bounds = {"lower": (risk_bounds.lower, 1.5, 1.0), "upper": (risk_bounds.upper, 0.5, 1.5)}
    for name, (make, descent, sampling) in bounds.items():
        shown = -2 * descent * rate * mu * risk + sampling * rate**2 * scaled_nu * gamma + private
        single = make(equations)
        energy = np.array([risk / single.readout.sum()])
        change = system.derivative(single, schedule, regime.clip, regime.rho, TIME, energy)
        rows.append(row("(4.12)", f"{name}, two levels", "corrected", shown, single.risk(change)))
    return rows


# ---- Enclosure: the comparison equations (4.12) and (D.1) beside the risk that they are to enclose ----

TIMES = np.linspace(0, 1, 11)
SHARES = (0.15, 0.9, 3.0)  # η̃(0)γ/2: beyond 1 the cap acts
ENCLOSURE_SCHEDULES: dict[str, Callable[[float], Schedule]] = {  # noise before the last step: none, level, falling
    "constant": Constant,
    "square root": lambda initial: Polynomial(initial, 0.5),
    "harmonic": lambda initial: Harmonic(initial / 5, 0.2),
}
CLIPS = (0.02, 1.0, 20.0)
ENCLOSURE_DIMENSION = 40
SPECTRA: dict[str, Callable[[], spectrum.Spectrum]] = {
    "isotropic": lambda: spectrum.isotropic(ENCLOSURE_DIMENSION),
    "uniform": lambda: spectrum.uniform(ENCLOSURE_DIMENSION),
    "two levels": lambda: spectrum.Spectrum(np.repeat([0.5, 1.5], ENCLOSURE_DIMENSION // 2)),
}


def enclosure_table(regime: Regime) -> pd.DataFrame:
    """Risk and bounds at t = 1, and by what part of the risk each bound is cleared at the worst time.

    ``reading`` is ``printed``, with η̃, or ``corrected``, with η̄; a margin below 0 is a bound that fails.
    """
    rows = []
    for name, make in SPECTRA.items():
        equations = system.of_model(regime.model(make()), regime.samples(ENCLOSURE_DIMENSION))
        for schedule, share, clip in itertools.product(ENCLOSURE_SCHEDULES, SHARES, CLIPS):
            case = {"spectrum": name, "schedule": schedule, "share_of_cap": share, "clip": clip}
            rows += [case | found for found in _rows(regime, case, equations)]
    return pd.DataFrame(rows)


def _rows(regime: Regime, case: dict[str, Any], equations: System) -> list[dict[str, object]]:
    schedule = ENCLOSURE_SCHEDULES[case["schedule"]](case["share_of_cap"] * 2 / regime.gamma)

    def path(equations: System) -> np.ndarray:
        return equivalent.risk_path(equations, schedule, case["clip"], regime.rho, TIMES, 1e-3)

    risk, found = path(equations), []
    for reading, change in (("printed", risk_bounds.uncapped), ("corrected", lambda bound: bound)):
        low, high = path(change(risk_bounds.lower(equations))), path(change(risk_bounds.upper(equations)))
        at_release = {"reading": reading, "risk": risk[-1], "lower": low[-1], "upper": high[-1]}
        margins = {"lower_margin": float((1 - low / risk).min()), "upper_margin": float((high / risk - 1).min())}
        found.append(at_release | margins)
    return found


def identities(regime: Regime, seed: int) -> pd.DataFrame:
    """What must agree exactly: two solvers, d equal equations and one, contour integrals and what they stand for.

    The equations are solved for all `SCHEDULES`; the largest difference is kept.
    """
    rng = np.random.default_rng(seed)
    model = regime.model(spectrum.uniform(ENCLOSURE_DIMENSION))
    equations = system.of_model(model, regime.samples(ENCLOSURE_DIMENSION))
    uneven = system.of_spectrum(
        np.ones(ENCLOSURE_DIMENSION), rng.exponential(size=ENCLOSURE_DIMENSION), regime.gamma, regime.label_noise
    )
    one = system.isotropic(uneven.initial_risk, regime.gamma, regime.label_noise)
    plans = [make(regime.learning_rate) for make in ENCLOSURE_SCHEDULES.values()]

    def solve(*pair: tuple[Callable[..., np.ndarray], System]) -> float:
        paths = ([solver(given, plan, regime.clip, regime.rho, TIMES[1:]) for plan in plans] for solver, given in pair)
        return _gap(*map(np.array, paths))

    ours = equivalent.risk_path
    values, error = model.spectrum.eigenvalues, rng.standard_normal(ENCLOSURE_DIMENSION)
    found = {
        "(4.7), exponential integrator and LSODA": solve((ours, equations), (system.reference_path, equations)),
        "(4.11), d equations and one": solve((ours, uneven), (ours, one)),
        "(4.20), R with i/2π": _integral_gap(values, error, 1 / (2 * math.pi)),
        "(C.45), R with i/4π": _integral_gap(values, error, 1 / (4 * math.pi)),
        "(4.17), drift with z q": _drift_gap(values, error, 1.0),
        "(4.17), drift with 2 z q": _drift_gap(values, error, 2.0),
    }
    return pd.DataFrame({"identity": found.keys(), "relative_difference": found.values()})


def _gap(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.abs(a / b - 1).max())


def _integral_gap(values: np.ndarray, error: np.ndarray, factor: float, nodes: int = 64) -> float:
    """How far ``factor``·i ∮ z q_z dz over |z| = 2λ_max is from ½ Σ λ_i v_i², by the trapezoidal rule."""
    z = 2 * values.max() * np.exp(2j * np.pi * np.arange(nodes) / nodes)
    quadratic = (error**2 / (values - z[:, None])).sum(axis=1) / 2
    integral = (z * quadratic * 1j * z).mean() * 2 * np.pi
    return _gap((factor * 1j * integral).real, values @ error**2 / 2)


def _drift_gap(values: np.ndarray, error: np.ndarray, factor: float) -> float:
    """How far ‖v‖² + ``factor``·z q_z(v) is from v'Σ(Σ − z)⁻¹v at z = −2λ_max."""
    z = -2 * values.max()
    quadratic = (error**2 / (values - z)).sum() / 2
    return _gap(np.asarray(error @ error + factor * z * quadratic), (values * error**2 / (values - z)).sum())


# ---- What the last step does to the risk, (C.60) and (C.61), and how far the cap of (C.5) lets a step reach ----
# Algorithm 1 takes its last step from a state of given risk, v = √s·θ*, at the rate η̃(1) = η̃(0) of the constant
# schedule, which leaves all private noise to it. The remainder is |R(θ_n) − R(θ_{n−1}) − 2c²η̃(1)²γ²/ρ²|.

DIMENSIONS = (10, 30, 100, 300, 1000)
SCALES = (0.1, 1.0, 100.0, 10000.0)  # ‖v‖² before the step, ‖θ*‖² being 1
RECORDS = 100  # in one trial
UPPER = 0.99  # share of the steps below the upper quantile
MIDDLE = 1 - math.exp(-1)  # and below the middle one: u = 1 in the tail of (C.60), but for constants


@dataclass(frozen=True)
class Cell(Sized):
    """A dimension; the spectrum is uniform on [0, 2]. Steps from errors of all `SCALES` share their draws."""

    @property
    def model(self) -> RegressionModel:
        return self.regime.model(spectrum.uniform(self.d))


def trial(cell: Cell, *, rng: np.random.Generator) -> np.ndarray:
    """The remainder in `RECORDS` independent last steps from each scale, shape (scales, records).

    A step from v = √s·θ* ends in v − ax + tb with a = η̄ clip(r, ±C/‖x‖), r = √s⟨x, θ*⟩ − z and t = 2Cσ_n. So of x and
    b the change of the risk ½v'Λv reads ⟨x, θ*⟩, ⟨x, Λθ*⟩, ⟨b, Λθ*⟩, x'Λx, x'Λb, b'Λb and ‖x‖², the same at all scales.
    """
    regime, n = cell.regime, cell.n
    target, values = cell.model.target, cell.model.spectrum.eigenvalues
    clip_norm, rate = regime.clip * math.sqrt(cell.d), regime.learning_rate / n
    std, root = 2 * clip_norm * rate / regime.rho, np.sqrt(SCALES)[:, None]
    x, y = sample(cell.model, RECORDS, rng=rng)
    b, square = draws.normals(x.shape, rng), np.einsum("kd,kd->k", x, x)
    bound = clip_norm / np.sqrt(square)
    a = np.minimum(rate, 2 / square) * np.clip((1 + root) * (x @ target) - y, -bound, bound)
    first = root * (std * (b @ (values * target)) - a * (x @ (values * target)))
    second = a**2 * (x**2 @ values) - 2 * a * std * ((x * b) @ values) + std**2 * (b**2 @ values)
    expected = system.last_step(system.of_model(cell.model, n), regime.schedule(0.0), regime.clip, regime.rho)
    return np.abs(first + second / 2 - expected)


def rows(cell: Cell, samples: np.ndarray) -> pd.DataFrame:
    """By scale, mean and two quantiles of the remainder beside (1 + √R)/√d of (C.60) and log d/√d of (C.61).

    ``squared_norm`` is ‖v‖² before the step, ``risk`` the risk there.
    """
    found = []
    for i, scale in enumerate(SCALES):
        values, risk = samples[:, i].ravel(), scale * cell.model.initial_risk
        mean, error = _fits.mean_and_error(values)
        spread = math.sqrt(UPPER * (1 - UPPER) / len(values))
        low, upper, high = np.quantile(values, [UPPER - spread, UPPER, UPPER + spread])
        place = {"d": cell.d, "squared_norm": scale, "risk": risk, "value": mean, "standard_error": error}
        tail = {"middle": np.quantile(values, MIDDLE), "upper": upper, "upper_error": (high - low) / 2}
        bounds = {"scale": (1 + math.sqrt(risk)) / math.sqrt(cell.d), "bound": math.log(cell.d) / math.sqrt(cell.d)}
        found.append(place | tail | bounds | {"trials": len(values)})
    return pd.DataFrame(found)


def caps() -> pd.DataFrame:
    """η̄‖x‖² at ‖x‖² = d, and how much a step can then stretch a distance, with 2/‖x‖² and with 2/‖x‖ as the cap.

    A step multiplies distances along x by 1 or, where the gradient is not clipped, by 1 − η̄‖x‖².
    """
    found = []
    for d, beyond in itertools.product((10, 100, 1000), (False, True)):
        share = 2.0 * math.sqrt(d) if beyond else 2.0
        for reading, cap in (("printed", 2 / math.sqrt(d)), ("corrected", 2 / d)):
            product = min(share * 2 / d, cap) * d
            case = {"d": d, "share_of_cap": share, "reading": reading}
            found.append(case | {"product": product, "stretch": max(1.0, abs(1 - product))})
    return pd.DataFrame(found)


# ---- The mean change of a quadratic in one step of Algorithm 1, term by term: where (4.7) comes from ----
# For q(v) = ½ Σ h_i v_i² in the eigenbasis, v = θ − θ* and a step θ ↦ θ − η̄_k ḡ + s b with s = 2C_clip σ_k,
#
#     q(v + δ) − q(v) = −η̄_k ⟨ḡ, hv⟩ + ½ η̄_k² Σ h_i ḡ_i² + ½ s² Σ h_i b_i² + (mean zero).
#
# The three means over a record, n times each, are held against what the paper has for them, (C.7) and (C.9), and D_i
# itself is the case h = d e_i e_i'. State and time are those of half a run.

ONE_STEP_TIME = 0.5
LEFT = 0.6  # of θ*, the error of the state in which the step is taken
ONE_STEP_RECORDS = 1000  # in one trial


@dataclass(frozen=True)
class OneStepCell(Cell):
    """A dimension; the spectrum is uniform on [0, 2]."""

    @property
    def schedule(self) -> Schedule:
        return self.regime.schedule(0.5)

    @property
    def hessians(self) -> dict[str, np.ndarray]:
        """h_i of each quadratic, shape (d,)."""
        values = self.model.spectrum.eigenvalues
        low = values <= np.median(values)
        return {
            "risk": values,
            "resolvent": 1 / (values + 2 * values.max()),
            "D, lower half": 2.0 * low,
            "D, upper half": 2.0 * ~low,
        }

    @property
    def rate(self) -> float:
        """η̄ at `TIME`."""
        return min(float(self.schedule(ONE_STEP_TIME)), 2 * self.n / self.d)

    @property
    def step(self) -> int:
        return max(round(ONE_STEP_TIME * self.n), 1) - 1


def one_step_trial(cell: OneStepCell, *, rng: np.random.Generator) -> np.ndarray:
    """n times the mean of the three terms over `RECORDS` records, shape (quadratics, 3).

    A step is a multiple −a of its record x. Of the private noise the last term reads Σ b_i² over the records, which is
    χ²(`RECORDS`), independently for each i.
    """
    n, model, clip_norm = cell.n, cell.model, cell.regime.clip * cell.d**0.5
    x, y = sample(model, ONE_STEP_RECORDS, rng=rng)
    hessians, error, square = np.stack(list(cell.hessians.values())), -LEFT * model.target, np.einsum("kd,kd->k", x, x)
    bound = clip_norm / np.sqrt(square)
    a = np.minimum(cell.rate / n, 2 / square) * np.clip((1 - LEFT) * (x @ model.target) - y, -bound, bound)
    std = 2 * clip_norm * noise_multipliers(learning_rates(cell.schedule, n), cell.regime.rho)[cell.step]
    noise = std**2 * rng.chisquare(ONE_STEP_RECORDS, cell.d) / ONE_STEP_RECORDS
    terms = (
        -hessians @ (error * (a @ x)) / ONE_STEP_RECORDS,
        hessians @ (a**2 @ x**2) / (2 * ONE_STEP_RECORDS),
        hessians @ noise / 2,
    )
    return n * np.stack(terms, axis=1)


def one_step_rows(cell: OneStepCell, samples: np.ndarray) -> pd.DataFrame:
    """The measured terms beside those of (C.9), hence of (4.7), and those of (C.7), whose sampling term is halved."""
    mean, error = _fits.mean_and_error(samples)
    found = []
    for i, (name, hessian) in enumerate(cell.hessians.items()):
        derived = np.array(drift(cell, hessian))
        place = {"d": cell.d, "quadratic": name, "term": ["descent", "sampling", "private noise"]}
        measured = {"value": mean[i], "standard_error": error[i], "derived": derived}
        printed = derived / [1, 2, 1]
        found.append(pd.DataFrame(place | measured | {"printed": printed, "trials": len(samples)}))
    return pd.concat(found, ignore_index=True)


def drift(cell: OneStepCell, hessian: np.ndarray) -> tuple[float, float, float]:
    """The three terms of (C.9): −η̄μ⟨Σv, hv⟩, η̄²ν𝒫 tr(Σh)/n and (2d/n²)c²σ̃² tr h."""
    n, clip, values = cell.n, cell.regime.clip, cell.model.spectrum.eigenvalues
    error = -LEFT * cell.model.target
    mu, scaled_nu = system.reductions(system.of_model(cell.model, n), clip, float(values @ error**2) / 2)
    intensity = float(noise_intensity(cell.schedule, ONE_STEP_TIME, cell.regime.rho))
    return (
        -cell.rate * mu * float(values @ (hessian * error**2)),
        cell.rate**2 * scaled_nu * float(values @ hessian) / n,
        2 * cell.d / n**2 * clip**2 * intensity * float(hessian.sum()),
    )


# ---- Sums ----

HARMONIC = Harmonic(0.6, 0.2)  # falls from 3 to ½: η̃(1) > 0 and noise in every step
CURVED = 2.0  # α of the schedule whose η̃² has a second derivative
WIDE = 10.0  # γc² at which (C.16) is tried, besides the regime's
FEWEST = 5  # dimensions in which 1/‖x‖⁴ has a mean
CAPS = {"below": 0.5, "at": 1.0, "above": 2.0}  # η̃γ/2


def sums_table(regime: Regime, sizes: tuple[int, ...]) -> pd.DataFrame:
    """All sums for each n in ``sizes``: the value, the printed bound or value, and the derived one."""
    rows = [row for n in sizes for row in (*_noise(regime, n), *_discretisation(regime, n), *_cap(regime, n))]
    return pd.DataFrame(rows)


def _row(n: int, quantity: str, value: float, printed: float, derived: float | None = None) -> dict[str, object]:
    """One sum; the derived bound is the printed one where nothing else is said."""
    bounds = {"printed": printed, "derived": printed if derived is None else derived}
    return {"n": n, "quantity": quantity, "value": value} | bounds


def _noise(regime: Regime, n: int) -> list[dict[str, object]]:
    found = []
    for name, schedule in (("harmonic", HARMONIC), ("square root", regime.schedule(0.5))):
        noise = noise_multipliers(learning_rates(schedule, n), regime.rho) ** 2
        before = noise_intensity(schedule, np.arange(1, n) / n, regime.rho) / n**3
        found.append(_row(n, f"(4.22), {name}", float(np.abs(noise[:-1] / before - 1).max()), 0.0))
        jump = float(n * schedule(1.0) ** 2 / schedule.squared_decrease(1.0))  # which σ_n²/σ_{n−1}² tends to
        found.append(_row(n, f"last over the one before, {name}", float(noise[-1] / noise[-2]), jump))
    return found


def _discretisation(regime: Regime, n: int) -> list[dict[str, object]]:
    found, gamma = [], regime.gamma
    schedule = Polynomial(regime.learning_rate, CURVED)
    for gamma_c2 in (gamma * regime.clip**2, WIDE):
        noise = noise_multipliers(learning_rates(schedule, n), regime.rho)[:-1] ** 2
        intended = noise_intensity(schedule, np.arange(1, n) / n, regime.rho) / n**3
        value = 2 * gamma * n**2 * gamma_c2 * abs(float((noise - intended).sum()))
        second = 2 * CURVED * (2 * CURVED - 1) * regime.learning_rate**2 / regime.rho**2
        bounds = (2 * gamma * second / n, gamma * gamma_c2 * second / n)
        found.append(_row(n, f"(C.16), γc² = {gamma_c2:g}", value, *bounds))
    return found


def _cap(regime: Regime, n: int) -> list[dict[str, object]]:
    d, found = max(FEWEST, regime.dimension(n)), []
    for name, share in CAPS.items():
        rate = share * 2 / d
        mean = rate * chi2.cdf(2 / rate, d) + 2 * chi2.sf(2 / rate, d - 2) / (d - 2)
        square = rate**2 * chi2.cdf(2 / rate, d) + 4 * chi2.sf(2 / rate, d - 4) / ((d - 2) * (d - 4))
        change = n * d / 2 * abs(square - min(rate, 2 / d) ** 2)
        found.append(_row(n, f"(C.32), {name} the cap", n * abs(mean - min(rate, 2 / d)), bound(n)))
        found.append(_row(n, f"(C.32), {name} the cap, squares", change, bound(n)))
    return found
