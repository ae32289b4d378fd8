"""What the tests of every chapter's verdicts share: a table is contradicted, the verdict has to turn."""

from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest
from matplotlib.figure import Figure

from costofprivacy.claims import Judgement, Verdict

Tables = dict[str, pd.DataFrame]

# (judge, its tables, verdict on the measured ones, a contradiction of them, verdicts then)
Case = tuple[Callable[..., Judgement], tuple[str, ...], Verdict, Callable[[Tables], dict], set[Verdict]]


def contradicted(cases: list[Case]) -> pytest.MarkDecorator:
    """Run a test for each case, under the judge's name."""
    return pytest.mark.parametrize("case", cases, ids=[f"{case[0].__name__}-{i}" for i, case in enumerate(cases)])


def turns(case: Case, tables: Tables) -> None:
    """Assert the verdict on the measured tables, and that the contradicting ones are judged otherwise.

    Where the word may stay (half of a contradiction, a claim that nothing decides) the evidence has to change: a judge
    that does not look at its table is found out in every case.
    """
    judge, names, expected, contradict, turned = case
    before = judge(*(tables[n] for n in names))
    other = tables | contradict(tables)
    after = judge(*(other[n] for n in names))
    assert before.verdict == expected
    assert after.verdict in turned
    assert after != before


def change(
    table: pd.DataFrame, column: str, to: Callable[[pd.DataFrame], Any], where: Any = slice(None)
) -> pd.DataFrame:
    """A copy with ``column`` set to ``to(rows)`` in the rows ``where``."""
    copy = table.copy()
    rows = copy.loc[where]
    copy.loc[where, column] = to(rows)
    return copy


def draw(*drawn: Figure) -> None:
    """Draw the figures; assert that all axes say what they show."""
    for figure in drawn:
        assert all(axes.get_xlabel() for axes in figure.axes)
        figure.canvas.draw()
