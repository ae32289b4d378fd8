"""What a comparison with the authors' numbers says, for judges and pages."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from companion.judging.findings import Number
from companion.judging.vocabulary import CONSISTENT


@dataclass(frozen=True)
class Agreement:
    """How many published numbers one setting gives again.

    Args:
        near: those within the allowed combined standard errors. numbers: all. worst: the largest deviation, in errors.
    """

    near: int
    numbers: int
    worst: float

    @property
    def complete(self) -> bool:
        """Whether every published number comes out again."""
        return self.near == self.numbers


def agreements(comparison: pd.DataFrame) -> dict[str, Agreement]:
    """The agreement with the authors' numbers by setting; empty where none belongs to the parameters."""
    return {
        str(setting): Agreement(int((size <= CONSISTENT).sum()), len(size), float(size.max()))
        for setting, size in comparison["deviation"].abs().groupby(comparison["setting"])
    }


def numbers(found: dict[str, Agreement]) -> list[Number]:
    """The agreement of each setting as data: how many numbers are near, of how many, and the worst deviation."""
    rows = []
    for setting, agreement in found.items():
        row = f"setting = {setting}"
        near = f"published numbers within {CONSISTENT:g} standard errors, {setting}"
        rows.append(Number(near, agreement.near, None, agreement.numbers, "comparison", row))
        rows.append(Number(f"largest deviation, {setting}", agreement.worst, None, CONSISTENT, "comparison", row))
    return rows


def trend(private: pd.DataFrame) -> np.ndarray:
    """Change from the first to the last N for each ε, and from the least to the largest ε for each N, in errors."""
    sizes = [g.sort_values("N").iloc[[0, -1]] for _, g in private.groupby("epsilon") if len(g) > 1]
    budgets = [g.sort_values("epsilon").iloc[[0, -1]] for _, g in private.groupby("N") if len(g) > 1]
    return np.array([change(pair)[0] for pair in (*sizes, *budgets)])


def rises(private: pd.DataFrame) -> pd.DataFrame:
    """The steps in N at which the risk rises by more than the allowed error: epsilon, N, next_N, first, last, score."""
    steps = []
    for epsilon, g in private.groupby("epsilon"):
        rows = g.sort_values("N")
        scores, after = change(rows), rows.shift(-1)
        stepped = rows.assign(next_N=after["N"], first=rows["excess_risk"], last=after["excess_risk"], epsilon=epsilon)
        steps.append(stepped.iloc[:-1].assign(score=scores)[scores > CONSISTENT])
    return pd.concat(steps, ignore_index=True)[["epsilon", "N", "next_N", "first", "last", "score"]]


def change(rows: pd.DataFrame) -> np.ndarray:
    """Each step of the risk in combined standard errors."""
    risk, error = rows["excess_risk"].to_numpy(), rows["standard_error"].to_numpy()
    return np.diff(risk) / np.hypot(error[1:], error[:-1])
