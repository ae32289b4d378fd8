"""The private fit that is compared, and the loss that is reported."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from costofprivacy.estimators import DPGDRegressor

# epsilon, delta, feature_bounds, response_bounds, expected_r2, spectrum, random_state ↦ an estimator for which a record
# with NaN is void. ``spectrum`` is the sum of the eigenvalues on the stated scale, or None where it is not known.
Maker = Callable[..., Any]


def dp_gd(*, expected_r2: float, **public: Any) -> DPGDRegressor:
    """DP-GD whose user knows the bounds and guesses R², and takes the response for uniform within its bounds.

    Args:
        expected_r2: in (0, 1). public: other arguments of `DPGDRegressor`.
    """
    return DPGDRegressor(expected_r2=expected_r2, not_finite="void", **public)


def summarised(rows: list[dict[str, Any]], by: list[str], values: list[str]) -> pd.DataFrame:
    """Means over trials, each with its standard error and the number of trials.

    Args:
        rows: one for each trial. by: columns that tell the settings apart. values: columns that are averaged.

    Returns:
        columns ``by``, and for each value ``v`` the columns ``v`` and ``v_error``; ``trials``.
    """
    grouped = pd.DataFrame(rows).groupby(by, sort=False)[values]
    count = grouped.size()
    means, errors = grouped.mean(), grouped.std(ddof=1).div(np.sqrt(count), axis=0).add_suffix("_error")
    return pd.concat([means, errors], axis=1).assign(trials=count).reset_index()
