"""The parameters of an experiment, described for a reader: their symbols and meanings, from the book's own table."""

from dataclasses import dataclass
from typing import Any

from companion import of_chapters
from companion.declaration import declarations, meanings


@dataclass(frozen=True)
class Row:
    """One parameter of a chapter, described for a reader."""

    name: str
    symbol: str
    meaning: str
    unit: str
    range: str
    default: Any


def rows(experiment: type) -> list[Row]:
    """Every parameter of an experiment, described; its own meaning comes before that in the table of symbols."""
    own, table, found = meanings(experiment), of_chapters("symbols").BY_NAME, []
    for declared in declarations(experiment):
        known = table.get(declared.name)
        meaning = own.get(declared.name, known.meaning if known else "")
        if not meaning:
            raise TypeError(f"{experiment.__name__}.{declared.name} needs a meaning: a string after its declaration")
        words = declared.range.description
        allowed = f"a list, each {words}" if declared.many else words
        symbol, unit = (known.tex, known.unit) if known else ("", "")
        found.append(Row(declared.name, symbol, meaning, unit, allowed, declared.default))
    return found
