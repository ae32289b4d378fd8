r"""Which method to use, what it will reach, and the lines that fit it; and the table of the book's calculator.

**A table of forecasts between which a page, and a reader of it, can interpolate in an instant.**

`forecasting.forecast` takes a second. This table has its answers on a grid, for real data without a stated spectrum and
with an intercept, and interpolates them; the calculator in the book does the same with the same numbers.

**Coordinates.** With d̃ = d + 1 coefficients, the formulas of `estimators.expected` depend on n/d̃ (sampling), on the
product of n/d̃ and the privacy parameter μ of Gaussian DP (noise), on the odds R²/(1 − R²), and weakly on d̃ alone. The
axes are the logarithms of these four. δ enters through μ, with one exception: objective perturbation spends κ ≈ ε/10 on
the curvature of its loss and has δ = 2δ_v(ε − κ) + …, see `rivals.piloted_perturbation`. So its μ is that of
((1 − `CURVATURE`)ε, δ/2). The grid is computed at δ = `DELTA`.

**Values.** With q the excess risk as a share of what can be explained, R² on new records is R²(1 − q). The grid has
y = log(q/(`MOST` − q)), because for a fit that is shrunk towards the mean it is nearly linear in the axes. A q above 1
(worse than the mean) is 1. Between nodes y is linear along each axis, and beyond the grid it stays what it is at the
edge.

``python -m costofprivacy.estimators.calculator`` computes the grid anew and writes it beside this module. That
takes about half an hour on two cores and is needed when a formula of a forecast changes: a test compares nodes.
"""

import functools
import itertools
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import joblib
import numpy as np
import pandas as pd

from costofprivacy import _validate
from costofprivacy.estimators import expected, forecasting
from costofprivacy.estimators.forecasting import BOOSTED, DESCENT, OBJECTIVE, ONE_PASS, best_method
from costofprivacy.estimators.tabular import default_delta
from costofprivacy.privacy import ApproximateDP, GaussianDP, groups

# ---- Forecast table ----

FILE = "forecast_table.json"
METHODS = (OBJECTIVE, DESCENT, BOOSTED, ONE_PASS)
RECORDS = (3.0, 4.0, 5.5, 7.5, 10.0, 15.0, 25.0, 50.0, 200.0, 1e3, 1e5)  # n/d̃
STRENGTHS = (-1.0, -0.5, -0.25, 0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 2.5, 3.5, 5.0)  # log₁₀ of μn/d̃
EXPLAINED = (0.1, 0.4, 0.7, 0.9, 0.98)  # expected R²
COEFFICIENTS = (2, 6, 40, 1001)  # d̃
DELTA = 1e-6
CURVATURE = 0.1  # κ/ε, about what plans of objective perturbation take
LEAST_MU, MOST_MU = 0.003, 9.0  # between these the grid is complete
MOST, SMALLEST = 1.2, 1e-4  # in y; the least q
DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
BASE = len(DIGITS)
LOW, STEP, WIDTH = -14.0, 0.004, 0.15  # y is LOW plus so many steps; its distance to either end of the range in widths


def to_y(q: np.ndarray) -> np.ndarray:
    """The coordinate of a share q of the signal."""
    kept = np.clip(q, SMALLEST, 1.0)
    return np.log(kept / (MOST - kept))


