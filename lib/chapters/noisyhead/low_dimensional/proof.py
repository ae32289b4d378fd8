"""The proof of Theorem 4.2(i) in closed form, along N, along L, and along N with the largest D that it allows."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import pandas as pd

from costofprivacy.noisyhead import bounds, hyperparameters, population, recipes
from costofprivacy.noisyhead.bounds import shortening_risk
from costofprivacy.noisyhead.prompts import PromptModel
from costofprivacy.privacy import ApproximateDP

PENALTY, LABEL_NOISE = 1.0, 0.5  # of the proof's steps: λ ≍ 1, and a ν that is not one
FIXED_N, FIXED_L, FIXED_D = 10**6, 100, 3  # where an axis does not run
FAR_DECADES = range(3, 124, 12)  # of N on the axis of D, where D² = log NL, the largest that low dimension allows
DECADES_N, DECADES_L = range(3, 31, 3), range(2, 31, 2)
FLOOR_N = FLOOR_L = 10**4  # where the axes of the floors do not run
FLOOR_DECADES = range(3, 31, 3)


def steps(budget: ApproximateDP) -> pd.DataFrame:
    """Both sides of (A.15), (A.16), of the display before (A.17), and of (A.17), hidden constants one."""
    rows = [{"axis": axis, "N": float(N), "L": float(L), "D": D} | sides for axis, N, L, D in _axes()
            for sides in _sides(PromptModel(D, L, LABEL_NOISE), N, budget)]  # fmt: skip
    return pd.DataFrame(rows)


def _axes() -> Iterator[tuple[str, int, int, int]]:
    """Axis, N, L and D of each point."""
    yield from (("N", 10**k, FIXED_L, FIXED_D) for k in DECADES_N)
    yield from (("L", FIXED_N, 10**k, FIXED_D) for k in DECADES_L)
    yield from (("D", 10**k, FIXED_L, math.isqrt(math.floor(math.log(FIXED_L * 10**k)))) for k in FAR_DECADES)


def _sides(model: PromptModel, N: int, budget: ApproximateDP) -> list[dict[str, object]]:
    """The steps of the proof at one point, at κ = e^{-D²} and T of the theorem."""
    D, L, nu = model.D, model.L, model.response_variance
    failure = math.exp(-(D**2))
    rested = recipes.theorem(model, N, failure, PENALTY)
    hyper = replace(rested, steps=bounds.low_dimensional_iterations(model, N, rested.learning_rate, PENALTY))
    query_bound = hyperparameters.query_bound_theorem(model, N, failure)
    C, G, R, T = hyper.clip_norm, hyper.feature_bound, hyper.weight_bound, hyper.steps
    noise = bounds.cost_of_noise(hyper, query_bound, model, budget, N)
    logs, privacy = math.log(N * L), math.log(1 / budget.delta) / budget.epsilon**2
    scale = C * G + R * G**2
    found = {
        "(A.15)": (bounds.cost_of_descent(hyper, query_bound), nu**3 * logs**3 / (N * L**3)),
        "(A.16)": (noise, C**2 / L * scale**2 * D * T**3 * privacy / N**2),
        "CG + RG²": (scale, nu**2 * logs**3 * math.sqrt(N) / (L * D**2)),
        "(A.17)": (noise, nu**5 * logs**10 / (N * L**3) * privacy),
    }
    return [{"step": step, "left": left, "right": right} for step, (left, right) in found.items()]


def floor_axes(D: int, penalty: float, failure: float) -> pd.DataFrame:
    """What Π_G and the wrong resting point leave without noise on long prompts, beside (4.3) at ε = ∞."""
    points = [("N", 10**k, FLOOR_L) for k in FLOOR_DECADES] + [("L", FLOOR_N, 10**k) for k in FLOOR_DECADES]
    rows = []
    for axis, N, L in points:
        model = PromptModel(D, L)
        G = hyperparameters.feature_bound_theorem(model, N, failure)
        left = {
            "floor": shortening_risk(D, G, penalty),
            "minimiser": population.minimiser_gap(model, penalty),
            "bound": bounds.low_dimensional_cost(model, N, ApproximateDP(math.inf, 0.5)),
            "zero_risk": population.zero_excess_risk(model, penalty),
        }
        rows.append({"axis": axis, "N": float(N), "L": float(L), "feature_bound": G} | left)
    return pd.DataFrame(rows)
