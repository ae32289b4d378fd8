"""What a private fit will be worth before anything is spent: expected R² by method, and what is needed for a target.

No data are looked at, so a forecast costs no privacy. It rests on the formulas of `estimators.expected` and, for DP-GD,
on the equations of arXiv:2505.16329v2; both assume features of the stated scale. For real data it adds what clipping
costs where the relation is only roughly linear.

>>> table = forecast(n=1000, d=10, epsilon=1.0, expected_r2=0.6)
>>> print(table["r2"].round(2).to_string())
method
objective perturbation    0.57
clipped descent           0.57
boosted AdaSSP            0.55
one pass (DP-GD)          0.55

**Whether a private fit will have intervals, and how wide: a forecast that looks at no data.**

>>> table = forecast_intervals(n=20_000, d=8, epsilon=2.0, expected_r2=0.6)
>>> print(table["exist"].to_dict())
{'1': True, '30': True, '100': False, '300': False}
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.special import ndtri

from costofprivacy import _validate
from costofprivacy.estimators import descent, expected, piloted_plan, public
from costofprivacy.estimators.expected import Expected, Model, Records, Relation
from costofprivacy.estimators.gate import DELTAS, EPSILONS
from costofprivacy.estimators.public import Knowledge
from costofprivacy.estimators.tabular import default_delta
from costofprivacy.privacy import ApproximateDP, GaussianDP, groups
from costofprivacy.privacy.mechanisms import gaussian_std
from costofprivacy.rivals import sandwich

if TYPE_CHECKING:
    from costofprivacy.estimators.schema import Schema

OBJECTIVE, DESCENT = "objective perturbation", "clipped descent"
BOOSTED, ONE_PASS = "boosted AdaSSP", "one pass (DP-GD)"
CHOICE = (OBJECTIVE, DESCENT, BOOSTED)  # for a table in memory: one pass is never far ahead of all, so streams have it
RECORDS = tuple(round(10 ** (k / 8)) for k in range(12, 65))  # that `records_needed` tries: 32 to 10⁸
BUDGETS = tuple(10 ** (k / 16) for k in range(-32, 33))  # that `epsilon_needed` tries: 0.01 to 100


def forecast(
    n: int,
    d: int | Schema,
    epsilon: float,
    delta: float | None = None,
    *,
    expected_r2: float = 0.5,
    plan_for: str = expected.REAL,
    aim: str = expected.NEW,
    spectrum: Any = None,
    fit_intercept: bool = True,
    most_per_unit: int = 1,
) -> pd.DataFrame:
    """The expected R² on new records of every method, with its range.

    Args:
        n: number of records, at least 1. d: of features, at least 1, or the `Schema` that makes them.
        epsilon: ε in [10⁻⁸, 10⁶].
        delta: δ in [10⁻³⁰⁰, 1); `tabular.default_delta` if left out.
        expected_r2: in (0, 1), the R² of the best linear prediction.
        plan_for: "real" for tables of measurements, whose columns are correlated and whose relation is only roughly
            linear; "textbook" for data that were made linear with nearly independent features; "heavy-tailed" for the
            same with noise that has long tails (`estimators.expected`).
        aim: what the plans are for: "new records", on which the error is to be small, or "least squares" on the same
            records, to whose coefficients theirs are to be near.
        spectrum: d eigenvalues of the features' second moment, if they are known. fit_intercept: whether there is one.
        most_per_unit: k, where all records of a unit are protected together (`estimators.units`): then n is the number
            of records that are used, at most k of each unit, and the noise is that for k records. A fit takes every
            unit to have k records: where many have fewer, what it forecasts is too hopeful.

    Returns:
        A row for each method, best first among equals in this order: ``r2`` is the expected R² on new records, ``low``
        and ``high`` a range that holds that of 90 % of fits (`expected.spread`); ``without_privacy`` that of least
        squares; ``excess_risk`` the mean squared error above that of the best linear prediction, as a share of the
        response's variance; ``cost_of_privacy`` the part of it that least squares on the same records does not have.

    Raises:
        ValueError: if an argument is outside its range.
    """
    expected_r2 = _validate.probability("expected_r2", expected_r2)
    question = asked(n, d, epsilon, delta, expected_r2, plan_for, aim, spectrum, fit_intercept)
    plain, rows = expected_r2 - question.known.d / question.n * question.known.label_noise**2, {}
    for name in PROMISES:  # risks as shares of the response's variance, which is 1
        told = promised(name, question, most_per_unit)
        r2, low, high = (expected_r2 - 2 * risk for risk in (told.risk, told.high, told.low))
        rows[name] = [r2, low, high, plain, 2 * told.risk, 2 * told.privacy]
    columns = ["r2", "low", "high", "without_privacy", "excess_risk", "cost_of_privacy"]
    return pd.DataFrame.from_dict(rows, "index", columns=columns).rename_axis("method")


def best_method(table: pd.DataFrame, aim: str = expected.NEW) -> str:
    """The method of a `forecast` that a fit takes by itself: the best of `CHOICE` at the aim, the first of equals.

    Args:
        table: of `forecast`; for new records, of `calculator.approximate` too.
        aim: of the plans: the largest ``r2`` counts for new records, the least ``cost_of_privacy`` for least squares.
    """
    own = table.loc[list(CHOICE)]
    return str(own["r2"].idxmax() if aim == expected.NEW else own["cost_of_privacy"].idxmin())


def records_needed(
    target_r2: float,
    d: int | Schema,
    epsilon: float,
    delta: float | None = None,
    *,
    expected_r2: float = 0.5,
    plan_for: str = expected.REAL,
    aim: str = expected.NEW,
    spectrum: Any = None,
    fit_intercept: bool = True,
    most_per_unit: int = 1,
) -> int:
    """The least n of `RECORDS` at which 19 of 20 fits are expected to reach an R², by some method of several passes.

    The ``low`` of `forecast` is to reach it, not ``r2``: what is spent for a target should reach it in most runs, for
    features that are correlated or not.

    Args:
        target_r2: below ``expected_r2``, by more than 0.01 (`expected.FINEST`).
        The others: as for `forecast`; δ where it is left out depends on n.

    Raises:
        ValueError: if an argument is outside its range, or no n of `RECORDS` is enough.

    >>> records_needed(0.5, d=10, epsilon=1.0, expected_r2=0.6)
    1000
    """
    public = (expected_r2, plan_for, aim, spectrum, fit_intercept)
    return _least(RECORDS, "n", target_r2, expected_r2, lambda n: asked(n, d, epsilon, delta, *public), most_per_unit)


def epsilon_needed(
    target_r2: float,
    n: int,
    d: int | Schema,
    delta: float | None = None,
    *,
    expected_r2: float = 0.5,
    plan_for: str = expected.REAL,
    aim: str = expected.NEW,
    spectrum: Any = None,
    fit_intercept: bool = True,
    most_per_unit: int = 1,
) -> float:
    """The least ε of `BUDGETS` at which 19 of 20 fits are expected to reach an R², as for `records_needed`.

    It plans for the ``low`` of `forecast`, so it is careful: most fits reach the target with a smaller ε, too. There is
    no switch for that. An ε that is enough on the average is one at which ``r2`` of `forecast` is the target.

    Args, Raises: as `records_needed`.

    >>> round(epsilon_needed(0.5, n=5000, d=10, expected_r2=0.6), 2)
    0.15
    """
    public = (expected_r2, plan_for, aim, spectrum, fit_intercept)
    return _least(
        BUDGETS, "epsilon", target_r2, expected_r2, lambda epsilon: asked(n, d, epsilon, delta, *public), most_per_unit
    )


@functools.lru_cache(maxsize=256)
def _one_pass(known: Relation, n: int, budget: ApproximateDP, stated: bool) -> Expected:
    """DP-GD's promise is that of its equations, for each spectrum with the hyper-parameters of the first one."""
    mu, several = budget.to_gaussian().mu, expected.models(known, n, stated)
    best = public.tuned(known, n, mu, None, public.HARMONIC, None)
    risks = [best.risk]
    for model in several[1:]:
        other = Knowledge(
            tuple(model.eigenvalues), tuple(model.weights), known.d, known.label_noise, known.initial_risk
        )
        risks.append(public.clipped(other, n, mu, best.clip, best.schedule)[1])
    outcomes, whole, c = [], Records.whole(), np.array([best.clip])
    for model, risk in zip(several, risks, strict=True):  # the equations give R: each direction is learned alike
        if not math.isfinite(risk):
            continue
        share, at = min(1.0, risk / known.initial_risk), np.array([risk])
        still = np.full(len(model.eigenvalues), math.sqrt(share))
        linear, beside, bias = model.outcome(at, still[None], (1 - still) * model.targets(c, whole, at), c, whole)[:, 0]
        outcomes.append([risk, max(risk - (linear - beside), risk * share), bias])
    return expected.summary(known, np.array(outcomes))


