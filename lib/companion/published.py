"""What the book found, in pandas: tables and verdicts of each chapter, by name.

They are read from ``book/``, as they are committed; the published pages offer the same files for download.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

import pandas as pd

from companion import CHAPTERS
from companion.judging.claims import PROJECT, VERDICTS_FILE, read_findings
from companion.judging.findings import Finding
from companion.judging.tables import find_schema
from companion.running.stamps import read_table

EXPERIMENTS = Path(__file__).parents[1] / CHAPTERS


@dataclass(frozen=True)
class Results(Mapping[str, pd.DataFrame]):
    """The results of a chapter: its tables by name, ``results["figure-1"]``, and what was found from them."""

    name: str
    folder: Path

    @property
    def findings(self) -> dict[str, Finding]:
        """The findings by claim: verdict, numbers, correction, what would change it."""
        return read_findings(self.folder)

    @property
    def verdicts(self) -> pd.DataFrame:
        """One row a claim: ``claim``, ``verdict``, ``consequence``, ``headline``."""
        rows = [(claim, str(f.verdict), str(f.consequence), f.headline) for claim, f in self.findings.items()]
        return pd.DataFrame(rows, columns=["claim", "verdict", "consequence", "headline"])

    def columns(self, table: str) -> pd.DataFrame:
        """What the columns of a table mean, one row a column: ``name``, ``unit``, ``meaning``.

        >>> told = results("noisyhead/low-dimensional").columns("figure-1").set_index("name")
        >>> print(told.loc["N", "unit"], "|", told.loc["N", "meaning"])
        prompts | Number of training prompts $N$.
        """
        return find_schema(self.folder).frame(self.name, table, self[table].columns)

    def row(self, table: str) -> str:
        """What a row of a table is, in a sentence.

        >>> results("noisyhead/low-dimensional").row("figure-1")
        'One row for each setting, size, budget and method: Figure 1.'
        """
        self._check(table)
        return find_schema(self.folder).row(self.name, table)

    def __getitem__(self, table: str) -> pd.DataFrame:
        self._check(table)
        return read_table(self.folder / f"{table}.csv")

    def _check(self, table: str) -> None:
        if table not in set(self):
            raise KeyError(f"table must be one of {', '.join(self)}, got {table!r}")

    def __iter__(self) -> Iterator[str]:
        return (path.stem for path in sorted(self.folder.glob("*.csv")))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __repr__(self) -> str:
        return f"Results({self.name!r}: tables {', '.join(self) or 'none'}; {len(self.findings)} findings)"


def book() -> Path:
    """The folder of the results; a ``FileNotFoundError`` says that this is no clone of the project."""
    if (PROJECT / "claims.yml").is_file():
        return PROJECT
    raise FileNotFoundError(f"no results in {PROJECT}; run this in a clone of the project")


def chapters() -> tuple[str, ...]:
    """The names of the chapters that have results, in alphabetical order."""
    root = book()
    folders = {path.parent for pattern in ("*.csv", VERDICTS_FILE) for path in root.rglob(pattern)}
    names = sorted(folder.relative_to(root).as_posix() for folder in folders)
    return tuple(name for name in names if (EXPERIMENTS / name.replace("-", "_")).is_dir())


def results(name: str) -> Results:
    """The results of a chapter as the book publishes them, at the papers' scale: its tables by name, with ``verdicts``.

    A ``ValueError`` says that the book has no chapter of this name; :func:`chapters` lists them.
    """
    known = chapters()
    if name not in known:
        close = get_close_matches(name, known, n=1) if isinstance(name, str) else ()
        hint = f" (did you mean {close[0]!r}?)" if close else ""
        raise ValueError(f"name must be one of {', '.join(known)}, got {name!r}{hint}")
    return Results(name, book() / name)
