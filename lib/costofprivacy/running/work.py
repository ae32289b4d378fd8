"""How much work a run needs: random numbers and floating-point operations, counted from its parameters.

Each chapter's `work` module says how much its own sampling scheme needs, and how much the cheapest exact scheme known
would. ``make bench`` prices both in seconds of this machine and holds them against the processor time of a run.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass


@dataclass(frozen=True)
class Work:
    """Random numbers and floating-point operations.

    Args:
        normals: standard normal numbers drawn.
        uniforms: uniform numbers drawn.
        flops: floating-point operations in matrix products and factorisations.
        loops: floating-point operations in recursions and element-wise work.
    """

    normals: float = 0.0
    uniforms: float = 0.0
    flops: float = 0.0
    loops: float = 0.0

    def __add__(self, other: Work) -> Work:
        return Work(*(mine + theirs for mine, theirs in zip(astuple(self), astuple(other), strict=True)))

    def __mul__(self, times: float) -> Work:
        return Work(*(times * mine for mine in astuple(self)))

    __rmul__ = __mul__
