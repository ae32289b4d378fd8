r"""Two packages for R, transcribed for one feature and no intercept, as their public source code has them.

*DPpack* 0.2.2, ``LinearRegressionDP`` (`R/StatModels.R`): objective perturbation of Kifer, Smith and Thakurta (2012) on
features scaled to ±1 and responses scaled to ±p, with |θ|² ≤ p. With p = 1 the objective is ½Σ(x_iθ − y_i)² +
½(γ + 2λ/ε)θ² + bθ, b normal with variance ζ²(8 ln(2/δ) + 4ε)/ε², λ = p, ζ = 2p^{3/2}. Its minimum on [−1, 1] has a
closed form. The package stops its search at a relative tolerance of 10⁻⁴, and no noise pays for it; here the minimum is
exact, so that an audit of the transcription says nothing about that.

*DPrivStats* 0.1.0, ``dp_lm`` (`R/dp_regression.R`, `R/sensitivity.R`): least squares plus Gaussian noise, calibrated
exactly to CD/λ_min, where λ_min is the smallest eigenvalue of the data's own XᵀX, C bounds ‖x‖ and D is the range of
the response. By default the design is *taken as public*. Then λ_min is public, and the sensitivity is right for a
response that is replaced: (XᵀX)⁻¹x_i is at most C/λ_min long. With ``assume_public_design = FALSE`` the package
multiplies by 3, which its documentation calls a heuristic. The noise still depends on the records.
"""

from __future__ import annotations

import math

import numpy as np

from chapters.privacy.every_mechanism.records import Data, Pair, pair
from costofprivacy.privacy import ApproximateDP, exact_noise_multiplier

PENALTY = 1.0  # γ of DPpack
HEURISTIC = 3.0  # of DPrivStats, where the design is private

ROUGH: Pair = pair(((0.05, 0.0),) * 3, (1.0, 0.5), (0.05, 0.0))  # one record has nearly all of XᵀX
RESPONSES: Pair = pair(((1.0, 0.0),) * 3, (1.0, 1.0), (1.0, -1.0))


def dppack(given: Data, budget: ApproximateDP, normals: np.ndarray) -> np.ndarray:
    """Coefficients of DPpack for |x| ≤ 1 and |y| ≤ 1, shape (count,).

    Args:
        given: records. budget: ε and δ. normals: of b, shape (count,).
    """
    x, y = np.clip(given[0][:, 0], -1, 1), np.clip(given[1], -1, 1)
    zeta, lambda_, epsilon = 2.0, 1.0, budget.epsilon
    b = zeta * math.sqrt(8 * math.log(2 / budget.delta) + 4 * epsilon) / epsilon * normals
    curvature = float(x @ x) + PENALTY + 2 * lambda_ / epsilon
    return np.clip((float(x @ y) - b) / curvature, -1, 1)


def dprivstats(given: Data, budget: ApproximateDP, normals: np.ndarray, *, public_design: bool) -> np.ndarray:
    """Coefficients of DPrivStats for |x| ≤ 1 and |y| ≤ 1, shape (count,).

    Args:
        given: records. budget: ε and δ. normals: shape (count,). public_design: the package's default.
    """
    x, y = given[0][:, 0], np.clip(given[1], -1, 1)
    square = float(x @ x)
    sensitivity = 2.0 / square * (1.0 if public_design else HEURISTIC)
    return float(x @ y) / square + sensitivity * exact_noise_multiplier(budget) * normals
