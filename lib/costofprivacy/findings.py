"""What a judge finds: a verdict with its consequence, one plain sentence, and the numbers behind it, as data.

A judge is a pure function of a chapter's tables, marked with the claim that it decides::

    @judges("noisyhead/figure-1")
    def figure_1(tables: Tables) -> Finding: ...

Chapters find their judges by the claim's id: nothing else lists them.
"""

from __future__ import annotations

import importlib
import math
import pkgutil
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import pandas as pd

Tables = Mapping[str, pd.DataFrame]
Judge = Callable[[Tables], "Finding"]

MOST_WORDS = 25
MOST_QUANTITIES = 2
CONSISTENT = 4.0  # standard errors within which two numbers agree, in every judge of the book
_CLAIM = "judges_claim"  # a name that no other object of a module has


class Verdict(StrEnum):
    """What the book finds of a claim; see `MEANING`."""

    HOLDS = "holds"
    CORRECTED = "holds, corrected"
    NARROWER = "holds, narrower"
    FAILS = "fails"
    UNTESTABLE = "untestable"


class Consequence(StrEnum):
    """What the finding changes for a reader of the paper; see `WEIGHT`."""

    NONE = "none"
    NUMBERS = "numbers"
    CONCLUSION = "conclusion"


MEANING = {
    Verdict.HOLDS: "as printed, under the conditions that it states and the paper's standing assumptions, for some "
    "finite value of every hidden constant; what is only a convention (0/0 read as 0) holds",
    Verdict.CORRECTED: "true once a slip is mended: a sign, a factor, an index, a transposition, a constant; the "
    "powers of the sizes stay",
    Verdict.NARROWER: "true under a further condition that it does not state; the finding names the condition, and "
    "what part of the stated regime it excludes",
    Verdict.FAILS: "a counterexample inside the stated conditions, and neither of the two above saves it",
    Verdict.UNTESTABLE: "nothing measurable follows from it; the finding says why",
}
BRIEF = {
    Verdict.HOLDS: "true as printed",
    Verdict.CORRECTED: "true once a slip is mended",
    Verdict.NARROWER: "true under a condition that it does not state",
    Verdict.FAILS: "a counterexample inside its conditions",
    Verdict.UNTESTABLE: "nothing measurable follows",
}
WEIGHT = {
    Consequence.NONE: "nothing that a reader would compute or conclude changes",
    Consequence.NUMBERS: "something that a reader would compute changes",
    Consequence.CONCLUSION: "what the paper concludes from it does not follow, or a guarantee does not hold as stated",
}


@dataclass(frozen=True)
class Number:
    """A number that a verdict rests on.

    Args:
        name: what it is, in a few words. value: its value. error: its standard error; None where it has none.
        against: what it is held against; None where it stands alone.
        table: the chapter's table that it comes from. row: which of its rows, in words.
    """

    name: str
    value: float
    error: float | None = None
    against: float | None = None
    table: str = ""
    row: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", float(self.value))
        for name in ("error", "against"):
            given = getattr(self, name)
            object.__setattr__(self, name, None if given is None else float(given))


@dataclass(frozen=True)
class Finding:
    """A verdict on one claim, computed from a chapter's tables.

    Args:
        verdict: one of the five.
        headline: one plain sentence of at most 25 words and two quantities.
        numbers: what it rests on; only what is untestable may have none.
        consequence: what it changes; nothing for a claim that holds.
        correction: what should stand there, or under which condition it is true; empty where nothing is to be mended.
        would_change: what would change the verdict.

    Raises:
        ValueError: if the parts do not fit each other, or the headline is too long.
    """

    verdict: Verdict
    headline: str
    numbers: tuple[Number, ...] = ()
    consequence: Consequence = Consequence.NONE
    correction: str = ""
    would_change: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "numbers", tuple(self.numbers))
        _check_headline(self.headline)
        if self.verdict == Verdict.HOLDS and (self.consequence != Consequence.NONE or self.correction):
            raise ValueError(f"what holds has neither consequence nor correction: {self.headline!r}")
        if self.verdict in (Verdict.CORRECTED, Verdict.NARROWER) and not self.correction:
            raise ValueError(f"correction must say what should stand there: {self.headline!r}")
        if self.verdict != Verdict.UNTESTABLE and not self.numbers:
            raise ValueError(f"numbers must hold at least one number: {self.headline!r}")
        if not self.would_change:
            raise ValueError(f"would_change must say what would change the verdict: {self.headline!r}")
        for text in (self.headline, self.correction, self.would_change):
            if text[:1].islower() or text.isupper() or (text and text[-1] not in ".?$"):
                raise ValueError(f"headline, correction and would_change must be sentences, got {text!r}")


def judges(claim: str) -> Callable[[Judge], Judge]:
    """Mark a function of a chapter's tables as the judge of a claim."""

    def mark(judge: Judge) -> Judge:
        setattr(judge, _CLAIM, claim)
        return judge

    return mark


