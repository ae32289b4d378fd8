"""Which method to use, what it is expected to reach, and the lines that fit it: what the book's calculator answers."""

from __future__ import annotations

import math
from dataclasses import dataclass

import pandas as pd

from costofprivacy import _validate
from costofprivacy.estimators import forecast_table
from costofprivacy.estimators.forecasting import BOOSTED, DESCENT, OBJECTIVE, ONE_PASS, best_method
from costofprivacy.privacy import ApproximateDP, GaussianDP

SHORT = {OBJECTIVE: "objective", DESCENT: "descent", BOOSTED: "boosted", ONE_PASS: "one pass"}  # in code
USELESS = 0.01  # an R² below this is no better than the mean
CODE = """\
from costofprivacy.estimators import PrivateLinearRegression

public = {{  # what you know without the data: ranges, means and deviations
    "feature_bounds": {{"age": (18, 90), "bmi": (15, 45)}},
    "feature_center": {{"age": 50, "bmi": 27}},
    "feature_scale": {{"age": 15, "bmi": 4}},
    "response_bounds": (80, 200),
    "response_center": 125,
    "response_scale": 15,
    "expected_r2": {expected_r2},
}}
budget = {{"epsilon": {epsilon}, "delta": {delta}}}
model = PrivateLinearRegression("{method}", **budget, **public)
print(model.fit(X, y).receipt())"""


@dataclass(frozen=True)
class Answer:
    """What the calculator says.

    Args:
        method: the one that `forecasting.best_method` takes. r2: that R², on new records. low, high: its range.
        without_privacy: R² of least squares. useful: whether the method is expected to be better than the mean, whose
            R² is 0. epsilon, delta, mu, rho: the budget. code: the lines that fit the method. methods: all forecasts.
    """

    method: str
    r2: float
    low: float
    high: float
    without_privacy: float
    useful: bool
    epsilon: float
    delta: float
    mu: float
    rho: float
    code: str
    methods: pd.DataFrame


def answer(
    n: int,
    d: int,
    *,
    epsilon: float | None = None,
    rho: float | None = None,
    mu: float | None = None,
    delta: float = forecast_table.DELTA,
    expected_r2: float = 0.5,
) -> Answer:
    """What the calculator in the book answers to the same numbers.

    Args:
        n: number of records, at least 3(d + 1). d: of features, in 1 to 1000.
        epsilon, rho, mu: the budget, by one of the three: ε, ρ of zCDP, or μ of Gaussian DP with ρ = μ²/2.
        delta: δ in (0, 1), at which ε is stated. expected_r2: in (0, 1), the R² of the best linear prediction.

    Raises:
        ValueError: if an argument is outside its range, or not exactly one of ε, ρ and μ is given.

    >>> told = answer(10_000, 10, epsilon=1.0)
    >>> print(told.method, round(told.r2, 2), round(told.mu, 3))
    clipped descent 0.5 0.237
    """
    delta = _validate.probability("delta", delta)
    eps = _epsilon(epsilon, rho, mu, delta)
    found = forecast_table.approximate(n, d, eps, delta, expected_r2=expected_r2)
    method = best_method(found, d)
    best, gaussian = found.loc[method], ApproximateDP(eps, delta).to_gaussian().mu
    values = {"epsilon": literal(eps), "delta": literal(delta), "expected_r2": literal(expected_r2)}
    return Answer(
        method,
        float(best["r2"]),
        float(best["low"]),
        float(best["high"]),
        float(best["without_privacy"]),
        bool(best["r2"] >= USELESS),
        eps,
        delta,
        gaussian,
        gaussian**2 / 2,
        CODE.format(method=SHORT[method], **values),
        found,
    )


def literal(value: float) -> str:
    """A number as code has it, with four digits: without an exponent from a thousandth to a million.

    >>> print(literal(1.0), literal(0.25), literal(1e-6), literal(12345.6))
    1 0.25 1e-6 12350
    """
    mantissa, _, exponent = f"{value:.3e}".partition("e")
    shortest, power = f"{float(mantissa):g}", int(exponent)
    return f"{float(f'{mantissa}e{power}'):.10g}" if -3 <= power <= 5 else f"{shortest}e{power}"


def _epsilon(epsilon: float | None, rho: float | None, mu: float | None, delta: float) -> float:
    """ε of a budget that is stated in one of three ways."""
    stated = {"epsilon": epsilon, "rho": rho, "mu": mu}
    given = [name for name, value in stated.items() if value is not None]
    if len(given) != 1:
        raise ValueError(f"exactly one of epsilon, rho and mu must be given, got {', '.join(given) or 'none'}")
    value = next(value for value in stated.values() if value is not None)
    value = _validate.finite_positive(given[0], value)
    if epsilon is not None:
        return value
    return GaussianDP(value if rho is None else math.sqrt(2 * value)).epsilon(delta)
