r"""The estimators' gate: data become finite numbers of double precision here, or are refused without being quoted.

Scikit-learn's checks keep the width of a number (``float32``), quote cells in their messages ("could not convert string
to float: …") and can be turned off (``assume_finite``). Here its structure is kept: lists, frames, feature names, what
is refused and with which exception. But every number becomes a double before any arithmetic, and a message names the
argument, the column and the rule, never a value. The exception that quoted one is not chained either.

**Records that are not finite**, with NaN, an infinity or, in a list or an array of objects, something that is no
number. ``not_finite`` says what happens to them. Both rules are public.

======================  ============================================================================================
``not_finite``          what happens to a record that is not finite, and what that means
======================  ============================================================================================
``"refuse"`` (default)  ``fit`` raises ``ValueError``, before anything is computed: scikit-learn's contract. One record
                        decides whether there is a release at all, so *whether there is such a record is not protected*.
                        In ``fit_stream`` the error comes in the middle of the pass: nothing is released, but that
                        there is such a record, and in which batch, can be seen.
``"void"``              The record is *void*: it contributes nothing, as a record of zeros on the scale of the algorithm
                        would. That is a map of single records, fixed before the data, so *the guarantee covers it*.
======================  ============================================================================================

In ``predict`` the first rule refuses too; with the second a void row is answered as one at the centre of the features.

**The types of columns are public**, as their names and their number are. With both rules a column of dates, and a
response of text, is refused for its type. What such columns mean is stated in a `costofprivacy.estimators.Schema`.

**The privacy that a user asks for, and the generator of the noise.**
"""

import contextlib
import functools
import math
import re
import warnings
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from typing import Any, ClassVar, ParamSpec, TypeVar

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.validation import check_array, check_consistent_length, check_is_fitted, validate_data

from costofprivacy import _validate
from costofprivacy._validate import InvalidParameterError
from costofprivacy.estimators import cells, units
from costofprivacy.estimators.account import Charged, in_a_search, refuse_elsewhere
from costofprivacy.estimators.guarantee import Receipt, issued
from costofprivacy.privacy import (
    ApproximateDP,
    PrivacyWarning,
    ZeroConcentratedDP,
    records,
    secure,
    warn_if_delta_is_large,
)

P = ParamSpec("P")
R = TypeVar("R")
REFUSE, VOID = "refuse", "void"
RULES = (REFUSE, VOID)
FAST, SECURE = NOISES = ("fast", "secure")
NOT_EXACT = (
    "noise must be 'fast' for {}: {}. Use 'descent' or 'boosted' (ClippedDescentRegressor, BoostedAdaSSPRegressor), "
    "which read a stream, too, if it is a function that returns the batches"
)
OBJECTIVE_ROUNDED = "rounding the noise changes the objective, and the guarantee is not proved for rounded noise"
ITERATES_ROUNDED = "the proof for the last iterate needs steps that move no two iterates apart, as rounding them does"
HANDLES = (np.random.Generator, np.random.RandomState, np.random.BitGenerator, np.random.SeedSequence)
SCHEMA = (
    "For columns of text, categories, truth values or dates state a Schema (category, boolean, date, number) and put "
    "schema.transformer() before the estimator"
)
TYPICAL = "To keep its record, give an empty cell a public value: typical=... of a column of a Schema"
_SHAPE, _BY = r"\([\d, ]*\)", r"(?: by \w+)?\."
_PUBLIC = tuple(  # messages of scikit-learn that quote shapes alone
    re.compile(pattern)
    for pattern in (
        rf"Found array with \d+ (?:sample|feature)\(s\) \(shape={_SHAPE}\) while a minimum of \d+ is required{_BY}",
        rf"Found array with dim \d+, while dim <= 2 is required{_BY}",
        r"Sparse data was passed(?: for [Xy])?, but dense data is required\. [ \w'.()]*",
        r"np\.matrix is not supported\. [ \w.]*: https://[\w./-]*",
    )
)
_TRAINED: weakref.WeakKeyDictionary[Any, weakref.ref[Any]] = weakref.WeakKeyDictionary()


