"""What was tried and what came of it: a table for the reader, JSON for machines."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

RIGHT, WRONG, SKIPPED = "right", "wrong", "skipped"


class Skipped(Exception):
    """A fault cannot be made here; the text says why."""


@dataclass(frozen=True)
class Fault:
    """Something done to a run on purpose.

    Attributes:
        names: for each thing that is done at once, what the table counts it under, and which of its kind it is.
        attempt: does it and returns what went wrong with each, in words; raises `Skipped` where it cannot be done.
    """

    names: tuple[tuple[str, str], ...]
    attempt: Callable[[], Sequence[str]]

    def outcomes(self) -> list["Outcome"]:
        """Do it, and judge what came of it."""
        try:
            found = self.attempt()
        except Skipped as reason:
            return [Outcome(*name, SKIPPED, str(reason)) for name in self.names]
        return [Outcome(*name, WRONG if words else RIGHT, words) for name, words in zip(self.names, found, strict=True)]


@dataclass(frozen=True)
class Outcome:
    """What came of a fault: `RIGHT`, `WRONG` or `SKIPPED`, and the words to it."""

    kind: str
    label: str
    verdict: str
    words: str

    def __str__(self) -> str:
        return f"{self.kind}, {self.label}: {self.verdict}{f': {self.words}' if self.words else ''}"


def table(outcomes: Iterable[Outcome]) -> list[tuple[str, int, int, int, int]]:
    """A row for each kind: its name, how many were tried, and how many ended right, wrong, skipped."""
    counts: dict[str, Counter[str]] = {}
    for outcome in outcomes:
        counts.setdefault(outcome.kind, Counter())[outcome.verdict] += 1
    return [(kind, found.total(), found[RIGHT], found[WRONG], found[SKIPPED]) for kind, found in counts.items()]


def in_words(outcomes: Sequence[Outcome]) -> str:
    """The table, with a line for each fault that went wrong or was skipped."""
    rows = table(outcomes)
    total = ("together", *(sum(row[k] for row in rows) for k in (1, 2, 3, 4)))
    head = f"{'fault':<28}{'tried':>8}{RIGHT:>8}{WRONG:>8}{SKIPPED:>9}"
    lines = [f"{row[0]:<28}{row[1]:>8}{row[2]:>8}{row[3]:>8}{row[4]:>9}" for row in [*rows, total]]
    return "\n".join([head, *lines, *(str(each) for each in outcomes if each.words)])


def write(path: Path, outcomes: Sequence[Outcome], asked: dict[str, object]) -> None:
    """Keep the table, and every outcome, as JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    names = ("kind", "tried", RIGHT, WRONG, SKIPPED)
    content = {
        "asked": asked,
        "table": [dict(zip(names, row, strict=True)) for row in table(outcomes)],
        "faults": [vars(outcome) for outcome in outcomes],
    }
    path.write_text(json.dumps(content, indent=1) + "\n", "utf-8")
