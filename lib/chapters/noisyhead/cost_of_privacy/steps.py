"""The steps of the proof, tried one by one: (A.2), the recursion (A.5)-(A.8), and what noise leaves in the weights."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from chapters.noisyhead.cost_of_privacy.problem import Problem
from companion import _fits
from costofprivacy.noisyhead import dynamics, head, population, pretraining, recipes
from costofprivacy.noisyhead.curvature import for_updates
from costofprivacy.noisyhead.head import Moments
from costofprivacy.noisyhead.hyperparameters import Hyperparameters
from costofprivacy.noisyhead.ridge import ridge
from costofprivacy.settings import Setting

LONG = 10**12  # steps, in closed form, after which descent has come to rest
RADII = np.logspace(-4, 0, 9)  # distances from Γ* over ‖Γ*‖ at which the recursion is tried
PROBES = 20  # directions at each distance
CHECKS = ("(A.5)", "(A.6)", "(A.7)", "(A.8)")
RESPONSE_STEPS = 100  # steps through which unit noise is followed
STEPPED = (2, 5, 20)  # dimensions in which (A.2) is tried
SPLITS = (0.1, 1.0, 10.0)  # values of its C₀
DRAWS = 2000  # steps at each of them


def noise_response_trial(cell: Problem, *, rng: np.random.Generator) -> np.ndarray:
    """‖Γ‖²_F and E⟨Γ, Z⟩² of RESPONSE_STEPS steps that are fed unit noise and no responses, Π_R away; shape (2,)."""
    raw, _ = head.sample_statistics(cell.model, cell.N, rng=rng)
    silent = Moments(head.moments(raw).gram, np.zeros(cell.D**2))
    free = replace(
        cell.hyper[Setting.PRINTED], weight_bound=recipes.FREE, feature_bound=recipes.FREE, steps=RESPONSE_STEPS
    )
    Gamma = pretraining.pretrain(for_updates(silent), free, [1.0], rng=rng)[0]
    return np.array([(Gamma**2).sum(), population.excess_risk(cell.model, Gamma)])


def response_rows(cell: Problem, samples: np.ndarray) -> pd.DataFrame:
    """Mean response to unit noise beside Σ_t (1 − η₀(2λ + h))^{2t}, times D² for the weights, E‖m‖² for the risk."""
    mean, error = _fits.mean_and_error(samples)
    energy = population.context_energy(cell.model)
    told = replace(cell.hyper[Setting.PRINTED], steps=RESPONSE_STEPS)
    risk = dynamics.noise_risk(told, cell.model, 1.0, energy / cell.D**2)
    measured = {"value": mean, "standard_error": error, "trials": len(samples)}
    closed = {"closed_form": [risk / energy * cell.D**2, risk]}
    return pd.DataFrame({"quantity": ["weights", "excess_risk"], "D": cell.D} | measured | closed)


def recursion_trial(cell: Problem, *, rng: np.random.Generator) -> np.ndarray:
    """The steps (A.5)-(A.8) tried on one data set, as printed and with λ/2; shape (settings, 4)."""
    raw, _ = head.sample_statistics(cell.model, cell.N, rng=rng)
    data = head.moments(raw)
    reference = ridge(data, cell.penalty)
    hyper = cell.hyper[Setting.PRINTED]
    halved = replace(hyper, penalty=cell.penalty / 2)
    return np.stack([_recursion(data, reference, h, cell.penalty, rng) for h in (hyper, halved)])


def _recursion(
    data: Moments, reference: np.ndarray, hyper: Hyperparameters, penalty: float, rng: np.random.Generator
) -> np.ndarray:
    """Least ⟨∇, Γ − Γ*⟩/(λ‖Γ − Γ*‖²); λ_max(∇²)/(G² + 2λ); worst step over (A.3)'s factor; (A.8) at rest, over R²."""
    centre, norm = reference.reshape(-1), np.linalg.norm(reference)
    rest = pretraining.gradient_descent(data, replace(hyper, steps=LONG)).reshape(-1)
    # The gradient's own direction is the worst; where descent rests at Γ* there is none.
    away = rest - centre if np.linalg.norm(rest - centre) > 1e-12 * norm else rng.standard_normal(len(centre))
    directions = np.vstack([away, -away, rng.standard_normal((PROBES - 2, len(centre)))])
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    offset = (RADII[:, None, None] * norm * directions).reshape(-1, len(centre))
    Gamma, square = centre + offset, (offset**2).sum(axis=1)
    gradient = Gamma @ data.gram - data.cross + 2 * hyper.penalty * Gamma
    convexity = (gradient * offset).sum(axis=1) / (penalty * square)
    smooth = hyper.feature_bound**2 + 2 * penalty
    factor = 1 - 2 * hyper.learning_rate * penalty + (hyper.learning_rate * smooth) ** 2
    stepped = ((offset - hyper.learning_rate * gradient) ** 2).sum(axis=1) / (factor * square)
    curvature = np.linalg.eigvalsh(data.gram)[-1] + 2 * hyper.penalty
    left_over = ((rest - centre) ** 2).sum() / hyper.weight_bound**2
    return np.array([convexity.min(), curvature / smooth, stepped.max(), left_over])


def recursion_rows(samples: np.ndarray) -> pd.DataFrame:
    """The worst of the checks over the data sets: (A.5) bounds from below, the others from above."""
    rows = []
    for s, setting in enumerate((Setting.PRINTED, Setting.CORRECTED)):
        for check, values in zip(CHECKS, samples[:, s].T):
            worst = values.min() if check == "(A.5)" else values.max()
            rows.append({"setting": str(setting), "check": check, "worst": worst, "data_sets": len(samples)})
    return pd.DataFrame(rows)


def projection_step(rng: np.random.Generator) -> pd.DataFrame:
    """(A.2) at random Γ* in the unit ball and noise of many sizes: the largest ratio of its left to its right sides."""
    return pd.DataFrame(
        [{"D": D, "C0": split, "draws": DRAWS} | _projected(D**2, split, rng) for D in STEPPED for split in SPLITS]
    )


def _projected(p: int, split: float, rng: np.random.Generator) -> dict[str, float]:
    star = rng.standard_normal((DRAWS, p))
    star *= rng.random((DRAWS, 1)) / np.linalg.norm(star, axis=1, keepdims=True)
    descended, noise = (
        rng.standard_normal((DRAWS, p)) * rng.lognormal(-1, 1, (DRAWS, 1)) / np.sqrt(p) for _ in range(2)
    )
    moved = star + descended + noise
    left = pretraining.project_ball(moved, 1.0) - star
    left, middle, before, added = ((v**2).sum(axis=1) for v in (left, descended + noise, descended, noise))
    right = (1 + 1 / split) * before + (1 + split) * added
    return {
        "outside": float((np.linalg.norm(moved, axis=1) > 1).mean()),
        "left_over_middle": (left / middle).max(),
        "middle_over_right": (middle / right).max(),
    }
