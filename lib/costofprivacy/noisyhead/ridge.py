"""The ridge solution Γ* of (2.7), arXiv:2504.16000v2."""

from __future__ import annotations

import numpy as np

from costofprivacy import _validate
from costofprivacy.noisyhead.curvature import QuadraticLoss


def ridge(data: QuadraticLoss, penalty: float) -> np.ndarray:
    """Γ* = argmin N⁻¹ Σ (y − ⟨Γ, Z⟩)² + λ‖Γ‖²_F, (2.6)-(2.7), shape (D, D).

    Its system H + λI has condition number at most (λ + max‖Z‖²)/λ, below 10 in all of the paper's settings with clean
    prompts; each way to solve it is then accurate to rounding. Prompts with an outlier need another path.

    Args:
        data: moments of the training prompts in any form, raw for the paper's reference.
        penalty: λ in (0, ∞).

    Raises:
        ValueError: if ``penalty`` is not positive.
    """
    return data.matrices(data.solve(_validate.finite_positive("penalty", penalty))[None])[0]
