"""What is measured of the clipping constant and the learning rate in Section 5 and Figure 4 of arXiv:2505.16329v2."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from scipy.integrate import quad
from scipy.optimize import minimize_scalar

from chapters.ranges import CLIP, NOISE, RHO, RISK, SEED, SMALL_GAMMA, TRIALS, count
from companion._fits import mean_and_error
from companion.declaration import Parameters, many, parameter
from companion.streams import Runner
from costofprivacy.dpgd import chain, clipping, equivalent, rates, spectrum, system, tuning
from costofprivacy.dpgd.clipping import descent_reduction, variance_reduction
from costofprivacy.dpgd.descent import Configuration
from costofprivacy.dpgd.rates import CONSTANT, OUTPUT
from costofprivacy.dpgd.schedule import Constant, Polynomial, Schedule, learning_rates, noise_multipliers
from costofprivacy.dpgd.system import System

# ---- Problem: the two schedules and the equations ----

ALPHAS = (OUTPUT, CONSTANT)
NAMES = {OUTPUT: "output perturbation", CONSTANT: "constant noise"}
TOLERANCE = 1e-4  # relative, of a risk


def schedule(alpha: float, rate: float) -> Schedule:
    """η̃(0)(1 − t)^α with α = 0 or ½, (5.1)."""
    return Constant(rate) if alpha == OUTPUT else Polynomial(rate, alpha)


def equations(
    gamma: float, label_noise: float, initial_risk: float, least: float = 1.0, aligned: bool = False
) -> System:
    """Definition 4.2 for half of the eigenvalues at λ_min and half at 2 − λ_min, so that tr Σ = d.

    The target is even, (θ*_i)² equal, with the given R(0); or it lies in the lower eigenspace with ‖θ*‖ = 1, and R(0)
    is λ_min/2.
    """
    if least == 1.0:
        return system.isotropic(initial_risk, gamma, label_noise)
    energies = [1.0, 0.0] if aligned else [initial_risk, initial_risk]
    return system.of_spectrum([least, 2 - least], energies, gamma, label_noise)


def tabulated(
    runner: Runner,
    trial: Callable[..., np.ndarray],
    cells: Sequence[Any],
    rows: Callable[[Any, np.ndarray], list[dict[str, Any]]],
) -> pd.DataFrame:
    """The rows of cells in which nothing is drawn, computed by the runner."""
    return pd.DataFrame([row for cell, found in runner.run(trial, cells, 1, 0).items() for row in rows(cell, found[0])])


# ---- Steps of the proofs in Appendix D.1, one by one: each is an inequality or an identity ----
# A row has a left and a right side in one case; ``claim`` says whether they are to be equal or ordered. ``reading`` is
# ``printed``, or ``corrected`` where another constant is put in.
#
# **The constant of the descent.** With R ≤ R(0) + 1, Lemma B.2 gives μ_c(R)/c ≥ m/√(2R + ζ²) ≥ m/√(2R(0) + 2 + ζ²).
# (D.31) has √(R(0) + 1 + ζ²) there and (D.61) √(R(0) + 1 + ζ²/2), both smaller: more descent than the lemma grants. At
# t = 0, where R = R(0), it is too much where R(0) > 1, or R(0) > 1 − ζ²/2. Then R̄' falls faster than R̄ at first,
# against (D.34). How far R̄ gets above R̄' has no bound: where ζ² > 2R(0) + 2 and c ≪ ζ, (D.61) descends faster than
# R̄ ever does, and with γ → 0 the quotient grows like a power of e with v. Where ζ² ≪ R(0) it is at most e^{2√2−2}/2.
#
# **(D.44)** With (B.17) it gives b₁ = min(1, ζ²)/4 for every c ≥ 1 and every R.
#
# **(D.71)** Put x = τa'. The left side is e^{−x} + x^{2−β} δ/(a')². Where x ≥ ln(1/δ)/2 the second term alone is at
# least 2^{β−2} of the right side; elsewhere the first is at least √δ. It needs a' bounded below, which tr Σ = d gives.

PRINTED, CORRECTED = "printed", "corrected"
EQUAL, AT_MOST = "equal", "at most"
INITIALS = (0.1, 0.5, 1.0, 2.0, 5.0)  # R(0) at which the descent's constant is tried
SMALL_CLIP = 0.1
Row = tuple[str, str, str, str, float, float]


def table(gamma: float, label_noise: float) -> pd.DataFrame:
    """``steps``: every step in every case."""
    given = (*_descents(gamma, label_noise), *_starts(gamma, label_noise))
    rows = [*given, *_large_clips(label_noise), *_constants(), *_minima()]
    return pd.DataFrame(rows, columns=["step", "reading", "claim", "case", "left", "right"])


def descent_constant(step: str, reading: str, initial: float, label_noise: float) -> float:
    """The root under c_μ in ā: of (D.31) and (D.61) as printed, and as Lemma B.2 has it at R = R(0) + 1."""
    if reading == CORRECTED:
        return math.sqrt(2 * initial + 2 + label_noise**2)
    return math.sqrt(initial + 1 + label_noise**2 / (1 if step == "D.31" else 2))


def _least_ratio(label_noise: float) -> float:
    """c_μ(c, ζ) of Lemma B.2, its best value."""
    return label_noise / SMALL_CLIP * float(descent_reduction(SMALL_CLIP, label_noise**2 / 2))


def _descents(gamma: float, zeta: float) -> Iterator[Row]:
    """(D.34) and (D.63): R̄ ≤ R̄' at all times, by (D.31) and (D.61); the worst time is kept."""
    speed, rho = 5.0, 0.1
    early = np.geomspace(1e-4, 1.0, 9)
    for (step, alpha), reading, initial in product((("D.31", 0.0), ("D.61", 0.5)), (PRINTED, CORRECTED), INITIALS):
        rate = 2 * speed * _least_ratio(zeta) / descent_constant(step, reading, initial, zeta)
        plan, sampling = schedule(alpha, speed / SMALL_CLIP), speed**2 * gamma / 2
        given = system.isotropic(initial, gamma, zeta)
        path = equivalent.risk_path(given, plan, SMALL_CLIP, rho, early, 1e-6)
        if alpha == 0.0:
            bound = rates.relaxation(early, rate, sampling, initial)
        else:
            bound = rates.square_root_path(early, rate, sampling, 4 * (speed * gamma / rho) ** 2, initial)
        worst = int((path / bound).argmax())
        yield (step, reading, AT_MOST, f"R(0) = {initial:g}", path[worst], bound[worst])


