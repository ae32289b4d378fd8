r"""The excess risk along Algorithm 1 in closed form, as long as Π_R is idle: a part of descent and a part of noise.

Without Π_R the update is affine, so Γ^T = (its noiseless twin) + Σ_t M^{T−1−t} z_t with M = (1 − 2λη₀)I − η₀H, and the
noise has mean 0: the mean excess risk is that of the twin plus that of the noise. With the curvature h of the
population, H = hI, h = E‖m‖²/D² (`population`), both are elementary. On a data set the eigenvalues of H differ from h
by a multiple of h itself, which changes the risk by a relative O(h/λ): 1e-5 where λ = N/D, and nothing to speak of.
"""

from __future__ import annotations

import numpy as np

from costofprivacy.noisyhead.hyperparameters import Hyperparameters
from costofprivacy.noisyhead.population import context_energy
from costofprivacy.noisyhead.prompts import PromptModel


def curvature(model: PromptModel) -> float:
    """h = E‖m‖²/D²: every eigenvalue of the population's Gram matrix of vec(Z)."""
    return context_energy(model) / model.D**2


def noise_risk(hyper: Hyperparameters, model: PromptModel, noise_std: float, curvature: float = 0.0) -> float:
    r"""E⟨Γ^T − Γ^T_noiseless, Z⟩² where Π_R is idle: std² E‖m‖² Σ_{t<T} (1 − η₀(2λ + h))^{2t}.

    Args:
        hyper: λ, η₀, T. model: the law of a prompt. noise_std: of an entry of z_t.
        curvature: h ≥ 0, the eigenvalue of the Gram matrix; E‖m‖²/D² in the population, where it is h I.
    """
    return float(noise_risks(hyper, model, np.array(noise_std), np.array(hyper.steps), curvature))


def noise_risks(
    hyper: Hyperparameters, model: PromptModel, noise_std: np.ndarray, steps: np.ndarray, curvature: float = 0.0
) -> np.ndarray:
    """`noise_risk` after each T of ``steps``, with the standard deviation that belongs to it; of their shape."""
    square = (1 - hyper.learning_rate * (2 * hyper.penalty + curvature)) ** 2
    risks: np.ndarray = noise_std**2 * context_energy(model) * (1 - square**steps) / (1 - square)
    return risks


def cross_energy(model: PromptModel, N: int) -> float:
    r"""E‖b‖² of the cross moment b = N⁻¹ Σ y_k Z_k: (1 − 1/N)/D³ + E y²‖m‖²/N.

    E yZ = I/D² (`population`). Given w the query's E y² is ‖w‖²/D + τ², and ‖m‖² is on average ‖w‖²f + τ²/L with
    f = (E‖m‖² − τ²/L)/D, from the features alone; E‖w‖⁴ = D(D + 2).

    >>> round(cross_energy(PromptModel(D=31, L=31), 10**12) * 31**3, 6)
    1.0
    """
    tau2, D = model.label_noise**2, model.D
    f = (context_energy(model) - tau2 / model.L) / D
    square = f * (D + 2) + tau2 * (1 / model.L + D * f + tau2 / model.L)
    return (1 - 1 / N) / D**3 + square / N


def descent_risk(
    hyper: Hyperparameters, model: PromptModel, N: int, penalty: float, initial_energy: float, steps: np.ndarray
) -> np.ndarray:
    r"""E⟨Γ^T − Γ*, Z⟩² of the noiseless twin after each T of ``steps``, for H = hI.

    Γ^T = a^TΓ⁰ + (1 − a^T)b/(2λ' + h) with a = 1 − η₀(2λ' + h), λ' the update's penalty, and Γ* = b/(λ + h); Γ⁰ has
    mean 0 and is independent of the data.

    Args:
        hyper: λ' and η₀. penalty: λ of the reference Γ*.
        initial_energy: E‖Γ⁰‖²_F ≥ 0. steps: T ≥ 0, any shape.

    Returns:
        of the shape of ``steps``.
    """
    h = curvature(model)
    rest = 2 * hyper.penalty + h
    decay = (1 - hyper.learning_rate * rest) ** np.asarray(steps)
    off = (1 - decay) / rest - 1 / (penalty + h)
    return h * (decay**2 * initial_energy + off**2 * cross_energy(model, N))
