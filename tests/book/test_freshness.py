"""What an executed chapter depends on, and what is executed again when that changes."""

import nbformat
import pytest

from companion.build import freshness, notebooks
from companion.build.build import TreePlan, bring_up_to_date, prune
from companion.build.project import Place, Project, RequestError, chapters, module_name, place

from .conftest import NAME, VALUES, Rewrite, commit

PAPER = VALUES[NAME]


@pytest.fixture
def executed(project: Project) -> Place:
    """The first chapter with a table, stamped."""
    commit(project)
    return place(project.book, NAME)


def why_stale(project: Project, target: Place, parameters: dict[str, object] | None = None) -> str:
    expected = freshness.inputs(project, NAME, parameters or PAPER, project.book)
    return freshness.why_stale(target, expected)


def test_a_stamped_chapter_is_fresh(project: Project, executed: Place) -> None:
    assert why_stale(project, executed) == ""


@pytest.mark.parametrize(
    ("file", "old", "new", "reason"),
    [
        ("lib/{package}/tools.py", "2 * value", "3 * value", "measured: code; told: library"),
        ("lib/{package}/part/first_one/judge.py", "LIMIT = 1", "LIMIT = 2", "told: library"),
        ("lib/{package}/tools.py", '"""Twice."""', '"""Two times."""', ""),
        ("requirements.txt", "numpy==2", "numpy==3", "measured: requirements"),
        ("requirements.txt", "sphinx==7", "sphinx==8", ""),
        ("book/costs/chapters.csv", "part/first-one,5", "part/first-one,6", "told: time"),
        ("book/claims.yml", "says: so", "says: otherwise", "told: claims"),
        ("book/claims.yml", "says: thus", "says: otherwise", ""),
        ("book/columns.yml", "A number", "A value", "told: columns"),
        ("book/columns.yml", "A word", "A name", ""),
        ("book/part/first-one.ipynb", "Prose.", "Other prose.", "told: cells"),
        ("book/part/first-one/figure-1.csv", "1", "2", "edited since: figure-1.csv"),
    ],
)
def test_what_a_page_depends_on_makes_it_stale(
    project: Project, executed: Place, rewrite: Rewrite, file: str, old: str, new: str, reason: str
) -> None:
    rewrite(file, old, new)
    assert why_stale(project, executed) == reason


def test_a_tolerance_makes_nothing_stale(project: Project, executed: Place) -> None:
    """How near numbers have to come again is neither measured nor told: declared or changed, every stamp stays."""
    package = project.root / "lib" / project.package / "part" / "first_one"
    for content in ("TOLERANCES = {}\n", "TOLERANCES = {'figure-1': {}}\n"):
        (package / "tolerances.py").write_text(content)
        assert why_stale(project, executed) == ""
    (package / "words.py").write_text("WORD = 1\n")
    assert why_stale(project, executed) == "told: library"


