"""Real data is there, missing, there in part, or damaged: what each command makes of it, for each data set."""

import gzip
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from companion.build.tree import TreePlan

from companion.build import build, freshness, notebooks, real_data, validate
from companion.build.parameters import resolve_preset
from companion.build.project import Place, Project, chapters, place
from costofprivacy import datasets

from .test_rendering import fake_sphinx

OURS = Project(Path(__file__).resolve().parents[2])
NAME = "part/first-one"
VALUES: dict[str, dict[str, object]] = {
    NAME: {"epsilon": [0.5, 1.0], "trials": 10, "workers": -1},
    "ledger": {"rows": 5},
}
TRIALS = "    trials: int = 10"
SETS = tuple(datasets.COUNTS)
ADDRESS = "https://openml.org/data/v1/download/52667/mnist_784.arff"
each_set = pytest.mark.parametrize("name", SETS)
each_gap = pytest.mark.parametrize(("name", "left"), [(datasets.HOUSING, 0), (datasets.MNIST, 2)])


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
def committed(
    project: Project, home: Path, rewrite: Callable[[str, str, str], None], monkeypatch: pytest.MonkeyPatch
) -> Callable[[str], Project]:
    """The small book, whose first chapter was committed with a data set, which is there."""

    def made(name: str) -> Project:
        declared = f"{TRIALS}\n    data_sets = ({name!r},)"
        rewrite("lib/{package}/part/first_one/measure.py", TRIALS, declared)
        put(name)
        for chapter, values in VALUES.items():
            target = place(project.book, chapter)
            target.results.mkdir()
            write(target, "holds")
            (target.results / "figure-1.csv").write_text("value\n1\n")
            made_from = freshness.inputs(project, chapter, values, project.book)
            freshness.write(target, made_from, ["figure-1.csv", "verdicts.json"])
        return project

    for module in (build, build, validate):
        monkeypatch.setattr(module, "resolve_preset", lambda *_: VALUES)
    monkeypatch.setattr(build.staging, "write_generated", lambda *_: None)
    monkeypatch.setattr(build.reference, "write", lambda _: None)
    fake_sphinx(monkeypatch)
    return made


def write(target: Place, verdict: str) -> None:
    target.results.mkdir(parents=True, exist_ok=True)
    target.verdicts.write_text(json.dumps([{"claim": "part/theorem-1", "verdict": verdict}]))


def take(name: str, left: int) -> None:
    """Remove a set's files, all but the first few."""
    for path in datasets.files(name)[left:]:
        path.unlink()


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
    monkeypatch.setattr(build, "bring_up_to_date", bring)
    return names


@pytest.fixture
def untestable(monkeypatch: pytest.MonkeyPatch) -> None:
    """nbval over chapters on stand-in data: nothing fails, and the first verdict is another."""

    def nbval(
        project: Project, tree: Path, copies: list[Path], seconds: Mapping[str, float], measured: object = None
    ) -> str:
        assert len(copies) == len(VALUES), "a chapter on stand-in data is executed, too"
        write(place(tree, NAME), "untestable")
        write(place(tree, "ledger"), "holds")
        return ""

    monkeypatch.setattr(validate, "nbval", nbval)


def page(project: Project) -> str:
    return notebooks.read(project.build / "quick" / "pages" / "book" / f"{NAME}.ipynb").cells[0].source


@each_gap
def test_a_page_without_its_data_is_the_committed_one_with_a_note(
    committed: Callable[[str], Project], executed: list[str], name: str, left: int
) -> None:
    project, said = committed(name), list[str]()
    take(name, left)
    build.build(project, "quick", said.append, pytest.fail)
    assert executed == ["ledger"]
    assert len([line for line in said if "make data" in line and f"{NAME} ({name})" in line]) == 1
    assert f"needs {name}, " in page(project)
    assert "`make data`" in page(project)
    assert "*quick* preset" not in page(project)
    for tree in (project.build / "quick" / "executed", project.build / "quick" / "pages" / "book"):
        assert json.loads(place(tree, NAME).verdicts.read_text())[0]["verdict"] == "holds"
        assert (place(tree, NAME).results / "figure-1.csv").read_text() == "value\n1\n"


@each_set
def test_a_page_with_its_data_is_executed(committed: Callable[[str], Project], executed: list[str], name: str) -> None:
    project = committed(name)
    build.build(project, "quick", lambda line: None if line.startswith("rendering") else pytest.fail(line), pytest.fail)
    assert executed == [*chapters(project)]
    assert "*quick* preset" in page(project)
    assert "make data" not in page(project)


