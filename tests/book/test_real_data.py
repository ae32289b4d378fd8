"""Real data is there, missing, there in part, or damaged: what each command makes of it."""

import gzip
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

from chapters import data_sets
from companion.build import build, cli, freshness, nbval_plugin, notebooks, validate
from companion.build.build import TreePlan
from companion.build.project import BookError, Place, Project, chapters, place
from companion.build.validate import OPTIONS, PLUGINS
from costofprivacy import datasets

from .conftest import NAME, OURS, VALUES, Rewrite, commit, of_preset
from .test_rendering import fake_sphinx

TRIALS = "    trials: int = 10"
ALL = 99  # files of a data set
NEEDED_BY = {
    datasets.HOUSING: {"dpgd/real-data", "privacy/rivals"},
    datasets.MNIST: {"dpgd/real-data"},
    datasets.NEWSGROUPS: {"noisyhead/newsgroups"},
}
ADDRESS = "https://openml.org/data/v1/download/52667/mnist_784.arff"
MEASURE = "lib/{package}/part/first_one/measure.py"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty data folder."""
    folder = tmp_path / "data"
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(folder))
    return folder


def put(name: str) -> None:
    """Put files where those of a set belong. Nothing in them can be read, but for OpenML's description of MNIST."""
    if name == datasets.MNIST:
        description = datasets.files(name)[1]
        description.parent.mkdir(parents=True, exist_ok=True)
        content = {"data_set_description": {"url": ADDRESS, "md5_checksum": "0"}}
        description.write_bytes(gzip.compress(json.dumps(content).encode()))
    for path in datasets.files(name):
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.is_file():
            path.write_bytes(b"damaged")
    assert datasets.is_cached(name)


