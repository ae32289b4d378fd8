"""Cases for two sentences of arXiv:2505.16329v2 on what its theory is worth at finite sizes."""

from __future__ import annotations

from typing import Any

import numpy as np

from companion.judging.findings import Verdict
from tests.chapters.machinery import Case, Change, both, only, put

HOLDS, CORRECTED, NARROWER, FAILS, UNTESTABLE = Verdict
PRECISE, ABSTRACT = "dpgd/section-5-precise", "dpgd/abstract-non-asymptotic"


def simulated(factor: Any, where: str = "", table: str = "figure-7") -> Change:
    """Simulated risks as multiples of the predicted ones."""
    return put(table, "risk_mean", lambda r: factor * r["ode_risk"], where)


def spread(share: float) -> Change:
    """Standard deviations as a fraction of the predicted risk, and 16 trials."""
    return both(
        *(put(table, "risk_sd", lambda r: share * r["ode_risk"]) for table in ("figure-7", "optimum")),
        *(put(table, "trials", 16) for table in ("figure-7", "optimum")),
    )


PRECISION_CASES = [
    Case(PRECISE, "all as predicted", both(simulated(1.0), simulated(1.0, table="optimum")), HOLDS, says="0 %"),
    Case(PRECISE, "a quarter above at one point", simulated(1.25, "n == 1000 and schedule == '1'"), FAILS),
    Case(PRECISE, "half the smallest risk", simulated(0.5, "ode_risk < 1e-5"), FAILS),
    Case(PRECISE, "half the optimum's risk", simulated(0.5, "n == 1000", "optimum"), FAILS),
    Case(PRECISE, "within the errors", both(spread(0.4), simulated(1.39)), HOLDS, says="39 %"),
    Case(PRECISE, "beyond the errors", both(spread(0.4), simulated(1.41)), FAILS),
    Case(PRECISE, "noise", both(spread(0.51), simulated(1.0)), UNTESTABLE),
    Case(PRECISE, "the equations alone above a size", simulated(np.nan, "n > 10000"), HOLDS),
    Case(PRECISE, "no error", put("figure-7", "risk_sd", np.nan, "n == 1000"), UNTESTABLE),
]


def along_n(power: float, error: float = 1e-4, **where: Any) -> Change:
    """A multiple of γ + γ²/ρ² that is a power of n, with this relative error."""
    rows = {"algorithm": "c constant", "axis": "n"} | where
    return both(
        put("rates", "excess_risk", lambda r: 2 * r["rate_1.4"] * (r["n"] / 1000) ** power, **rows),
        put("rates", "standard_error", lambda r: error * r["excess_risk"], **rows),
    )


ABSTRACT_CASES = [
    Case(ABSTRACT, "level", along_n(0.0), HOLDS),
    Case(ABSTRACT, "falling", along_n(-0.5), HOLDS),
    Case(ABSTRACT, "rising", along_n(0.1), FAILS),
    Case(ABSTRACT, "rising for one covariance", along_n(0.1, spectrum="two levels"), FAILS),
    Case(ABSTRACT, "rising within the errors", along_n(0.1, 0.2), HOLDS),
    Case(
        ABSTRACT, "smaller dimensions", both(along_n(0.0), put("rates", "d", 3, "n == 1000")), HOLDS, says="dimension 3"
    ),
    Case(ABSTRACT, "one n", only("rates", "axis == 'gamma' or n == 1000"), UNTESTABLE),
    Case(ABSTRACT, "no number", put("rates", "excess_risk", np.nan, "n == 3000"), UNTESTABLE),
]
