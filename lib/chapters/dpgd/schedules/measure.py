"""What is measured of learning rate schedules: Figure 7, rates, the best schedule, vanishing label noise."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise, product
from typing import ClassVar

import numpy as np
import pandas as pd
from scipy.integrate import quad, solve_ivp
from scipy.optimize import brentq, minimize, minimize_scalar
from scipy.special import erf, gamma

from chapters.ranges import CLIP, NOISE, RHO, SEED, SMALL_GAMMA, TRIALS, amount, chance, count
from companion.declaration import Parameters, many, parameter
from companion.streams import Runner
from costofprivacy.dpgd import chain, control, descent, equivalent, rates, spectrum, system, tuning
from costofprivacy.dpgd.control import released_risk
from costofprivacy.dpgd.descent import Configuration
from costofprivacy.dpgd.schedule import Constant, Flat, Harmonic, Polynomial, Schedule
from costofprivacy.dpgd.spectrum import RegressionModel, Spectrum
from costofprivacy.dpgd.system import System

# ---- Figure 7: schedules tuned by the deterministic equivalent, then run ----

ISOTROPIC, UNIFORM = "isotropic", "uniform"
SPECTRA: dict[str, Callable[[int], Spectrum]] = {ISOTROPIC: spectrum.isotropic, UNIFORM: spectrum.uniform}
HARMONIC, OPTIMUM = "harmonic", "optimum"
INITIAL_RISK = 0.5  # (θ*_i)² = 1/d and tr Σ = d
TOLERANCE = 1e-4  # relative, of tuned risks


@dataclass(frozen=True)
class Solved:
    """A cell of which equations are solved: nothing is drawn."""

    key: ClassVar[int] = 0  # the same for all


@dataclass(frozen=True)
class Setting:
    """A problem of Figure 7: a spectrum and a number of records; d, ζ, c and ρ as in `Experiment`."""

    spectrum: str
    n: int
    d: int
    label_noise: float
    clip: float
    rho: float
    exponents: tuple[float, ...]

    @property
    def key(self) -> int:
        return len(SPECTRA) * self.n + list(SPECTRA).index(self.spectrum)

    @property
    def model(self) -> RegressionModel:
        """(θ*_i)² = 1/d in the eigenbasis."""
        shape = SPECTRA[self.spectrum](self.d)
        return RegressionModel(shape, spectrum.projections(shape, initial_risk=INITIAL_RISK), self.label_noise)

    @property
    def equations(self) -> System:
        """The deterministic equivalent in this dimension; one equation for Σ = I."""
        if self.spectrum == ISOTROPIC:
            return system.isotropic(INITIAL_RISK, self.d / self.n, self.label_noise)
        return system.of_model(self.model, self.n)

    @property
    def names(self) -> list[str]:
        return [f"{exponent:g}" for exponent in self.exponents] + [HARMONIC]

    @property
    def optimum(self) -> control.Optimum:
        """The best schedule for Σ = I with this γ."""
        gamma = self.d / self.n
        return control.least(control.fixed_clip(INITIAL_RISK, gamma, self.label_noise, self.clip, self.rho))


def polynomial(exponent: float) -> Callable[[float], Schedule]:
    """The schedule (5.1) of arXiv:2505.16329v2 for each η̃(0), α = 0 included."""
    return (lambda rate: Polynomial(rate, exponent)) if exponent else Constant


def tune(setting: Setting, *, rng: np.random.Generator) -> np.ndarray:
    """η̃(0), τ and the released risk of each schedule of the figure, then of the optimum for Σ = I, shape (k, 3)."""
    return _tuned(setting.equations, setting.exponents, setting.clip, setting.rho, setting.optimum)


def _tuned(
    equations: System, exponents: tuple[float, ...], clip: float, rho: float, optimum: control.Optimum
) -> np.ndarray:
    """η̃(0), τ and the risk of each tuned polynomial schedule, of the harmonic one, and of the optimum."""
    powers = [tuning.best_rate(equations, polynomial(exponent), clip, rho) for exponent in exponents]
    harmonic = tuning.best_harmonic(equations, clip, rho, TOLERANCE)
    assert isinstance(harmonic.schedule, Harmonic)
    rows = [(best.initial, math.nan, best.risk) for best in powers]
    rows.append((harmonic.initial, harmonic.schedule.offset, harmonic.risk))
    return np.array([*rows, (optimum.schedule.initial, optimum.schedule.switch, optimum.risk)])


@dataclass(frozen=True)
class Run:
    """Algorithm 1 with tuned schedules: the setting, η̃(0) and τ of each, and the number of chains in a trial."""

    setting: Setting
    plans: tuple[tuple[float, float], ...]
    chains: int

    @property
    def key(self) -> int:
        return self.setting.key

    @property
    def configurations(self) -> list[Configuration]:
        """Those of the figure; for Σ = I the optimum after them."""
        s = self.setting
        found: list[Schedule] = [polynomial(a)(rate) for a, (rate, _) in zip(s.exponents, self.plans)]
        rate, offset = self.plans[-1]
        found.append(Harmonic(rate * offset, offset))
        if s.spectrum == ISOTROPIC:
            found.append(s.optimum.schedule)
        return [Configuration(s.clip, schedule, s.rho) for schedule in found]


def simulate(run: Run, *, rng: np.random.Generator) -> np.ndarray:
    """Released risks, shape (chains, schedules): by the risk chain for Σ = I, else by the algorithm itself."""
    setting = run.setting
    if setting.spectrum == ISOTROPIC:
        spaces = chain.eigenspaces(setting.model)
        return chain.risk_at(spaces, run.configurations, setting.n, [1.0], run.chains, rng=rng)[:, :, 0].T
    return descent.descend(setting.model, run.configurations, setting.n, [1.0], rng=rng).released_risk[None]


def figure_7_tables(
    settings: list[Setting], runner: Runner, trials: int, seed: int, simulated: int
) -> dict[str, pd.DataFrame]:
    """Tables ``figure-7`` and ``optimum``; what has more than ``simulated`` records is not run, only solved."""
    tuned = {setting: values[0] for setting, values in runner.run(tune, settings, 1, 0).items()}
    plans = {s: tuple((float(rate), float(turn)) for rate, turn, _ in found[:-1]) for s, found in tuned.items()}
    runs = [Run(s, plans[s], trials if s.spectrum == ISOTROPIC else 1) for s in settings if s.n <= simulated]
    alone = [run for run in runs if run.chains == 1]
    together = [run for run in runs if run.chains > 1]
    risks = {r.setting: v[0] for r, v in runner.run(simulate, together, 1, seed).items()} if together else {}
    risks |= {r.setting: v[:, 0] for r, v in runner.run(simulate, alone, trials, seed).items()} if alone else {}
    rows = [row for setting, found in tuned.items() for row in _rows(setting, found, risks.get(setting), trials)]
    table = pd.DataFrame(rows)
    optimum = table["schedule"] == OPTIMUM
    return {
        "figure-7": table[~optimum].rename(columns={"turn": "offset"}).reset_index(drop=True),
        "optimum": table[optimum].rename(columns={"turn": "switch"}).reset_index(drop=True),
    }


def _rows(setting: Setting, found: np.ndarray, risks: np.ndarray | None, trials: int) -> list[dict[str, object]]:
    """A row for each schedule; the optimum is that of Σ = I, so it has one there alone."""
    names = [*setting.names, OPTIMUM] if setting.spectrum == ISOTROPIC else setting.names
    rows = []
    for k, (name, (rate, turn, risk)) in enumerate(zip(names, found)):
        own = {"spectrum": setting.spectrum, "schedule": name, "n": setting.n, "ode_risk": risk}
        mean, sd = (math.nan, math.nan) if risks is None else (risks[:, k].mean(), risks[:, k].std(ddof=1))
        simulated = {"risk_mean": mean, "risk_sd": sd, "trials": 0 if risks is None else trials}
        rows.append(own | simulated | {"rate": rate, "turn": turn})
    return rows


# ---- What the best of all schedules gains over families of schedules, by the deterministic equivalent ----

POWER = 1.1  # of the two-parameter family
SETTLED = 1e-6  # relative, of a risk in a descent, which looks at differences of 1e-4
BEYOND = 100  # times the cap 2/γ: how far β/τ is searched, which Theorem 2 does not limit
EARLIEST = 1e-6  # the least τ over γ: a flat start so short is none
CONSTANT, FLAT, FLAT_FREE = "constant", "flat, then power 1.1", "flat, then a free power"
FAMILIES = (CONSTANT, HARMONIC, FLAT, FLAT_FREE)
NODES = 12  # of a Gauss–Legendre rule for the uniform spectrum


@dataclass(frozen=True)
class Place(Solved):
    """A place in the plane of n/d and ρ, with ζ and c as in `Experiment`."""

    n_over_d: float
    rho: float
    label_noise: float
    clip: float

    @property
    def gamma(self) -> float:
        return 1 / self.n_over_d

    @property
    def drift(self) -> control.Drift:
        return control.fixed_clip(INITIAL_RISK, self.gamma, self.label_noise, self.clip, self.rho)


def gains(place: Place, *, rng: np.random.Generator) -> np.ndarray:
    """The least risk, its η̃(0) and switch, and the risk of each family of `FAMILIES`, shape (7,)."""
    found = control.least(place.drift)
    equation = system.isotropic(INITIAL_RISK, place.gamma, place.label_noise)
    constant = tuning.best_rate(equation, Constant, place.clip, place.rho)
    harmonic = tuning.best_harmonic(equation, place.clip, place.rho, TOLERANCE, BEYOND * equation.cap)
    start = np.log([found.schedule.initial, min(max(found.schedule.switch, place.gamma / 10), 1.0)])
    flat = _flat(place, equation, lambda p: (math.exp(p[0]), math.exp(p[1]), POWER), start)
    free = _flat(place, equation, lambda p: (math.exp(p[0]), math.exp(p[1]), max(p[2], 0.0)), np.append(start, POWER))
    risks = (constant.risk, min(harmonic.risk, constant.risk), min(flat, constant.risk), min(free, constant.risk))
    return np.array([found.risk, found.schedule.initial, found.schedule.switch, *risks])


def _flat(
    place: Place, equation: System, told: Callable[[np.ndarray], tuple[float, float, float]], start: np.ndarray
) -> float:
    """The least risk of η̃ = m·(τ/max(t, τ))^p, by descent; ``told`` gives m, τ and p."""

    def log_risk(p: np.ndarray) -> float:
        rate, turn, power = told(p)
        plan = Flat(min(rate, equation.cap), min(max(turn, EARLIEST * place.gamma), 1.0), power)
        return math.log(max(equivalent.final_risk(equation, plan, place.clip, place.rho, SETTLED), 1e-300))

    steps = np.diag([-0.3, 0.5, 0.15][: len(start)])
    best = math.inf
    for shift in (0.0, 0.7):
        first = start + shift * np.eye(len(start))[1]
        simplex = np.vstack([first, first + steps])
        options = {"initial_simplex": simplex, "xatol": 1e-3, "fatol": 1e-4, "maxiter": 120}
        best = min(best, float(minimize(log_risk, first, method="Nelder-Mead", options=options).fun))
    return math.exp(best)


def gain_rows(place: Place, found: np.ndarray) -> list[dict[str, object]]:
    """Rows of the table ``gains``: a family each, its risk and the least one."""
    least, initial, switch = found[:3]
    own, best = {"n_over_d": place.n_over_d, "rho": place.rho}, {"rate": initial * place.gamma, "switch": switch}
    return [
        {**own, "family": family, "risk": risk, "least": least, "excess": risk / least - 1, **best}
        for family, risk in zip(FAMILIES, found[3:])
    ]


@dataclass(frozen=True)
class Search(Solved):
    """A search over all schedules that knows nothing of the theorem: a spectrum and a place."""

    spectrum: str
    place: Place

    @property
    def equations(self) -> System:
        """One equation, or a quadrature rule for the uniform spectrum."""
        if self.spectrum == ISOTROPIC:
            return system.isotropic(INITIAL_RISK, self.place.gamma, self.place.label_noise)
        nodes, weights = np.polynomial.legendre.leggauss(NODES)
        energies = np.full(NODES, INITIAL_RISK)
        return system.of_spectrum(1 + nodes, energies, self.place.gamma, self.place.label_noise, weights / 2)


def search(task: Search, *, rng: np.random.Generator) -> np.ndarray:
    """The risks of the best schedule found, of the theorem's, of the harmonic one and of α = 2."""
    equations, place = task.equations, task.place
    constant = tuning.best_rate(equations, Constant, place.clip, place.rho)
    harmonic = tuning.best_harmonic(equations, place.clip, place.rho, TOLERANCE, BEYOND * equations.cap)
    squared = tuning.best_rate(equations, polynomial(2.0), place.clip, place.rho)
    starts = (constant,) if task.spectrum == ISOTROPIC else (constant, harmonic, squared)
    found = [control.search(equations, place.clip, place.rho, start.schedule) for start in starts]
    risk = min(_solved(equations, place, f) for f in found)
    known = control.least(place.drift).risk if task.spectrum == ISOTROPIC else math.nan
    return np.array([risk, known, min(harmonic.risk, constant.risk), squared.risk])