def test_other_parameters_another_number_of_workers_and_another_version_make_a_page_stale(
    project: Project, executed: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert why_stale(project, executed, PAPER | {"trials": 2}) == "measured: parameters"
    assert why_stale(project, executed, PAPER | {"workers": 2}) == "told: workers"
    monkeypatch.setattr(freshness, "__version__", "99.0")
    assert why_stale(project, executed) == "told: version"


def test_a_style_changes_what_is_told_and_data_what_is_measured(project: Project, executed: Place) -> None:
    package = project.root / "lib" / project.package
    (package / "book.mplstyle").write_text("lines.linewidth: 1\n")
    assert why_stale(project, executed) == "told: style"
    (package / "reference").mkdir()
    (package / "reference" / "figure-1.csv").write_text("risk\n1\n")
    assert why_stale(project, executed) == "measured: data; told: style"


def test_edited_outputs_and_a_lost_stamp_make_a_page_stale(project: Project, executed: Place) -> None:
    notebook = notebooks.read(executed.notebook)
    notebook.cells[3].outputs = [nbformat.v4.new_output("stream", text="other")]
    notebooks.write(notebook, executed.notebook)
    assert why_stale(project, executed) == "edited since: first-one.ipynb"
    executed.stamp.write_text("{")
    assert why_stale(project, executed) == "never executed"


def test_the_ledger_depends_on_the_verdicts_of_its_tree(project: Project) -> None:
    before = freshness.inputs(project, "ledger", {}, project.book).told
    verdicts = place(project.book, NAME).verdicts
    verdicts.parent.mkdir()
    verdicts.write_text("[]")
    after = freshness.inputs(project, "ledger", {}, project.book).told
    assert {key for key in after if after[key] != before[key]} == {"verdicts"}


def test_tables_of_others_that_a_page_shows_make_it_stale(project: Project, executed: Place) -> None:
    package = project.root / "lib" / project.package / "part" / "first_one"
    (package / "reads.py").write_text('TABLES = {"part/two": ("errors",)}\n')
    read = project.book / "part" / "two" / "errors.csv"
    read.parent.mkdir()
    read.write_text("value\n1\n")
    freshness.write(executed, freshness.inputs(project, NAME, PAPER, project.book), ["figure-1.csv"])
    assert why_stale(project, executed) == ""
    (read.parent / "others.csv").write_text("value\n1\n")
    assert why_stale(project, executed) == ""
    read.write_text("value\n2\n")
    assert why_stale(project, executed) == "told: tables"


# the tree of executed chapters


def parameters(trials: int) -> dict[str, dict[str, object]]:
    return {NAME: PAPER | {"trials": trials}, "ledger": {"rows": 5}}


def test_chapters_stand_in_the_order_of_the_contents_the_ledger_last(project: Project) -> None:
    assert chapters(project) == (NAME, "ledger")
    assert module_name(project, NAME) == f"{project.package}.part.first_one"
    (project.root / "_toc.yml").unlink()
    with pytest.raises(RequestError, match=r"no _toc.yml in"):
        chapters(project)


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
def test_only_what_changed_is_executed_again(project: Project, rewrite: Rewrite) -> None:
    folder = project.build / "quick" / "executed"
    said: list[str] = []

    def executed(trials: int) -> list[str]:
        said.clear()
        bring_up_to_date(project, TreePlan(folder, parameters(trials)), said.append, pytest.fail)
        return [line.split()[0] for line in said]

    assert executed(2) == [NAME, "ledger"]
    assert executed(2) == []
    rewrite("lib/{package}/tools.py", "2 * value", "3 * value")
    assert executed(2) == [NAME]
    assert "measured: code; told: library" in said[0]
    assert executed(3) == [NAME, "ledger"]
    assert "tables read" not in said[0]
    rewrite("lib/{package}/part/first_one/judge.py", "LIMIT = 1", "LIMIT = 2")
    assert executed(3) == [NAME]
    assert said[0].endswith("(told: library; tables read)")


def test_a_fresh_committed_chapter_is_copied(project: Project) -> None:
    commit(project)
    folder = project.build / "paper" / "executed"
    folder.mkdir(parents=True)
    bring_up_to_date(project, TreePlan(folder, VALUES), pytest.fail, pytest.fail)
    assert "holds" in place(folder, NAME).verdicts.read_text()
    assert place(folder, "ledger").notebook.read_bytes() == place(project.book, "ledger").notebook.read_bytes()


def test_a_chapter_that_the_book_no_longer_has_is_pruned(project: Project) -> None:
    folder = project.build / "quick" / "executed"
    for name in (NAME, "part/gone"):
        place(folder, name).results.mkdir(parents=True)
        place(folder, name).stamp.write_text("{}")
        place(folder, name).notebook.write_text("{}")
    prune(project, folder)
    assert sorted(path.name for path in (folder / "part").iterdir()) == ["first-one", "first-one.ipynb"]
