r"""Two prompts that push apart most: what one update of NoisyHead and the ridge solution have in common.

Weights of norm ρ and a prompt with ‖Z‖ = G, |y| = C, at angle s to them, give a push of length A cos s + B along Z,
A = ρG², B = CG. Two of them at ±s are 2(A cos s + B) sin s apart.
"""

from __future__ import annotations

import math


def reach(norm: float, clip_norm: float, feature_bound: float) -> tuple[float, float]:
    """A = ρG² and B = CG: how far a prompt with ‖Z‖ ≤ G and |y| ≤ C can push, whatever its tokens are.

    (Tokens of norm at most one, as in section 2 of arXiv:2504.16000v2, also have ‖Z‖ ≤ C. Nothing enforces their norm,
    so a sensitivity cannot rest on it.)
    """
    return norm * feature_bound**2, clip_norm * feature_bound


def widest_angle(A: float, B: float) -> float:
    """The s at which 2(A cos s + B) sin s is largest: cos s = (√(B² + 8A²) − B)/(4A), s = π/2 for A = 0 (radians).

    >>> round(math.degrees(widest_angle(1.0, 1.0)), 6)
    60.0
    """
    if A == 0:
        return math.pi / 2
    return math.acos((math.sqrt(B**2 + 8 * A**2) - B) / (4 * A))
