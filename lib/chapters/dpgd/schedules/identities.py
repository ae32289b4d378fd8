"""The closed forms and constants of sections 5 and D.2 to D.3 of arXiv:2505.16329v2, recomputed."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pandas as pd
from scipy.integrate import quad, solve_ivp
from scipy.optimize import brentq
from scipy.special import erf, gamma

from costofprivacy.dpgd import rates
from costofprivacy.dpgd.schedule import Harmonic, Polynomial, Schedule

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
        rows.append(
            {
                "order": order,
                LIMIT: _integral(order, nearest) / float(rates.exponential_integral_ceiling(order, nearest)),
                CEILING: float((values / rates.exponential_integral_ceiling(order, ARGUMENTS)).max()),
                TAIL: float((values / rates.exponential_integral_tail(ARGUMENTS))[allowed].max()),
                QUADRATURE: float(np.abs(values / rates.exponential_integral(order, ARGUMENTS) - 1).max()),
            }
        )
    return pd.DataFrame(rows)


def _integral(order: float, x: float) -> float:
    """E_β(x) by quadrature of its definition, in s = ln(xt)."""
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
            solved = _solved(linear, schedule, 0.9)
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
            solved = _solved(linear, schedule, 0.9)
            rows.append({"display": "(5.24)", "case": name, "found": found, "solved": solved})
    table = pd.DataFrame(rows)
    return table.assign(difference=(table["found"] / table["solved"] - 1).abs())


def _solved(linear: rates.Linear, schedule: Schedule, end: float) -> float:
    def slope(t: float, risk: np.ndarray) -> np.ndarray:
        rate = float(schedule(t))
        source = linear.sampling * rate**2 + linear.noise * float(schedule.squared_decrease(t))
        return source - linear.descent * rate * risk

    return float(solve_ivp(slope, (0.0, end), [0.5], method="LSODA", rtol=1e-11, atol=1e-13).y[0, -1])


def heuristic() -> pd.DataFrame:
    """Table ``heuristic``: (5.22) against LSODA on (5.20) with its schedule, and against schedules near it."""
    rows = []
    for aspect_ratio in (0.1, 0.01, 1e-4):
        told = 4 * aspect_ratio / (1 + 4 * aspect_ratio / 0.5)
        linear = rates.Linear(1.0, aspect_ratio, 0.0)
        offset = 4 * aspect_ratio / 0.5
        near = [rates.linear_solution(linear, Harmonic(2 * s, offset * o), 0.5)
                for s in (0.8, 1.25, 1.0) for o in (0.5, 2.0, 1.0) if (s, o) != (1.0, 1.0)]  # fmt: skip
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
    rows = [
        (f"{SLIP}, factor of sampling, alpha = {a:g}", (1 + a) ** (1 / 3),
         float(gamma(2 - 1 / (1 + a))) * (1 + a) ** (a / (1 + a)))
        for a in (1.0, 2.0, 4.0, 16.0)
    ]  # fmt: skip
    rows += [
        (f"{SLIP} as derived, alpha = {a:g}", 1 + a, float(gamma(2 - 1 / (1 + a))) * (1 + a) ** (a / (1 + a)))
        for a in (1.0, 2.0, 4.0, 16.0)
    ]
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