@each_gap
def test_data_that_comes_and_goes_makes_no_page_stale(
    committed: Callable[[str], Project], executed: list[str], name: str, left: int
) -> None:
    project = committed(name)
    build.render_committed(project, lambda _: None, pytest.fail)
    take(name, left)
    build.render_committed(project, lambda _: None, pytest.fail)
    build.refresh(project, (), False, pytest.fail)
    assert executed == [*chapters(project)]


@each_gap
def test_advice_leads_to_a_command_that_runs(
    committed: Callable[[str], Project], rewrite: Callable[[str, str, str], None], name: str, left: int
) -> None:
    """A page that was told otherwise is made from its saved tables; one to be measured needs its data first."""
    project, warned = committed(name), list[str]()
    take(name, left)
    rewrite("lib/{package}/part/first_one/judge.py", "LIMIT = 1", "LIMIT = 2")
    build.render_committed(project, lambda _: None, warned.append)
    assert re.fullmatch(rf"older .* \(`make refresh` updates them\): {NAME}", warned.pop())
    assert not real_data.needed(project, NAME, VALUES[NAME])
    rewrite("lib/{package}/tools.py", "return 2", "return 3")
    build.render_committed(project, lambda _: None, warned.append)
    assert re.fullmatch(rf"older .* \(`make data`, then `make refresh` updates them\): {NAME}", warned.pop())
    assert real_data.needed(project, NAME, VALUES[NAME])


@each_gap
@pytest.mark.usefixtures("untestable")
def test_a_test_without_the_data_says_in_one_line_what_it_cannot_compare(
    committed: Callable[[str], Project], name: str, left: int
) -> None:
    project, said = committed(name), list[str]()
    take(name, left)
    validate.test(project, "quick", (), said.append)
    assert len(said) == 1
    assert said[0].endswith(f": {NAME} ({name})")
    assert "`make data`" in said[0]
    report = json.loads((project.build / "reports" / "test.json").read_text())
    assert (report["outcome"], [entry["chapter"] for entry in report["compared"]]) == (validate.FINE, ["ledger"])


@each_set
@pytest.mark.usefixtures("untestable")
def test_a_test_with_the_data_compares_in_full(committed: Callable[[str], Project], name: str) -> None:
    with pytest.raises(validate.Changed, match="a verdict changed"):
        validate.test(committed(name), "quick", (), pytest.fail)


@each_gap
def test_a_validation_leaves_out_what_has_no_data(
    committed: Callable[[str], Project], monkeypatch: pytest.MonkeyPatch, name: str, left: int
) -> None:
    project, said = committed(name), list[str]()
    take(name, left)

    def nbval(
        project: Project, tree: Path, copies: list[Path], seconds: Mapping[str, float], measured: object = None
    ) -> str:
        assert copies == [place(tree, "ledger").notebook]
        for file in place(project.book, "ledger").results.iterdir():
            place(tree, "ledger").results.mkdir(exist_ok=True)
            (place(tree, "ledger").results / file.name).write_bytes(file.read_bytes())
        return ""

    monkeypatch.setattr(validate, "nbval", nbval)
    monkeypatch.setattr(validate, "compare", lambda *_: [])
    validate.validate(project, (), said.append)
    assert said == [f"not validated, because data sets are missing (`make data` downloads them): {NAME} ({name})"]
    with pytest.raises(validate.BookError, match=r"`make data` downloads them.*first-one"):
        validate.validate(project, (NAME,), said.append)


@each_set
def test_damaged_data_is_there_and_whoever_reads_it_says_what_is_wrong(
    committed: Callable[[str], Project], executed: list[str], name: str
) -> None:
    project = committed(name)
    build.build(project, "quick", lambda _: None, pytest.fail)
    assert NAME in executed
    with pytest.raises(datasets.DataDamaged, match=r"cannot be read .*remove it and run `make data`") as raised:
        datasets.newsgroups() if name == datasets.NEWSGROUPS else datasets.regression(name, bundled=True)
    assert any(str(path) in str(raised.value) for path in datasets.files(name))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (datasets.HOUSING, {"dpgd/real-data", "privacy/rivals"}),
        (datasets.MNIST, {"dpgd/real-data"}),
        (datasets.NEWSGROUPS, {"noisyhead/newsgroups"}),
    ],
)
def test_the_chapters_that_need_each_data_set(home: Path, name: str, expected: set[str]) -> None:
    parameters = resolve_preset(OURS, "quick", chapters(OURS))
    for other in set(SETS) - {name}:
        put(other)
    assert real_data.missing(OURS, parameters) == dict.fromkeys(
        (chapter for chapter in chapters(OURS) if chapter in expected), (name,)
    )
    put(name)
    assert real_data.missing(OURS, parameters) == {}
