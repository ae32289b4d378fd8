"""What a chapter calls: run its experiment, keep its tables and figures, state its verdicts.

Where things go is told by the environment (see `costofprivacy.book`), so that the same page runs in JupyterLab, under
``make chapter`` and in the build: ``COSTOFPRIVACY_RESULTS`` is the folder of this chapter's tables, by default a folder
of the chapter's name in the working directory; ``COSTOFPRIVACY_CACHE`` keeps finished blocks of trials;
``COSTOFPRIVACY_PROGRESS`` is a terminal for the progress bar.
"""

from __future__ import annotations

import html
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import matplotlib.pyplot as plt
import pandas as pd
from IPython.display import Image, Markdown
from matplotlib.figure import Figure

from costofprivacy import claims
from costofprivacy.montecarlo import Runner


class Experiment(Protocol):
    """What every experiment can do."""

    def run(self, runner: Runner) -> dict[str, pd.DataFrame]:
        """Measure, and return the tables by name."""


@dataclass(frozen=True)
class Statements:
    """Claims and their verdicts, as a page shows them: nothing that depends on the number of trials."""

    verdicts: Mapping[claims.Claim, claims.Verdict]

    def __repr__(self) -> str:
        return "\n".join(f"{claim.id}: {verdict}" for claim, verdict in self.verdicts.items())

    def _repr_html_(self) -> str:
        rows = (
            f"<li>{claims.badge(verdict)} <strong>{html.escape(claim.place)}</strong></li>"
            for claim, verdict in self.verdicts.items()
        )
        return '<ul class="verdicts">' + "".join(rows) + "</ul>"


class Chapter:
    """One page of the book while it runs.

    Args:
        name: the chapter's name, such as ``noisyhead/low-dimensional``.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        told = os.environ.get("COSTOFPRIVACY_RESULTS")
        self.results = Path(told) if told else Path.cwd() / name.split("/")[-1]
        self._register = claims.read_register(claims.find_register(Path.cwd()))

    def run(self, experiment: Experiment, workers: int = -1) -> dict[str, pd.DataFrame]:
        """Run ``experiment`` and save each of its tables as ``<name>.csv``; returns the tables."""
        cache = os.environ.get("COSTOFPRIVACY_CACHE")
        progress = os.environ.get("COSTOFPRIVACY_PROGRESS")
        runner = Runner(workers, Path(cache) if cache else None, progress if progress is not None else True)
        tables = experiment.run(runner)
        self.results.mkdir(parents=True, exist_ok=True)
        for name, table in tables.items():
            table.to_csv(self.results / f"{name}.csv", index=False)
        return tables

    def show(self, name: str, figure: Figure) -> Image:
        """Save ``figure`` as ``<name>.png`` beside the tables, close it, and return that picture for the page."""
        self.results.mkdir(parents=True, exist_ok=True)
        path = self.results / f"{name}.png"
        figure.savefig(path, metadata={"Software": None})
        plt.close(figure)
        return Image(data=path.read_bytes(), format="png")

    def judge(self, judgements: Mapping[str, claims.Judgement]) -> Statements:
        """Save the judgements by claim; return the claims with their verdicts, without the evidence.

        Raises:
            ValueError: if the register does not know a claim or gives it to another chapter.
        """
        self.results.mkdir(parents=True, exist_ok=True)
        known = {claim: self._owned(claim) for claim in judgements}
        for claim, judgement in judgements.items():
            claims.record(self.results, claim, judgement)
        return Statements({known[claim]: judgement.verdict for claim, judgement in judgements.items()})

    def _owned(self, claim: str) -> claims.Claim:
        known = self._register.get(claim)
        if known is None or known.chapter != self.name:
            owner = "no chapter" if known is None else known.chapter
            raise ValueError(f"claim must belong to {self.name}, got {claim!r}, which belongs to {owner}")
        return known

    def evidence(self) -> Markdown:
        """The verdicts that this page has stated, with their evidence."""
        return Markdown(claims.as_list(claims.ledger(self._own(), claims.read_verdicts(self.results))))

    def _own(self) -> list[claims.Claim]:
        return [claim for claim in self._register.values() if claim.chapter == self.name]