PROMISES: dict[str, Callable[[Relation, int, ApproximateDP, bool], Expected]] = {
    OBJECTIVE: lambda *question: piloted_plan.choose(*question).expected,
    DESCENT: lambda *question: descent.choose(*question).expected,
    BOOSTED: lambda *question: descent.choose_boosting(*question).expected,
    ONE_PASS: _one_pass,
}


class Asked(NamedTuple):
    """A question as the formulas take it, on the scale where the response has variance 1.

    Args:
        known: what is public. n: number of records. budget: ε and δ. stated: whether the eigenvalues are known.
    """

    known: Relation
    n: int
    budget: ApproximateDP
    stated: bool


def asked(
    n: int,
    d: int | Schema,
    epsilon: float,
    delta: float | None,
    expected_r2: float,
    plan_for: str,
    aim: str,
    spectrum: Any,
    fit_intercept: bool,
) -> Asked:
    """The checked arguments."""
    n = _validate.whole("n", n)
    d = len(d.feature_names()) if hasattr(d, "feature_names") else _validate.whole("d", d)
    epsilon = _validate.between("epsilon", epsilon, *EPSILONS)
    expected_r2 = _validate.probability("expected_r2", expected_r2)
    if plan_for not in expected.KINDS:
        raise ValueError(f"plan_for must be one of {', '.join(map(repr, expected.KINDS))}, got {plan_for!r}")
    if aim not in expected.AIMS:
        raise ValueError(f"aim must be one of {', '.join(map(repr, expected.AIMS))}, got {aim!r}")
    stated = default_delta(n) if delta is None else _validate.between("delta", delta, DELTAS[0], 1 - 1e-16)
    eigenvalues = public.stated_eigenvalues(spectrum, d)
    known = expected.knowledge(eigenvalues, fit_intercept, expected_r2, plan_for, aim)
    return Asked(known, n, ApproximateDP(epsilon, stated), spectrum is not None)