def trained_on(estimator: Any, X: Any) -> None:
    """Remember which object an estimator was fitted to, beside it, for as long as both exist."""
    with contextlib.suppress(TypeError):  # of a list there are no weak references
        _TRAINED[estimator] = weakref.ref(X)


class Scored(RegressorMixin):
    """A regressor whose `score` quotes no cell."""

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R² of the predictions. On private data it is a release without protection.

        Args:
            X: features, shape (n, d). y: responses, shape (n,). sample_weight: shape (n,), or None.

        Warns:
            PrivacyWarning: if X is the very object that the estimator was fitted to.
        """
        if (trained := _TRAINED.get(self)) is not None and trained() is X:
            warnings.warn(
                "this is a score on the training data: whoever publishes it releases something about them without "
                "noise, and it is too good besides. Score people who were not asked, with private_r2",
                PrivacyWarning,
                stacklevel=2,
            )
        return r2(records.doubles("y", y, 1), self.predict(X), sample_weight)


def r2(wanted: np.ndarray, predicted: np.ndarray, sample_weight: Any) -> float:
    """scikit-learn's R², with weights that are refused where they are not finite: not every version does that."""
    from sklearn.metrics import r2_score  # here, because the import takes long

    if sample_weight is not None:
        sample_weight = records.doubles("sample_weight", sample_weight, 1)
        if not np.isfinite(sample_weight).all():
            raise ValueError("Input sample_weight contains NaN or infinity")
    return float(r2_score(wanted, predicted, sample_weight=sample_weight))


def keep_arguments(estimator: Any, given: dict[str, Any]) -> None:
    """Keep the arguments of ``__init__`` as scikit-learn wants them: unchecked, each under its name.

    Args:
        estimator: the new one. given: the local variables of its ``__init__``, before it has any of its own.
    """
    for name, value in given.items():
        if name != "self":
            setattr(estimator, name, value)


def begin(estimator: Any, stacklevel: int = 3) -> None:
    """Check an estimator's arguments and forget an earlier fit, so that whatever fails leaves nothing released.

    Args:
        estimator: with ``random_state`` among its parameters. stacklevel: of the call of ``fit``, for the warning.

    Raises:
        InvalidParameterError: if an argument is outside its range, ``random_state`` is an object that holds a state, or
            ``noise`` is "secure" and ``random_state`` a number or the method has no exact noise.
        ImportError: if ``noise`` is "secure" and OpenDP is not installed.

    Warns:
        PrivacyWarning: if ``random_state`` is a number.
    """
    refuse_elsewhere(estimator)
    refuse_a_handle(estimator.random_state)
    estimator._check_arguments()
    refuse_inexact(estimator)
    check_noise(estimator.random_state, getattr(estimator, "noise", FAST))
    for name in [name for name in vars(estimator) if name.endswith("_") and not name.startswith("_")]:
        delattr(estimator, name)
    warn_of_a_seed(estimator.random_state, stacklevel + 1)


def refuse_inexact(estimator: Any) -> None:
    """Refuse ``noise="secure"`` for a method whose draws are not all exact (InvalidParameterError)."""
    if getattr(estimator, "noise", FAST) == SECURE and estimator.INEXACT:
        raise InvalidParameterError(NOT_EXACT.format(type(estimator).__name__, estimator.INEXACT))


def warn_of_a_seed(random_state: int | None, stacklevel: int) -> None:
    """Warn with `PrivacyWarning` that noise of a seed protects nothing."""
    if random_state is not None and not in_a_search():
        warnings.warn(
            f"random_state={random_state} makes the noise repeatable: a demonstration, no release. Whoever knows the "
            "number can subtract the noise; leave random_state out to release",
            PrivacyWarning,
            stacklevel=stacklevel,
        )


FEW, LOOSE = 50, 20.0


class FewRecordsWarning(UserWarning):
    """There are so few records that the noise of privacy usually hides what they tell."""