def _solved(equations: System, place: Place, found: control.Optimum) -> float:
    """The risk of a schedule that was found, by the solver; by the search's own integrator where that does not settle.

    A table of rates has a kink at each of its knots. Where the clip is so small that they matter, the solver's
    extrapolations disagree for longer than its finest grid; the search's integrator errs by 1e-3 there, too.
    """
    try:
        return equivalent.final_risk(equations, found.schedule, place.clip, place.rho, 10 * TOLERANCE)
    except RuntimeError:
        return found.risk


# ---- Section 8's conjecture on label noise that vanishes: with a clip that is constant or follows the risk ----

RATIOS = (0.25, 0.5, 1.0, 2.0, 4.0)  # c' of a clip that follows the risk
MULTIPLE = 10.0  # the largest c over ζ that counts as O(ζ)
POWERS = (0.5, 1.25, 2.0)  # of γ in ζ
ALONG_NOISE, FAR = "zeta", "zeta, gamma = 0.01"
FEW = 0.01  # γ at which e^{−1/γ} is in reach
_CLIPS = 16  # of a scan


@dataclass(frozen=True)
class SmallNoisePlace(Solved):
    """A place on an axis: its size along it, γ and ζ; ρ = 1."""

    axis: str
    size: float
    gamma: float
    zeta: float


