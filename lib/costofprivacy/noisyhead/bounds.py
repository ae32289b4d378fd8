r"""The right-hand sides of Theorems 3.2, 4.1, 4.2(i) and Remarks 4.1-4.3 of arXiv:2504.16000v2.

Hidden constants (≲, ≍) are one wherever a function here has to take a value; the docstrings say which.
"""

from __future__ import annotations

import math

from costofprivacy import _validate
from costofprivacy.noisyhead.hyperparameters import Hyperparameters
from costofprivacy.noisyhead.population import context_energy
from costofprivacy.noisyhead.prompts import PromptModel
from costofprivacy.privacy import ApproximateDP


def cost_of_descent(hyper: Hyperparameters, query_bound: float) -> float:
    """G₀²(1 − η₀λ)^T R²: the first term of (4.2), "cost of descent" of Remark 4.1."""
    decay = (1 - hyper.learning_rate * hyper.penalty) ** hyper.steps
    return query_bound**2 * decay * hyper.weight_bound**2


def cost_of_noise(
    hyper: Hyperparameters, query_bound: float, model: PromptModel, budget: ApproximateDP, N: int
) -> float:
    """G₀²σ²η₀²D T² log(2T/δ)/(N²ε²): the second term of (4.2), "cost of noise injection" of Remark 4.1."""
    T, eta = hyper.steps, hyper.learning_rate
    scale = (query_bound * hyper.sigma * eta * T / (N * budget.epsilon)) ** 2
    return scale * model.D * math.log(2 * T / budget.delta)


def success_probability(failure: float) -> float:
    """1 − 4κ: what Theorems 4.1 and 4.2 guarantee at most, before c₁exp(−c₂D) is taken off.

    >>> success_probability(1.0)
    -3.0
    """
    return 1 - 4 * failure


def low_dimensional_iterations(model: PromptModel, N: int, learning_rate: float, penalty: float) -> int:
    """T = ⌊log(N²LD³)/log(1/(1 − η₀λ))⌋ of Theorem 4.2(i), at least 1."""
    step = learning_rate * penalty
    if not 0 < step < 1:
        raise ValueError(f"learning_rate * penalty must be between 0 and 1, got {step!r}")
    return max(1, math.floor(math.log(N**2 * model.L * model.D**3) / -math.log1p(-step)))


def low_dimensional_cost(model: PromptModel, N: float, budget: ApproximateDP) -> float:
    """ν⁵ log¹⁰(NL)/(NL³)·(1 + log(1/δ)/ε²): right side of (4.3), hidden constant one."""
    _validate.positive("N", N)
    nu, L = model.response_variance, model.L
    privacy = 1 - math.log(budget.delta) / budget.epsilon**2
    return nu**5 * math.log(N * L) ** 10 / (N * L**3) * privacy


def low_dimensional_rate(model: PromptModel, N: float, budget: ApproximateDP) -> float:
    """N^{-3/2}L^{-2} log(1/δ)/ε²: Theorem 1.1, low dimension, constant one, logarithms hidden."""
    return N**-1.5 * model.L**-2.0 * -math.log(budget.delta) / budget.epsilon**2


def noise_risk(hyper: Hyperparameters, model: PromptModel, noise_std: float, curvature: float = 0.0) -> float:
    r"""E⟨Γ^T − Γ^T_noiseless, Z⟩² in closed form where Π_R is idle: std² E‖m‖² Σ_t (1 − η₀(2λ + h))^{2t}.

    Args:
        curvature: h ≥ 0, the eigenvalue of the Gram matrix; E‖m‖²/D² in the population, where it is h I.
    """
    square = (1 - hyper.learning_rate * (2 * hyper.penalty + curvature)) ** 2
    return noise_std**2 * context_energy(model) * (1 - square**hyper.steps) / (1 - square)


def amended_cost(hyper: Hyperparameters, model: PromptModel, noise_std: float) -> float:
    r"""E‖m‖² {a^{2T}R²/D² + std² (1 − a^{2T})/(1 − a²)}, a = 1 − 2η₀λ': what (4.2) becomes, in expectation.

    Assumes: the update's penalty λ' is half of the ridge penalty, so that Γ* is its fixed point; Π_G and the clipping
    idle; ‖Γ*‖_F ≤ R; Γ⁰ = 0; η₀(2λ' + G²) ≤ 1. Then Π_R moves no iterate away from Γ*, one step contracts by a, and
    E‖Γ^{t+1} − Γ*‖² ≤ a² E‖Γ^t − Γ*‖² + D² std²; a fresh prompt turns E‖·‖²_F into risk by the factor E‖m‖²/D².
    """
    square = (1 - 2 * hyper.learning_rate * hyper.penalty) ** 2
    decay = square**hyper.steps
    noise = noise_std**2 * (1 - decay) / (1 - square)
    return context_energy(model) * (decay * hyper.weight_bound**2 / model.D**2 + noise)
