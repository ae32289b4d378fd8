"""The rates of sections 5.1 and 5.2 of arXiv:2505.16329v2, measured along paths on which γ tends to 0."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import numpy as np
import pandas as pd

from chapters.dpgd.schedules.figure_seven import HARMONIC, INITIAL_RISK, OPTIMUM, TOLERANCE, polynomial
from costofprivacy.dpgd import control, equivalent, rates, system, tuning
from costofprivacy.dpgd.control import released_risk
from costofprivacy.dpgd.schedule import Harmonic, Polynomial
from costofprivacy.dpgd.system import System

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
FAR = (6, 8, 16, 32, 64, 128)  # −log₁₀ γ where α = ln²(1/γ)
TEXT, PROOF = "text", "proof"
OFFSETS: dict[str, Callable[[float, float], float]] = {
    TEXT: lambda gamma, rho: max(gamma, (gamma / rho) ** 2),
    PROOF: lambda gamma, rho: max(gamma, gamma / rho),
}
SCALES, MULTIPLES = (10.0, 30.0), (10.0, 100.0, 1000.0)  # β and τ over its order


@dataclass(frozen=True)
class Point:
    """A point of a path: its name and γ, with the ζ and c of `Experiment`."""

    path: str
    gamma: float
    label_noise: float
    clip: float

    @property
    def key(self) -> int:
        """Nothing is drawn."""
        return 0

    @property
    def rho(self) -> float:
        """ρ on the path."""
        return PATHS[self.path](self.gamma)

    @property
    def equation(self) -> System:
        """The single equation of Σ = I."""
        return system.isotropic(INITIAL_RISK, self.gamma, self.label_noise)


def tuned(point: Point, *, rng: np.random.Generator) -> np.ndarray:
    """η̃(0), τ and the risk of each tuned schedule, the harmonic one and the optimum last, shape (k, 3)."""
    rows = []
    for exponent in EXPONENTS:
        best = tuning.best_rate(point.equation, polynomial(exponent), point.clip, point.rho)
        rows.append((best.initial, math.nan, best.risk))
    harmonic = tuning.best_harmonic(point.equation, point.clip, point.rho, TOLERANCE)
    assert isinstance(harmonic.schedule, Harmonic)
    rows.append((harmonic.initial, harmonic.schedule.offset, harmonic.risk))
    drift = control.fixed_clip(INITIAL_RISK, point.gamma, point.label_noise, point.clip, point.rho)
    found = control.least(drift)
    rows.append((found.schedule.initial, found.schedule.switch, found.risk))
    return np.array(rows)


def tuned_rows(point: Point, found: np.ndarray) -> list[dict[str, object]]:
    """Rows of the table ``rates``; ``least`` is the leading order 4b₁/a² + 27b₂/a² at R = 0."""
    names = [*(f"{exponent:g}" for exponent in EXPONENTS), HARMONIC, OPTIMUM]
    mu, scaled_nu = system.reductions(point.equation, point.clip, 0.0)
    noise = 2 * system.noise_scale(point.clip, point.rho) * point.gamma**2
    least = rates.least_end(rates.Linear(2 * mu, point.gamma * scaled_nu, noise))
    return [
        {
            "path": point.path,
            "gamma": point.gamma,
            "inverse": 1 / point.gamma,
            "rho": point.rho,
            "schedule": name,
            "risk": risk,
            "order": point.gamma + (point.gamma / point.rho) ** 2,
            "least": least,
            "rate": rate,
            "offset": turn,
            "descent": 2 * mu * rate * turn,
        }
        for name, (rate, turn, risk) in zip(names, found)
    ]


# ----------------------------------------------------------------------------- Proposition 5.2 at its own choice


def own_choice(gammas: tuple[float, ...], label_noise: float, clip: float) -> pd.DataFrame:
    """The risk at (5.15), ``left``, against the order (5.16) or (D.81), ``right``, along each axis; see `PATHS`."""
    rows = []
    for path, gamma, exponent in product(PATHS, gammas, OWN):
        rows.append(_own(f"{path}, alpha = {exponent:g}", 1 / gamma, exponent, gamma, PATHS[path](gamma), label_noise,
                         clip))  # fmt: skip
    small = min(gammas)
    for exponent in (1.0, 3.0, 10.0, 30.0, 100.0, 300.0):
        rows.append(_own(EXPONENT, exponent, exponent, small, 1.0, label_noise, clip))
    for power in FAR:
        gamma = 10.0**-power
        log = math.log(1 / gamma)
        rows.append(_own(DEGREE, log, log**2, gamma, gamma * log**1.5, label_noise, clip))
    for path, gamma in product(PATHS, gammas):
        exponent, rho = math.log(math.log(1 / gamma)), PATHS[path](gamma)
        if exponent >= 1:
            order = rates.log_log_order(gamma, rho)
            row = _own(f"{path}, log-log", 1 / gamma, exponent, gamma, rho, label_noise, clip)
            rows.append(row | {"right": order})
    return pd.DataFrame(rows)


def _own(
    axis: str, size: float, exponent: float, gamma: float, rho: float, label_noise: float, clip: float
) -> dict[str, object]:
    log = math.log(1 / gamma)
    initial = FACTOR * exponent * log
    drift = control.fixed_clip(INITIAL_RISK, gamma, label_noise, clip, rho)
    risk = released_risk(drift, lambda t: initial * max(1 - t, 0.0) ** exponent, lambda t, risk: clip, label_noise, rho)
    return {
        "axis": axis,
        "size": size,
        "alpha": exponent,
        "gamma": gamma,
        "rho": rho,
        "condition": log**2 * gamma * (exponent + gamma / rho**2),
        "privacy": exponent * gamma / rho,
        "left": risk,
        "right": rates.polynomial_order(exponent, gamma, rho),
    }


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
        rows.append(
            {
                "axis": axis,
                "size": 1 / value,
                "alpha": exponent,
                "gamma": gamma,
                "rho": 1.0,
                "condition": log**2 * gamma / low**2 * (high * exponent + gamma),
                "privacy": exponent * gamma / low,
                "left": equivalent.final_risk(equations, plan, clip, 1.0, TOLERANCE),
                "right": rates.polynomial_order(exponent, gamma, 1.0, low, high),
            }
        )
    return pd.DataFrame(rows)


# ------------------------------------------------------------------------------------ Theorem 2 at its own constants


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
    return {
        "axis": axis,
        "size": size,
        "gamma": gamma,
        "rho": rho,
        "condition": high / low**2 * gamma + (gamma / rho / low) ** 2,
        "order": (high * gamma + (gamma / rho) ** 2) / low**4,
        "bound": rates.harmonic_end(told.linear, told.scale, told.offset, start) + jump,
        "risk": equivalent.final_risk(equations, plan, told.clip, rho, TOLERANCE),
        "highest": float(path.max()),
        "ceiling": rates.harmonic_ceiling(told.linear, told.scale, told.offset, start),
        "rate": told.scale / told.offset * gamma,
    }


def offset_rows(gammas: tuple[float, ...], label_noise: float, clip: float) -> pd.DataFrame:
    """Risks of harmonic schedules whose β does not depend on γ and whose τ is a multiple of one order or the other."""
    rows = []
    for path, gamma, rule in product(PATHS, gammas, OFFSETS):
        rho = PATHS[path](gamma)
        equation = system.isotropic(INITIAL_RISK, gamma, label_noise)
        for scale, multiple in product(SCALES, MULTIPLES):
            offset = multiple * OFFSETS[rule](gamma, rho)
            risk = equivalent.final_risk(equation, Harmonic(scale, offset), clip, rho, TOLERANCE)
            rows.append(
                {
                    "path": path,
                    "gamma": gamma,
                    "inverse": 1 / gamma,
                    "rho": rho,
                    "rule": rule,
                    "scale": scale,
                    "multiple": multiple,
                    "risk": risk,
                    "order": gamma + (gamma / rho) ** 2,
                }
            )
    return pd.DataFrame(rows)
