"""How near this chapter's numbers come on another machine."""

import numpy as np
import pandas as pd

from companion.judging.tolerances import SHARE, Cases, Declared, Exact, Relative, Rounding

EPS = 2.0**-52
NORMAL = "ridge-normal-equations"
USUAL = Relative()
CHOLESKY = "one product, Cholesky"
ACCURATE = ("rank-one update", "QR")  # evaluations that an outlier does not spoil


def _lost(table: pd.DataFrame) -> pd.Series:
    """The share of a solution of the normal equations that rounding takes: their condition number is about 0.35 α²."""
    return EPS * 0.35 * table["alpha"] ** 2


def _orders(garbage: float) -> Rounding:
    """Half of the lost share; orders of magnitude where nothing is left but rounding errors, which have long tails."""
    return Rounding(lambda t: np.where(_lost(t) < 1, np.log10(1 + SHARE + 0.5 * _lost(t)), garbage))


def _digits(column: str, in_ruins: float) -> Cases:
    """Errors come again to their order; where little is left but rounding, the largest of a few has a longer tail.

    Any number will do, and none, where the last bits decide whether there is one: where Cholesky's factors of a matrix
    that is hardly definite exist (on other processors they do for other trials), and where an error was infinite.
    """

    def orders(table: pd.DataFrame) -> np.ndarray:
        ruins = _lost(table) >= 1.9
        decided = np.isinf(table[column]) | ((table["evaluation"] == CHOLESKY) & ruins)
        return np.where(decided, np.inf, np.where(ruins, in_ruins, 1.5))

    return Cases("evaluation", dict.fromkeys(ACCURATE, Rounding()), Rounding(orders))


def _trials(share: float, of: str = "") -> Relative:
    return Relative(lambda t: np.where(_lost(t) < 1, 0.0, share), of)


def _spoilt(rule: Rounding | Relative, otherwise: Relative | Exact = USUAL) -> Cases:
    return Cases("method", {NORMAL: rule}, otherwise)


def _evaluated(rule: Rounding) -> Cases:
    return Cases("evaluation", dict.fromkeys(ACCURATE, Relative()), rule)


MEASURED = {"displacement": _spoilt(_orders(2.0)), "standard_error": _spoilt(_orders(3.0))}

TOLERANCES: Declared = {
    "arithmetic": {
        "displacement": _evaluated(_orders(2.0)),
        "standard_error": _evaluated(_orders(3.0)),
        "median": _evaluated(_orders(1.0)),
        "breakdowns": _trials(1 / 3, "trials"),
    },
    # What is recorded are rounding errors. OpenBLAS's kernels for Nehalem, Sandybridge and SkylakeX move a median by at
    # most 0.4 orders and a worst one by at most 1.1.
    "digits": {"median_error": _digits("median_error", 1.5), "worst_error": _digits("worst_error", 2.0)},
    "figure-4": MEASURED | {"trials": _spoilt(_trials(0.02), Exact())},
    "comparison": MEASURED | {"deviation": _spoilt(Relative(lambda t: SHARE + 0.15 * _lost(t), scale=10.0))},
    "test-error": {"test_error": _spoilt(Relative(0.01)), "standard_error": _spoilt(Relative(0.05))},
    "verdicts": {
        "noisyhead/figure-4: displacement at the largest $p$ over that at the least": Rounding(),
        "noisyhead/figure-4: largest deviation, in standard errors": Relative(0.1),
    },
}
