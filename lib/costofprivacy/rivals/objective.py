"""The loss of `costofprivacy.rivals.huber` as the solvers take it: checked, bounded record by record, and on scale."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

_ROWS = 2048  # records in a block of a product: it stays in the processor's cache


@dataclass(frozen=True, eq=False)
class Objective:
    """J, by its records and its public numbers.

    Args:
        rows: x_i, shape (n, d), in C order. responses: y_i, shape (n,). limits: bounds on |r_i| at which a gradient is
            clipped, shape (n,), finite. penalty: Λ. linear: b, shape (d,). clip_norm: C.
    """

    rows: np.ndarray
    responses: np.ndarray
    limits: np.ndarray
    penalty: float
    linear: np.ndarray
    clip_norm: float

    @property
    def most_push(self) -> float:
        """nC + ‖b‖, a bound on Λ‖θ‖ at the minimiser."""
        return len(self.rows) * self.clip_norm + float(np.linalg.norm(self.linear))

    @property
    def most_curvature(self) -> float:
        """A bound on the curvature of J."""
        return self.penalty + float(np.linalg.norm(self.rows)) ** 2

    def clipped(self, residual: np.ndarray) -> np.ndarray:
        """The residuals, clipped."""
        return np.clip(residual, -self.limits, self.limits)


@np.errstate(all="ignore")
def gram(rows: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
    """The sum of w_i x_i x_iᵀ, w_i = 1 where none are given: shape (d, d)."""
    total = _block(rows[:_ROWS], None if weights is None else weights[:_ROWS])
    for first in range(_ROWS, len(rows), _ROWS):
        part = slice(first, first + _ROWS)
        total += _block(rows[part], None if weights is None else weights[part])
    return total


def _block(rows: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    return rows.T @ rows if weights is None else (rows * weights[:, None]).T @ rows
