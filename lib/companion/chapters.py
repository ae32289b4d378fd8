"""What a chapter calls: measure or read its tables, keep its figures, state its verdicts.

Where things go is told by the environment (see `companion.build`), so that the same page runs in JupyterLab, under
``make chapter`` and in the build:

- ``COSTOFPRIVACY_RESULTS`` is the folder of this chapter's tables, by default a folder of the chapter's name in the
  working directory, or, where that is in the project, in ``_build/live``: JupyterLab, nbval, papermill and nbconvert
  leave what is committed alone;
- ``COSTOFPRIVACY_SAVED`` the folders whose tables may be read instead of measured, by default the committed ones and
  that same folder; ``COSTOFPRIVACY_CACHE`` keeps finished blocks of trials;
- ``COSTOFPRIVACY_PROGRESS`` is a terminal for the progress bar, or a file for lines that say how far it is;
- ``COSTOFPRIVACY_WORKERS`` overrides ``workers``; ``COSTOFPRIVACY_CLUSTER`` is the Dask scheduler whose workers run the
  trials; ``COSTOFPRIVACY_PROFILE`` measures anew, in one process, and leaves beside the tables where the time went;
- ``COSTOFPRIVACY_ANYWAY`` goes beyond the usual ranges of parameters (`chapters.ranges`).
"""

import html
import importlib
import os
import re
import shutil
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from IPython.display import HTML, Markdown

from companion import CHAPTERS, question
from companion.declaration import declarations, rows
from companion.judging import cards, claims, prose
from companion.judging.findings import Finding, Verdict, word_count
from companion.judging.judges import judges_of
from companion.judging.tables import Tables, find_schema, schema_markdown
from companion.judging.words import judged
from companion.running import memory, progress, stamps
from companion.running.montecarlo import Runner
from companion.showing import plates
from companion.showing.plates import Picture, Plate

EXPERIMENTS = CHAPTERS
MOST_LINES, LONGEST_ANSWER = 3, 110  # lines and words of what opens a page
MOST_LEADING = 4


@dataclass(frozen=True)
class Statements:
    """Claims and their verdicts, as a page shows them: nothing that depends on the number of trials.

    Those of a whole chapter, ``whole``, are one line that leads to the page on which each claim has a card.
    """

    verdicts: Mapping[claims.Claim, Verdict]
    whole: str = ""

    def __repr__(self) -> str:
        return "\n".join(f"{claim.id}: {verdict}" for claim, verdict in self.verdicts.items())

    def _repr_html_(self) -> str:
        if self.whole:
            count, page = len(self.verdicts), cards.page_of(self.whole).split("/")[-1]
            words = "The one claim of this chapter" if count == 1 else f"All {count} claims of this chapter"
            link = f"<a href='{page}.html'>{words}, with the evidence</a>"
            return f'<p class="judged">{link}: {cards.tally(self.verdicts.values())}.</p>'
        rows = []
        for claim, verdict in self.verdicts.items():  # pages typeset formulas in HTML only in elements of this class
            place = re.sub(r"\$[^$]+\$", r"<span class='tex2jax_process'>\g<0></span>", html.escape(claim.place))
            address = cards.address(claim, start=claim.chapter)
            rows.append(f"<li>{cards.badge(verdict)} <a href='{address}'>{place}</a></li>")
        return '<ul class="verdicts">' + "".join(rows) + "</ul>"


