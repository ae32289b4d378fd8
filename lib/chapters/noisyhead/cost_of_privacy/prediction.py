"""What two heads' difference does to the test error: the display before Theorem 4.1 and the sentence after it."""

from __future__ import annotations

import numpy as np
import pandas as pd

from costofprivacy.noisyhead import head, population
from costofprivacy.noisyhead.head import Statistics
from costofprivacy.noisyhead.prompts import PromptModel

PENALTIES = (1e-3, 1e-1, 1.0, 5.0)
DRAWS = 20_000  # fresh prompts at each penalty
NOISE_STD = 1.0  # of an entry of the noise that is added to Γ*
BIAS, NOISE = "rest at ridge(2λ)", "noise of mean zero"


def split(model: PromptModel, rng: np.random.Generator) -> pd.DataFrame:
    """Γ* of the population beside the two ways in which Algorithm 1 misses it: a bias, and noise.

    ``split_worst`` is the largest L_test(Γ̂) over 2L_test(Γ*) + 2(difference of predictions)² of any prompt;
    ``error_gap`` the mean of L_test(Γ̂) − L_test(Γ*), ``excess_risk`` that of the squared difference, in closed form.
    """
    rows = []
    for penalty in PENALTIES:
        fresh, _ = head.sample_statistics(model, DRAWS, rng=rng)
        identity, g = np.eye(model.D), population.ridge_scale(model, penalty)
        bias = (population.ridge_scale(model, 2 * penalty) - g) * identity
        noise = NOISE_STD * rng.standard_normal((DRAWS, model.D, model.D))
        for name, difference in ((BIAS, np.broadcast_to(bias, noise.shape)), (NOISE, noise)):
            risk = float(population.excess_risk(model, bias)) if name == BIAS else _noise_risk(model)
            row = {"difference": name, "D": model.D, "L": model.L, "penalty": penalty}
            rows.append(row | _errors(fresh, g * identity, difference) | {"excess_risk": risk, "draws": DRAWS})
    return pd.DataFrame(rows)


def _noise_risk(model: PromptModel) -> float:
    """E⟨N, Z⟩² for independent entries of standard deviation NOISE_STD."""
    return NOISE_STD**2 * population.context_energy(model)


def _errors(fresh: Statistics, reference: np.ndarray, difference: np.ndarray) -> dict[str, float]:
    """The test errors of the reference and of reference + difference, one difference a prompt."""
    wrong = fresh.response - head.predict(reference, fresh)
    moved = np.einsum("nd,nde,ne->n", fresh.query, difference, fresh.context)
    private, best = (wrong - moved) ** 2, wrong**2
    gap = private - best
    return {
        "split_worst": (private / (2 * best + 2 * moved**2)).max(),
        "error_gap": gap.mean(),
        "gap_error": gap.std(ddof=1) / np.sqrt(len(gap)),
    }
