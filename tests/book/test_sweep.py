from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from companion.build import sweep
from companion.build.project import BookError, Project, RequestError
from tests.each import each

from .conftest import NAME, Rewrite

EXPERIMENT = "lib/{package}/part/first_one/measure.py"
MEASURES = """
    def run(self, runner):
        import pandas
        from pathlib import Path

        with Path("calls").open("a") as calls:
            calls.write("one\\n")
        if self.trials == 13:
            raise OverflowError("too\\nmany")
        values = {"epsilon": list(self.epsilon), "value": [double(value) for value in self.epsilon]}
        return {"figure-1": pandas.DataFrame(values | {"trials_run": self.trials})}
"""
JUDGES = '''"""Verdicts."""

from companion.judging.judges import judges


@judges("part/theorem-1")
def theorem(found):
    """Holds for few trials."""
    trials = found.number("trials", found["figure-1"]["trials_run"].max(), table="figure-1")
    if trials > 10:
        raise KeyError("no such row")
    return found.ruling(printed=trials < 5)
'''


REGISTER = """
papers: {}
claims:
  - id: part/theorem-1
    place: Theorem 1
    says: It is so.
    chapter: part/first-one
    headline: It is so.
    would_change: Other trials.
    history: [{version: 0.1.0, verdict: holds}]
"""


@pytest.fixture
def small(project: Project, rewrite: Rewrite, monkeypatch: pytest.MonkeyPatch) -> Project:
    """The small book, whose experiment counts its runs in a file ``calls`` of the working folder."""
    source = (project.root / EXPERIMENT.format(package=project.package)).read_text()
    rewrite(EXPERIMENT, source[source.index("\n    def run(self)") :], MEASURES)
    (project.root / EXPERIMENT.format(package=project.package)).with_name("judge.py").write_text(JUDGES)
    project.claims.write_text(REGISTER)
    out(project).mkdir()
    monkeypatch.chdir(project.root)
    monkeypatch.setattr(sweep.joblib, "cpu_count", lambda: 100)  # few points: one after the other, here
    return project


def calls(project: Project) -> int:
    path = project.root / "calls"
    return len(path.read_text().splitlines()) if path.exists() else 0


def swept(project: Project, *grids: str, files: tuple[Path, ...] = (), **fixed: object) -> list[str]:
    asked = sweep.plan(project, NAME, fixed, grids, files)
    return sweep.run(project, asked, out(project), "", lambda line: None)


def out(project: Project) -> Path:
    return project.root / "out"


def table(project: Project, name: str) -> pd.DataFrame:
    return pd.read_csv(out(project) / f"{name}.csv", keep_default_na=False)


def test_a_sweep_is_all_combinations_with_the_parameters_as_columns(small: Project) -> None:
    swept(small, "trials=2,3", "epsilon=[0.5],[1.0, 2.0]")
    found = table(small, "figure-1")
    assert list(found.columns) == ["trials", "given_epsilon", "epsilon", "value", "trials_run"]
    assert found.to_numpy().tolist() == [
        [2, "[0.5]", 0.5, 1.0, 2],
        [2, "[1.0, 2.0]", 1.0, 2.0, 2],
        [2, "[1.0, 2.0]", 2.0, 4.0, 2],
        [3, "[0.5]", 0.5, 1.0, 3],
        [3, "[1.0, 2.0]", 1.0, 2.0, 3],
        [3, "[1.0, 2.0]", 2.0, 4.0, 3],
    ]
    points = table(small, "points")
    assert points[["point", "epsilon", "trials"]].to_numpy().tolist()[-1] == [4, "[1.0, 2.0]", 3]


def test_verdicts_stand_beside_the_book_s(small: Project) -> None:
    lines = swept(small, "trials=2,7,11")
    found = table(small, "verdicts")
    assert found["verdict"].tolist() == ["holds", "fails", "not judged"]
    assert found["book"].tolist() == ["holds"] * 3
    assert found["headline"].tolist()[2] == "KeyError: 'no such row'"
    assert lines[1].startswith("part/theorem-1: holds at 1, fails at 1, not judged at 1 of 3 points; the book: holds")
    assert swept(small, "trials=2,3")[1:] == []


def test_what_is_measured_is_not_measured_again(small: Project, rewrite: Rewrite) -> None:
    swept(small, "trials=2,3")
    first = table(small, "figure-1")
    swept(small, "trials=2,3")
    pd.testing.assert_frame_equal(table(small, "figure-1"), first)
    assert calls(small) == 2
    swept(small, "trials=2,4,3")
    assert calls(small) == 3
    rewrite("lib/{package}/tools.py", "2 * value", "3 * value")
    swept(small, "trials=2,3")
    assert calls(small) == 5


def test_a_point_that_fails_leaves_the_others(small: Project) -> None:
    with pytest.raises(BookError, match=r"^1 of 3 points failed, see .*points\.csv; the other points are joined$"):
        swept(small, "trials=2,13,3")
    assert table(small, "figure-1")["trials"].unique().tolist() == [2, 3]
    assert table(small, "points")["failed"].tolist() == ["", "OverflowError: too many", ""]