def warn_of_use(claimed: ApproximateDP, n: int, stacklevel: int = 3) -> None:
    """Warn of what is allowed and rarely meant, from public numbers alone, before anything is drawn.

    Args:
        claimed: the budget. n: number of records, or of units. stacklevel: of the warning.

    Warns:
        PrivacyWarning: if δ is 0.1/n or more, or ε above `LOOSE`. FewRecordsWarning: if n is below `FEW`.
    """
    if in_a_search():
        return
    warn_if_delta_is_large(float(claimed.delta), n, stacklevel + 1)
    if LOOSE < claimed.epsilon < math.inf:
        warnings.warn(
            f"epsilon should be far below {LOOSE:g}, got {claimed.epsilon:.4g}: what is likely of somebody may become "
            f"e^{claimed.epsilon:.4g} times as likely by one release, which is hardly a promise",
            PrivacyWarning,
            stacklevel=stacklevel,
        )
    if n < FEW:
        warnings.warn(
            f"n should be at least {FEW}, got {n}: the noise of privacy usually hides what so few records tell; "
            "forecast says what is to be expected",
            FewRecordsWarning,
            stacklevel=stacklevel,
        )


def refuse_a_handle(random_state: Any) -> None:
    """Refuse an object from whose state the noise can be computed.

    An estimator keeps its arguments as they are, and so do its copies and its pickle. A generator among them, in the
    state of before the fit or of after it, is a handle on the noise of what was released.

    Raises:
        InvalidParameterError: if it is a generator, or what one is made from.
    """
    if isinstance(random_state, HANDLES):
        raise InvalidParameterError(
            "random_state must be None or a whole number of at least 0 (for demonstrations), got a "
            f"{type(random_state).__name__}: the estimator and its pickle would keep the object, "
            "and from its state the noise can be computed"
        )