def judges_of(package: str) -> dict[str, Judge]:
    """The judges in the modules of a package whose names begin with ``verdicts``, by claim, as they stand there.

    Raises:
        ValueError: if two judge one claim.
    """
    found: dict[str, Judge] = {}
    names = [info.name for info in pkgutil.iter_modules(importlib.import_module(package).__path__)]
    for name in sorted(name for name in names if name.startswith("verdicts")):
        module = importlib.import_module(f"{package}.{name}")
        for judge in vars(module).values():
            claim = getattr(judge, _CLAIM, None)
            if claim is None or judge.__module__ != module.__name__:
                continue
            if claim in found:
                raise ValueError(f"a claim must have one judge, got two for {claim!r}")
            found[claim] = judge
    return found


def pick(table: pd.DataFrame, **where: Any) -> pd.Series:
    """The one row of a table in which each named column has the given value.

    Raises:
        LookupError: if no row does, or several do.
    """
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


def cite(
    name: str, tables: Tables, table: str, column: str, *, error: str = "", against: float | None = None, **where: Any
) -> Number:
    """A number that stands in one row of a table, with its error from another column of the row.

    Args:
        name: what it is. tables: the chapter's. table, column: where it stands. error: the column of its error.
        against: what it is held against. where: the values by column that single out the row.
    """
    row = pick(tables[table], **where)
    return Number(name, float(row[column]), float(row[error]) if error else None, against, table, describe(where))


def describe(where: Mapping[str, Any]) -> str:
    """Values by column, in words."""
    return ", ".join(
        f"{column} = {value:g}" if isinstance(value, float) else f"{column} = {value}"
        for column, value in where.items()
    )


# What a headline may hold. A reference to a place in a paper is no quantity; a number in digits or in words is one, and
# so is each formula.
_PLACE = re.compile(
    r"\b(?:Theorem|Lemma|Proposition|Corollary|Remark|Definition|Assumption|Section|Appendix|Figure|Table|Algorithm|"
    r"Equation)s?\s+[A-Z]?\.?\d+(?:\.\d+)*(?:\([ivx]+\))?|\([A-Z]?\.?\d+(?:\.\d+)*\)"
)
_FORMULA = re.compile(r"\$[^$]*\$")
_DECORATION = re.compile(r"_(?:\{[^}]*\}|\\?\w+)|\^\{?\*\}?")  # an index or a star makes a symbol, no quantity
_QUANTITY = re.compile(r"[\d^/=<>+]|\\(?:sqrt|frac|log|exp|cdot|infty|le|ge|ll|gg|sim|asymp|lesssim|gtrsim)\b")
_DIGITS = re.compile(r"[-−+]?\d[\d,.]*(?:e[-+]?\d+|\s?%)?", re.IGNORECASE)
_WORDS = re.compile(
    r"\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|sixty|seventy|eighty|"
    r"ninety|hundred|thousand|million|billion|half|third|quarter|twice|thrice|double|triple|tenfold|dozen)s?\b",
    re.IGNORECASE,
)
_RAW = re.compile(r"[\^√·×≤≥≈∞]|\b\d+e-?\d+\b|[α-ωΑ-Ω]")


def quantities(text: str) -> int:
    """How many quantities a sentence holds, in digits, in words or as formulas."""
    text = _PLACE.sub(" ", text)
    formulas = [_DECORATION.sub("", formula) for formula in _FORMULA.findall(text)]
    rest = _FORMULA.sub(" ", text)
    written = len(_DIGITS.findall(rest)) + len(_WORDS.findall(rest))
    return written + sum(bool(_QUANTITY.search(formula)) for formula in formulas)


def words(text: str) -> int:
    """How many words a sentence holds; a formula counts as one."""
    return len(_FORMULA.sub("x", text).split())


def _check_headline(text: str) -> None:
    if not text or "\n" in text or not text.endswith((".", "?")):
        raise ValueError(f"headline must be one sentence on one line, with its full stop, got {text!r}")
    if len(text.split()) > MOST_WORDS:
        raise ValueError(f"headline must have at most {MOST_WORDS} words, got {len(text.split())}: {text!r}")
    if quantities(text) > MOST_QUANTITIES:
        raise ValueError(f"headline must have at most {MOST_QUANTITIES} quantities, got {quantities(text)}: {text!r}")
    if _RAW.search(_FORMULA.sub(" ", text)):
        raise ValueError(f"headline must typeset its mathematics between dollar signs, got {text!r}")


def compact(value: float) -> str:
    """A number for a sentence: three significant digits, typeset where it needs a power of ten."""
    if value == 0 or not math.isfinite(value):
        return "0" if value == 0 else r"$\infty$" if value > 0 else r"$-\infty$" if value < 0 else "no number"
    if 1e-3 <= abs(value) < 1e5:
        digits = max(0, 2 - math.floor(math.log10(abs(value))))
        text = f"{value:.{digits}f}"
        return (text.rstrip("0").rstrip(".") if "." in text else text).replace("-", "−")
    mantissa, exponent = f"{value:.1e}".split("e")
    mantissa = mantissa.rstrip("0").rstrip(".")
    return rf"${mantissa}\cdot 10^{{{int(exponent)}}}$" if mantissa != "1" else f"$10^{{{int(exponent)}}}$"
