"""What the judges of section 7 share: the data's name, the figure's own row, and when a curve has Figure 6's shape."""

from functools import wraps

import numpy as np
import pandas as pd

from companion.judging.findings import Verdict
from companion.judging.judges import Judge, Ruling
from companion.judging.prose import compact
from companion.judging.tables import Tables, describe, select
from companion.judging.vocabulary import CONSISTENT, ON_A_PAR
from costofprivacy.noisyhead.accounts import ALGORITHM

CHOICES = {  # the columns of an open choice, and what a reader calls it
    "prompts": "prompts",
    "length": "length",
    "features": "scores",
    "recipe": "hyperparameters",
    "clip": r"$C$ over that of (4.1)",
    "start": r"$\Gamma^0$",
    "epsilon": r"$\varepsilon$",
}
READING = ("prompts", "length", "features", "clip", "recipe")


def on_newsgroups(judge: Judge) -> Judge:
    """A judge that says nothing of 20 Newsgroups where the tables are of the set that stands in for it."""

    @wraps(judge)
    def asked(tables: Tables) -> Ruling:
        instead_of = tables["data"].iloc[0]["instead_of"]
        return judge(tables) if pd.isna(instead_of) or not instead_of else Ruling(Verdict.UNTESTABLE)

    return asked


def base(shapes: pd.DataFrame) -> pd.Series:
    """The figure's own row: the first."""
    return shapes.iloc[0]


def own(shapes: pd.DataFrame, *but: str) -> pd.DataFrame:
    """The rows that agree with the figure's own in every choice and the account, but for some columns."""
    first = base(shapes)
    return select(shapes, **{name: first[name] for name in (*CHOICES, "account") if name not in but})


def as_printed(shapes: pd.DataFrame) -> pd.DataFrame:
    """The rows of Algorithm 1's own account."""
    return select(shapes, account=ALGORITHM)


def has_shape(rows: pd.DataFrame) -> pd.Series:
    """Whether a run has Figure 6's shape: more steps do no harm at first and much in the end, and descent settles."""
    return begins_well(rows) & worsens(rows) & settles(rows)


def worsens(rows: pd.DataFrame) -> pd.Series:
    """Whether the risk ends beyond doubt above its least."""
    return (rows["last"] > ON_A_PAR * rows["least"]) & (rows["rise"] > CONSISTENT)


def begins_well(rows: pd.DataFrame) -> pd.Series:
    """Whether more steps than the fewest do no harm at first: the next risk, or the least, is no higher."""
    return (rows["best_T"] > rows["first_T"]) | (rows["second"] <= ON_A_PAR * rows["first"])


def settles(rows: pd.DataFrame) -> pd.Series:
    """Whether descent ends no higher than it begins, and rises beyond doubt at no step."""
    finite = np.isfinite(rows["descent_first"]) & np.isfinite(rows["descent_last"])
    return finite & (rows["descent_last"] <= rows["descent_first"]) & (rows["descent_rise"] <= CONSISTENT)


def told(value: object) -> str:
    """A value of a choice in words."""
    return compact(value) if isinstance(value, float) else {"zero": "0"}.get(str(value), str(value))


def row_of(row: pd.Series) -> str:
    """A row of the shapes in words."""
    return describe({name: row[name] for name in (*CHOICES, "account")})


def figure_errors(errors: pd.DataFrame) -> dict[str, pd.Series]:
    """The rows of the figure's own reading and recipe by method."""
    own = select(errors, **{name: errors.iloc[0][name] for name in READING})
    return {row["method"]: row for _, row in own.iterrows()}
