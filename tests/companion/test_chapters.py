import itertools
import json
import os
import subprocess
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd
import pytest
import seaborn as sns

from companion import chapters
from companion.chapters import Chapter, Statements
from companion.judging import cards, claims
from companion.judging.claims import Claim
from companion.judging.findings import Verdict
from companion.running import stamps
from companion.running.montecarlo import Runner
from companion.showing.plates import Plate
from tests.each import refused
from tests.trees import write_tree

REGISTER = """
papers: {x: {arxiv: "1.2v1"}}
claims:
  - id: x/theorem-1
    place: Theorem 1
    says: One.
    chapter: part/one
    headline: It has {{ rows }} rows.
    would_change: More rows.
    history: [{version: 0.1.0, verdict: fails}]
  - id: x/theorem-2
    place: Theorem 2
    says: Two.
    chapter: part/one
    headline: It says nothing.
    would_change: A number.
    history: [{version: 0.1.0, verdict: untestable}]
  - {id: x/theorem-3, place: Theorem 3, says: Three., chapter: part/two}
  - {id: x/theorem-4, place: Theorem 4, says: Four., chapter: part/one, pending: true}
"""
TABLE = pd.DataFrame({"N": [1000, 2000], "excess_risk": [0.1, 1 / 3], "method": ["zero", "noisyhead"]})
FILES = {
    "__init__.py": "",
    "part/one/measure.py": """
import pandas as pd
from costofprivacy._validate import at_least
from companion.declaration import Parameters, parameter
RUNNERS = []
class Experiment(Parameters):
    trials: int = parameter(at_least(1), 5)
    def run(self, runner):
        RUNNERS.append(runner)
        table = pd.DataFrame({"N": [1000, 2000], "excess_risk": [0.1, 1 / 3], "method": ["zero", "noisyhead"]})
        return {"figure-1": table, "spread": table[["N"]]}
""",
    "part/one/show.py": """
"Does it fall?"
def answer(tables):
    return [f"It has {len(tables['figure-1'])} rows.", "They fall."]
""",
    "part/one/judge.py": """
from companion.judging.judges import judges
@judges("x/theorem-1")
def theorem_1(found):
    rows = len(found["figure-1"])
    found.number("rows", rows, table="figure-1")
    return found.ruling(rows=rows)
@judges("x/theorem-2")
def theorem_2(found):
    return found.ruling(decided=False)
""",
}
NUMBERS = itertools.count()


