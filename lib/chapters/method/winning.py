"""The method for one regression that wins over all others: by measured cases if a chapter has them, or by forecast."""

from dataclasses import dataclass

import pandas as pd

from chapters.method import calculator
from chapters.method.reads import CAMPAIGN, TABLES
from companion.judging.vocabulary import CONSISTENT
from costofprivacy.estimators.forecasting import OBJECTIVE

PILOT = "noisy steps that find where to search"
MEASURED = f"[measured cases]({CAMPAIGN}.ipynb)"
CASE = ["data", "n", "d", "epsilon"]


@dataclass(frozen=True)
class Winner:
    """The method that is in front most often, in how many cases of how many, and in how many measured ones it is best.

    In front is what is best, or behind by no more than the errors say. ``best`` is None for forecasts.
    """

    method: str
    front: int
    cases: int
    best: int | None

    @property
    def words(self) -> str:
        """What to use for one regression."""
        name = f"{self.method} with a *pilot*, {PILOT}" if self.method == OBJECTIVE else self.method
        if self.best is None:
            told = f"has the largest expected $R^2$ in {self.front} of {self.cases} forecasts"
        else:
            told = (
                f"is best in {self.best} of {self.cases} {MEASURED} where any private method beats the mean, and not "
                f"significantly worse in {self.front - self.best} more"
            )
        return f"For one regression: use {name} (`PrivateLinearRegression`). It {told}."


def measured(cases: pd.DataFrame) -> Winner:
    """From the table ``cases`` of the chapter that compares all methods: those in which one is better than the mean."""
    counts: dict[str, int] = {}
    useful = [rows for _, rows in cases.groupby(CASE, sort=False) if (rows["excess"] < rows["constant"]).any()]
    for rows in useful:
        for name in rows.loc[rows["behind"] <= CONSISTENT * rows["behind_error"], "method"]:
            counts[name] = counts.get(name, 0) + 1
    name = max(counts, key=lambda name: counts[name])
    best = sum(rows.loc[rows["excess"].idxmin(), "method"] == name for rows in useful)
    return Winner(name, counts[name], len(useful), best)


def forecast() -> Winner:
    """From the forecasts that the page shows."""
    counts = pd.Series(calculator.winners()).value_counts()
    return Winner(str(counts.index[0]), int(counts.iloc[0]), int(counts.sum()), None)


def is_measured() -> bool:
    """Whether the page reads measured cases."""
    return CAMPAIGN in TABLES