@dataclass(frozen=True, eq=False)
class Table:
    """Forecasts on a grid.

    Args:
        axes: nodes of the four coordinates, each increasing. values: y of each method, and of the ends of its range
            (of the larger risk, then of the smaller): shape (methods, nodes of each axis, 3). methods: their names.
    """

    axes: tuple[np.ndarray, ...]
    values: np.ndarray
    methods: tuple[str, ...] = METHODS

    def look_up(self, points: Mapping[str, Sequence[float]], expected_r2: float) -> pd.DataFrame:
        """R² of each method at its point, with its range, never below 0.

        Args:
            points: by method, in the table's coordinates. expected_r2: R² of the best linear prediction.

        Returns:
            columns ``r2``, ``low``, ``high``; index ``method``.
        """
        rows = {}
        for name, point in points.items():
            y = self._between(self.methods.index(name), point)
            q = np.minimum(MOST / (1 + np.exp(-y)), 1.0)  # the inverse of `to_y`, at most 1
            rows[name] = expected_r2 * (1 - q)
        return pd.DataFrame(rows, index=["r2", "low", "high"]).T.rename_axis("method")

    def _between(self, method: int, point: Sequence[float]) -> np.ndarray:
        """y at a point, shape (3,): linear along each axis."""
        sides = [_sides(nodes, x) for nodes, x in zip(self.axes, point, strict=True)]
        found = np.zeros(self.values.shape[-1])
        for corner in itertools.product(*sides):
            where = tuple(place for place, _ in corner)
            found += math.prod(weight for _, weight in corner) * self.values[(method, *where)]
        return found

    def text(self) -> str:
        """The table as JSON: two digits to the base 64 for y and one for each end of its range."""
        return json.dumps(
            {
                "axes": [[round(float(node), 9) for node in nodes] for nodes in self.axes],
                "methods": dict(zip(self.methods, map(_spelt, self.values), strict=True)),
                "scale": {"low": LOW, "step": STEP, "width": WIDTH, "most": MOST},
                "curvature": {OBJECTIVE: CURVATURE},
            },
            ensure_ascii=False,
            separators=(",", ":"),
        )


def coordinates(n: float, d: int, mu: float, expected_r2: float) -> tuple[float, float, float, float]:
    """A question in the table's coordinates; μ is that of `strength`."""
    records = math.log10(n / (d + 1))
    odds = math.log(expected_r2 / (1 - expected_r2))
    return records, records + math.log10(mu), odds, math.log(d + 1)


def strength(method: str, epsilon: float, delta: float) -> float:
    """The μ by which a method's noise is known."""
    if method == OBJECTIVE:
        return ApproximateDP((1 - CURVATURE) * epsilon, delta / 2).to_gaussian().mu
    return ApproximateDP(epsilon, delta).to_gaussian().mu


def approximate(
    n: int, d: int, epsilon: float, delta: float = DELTA, *, expected_r2: float = 0.5, most_per_unit: int = 1
) -> pd.DataFrame:
    """What `forecasting.forecast` says, interpolated: within 0.01.

    Args:
        n: number of records, at least 3(d + 1). d: of features, in 1 to 1000. epsilon: ε in (0, ∞). delta: δ in (0, 1).
        expected_r2: in (0, 1), the R² of the best linear prediction. most_per_unit: k, as for `forecasting.forecast`.

    Returns:
        A row for each method: ``r2`` on new records, with its range ``low`` to ``high``, and ``without_privacy``, that
        of least squares. An R² of 0 stands for all that is no better than predicting the mean.

    Raises:
        ValueError: if an argument is outside its range.

    >>> print(approximate(1000, 10, 1.0, expected_r2=0.6)["r2"].round(1).to_string())
    method
    objective perturbation    0.6
    clipped descent           0.6
    boosted AdaSSP            0.5
    one pass (DP-GD)          0.5
    """
    d = _validate.whole("d", d)
    _validate.between("d", d, 1, COEFFICIENTS[-1] - 1)
    least = math.ceil(RECORDS[0] * (d + 1))
    n = _validate.whole("n", n)
    if n < least:
        raise ValueError(f"n must be at least {least} for {d} features, got {n!r}; `forecast` answers for fewer")
    epsilon = _validate.finite_positive("epsilon", epsilon)
    delta = _validate.probability("delta", delta)
    expected_r2 = _validate.probability("expected_r2", expected_r2)
    whole, points = ApproximateDP(epsilon, delta), {}
    for name in METHODS:
        own = groups.of_one(whole, most_per_unit, gaussian=name != OBJECTIVE)
        points[name] = coordinates(n, d, strength(name, own.epsilon, own.delta), expected_r2)
    found = read().look_up(points, expected_r2)
    return found.assign(without_privacy=expected_r2 - (d + 1) / n * (1 - expected_r2))


