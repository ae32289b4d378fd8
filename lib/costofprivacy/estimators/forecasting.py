"""What a private fit will be worth before anything is spent: expected R² by method, and what is needed for a target.

No data are looked at, so a forecast costs no privacy. It rests on the formulas of `estimators.expected` and, for DP-GD,
on the equations of arXiv:2505.16329v2; both assume a linear relation and features of the stated scale.

>>> table = forecast(n=1000, d=10, epsilon=1.0, expected_r2=0.6)
>>> print(table["r2"].round(2).to_string())
method
objective perturbation    0.58
clipped descent           0.57
boosted AdaSSP            0.53
one pass (DP-GD)          0.56
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from costofprivacy import _validate
from costofprivacy.estimators import expected, other_plans, piloted_plan, public
from costofprivacy.estimators.budget import DELTAS, EPSILONS
from costofprivacy.estimators.expected import Expected
from costofprivacy.estimators.public import Knowledge
from costofprivacy.estimators.tabular import default_delta
from costofprivacy.privacy import ApproximateDP

if TYPE_CHECKING:
    from matplotlib.axes import Axes

OBJECTIVE, DESCENT, BOOSTED, ONE_PASS = (
    "objective perturbation",
    "clipped descent",
    "boosted AdaSSP",
    "one pass (DP-GD)",
)
MOST_FEATURES = 100  # for which descent is chosen without a known spectrum
RECORDS = tuple(round(10 ** (k / 8)) for k in range(12, 65))  # that `records_needed` tries: 32 to 10⁸
BUDGETS = tuple(10 ** (k / 16) for k in range(-32, 33))  # that `epsilon_needed` tries: 0.01 to 100


def forecast(
    n: int,
    d: int,
    epsilon: float,
    delta: float | None = None,
    *,
    expected_r2: float = 0.5,
    spectrum: Any = None,
    fit_intercept: bool = True,
) -> pd.DataFrame:
    """The expected R² on new records of every method, with its range.

    Args:
        n: number of records, at least 1. d: of features, at least 1. epsilon: ε in [10⁻⁸, 10⁶].
        delta: δ in [10⁻³⁰⁰, 1); `tabular.default_delta` if left out.
        expected_r2: in (0, 1), the R² of the best linear prediction.
        spectrum: d eigenvalues of the features' second moment, if they are known. fit_intercept: whether there is one.

    Returns:
        A row for each method, best first among equals in this order: ``r2`` is the expected R² on new records, ``low``
        and ``high`` its range over several spectra of the features (1 where the spectrum is known); ``without_privacy``
        that of least squares; ``excess_risk`` the mean squared error above that of the best linear prediction, as a
        share of the response's variance; ``cost_of_privacy`` the part of it that least squares on the same records does
        not have.

    Raises:
        ValueError: if an argument is outside its range.
    """
    known, budget = _known(n, d, epsilon, delta, expected_r2, spectrum, fit_intercept)
    found = {name: promise(known, n, budget, spectrum is not None) for name, promise in PROMISES.items()}
    plain = expected_r2 - known.d / n * known.label_noise**2
    table = pd.DataFrame(
        {name: _row(told, expected_r2) | {"without_privacy": plain} for name, told in found.items()}
    ).T.rename_axis("method")
    return table[["r2", "low", "high", "without_privacy", "excess_risk", "cost_of_privacy"]]


def choice(d: int, spectrum_known: bool = False) -> tuple[str, ...]:
    """The methods among which one is chosen for a table in memory.

    One pass is never far ahead of all others, so it is left to streams. Clipped descent is left out for more than
    `MOST_FEATURES` features whose spectrum is not known. One eigenvalue can then be so much larger than the mean that
    steps which were planned for the assumed spectra diverge. On MNIST, with 784 features, that happened.

    Args:
        d: number of features. spectrum_known: whether their eigenvalues were stated.

    >>> choice(784)
    ('objective perturbation', 'boosted AdaSSP')
    """
    safe = spectrum_known or d <= MOST_FEATURES
    return (OBJECTIVE, DESCENT, BOOSTED) if safe else (OBJECTIVE, BOOSTED)


def best_method(table: pd.DataFrame, d: int, spectrum_known: bool = False) -> str:
    """The method of a `forecast` with the largest expected R² among those of `choice`; the first of equals.

    Args:
        table: of `forecast`. d, spectrum_known: as for `choice`.
    """
    return str(table.loc[list(choice(d, spectrum_known)), "r2"].idxmax())


def records_needed(
    target_r2: float,
    d: int,
    epsilon: float,
    delta: float | None = None,
    *,
    expected_r2: float = 0.5,
    spectrum: Any = None,
    fit_intercept: bool = True,
) -> int:
    """The least n of `RECORDS` at which some method is expected to reach an R², for the methods of several passes.

    Args:
        target_r2: below ``expected_r2``. The others: as for `forecast`; δ where it is left out depends on n.

    Raises:
        ValueError: if an argument is outside its range, or no n of `RECORDS` is enough.

    >>> records_needed(0.5, d=10, epsilon=1.0, expected_r2=0.6)
    422
    """
    _below(target_r2, expected_r2)

    def reached(n: int) -> bool:
        known, budget = _known(n, d, epsilon, delta, expected_r2, spectrum, fit_intercept)
        return _reaches(target_r2, expected_r2, known, n, budget, spectrum is not None)

    return _least(RECORDS, reached, "n")


def epsilon_needed(
    target_r2: float,
    n: int,
    d: int,
    delta: float | None = None,
    *,
    expected_r2: float = 0.5,
    spectrum: Any = None,
    fit_intercept: bool = True,
) -> float:
    """The least ε of `BUDGETS` at which some method is expected to reach an R², for the methods of several passes.

    Args, Raises: as `records_needed`.

    >>> round(epsilon_needed(0.5, n=5000, d=10, expected_r2=0.6), 2)
    0.06
    """
    _below(target_r2, expected_r2)

    def reached(epsilon: float) -> bool:
        known, budget = _known(n, d, epsilon, delta, expected_r2, spectrum, fit_intercept)
        return _reaches(target_r2, expected_r2, known, n, budget, spectrum is not None)

    return _least(BUDGETS, reached, "epsilon")


def draw(table: pd.DataFrame, axes: Axes | None = None) -> Axes:
    """A `forecast` as a figure: expected R² and its range, a row for each method, beside least squares.

    Args:
        table: of `forecast`. axes: of Matplotlib; new ones if left out.
    """
    import matplotlib.pyplot as plt

    axes = plt.subplots(figsize=(5.2, 1.6 + 0.35 * len(table)), layout="constrained")[1] if axes is None else axes
    places = np.arange(len(table))[::-1]
    axes.hlines(places, table["low"], table["high"], color="C0", linewidth=2)
    axes.plot(table["r2"], places, "o", color="C0", label="expected, range over spectra")
    axes.axvline(table["without_privacy"].iloc[0], color="C1", linestyle="--", label="least squares, no privacy")
    axes.axvline(0, color="0.5", linewidth=1, label="always predicting the mean")
    axes.set_yticks(places, table.index)
    axes.set_xlim(min(-0.05, max(-0.5, float(table["low"].min()))), None)
    axes.set_xlabel("R² on new records")
    axes.legend(loc="upper left", bbox_to_anchor=(0.0, -0.35), frameon=False)
    return axes


def _objective(known: Knowledge, n: int, budget: ApproximateDP, stated: bool) -> Expected:
    return piloted_plan.choose(known, n, budget, stated).expected


def _descent(known: Knowledge, n: int, budget: ApproximateDP, stated: bool) -> Expected:
    return other_plans.descent(known, n, budget, stated).expected


def _boosted(known: Knowledge, n: int, budget: ApproximateDP, stated: bool) -> Expected:
    return other_plans.boosted(known, n, budget, stated).expected


@functools.lru_cache(maxsize=256)
def _one_pass(known: Knowledge, n: int, budget: ApproximateDP, stated: bool) -> Expected:
    """DP-GD's promise is that of its equations, for each spectrum with the hyper-parameters of the first one."""
    best = public.tuned(known, n, budget.to_gaussian().mu, None, public.HARMONIC, None)
    risks = [best.risk]
    for model in expected.models(known, n, stated)[1:]:
        other = Knowledge(
            tuple(model.eigenvalues), tuple(model.weights), known.d, known.label_noise, known.initial_risk
        )
        risks.append(public.clipped(other, n, budget.to_gaussian().mu, best.clip, best.schedule)[1])
    told = np.array([risk for risk in risks if math.isfinite(risk)])
    return expected.summary(told, np.maximum(told - known.d / (2 * n) * known.label_noise**2, 1e-12))