def solve(place: SmallNoisePlace, *, rng: np.random.Generator) -> np.ndarray:
    """The least risk with the best constant clip and that clip, with one that is O(ζ), with one that follows and c'."""
    gamma, noise = place.gamma, place.zeta
    best, clip = _best_clip(gamma, noise, 1e-2 * noise, 30.0)
    small, _ = _best_clip(gamma, noise, 1e-2 * noise, MULTIPLE * noise)
    drifts = [control.following_clip(INITIAL_RISK, gamma, noise, ratio, 1.0) for ratio in RATIOS]
    followed, ratio = min((control.least(drift).risk, ratio) for drift, ratio in zip(drifts, RATIOS))
    return np.array([best, clip, small, followed, ratio])


def _best_clip(gamma: float, noise: float, low: float, high: float) -> tuple[float, float]:
    """The least released risk over constant clips between two, and the clip; ρ = 1."""

    def risk(log: float) -> float:
        return control.least(control.fixed_clip(INITIAL_RISK, gamma, noise, math.exp(log), 1.0)).risk

    logs = np.linspace(math.log(low), math.log(high), _CLIPS)
    risks = [risk(log) for log in logs]
    k = int(np.argmin(risks))
    near = (logs[max(k - 1, 0)], logs[min(k + 1, _CLIPS - 1)])
    found = minimize_scalar(risk, bounds=near, method="bounded", options={"xatol": 1e-2})
    return (found.fun, math.exp(found.x)) if found.fun < risks[k] else (risks[k], math.exp(logs[k]))


