"""The method for one regression that wins over all others: by measured cases if a chapter has them, or by forecast."""

from dataclasses import dataclass

import pandas as pd

from costofprivacy.estimators.forecasting import OBJECTIVE
from costofprivacy.experiments.method import calculator
from costofprivacy.experiments.method.reads import CAMPAIGN, TABLES
from costofprivacy.judging.vocabulary import CONSISTENT

PILOT = "noisy steps that find where to search"
MEASURED = f"[measured cases]({CAMPAIGN}.ipynb)"
CASE = ["data", "n", "d", "epsilon"]


@dataclass(frozen=True)
class Winner:
    """The method that is in front most often, in how many cases of how many, and whether these were measured."""

    method: str
    front: int
    cases: int
    measured: bool

    @property
    def words(self) -> str:
        """What to use for one regression."""
        name = f"{self.method} with a *pilot*, {PILOT}" if self.method == OBJECTIVE else self.method
        if self.measured:
            where = "is best, or not significantly worse,"
            cases = f"{self.front} of {self.cases} {MEASURED} where any private method beats the mean"
        else:
            where, cases = "has the largest expected $R^2$", f"{self.front} of {self.cases} forecasts"
        return f"For one regression: use {name} (`PrivateLinearRegression`). It {where} in {cases}."


def measured(cases: pd.DataFrame) -> Winner:
    """From the table ``cases`` of the chapter that compares all methods: those in which one is better than the mean."""
    counts: dict[str, int] = {}
    useful = [rows for _, rows in cases.groupby(CASE, sort=False) if (rows["excess"] < rows["constant"]).any()]
    for rows in useful:
        for name in rows.loc[rows["behind"] <= CONSISTENT * rows["behind_error"], "method"]:
            counts[name] = counts.get(name, 0) + 1
    best = max(counts, key=lambda name: counts[name])
    return Winner(best, counts[best], len(useful), True)


def forecast() -> Winner:
    """From the forecasts that the page shows."""
    counts = pd.Series(calculator.winners()).value_counts()
    return Winner(str(counts.index[0]), int(counts.iloc[0]), int(counts.sum()), False)


def is_measured() -> bool:
    """Whether the page reads measured cases."""
    return CAMPAIGN in TABLES
