"""Theorem 5.1, Remark 5.1 and the proof in closed form, followed along each size as far as one likes."""

from __future__ import annotations

import math
from collections.abc import Iterator

import pandas as pd

from chapters.noisyhead.robustness.theorem import Cell
from costofprivacy.noisyhead import attack as attack_bounds
from costofprivacy.noisyhead import dynamics, population, recipes
from costofprivacy.noisyhead.accounts import ALGORITHM, noise_std
from costofprivacy.noisyhead.attack import Attack, statistic_energy
from costofprivacy.noisyhead.hyperparameters import Hyperparameters
from costofprivacy.noisyhead.prompts import PromptModel
from costofprivacy.privacy import ApproximateDP

MULTIPLES = (1.01, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0)  # λ over C²/L in the table of windows
FAR = tuple(10**k for k in range(3, 31, 3))  # N at which the limits of Remark 5.1 are followed
POWERS = (0.6, 0.75, 1.0, 1.25, 1.5)  # L = ⌊N^q⌋: any q above 1/2 has N/L² log²(NL) → 0
PATH = 0.75  # the q along which both displacements are followed: √N ≪ L ≪ N
LEAST = MULTIPLES[0]  # λ over C²/L where the least admissible penalty is wanted
LEAST_AXIS = "N, least λ"  # along N at L = ⌊N^{3/4}⌋ and the least λ, where the bound on the displacement is tightest
N, L, D = 10**4, 10**3, 8  # where an axis of `sizes` starts or passes; κ > N exp(−D²) up to N = 1e25
AXES = {  # sizes along each axis, and λ over C²/L, or None for the chapter's λ
    "N": ([(10**k, L, D) for k in range(3, 16, 2)], None),
    "L": ([(N, 10**k, D) for k in range(2, 17, 2)], None),
    "D": ([(N, L, D * 2**k) for k in range(8)], None),
    LEAST_AXIS: ([(n, math.floor(n**PATH), D) for n in FAR[:8]], LEAST),
}
FEW_STEPS, BALL, GRAM, OUTLIER, GAP = "first of (5.3)", "(A.20)", "(A.21)", "(A.22)", "second of (5.3)"


def windows(cells: list[Cell]) -> pd.DataFrame:
    """(5.2) at μ = 1 and the second inequality of (5.3) at its lower end, by L and by λ over C²/L; constants one."""
    rows = []
    for cell in cells:
        sizes = cell.model, cell.N
        least = attack_bounds.least_penalty(*sizes, cell.failure)
        for multiple in MULTIPLES:
            penalty = multiple * least
            lower = attack_bounds.lower_end(*sizes, cell.failure, penalty)
            upper = attack_bounds.upper_end(*sizes, penalty)
            row = {
                "N": cell.N,
                "L": cell.L,
                "D": cell.D,
                "penalty_over_least": multiple,
                "penalty": penalty,
                "lower_end": lower,
                "upper_end": upper,
                "open_at_mu_1": lower <= upper,
                "gap": lower / (cell.N * penalty) / attack_bounds.noisyhead_displacement(*sizes, cell.failure),
            }
            rows.append(row)
    return pd.DataFrame(rows)


def simplified(failure: float) -> pd.DataFrame:
    """The lower end of (5.2) at λ = 1 over N²/L², along L = ⌊N^q⌋ for several q."""
    rows = []
    for q in POWERS:
        for N in FAR:
            model = _least_model(N, q, failure)
            ratio = attack_bounds.lower_end(model, N, failure, 1.0) / attack_bounds.lower_end_simplified(model, N)
            rows.append({"power": q, "N": float(N), "L": float(model.L), "D": model.D, "ratio": ratio})
    return pd.DataFrame(rows)


def _least_model(N: int, power: float, failure: float) -> PromptModel:
    """L = ⌊N^power⌋ and the least D with κ > N exp(−D²), as Theorem 5.1 asks."""
    D = max(2, math.floor(math.sqrt(max(0.0, math.log(N / failure)))) + 1)
    return PromptModel(D, math.floor(N**power))


