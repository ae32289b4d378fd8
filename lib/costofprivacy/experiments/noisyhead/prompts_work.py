"""How much work it is to draw prompts, for the chapters' counts (`costofprivacy.running.work`)."""

from __future__ import annotations

from costofprivacy.running.work import Work

TOKEN = 20  # operations for a token: its place along the task, and the lengths of what is added across


def prompts(N: float, L: float, D: float) -> Work:
    """The statistics of N prompts, of which only the lengths of sums are drawn: 2L + D scalars each."""
    return Work(normals=N * (2 * L + D), loops=N * (TOKEN * L + 4 * D))


def gram(N: float, D: float) -> Work:
    """The Gram matrix of vec(Z)."""
    return Work(flops=N * D**4)


def descent(steps: float, configurations: float, D: float) -> Work:
    """Noise for that many steps, and all configurations through them, HΓ as a product with a D² × D² matrix."""
    return Work(normals=steps * D**2, loops=steps * configurations * (2 * D**4 + 8 * D**2))
