"""What section 6.1's setting tends to as N → ∞ with L = √N, at fixed D: closed forms and one simulation."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from companion import _fits
from companion.streams import Runner
from costofprivacy.noisyhead import accounts, bounds, dynamics, head, hyperparameters, population, recipes
from costofprivacy.noisyhead.head import sample
from costofprivacy.noisyhead.hyperparameters import Hyperparameters
from costofprivacy.noisyhead.prompts import PromptModel
from costofprivacy.privacy import ApproximateDP
from costofprivacy.settings import Setting

SIZES = tuple(10**k for k in range(3, 31))
LENGTHS = (10, 32, 100, 316, 1000, 3162, 10000, 31623)
GROUPS, GROUP_PROMPTS = 20, 50
FAILURE = 0.01  # κ of the G that leaves Π_G idle
FIXED = "corrected, Π_G idle"
CLAIMED = "Theorem 1.1"
OWN_LOGS = "published, its logarithms out"


def noise_free_bound(model: PromptModel, N: int) -> float:
    """Right side of (4.3) for ε = ∞, hidden constant one: what is left when privacy costs nothing."""
    return bounds.low_dimensional_cost(model, N, ApproximateDP(math.inf, 0.5))


def minimiser_floors(D: int, penalty: float, label_noise: float) -> pd.DataFrame:
    """E⟨Γ_{2λ} − Γ_λ, Z⟩², where descent without noise comes to rest, beside (4.3) at ε = ∞."""
    rows = []
    for N in SIZES:
        model = recipes.square_model(D, N, label_noise)
        floor, zero = population.minimiser_gap(model, penalty), population.zero_excess_risk(model, penalty)
        gap = population.ridge_prediction_error(model, 2 * penalty) - population.ridge_prediction_error(model, penalty)
        rows.append(_floor("minimiser", N, model, (floor, 0.0), (gap, 0.0), zero))
    return pd.DataFrame(rows)


def _floor(
    part: str, N: int, model: PromptModel, floor: tuple[float, float], gap: tuple[float, float], zero: float
) -> dict[str, object]:
    """One row of the floors: what a part leaves without noise, beside (4.3) and the excess risk of answering 0."""
    return {
        "part": part,
        "N": float(N),
        "L": float(model.L),
        "floor": floor[0],
        "standard_error": floor[1],
        "test_error_gap": gap[0],
        "gap_error": gap[1],
        "bound": noise_free_bound(model, N),
        "zero_risk": zero,
    }


@dataclass(frozen=True)
class Length:
    """A prompt length, with N = L²."""

    L: int
    D: int
    label_noise: float
    failure: float

    @property
    def key(self) -> int:
        """L names the random stream."""
        return self.L

    @property
    def model(self) -> PromptModel:
        """The law of its prompts."""
        return PromptModel(self.D, self.L, self.label_noise)


def projection_floors(
    D: int, penalty: float, label_noise: float, failure: float, runner: Runner, seed: int
) -> pd.DataFrame:
    """E⟨Γ̃ − Γ_λ, Z⟩², Γ̃ the population's ridge solution for statistics clipped at C and projected by Π_G.

    By isotropy Γ̃ = g̃I with g̃ = E⟨w, m̃⟩/(E‖m̃‖² + λD²) for the shortened context m̃; g is estimated on the same
    prompts, which cancels most of the noise. The standard error is the jackknife's over groups of prompts.
    ``test_error_gap`` is the part of the cost that Theorem 1.1 speaks of, the difference in prediction error
    2(g − g̃)/D − (g² − g̃²)E‖m‖²/D. The query's response stays unclipped in g̃.
    """
    rows = []
    for cell, values in runner.run(
        contexts, [Length(L, D, label_noise, failure) for L in LENGTHS], GROUPS, seed
    ).items():
        difference, error = _jackknife(values, penalty * D**2)
        energy, N = population.context_energy(cell.model) / D, cell.L**2
        slope = 2 / D - 2 * population.ridge_scale(cell.model, penalty) * energy
        floor, floor_error = difference**2 * energy, 2 * abs(difference) * error * energy
        gap, gap_error = -difference * slope + floor, error * slope
        zero = population.zero_excess_risk(cell.model, penalty)
        rows.append(_floor("projection", N, cell.model, (floor, floor_error), (gap, gap_error), zero))
    return pd.DataFrame(rows)


def contexts(cell: Length, *, rng: np.random.Generator) -> np.ndarray:
    """⟨w, m⟩, ‖m‖², ⟨w, m̃⟩, ‖m̃‖² of each prompt of a group, shape (GROUP_PROMPTS, 4)."""
    C = hyperparameters.clip_norm(cell.model, cell.L**2, cell.failure)
    G = hyperparameters.feature_bound_proof(cell.model, cell.L**2, cell.failure)
    drawn = sample(cell.model, GROUP_PROMPTS, C, rng=rng)
    w, raw = drawn.task, drawn.raw
    short = head.project(head.Statistics(drawn.query, drawn.clipped, drawn.response), G).context
    return np.stack([v.sum(axis=1) for v in (w * raw, raw**2, w * short, short**2)], axis=1)


def _jackknife(values: np.ndarray, ridge: float) -> tuple[float, float]:
    """g̃ − g on all groups (first axis), and its standard error by leaving out one of them at a time."""

    def difference(groups: np.ndarray) -> float:
        mean = groups.mean(axis=(0, 1))
        return float(mean[2] / (mean[3] + ridge) - mean[0] / (mean[1] + ridge))

    left_out = np.array([difference(np.delete(values, i, axis=0)) for i in range(len(values))])
    return difference(values), float(np.sqrt((len(values) - 1) * left_out.var()))


def algorithms(
    model: PromptModel, N: int, failure: float, penalty: float
) -> dict[str, tuple[Setting, Hyperparameters]]:
    """The published and the corrected algorithm, and the corrected one with a G that leaves Π_G idle at every L."""
    known = recipes.low_dimension(model, N, failure, penalty)
    G = hyperparameters.feature_bound_uniform(model, N, FAILURE)
    rate = hyperparameters.learning_rate_published(G, penalty)
    T = hyperparameters.iterations(2.5, N, rate, penalty)
    idle = replace(known[Setting.CORRECTED], feature_bound=G, learning_rate=rate, steps=T)
    chosen = {str(s): (s, known[s]) for s in (Setting.PUBLISHED, Setting.CORRECTED)}
    return {**chosen, FIXED: (Setting.CORRECTED, idle)}


def own_logarithms(hyper: Hyperparameters, model: PromptModel, N: int, failure: float, delta: float) -> float:
    """C⁸(1 + (log(N/κ)/D²)^{1/4})⁴T² log(1.25T/δ): the logarithms in the variance of Algorithm 1's noise.

    From s² = 2η₀²T²σ² log(1.25T/δ)/(εN)², σ ~ 2RG², R = C²√(N/L)/λ and G = C L^{-1/2}(1 + (log(N/κ)/D²)^{1/4}).
    """
    spread = (1 + (math.log(N / failure) / model.D**2) ** 0.25) ** 4
    return hyper.clip_norm**8 * spread * hyper.steps**2 * math.log(1.25 * hyper.steps / delta)


def exponents(D: int, penalty: float, label_noise: float, failure: float, budget: ApproximateDP) -> pd.DataFrame:
    """Noise part of the excess risk in closed form for N up to 10³⁰, with local exponents in N, the claims' too."""
    rows = []
    for N in SIZES:
        model = recipes.square_model(D, N, label_noise)
        for name, (setting, hyper) in algorithms(model, N, failure, penalty).items():
            std = accounts.setting_noise_std(setting, hyper, budget, N)
            curve = population.context_energy(model) / D**2
            risk = dynamics.noise_risk(hyper, model, std, curve)
            rows.append({"algorithm": name, "N": float(N), "noise_risk": risk})
            if setting == Setting.PUBLISHED:
                bare = risk / own_logarithms(hyper, model, N, failure, budget.delta)
                rows.append({"algorithm": OWN_LOGS, "N": float(N), "noise_risk": bare})
        for name, bound in (("bound (4.3)", bounds.low_dimensional_cost), (CLAIMED, bounds.low_dimensional_rate)):
            rows.append({"algorithm": name, "N": float(N), "noise_risk": bound(model, N, budget)})
    table = pd.DataFrame(rows)
    table["exponent"] = table.groupby("algorithm", sort=False)["noise_risk"].transform(
        lambda risk: _fits.local_exponents(np.array(SIZES, dtype=float), risk.to_numpy())
    )
    return table
