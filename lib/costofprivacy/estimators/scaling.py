r"""Public scales: how a record is carried to the scale on which an algorithm runs, and what that does to privacy.

**It costs no privacy.** A scale is a map of single records, x ↦ (clip(x, low, high) − center)/scale, fixed before the
data are seen. It takes neighbours (one record replaced) to neighbours: what is replaced is one image by another. So an
algorithm that is private for *all* neighbouring data sets is equally private after it, with the same sensitivity. DP-GD
is such an algorithm: its step is bounded by clipping and shortened by 2/‖x‖², whatever the record.

**Nor does an intercept.** It is the coefficient of one more feature, the constant 1: x ↦ (x, 1) is a map of single
records too. The dimension grows by one, and with it C_clip = c√d and the noise's number of coordinates; the sensitivity
2ηC_clip of a step is a bound for every record of that dimension.

**A scale taken from the data is something else**: then replacing one record moves every image, the images are no
neighbours, and nothing above holds.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from costofprivacy import _validate
from costofprivacy._validate import InvalidParameterError

ROOT_THREE = 3**0.5  # half the width of a uniform law of variance 1
SMALLEST, LARGEST = 1e-30, 1e30  # of a public number on the stated scale: products of some of them are doubles
UNITS = 1e50  # public numbers in the units of the data are no larger, and a scale is no smaller than 1 over it
_FAR = 1e100  # no scaled value is beyond, so that no square overflows
_TOLD = 3  # columns that a message names


@dataclass(frozen=True, eq=False)
class Scale:
    """The map v ↦ (clip(v, low, high) − center)/scale of single values, cut at ±10¹⁰⁰.

    Args:
        center: number or shape (d,). scale: positive, same. low, high: same, or None for no clipping.
    """

    center: np.ndarray
    scale: np.ndarray
    low: np.ndarray | None = None
    high: np.ndarray | None = None

    def apply(self, values: np.ndarray) -> np.ndarray:
        """The images of finite values, a new array of the same shape (rows of length d)."""
        inside = values if self.low is None else np.clip(np.asarray(values, dtype=float), self.low, self.high)
        with np.errstate(all="ignore"):
            scaled = (np.asarray(inside, dtype=float) - self.center) / self.scale
        return np.clip(scaled, -_FAR, _FAR, out=scaled)


def public_scale(name: str, bounds: Any, center: Any, scale: Any, d: int | None = None, names: Any = None) -> Scale:
    """The scale that an estimator's public arguments state.

    Bounds (low, high) clip values and carry them to [−√3, √3]: a value that is uniform within its bounds has variance
    1 there. They stand alone: center 0 and scale 1 must be left as they are.

    Args:
        name: "feature" or "response", for messages. bounds: None or a pair. center, scale: numbers or of length d.
        d: number of features; None for the response. names: of the features, for messages; None counts them from 0.

    Raises:
        InvalidParameterError: if a shape is wrong, a value not a number of size at most `UNITS`, a scale below
            1/`UNITS`, or low not as far below high. What has passed this far is scaled without overflow. The message
            names the features whose bounds are wrong.
    """
    middle, unit = _numbers(f"{name}_center", center, d), _numbers(f"{name}_scale", scale, d)
    if not (unit > 0).all():
        raise InvalidParameterError(f"{name}_scale must be positive, got {scale!r}")
    if not (unit >= 1 / UNITS).all():
        raise InvalidParameterError(f"{name}_scale must be at least {1 / UNITS:g}, got {scale!r}")
    if bounds is None:
        return Scale(middle, unit)
    if not (np.all(middle == 0) and np.all(unit == 1)):
        raise InvalidParameterError(f"give {name}_bounds, or {name}_center and {name}_scale, not both")
    if not isinstance(bounds, (tuple, list, np.ndarray)) or len(bounds) != 2:
        pairs = "a pair (low, high)" + ", or a dictionary of pairs by name" * (d is not None)
        raise InvalidParameterError(f"{name}_bounds must be {pairs}, got {_validate.quoted(bounds)}")
    low, high = (_numbers(f"{name}_bounds", side, d) for side in bounds)
    _refuse_ambiguous(name, bounds, d, names)
    _refuse(f"{name}_bounds must have low below high", low < high, names, low=low, high=high)
    apart = high - low >= 1 / UNITS
    _refuse(f"{name}_bounds must be at least {1 / UNITS:g} apart", apart, names, low=low, high=high)
    return Scale((low + high) / 2, (high - low) / (2 * ROOT_THREE), low, high)


def _refuse_ambiguous(name: str, bounds: Any, d: int | None, names: Any) -> None:
    """Refuse two pairs for two features, which are lows and highs, or (low, high) of each, where both could be meant.

    A tuple of two arrays, as `costofprivacy.estimators.Schema.feature_bounds` makes it, is lows and highs.
    """
    if d != 2 or (isinstance(bounds, tuple) and all(isinstance(side, np.ndarray) for side in bounds)):
        return
    try:
        (a, b), (c, e) = (tuple(float(end) for end in side) for side in bounds)
    except (TypeError, ValueError):
        return
    if a < b and c < e and a < c and b < e and b != c:
        one, two = ("feature 0", "feature 1") if names is None else map(repr, names)
        raise InvalidParameterError(
            f"{name}_bounds must say which numbers belong together, got {bounds!r}: either {one} is between {a:g} and "
            f"{b:g} and {two} between {c:g} and {e:g}, or {one} between {a:g} and {c:g} and {two} between {b:g} and "
            f"{e:g}. Give a dictionary of pairs by name, or a tuple of two arrays, (np.array(lows), np.array(highs))"
        )


def stated_scale(name: str, bounds: Any, center: Any, scale: Any, d: int | None = None, names: Any = None) -> Scale:
    """The scale that bounds, means and standard deviations state together; what is left out follows from the bounds.

    Args:
        name: "feature" or "response". bounds: a pair, or None. center, scale: number, of length d, or None; entries
            that are masked, as `values_by_name` masks them, are left out too.
        d: number of features; None for the response. names: of the features, for messages; None counts them from 0.

    Raises:
        InvalidParameterError: as `scaling.public_scale`; if a center is outside its bounds, which is nearly always a
            wrong unit or a slip; or if entries are left out and there are no bounds.

    >>> center = values_by_name("feature_center", {"age": 40}, ["age", "bmi"])
    >>> print(stated_scale("feature", ([18, 15], [90, 45]), center, None, 2).center)
    [40. 30.]
    """
    usual = public_scale(name, bounds, 0.0, 1.0, d, names)
    if bounds is None:
        for part, stated in (("center", center), ("scale", scale)):
            rule = f"{name}_{part} must have an entry for each feature where there are no {name}_bounds"
            _refuse(rule, ~np.ma.getmaskarray(stated) if np.ma.isMaskedArray(stated) else True, names)
    given = public_scale(name, None, _filled(center, 0.0), _filled(scale, 1.0), d)
    middle = np.where(_left_out(center), usual.center, given.center)
    unit = np.where(_left_out(scale), usual.scale, given.scale)
    if usual.low is not None and usual.high is not None:
        inside = (usual.low <= middle) & (middle <= usual.high)
        rule = f"{name}_center must be within {name}_bounds"
        _refuse(rule, inside, names, center=middle, low=usual.low, high=usual.high)
    return Scale(middle, unit, usual.low, usual.high)


def bounds_by_name(bounds: Any, names: Any) -> Any:
    """Bounds that are given feature by feature, as the pair (low, high) of arrays in the order of the features.

    Args:
        bounds: a mapping of feature names to pairs, one for each feature, or anything else, which is returned as it is.
        names: the features' names, or None.

    Raises:
        InvalidParameterError: if the features have no names, a feature has no bounds, bounds have no feature, or a low
            bound is not below its high one.

    >>> bounds_by_name({"age": (18, 90), "bmi": (15, 45)}, ["bmi", "age"])
    (array([15., 18.]), array([45., 90.]))
    """
    bounds = labelled(bounds)
    if not isinstance(bounds, dict):
        return _sides(bounds, names)
    _refuse_other_names("feature_bounds", bounds, names, complete=True)
    try:
        pairs = [tuple(bounds[name]) for name in names]
        low, high = (np.array([_number(pair[side]) for pair in pairs]) for side in (0, 1))
        if any(len(pair) != 2 for pair in pairs):
            raise ValueError("pairs have two numbers")
    except (TypeError, ValueError, IndexError, KeyError) as error:
        raise InvalidParameterError("feature_bounds must map each name to a pair of numbers (low, high)") from error
    _refuse("feature_bounds must have low below high", ~(low >= high), names, low=low, high=high)
    return low, high


def values_by_name(argument: str, values: Any, names: Any) -> Any:
    """Numbers that are given feature by feature, in the order of the features; anything else as it is.

    Args:
        argument: its name. values: a mapping of feature names to numbers, or something else. names: the features'.

    Returns:
        an array, masked where a feature has no entry: what is left out follows from its bounds (`stated_scale`).

    Raises:
        InvalidParameterError: if the features have no names, an entry has no feature, or a value is not a number.

    >>> values_by_name("feature_scale", {"age": 15, "bmi": 4}, ["bmi", "age"])
    array([ 4., 15.])
    >>> print(values_by_name("feature_scale", {"age": 15}, ["bmi", "age"]))
    [-- 15.0]
    """
    values = labelled(values)
    if not isinstance(values, dict):
        return values
    _refuse_other_names(argument, values, names, complete=False)
    left_out = np.array([name not in values for name in names])
    try:
        found = np.array([_number(values.get(name, 0.0)) for name in names])
    except (TypeError, ValueError) as error:
        raise InvalidParameterError(f"{argument} must map each name to a number") from error
    return np.ma.masked_array(found, left_out) if left_out.any() else found


def filled_by_name(argument: str, values: Any, names: Any, usual: float) -> Any:
    """`values_by_name`, with a usual value where a feature has no entry."""
    return _filled(values_by_name(argument, values, names), usual)


def labelled(values: Any) -> Any:
    """What has labels as a dictionary by label, so that nothing is read by its place; all else as it is."""
    if isinstance(values, Mapping):
        return dict(values)
    if hasattr(type(values), "iloc"):
        index = values.index
        if not index.is_unique:
            raise InvalidParameterError(f"labels must be distinct, got {list(index)!r}")
        if values.ndim == 1:
            return dict(zip(index, values.tolist()))
        if {"low", "high"} <= set(values.columns) & set(index):
            raise InvalidParameterError(
                "a data frame of bounds must have 'low' and 'high' as columns or as rows, not both"
            )
        if {"low", "high"} <= set(values.columns):  # one row a feature
            return {name: (values.at[name, "low"], values.at[name, "high"]) for name in index}
        if {"low", "high"} <= set(index):  # one column a feature
            return {name: (values.at["low", name], values.at["high", name]) for name in values.columns}
        raise InvalidParameterError("a data frame of bounds must have the columns or the rows 'low' and 'high'")
    return values


def _sides(bounds: Any, names: Any) -> Any:
    """A pair of bounds, each side in the order of the features where it has labels."""
    if not isinstance(bounds, (tuple, list)) or len(bounds) != 2:
        return bounds
    told = [labelled(side) for side in bounds]
    if not any(isinstance(side, dict) for side in told):
        return bounds
    for side in told:
        if isinstance(side, dict):
            _refuse_other_names("feature_bounds", side, names, complete=True)
    return tuple(np.array([_number(side[name]) for name in names]) if isinstance(side, dict) else side for side in told)


def _number(value: Any) -> float:
    """A public number as a float; a ``ValueError`` for what is none (`_validate.number`)."""
    found = _validate.number(value)
    if found is None and isinstance(value, float):
        return math.nan
    if found is None:
        raise ValueError("not a number")
    return float(found)


def _refuse_other_names(argument: str, given: dict[Any, Any], names: Any, complete: bool) -> None:
    """Refuse a mapping with keys that are no features, or, where it must be complete, without some of them."""
    if names is None:
        raise InvalidParameterError(
            f"{argument} by name needs features whose names are text: give X as a data frame whose columns all have "
            "such names, for example X.rename(columns=str)"
        )
    known, faults = set(names), []
    if missing := [name for name in names if complete and name not in given]:
        faults.append(f"without an entry {missing}")
    if unknown := [name for name in given if name not in known]:
        faults.append(f"without a feature {unknown}")
    if faults:
        rule = "an entry for each feature" if complete else "entries for features alone"
        raise InvalidParameterError(f"{argument} must have {rule}: {', '.join(faults)}")


def _left_out(given: Any) -> Any:
    """Which values were left out: all, those that are masked, or none."""
    return np.ma.getmaskarray(given) if np.ma.isMaskedArray(given) else given is None


def _filled(given: Any, usual: float) -> Any:
    """The values that were stated, with a usual one where they were left out."""
    if given is None:
        return usual
    return given.filled(usual) if np.ma.isMaskedArray(given) else given


def _refuse(rule: str, kept: Any, names: Sequence[Any] | None, **values: np.ndarray) -> None:
    """Raise ``InvalidParameterError`` with the features that do not keep a rule, and their public values."""
    shape = np.shape(kept)
    broken = np.flatnonzero(~np.asarray(kept, dtype=bool))
    if not len(broken):
        return
    table = {part: np.broadcast_to(value, shape).ravel() for part, value in values.items()}
    told = []
    for k in broken[:_TOLD]:
        who = "" if shape == () else f"feature {k}" if names is None else f"column {names[k]!r}"
        numbers = ", ".join(f"{part} {value[k]:.12g}" for part, value in table.items())
        told.append(": ".join(part for part in (who, numbers or "none") if part))
    more = f"; and {len(broken) - _TOLD} more" if len(broken) > _TOLD else ""
    raise InvalidParameterError(f"{rule}, got {'; '.join(told)}{more}")


def unmasked(name: str, value: Any) -> Any:
    """Public numbers as they are; ``ValueError`` where an entry is masked, whose number is not what was stated."""
    if isinstance(value, np.ma.MaskedArray) and np.ma.getmaskarray(value).any():
        raise ValueError(f"{name} must be numbers, got a masked one")
    return value


def _numbers(name: str, value: Any, d: int | None) -> np.ndarray:
    """A number, or d of them."""
    wanted = "a finite number" if d is None else f"a finite number, or {d} of them, one a feature"
    try:
        numbers = _validate.numbers(name, unmasked(name, value))
    except ValueError as error:
        raise InvalidParameterError(str(error)) from None
    if numbers.shape not in {(), (d,)} or not np.isfinite(numbers).all():
        other = d is not None and numbers.ndim == 1 and len(numbers) != d
        told = f"{len(numbers)}: those of schema.public() are for the X of schema.read" if other else repr(value)
        raise InvalidParameterError(f"{name} must be {wanted}, got {told}")
    if not (np.abs(numbers) <= UNITS).all():
        raise InvalidParameterError(f"{name} must be of size at most {UNITS:g}, got {value!r}")
    return numbers
