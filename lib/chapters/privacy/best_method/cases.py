"""The campaign case by case: who is best, what was chosen, and how far the choice and the forecast are off."""

from __future__ import annotations

import pandas as pd

from chapters.privacy.best_method import data

KEY = ["data", "n", "d", "epsilon"]
NEAR, NOISE, FAR = 1.1, 2.0, 1.5  # a choice is near the best: this factor, or so many standard errors; and never beyond
WITHIN = dict.fromkeys((data.ISOTROPIC, data.CORRELATED), 1.5)  # factors that forecasts are held to
OTHERWISE = 3.0  # on heavy tails and real data
WANTED = 0.9  # the share of cases in which both have to be so


def compared(cases: pd.DataFrame) -> pd.DataFrame:
    """A row for each case in which a private method beats the mean.

    Args:
        cases: a row for each case and method, as `campaign.measure` makes it.

    Returns:
        The key; ``best`` and ``chosen``, methods; ``ratio``, the excess error of the choice over the least; ``near``,
        whether it is within `NEAR` or `NOISE` standard errors; ``forecast``, the forecast of the choice over what was
        measured; ``forecast_new``, the same on new records, NaN for real data; ``limit``, the factor that both are held
        to; ``excess`` of the choice, ``constant``, of the mean, and ``share``, the first over the second.
    """
    found = []
    for key, rows in cases.groupby(KEY, sort=False):
        best, choice = rows.loc[rows["excess"].idxmin()], rows[rows["chosen"].astype(bool)].iloc[0]
        if not best["excess"] < best["constant"]:
            continue
        near = choice["excess"] <= NEAR * best["excess"] or choice["behind"] <= NOISE * choice["behind_error"]
        row = dict(zip(KEY, key, strict=True)) | {"best": best["method"], "chosen": choice["method"], "near": near}
        row |= {"ratio": choice["excess"] / best["excess"], "forecast": choice["forecast"] / choice["excess"]}
        row |= {"limit": WITHIN.get(key[0], OTHERWISE), "excess": choice["excess"], "constant": choice["constant"]}
        row |= {"forecast_new": choice["forecast_new"] / choice["new"]}
        found.append(row | {"share": choice["excess"] / choice["constant"]})
    return pd.DataFrame(found)


def told(found: pd.DataFrame, column: str = "forecast") -> pd.Series:
    """Whether each forecast is within its factor.

    Args:
        found: of `compared`. column: ``forecast`` or ``forecast_new``.
    """
    return (found[column] <= found["limit"]) & (found[column] >= 1 / found["limit"])
