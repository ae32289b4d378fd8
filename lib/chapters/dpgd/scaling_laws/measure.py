"""What is measured of the scaling laws of arXiv:2505.16329v2: Section 6 and Appendix E."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import ClassVar

import numpy as np
import pandas as pd

from chapters.ranges import CLIP, NOISE, RISK, SEED, count, from_zero, real
from companion.declaration import Parameters, many, parameter
from companion.streams import Runner
from costofprivacy.dpgd import equivalent, quadrature, scaling, system, tuning
from costofprivacy.dpgd import parts as implicit
from costofprivacy.dpgd.clipping import descent_reduction
from costofprivacy.dpgd.scaling import Late
from costofprivacy.dpgd.schedule import Constant, Polynomial, Schedule
from costofprivacy.dpgd.spectrum import PowerLaw
from costofprivacy.dpgd.system import System

# ---- Figures 2 and 3: the optimised risk against γ, its local slope, and how that nears h ----
# The risk is that of the deterministic equivalent as d → ∞ (`quadrature.of_power_law`), with η̃(0) optimised at each γ.
# Its closed form at small γ (`frozen`) continues the curves to any γ.

NO_PRIVACY = -math.inf  # b of ρ = ∞
WITHIN = 0.01  # of h: where a slope has settled
WINDOW = 4  # points of a fit
PLACE = ["phi", "psi", "alpha", "b"]


@dataclass(frozen=True)
class Law:
    """One curve: a power law with its target, a schedule, and ρ = γ^b.

    Args:
        phi, psi, alpha, b: the exponents; b = −∞ is no privacy. clip, label_noise, initial_risk: c, ζ, R(0).
    """

    phi: float
    psi: float
    alpha: float
    b: float
    clip: float
    label_noise: float
    initial_risk: float

    def rho(self, gamma: float) -> float:
        return math.inf if self.b == NO_PRIVACY else gamma**self.b

    @property
    def h(self) -> float:
        b = -1e9 if self.b == NO_PRIVACY else self.b
        return float(scaling.risk_exponent(self.phi, self.psi, self.alpha, b))

    @property
    def late(self) -> Late:
        return Late(self.phi, self.psi, self.alpha, self.clip, self.label_noise, self.initial_risk)

    @property
    def place(self) -> dict[str, float]:
        return {name: getattr(self, name) for name in PLACE}

    def equations(self, gamma: float) -> System:
        """The system at γ, good for every η̃(0) up to 2/γ."""
        descent = float(descent_reduction(self.clip, self.label_noise**2 / 2))
        clock = 2.0 * 2 * descent / gamma / (self.alpha + 1)  # twice the largest that a run needs
        told = (self.label_noise, self.psi, self.initial_risk)
        return quadrature.of_power_law(PowerLaw(self.phi), gamma, *told, clock=clock)


def family(alpha: float, rate: float) -> Schedule:
    """η̃(0)(1 − t)^α."""
    return Polynomial(rate, alpha) if alpha > 0 else Constant(rate)


@dataclass(frozen=True)
class Cell:
    """A point of a curve."""

    law: Law
    gamma: float
    key: ClassVar[int] = 0  # nothing is drawn


def solve(cell: Cell, *, rng: np.random.Generator) -> np.ndarray:
    """The least risk over η̃(0) ≤ 2/γ, where it is, whether that is the end, and how many local minima were seen."""
    law, gamma = cell.law, cell.gamma
    best = tuning.best_rate(law.equations(gamma), partial(family, law.alpha), law.clip, law.rho(gamma))
    return np.array([best.risk, best.initial, float(best.at_end), float(best.minima)])


@dataclass(frozen=True)
class Checked(Cell):
    """A point of a curve with its best η̃(0), as `solve` finds it."""

    rate: float


def check(cell: Checked, *, rng: np.random.Generator) -> np.ndarray:
    """By LSODA on the equations as they stand: the risk at the best rate, and the least of it and its neighbours'."""
    law, gamma, rate = cell.law, cell.gamma, cell.rate
    equations, rho = law.equations(gamma), law.rho(gamma)
    tried = [rate * factor for factor in (0.8, 0.9, 1.0, 1.1, 1.25) if rate * factor <= equations.cap * (1 + 1e-9)]
    risks = []
    for value in tried:
        plan = family(law.alpha, value)
        path = system.reference_path(equations, plan, law.clip, rho, [1.0], tolerance=1e-8)
        risks.append(path[-1] + system.last_step(equations, plan, law.clip, rho))
    return np.array([risks[tried.index(rate)], min(risks)])


def rows(law: Law, gammas: Sequence[float], found: Iterable[np.ndarray]) -> pd.DataFrame:
    """A curve as rows of ``figure-2`` or ``figure-3``."""
    table = [
        {
            **law.place,
            "rho": law.rho(gamma),
            "gamma": gamma,
            "risk": risk,
            "eta0": rate,
            "at_cap": bool(at_end),
            "minima": int(minima),
            "h": law.h,
            "late_risk": law.late.best(gamma, law.rho(gamma)).risk,
        }
        for gamma, (risk, rate, at_end, minima) in zip(gammas, found)
    ]
    return pd.DataFrame(table)


