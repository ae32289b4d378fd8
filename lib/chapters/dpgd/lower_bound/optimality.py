"""What DP-GD reaches beside what no private algorithm can beat: along γ, along ρ and along the label noise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from chapters.dpgd.lower_bound.attacks import COARSE, START
from costofprivacy.dpgd import lower_bound, system, tuning
from costofprivacy.dpgd.system import System
from costofprivacy.dpgd.update import best_averaged_risk
from costofprivacy.privacy import GaussianDP, ZeroConcentratedDP

ISOTROPIC, UNEVEN = "isotropic", "uneven"
SPECTRA = {ISOTROPIC: (1.0,), UNEVEN: (0.5, 1.5)}  # eigenvalues, equally frequent
BALL, PRIOR = "worst in the ball", "mean over the prior"
STARTS = {BALL: 0.5, PRIOR: START}  # R(0): ‖θ*‖² is 1, and 1/7 on average
PATHS = {"rho = 1": 0.0, "rho = gamma^(1/2)": 0.5, "rho = gamma^(3/4)": 0.75}  # the power b of ρ = γ^b
ALONG_RHO, ALONG_NOISE = "along rho", "along the label noise"
FAR_GAMMA = np.logspace(-1, -12, 12)  # of closed forms
FAR_POWERS = {**PATHS, "rho = gamma": 1.0}
FAR_RHO_GAMMA = 1e-12
FAR_RHO = np.logspace(-9, 1, 41)  # from far above that γ; ρ = γ is a path of its own
FAR_NOISES = (0.03, 0.3, 3.0)
SIZES = np.logspace(2, 12, 6)  # n, of the conversion
OMEGA = 0.1  # δ = n^{−1−ω}


@dataclass(frozen=True)
class Cell:
    """A problem for which the harmonic schedule is tuned."""

    path: str
    spectrum: str
    start: str
    gamma: float
    rho: float
    label_noise: float
    clip: float
    pilot_share: float

    @property
    def key(self) -> int:
        """Nothing is drawn."""
        return 0

    def equations(self, gamma: float) -> System:
        """The deterministic equivalent, the target spread evenly."""
        values = SPECTRA[self.spectrum]
        return system.of_spectrum(values, [STARTS[self.start]] * len(values), gamma, self.label_noise)


def solve(cell: Cell, *, rng: np.random.Generator) -> np.ndarray:
    """The best harmonic risk, its η̃(0) and τ, and the risk of a pilot with one averaged step (Σ = I alone)."""
    best = tuning.best_harmonic(cell.equations(cell.gamma), cell.clip, cell.rho, COARSE)
    offset = getattr(best.schedule, "offset", math.nan)
    if cell.spectrum != ISOTROPIC or cell.start != BALL or cell.path == ALONG_NOISE:
        return np.array([best.risk, best.initial, offset, math.nan])
    pilot = tuning.best_harmonic(cell.equations(cell.gamma / cell.pilot_share), cell.clip, cell.rho, COARSE).risk
    second = best_averaged_risk(pilot, cell.gamma / (1 - cell.pilot_share), cell.label_noise, cell.rho)[0]
    return np.array([best.risk, best.initial, offset, second])


def places(
    gammas: Sequence[float], rhos: Sequence[float], gamma: float, noises: Sequence[float], noise: float, clip: float
) -> list[dict[str, Any]]:
    """Where the schedule is tuned: the paths to small γ, an uneven spectrum, the prior's mean, along ρ, and along ζ.

    Along ζ the clipping constant is proportional to it.
    """
    names = ("path", "spectrum", "start", "gamma", "rho", "label_noise", "clip")
    slow, *_, fast = PATHS
    sides = [(path, ISOTROPIC, BALL) for path in PATHS]
    sides += [(slow, UNEVEN, BALL), (fast, UNEVEN, BALL), (slow, ISOTROPIC, PRIOR)]
    found = [(*side, g, g ** PATHS[side[0]], noise, clip) for side in sides for g in gammas]
    found += [(ALONG_RHO, ISOTROPIC, BALL, gamma, rho, noise, clip) for rho in rhos]
    found += [(ALONG_NOISE, ISOTROPIC, BALL, g, 1.0, z, clip * z / noise) for z in noises for g in gammas]
    return [dict(zip(names, values)) for values in found]


def row(cell: Cell, found: np.ndarray) -> dict[str, object]:
    """One row of the table ``bounds``."""
    values, gamma, start = SPECTRA[cell.spectrum], cell.gamma, STARTS[cell.start]
    variance = cell.label_noise**2
    if cell.start == PRIOR:
        penalty = lower_bound.PRIOR_INFORMATION * variance * gamma
        statistical = lower_bound.spread_bound(values, gamma, cell.label_noise, penalty)
        private = lower_bound.privacy_bound(gamma, cell.rho, cell.label_noise, min(values))
    else:
        statistical = lower_bound.spread_bound(values, gamma, cell.label_noise, variance * gamma)
        if cell.spectrum == ISOTROPIC:
            statistical = float(lower_bound.bayes_risk(gamma, cell.label_noise))
        private = lower_bound.privacy_bound(
            gamma, cell.rho, cell.label_noise, min(values), lower_bound.BALL_INFORMATION
        )
    lower = max(statistical, float(private))
    return {
        "path": cell.path,
        "spectrum": cell.spectrum,
        "start": cell.start,
        "gamma": gamma,
        "rho": cell.rho,
        "label_noise": cell.label_noise,
        "clip": cell.clip,
        "harmonic": found[0],
        "initial": found[1],
        "offset": found[2],
        "two_stage": found[3],
        "statistical": statistical,
        "private": float(private),
        "lower": lower,
        "trivial": start,
        "rate": gamma + (gamma / cell.rho) ** 2,
        "factor": found[0] / lower,
    }


# ---------------------------------------------------------------------------------------------------- in closed form


def far() -> pd.DataFrame:
    """The proven bounds with the paper's prior, far out: along γ on each path, along ρ, and along λ_min."""
    rows = []
    for noise in FAR_NOISES:
        for axis, power in FAR_POWERS.items():
            rows += [_far_row(axis, g, g**power, noise, 1.0) for g in FAR_GAMMA]
        rows += [_far_row(ALONG_RHO, FAR_RHO_GAMMA, rho, noise, 1.0) for rho in FAR_RHO]
        # λ_min as small as Lemma D.7 allows, and no smaller: d²/(ρ²n²λ_min) = 1
        rows += [_far_row("along the smallest eigenvalue", g, 1.0, noise, g**2) for g in FAR_GAMMA]
    return pd.DataFrame(rows)


