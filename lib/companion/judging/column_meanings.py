"""What the columns of the book's tables mean: ``columns.yml`` beside the register of claims, read, asked and shown."""

import html
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from companion.judging.claims import find_register

FILE = "columns.yml"
HEADERS = ("name", "unit", "meaning")
Tables = Mapping[str, Sequence[str]]  # the columns of each table of a chapter
Place = tuple[str, str, str]  # chapter, table and column; the parts of a wider line are empty


@dataclass(frozen=True)
class Entry:
    """What a column holds.

    Args:
        meaning: a sentence for a reader who has only the file. unit: of its values; empty for a pure number or a name.
    """

    meaning: str
    unit: str = ""


@dataclass(frozen=True)
class Table:
    """A table: what a row is, in a sentence, and the columns that mean something of their own here."""

    row: str
    columns: Mapping[str, Entry] = field(default_factory=dict)


@dataclass(frozen=True)
class Part:
    """A chapter: the columns that mean something of their own here, and its tables."""

    columns: Mapping[str, Entry] = field(default_factory=dict)
    tables: Mapping[str, Table] = field(default_factory=dict)


@dataclass(frozen=True)
class Dictionary:
    """All columns of the book.

    Args:
        columns: what a name means wherever nothing else is said. chapters: what is particular, by chapter.
    """

    columns: Mapping[str, Entry] = field(default_factory=dict)
    chapters: Mapping[str, Part] = field(default_factory=dict)

    def entry(self, chapter: str, table: str, column: str) -> Entry:
        """What a column means in a table: the table's own line, else its chapter's, else the general one.

        Raises:
            KeyError: if the column has no line.
        """
        for columns in _levels(self, chapter, table):
            if column in columns:
                return columns[column]
        raise KeyError(f"a column must have a line in {FILE}, got none for {column!r} of {chapter}/{table}.csv")

    def row(self, chapter: str, table: str) -> str:
        """What a row of a table is; empty for a table that the dictionary does not know."""
        found = self.chapters.get(chapter, Part()).tables.get(table)
        return found.row if found else ""


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
    return Dictionary(
        _entries(content.get("columns")),
        {name: _part(part or {}) for name, part in (content.get("chapters") or {}).items()},
    )


def _part(content: Mapping[str, Any]) -> Part:
    tables = (content.get("tables") or {}).items()
    return Part(
        _entries(content.get("columns")),
        {name: Table(" ".join(table["row"].split()), _entries(table.get("columns"))) for name, table in tables},
    )


def _entries(lines: Mapping[str, Any] | None) -> dict[str, Entry]:
    return {name: Entry(line) if isinstance(line, str) else Entry(**line) for name, line in (lines or {}).items()}


def _levels(dictionary: Dictionary, chapter: str, table: str) -> Iterator[Mapping[str, Entry]]:
    """The lines that may say what a column of a table is, the most particular first."""
    part = dictionary.chapters.get(chapter, Part())
    yield part.tables.get(table, Table("")).columns
    yield part.columns
    yield dictionary.columns


# ------------------------------------------------------------------------------------------------------ as data


def frame(dictionary: Dictionary, chapter: str, table: str, columns: Iterable[str]) -> pd.DataFrame:
    """Some columns of a table as a data frame: ``name``, ``unit``, ``meaning``.

    Raises:
        KeyError: if a column has no line.
    """
    found = ((name, dictionary.entry(chapter, table, name)) for name in columns)
    return pd.DataFrame([(name, entry.unit, entry.meaning) for name, entry in found], columns=list(HEADERS))


def committed(book: Path) -> dict[str, dict[str, list[str]]]:
    """The columns of every table below a folder, by chapter and table."""
    found: dict[str, dict[str, list[str]]] = {}
    for path in sorted(book.rglob("*.csv")):
        columns = list(pd.read_csv(path, nrows=0).columns)
        found.setdefault(path.parent.relative_to(book).as_posix(), {})[path.stem] = columns
    return found


