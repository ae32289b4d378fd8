"""Orders of the risk along γ: Theorem 4's four cases, Lemmas E.2 to E.4, clipping constants, and the logarithm."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from chapters.dpgd.scaling_laws.curves import Cell, Law, family
from costofprivacy.dpgd import equivalent, scaling, tuning
from costofprivacy.dpgd import parts as implicit
from costofprivacy.dpgd.scaling import Late
from costofprivacy.dpgd.schedule import Polynomial
from costofprivacy.dpgd.system import System

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
STEEPEST = -0.9
EXPONENTS = (-0.2, -0.4, -0.6, -0.8)  # a of v = γ^a on which Lemma E.4 is tried
TIMES = np.array([0.0, 1e-4, 1e-3, 0.01, 0.1, 0.3, 0.6, 0.9, 0.99, 0.999, 1.0])
FIRST, PER_DECADE = 1e-7, 60  # of the integrals over u = c(F(t) − F(s))
GROWING = "growing"  # c = γ^(−¼), which no constant bounds
CLIPS = (0.01, 0.1, 1.0, 10.0, 100.0)
DEPTHS = (10, 20, 40, 80, 120, 160)  # decades of γ on which a logarithm is told from a constant


@dataclass(frozen=True)
class Given:
    """A point at a given learning rate, c η̃(0) = γ^a."""

    law: Law
    gamma: float
    a: float

    @property
    def key(self) -> int:
        """Nothing is drawn."""
        return 0


def released(cell: Given, *, rng: np.random.Generator) -> np.ndarray:
    """The risk of the released parameter, and the order that (E.16) gives it; shape (2,)."""
    law, gamma = cell.law, cell.gamma
    v = gamma**cell.a
    plan = family(law.alpha, v / law.clip)
    risk = equivalent.final_risk(law.equations(gamma), plan, law.clip, law.rho(gamma), 1e-5)
    return np.array([risk, float(scaling.order(v, gamma, law.rho(gamma), law.phi, law.psi, law.alpha))])


def whole(law: Law) -> Law:
    """The same at c = `WHOLE`."""
    return replace(law, clip=WHOLE)


def theorem_cells(laws: list[Law], gammas: tuple[float, ...]) -> list[Given]:
    """Each law at its own best exponent a."""
    return [Given(whole(law), g, float(scaling.rate_exponent(**law.place))) for law in laws for g in gammas]


def theorem_row(cell: Given, found: np.ndarray) -> dict[str, float]:
    """A row of ``powers``: the risk at γ^a beside γ^h."""
    law = cell.law
    case = int(scaling.regime(**law.place))
    return law.place | {"case": case, "gamma": cell.gamma, "inverse_gamma": 1 / cell.gamma, "a": cell.a, "h": law.h,
                        "risk": found[0], "ratio": found[0] / cell.gamma**law.h}  # fmt: skip


def order_row(cell: Given, found: np.ndarray) -> dict[str, float]:
    """A row of ``orders``: the risk at γ^a beside (E.16), and whether the lemma says that they agree."""
    law = cell.law
    lift = 4 / 3 if law.alpha == 0.5 else 1.0
    tight = law.alpha == 0 or 2 - 2 * law.b + lift * cell.a >= 0
    return law.place | {"a": cell.a, "gamma": cell.gamma, "inverse_gamma": 1 / cell.gamma, "tight": bool(tight),
                        "risk": found[0], "order": found[1], "ratio": found[0] / found[1]}  # fmt: skip


# ------------------------------------------------------------------------------------------- Lemmas E.2 and E.3


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


# -------------------------------------------------------------------------------------------- clipping constants


def best_at(cell: Cell, *, rng: np.random.Generator) -> np.ndarray:
    """The least risk over η̃(0) ≤ 2/γ."""
    law, gamma = cell.law, cell.gamma
    best = tuning.best_rate(law.equations(gamma), lambda rate: family(law.alpha, rate), law.clip, law.rho(gamma))
    return np.array([best.risk, best.initial])


def clip_cells(laws: list[Law], gammas: tuple[float, ...]) -> list[tuple[str, Cell]]:
    """Each law with each clipping constant, and with one that grows like γ^(−¼)."""
    fixed = [(f"{clip:g}", Cell(replace(law, clip=clip), g)) for law in laws for clip in CLIPS for g in gammas]
    return fixed + [(GROWING, Cell(replace(law, clip=g**-0.25), g)) for law in laws for g in gammas]


# ------------------------------------------------------------------------------------------------- the logarithm


PRINTED_AT = (0.5, 0.0, 0.6)  # φ, ψ, b
ALONG = (2.5, 2.9, 2.99, 3.0, 3.01, 3.1, 4.0)  # α, across φ(α + 1) = 2


def printed_exponent() -> pd.DataFrame:
    """h as (6.6) prints it at some γ, across φ(α + 1) = 2, and its limit."""
    phi, psi, b = PRINTED_AT
    found = []
    for depth in DEPTHS:
        for alpha in ALONG:
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
