"""What the estimators of one regression have in common: their public arguments, and the way from a table to a release.

A subclass says in `_release` how coefficients are found on the stated scale, where features have variances of about 1
and the response too. Everything on the way is public: the gate, the scale, the intercept, the units.
"""

import copy
import warnings
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from sklearn.utils.validation import check_is_fitted

from costofprivacy import _validate
from costofprivacy._validate import InvalidParameterError
from costofprivacy.estimators import account, expected, gate, public, units
from costofprivacy.estimators.expected import Expected, Relation
from costofprivacy.estimators.gate import approximate, generator
from costofprivacy.estimators.guarantee import Guarantee, as_used, issue, refuse_bounds_of_records
from costofprivacy.estimators.scaling import Scale, bounds_by_name, stated_scale, values_by_name
from costofprivacy.privacy import ApproximateDP, GaussianDP, groups

PIECE = 1024  # records that are scaled at a time, so that what is on the way stays small
PUBLIC = (
    *("feature_bounds", "feature_center", "feature_scale", "response_bounds", "response_center", "response_scale"),
    *("expected_r2", "plan_for", "aim", "spectrum"),
)
COMMON = (
    *("epsilon", "delta", *PUBLIC, "fit_intercept", "most_per_unit", "interval_share", "not_finite", "noise"),
    "random_state",
)
HOPELESS = 1.5  # times the noise of the curvature with which all intervals are expected: beyond, none was ever seen


class ScaleWarning(UserWarning):
    """No public scale was stated, so that a fit may be far less accurate than it could be; privacy does not suffer."""


class NoIntervalWarning(UserWarning):
    """Some intervals are NaN, since the noise of privacy leaves nothing that could be said."""


NO_INTERVAL = (
    "there are no intervals for {}: too few records hold what these coefficients need, beside the noise of privacy. "
    "What helps: to leave out features that are 0 in nearly all records or that nearly repeat others, more records, a "
    "larger interval_share, feature_center and feature_scale from public knowledge. Another fit spends another budget; "
    "forecast_intervals says before a fit what is to be expected"
)


@dataclass(frozen=True, eq=False)
class Fit:
    """What a method releases on the stated scale.

    Args:
        theta: coefficients, shape (d,), the last for the intercept if there is one. guarantee: what is promised.
        expected: what was forecast. covariance: of ``theta``, privacy noise included, if it was released.
        centre: around what intervals lie, if they do not lie around ``theta``.
        records: how many were read, if not as many as were announced.
    """

    theta: np.ndarray
    guarantee: Guarantee
    expected: Expected
    covariance: np.ndarray | None = None
    centre: np.ndarray | None = None
    records: int | None = None


@dataclass(frozen=True)
class Stated:
    """What was stated about a regression, on the scale on which a method runs.

    Args:
        known: eigenvalues of mean 1 (with the intercept's), ζ and R(0) for a response of variance 1.
        spectrum: whether the eigenvalues were stated. n: number of records. budget: ε and δ.
        unit: what is protected, if it is not one record.
    """

    known: Relation
    spectrum: bool
    n: int
    budget: ApproximateDP
    unit: units.Unit | None = None

    def of_record(self, *, gaussian: bool) -> ApproximateDP:
        """What a mechanism may spend for replacing one record.

        Args:
            gaussian: whether it is Gaussian DP.
        """
        return groups.of_one(self.budget, self.most, gaussian=gaussian)

    @property
    def most(self) -> int:
        """k, or 1 where a record is protected."""
        return 1 if self.unit is None else self.unit.most

    def promise(self, of_record: GaussianDP | None, proof: str) -> Guarantee:
        """What is promised where a record spends so much; None where (ε, δ) is all that is proved.

        Args:
            of_record: μ of a mechanism that was planned with `of_record`. proof: where its proof stands.
        """
        if self.unit is None:
            return Guarantee(self.budget, of_record, proof)
        whole = None if of_record is None else groups.group(of_record, self.unit.most)
        return Guarantee(self.budget, whole, f"{units.PROOF}, {proof}", self.unit.neighbours)


