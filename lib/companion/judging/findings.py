"""What is found on a claim: a verdict with its consequence, one plain sentence, and the numbers behind it, as data."""

import re
from dataclasses import dataclass
from enum import StrEnum


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
    Verdict.CORRECTED: "true once a slip is corrected: a sign, a factor, an index, a transposition, a constant; the "
    "powers of the sizes stay, unless a sentence misquotes the paper's own display, which then counts",
    Verdict.NARROWER: "true under a further condition that the paper does not state; the card names the condition",
    Verdict.FAILS: "there is a counterexample inside the stated conditions, and neither of the two above saves it",
    Verdict.UNTESTABLE: "nothing measurable follows from it; the card says why",
}
LABEL = {  # how a reader meets them; the words above are those that are stored
    Verdict.HOLDS: "holds",
    Verdict.CORRECTED: "holds with a correction",
    Verdict.NARROWER: "holds under an extra condition",
    Verdict.FAILS: "does not hold",
    Verdict.UNTESTABLE: "cannot be tested",
}
VACUOUS = "vacuous here"
VACUOUS_MEANING = "the claim is a bound that always predicting 0 meets, too, at all the sizes that we tested"
WEIGHT = {
    Consequence.NONE: "nothing that a reader would compute or conclude changes",
    Consequence.NUMBERS: "something that a reader would compute changes",
    Consequence.CONCLUSION: "a sentence of the abstract, the introduction or the conclusion, or a guarantee at the "
    "paper's own settings, does not follow",
}


@dataclass(frozen=True)
class Number:
    """A number that a verdict rests on, with its standard error, and what it is held against, where it has any.

    ``row`` says in words which row of the chapter's table it comes from.
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
        verdict: one of the five. headline: one plain sentence of at most 25 words and two quantities.
        numbers: what it rests on; only what is untestable may have none.
        consequence: what it changes; nothing for a claim that holds. would_change: what would change the verdict.
        printed: what stands there. should_read: what should; empty where nothing is to be corrected.
        condition: the further condition under which it is true.
        rule: the criterion by which the claim passes, with its thresholds.
        argued: the strongest argument in the paper's favour, and why it does not save the claim.
        varied: what the paper leaves open, and what came out where it was varied.
        vacuous: whether the trivial predictor meets the bound that is claimed; see `VACUOUS_MEANING`.

    Raises:
        ValueError: if the parts do not fit each other, or the headline is too long.
    """

    verdict: Verdict
    headline: str
    numbers: tuple[Number, ...] = ()
    consequence: Consequence = Consequence.NONE
    should_read: str = ""
    would_change: str = ""
    printed: str = ""
    condition: str = ""
    rule: str = ""
    argued: str = ""
    varied: str = ""
    vacuous: bool = False

    @property
    def correction(self) -> str:
        """What is printed and what should stand there, or the condition under which it is true, in one text."""
        printed = f"Printed: {self.printed} " if self.printed else ""
        return f"{printed}Should read: {self.should_read}" if self.should_read else self.condition

    def __post_init__(self) -> None:
        object.__setattr__(self, "numbers", tuple(self.numbers))
        text = self.headline  # a test counts its quantities
        if not text or "\n" in text or not text.endswith((".", "?")):
            raise ValueError(f"headline must be one sentence on one line, with its full stop, got {text!r}")
        if len(text.split()) > MOST_WORDS:
            raise ValueError(f"headline must have at most {MOST_WORDS} words, got {len(text.split())}: {text!r}")
        if _RAW.search(_FORMULA.sub(" ", text)):
            raise ValueError(f"headline must typeset its mathematics between dollar signs, got {text!r}")
        if self.verdict == Verdict.HOLDS and (self.consequence != Consequence.NONE or self.correction):
            raise ValueError(f"what holds has neither consequence nor correction: {self.headline!r}")
        if self.verdict == Verdict.CORRECTED and not self.should_read:
            raise ValueError(f"should_read must say what should stand there: {self.headline!r}")
        if self.verdict == Verdict.NARROWER and not self.condition:
            raise ValueError(f"condition must say when it is true: {self.headline!r}")
        if self.verdict != Verdict.UNTESTABLE and not self.numbers:
            raise ValueError(f"numbers must hold at least one number: {self.headline!r}")
        if not self.would_change:
            raise ValueError(f"would_change must say what would change the verdict: {self.headline!r}")
        for text in (self.headline, self.printed, self.should_read, self.condition, self.rule, self.would_change):
            if text[:1].islower() or text.isupper() or (text and text[-1] not in ".?$”"):
                raise ValueError(f"what is said of a claim must be sentences, got {text!r}")


MOST_WORDS = 25
_FORMULA = re.compile(r"\$[^$]*\$")
_RAW = re.compile(r"[\^√·×≤≥≈∞]|\b\d+e-?\d+\b|[α-ωΑ-Ω]")


def word_count(text: str) -> int:
    """How many words a sentence holds; a formula counts as one."""
    return len(_FORMULA.sub("x", text).split())
