"""Records as the methods compute with them: void where doubles cannot bound them, once for several runs.

A feature that is 0 in all records (a pixel that is always dark) adds nothing to a sum over records, and what is left
out of a matrix with it is a row and a column of zeros. So sums need the *live* features alone, where it is public which
these are. Were they read off the records, one record could change the order in which all others are added, and
`privacy.sums` would not bound the rounding.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from costofprivacy.privacy import sums
from costofprivacy.rivals.bounds import given


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
    with np.errstate(over="ignore"):
        return Prepared(rows, y, np.linalg.norm(rows, axis=1), kept)
