import json
import re
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin

from costofprivacy import claims
from costofprivacy.claims import Claim, Judgement, Verdict

BOOK = Path(__file__).parents[1] / "book"

REGISTER = """
papers:
  alpha: {title: First Paper, arxiv: "1", short: Alpha}
  beta: {title: Second Paper, arxiv: "2", short: Beta}
claims:
  - {id: alpha/theorem-1, place: Theorem 1, says: "One $x$\\n  is one.", chapter: part/one}
  - {id: alpha/theorem-2, place: Theorem 2, says: Two., chapter: part/one}
  - {id: beta/figure-1, place: Figure 1, says: Three., chapter: part/two, pending: true}
  - {id: alpha/lemma-1, place: Lemma 1, says: Four., chapter: part/one}
"""
HELD = Judgement(Verdict.HOLDS, "left 1.0 of right")
FAILED = Judgement(Verdict.FAILS, "left 2_0 of *right*")
AMENDED = Judgement(Verdict.AMENDED, "with λ/2")


@pytest.fixture
def book(tmp_path: Path) -> Path:
    book = tmp_path / "project" / "book"
    (book / "part" / "one").mkdir(parents=True)
    (book / "claims.yml").write_text(REGISTER, encoding="utf-8")
    return book


def small_ledger(book: Path) -> pd.DataFrame:
    return claims.ledger(claims.read_register(book / "claims.yml").values(), claims.read_verdicts(book))


# values


def test_every_verdict_has_a_meaning() -> None:
    assert set(claims.MEANING) == set(Verdict)
    assert [*map(str, Verdict)] == ["holds", "holds, amended", "fails", "untestable"]


@pytest.mark.parametrize("evidence", ["", "one\ntwo", "one\n"])
def test_evidence_is_one_line(evidence: str) -> None:
    with pytest.raises(
        ValueError, match=f"^evidence must be one line that is not empty, got {re.escape(repr(evidence))}$"
    ):
        Judgement(Verdict.HOLDS, evidence)


@pytest.mark.parametrize(
    ("verdict", "slug"), [("holds", "holds"), ("holds, amended", "holds-amended"), ("pending", "pending")]
)
def test_a_badge_is_a_word_with_a_class(verdict: str, slug: str) -> None:
    assert claims.badge(verdict) == f'<span class="verdict verdict-{slug}">{verdict}</span>'


# the register


def test_the_register_is_read_in_its_order(book: Path) -> None:
    register = claims.read_register(book / "claims.yml")
    assert list(register) == ["alpha/theorem-1", "alpha/theorem-2", "beta/figure-1", "alpha/lemma-1"]
    assert register["beta/figure-1"] == Claim("beta/figure-1", "Figure 1", "Three.", "part/two", pending=True)
    assert register["beta/figure-1"].paper == "beta"
    assert not register["alpha/theorem-2"].pending
    assert claims.read_papers(book / "claims.yml")["beta"]["short"] == "Beta"