PROMISES: dict[str, Callable[[Knowledge, int, ApproximateDP, bool], Expected]] = {
    OBJECTIVE: _objective,
    DESCENT: _descent,
    BOOSTED: _boosted,
    ONE_PASS: _one_pass,
}


def _known(
    n: int, d: int, epsilon: float, delta: float | None, expected_r2: float, spectrum: Any, fit_intercept: bool
) -> tuple[Knowledge, ApproximateDP]:
    """The checked arguments as the formulas take them, on the scale where the response has variance 1."""
    _validate.whole("n", n)
    _validate.whole("d", d)
    _validate.between("epsilon", epsilon, *EPSILONS)
    _validate.probability("expected_r2", expected_r2)
    asked = default_delta(n) if delta is None else _validate.between("delta", delta, DELTAS[0], 1 - 1e-16)
    eigenvalues = public.stated_eigenvalues(spectrum, d)
    known = expected.knowledge(eigenvalues, fit_intercept, expected_r2)
    return known, ApproximateDP(float(epsilon), float(asked))


def _row(told: Expected, expected_r2: float) -> dict[str, float]:
    """Risks as shares of the response's variance, which is 1."""
    shares = {"r2": told.risk, "low": told.high, "high": told.low}
    excess = {"excess_risk": 2 * told.risk, "cost_of_privacy": 2 * told.privacy}
    return {name: expected_r2 - 2 * risk for name, risk in shares.items()} | excess


def _reaches(target: float, expected_r2: float, known: Knowledge, n: int, budget: ApproximateDP, stated: bool) -> bool:
    """Whether a method of several passes is expected to reach a target; DP-GD is never far ahead of all of them."""
    promises = (PROMISES[name](known, n, budget, stated) for name in (DESCENT, BOOSTED, OBJECTIVE))
    return any(expected_r2 - 2 * told.risk >= target for told in promises)


def _below(target: float, expected_r2: float) -> None:
    if not target < expected_r2:
        raise ValueError(f"target_r2 must be below expected_r2, {expected_r2!r}, got {target!r}")


def _least(values: tuple[Any, ...], reached: Callable[[Any], bool], name: str) -> Any:
    """The first of increasing values for which something holds from there on."""
    if not reached(values[-1]):
        raise ValueError(f"target_r2 is not reached for any {name} up to {values[-1]:g}")
    low, high = -1, len(values) - 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if reached(values[middle]) else (middle, high)
    return values[high]
