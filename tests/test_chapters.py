import json
from dataclasses import dataclass, field
from pathlib import Path

import matplotlib.image
import matplotlib.pyplot as plt
import pandas as pd
import pytest

from costofprivacy.chapters import Chapter, Statements
from costofprivacy.claims import Claim, Judgement, Verdict, badge
from costofprivacy.montecarlo import Runner

REGISTER = """
papers: {}
claims:
  - {id: x/theorem-1, place: Theorem 1, says: One., chapter: part/one}
  - {id: x/theorem-2, place: Theorem 2, says: Two., chapter: part/one}
  - {id: x/theorem-3, place: Theorem 3, says: Three., chapter: part/two}
"""
TABLE = pd.DataFrame({"N": [1000, 2000], "excess_risk": [0.1, 1 / 3], "method": ["zero", "noisyhead"]})

HELD = Judgement(Verdict.HOLDS, "seen")


@dataclass
class Recorder:
    """An experiment that keeps the runners it is given."""

    runners: list[Runner] = field(default_factory=list)

    def run(self, runner: Runner) -> dict[str, pd.DataFrame]:
        self.runners.append(runner)
        return {"figure-1": TABLE, "spread": TABLE[["N"]]}


@pytest.fixture
def book(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A book whose folder ``part`` is the working directory, with nothing told by the environment."""
    for name in ("RESULTS", "CACHE", "PROGRESS", "BOOK"):
        monkeypatch.delenv(f"COSTOFPRIVACY_{name}", raising=False)
    (tmp_path / "part").mkdir()
    (tmp_path / "claims.yml").write_text(REGISTER, encoding="utf-8")
    monkeypatch.chdir(tmp_path / "part")
    return tmp_path


def verdicts(folder: Path) -> dict[str, str]:
    return {e["claim"]: e["verdict"] for e in json.loads((folder / "verdicts.json").read_text(encoding="utf-8"))}


# where results go


def test_results_lie_beside_the_page(book: Path) -> None:
    assert Chapter("part/one").results == book / "part" / "one"


def test_results_go_where_the_environment_says(book: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("COSTOFPRIVACY_RESULTS", str(tmp_path / "runs" / "7"))
    chapter = Chapter("part/one")
    assert chapter.results == tmp_path / "runs" / "7"
    chapter.run(Recorder())
    assert sorted(path.name for path in chapter.results.iterdir()) == ["figure-1.csv", "spread.csv"]
    assert list((book / "part").iterdir()) == []


def test_making_a_chapter_writes_nothing(book: Path) -> None:
    Chapter("part/one")
    assert list((book / "part").iterdir()) == []


def test_a_chapter_runs_inside_a_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileNotFoundError, match="run inside the project"):
        Chapter("part/one")


# runs


def test_tables_are_returned_and_saved(book: Path) -> None:
    tables = Chapter("part/one").run(Recorder())
    assert list(tables) == ["figure-1", "spread"]
    saved = pd.read_csv(book / "part" / "one" / "figure-1.csv")
    pd.testing.assert_frame_equal(saved, TABLE, check_exact=True)
    assert (book / "part" / "one" / "spread.csv").read_text(encoding="utf-8") == "N\n1000\n2000\n"


def test_by_default_a_run_uses_all_cores_keeps_nothing_and_draws_a_bar(book: Path) -> None:
    experiment = Recorder()
    Chapter("part/one").run(experiment)
    assert experiment.runners == [Runner(workers=-1, cache=None, progress=True)]


def test_the_environment_tells_cache_and_terminal(book: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    experiment = Recorder()
    monkeypatch.setenv("COSTOFPRIVACY_CACHE", "/some/cache")
    monkeypatch.setenv("COSTOFPRIVACY_PROGRESS", "/dev/pts/99")
    Chapter("part/one").run(experiment, workers=2)
    assert experiment.runners == [Runner(workers=2, cache=Path("/some/cache"), progress="/dev/pts/99")]


def test_an_empty_terminal_means_no_bar(book: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    experiment = Recorder()
    monkeypatch.setenv("COSTOFPRIVACY_CACHE", "")
    monkeypatch.setenv("COSTOFPRIVACY_PROGRESS", "")
    Chapter("part/one").run(experiment)
    assert experiment.runners[0].cache is None
    assert not experiment.runners[0].progress


def test_a_run_with_an_inadmissible_number_of_workers_measures_nothing(book: Path) -> None:
    experiment = Recorder()
    with pytest.raises(ValueError, match=r"^workers must be"):
        Chapter("part/one").run(experiment, workers=0)
    assert experiment.runners == []
    assert not (book / "part" / "one").exists()


def test_a_figure_is_saved_closed_and_shown_as_the_same_picture_each_time(book: Path) -> None:
    path = book / "part" / "one" / "figure-1.png"
    pictures = []
    for _ in range(2):
        figure, axes = plt.subplots(figsize=(2, 1), dpi=50)
        axes.plot([1, 2])
        shown = Chapter("part/one").show("figure-1", figure)
        assert not plt.fignum_exists(figure.number)
        assert shown.format == "png"
        assert shown.data == path.read_bytes()
        pictures.append(shown.data)
    assert pictures[0] == pictures[1]
    assert b"matplotlib" not in pictures[0].lower()
    assert matplotlib.image.imread(path).ndim == 3


# verdicts


def test_judgements_are_saved_and_stated_without_evidence(book: Path) -> None:
    stated = Chapter("part/one").judge(
        {
            "x/theorem-1": Judgement(Verdict.AMENDED, "ratio 0.123 of 500 trials"),
            "x/theorem-2": Judgement(Verdict.FAILS, "ratio 4.56 of 500 trials"),
        }
    )
    assert repr(stated) == "x/theorem-1: holds, amended\nx/theorem-2: fails"
    html = stated._repr_html_()
    assert html.startswith('<ul class="verdicts"><li>')
    assert f"<li>{badge('holds, amended')} <strong>Theorem 1</strong></li>" in html
    assert f"<li>{badge('fails')} <strong>Theorem 2</strong></li>" in html
    for text in (repr(stated), html):
        assert not any(word in text for word in ("ratio", "0.123", "4.56", "500"))
    assert verdicts(book / "part" / "one") == {"x/theorem-1": "holds, amended", "x/theorem-2": "fails"}
    assert "ratio 4.56" in (book / "part" / "one" / "verdicts.json").read_text(encoding="utf-8")


def test_statements_escape_what_they_show() -> None:
    claim = Claim(id="x/1", place="a<b & c", says="One.", chapter="part/one")
    assert "<strong>a&lt;b &amp; c</strong>" in Statements({claim: Verdict.HOLDS})._repr_html_()


def test_a_later_judgement_takes_the_place_of_the_earlier(book: Path) -> None:
    for verdict in (Verdict.HOLDS, Verdict.FAILS):
        Chapter("part/one").judge({"x/theorem-1": Judgement(verdict, "seen")})
    assert verdicts(book / "part" / "one") == {"x/theorem-1": "fails"}


@pytest.mark.parametrize(
    ("claim", "owner"), [("x/theorem-3", "part/two"), ("x/theorem-9", "no chapter"), ("", "no chapter")]
)
def test_a_chapter_judges_its_own_claims_only(book: Path, claim: str, owner: str) -> None:
    with pytest.raises(ValueError, match=f"^claim must belong to part/one, got '{claim}', which belongs to {owner}$"):
        Chapter("part/one").judge({"x/theorem-1": HELD, claim: HELD})
    assert not (book / "part" / "one" / "verdicts.json").exists()


def test_the_evidence_is_a_list_of_the_chapter_s_claims(book: Path) -> None:
    chapter = Chapter("part/one")
    chapter.judge({"x/theorem-2": Judgement(Verdict.HOLDS, "ratio 0.5")})
    text = chapter.evidence().data
    assert "**Theorem 1.** One." in text
    assert "*Found:* ratio 0.5." in text
    assert "Theorem 3" not in text
