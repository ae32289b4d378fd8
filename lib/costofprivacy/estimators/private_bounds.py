r"""Bounds where nothing is known: a private pair of quantiles of a column, for its own share of the budget.

An estimator needs bounds that do not depend on the data, or depend on them privately. `private_bounds` releases a low
and a high quantile of one column on a public grid (`costofprivacy.rivals.private_quantile`). The result may be used as
if it were public, if its cost is added to that of the fit (`costofprivacy.estimators.spending`).

**Guarantee.** μ-Gaussian DP for replacing one record. *Proof.* Each of the two quantiles is released with μ/√2, and
both together are μ-Gaussian DP by composition. Missing cells are given a public value first, which is a map of single
records. What is done with the two quantiles afterwards does not touch the data. ∎

**How far into the tails.** Let K be the number of points of the grid. A released quantile misses its rank by more than
t of the n records with a probability of at most K e^{−ηt}, where η is about 0.56μ. At a level with fewer than t values
beyond it, the result may therefore be anything up to the end of the grid. So the default level of a tail is the share
t/n for which both sides are safe with a probability of 1 − `FAILURE`, or 1 % where that is less (`tail_level`). It
follows from public numbers.

**What it costs.** With the default grid of 183 points and μ = 0.1, t is 228 records: 23,000 records permit the level
1 %, and 900 are refused, because t would be more than a quarter of them. Values beyond the bounds are
clipped, which biases a fit; bounds may be widened afterwards by a public factor at no cost to privacy. They are rounded
outwards to the grid, by a factor of up to 1.26 with the default grid. The fit keeps
:math:`\sqrt{\mu_{\text{total}}^2 - \mu^2}` of the budget: a tenth of μ² costs the fit 5 % of its μ. Each column costs
that again. Bounds from an instrument, a law or another study cost nothing.

>>> from costofprivacy.estimators.spending import compose, split
>>> from costofprivacy.privacy import ApproximateDP
>>> for_bounds, for_fit = split(ApproximateDP(2.0, 1e-6).to_gaussian(), [0.1, 0.9])
>>> pay = np.random.default_rng(0).lognormal(8, 0.5, 20_000)
>>> found = private_bounds(pay, mu=for_bounds.mu, grid=linear_grid(0, 20_000))
>>> print(compose(found, for_fit, delta=1e-6).sentence)
2 releases, together 0.4484-Gaussian DP, hence (2, 1e-06)-DP, to replace one record
"""

import functools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from costofprivacy import _validate
from costofprivacy.estimators import account, cells, units
from costofprivacy.estimators.gate import (
    FAST,
    budget,
    generator,
    refuse_column,
    refusing_rho,
    warn_of_a_seed,
    warn_of_use,
)
from costofprivacy.estimators.guarantee import RECORD
from costofprivacy.estimators.scaling import LARGEST, SMALLEST, UNITS, unmasked
from costofprivacy.privacy import GaussianDP, PrivacyProfile
from costofprivacy.rivals import private_quantile

LEAST_LEVEL, MOST_LEVEL = 0.01, 0.25  # of a tail, where it is chosen from public numbers
FAILURE = 1e-3  # probability that one of the two bounds may be anywhere beyond the data


@dataclass(frozen=True, eq=False)
class PrivateBounds(tuple[float, float]):
    """Bounds that were released, and what that spent: the pair (low, high).

    Handed over as it is, as ``response_bounds`` or among ``feature_bounds`` by name, it stands in the receipt of the
    fit with what it spent.

    Args:
        low, high: the bounds, low < high. levels: the quantiles that they stand for. records: how many there were, or
            how many units.
        profile: what the release spends. `spending.compose` adds it to that of a fit.
    """

    low: float
    high: float
    levels: tuple[float, float]
    records: int
    profile: PrivacyProfile

    def __new__(cls, low: float, high: float, *_: Any, **__: Any) -> "PrivateBounds":
        """The pair alone; the fields are those of a data class."""
        return super().__new__(cls, (low, high))

    def __getnewargs__(self) -> tuple[float, float]:
        return self.low, self.high