def table(estimator: Any, X: Any, y: Any, *, reset: bool = True, least: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Features and responses of a regression, as doubles; finite with the rule "refuse".

    Args:
        estimator: whose ``not_finite`` says the rule. X: features, shape (n, d). y: responses, shape (n,) or (n, 1).
        reset: whether the features' number and names are those of X from now on, or must be as they were.
        least: number of records at least.

    Returns:
        X and y, shapes (n, d) and (n,): the arrays themselves where they are of double precision.

    Raises:
        ValueError, TypeError: as scikit-learn does, but without a value in the message.
    """
    if y is None:
        raise ValueError(f"{type(estimator).__name__} requires y to be passed, but the target y is None")
    features = rows(estimator, X, reset=reset, least=least)
    responses = _numbers(estimator, "y", y, 1, ensure_2d=False, ensure_min_samples=0, ensure_min_features=0)
    if responses.ndim == 2 and responses.shape[1] == 1:
        warnings.warn(
            "A column-vector y was passed when a 1d array was expected. Please change the shape of y to (n_samples, ), "
            "for example using ravel().",
            DataConversionWarning,
            stacklevel=3,
        )
        responses = responses.ravel()
    if responses.ndim != 1:
        raise ValueError(f"y should be a 1d array, got an array of shape {responses.shape} instead.")
    check_consistent_length(features, responses)
    return features, responses


def table_of_units(estimator: Any, X: Any, y: Any, unit: Any) -> tuple[np.ndarray, np.ndarray, units.Identified | None]:
    """`table`, and whose record each is, if units of several records are protected.

    Args:
        estimator: whose ``most_per_unit`` says how many records of a unit are used. X, y: as there. unit: identifiers,
            the name of their column, which is no feature, or None.
    """
    trained_on(estimator, X)
    X, identifiers = units.separated(X, unit)
    X, y = table(estimator, X, y)
    name = unit if isinstance(unit, str) else None
    void = estimator.not_finite == VOID
    return X, y, units.identified(identifiers, estimator.most_per_unit, len(X), void=void, name=name)


def rows(estimator: Any, X: Any, *, reset: bool, least: int = 1) -> np.ndarray:
    """Features alone, as `table` takes them."""
    features = _numbers(estimator, "X", X, 2, ensure_min_samples=least)
    named = X if cells.named(X) else features
    validate_data(estimator, named, skip_check_array=True, reset=reset)  # looks at shape and names alone
    return features


def prompts(estimator: Any, X: Any) -> np.ndarray:
    """Features of prompts as doubles, shape (N, L + 1, D), with at least one labelled token; finite by the rule."""
    array = _numbers(estimator, "X", X, 3, allow_nd=True, ensure_min_features=0, order="C")
    if array.ndim != 3 or array.shape[1] < 2 or array.shape[2] < 1:
        raise ValueError(f"X must have shape (N, L + 1, D) with L and D at least 1, got {array.shape}.")
    return array


def responses(estimator: Any, y: Any, N: int, columns: tuple[int, ...]) -> np.ndarray:
    """Responses of prompts as doubles, shape (N, one of ``columns``); finite by the rule."""
    array = _numbers(estimator, "y", y, 2, ensure_min_features=0, order="C")
    if len(array) != N or array.shape[1] not in columns:
        widths = " or ".join(map(str, columns))
        raise ValueError(f"y must have shape ({N}, {widths}) to go with X, got {array.shape}.")
    return array


def sound(*parts: np.ndarray) -> np.ndarray:
    """Which records are finite in each of some arrays whose first axis is the record, shape (n,)."""
    return np.logical_and.reduce([np.isfinite(part).all(axis=tuple(range(1, part.ndim))) for part in parts])


def marked(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Records of a table in which every one that is not finite is NaN throughout, so that no scale makes it usable.

    Guarantee: a record depends on itself alone. The arrays themselves where all is finite.
    """
    good = sound(X, y)
    return (X, y) if good.all() else (np.where(good[:, None], X, np.nan), np.where(good, y, np.nan))


def pairs(batches: Any, name: str = "batches") -> Iterator[tuple[Any, Any]]:
    """The batches of a stream, each a pair of features and responses; refused by their types where they are none."""
    if not isinstance(batches, Iterable) or cells.named(batches) or isinstance(batches, (Mapping, np.ndarray)):
        raise TypeError(
            f"{name} must be pairs (X, y) of features and responses, one after the other, got a "
            f"{type(batches).__name__}" + ", which is to be called first" * callable(batches)
        )
    # A batch of two empty lists, or arrays like them, tells of no record and of no feature.
    return (
        pair
        for pair in map(records.pair, batches)
        if not all(
            len(part) == 0 if isinstance(part, (list, tuple)) else getattr(part, "shape", 0) == (0,) for part in pair
        )
    )


def held(y: Any) -> int:
    """How many records a batch has, if that can be told: 1 at least else, so that the gate refuses what is none."""
    try:
        return len(y)
    except TypeError:
        return 1


def _numbers(estimator: Any, name: str, values: Any, axes: int, **asked: Any) -> np.ndarray:
    """Data as doubles, of the structure that scikit-learn asks for, and finite unless they may be void."""
    void, failure = estimator.not_finite == VOID, None
    try:
        _refuse_type(name, values)
        _refuse_text(name, values, void)
        refused = issparse(values) or isinstance(values, np.matrix)  # by scikit-learn, in its words
        given = values if refused else _doubles(name, values, axes)
        array: np.ndarray = check_array(
            given, dtype=np.float64, ensure_all_finite=False, input_name=name, estimator=estimator, **asked
        )
    except MemoryError:
        raise
    except Exception as error:
        failure = _without_values(name, error)
    if failure is not None:
        raise failure  # out of the handler, so that nothing is chained
    with np.errstate(all="ignore"):
        finite = bool(np.isfinite(array.sum()) or np.isfinite(array).all())
    if void or finite:
        return array
    kind, where = _unread(name, values)
    if kind is not None:
        raise kind(where)
    hint = f" {TYPICAL}." if name == "X" and array.ndim == 2 else ""
    raise ValueError(
        f"Input {name} contains NaN or infinity. With not_finite='refuse' each record must be finite; "
        f"with not_finite='void' one that is not contributes nothing.{hint}"
    )


def _doubles(name: str, values: Any, axes: int) -> np.ndarray:
    """Each cell by `privacy.records.number`, whatever holds it; the columns of a frame one by one."""
    columns = cells.named(values)
    if isinstance(values, (Mapping, Set, Iterator, str, bytes)) or values is None:
        raise _Told(f"{name} must be an array, a list or a data frame of real numbers, got a {type(values).__name__}")
    if columns:
        return np.column_stack([cells.numbers(column) for _, column in columns])
    if cells.of_column(values) == cells.TEXT:
        values = np.asarray(values, dtype=object)
    return records.doubles(name, values, axes)


def _refuse_type(name: str, values: Any) -> None:
    """Dates, durations, complex numbers and records of fields are no numbers, whatever NumPy converts."""
    named = cells.named(values)
    twice = sorted({repr(column) for column, _ in named if [other for other, _ in named].count(column) > 1})
    if twice:
        raise _Told(f"{name} has more than once the columns {', '.join(twice)}")
    for place, column in named or [(None, values)]:
        kind = cells.dtype(column)
        if type(kind).__name__ == "SparseDtype":
            raise _Told(f"Sparse data was passed, but dense data is required: {name} has sparse columns")
        family = cells.family(kind)
        if kind is None or family in cells.AS_NUMBERS:
            continue
        if getattr(kind, "kind", "") == "c":
            raise _Told(f"Complex data not supported: {name} must hold real numbers.")
        if not named:
            raise _Told(f"{name} must be an array of real numbers, got one of type {kind}")
        raise _Told(f"{name} must hold real numbers, got {family or kind}s (see column {place!r}). {SCHEMA}")


def refuse_column(name: str, values: Any) -> None:
    """Raise ``ValueError`` where the type of a column says that its cells are no numbers; no cell is read."""
    kind = cells.dtype(values)
    if kind is not None and cells.family(kind) not in cells.AS_NUMBERS:
        raise ValueError(f"{name} must be an array of real numbers, got one of type {kind}")


def _refuse_text(name: str, values: Any, void: bool) -> None:
    """A response that is text is refused, also where numbers can be read from it: by its type, or by its cells.

    Cells are looked at where records may be refused; where they are void, a list or an array of objects may hold
    anything.
    """
    if name != "y":
        return
    told = {cells.of_column(column) for _, column in cells.named(values) or [("", values)]}
    if told <= {None, cells.OBJECTS} and not void:
        told |= {cells.TEXT for column in _columns(values) if any(records.text(cell) is not None for cell in column)}
    if cells.TEXT in told:
        raise _Told("y must hold real numbers, got text: convert it first, for example with pandas.to_numeric")


class _Told(ValueError):
    """A message of this module, which quotes no value."""


def _without_values(name: str, error: Exception) -> Exception:
    """The exception to raise in the place of another: of the same kind, with what is public in its message."""
    text = str(error) if isinstance(error, (ValueError, TypeError)) else ""
    if isinstance(error, _Told) or text.startswith(f"{name} must be an array of real numbers"):
        return ValueError(text)
    if text.startswith(("Expected 2D array", "Expected 2D input", "Expected a 2-dimensional")):
        return ValueError(
            f"Expected 2D array, got {name} of another dimension. Reshape your data with array.reshape(-1, 1) if there "
            "is a single feature, with array.reshape(1, -1) if there is a single record."
        )
    kind = TypeError if isinstance(error, TypeError) else ValueError
    if any(pattern.fullmatch(text) for pattern in _PUBLIC):
        return kind(text)
    return kind(f"{name} cannot be read as an array of real numbers: {type(error).__name__}")


def _unread(name: str, values: Any) -> tuple[type[Exception] | None, str]:
    """What to raise for the first column with a cell that is no number, by its public name or place; None without one.

    It is asked where a record is refused, and whether one is is not protected then.
    """
    names, columns = [column for column, _ in cells.named(values)], _columns(values)
    for k, column in enumerate(columns):
        wrong = [cell for cell in column if math.isnan(records.number(cell)) and not cells.empty(cell)]
        if wrong:
            where = f" (see column {names[k] if names else k!r})" if names or len(columns) > 1 else ""
            where += f". {SCHEMA}" if name == "X" else ""
            if all(records.text(cell) is not None for cell in wrong):
                return ValueError, f"{name} must hold real numbers{where}"
            # in scikit-learn's words
            rule = "each cell as an argument must be a number, or a string that reads as a number"
            return TypeError, f"{name} must hold real numbers: {rule}{where}"
    return None, ""


def _columns(values: Any) -> list[list[Any]]:
    """The cells of each column; of all columns together where there is no second axis, or there are more."""
    named = cells.named(values)
    if named:
        return [list(cells.cells(column)) for _, column in named]
    try:
        found = np.asarray(values, dtype=object)
    except Exception:
        return []
    return [list(column) for column in (found.T if found.ndim == 2 else [found.ravel()])]


# ---- Estimators of a table ----


class TableRegressor(Charged, Scored, BaseEstimator):
    """What every estimator of a table does after its fit; a subclass says in `_feature_scale` what its scale is."""

    INEXACT: ClassVar[str] = ITERATES_ROUNDED  # why its noise may not come from `privacy.secure`; "" if all of it may

    def predict(self, X: Any) -> np.ndarray:
        """The response ``X @ coef_ + intercept_``, shape (n,), of features clipped to ``feature_bounds`` as in ``fit``.

        Args:
            X: features, shape (n, d).
        """
        check_is_fitted(self, "coef_")
        with np.errstate(all="ignore"):
            return np.asarray(self._inside(X) @ self.coef_ + self.intercept_)

    def receipt(self, schema: Any = None) -> Receipt:
        """What was released under which guarantee, in words (``str``) and as JSON (``.json()``).

        Args:
            schema: what made the features of a table's columns, if anything did: a `Schema`, or its transformer. It was
                public, so its columns stand in the receipt.

        Raises:
            ValueError: if the schema's features are not those of the fit.
        """
        check_is_fitted(self, "coef_")
        return issued(self, schema)

    def _inside(self, X: Any) -> np.ndarray:
        """Features as ``fit`` uses them, in the units of the data."""
        used: Any = getattr(self, "used_", self)  # not in a pickle of an earlier version
        unit = getattr(getattr(self, "receipt_", None), "unit", None)
        X = units.without(X, None if unit is None else unit.column)
        X = np.ascontiguousarray(rows(used, X, reset=False))
        features = used._feature_scale()
        if used.not_finite == VOID:
            X = np.where(sound(X)[:, None], X, features.center)
        return X if features.low is None else np.clip(X, features.low, features.high)

    def __sklearn_tags__(self) -> Any:
        """With ``not_finite="void"`` data may hold NaN, and cells that are no numbers."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.string = self.not_finite == VOID
        return tags


for _method in ("predict", "receipt", "score"):
    getattr(TableRegressor, _method).__qualname__ = _method  # an error of Python names no class that nobody used

# ---- Budget ----

EPSILONS, DELTAS = (1e-8, 1e6), (1e-300, 1.0)  # where the conversion to Gaussian DP was seen to be right in doubles
EPSILON = _validate.within(*EPSILONS)
DELTA = _validate.Range(f"at least {DELTAS[0]:g} and below 1", lambda v: DELTAS[0] <= v < DELTAS[1])
STATE = "epsilon and delta (far below 1 over the number of records)"
TOLD_AT = 1e-6  # δ at which a profile states its ε where the user asked by μ alone; it spends nothing


def refusing_rho(function: Callable[P, R]) -> Callable[P, R]:
    """The function, which tells of two meanings whoever passes ``rho``: it was the name of its μ once."""

    @functools.wraps(function)
    def refusing(*args: P.args, **kwargs: P.kwargs) -> R:
        if "rho" in kwargs:
            raise TypeError(
                "rho is no argument here: for Gaussian DP give mu; for zero-concentrated DP (zCDP) of parameter rho "
                f"give mu = sqrt(2 * rho), which is as private; got rho={kwargs['rho']!r}"
            )
        return function(*args, **kwargs)

    return refusing


@dataclass(frozen=True)
class Budget:
    """What a release may spend: μ of Gaussian DP, and the (ε, δ) that is claimed for it."""

    mu: float
    claimed: ApproximateDP


def budget(mu: float | None, epsilon: float | None, delta: float | None) -> Budget:
    """The budget asked for by μ, or by ε and δ.

    By ε and δ, μ is the largest for which μ-Gaussian DP implies them, exactly (arXiv:1805.06530). By μ, what is claimed
    is the ε that follows from μ²/2-zCDP at ``delta``, Proposition A.3 of arXiv:2505.16329v2.

    Args:
        mu: μ in (0, ∞], or None. epsilon: ε in (0, ∞], or None. delta: δ in (0, 1), or None.

    Raises:
        InvalidParameterError: if neither μ nor ε is given, or both, or ε without δ. There is no default budget.

    >>> print(round(budget(None, 1.0, 1e-5).mu, 4), round(budget(1.0, None, 1e-5).claimed.epsilon, 3))
    0.2681 5.299
    """
    if epsilon is None and mu is None:
        raise InvalidParameterError(f"no budget was stated: give {STATE}, or mu; there is no default")
    if epsilon is None:
        mu, told = _validate.positive("mu", mu), TOLD_AT if delta is None else delta  # type: ignore[arg-type]
        return Budget(mu, ApproximateDP(ZeroConcentratedDP(mu**2 / 2).epsilon(told), told))
    if mu is not None:
        raise InvalidParameterError(f"give mu, or epsilon and delta, not both: got {mu=!r} and {epsilon=!r}")
    claimed = approximate(epsilon, delta)
    return Budget(claimed.to_gaussian().mu, claimed)


def approximate(epsilon: float | None, delta: float | None) -> ApproximateDP:
    """The budget asked for by ε and δ.

    Args:
        epsilon: ε in (0, ∞], or None. delta: δ in (0, 1), or None.

    Raises:
        InvalidParameterError: if one of them is None. There is no default budget.
    """
    if epsilon is None:
        raise InvalidParameterError(f"no budget was stated: give {STATE}; there is no default")
    if delta is None:
        raise InvalidParameterError(
            f"delta must be given with epsilon, below 1 over the number of records: {epsilon=!r}"
        )
    return ApproximateDP(epsilon, delta)


def generator(random_state: int | None, noise: str = FAST) -> np.random.Generator:
    """The source of the noise: seeded from the operating system for None, repeatable otherwise.

    Args:
        random_state: None or a whole number of at least 0. A generator is refused (`gate.refuse_a_handle`).
        noise: "fast" for NumPy's, in double precision; "secure" for OpenDP's (`privacy.secure`).

    Raises:
        InvalidParameterError, ImportError: as `check_noise`, or if ``random_state`` is an object that holds a state.
    """
    refuse_a_handle(random_state)
    check_noise(random_state, noise)
    return np.random.default_rng(random_state) if noise == FAST else secure.Sampler()


def check_noise(random_state: int | None, noise: str) -> None:
    """Refuse a source of noise that there is not.

    Raises:
        InvalidParameterError: if ``noise`` is neither "fast" nor "secure", or "secure" with a seed.
        ImportError: if it is "secure" and OpenDP is not installed.
    """
    if noise not in NOISES:
        raise InvalidParameterError(f"noise must be 'fast' or 'secure', got {noise!r}")
    if noise == SECURE and random_state is not None:
        raise InvalidParameterError(
            f"random_state must be None with noise='secure', whose draws cannot be repeated, got {random_state!r}"
        )
    if noise == SECURE:
        secure.Sampler()
