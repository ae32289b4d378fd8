"""What a headline may be: one plain sentence, short, with few quantities, its mathematics typeset."""

from __future__ import annotations

import re

MOST_WORDS = 25
MOST_QUANTITIES = 2

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


def check(text: str) -> None:
    """Refuse what is no headline.

    Raises:
        ValueError: if it is no sentence, has too many words or quantities, or mathematics that is not typeset.
    """
    if not text or "\n" in text or not text.endswith((".", "?")):
        raise ValueError(f"headline must be one sentence on one line, with its full stop, got {text!r}")
    if len(text.split()) > MOST_WORDS:
        raise ValueError(f"headline must have at most {MOST_WORDS} words, got {len(text.split())}: {text!r}")
    if quantities(text) > MOST_QUANTITIES:
        raise ValueError(f"headline must have at most {MOST_QUANTITIES} quantities, got {quantities(text)}: {text!r}")
    if _RAW.search(_FORMULA.sub(" ", text)):
        raise ValueError(f"headline must typeset its mathematics between dollar signs, got {text!r}")
