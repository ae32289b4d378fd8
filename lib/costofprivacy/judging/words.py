"""A claim speaks: what its judge found, in the words that stand with the claim.

``book/claims.yml`` holds the words of the verdict that the book found. They quote the judge's values as ``{{ name }}``,
or as ``{{ name:format }}`` with one of Python's formats (``.2f``) or one of `WAYS` (``percent``). A run that finds
another verdict, or the same one on other grounds, says so in one sentence that is the same for all claims.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from costofprivacy.judging import prose
from costofprivacy.judging.claims import Claim, find_register, read_register
from costofprivacy.judging.findings import Consequence, Finding, Verdict
from costofprivacy.judging.judges import Judge, Ruling, claim_of
from costofprivacy.judging.tables import Tables

QUOTED = re.compile(r"\{\{\s*(\w+)\s*(?::\s*([^}\s]+)\s*)?\}\}")
WAYS: Mapping[str, Callable[[Any], str]] = {
    "percent": prose.percent,
    "plain": prose.plain,
    "span": prose.span,
    "listed": prose.listed,
}
USUAL = {
    Verdict.HOLDS: Consequence.NONE,
    Verdict.CORRECTED: Consequence.NUMBERS,
    Verdict.NARROWER: Consequence.CONCLUSION,
    Verdict.FAILS: Consequence.CONCLUSION,
    Verdict.UNTESTABLE: Consequence.NONE,
}
OTHERWISE = {
    Verdict.HOLDS: "it holds",
    Verdict.CORRECTED: "it holds once corrected",
    Verdict.NARROWER: "it holds under a further condition",
    Verdict.FAILS: "it fails",
    Verdict.UNTESTABLE: "it cannot be tested",
}
MENDED = "The numbers say where."


def judged(claim: Claim, judge: Judge, tables: Tables) -> Finding:
    """What a claim's judge finds in some tables, in the claim's words; see `finding`."""
    return finding(claim, judge(tables))


def headline(judge: Judge, tables: Tables) -> str:
    """What a judge finds, in the one sentence of the claim that it is marked with.

    Raises:
        FileNotFoundError: if there is no register around the working directory, nor in the package.
    """
    claim = read_register(find_register(Path.cwd()))[claim_of(judge)]
    return judged(claim, judge, tables).headline


def finding(claim: Claim, ruling: Ruling) -> Finding:
    """A judge's ruling in its claim's words.

    Raises:
        ValueError: if the words quote a value that the judge does not give, or are no headline or no sentence.
    """
    change = " ".join(claim.would_change.split())  # quotes nothing: it is the same whatever was found
    if (ruling.verdict, ruling.grounds) != (claim.verdict, claim.grounds):
        why = "; the numbers say why" if ruling.numbers else ""
        headline = f"On these tables {OTHERWISE[ruling.verdict]}, other than in the book{why}."
        mended = MENDED if ruling.verdict in (Verdict.CORRECTED, Verdict.NARROWER) else ""
        return Finding(ruling.verdict, headline, ruling.numbers, USUAL[ruling.verdict], mended, change)
    headline, correction = (say(text, ruling.quoted) for text in (claim.headline, claim.correction))
    consequence = Consequence(claim.consequence or USUAL[ruling.verdict])
    return Finding(ruling.verdict, headline, ruling.numbers, consequence, correction, change)


def say(text: str, quoted: Mapping[str, Any]) -> str:
    """A sentence on one line, with its values.

    Raises:
        ValueError: if it quotes what is not there.
    """

    def value(found: re.Match[str]) -> str:
        name, way = found.groups()
        if name not in quoted:
            raise ValueError(f"a sentence must quote one of {list(quoted)}, got {name!r}: {text!r}")
        return tell(quoted[name], way or "")

    return QUOTED.sub(value, " ".join(text.split()))


def tell(value: Any, way: str = "") -> str:
    """A value as a sentence has it: texts and whole numbers as they are, others with three significant digits."""
    if way:
        return WAYS[way](value) if way in WAYS else format(value, way)
    return prose.compact(value) if isinstance(value, float) else str(value)
