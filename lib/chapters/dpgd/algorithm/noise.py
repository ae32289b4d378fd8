"""The noise schedule (4.2) of arXiv:2505.16329v2 against others of the same privacy, and where it puts the noise."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.integrate import solve_ivp

from chapters.dpgd.algorithm import models
from companion import _fits
from costofprivacy.dpgd import accounting, draws, spectrum, system
from costofprivacy.dpgd.schedule import Polynomial, Schedule, learning_rates, noise_multipliers, privacy_parameter
from costofprivacy.dpgd.spectrum import RegressionModel
from costofprivacy.dpgd.update import simulate
from costofprivacy.privacy import spent_by_record
from costofprivacy.privacy.amplification import remaining_noise

SHARES = 200  # points of the figure on where the noise goes
PLACEMENTS = ("as (4.2)", "even", "all in the last step")


def of_privacy(shape: np.ndarray, rates: np.ndarray, rho: float) -> np.ndarray:
    """The multiple of a noise schedule ``shape`` whose ρ (4.1) is ``rho``."""
    return shape * privacy_parameter(rates, shape) / rho


def placed(rates: np.ndarray, rho: float) -> dict[str, np.ndarray]:
    """Three noise schedules of one ρ: the least, even noise, and all of it in the last step."""
    last = np.zeros(len(rates))
    last[-1] = 1.0
    shapes = {PLACEMENTS[1]: np.ones(len(rates)), PLACEMENTS[2]: last}
    return {PLACEMENTS[0]: noise_multipliers(rates, rho)} | {
        name: of_privacy(shape, rates, rho) for name, shape in shapes.items()
    }


def random_shapes(least: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    """Noise schedules near and far: half are perturbations of the least one, half of no form at all."""
    n, near = len(least), count // 2
    size = 10.0 ** rng.uniform(-3, 0.5, (near, 1))
    around = least * np.exp(size * rng.standard_normal((near, n)))
    around[:, -1] += 1e-3 * least.max() * rng.random(near)  # where (4.2) ends without noise, a factor gives none
    away = rng.exponential(size=(count - near, n)) ** rng.uniform(0.2, 3, (count - near, 1))
    return np.concatenate([around, away])


def schedule_row(name: str, schedule: Schedule, n: int, rho: float, others: int, rng: np.random.Generator) -> dict:
    """(4.1) and (4.2) for one schedule: ρ recomputed, and its totals against ``others`` schedules of the same ρ.

    ``least_total`` and ``least_tail`` are the smallest ratios found of another schedule's noise to that of (4.2), in
    total and from any step on; ``last_step_total`` is the former for all noise in the last step. ``rho_every`` is
    what releasing every iterate would spend, max η_k/σ_k.
    """
    rates = learning_rates(schedule, n)
    least = noise_multipliers(rates, rho)
    tail = remaining_noise(least)
    shapes = random_shapes(least, others, rng)
    tails = np.stack([remaining_noise(of_privacy(shape, rates, rho)) for shape in shapes])
    used = rates > 0
    spent = spent_by_record(rates, least)[used]
    last_only = remaining_noise(placed(rates, rho)[PLACEMENTS[2]])
    return {
        "schedule": name,
        "n": n,
        "rho": rho,
        "first_rate": rates[0],
        "last_rate": rates[-1],
        "rho_recomputed": privacy_parameter(rates, least),
        "spent_least": spent.min(),
        "spent_most": spent.max(),
        "share_last": (least[-1] / tail[0]) ** 2,
        "least_total": float(((tails[:, 0] / tail[0]) ** 2).min()),
        "least_tail": float(((tails[:, used] / tail[used]) ** 2).min()),
        "last_step_total": float((last_only[0] / tail[0]) ** 2),
        "last_step_tail": float(((last_only[used] / tail[used]) ** 2).max()),
        "rho_every": accounting.every_iterate(rates, least).mu,
        "others": others,
    }


def cumulative_rows(name: str, schedule: Schedule, n: int, rho: float) -> pd.DataFrame:
    """Share of the noise added up to time t = k/n, before and after the last step."""
    least = noise_multipliers(learning_rates(schedule, n), rho) ** 2
    share = np.concatenate([[0.0], np.cumsum(least)]) / least.sum()
    k = np.unique(np.concatenate([np.linspace(0, n - 1, SHARES).astype(int), [n]]))
    return pd.DataFrame({"schedule": name, "t": k / n, "share": share[k]})


@dataclass(frozen=True)
class PlacementCell:
    """One schedule of learning rates, with its noise placed in three ways."""

    schedule: Schedule
    gamma: float
    n: int
    rho: float
    clip: float
    label_noise: float
    covariance: str = models.ISOTROPIC

    @property
    def key(self) -> int:
        """All schedules meet the same records and noise."""
        return 0

    @property
    def model(self) -> RegressionModel:
        """The covariance at d = γn."""
        d = models.dimension(self.gamma, self.n)
        if self.covariance == models.FEW_STRONG:
            return models.few_strong(d, self.label_noise)
        return models.regression_model(self.covariance, d, self.label_noise)


LEARNING_RATE = (
    3.4  # η̃(0); with the rest of the settings found by a search for a covariance where (4.2) is not the best
)
DISPUTED = tuple(
    PlacementCell(Polynomial(LEARNING_RATE, 2.0), 0.4, 1250, 0.7, 0.07, 0.02, covariance)
    for covariance in (models.ISOTROPIC, models.FEW_STRONG)
)


def predicted_risks(cell: PlacementCell) -> dict[str, float]:
    """The released risk by the deterministic equivalent (4.7), with the noise placed in three ways.

    Assumes: η̃²(t)/(1 − t) is largest at t = 0, so that even noise meets (4.1) with equality there.
    """
    equations, plan = system.of_model(cell.model, cell.n), cell.schedule
    size = 2 * (cell.clip * equations.aspect_ratio / cell.rho) ** 2 * float(plan(0.0)) ** 2  # of all the noise together

    def path(rate: float) -> float:
        def slope(t: float, energies: np.ndarray) -> np.ndarray:
            return system.derivative(equations, plan, cell.clip, math.inf, t, energies) + rate

        solved = solve_ivp(slope, (0.0, 1.0), equations.initial, method="LSODA", rtol=1e-10, atol=1e-13)
        return equations.risk(solved.y[:, -1])

    least = system.reference_path(equations, plan, cell.clip, cell.rho, [1.0])[-1]
    least += system.last_step(equations, plan, cell.clip, cell.rho)
    return dict(zip(PLACEMENTS, (float(least), path(size), path(0.0) + size * float(equations.readout.sum()))))


def disputed_rows(cell: PlacementCell, samples: np.ndarray) -> pd.DataFrame:
    """`placement_rows` for one covariance, beside the deterministic equivalent."""
    rows = placement_rows(cell.covariance, cell, samples).rename(columns={"schedule": "covariance"})
    rows.insert(2, "predicted", rows["placement"].map(predicted_risks(cell)))
    return rows


def placement_trial(cell: PlacementCell, *, rng: np.random.Generator) -> np.ndarray:
    """Released risk of Algorithm 1, step by step on the same records and noise directions; shape (placements,)."""
    model = cell.model
    eta = learning_rates(cell.schedule, cell.n)
    C = cell.clip * math.sqrt(model.d)
    std = 2 * C * np.stack(list(placed(eta, cell.rho).values()), axis=1)
    x, y = spectrum.sample(model, cell.n, rng=rng)
    b = draws.normals(x.shape, rng)
    theta, rates = np.zeros((model.d, std.shape[1])), np.repeat(eta[:, None], std.shape[1], axis=1)
    simulate(theta, x, y, b, rates, std, np.full(std.shape[1], C))
    return model.risk(theta.T)


def placement_rows(name: str, cell: PlacementCell, samples: np.ndarray) -> pd.DataFrame:
    """Mean risks, and by how much each exceeds that with the noise of (4.2) on the same records."""
    mean, error = _fits.mean_and_error(samples)
    above, above_error = _fits.mean_and_error(samples - samples[:, :1])
    return pd.DataFrame(
        {
            "schedule": name,
            "placement": PLACEMENTS,
            "excess_risk": mean,
            "standard_error": error,
            "above": above,
            "above_error": above_error,
            "half_test_error": mean + cell.label_noise**2 / 2,
            "zero_risk": cell.model.initial_risk,
            "trials": len(samples),
        }
    )
