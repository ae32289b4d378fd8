"""A made-up survey, and what loose bounds and missing cells cost a private fit: measured in seconds, and drawn."""

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import ndtr
from sklearn.linear_model import LinearRegression

from companion.judging.prose import compact, percent
from companion.judging.tables import pick, select
from companion.showing import figures
from companion.showing.plates import Plate
from costofprivacy.estimators.schema import Schema, number

# epsilon, delta, feature_bounds, response_bounds, expected_r2, spectrum, random_state ↦ an estimator for which a record
# with NaN is void. ``spectrum`` is the sum of the eigenvalues on the stated scale, or None where it is not known.
Maker = Callable[..., Any]


@dataclass(frozen=True)
class Problem:
    """A regression whose explained part has variance 1.

    Args:
        n: number of records. d: number of features. r2: the share of the response's variance that they explain.
        epsilon, delta: of each fit.
    """

    n: int = 10_000
    d: int = 5
    r2: float = 0.8
    epsilon: float = 1.0
    delta: float = 1e-6

    def noise(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """The unexplained part of n responses."""
        return np.asarray(math.sqrt(1 / self.r2 - 1) * rng.standard_normal(n))


def summarised(rows: list[dict[str, Any]], by: list[str], values: list[str]) -> pd.DataFrame:
    """Means over trials by setting: for each value ``v`` the columns ``v`` and ``v_error``; ``trials``."""
    grouped = pd.DataFrame(rows).groupby(by, sort=False)[values]
    count = grouped.size()
    means, errors = grouped.mean(), grouped.std(ddof=1).div(np.sqrt(count), axis=0).add_suffix("_error")
    return pd.concat([means, errors], axis=1).assign(trials=count).reset_index()


# ---- Loose bounds ----
# The loss of a private fit when public bounds are wider than the data by a factor.
#
# Features are independent and uniform on [−1, 1], the response is xᵀθ + b plus noise, and lies within ±`REACH`
# standard deviations. So the tight bounds are known exactly. Wider ones move the data towards the middle of the stated
# scale: a feature of variance 1/w² there needs a coefficient that is w times as large, at the same noise. The user is
# taken to know the bounds and to guess R², and the estimator to assume that features are uniform within their bounds.
# For the features there is one more case: the user states their true second moment too (``spectrum``).
#
# The loss is exact for a fitted θ̂, b̂: ‖θ̂ − θ‖²/3 + (b̂ − b)², as a share of the variance that the features explain.

FACTORS = (1.0, 2.0, 4.0, 8.0, 16.0)
FEATURES, RESPONSE, BOTH, STATED = "features", "response", "both", "features, variance stated"
WIDENED = {BOTH: "both", FEATURES: "features", RESPONSE: "response", STATED: "features,\nvariance stated"}
REACH = 3.0  # standard deviations of the response that its tight bounds hold


class TightProblem(Problem):
    """A regression whose tight bounds are known."""

    @property
    def coefficients(self) -> np.ndarray:
        """θ of equal entries and changing signs, with θᵀθ/3 = 1."""
        return np.sqrt(3 / self.d) * (-1.0) ** np.arange(self.d)

    @property
    def response_deviation(self) -> float:
        """The standard deviation of the response, whose explained part has variance 1."""
        return 1 / math.sqrt(self.r2)

    def draw(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Records: features of shape (n, d), responses of shape (n,)."""
        X = rng.uniform(-1, 1, (self.n, self.d))
        return X, X @ self.coefficients + self.noise(self.n, rng)


def loose_table(
    seeds: Sequence[int], make: Maker, problem: TightProblem | None = None, factors: Sequence[float] = FACTORS
) -> pd.DataFrame:
    """The loss at each factor, for wider bounds of the features (their variance stated or not), the response, and both.

    Args:
        seeds: one for each trial; at a seed all fits have the same records and the same seed of the noise. make: from
            public arguments to an estimator. factors: at least 1.

    Returns:
        columns widened, factor, lost, lost_error, trials; ``lost`` is 1 for always predicting the mean.
    """
    stated, rows = problem or TightProblem(), []
    for seed in seeds:
        X, y = stated.draw(np.random.default_rng(seed))
        for what, factor in product((FEATURES, RESPONSE, BOTH, STATED), factors):
            lost = loss(X, y, stated, what, factor, make, seed)
            rows.append({"widened": what, "factor": factor, "lost": lost})
    return summarised(rows, ["widened", "factor"], ["lost"])


def loss(
    X: np.ndarray, y: np.ndarray, problem: TightProblem, what: str, factor: float, make: Maker, seed: int
) -> float:
    """‖θ̂ − θ‖²/3 + (b̂ − b)² of one fit."""
    features = 1.0 if what == RESPONSE else factor
    response = REACH * problem.response_deviation * (factor if what in (RESPONSE, BOTH) else 1.0)
    model = make(
        epsilon=problem.epsilon,
        delta=problem.delta,
        feature_bounds=(-features, features),
        response_bounds=(-response, response),
        expected_r2=problem.r2,
        spectrum=problem.d / factor**2 if what == STATED else None,
        random_state=seed,
    ).fit(X, y)
    off = model.coef_ - problem.coefficients
    return float(off @ off / 3 + model.intercept_**2)


# ---- Missing cells ----
# A public constant in their place, an indicator beside it, or no record at all.
#
# Every cell is missing with the same probability s, independently of its value. The features lie within [0, 1] and are
# skewed: each is the third power of a uniform variable, with mean ¼, so the middle of the bounds is not typical. A
# Gaussian copula correlates them. A record with a missing cell can be
#
# * kept, with the *middle* of the bounds in the place of the cell,
# * kept, with a public *typical* value, here the mean of the law,
# * kept, with the middle and an *indicator* of what is missing: d more features, and their noise,
# * *void*: it contributes nothing. With d features that are 1 − (1 − s)^d of the records.
#
# The loss is that of predictions for new people against the response's expectation given *all* their cells, as a share
# of its variance: for people without missing cells, and for people whose cells are missing at the same rate.

SHARES = (0.0, 0.05, 0.1, 0.2, 0.4)
MIDDLE, TYPICAL, INDICATOR, VOID = "middle", "typical", "indicator", "void"
RULES = {
    MIDDLE: "middle of\nthe bounds",
    TYPICAL: "typical value",
    INDICATOR: "middle and\nindicator",
    VOID: "void record",
}
PRIVATE, FREE = "private", "least squares"
POWER = 3  # of a uniform variable
MEAN = 1 / (POWER + 1)
CORRELATION = 0.3  # of the copula
NEW, CALIBRATION = 4000, 200_000  # people who are predicted, and from whom the variance of the response follows


class MissingProblem(Problem):
    """A regression whose records have missing cells; ``r2`` is that where nothing is missing."""

    @property
    def response_bounds(self) -> tuple[float, float]:
        """Public bounds of the response."""
        middle, reach = float(_coefficients(self.d).sum() * MEAN), REACH / math.sqrt(self.r2)
        return middle - reach, middle + reach

    def expected(self, X: np.ndarray) -> np.ndarray:
        """The response's expectation given all cells, shape (n,)."""
        return np.asarray(X @ _coefficients(self.d))


def people(n: int, d: int, rng: np.random.Generator) -> np.ndarray:
    """Features within [0, 1], shape (n, d)."""
    common = math.sqrt(CORRELATION) * rng.standard_normal((n, 1))
    return np.asarray(ndtr(common + math.sqrt(1 - CORRELATION) * rng.standard_normal((n, d))) ** POWER)


@functools.cache
def _coefficients(d: int) -> np.ndarray:
    signs = (-1.0) ** np.arange(d)
    return np.asarray(signs / (people(CALIBRATION, d, np.random.default_rng(0)) @ signs).std())


def schema(d: int, rule: str) -> Schema:
    """The public schema of a rule for d features; "void" is that of "middle", and its records are dropped beside it."""
    column = number(0, 1, typical=MEAN if rule == TYPICAL else None, indicator=rule == INDICATOR)
    return Schema({f"x{k + 1}": column for k in range(d)})


def missing_table(
    seeds: Sequence[int], make: Maker, problem: MissingProblem | None = None, shares: Sequence[float] = SHARES
) -> pd.DataFrame:
    """The loss of each rule at each share of missing cells, of private fits and of least squares.

    Args:
        seeds: one for each trial; at a seed all fits have the same people, the same order of cells that go missing, and
            the same seed of the noise. make: from public arguments to an estimator, which takes NaN as void.
            shares: in [0, 1).

    Returns:
        columns fit, rule, share, records (the share of complete ones), lost_complete, lost_missing with their errors
        (``_error``), trials. A loss of 1 is that of always predicting the mean.
    """
    stated = problem or MissingProblem()
    rows = [row for seed in seeds for share in shares for row in _missing_trial(seed, share, stated, make)]
    return summarised(rows, ["fit", "rule", "share"], ["records", "lost_complete", "lost_missing"])


def _missing_trial(seed: int, share: float, problem: MissingProblem, make: Maker) -> list[dict[str, Any]]:
    rng = np.random.default_rng(seed)
    X, new = people(problem.n, problem.d, rng), people(NEW, problem.d, rng)
    y = problem.expected(X) + problem.noise(len(X), rng)
    gaps, new_gaps = (np.where(rng.random(part.shape) < share, np.nan, part) for part in (X, new))
    rows, complete, truth = [], float((~np.isnan(gaps).any(axis=1)).mean()), problem.expected(new)
    for rule in RULES:
        features = []
        for cells in (gaps, new, new_gaps):
            known = schema(problem.d, rule).transformer().transform(cells)
            void = np.isnan(cells).any(axis=1, keepdims=True) if rule == VOID else False
            features.append(np.where(void, np.nan, known))
        for fit in (PRIVATE, FREE):
            model = _fitted(fit, rule, features[0], y, problem, make, seed)
            row: dict[str, Any] = {"fit": fit, "rule": rule, "share": share, "records": complete}
            for name, part in zip(("lost_complete", "lost_missing"), features[1:], strict=True):
                answers = model.predict(np.where(np.isnan(part), 0.0, part))  # void: the middle of the bounds
                row[name] = float(((answers - truth) ** 2).mean() / truth.var())
            rows.append(row)
    return rows


def _fitted(
    fit: str, rule: str, features: np.ndarray, y: np.ndarray, problem: MissingProblem, make: Maker, seed: int
) -> Any:
    if fit == FREE:
        complete = ~np.isnan(features).any(axis=1)
        return LinearRegression().fit(features[complete], y[complete])
    model = make(
        epsilon=problem.epsilon,
        delta=problem.delta,
        feature_bounds=schema(problem.d, rule).feature_bounds(),
        response_bounds=problem.response_bounds,
        expected_r2=problem.r2,
        spectrum=None,
        random_state=seed,
    )
    return model.fit(features, y)


def draw_loose(table: pd.DataFrame) -> Plate:
    """What a private fit loses against the factor by which public bounds are too wide, from `loose_table`."""
    with figures.panels(1, figsize=(5.8, 3.8)) as (figure, (axes,)):
        rows = table.rename(columns={"lost_error": "standard_error"})
        figures.curves(axes, rows, "factor", "lost", "widened", WIDENED)
        axes.axhline(1, ls="--", lw=1, color="0.35")
        figures.log_axes(axes, "bounds wider than the data by the factor", "share lost")
        figures.plain_ticks(axes, table["factor"].unique())
    widest = table["factor"].max()
    tight = compact(pick(table, widened=BOTH, factor=1.0)["lost"])
    each = {what: compact(pick(table, widened=what, factor=widest)["lost"]) for what in WIDENED}
    return Plate(
        figure,
        f"**What a loose bound costs.** The share of the explainable variance that a private fit loses; 1 (dashed) "
        f"is the loss of always predicting the mean. Bars show two standard errors. With tight bounds the loss is "
        f"{tight}. If all bounds are {widest:g} times too wide, it is {each[BOTH]}. If only the features' "
        f"bounds are, it is {each[FEATURES]}, or {each[STATED]} if their true variance is stated. If "
        f"only the response's bounds are too wide, it is {each[RESPONSE]}.",
    )


def draw_missing(table: pd.DataFrame) -> Plate:
    """What a fit loses against the share of missing cells, from `missing_table`: left with privacy, right without."""
    with figures.panels(2, figsize=(9.2, 3.9), sharey=True) as (figure, panels):
        for axes, fit in zip(panels, (PRIVATE, FREE), strict=True):
            rows = select(table, fit=fit).rename(columns={"lost_complete_error": "standard_error"})
            figures.curves(axes, rows, "share", "lost_complete", "rule", RULES)
            axes.set(yscale="log", xlabel="share of missing cells", ylabel="share lost", title=fit)
    most = table["share"].max()
    at_most = select(table, fit=PRIVATE, share=most).set_index("rule")["lost_complete"]
    complete = pick(table, fit=PRIVATE, rule=VOID, share=most)["records"]
    return Plate(
        figure,
        "**What missing cells cost.** The share of the explainable variance that is lost for new people without "
        "missing cells; bars show two standard errors. One panel has a private fit, the other least squares on the "
        f"same features. With {percent(most)} of the cells missing, {percent(complete)} of the records are complete. "
        f"The private fit then loses {compact(at_most[MIDDLE])} with the middle of the bounds in their place, "
        f"{compact(at_most[TYPICAL])} with a typical value, {compact(at_most[INDICATOR])} with an indicator, and "
        f"{compact(at_most[VOID])} if incomplete records are void.",
    )


# ---- A made-up survey ----
# As a table that a newcomer may have: numbers, a category, a truth value, a date, and empty cells.
#
# No person is in it. Everything is drawn from the laws below, so that the true coefficients are known:
#
# ======================  ============================  ==========================================  ================
# column                  law                           effect on the pressure                      empty cells
# ======================  ============================  ==========================================  ================
# ``age``                 18 + 72 · Beta(2, 2.5)        0.45 mmHg a year                            none
# ``bmi``                 normal, 27 ± 4.5              0.9 mmHg a kg/m²                            none
# ``pulse``               normal, 72 ± 10               0.15 mmHg a beat                            none
# ``exercise``            gamma, mean 3 hours a week    −1.2 mmHg an hour                           10 %
# ``smoker``              true for 20 %                 4 mmHg                                      3 %, as text
# ``region``              one of `REGIONS`              `REGIONS`                                   none; 1 % "abroad"
# ``visit``               any day of 2023 and 2024      2 mmHg more in midwinter, less in summer    none
# ``pressure``            the response, in mmHg         noise of standard deviation `NOISE`         none
# ======================  ============================  ==========================================  ================

REGIONS = {"north": 0.0, "east": 1.0, "south": -3.0, "west": 2.0}  # mmHg
REGION_SHARES = (0.4, 0.3, 0.2, 0.1)
ABROAD = "abroad"  # a region that no schema lists
EFFECTS = {"age": 0.45, "bmi": 0.9, "pulse": 0.15, "exercise": -1.2, "smoker": 4.0}  # mmHg for each unit
WINTER = 2.0  # mmHg, between the mean and midwinter
BASE = 70.0  # mmHg
NOISE = 9.0  # mmHg
DAYS, YEAR = 731, 365.25
RESPONSE_COLUMN = "pressure"


def draw(n: int, *, rng: np.random.Generator) -> pd.DataFrame:
    """A survey of n people, at least 1: one row a person, with the columns of the table above."""
    days = rng.integers(DAYS, size=n)
    table = pd.DataFrame(
        {
            "age": (18 + 72 * rng.beta(2, 2.5, n)).round(),
            "bmi": np.clip(rng.normal(27, 4.5, n), 15, 50).round(1),
            "pulse": rng.normal(72, 10, n).round(),
            "exercise": rng.gamma(1.5, 2.0, n).round(1),
            "smoker": rng.random(n) < 0.2,
            "region": rng.choice(list(REGIONS), n, p=REGION_SHARES),
            "visit": pd.Timestamp("2023-01-01") + pd.to_timedelta(days, unit="D"),
        }
    )
    season = WINTER * np.cos(2 * math.pi * days / YEAR)
    linear = sum(effect * table[name].to_numpy(float) for name, effect in EFFECTS.items())
    expected = BASE + linear + table["region"].map(REGIONS).to_numpy() + season
    table[RESPONSE_COLUMN] = (expected + NOISE * rng.standard_normal(n)).round(1)
    smokers = np.where(rng.random(n) < 0.03, "", np.where(table["smoker"], "yes", "no"))
    exercise = table["exercise"].mask(rng.random(n) < 0.1)
    region = table["region"].mask(rng.random(n) < 0.01, ABROAD)
    return table.assign(smoker=smokers, exercise=exercise, region=region)