def local_slopes(points: pd.DataFrame) -> pd.DataFrame:
    """The slope between neighbouring γ of each curve, beside h and the closed form's, named by the lesser γ."""
    found = []
    for _, curve in points.groupby(PLACE, sort=False):
        curve = curve.sort_values("gamma", ascending=False)
        for upper, lower in zip(curve.iloc[:-1].itertuples(), curve.iloc[1:].itertuples()):
            step = math.log(upper.gamma / lower.gamma)
            slope = math.log(upper.risk / lower.risk) / step
            late, capped = math.log(upper.late_risk / lower.late_risk) / step, bool(upper.at_cap or lower.at_cap)
            row = {"gamma": lower.gamma, "slope": slope, "late_slope": late, "h": lower.h, "distance": slope - lower.h}
            found.append({name: getattr(lower, name) for name in PLACE} | row | {"at_cap": capped})
    return pd.DataFrame(found)


def fits(points: pd.DataFrame) -> pd.DataFrame:
    """The slope of the best line through `WINDOW` neighbouring points of each curve on log axes, as the paper fits it.

    A row for each curve and window, named by its largest and its least γ.
    """
    found = []
    for place, curve in points.groupby(PLACE, sort=False):
        curve = curve.sort_values("gamma", ascending=False)
        for first in range(len(curve) - WINDOW + 1):
            part = curve.iloc[first : first + WINDOW]
            slope = float(np.polyfit(np.log(part["gamma"]), np.log(part["risk"]), 1)[0])
            ends = {"window": first, "from_gamma": part["gamma"].iloc[0], "to_gamma": part["gamma"].iloc[-1]}
            h, capped = float(part["h"].iloc[0]), int(part["at_cap"].sum())
            row = {"slope": slope, "h": h, "distance": slope - h, "capped": capped}
            found.append(dict(zip(PLACE, place)) | ends | row)
    return pd.DataFrame(found)


def approach(laws: Iterable[Law], gammas: Sequence[float]) -> pd.DataFrame:
    """The local exponent at the best η̃(0) in closed form, far below any γ that a solver reaches."""
    found = []
    for law, gamma in product(laws, gammas):
        best = law.late.best(gamma, law.rho(gamma))
        slope = best.slope(law.b)
        row = {"gamma": gamma, "slope": slope, "h": law.h, "distance": slope - law.h}
        found.append(law.place | row | {"at_cap": best.at_cap, "private_share": best.parts[2] / best.risk})
    return pd.DataFrame(found)


def settled(slopes: pd.DataFrame, far: pd.DataFrame) -> pd.DataFrame:
    """For each curve the γ from which on its slope stays within `WITHIN` of h, and the distance at the last one.

    The solver's slopes count as far as they go, the closed form's beyond.
    """
    found = []
    for place, curve in slopes.groupby(PLACE, sort=False):
        last = curve["gamma"].min()
        beyond = far[(far[PLACE] == list(place)).all(axis=1) & (far["gamma"] < last * (1 - 1e-9))]
        whole = pd.concat([curve, beyond])[["gamma", "distance"]].sort_values("gamma", ascending=False)
        outside = whole[whole["distance"].abs() > WITHIN]["gamma"]
        inside = whole[whole["gamma"] < outside.min()] if len(outside) else whole
        row = {"settles_at": inside["gamma"].max() if len(inside) else math.nan}
        distance = float(curve.set_index("gamma")["distance"][last])
        found.append(dict(zip(PLACE, place)) | row | {"solved_to": last, "distance": distance, "h": curve["h"].iloc[0]})
    return pd.DataFrame(found)


def cost(points: pd.DataFrame, free: pd.DataFrame) -> pd.DataFrame:
    """What privacy costs at each point: the risk over that without privacy, each at its own best rate."""
    keys = ["phi", "psi", "alpha", "gamma"]
    both = points.merge(free[[*keys, "risk"]].rename(columns={"risk": "risk_without"}), on=keys)
    critical = [float(scaling.critical_b(*place)) for place in zip(both["phi"], both["psi"], both["alpha"])]
    both = both.assign(critical=critical, ratio=both["risk"] / both["risk_without"])
    return both[[*PLACE, "rho", "gamma", "critical", "risk", "risk_without", "ratio"]]


# ---- Theorem 4, Corollary 6.1 and Appendix E as statements on exponents and kernels, tried ----

LAWS = ((0.0, 0.0), (0.25, 0.5), (0.7, 0.1), (0.95, -1.0), (-3.0, 2.5), (-8.0, 0.0), (0.0, -2.0))
CLOCKS = 10.0 ** np.arange(-3, 13)
PANELS = {
    "figure-10": (1.5, 0.0, 0.25),
    "figure-11": (1.5, 0.0, 0.4),
    "figure-12": (30.0, 2.0, 0.4),
    "figure-13": (1.5, 10.0, 0.4),
}  # κ₁, α, b as the captions have them
NEARNESS = (0.9, 0.99, 0.999)  # ψ over 1 − φ, where ‖θ*‖ blows up


def draw(draws: int, rng: np.random.Generator) -> pd.DataFrame:
    """Random admissible (φ, ψ, α, b): α among 0, ½ and [1, 20], half of them with φ > 0."""
    sign = rng.random(draws) < 0.5
    phi = np.where(sign, rng.random(draws), -3 * rng.random(draws))
    psi = 1 - phi - 4 * rng.random(draws)
    alpha = np.choose(rng.integers(0, 4, draws), [0.0, 0.5, 1 + 19 * rng.random(draws), 1 + 3 * rng.random(draws)])
    return pd.DataFrame({"phi": phi, "psi": psi, "alpha": alpha, "b": 1 - 2 * rng.random(draws)})


