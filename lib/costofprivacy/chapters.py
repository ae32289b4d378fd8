"""What a chapter calls: measure or read its tables, keep its figures, state its verdicts.

Where things go is told by the environment (see `costofprivacy.book`), so that the same page runs in JupyterLab, under
``make chapter`` and in the build: ``COSTOFPRIVACY_RESULTS`` is the folder of this chapter's tables, by default a folder
of the chapter's name in the working directory; ``COSTOFPRIVACY_SAVED`` the folders whose tables may be read instead of
measured, by default that same folder; ``COSTOFPRIVACY_CACHE`` keeps finished blocks of trials;
``COSTOFPRIVACY_PROGRESS`` is a terminal for the progress bar; ``COSTOFPRIVACY_WORKERS`` overrides ``workers``.
"""

from __future__ import annotations

import html
import importlib
import inspect
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
from IPython.display import HTML, Image, Markdown
from matplotlib.figure import Figure

from costofprivacy import cards, claims, stamps, symbols
from costofprivacy.declaration import declarations
from costofprivacy.findings import Finding, Tables, Verdict, judges_of
from costofprivacy.montecarlo import Runner

EXPERIMENTS = "costofprivacy.experiments"


@dataclass(frozen=True)
class Statements:
    """Claims and their verdicts, as a page shows them: nothing that depends on the number of trials."""

    verdicts: Mapping[claims.Claim, Verdict]

    def __repr__(self) -> str:
        return "\n".join(f"{claim.id}: {verdict}" for claim, verdict in self.verdicts.items())

    def _repr_html_(self) -> str:
        rows = (
            f"<li>{cards.badge(verdict)} <strong>{html.escape(claim.place)}</strong></li>"
            for claim, verdict in self.verdicts.items()
        )
        return '<ul class="verdicts">' + "".join(rows) + "</ul>"


class Chapter:
    """One page of the book while it runs.

    Args:
        name: the chapter's name, such as ``noisyhead/low-dimensional``.
        names: the page's own names (``globals()``), among them its parameters and ``workers``.

    Raises:
        ValueError: if a parameter is out of its range.
    """

    def __init__(self, name: str, names: Mapping[str, Any]) -> None:
        self.name = name
        self.package = f"{EXPERIMENTS}.{name.replace('/', '.').replace('-', '_')}"
        kind = importlib.import_module(f"{self.package}.experiment").Experiment
        self.experiment = kind(**{d.name: names[d.name] for d in declarations(kind) if d.name in names})
        told = os.environ.get("COSTOFPRIVACY_RESULTS")
        self.results = Path(told) if told else Path.cwd() / name.split("/")[-1]
        self._workers = int(os.environ.get("COSTOFPRIVACY_WORKERS") or names.get("workers", -1))
        self._register = claims.read_register(claims.find_register(Path.cwd()))
        self._tables: Tables = {}

    @property
    def question(self) -> str:
        """What the chapter asks: the words of the package that serves it."""
        return inspect.cleandoc(importlib.import_module(self.package).__doc__ or "")

    def parameters(self) -> HTML:
        """The declared parameters with their values here, as a table for the page."""
        return HTML(cards.parameters(symbols.rows(type(self.experiment)), self.experiment))

    def run(self) -> Tables:
        """The chapter's tables, by name: read where they are still what would be measured, else measured and saved.

        Either way they are read from their files, so that what is told of them cannot depend on which it was.
        """
        saved = self._saved()
        if saved is None:
            cache, progress = os.environ.get("COSTOFPRIVACY_CACHE"), os.environ.get("COSTOFPRIVACY_PROGRESS")
            runner = Runner(self._workers, Path(cache) if cache else None, progress if progress is not None else True)
            return self.keep(self.experiment.run(runner))
        folder, tables = saved
        self.results.mkdir(parents=True, exist_ok=True)
        for name in tables:
            if folder != self.results.resolve():
                shutil.copyfile(folder / f"{name}.csv", self.results / f"{name}.csv")
        self._tables = tables
        return tables

    def _saved(self) -> tuple[Path, Tables] | None:
        """The first folder whose tables were measured from just this, with its tables."""
        named = os.environ.get("COSTOFPRIVACY_SAVED")
        folders = [self.results] if named is None else [Path(path) for path in named.split(os.pathsep) if path]
        measured = stamps.measured_from(self.experiment, stamps.find_root(Path.cwd())) if folders else {}
        for folder in folders:
            tables = stamps.saved_tables(folder, measured)
            if tables is not None:
                return folder.resolve(), tables
        return None

    def keep(self, tables: Tables) -> Tables:
        """Save tables as ``<name>.csv`` and return them as they were saved."""
        self.results.mkdir(parents=True, exist_ok=True)
        for name, table in tables.items():
            table.to_csv(self.results / f"{name}.csv", index=False)
        self._tables = {name: stamps.read_table(self.results / f"{name}.csv") for name in tables}
        return self._tables

    def show(self, name: str, figure: Figure) -> Image:
        """Save ``figure`` as ``<name>.png`` beside the tables, close it, and return that picture for the page."""
        self.results.mkdir(parents=True, exist_ok=True)
        path = self.results / f"{name}.png"
        figure.savefig(path, metadata={"Software": None})
        plt.close(figure)
        return Image(data=path.read_bytes(), format="png")

    def judge(self, *names: str) -> Statements:
        """Judge these claims of the chapter, or all of them; save the findings, return the verdicts alone.

        Args:
            names: claims by the part of their id after the paper, such as ``theorem-1.1-low``; all where none is named.

        Raises:
            ValueError: if a claim is not this chapter's, or has no judge.
        """
        own = {claim.id.partition("/")[2]: claim for claim in self._own()}
        for name in names:
            if name not in own:
                raise ValueError(f"claim must be one of {', '.join(own)}, got {name!r}")
        chosen = [own[name] for name in names] or list(own.values())
        found = self.find([claim.id for claim in chosen])
        self.results.mkdir(parents=True, exist_ok=True)
        claims.record(self.results, found)
        return Statements({claim: found[claim.id].verdict for claim in chosen})

    def find(self, names: list[str]) -> dict[str, Finding]:
        """The findings on these claims, by id.

        Raises:
            ValueError: if one has no judge.
        """
        judges = judges_of(self.package)
        missing = [name for name in names if name not in judges]
        if missing:
            raise ValueError(f"each claim of {self.name} must have a judge in {self.package}, got none for {missing}")
        return {name: judges[name](self._tables) for name in names}

    def cards(self) -> Markdown:
        """Everything that the chapter found, a card for each claim."""
        found = claims.read_findings(self.results)
        return Markdown("\n\n".join(cards.card(claim, found[claim.id]) for claim in self._own() if claim.id in found))

    def _own(self) -> list[claims.Claim]:
        return [claim for claim in self._register.values() if claim.chapter == self.name and not claim.pending]
