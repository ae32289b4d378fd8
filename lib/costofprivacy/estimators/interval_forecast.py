"""Whether a private fit will have intervals, and how wide: a forecast that looks at no data.

>>> table = forecast_intervals(n=20_000, d=8, epsilon=2.0, expected_r2=0.6)
>>> print(table["exist"].to_dict())
{'1': True, '30': True, '100': False, '300': False}
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtri

from costofprivacy import _validate
from costofprivacy.estimators import expected, forecasting, piloted_plan
from costofprivacy.estimators.expected import Model, Relation
from costofprivacy.privacy import ApproximateDP
from costofprivacy.privacy.mechanisms import gaussian_std
from costofprivacy.rivals import sandwich
from costofprivacy.rivals.piloted_perturbation import Plan

MOMENTS = 0.95  # the share of Gaussian features' second moment that the curvature for intervals is summed over


@dataclass(frozen=True)
class Promise:
    """What intervals will be for one spectrum.

    Args:
        exist: whether all coefficients have one. deviation: the root mean square of the coefficients' standard errors
            on the stated scale. plain: the same for least squares without privacy.
    """

    exist: bool
    deviation: float
    plain: float


def promises(known: Relation, n: int, budget: ApproximateDP, stated: bool, share: float) -> list[Promise]:
    """One for features that are not correlated, then one for each spectrum of `expected.models` if they may be.

    Args:
        known: what is public. n: number of records. budget: ε in (0, ∞) and δ. stated: whether eigenvalues are known.
        share: of v that the moments have, in (0, 1).
    """
    chosen = piloted_plan.choose(known, n, budget, stated, share)
    models = expected.models(known, n, stated)
    if not stated and np.ptp(models[0].eigenvalues):
        models.insert(0, Model(known, n, np.ones(1), np.ones(1)))
    return [_promise(model, chosen.plan) for model in models]


def _promise(model: Model, plan: Plan) -> Promise:
    """The sandwich of `rivals.sandwich` with the moments that are expected at the end of a fit."""
    assert plan.after is not None
    d, n = model.known.d, model.n
    test_risk, mu, nu = model.factors(np.array(plan.added.clip_norm / math.sqrt(d)), np.array(0.0))
    shorter = min(plan.added.feature_bound, expected.feature_bound(d, MOMENTS))
    curvature = n * float(mu) * expected.kept(d, shorter) * model.eigenvalues
    std = gaussian_std(math.sqrt(2) * shorter**2, sandwich.parts(plan.after)[0])
    spread = n * 2 * float(nu * test_risk) * model.eigenvalues + plan.added.noise_std**2
    variance, plain = (
        float(model.weights @ each)
        for each in (spread / curvature**2, model.known.label_noise**2 / n / model.eigenvalues)
    )
    return Promise(sandwich.inverted(std, d, float(curvature.min())), math.sqrt(variance), math.sqrt(plain))


def forecast_intervals(
    n: int,
    d: int,
    epsilon: float,
    delta: float | None = None,
    *,
    interval_share: float = 0.2,
    level: float = 0.9,
    expected_r2: float = 0.5,
    plan_for: str = expected.REAL,
    spectrum: Any = None,
    fit_intercept: bool = True,
) -> pd.DataFrame:
    """Whether `ObjectivePerturbationRegressor` will have intervals, and their usual half-width, with no data touched.

    Args:
        n, d, epsilon, delta, expected_r2, plan_for, spectrum, fit_intercept: as for `forecasting.forecast`.
        interval_share: as for the estimator, in (0, 0.9]. level: of the intervals, in (0, 1).

    Returns:
        A row for each spectrum that may be, by its condition number, which is 1 where features are not correlated
        ("stated" where the spectrum was): ``exist``, whether all coefficients have an interval; ``half_width``, in
        standard deviations of the response for one of a feature; ``without_privacy``, that of least squares.

    Raises:
        ValueError: if an argument is outside its range.
    """
    interval_share = _validate.between(
        "interval_share", _validate.finite_positive("interval_share", interval_share), 0.0, 0.9
    )
    level = _validate.probability("level", level)
    question = forecasting.asked(n, d, epsilon, delta, expected_r2, plan_for, spectrum, fit_intercept)
    found = promises(*question, interval_share)
    conditions = sorted({1.0, *expected.KINDS[plan_for].conditions})[: len(found)]
    names = ["stated"] if spectrum is not None else [f"{condition:g}" for condition in conditions]
    z = float(ndtri(0.5 + level / 2))
    rows = [
        {"exist": each.exist, "half_width": z * each.deviation, "without_privacy": z * each.plain} for each in found
    ]
    return pd.DataFrame(rows, index=pd.Index(names, name="condition number"))