# ---- The closed forms and constants of sections 5 and D.2 to D.3, recomputed ----

ORDERS = (-5.0, -2.0, -1.0, -0.75, -0.5, -1 / 3, 0.0, 0.5, 0.9)  # β of Lemma D.2; the proofs use (−1, 0]
ARGUMENTS = np.logspace(-6, 2, 33)
SMALL = 1e-6  # x, or x^{1−β} where that is larger, at which (D.10) is tried
LIMIT, CEILING, TAIL, QUADRATURE = "limit", "ceiling", "tail", "quadrature"


def lemma_d2() -> pd.DataFrame:
    """Table ``exponential-integrals``: E_β by quadrature over its limit, ceiling (D.12) and tail (D.13)."""
    rows = []
    for order in ORDERS:
        values = np.array([_integral(order, x) for x in ARGUMENTS])
        nearest = SMALL ** (1 / min(1 - order, 1.0))
        allowed = (order >= 0) | (-2 * order <= ARGUMENTS)
        row = {
            LIMIT: _integral(order, nearest) / float(rates.exponential_integral_ceiling(order, nearest)),
            CEILING: float((values / rates.exponential_integral_ceiling(order, ARGUMENTS)).max()),
            TAIL: float((values / rates.exponential_integral_tail(ARGUMENTS))[allowed].max()),
            QUADRATURE: float(np.abs(values / rates.exponential_integral(order, ARGUMENTS) - 1).max()),
        }
        rows.append({"order": order} | row)
    return pd.DataFrame(rows)


def _integral(order: float, x: float) -> float:
    low, high = math.log(x), math.log(x + 800 + 10 * abs(order))
    marks = np.linspace(low, high, 40)
    pieces = [quad(lambda s: math.exp((1 - order) * s - math.exp(s)), a, b, epsabs=0, epsrel=1e-12)[0]
              for a, b in pairwise(marks)]  # fmt: skip
    return x ** (order - 1) * math.fsum(pieces)


LINEARS = (rates.Linear(6.0, 0.3, 0.0), rates.Linear(8.0, 0.2, 0.05), rates.Linear(3.0, 0.0, 0.1))
SCHEDULES: dict[str, Schedule] = {"polynomial": Polynomial(1.0, 1.5), "harmonic": Harmonic(1.2, 0.2)}


def solutions() -> pd.DataFrame:
    """Table ``solutions``: closed forms against LSODA on the equations that they solve, largest relative difference."""
    rows = []
    for name, schedule in SCHEDULES.items():
        for linear in LINEARS:
            solved = _integrated(linear, schedule, 0.9)
            found = rates.linear_solution(linear, schedule, 0.5, 0.9)
            rows.append({"display": "(D.101)", "case": name, "found": found, "solved": solved})
            if name == "polynomial":
                found = rates.polynomial_solution(linear, 1.5, 0.5, 0.9)
                rows.append({"display": "(D.89)", "case": name, "found": found, "solved": solved})
            elif linear.descent * 1.2 > 2:
                found = rates.harmonic_solution(linear, 1.2, 0.2, 0.5, 0.9)
                rows.append({"display": "before (D.108)", "case": name, "found": found, "solved": solved})
    for clip, ratio, rho in ((0.5, 0.02, 0.3), (2.0, 0.01, 1.0)):
        linear = rates.Linear(clip, ratio * clip**2, (ratio * clip / rho) ** 2)
        for name, schedule in SCHEDULES.items():
            found = rates.linear_solution(linear, schedule, 0.5, 0.9)
            solved = _integrated(linear, schedule, 0.9)
            rows.append({"display": "(5.24)", "case": name, "found": found, "solved": solved})
    table = pd.DataFrame(rows)
    return table.assign(difference=(table["found"] / table["solved"] - 1).abs())