def _far_row(axis: str, gamma: float, rho: float, noise: float, smallest: float) -> dict[str, object]:
    private = float(lower_bound.privacy_bound(gamma, rho, noise, smallest))
    statistical = lower_bound.spread_bound([1.0], gamma, noise, lower_bound.PRIOR_INFORMATION * noise**2 * gamma)
    return {
        "axis": axis,
        "gamma": gamma,
        "inverse_gamma": 1 / gamma,
        "rho": rho,
        "label_noise": noise,
        "smallest": smallest,
        "rate": gamma + (gamma / rho) ** 2,
        "private_rate": gamma**2 / float(lower_bound.chi_square(rho)),
        "lemma": float(lower_bound.lemma_bound(gamma, rho, noise, smallest)),
        "private": private,
        "statistical": statistical,
        "lower": max(private, statistical),
    }


def conversion(rho: float = 1.0) -> pd.DataFrame:
    """ε at δ = n^{−1−ω} of what is ρ²/2-zCDP, by Proposition A.3, and exactly for the Gaussian mechanism."""
    rows = []
    for n in SIZES:
        delta = float(n ** (-1 - OMEGA))
        rows.append(
            {
                "n": n,
                "rho": rho,
                "delta": delta,
                "log_n": math.log(n),
                "converted": ZeroConcentratedDP(rho**2 / 2).epsilon(delta),
                "exact": GaussianDP(rho).epsilon(delta),
            }
        )
    table = pd.DataFrame(rows)
    return table.assign(lost=(table["exact"] / table["rho"]) ** 2, kept=1.0)