def geometric_grid(smallest: float = 1e-3, largest: float = 1e6, per_decade: int = 10) -> np.ndarray:
    """A public grid for a column of which not even the order of magnitude is known: ± a geometric sequence, and 0.

    Args:
        smallest, largest: ends of the sequence, 0 < smallest < largest. per_decade: points for each factor of 10.

    Raises:
        ValueError: if an argument is outside its range.

    >>> geometric_grid(1.0, 10.0, per_decade=2).round(2).tolist()
    [-10.0, -3.16, -1.0, 0.0, 1.0, 3.16, 10.0]
    >>> len(geometric_grid())
    183
    """
    smallest = _validate.between("smallest", smallest, 1 / UNITS, UNITS)
    largest = _validate.between("largest", largest, 1 / UNITS, UNITS)
    if not smallest < largest:
        raise ValueError(f"smallest must be below largest, got {smallest!r} and {largest!r}")
    points = math.ceil(math.log10(largest / smallest) * _validate.whole("per_decade", per_decade)) + 1
    positive = np.geomspace(smallest, largest, points)
    return np.concatenate([-positive[::-1], [0.0], positive])


def linear_grid(low: float, high: float, points: int = 101) -> np.ndarray:
    """A public grid for a column whose outermost limits are known: equal steps.

    Args:
        low, high: of size at most 10⁵⁰, low < high. points: at least 2.

    Raises:
        ValueError: if an argument is outside its range.

    >>> linear_grid(0, 120, points=5).tolist()
    [0.0, 30.0, 60.0, 90.0, 120.0]
    """
    low = _validate.between("low", low, -UNITS, UNITS)
    high = _validate.between("high", high, -UNITS, UNITS)
    if not low < high:
        raise ValueError(f"low must be below high, got {low!r} and {high!r}")
    return np.linspace(low, high, _validate.whole("points", points, at_least=2))


