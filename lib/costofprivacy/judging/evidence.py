"""What a finding rests on, for a reader who wants to see it: its tables, the figures drawn from them, its judge.

Which figures are drawn from which tables stands in a chapter's own code, and is read from there.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from costofprivacy.judging.claims import Claim
from costofprivacy.judging.findings import Finding

TABLES = "tables"  # the name under which a chapter's code holds its tables
SHOW = "show"  # the method of a chapter that shows a figure


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


def judge_link(name: str) -> str:
    """Where a judge's source stands among the book's pages: Sphinx's ``viewcode`` puts it there.

    Args:
        name: what `judge_name` gives.
    """
    module, _, function = name.partition(":")
    return f"_modules/{module.replace('.', '/')}.html#{function}"


def drawn_from(sources: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """The tables that each figure of a chapter is drawn from, by the figure's name, as its code says.

    Args:
        sources: the code of the chapter's cells, in their order.

    Returns:
        For each call ``chapter.show(name, drawing)`` the tables that ``drawing`` is made of, by way of variables too.
    """
    held: dict[str, tuple[str, ...]] = {}
    found: dict[str, tuple[str, ...]] = {}
    for statement in (node for source in sources for node in ast.parse(source).body):
        for target, value in _bindings(statement):
            held[target] = _tables(value, held)
        for call in (node for node in ast.walk(statement) if _shows(node)):
            found[call.args[0].value] = _tables(call.args[1], held)  # type: ignore[attr-defined]
    return found


def _bindings(statement: ast.stmt) -> list[tuple[str, ast.expr]]:
    """The names that an assignment binds, with what is bound to each."""
    if not isinstance(statement, ast.Assign):
        return []
    pairs: list[tuple[ast.expr, ast.expr]] = []
    for target in statement.targets:
        if isinstance(target, ast.Tuple) and isinstance(statement.value, ast.Tuple):
            pairs += zip(target.elts, statement.value.elts)
        else:
            pairs += [(name, statement.value) for name in getattr(target, "elts", [target])]
    return [(name.id, value) for name, value in pairs if isinstance(name, ast.Name)]


def _shows(node: ast.AST) -> bool:
    """Whether a node is a call ``….show("name", drawing)``."""
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == SHOW
        and len(node.args) == 2
        and isinstance(node.args[0], ast.Constant)
    )


def _is_table(node: ast.AST) -> bool:
    """Whether a node is ``tables["name"]``."""
    return (
        isinstance(node, ast.Subscript)
        and isinstance(node.value, ast.Name)
        and node.value.id == TABLES
        and isinstance(node.slice, ast.Constant)
    )


def _tables(expression: ast.expr, held: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """The tables that an expression is made of."""
    found: list[str] = []
    for node in ast.walk(expression):
        if isinstance(node, ast.Name):
            found += held.get(node.id, ())
        elif _is_table(node):
            found.append(node.slice.value)  # type: ignore[attr-defined]
    return tuple(dict.fromkeys(found))
