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

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils._param_validation import InvalidParameterError

ROOT_THREE = 3**0.5  # half the width of a uniform law of variance 1
SMALLEST, LARGEST = 1e-30, 1e30  # of a public number on the stated scale: products of some of them are doubles
UNITS = 1e50  # public numbers in the units of the data are no larger, and a scale is no smaller than 1 over it
_FAR = 1e100  # no scaled value is beyond, so that no square overflows


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
        with np.errstate(over="ignore"):
            scaled = (np.asarray(inside, dtype=float) - self.center) / self.scale
        return np.clip(scaled, -_FAR, _FAR, out=scaled)


def public_scale(name: str, bounds: Any, center: Any, scale: Any, d: int | None = None) -> Scale:
    """The scale that an estimator's public arguments state.

    Bounds (low, high) clip values and carry them to [−√3, √3]: a value that is uniform within its bounds has variance
    1 there. They stand alone: center 0 and scale 1 must be left as they are.

    Args:
        name: "feature" or "response", for messages. bounds: None or a pair. center, scale: numbers or of length d.
        d: number of features; None for the response.

    Raises:
        InvalidParameterError: if a shape is wrong, a value not a number of size at most `UNITS`, a scale below
            1/`UNITS`, or low not as far below high. What has passed this far is scaled without overflow.
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
        raise InvalidParameterError(f"{name}_bounds must be a pair (low, high), got {bounds!r}")
    low, high = (_numbers(f"{name}_bounds", side, d) for side in bounds)
    if not (low < high).all():
        raise InvalidParameterError(f"{name}_bounds must have low below high, got {bounds!r}")
    if not (high - low >= 1 / UNITS).all():
        raise InvalidParameterError(f"{name}_bounds must be at least {1 / UNITS:g} apart, got {bounds!r}")
    return Scale((low + high) / 2, (high - low) / (2 * ROOT_THREE), low, high)


def stated_scale(name: str, bounds: Any, center: Any, scale: Any, d: int | None = None) -> Scale:
    """The scale that bounds, means and standard deviations state together; what is left out follows from the bounds.

    Args:
        name: "feature" or "response". bounds: a pair, or None. center, scale: number, of length d, or None.
        d: number of features; None for the response.

    Raises:
        InvalidParameterError: as `scaling.public_scale`.
    """
    usual = public_scale(name, bounds, 0.0, 1.0, d)
    given = public_scale(name, None, 0.0 if center is None else center, 1.0 if scale is None else scale, d)
    return Scale(
        usual.center if center is None else given.center,
        usual.scale if scale is None else given.scale,
        usual.low,
        usual.high,
    )


def bounds_by_name(bounds: Any, names: Any) -> Any:
    """Bounds that are given feature by feature, as the pair (low, high) of arrays in the order of the features.

    Args:
        bounds: a mapping of feature names to pairs, or anything else, which is returned as it is.
        names: the features' names, or None.

    Raises:
        InvalidParameterError: if the features have no names, a feature has no bounds, or bounds have no feature.

    >>> bounds_by_name({"age": (18, 90), "bmi": (15, 45)}, ["bmi", "age"])
    (array([15., 18.]), array([45., 90.]))
    """
    if not isinstance(bounds, dict):
        return bounds
    _refuse_other_names("feature_bounds", bounds, names)
    try:
        low, high = (np.array([float(bounds[name][side]) for name in names]) for side in (0, 1))
    except (TypeError, ValueError, IndexError, KeyError) as error:
        raise InvalidParameterError("feature_bounds must map each name to a pair of numbers (low, high)") from error
    return low, high


def values_by_name(argument: str, values: Any, names: Any) -> Any:
    """Numbers that are given feature by feature, in the order of the features; anything else as it is.

    Args:
        argument: its name. values: a mapping of feature names to numbers, or something else. names: the features'.

    Raises:
        InvalidParameterError: as `bounds_by_name`.

    >>> values_by_name("feature_scale", {"age": 15, "bmi": 4}, ["bmi", "age"])
    array([ 4., 15.])
    """
    if not isinstance(values, dict):
        return values
    _refuse_other_names(argument, values, names)
    try:
        return np.array([float(values[name]) for name in names])
    except (TypeError, ValueError) as error:
        raise InvalidParameterError(f"{argument} must map each name to a number") from error


def _refuse_other_names(argument: str, given: dict[Any, Any], names: Any) -> None:
    """Refuse a mapping whose keys are not the features' names."""
    if names is None:
        raise InvalidParameterError(f"{argument} by name needs features with names: give X as a data frame")
    missing, unknown = sorted(set(names) - set(given)), sorted(set(map(str, given)) - set(names))
    if missing or unknown:
        raise InvalidParameterError(
            f"{argument} must have an entry for each feature: without an entry {missing}, without a feature {unknown}"
        )


def _numbers(name: str, value: Any, d: int | None) -> np.ndarray:
    """A number, or d of them."""
    wanted = "a finite number" if d is None else f"a finite number, or {d} of them, one a feature"
    try:
        given = np.asarray(value)
        numbers = given.astype(float) if given.dtype.kind in "biufO" else None
    except (TypeError, ValueError, OverflowError):
        numbers = None
    if numbers is None:
        raise InvalidParameterError(f"{name} must be numbers, got {value!r}")
    if numbers.shape not in {(), (d,)} or not np.isfinite(numbers).all():
        raise InvalidParameterError(f"{name} must be {wanted}, got {value!r}")
    if not (np.abs(numbers) <= UNITS).all():
        raise InvalidParameterError(f"{name} must be of size at most {UNITS:g}, got {value!r}")
    return numbers