def _integrated(linear: rates.Linear, schedule: Schedule, end: float) -> float:
    def slope(t: float, risk: np.ndarray) -> np.ndarray:
        rate = float(schedule(t))
        source = linear.sampling * rate**2 + linear.noise * float(schedule.squared_decrease(t))
        return source - linear.descent * rate * risk

    return float(solve_ivp(slope, (0.0, end), [0.5], method="LSODA", rtol=1e-11, atol=1e-13).y[0, -1])


def heuristic() -> pd.DataFrame:
    """Table ``heuristic``: (5.22) against LSODA on (5.20) with its schedule, and against schedules near it."""
    rows = []
    others = [(s, o) for s, o in product((0.8, 1.25, 1.0), (0.5, 2.0, 1.0)) if (s, o) != (1.0, 1.0)]
    for aspect_ratio in (0.1, 0.01, 1e-4):
        told = 4 * aspect_ratio / (1 + 4 * aspect_ratio / 0.5)
        linear, offset = rates.Linear(1.0, aspect_ratio, 0.0), 4 * aspect_ratio / 0.5
        near = [rates.linear_solution(linear, Harmonic(2 * s, offset * o), 0.5) for s, o in others]
        solved = rates.linear_solution(linear, Harmonic(2.0, offset), 0.5)
        rows.append({"gamma": aspect_ratio, "printed": told, "solved": solved, "nearby": min(near)})
    return pd.DataFrame(rows)


SLIP, JUMP, EQUALITY, SUFFICES, ERROR = "(D.98)", "last display of D.3", "(D.111)", "(D.115)", "erf"


def constants(label_noise: float, initial_risk: float) -> pd.DataFrame:
    """Table ``constants``: what the proofs print, ``printed``, against what is needed there, ``needed``."""
    level = initial_risk + label_noise**2 / 2
    told = rates.theorem_2(1e-6, 1.0, level)
    reach = math.sqrt(level + told.scale**2)  # √A + 9(A + 90), λ_min = 1
    z = np.linspace(1e-6, math.sqrt(0.5), 200)
    needed = {a: float(gamma(2 - 1 / (1 + a))) * (1 + a) ** (a / (1 + a)) for a in (1.0, 2.0, 4.0, 16.0)}
    rows = [(f"{SLIP}, factor of sampling, alpha = {a:g}", (1 + a) ** (1 / 3), of) for a, of in needed.items()]
    rows += [(f"{SLIP} as derived, alpha = {a:g}", 1 + a, of) for a, of in needed.items()]
    rows += [
        (f"{JUMP}, factor of the last noise", 1.0, 2.0),
        (f"{EQUALITY}, descent times scale", 3.0, told.linear.descent * told.scale),
        (f"{EQUALITY}, offset", told.offset, max(told.linear.sampling, 2 * math.sqrt(told.linear.noise))),
        (f"{ERROR}, argument", math.sqrt(0.5), told.clip / (2 * reach)),
        (f"{ERROR}, least of erf(z)/(2z/9)", float((erf(z) / (2 * z / 9)).min()), 1.0),
        (f"{ERROR}, least of erf(z)/(2z/sqrt(pi e))",
         float((erf(z) / (2 * z / math.sqrt(math.pi * math.e))).min()), 1.0),
        (f"{SUFFICES}, room", 2 * told.clip / (9 * reach), told.linear.descent),
        ("margin beside A", rates.MARGIN, least_margin(level)),
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=["constant", "printed", "needed"])


def least_margin(level: float) -> float:
    """The least number in the place of 90 for which (D.114) is true, λ_min = 1."""

    def room(margin: float) -> float:
        told = rates.theorem_2(1e-6, 1.0, level, margin=margin)
        return 2 * float(erf(told.clip / (2 * math.sqrt(level + told.scale**2)))) - told.linear.descent

    return 0.0 if room(1e-9) > 0 else float(brentq(room, 1e-9, rates.MARGIN))


# ---- The rates of sections 5.1 and 5.2, measured along paths on which γ tends to 0 ----

PATHS: dict[str, Callable[[float], float]] = {
    "rho = 1": lambda gamma: 1.0,
    "rho = gamma^(1/2)": lambda gamma: gamma**0.5,
    "rho = gamma^(3/4)": lambda gamma: gamma**0.75,
}
SMALLEST, LARGEST, DEGREE, EXPONENT = "smallest eigenvalue", "largest eigenvalue", "both at once", "alpha"
EXPONENTS = (0.0, 0.5, 1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0)
OWN = (1.0, 2.0, 8.0)  # α at which Proposition 5.2's own choice is followed along γ
FACTOR = 2.0  # C of (5.15); it needs 2μC/c > 1 + 1/α at all risks up to R(0)
EIGENVALUES = (0.3, 0.1, 0.03, 0.01, 0.003, 0.001, 0.0003)
THEOREM_DECADES = tuple(range(2, 26, 2))  # −log₁₀ γ at which Theorem 2 is followed: its constants settle late
ORDERS_FAR = (6, 8, 16, 32, 64, 128)  # −log₁₀ γ where α = ln²(1/γ)
TEXT, PROOF = "text", "proof"
OFFSETS: dict[str, Callable[[float, float], float]] = {
    TEXT: lambda gamma, rho: max(gamma, (gamma / rho) ** 2),
    PROOF: lambda gamma, rho: max(gamma, gamma / rho),
}
SCALES, MULTIPLES = (10.0, 30.0), (10.0, 100.0, 1000.0)  # β and τ over its order


