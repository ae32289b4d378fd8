r"""The risk chain of `chain` for Σ = I on a grid of clips and learning rates, of which all schedules have one shape.

With η̃(t) = η̃(0) f(t) the length of step k is η̃(0) times that of f, and by (4.2) of arXiv:2505.16329v2 so is σ_k; the
private noise is proportional to c as well. So one table of two columns serves every place of a grid. The recursion is
the one that `chain` proves, for one eigenspace; each step takes all places in one loop without a branch, which the
compiler turns into vector instructions. A step without private noise adds 0.

It draws what `chain.risks` draws from the same generator, and its risks are those to rounding.
"""

from __future__ import annotations

import math

import numpy as np

from costofprivacy._compiled import compiled
from costofprivacy.dpgd.chain import Eigenspaces, draw
from costofprivacy.dpgd.descent import Configuration, check_steps, step_table
from costofprivacy.dpgd.schedule import Schedule

CHUNK_STEPS = 2**14  # steps drawn at a time


def released_risks(
    spaces: Eigenspaces,
    shape: Schedule,
    clips: np.ndarray,
    rates: np.ndarray,
    rho: float,
    n: int,
    *,
    rng: np.random.Generator,
) -> np.ndarray:
    """R(θ_n) of one run of Algorithm 1 in each place, which share the draws.

    Args:
        spaces: one eigenspace, of Gaussian data. shape: f, which is η̃ at η̃(0) = 1.
        clips, rates: c and η̃(0) of each place, shape (places,). rho: ρ in (0, ∞]. n: number of steps, at least 1.
        rng: source of randomness.

    Returns:
        shape (places,); ∞ after an overflow.

    Raises:
        ValueError: if there are several eigenspaces, the schedule increases, or an argument is outside its range.
    """
    if len(spaces.eigenvalues) != 1:
        raise ValueError(f"spaces must be a single eigenspace, got {len(spaces.eigenvalues)}")
    unit = [Configuration(1.0, shape, rho)]
    check_steps(unit, n)
    c, rate = np.asarray(clips, dtype=float), np.asarray(rates, dtype=float)
    norms = np.full(len(c), float(spaces.target_norms[0]))
    for first in range(0, n, CHUNK_STEPS):
        last = min(first + CHUNK_STEPS, n)
        table = step_table(unit, n, spaces.d, first, last)
        draws = draw(spaces, last - first, 1, rng=rng)
        fresh = (draws.along, draws.square_rest, draws.square_norm, draws.label, draws.noise_along, draws.noise_rest)
        rows = np.column_stack([table.learning_rates, table.noise_std, *(each.reshape(last - first) for each in fresh)])
        _grid_steps(norms, rate, c * rate, c * math.sqrt(spaces.d), rows)
    risks = spaces.eigenvalues[0] / 2 * norms**2
    return np.where(np.isfinite(risks), risks, np.inf)


@compiled
def _grid_steps(norms: np.ndarray, rates: np.ndarray, noises: np.ndarray, clip_norms: np.ndarray, rows: np.ndarray) -> None:
    """Some steps of ‖e‖ in each place; a row is f's length and noise, √λ ξ, λ‖w‖², ‖x‖², z, β and χ²."""
    for k in range(len(rows)):
        length, std, along, rest, square, label, pushed, pushed_rest = rows[k]
        inverse = 1 / math.sqrt(square)
        largest = 2 / square
        if std > 0:
            for j in range(len(norms)):
                bound = clip_norms[j] * inverse
                a = min(length * rates[j], largest) * min(max(norms[j] * along - label, -bound), bound)
                moved, noise = norms[j] - a * along, std * noises[j]
                ahead = math.sqrt(moved * moved + a * a * rest) + noise * pushed
                norms[j] = math.sqrt(ahead * ahead + noise * noise * pushed_rest)
        else:
            for j in range(len(norms)):
                bound = clip_norms[j] * inverse
                a = min(length * rates[j], largest) * min(max(norms[j] * along - label, -bound), bound)
                moved = norms[j] - a * along
                norms[j] = math.sqrt(moved * moved + a * a * rest)
