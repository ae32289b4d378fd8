"""Tables by name, the rows and numbers that are asked of them, and their schema: what each column means.

The schema of the book's tables is ``columns.yml`` beside the claims.
"""

import html
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from companion.judging.claims import find_register, load_yaml

Tables = Mapping[str, pd.DataFrame]


def pick(table: pd.DataFrame, **where: Any) -> pd.Series:
    """The one row of a table in which each named column has the given value; else a ``LookupError``."""
    rows = select(table, **where)
    if len(rows) != 1:
        raise LookupError(f"one row must have {describe(where)}, got {len(rows)}")
    return rows.iloc[0]


def select(table: pd.DataFrame, **where: Any) -> pd.DataFrame:
    """The rows of a table in which each named column has the given value; NaN is equal to NaN."""
    for column, value in where.items():
        missing = isinstance(value, float) and math.isnan(value)
        table = table[table[column].isna() if missing else table[column] == value]
    return table


def nearest(values: pd.Series, wanted: float) -> float:
    """The value of a column that is nearest on a logarithmic scale."""
    return values.iloc[int(np.abs(np.log(values.to_numpy(dtype=float) / wanted)).argmin())]


def describe(where: Mapping[str, Any]) -> str:
    """Values by column, in words."""
    return ", ".join(
        f"{column} = {value:g}" if isinstance(value, float) else f"{column} = {value}"
        for column, value in where.items()
    )


SCHEMA_FILE = "columns.yml"
Place = tuple[str, str, str]  # chapter, table and column; the parts of a wider line are empty


@dataclass(frozen=True)
class Column:
    """What a column holds, in a sentence for a reader who has only the file; a pure number or a name has no unit."""

    meaning: str
    unit: str = ""


@dataclass(frozen=True)
class Schema:
    """All columns of the book: what each means, by place; and what a row of a table is, by chapter and table."""

    lines: Mapping[Place, Column] = field(default_factory=dict)
    rows: Mapping[tuple[str, str], str] = field(default_factory=dict)

    def place(self, chapter: str, table: str, column: str) -> Place | None:
        """Where the line stands that says what a column is, the most particular one; None where there is none."""
        places = ((chapter, table, column), (chapter, "", column), ("", "", column))
        return next((place for place in places if place in self.lines), None)

    def entry(self, chapter: str, table: str, column: str) -> Column:
        """What a column means in a table: the table's own line, else its chapter's, else the general one."""
        place = self.place(chapter, table, column)
        if place is None:
            raise KeyError(
                f"a column must have a line in {SCHEMA_FILE}, got none for {column!r} of {chapter}/{table}.csv"
            )
        return self.lines[place]

    def row(self, chapter: str, table: str) -> str:
        """What a row of a table is; empty for a table that the schema does not know."""
        return self.rows.get((chapter, table), "")

    def of_chapter(self, chapter: str) -> list[object]:
        """All that may be said of the columns of a chapter's tables, as plain data."""
        lines = [(place, entry.unit, entry.meaning) for place, entry in self.lines.items() if place[0] in ("", chapter)]
        return [lines, [(table, row) for (own, table), row in self.rows.items() if own == chapter]]


def find_schema(start: Path) -> Schema:
    """The schema in the folder of the register around ``start``, see `claims.find_register`; else an empty one."""
    path = find_register(start).parent / SCHEMA_FILE
    return read_schema(path.read_text("utf-8")) if path.is_file() else Schema()


@lru_cache(maxsize=4)
def read_schema(text: str) -> Schema:
    """The schema that a text in YAML holds.

    >>> found = read_schema("columns: {T: {unit: steps, meaning: Number of steps.}, a: Width.}")
    >>> found.entry("part/one", "figure-1", "T")
    Column(meaning='Number of steps.', unit='steps')
    """
    content = load_yaml(text)
    lines: dict[Place, Column] = {}
    rows: dict[tuple[str, str], str] = {}
    parts = [("", "", content)]
    for chapter, own in (content.get("chapters") or {}).items():
        parts.append((chapter, "", own or {}))
        for table, lines_of in ((own or {}).get("tables") or {}).items():
            parts.append((chapter, table, lines_of))
            rows[chapter, table] = " ".join(lines_of["row"].split())
    for chapter, table, part in parts:
        for column, line in (part.get("columns") or {}).items():
            lines[chapter, table, column] = Column(line) if isinstance(line, str) else Column(**line)
    return Schema(lines, rows)


def schema_markdown(schema: Schema, chapter: str, tables: Mapping[str, Sequence[str]]) -> str:
    """A folded list of what a chapter's columns mean, those in all tables once; empty where none is known."""
    known = {
        table: {name: schema.entry(chapter, table, name) for name in columns if schema.place(chapter, table, name)}
        for table, columns in tables.items()
    }
    if not any(known.values()):
        return ""
    meanings: dict[str, set[Column]] = {}
    for entries in known.values():
        for name, entry in entries.items():
            meanings.setdefault(name, set()).add(entry)
    shared = {name: entry for name, (entry, *others) in meanings.items() if not others}
    parts = [f"````{{dropdown}} What the columns mean\n{_listed(shared)}"]
    for table, columns in tables.items():
        names = f"<code>{html.escape(', '.join(columns))}</code>"
        about = " ".join(filter(None, (f"<strong><code>{table}.csv</code></strong>.", schema.row(chapter, table))))
        own = {name: entry for name, entry in known[table].items() if name not in shared}
        parts += [f"{about} Columns: {names}.", _listed(own)]
    return "\n\n".join(part for part in (*parts, "````") if part)


def _listed(entries: Mapping[str, Column]) -> str:
    units = {name: f" ({html.escape(entry.unit)})" if entry.unit else "" for name, entry in entries.items()}
    lines = [
        f"<dt><code>{html.escape(name)}</code>{units[name]}</dt><dd>{html.escape(entry.meaning, quote=False)}</dd>"
        for name, entry in entries.items()
    ]
    return "\n".join(['<dl class="columns tex2jax_process">', *lines, "</dl>"]) if lines else ""