def _starts(gamma: float, zeta: float) -> Iterator[Row]:
    """(D.35): R̄'(1) ≤ e^{−ā} + b̄/ā, and with R(0) before the power."""
    for speed, initial in product((0.5, 2.0), INITIALS):
        root = descent_constant("D.31", CORRECTED, initial, zeta)
        rate, sampling = 2 * speed * _least_ratio(zeta) / root, speed**2 * gamma / 2
        left = float(rates.relaxation(1.0, rate, sampling, initial))
        for reading, factor in ((PRINTED, 1.0), (CORRECTED, initial)):
            right = factor * math.exp(-rate) + sampling / rate
            yield ("D.35", reading, AT_MOST, f"R(0) = {initial:g}, cη̃(0) = {speed:g}", left, right)


def _large_clips(zeta: float) -> Iterator[Row]:
    """(D.44) with (B.17): ν(R + ζ²/2) > b₁ = min(1, ζ²)/4 for c ≥ 1 and every R."""
    for level, clip in product((zeta, 3.0), (1.0, 3.0, 100.0)):
        test = np.concatenate([[0.0], np.geomspace(1e-6, 1e8, 57)]) + level**2 / 2
        least = float((variance_reduction(clip, test) * test).min())
        yield ("D.44", PRINTED, AT_MOST, f"ζ = {level:g}, c = {clip:g}", min(1.0, level**2) / 4, least)


def by_quadrature(time: float, rate: float, first: float, second: float, initial: float) -> float:
    """The solution of (D.53) as R(0)e^{−A(0)} + ∫ e^{−A(s)}(b₁(1 − s) + b₂) ds with A(s) = ∫_s^t a√(1 − u) du."""

    def clock(start: float) -> float:
        return 2 * rate / 3 * ((1 - start) ** 1.5 - (1 - time) ** 1.5)

    def source(start: float) -> float:
        return math.exp(-clock(start)) * (first * (1 - start) + second)

    return initial * math.exp(-clock(0.0)) + quad(source, 0.0, time, epsabs=1e-14, epsrel=1e-12, limit=400)[0]