def exponents(places: pd.DataFrame) -> pd.DataFrame:
    """Theorem 4 at each place beside the a that maximises min(e₁, e₂, e₃) by ternary search, and what the proof needs.

    ``tight`` is the exponent of the largest private noise on the way, 2 − 2b + a or 2 − 2b + 4a/3 for α = ½: (E.16) is
    an equality where it is not negative. ``h_more`` is h at 2α + 1.
    """
    phi, psi, alpha, b = (places[name].to_numpy() for name in ("phi", "psi", "alpha", "b"))
    best_a, best_h = maximise(phi, psi, alpha, b)
    a = scaling.rate_exponent(phi, psi, alpha, b)
    first, second, third = scaling.terms(a, phi, psi, alpha, b)
    lift = np.where(alpha == 0.5, 4 / 3, 1.0)
    tight = np.where(alpha == 0, math.nan, 2 - 2 * b + lift * a)
    return places.assign(
        case=scaling.regime(phi, psi, alpha, b),
        a=a,
        h=scaling.risk_exponent(phi, psi, alpha, b),
        best_a=best_a,
        best_h=best_h,
        e1=first,
        e2=second,
        e3=third,
        tight=tight,
        critical=scaling.critical_b(phi, psi, alpha),
        h_more=scaling.risk_exponent(phi, psi, 2 * alpha + 1, b),
    )