def missing(dictionary: Dictionary, book: Mapping[str, Tables]) -> list[Place]:
    """The columns that have no line, and, with an empty column, the tables whose rows have no sentence."""
    return [
        (chapter, table, column)
        for chapter, tables in book.items()
        for table, columns in tables.items()
        for column in ("", *columns)
        if not (_level(dictionary, chapter, table, column) if column else dictionary.row(chapter, table))
    ]


def unused(dictionary: Dictionary, book: Mapping[str, Tables]) -> list[Place]:
    """The lines that no column needs, by where they stand."""
    used = {
        _level(dictionary, chapter, table, column)
        for chapter, tables in book.items()
        for table, columns in tables.items()
        for column in columns
    }
    known = {(chapter, table, "") for chapter, tables in book.items() for table in tables}
    return [place for place in _places(dictionary) if place not in used | known]


def repeated(dictionary: Dictionary) -> list[Place]:
    """The lines that say again what the wider line says that would stand in their place."""
    found = []
    for chapter, table, column in _places(dictionary):
        if chapter and column:
            levels = list(_levels(dictionary, chapter, table))[0 if table else 1 :]
            wider = [level[column] for level in levels[1:] if column in level]
            if wider and wider[0] == levels[0][column]:
                found.append((chapter, table, column))
    return found


def _level(dictionary: Dictionary, chapter: str, table: str, column: str) -> Place | None:
    """Where the line stands that says what a column is; None where there is none."""
    places = ((chapter, table, column), (chapter, "", column), ("", "", column))
    levels = zip(places, _levels(dictionary, chapter, table), strict=True)
    return next((place for place, columns in levels if column in columns), None)


def _places(dictionary: Dictionary) -> Iterator[Place]:
    """Where each line stands; a table's sentence has an empty column."""
    yield from (("", "", column) for column in dictionary.columns)
    for chapter, part in dictionary.chapters.items():
        yield from ((chapter, "", column) for column in part.columns)
        for name, table in part.tables.items():
            yield (chapter, name, "")
            yield from ((chapter, name, column) for column in table.columns)


# ----------------------------------------------------------------------------------------------------- on a page


def markdown(dictionary: Dictionary, chapter: str, tables: Tables) -> str:
    """A folded list of what the columns of a chapter's tables mean; empty where nothing is known of them.

    A column that means the same in all tables stands there once; a table repeats its name alone.

    Args:
        dictionary: all columns. chapter: the chapter's name. tables: the columns of its tables, in the page's order.
    """
    known = {table: _known(dictionary, chapter, table, columns) for table, columns in tables.items()}
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
        about = " ".join(
            text for text in (f"<strong><code>{table}.csv</code></strong>.", dictionary.row(chapter, table)) if text
        )
        own = {name: entry for name, entry in known[table].items() if name not in shared}
        parts += [f"{about} Columns: {names}.", _listed(own)]
    return "\n\n".join(part for part in (*parts, "````") if part)


def _known(dictionary: Dictionary, chapter: str, table: str, columns: Iterable[str]) -> dict[str, Entry]:
    """The columns that have a line: a run with other parameters may have more of them."""
    named = (name for name in columns if _level(dictionary, chapter, table, name))
    return {name: dictionary.entry(chapter, table, name) for name in named}


def _listed(entries: Mapping[str, Entry]) -> str:
    """Columns as a definition list, in HTML: it is half as long as what Sphinx makes of Markdown."""
    units = {name: f" ({html.escape(entry.unit)})" if entry.unit else "" for name, entry in entries.items()}
    lines = [
        f"<dt><code>{html.escape(name)}</code>{units[name]}</dt><dd>{html.escape(entry.meaning, quote=False)}</dd>"
        for name, entry in entries.items()
    ]
    return "\n".join(['<dl class="columns tex2jax_process">', *lines, "</dl>"]) if lines else ""