def _constants() -> Iterator[Row]:
    """(D.54) against quadrature, the bounds (D.59) and (D.65) on R̄', and both lines of (D.69), tightest at a = 2."""
    for (rate, first, second), time in product(((0.3, 1.0, 0.2), (5.0, 0.1, 2.0), (40.0, 3.0, 0.01)), (0.3, 0.9, 1.0)):
        left = float(rates.square_root_path(time, rate, first, second, 0.5))
        right = by_quadrature(time, rate, first, second, 0.5)
        yield ("D.54", PRINTED, EQUAL, f"a = {rate:g}, t = {time:g}", left, right)
    for rate, (first, second) in product((1.0, 5.0, 100.0), ((1.0, 0.0), (0.0, 1.0), (50.0, 50.0))):
        highest = max(float(rates.square_root_path(t, rate, first, second, 0.5)) for t in np.linspace(0, 1, 201))
        at_zero = math.exp(2 / 3) * (2 / 3) ** (-1 / 3) * math.gamma(4 / 3) * first * rate ** (-4 / 3)
        near = math.exp(2 / 3) * (2 / 3) ** (1 / 3) * math.gamma(2 / 3) * second * rate ** (-2 / 3)
        bound = 0.5 + 2 * first / rate + 2 * second * rate ** (-2 / 3) + at_zero + near
        yield ("D.59", PRINTED, AT_MOST, f"a = {rate:g}, b₁ = {first:g}, b₂ = {second:g}", highest, bound)
    for rate, (first, second) in product((0.5, 3.0, 30.0), ((1.0, 0.0), (0.0, 1.0), (1.0, 1.0))):
        left = by_quadrature(1.0, rate, first, second, 0.5)
        right = 0.5 * math.exp(-2 * rate / 3) + rates.square_root_end(rate, first, second)
        yield ("D.65", PRINTED, AT_MOST, f"a = {rate:g}, b₁ = {first:g}, b₂ = {second:g}", left, right)
    for rate in (2.0, 2.5, 10.0):
        lost = 2 * math.exp(-2 * rate / 3) / rate
        for name, power, constant in (
            ("b₁", -4 / 3, 1.5 ** (1 / 3) * math.gamma(4 / 3)),
            ("b₂", -2 / 3, 1.5 ** (-1 / 3) * math.gamma(2 / 3)),
        ):
            third = rate**power / 3
            yield ("D.69", PRINTED, AT_MOST, f"{name}, a = {rate:g}, with 1", third, rate**power - lost)
            yield ("D.69", PRINTED, AT_MOST, f"{name}, a = {rate:g}, 1 for Γ", rate**power, constant * rate**power)


def _minima() -> Iterator[Row]:
    """(D.71): δ ln^{2−β}(1/δ)/(a')² times 2^{β−2} or less is at most the least of e^{−τa'} + τ^{2−β}δ/(a')^β."""
    for beta, log_delta, scale in product((2 / 3, 4 / 3), (-20.0, -100.0, -300.0), (1.0, 2.0)):
        delta = math.exp(log_delta)

        def goal(time: float, beta: float = beta, delta: float = delta, scale: float = scale) -> float:
            return math.exp(-time * scale) + time ** (2 - beta) * delta / scale**beta

        found = minimize_scalar(goal, bounds=(0.0, -2 * log_delta / scale), method="bounded")
        right = delta * (-log_delta) ** (2 - beta) / scale**2
        case = f"β = {beta:.2f}, ln(1/δ) = {-log_delta:g}, a' = {scale:g}"
        yield ("D.71", PRINTED, AT_MOST, case, 2 ** (beta - 2) * right, float(found.fun))


# ---- Where the noise goes ----

LAST_SHARE = "share of the noise in the last step"
SPREAD = "spread of the noise before the last step"
PRINTED_LEVEL = "noise against η̃(0)/(n^{3/2}ρ)"
FIRST_LEVEL = "noise against η₁/(√n ρ)"
DECAY = "power of 1 − t in the noise"


def noise(sizes: Sequence[int], rho: float) -> pd.DataFrame:
    """``noise``: what the text after (5.1) says of σ_k, for each n: the relative distance from it, or a power."""
    rows = []
    for n in sizes:
        output = noise_multipliers(learning_rates(Constant(1.0), n), rho)
        even, *falling = (
            noise_multipliers(learning_rates(Polynomial(1.0, alpha), n), rho) for alpha in (0.5, 1.0, 2.0, 3.0)
        )
        first, before = learning_rates(Polynomial(1.0, 0.5), n)[0], even[:-1]
        rows += [
            (n, 0.0, LAST_SHARE, float(output[-1] ** 2 / (output**2).sum())),
            (n, 0.0, "last step against η̃(0)/(nρ)", float(output[-1] * n * rho - 1)),
            (n, 0.5, LAST_SHARE, float(even[-1] ** 2 / (even**2).sum())),
            (n, 0.5, SPREAD, float(np.ptp(before) / before.mean())),
            (n, 0.5, PRINTED_LEVEL, float(before.mean() * n**1.5 * rho - 1)),
            (n, 0.5, FIRST_LEVEL, float(before.mean() * n**0.5 * rho / first - 1)),
        ]
        left, half = 1 - (np.arange(1, n + 1) - 0.5) / n, n // 2
        for alpha, sigma in zip((1.0, 2.0, 3.0), falling):  # the power over the first half of the run
            squares = sigma**2
            power = math.log(squares[0] / squares[half]) / math.log(left[0] / left[half])
            rows.append((n, alpha, DECAY, power))
    return pd.DataFrame(rows, columns=["n", "alpha", "quantity", "value"])


# ---- Limit: the released risk at a fixed aspect ratio as the dimension grows, for two clipping rules ----

FIXED, GROWING = "c", "c ln n"  # in C_clip = c√d, and with a factor that tends to infinity


@dataclass(frozen=True)
class Size:
    """Algorithm 1 in one dimension, with a clipping constant that is fixed or grows."""

    d: int
    alpha: float
    rule: str
    gamma: float
    rho: float
    label_noise: float
    initial_risk: float
    base: float
    learning_rate: float

    @property
    def n(self) -> int:
        return max(1, round(self.d / self.gamma))

    @property
    def key(self) -> int:
        return self.d

    @property
    def clip(self) -> float:
        return self.base * (1.0 if self.rule == FIXED else math.log(self.n))


