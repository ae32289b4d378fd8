"""Findings of a chapter that judges no claim: sentences without numbers, computed, the same at every fidelity."""

import html
from collections.abc import Callable
from dataclasses import dataclass

from companion.judging.tables import Tables

Check = tuple[Callable[[Tables], bool], str, str]
"""What is asked of the tables, the sentence if it is so, and the sentence if it is not."""


@dataclass(frozen=True)
class Sentences:
    """Sentences, as a page shows them and nbval compares them."""

    sentences: tuple[str, ...]

    def __repr__(self) -> str:
        return "\n".join(self.sentences)

    def _repr_html_(self) -> str:
        return "<ul>" + "".join(f"<li>{html.escape(sentence)}</li>" for sentence in self.sentences) + "</ul>"


def checked(tables: Tables, checks: tuple[Check, ...]) -> Sentences:
    """The sentence of each check that fits the tables."""
    return Sentences(tuple(yes if holds(tables) else no for holds, yes, no in checks))