def axes() -> tuple[np.ndarray, ...]:
    """The nodes."""
    odds = [math.log(share / (1 - share)) for share in EXPLAINED]
    return np.log10(RECORDS), np.array(STRENGTHS), np.array(odds), np.log(COEFFICIENTS)


@functools.cache
def source(file: str = FILE) -> str:
    """A saved table, as JSON."""
    return files("costofprivacy.estimators").joinpath(file).read_text("utf-8").strip()


@functools.cache
def read(file: str = FILE) -> Table:
    """A saved table."""
    told, places = json.loads(source(file)), {digit: k for k, digit in enumerate(DIGITS)}
    nodes = tuple(np.array(each) for each in told["axes"])
    values = []
    for text in told["methods"].values():
        digits = np.array([places[digit] for digit in text]).reshape(-1, 4)
        y = LOW + STEP * (BASE * digits[:, 0] + digits[:, 1])
        width = told["scale"]["width"]
        ends = np.stack([y, y + width * digits[:, 2], y - width * digits[:, 3]], axis=1)
        values.append(ends.reshape(*map(len, nodes), 3))
    return Table(nodes, np.array(values), tuple(told["methods"]))


def node(method: str, records: float, mu: float, explained: float, coefficients: int) -> np.ndarray:
    """y of the exact forecast at a node, shape (3,); a node need not have a whole number of records.

    Args:
        records: n/d̃. mu: of `strength`. explained: expected R². coefficients: d̃.
    """
    known = expected.knowledge(np.ones(coefficients - 1), True, explained)
    share, spent = (1 - CURVATURE, DELTA / 2) if method == OBJECTIVE else (1.0, DELTA)
    budget = ApproximateDP(GaussianDP(mu).epsilon(spent) / share, DELTA)
    told = forecasting.PROMISES[method](known, records * coefficients, budget, False)  # type: ignore[arg-type]
    return to_y(2 * np.array([told.risk, told.high, told.low]) / explained)


def needed(i: int, j: int) -> bool:
    """Whether a pair of nodes of the first two axes is a corner of a cell that holds a μ of the stated range."""
    records, strengths = axes()[:2]
    low = records[max(i - 1, 0)] + math.log10(LEAST_MU)
    high = records[min(i + 1, len(records) - 1)] + math.log10(MOST_MU)
    return bool(strengths[min(j + 1, len(strengths) - 1)] >= low and strengths[max(j - 1, 0)] <= high)


def made(jobs: int = 1) -> Table:
    """The table, computed anew. Nodes that no question needs have the values of the nearest that one does.

    Args:
        jobs: number of processes.
    """
    records, strengths, *rest = axes()
    pairs = [(i, j) for i, j in itertools.product(range(len(records)), range(len(strengths))) if needed(i, j)]
    found = joblib.Parallel(jobs, verbose=5)(joblib.delayed(_cell)(i, j) for i, j in pairs)
    values = np.full((len(METHODS), len(records), len(strengths), *map(len, rest), 3), np.nan)
    for (i, j), cell in zip(pairs, found, strict=True):
        values[:, i, j] = cell
    return Table(axes(), filled(values))


def filled(values: np.ndarray) -> np.ndarray:
    """Values of shape (methods, n/d̃, μn/d̃, …) with those of the nearest μn/d̃ where there are none."""
    whole = values.copy()
    for i in range(values.shape[1]):
        there = np.flatnonzero(np.isfinite(values[0, i]).all(axis=tuple(range(1, values.ndim - 2))))
        for j in range(values.shape[2]):
            whole[:, i, j] = values[:, i, there[np.abs(there - j).argmin()]]
    return whole


def _cell(i: int, j: int) -> np.ndarray:
    """`node` for all methods, R² and d̃ at a pair of nodes."""
    mu = 10 ** (STRENGTHS[j] - math.log10(RECORDS[i]))
    rest = itertools.product(METHODS, EXPLAINED, COEFFICIENTS)
    each = [node(method, RECORDS[i], min(max(mu, 1e-3), 20.0), share, size) for method, share, size in rest]
    return np.array(each).reshape(len(METHODS), len(EXPLAINED), len(COEFFICIENTS), 3)


