r"""What Π_G costs on long prompts: the ridge solution of statistics that the projection has shortened.

As L → ∞ the context m of a prompt tends to w/D with w ~ N(0, I_D), whatever the label noise, and Π_G shortens it to
m̃ = m min(1, G/‖m‖). By isotropy the population's ridge solutions are multiples of I: gI for m, g̃I for m̃, with

.. math:: g = \frac{E\langle w, m\rangle}{E\|m\|^2 + \lambda D^2}, \qquad
          \tilde g = \frac{E\langle w, \tilde m\rangle}{E\|\tilde m\|^2 + \lambda D^2} .
"""

from __future__ import annotations

import math

from scipy import special, stats

from costofprivacy import _validate


def shortening_risk(D: int, feature_bound: float, penalty: float) -> float:
    """E⟨Γ̃ − Γ*, Z⟩² = (g̃ − g)²/D² in the limit L → ∞: the excess risk that Π_G alone leaves, without any noise.

    With r = ‖w‖ and u = GD, E⟨w, m⟩ falls by E[r²/D − Gr; r > u] and E‖m‖² by E[r²/D² − G²; r > u], both by tails of
    χ². It rises from 0 at G = ∞ to `population.zero_excess_risk`, that of answering 0, at G = 0.

    Args:
        D: dimension, at least 1. feature_bound: G > 0, finite. penalty: λ > 0, finite.
    """
    D = _validate.whole("D", D)
    G, square = _validate.finite_positive("feature_bound", feature_bound), (feature_bound * D) ** 2
    tail = [stats.chi2.sf(square, D + power) for power in (0, 1, 2)]
    mean = math.sqrt(2) * math.exp(special.gammaln((D + 1) / 2) - special.gammaln(D / 2))  # E‖w‖
    lost, energy_lost = tail[2] - G * mean * tail[1], tail[2] / D - G**2 * tail[0]
    whole = 1 / D + _validate.finite_positive("penalty", penalty) * D**2
    gap = (lost * whole - energy_lost) / (whole * (whole - energy_lost))
    return float((gap / D) ** 2)
