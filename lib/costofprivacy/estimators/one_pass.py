"""DP-GD with the public arguments that all methods of one regression have, for `automatic.PrivateLinearRegression`."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from costofprivacy.dpgd import onepass
from costofprivacy.dpgd.descent import Configuration
from costofprivacy.dpgd.onepass import Batch
from costofprivacy.estimators import forecasting, public
from costofprivacy.estimators.guarantee import Guarantee
from costofprivacy.estimators.tabular import Fit, Stated, TabularRegressor

PROOF = "costofprivacy.dpgd.onepass"
ROWS = 4096  # records that are handed over at a time


class OnePass(TabularRegressor):
    """One pass of DP-GD. Guarantee, Args, Attributes: as `objective.ObjectivePerturbationRegressor`, without intervals.

    Only the last iterate is covered. `linear.DPGDRegressor` has more to choose: clip, schedule, learning rate.
    """

    ALGORITHM = "one pass of DP-GD"

    def _release(self, x: np.ndarray, y: np.ndarray, stated: Stated, rng: np.random.Generator) -> Fit:
        order = rng.permutation(len(x))
        parts = (order[start : start + ROWS] for start in range(0, len(order), ROWS))
        return self._passed(((x[rows], y[rows]) for rows in parts), stated, rng)

    def _passed(self, batches: Iterator[Batch], stated: Stated, rng: np.random.Generator) -> Fit:
        """One pass over batches on the stated scale."""
        known, n, mu = stated.known, stated.n, stated.budget.to_gaussian()
        best = public.tuned(known, n, mu.mu, None, public.HARMONIC, None)
        self.plan_ = Configuration(best.clip, best.schedule, mu.mu)
        released = onepass.release(batches, self.plan_, n, known.d, rng=rng)
        promised = forecasting.PROMISES[forecasting.ONE_PASS](known, n, stated.budget, stated.spectrum)
        return Fit(released.theta, Guarantee(stated.budget, mu, PROOF), promised, records=released.records)