def _sides(nodes: np.ndarray, x: float) -> tuple[tuple[int, float], tuple[int, float]]:
    """The two nodes around x with their weights; beyond the ends, the end has all the weight."""
    k = int(np.clip(np.searchsorted(nodes, x, side="right") - 1, 0, len(nodes) - 2))
    t = min(max((x - nodes[k]) / (nodes[k + 1] - nodes[k]), 0.0), 1.0)
    return (k, 1 - t), (k + 1, t)


def _spelt(values: np.ndarray) -> str:
    """y and its range as digits, which `read` reads; ``values`` has shape (…, 3)."""
    flat = values.reshape(-1, 3)
    middle = np.clip(np.round((flat[:, 0] - LOW) / STEP), 0, BASE**2 - 1).astype(int)
    ends = np.clip(np.round(np.abs(flat[:, 1:] - flat[:, :1]) / WIDTH), 0, BASE - 1).astype(int)
    return "".join(
        DIGITS[m // BASE] + DIGITS[m % BASE] + DIGITS[up] + DIGITS[down] for m, (up, down) in zip(middle, ends)
    )


# ---- What the calculator answers ----

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
    delta: float | None = None,
    expected_r2: float = 0.5,
    most_per_unit: int = 1,
    by: Callable[..., pd.DataFrame] = forecasting.forecast,
) -> Answer:
    """What `forecasting.forecast` says, in short: the method that a fit takes by itself, and the lines that fit it.

    It knows no intervals, which change the method: `forecasting.forecast_intervals` does.

    Args:
        n: number of records, at least 1. d: of features, at least 1. With `approximate` both have its ranges.
        epsilon, rho, mu: the budget in (0, ∞), by one of the three: ε, ρ of zCDP, or μ of Gaussian DP with ρ = μ²/2.
        delta: δ in (0, 1), at which ε is stated; `tabular.default_delta` if left out.
        expected_r2: in (0, 1), the R² of the best linear prediction. most_per_unit: k, as for `forecasting.forecast`.
        by: `forecasting.forecast`, or `approximate`, by which the calculator in the book answers in an instant.

    Raises:
        ValueError: if an argument is outside its range, or not exactly one of ε, ρ and μ is given.

    >>> told = answer(10_000, 10, epsilon=1.0)
    >>> print(told.method, round(told.r2, 2), round(told.mu, 3))
    clipped descent 0.5 0.237
    """
    delta = default_delta(_validate.whole("n", n)) if delta is None else _validate.probability("delta", delta)
    eps = budget_epsilon(epsilon, rho, mu, delta)
    found = by(n, d, eps, delta, expected_r2=expected_r2, most_per_unit=most_per_unit)
    method = best_method(found)
    best, gaussian = found.loc[method], ApproximateDP(eps, delta).to_gaussian().mu
    values = {"epsilon": literal(eps), "delta": literal(delta), "expected_r2": literal(expected_r2)}
    code = CODE.format(method=SHORT[method], **values)
    if most_per_unit > 1:
        code = code.replace("}\nmodel", f', "most_per_unit": {most_per_unit}}}\nmodel').replace("y)", "y, unit=unit)")
    r2, low, high, plain = (float(best[name]) for name in ("r2", "low", "high", "without_privacy"))
    return Answer(method, r2, low, high, plain, r2 >= USELESS, eps, delta, gaussian, gaussian**2 / 2, code, found)


def literal(value: float) -> str:
    """A number as code has it, with four digits: without an exponent from a thousandth to a million.

    >>> print(literal(1.0), literal(0.25), literal(1e-6), literal(12345.6))
    1 0.25 1e-6 12350
    """
    mantissa, _, exponent = f"{value:.3e}".partition("e")
    shortest, power = f"{float(mantissa):g}", int(exponent)
    return f"{float(f'{mantissa}e{power}'):.10g}" if -3 <= power <= 5 else f"{shortest}e{power}"


def budget_epsilon(epsilon: float | None, rho: float | None, mu: float | None, delta: float) -> float:
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


if __name__ == "__main__":
    (Path(__file__).parent / FILE).write_text(made(joblib.cpu_count()).text() + "\n", "utf-8")