def trial(cell: Size, *, rng: np.random.Generator) -> np.ndarray:
    """The released risk of one run."""
    values = spectrum.isotropic(cell.d)
    target = spectrum.projections(values, initial_risk=cell.initial_risk)
    spaces = chain.eigenspaces(spectrum.RegressionModel(values, target, cell.label_noise))
    run = Configuration(cell.clip, schedule(cell.alpha, cell.learning_rate), cell.rho)
    return chain.risk_at(spaces, [run], cell.n, [1.0], 1, rng=rng)[0, 0, 0]


def limit_table(cells: Sequence[Size], trials: int, seed: int, runner: Runner) -> pd.DataFrame:
    """``limit``: simulated risks by dimension, the ODE's, and the ODE's at the best η̃(0) for that clip."""
    rows = []
    for cell, samples in runner.run(trial, cells, trials, seed).items():
        given = equations(cell.gamma, cell.label_noise, cell.initial_risk)
        mean, error = mean_and_error(samples)
        ode = equivalent.final_risk(given, schedule(cell.alpha, cell.learning_rate), cell.clip, cell.rho, TOLERANCE)
        best = tuning.best_rate(given, partial(schedule, cell.alpha), cell.clip, cell.rho, tolerance=TOLERANCE)
        place = {"alpha": cell.alpha, "rule": cell.rule, "d": cell.d, "n": cell.n, "clip": cell.clip}
        found = {"risk_mean": float(mean), "standard_error": float(error), "trials": len(samples)}
        rows.append(place | found | {"ode_risk": ode, "best_ode_risk": best.risk})
    return pd.DataFrame(rows)


# ---- Maps: Figure 4, the released risk over (c, η̃(0)), simulated and by the deterministic equivalent ----

SMALLEST_RATE, BEYOND = 0.3, 3.0  # the range of η̃(0): from this to about this many times 2/γ, which is on the grid


@dataclass(frozen=True)
class Map:
    """One panel of the figure: a schedule at an aspect ratio, on a grid even in ln c and ln η̃(0)."""

    d: int
    gamma: float
    alpha: float
    rho: float
    label_noise: float
    initial_risk: float
    points: int

    @property
    def n(self) -> int:
        return max(1, round(self.d / self.gamma))

    @property
    def key(self) -> int:
        return self.n

    @property
    def rates(self) -> np.ndarray:
        """The values of η̃(0), even in its logarithm; 2/γ is one of them."""
        cap = 2 / self.gamma
        share = np.log(cap / SMALLEST_RATE) / np.log(BEYOND * cap / SMALLEST_RATE)
        last = min(self.points - 2, round(share * (self.points - 1)))
        return cap * (cap / SMALLEST_RATE) ** ((np.arange(self.points) - last) / last)

    @property
    def places(self) -> list[tuple[float, float]]:
        return list(product(np.geomspace(1e-3, 10.0, self.points).tolist(), self.rates.tolist()))


def maps_trial(cell: Map, *, rng: np.random.Generator) -> np.ndarray:
    """The released risk of one run of Algorithm 1 in each place, by the risk chain; shape (places,)."""
    values = spectrum.isotropic(cell.d)
    target = spectrum.projections(values, initial_risk=cell.initial_risk)
    spaces = chain.eigenspaces(spectrum.RegressionModel(values, target, cell.label_noise))
    clips, rates = np.array(cell.places).T
    return chain.released_risks(spaces, schedule(cell.alpha, 1.0), clips, rates, cell.rho, cell.n, rng=rng)


def solve(cell: Map, *, rng: np.random.Generator) -> np.ndarray:
    """The deterministic equivalent's released risk in each place; shape (places,)."""
    given = equations(cell.gamma, cell.label_noise, cell.initial_risk)
    plans = [schedule(cell.alpha, rate) for rate in cell.rates.tolist()]
    clips = dict.fromkeys(c for c, _ in cell.places)
    return np.concatenate([equivalent.final_risks(given, plans, c, cell.rho, TOLERANCE) for c in clips])


def maps_table(cells: list[Map], trials: int, seed: int, runner: Runner) -> pd.DataFrame:
    """``figure-4``: mean and standard deviation of the simulated risks over the trials, and the ODE's risk."""
    solved, tables = runner.run(solve, cells, 1, 0), []
    for cell, samples in runner.run(maps_trial, cells, trials, seed).items():
        clips, rates = np.array(cell.places).T
        place = {"gamma": cell.gamma, "alpha": cell.alpha, "clip": clips, "learning_rate": rates}
        found = {"risk_mean": samples.mean(axis=0), "risk_sd": samples.std(axis=0, ddof=1), "trials": len(samples)}
        tables.append(pd.DataFrame(place | found | {"ode_risk": solved[cell][0]}))
    return pd.concat(tables, ignore_index=True)


