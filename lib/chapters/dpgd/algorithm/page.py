"""The answer of the page on Algorithm 1 of arXiv:2505.16329v2."""

import pandas as pd

from chapters.dpgd.algorithm.verdicts import proposition_41
from companion.judging import words
from companion.judging.cards import tally
from companion.judging.judges import judges_of
from companion.judging.prose import span
from companion.judging.tables import Tables

EVEN, LAST, OURS = "even", "all in the last step", "as (4.2)"


def answer(tables: Tables) -> list[str]:
    """What the page finds, derives and runs."""
    verdicts = [judge(tables).verdict for judge in judges_of(__package__).values()]
    factors = placement_factors(tables["placement"])
    return [
        words.headline(proposition_41, tables),
        "Six steps derive it: no step expands a distance, so the noise of all later steps hides a record.",
        "Two runs by hand show the distance that the noise has to hide.",
        f"With the same privacy, all noise in the last step multiplies the risk of (4.2) by {span(factors[LAST])} for "
        "$\\Sigma = I$.",
        f"Of {len(verdicts)} claims, {tally(verdicts)}.",
    ]


def placement_factors(placement: pd.DataFrame) -> pd.DataFrame:
    """The released risk by schedule and placement of the noise, over that with (4.2)."""
    risks = placement.pivot(index="schedule", columns="placement", values="excess_risk")
    return risks.div(risks[OURS], axis=0).loc[placement["schedule"].unique()]