@dataclass(frozen=True)
class Point(Solved):
    """A point of a path: its name and γ, with the ζ and c of `Experiment`."""

    path: str
    gamma: float
    label_noise: float
    clip: float

    @property
    def rho(self) -> float:
        return PATHS[self.path](self.gamma)

    @property
    def equation(self) -> System:
        return system.isotropic(INITIAL_RISK, self.gamma, self.label_noise)


def tuned(point: Point, *, rng: np.random.Generator) -> np.ndarray:
    """η̃(0), τ and the risk of each tuned schedule, the harmonic one and the optimum last, shape (k, 3)."""
    drift = control.fixed_clip(INITIAL_RISK, point.gamma, point.label_noise, point.clip, point.rho)
    return _tuned(point.equation, EXPONENTS, point.clip, point.rho, control.least(drift))


def tuned_rows(point: Point, found: np.ndarray) -> list[dict[str, object]]:
    """Rows of the table ``rates``; ``least`` is the leading order 4b₁/a² + 27b₂/a² at R = 0."""
    names = [*(f"{exponent:g}" for exponent in EXPONENTS), HARMONIC, OPTIMUM]
    mu, scaled_nu = system.reductions(point.equation, point.clip, 0.0)
    noise = 2 * system.noise_scale(point.clip, point.rho) * point.gamma**2
    least = rates.least_end(rates.Linear(2 * mu, point.gamma * scaled_nu, noise))
    own = {"path": point.path, "gamma": point.gamma, "inverse": 1 / point.gamma, "rho": point.rho}
    orders = {"order": point.gamma + (point.gamma / point.rho) ** 2, "least": least}
    return [
        {**own, "schedule": name, "risk": risk, **orders, "rate": rate, "offset": turn, "descent": 2 * mu * rate * turn}
        for name, (rate, turn, risk) in zip(names, found)
    ]


# ---- Proposition 5.2 at its own choice ----


def own_choice(gammas: tuple[float, ...], label_noise: float, clip: float) -> pd.DataFrame:
    """The risk at (5.15), ``left``, against the order (5.16) or (D.81), ``right``, along each axis; see `PATHS`."""
    rows = []
    for (path, rho), rate, exponent in product(PATHS.items(), gammas, OWN):
        axis = f"{path}, alpha = {exponent:g}"
        rows.append(_own(axis, 1 / rate, exponent, rate, rho(rate), label_noise, clip))
    for exponent in (1.0, 3.0, 10.0, 30.0, 100.0, 300.0):
        rows.append(_own(EXPONENT, exponent, exponent, min(gammas), 1.0, label_noise, clip))
    for power in ORDERS_FAR:
        gamma = 10.0**-power
        log = math.log(1 / gamma)
        rows.append(_own(DEGREE, log, log**2, gamma, gamma * log**1.5, label_noise, clip))
    for (path, rho), gamma in product(PATHS.items(), gammas):
        exponent = math.log(math.log(1 / gamma))
        if exponent >= 1:
            row = _own(f"{path}, log-log", 1 / gamma, exponent, gamma, rho(gamma), label_noise, clip)
            rows.append(row | {"right": rates.log_log_order(gamma, rho(gamma))})
    return pd.DataFrame(rows)


def _own(
    axis: str, size: float, exponent: float, gamma: float, rho: float, label_noise: float, clip: float
) -> dict[str, object]:
    log = math.log(1 / gamma)
    initial = FACTOR * exponent * log
    drift = control.fixed_clip(INITIAL_RISK, gamma, label_noise, clip, rho)
    risk = released_risk(drift, lambda t: initial * max(1 - t, 0.0) ** exponent, lambda t, risk: clip, label_noise, rho)
    own = {"axis": axis, "size": size, "alpha": exponent, "gamma": gamma, "rho": rho}
    own |= {"condition": log**2 * gamma * (exponent + gamma / rho**2), "privacy": exponent * gamma / rho}
    return own | {"left": risk, "right": rates.polynomial_order(exponent, gamma, rho)}


def spread(largest: bool, value: float, label_noise: float, gamma: float) -> tuple[System, float, float]:
    """Two eigenvalues of mean 1: λ_min and 2 − λ_min, or ½ and λ_max = 1/value; the system, λ_min and λ_max."""
    high = 1 / value if largest else 2 - value
    low = 0.5 if largest else value
    share = (1 - low) / (high - low)
    weights = np.array([1 - share, share])
    equations = system.of_spectrum([low, high], [INITIAL_RISK] * 2, gamma, label_noise, weights)
    return equations, low, high


