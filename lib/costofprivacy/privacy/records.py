r"""What a record may hold: anything. How a bound on one record is kept, and what is refused.

A guarantee of differential privacy speaks of *every* pair of neighbours, whatever the replaced record holds. So every
function on the way to a release keeps one rule.

**What is public is refused.** Shapes, numbers of records, radii, budgets and every other argument that is fixed before
the data: a ``ValueError`` that names the argument, at the boundary. Such a refusal tells nothing of the data.

**What is in a record is bounded, never refused.** An error that only one of two neighbours raises is itself a release,
without noise. So a value beyond its bound is clipped to it (an infinite label too, where labels are clipped), and a
record that is not finite, or whose squares leave the range of doubles, is *void*: it is replaced by 0 and contributes
nothing. Both are maps of single records, fixed before the data: neighbours stay neighbours, and the sensitivity stays
what it was. Whether a record is void depends on that record alone, never on the iterate or on other records; otherwise
a step that does not expand could become one that does.

**What was summed is refused where it cannot be right.** Moments that are not finite, or longer than any prompts within
the stated bounds could make them, were not made by the functions that bound each record. No release of theirs is
private, and a ``ValueError`` says so. For data that did come through these functions it is never raised, so it tells
nothing of them.

**The estimators** (`costofprivacy.estimators`) follow scikit-learn: NaN and infinities in X or y are a ``ValueError``.
Whether there are any is then not protected; replace them by a map of single records first. Finite values, however
large, are bounded as above.

*Where doubles end.* A value beyond 10¹⁵⁰ or a norm below 10⁻¹⁵⁰ has a square that overflows or
vanishes, and a bound that is computed from it would be a bound no longer.
"""

from __future__ import annotations

import numpy as np

FAR = 1e150  # the square of a number beyond overflows
NEAR = 1e-150  # that of one below vanishes
REACH = (-FAR, FAR)


def voided(*parts: np.ndarray) -> tuple[np.ndarray, ...]:
    """Arrays whose first axis is the record, 0 in every record that is not finite in one of them.

    The arrays themselves where all is finite; it costs their sums.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(sum(float(part.sum()) for part in parts)):
            return parts
    sound = np.logical_and.reduce([np.isfinite(part).reshape(len(part), -1).all(axis=1) for part in parts])
    return tuple(np.where(sound.reshape(-1, *[1] * (part.ndim - 1)), part, 0.0) for part in parts)


def usable(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Whether a record of a regression has a gradient that can be bounded in doubles.

    Args:
        x: features, shape (..., d). y: responses, a shape that broadcasts with (...).

    Returns:
        Booleans of the broadcast shape: x and y finite, and NEAR ≤ ‖x‖ ≤ FAR.
    """
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        square = np.einsum("...d,...d", x, x)
    return (square >= NEAR**2) & (square <= FAR**2) & np.isfinite(y)


def regression(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Records of a regression in which every one that is not `usable` is void: x = 0 and y = 0.

    Args:
        x: features, shape (m, d). y: responses, shape (m,).

    Returns:
        the arrays themselves where every record is usable, else copies.
    """
    sound = usable(x, y)
    if sound.all():
        return x, y
    return np.where(sound[:, None], x, 0.0), np.where(sound, y, 0.0)


def lengths(rows: np.ndarray) -> np.ndarray:
    """‖row‖₂ of rows of shape (m, D), shape (m,), without overflow or underflow on the way; NaN where not finite."""
    size = np.abs(rows).max(axis=1, initial=0.0)
    with np.errstate(invalid="ignore", over="ignore"):
        unit = np.divide(rows, size[:, None], out=np.zeros_like(rows), where=size[:, None] > 0)
        return size * np.sqrt(np.einsum("nd,nd->n", unit, unit))


def refuse_not_finite(name: str, *sums: np.ndarray) -> None:
    """Raise ``ValueError`` where what was summed over records is not finite."""
    if not all(np.isfinite(part).all() for part in sums):
        raise ValueError(f"{name} must be finite, got NaN or infinities: its records were not bounded one by one")