@pytest.mark.parametrize("damage", [lambda path: path.write_text("7"), Path.unlink])
def test_a_damaged_point_is_named_and_measured_anew(small: Project, damage: Callable[[Path], None]) -> None:
    swept(small, "trials=2,3")
    first = (out(small) / "figure-1.csv").read_bytes()
    home = next(path for path in (out(small) / "points").iterdir() if ",2\n" in (path / "figure-1.csv").read_text())
    damage(home / "figure-1.csv")
    said: list[str] = []
    sweep.run(small, sweep.plan(small, NAME, {}, ["trials=2,3"], []), out(small), "", said.append)
    assert [line for line in said if "damaged" in line] == [f"{home} is damaged, so its point is measured again"]
    assert (out(small) / "figure-1.csv").read_bytes() == first
    assert calls(small) == 3


def whole(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_point_that_was_not_saved_to_its_end_is_measured_again(
    small: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    swept(small, "trials=2,3")
    first = whole(out(small))
    place = next((out(small) / "points").iterdir())
    (place / "figure-1.csv").write_bytes(b"")
    save = pd.DataFrame.to_csv

    def full(table: pd.DataFrame, path: Path, **options: object) -> None:
        if path == place / "figure-1.csv":
            path.touch()
            raise OSError(28, "No space left on device")
        save(table, path, **options)

    with monkeypatch.context() as patched:
        patched.setattr(pd.DataFrame, "to_csv", full)
        with pytest.raises(OSError, match="No space left on device"):
            swept(small, "trials=2,3")
    assert not (place / "stamp.json").exists()
    swept(small, "trials=2,3")
    assert whole(out(small)) == first


def test_many_points_are_measured_side_by_side_to_the_same_tables(
    small: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    swept(small, "trials=2,3,4")
    first = (out(small) / "figure-1.csv").read_bytes()
    (out(small) / "points").rename(small.root / "elsewhere")
    monkeypatch.setattr(sweep.joblib, "cpu_count", lambda: 1)
    monkeypatch.setenv("LOKY_MAX_CPU_COUNT", "1")  # one core: joblib starts no processes
    swept(small, "trials=2,3,4")
    assert (out(small) / "figure-1.csv").read_bytes() == first
    assert calls(small) == 6


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("points.csv", 'trials, epsilon\n2, "[0.5, 1]"\n3, [2.0]\n'),
        ("POINTS.CSV", '\ufefftrials, epsilon\r\n2, "[0.5, 1]"\r\n\r\n3, [2.0]\r\n'),
    ],
)
def test_points_are_read_from_a_file(small: Project, name: str, text: str) -> None:
    (small.root / name).write_text(text, "utf-8")
    asked = sweep.plan(small, NAME, {}, [], [Path(name)])
    assert [(point["trials"], point["epsilon"]) for point in asked.points] == [(2, [0.5, 1.0]), (3, [2.0])]
    assert asked.swept == ("trials", "epsilon")


@each(
    ("grids", "fixed", "words"),
    [
        ([], {}, "a sweep needs values: --sweep penalty=0.1,1,5, or --table points.csv"),
        (["trials"], {}, "--sweep must be NAME=VALUE,VALUE,... with lists in brackets, got 'trials'"),
        (["trails=1,2"], {}, "unknown parameter 'trails'"),
        (["trials=1", "trials=2"], {}, "a swept parameter must be given only once and cannot be workers; got trials"),
        (["trials=1"], {"trials": 5}, "a swept parameter must be given only once and cannot be workers; got trials"),
        (["trials=2,3,2"], {}, "the points of a sweep must be distinct, got trials = 2 twice"),
        (["trials=" + "9" * 5000], {}, "--sweep must be NAME=VALUE"),
    ],
)
def test_a_wrong_sweep_is_refused_before_anything_is_measured(
    small: Project, grids: list[str], fixed: dict[str, object], words: str
) -> None:
    with pytest.raises(RequestError) as caught:
        sweep.plan(small, NAME, fixed, grids, [])
    assert str(caught.value).startswith(words)
    assert calls(small) == 0


def test_more_points_than_can_be_are_refused_before_any_is_made(
    small: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    thousand = ",".join(map(str, range(1, 1001)))
    grids = [f"trials={thousand}", f"epsilon={','.join(f'[{k}]' for k in range(1, 1001))}", f"seed={thousand}"]
    with pytest.raises(RequestError, match=r"^a sweep must have at most 10000 points, got 1000000000 \(ANYWAY=1"):
        sweep.plan(small, NAME, {}, grids, [])
    monkeypatch.setattr(sweep, "MOST_POINTS", 2)
    sweep.plan(small, NAME, {}, ["trials=1,2"], [])
    with pytest.raises(RequestError, match="got 3"):
        sweep.plan(small, NAME, {}, ["trials=1,2,3"], [])
    monkeypatch.setenv("COSTOFPRIVACY_ANYWAY", "1")
    assert len(sweep.plan(small, NAME, {}, ["trials=1,2,3"], []).points) == 3


@each(
    ("name", "text", "words"),
    [
        ("p.csv", "", "p.csv: it has no rows"),
        ("p.csv", "trials,epsilon\n\n", "it has no rows below the names of its columns"),
        (
            "p.csv",
            "trials,epsilon\n2,[1.0]\n3",
            "each of its rows must have a value for each of its distinct columns, trials, epsilon",
        ),
        ("p.csv", "trials\n" + "[" * 1000, "maximum recursion depth"),
    ],
)
def test_a_file_without_points_is_refused(small: Project, name: str, text: str, words: str) -> None:
    (small.root / name).write_text(text)
    with pytest.raises(RequestError, match=rf"--table.*{words}"):
        sweep.plan(small, NAME, {}, [], [Path(name)])
    with pytest.raises(RequestError, match=r"--table must be a CSV file of points, got none\.csv"):
        sweep.plan(small, NAME, {}, [], [Path("none.csv")])