def spread_polynomial(label_noise: float, clip: float) -> pd.DataFrame:
    """The same with eigenvalues that depend on γ = value⁴, ρ = 1, against (D.81)."""
    rows = []
    for largest, value, exponent in product((False, True), EIGENVALUES, (1.0, 2.0)):
        gamma = value**4
        equations, low, high = spread(largest, value, label_noise, gamma)
        log = math.log(1 / gamma)
        plan = Polynomial(FACTOR * exponent * log / (low * clip), exponent)
        axis = f"{LARGEST if largest else SMALLEST}, alpha = {exponent:g}"
        own = {"axis": axis, "size": 1 / value, "alpha": exponent, "gamma": gamma, "rho": 1.0}
        own |= {"condition": log**2 * gamma / low**2 * (high * exponent + gamma), "privacy": exponent * gamma / low}
        risk = equivalent.final_risk(equations, plan, clip, 1.0, TOLERANCE)
        rows.append(own | {"left": risk, "right": rates.polynomial_order(exponent, gamma, 1.0, low, high)})
    return pd.DataFrame(rows)


# ---- Theorem 2 at its own constants ----


def theorem_rows(label_noise: float) -> pd.DataFrame:
    """Theorem 2 at (D.105): its bound, the risk there, and the order (5.19) or (D.106), along each axis."""
    level = INITIAL_RISK + label_noise**2 / 2
    rows = []
    for path, decades in product(PATHS, THEOREM_DECADES):
        gamma = 10.0**-decades
        equation = system.isotropic(INITIAL_RISK, gamma, label_noise)
        rows.append(_theorem(path, 1 / gamma, equation, 1.0, 1.0, PATHS[path](gamma), level))
    for largest, value in product((False, True), EIGENVALUES):
        equations, low, high = spread(largest, value, label_noise, value**4)
        rows.append(_theorem(LARGEST if largest else SMALLEST, 1 / value, equations, low, high, 1.0, level))
    return pd.DataFrame(rows)


def _theorem(
    axis: str, size: float, equations: System, low: float, high: float, rho: float, level: float
) -> dict[str, object]:
    gamma = equations.aspect_ratio
    told = rates.theorem_2(gamma, rho, level, low, high)
    start = equations.initial_risk
    jump = 2 * (told.clip * gamma / rho * told.scale / (1 + told.offset)) ** 2
    plan = Harmonic(told.scale, told.offset)
    path = equivalent.risk_path(equations, plan, told.clip, rho, np.linspace(0, 1, 21), TOLERANCE)
    own = {"axis": axis, "size": size, "gamma": gamma, "rho": rho}
    own |= {"condition": high / low**2 * gamma + (gamma / rho / low) ** 2}
    own |= {"order": (high * gamma + (gamma / rho) ** 2) / low**4}
    own |= {"bound": rates.harmonic_end(told.linear, told.scale, told.offset, start) + jump}
    risk = equivalent.final_risk(equations, plan, told.clip, rho, TOLERANCE)
    ceiling = rates.harmonic_ceiling(told.linear, told.scale, told.offset, start)
    highest, rate = float(path.max()), told.scale / told.offset * gamma
    return own | {"risk": risk, "highest": highest, "ceiling": ceiling, "rate": rate}


def offset_rows(gammas: tuple[float, ...], label_noise: float, clip: float) -> pd.DataFrame:
    """Risks of harmonic schedules whose β does not depend on γ and whose τ is a multiple of one order or the other."""
    rows = []
    for path, rate, rule in product(PATHS, gammas, OFFSETS):
        rho = PATHS[path](rate)
        equation = system.isotropic(INITIAL_RISK, rate, label_noise)
        for scale, multiple in product(SCALES, MULTIPLES):
            offset = multiple * OFFSETS[rule](rate, rho)
            risk = equivalent.final_risk(equation, Harmonic(scale, offset), clip, rho, TOLERANCE)
            own = {"path": path, "gamma": rate, "inverse": 1 / rate, "rho": rho}
            own |= {"rule": rule, "scale": scale, "multiple": multiple}
            rows.append(own | {"risk": risk, "order": rate + (rate / rho) ** 2})
    return pd.DataFrame(rows)