@pytest.fixture
def book(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A book whose folder ``part`` is the working directory, with experiments of its own and nothing told."""
    for name in ("RESULTS", "SAVED", "CACHE", "PROGRESS", "WORKERS", "BOOK"):
        monkeypatch.delenv(f"COSTOFPRIVACY_{name}", raising=False)
    package = f"smallexperiments{next(NUMBERS)}"
    write_tree(tmp_path / "lib" / package, FILES)
    monkeypatch.setattr(chapters, "EXPERIMENTS", package)
    monkeypatch.syspath_prepend(tmp_path / "lib")
    (tmp_path / "part").mkdir()
    (tmp_path / "claims.yml").write_text(REGISTER, encoding="utf-8")
    monkeypatch.chdir(tmp_path / "part")
    return tmp_path


def chapter(**names: object) -> Chapter:
    return Chapter("part/one", names)


def runners(made: Chapter) -> list[Runner]:
    """The runners that the chapter's experiment was given."""
    import importlib

    return importlib.import_module(f"{made.package}.measure").RUNNERS


def stamp(made: Chapter) -> None:
    """Stamp the chapter's tables as the book does after a run."""
    files = {path.name: stamps.file_digest(path) for path in sorted(made.results.glob("*.csv"))}
    measured = {"inputs": stamps.measured_from(made.experiment, stamps.find_root(Path.cwd())), "files": files}
    (made.results / "stamp.json").write_text(json.dumps({"measured": measured}))


def test_the_page_s_names_are_its_parameters(book: Path) -> None:
    assert chapter(trials=7, other="name").experiment.trials == 7
    assert chapter().experiment.trials == 5
    refused(r"^trials must be a whole number of at least 1, got 0$", chapter, trials=0)


def test_results_go_where_the_environment_says(book: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("COSTOFPRIVACY_RESULTS", str(tmp_path / "runs" / "7"))
    made = chapter()
    assert made.results == tmp_path / "runs" / "7"
    made.run()
    assert sorted(path.name for path in made.results.iterdir()) == ["figure-1.csv", "spread.csv"]
    assert list((book / "part").iterdir()) == []


@pytest.mark.parametrize("folder", ["book/part", "."], ids=["as JupyterLab and nbval", "as papermill"])
def test_a_live_session_leaves_what_is_committed_alone_and_says_so(
    folder: str, book: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("_toc.yml", "requirements.txt"):
        (book / name).touch()
    here = book / "book" / "part"
    here.mkdir(parents=True)
    monkeypatch.chdir(here)
    monkeypatch.setenv("COSTOFPRIVACY_RESULTS", str(here / "one"))
    committed = chapter()
    committed.run()
    stamp(committed)
    before = {path: path.read_bytes() for path in here.rglob("*") if path.is_file()}
    monkeypatch.delenv("COSTOFPRIVACY_RESULTS")
    monkeypatch.chdir(book / folder)
    assert capsys.readouterr() == ("", "")
    for trials, measured in ((5, 0), (6, 1)):  # with the committed parameters the committed tables are read
        made = chapter(trials=trials)
        known = len(runners(made))
        made.run()
        assert made.results == book / "_build" / "live" / "part" / "one"
        written = capsys.readouterr()
        done = "simulated 6 trials in 0 s" if measured else "read from book/part/one; run(fresh=True) simulates"
        assert written.err == f"{done}; what this session makes goes to _build/live/part/one\n"
        assert written.out == ""
        assert len(runners(made)) - known == measured
    assert before == {path: path.read_bytes() for path in here.rglob("*") if path.is_file()}


def test_a_copied_chapter_runs_outside_the_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COSTOFPRIVACY_RESULTS", raising=False)
    monkeypatch.chdir(tmp_path)
    copied = Chapter("noisyhead/mechanism", {"trials": 2})
    assert "make chapter NAME=noisyhead/mechanism" in copied.closing().data
    assert copied.results == tmp_path / "mechanism"


def test_tables_are_returned_as_they_were_saved(book: Path) -> None:
    tables = chapter().run()
    assert list(tables) == ["figure-1", "spread"]
    pd.testing.assert_frame_equal(tables["figure-1"], TABLE, check_exact=True)
    assert (book / "part" / "one" / "spread.csv").read_text(encoding="utf-8") == "N\n1000\n2000\n"


def test_tables_come_in_one_order_whether_measured_or_read(book: Path) -> None:
    """The page lists them: it must not tell whether it measured them. A stamp has the order of the files."""
    made = chapter()
    measured = list(made.keep({"noise": TABLE, "first": TABLE, "noise-law": TABLE}))
    stamp(made)
    read = stamps.saved_tables(made.results, stamps.measured_from(made.experiment, stamps.find_root(Path.cwd())))
    assert read is not None
    assert measured == list(read) == ["first", "noise-law", "noise"]


def test_by_default_a_run_uses_all_cores_keeps_nothing_and_draws_a_bar(book: Path) -> None:
    made = chapter()
    made.run()
    assert runners(made) == [Runner(workers=-1, cache=None, progress=True)]


def test_the_environment_tells_cache_terminal_and_workers(book: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COSTOFPRIVACY_CACHE", "/some/cache")
    monkeypatch.setenv("COSTOFPRIVACY_PROGRESS", "/dev/pts/99")
    made = chapter(workers=2)
    made.run()
    monkeypatch.setenv("COSTOFPRIVACY_WORKERS", "1")
    chapter(workers=2).run()
    expected = Runner(workers=2, cache=Path("/some/cache"), progress="/dev/pts/99")
    assert runners(made) == [expected, Runner(1, expected.cache, expected.progress)]


def test_tables_that_are_still_what_would_be_measured_are_read(book: Path) -> None:
    made = chapter()
    first = made.run()
    stamp(made)
    again = chapter().run()
    assert len(runners(made)) == 1
    for name in first:
        pd.testing.assert_frame_equal(first[name], again[name], check_exact=True)
    chapter().run(fresh=True)
    assert len(runners(made)) == 2


def test_other_parameters_touched_tables_or_an_order_measure_anew(book: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = chapter()
    made.run()
    stamp(made)
    chapter(trials=6).run()
    assert len(runners(made)) == 2
    (made.results / "spread.csv").write_text("N\n1000\n2001\n")
    chapter().run()
    assert len(runners(made)) == 3
    stamp(made)
    monkeypatch.setenv("COSTOFPRIVACY_SAVED", "")
    chapter().run()
    assert len(runners(made)) == 4


def test_tables_are_read_from_another_folder_and_copied_byte_for_byte(
    book: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    made = chapter()
    made.run()
    stamp(made)
    monkeypatch.setenv("COSTOFPRIVACY_SAVED", f"{tmp_path / 'nothing'}:{made.results}")
    monkeypatch.setenv("COSTOFPRIVACY_RESULTS", str(tmp_path / "run"))
    chapter().run()
    assert len(runners(made)) == 1
    assert (tmp_path / "run" / "figure-1.csv").read_bytes() == (made.results / "figure-1.csv").read_bytes()


def test_a_plate_is_saved_beside_the_tables_and_shown_with_its_words(book: Path) -> None:
    figure, axes = plt.subplots(figsize=(2, 1))
    axes.plot([1, 2])
    shown = chapter().show("figure-1", Plate(figure, "It rises to 2.", "From 1 to 2."))
    assert shown.svg == (book / "part" / "one" / "figure-1.svg").read_text("utf-8")
    assert (book / "part" / "one" / "figure-1.narrow.svg").is_file()
    assert shown.words == {"name": "part-one-figure-1", "caption": "It rises to 2.", "alt": "From 1 to 2."}


def test_a_figure_of_the_notebook_is_saved_as_a_plate_is_and_needs_a_caption(book: Path) -> None:
    table = pd.DataFrame({"x": [1, 2] * 2, "y": [1.0, 2.0, 3.0, 5.0], "head": ["a", "a", "b", "b"]})
    axes = sns.lineplot(table, x="x", y="y", hue="head", style="head", markers=True)
    shown = chapter().show("figure-1", axes, "Both rise.")
    assert shown.svg == (book / "part" / "one" / "figure-1.svg").read_text("utf-8")
    assert shown.words["alt"] == "y for x from 1 to 2: a rises from 1 to 2; b rises from 3 to 5."
    refused(r"^caption must say something, got ''$", chapter().show, "figure-1", axes)


def test_a_page_opens_with_its_question_and_lines_made_from_its_tables(book: Path) -> None:
    made = chapter()
    made.run()
    assert made.opening().data == "````{div} question\nDoes it fall?\n````\n\n- It has 2 rows.\n- They fall."


def test_some_cards_lead_and_the_other_claims_are_listed(book: Path) -> None:
    made = chapter()
    made.run()
    text = made.leading("theorem-2").data
    assert text.index("#claim-x-theorem-2") < text.index("#claim-x-theorem-1")
    assert "It says nothing." in text
    assert "theorem-4" not in text
    refused(r"^claim must be one of theorem-1, theorem-2, got 'theorem-3'$", made.leading, "theorem-3")
    refused(r"^at most 4 cards can lead, got 5$", made.leading, *["theorem-1"] * 5)


def test_judging_saves_the_findings_and_states_the_verdicts_alone(book: Path) -> None:
    made = chapter()
    made.run()
    stated = made.judge("theorem-1", "theorem-2")
    assert repr(made.judge()) == repr(stated)
    assert repr(stated) == "x/theorem-1: fails\nx/theorem-2: untestable"
    html = stated._repr_html_()
    assert html.startswith('<ul class="verdicts"><li>')
    assert f"<li>{cards.badge('fails')} <a href='one-claims.html#claim-x-theorem-1'>Theorem 1</a></li>" in html
    whole = made.judge()._repr_html_()
    assert "<a href='one-claims.html'>All 2 claims of this chapter, with the evidence</a>: " in whole
    for text in (repr(stated), html):
        assert not any(word in text for word in ("rows", "2 ", "says"))
    found = {claim: str(finding.verdict) for claim, finding in claims.read_findings(made.results).items()}
    assert found == {"x/theorem-1": "fails", "x/theorem-2": "untestable"}


@pytest.mark.parametrize("name", ["theorem-3", "theorem-4", ""])
def test_a_chapter_judges_its_own_claims_only(book: Path, name: str) -> None:
    made = chapter()
    made.run()
    refused(f"^claim must be one of theorem-1, theorem-2, got '{name}'$", made.judge, "theorem-1", name)
    assert not (made.results / "verdicts.json").exists()


def test_a_claim_without_a_judge_is_named(book: Path) -> None:
    text = REGISTER.replace("chapter: part/two", "chapter: part/one")
    (book / "claims.yml").write_text(text, encoding="utf-8")
    made = chapter()
    made.run()
    refused(r"must have a judge in .*, got none for \['x/theorem-3'\]$", made.judge)


def test_statements_escape_what_they_show() -> None:
    claim = Claim(id="x/1", place="a<b & c", says="One.", chapter="part/one")
    assert ">a&lt;b &amp; c</a>" in Statements({claim: Verdict.HOLDS})._repr_html_()


@pytest.mark.slow
def test_a_home_that_cannot_be_written_to_is_no_output_of_a_page(tmp_path: Path) -> None:
    """Matplotlib would say on the error stream that it keeps its cache elsewhere."""
    home = tmp_path / "home"
    home.write_text("no folder")  # even the superuser makes no folder in a file
    others = ("MPLCONFIGDIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "MPLBACKEND")
    settings = {name: value for name, value in os.environ.items() if name not in others} | {"HOME": str(home)}
    for module, said in (("matplotlib", True), ("companion.chapters", False)):
        command = [sys.executable, "-c", f"import {module}"]
        done = subprocess.run(command, env=settings, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert ("temporary cache directory" in done.stderr) == said
        assert said or not done.stderr
