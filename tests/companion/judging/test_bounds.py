"""A headline that states a bound says at which sizes it was found, or the claim says why no case exceeds it."""

import re
from pathlib import Path

from companion.judging.claims import Claim, read_register
from tests.each import each

REGISTER = read_register(Path(__file__).parents[3] / "book" / "claims.yml")
UNIVERSAL = re.compile(
    r"\b(at most|at least|up to|never|always|every|wherever|everywhere|stays? (?:between|below|above|within))\b",
    re.IGNORECASE,
)
NO_BOUND = re.compile(  # the trivial predictor, a release, and what is equal but for rounding, constants or logarithms
    r"always predicting|up to (?:a constant\b(?! \{)|rounding|logarithms)|every iterate|every (?:step|sample) is",
    re.IGNORECASE,
)
SIZES = re.compile(  # where it was found: what was tried, whose settings, which figure, at which size
    r"\bwe (?:tried|simulated|solved|computed|followed|drew|varied)\b|\b(?:tested|tried|random settings|our paths)\b"
    r"|\b(?:our|these|the authors'|the text's|the paper's|corrected|computed) (?:settings|hyper-parameters|path)\b"
    r"|\bhere\b|\bmaps?\b|\bFigures? \d|\bfigure shows\b|\bat \$[^$]*=[^$]*\$|\b(?:at|in) the (?:smallest|largest)\b"
    r"|\{\{ place",
    re.IGNORECASE,
)


def unfounded(text: str, derived: str = "") -> bool:
    """Whether a headline states a bound without its sizes or its derivation."""
    bound = UNIVERSAL.search(NO_BOUND.sub(" ", text))
    return bool(bound) and not (derived or SIZES.search(text))


@each("claim", [claim for claim in REGISTER.values() if claim.headline])
def test_a_bound_has_its_sizes_or_its_derivation(claim: Claim) -> None:
    assert not unfounded(claim.headline, claim.derived), claim.headline