class TabularRegressor(gate.TableRegressor):
    """The common part; see `objective.ObjectivePerturbationRegressor` for the arguments."""

    ALGORITHM: ClassVar[str] = ""  # in words, for the receipt
    INTERVALS: ClassVar[bool] = False  # whether they are known for the method

    ALLOWED: ClassVar[dict[str, list[Any]]] = {
        "epsilon": [gate.EPSILON, None],
        "delta": [gate.DELTA, None],
        "expected_r2": [_validate.PROBABILITY],
        "plan_for": [_validate.among(expected.KINDS)],
        "aim": [_validate.among(expected.AIMS)],
        "fit_intercept": [bool],
        "most_per_unit": [_validate.integer(1), None],
        "interval_share": [_validate.within(0, 0.9)],
        "not_finite": [_validate.among(gate.RULES)],
        "noise": [_validate.among(gate.NOISES)],
        "random_state": [_validate.integer(0), None],
    }

    def __init__(
        self,
        *,
        epsilon: float | None = None,
        delta: float | None = None,
        feature_bounds: Any = None,
        response_bounds: Any = None,
        feature_center: Any = None,
        feature_scale: Any = None,
        response_center: float | None = None,
        response_scale: float | None = None,
        expected_r2: float = 0.5,
        plan_for: str = expected.REAL,
        aim: str = expected.NEW,
        spectrum: Any = None,
        fit_intercept: bool = True,
        most_per_unit: int | None = None,
        interval_share: float = 0.0,
        not_finite: str = "refuse",
        noise: str = gate.FAST,
        random_state: int | None = None,
    ) -> None:
        gate.keep_arguments(self, locals())

    def fit(self, X: Any, y: Any, unit: Any = None) -> "TabularRegressor":
        """Fit to a table.

        Args:
            X: features, shape (n, d). y: responses, shape (n,).
            unit: whose record each is, if a unit may have several and all of them are to be protected together: n
                identifiers, or the name of a column of the data frame X, which is no feature then. It goes with
                ``most_per_unit`` (`estimators.units`).

        Returns:
            The estimator, fitted.
        """
        gate.begin(self)
        X, y, told = gate.table_of_units(self, X, y, unit)
        warn_of_what_is_left_out(self)
        unit = None if told is None else told.unit
        gate.warn_of_use(approximate(self.epsilon, self.delta), len(X) if unit is None else int(unit.count or 1))
        size = len(X) if unit is None else unit.most * int(unit.count or 1)
        stated, *_ = self._begun(size, unit)
        self._charge(lambda: stated)
        return self._fit(X, y, generator(self.random_state, self.noise), told)

    @np.errstate(all="ignore")  # what NumPy has to say of a plan
    def _charge(self, stated: Callable[[], Stated]) -> None:
        """Refuse what would be spent in vain; then charge an open account."""
        if self.interval_share:
            self._doubt_intervals(stated())
        account.charge(type(self).__name__, lambda: self._promised(stated()))

    def _doubt_intervals(self, stated: Stated) -> None:
        """Refuse or warn where intervals are not to be expected, from public numbers alone."""
        if stated.unit is not None and stated.unit.count is None:
            raise InvalidParameterError(
                "interval_share must be 0 for a stream with most_per_unit: intervals need to know which records are of "
                f"one unit, as fit does by its argument unit; got {self.interval_share!r}"
            )
        noise = self._noise_of_intervals(stated)
        told = (
            f"with {stated.n} records, {stated.known.d} coefficients, ε = {stated.budget.epsilon:g} and δ = "
            f"{stated.budget.delta:g}, even if features are not correlated: see forecast_intervals"
        )
        if noise > HOPELESS:
            raise InvalidParameterError(
                f"interval_share must be 0, got {self.interval_share!r}, which would buy nothing: no interval is to be "
                f"expected {told}. Nothing was spent"
            )
        if noise > 1 and not account.in_a_search():
            told = f"intervals for all coefficients are not to be expected {told}"
            warnings.warn(told, NoIntervalWarning, stacklevel=4)

    def _noise_of_intervals(self, stated: Stated) -> float:
        """That of the curvature, over what allows intervals for all coefficients that are not correlated."""
        from costofprivacy.estimators import forecasting  # here: it imports this module

        gaussian = self._promised(stated).gaussian is not None
        method = forecasting.DESCENT if gaussian else forecasting.OBJECTIVE
        asked = stated.known, stated.n, stated.of_record(gaussian=gaussian), stated.spectrum
        return forecasting.promises(*asked, float(self.interval_share), method)[0].noise

    def _promised(self, stated: Stated) -> Guarantee:
        """What a fit will promise, from public numbers alone."""
        return stated.promise(stated.of_record(gaussian=True).to_gaussian(), self.ALGORITHM)

    def _fit(
        self, X: np.ndarray, y: np.ndarray, rng: np.random.Generator, told: units.Identified | None = None
    ) -> "TabularRegressor":
        """Fit to checked arrays with a given source of noise: for simulations. A release has its own source."""
        self.n_features_in_ = X.shape[1]
        if told is not None:
            X, y = told.placed(X, y, beside=self.interval_share > 0, rng=rng)
        stated, features, response = self._begun(len(X), None if told is None else told.unit)
        with np.errstate(all="ignore"):  # what NumPy has to say of private numbers
            if self.not_finite == gate.VOID:
                X, y = gate.marked(X, y)
            found = self._release(self._design(X, features), response.apply(y), stated, rng)
            self._keep(found, stated, features, response)
        return self

    def _check_arguments(self) -> None:
        """As scikit-learn does; a budget must be stated besides."""
        super()._check_arguments()
        approximate(self.epsilon, self.delta)
        if self.interval_share and not self.INTERVALS:
            raise InvalidParameterError(
                f"interval_share must be 0, got {self.interval_share!r}: {TabularRegressor._why_no_intervals(self)}"
            )

    def _begun(self, n: int, unit: units.Unit | None) -> tuple[Stated, Scale, Scale]:
        """What is public of a fit to n records, of which a copy is kept: what happens later does not change it."""
        if unit is not None:
            refuse_bounds_of_records(self)
        self.used_ = as_used(self)
        response = stated_scale("response", self.response_bounds, self.response_center, self.response_scale)
        return self._stated(n, unit), self._feature_scale(), response

    def _first_of(self, source: Iterable[tuple[Any, Any]]) -> tuple[Any, Any]:
        """The first batch of a stream that holds a record; it says how many features there are, and their names."""
        first = next(((X, y) for X, y in source if gate.held(y)), None)
        if first is None:
            raise ValueError("Found array with 0 sample(s) in the stream while a minimum of 1 is required.")
        self.n_features_in_ = gate.table(self, *first)[0].shape[1]
        return first

    @abstractmethod
    def _release(self, x: np.ndarray, y: np.ndarray, stated: Stated, rng: np.random.Generator) -> Fit:
        """Coefficients from records on the stated scale; a record with NaN is to be void."""

    def intervals(self, level: float = 0.9) -> pd.DataFrame:
        """Confidence intervals of the coefficients, which include the noise of privacy: post-processing of the release.

        They are for the coefficients that the method would find from ever more records of the same population. With
        ``plan_for="real"`` so little is clipped that these are near those of least squares. A coefficient that the data
        do not determine, beside the noise, has NaN (`rivals.sandwich`).

        Args:
            level: in (0, 1).

        Returns:
            A row for each feature, and one for the intercept: ``coef``, ``low``, ``high``.

        Raises:
            AttributeError: if the method has no intervals, or was not asked to release what they need.

        Warns:
            NoIntervalWarning: if they are NaN.
        """
        check_is_fitted(self, "coef_")
        centre, covariance, z = *self._uncertainty(), _normal_quantile(level)
        half = z * np.sqrt(np.diag(covariance))
        told = np.append(self.coef_, self.intercept_)
        return pd.DataFrame({"coef": told, "low": centre - half, "high": centre + half}, index=self._names())

    def predict_interval(self, X: Any, level: float = 0.9) -> np.ndarray:
        """Confidence intervals of the *mean* response at some features, which include the noise of privacy.

        Args:
            X: features, shape (n, d). level: in (0, 1).

        Returns:
            low and high, shape (n, 2).

        Raises:
            AttributeError: as `intervals`.

        Warns:
            NoIntervalWarning: as `intervals`.
        """
        check_is_fitted(self, "coef_")
        centre, covariance, z = *self._uncertainty(), _normal_quantile(level)
        rows = np.column_stack([(inside := self._inside(X)), np.ones(len(inside))])
        known = ~np.isnan(centre)
        some = rows[:, known]
        with np.errstate(all="ignore"):
            half = z * np.sqrt(np.einsum("ni,ij,nj->n", some, covariance[np.ix_(known, known)], some))
            middle = some @ centre[known]
        half[rows[:, ~known].any(axis=1)] = np.nan
        return np.column_stack([middle - half, middle + half])

    def __sklearn_tags__(self) -> Any:
        """Few records predict little."""
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True  # scikit-learn tries 200 records of 10 features, at ε = 1
        return tags

    def _uncertainty(self) -> tuple[np.ndarray, np.ndarray]:
        """The centre of intervals and the covariance, both with the intercept last, in the units of the data."""
        if not hasattr(self, "covariance_"):
            raise AttributeError(f"{type(self).__name__} has no intervals: {self._why_no_intervals()}")
        if (none := np.isnan(self.centre_)).any():  # which was released, so that the warning is post-processing
            names = np.array(self._names())[none]
            warnings.warn(NO_INTERVAL.format(", ".join(names)), NoIntervalWarning, stacklevel=3)
        return self.centre_, self.covariance_

    def _names(self) -> list[str]:
        """Of the coefficients, with the intercept last."""
        features = getattr(self, "feature_names_in_", [f"x{k}" for k in range(self.n_features_in_)])
        return [*map(str, features), "intercept"]

    def _why_no_intervals(self) -> str:
        if self.INTERVALS:
            return "set interval_share, for example to 0.2, to spend a part of the budget on what they need"
        return "no valid ones are known for this method; clipped descent and objective perturbation have them"

    def _stated(self, n: int, unit: units.Unit | None = None) -> Stated:
        """The public knowledge on the scale of the method."""
        eigenvalues = public.stated_eigenvalues(self.spectrum, self.n_features_in_)
        told = float(self.expected_r2), self.plan_for, self.aim
        known = expected.knowledge(eigenvalues, self.fit_intercept, *told)
        return Stated(known, self.spectrum is not None, n, approximate(self.epsilon, self.delta), unit)

    def _feature_scale(self) -> Scale:
        """The stated scale of the features, on which tr Σ is d."""
        d, names = self.n_features_in_, getattr(self, "feature_names_in_", None)
        bounds = bounds_by_name(self.feature_bounds, names)
        center, scale = (
            values_by_name(f"feature_{part}", getattr(self, f"feature_{part}"), names) for part in ("center", "scale")
        )
        found = stated_scale("feature", bounds, center, scale, d, names)
        unit = float(np.sqrt(public.stated_eigenvalues(self.spectrum, d).mean()))
        return Scale(found.center, found.scale * unit, found.low, found.high)

    def _design(self, X: np.ndarray, features: Scale) -> np.ndarray:
        """Features on the stated scale, with the constant 1 where there is an intercept: one copy, made in pieces."""
        n, d = X.shape
        found = np.empty((n, d + int(self.fit_intercept)))
        for start in range(0, n, PIECE):
            found[start : start + PIECE, :d] = features.apply(X[start : start + PIECE])
            found[start : start + PIECE, d:] = 1.0
        return found

    def _scaled(self, batches: Iterable[tuple[Any, Any]], features: Scale, response: Scale) -> Iterator[Any]:
        """The batches of a stream on the stated scale, all with the features of the first."""
        for X, y in gate.pairs(batches):
            X, y = gate.table(self, X, y, reset=False, least=min(gate.held(y), 1))
            if self.not_finite == gate.VOID:
                X, y = gate.marked(X, y)
            yield self._design(X, features), response.apply(y)

    def _keep(self, found: Fit, stated: Stated, features: Scale, response: Scale) -> None:
        """The results, in the units of the data."""
        d, whole = self.n_features_in_, self._in_units(features, response)
        done = copy.copy(self)
        theta = whole @ found.theta
        done.coef_, done.intercept_ = theta[:d], float(response.center + theta[d])
        done.n_records_, done.guarantee_ = found.records or stated.n, found.guarantee
        signal = 2 * stated.known.initial_risk
        done.expected_r2_ = signal - 2 * found.expected.risk
        done.expected_r2_range_ = (signal - 2 * found.expected.high, signal - 2 * found.expected.low)
        if found.covariance is not None:
            centre, covariance = found.theta if found.centre is None else found.centre, found.covariance
            none = np.isnan(centre) | np.isnan(covariance.diagonal())
            kept, lost = whole[:, ~none], (whole[:, none] != 0).any(axis=1)  # what depends on one that lacks either
            done.covariance_, done.centre_ = kept @ covariance[np.ix_(~none, ~none)] @ kept.T, kept @ centre[~none]
            done.covariance_[lost], done.covariance_[:, lost], done.centre_[lost] = np.nan, np.nan, np.nan
            done.centre_[d] += float(response.center)
        done.receipt_ = issue(done, PUBLIC, self._algorithm(), stated.n, stated.unit)
        self.__dict__.update(vars(done))  # at once: an interrupted fit has a receipt, or nothing that it released

    def _algorithm(self) -> str:
        """In words, for the receipt."""
        return str(self.ALGORITHM)

    def _in_units(self, features: Scale, response: Scale) -> np.ndarray:
        """The linear map from coefficients on the stated scale to those of the data with the intercept, (d + 1, …)."""
        d = self.n_features_in_
        whole = np.zeros((d + 1, d + int(self.fit_intercept)))
        whole[:d, :d] = np.diag(response.scale / np.broadcast_to(features.scale, (d,)))
        whole[d, :d] = -whole[:d, :d].diagonal() * np.broadcast_to(features.center, (d,))
        if self.fit_intercept:
            whole[d, d] = response.scale
        return whole


