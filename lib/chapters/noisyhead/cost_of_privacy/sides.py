"""Both sides of (4.2): NoisyHead and its noiseless twin against Γ*, beside the bound's two terms."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from chapters.noisyhead.cost_of_privacy.problem import Problem
from companion import _fits
from costofprivacy.noisyhead import accounts, bounds, head, hyperparameters, population, pretraining
from costofprivacy.noisyhead.curvature import for_updates
from costofprivacy.noisyhead.hyperparameters import Hyperparameters
from costofprivacy.noisyhead.ridge import ridge
from costofprivacy.privacy import ApproximateDP
from costofprivacy.settings import Setting

QUANTITIES = ("descent", "noise", "total", "weight_noise")


@dataclass(frozen=True)
class Cell(Problem):
    """A problem with a budget, and the numbers of steps after which it is looked at; none: that of Theorem 4.2(i)."""

    T: tuple[int, ...]
    epsilon: float
    delta: float

    @property
    def budget(self) -> ApproximateDP:
        """(ε, δ)."""
        return ApproximateDP(self.epsilon, self.delta)

    def steps(self, hyper: Hyperparameters) -> tuple[int, ...]:
        """T of the axis, or that of Theorem 4.2(i)."""
        return self.T or (bounds.low_dimensional_iterations(self.model, self.N, hyper.learning_rate, self.penalty),)

    def noise_std(self, setting: Setting, T: int) -> float:
        """Standard deviation of an entry of z_t for T steps: as Algorithm 1 prints it, or exactly composed."""
        return accounts.setting_noise_std(setting, replace(self.hyper[setting], steps=T), self.budget, self.N)


def trial(cell: Cell, *, rng: np.random.Generator) -> np.ndarray:
    """Descent, noise, total excess risk, squared weight error of the noise, ‖Γ*‖_F on one data set; (settings, T, 5).

    *descent*: the noiseless twin against Γ*; *noise*: NoisyHead against its twin; both over a fresh prompt, in closed
    form.
    """
    clip = cell.hyper[Setting.PRINTED].clip_norm
    raw, clipped = head.sample_statistics(cell.model, cell.N, clip, rng=rng)
    reference = ridge(head.moments(raw), cell.penalty)
    rows = []
    for setting, hyper in cell.hyper.items():
        T = cell.steps(hyper)
        std = [*(cell.noise_std(setting, t) for t in T), *np.zeros(len(T))]
        data = for_updates(head.moments(head.project(clipped, hyper.feature_bound)))
        private, twin = np.split(pretraining.pretrain(data, hyper, std, rng=rng, steps=[*T, *T]), 2)
        risks = [population.excess_risk(cell.model, d) for d in (twin - reference, private - twin, private - reference)]
        spread = ((private - twin) ** 2).sum(axis=(1, 2))
        rows.append(np.stack([*risks, spread, np.full(len(T), np.linalg.norm(reference))], axis=-1))
    return np.stack(rows)


def side_rows(axis: str, cell: Cell, samples: np.ndarray) -> pd.DataFrame:
    """Means over the data sets beside the two terms of (4.2), hidden constants one, and the amended bound."""
    rows = []
    for s, (setting, hyper) in enumerate(cell.hyper.items()):
        for t, T in enumerate(cell.steps(hyper)):
            place = {"axis": axis, "setting": str(setting), "N": cell.N, "L": cell.L, "D": cell.D, "T": T}
            right = _right_sides(cell, setting, T)
            mean, error = _fits.mean_and_error(samples[:, s, t])
            for quantity, value, standard_error in zip(QUANTITIES, mean, error):  # ‖Γ*‖ is left to `radius_row`
                left = {"quantity": quantity, "value": value, "standard_error": standard_error, "trials": len(samples)}
                rows.append(place | left | right)
    return pd.DataFrame(rows)


def _right_sides(cell: Cell, setting: Setting, T: int) -> dict[str, float]:
    """What the left side is held against; (4.2) is about the printed setting alone."""
    hyper, std = replace(cell.hyper[setting], steps=T), cell.noise_std(setting, T)
    query_bound = hyperparameters.query_bound_theorem(cell.model, cell.N, cell.failure)
    printed = setting == Setting.PRINTED
    noise = bounds.cost_of_noise(hyper, query_bound, cell.model, cell.budget, cell.N)
    return {
        "bound_descent": bounds.cost_of_descent(hyper, query_bound) if printed else np.nan,
        "bound_noise": noise if printed else np.nan,
        "bound_amended": bounds.amended_cost(hyper, cell.model, std),
        "noise_std": std,
        "limit_of_R": hyper.weight_bound**2 * population.context_energy(cell.model) / cell.D**2,
        "zero_risk": population.zero_excess_risk(cell.model, cell.penalty),
    }


def radius_row(cell: Cell, samples: np.ndarray) -> dict[str, float]:
    """‖Γ*‖_F over the data sets, the radii that are to bound it, and the noise variance that the right one saves."""
    norms, hyper = samples[:, 0, 0, -1], cell.hyper[Setting.PRINTED]
    C, right = hyper.clip_norm, cell.hyper[Setting.CORRECTED].weight_bound
    sigma = [hyperparameters.sensitivity_scale(C, R, hyper.feature_bound) for R in (hyper.weight_bound, right)]
    return {
        "N": cell.N,
        "L": cell.L,
        "norm_mean": norms.mean(),
        "standard_error": norms.std(ddof=1) / np.sqrt(len(norms)),
        "norm_max": norms.max(),
        "trials": len(norms),
        "R_printed": hyper.weight_bound,
        "R_with_1_over_N": hyperparameters.weight_bound_kept(cell.model, cell.N, cell.failure, cell.penalty),
        "R_objective": hyperparameters.weight_bound_objective(C, cell.penalty),
        "R_singular": right,
        "variance_saved": (sigma[0] / sigma[1]) ** 2,
    }
