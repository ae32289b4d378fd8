import json
import re
from dataclasses import asdict
from pathlib import Path

import jsonschema
import pandas as pd
import pytest
import yaml

from companion.judging import claims
from companion.judging.claims import Claim
from companion.judging.findings import Consequence, Finding, Number, Verdict
from tests.each import each

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


def test_outside_it_is_the_one_of_this_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "away").mkdir(exist_ok=True)
    assert claims.find_register(tmp_path / "away").is_relative_to(BOOK)
    monkeypatch.setattr(claims, "PROJECT", tmp_path / "none")
    with pytest.raises(FileNotFoundError, match=r"no book/claims\.yml in .*away .* run inside the project"):
        claims.find_register(tmp_path / "away")


# findings


def test_findings_are_recorded_replaced_and_read_again(tmp_path: Path) -> None:
    claims.record(tmp_path, {"alpha/theorem-1": HELD, "alpha/theorem-2": CORRECTED})
    claims.record(tmp_path, {"alpha/theorem-1": FAILED})
    found = claims.read_findings(tmp_path)
    assert list(found) == ["alpha/theorem-1", "alpha/theorem-2"]
    assert found["alpha/theorem-2"] == CORRECTED
    assert str(found["alpha/theorem-1"]) == str(FAILED)  # NaN is not equal to itself
    assert r"$2\\lambda$" in (tmp_path / "verdicts.json").read_text(encoding="utf-8")


def test_findings_of_all_chapters_are_read(tmp_path: Path) -> None:
    for name, claim in (("b", "x/2"), ("a/deep", "x/1")):
        (tmp_path / name).mkdir(parents=True)
        claims.record(tmp_path / name, {claim: HELD})
    assert list(claims.read_findings(tmp_path)) == ["x/1", "x/2"]
    assert claims.read_findings(tmp_path / "a" / "deep" / "nothing") == {}


def test_two_chapters_do_not_judge_one_claim(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        claims.record(tmp_path / name, {"x/1": HELD})
    with pytest.raises(ValueError, match=r"^a claim must be judged once, got two verdicts on 'x/1'$"):
        claims.read_findings(tmp_path)


def test_a_verdict_is_one_of_the_five(tmp_path: Path) -> None:
    claims.record(tmp_path, {"x/1": HELD})
    path = tmp_path / "verdicts.json"
    path.write_text(path.read_text("utf-8").replace('"holds"', '"so"'), "utf-8")
    with pytest.raises(ValueError, match="'so' is not a valid Verdict"):
        claims.read_findings(tmp_path)


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


# the ledger


def test_the_ledger_joins_register_and_findings(book: Path) -> None:
    claims.record(book / "part" / "one", {"alpha/theorem-2": FAILED})
    table = small_ledger(book)
    columns = [
        "claim",
        "paper",
        "place",
        "says",
        "chapter",
        "verdict",
        "consequence",
        "evidence",
        "vacuous",
        "headline",
    ]
    assert list(table.columns) == columns
    assert list(table["claim"]) == list(claims.read_register(book / "claims.yml"))
    assert list(table["verdict"]) == ["pending", "fails", "pending", "pending"]
    assert list(table["consequence"]) == ["", "conclusion", "", ""]
    assert list(table["headline"]) == ["", "It is another *matter*.", "", ""]
    assert list(table["paper"]) == ["alpha", "alpha", "beta", "alpha"]


def test_a_verdict_has_a_claim(book: Path) -> None:
    claims.record(book / "part" / "one", {"alpha/theorem-2": HELD, "gamma/nothing": HELD})
    with pytest.raises(ValueError, match=r"^a verdict must have a claim, got \['gamma/nothing'\]$"):
        small_ledger(book)


def test_counts_by_paper_and_verdict(book: Path) -> None:
    claims.record(book / "part" / "one", {"alpha/theorem-2": FAILED, "alpha/theorem-1": FAILED})
    table = claims.counts(small_ledger(book))
    assert list(table.columns) == [*Verdict, "pending"]
    assert table.loc["alpha"].tolist() == [0, 0, 0, 2, 0, 1]
    assert table.loc["beta"].tolist() == [0, 0, 0, 0, 0, 1]


# the book's own register


REAL = claims.read_register(BOOK / "claims.yml")
FOUND = claims.read_findings(BOOK)


def test_the_register_covers_both_papers() -> None:
    assert {claim.paper for claim in REAL.values()} == set(claims.read_papers(BOOK / "claims.yml"))


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


def test_the_faster_parser_reads_the_register_as_the_plain_one_does() -> None:
    path = BOOK / "claims.yml"
    content = yaml.safe_load(path.read_text("utf-8"))
    assert claims.read_papers(path) == content["papers"]
    for one, entry in zip(claims.read_register(path).values(), content["claims"], strict=True):
        told = {key: value for key, value in asdict(one).items() if value} | (
            {"also": list(one.also)} if one.also else {}
        )
        dated = [{key: str(value) for key, value in judged.items()} for judged in entry.pop("history", [])]
        assert [{k: v for k, v in judged.items() if v} for judged in told.pop("history", ())] == dated
        assert told == entry
    claims.read_papers(path).clear()
    assert claims.read_papers(path) == content["papers"]
