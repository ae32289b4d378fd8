"""Parameters of an experiment, each declared once.

An experiment is a frozen dataclass that inherits from `Parameters`. A field says the default and the range; the bare
string after it, the meaning. Everything else follows from there: validation, the class's docstring, the table on the
page, the help of the command line, and whether the parameters are those of the published numbers::

    class Experiment(Parameters):
        \"\"\"Figure 1.\"\"\"

        N: tuple[int, ...] = many(at_least(4), 1000, 2000)
        \"\"\"Training prompts; L = ⌊√N⌋.\"\"\"
        delta: float = parameter(PROBABILITY, 1e-5, published=True)

A field without a string of its own takes its meaning from the book's table of symbols.
Both are words: rewriting them measures nothing anew.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from itertools import pairwise
from typing import Any, TypeVar, dataclass_transform

from companion import checks, of_chapters
from companion.checks import Range

T = TypeVar("T")
_DECLARED = "declared"
MOST_VALUES = 1000  # in a list that is a parameter


@dataclass(frozen=True)
class Parameter:
    """What is declared of one parameter; see `parameter` and `many`."""

    name: str
    range: Range
    default: Any
    many: bool
    ascending: bool
    published: bool

    def check(self, value: Any) -> Any:
        """``value`` in its type; ``ValueError`` where it is out of range."""
        if not self.many:
            return self.range(self.name, value)
        values = checks.each(self.range, self.name, value)
        if len(values) > MOST_VALUES and not checks.anyway():
            most = f"at most {MOST_VALUES} values, got {len(values)} (ANYWAY=1 goes beyond)"
            raise ValueError(f"{self.name} must be a list of {most}")
        return tuple(sorted(values)) if self.ascending else values


def parameter(range: Range, default: Any, *, published: bool = False) -> Any:
    """Declare a parameter that holds one value in a range, with the paper's own value.

    ``published``: the published numbers belong to this value alone.
    """
    return field(default=default, metadata={_DECLARED: (range, False, False, published)})


def many(range: Range, *default: Any, ascending: bool = False, published: bool = False) -> Any:
    """Declare a parameter that holds a list of distinct values in a range, as a tuple, with the paper's own list.

    ``ascending``: it is sorted. ``published``: the published numbers belong to this list alone.
    """
    return field(default=default, metadata={_DECLARED: (range, True, ascending, published)})


@dataclass_transform(frozen_default=True, field_specifiers=(parameter, many))
class Parameters:
    """The base of every experiment: a frozen dataclass whose fields are declared with `parameter` and `many`.

    Its creation is refused, by name, for a value that is out of its range.
    """

    def __init_subclass__(cls) -> None:
        dataclass(frozen=True)(cls)
        cls.__doc__ = _docstring(cls)

    def __post_init__(self) -> None:
        for declared in declarations(type(self)):
            object.__setattr__(self, declared.name, declared.check(getattr(self, declared.name)))
        self.check()

    def check(self) -> None:
        """Refuse combinations of values that are not admissible together."""

    @property
    def is_published(self) -> bool:
        """Whether all that the published numbers fix is as they have it."""
        return all(getattr(self, d.name) == d.default for d in declarations(type(self)) if d.published)

    def shared(self, bundle: type[T], **own: Any) -> T:
        """The dataclass ``bundle`` with those of its fields that are parameters here, and with ``own``."""
        mine = {d.name for d in declarations(type(self))}
        return bundle(**{f.name: getattr(self, f.name) for f in fields(bundle) if f.name in mine} | own)  # type: ignore[arg-type]


def declarations(experiment: type) -> tuple[Parameter, ...]:
    """The declared parameters of an experiment, in their order."""
    made = []
    for known in fields(experiment):
        if _DECLARED not in known.metadata or known.default is MISSING:
            raise TypeError(f"{experiment.__name__}.{known.name} must be declared with parameter or many")
        allowed, several, ascending, published = known.metadata[_DECLARED]
        made.append(Parameter(known.name, allowed, known.default, several, ascending, published))
    return tuple(made)


def meanings(experiment: type) -> dict[str, str]:
    """The words that stand after each field in the experiment's source, on one line, by name."""
    found: dict[str, str] = {}
    for owner in reversed(experiment.__mro__):
        found |= _own_meanings(owner) if issubclass(owner, Parameters) and owner is not Parameters else {}
    return found


def _own_meanings(owner: type) -> Mapping[str, str]:
    try:
        source = inspect.getsource(owner)
    except (OSError, TypeError):  # typed at a prompt: there is no file to read
        return {}
    statements = next(node.body for node in ast.parse(textwrap.dedent(source)).body if isinstance(node, ast.ClassDef))
    found = {}
    for statement, following in pairwise(statements):
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name) and _text(following):
            found[statement.target.id] = " ".join(_text(following).split())
    return found


def _text(statement: ast.stmt) -> str:
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
        return str(statement.value.value) if isinstance(statement.value.value, str) else ""
    return ""


def _docstring(experiment: type) -> str:
    lines = [f"    {row.name}: {row.meaning} Must be {row.range}." for row in rows(experiment)]
    return "\n".join([inspect.cleandoc(experiment.__doc__ or ""), "", "Args:", *lines, ""])


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
    """Every parameter of an experiment, described; its own meaning comes before that in the book's table of symbols."""
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
