"""Figures of what bounds and missing cells cost."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from scipy.special import ndtr
from sklearn.linear_model import LinearRegression

from companion.judging.prose import compact, percent
from companion.judging.tables import pick, select
from companion.showing import figures
from companion.showing.plates import Plate
from costofprivacy.estimators import DPGDRegressor
from costofprivacy.estimators.private_bounds import private_bounds
from costofprivacy.estimators.schema import Schema, number
from costofprivacy.estimators.spending import split
from costofprivacy.privacy import ApproximateDP, GaussianDP

# ---- Estimating ----
# The private fit that is compared, and the loss that is reported.

# epsilon, delta, feature_bounds, response_bounds, expected_r2, spectrum, random_state ↦ an estimator for which a record
# with NaN is void. ``spectrum`` is the sum of the eigenvalues on the stated scale, or None where it is not known.
Maker = Callable[..., Any]


def dp_gd(*, expected_r2: float, **public: Any) -> DPGDRegressor:
    """DP-GD whose user knows the bounds and guesses R², and takes the response for uniform within its bounds.

    Args:
        expected_r2: in (0, 1). public: other arguments of `DPGDRegressor`.
    """
    return DPGDRegressor(expected_r2=expected_r2, not_finite="void", **public)


def summarised(rows: list[dict[str, Any]], by: list[str], values: list[str]) -> pd.DataFrame:
    """Means over trials, each with its standard error and the number of trials.

    Args:
        rows: one for each trial. by: columns that tell the settings apart. values: columns that are averaged.

    Returns:
        columns ``by``, and for each value ``v`` the columns ``v`` and ``v_error``; ``trials``.
    """
    grouped = pd.DataFrame(rows).groupby(by, sort=False)[values]
    count = grouped.size()
    means, errors = grouped.mean(), grouped.std(ddof=1).div(np.sqrt(count), axis=0).add_suffix("_error")
    return pd.concat([means, errors], axis=1).assign(trials=count).reset_index()


# ---- Loose ----
# What a loose bound costs: the loss of a private fit when public bounds are wider than the data by a factor.
#
# Features are independent and uniform on [−1, 1], the response is xᵀθ + b plus noise, and lies within ±`REACH`
# standard
# deviations. So the tight bounds are known exactly. Wider ones move the data towards the middle of the stated scale:
# a feature of variance 1/w² there needs a coefficient that is w times as large, at the same noise. The user is taken
# to
# know the bounds and to guess R², and the estimator to assume that features are uniform within their bounds. For the
# features there is one more case: the user states their true second moment too (``spectrum``), whatever the bounds.
#
# The loss is exact for a fitted θ̂, b̂: ‖θ̂ − θ‖²/3 + (b̂ − b)², as a share of the variance that the features explain.

FACTORS = (1.0, 2.0, 4.0, 8.0, 16.0)
FEATURES, RESPONSE, BOTH, STATED = "features", "response", "both", "features, variance stated"
LOOSE_WIDENED = (FEATURES, RESPONSE, BOTH, STATED)
REACH = 3.0  # standard deviations of the response that its tight bounds hold


@dataclass(frozen=True)
class Problem:
    """A regression whose tight bounds are known.

    Args:
        n: number of records. d: number of features. r2: the share of the response's variance that they explain.
        epsilon, delta: of each fit.
    """

    n: int = 10_000
    d: int = 5
    r2: float = 0.8
    epsilon: float = 1.0
    delta: float = 1e-6

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
        noise = math.sqrt(1 / self.r2 - 1) * rng.standard_normal(self.n)
        return X, X @ self.coefficients + noise


def table(
    seeds: Sequence[int], problem: Problem | None = None, factors: Sequence[float] = FACTORS, make: Maker = dp_gd
) -> pd.DataFrame:
    """The loss at each factor, for wider bounds of the features (their variance stated or not), the response, and both.

    Args:
        seeds: one for each trial; at a seed all fits have the same records and the same seed of the noise.
        problem: `Problem` () where it is left out. factors: at least 1. make: from public arguments to an estimator.

    Returns:
        columns widened, factor, lost, lost_error, trials; ``lost`` is 1 for always predicting the mean.
    """
    stated = problem or Problem()
    rows = [row for seed in seeds for row in _trial(seed, stated, factors, make)]
    return summarised(rows, ["widened", "factor"], ["lost"])


def _trial(seed: int, problem: Problem, factors: Sequence[float], make: Maker) -> list[dict[str, Any]]:
    X, y = problem.draw(np.random.default_rng(seed))
    return [
        {"widened": what, "factor": factor, "lost": _loose_lost(X, y, problem, what, factor, make, seed)}
        for what in LOOSE_WIDENED
        for factor in factors
    ]


def _loose_lost(
    X: np.ndarray, y: np.ndarray, problem: Problem, what: str, factor: float, make: Maker, seed: int
) -> float:
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


# ---- Finding ----
# Known bounds, loose bounds, or private ones: what a fit loses at the same total budget.
#
# The problem is that of `loose`. Where nothing is known, each of the d features and the response is given private
# bounds
# first, on the default grid from 10⁻³ to 10⁶; they share a part of μ² equally. The fit has the rest, and must be
# Gaussian
# DP. Private bounds clip the tails, so they are widened by a public factor, and the loss is measured on new people.

SIZES = (3000, 10_000, 30_000)
STRETCH = 1.2  # public: private bounds are widened by it about their middle
SHARE = 0.2  # of μ², for all private bounds together
LOOSE = 4.0  # the factor by which loose bounds are too wide
KNOWN, WIDE, FOUND = "known", "loose", "private"
WAYS = (KNOWN, WIDE, FOUND)
NEW = 4000  # people who are predicted
Bounds = tuple[Any, Any]


def finding_table(
    seeds: Sequence[int], problem: Problem | None = None, sizes: Sequence[int] = SIZES, make: Maker = dp_gd
) -> pd.DataFrame:
    """The loss with known, loose and private bounds against the number of records.

    Args:
        seeds: one for each trial; at a seed and a size all fits have the same records. problem: but for its size;
            `Problem` () where it is left out. sizes: numbers of records. make: from public arguments to an estimator.

    Returns:
        columns bounds, n, lost, lost_error, trials; ``lost`` is 1 for always predicting the mean.
    """
    stated = problem or Problem()
    rows = [row for seed in seeds for n in sizes for row in _finding_trial(seed, _of_size(stated, n), make)]
    return summarised(rows, ["bounds", "n"], ["lost"])


def _of_size(problem: Problem, n: int) -> Problem:
    return Problem(n, problem.d, problem.r2, problem.epsilon, problem.delta)


def _finding_trial(seed: int, problem: Problem, make: Maker) -> list[dict[str, Any]]:
    rng = np.random.default_rng(seed)
    X, y = problem.draw(rng)
    new = rng.uniform(-1, 1, (NEW, problem.d))
    expected = new @ problem.coefficients
    rows = []
    for way in WAYS:
        features, response, left = _bounds(way, X, y, problem, seed)
        model = make(
            epsilon=left.epsilon(problem.delta),
            delta=problem.delta,
            feature_bounds=features,
            response_bounds=response,
            expected_r2=problem.r2,
            spectrum=None,
            random_state=seed,
        ).fit(X, y)
        lost = float(((model.predict(new) - expected) ** 2).mean() / expected.var())
        rows.append({"bounds": way, "n": problem.n, "lost": lost})
    return rows


def _bounds(way: str, X: np.ndarray, y: np.ndarray, problem: Problem, seed: int) -> tuple[Bounds, Bounds, GaussianDP]:
    """Bounds of the features and of the response, and what is left for the fit."""
    total = ApproximateDP(problem.epsilon, problem.delta).to_gaussian()
    if way != FOUND:
        factor = LOOSE if way == WIDE else 1.0
        reach = factor * REACH * problem.response_deviation
        return (-factor, factor), (-reach, reach), total
    columns = [*X.T, y]
    *each, left = split(total, [*[SHARE / len(columns)] * len(columns), 1 - SHARE])
    found = [
        private_bounds(column, rho=part.mu, random_state=seed * len(columns) + k)
        for k, (column, part) in enumerate(zip(columns, each))
        if isinstance(part, GaussianDP)
    ]
    middle, half = np.array([((side.high + side.low) / 2, (side.high - side.low) / 2) for side in found]).T
    low, high = middle - STRETCH * half, middle + STRETCH * half
    assert isinstance(left, GaussianDP)
    return (low[:-1], high[:-1]), (float(low[-1]), float(high[-1])), left


# ---- Missing ----
# What missing cells cost: a public constant in their place, an indicator beside it, or no record at all.
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
# of
# its variance: for people without missing cells, and for people whose cells are missing at the same rate.

SHARES = (0.0, 0.05, 0.1, 0.2, 0.4)
MIDDLE, TYPICAL, INDICATOR, VOID = "middle", "typical", "indicator", "void"
MISSING_RULES = (MIDDLE, TYPICAL, INDICATOR, VOID)
PRIVATE, FREE = "private", "least squares"
POWER = 3  # of a uniform variable
MEAN = 1 / (POWER + 1)
CORRELATION = 0.3  # of the copula
MISSING_NEW, CALIBRATION = 4000, 200_000  # people who are predicted, and from whom the variance of the response follows


@dataclass(frozen=True)
class MissingProblem:
    """A regression whose records have missing cells.

    Args:
        n: number of records. d: number of features. r2: the share of the response's variance that they explain where
            nothing is missing. epsilon, delta: of each fit.
    """

    n: int = 10_000
    d: int = 5
    r2: float = 0.8
    epsilon: float = 1.0
    delta: float = 1e-6

    @property
    def response_bounds(self) -> tuple[float, float]:
        """Public bounds of the response, whose explained part has variance 1."""
        middle, reach = float(_coefficients(self.d).sum() * MEAN), REACH / math.sqrt(self.r2)
        return middle - reach, middle + reach

    def expected(self, X: np.ndarray) -> np.ndarray:
        """The response's expectation given all cells, shape (n,)."""
        return np.asarray(X @ _coefficients(self.d))

    def respond(self, X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Responses with noise, shape (n,)."""
        return self.expected(X) + math.sqrt(1 / self.r2 - 1) * rng.standard_normal(len(X))


def people(n: int, d: int, rng: np.random.Generator) -> np.ndarray:
    """Features within [0, 1], shape (n, d)."""
    common = math.sqrt(CORRELATION) * rng.standard_normal((n, 1))
    return np.asarray(ndtr(common + math.sqrt(1 - CORRELATION) * rng.standard_normal((n, d))) ** POWER)


@functools.cache
def _coefficients(d: int) -> np.ndarray:
    """θ of equal entries and changing signs, with which the explained part has variance 1."""
    signs = (-1.0) ** np.arange(d)
    return np.asarray(signs / (people(CALIBRATION, d, np.random.default_rng(0)) @ signs).std())


def schema(d: int, rule: str) -> Schema:
    """The public schema of a rule; "void" is that of "middle", and its records are dropped beside it.

    Args:
        d: number of features. rule: one of `RULES`.
    """
    typical = MEAN if rule == TYPICAL else None
    column = number(0, 1, typical=typical, indicator=rule == INDICATOR)
    return Schema({f"x{k + 1}": column for k in range(d)})


def missing_table(
    seeds: Sequence[int], problem: MissingProblem | None = None, shares: Sequence[float] = SHARES, make: Maker = dp_gd
) -> pd.DataFrame:
    """The loss of each rule at each share of missing cells, of private fits and of least squares.

    Args:
        seeds: one for each trial; at a seed all fits have the same people, the same order of cells that go missing, and
            the same seed of the noise. problem: `Problem` () where it is left out. shares: in [0, 1).
        make: from public arguments to an estimator, which takes NaN as void.

    Returns:
        columns fit, rule, share, records (the share of complete ones), lost_complete, lost_missing with their errors
        (``_error``), trials. A loss of 1 is that of always predicting the mean.
    """
    stated = problem or MissingProblem()
    rows = [row for seed in seeds for share in shares for row in _missing_trial(seed, share, stated, make)]
    return summarised(rows, ["fit", "rule", "share"], ["records", "lost_complete", "lost_missing"])


def _missing_trial(seed: int, share: float, problem: MissingProblem, make: Maker) -> list[dict[str, Any]]:
    rng = np.random.default_rng(seed)
    X, new = people(problem.n, problem.d, rng), people(MISSING_NEW, problem.d, rng)
    y = problem.respond(X, rng)
    gaps, new_gaps = (np.where(rng.random(part.shape) < share, np.nan, part) for part in (X, new))
    rows = []
    for rule in MISSING_RULES:
        transformed = [_features(part, rule) for part in (gaps, new, new_gaps)]
        for fit in (PRIVATE, FREE):
            model = _fitted(fit, rule, transformed[0], y, problem, make, seed)
            lost = [_missing_lost(model, part, problem.expected(new)) for part in transformed[1:]]
            told = {"records": float((~np.isnan(gaps).any(axis=1)).mean())}
            told |= dict(zip(("lost_complete", "lost_missing"), lost))
            rows.append({"fit": fit, "rule": rule, "share": share} | told)
    return rows


def _features(cells: np.ndarray, rule: str) -> np.ndarray:
    """Features by the public schema; NaN throughout in a void record."""
    found = schema(cells.shape[1], rule).transformer().transform(cells)
    return np.where(np.isnan(cells).any(axis=1)[:, None], np.nan, found) if rule == VOID else found


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


def _missing_lost(model: Any, features: np.ndarray, expected: np.ndarray) -> float:
    """The mean square error as a share of the variance; a void record is answered at the middle of the bounds."""
    answers = model.predict(np.where(np.isnan(features), 0.0, features))
    return float(((answers - expected) ** 2).mean() / expected.var())


# ---- Figures ----

WIDENED = {
    BOTH: "both",
    FEATURES: "features",
    RESPONSE: "response",
    STATED: "features,\nvariance stated",
}
RULES = {
    MIDDLE: "middle of\nthe bounds",
    TYPICAL: "typical value",
    INDICATOR: "middle and\nindicator",
    VOID: "void record",
}


def _lost(table: pd.DataFrame, x: str, meaning: str, by: str, names: Mapping[str, str]) -> Figure:
    """The share of the explainable variance that is lost, along a column, a curve for each name of another."""
    rows = table.rename(columns={"lost_error": "standard_error"})
    with figures.panels(1, figsize=(5.8, 3.8)) as (figure, (axes,)):
        figures.curves(axes, rows, x, "lost", by, names)
        axes.axhline(1, ls="--", lw=1, color="0.35")
        figures.log_axes(axes, meaning, "share lost")
        figures.plain_ticks(axes, table[x].unique())
    return figure


def draw_loose(table: pd.DataFrame) -> Plate:
    """What a private fit loses against the factor by which public bounds are too wide.

    Args:
        table: from `loose.table`.
    """
    figure = _lost(table, "factor", "bounds wider than the data by the factor", "widened", WIDENED)
    widest = table["factor"].max()
    tight = compact(pick(table, widened=BOTH, factor=1.0)["lost"])
    each = {what: compact(pick(table, widened=what, factor=widest)["lost"]) for what in LOOSE_WIDENED}
    return Plate(
        figure,
        caption=(
            f"**What a loose bound costs.** The share of the explainable variance that a private fit loses; 1 (dashed) "
            f"is the loss of always predicting the mean. Bars show two standard errors. With tight bounds the loss is "
            f"{tight}. If all bounds are {widest:g} times too wide, it is {each[BOTH]}. If only the features' "
            f"bounds are, it is {each[FEATURES]}, or {each[STATED]} if their true variance is stated. If "
            f"only the response's bounds are too wide, it is {each[RESPONSE]}."
        ),
    )


def draw_finding(table: pd.DataFrame) -> Plate:
    """What a fit loses with known, loose and private bounds, against the number of records.

    Args:
        table: from `finding.table`.
    """
    names = {KNOWN: "known", FOUND: "private", WIDE: f"{LOOSE:g} times\ntoo wide"}
    figure = _lost(table, "n", "$n$ (records)", "bounds", names)
    most = table["n"].max()
    lost = {way: compact(pick(table, bounds=way, n=most)["lost"]) for way in WAYS}
    return Plate(
        figure,
        caption=(
            f"**Known, private or loose bounds**, at the same total budget. The share of the explainable variance that "
            f"a private fit loses; 1 (dashed) is the loss of always predicting the mean. Bars show two standard "
            f"errors. Private bounds have {percent(SHARE)} of $\\mu^2$. With {most:,} records, the loss is "
            f"{lost[KNOWN]} with known bounds, {lost[FOUND]} with private ones, and "
            f"{lost[WIDE]} with bounds that are {LOOSE:g} times too wide."
        ),
    )


def draw_missing(table: pd.DataFrame) -> Plate:
    """What a fit loses against the share of missing cells: left with privacy, right without.

    Args:
        table: from `missing.table`.
    """
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
        caption=(
            f"**What missing cells cost.** The share of the explainable variance that is lost for new people without "
            f"missing cells; bars show two standard errors. One panel has a private fit, the other least squares on "
            f"the same features. With {percent(most)} of the cells missing, {percent(complete)} of the records are "
            f"complete. The private fit then loses {compact(at_most[MIDDLE])} with the middle of the bounds "
            f"in their place, {compact(at_most[TYPICAL])} with a typical value, "
            f"{compact(at_most[INDICATOR])} with an indicator, and {compact(at_most[VOID])} if "
            f"incomplete records are void."
        ),
    )


# ---- Survey ----
# A made-up survey, as a table that a newcomer may have: numbers, a category, a truth value, a date, and empty cells.
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
#
# >>> rng = np.random.default_rng(0)
# >>> print(draw(3, rng=rng)[["age", "smoker", "region"]].to_string(index=False))
#  age smoker region
# 64.0     no   east
# 72.0     no   east
# 76.0     no  north

REGIONS = {"north": 0.0, "east": 1.0, "south": -3.0, "west": 2.0}  # mmHg
SURVEY_SHARES = (0.4, 0.3, 0.2, 0.1)
ABROAD = "abroad"  # a region that no schema lists
EFFECTS = {"age": 0.45, "bmi": 0.9, "pulse": 0.15, "exercise": -1.2, "smoker": 4.0}  # mmHg for each unit
WINTER = 2.0  # mmHg, between the mean and midwinter
BASE = 70.0  # mmHg
NOISE = 9.0  # mmHg
DAYS, YEAR = 731, 365.25
NUMBERS = ["age", "bmi", "pulse"]  # the columns that are numbers without empty cells
SURVEY_RESPONSE = "pressure"


def draw(n: int, *, rng: np.random.Generator) -> pd.DataFrame:
    """A survey of n people.

    Args:
        n: number of people, at least 1. rng: source of randomness.

    Returns:
        One row a person, with the columns of the module's table.
    """
    days = rng.integers(DAYS, size=n)
    table = pd.DataFrame(
        {
            "age": (18 + 72 * rng.beta(2, 2.5, n)).round(),
            "bmi": np.clip(rng.normal(27, 4.5, n), 15, 50).round(1),
            "pulse": rng.normal(72, 10, n).round(),
            "exercise": rng.gamma(1.5, 2.0, n).round(1),
            "smoker": rng.random(n) < 0.2,
            "region": rng.choice(list(REGIONS), n, p=SURVEY_SHARES),
            "visit": pd.Timestamp("2023-01-01") + pd.to_timedelta(days, unit="D"),
        }
    )
    table[SURVEY_RESPONSE] = (_expected(table, days) + NOISE * rng.standard_normal(n)).round(1)
    return _with_gaps(table, rng)


def _expected(table: pd.DataFrame, days: np.ndarray) -> np.ndarray:
    """The mean response of people whose cells are all there, shape (n,)."""
    season = WINTER * np.cos(2 * math.pi * days / YEAR)
    linear = sum(effect * table[name].to_numpy(float) for name, effect in EFFECTS.items())
    return np.asarray(BASE + linear + table["region"].map(REGIONS).to_numpy() + season)


def _with_gaps(table: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """The table with empty cells, which say nothing about the person, and with regions that nobody expects."""
    n = len(table)
    smokers = np.where(rng.random(n) < 0.03, "", np.where(table["smoker"], "yes", "no"))
    exercise = table["exercise"].mask(rng.random(n) < 0.1)
    region = table["region"].mask(rng.random(n) < 0.01, ABROAD)
    return table.assign(smoker=smokers, exercise=exercise, region=region)