class Experiment(Parameters):
    """Schedules of arXiv:2505.16329v2: Figure 7, the rates of Propositions 5.1 and 5.2 and Theorem 2, and the best."""

    d: int = parameter(count(2, 10**5), 100)
    n: tuple[int, ...] = many(
        count(10, 10**8),
        *(1000, 1778, 3162, 5623, 10000, 17783, 31623, 56234, 100000, 177828, 316228, 562341, 1000000),
        ascending=True,
    )
    """Numbers of records of Figure 7."""
    label_noise: float = parameter(NOISE, 0.3)
    rho: float = parameter(RHO, 0.1)
    clip: float = parameter(CLIP, 0.1)
    simulated: int = parameter(count(10, 10**8), 1000000)
    """The largest number of records that the algorithm is run on; above it, the equations alone."""
    gammas: tuple[float, ...] = many(SMALL_GAMMA, *(10.0**-k for k in range(2, 11)), ascending=True)
    """Aspect ratios d/n along which the rates are followed."""
    best_n: tuple[float, ...] = many(
        amount(0.1, 1e12), 10.0, 30.0, 100.0, 300.0, 1000.0, 3000.0, 10000.0, 100000.0, ascending=True
    )
    """Records per dimension, n/d, at which families of schedules are held against the best one."""
    best_rho: tuple[float, ...] = many(RHO, 0.03, 0.1, 0.3, 1.0, 10.0, ascending=True)
    """Privacy parameters at which they are."""
    search_n: tuple[float, ...] = many(amount(0.1, 1e12), 30.0, 100.0, 1000.0, 10000.0, ascending=True)
    """Records per dimension, n/d, at which the best schedule is searched for without its theorem."""
    small_gammas: tuple[float, ...] = many(chance(1e-10, 0.999), 1e-2, 1e-3, 1e-4, 1e-5, ascending=True)
    """Aspect ratios d/n at which the label noise vanishes."""
    small_noises: tuple[float, ...] = many(amount(1e-12, 1e3), *(10.0**-k for k in range(0, 9)), ascending=True)
    """Standard deviations ζ of the label noise on the way to 0."""
    trials: int = parameter(TRIALS, 10)
    seed: int = parameter(SEED, 7)

    def run(self, runner: Runner) -> dict[str, pd.DataFrame]:
        """Tables of Figure 7 and its optimum, of the rates, of the best schedules, and of small label noise."""
        powers = (0.0, 0.5, 1.0, 2.0)
        settings = [self.shared(Setting, spectrum=name, n=n, exponents=powers) for name, n in product(SPECTRA, self.n)]
        tables = figure_7_tables(settings, runner, self.trials, self.seed, self.simulated)
        checks = {
            "exponential-integrals": lemma_d2(),
            "solutions": solutions(),
            "heuristic": heuristic(),
            "constants": constants(self.label_noise, INITIAL_RISK),
        }
        return tables | self._rates(runner) | self._best(runner) | checks

    def _rates(self, runner: Runner) -> dict[str, pd.DataFrame]:
        points = [self.shared(Point, path=path, gamma=gamma) for path, gamma in product(PATHS, self.gammas)]
        found = runner.run(tuned, points, 1, 0)
        polynomial = own_choice(self.gammas, self.label_noise, self.clip)
        return {
            "rates": pd.DataFrame([row for point, v in found.items() for row in tuned_rows(point, v[0])]),
            "decay": pd.concat([polynomial, spread_polynomial(self.label_noise, self.clip)], ignore_index=True),
            "theorem-2": theorem_rows(self.label_noise),
            "offsets": offset_rows(self.gammas, self.label_noise, self.clip),
        }

    def _best(self, runner: Runner) -> dict[str, pd.DataFrame]:
        places = [self.shared(Place, n_over_d=n, rho=rho) for rho, n in product(self.best_rho, self.best_n)]
        found = runner.run(gains, places, 1, 0)
        tasks = [Search(name, self.shared(Place, n_over_d=n)) for name, n in product(SPECTRA, self.search_n)]
        searched = [
            (task.spectrum, task.place.n_over_d, task.place.rho, *v[0])
            for task, v in runner.run(search, tasks, 1, 0).items()
        ]
        names = ["spectrum", "n_over_d", "rho", "searched", "least", "harmonic", "square"]
        return {
            "gains": pd.DataFrame([row for place, v in found.items() for row in gain_rows(place, v[0])]),
            "search": pd.DataFrame(searched, columns=names),
            "small-noise": self._small_noise(runner),
        }

    def _small_noise(self, runner: Runner) -> pd.DataFrame:
        """ζ → 0 at the middle γ and at `FEW`, ρ = 1; and γ → 0 with ζ a power of γ.

        ``order`` is ζ²(γ + γ²/ρ²), ``floor`` R(0)e^{−1/γ}.
        """
        gammas, middle = self.small_gammas, sorted(self.small_gammas)[len(self.small_gammas) // 2]
        axes = [(axis, 1 / z, g, z) for axis, g in ((ALONG_NOISE, middle), (FAR, FEW)) for z in self.small_noises]
        axes += [(f"zeta = gamma^{power:g}", 1 / g, g, g**power) for power, g in product(POWERS, gammas)]
        found = runner.run(solve, [SmallNoisePlace(*place) for place in axes], 1, 0)
        names = ("fixed", "fixed_clip", "proportional", "following", "ratio")
        rows = [vars(place) | {"order": place.zeta**2 * (place.gamma + place.gamma**2)} | dict(zip(names, v[0]))
                | {"floor": INITIAL_RISK * math.exp(-1 / place.gamma)} for place, v in found.items()]  # fmt: skip
        return pd.DataFrame(rows)
