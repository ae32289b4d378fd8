"""How the ledger is shown."""

from __future__ import annotations

import pandas as pd
from IPython.display import HTML, Markdown

from costofprivacy import cards, claims
from costofprivacy.experiments.ledger.experiment import book_folder


def show_definitions() -> Markdown:
    """What the verdicts mean."""
    return Markdown(cards.definitions())


def show_counts(table: pd.DataFrame) -> HTML:
    """Number of claims by paper and verdict."""
    counted = claims.counts(table).rename(columns=cards.badge).T.rename_axis(columns=None)
    return HTML(counted.to_html(escape=False, classes="ledger", border=0, index_names=False))


def show(table: pd.DataFrame, paper: str) -> Markdown:
    """The claims of one paper as a list."""
    book = book_folder()
    register = claims.read_register(claims.find_register(book))
    chosen = [register[name] for name in table.loc[table["paper"] == paper, "claim"]]
    return Markdown(cards.as_list(chosen, claims.read_findings(book), links=True))