@np.errstate(all="ignore")
def promised(name: str, question: Asked, most_per_unit: int = 1) -> Expected:
    """What a method promises where k records of a unit are protected together.

    Args:
        name: of the method, one of `PROMISES`. question: with the budget of a unit. most_per_unit: k.

    Raises:
        ValueError: as `costofprivacy.privacy.groups.of_one`.
    """
    budget = groups.of_one(question.budget, most_per_unit, gaussian=name != OBJECTIVE)
    return PROMISES[name](*question._replace(budget=budget))


def _least(
    values: tuple[Any, ...],
    name: str,
    target: float,
    expected_r2: float,
    question: Callable[[Any], Asked],
    most_per_unit: int,
) -> Any:
    """The first of increasing values from which on the range of a method of several passes is above a target."""
    target, expected_r2 = _validate.finite("target_r2", target), _validate.probability("expected_r2", expected_r2)
    if not target < expected_r2:
        raise ValueError(f"target_r2 must be below expected_r2, {expected_r2!r}, got {target!r}")

    def reached(value: Any) -> bool:
        told, quickest_first = question(value), (BOOSTED, DESCENT, OBJECTIVE)  # DP-GD is never far ahead of all
        return any(expected_r2 - 2 * promised(each, told, most_per_unit).high >= target for each in quickest_first)

    if not reached(values[-1]):
        raise ValueError(f"target_r2 is not reached for any {name} up to {values[-1]:g}")
    low, high = -1, len(values) - 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if reached(values[middle]) else (middle, high)
    return values[high]


# ---- Interval forecast ----

WITH_INTERVALS = {"objective": OBJECTIVE, "descent": DESCENT}
MOMENTS = 0.95  # the share of Gaussian features' second moment that the curvature for intervals is summed over


@dataclass(frozen=True)
class Promise:
    """What intervals will be for one spectrum.

    Args:
        noise: of the curvature, over what allows one for all coefficients. deviation: the root mean square of the
            coefficients' standard errors on the stated scale. plain: the same for least squares without privacy.
    """

    noise: float
    deviation: float
    plain: float

    @property
    def exist(self) -> bool:
        """Whether all coefficients have one."""
        return self.noise <= 1


