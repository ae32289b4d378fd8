from pathlib import Path

import pytest

from costofprivacy.judging import cards, claims, history
from costofprivacy.judging.findings import Finding, Number, Verdict
from costofprivacy.judging.history import Change, History

BOOK = Path(__file__).parents[2] / "book"
REGISTER = """
papers:
  alpha: {title: First Paper, arxiv: "1", short: Alpha}
  beta: {title: Second Paper, arxiv: "2", short: Beta}
claims:
  - {id: alpha/theorem-1, place: Theorem 1, says: One., chapter: part/one}
  - {id: alpha/theorem-2, place: Theorem 2, says: Two., chapter: part/one}
  - {id: beta/figure-1, place: Figure 1, says: Three., chapter: part/two}
"""
CHANGES = """
first:
  0.9.0:
    holds, amended: [alpha/theorem-1, beta/figure-1]
  0.10.0:
    fails: [alpha/theorem-2]
changes:
  - {version: 0.9.0, date: 2026-01-01, before: "holds, amended", after: fails, why: Tried., claims: [alpha/theorem-1]}
  - {version: 0.10.0, date: 2026-01-02, before: fails, after: holds, why: Saved., claims: [alpha/theorem-1]}
  - version: 0.10.0
    date: 2026-01-02
    before: holds, amended
    after: holds, narrower
    why: >-
      One rule
      for all.
    claims: [beta/figure-1]
"""
PRESENT = {"alpha/theorem-1": "holds", "alpha/theorem-2": "fails", "beta/figure-1": "holds, narrower"}


def finding(verdict: str) -> Finding:
    correction = "" if verdict in ("holds", "fails") else "Less."
    return Finding(Verdict(verdict), "It is so.", (Number("n", 1.0),), correction=correction, would_change="More.")


@pytest.fixture
def book(tmp_path: Path) -> Path:
    folder = tmp_path / "book"
    folder.mkdir()
    (folder / "claims.yml").write_text(REGISTER, encoding="utf-8")
    (folder / "changes.yml").write_text(CHANGES, encoding="utf-8")
    return folder


@pytest.fixture
def told(book: Path) -> History:
    return history.read_history(book / "changes.yml")


def test_changes_lead_from_the_first_verdicts_to_the_present_ones(told: History) -> None:
    assert told.present() == PRESENT
    assert told.changes[2].why == "One rule for all."
    assert told.changes[0].date == "2026-01-01"


def test_a_complete_history_leaves_nothing_untold(told: History) -> None:
    assert history.untold(told, {claim: finding(verdict) for claim, verdict in PRESENT.items()}) == []


def test_a_changed_a_new_and_a_lost_verdict_are_found_out(told: History) -> None:
    found = {"alpha/theorem-1": finding("fails"), "alpha/theorem-2": finding("fails"), "beta/lemma-1": finding("holds")}
    assert history.untold(told, found) == [
        "alpha/theorem-1 was 'holds' and is 'fails': say why in changes.yml",
        "beta/lemma-1 was first judged now: put it under `first` of changes.yml (holds)",
        "beta/figure-1 was judged and is judged no more",
    ]


@pytest.mark.parametrize("first", [{"a/1": "fails"}, {}])
def test_a_change_starts_where_the_claim_was(first: dict[str, str]) -> None:
    change = Change("1.0.0", "2026-01-01", "holds", "fails", "Tried.", ("a/1",))
    with pytest.raises(ValueError, match=r"^a/1 was .* when it changed, not 'holds'$"):
        History(first, (change,)).present()


@pytest.mark.parametrize(
    ("part", "message"),
    [
        ({"after": "so"}, "a verdict must be one of .*, got 'so'"),
        ({"after": "holds"}, "a change must change something, got 'holds' twice for a/1"),
        ({"why": ""}, "a change must have a reason and its claims"),
        ({"claims": ()}, "a change must have a reason and its claims"),
    ],
)
def test_what_is_no_change_is_refused(part: dict[str, object], message: str) -> None:
    whole = {"version": "1", "date": "d", "before": "holds", "after": "fails", "why": "w", "claims": ("a/1",)}
    with pytest.raises(ValueError, match=message):
        Change(**whole | part)  # type: ignore[arg-type]


def test_a_claim_is_first_judged_once(book: Path) -> None:
    (book / "changes.yml").write_text(CHANGES.replace("[alpha/theorem-2]", "[beta/figure-1]"), encoding="utf-8")
    with pytest.raises(ValueError, match=r"^a claim is first judged once, got beta/figure-1 twice$"):
        history.read_history(book / "changes.yml")


def test_the_page_tells_the_latest_version_first(book: Path) -> None:
    b = cards.badge
    assert [line for line in history.page(book).splitlines() if line] == [
        "## Version 0.10.0",
        f"- {b('fails')} became {b('holds')} on 2026-01-02. Saved.",
        "  Alpha: [Theorem 1](#claim-alpha-theorem-1).",
        f"- {b('holds, amended')} became {b('holds, narrower')} on 2026-01-02. One rule for all.",
        "  Beta: [Figure 1](#claim-beta-figure-1).",
        "## Version 0.9.0",
        f"- {b('holds, amended')} became {b('fails')} on 2026-01-01. Tried.",
        "  Alpha: [Theorem 1](#claim-alpha-theorem-1).",
    ]


def test_a_copy_of_the_chapters_has_the_history_of_its_project(book: Path) -> None:
    copy = book.parent / "_build" / "quick" / "executed"
    copy.mkdir(parents=True)
    assert history.find_changes(copy) == book.resolve() / "changes.yml"
    with pytest.raises(FileNotFoundError, match="run inside the project"):
        history.find_changes(book.parents[2])


def test_the_history_of_the_book_is_complete() -> None:
    told = history.read_history(BOOK / "changes.yml")
    assert history.untold(told, claims.read_findings(BOOK)) == []
    assert len(told.changes) > 1