def path(epsilon: float, delta: float, failure: float, penalty: float) -> pd.DataFrame:
    """NoisyHead's side of (5.3) along L = ⌊N^{3/4}⌋, in closed form: bounds at T = ⌈log N⌉, the limit T → ∞.

    The bound stands twice, at λ and at a λ just above C²/L.
    """
    rows, budget = [], ApproximateDP(epsilon, delta)
    for N in FAR:
        model, T = _least_model(N, PATH, failure), math.ceil(math.log(N))
        least = LEAST * attack_bounds.least_penalty(model, N, failure)
        hyper, small = (recipes.theorem(model, N, failure, value, T) for value in (penalty, least))
        bounds = [
            attack_bounds.rerun_displacement_mean(model, h, N, noise_std(ALGORITHM, h, budget, N, T))
            for h in (hyper, small)
        ]
        rows.append(
            {
                "N": float(N),
                "L": float(model.L),
                "D": model.D,
                "T": T,
                "bound_theorem": attack_bounds.noisyhead_displacement(model, N, failure),
                "bound_few_steps": bounds[0],
                "bound_small_penalty": bounds[1],
                "limit_many_steps": attack_bounds.filled_ball_displacement(model, hyper.weight_bound),
            }
        )
    return pd.DataFrame(rows)


def query_alone(model: PromptModel, N: int, hyper: Hyperparameters) -> pd.DataFrame:
    """Squared displacements if one prompt's query has the response y + α, and nothing else of the prompt changes.

    Γ* of (2.7) is linear in that response: it moves by α times the inverse matrix times vec(Z), here with the
    population's matrix N(λ + E‖Z‖²/D²)I. NoisyHead clips, and moves by no more than its bound.
    """
    energy, D = population.context_energy(model), model.D
    each = energy / (N * (hyper.penalty + energy / D**2)) ** 2 * energy / D**2
    bound = attack_bounds.trajectory_displacement(hyper, N) ** 2 * energy / D**2
    return pd.DataFrame(
        [{"alpha": a, "ridge": a**2 * each, "bound": bound} for a in (10.0**k for k in range(0, 13, 2))]
    )


def sizes(epsilon: float, delta: float, failure: float, penalty: float) -> pd.DataFrame:
    """Both sides of the claims about NoisyHead and about the matrices, along N, L and D; hidden constants one.

    ``length_over`` is L over the length up to which the claim is true, whatever the other sizes; none where no length
    decides.
    """
    rows, budget = [], ApproximateDP(epsilon, delta)
    for axis, (points, multiple) in AXES.items():
        for N, L, D in points:
            model = PromptModel(D, L)
            least = attack_bounds.least_penalty(model, N, failure)
            value = penalty if multiple is None else multiple * least
            hyper = recipes.theorem(model, N, failure, value, math.ceil(math.log(N)))
            at = {"axis": axis, "N": float(N), "L": float(L), "D": D, "penalty": value}
            every = [at | row for row in _claims(model, N, failure, hyper, budget)]
            rows += [row for row in every if axis != LEAST_AXIS or row["claim"] == FEW_STEPS]
    return pd.DataFrame(rows)


def _claims(
    model: PromptModel, N: int, failure: float, hyper: Hyperparameters, budget: ApproximateDP
) -> Iterator[dict[str, object]]:
    """Left and right side of each claim at one point."""
    least = attack_bounds.least_penalty(model, N, failure)
    claimed = attack_bounds.noisyhead_displacement(model, N, failure)
    log, T = math.log(N * model.L / failure), hyper.steps
    std = noise_std(ALGORITHM, hyper, budget, N, T)
    # The Gram matrix of the projected statistics has mean eigenvalue min(e, G²)/D² at most, and the noise's risk is
    # convex in it: twice the risk there is the least that two noises make, unless Π_R holds them on the sphere.
    curvature = min(dynamics.curvature(model), hyper.feature_bound**2 / model.D**2)
    noises = 2 * dynamics.noise_risk(hyper, model, std, curvature)
    filled = attack_bounds.filled_ball_displacement(model, hyper.weight_bound)
    attack = Attack(math.sqrt(attack_bounds.upper_end(model, N, hyper.penalty)), 1.0)
    lower = attack_bounds.lower_end(model, N, failure, hyper.penalty)
    noise_over = model.L * T**2 * math.log(1.25 * T / budget.delta) / (budget.epsilon**2 * N**3)
    sides = {
        FEW_STEPS: (min(noises, filled), claimed, noise_over),
        GAP: (claimed, lower / (N * hyper.penalty), None),
        BALL: (
            attack_bounds.ball_displacement_mean(model, hyper.weight_bound),
            attack_bounds.ball_displacement(model, N, failure, hyper.weight_bound),
            model.L / (model.D**3 * log),
        ),
        GRAM: (attack_bounds.gram_norm_rms(model, N) / N, least, model.L / (model.D**2 * log)),
        OUTLIER: (statistic_energy(model, attack), attack_bounds.outlier_energy(model, N, failure, attack), None),
    }
    for claim, (left, right, length_over) in sides.items():
        yield {"claim": claim, "left": left, "right": right, "ratio": left / right, "length_over": length_over}