@pytest.fixture
def book(project: Project, home: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """The small book; nothing of it is generated or rendered."""
    for module in (build, validate):
        monkeypatch.setattr(module, "resolve_preset", lambda *_: VALUES)
    monkeypatch.setattr(build.staging, "write_generated", lambda *_: None)
    monkeypatch.setattr(build.staging, "write_reference", lambda _: None)
    fake_sphinx(monkeypatch)
    return project


@pytest.fixture
def committed(book: Project, rewrite: Rewrite) -> Callable[..., Project]:
    """The small book, whose first chapter was committed with a data set, of which only the first files are left."""

    def made(name: str = datasets.MNIST, left: int = 2) -> Project:
        rewrite(MEASURE, TRIALS, f"{TRIALS}\n    data_sets = ({name!r},)")
        put(name)
        commit(book)
        for path in datasets.files(name)[left:]:
            path.unlink()
        return book

    return made


def write(target: Place, verdict: str) -> None:
    target.results.mkdir(parents=True, exist_ok=True)
    target.verdicts.write_text(json.dumps([{"claim": "part/theorem-1", "verdict": verdict}]))


@pytest.fixture
def executed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the chapters that `make book` and `make refresh` look at, none of which is executed."""
    names: list[str] = []

    def bring(project: Project, plan: TreePlan, *_: object) -> None:
        names.extend(plan.parameters)
        for name in plan.parameters:
            place(plan.tree, name).results.mkdir(parents=True, exist_ok=True)
            if plan.tree != project.book:
                notebooks.write(notebooks.read(place(project.book, name).notebook), place(plan.tree, name).notebook)
                write(place(plan.tree, name), "fails")

    monkeypatch.setattr(build, "bring_up_to_date", bring)
    return names


@pytest.fixture
def verdicts(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The verdicts that nbval leaves, by chapter; exactly these are to be executed, and nothing fails."""
    left = {NAME: "untestable", "ledger": "holds"}

    def nbval(project: Project, tree: Path, copies: list[Path], *_: object, measured: object = None) -> str:
        assert copies == [place(tree, name).notebook for name in left]
        for name, verdict in left.items():
            write(place(tree, name), verdict)
        return ""

    monkeypatch.setattr(validate, "nbval", nbval)
    return left


def page(project: Project) -> str:
    return notebooks.read(project.build / "quick" / "pages" / "book" / f"{NAME}.ipynb").cells[0].source


@pytest.mark.parametrize(("name", "left"), [(datasets.HOUSING, 0), (datasets.MNIST, 2)])
def test_a_page_without_its_data_is_the_committed_one_with_a_note(
    committed: Callable[..., Project], executed: list[str], name: str, left: int
) -> None:
    project, said = committed(name, left), list[str]()
    build.build(project, "quick", said.append, pytest.fail)
    assert executed == ["ledger"]
    assert len([line for line in said if "make data" in line and f"{NAME} ({name})" in line]) == 1
    assert f"needs {name}, " in page(project)
    assert "`make data`" in page(project)
    assert "*quick* preset" not in page(project)
    for tree in (project.build / "quick" / "executed", project.build / "quick" / "pages" / "book"):
        assert json.loads(place(tree, NAME).verdicts.read_text())[0]["verdict"] == "holds"
        assert (place(tree, NAME).results / "figure-1.csv").read_text() == "value\n1\n"


def test_a_page_with_its_data_is_executed(committed: Callable[..., Project], executed: list[str]) -> None:
    project = committed(left=ALL)
    build.build(project, "quick", lambda line: None if line.startswith("rendering") else pytest.fail(line), pytest.fail)
    assert executed == [*chapters(project)]
    assert "*quick* preset" in page(project)
    assert "make data" not in page(project)


def test_data_that_comes_and_goes_makes_no_page_stale(committed: Callable[..., Project], executed: list[str]) -> None:
    project = committed()
    build.render_committed(project, lambda _: None, pytest.fail)
    put(datasets.MNIST)
    build.render_committed(project, lambda _: None, pytest.fail)
    datasets.files(datasets.MNIST)[-1].unlink()
    build.refresh(project, (), False, pytest.fail)
    assert executed == [*chapters(project)]


def test_advice_leads_to_a_command_that_runs(committed: Callable[..., Project], rewrite: Rewrite) -> None:
    """A page that was told otherwise is made from its saved tables; one to be measured needs its data first."""
    project, warned = committed(), list[str]()
    rewrite("lib/{package}/part/first_one/judge.py", "LIMIT = 1", "LIMIT = 2")
    build.render_committed(project, lambda _: None, warned.append)
    assert re.fullmatch(rf"older .* \(`make refresh` updates them\): {NAME}", warned.pop())
    assert not freshness.needed(project, NAME, VALUES[NAME])
    rewrite("lib/{package}/tools.py", "return 2", "return 3")
    build.render_committed(project, lambda _: None, warned.append)
    assert re.fullmatch(rf"older .* \(`make data`, then `make refresh` updates them\): {NAME}", warned.pop())
    assert freshness.needed(project, NAME, VALUES[NAME])


@pytest.mark.usefixtures("verdicts")
def test_a_test_without_the_data_says_in_one_line_what_it_cannot_compare(committed: Callable[..., Project]) -> None:
    project, said = committed(), list[str]()
    validate.test(project, "quick", (), said.append)
    assert len(said) == 1
    assert said[0].endswith(f": {NAME} ({datasets.MNIST})")
    assert "`make data`" in said[0]
    report = json.loads((project.build / "reports" / "test.json").read_text())
    assert (report["outcome"], [entry["chapter"] for entry in report["compared"]]) == (validate.FINE, ["ledger"])


@pytest.mark.usefixtures("verdicts")
def test_a_test_with_the_data_compares_in_full(committed: Callable[..., Project]) -> None:
    with pytest.raises(validate.Changed, match="a verdict changed"):
        validate.test(committed(left=ALL), "quick", (), pytest.fail)


def test_a_validation_leaves_out_what_has_no_data(
    committed: Callable[..., Project], verdicts: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    project, said = committed(), list[str]()
    del verdicts[NAME]
    monkeypatch.setattr(validate, "compare", lambda *_: [])
    validate.validate(project, (), said.append)
    assert said == [
        f"not validated, because data sets are missing (`make data` downloads them): {NAME} ({datasets.MNIST})"
    ]
    with pytest.raises(validate.BookError, match=r"`make data` downloads them.*first-one"):
        validate.validate(project, (NAME,), said.append)


@pytest.mark.parametrize("name", datasets.COUNTS)
def test_whoever_reads_damaged_data_says_what_is_wrong(home: Path, name: str) -> None:
    put(name)
    with pytest.raises(datasets.DataDamaged, match=r"cannot be read .*remove it and run `make data`") as raised:
        datasets.newsgroups() if name == datasets.NEWSGROUPS else datasets.regression(name, bundled=True)
    assert any(str(path) in str(raised.value) for path in datasets.files(name))


def test_the_chapters_that_need_each_data_set(home: Path) -> None:
    for name in datasets.COUNTS:
        missing = freshness.missing(OURS, of_preset("quick"))
        assert {chapter for chapter, names in missing.items() if name in names} == NEEDED_BY[name]
        put(name)
    assert freshness.missing(OURS, of_preset("quick")) == {}


@pytest.mark.parametrize("declared", ["data_sets = ({!r},)", "real: str = {!r}"])
def test_what_is_committed_from_real_data_is_never_replaced_by_what_stands_in_for_it(
    book: Project, executed: list[str], home: Path, rewrite: Rewrite, monkeypatch: pytest.MonkeyPatch, declared: str
) -> None:
    rewrite(MEASURE, TRIALS, f"{TRIALS}\n    {declared.format(datasets.MNIST)}")
    with pytest.raises(BookError, match=r"make data.*SCIKIT_LEARN_DATA") as raised:
        build.refresh(book, (), False, pytest.fail)
    assert str(raised.value).startswith(f"{NAME} needs data that are not in {home}: {datasets.MNIST}; ")
    assert "\n" not in str(raised.value)
    assert executed == []
    commit(book)
    build.refresh(book, (), False, pytest.fail)
    assert executed == [*chapters(book)]
    with pytest.raises(BookError, match="make data"):
        build.refresh(book, (), True, pytest.fail)
    monkeypatch.setattr(datasets, "is_cached", lambda name: True)
    build.refresh(book, (), True, pytest.fail)
    assert executed == 2 * [*chapters(book)]


# `make data`


def test_each_set_is_told_with_its_records(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(data_sets, "LOADERS", {datasets.HOUSING: lambda: 20640, datasets.MNIST: lambda: 15170})
    assert cli.main(["data"]) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if " records" in line]
    assert [line.split(" records")[0] for line in lines] == ["California housing: 20640", "MNIST, 1 against 7: 15170"]


def test_what_cannot_be_had_is_one_line_after_the_others(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def missing() -> int:
        raise datasets.DataMissing("California housing could not be fetched")

    monkeypatch.setattr(data_sets, "LOADERS", {datasets.HOUSING: missing, datasets.MNIST: lambda: 15170})
    assert cli.main(["data"]) == 1
    told = capsys.readouterr()
    assert "15170 records" in told.out
    assert [line for line in told.err.splitlines() if line.startswith("error: ")] == [
        "error: California housing could not be fetched"
    ]


# nbval where data is missing: the cells run, and what cannot be compared is skipped

REAL, OTHER = "dpgd/real-data", "dpgd/schedules"


@pytest.fixture
def nothing(home: Path, tmp_path: Path) -> Iterator[Path]:
    """A folder beside that of the data, in which nothing was looked for yet."""
    nbval_plugin.stand_ins.cache_clear()
    yield tmp_path
    nbval_plugin.stand_ins.cache_clear()


def test_only_a_chapter_that_names_its_data_sets_has_stand_ins(nothing: Path) -> None:
    assert nbval_plugin.stand_ins(REAL) == (datasets.HOUSING, datasets.MNIST)
    assert nbval_plugin.stand_ins(OTHER) == nbval_plugin.stand_ins("") == ()


def test_nothing_stands_in_for_data_that_is_there(nothing: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(datasets, "is_cached", lambda name: True)
    assert nbval_plugin.stand_ins(REAL) == ()


@pytest.mark.slow
@pytest.mark.parametrize(("chapter", "status", "said"), [(REAL, 0, "2 passed, 1 skipped"), (OTHER, 1, "1 failed")])
def test_marked_cells_are_run_and_skipped_with_the_reason(nothing: Path, chapter: str, status: int, said: str) -> None:
    book = new_notebook(metadata={"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}})
    sources = f'# Chapter("{chapter}", globals())\nx = 1', "# NBVAL_CHECK_OUTPUT\nx = 2\nprint('now')", "assert x == 2"
    book.cells = [new_code_cell(source, execution_count=1) for source in sources]
    book.cells[1].outputs = [new_output("stream", name="stdout", text="committed\n")]
    nbformat.write(book, nothing / "page.ipynb")
    command = [sys.executable, "-m", "pytest", "--nbval-lax", "-rs", *PLUGINS, *OPTIONS, str(nothing / "page.ipynb")]
    done = subprocess.run(command, capture_output=True, text=True, cwd=nothing, check=False)
    assert done.returncode == status, done.stdout
    assert said in done.stdout
    assert ("the committed verdicts belong to real data" in done.stdout) == (status == 0)