# ---- Terms: the equations of the proof's sketch beside (4.11) ----
# "Behaves like" is made precise by one number: the least k ≥ 1 with which the sketch's linear equation encloses the
# released risk, for every learning rate that is allowed. The upper equation has its descent divided by k and its two
# sources multiplied by k, the lower the other way round. The claim is that k stays bounded as γ falls.
#
# For α = 0 and Σ = I equation (4.11) is autonomous, so R(t) is monotone: what holds at t = 0 and t = 1 holds between.

TERMS_CLIPS = {"c = 0.1": (0.1, 0.0), "c = 1": (1.0, 0.0), "c = γ^−¼": (1.0, -0.25), "c = γ^−½": (1.0, -0.5)}
RHOS = {"ρ = 0.1": (0.1, 0.0), "ρ = γ^¾": (1.0, 0.75), "ρ = 1/γ": (1.0, -1.0)}
SHARES = (0.01, 0.5, 1.0)  # η̃(0) in units of 2/γ, where factors are followed
CHOSEN, HALF, WHOLE = "(5.2)", "1/γ", "2/γ"  # how far v goes: to C ln(1/γ) with this C, or η̃(0) to these
LARGE = 2.0  # C
LARGEST = 1e9  # where the search for k gives up


@dataclass(frozen=True)
class Sweep:
    """One schedule, c and ρ at one γ, and the learning rates that are tried."""

    alpha: float
    gamma: float
    clip: float
    rho: float
    label_noise: float
    initial_risk: float
    points: int
    key: ClassVar[int] = 0  # nothing is drawn

    @property
    def speeds(self) -> np.ndarray:
        """v: min(c, 1) η̃(0), up to the cap, half of the cap among them."""
        largest = min(self.clip, 1.0) * 2 / self.gamma
        even = np.geomspace(1e-2, largest, self.points)
        return np.unique(np.concatenate([even, list(self.reaches.values())]))

    @property
    def reaches(self) -> dict[str, float]:
        """The largest v of each range."""
        largest = min(self.clip, 1.0) * 2 / self.gamma
        return {CHOSEN: min(-LARGE * math.log(self.gamma), largest), HALF: largest / 2, WHOLE: largest}


def sweep(cell: Sweep, *, rng: np.random.Generator) -> np.ndarray:
    """The released risk at each learning rate."""
    plans = [schedule(cell.alpha, float(v) / min(cell.clip, 1.0)) for v in cell.speeds]
    given = equations(cell.gamma, cell.label_noise, cell.initial_risk)
    return equivalent.final_risks(given, plans, cell.clip, cell.rho, TOLERANCE)


def sketch(cell: Sweep, speed: float, stretch: float) -> float:
    """The released risk of (5.13) with descent divided, sampling and noise multiplied by ``stretch``."""
    sampling = stretch * cell.gamma * speed**2
    private = stretch * max(1.0, cell.clip**2) * (speed * cell.gamma / cell.rho) ** 2
    if cell.alpha == OUTPUT:
        return float(rates.relaxation(1.0, speed / stretch, sampling, cell.initial_risk)) + private
    return float(rates.square_root_path(1.0, speed / stretch, sampling, private, cell.initial_risk))


def least_stretch(cell: Sweep, risks: np.ndarray, largest: float) -> float:
    """The least k whose two equations enclose the risks at all v up to ``largest``; ∞ where none below 1e9 does."""
    pairs = [(v, risk) for v, risk in zip(cell.speeds, risks) if v <= largest * (1 + 1e-9)]

    def encloses(k: float) -> bool:
        return all(sketch(cell, v, 1 / k) <= risk <= sketch(cell, v, k) for v, risk in pairs)

    if not encloses(LARGEST):
        return math.inf
    low, high = 0.0, math.log(LARGEST)
    while high - low > 1e-3:
        middle = (low + high) / 2
        low, high = (low, middle) if encloses(math.exp(middle)) else (middle, high)
    return math.exp(high)


def reduced(gammas: Sequence[float], points: int, runner: Runner, **own: Any) -> pd.DataFrame:
    """``reduced``: the least k of each regime, for v up to C ln(1/γ), and for η̃(0) up to 1/γ and 2/γ."""
    cells = {}
    for alpha, clip, rho, gamma in product(ALPHAS, TERMS_CLIPS, RHOS, gammas):
        clip_value, rho_value = (scale * gamma**power for scale, power in (TERMS_CLIPS[clip], RHOS[rho]))
        cells[Sweep(alpha, gamma, clip_value, rho_value, points=points, **own)] = (clip, rho)

    def rows(cell: Sweep, risks: np.ndarray) -> list[dict[str, Any]]:
        place = {"alpha": cell.alpha, "clip_rule": cells[cell][0], "rho_rule": cells[cell][1], "gamma": cell.gamma}
        place |= {"clip": cell.clip, "rho": cell.rho, "inverse": 1 / cell.gamma}
        ends = cell.reaches.items()
        return [place | {"reach": reach, "stretch": least_stretch(cell, risks, end)} for reach, end in ends]

    return tabulated(runner, sweep, list(cells), rows)


