"""How much work it takes to solve the deterministic equivalent and to tune schedules by it: for `make bench`.

Counted as `dpgd.exponential`, `dpgd.grid` and `dpgd.tuning` do it. A solution takes the grids up to the one at which an
error of the fourth power of the cells' length is below the tolerance; in a cell three passes solve the equations and
then one equation for the risk, whose two reductions by clipping are asked for three times.
"""

from __future__ import annotations

import math

from costofprivacy.dpgd import exponential, grid, tuning
from costofprivacy.running.work import Work

EQUATION = 20  # operations for an equation in a pass, its exponential among them
REDUCTION = 60  # for μ and ν at a risk: two error functions, a root, an exponential
ASKED = 3  # times that they are needed in a pass
FINE = 11  # solutions to the full tolerance when a learning rate is tuned: three of the scan, eight by parabolas
DESCENT = 55  # solutions in a descent in two parameters


def solutions(number: float, equations: int, tolerance: float) -> Work:
    """So many released risks, each of so many equations."""
    finest = max(2, math.ceil(math.log2(tolerance**-0.25)))
    cells = grid.CELLS * (2 ** (finest + 1) - 1)
    of_a_cell = exponential.PASSES * (EQUATION * equations + ASKED * REDUCTION)
    return Work(loops=number * (cells * of_a_cell + REDUCTION * len(grid.TABLE)))


def scan(gamma: float) -> float:
    """Learning rates of a scan up to 2/γ."""
    return 2 + tuning._A_DECADE * math.log10(2 / gamma / tuning.SMALLEST)


def best_rate(gamma: float, equations: int = 1, tolerance: float = tuning.TOLERANCE) -> Work:
    """One call of `tuning.best_rate`."""
    return solutions(scan(gamma), equations, tuning._COARSE) + solutions(FINE, equations, tolerance)


def best_harmonic(gamma: float, equations: int = 1, tolerance: float = tuning.TOLERANCE) -> Work:
    """One call of `tuning.best_harmonic`."""
    low, high = tuning._OFFSET_RANGE
    offsets = 1 + tuning._OFFSETS * math.log10(high / (low * min(gamma, 1.0)))
    coarse = solutions(offsets * scan(gamma), equations, tuning._COARSE)
    return coarse + solutions(tuning._STARTS * DESCENT, equations, tolerance)


def total(parts: list[Work]) -> Work:
    """Their sum."""
    return sum(parts, Work())
