import json
import re
from dataclasses import replace
from pathlib import Path

import jsonschema
import pandas as pd
import pytest

import costofprivacy
from companion.judging import claims, errata
from companion.judging.claims import Claim, Judged
from companion.judging.findings import Consequence, Finding, Number, Verdict
from tests.each import each, refused

BOOK = Path(__file__).parents[3] / "book"

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
CHANGE = "More trials."
HELD = Finding(
    Verdict.HOLDS, "It is so.", (Number("ratio", 1.0, 0.1, 1.0, "figure-1", "N = 1000"),), would_change=CHANGE
)
FAILED = Finding(
    Verdict.FAILS,
    "It is another *matter*.",
    (Number("ratio", float("inf")), Number("share", float("nan"), None, 0.5)),
    Consequence.CONCLUSION,
    would_change=CHANGE,
)
CORRECTED = Finding(
    Verdict.CORRECTED, "It is twice that.", (Number("ratio", 2.0),), Consequence.NUMBERS, r"$2\lambda$", CHANGE
)


@pytest.fixture
def book(tmp_path: Path) -> Path:
    book = tmp_path / "project" / "book"
    (book / "part" / "one").mkdir(parents=True)
    (book / "claims.yml").write_text(REGISTER, encoding="utf-8")
    return book


def small_ledger(book: Path) -> pd.DataFrame:
    return claims.ledger(claims.read_register(book / "claims.yml").values(), claims.read_findings(book))


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
    refused(r"^id must be given to one claim only, got 'alpha/theorem-2' twice in claims", claims.read_register, path)


@pytest.mark.parametrize("start", ["", "book/part/one"])
def test_the_register_is_found_from_anywhere_inside(book: Path, start: str) -> None:
    assert claims.find_register(book.parent / start) == (book / "claims.yml").resolve()


def test_outside_it_is_the_one_of_this_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "away").mkdir(exist_ok=True)
    assert claims.find_register(tmp_path / "away").is_relative_to(BOOK)
    monkeypatch.setattr(claims, "PROJECT", tmp_path / "none")
    with pytest.raises(FileNotFoundError, match=r"no book/claims\.yml in .*away .* run inside the project"):
        claims.find_register(tmp_path / "away")


def test_findings_are_recorded_replaced_and_read_again(tmp_path: Path) -> None:
    claims.record(tmp_path, {"alpha/theorem-1": HELD, "alpha/theorem-2": CORRECTED})
    claims.record(tmp_path, {"alpha/theorem-1": FAILED})
    found = claims.read_findings(tmp_path)
    assert list(found) == ["alpha/theorem-1", "alpha/theorem-2"]
    assert found["alpha/theorem-2"] == CORRECTED
    assert str(found["alpha/theorem-1"]) == str(FAILED)  # NaN is not equal to itself
    assert r"$2\\lambda$" in (tmp_path / "verdicts.json").read_text(encoding="utf-8")


