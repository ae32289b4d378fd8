"""The schema of the book's tables, what their columns mean: ``columns.yml`` beside the claims, read and shown."""

import html
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import pandas as pd
import yaml

from companion.judging.claims import find_register

FILE = "columns.yml"
Place = tuple[str, str, str]  # chapter, table and column; the parts of a wider line are empty


@dataclass(frozen=True)
class Entry:
    """What a column holds, in a sentence for a reader who has only the file; a pure number or a name has no unit."""

    meaning: str
    unit: str = ""


@dataclass(frozen=True)
class Dictionary:
    """All columns of the book: what each means, by place; and what a row of a table is, by chapter and table."""

    lines: Mapping[Place, Entry] = field(default_factory=dict)
    rows: Mapping[tuple[str, str], str] = field(default_factory=dict)

    def place(self, chapter: str, table: str, column: str) -> Place | None:
        """Where the line stands that says what a column is, the most particular one; None where there is none."""
        places = ((chapter, table, column), (chapter, "", column), ("", "", column))
        return next((place for place in places if place in self.lines), None)

    def entry(self, chapter: str, table: str, column: str) -> Entry:
        """What a column means in a table: the table's own line, else its chapter's, else the general one."""
        place = self.place(chapter, table, column)
        if place is None:
            raise KeyError(f"a column must have a line in {FILE}, got none for {column!r} of {chapter}/{table}.csv")
        return self.lines[place]

    def row(self, chapter: str, table: str) -> str:
        """What a row of a table is; empty for a table that the dictionary does not know."""
        return self.rows.get((chapter, table), "")

    def frame(self, chapter: str, table: str, columns: Iterable[str]) -> pd.DataFrame:
        """Some columns of a table as a data frame: ``name``, ``unit``, ``meaning``; a ``KeyError`` as of `entry`."""
        found = ((name, self.entry(chapter, table, name)) for name in columns)
        rows = [(name, entry.unit, entry.meaning) for name, entry in found]
        return pd.DataFrame(rows, columns=["name", "unit", "meaning"])

    def of_chapter(self, chapter: str) -> list[object]:
        """All that may be said of the columns of a chapter's tables, as plain data."""
        lines = [(place, entry.unit, entry.meaning) for place, entry in self.lines.items() if place[0] in ("", chapter)]
        return [lines, [(table, row) for (own, table), row in self.rows.items() if own == chapter]]


def find(start: Path) -> Dictionary:
    """The dictionary in the folder of the register around ``start``, see `claims.find_register`; else an empty one."""
    path = find_register(start).parent / FILE
    return read(path.read_text("utf-8")) if path.is_file() else Dictionary()


@lru_cache(maxsize=4)
def read(text: str) -> Dictionary:
    """The dictionary that a text in YAML holds.

    >>> found = read("columns: {T: {unit: steps, meaning: Number of steps.}, a: Width.}")
    >>> found.entry("part/one", "figure-1", "T")
    Entry(meaning='Number of steps.', unit='steps')
    """
    content = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)) or {}
    lines: dict[Place, Entry] = {}
    rows: dict[tuple[str, str], str] = {}
    parts = [("", "", content)]
    for chapter, own in (content.get("chapters") or {}).items():
        parts.append((chapter, "", own or {}))
        for table, told in ((own or {}).get("tables") or {}).items():
            parts.append((chapter, table, told))
            rows[chapter, table] = " ".join(told["row"].split())
    for chapter, table, part in parts:
        for column, line in (part.get("columns") or {}).items():
            lines[chapter, table, column] = Entry(line) if isinstance(line, str) else Entry(**line)
    return Dictionary(lines, rows)


def markdown(dictionary: Dictionary, chapter: str, tables: Mapping[str, Sequence[str]]) -> str:
    """A folded list of what the columns of a chapter's tables mean; empty where nothing is known of them.

    A column that means the same in all tables stands there once; a table repeats its name alone. A run with other
    parameters may have columns without a line.
    """
    known = {
        table: {
            name: dictionary.entry(chapter, table, name) for name in columns if dictionary.place(chapter, table, name)
        }
        for table, columns in tables.items()
    }
    if not any(known.values()):
        return ""
    meanings: dict[str, set[Entry]] = {}
    for entries in known.values():
        for name, entry in entries.items():
            meanings.setdefault(name, set()).add(entry)
    shared = {name: entry for name, (entry, *others) in meanings.items() if not others}
    parts = [f"````{{dropdown}} What the columns mean\n{_listed(shared)}"]
    for table, columns in tables.items():
        names = f"<code>{html.escape(', '.join(columns))}</code>"
        about = " ".join(filter(None, (f"<strong><code>{table}.csv</code></strong>.", dictionary.row(chapter, table))))
        own = {name: entry for name, entry in known[table].items() if name not in shared}
        parts += [f"{about} Columns: {names}.", _listed(own)]
    return "\n\n".join(part for part in (*parts, "````") if part)


def _listed(entries: Mapping[str, Entry]) -> str:
    """Columns as a definition list, in HTML: it is half as long as what Sphinx makes of Markdown."""
    units = {name: f" ({html.escape(entry.unit)})" if entry.unit else "" for name, entry in entries.items()}
    lines = [
        f"<dt><code>{html.escape(name)}</code>{units[name]}</dt><dd>{html.escape(entry.meaning, quote=False)}</dd>"
        for name, entry in entries.items()
    ]
    return "\n".join(['<dl class="columns tex2jax_process">', *lines, "</dl>"]) if lines else ""