@refusing_rho
def private_bounds(
    values: Any,
    *,
    mu: float | None = None,
    epsilon: float | None = None,
    delta: float | None = None,
    grid: Sequence[float] | np.ndarray | None = None,
    levels: tuple[float, float] | None = None,
    missing: float | None = None,
    unit: Any = None,
    most_per_unit: int | None = None,
    noise: str = FAST,
    random_state: int | None = None,
) -> PrivateBounds:
    """Private bounds of one column: its quantiles of two levels, rounded outwards to a public grid.

    Guarantee: μ-Gaussian DP, or (ε, δ)-DP, for replacing one record (with ``unit``, all records of one unit), whatever
    its cell holds. Nothing is refused for a value.

    Args:
        values: the column, n cells: an array, a list or a column of a data frame. Cells are read as
            `Schema` reads those of a number.
        mu: μ in [10⁻³⁰, 10³⁰]; or epsilon, with delta: ε > 0 and δ in (0, 1), instead. There is no default budget.
        grid: public and increasing, at least two points; `geometric_grid` where it is left out.
        levels: of the two quantiles, increasing, in (0, 1); where they are left out, (q, 1 − q) with the q of
            `tail_level`.
        missing: a public value, which missing cells are given; the middle point of the grid where it is left out.
        unit: whose cell each is, n identifiers. Then all cells of one unit are protected together, and at most
            ``most_per_unit`` of them are used (`estimators.units`). The levels are those of the used cells.
        most_per_unit: k ≥ 1, which goes with ``unit``.
        noise: "fast", or "secure" for exact draws by OpenDP (`privacy.secure`), which must be installed.
        random_state: None to release; a number makes a demonstration that can be repeated, and no release.

    Raises:
        ValueError: if there is no cell, the type of the column says that its cells are no numbers, an argument is
            outside its range, or there are too few records for the budget.
            The message holds no cell.

    Warns:
        PrivacyWarning: if ``random_state`` is a number, δ is 0.1/n or more, or ε above 20.

    >>> values = 50 + 10 * np.random.default_rng(0).standard_normal(20_000)
    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     found = private_bounds(values, mu=0.1, grid=linear_grid(0, 200), random_state=0)
    >>> print(found.low, found.high, round(found.levels[0], 4), round(found.profile.last_iterate.mu, 3))
    26.0 74.0 0.0108 0.1
    """
    asked = budget(mu, epsilon, delta)
    mu = _validate.between("mu", asked.mu, SMALLEST, LARGEST)
    points = geometric_grid() if grid is None else _validate.numbers("grid", unmasked("grid", grid))
    if points.ndim != 1 or len(points) < 2:
        raise ValueError(f"grid must have at least two points, got an array of shape {points.shape}")
    if not (np.isfinite(points).all() and (np.diff(points) > 0).all()):
        raise ValueError("grid must be finite and increasing")
    middle = float(points[len(points) // 2]) if missing is None else _validate.finite("missing", missing)
    one = isinstance(values, Iterable) and not isinstance(values, (str, bytes, Mapping)) and not cells.named(values)
    if not one or getattr(values, "ndim", 1) != 1:
        raise ValueError(f"values must be one column of cells, got a {type(values).__name__}")
    refuse_column("values", values)
    found = cells.numbers(values)
    n = _validate.whole("the number of values", len(found))
    told = units.identified(unit, most_per_unit, n, void=None)
    group, n = (1, n) if told is None else (told.unit.most, int(told.unit.count or 1))
    if levels is None:
        low = tail_level(n, mu, len(points), group=group)
        high = 1 - low
    else:
        if not isinstance(levels, (tuple, list, np.ndarray)) or len(levels) != 2:
            raise ValueError(f"levels must be a pair (low, high), got {_validate.quoted(levels)}")
        low, high = (_validate.probability("each of levels", level) for level in levels)
        if not low < high:
            raise ValueError(f"levels must increase, got {levels!r}")
    warn_of_use(asked.claimed, n, stacklevel=4)  # through `refusing_rho`
    spent = GaussianDP(mu)
    related = (RECORD if told is None else told.unit.neighbours).partition(" by ")[0]
    profile = PrivacyProfile(asked.claimed, spent, spent, neighbours=related)
    rng = generator(random_state, noise)
    account.charge("private_bounds", lambda: profile)
    warn_of_a_seed(random_state, 3)
    filled, each = np.where(np.isnan(found), middle, found), GaussianDP(mu / math.sqrt(2))
    if told is not None:
        (placed,) = told.placed(filled, rng=rng)
        filled = placed[~np.isnan(placed)]
    quantile = functools.partial(private_quantile.quantile, group=group, most=n * group, rng=rng)
    upper = quantile(filled, high, points, each)
    # an upper quantile of the values with the other sign, so that it is rounded down
    lower = -quantile(-filled, 1 - low, -points[::-1], each)
    below, above = min(lower, upper), max(lower, upper)
    if below == above:  # one step of the grid apart
        place = int(np.searchsorted(points, below))
        below, above = float(points[max(place - 1, 0)]), float(points[min(place + 1, len(points) - 1)])
    return PrivateBounds(below, above, (low, high), n, profile)


def tail_level(n: int, mu: float, points: int, failure: float = FAILURE, group: int = 1) -> float:
    r"""The share of the values beyond each bound at which both are safe: :math:`\ln(2K/\beta)/(\eta n)`, at least 1 %.

    Guarantee: with a probability of at least 1 − β, both private quantiles of these levels lie within the range of the
    values, rounded outwards to the grid, if the grid covers it.

    Args:
        n: number of records. mu: μ of both bounds together, in [10⁻³⁰, 10³⁰]. points: K ≥ 2, of the grid.
        failure: β in (0, 1). group: k, how many records of a unit are used at most; a rank weighs η/k then.

    Raises:
        ValueError: if an argument is outside its range, or the level would be above a quarter.

    >>> round(tail_level(10_000, 0.1, 183), 4)
    0.0227
    """
    mu = _validate.between("mu", mu, SMALLEST, LARGEST)
    points = _validate.whole("points", points, at_least=2)
    eta = private_quantile.exponent(GaussianDP(mu / math.sqrt(2)))
    ranks = math.log(2 * points / _validate.probability("failure", failure)) / (eta / group)
    if not ranks <= MOST_LEVEL * _validate.whole("n", n):
        raise ValueError(
            f"the number of records must be at least {ranks / MOST_LEVEL:.0f} for private bounds with mu = {mu:.3g} "
            f"on {points} points, got {n}: spend more on the bounds, take fewer points, or state bounds"
        )
    return max(LEAST_LEVEL, ranks / n)
