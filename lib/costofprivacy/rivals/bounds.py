"""Public bounds of a record, and records clipped to them: what every method but TukeyEM asks for.

What is done to a record here depends on that record and on public numbers alone (`costofprivacy.privacy.records`).
Records within their bounds come out bit for bit as they came.

**Records as the methods compute with them: void where doubles cannot bound them, once for several runs.**

A feature that is 0 in all records (a pixel that is always dark) adds nothing to a sum over records, and what is left
out of a matrix with it is a row and a column of zeros. So sums need the *live* features alone, where it is public which
these are. Were they read off the records, one record could change the order in which all others are added, and
`privacy.sums` would not bound the rounding.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from costofprivacy import _validate
from costofprivacy.privacy import records, sums

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
    norm = np.linalg.norm(x, axis=1)
    if (norm <= most).all():
        return x
    scale = np.where(norm > most, bound / np.maximum(norm, bound), 1.0)
    return np.where(np.isfinite(norm)[:, None], x * scale[:, None], 0.0)


# ---- Prepared ----


@dataclass(frozen=True, eq=False)
class Prepared:
    """Records for several sums or searches: `prepare` makes them.

    Args:
        rows: the live features, shape (n, live), in C order. responses: shape (n,). norm: ‖x_i‖, shape (n,).
        live: which features these are, shape (d,).
    """

    rows: np.ndarray
    responses: np.ndarray
    norm: np.ndarray
    live: np.ndarray

    @property
    def shape(self) -> tuple[int, int]:
        """(n, d)."""
        return len(self.rows), len(self.live)

    @cached_property
    def square(self) -> np.ndarray:
        """XᵀX by `privacy.sums.product`, shape (d, d)."""
        return self._whole(self._whole(sums.product(self.rows, self.rows)).T)

    @cached_property
    def product(self) -> np.ndarray:
        """Xᵀy by the same, shape (d,)."""
        return self._whole(sums.product(self.rows, self.responses))

    def pulls(self, theta: np.ndarray, clips: np.ndarray, rows: np.ndarray | None = None) -> np.ndarray:
        """Sums of gradients at several θ, each clipped at C: shape (d, K), added as `privacy.sums.pairwise` does.

        Args:
            theta: a column for each run, shape (d, K). clips: C, shape (K,). rows: the records of the sum, by their
                places; all of them if left out.
        """
        x, y, norm = self.rows, self.responses, self.norm
        if rows is not None:
            x, y, norm = x[rows], y[rows], norm[rows]
        at = theta if self.live.all() else theta[self.live]
        if not len(x):
            return np.zeros_like(theta)

        def block(part: slice) -> np.ndarray:
            residual = x[part] @ at
            residual -= y[part, None]
            with np.errstate(divide="ignore"):
                bound = clips / norm[part, None]
            np.minimum(residual, bound, out=residual)
            np.maximum(residual, np.negative(bound, out=bound), out=residual)
            return x[part].T @ residual

        return self._whole(sums.pairwise(block, len(x)))

    def _whole(self, live: np.ndarray) -> np.ndarray:
        """Rows of zeros for the features that were left out."""
        if self.live.all():
            return live
        found = np.zeros((len(self.live), *live.shape[1:]))
        found[self.live] = live
        return found


@np.errstate(all="ignore")
def prepare(x: np.ndarray, y: np.ndarray, live: np.ndarray | None = None) -> Prepared:
    """Records, void where they are not `bounds.given`.

    Guarantee: each record depends on that record alone, if ``live`` is public.

    Args:
        x: features, shape (n, d), n ≥ 1. y: responses, shape (n,). Numbers of any type.
        live: the features to keep, of which there is one at least, shape (d,); all if left out. The others are 0.

    Raises:
        ValueError: if there is no record, shapes disagree, or an array is not of numbers.
    """
    x, y = given(x, y)
    kept = np.ones(x.shape[1], dtype=bool) if live is None else live
    rows = np.ascontiguousarray(x if kept.all() else x[:, kept])
    return Prepared(rows, y, np.linalg.norm(rows, axis=1), kept)
