"""The events of the proof: how often they fail, what constants they need, and what (A.4) makes of them."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
from scipy import stats

from chapters.noisyhead.cost_of_privacy.problem import Size
from costofprivacy._compiled import compiled
from costofprivacy.noisyhead import head, hyperparameters, population, prompts

LONGEST = 10.0**30  # prompts, at which the constants are compared along D
PAIRED = (2, 10, 100, 1000)  # lengths of the prompts whose features cancel


def trial(cell: Size, *, rng: np.random.Generator) -> np.ndarray:
    """On one data set: max ‖Σx_i‖/√L, max |y|, max ‖Z‖, mean ‖Z‖, shares of ‖Z‖ above each of `levels`; shape (8,)."""
    sums, responses, norms = extremes(rng, cell.N, cell.L, cell.D, cell.label_noise)
    shares = [(level < norms).mean() for level in levels(cell).values()]
    return np.array([sums.max() / np.sqrt(cell.L), responses.max(), norms.max(), norms.mean(), *shares])


@compiled
def extremes(
    rng: np.random.Generator, N: int, L: int, D: int, label_noise: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """‖Σx_i‖, max |y| and ‖Z‖ = ‖L⁻¹ Σ y_i x_i‖ of N prompts, no token of which is kept; three of shape (N,).

    The numbers are drawn in the order of `prompts.sample`, whose prompts these are, and added token by token.
    """
    w, x, total, context = np.empty(D), np.empty(D), np.empty(D), np.empty(D)
    sums, responses, norms = np.empty(N), np.zeros(N), np.empty(N)
    for n in range(N):
        for d in range(D):
            w[d] = rng.standard_normal()
            total[d] = context[d] = 0.0
        for i in range(L + 1):
            square = along = 0.0
            for d in range(D):
                x[d] = rng.standard_normal()
                square += x[d] * x[d]
                along += w[d] * x[d]
            length = math.sqrt(square)
            y = along / length
            if label_noise > 0:
                y += label_noise * rng.standard_normal()
            responses[n] = max(responses[n], abs(y))
            if i < L:
                for d in range(D):
                    total[d] += x[d] / length
                    context[d] += y * x[d] / length
        sums[n] = math.sqrt(np.sum(total * total))
        norms[n] = math.sqrt(np.sum(context * context)) / L
    return sums, responses, norms


def levels(cell: Size) -> dict[str, float]:
    """The levels that ‖Z‖ is held against."""
    arguments = (cell.model, cell.N, cell.failure)
    return {
        "G, theorem": hyperparameters.feature_bound_theorem(*arguments),
        "G, proof": hyperparameters.feature_bound_proof(*arguments),
        "G0, proof": hyperparameters.query_bound_proof(*arguments),
        "G, uniform in L": hyperparameters.feature_bound_uniform(*arguments),
    }


def event_row(cell: Size, samples: np.ndarray) -> dict[str, float]:
    """How often the events of the proof fail, over data sets, and what share of prompts each level cuts."""
    bound_of = levels(cell)
    C = hyperparameters.clip_norm(cell.model, cell.N, cell.failure)
    sums, responses, largest, mean_norm = samples[:, :4].T
    allowed = responses * sums / np.sqrt(cell.L)  # the least G that gives the data set 𝒟₂, for its least C
    row = {
        "N": cell.N,
        "L": cell.L,
        "D": cell.D,
        "data_sets": len(samples),
        "mean_norm": mean_norm.mean(),
        "standard_error": mean_norm.std(ddof=1) / np.sqrt(len(samples)),
        "root_energy": np.sqrt(population.context_energy(cell.model)),
        "D2_fails": int((sums > bound_of["G, proof"] / (C / np.sqrt(cell.L))).sum()),
        "D2_lemma_fails": int((sums > 1 + np.sqrt(np.log(cell.N / cell.failure) / cell.D)).sum()),
        "D3_fails": int((responses > C).sum()),
        "D3_union_bound": cell.N * (cell.L + 1) * 2 * stats.norm.sf(C / np.sqrt(cell.model.response_variance)),
        "A4_ratio": (largest / allowed).max(),
        "A4_violated": int((largest > allowed).sum()),
        "kappa": cell.failure,
    }
    return row | bound_of | {f"share above {name}": share.mean() for name, share in zip(bound_of, samples[:, 4:].T)}


def sum_constants(D: int, failure: float) -> pd.DataFrame:
    """The constant that 𝒟₂ needs in front of each form of G, as N grows."""
    sizes = [10.0**power for power in range(3, 31, 3)]
    return pd.DataFrame([{"N": N, "log_odds": np.log(N / failure)} | _constants(N, D, failure) for N in sizes])


def sum_constants_by_dimension(failure: float) -> pd.DataFrame:
    """The same constants as D grows, at the largest N."""
    dimensions = (2, 5, 10, 20, 50, 100, 1000, 10000)
    return pd.DataFrame([{"N": LONGEST, "D": D} | _constants(LONGEST, D, failure) for D in dimensions])


def _constants(N: float, D: int, failure: float) -> dict[str, float]:
    """As L → ∞, where ‖Σx_i‖²/L is χ²_D/D: the level of all N prompts over each form of G.

    The level that all N prompts respect with probability 1 − κ is the upper κ/N quantile, to first order. For the
    form of Lemma A.2 the constant is at most √2: P(χ_D > √D + √(2t)) ≤ e^{−t} by Gaussian concentration.
    """
    level, odds = np.sqrt(stats.chi2.isf(failure / N, D) / D), np.log(N / failure)
    return {
        "constant_proof": level / (1 + (odds / D**2) ** 0.25),
        "constant_lemma": level / (1 + np.sqrt(odds / D)),
    }


def signed_sums(D: int, rng: np.random.Generator) -> pd.DataFrame:
    """Prompts whose features come in opposite pairs: their sum is 0, so that 𝒟₂ has every G > 0, and Z is not."""
    return pd.DataFrame([_paired_prompt(L, D, rng) for L in PAIRED])


def _paired_prompt(L: int, D: int, rng: np.random.Generator) -> dict[str, float]:
    drawn = rng.standard_normal((L // 2 + 1, D))
    query, *tokens = drawn / np.linalg.norm(drawn, axis=1, keepdims=True)
    w, x = rng.standard_normal(D), np.array([*tokens, *(-token for token in tokens), query])
    prompt = prompts.Prompts(x[None], (x @ w)[None], w[None])
    response = np.abs(prompt.y).max()
    sum_norm = math.hypot(*(math.fsum(column) for column in x[:-1].T))  # exact: the pairs cancel to the last bit
    return {
        "L": L,
        "D": D,
        "sum_norm": sum_norm,
        "largest_response": response,
        "allowed": response * sum_norm / L,
        "statistic_norm": head.statistics(prompt).norm[0],
    }
