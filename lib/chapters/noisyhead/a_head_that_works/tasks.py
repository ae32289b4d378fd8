"""What if tasks are not isotropic? The covariance alone cannot know; the head that learns from responses can."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from chapters.noisyhead.a_head_that_works import curves
from chapters.noisyhead.a_head_that_works.curves import Cell
from chapters.noisyhead.a_head_that_works.problems import least_squares, name_of, settled
from companion.streams import Runner
from costofprivacy.noisyhead import covariance_head, quadratic, token_laws, whitened_descent, whitened_plan
from costofprivacy.noisyhead.head import statistics
from costofprivacy.noisyhead.prompts import Prompts
from costofprivacy.noisyhead.token_laws import TokenLaw

ALONG, AGAINST, ALIKE, UNEVEN = "along", "against", "isotropic", "uneven"
STREAM = 3
COLUMNS = ("best", "non-private", *curves.METHODS)


@dataclass(frozen=True)
class Law:
    """Tasks w ~ N(0, W), W along the features' axes, scaled so that the response has variance 1.

    Args:
        cell: with one ε. tasks: W ∝ I, Σ or Σ⁻¹; ``uneven``: of condition number ``condition``, for isotropic features.
        condition: of W, where it is uneven.
    """

    cell: Cell
    tasks: str
    condition: float = 1.0

    @property
    def key(self) -> int:
        """The same features and noise for all laws of the tasks."""
        return self.cell.key

    def weights(self, values: np.ndarray) -> np.ndarray:
        """Eigenvalues of W for those of Σ, shape (D,)."""
        if self.tasks == UNEVEN:
            shares = token_laws.eigenvalues(len(values), self.condition)
            return np.asarray(shares / (values * shares).sum())
        power = {ALIKE: 0.0, ALONG: 1.0, AGAINST: -1.0}[self.tasks]
        return np.asarray(values**power / (values ** (1 + power)).sum())


def trial(case: Law, *, rng: np.random.Generator) -> np.ndarray:
    """Test errors of `COLUMNS` at the first ε."""
    cell = case.cell
    values, Q = token_laws.eigenvalues(cell.D, cell.condition), token_laws.rotation(cell.D, rng=rng)
    law = token_laws.gaussian((Q * values) @ Q.T) if cell.condition > 1 else token_laws.sphere(cell.D)
    weights = case.weights(values)
    plain = token_laws.sample(law, cell.N, cell.L, rng=rng)
    w = plain.w @ (Q * np.sqrt(weights)) @ Q.T
    prompts = Prompts(plain.x, np.matmul(plain.x, w[:, :, None])[:, :, 0], w)
    budget = cell.budgets[0]
    told = whitened_plan.plan(cell.D, cell.L, cell.N, budget, every_token=True)
    data = quadratic.asked(prompts)
    moment = data.features(covariance_head.CLIP_NORM)[0]
    W = (Q * weights) @ Q.T
    heads = [
        best_for(law, W, cell.L),
        least_squares(statistics(prompts)),
        whitened_descent.simulated(data, told, rng=rng),
        covariance_head.release(moment, cell.N, cell.L, budget, law.spread, rng=rng),
    ]
    return np.array([error_for(law, W, cell.L, Gamma) for Gamma in heads])


def context_moment(law: TokenLaw, W: np.ndarray, L: int) -> np.ndarray:
    """E m mᵀ for E w wᵀ = W: (1 − 1/L) ΣWΣ + q (2ΣWΣ + tr(ΣW) Σ)/L, the last term being E xxᵀWxxᵀ/L.

    q = 1 for Gaussian features (Isserlis), D/(D + 2) on the sphere.
    """
    Sigma = law.covariance
    q = 1.0 if law.spread == token_laws.GAUSSIAN else law.D / (law.D + 2)
    moment: np.ndarray = (1 + (2 * q - 1) / L) * Sigma @ W @ Sigma + q * np.trace(Sigma @ W) / L * Sigma
    return moment


def best_for(law: TokenLaw, W: np.ndarray, L: int) -> np.ndarray:
    """Γ° = WΣ (E m mᵀ)⁻¹."""
    best: np.ndarray = W @ law.covariance @ np.linalg.inv(context_moment(law, W, L))
    return best


def error_for(law: TokenLaw, W: np.ndarray, L: int, Gamma: np.ndarray) -> float:
    """tr(ΣW) − 2 tr(ΓᵀΣWΣ) + tr(ΓᵀΣΓ E m mᵀ)."""
    Sigma = law.covariance
    gain = 2 * np.trace(Gamma.T @ Sigma @ W @ Sigma)
    return float(np.trace(Sigma @ W) - gain + np.trace(Gamma.T @ Sigma @ Gamma @ context_moment(law, W, L)))


def table(runner: Runner, cells: list[Cell], uneven: float, trials: int, seed: int) -> pd.DataFrame:
    """covariance, N, L, epsilon, tasks, method, test_error, standard_error, trials; response of variance 1.

    Args:
        cells: each with one ε. uneven: condition number of the tasks of isotropic features.
    """
    rows = []
    cases: list[Law] = []
    for cell in cells:
        skewed = [Law(cell, tasks) for tasks in (ALIKE, ALONG, AGAINST)]
        cases += skewed if cell.condition > 1 else [Law(cell, UNEVEN, uneven)]
    for case, values in runner.run(trial, cases, trials, seed).items():
        mean, error = settled(values)  # the best head's does not depend on the trial
        cell = case.cell
        where = {"covariance": name_of(cell.condition), "N": cell.N, "L": cell.L, "epsilon": cell.epsilon[0]}
        for method, m, e in zip(COLUMNS, mean, error, strict=True):
            rows.append(where | {"tasks": case.tasks, "method": method, "test_error": m, "standard_error": e})
    return pd.DataFrame(rows).assign(trials=trials)
