"""What is found on a claim: a verdict with its consequence, one plain sentence, and the numbers behind it, as data."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from costofprivacy.judging import headlines


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
        headlines.check(self.headline)
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
