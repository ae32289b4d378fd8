"""Both sides of (4.4): simulated from the longest admissible start, and in closed form far beyond the simulation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd

from chapters.noisyhead.low_dimensional import limits
from companion import _fits
from companion.streams import Runner
from costofprivacy.noisyhead import accounts, bounds, dynamics, head, population, pretraining, recipes
from costofprivacy.noisyhead.curvature import EigenMoments, ProductMoments, in_eigenbasis
from costofprivacy.noisyhead.head import Statistics
from costofprivacy.noisyhead.hyperparameters import Hyperparameters
from costofprivacy.noisyhead.prompts import PromptModel
from costofprivacy.noisyhead.ridge import ridge
from costofprivacy.privacy import ApproximateDP
from costofprivacy.settings import Setting

POWERS = (0.25, 0.5, 1.0, 2.0)  # of N: r in the simulation
FAR = 8  # r up to N^FAR in closed form
NARROW = 6  # D of a path with D² ≥ log(NL) and λ = 1, up to NL = e³⁶
PRINTED, HALVED = "penalty λ", "penalty λ/2"


@dataclass(frozen=True)
class Told:
    """Algorithm 1 at one size and penalty, with T for each r."""

    N: int
    penalty: float
    epsilon: float
    delta: float
    failure: float
    label_noise: float

    @property
    def model(self) -> PromptModel:
        """D = L = ⌊√N⌋."""
        return recipes.overparametrised_model(self.N, self.label_noise)

    @cached_property
    def hyper(self) -> Hyperparameters:
        """Theorem 4.1's; T is set for each r."""
        return recipes.theorem(self.model, self.N, self.failure, self.penalty)

    @property
    def steps(self) -> list[int]:
        """T of each r."""
        return [self.steps_to(self.N**power) for power in POWERS]

    def steps_to(self, progress: float) -> int:
        """T of Theorem 4.2(ii) for r = ``progress``."""
        return bounds.high_dimensional_iterations(progress, self.hyper.learning_rate, self.penalty)

    @property
    def budget(self) -> ApproximateDP:
        """(ε, δ)."""
        return ApproximateDP(self.epsilon, self.delta)

    @property
    def noise(self) -> list[float]:
        """Standard deviation of an entry of z_t for each T, by Algorithm 1."""
        told = (replace(self.hyper, steps=T) for T in self.steps)
        return [accounts.setting_noise_std(Setting.PRINTED, hyper, self.budget, self.N) for hyper in told]


@dataclass(frozen=True)
class Cell:
    """One size with its penalties, which share the prompts."""

    N: int
    epsilon: float
    delta: float
    failure: float
    label_noise: float

    @property
    def key(self) -> int:
        """N names the random stream."""
        return self.N

    @property
    def told(self) -> list[Told]:
        """λ = N/D of Proposition 4.1, and λ = 1."""
        penalties = (recipes.high_dimension_penalty(self.N), 1.0)
        return [Told(self.N, lam, self.epsilon, self.delta, self.failure, self.label_noise) for lam in penalties]


def trial(cell: Cell, *, rng: np.random.Generator) -> np.ndarray:
    """Excess risk of NoisyHead and of its noiseless twin from ‖Γ⁰‖ = R, shape (penalties, 2, len(POWERS))."""
    clip, G = cell.told[0].hyper.clip_norm, cell.told[0].hyper.feature_bound
    raw, clipped = head.sample_statistics(cell.told[0].model, cell.N, clip, rng=rng)
    data = in_eigenbasis(head.moments(head.project(clipped, G)))
    return np.stack([_excess(told, raw, data, rng) for told in cell.told])


