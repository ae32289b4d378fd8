"""What the high-dimensional regime tends to as N → ∞, in closed form, and what its reference predicts at all."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from chapters.noisyhead import authors
from companion import _fits
from costofprivacy.noisyhead import bounds, dynamics, population, pretraining, recipes
from costofprivacy.noisyhead.hyperparameters import Hyperparameters
from costofprivacy.noisyhead.prompts import PromptModel
from costofprivacy.privacy import ApproximateDP, basic_noise_multiplier

SIZES = tuple(10 ** (2 * k) for k in range(1, 13))
LOW_D, LOW_PENALTY = 5, 5.0  # the low-dimensional experiment of section 6.1
FIGURE_2_STEPS = 5
LOW, HIGH = "low", "high"
NOISE, BARE, FROM_R, FIGURE_2 = "noise", "noise, logarithms out", "descent from R", "descent of Figure 2"
TRIVIAL, RATE_11, BOUND, STOPPED = "answering 0", "Theorem 1.1", "(4.5) at r = N", "(4.6)"
AT_T = "risk over Theorem 1.1 at ε = T"


@dataclass(frozen=True)
class Point:
    """Algorithm 1 at one N in one regime, stopped as the paper's theorem says."""

    regime: str
    N: int
    model: PromptModel
    hyper: Hyperparameters


def points(label_noise: float, failure: float) -> Iterator[Point]:
    """Low dimension as in section 6.1 after Theorem 4.2(i)'s T; high dimension as in Proposition 4.1 at r = N."""
    for N in SIZES:
        low, high = recipes.square_model(LOW_D, N, label_noise), recipes.overparametrised_model(N, label_noise)
        for regime, model, lam in ((LOW, low, LOW_PENALTY), (HIGH, high, recipes.high_dimension_penalty(N))):
            hyper = recipes.theorem(model, N, failure, lam)
            T = _steps(regime, model, N, hyper.learning_rate, lam)
            yield Point(regime, N, model, replace(hyper, steps=T))


def _steps(regime: str, model: PromptModel, N: int, eta: float, lam: float) -> int:
    if regime == LOW:
        return bounds.low_dimensional_iterations(model, N, eta, lam)
    return bounds.high_dimensional_iterations(N, eta, lam)


def bare_noise_std(point: Point, budget: ApproximateDP) -> float:
    """The noise's standard deviation with its logarithms out: C, the brackets of (4.1), T and log(1/δ) set to one."""
    model, hyper, N = point.model, point.hyper, point.N
    R = math.sqrt(N / model.L) / hyper.penalty
    bare = replace(hyper, clip_norm=1.0, feature_bound=model.L**-0.5, weight_bound=R)
    return pretraining.update_sensitivity(bare, N) / budget.epsilon


def noise_std(hyper: Hyperparameters, N: int, budget: ApproximateDP) -> float:
    """The noise's standard deviation by Algorithm 1, for an ε beyond T too."""
    return pretraining.update_sensitivity(hyper, N) * basic_noise_multiplier(budget, hyper.steps)


def powers(label_noise: float, failure: float, budget: ApproximateDP) -> pd.DataFrame:
    """Parts of the excess risk for N up to 10²⁴ in both regimes with their local exponents in N, and Theorem 1.1's."""
    rows = []
    for point in points(label_noise, failure):
        for name, value in _parts(point, budget).items():
            rows.append({"regime": point.regime, "quantity": name, "N": float(point.N), "value": value})
    table = pd.DataFrame(rows)
    groups = table.groupby(["regime", "quantity"], sort=False)["value"]
    sizes = np.array(SIZES, dtype=float)
    table["exponent"] = groups.transform(lambda value: _fits.local_exponents(sizes, value.to_numpy()))
    return table


def _parts(point: Point, budget: ApproximateDP) -> dict[str, float]:
    model, hyper, N, lam = point.model, point.hyper, point.N, point.hyper.penalty
    h = dynamics.curvature(model)
    rate = bounds.low_dimensional_rate if point.regime == LOW else bounds.high_dimensional_rate
    parts = {
        NOISE: dynamics.noise_risk(hyper, model, noise_std(hyper, N, budget), h),
        BARE: dynamics.noise_risk(hyper, model, bare_noise_std(point, budget), h),
        TRIVIAL: h * dynamics.cross_energy(model, N) / (lam + h) ** 2,
        RATE_11: rate(model, N, budget),
    }
    if point.regime == LOW:
        return parts
    stopped, five = np.array([hyper.steps]), np.array([FIGURE_2_STEPS])
    R2, start = hyper.weight_bound**2, (authors.INITIAL_STD * model.D) ** 2
    return parts | {
        FROM_R: dynamics.descent_risk(hyper, model, N, lam, R2, stopped)[0],
        FIGURE_2: dynamics.descent_risk(hyper, model, N, lam, start, five)[0],
        AT_T: _over_rate(point, hyper.weight_bound**2, ApproximateDP(float(hyper.steps), budget.delta)),
        BOUND: sum(bounds.overparametrised_cost(model, N, N, budget)),
        STOPPED: bounds.stopped_cost(model, N),
    }


def _over_rate(point: Point, energy: float, budget: ApproximateDP) -> float:
    """The whole risk from E‖Γ⁰‖² = ``energy`` over Theorem 1.1's rate, in high dimension."""
    model, hyper, N, lam = point.model, point.hyper, point.N, point.hyper.penalty
    noise = dynamics.noise_risk(hyper, model, noise_std(hyper, N, budget), dynamics.curvature(model))
    descent = dynamics.descent_risk(hyper, model, N, lam, energy, np.array([hyper.steps]))[0]
    return (noise + descent) / bounds.high_dimensional_rate(model, N, budget)


def reference_shares(N: int, label_noise: float) -> pd.DataFrame:
    """Share of Var(y) that the population's ridge solution predicts at λ = 10^{−k}N/D, and the best linear head's."""
    model, rows = recipes.overparametrised_model(N, label_noise), []
    for k in range(0, 9):
        lam = recipes.high_dimension_penalty(N) * 10.0**-k
        error = population.ridge_prediction_error(model, lam)
        share = 1 - error / model.response_variance
        rows.append({"N": N, "D": model.D, "penalty": lam, "powers_of_ten_below": k, "share_predicted": share})
    return pd.DataFrame(rows).assign(
        best_linear_head=1 - population.best_prediction_error(model) / model.response_variance
    )
