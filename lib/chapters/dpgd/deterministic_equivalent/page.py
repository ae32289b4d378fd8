"""The answer of the page on the deterministic equivalent of arXiv:2505.16329v2."""

import numpy as np
import pandas as pd

from chapters.dpgd.deterministic_equivalent import trends
from chapters.dpgd.deterministic_equivalent.verdicts import theorem_1_path
from companion.judging import words
from companion.judging.cards import tally
from companion.judging.judges import judges_of
from companion.judging.prose import listed, percent
from companion.judging.tables import Tables, select


def answer(tables: Tables) -> list[str]:
    """What the page opens with, a line each."""
    verdicts = [judge(tables).verdict for judge in judges_of(__package__).values()]
    strays = released_strays(tables["figure-1"]).groupby("d").max()
    runs = listed(f"{percent(share)} in dimension {d}" for d, share in strays.iloc[[0, -1]].drop_duplicates().items())
    return [
        f"A released risk typically differs from its prediction by {runs}.",
        _along_a_run(tables),
        "You see the differential equation derived from one step of the algorithm, in six steps.",
        "You run the algorithm once, solve its equation beside it, and see for which data the two part.",
        f"Of {len(verdicts)} claims, {tally(verdicts)}.",
    ]


def _along_a_run(tables: Tables) -> str:
    """How fast a run comes closer to R(t), beside the claimed bound."""
    powers = theorem_1_path(tables).quoted
    if "power" not in powers:
        return words.headline(theorem_1_path, tables)
    found, bound = (trends.power(powers[name]) for name in ("power", "bound"))
    return f"The largest distance between a run and the equations falls like {found}, the claimed bound like {bound}."


def released_strays(table: pd.DataFrame) -> pd.Series:
    """Root mean square distance of a released risk from its prediction, over the prediction, by panel and d."""
    rows = select(table, t=1).set_index(["spectrum", "alpha", "d"])
    return np.hypot(rows["risk_mean"] - rows["ode_risk"], rows["risk_sd"]) / rows["ode_risk"]
