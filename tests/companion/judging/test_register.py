"""The book's own claims: each says how it was judged, in whose words, and what it changes, by one rule."""

from pathlib import Path

from companion.judging import claims, errata
from companion.judging.claims import Claim
from companion.judging.findings import Verdict
from tests.each import each

BOOK = Path(__file__).parents[3] / "book"
REGISTER = claims.read_register(BOOK / "claims.yml")
FOUND = claims.read_findings(BOOK)
CONCLUDES = ("Abstract: ", "Introduction: ", "Conclusion: ", "Guarantee: ")
JUDGED = [claim for claim in REGISTER.values() if claim.history]


@each("claim", JUDGED)
def test_a_claim_says_how_it_was_judged(claim: Claim) -> None:
    assert claim.quote
    assert claim.kind
    assert claim.rule or claim.verdict == Verdict.UNTESTABLE
    assert bool(claim.printed) == bool(claim.should_read)
    assert bool(claim.should_read) or claim.verdict != Verdict.CORRECTED
    assert not claim.should_read or claim.verdict in (Verdict.CORRECTED, Verdict.FAILS)
    assert bool(claim.condition) == (claim.verdict == Verdict.NARROWER)
    assert bool(claim.argued) == (claim.verdict != Verdict.HOLDS)


@each("claim", JUDGED)
def test_a_consequence_follows_the_rule(claim: Claim) -> None:
    """*Conclusion* is for a sentence that an introduction or a conclusion rests on it, named with its place."""
    if claim.verdict in (Verdict.HOLDS, Verdict.UNTESTABLE):
        assert not any((claim.undermines, claim.harmless, claim.slip, claim.also, claim.no_erratum))
    if claim.undermines:
        assert claim.undermines.startswith(CONCLUDES)
        assert "“" in claim.undermines or claim.undermines.startswith("Guarantee: ")
        assert not claim.harmless
    assert FOUND[claim.id].consequence == claim.consequence


def test_every_slip_has_its_root_and_its_reason() -> None:
    entries = errata.errata(REGISTER, FOUND)
    shown = {claim.id for entry in entries for claim in (entry.root, *entry.rests)}
    wrong = {claim.id for claim in JUDGED if claim.verdict not in (Verdict.HOLDS, Verdict.UNTESTABLE)}
    assert shown | {claim.id for claim in JUDGED if claim.no_erratum} == wrong
    slips = claims.read_slips(BOOK / "claims.yml")
    assert len({(slip.paper, slip.place) for slip in slips}) == len(slips)
    for slip in slips:
        assert all(vars(slip).values())
        assert (BOOK / f"{slip.chapter}.ipynb").is_file()


def test_what_is_withdrawn_says_why_and_is_judged_no_more() -> None:
    withdrawn = claims.read_withdrawn(BOOK / "claims.yml")
    assert all(claim.verdict == claims.WITHDRAWN and claim.history[-1].why for claim in withdrawn.values())
    assert not set(withdrawn) & (set(REGISTER) | set(FOUND))
    assert all(claim.verdict != claims.WITHDRAWN for claim in JUDGED)
