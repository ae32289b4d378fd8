r"""The test error along Algorithm 1 from Γ⁰ = 0 in closed form: what descent learns, and what noise adds at most.

Without noise Γ^T = g_T b with g_T = (1 − a^T)/(2λ + h) and a = 1 − η₀(2λ + h) (`dynamics`), where H = hI. A matrix Γ
that does not depend on the query has the test error 1 + τ² − 2 tr(Γ)/D² + h‖Γ‖²_F (`population`), and E tr b = 1/D:

.. math:: \mathrm{error}_T = 1 + \tau^2 - \frac{2g_T}{D^3} + h\,g_T^2\,E\|b\|^2 + (\text{the noise's part}).

The noise has mean 0 and is independent of b, so its part is that of the excess risk, `dynamics.noise_risk`.
"""

from __future__ import annotations

import numpy as np

from costofprivacy.noisyhead import dynamics
from costofprivacy.noisyhead.hyperparameters import Hyperparameters
from costofprivacy.noisyhead.prompts import PromptModel


def noiseless_gain(hyper: Hyperparameters, model: PromptModel, N: int, steps: np.ndarray) -> np.ndarray:
    """By how much Algorithm 1 without noise, from Γ⁰ = 0 and Π_R idle, is on average better than answering 0.

    Assumes: the Gram matrix of the statistics is h I, its mean, right to O(h/λ) relative; clipping and projection
    change no statistic.

    Args:
        hyper: λ and η₀ of the update. model: the law of a prompt. N: training prompts. steps: T ≥ 0, any shape.

    Returns:
        1 + τ² less the test error after each T, of the shape of ``steps``; 0 at T = 0.

    >>> from costofprivacy.noisyhead import recipes
    >>> model = recipes.square_model(5, 1000, 0.0)
    >>> hyper = recipes.low_dimension(model, 1000, 1.0, 5.0)["corrected"]
    >>> print(noiseless_gain(hyper, model, 1000, np.array([0, 10, 44])).round(5))
    [0.      0.00313 0.00319]
    """
    h = dynamics.curvature(model)
    rest = 2 * hyper.penalty + h
    learnt = (1 - (1 - hyper.learning_rate * rest) ** np.asarray(steps)) / rest
    return 2 * learnt / model.D**3 - h * learnt**2 * dynamics.cross_energy(model, N)


def noise_limit(hyper: Hyperparameters, model: PromptModel) -> float:
    """h R²: what noise can add at most, since Π_R keeps ‖Γ‖_F ≤ R.

    The mean square norm of the noise in Γ^T is at most the least of R² and of what it would be without Π_R: Π_R
    shortens, it keeps directions, and min(R², ·) is concave.
    """
    return dynamics.curvature(model) * hyper.weight_bound**2