def test_two_chapters_do_not_judge_one_claim(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        claims.record(tmp_path / name, {"x/1": HELD})
    refused(r"^a claim must be judged once, got two verdicts on 'x/1'$", claims.read_findings, tmp_path)


SCHEMA = json.loads((Path(claims.__file__).parent / "verdicts.schema.json").read_text("utf-8"))


def test_recorded_findings_follow_the_schema(tmp_path: Path) -> None:
    claims.record(tmp_path, {"alpha/theorem-1": HELD, "alpha/theorem-2": FAILED, "alpha/lemma-1": CORRECTED})
    entries = json.loads((tmp_path / "verdicts.json").read_text("utf-8"))
    jsonschema.validate(entries, SCHEMA)
    for key in entries[0]:
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate([{k: v for k, v in entries[0].items() if k != key}], SCHEMA)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate([entries[0] | {"verdict": "holds, amended"}], SCHEMA)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate([entries[0] | {"evidence": "so"}], SCHEMA)


def test_the_ledger_joins_register_and_findings(book: Path) -> None:
    claims.record(book / "part" / "one", {"alpha/theorem-2": FAILED})
    table = small_ledger(book)
    assert " ".join(table) == "claim paper place says chapter verdict consequence evidence vacuous headline"
    assert list(table["claim"]) == list(claims.read_register(book / "claims.yml"))
    assert list(table["verdict"]) == ["pending", "fails", "pending", "pending"]
    assert list(table["consequence"]) == ["", "conclusion", "", ""]
    assert list(table["headline"]) == ["", "It is another *matter*.", "", ""]
    assert list(table["paper"]) == ["alpha", "alpha", "beta", "alpha"]


def test_a_verdict_has_a_claim(book: Path) -> None:
    claims.record(book / "part" / "one", {"alpha/theorem-2": HELD, "gamma/nothing": HELD})
    refused(r"^a verdict must have a claim, got \['gamma/nothing'\]$", small_ledger, book)


def test_counts_by_paper_and_verdict(book: Path) -> None:
    claims.record(book / "part" / "one", {"alpha/theorem-2": FAILED, "alpha/theorem-1": FAILED})
    table = claims.counts(small_ledger(book))
    assert list(table.columns) == [*Verdict, "pending"]
    assert table.loc["alpha"].tolist() == [0, 0, 0, 2, 0, 1]
    assert table.loc["beta"].tolist() == [0, 0, 0, 0, 0, 1]


REAL = claims.read_register(BOOK / "claims.yml")
FOUND = claims.read_findings(BOOK)


@each("claim", REAL.values())
def test_a_claim_is_whole(claim: Claim) -> None:
    assert re.fullmatch(r"[a-z]+/[a-z0-9.\-]+", claim.id)
    assert claim.place.strip()
    assert claim.says.strip().endswith((".", ".)", "$"))
    assert re.fullmatch(r"[a-z0-9\-]+(/[a-z0-9\-]+)*", claim.chapter)
    assert claim.pending or (BOOK / f"{claim.chapter}.ipynb").is_file()


def test_places_are_not_repeated_within_a_paper() -> None:
    places = [(claim.paper, claim.place) for claim in REAL.values()]
    assert len(set(places)) == len(places)


def test_the_claims_that_have_a_finding_are_those_whose_chapter_is_written() -> None:
    assert set(FOUND) == {claim.id for claim in REAL.values() if not claim.pending}


@each("path", sorted(BOOK.rglob("verdicts.json")))
def test_a_chapter_s_verdicts_are_its_own_and_follow_the_schema(path: Path) -> None:
    name, entries = path.parent.relative_to(BOOK).as_posix(), json.loads(path.read_text(encoding="utf-8"))
    jsonschema.validate(entries, SCHEMA)
    assert {REAL[entry["claim"]].chapter for entry in entries} == {name}
    tables = {file.stem for file in path.parent.glob("*.csv")} | {""}
    assert {number["table"] for entry in entries for number in entry["numbers"]} <= tables


# ----------------------------------------------------------------------------------------------- the book's own claims


CONCLUDES = ("Abstract: ", "Introduction: ", "Conclusion: ", "Guarantee: ")
JUDGED = [claim for claim in REAL.values() if claim.history]


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
    entries = errata.errata(REAL, FOUND)
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
    assert not set(withdrawn) & (set(REAL) | set(FOUND))
    assert all(claim.verdict != claims.WITHDRAWN for claim in JUDGED)


# -------------------------------------------------------------------------------------- histories and withdrawn claims


HISTORIES = """
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


@pytest.fixture
def histories(tmp_path: Path) -> Path:
    folder = tmp_path / "book"
    folder.mkdir()
    (folder / "claims.yml").write_text(HISTORIES, encoding="utf-8")
    return folder


@pytest.fixture
def register(histories: Path) -> dict[str, Claim]:
    return claims.read_register(histories / "claims.yml")


def test_claims_that_changed_for_one_reason_stand_together(register: dict[str, Claim]) -> None:
    told = {change[-1]: [claim.id for claim in befell] for change, befell in errata.changes(register).items()}
    both = ["alpha/theorem-2", "beta/figure-1"]
    assert told == {"Tried.": ["alpha/theorem-1"], "Saved.": ["alpha/theorem-1"], "One rule for all.": both}


def test_the_last_verdict_of_each_history_is_the_one_that_the_book_found(register: dict[str, Claim]) -> None:
    present = ["holds", "holds, narrower", "holds, narrower", ""]
    assert [claim.verdict for claim in register.values()] == present
    told = {claim.id: claim.verdict for claim in REAL.values() if claim.history}
    assert told == {claim: str(found.verdict) for claim, found in FOUND.items()}, "say why in claims.yml"
    assert len(errata.changes(REAL)) > 1


def test_an_unknown_verdict_is_refused() -> None:
    refused(r"^a verdict must be one of .*, got 'so'$", Judged, "1.0.0", "so")


@pytest.mark.parametrize(
    ("after", "message"),
    [
        (Judged("1", "holds", "2026-01-01", "Tried."), "a change must change something, got 'holds' twice for a/1"),
        (Judged("1", "fails", "2026-01-01"), "a change must have a date and a reason, got none for a/1: 'fails'"),
        (Judged("1", "fails", "", "Tried."), "a change must have a date and a reason, got none for a/1: 'fails'"),
    ],
)
def test_what_is_no_change_is_refused(after: Judged, message: str) -> None:
    refused(message, Claim, "a/1", "Theorem 1", "One.", "part/one", history=(Judged("0", "holds"), after))


# -------------------------------------------------------------------------------------------------------------- errata


ERRATA = """
papers:
  alpha: {title: First Paper, arxiv: 1.5, short: Alpha}
  beta: {title: Second Paper, arxiv: "2", short: Beta}
claims:
  - {id: alpha/theorem-1, place: Theorem 1, says: "One\\n  $x$.", chapter: part/one, also: [(C.12)]}
  - {id: alpha/theorem-2, place: Theorem 2, says: Two., chapter: part/one}
  - {id: alpha/theorem-3, place: Theorem 3, says: Three., chapter: part/one}
  - {id: beta/figure-1, place: Figure 1, says: Four., chapter: part/one}
  - {id: beta/figure-2, place: Figure 2, says: Five., chapter: part/one, pending: true}
  - {id: alpha/theorem-4, place: Theorem 4, says: Six., chapter: part/one, slip: alpha/theorem-1}
  - {id: alpha/theorem-5, place: Theorem 5, says: Seven., chapter: part/one, no_erratum: A choice of settings.}
slips:
  - {paper: beta, place: (C.1), printed: One., should_read: Two., why: It is two., chapter: part/one}
"""
ONE = (Number("n", 1.0),)
FINDINGS = {
    "alpha/theorem-1": Finding(Verdict.CORRECTED, "Twice.", ONE, Consequence.NUMBERS, "$2x$ there.", "More.", "$x$."),
    "alpha/theorem-4": Finding(Verdict.CORRECTED, "So.", ONE, Consequence.NONE, "$2y$.", "More.", "$y$."),
    "alpha/theorem-5": Finding(Verdict.FAILS, "Grid.", ONE, Consequence.NONE, would_change="More."),
    "alpha/theorem-2": Finding(Verdict.HOLDS, "So.", ONE, would_change="More."),
    "alpha/theorem-3": Finding(Verdict.FAILS, "Not.", ONE, Consequence.CONCLUSION, would_change="More."),
    "beta/figure-1": Finding(
        Verdict.NARROWER, "Rarely.", ONE, Consequence.CONCLUSION, would_change="More.", condition="For few."
    ),
}


@pytest.fixture
def wrong(tmp_path: Path) -> Path:
    (tmp_path / "part").mkdir()
    (tmp_path / "claims.yml").write_text(ERRATA, encoding="utf-8")
    claims.record(tmp_path / "part", FINDINGS)
    return tmp_path


def test_a_choice_of_settings_is_no_erratum(wrong: Path) -> None:
    register = claims.read_register(wrong / "claims.yml")
    assert "alpha/theorem-5" not in {entry.root.id for entry in errata.errata(register, FINDINGS)}


def test_a_slip_is_inherited_from_its_root(wrong: Path) -> None:
    register = claims.read_register(wrong / "claims.yml")
    deeper = register | {"alpha/theorem-1": replace(register["alpha/theorem-1"], slip="alpha/theorem-3")}
    for known in (deeper, {"alpha/theorem-4": register["alpha/theorem-4"]}):
        refused("slip must name an erratum that is its own root, got 'alpha/theorem-1'", errata.errata, known, FINDINGS)


def test_what_cannot_be_tested_is_no_erratum(wrong: Path) -> None:
    untestable = Finding(Verdict.UNTESTABLE, "Nothing.", would_change="More.")
    register = claims.read_register(wrong / "claims.yml")
    assert errata.errata(register, {"alpha/theorem-1": untestable}) == []


def test_the_data_say_the_same(wrong: Path) -> None:
    data = json.loads(errata.data(wrong))
    assert data["version"] == costofprivacy.__version__
    assert data["papers"]["beta"]["title"] == "Second Paper"
    assert [entry["claim"] for entry in data["errata"]] == ["alpha/theorem-3", "beta/figure-1", "alpha/theorem-1"]
    last = data["errata"][2]
    assert (last["says"], last["verdict"], last["consequence"]) == ("One $x$.", "holds, corrected", "numbers")
    assert (last["printed"], last["should_read"], last["found"]) == ("$x$.", "$2x$ there.", "Twice.")
    assert (last["rests"], last["also"]) == (["alpha/theorem-4"], ["(C.12)"])
    assert data["slips"][0]["why"] == "It is two."


# ---------------------------------------------------------------------------------------- headlines that state a bound


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


@each("claim", [claim for claim in REAL.values() if claim.headline])
def test_a_bound_has_its_sizes_or_its_derivation(claim: Claim) -> None:
    assert not unfounded(claim.headline, claim.derived), claim.headline
