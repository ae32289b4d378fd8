r"""One step of Algorithm 1 of arXiv:2505.16329v2 without its noise, for many records at once.

With residual r = xᵀθ − y the step is θ ↦ θ − η̄ ḡ, where ḡ = r x min(1, C_clip/‖r x‖) and η̄ = min(η, 2/‖x‖²).

**It expands no distance, whatever the record.** It moves θ along x alone. In that direction, with s = xᵀθ, the step
is s ↦ s − a ψ(s − y), where a = η̄‖x‖² and ψ(r) = max(−C_clip/‖x‖, min(r, C_clip/‖x‖)). The slope of ψ is 0 or 1, so
that of the step is 1 or 1 − a, and the least Lipschitz constant is max(1, |1 − a|): 1 if and only if a ≤ 2, which is
what η̄ sees to.

**Replacing its record moves it by at most 2ηC_clip**, because a step is at most η̄‖ḡ‖ ≤ ηC_clip long. Two records with
‖x‖² ≤ 2/η, one opposite to the other, with residuals beyond C_clip/‖x‖ attain it.
"""

from __future__ import annotations

import math

import numpy as np

from costofprivacy import _validate


def clipped_gradients(theta: np.ndarray, x: np.ndarray, y: np.ndarray, clip_norm: float) -> np.ndarray:
    """Gradients of half the squared error, each shortened to norm C_clip: ḡ of Algorithm 1 of arXiv:2505.16329v2.

    Args:
        theta: shape (..., d). x: features, shape (..., d). y: responses, shape (...).
        clip_norm: C_clip in (0, ∞].

    Returns:
        shape (..., d), no row longer than ``clip_norm``.

    Raises:
        ValueError: if ``clip_norm`` is not positive.
    """
    bound = _validate.positive("clip_norm", clip_norm)
    residual = np.einsum("...d,...d", x, theta) - y
    with np.errstate(divide="ignore"):
        limit = bound / np.linalg.norm(x, axis=-1)
    return x * np.clip(residual, -limit, limit)[..., None]


def adapted_rates(learning_rate: float | np.ndarray, x: np.ndarray) -> np.ndarray:
    """Learning rates at which no record's step expands, η̄ = min(η, 2/‖x‖²) of Algorithm 1 of arXiv:2505.16329v2.

    Args:
        learning_rate: η ≥ 0, a shape that broadcasts with (...). x: features, shape (..., d).

    Returns:
        shape (...); η where x = 0.

    Raises:
        ValueError: if a learning rate is negative or not finite.
    """
    rates = np.asarray(learning_rate, dtype=float)
    wrong = ~((rates >= 0) & (rates < math.inf))
    if wrong.any():
        raise ValueError(f"learning_rate must be non-negative and finite, got {float(rates[wrong][0])}")
    with np.errstate(divide="ignore"):
        return np.minimum(rates, 2 / np.einsum("...d,...d", x, x))


def noiseless_step(
    theta: np.ndarray, x: np.ndarray, y: np.ndarray, learning_rate: float | np.ndarray, clip_norm: float
) -> np.ndarray:
    """A step of Algorithm 1 of arXiv:2505.16329v2 before its noise, θ − η̄ḡ.

    Guarantees: ‖step(θ) − step(θ')‖ ≤ ‖θ − θ'‖ for every record, and ‖step(θ) − θ‖ ≤ η C_clip.

    Args:
        theta: shape (..., d). x: features, shape (..., d). y: responses, shape (...).
        learning_rate: η ≥ 0, a shape that broadcasts with (...). clip_norm: C_clip in (0, ∞].

    Returns:
        shape (..., d).

    Raises:
        ValueError: if ``clip_norm`` is not positive, or a learning rate negative or not finite.
    """
    rates = adapted_rates(learning_rate, x)
    return theta - rates[..., None] * clipped_gradients(theta, x, y, clip_norm)


def step_sensitivities(learning_rates: np.ndarray, clip_norm: float) -> np.ndarray:
    """How far replacing its record can move each step, 2η_kC_clip; attained.

    Args:
        learning_rates: η_k ≥ 0, shape (n,). clip_norm: C_clip in (0, ∞).

    Raises:
        ValueError: if ``clip_norm`` is not positive and finite.
    """
    return 2 * _validate.finite_positive("clip_norm", clip_norm) * np.asarray(learning_rates, dtype=float)