class Chapter:
    """One page of the book while it runs: its name, such as ``noisyhead/low-dimensional``, and the page's own names.

    These are ``globals()``, among them its parameters and ``workers``. A ``ValueError`` names a parameter out of its
    range.
    """

    def __init__(self, name: str, names: Mapping[str, Any]) -> None:
        for limit in ("display.max_colwidth", "display.max_rows", "display.max_columns"):
            pd.set_option(limit, None)  # else pandas cuts long cells and tables
        self.name = name
        self.package = f"{EXPERIMENTS}.{name.replace('/', '.').replace('-', '_')}"
        kind = importlib.import_module(f"{self.package}.measure").Experiment
        self.experiment = kind(**{d.name: names[d.name] for d in declarations(kind) if d.name in names})
        self.results, self._committed = _places(name)
        self._workers = _workers(names.get("workers", -1))
        register = claims.find_register(Path.cwd())
        self._book, self._register = register.parent, claims.read_register(register)
        self._tables: Tables = {}

    def run(self, *, fresh: bool = False) -> Tables:
        """The chapter's tables, by name: read where they are still what would be measured, else measured and saved.

        Either way they are read from their files, so that what is told of them cannot depend on which it was.
        ``fresh`` measures in any case. In a live session one line says what was done.
        """
        if os.environ.get(progress.PROFILE):
            with memory.limited():
                return self.keep(progress.profiled(lambda: self.experiment.run(Runner(1)), self.results))
        start, saved = time.monotonic(), None if fresh else self._saved()
        if saved is None:
            cache, cluster = os.environ.get("COSTOFPRIVACY_CACHE"), os.environ.get("COSTOFPRIVACY_CLUSTER") or None
            place = os.environ.get("COSTOFPRIVACY_PROGRESS", True)
            runner = Runner(self._workers, Path(cache) if cache else None, place, cluster)
            with memory.limited():
                tables = self.keep(self.experiment.run(runner))
            trials = f"{self.experiment.trials} trials" if hasattr(self.experiment, "trials") else "the tables"
            self._say(f"simulated {trials} in {time.monotonic() - start:.0f} s")
            return tables
        folder, tables = saved
        took = stamps.time_in_words(self._book, self.name)
        self._say(f"read from {self._shown(folder)}; run(fresh=True) simulates{took and f', about {took} of one core'}")
        self.results.mkdir(parents=True, exist_ok=True)
        for name in tables if folder != self.results.resolve() else ():
            shutil.copyfile(folder / f"{name}.csv", self.results / f"{name}.csv")
        self._tables = tables
        return tables

    def _say(self, line: str) -> None:
        if self._committed:
            progress.say(f"{line}; what this session makes goes to {self._shown(self.results)}")

    def _shown(self, folder: Path) -> Path:
        """A folder as a reader looks for it: below the project's."""
        root = stamps.find_root(Path.cwd())
        return folder.relative_to(root) if folder.is_relative_to(root) else folder

    def _saved(self) -> tuple[Path, Tables] | None:
        """The first folder whose tables were measured from just this, real data before stand-ins, with its tables."""
        named = os.environ.get("COSTOFPRIVACY_SAVED")
        own = [folder for folder in (self._committed, self.results) if folder]
        folders = own if named is None else [Path(path) for path in named.split(os.pathsep) if path]
        for real in (True, False) if folders else ():
            measured = stamps.measured_from(self.experiment, stamps.find_root(Path.cwd()), real=real)
            for folder in folders:
                tables = stamps.saved_tables(folder, measured)
                if tables is not None:
                    return folder.resolve(), tables
        return None

    def keep(self, tables: Tables) -> Tables:
        """Save tables as ``<name>.csv`` and return them as they were saved, in the order in which a stamp has them."""
        stamps.write_tables(tables, self.results)
        files = sorted(self.results / f"{name}.csv" for name in tables)
        self._tables = {path.stem: stamps.read_table(path) for path in files}
        return self._tables

    def opening(self) -> Markdown:
        """The question, and in a few lines the answer: what the chapter's `answer` says."""
        answer = importlib.import_module(f"{self.package}.show").answer
        lines = [" ".join(line.split()) for line in answer(self._tables)]
        count = word_count(" ".join(lines))
        if len(lines) > MOST_LINES:
            raise ValueError(f"a page must open with at most {MOST_LINES} lines, got {len(lines)}")
        if count > LONGEST_ANSWER:
            raise ValueError(f"a page must open with at most {LONGEST_ANSWER} words, got {count}: {lines!r}")
        listed = "\n".join(f"- {line}" for line in lines)
        return Markdown(f"````{{div}} question\n{question(self.package)}\n````\n\n{listed}")

    def relate(
        self, value: float, table: str, column: str, *, error: float = 0.0, spread: str = "", **row: Any
    ) -> Markdown:
        """How a number of *One run, by hand* stands to the chapter's table: `prose.relation`."""
        return Markdown(prose.relation(value, self._tables, table, column, row, error=error, spread=spread))

    def source(self, *names: str) -> HTML:
        """The functions on which the chapter's tables rest, as they stand in the code, folded.

        Each is named by its module in the chapter's package and its own name, such as ``experiment.trial``.
        """
        shown = []
        for name in names:
            module, _, own = name.partition(".")
            try:
                shown.append(cards.listing(getattr(importlib.import_module(f"{self.package}.{module}"), own)))
            except (ImportError, AttributeError):
                raise ValueError(f"source must name a function of {self.package}, got {name!r}") from None
        return HTML("\n".join(shown))

    def leading(self, *names: str) -> Markdown:
        """The cards that matter most, short, and the chapter's other claims, a line each; all lead to the full cards.

        At most four claims lead, by the part of their id after the paper.
        """
        if len(names) > MOST_LEADING:
            raise ValueError(f"at most {MOST_LEADING} cards can lead, got {len(names)}")
        first, own = self._named(names), self._own()
        found = self.find([claim.id for claim in own])
        rest = [claim for claim in own if claim not in first]
        return Markdown("\n\n".join(text for text in (cards.leading(first, found), cards.others(rest, found)) if text))

    def show(self, name: str, drawn: Any, caption: str = "", alt: str = "") -> Picture:
        """Save a figure as ``<name>.svg`` and ``<name>.narrow.svg`` beside the tables; return it for the page.

        ``drawn`` is a `Plate`, or what matplotlib or seaborn drew in the notebook: a figure, axes or a grid of them,
        with its caption. The narrow form has the same panels, stacked.
        """
        plate = drawn if isinstance(drawn, Plate) else plates.drawn(drawn.figure, caption, alt)
        picture = plates.save(plate, self.results, name)
        return Picture(
            picture, {"name": cards.figure_label(self.name, name), "caption": plate.caption, "alt": plate.alt}
        )

    def judge(self, *names: str) -> Statements:
        """Judge these claims of the chapter, or all of them; save the findings, return the verdicts alone.

        Claims are named by the part of their id after the paper, such as ``theorem-1.1-low``.
        """
        chosen = self._named(names) or self._own()
        found = self.find([claim.id for claim in chosen])
        self.results.mkdir(parents=True, exist_ok=True)
        claims.record(self.results, found)
        return Statements({claim: found[claim.id].verdict for claim in chosen}, "" if names else self.name)

    def find(self, names: list[str]) -> dict[str, Finding]:
        """The findings on these claims, by id; a ``ValueError`` where one has no judge."""
        judges = judges_of(self.package)
        missing = [name for name in names if name not in judges]
        if missing:
            raise ValueError(f"each claim of {self.name} must have a judge in {self.package}, got none for {missing}")
        return {name: judged(self._register[name], judges[name], self._tables) for name in names}

    def closing(self) -> Markdown:
        """What a reader can take away: tables, what their columns mean, findings, parameters, how to run it again."""
        folder = self.name.split("/")[-1]
        files = [*(f"{name}.csv" for name in self._tables), claims.VERDICTS_FILE]
        present = [name for name in files if (self.results / name).is_file()]
        links = ", ".join(f"{{download}}`{name} <{folder}/{name}>`" for name in present)
        took = stamps.time_in_words(self._book, self.name)
        time = f" (about {took} of one core)" if took else ""
        command, example = f"make chapter NAME={self.name}", ""
        declared = {declaration.name for declaration in declarations(type(self.experiment))}
        for name in [name for name in ("trials", "seed") if name in declared][:1]:  # admissible in every chapter
            other = 2 * getattr(self.experiment, name)
            example = f', for instance `{command} P="-p {name} {other}"`'
        again = (
            f"*Run it again*{time}: `{command}`; with other parameters by `P`{example}. "
            f"`{command} P=--help` lists them."
        )
        columns = {name: list(table.columns) for name, table in self._tables.items()}
        meanings = schema_markdown(find_schema(self._book), self.name, columns)
        settings = cards.parameters(rows(type(self.experiment)), self.experiment)
        return Markdown("\n\n".join(filter(None, (f"*Data.* {links}", meanings, settings, again))))

    def _named(self, names: Iterable[str]) -> list[claims.Claim]:
        own = {claim.id.partition("/")[2]: claim for claim in self._own()}
        for name in names:
            if name not in own:
                raise ValueError(f"claim must be one of {', '.join(own)}, got {name!r}")
        return [own[name] for name in names]

    def _own(self) -> list[claims.Claim]:
        return [claim for claim in self._register.values() if claim.chapter == self.name and not claim.pending]


def _workers(own: Any) -> int:
    given = os.environ.get("COSTOFPRIVACY_WORKERS")
    try:
        return int(given or own)
    except ValueError:
        raise ValueError(f"COSTOFPRIVACY_WORKERS must be a whole number, -1 or at least 1, got {given!r}") from None


def _places(name: str) -> tuple[Path, Path | None]:
    """Where the results of a chapter go, and, in a live session in the project, where the committed ones lie."""
    given, here = os.environ.get("COSTOFPRIVACY_RESULTS"), Path.cwd().resolve()
    if given:
        return Path(given), None
    root = stamps.find_root(here)
    if (root / "_toc.yml").is_file() and not here.is_relative_to(root / "_build"):
        return root / "_build" / "live" / name, root / "book" / name
    return here / name.split("/")[-1], None
