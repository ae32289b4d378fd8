"""A claim speaks: what its judge found, in the words that stand with the claim.

``book/claims.yml`` holds the words of the verdict that the book found. They quote the judge's values as ``{{ name }}``,
or as ``{{ name:format }}`` with one of Python's formats (``.2f``) or one of `WAYS` (``percent``). A run that finds
another verdict, or the same one on other grounds, says so in one sentence that is the same for all claims.
"""

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from companion.judging import growth, prose, vocabulary
from companion.judging.claims import Claim, find_register, read_register, usual
from companion.judging.findings import LABEL, Finding, Verdict
from companion.judging.judges import Judge, Ruling, claim_of
from companion.judging.tables import Tables

BOUND = re.compile(r"\bat (most|least) \$?$")
QUOTED = re.compile(r"\{\{\s*(\w+)\s*(?::\s*([^}\s]+)\s*)?\}\}")
WAYS: Mapping[str, Callable[[Any], str]] = {
    "percent": prose.percent,
    "plain": prose.plain,
    "span": prose.span,
    "listed": prose.listed,
}
ELSEWHERE = "The numbers say where."
VALUES = {name: value for name, value in vars(vocabulary).items() if name.isupper() and isinstance(value, float)} | {
    "LOST_LOGARITHM": growth.LOST_LOGARITHM,
    "LOST_POWER": growth.LOST_POWER,
    "LOST_POWER_SIMULATED": growth.LOST_POWER_SIMULATED,
}


def judged(claim: Claim, judge: Judge, tables: Tables) -> Finding:
    """What a claim's judge finds, in the claim's words; its rule may quote constants of the judge's module."""
    named = getattr(inspect.unwrap(judge), "__globals__", {}).items()
    thresholds = {name: value for name, value in named if name.isupper() and isinstance(value, (int, float))}
    return finding(claim, judge(tables), VALUES | thresholds)


def headline(judge: Judge, tables: Tables) -> str:
    """What a judge finds, in the one sentence of the claim that it is marked with."""
    claim = read_register(find_register(Path.cwd()))[claim_of(judge)]
    return judged(claim, judge, tables).headline


def finding(claim: Claim, ruling: Ruling, thresholds: Mapping[str, Any] = VALUES) -> Finding:
    """A judge's ruling in its claim's words; the claim's rule may quote the thresholds.

    A ``ValueError`` says that the words quote a value that the judge does not give, or are no headline or no sentence.
    """
    own = (ruling.verdict, ruling.grounds) == (claim.verdict, claim.grounds)
    here = claim if own else _otherwise(claim, ruling)
    names = ("headline", "should_read", "printed", "condition", "argued", "varied")
    said: dict[str, Any] = {name: say(getattr(here, name), ruling.quoted) for name in names}
    return Finding(
        verdict=ruling.verdict,
        numbers=ruling.numbers,
        consequence=claim.consequence if own else usual(ruling.verdict),
        would_change=say(claim.would_change, {}),
        rule=say(claim.rule, thresholds),
        vacuous=ruling.vacuous,
        **said,
    )


def _otherwise(claim: Claim, ruling: Ruling) -> Claim:
    why = "; the numbers say why" if ruling.numbers else ""
    return replace(
        claim,
        headline=f"On these tables it {LABEL[ruling.verdict]}, other than in the book{why}.",
        printed="",
        should_read=ELSEWHERE if ruling.verdict == Verdict.CORRECTED else "",
        condition=ELSEWHERE if ruling.verdict == Verdict.NARROWER else "",
        argued="",
        varied="",
    )


def say(text: str, quoted: Mapping[str, Any]) -> str:
    """A sentence on one line, with its values; a ``ValueError`` where it quotes what is not there."""

    def value(found: re.Match[str]) -> str:
        name, way = found.groups()
        if name not in quoted:
            raise ValueError(f"a sentence must quote one of {list(quoted)}, got {name!r}: {text!r}")
        bound = BOUND.search(found.string[: found.start()])
        return _bound(quoted[name], way or "", bound[1] == "most") if bound else tell(quoted[name], way or "")

    return QUOTED.sub(value, " ".join(text.split()))


def tell(value: Any, way: str = "") -> str:
    """A value as a sentence has it: texts and whole numbers as they are, others with three significant digits."""
    if way:
        return WAYS[way](value) if way in WAYS else format(value, way)
    return prose.compact(value) if isinstance(value, float) else str(value)


def _bound(value: Any, way: str, upper: bool) -> str:
    """As `tell`, but rounded to the side on which "at most" (``upper``) or "at least" stays true."""
    text, sign = tell(value, way), 1 if upper else -1
    printed = re.fullmatch(r"\$?([−\d.]+)(?:\\cdot 10\^\{(-?\d+)\}\$)?( %)?", text)
    if not isinstance(value, float) or not printed:
        return text
    shown = float(f"{printed[1].replace('−', '-')}e{printed[2] or 0}") / (100 if printed[3] else 1)
    if sign * (value - shown) <= 1e-9 * abs(value):
        return text
    nearby = (tell(value + sign * abs(value) * step / 1000, way) for step in range(1, 101))
    return next(other for other in nearby if other != text)