def factors(gammas: Sequence[float], rho: float, label_noise: float, initial_risk: float) -> pd.DataFrame:
    """``factors``: the least and the largest μ, μ/c, ν𝒫 and ν𝒫/c² along the path, α = 0."""
    rows = []
    for (name, (scale, power)), share, gamma in product(TERMS_CLIPS.items(), SHARES, gammas):
        clip = scale * gamma**power
        plan = schedule(OUTPUT, share * 2 / gamma)
        given = equations(gamma, label_noise, initial_risk)
        risk = equivalent.risk_path(given, plan, clip, rho, [0.0, 0.5, 1.0], TOLERANCE)
        test = risk + label_noise**2 / 2
        mu, second = clipping.descent_reduction(clip, test), clipping.variance_reduction(clip, test) * test
        place = {"axis": name, "share": share, "gamma": gamma, "inverse": 1 / gamma, "clip": clip}
        found = {"mu": mu, "mu_over_clip": mu / clip, "second": second, "second_over_square": second / clip**2}
        ends = {f"{side}_{key}": getattr(v, side)() for key, v in found.items() for side in ("min", "max")}
        rows.append(place | {"final_risk": risk[-1]} | ends)
    return pd.DataFrame(rows)


# ---- Tuned: the best η̃(0) for each c by the deterministic equivalent ----

USUAL_CLIP = 0.1  # of the paper's Figure 7
RATE_CLIPS = (0.03, 0.1, 0.2, 0.3, 0.5, 1.0, 3.0)  # of which the best is taken where rates are measured


@dataclass(frozen=True)
class Problem:
    """A schedule and equations, in which several clipping constants are tried; see `equations`."""

    alpha: float
    gamma: float
    rho: float
    label_noise: float
    initial_risk: float
    clips: tuple[float, ...]
    least: float = 1.0
    aligned: bool = False
    share: float = 1.0  # of 2/γ: the largest η̃(0) that is tried
    key: ClassVar[int] = 0  # nothing is drawn

    @property
    def equations(self) -> System:
        return equations(self.gamma, self.label_noise, self.initial_risk, self.least, self.aligned)

    def risk(self, clip: float, rate: float) -> float:
        return equivalent.final_risk(self.equations, schedule(self.alpha, rate), clip, self.rho, TOLERANCE)


def best(cell: Problem, *, rng: np.random.Generator) -> np.ndarray:
    """For each clip the best η̃(0) ≤ 2/γ and its risk, shape (clips, 2)."""
    given, family = cell.equations, partial(schedule, cell.alpha)
    end = cell.share * given.cap
    found = [tuning.best_rate(given, family, clip, cell.rho, end, TOLERANCE) for clip in cell.clips]
    return np.array([(each.initial, each.risk) for each in found])


def advised(cell: Problem, *, rng: np.random.Generator) -> np.ndarray:
    """For each clip the risk at cη̃(0) = ln(1/γ), at `rates.advised_rate`, and the least beyond 2/γ; (clips, 3)."""
    cap, found = cell.equations.cap, []
    for clip in cell.clips:
        line = min(rates.product(cell.gamma) / clip, cap)
        ours = rates.advised_rate(cell.alpha, cell.gamma, cell.rho, clip, cell.label_noise, cell.initial_risk)
        plans = [schedule(cell.alpha, rate) for rate in (line, ours, *(cap * np.geomspace(1.1, 100, 13)))]
        risks = equivalent.final_risks(cell.equations, plans, clip, cell.rho, TOLERANCE)
        found.append((risks[0], risks[1], risks[2:].min()))
    return np.array(found)


def proven(cell: Problem, *, rng: np.random.Generator) -> np.ndarray:
    """η̃(0) and the risk of the choice (D.23) at the usual clip, with a C that the proof covers; shape (2,)."""
    large = rates.factor(cell.initial_risk, USUAL_CLIP, cell.label_noise)
    rate = min(rates.product(cell.gamma, cell.least, large) / USUAL_CLIP, cell.equations.cap)
    return np.array([rate, cell.risk(USUAL_CLIP, rate)])


def valley(cells: Sequence[Problem], runner: Runner) -> pd.DataFrame:
    """``valley``: for each γ, ρ, α and c the best η̃(0) ≤ 2/γ, and the risks of `advised` beside it."""
    extra = {cell: found[0] for cell, found in runner.run(advised, cells, 1, 0).items()}

    def rows(cell: Problem, found: np.ndarray) -> list[dict[str, Any]]:
        place = {"gamma": cell.gamma, "rho": cell.rho, "alpha": cell.alpha}
        names = ("clip", "learning_rate", "risk", "line_risk", "rule_risk", "beyond_risk")
        columns = zip(cell.clips, *found.T, *extra[cell].T)
        return [place | dict(zip(names, values)) for values in columns]

    table = tabulated(runner, best, cells, rows)
    product = table["clip"] * table["learning_rate"]
    return table.assign(product=product, line=-np.log(table["gamma"]))


