"""The answer of the page on the reduction factors of arXiv:2505.16329v2."""

import pandas as pd

from chapters.dpgd.clipping_factors.verdicts import equation_46
from companion.judging import words
from companion.judging.cards import tally
from companion.judging.judges import judges_of
from companion.judging.prose import compact
from companion.judging.tables import Tables, select


def answer(tables: Tables) -> list[str]:
    """What the page finds, derives and runs."""
    verdicts = [judge(tables).verdict for judge in judges_of(__package__).values()]
    row = furthest(tables["definition"])
    return [
        words.headline(equation_46, tables),
        "Five steps derive both factors. That of the mean is the share of the residuals that clipping leaves whole.",
        "Averages of clipped residuals, by hand, test the formulas.",
        f"These need Gaussian features. With {row['law']} features and the error in {row['direction']}, clipping "
        f"leaves {compact(row['value'])} of the descent, where the formula predicts {compact(row['closed_form'])}.",
        f"Of the paper's {len(verdicts)} claims, {tally(verdicts)}.",
    ]


def furthest(definition: pd.DataFrame) -> pd.Series:
    """The row whose μ is furthest from the closed form: what other laws of the features may cost."""
    rows = select(definition, quantity="mu")
    return rows.loc[(rows["value"] - rows["closed_form"]).abs().idxmax()]
