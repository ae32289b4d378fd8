r"""The best linear head for features of any covariance, and the test error of every head, in closed form.

Let S = L⁻¹ Σ x_i x_iᵀ be a prompt's own second moment; then m = S w + noise, and the query is independent of m.
With E w wᵀ = I, for features with covariance Σ and spread s (`token_laws`):

* E y x mᵀ = Σ E[w mᵀ] = Σ²;
* K = E m mᵀ = E S² + τ²Σ/L = (1 − 1/L) Σ² + (E‖x‖²xxᵀ + τ²Σ)/L = (1 + (s − 1)/L) Σ² + ((tr Σ + τ²)/L) Σ.

The test error of ŷ = xᵀΓm is quadratic in Γ,

.. math:: E(y-\hat y)^2 = \mathrm{tr}\,\Sigma + \tau^2 - 2\,\mathrm{tr}(\Gamma^\top\Sigma^2)
    + \mathrm{tr}(\Gamma^\top\Sigma\,\Gamma K),

so the best head is Γ° = Σ K⁻¹ = [(1 + (s − 1)/L) Σ + ((tr Σ + τ²)/L) I]⁻¹: a function of Σ alone. Who knows Σ knows
the best head before any prompt is seen; who does not has D(D + 1)/2 numbers to learn, and every token of every prompt
tells of them. As L → ∞, Γ° → Σ⁻¹ whatever the law of the tasks.
"""

import numpy as np

from costofprivacy import _validate
from costofprivacy.noisyhead.token_laws import TokenLaw


def best_head(law: TokenLaw, L: int, label_noise: float = 0.0) -> np.ndarray:
    """Γ° = [(1 + (s − 1)/L) Σ + ((tr Σ + τ²)/L) I]⁻¹, shape (D, D).

    Args:
        law: of the features. L: labelled tokens, at least 1. label_noise: τ ≥ 0.

    >>> from costofprivacy.noisyhead.token_laws import sphere
    >>> best_head(sphere(5), 31).diagonal().round(6).tolist() == [round(5 * 31 / 35, 6)] * 5
    True
    """
    L = _validate.whole("L", L)
    ridge = (law.energy + _validate.nonnegative("label_noise", label_noise) ** 2) / L
    inverse: np.ndarray = np.linalg.inv((1 + (law.spread - 1) / L) * law.covariance + ridge * np.eye(law.D))
    return inverse


def context_moment(law: TokenLaw, L: int, label_noise: float = 0.0) -> np.ndarray:
    """K = E m mᵀ, shape (D, D)."""
    Sigma, noise = law.covariance, label_noise**2
    moment: np.ndarray = (1 + (law.spread - 1) / L) * Sigma @ Sigma + (law.energy + noise) / L * Sigma
    return moment


def head_error(law: TokenLaw, L: int, Gamma: np.ndarray, label_noise: float = 0.0) -> np.ndarray:
    """E(y − xᵀΓm)² over an independent test prompt, for Γ of shape (..., D, D)."""
    Sigma = law.covariance
    gain = np.einsum("...de,de->...", Gamma, Sigma @ Sigma)
    energy = np.einsum("...de,...de->...", Gamma, Sigma @ Gamma @ context_moment(law, L, label_noise))
    error: np.ndarray = law.energy + label_noise**2 - 2 * gain + energy
    return error


def best_error(law: TokenLaw, L: int, label_noise: float = 0.0) -> float:
    """The least test error of a linear head, tr Σ + τ² − tr(Γ°Σ²).

    >>> from costofprivacy.noisyhead.token_laws import sphere
    >>> round(best_error(sphere(5), 31), 10) == round(4 / 35, 10)
    True
    """
    gain = np.trace(best_head(law, L, label_noise) @ law.covariance @ law.covariance)
    return float(law.energy + label_noise**2 - gain)


def scale_without_data(law: TokenLaw, L: int, label_noise: float = 0.0) -> float:
    """g of the best head gI: all that is left where the eigenvalues of Σ are public and its directions are not.

    For directions that are uniform over all rotations gI is the best of all heads that use no data: the average of
    the quadratic test error over rotations is that of the average over rotations of Γ, which is a multiple of I, plus
    what the rest costs.
    """
    Sigma = law.covariance
    return float(np.trace(Sigma @ Sigma) / np.trace(Sigma @ context_moment(law, L, label_noise)))