@dataclass(frozen=True)
class Axis:
    """How ρ and λ_min go with γ: ρ = scale·γ^power, λ_min = least·γ^fall; see `equations`."""

    scale: float
    power: float = 0.0
    least: float = 1.0
    fall: float = 0.0
    aligned: bool = False

    def problem(self, alpha: float, gamma: float, **own: Any) -> Problem:
        rho, least = self.scale * gamma**self.power, self.least * gamma**self.fall
        return Problem(alpha, gamma, rho, least=least, aligned=self.aligned, clips=RATE_CLIPS, **own)


AXES = {
    "isotropic, ρ = 0.1": Axis(0.1),
    "isotropic, ρ = γ^½": Axis(1.0, 0.5),
    "isotropic, ρ = γ^¾": Axis(1.0, 0.75),
    "two levels, ρ = 0.1": Axis(0.1, least=0.5),
    "two levels, ρ = γ^¾": Axis(1.0, 0.75, least=0.5),
    "λ_min = γ^¼, ρ = 0.1": Axis(0.1, fall=0.25),
    "λ_min = γ^⅛, ρ = γ^½": Axis(1.0, 0.5, fall=0.125),
    "target along λ_min = γ^0.4, ρ = γ^0.9": Axis(1.0, 0.9, fall=0.4, aligned=True),
}


def rate_table(gammas: Sequence[float], runner: Runner, **own: Any) -> pd.DataFrame:
    """``rates``: the risk at the choice (D.23) and the least over c and η̃(0), with both bounds, along each axis."""
    axes = list(product(AXES, ALPHAS, gammas))
    cells = [AXES[axis].problem(alpha, gamma, **own) for axis, alpha, gamma in axes]
    distinct = list(dict.fromkeys(cells))
    found, paper = runner.run(best, distinct, 1, 0), runner.run(proven, distinct, 1, 0)
    rows = []
    for (axis, alpha, gamma), cell in zip(axes, cells):
        tuned, paper_choice = found[cell][0], paper[cell][0]
        place = int(tuned[:, 1].argmin())
        least, largest, clip = cell.least, 2 - cell.least, cell.clips[place]
        spread = (alpha, gamma, cell.rho)
        problem = {"axis": axis, "alpha": alpha, "gamma": gamma, "inverse": 1 / gamma, "rho": cell.rho}
        problem |= {"least": least, "largest": largest, "initial_risk": cell.equations.initial_risk}
        problem |= {"smallness": rates.smallness(*spread, least, largest)}
        best_choice = {"clip": clip, "learning_rate": tuned[place, 0], "best_risk": tuned[place, 1]}
        proven_choice = {"proven_rate": paper_choice[0], "proven_risk": paper_choice[1]}
        bounds = {"upper": rates.upper(*spread, least, largest), "lower": rates.lower(*spread, largest)}
        leading = {"leading": rates.leading(*spread, clip, cell.label_noise)}
        rows.append(problem | best_choice | proven_choice | bounds | leading)
    return pd.DataFrame(rows)


def comparison(gammas: Sequence[float], rhos: Sequence[float], runner: Runner, **own: Any) -> pd.DataFrame:
    """``comparison``: both schedules, each at its best c and η̃(0), with and without privacy."""
    places = list(product((*rhos, math.inf), gammas))
    cells = {
        (rho, gamma, alpha): Problem(alpha, gamma, rho, clips=RATE_CLIPS, **own)
        for rho, gamma in places
        for alpha in ALPHAS
    }
    found = runner.run(best, list(cells.values()), 1, 0)
    risk = {place: float(found[cell][0][:, 1].min()) for place, cell in cells.items()}
    rows = [(rho, gamma, *(risk[rho, gamma, alpha] for alpha in ALPHAS)) for rho, gamma in places]
    table = pd.DataFrame(rows, columns=["rho", "gamma", "output_risk", "constant_risk"])
    return table.assign(ratio=table["constant_risk"] / table["output_risk"])


CLIP_RULES = {"c = 0.1": (0.1, 0.0), "c = 1": (1.0, 0.0), "c = γ^−½": (1.0, -0.5), "c = γ^−¾": (1.0, -0.75)}