@np.errstate(all="ignore")
def promises(
    known: Relation, n: int, budget: ApproximateDP, stated: bool, share: float, method: str = OBJECTIVE
) -> list[Promise]:
    """One for features that are not correlated, then one for each spectrum of `expected.models` if they may be.

    Args:
        known: what is public. n: number of records. budget: ε in (0, ∞) and δ. stated: whether eigenvalues are known.
        share: of v or μ² that the moments have, in (0, 1). method: `OBJECTIVE` or `DESCENT`.
    """
    if method == DESCENT:
        _, left, limits = descent.with_a_step(known, n, budget, stated, share)
        own, after = (GaussianDP(left.mu * math.sqrt(part)) for part in (sandwich.GRADIENT, 1 - sandwich.GRADIENT))
        added = gaussian_std(2 * limits.clip_norm, own)
    else:
        plan = piloted_plan.choose(known, n, budget, stated, share).plan
        shorter = expected.feature_bound(known.d, MOMENTS)
        limits = sandwich.Limits(plan.added.feature_bound, plan.added.clip_norm, shorter)
        assert plan.after is not None
        added, after = plan.added.noise_std, plan.after
    models = expected.models(known, n, stated)
    if not stated and np.ptp(models[0].eigenvalues):
        models.insert(0, Model(known, n, np.ones(1), np.ones(1)))
    return [_promise(model, limits, sandwich.parts(after)[0], added) for model in models]


def _promise(model: Model, limits: sandwich.Limits, budget: GaussianDP, added: float) -> Promise:
    """The sandwich of `rivals.sandwich` with the moments that are expected at the end of a fit.

    Args:
        model: of a spectrum. limits: of the terms. budget: of the curvature. added: σ of the linear term.
    """
    d, n = model.known.d, model.n
    test_risk, mu, nu = model.factors(np.array(limits.clip_norm / math.sqrt(d)), np.array(0.0))
    curvature = n * float(mu) * expected.kept(d, limits.shorter) * model.eigenvalues
    std = gaussian_std(math.sqrt(2) * limits.shorter**2, budget)
    spread = n * 2 * float(nu * test_risk) * model.eigenvalues + added**2
    variance, plain = (
        float(model.weights @ each)
        for each in (spread / curvature**2, model.known.label_noise**2 / n / model.eigenvalues)
    )
    return Promise(sandwich.noise(std, d, float(curvature.min())), math.sqrt(variance), math.sqrt(plain))


def forecast_intervals(
    n: int,
    d: int | Schema,
    epsilon: float,
    delta: float | None = None,
    *,
    interval_share: float = 0.2,
    level: float = 0.9,
    expected_r2: float = 0.5,
    plan_for: str = expected.REAL,
    aim: str = expected.NEW,
    spectrum: Any = None,
    fit_intercept: bool = True,
    most_per_unit: int = 1,
    method: str = "objective",
) -> pd.DataFrame:
    """Whether a fit will have intervals, and their usual half-width, with no data touched.

    Args:
        n, d, epsilon, delta, expected_r2, plan_for, aim, spectrum, fit_intercept, most_per_unit: as for
            `forecasting.forecast`. The width is that for records that are independent given their features; those of a
            unit usually are not, and its intervals are wider then, by up to √k.
        interval_share: as for the estimator, in (0, 0.9]. level: of the intervals, in (0, 1).
        method: "objective", which a fit with intervals to a table takes by itself, or "descent", which streams and
            ``noise="secure"`` need. No other method has intervals.

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
    if method not in WITH_INTERVALS:
        raise ValueError(f"method must be 'objective' or 'descent', which have intervals, got {method!r}")
    question = asked(n, d, epsilon, delta, expected_r2, plan_for, aim, spectrum, fit_intercept)
    budget = groups.of_one(question.budget, most_per_unit, gaussian=method == "descent")
    found = promises(*question._replace(budget=budget), interval_share, WITH_INTERVALS[method])
    conditions = sorted({1.0, *expected.KINDS[plan_for].conditions})[: len(found)]
    names = ["stated"] if spectrum is not None else [f"{condition:g}" for condition in conditions]
    z = float(ndtri(0.5 + level / 2))
    rows = [
        {"exist": each.exist, "half_width": z * each.deviation, "without_privacy": z * each.plain} for each in found
    ]
    return pd.DataFrame(rows, index=pd.Index(names, name="condition number"))
