r"""Does DP-GD's rate γ + γ²/ρ² predict what the head costs, with d = D² and γ = D²/N, although Z is not Gaussian?

The excess of the test error over the best head's is fitted by aγ + bγ²/ρ², a, b ≥ 0, on relative errors; the same L at
every N, so that the problem is the same.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy.optimize import nnls

from chapters.noisyhead.a_head_that_works import curves
from chapters.noisyhead.a_head_that_works.problems import BEST, NON_PRIVATE
from companion.streams import Runner
from costofprivacy.privacy import ApproximateDP

STREAM = 2


def table(
    runner: Runner, conditions: Sequence[float], N: Sequence[int], L: int, D: int, epsilon: tuple[float, ...],
    delta: float, trials: int, seed: int,
) -> pd.DataFrame:  # fmt: skip
    """covariance, N, epsilon, method, gamma, rho, excess, standard_error, trials, fitted, a, b."""
    cells = [curves.Cell(k, n, L, D, epsilon, delta, STREAM) for k in conditions for n in N]
    found = curves.table(runner, cells, trials, seed)
    at = ["covariance", "N", "epsilon"]
    best = found[found["method"] == BEST].set_index(at)["test_error"].rename("least")
    rows = found[found["method"].isin([*curves.METHODS, NON_PRIVATE])].join(best, on=at)
    rho = {e: ApproximateDP(e, delta).to_gaussian().mu for e in epsilon}
    rows = rows.assign(excess=rows["test_error"] - rows["least"], gamma=D**2 / rows["N"], rho=rows["epsilon"].map(rho))
    groups = rows.groupby(["covariance", "method"], sort=False)
    return pd.concat([_fitted(group) for _, group in groups], ignore_index=True).drop(columns=["test_error", "least"])


def _fitted(rows: pd.DataFrame) -> pd.DataFrame:
    """The best a, b ≥ 0 for relative errors; the non-private head has no ρ."""
    private = rows["method"].iloc[0] != NON_PRIVATE
    terms = np.column_stack([rows["gamma"], rows["gamma"] ** 2 / rows["rho"] ** 2 * private])
    (a, b), _ = nnls(terms / rows["excess"].to_numpy()[:, None], np.ones(len(rows)))
    return rows.assign(fitted=terms @ [a, b], a=a, b=b)
