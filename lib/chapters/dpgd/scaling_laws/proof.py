"""Printed constants and steps of Appendix E of arXiv:2505.16329v2, recomputed."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from chapters.dpgd.scaling_laws.curves import Law
from costofprivacy.dpgd import parts, scaling
from costofprivacy.dpgd.clipping import descent_reduction
from costofprivacy.dpgd.system import System

REFERENCES = (("Figure 11", 1.5, 0.0, 0.4), ("Figure 13", 1.5, 10.0, 0.4), ("Figure 13", 1.5, 10.0, 0.4))
MENDED = (("Figure 10", 1.5, 0.0, 0.25), ("Figure 12", 30.0, 2.0, 0.4), ("Figure 13", 1.5, 10.0, 0.4))
ENERGY_TIMES = np.linspace(0.1, 1.0, 10)


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
    for time in ENERGY_TIMES:
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
    start = float(parts.kernels(equations, scale * v * time)[0])
    return start + gamma * v * float(20 * weight @ (parts.kernels(equations, scale * u)[1] * u))


def comparison(law: Law, gamma: float, rate: float) -> pd.DataFrame:
    """(E.14) along a path of descent: R̲' of (E.13) beside ℱ(C₃Γ(t)), with the least C₂ and with a larger one.

    The noise is left out (γ small): then R̲' = ℱ(G) with dG = ½√(2C₁ + ζ²) c η̃/√(2R̲' + ζ²) dt. (E.12) and (E.13)
    have λ
    where (4.7) has 2λ, so that C₃Γ is held against 2G/2: both in units of the kernels of (6.3).
    """
    equations, zeta = law.equations(gamma), law.label_noise
    bound = 2 * law.initial_risk + zeta**2  # C₁ = R(0)
    least = law.clip / (zeta * float(descent_reduction(law.clip, zeta**2 / 2)))  # sup of c/(√(2R + ζ²) μ_c), at R = 0
    times = np.concatenate([[0.0], np.geomspace(1e-4, 1.0, 400)])
    clocks = _clock(equations, law, rate, times)
    # R̲' in its own clock: dG/d(cηt) = √bound/√(2ℱ(G) + ζ²)
    grid = np.concatenate([[0.0], np.geomspace(1e-6, 1e6, 4000)])
    slowness = np.sqrt((2 * parts.kernels(equations, grid)[0] + zeta**2) / bound)
    run = np.concatenate([[0.0], np.cumsum(np.diff(grid) * (slowness[1:] + slowness[:-1]) / 2)])
    lower = parts.kernels(equations, np.interp(law.clip * rate * times, run, grid))[0]
    found = []
    for name, factor in (("least", 1.0), ("larger", math.sqrt(bound) / zeta)):
        side = parts.kernels(equations, factor * least * math.sqrt(bound) * clocks)[0]
        found.append(pd.DataFrame({"constant": name, "time": times, "lower": lower, "side": side}))
    return pd.concat(found, ignore_index=True).assign(ratio=lambda t: t["lower"] / t["side"])


def _clock(equations: System, law: Law, rate: float, times: np.ndarray) -> np.ndarray:
    """Γ(t) = ∫ η̃ μ_c(R) ds by the path's own start: R = ℱ(Γ) without noise, so t(Γ) = ∫ dΓ/(η̃ μ_c(ℱ(Γ)))."""
    grid = np.concatenate([[0.0], np.geomspace(1e-6, 1e6, 4000)])
    mu = descent_reduction(law.clip, parts.kernels(equations, grid)[0] + law.label_noise**2 / 2)
    run = np.concatenate([[0.0], np.cumsum(np.diff(grid) * (1 / mu[1:] + 1 / mu[:-1]) / 2)]) / rate
    return np.interp(times, run, grid)
