"""The comparison equations (4.12) and (D.1) of arXiv:2505.16329v2 beside the risk that they are to enclose."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from chapters.dpgd.deterministic_equivalent.regime import Regime
from costofprivacy.dpgd import equivalent, risk_bounds, spectrum, system
from costofprivacy.dpgd.schedule import Constant, Harmonic, Polynomial, Schedule
from costofprivacy.dpgd.system import System

TIMES = np.linspace(0, 1, 11)
SHARES = (0.15, 0.9, 3.0)  # η̃(0)γ/2: beyond 1 the cap acts
SCHEDULES: dict[str, Callable[[float], Schedule]] = {  # noise before the last step: none, level, falling
    "constant": Constant,
    "square root": lambda initial: Polynomial(initial, 0.5),
    "harmonic": lambda initial: Harmonic(initial / 5, 0.2),
}
CLIPS = (0.02, 1.0, 20.0)
DIMENSION = 40
TOLERANCE = 1e-3
SPECTRA: dict[str, Callable[[], spectrum.Spectrum]] = {
    "isotropic": lambda: spectrum.isotropic(DIMENSION),
    "uniform": lambda: spectrum.uniform(DIMENSION),
    "two levels": lambda: spectrum.Spectrum(np.repeat([0.5, 1.5], DIMENSION // 2)),
}


def table(regime: Regime) -> pd.DataFrame:
    """Risk and bounds at t = 1, and by what part of the risk each bound is cleared at the worst time.

    ``reading`` is ``printed``, with η̃, or ``corrected``, with η̄; a margin below 0 is a bound that fails.
    """
    rows = []
    for name, make in SPECTRA.items():
        equations = system.of_model(regime.model(make()), regime.samples(DIMENSION))
        for schedule, share, clip in itertools.product(SCHEDULES, SHARES, CLIPS):
            case = {"spectrum": name, "schedule": schedule, "share_of_cap": share, "clip": clip}
            rows += [case | found for found in _rows(regime, case, equations)]
    return pd.DataFrame(rows)


def _rows(regime: Regime, case: dict[str, Any], equations: System) -> list[dict[str, object]]:
    """What the two readings give in one case."""
    schedule = SCHEDULES[case["schedule"]](case["share_of_cap"] * 2 / regime.gamma)

    def path(equations: System) -> np.ndarray:
        return equivalent.risk_path(equations, schedule, case["clip"], regime.rho, TIMES, TOLERANCE)

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
    model = regime.model(spectrum.uniform(DIMENSION))
    equations = system.of_model(model, regime.samples(DIMENSION))
    uneven = system.of_spectrum(np.ones(DIMENSION), rng.exponential(size=DIMENSION), regime.gamma, regime.label_noise)
    one = system.isotropic(uneven.initial_risk, regime.gamma, regime.label_noise)
    ours, solve = equivalent.risk_path, partial(_largest_gap, regime)
    values, error = model.spectrum.eigenvalues, rng.standard_normal(DIMENSION)
    found = {
        "(4.7), exponential integrator and LSODA": solve((ours, equations), (system.reference_path, equations)),
        "(4.11), d equations and one": solve((ours, uneven), (ours, one)),
        "(4.20), R with i/2π": _contour(values, error, 1 / (2 * math.pi)),
        "(C.45), R with i/4π": _contour(values, error, 1 / (4 * math.pi)),
        "(4.17), drift with z q": _drift(values, error, 1.0),
        "(4.17), drift with 2 z q": _drift(values, error, 2.0),
    }
    return pd.DataFrame({"identity": found.keys(), "relative_difference": found.values()})


def _largest_gap(regime: Regime, *pair: tuple[Callable[..., np.ndarray], System]) -> float:
    """The largest relative difference, over times and schedules, of two solvers, each with its equations."""
    plans = [make(regime.learning_rate) for make in SCHEDULES.values()]
    paths = (
        [solve(equations, plan, regime.clip, regime.rho, TIMES[1:]) for plan in plans] for solve, equations in pair
    )
    return _gap(*map(np.array, paths))


def _gap(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.abs(a / b - 1).max())


def _contour(values: np.ndarray, error: np.ndarray, factor: float, nodes: int = 64) -> float:
    """How far ``factor``·i ∮ z q_z dz over |z| = 2λ_max is from ½ Σ λ_i v_i², by the trapezoidal rule."""
    z = 2 * values.max() * np.exp(2j * np.pi * np.arange(nodes) / nodes)
    quadratic = (error**2 / (values - z[:, None])).sum(axis=1) / 2
    integral = (z * quadratic * 1j * z).mean() * 2 * np.pi
    return _gap((factor * 1j * integral).real, values @ error**2 / 2)


def _drift(values: np.ndarray, error: np.ndarray, factor: float) -> float:
    """How far ‖v‖² + ``factor``·z q_z(v) is from v'Σ(Σ − z)⁻¹v at z = −2λ_max."""
    z = -2 * values.max()
    quadratic = (error**2 / (values - z)).sum() / 2
    return _gap(np.asarray(error @ error + factor * z * quadratic), (values * error**2 / (values - z)).sum())