def _excess(told: Told, raw: Statistics, data: EigenMoments, rng: np.random.Generator) -> np.ndarray:
    reference = ridge(ProductMoments(raw), told.penalty)
    start = rng.standard_normal(reference.shape)
    start *= told.hyper.weight_bound / np.linalg.norm(start)
    private = pretraining.pretrain(data, told.hyper, told.noise, rng=rng, steps=told.steps, initial=start)
    plain = pretraining.descent_path(data, told.hyper, told.steps, start)
    return np.stack([population.excess_risk(told.model, Gamma - reference) for Gamma in (private, plain)])


def measure(cells: Sequence[Cell], trials: int, runner: Runner, seed: int) -> pd.DataFrame:
    """Mean left sides of (4.4) beside its right side, hidden constants one, for λ = N/D and λ = 1."""
    rows = []
    for cell, values in runner.run(trial, cells, trials, seed).items():
        for told, own in zip(cell.told, values.swapaxes(0, 1), strict=True):
            rows += side_rows(told, own)
    return pd.DataFrame(rows)


def side_rows(told: Told, values: np.ndarray) -> list[dict[str, object]]:
    """One row for each r and method, from samples of shape (trials, 2, len(POWERS))."""
    mean, error = _fits.mean_and_error(values)
    rows = []
    for i, (power, T) in enumerate(zip(POWERS, told.steps, strict=True)):
        r = bounds.progress(told.hyper.learning_rate, told.penalty, T)
        descent, noise = bounds.high_dimensional_cost(told.model, told.N, told.penalty, r, told.budget)
        size = {"N": told.N, "D": told.model.D, "penalty": told.penalty, "power_of_N": power, "r": r, "T": T}
        for m, (method, bound) in enumerate((("noisyhead", descent + noise), ("gradient-descent", descent))):
            measured = {"method": method, "excess_risk": mean[m, i], "standard_error": error[m, i]}
            rows.append(size | measured | {"trials": len(values), "bound": bound})
    return rows


def narrow(label_noise: float, failure: float, budget: ApproximateDP, runner: Runner, seed: int) -> pd.DataFrame:
    """What no step removes where D² ≥ log(NL) but D stays: the rest at ridge(2λ) and the bias of Π_G, beside (4.4).

    D = ``NARROW``, λ = 1 and L = √N as in the low-dimensional chapter, whose closed form and simulation these are;
    (4.4) at r = N², constants one, for this budget.
    """
    fixed = (NARROW, 1.0, label_noise)
    floors = [limits.minimiser_floors(*fixed), limits.projection_floors(*fixed, failure, runner, seed)]
    table = pd.concat(floors, ignore_index=True)
    inside = table[table["N"] * table["L"] <= math.exp(NARROW**2)]
    bound = [_bound_44(N, L, label_noise, budget) for N, L in zip(inside["N"], inside["L"])]
    return inside.drop(columns="bound").assign(D=NARROW, bound_44=bound).reset_index(drop=True)


def _bound_44(N: float, L: float, label_noise: float, budget: ApproximateDP) -> float:
    return sum(bounds.high_dimensional_cost(PromptModel(NARROW, int(L), label_noise), N, 1.0, N**2, budget))


def along_progress(N: int, failure: float, label_noise: float) -> pd.DataFrame:
    """The noiseless twin from ‖Γ⁰‖ = R in closed form against r, as printed and with λ/2, beside (4.4) at ε = ∞."""
    rows = []
    told = Told(N, recipes.high_dimension_penalty(N), math.inf, 0.5, failure, label_noise)
    for r in np.geomspace(2, float(N) ** FAR, 60):
        T = told.steps_to(r)
        bound = bounds.high_dimensional_cost(told.model, N, told.penalty, r, told.budget)[0]
        for name, lam in ((PRINTED, told.penalty), (HALVED, told.penalty / 2)):
            hyper, energy = replace(told.hyper, penalty=lam), told.hyper.weight_bound**2
            risk = dynamics.descent_risk(hyper, told.model, N, told.penalty, energy, np.array([T]))[0]
            rows.append({"update": name, "N": N, "r": r, "T": T, "excess_risk": risk, "bound": bound})
    return pd.DataFrame(rows)