def tuned_clipping(gammas: Sequence[float], rho: float, runner: Runner, **own: Any) -> pd.DataFrame:
    """``clipping``: the least risk over η̃(0) ≤ 1/γ with c fixed, or growing as γ falls, against (5.12)."""
    places = list(product(CLIP_RULES, ALPHAS, gammas))
    cells = []
    for rule, alpha, gamma in places:
        scale, power = CLIP_RULES[rule]
        cells.append(Problem(alpha, gamma, rho, clips=(scale * gamma**power,), share=0.5, **own))
    found = runner.run(best, list(dict.fromkeys(cells)), 1, 0)
    rows = []
    for (rule, alpha, gamma), cell in zip(places, cells):
        (rate, risk), clip = found[cell][0][0], cell.clips[0]
        place = {"axis": rule, "alpha": alpha, "gamma": gamma, "inverse": 1 / gamma, "rho": rho, "clip": clip}
        rows.append(place | {"learning_rate": rate, "risk": risk, "order": rates.clipping_order(clip, gamma, rho)})
    return pd.DataFrame(rows)


class Experiment(Parameters):
    """Figure 4 of arXiv:2505.16329v2, the best hyper-parameters, and the rates of Propositions 5.1, D.3 and D.4."""

    d: int = parameter(count(2, 10**5), 100)
    """Dimension of the simulated maps."""
    gamma: tuple[float, ...] = many(SMALL_GAMMA, 0.01, 0.001)
    """Aspect ratios of the simulated maps."""
    rho: float = parameter(RHO, 0.1)
    label_noise: float = parameter(NOISE, 0.3)
    initial_risk: float = parameter(RISK, 0.5)
    """Risk of the start, θ = 0."""
    points: int = parameter(count(4, 1000), 28)
    """Values of c, and of the learning rate, in a map."""
    trials: int = parameter(TRIALS, 10)
    """Runs behind each point of a map."""
    advice_gammas: tuple[float, ...] = many(SMALL_GAMMA, 0.1, 0.01, 0.001, 1e-4, 1e-5, 1e-6)
    """Aspect ratios at which the best choice is told."""
    rhos: tuple[float, ...] = many(RHO, 0.03, 0.1, 0.3, 1.0)
    """Privacy parameters at which the two schedules are compared."""
    clips: tuple[float, ...] = many(
        CLIP, 0.001, 0.003, 0.01, 0.03, 0.1, 0.2, 0.3, 0.5, 1.0, 2.0, 3.0, 10.0, ascending=True
    )
    """Clipping constants at which the best learning rate is found."""
    rate_gammas: tuple[float, ...] = many(SMALL_GAMMA, 1e-3, 1e-5, 1e-7, 1e-9, 1e-11, 1e-13)
    """Aspect ratios at which rates are measured."""
    sketch_gammas: tuple[float, ...] = many(SMALL_GAMMA, 1e-2, 1e-4, 1e-6, 1e-8, 1e-10)
    """Aspect ratios at which the sketch of the proof is held against the equations."""
    comparison_gammas: tuple[float, ...] = many(
        SMALL_GAMMA, 0.9, 0.5, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001, 3e-4, 1e-4, 1e-5, 1e-6, 1e-8
    )
    """Aspect ratios at which the two schedules are compared."""
    limit_d: tuple[int, ...] = many(count(2, 10**5), 10, 30, 100, 300, 1000, ascending=True)
    """Dimensions along which the proportional limit is followed."""
    limit_trials: int = parameter(TRIALS, 50)
    """Runs for each of these dimensions."""
    seed: int = parameter(SEED, 10)

    @property
    def own(self) -> dict[str, Any]:
        """ζ and R(0), which all problems share."""
        return {"label_noise": self.label_noise, "initial_risk": self.initial_risk}

    def run(self, runner: Runner) -> dict[str, pd.DataFrame]:
        gammas = sorted({*self.advice_gammas, *self.gamma}, reverse=True)
        problems = [
            Problem(alpha, gamma, rho, clips=self.clips, **self.own)
            for rho, alpha, gamma in product(dict.fromkeys((self.rho, 1.0)), ALPHAS, gammas)
        ]
        panels = [self.shared(Map, gamma=g, alpha=a) for g, a in product(self.gamma, ALPHAS)]
        followed = {"gamma": 0.1, "rho": 1.0, "base": 0.1, "learning_rate": 15.0}  # along the dimension
        sizes = [
            self.shared(Size, d=d, alpha=alpha, rule=rule, **followed)
            for alpha, rule, d in product(ALPHAS, (FIXED, GROWING), self.limit_d)
        ]
        return {
            "figure-4": maps_table(panels, self.trials, self.seed, runner),
            "valley": valley(problems, runner),
            "rates": rate_table(self.rate_gammas, runner, **self.own),
            "comparison": comparison(self.comparison_gammas, self.rhos, runner, **self.own),
            "clipping": tuned_clipping(self.rate_gammas, self.rho, runner, **self.own),
            "reduced": reduced(self.sketch_gammas, 12, runner, **self.own),
            "factors": factors(self.sketch_gammas, self.rho, self.label_noise, self.initial_risk),
            "limit": limit_table(sizes, self.limit_trials, self.seed + 1, runner),
            "steps": table(self.gamma[0], self.label_noise),
            "noise": noise((10, 100, 1000, 10000), self.rho),
        }