def test_an_id_is_given_once(book: Path) -> None:
    path = book / "claims.yml"
    path.write_text(REGISTER + "  - {id: alpha/theorem-2, place: p, says: s, chapter: c}\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"^id must be given to one claim only, got 'alpha/theorem-2' twice in claims"):
        claims.read_register(path)


@pytest.mark.parametrize("start", ["", "book", "book/part", "book/part/one"])
def test_the_register_is_found_from_anywhere_inside(book: Path, start: str) -> None:
    assert claims.find_register(book.parent / start) == (book / "claims.yml").resolve()


def test_there_is_no_register_outside(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"no book/claims\.yml .* run inside the project"):
        claims.find_register(tmp_path)


# verdicts


def test_a_judgement_is_recorded_and_replaced(tmp_path: Path) -> None:
    claims.record(tmp_path, "alpha/theorem-1", HELD)
    claims.record(tmp_path, "alpha/theorem-2", AMENDED)
    claims.record(tmp_path, "alpha/theorem-1", FAILED)
    assert claims.read_verdicts(tmp_path) == [
        {"claim": "alpha/theorem-1", "verdict": "fails", "evidence": "left 2_0 of *right*"},
        {"claim": "alpha/theorem-2", "verdict": "holds, amended", "evidence": "with λ/2"},
    ]
    assert "λ" in (tmp_path / "verdicts.json").read_text(encoding="utf-8")


def test_verdicts_of_all_chapters_are_read(tmp_path: Path) -> None:
    for name, claim in (("b", "x/2"), ("a/deep", "x/1")):
        (tmp_path / name).mkdir(parents=True)
        claims.record(tmp_path / name, claim, HELD)
    assert [entry["claim"] for entry in claims.read_verdicts(tmp_path)] == ["x/1", "x/2"]
    assert claims.read_verdicts(tmp_path / "a" / "deep" / "nothing") == []


def test_two_chapters_do_not_judge_one_claim(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        claims.record(tmp_path / name, "x/1", HELD)
    with pytest.raises(ValueError, match=r"^a claim must be judged once, got two verdicts on 'x/1'$"):
        claims.read_verdicts(tmp_path)


# the ledger


def test_the_ledger_joins_register_and_verdicts(book: Path) -> None:
    claims.record(book / "part" / "one", "alpha/theorem-2", FAILED)
    table = small_ledger(book)
    assert list(table.columns) == ["claim", "paper", "place", "says", "chapter", "verdict", "evidence"]
    assert list(table["claim"]) == list(claims.read_register(book / "claims.yml"))
    assert list(table["verdict"]) == ["pending", "fails", "pending", "pending"]
    assert list(table["evidence"]) == ["", "left 2_0 of *right*", "", ""]
    assert list(table["paper"]) == ["alpha", "alpha", "beta", "alpha"]


def test_a_verdict_has_a_claim(book: Path) -> None:
    claims.record(book / "part" / "one", "alpha/theorem-2", HELD)
    claims.record(book / "part" / "one", "gamma/nothing", HELD)
    with pytest.raises(ValueError, match=r"^a verdict must have a claim, got \['gamma/nothing'\]$"):
        small_ledger(book)


def test_counts_by_paper_and_verdict(book: Path) -> None:
    claims.record(book / "part" / "one", "alpha/theorem-2", FAILED)
    claims.record(book / "part" / "one", "alpha/theorem-1", FAILED)
    table = claims.counts(small_ledger(book))
    assert list(table.columns) == ["holds", "holds, amended", "fails", "untestable", "pending"]
    assert table.loc["alpha"].tolist() == [0, 0, 2, 0, 1]
    assert table.loc["beta"].tolist() == [0, 0, 0, 0, 1]


# Markdown


def rendered(markdown: str) -> str:
    parser = MarkdownIt("commonmark").enable("table").use(dollarmath_plugin)
    return parser.render(f"*Found:* {markdown}.")


@given(
    st.text(
        st.characters(min_codepoint=33, max_codepoint=0x3C9, exclude_characters="&", categories=["L", "N", "P", "S"])
    )
)
@example(r"a_b_c, *x*, `y`, [z](w), <b>, $1$ and $2$, \alpha, {cite}`q`, |t|")
@example("Π_G, N^(-1.95 ± 0.01), ε ≤ T, ‖Γ^T − Γ*‖², 2e-09")
@settings(derandomize=True, deadline=None, max_examples=150)
def test_plain_text_means_itself_in_markdown(text: str) -> None:
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")
    assert rendered(claims.plain(text)) == f"<p><em>Found:</em> {escaped}.</p>\n"


@pytest.mark.parametrize("character", "\\`*_{}[]<>|$")
def test_plain_escapes(character: str) -> None:
    assert claims.plain(f"a{character}b{character}") == f"a\\{character}b\\{character}"


def test_plain_leaves_the_rest_alone() -> None:
    assert claims.plain("ε = 0.6 (at N = 1000), -1.5 ± 0.1") == "ε = 0.6 (at N = 1000), -1.5 ± 0.1"


def test_a_list_of_claims(book: Path) -> None:
    claims.record(book / "part" / "one", "alpha/theorem-1", FAILED)
    text = claims.as_list(small_ledger(book))
    assert text.splitlines()[0] == f"- {claims.badge('fails')} **Theorem 1.** One $x$ is one."
    assert "\n\n  *Found:* left 2\\_0 of \\*right\\*.\n\n" in text
    assert text.count("*Found:*") == 1
    assert f"\n- {claims.badge('pending')} **Figure 1.** Three.\n" in text
    assert "ipynb" not in text


def test_only_judged_claims_are_linked(book: Path) -> None:
    claims.record(book / "part" / "one", "alpha/theorem-1", HELD)
    text = claims.as_list(small_ledger(book), links=True)
    assert "**[Theorem 1](part/one.ipynb).**" in text
    assert text.count(".ipynb") == 1


def test_findings_tell_the_counts_then_what_fails_then_what_is_amended(book: Path) -> None:
    claims.record(book / "part" / "one", "alpha/theorem-1", HELD)
    claims.record(book / "part" / "one", "alpha/theorem-2", FAILED)
    claims.record(book / "part" / "one", "alpha/lemma-1", AMENDED)
    b = claims.badge
    assert claims.findings(book).splitlines() == [
        f"- **Alpha**, 3 claims: 1 {b('holds')}, 1 {b('holds, amended')}, 1 {b('fails')}.",
        f"- **Beta**, 1 claims: 1 {b('pending')}.",
        "",
        "**What fails**",
        "",
        "- [Theorem 2](part/one.ipynb): left 2\\_0 of \\*right\\*.",
        "",
        "**What holds after a correction**",
        "",
        "- [Lemma 1](part/one.ipynb): with λ/2.",
    ]


def test_findings_of_a_book_without_verdicts(book: Path) -> None:
    text = claims.findings(book)
    assert "What" not in text
    assert text.count("pending") == 4


# the book's own register


REAL = claims.read_register(BOOK / "claims.yml")
VERDICTS = claims.read_verdicts(BOOK)


def test_the_register_covers_both_papers() -> None:
    assert {claim.paper for claim in REAL.values()} == set(claims.read_papers(BOOK / "claims.yml"))


@pytest.mark.parametrize("claim", REAL.values(), ids=lambda claim: claim.id)
def test_a_claim_is_whole(claim: Claim) -> None:
    assert re.fullmatch(r"[a-z]+/[a-z0-9.\-]+", claim.id)
    assert claim.place.strip()
    assert claim.says.strip().endswith((".", ".)", "$"))
    assert re.fullmatch(r"[a-z0-9\-]+(/[a-z0-9\-]+)*", claim.chapter)
    assert claim.pending or (BOOK / f"{claim.chapter}.ipynb").is_file()


def test_places_are_not_repeated_within_a_paper() -> None:
    places = [(claim.paper, claim.place) for claim in REAL.values()]
    assert len(set(places)) == len(places)


def test_a_pending_claim_has_no_verdict() -> None:
    judged = {entry["claim"] for entry in VERDICTS}
    assert not [claim.id for claim in REAL.values() if claim.pending and claim.id in judged]


@pytest.mark.skipif(not VERDICTS, reason="no chapter has been executed yet")
def test_a_claim_that_is_not_pending_has_a_verdict() -> None:
    judged = {entry["claim"] for entry in VERDICTS}
    assert not [claim.id for claim in REAL.values() if not claim.pending and claim.id not in judged]


@pytest.mark.parametrize("path", sorted(BOOK.rglob("verdicts.json")), ids=lambda path: path.parent.name)
def test_a_chapter_s_verdicts_are_its_own(path: Path) -> None:
    name = path.parent.relative_to(BOOK).as_posix()
    for entry in json.loads(path.read_text(encoding="utf-8")):
        assert REAL[entry["claim"]].chapter == name
        assert Judgement(Verdict(entry["verdict"]), entry["evidence"])
