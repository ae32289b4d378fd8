"""Which part of the ledger is shown."""

import os
from pathlib import Path

import pandas as pd

from companion.declaration import Parameters, parameter
from companion.judging import claims
from companion.judging.findings import Verdict
from companion.streams import Runner
from costofprivacy._validate import among


class Experiment(Parameters):
    """All claims of both papers with the findings that the chapters saved, or a part of them."""

    paper: str = parameter(among(("both", "noisyhead", "dpgd")), "both")
    """Which paper's claims."""
    verdict: str = parameter(among(("all", *map(str, Verdict), claims.PENDING)), "all")
    """Which verdict's."""

    def run(self, runner: Runner) -> dict[str, pd.DataFrame]:
        """Table ``ledger``, without the headlines, whose numbers stand in the chapters' ``verdicts.json``."""
        return {"ledger": self.read(book_folder()).drop(columns="headline")}

    def read(self, book: Path) -> pd.DataFrame:
        """The chosen part of the ledger of the book in this folder, headlines included."""
        register = claims.read_register(claims.find_register(book))
        table = claims.ledger(register.values(), claims.read_findings(book))
        if self.paper != "both":
            table = table[table["paper"] == self.paper]
        if self.verdict != "all":
            table = table[table["verdict"] == self.verdict]
        return table.reset_index(drop=True)


def book_folder() -> Path:
    """The folder of the chapters: ``COSTOFPRIVACY_BOOK``, or the one whose register is nearest."""
    told = os.environ.get("COSTOFPRIVACY_BOOK")
    return Path(told) if told else claims.find_register(Path.cwd()).parent
