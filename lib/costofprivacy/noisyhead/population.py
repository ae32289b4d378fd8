r"""The prompt model's moments in closed form, and the risk of any Γ without a single test prompt.

For the model of section 2, with m = L⁻¹ Σ y_i x_i and e = E‖m‖²:

* E y_i² = 1 + τ², and for i ≠ j, E y_i y_j ⟨x_i, x_j⟩ = E⟨x_i, x_j⟩² = 1/D, so
  e = (1 + τ²)/L + (L − 1)/(LD);
* the law of (w, x₁, …, x_L) is isotropic and the query independent of it, so E m mᵀ = (e/D) I, E x xᵀ = I/D and
  E m wᵀ = E (L⁻¹ Σ x_i x_iᵀ) w wᵀ = I/D.

Hence E⟨Γ, Z⟩² = ‖Γ‖²_F e/D² and E y⟨Γ, Z⟩ = tr(Γ)/D², which gives every function below.
"""

import numpy as np

from costofprivacy.noisyhead.prompts import PromptModel


def context_energy(model: PromptModel) -> float:
    """E‖m‖² = E‖Z‖²_F = (1 + τ²)/L + (L − 1)/(LD): tends to 1/D, not to 0, as L grows.

    >>> context_energy(PromptModel(D=5, L=1))
    1.0
    """
    return model.response_variance / model.L + (model.L - 1) / (model.L * model.D)


def excess_risk(model: PromptModel, difference: np.ndarray) -> np.ndarray:
    """E⟨Γ − Γ', Z⟩² over an independent test prompt, for differences of shape (..., D, D)."""
    return (difference**2).sum(axis=(-2, -1)) * context_energy(model) / model.D**2


def prediction_error(model: PromptModel, Gamma: np.ndarray) -> np.ndarray:
    """E(y_{L+1} − ⟨Γ, Z⟩)² over an independent test prompt, for Γ of shape (..., D, D)."""
    trace = np.trace(Gamma, axis1=-2, axis2=-1)
    return model.response_variance - 2 * trace / model.D**2 + excess_risk(model, Gamma)


def ridge_scale(model: PromptModel, penalty: float) -> float:
    """The g with gI = argmin E(y − ⟨Γ, Z⟩)² + λ‖Γ‖²_F: g = 1/(E‖m‖² + λD²), the limit of Γ* as N → ∞.

    >>> round(ridge_scale(PromptModel(D=5, L=31), 5.0), 5)
    0.00799
    """
    return 1 / (context_energy(model) + penalty * model.D**2)


def ridge_prediction_error(model: PromptModel, penalty: float) -> float:
    """Test error of the population's ridge solution, 1 + τ² − 2g/D + g² E‖m‖²/D."""
    g = ridge_scale(model, penalty)
    return model.response_variance - 2 * g / model.D + g**2 * context_energy(model) / model.D


def best_prediction_error(model: PromptModel) -> float:
    """The least test error of any linear head: 1 + τ² − L/((1 + τ²)D + L − 1), (D − 1)/(D + L − 1) for τ = 0.

    >>> round(best_prediction_error(PromptModel(D=5, L=31)) - 4 / 35, 12) == 0
    True
    """
    return ridge_prediction_error(model, 0.0)


def minimiser_gap(model: PromptModel, penalty: float) -> float:
    """E⟨Γ_{2λ} − Γ_λ, Z⟩² in the population: the excess risk at which Algorithm 1 without noise comes to rest."""
    gap = ridge_scale(model, 2 * penalty) - ridge_scale(model, penalty)
    return gap**2 * context_energy(model) / model.D


def zero_excess_risk(model: PromptModel, penalty: float) -> float:
    """E⟨Γ_λ, Z⟩²: the excess risk of the head that always answers 0."""
    return ridge_scale(model, penalty) ** 2 * context_energy(model) / model.D