def maximise(phi: np.ndarray, psi: np.ndarray, alpha: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The a ≤ 0 with the largest min(e₁, e₂, e₃), a concave function, by ternary search; and that value."""
    low, high = np.full(len(phi), -60.0), np.zeros(len(phi))

    def least(a: np.ndarray) -> np.ndarray:
        kappa = 2 - phi - psi  # written out: the module of exponents is what is tried
        private = 2 - 2 * b + np.where(phi * (alpha + 1) < 2, 2 * a / (alpha + 1), a * phi)
        return np.minimum(np.minimum(-a * kappa, 1 + a / (alpha + 1)), private)

    for _ in range(200):
        left, right = low + (high - low) / 3, high - (high - low) / 3
        better = least(left) < least(right)
        low, high = np.where(better, left, low), np.where(better, high, right)
    best = (low + high) / 2
    return best, least(best)


def equality(draws: int, rng: np.random.Generator) -> pd.DataFrame:
    """Random places with φ(α + 1) = 2, where e₃ carries a logarithm, privacy free, costly, and at the critical b."""
    alpha = 1.5 + 6 * rng.random(draws)
    phi = 2 / (alpha + 1)
    psi = 1 - phi - 2 * rng.random(draws)
    critical = scaling.critical_b(phi, psi, alpha)
    b = np.choose(np.arange(draws) % 3, [critical - 0.3 * rng.random(draws), critical, critical + 0.3])
    return pd.DataFrame({"phi": phi, "psi": psi, "alpha": alpha, "b": b})


def limits(places: pd.DataFrame, alphas: tuple[float, ...]) -> pd.DataFrame:
    """h and the critical b along α, beside the exponents of Corollary 6.1 and (6.9)."""
    found = []
    for alpha in alphas:
        phi, psi, b = (places[name].to_numpy() for name in ("phi", "psi", "b"))
        first, second = scaling.limit_exponents(phi, psi)
        found.append(
            places[["phi", "psi", "b"]].assign(
                alpha=alpha,
                h=scaling.risk_exponent(phi, psi, alpha, b),
                h_limit=np.minimum(first, 2 * (1 - b) * second),
                critical=scaling.critical_b(phi, psi, alpha),
                critical_limit=scaling.limit_critical_b(phi, psi),
                h_half=scaling.risk_exponent(phi, psi, alpha, 0.5),
                h_free=scaling.risk_exponent(phi, psi, alpha, -1e9),
            )
        )
    return pd.concat(found, ignore_index=True)


def critical_map(phis: tuple[float, ...], psis: tuple[float, ...], alphas: tuple[float, ...]) -> pd.DataFrame:
    """The critical b over (φ, ψ, α), α = ∞ among them, where ψ < 1 − φ."""
    found = []
    for phi, psi in product(phis, psis):
        if psi < 1 - phi:
            found += [(phi, psi, a, float(scaling.critical_b(phi, psi, a))) for a in alphas]
            found.append((phi, psi, math.inf, float(scaling.limit_critical_b(phi, psi))))
    return pd.DataFrame(found, columns=["phi", "psi", "alpha", "critical"])


def panels() -> pd.DataFrame:
    """Figures 10 to 13: e₁, e₂, e₃ of (E.42) along a, for a φ below 2/(α + 1), which is all that (E.42) asks."""
    found = []
    for name, (kappa, alpha, b) in PANELS.items():
        phi = 0.0
        a = np.linspace(-1.0, 0.0, 241)
        first, second, third = scaling.terms(a, phi, 2 - phi - kappa, alpha, b)
        rest = {"kappa1": kappa, "alpha": alpha, "b": b, "largest_phi": 2 / (alpha + 1)}
        found.append(pd.DataFrame({"figure": name, "a": a, "e1": first, "e2": second, "e3": third, **rest}))
    return pd.concat(found, ignore_index=True)


def other_spectra(phis: tuple[float, ...]) -> pd.DataFrame:
    """The same κ₁, α and b with other φ: the critical b by Theorem 4, and whether privacy is free."""
    found = []
    for (name, (kappa, alpha, b)), phi in product(PANELS.items(), phis):
        critical = float(scaling.critical_b(phi, 2 - phi - kappa, alpha))
        found.append((name, phi, kappa, alpha, b, critical, b <= critical))
    return pd.DataFrame(found, columns=["figure", "phi", "kappa1", "alpha", "b", "critical", "free"])


def kernels() -> pd.DataFrame:
    """ℱ, 𝒦 and 𝒥 over fifteen decades of x, and over the order that Proposition E.1 gives them."""
    found = []
    for phi, psi in LAWS:
        system = quadrature.of_power_law(PowerLaw(phi), 0.1, 0.3, psi, 0.5, clock=float(CLOCKS.max()))
        values = implicit.kernels(system, CLOCKS)
        for name, power, value in zip(("F", "K", "J"), scaling.kappas(phi, psi), values):
            order = np.where(CLOCKS >= 1, CLOCKS**-power, 1.0)
            place = {"phi": phi, "psi": psi, "kernel": name, "power": power}
            found.append(pd.DataFrame({**place, "x": CLOCKS, "value": value, "ratio": value / order}))
    return pd.concat(found, ignore_index=True)


def spectra() -> pd.DataFrame:
    """Assumption 3's density by Gauss–Legendre: its mass, mean and variance, and E λ^(−ψ) as ψ nears 1 − φ."""
    node, weight = np.polynomial.legendre.leggauss(60)
    found = []
    for phi in (0.95, 0.7, 0.25, 0.0, -1.0, -10.0, -100.0, -1000.0):
        law, power = PowerLaw(phi), max(1.0, 1 / (1 - phi))
        share = (node + 1) / 2  # λ = C·share^power: a density that is infinite at 0 becomes a constant
        eigenvalue = law.largest * share**power
        mass = weight / 2 * law.density(eigenvalue) * law.largest * power * share ** (power - 1)
        mean = float(mass @ eigenvalue)
        norms = [law.moment(-share * (1 - phi)) * law.largest ** (share * (1 - phi)) for share in NEARNESS]
        found.append((phi, float(mass.sum()), mean, float(mass @ (eigenvalue - mean) ** 2), *norms))
    names = ["phi", "mass", "mean", "variance", *(f"norm_{share:g}" for share in NEARNESS)]
    return pd.DataFrame(found, columns=names)


# ---- Orders of the risk along γ: Theorem 4's four cases, Lemmas E.2 to E.4, clipping constants, the logarithm ----

WHOLE = 1.0  # c where a learning rate is given: c η̃(0) = γ^a is below the cap 2/γ for every a > −1
CASES = (
    (0.0, 0.0, 1.0, 0.0), (0.25, 0.5, 0.0, 0.0), (-2.0, 0.5, 2.0, 0.1), (0.5, 0.0, 0.5, 0.1),
    (0.0, 0.0, 1.0, 0.5), (0.25, 0.5, 2.0, 0.5), (-2.0, 1.5, 1.0, 0.7), (0.7, 0.1, 1.0, 0.5),
    (0.7, 0.0, 4.0, 0.1), (0.8, 0.1, 10.0, 0.0), (0.5, 0.2, 5.0, 0.2),
    (0.7, 0.0, 4.0, 0.5), (0.8, 0.1, 10.0, 0.5), (0.5, 0.2, 5.0, 0.6),
)  # fmt: skip
"""(φ, ψ, α, b) of the risks at v = γ^a: some of each case of Theorem 4, none with φ(α + 1) = 2."""
EQUAL = ((0.5, 0.0, 3.0, 0.6), (0.5, 0.0, 3.0, 0.2), (0.5, 0.0, 3.0, 3 / 7), (0.8, 0.1, 1.5, 0.5))
"""Those with φ(α + 1) = 2: privacy costs, is free, is at the critical b, costs."""
BOUNDED = ((0.0, 0.0, 1.0, 0.5), (0.25, 0.5, 0.0, 0.5), (0.7, 0.0, 4.0, 0.5), (0.0, 0.0, 0.5, 0.3))
UNBOUNDED = (0.0, 0.0, 1.0, 0.9)  # with v = γ^(−0.9) the private noise on the way has the order γ^(−0.7)
TIMES = np.array([0.0, 1e-4, 1e-3, 0.01, 0.1, 0.3, 0.6, 0.9, 0.99, 0.999, 1.0])
FIRST, PER_DECADE = 1e-7, 60  # of the integrals over u = c(F(t) − F(s))
DEPTHS = (10, 20, 40, 80, 120, 160)  # decades of γ on which a logarithm is told from a constant


@dataclass(frozen=True)
class Given:
    """A point at a given learning rate, c η̃(0) = γ^a."""

    law: Law
    gamma: float
    a: float
    key: ClassVar[int] = 0  # nothing is drawn


def released(cell: Given, *, rng: np.random.Generator) -> np.ndarray:
    """The risk of the released parameter, and the order that (E.16) gives it; shape (2,)."""
    law, gamma = cell.law, cell.gamma
    v = gamma**cell.a
    plan = family(law.alpha, v / law.clip)
    risk = equivalent.final_risk(law.equations(gamma), plan, law.clip, law.rho(gamma), 1e-5)
    return np.array([risk, float(scaling.order(v, gamma, law.rho(gamma), law.phi, law.psi, law.alpha))])


def paths(cell: Given, *, rng: np.random.Generator) -> np.ndarray:
    """R at `TIMES`, the three terms on the right of (E.10), and c, shape (times, 4)."""
    law, gamma, v = cell.law, cell.gamma, cell.gamma**cell.a
    equations = law.equations(gamma)
    plan = family(law.alpha, v / law.clip)
    risks = equivalent.risk_path(equations, plan, law.clip, law.rho(gamma), TIMES, 1e-5)
    return np.column_stack([risks, explicit(equations, law, v, gamma)])


def explicit(equations: System, law: Law, v: float, gamma: float) -> np.ndarray:
    """ℱ(cF(t)), N₂(t) and N₃(t) of (E.10), (E.21) and (E.28) at `TIMES`, by the trapezoidal rule in ln u."""
    found = []
    for time in TIMES:
        left = (1 - time) ** (law.alpha + 1)
        clock = v / (law.alpha + 1) * (1 - left)
        start = float(implicit.kernels(equations, clock)[0])
        if clock <= FIRST:
            found.append((start, 0.0, 0.0))
            continue
        u = np.geomspace(FIRST, clock, 2 + math.ceil(PER_DECADE * math.log10(clock / FIRST)))
        remains = (u * (law.alpha + 1) / v + left) ** (1 / (law.alpha + 1))  # 1 − s(u), (E.23)
        _, sampled, private = implicit.kernels(equations, u)
        second = gamma * v * np.trapezoid(remains**law.alpha * sampled * u, np.log(u))
        noise = 2 * law.alpha * v * np.trapezoid(remains ** (law.alpha - 1) * private * u, np.log(u))
        found.append((start, second, noise * (gamma / law.rho(gamma)) ** 2))
    return np.array(found)


def path_rows(cell: Given, found: np.ndarray) -> pd.DataFrame:
    """Rows of ``paths``: R(t) beside the explicit right-hand side, at each time."""
    law = cell.law
    risk, start, sampling, private = found.T
    side = start + sampling + private
    rest = {"a": cell.a, "gamma": cell.gamma, "inverse_gamma": 1 / cell.gamma, "v": cell.gamma**cell.a}
    return pd.DataFrame({**law.place, **rest, "time": TIMES, "risk": risk, "explicit": side, "start": start,
                         "sampling": sampling, "private": private, "ratio": risk / side})  # fmt: skip


def parts(cell: Given, *, rng: np.random.Generator) -> np.ndarray:
    """R(1) by the solver and the right side of (6.2) for its path, on two grids of times; shape (2, 2)."""
    law, gamma = cell.law, cell.gamma
    equations, plan = law.equations(gamma), Polynomial(gamma**cell.a / law.clip, law.alpha)
    found = []
    for points in (1200, 2400):
        ends = np.linspace(0, 1, points + 1)
        times = 0.5 * (1 - np.cos(np.pi * ends))
        risks = equivalent.risk_path(equations, plan, law.clip, law.rho(gamma), times, 1e-7)
        side = implicit.parts_of_path(equations, plan, law.clip, law.rho(gamma), times, risks).sum()
        found.append((risks[-1], side))
    return np.array(found)


def printed_exponent() -> pd.DataFrame:
    """h as (6.6) prints it at some γ, across φ(α + 1) = 2, and its limit."""
    phi, psi, b = 0.5, 0.0, 0.6
    found = []
    for depth, alpha in product(DEPTHS, (2.5, 2.9, 2.99, 3.0, 3.01, 3.1, 4.0)):
        h = scaling.risk_exponent_at(10.0**-depth, phi, psi, alpha, b)
        found.append((phi, psi, alpha, b, depth, h, float(scaling.risk_exponent(phi, psi, alpha, b))))
    return pd.DataFrame(found, columns=["phi", "psi", "alpha", "b", "depth", "printed_h", "h"])


def logarithm(law: Law, rate_exponent: float) -> pd.DataFrame:
    """The risk in closed form at φ(α + 1) = 2 down to the smallest numbers: at v = γ^a, and at the best v."""
    late = Late(law.phi, law.psi, law.alpha, WHOLE, law.label_noise, law.initial_risk)
    found = []
    for depth in DEPTHS:
        gamma = 10.0**-depth
        power = float(late.parts(gamma**rate_exponent / WHOLE, gamma, law.rho(gamma)).sum())
        best = late.best(gamma, law.rho(gamma)).risk
        sizes = {"depth": depth, "log": depth * math.log(10), "h": law.h}
        found.append(law.place | sizes | {"power": power / gamma**law.h, "best": best / gamma**law.h})
    return pd.DataFrame(found)


# ---- Printed constants and steps of Appendix E, recomputed ----

REFERENCES = (("Figure 11", 1.5, 0.0, 0.4), ("Figure 13", 1.5, 10.0, 0.4), ("Figure 13", 1.5, 10.0, 0.4))
MENDED = (("Figure 10", 1.5, 0.0, 0.25), ("Figure 12", 30.0, 2.0, 0.4), ("Figure 13", 1.5, 10.0, 0.4))


def references() -> pd.DataFrame:
    """The figures to which the proof points for b ≤ K/(2(K + 1)), as printed and as meant, with their own b."""
    found = []
    for kind, figures in (("printed", REFERENCES), ("meant", MENDED)):
        for place, (figure, kappa, alpha, b) in enumerate(figures):
            critical = float(scaling.critical_b(0.0, 2 - kappa, alpha))
            found.append((kind, place + 1, figure, b, critical, b <= critical))
    return pd.DataFrame(found, columns=["kind", "place", "figure", "b", "critical", "fits"])


def reasons(places: pd.DataFrame) -> pd.DataFrame:
    """(E.46) and (E.48): the second a of Theorem 4 where b is above its bound, and at any b ≤ 1; both sides of (E.48).

    ``a`` is that of (E.46). ``left``: 2 − 2b + 4a/3 over 2(1 − b), for α = ½. It is K/(K + 2), positive because
    3κ₁/2 + 2 exceeds 2 = (4/3)(α + 1); the paper compares with 3/2 = α + 1. ``threshold`` is what it must exceed.
    """
    flat = places[places["phi"] * (places["alpha"] + 1) < 2].copy()
    K = scaling.size(flat["phi"], flat["psi"], flat["alpha"])
    a = -2 * (1 - flat["b"]) * (flat["alpha"] + 1) / (K + 2)
    half = flat["alpha"] == 0.5
    left = np.where(half, (2 - 2 * flat["b"] + 4 * a / 3) / (2 * (1 - flat["b"])), math.nan)
    # left = (K + 2 − threshold)/(K + 2), solved for the threshold
    threshold = np.where(half, (1 - left) * (K + 2), math.nan)
    return flat.assign(K=K, bound=K / (2 * (K + 1)), a=a, left=left, threshold=threshold)


def linear(law: Law, gamma: float, v: float) -> pd.DataFrame:
    """(E.12) solved as it stands, beside the left side of (E.10) and the same at half the clock.

    (E.12) is linear: D' = −λη̃cD + λη̃²c²γ, here without private noise (α = 0). It is (4.7) with 2μ replaced by c.
    """
    equations = law.equations(gamma)
    found = []
    for time in np.linspace(0.1, 1.0, 10):
        clock = v * time
        decay = np.exp(-equations.relaxation * clock)
        start = equations.initial * decay
        noise = gamma * v * equations.sampling * (1 - decay) / equations.relaxation
        solved = float(equations.readout @ (start + noise))
        whole, half = (_side(equations, gamma, v, time, scale) for scale in (1.0, 0.5))
        found.append((time, solved, whole, half))
    return pd.DataFrame(found, columns=["time", "solved", "as_printed", "half_clock"])


def _side(equations: System, gamma: float, v: float, time: float, scale: float) -> float:
    """ℱ(cF) + N₂ at α = 0 with the kernels taken at ``scale`` times their argument, by Gauss–Legendre in ln u."""
    node, weight = np.polynomial.legendre.leggauss(400)
    end = math.log(v * time)
    logs = end - 40 * (1 - node) / 2
    u = np.exp(logs)
    start = float(implicit.kernels(equations, scale * v * time)[0])
    return start + gamma * v * float(20 * weight @ (implicit.kernels(equations, scale * u)[1] * u))


def comparison(law: Law, gamma: float, rate: float) -> pd.DataFrame:
    """(E.14) along a path of descent: R̲' of (E.13) beside ℱ(C₃Γ(t)), with the least C₂ and with a larger one.

    The noise is left out (γ small): then R̲' = ℱ(G) with dG = √(2C₁ + ζ²) c η̃/√(2R̲' + ζ²) dt, (E.13) with the factor
    2 that it lacks ((E.12) and (E.13) have λ where (4.7) has 2λ). C₃Γ is compared with G.
    """
    equations, zeta = law.equations(gamma), law.label_noise
    bound = 2 * law.initial_risk + zeta**2  # C₁ = R(0)
    least = law.clip / (zeta * float(descent_reduction(law.clip, zeta**2 / 2)))  # sup of c/(√(2R + ζ²) μ_c), at R = 0
    times = np.concatenate([[0.0], np.geomspace(1e-4, 1.0, 400)])
    grid = np.concatenate([[0.0], np.geomspace(1e-6, 1e6, 4000)])
    start = implicit.kernels(equations, grid)[0]
    # Γ(t) = ∫ η̃ μ_c(R) ds by the path's own start: R = ℱ(Γ) without noise, so t(Γ) = ∫ dΓ/(η̃ μ_c(ℱ(Γ)))
    mu = descent_reduction(law.clip, start + zeta**2 / 2)
    run = np.concatenate([[0.0], np.cumsum(np.diff(grid) * (1 / mu[1:] + 1 / mu[:-1]) / 2)]) / rate
    clocks = np.interp(times, run, grid)
    # R̲' in its own clock: dG/d(cηt) = √bound/√(2ℱ(G) + ζ²)
    slowness = np.sqrt((2 * start + zeta**2) / bound)
    run = np.concatenate([[0.0], np.cumsum(np.diff(grid) * (slowness[1:] + slowness[:-1]) / 2)])
    lower = implicit.kernels(equations, np.interp(law.clip * rate * times, run, grid))[0]
    found = []
    for name, factor in (("least", 1.0), ("larger", math.sqrt(bound) / zeta)):
        side = implicit.kernels(equations, factor * least * math.sqrt(bound) * clocks)[0]
        found.append(pd.DataFrame({"constant": name, "time": times, "lower": lower, "side": side}))
    return pd.concat(found, ignore_index=True).assign(ratio=lambda t: t["lower"] / t["side"])


# ---- The experiment ----

ALPHAS = (0.0, 0.5, 1.0, 2.0, 5.0, 20.0, 100.0, 1000.0, 1e4)  # along which h goes to its limit
MAP_PHI = (*np.round(np.linspace(-2, 0.95, 60), 3).tolist(), 0.99, 0.999)
MAP_PSI = (-1.0, 0.0, 0.25, 0.5)
MAP_ALPHA = (0.0, 0.5, 1.0, 2.0, 5.0, 10.0)
OTHER_PHI = (-1.0, 0.0, 0.15, 0.3, 0.5, 0.65)  # at the κ₁, α and b of Figures 10 to 13
CLOSE = 30  # every decade of the closed form up to here, then every tenth


class Experiment(Parameters):
    """Figures 2 and 3 with the optimised risk of the deterministic equivalent, and Appendix E tried step by step."""

    flat_phi: tuple[float, ...] = many(real(-10.0, 1.0), 0.0, 0.25)
    """Exponents φ of the spectrum in Figure 2."""
    flat_psi: tuple[float, ...] = many(real(-10.0, 1.0), 0.0, 0.5)
    """Exponents ψ of the target in Figure 2."""
    flat_alpha: tuple[float, ...] = many(from_zero(50.0), 0.0, 0.5, 1.0, 2.0, ascending=True)
    """Exponents α of the schedule in Figure 2."""
    flat_b: tuple[float, ...] = many(real(-5.0, 5.0), 0.0, 0.5)
    """Exponents b of the privacy parameter in Figure 2, whose ρ is the power b of γ."""
    steep_phi: tuple[float, ...] = many(real(-10.0, 1.0), 0.7, 0.8)
    """Exponents φ of the spectrum in Figure 3."""
    steep_psi: tuple[float, ...] = many(real(-10.0, 1.0), 0.0, 0.1)
    """Exponents ψ of the target in Figure 3."""
    steep_alpha: tuple[float, ...] = many(from_zero(50.0), *(float(alpha) for alpha in range(1, 11)), ascending=True)
    """Exponents α of the schedule in Figure 3."""
    steep_b: float = parameter(real(-5.0, 5.0), 0.5)
    """Exponent b of the privacy parameter in Figure 3."""
    clip: float = parameter(CLIP, 0.1)
    label_noise: float = parameter(NOISE, 0.3)
    initial_risk: float = parameter(RISK, 0.5)
    """Risk R(0) of the start, which the paper does not print."""
    decades: tuple[int, ...] = many(count(1, 15), *range(2, 11), ascending=True)
    """Decades of γ at which the learning rate is optimised: γ is 10 to minus each."""
    far: int = parameter(count(30, 300), 60)
    """Last decade of the closed form."""
    starts: tuple[float, ...] = many(RISK, 0.1, 0.5, 2.0)
    """Risks R(0) of the start that are tried beside it."""
    order_decades: tuple[int, ...] = many(count(2, 15), 3, 6, 9, 12, 15, ascending=True)
    """Decades of γ on which orders of the risk are tried."""
    clip_decades: tuple[int, ...] = many(count(2, 15), 4, 7, 10, 13, ascending=True)
    """Decades of γ on which clipping constants are tried."""
    checked: tuple[int, ...] = many(count(1, 15), 2, 3)
    """Decades of γ at which the optimised risk is computed again by LSODA."""
    draws: int = parameter(count(10, 10**6), 2000)
    """Random places on which Theorem 4 is held against a numerical optimum."""
    seed: int = parameter(SEED, 10)

    @property
    def flat(self) -> list[Law]:
        return [self._law(*p) for p in product(self.flat_phi, self.flat_psi, self.flat_alpha, self.flat_b)]

    @property
    def steep(self) -> list[Law]:
        return [self._law(*p) for p in product(self.steep_phi, self.steep_psi, self.steep_alpha, [self.steep_b])]

    def check(self) -> None:
        """Refuse a target without a finite norm, and decades too few to see a slope."""
        for figure, phis, psis in (("flat", self.flat_phi, self.flat_psi), ("steep", self.steep_phi, self.steep_psi)):
            if max(psis) >= 1 - max(phis):
                at = f"got {max(psis):g} with {figure}_phi = {max(phis):g}"
                raise ValueError(f"{figure}_psi must be below 1 - {figure}_phi, {at}")
        if len(self.decades) <= WINDOW or self.decades[-1] >= CLOSE:
            raise ValueError(f"decades must be more than {WINDOW} and below {CLOSE}, got {list(self.decades)}")

    def run(self, runner: Runner) -> dict[str, pd.DataFrame]:
        """The tables of Figures 2 and 3 and what follows from them, then those of the theory."""
        tables = self._figures(runner) | self._orders(runner)
        rng = np.random.default_rng(self.seed)
        places = draw(self.draws, rng)
        equal = equality(max(30, self.draws // 20), rng)
        return tables | {
            "exponents": exponents(pd.concat([places, equal], ignore_index=True)),
            "limits": limits(places.head(max(10, self.draws // 20)), ALPHAS),
            "critical": critical_map(MAP_PHI, MAP_PSI, MAP_ALPHA),
            "panels": panels(),
            "other_spectra": other_spectra(OTHER_PHI),
            "kernels": kernels(),
            "spectra": spectra(),
            "references": references(),
            "reasons": reasons(places.head(max(10, self.draws // 10))),
            "linear": linear(replace(self._law(0.0, 0.5, 0.0, 0.0), clip=WHOLE), 1e-4, 100.0),
            "comparison": comparison(self._law(0.0, 0.0, 0.0, 0.0), 1e-6, 3000.0),
        }

    def _law(self, phi: float, psi: float, alpha: float, b: float) -> Law:
        return Law(phi, psi, alpha, b, self.clip, self.label_noise, self.initial_risk)

    def _figures(self, runner: Runner) -> dict[str, pd.DataFrame]:
        gammas = _gammas(self.decades)
        other = [replace(law, initial_risk=start) for law in self.flat + self.steep[:1] for start in self.starts]
        other = [law for law in other if law.alpha == (1.0 if 1.0 in self.flat_alpha else self.flat_alpha[0])]
        bare = list(dict.fromkeys(replace(law, b=NO_PRIVACY) for law in self.flat))
        laws = list(dict.fromkeys([*self.flat, *self.steep, *bare, *other]))
        found = runner.run(solve, [Cell(law, gamma) for law in laws for gamma in gammas], 1, 0)
        solved = {law: [found[Cell(law, gamma)][0] for gamma in gammas] for law in laws}
        tables = {
            name: pd.concat([rows(law, gammas, solved[law]) for law in chosen], ignore_index=True)
            for name, chosen in (("figure-2", self.flat), ("figure-3", self.steep), ("free", bare))
        }
        starts = [rows(law, gammas, solved[law]).assign(initial_risk=law.initial_risk) for law in other]
        beyond = [*range(self.decades[-1] + 1, min(CLOSE, self.far) + 1), *range(CLOSE + 10, self.far + 1, 10)]
        far = approach([*self.flat, *self.steep], _gammas(beyond))
        drawn = pd.concat([tables["figure-2"], tables["figure-3"]], ignore_index=True)
        slopes = local_slopes(drawn)
        return {
            "figure-2": tables["figure-2"],
            "figure-3": tables["figure-3"],
            "slopes": slopes,
            "fits": fits(drawn),
            "approach": far,
            "settled": settled(slopes, far),
            "cost": cost(tables["figure-2"], tables["free"]),
            "starts": pd.concat(starts, ignore_index=True),
            "check": self._checked(runner, solved),
        }

    def _checked(self, runner: Runner, solved: dict[Law, list[np.ndarray]]) -> pd.DataFrame:
        at = {gamma: place for place, gamma in enumerate(_gammas(self.decades))}
        known = [(law, gamma, solved[law][at[gamma]]) for law in [*self.flat, *self.steep]
                 for gamma in _gammas(self.checked) if gamma in at]  # fmt: skip
        cells = {Checked(law, gamma, float(found[1])): float(found[0]) for law, gamma, found in known}
        values = runner.run(check, list(cells), 1, 0) if cells else {}
        rows = [cell.law.place | {"gamma": cell.gamma, "risk": risk, "lsoda": same, "lsoda_least": least}
                for cell, risk in cells.items() for same, least in values[cell]]  # fmt: skip
        return pd.DataFrame(rows)

    def _orders(self, runner: Runner) -> dict[str, pd.DataFrame]:
        gammas = _gammas(self.order_decades)
        cases = [self._law(*place) for place in CASES]
        some = [replace(law, clip=WHOLE) for law in cases]
        theorem = [Given(law, g, float(scaling.rate_exponent(**law.place))) for law, g in product(some, gammas)]
        lemma = [Given(law, g, a) for law, a, g in product(some, (-0.2, -0.4, -0.6, -0.8), gammas)]
        known = [self._law(*place) for place in BOUNDED]
        along = [Given(law, g, float(scaling.rate_exponent(**law.place))) for law in known for g in gammas[1:]]
        along += [Given(replace(self._law(*UNBOUNDED), clip=WHOLE), g, -0.9) for g in gammas]
        tried, small = [cases[k] for k in (0, 5, 8, 11)], _gammas(self.clip_decades)
        clips_tried = product(tried, (0.01, 0.1, 1.0, 10.0, 100.0), small)
        named = [(f"{clip:g}", Cell(replace(law, clip=clip), g)) for law, clip, g in clips_tried]
        # no constant bounds one that grows like γ^(−¼)
        named += [("growing", Cell(replace(law, clip=g**-0.25), g)) for law, g in product(tried, small)]
        clips = runner.run(solve, list(dict.fromkeys(cell for _, cell in named)), 1, 0)
        checked = [Given(law, 0.01, -0.6) for law in known if law.alpha > 0]
        equal = [(self._law(*place), float(scaling.rate_exponent(*place))) for place in EQUAL]
        at_own, at_given, followed, halves = (
            [(cell, values[0]) for cell, values in runner.run(trial, cells, 1, 0).items()]
            for trial, cells in ((released, theorem), (released, lemma), (paths, along), (parts, checked))
        )
        clip_rows, powers, orders = [], [], []
        for name, cell in named:
            law, (risk, rate, *_) = cell.law, clips[cell][0]
            case = {"case": int(scaling.regime(**law.place)), "clip": name, "value": law.clip, "gamma": cell.gamma}
            rest = {"inverse_gamma": 1 / cell.gamma, "risk": risk, "eta0": rate, "h": law.h}
            clip_rows.append(law.place | case | rest | {"ratio": risk / cell.gamma**law.h})
        for at, (risk, _) in at_own:
            law, size = at.law, {"gamma": at.gamma, "inverse_gamma": 1 / at.gamma}
            rest = {"a": at.a, "h": law.h, "risk": risk, "ratio": risk / at.gamma**law.h}
            powers.append(law.place | {"case": int(scaling.regime(**law.place))} | size | rest)
        for at, (risk, order) in at_given:  # (E.16), and whether Lemma E.4 says that the risk has just this order
            law, size = at.law, {"a": at.a, "gamma": at.gamma, "inverse_gamma": 1 / at.gamma}
            tight = law.alpha == 0 or 2 - 2 * law.b + (4 / 3 if law.alpha == 0.5 else 1.0) * at.a >= 0
            rest = {"tight": bool(tight), "risk": risk, "order": order, "ratio": risk / order}
            orders.append(law.place | size | rest)
        return {
            "powers": pd.DataFrame(powers),
            "orders": pd.DataFrame(orders),
            "paths": pd.concat([path_rows(cell, found) for cell, found in followed], ignore_index=True),
            "parts": pd.DataFrame(
                [
                    cell.law.place | {"gamma": cell.gamma, "grid": grid, "risk": risk, "side": side}
                    for cell, found in halves
                    for grid, (risk, side) in zip(("coarse", "fine"), found)
                ]
            ),
            "clips": pd.DataFrame(clip_rows),
            "printed_exponent": printed_exponent(),
            "logarithm": pd.concat([logarithm(law, a) for law, a in equal], ignore_index=True),
        }


def _gammas(decades: Sequence[int]) -> tuple[float, ...]:
    return tuple(10.0**-decade for decade in decades)
