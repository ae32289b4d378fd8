"""The ledger: all claims of both papers with the verdicts that the chapters saved."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from IPython.display import HTML, Markdown

from costofprivacy import _validate, claims
from costofprivacy.montecarlo import Runner

PAPERS = ("both", "noisyhead", "dpgd")
VERDICTS = ("all", *map(str, claims.Verdict), claims.PENDING)


@dataclass(frozen=True)
class Experiment:
    """Which part of the ledger to show.

    Args:
        paper: ``noisyhead``, ``dpgd`` or ``both``.
        verdict: one verdict, ``pending`` or ``all``.
    """

    paper: str = "both"
    verdict: str = "all"

    def __post_init__(self) -> None:
        _validate.one_of("paper", self.paper, PAPERS)
        _validate.one_of("verdict", self.verdict, VERDICTS)

    def run(self, runner: Runner) -> dict[str, pd.DataFrame]:
        """Table ``ledger``, without the evidence, whose numbers stand in the chapters' ``verdicts.json``."""
        return {"ledger": self.read(book_folder()).drop(columns="evidence")}

    def read(self, book: Path) -> pd.DataFrame:
        """The chosen part of the ledger of the book in this folder, evidence included."""
        register = claims.read_register(claims.find_register(book))
        table = claims.ledger(register.values(), claims.read_verdicts(book))
        if self.paper != "both":
            table = table[table["paper"] == self.paper]
        if self.verdict != "all":
            table = table[table["verdict"] == self.verdict]
        return table.reset_index(drop=True)


def book_folder() -> Path:
    """The folder of the chapters: ``COSTOFPRIVACY_BOOK``, or the one whose register is nearest."""
    told = os.environ.get("COSTOFPRIVACY_BOOK")
    return Path(told) if told else claims.find_register(Path.cwd()).parent


def show_counts(table: pd.DataFrame) -> HTML:
    """Number of claims by paper and verdict."""
    counted = claims.counts(table).rename(columns=claims.badge).T.rename_axis(columns=None)
    return HTML(counted.to_html(escape=False, classes="ledger", border=0, index_names=False))


def show(table: pd.DataFrame, paper: str) -> Markdown:
    """The claims of one paper as a list."""
    return Markdown(claims.as_list(table[table["paper"] == paper], links=True))
