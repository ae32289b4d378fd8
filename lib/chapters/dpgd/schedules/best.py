"""What the best of all schedules gains over families of schedules, by the deterministic equivalent."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.optimize import minimize

from chapters.dpgd.schedules.figure_seven import HARMONIC, INITIAL_RISK, ISOTROPIC, TOLERANCE, UNIFORM, polynomial
from costofprivacy.dpgd import control, equivalent, system, tuning
from costofprivacy.dpgd.schedule import Constant, Flat
from costofprivacy.dpgd.system import System

POWER = 1.1  # of the two-parameter family
SETTLED = 1e-6  # relative, of a risk in a descent, which looks at differences of 1e-4
BEYOND = 100  # times the cap 2/γ: how far β/τ is searched, which Theorem 2 does not limit
EARLIEST = 1e-6  # the least τ over γ: a flat start so short is none
CONSTANT, FLAT, FLAT_FREE = "constant", "flat, then power 1.1", "flat, then a free power"
FAMILIES = (CONSTANT, HARMONIC, FLAT, FLAT_FREE)
NODES = 12  # of a Gauss–Legendre rule for the uniform spectrum


@dataclass(frozen=True)
class Place:
    """A place in the plane of n/d and ρ, with ζ and c as in `Experiment`."""

    n_over_d: float
    rho: float
    label_noise: float
    clip: float

    @property
    def key(self) -> int:
        """Nothing is drawn."""
        return 0

    @property
    def gamma(self) -> float:
        """d/n."""
        return 1 / self.n_over_d

    @property
    def drift(self) -> control.Drift:
        """The equation of Σ = I."""
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
    return [
        {
            "n_over_d": place.n_over_d,
            "rho": place.rho,
            "family": family,
            "risk": risk,
            "least": least,
            "excess": risk / least - 1,
            "rate": initial * place.gamma,
            "switch": switch,
        }
        for family, risk in zip(FAMILIES, found[3:])
    ]


@dataclass(frozen=True)
class Search:
    """A search over all schedules that knows nothing of the theorem: a spectrum and a place."""

    spectrum: str
    place: Place

    @property
    def key(self) -> int:
        """Nothing is drawn."""
        return 0

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


def search_rows(found: dict[Search, np.ndarray]) -> pd.DataFrame:
    """Table ``search``."""
    return pd.DataFrame(
        [
            {
                "spectrum": task.spectrum,
                "n_over_d": task.place.n_over_d,
                "rho": task.place.rho,
                "searched": values[0, 0],
                "least": values[0, 1],
                "harmonic": values[0, 2],
                "square": values[0, 3],
            }
            for task, values in found.items()
        ]
    )


SEARCHED = (ISOTROPIC, UNIFORM)
