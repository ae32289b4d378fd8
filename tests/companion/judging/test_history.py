from pathlib import Path

import pytest

from companion.judging import claims, errata
from companion.judging.claims import Claim, Judged
from companion.judging.findings import Finding, Number, Verdict

BOOK = Path(__file__).parents[3] / "book"
REGISTER = """
papers:
  alpha: {title: First Paper, arxiv: "1", short: Alpha}
  beta: {title: Second Paper, arxiv: "2", short: Beta}
reasons:
  one-rule: &one-rule >-
    One rule
    for all.
claims:
  - id: alpha/theorem-1
    place: Theorem 1
    says: One.
    chapter: part/one
    history:
      - {version: 0.9.0, verdict: "holds, amended"}
      - {version: 0.9.0, date: 2026-01-01, verdict: fails, why: Tried.}
      - {version: 0.10.0, date: 2026-01-02, verdict: holds, why: Saved.}
  - id: alpha/theorem-2
    place: Theorem 2
    says: Two.
    chapter: part/one
    history:
      - {version: 0.9.0, verdict: "holds, amended"}
      - {version: 0.10.0, date: 2026-01-02, verdict: "holds, narrower", why: *one-rule}
  - id: beta/figure-1
    place: Figure 1
    says: Three.
    chapter: part/two
    history:
      - {version: 0.9.0, verdict: "holds, amended"}
      - {version: 0.10.0, date: 2026-01-02, verdict: "holds, narrower", why: *one-rule}
  - {id: beta/lemma-1, place: Lemma 1, says: Four., chapter: part/two}
withdrawn:
  - id: beta/remark-1
    place: Remark 1
    says: Five.
    chapter: part/two
    history:
      - {version: 0.9.0, verdict: fails}
      - {version: 0.10.0, date: 2026-01-03, verdict: withdrawn, why: An aim is no claim.}
"""
PRESENT = {"alpha/theorem-1": "holds", "alpha/theorem-2": "holds, narrower", "beta/figure-1": "holds, narrower"}


def finding(verdict: str) -> Finding:
    condition = "Less." if verdict == "holds, narrower" else ""
    return Finding(Verdict(verdict), "It is so.", (Number("n", 1.0),), condition=condition, would_change="More.")


def untold(register: dict[str, Claim], found: dict[str, Finding]) -> list[str]:
    """What the histories do not say of the present verdicts, a line each; empty where they are complete."""
    lines = []
    for claim, finding in found.items():
        told = register[claim].verdict
        if not told:
            lines.append(f"{claim} was first judged now: begin its history in claims.yml ({finding.verdict})")
        elif told != finding.verdict:
            lines.append(f"{claim} was {told!r} and is {str(finding.verdict)!r}: say why in its history in claims.yml")
    judged = (claim.id for claim in register.values() if claim.history)
    return lines + [f"{claim} was judged and is judged no more" for claim in judged if claim not in found]


@pytest.fixture
def book(tmp_path: Path) -> Path:
    folder = tmp_path / "book"
    folder.mkdir()
    (folder / "claims.yml").write_text(REGISTER, encoding="utf-8")
    return folder


@pytest.fixture
def register(book: Path) -> dict[str, Claim]:
    return claims.read_register(book / "claims.yml")


def test_the_last_verdict_of_a_history_is_the_book_s(register: dict[str, Claim]) -> None:
    assert {claim: register[claim].verdict for claim in register} == PRESENT | {"beta/lemma-1": ""}


def test_claims_that_changed_for_one_reason_stand_together(register: dict[str, Claim]) -> None:
    told = {change.why: [claim.id for claim in befell] for change, befell in errata.changes(register).items()}
    both = ["alpha/theorem-2", "beta/figure-1"]
    assert told == {"Tried.": ["alpha/theorem-1"], "Saved.": ["alpha/theorem-1"], "One rule for all.": both}


def test_a_complete_history_leaves_nothing_untold(register: dict[str, Claim]) -> None:
    assert untold(register, {claim: finding(verdict) for claim, verdict in PRESENT.items()}) == []


def test_a_changed_a_new_and_a_lost_verdict_are_found_out(register: dict[str, Claim]) -> None:
    found = {"alpha/theorem-1": "fails", "alpha/theorem-2": "holds, narrower", "beta/lemma-1": "holds"}
    assert untold(register, {claim: finding(verdict) for claim, verdict in found.items()}) == [
        "alpha/theorem-1 was 'holds' and is 'fails': say why in its history in claims.yml",
        "beta/lemma-1 was first judged now: begin its history in claims.yml (holds)",
        "beta/figure-1 was judged and is judged no more",
    ]


def test_an_unknown_verdict_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^a verdict must be one of .*, got 'so'$"):
        Judged("1.0.0", "so")


@pytest.mark.parametrize(
    ("after", "message"),
    [
        (Judged("1", "holds", "2026-01-01", "Tried."), "a change must change something, got 'holds' twice for a/1"),
        (Judged("1", "fails", "2026-01-01"), "a change must have a date and a reason, got none for a/1: 'fails'"),
        (Judged("1", "fails", "", "Tried."), "a change must have a date and a reason, got none for a/1: 'fails'"),
    ],
)
def test_what_is_no_change_is_refused(after: Judged, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Claim("a/1", "Theorem 1", "One.", "part/one", history=(Judged("0", "holds"), after))


def test_the_history_of_the_book_is_complete() -> None:
    register = claims.read_register(BOOK / "claims.yml")
    assert untold(register, claims.read_findings(BOOK)) == []
    assert len(errata.changes(register)) > 1