for _method in ("fit", "intervals", "predict_interval"):
    getattr(TabularRegressor, _method).__qualname__ = _method  # an error of Python names no class that nobody used


def default_delta(n: int) -> float:
    """δ of a forecast for which none is stated: 10⁻⁶, or 1/(100n) where that is less. A fit must be given its δ.

    >>> print(default_delta(1000), default_delta(1_000_000))
    1e-06 1e-08
    """
    return min(1e-6, 1 / (100 * n))


def warn_of_what_is_left_out(estimator: Any, stacklevel: int = 2) -> None:
    """Warn where no scale was stated. What is warned of is public: no data are looked at.

    Args:
        estimator: with the public arguments. stacklevel: of the call of ``fit``.

    Warns:
        ScaleWarning: if features or response have no scale.
    """
    for name in ("feature", "response"):
        given = tuple(getattr(estimator, f"{name}_{part}") for part in ("bounds", "center", "scale"))
        if all(value is None for value in given) and not account.in_a_search():
            warnings.warn(
                f"no scale of the {name}s was stated: they are taken to have mean 0 and variance 1. State "
                f"{name}_bounds, or {name}_center and {name}_scale, from public knowledge; on another scale a fit may "
                "be useless",
                ScaleWarning,
                stacklevel=stacklevel + 1,
            )


def _normal_quantile(level: float) -> float:
    """z with P(|g| ≤ z) = level for a standard normal g."""
    from scipy.special import ndtri

    if not 0 < level < 1:
        raise ValueError(f"level must be between 0 and 1, both excluded, got {level!r}")
    return float(ndtri(0.5 + level / 2))
