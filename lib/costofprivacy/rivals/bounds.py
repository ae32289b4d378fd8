"""Public bounds of a record, and records clipped to them: what every method but TukeyEM asks for.

What is done to a record here depends on that record and on public numbers alone (`costofprivacy.privacy.records`).
Records within their bounds come out bit for bit as they came.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from costofprivacy import _validate
from costofprivacy.privacy import records

SQUARABLE = _validate.within(records.NEAR, records.FAR, _validate.FINITE_POSITIVE)  # its square is a double
ROUNDING = 1 + 1e-12  # a row that was shortened to a bound is no longer than this, over the bound


@dataclass(frozen=True)
class Bounds:
    """What is public of one record.

    Args:
        features: B, bound on ‖x‖. response: Y, bound on |y|. Both positive, with squares within doubles.

    Raises:
        ValueError: if a bound is not in [10⁻¹⁵⁰, 10¹⁵⁰].
    """

    features: float
    response: float

    def __post_init__(self) -> None:
        _validate.keep(self, SQUARABLE, "features", "response")

    @np.errstate(all="ignore")
    def clip(self, x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Features shortened to norm B and responses clipped to [−Y, Y]; each record by itself, so it costs nothing.

        Guarantee: ‖x‖ ≤ B to rounding and |y| ≤ Y, whatever a record holds; one whose ‖x‖ is not a finite double, or
        whose y is NaN, is void, all 0. An infinite y is clipped.

        Args:
            x: shape (n, d). y: shape (n,). Numbers of any type; they are converted to double precision first.

        Returns:
            The same shapes, in double precision.

        Raises:
            ValueError: if the shapes disagree, or an array is not of numbers.

        >>> x, y = Bounds(5.0, 1.0).clip(np.array([[6.0, 8.0], [0.0, 0.0]]), np.array([-2.0, 0.5]))
        >>> print(x.tolist(), y.tolist())
        [[3.0, 4.0], [0.0, 0.0]] [-1.0, 0.5]
        """
        x, y = _numbers(x, y)
        with np.errstate(over="ignore", invalid="ignore"):
            norm = np.linalg.norm(x, axis=1, keepdims=True)
            inside = x * (self.features / np.maximum(norm, self.features))
        response = np.clip(y, -self.response, self.response)
        sound = np.isfinite(norm[:, 0] + response)
        if sound.all():
            return inside, response
        return np.where(sound[:, None], inside, 0.0), np.where(sound, response, 0.0)


@np.errstate(all="ignore")
def given(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Records as the methods take them: at least one, shapes that agree, no number that doubles cannot bound.

    Guarantee: each record depends on that record alone, whatever the type of the arrays; one that is not
    `privacy.records.usable`, x = 0 apart, is void. No later step computes in less than double precision.

    Args:
        x: features, shape (n, d). y: responses, shape (n,). Numbers of any type (`privacy.records.numbers`).

    Returns:
        the arrays in double precision; the arrays themselves where they are that and there is nothing to void.

    Raises:
        ValueError: if there is no record, the shapes disagree, or an array is not of numbers.
    """
    x, y = _numbers(x, y)
    _validate.whole("the number of records", len(x))
    sound = records.usable(x, y)
    if not sound.all():
        sound |= np.isfinite(y) & ~x.any(axis=1)
    if sound.all():
        return x, y
    return np.where(sound[:, None], x, 0.0), np.where(sound, y, 0.0)


def _numbers(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Features and responses through the gate."""
    x = records.numbers("x", x, (None, None))
    return x, records.numbers("y", y, x.shape[:1])


def within_reach(theta: np.ndarray) -> np.ndarray:
    """Coefficients clipped to ±10¹⁵⁰, 0 where one is NaN: post-processing, after which a residual is never NaN.

    Extreme public numbers, a step of length 10³⁰⁰ say, could else make an iterate infinite; whether the next sum is
    then NaN would depend on a single record.

    Args:
        theta: any shape.
    """
    return np.clip(np.nan_to_num(theta, nan=0.0, posinf=records.FAR, neginf=-records.FAR), *records.REACH)


@np.errstate(all="ignore")
def shortened(x: np.ndarray, bound: float) -> np.ndarray:
    """Rows brought to a norm of ``bound`` where they are longer by more than rounding.

    Guarantee: no returned row is longer than ``bound`` times `ROUNDING`, whatever a row holds, and each depends on
    itself alone. A row whose norm is not a finite double is void, all 0.

    Args:
        x: shape (n, d), numbers of any type. bound: in (0, ∞).

    Returns:
        the rows in double precision; the array itself where it is that and no row is longer.

    Raises:
        ValueError: if ``bound`` is not positive and finite, or x is not an array of numbers with two axes.
    """
    x = records.numbers("x", x, (None, None))
    most = _validate.finite_positive("bound", bound) * ROUNDING
    with np.errstate(over="ignore", invalid="ignore"):
        norm = np.linalg.norm(x, axis=1)
        if (norm <= most).all():
            return x
        scale = np.where(norm > most, bound / np.maximum(norm, bound), 1.0)
        return np.where(np.isfinite(norm)[:, None], x * scale[:, None], 0.0)
