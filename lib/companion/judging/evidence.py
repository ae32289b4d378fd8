"""What a finding rests on, for a reader who wants to see it: its tables, the figures drawn from them, its judge.

A cell that shows a figure names the tables that it is drawn from, and they are read from there.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from companion.judging.claims import Claim
from companion.judging.findings import Finding

# A figure that a cell shows, with the code from there to the next one or to the cell's end; and a table named in it.
SHOWN = re.compile(r'\.show\(\s*"(?P<figure>[^"]+)",(?P<drawing>.*?)(?=\.show\(|\Z)', re.DOTALL)
TABLE = re.compile(r'\btables\["([^"]+)"\]')


@dataclass(frozen=True)
class Figure:
    """A figure of a page: its label there, and its title."""

    label: str
    title: str


@dataclass(frozen=True)
class Evidence:
    """What a finding rests on.

    Args:
        folder: the folder of the chapter's tables, from its page. tables: those that the finding cites, by name.
        figures: those drawn from these tables. judge: the judge, as `judge_name` gives it; empty where there is none.
    """

    folder: str
    tables: tuple[str, ...]
    figures: tuple[Figure, ...] = ()
    judge: str = ""


def gather(
    claim: Claim,
    finding: Finding,
    judge: Callable[..., Any] | None = None,
    drawn: Mapping[str, Iterable[str]] | None = None,
    titles: Mapping[str, str] | None = None,
) -> Evidence:
    """What a finding rests on.

    Args:
        claim: what was judged. finding: what was found. judge: the function that found it.
        drawn: the tables behind each figure of the chapter, by the figure's name (`drawn_from`).
        titles: the titles of these figures; a figure without one goes by its name.
    """
    tables = tuple(dict.fromkeys(number.table for number in finding.numbers if number.table))
    figures = [name for name, sources in (drawn or {}).items() if set(sources) & set(tables)]
    return Evidence(
        claim.chapter.split("/")[-1],
        tables,
        tuple(Figure(figure_label(claim.chapter, name), (titles or {}).get(name) or name) for name in figures),
        judge_name(judge) if judge else "",
    )


def figure_label(chapter: str, name: str) -> str:
    """The label of a chapter's figure on its page."""
    return f"{chapter}/{name}".replace("/", "-")


def title_of(caption: str) -> str:
    """The title that a caption opens with, in bold; empty where it has none."""
    found = re.match(r"\*\*(.+?)\.?\*\*", caption)
    return found[1] if found else ""


def judge_name(judge: Callable[..., Any]) -> str:
    """A judge's module and name, as the role ``judge`` of a page takes them."""
    return f"{judge.__module__}:{judge.__name__}"


def drawn_from(sources: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """The tables that each figure of a chapter is drawn from, by the figure's name.

    Args:
        sources: the code of the chapter's cells, in their order.

    Returns:
        For each ``chapter.show("name", drawing)`` the tables that ``drawing`` names, each as ``tables["name"]``.
    """
    shown = (found for source in sources for found in SHOWN.finditer(source))
    return {found["figure"]: tuple(dict.fromkeys(TABLE.findall(found["drawing"]))) for found in shown}
