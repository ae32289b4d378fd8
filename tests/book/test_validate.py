"""Chapters executed again: copies for nbval, what it finds, and the reports of it."""

import json
import math
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from pathlib import Path

import pytest

from companion.build import validate
from companion.build.build import TreePlan, bring_up_to_date
from companion.build.compare import Comparison, Difference
from companion.build.project import Interrupted, Place, Project, budgets, chapters, longest_first, place
from companion.build.validate import BROKEN, FINE, NUMBER, VERDICT

from .conftest import NAME, OURS, VALUES, Rewrite
from .test_execute import interruptible  # noqa: F401

SECONDS = 480  # of one core: in four minutes on two, a fifth is left for rendering
SLEEPER = """import pathlib, sys, time
try:
    pathlib.Path(sys.argv[1], "ready").touch()
    time.sleep(60)
except KeyboardInterrupt:
    time.sleep(0.2)  # a second interrupt would break off here
    pathlib.Path(sys.argv[1], "ended").touch()"""
pytestmark = pytest.mark.filterwarnings("default")


@pytest.fixture
def committed(project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    """The small book, executed in place."""
    bring_up_to_date(project, TreePlan(project.book, VALUES), lambda _: None, pytest.fail)
    monkeypatch.setattr(validate, "resolve_preset", lambda *_: VALUES)
    return project


def test_copies_hold_other_parameters_and_the_committed_outputs(project: Project) -> None:
    tree = project.build / "nbval"
    quick = {NAME: VALUES[NAME] | {"trials": 2}, "ledger": VALUES["ledger"]}
    copies = validate.prepare(project, tree, quick)
    assert copies == [place(tree, name).notebook for name in chapters(project)]
    assert "trials = 2" in copies[0].read_text()
    assert (tree / "claims.yml").is_file()
    assert (tree / "columns.yml").is_file()


@pytest.mark.slow
def test_a_book_that_comes_out_again_is_valid_and_what_has_changed_is_found(
    committed: Project, rewrite: Rewrite, capfd: pytest.CaptureFixture[str]
) -> None:
    said: list[str] = []
    validate.validate(committed, (), said.append)
    assert said == [f"ok    {NAME}/figure-1.csv: the same bit for bit", f"ok    {NAME}/verdicts.json: the same"]
    rewrite("lib/{package}/tools.py", "return 2", "import warnings; warnings.warn('odd'); return 3")
    rewrite("book/part/first-one.ipynb", "part/theorem-1 holds", "part/theorem-1 fails")
    said.clear()
    with pytest.raises(validate.Changed, match=r"nbval: .*; 1 of 2 tables and verdicts differ") as raised:
        validate.validate(committed, (NAME,), said.append)
    assert raised.value.status == validate.STATUS[validate.NUMBER]
    assert (
        said[0]
        == f"FAIL  {NAME}/figure-1.csv: differs: value (to 1e-06 of itself): 2 of its rows, 1.5 for 1.0 in row 0"
    )
    shown = capfd.readouterr().out
    assert "odd" in shown
    assert "2 failed" in shown


@pytest.fixture
def executed(project: Project, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], Project]:
    """The small book with one verdict, and a stand-in for nbval, which leaves another and fails, or not."""

    def made(verdict: str, failure: str) -> Project:
        def nbval(
            project: Project, tree: Path, copies: list[Path], seconds: Mapping[str, float], measured: object = None
        ) -> str:
            assert not (project.build / "reports" / "test.json").exists(), "an earlier report is gone"
            write(place(tree, NAME), verdict)
            if failure == "interrupted":
                raise Interrupted(failure)
            return failure

        write(place(project.book, NAME), "holds")
        (project.build / "reports").mkdir(parents=True, exist_ok=True)
        for name in ("test.json", "chapters.xml"):
            (project.build / "reports" / name).write_text("earlier")
        monkeypatch.setattr(validate, "nbval", nbval)
        return project

    def write(target: Place, verdict: str) -> None:
        if verdict:
            target.results.mkdir(parents=True, exist_ok=True)
            target.verdicts.write_text(json.dumps([{"claim": "part/theorem-1", "verdict": verdict}]))

    return made


@pytest.mark.parametrize(
    ("verdict", "failure", "outcome"),
    [
        ("fails", "cells fail", VERDICT),
        ("fails", "", VERDICT),
        ("holds", "cells fail", BROKEN),
        ("", "cells fail", BROKEN),
    ],
)
def test_a_test_tells_a_changed_verdict_from_a_run_that_broke(
    executed: Callable[[str, str], Project], verdict: str, failure: str, outcome: str
) -> None:
    project, status = executed(verdict, failure), validate.STATUS[outcome]
    with pytest.raises(validate.Changed, match=rf"exit status {status}: {validate.WORDS[outcome]}$") as raised:
        validate.test(project, "quick", (), pytest.fail)
    content = json.loads((project.build / "reports" / "test.json").read_text())
    assert (raised.value.status, content["outcome"], content["failure"]) == (status, outcome, failure)


def test_a_test_that_finds_nothing_says_so_and_one_that_is_broken_off_leaves_no_report(
    executed: Callable[[str, str], Project],
) -> None:
    project = executed("holds", "")
    validate.test(project, "quick", (), pytest.fail)
    assert json.loads((project.build / "reports" / "test.json").read_text())["outcome"] == FINE
    with pytest.raises(Interrupted):
        validate.test(executed("holds", "interrupted"), "quick", (), pytest.fail)
    assert list((project.build / "reports").iterdir()) == []


@pytest.mark.parametrize(
    ("cores", "names", "expected", "workers"),
    [
        (2, "short new long ledger", [["-n", "2", "long", "new", "short"], ["ledger"]], "1"),
        (8, "short new long ledger", [["-n", "3", "long", "new", "short"], ["ledger"]], "1"),
        (1, "short new long ledger", [["short", "new", "long", "ledger"]], None),
        (2, "short ledger", [["short", "ledger"]], None),
    ],
)
def test_the_longest_start_first_and_bars_are_drawn_one_at_a_time(
    project: Project, monkeypatch: pytest.MonkeyPatch, cores: int, names: str, expected: object, workers: str | None
) -> None:
    calls, found = [], []

    def status(command: list[str]) -> int:
        kernels = command[command.index("-n") :][:2] if "-n" in command else []
        calls.append(kernels + [Path(word).stem for word in command if word.endswith(".ipynb")])
        found.append(os.environ.get("COSTOFPRIVACY_WORKERS"))
        return 0

    monkeypatch.setattr("joblib.cpu_count", lambda: cores)
    monkeypatch.setattr(validate, "_status", status)
    monkeypatch.setattr(validate.freshness, "imported_modules", lambda project, tree, names: [])
    monkeypatch.setattr(validate, "forked", lambda variables, modules: nullcontext(""))
    tree = project.build / "nbval"
    copies = [place(tree, name).notebook for name in names.split()]
    assert not validate.nbval(project, tree, copies, {"short": 2, "new": 50, "long": 100.5, "ledger": 1000})
    assert calls == expected
    assert found == [workers] * len(calls)


def test_a_chapter_whose_time_is_not_known_starts_first_and_those_of_one_part_apart() -> None:
    assert longest_first(["a", "b", "c"], {"a": 1, "c": 2}) == ["b", "c", "a"]
    seconds = {"dpgd/a": 4, "dpgd/b": 3, "dpgd/c": 2, "noisyhead/d": 1}
    assert longest_first(seconds, seconds) == ["dpgd/a", "noisyhead/d", "dpgd/b", "dpgd/c"]


def test_the_chapters_share_the_time_of_the_quick_preset() -> None:
    known = budgets(OURS)
    assert set(known) == set(chapters(OURS))
    assert min(known.values()) > 0
    assert math.fsum(known.values()) <= SECONDS


@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_is_handed_on_once_and_waited_for(tmp_path: Path) -> None:
    def interrupt() -> None:
        while not (tmp_path / "ready").exists():
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt, daemon=True).start()
    with pytest.raises(Interrupted):
        validate._status([sys.executable, "-c", SLEEPER, str(tmp_path)])
    assert (tmp_path / "ended").exists()


SAME = Comparison("figure-1.csv", True, "the same bit for bit")
OTHER_NUMBER = Comparison(
    "figure-1.csv", False, "differs: risk", (Difference("risk", 3, 1.0, float("nan"), "to 1e-06 of itself", 2),)
)
OTHER_VERDICT = Comparison(
    "verdicts.json", False, "a: 'fails' for 'holds'", (Difference("a", -1, "holds", "fails", "exactly", verdict=True),)
)
OTHER_SHAPE = Comparison("figure-2.csv", False, "differs: 1 rows instead of 2")
MISSING = Comparison("figure-2.csv", False, "was not written now")


@pytest.mark.parametrize(
    ("findings", "failure", "expected"),
    [
        ([SAME, SAME], "", FINE),
        ([SAME, OTHER_NUMBER], "cells fail", NUMBER),
        ([OTHER_SHAPE], "", NUMBER),
        ([OTHER_NUMBER, OTHER_VERDICT], "cells fail", VERDICT),
        ([OTHER_NUMBER, OTHER_VERDICT, MISSING], "cells fail", BROKEN),
        ([SAME], "cells fail", BROKEN),
    ],
)
def test_a_changed_verdict_is_told_from_a_changed_number_and_from_a_run_that_broke(
    findings: list[Comparison], failure: str, expected: str
) -> None:
    entries = [("part/one", finding) for finding in findings]
    assert validate.outcome(entries, failure) == expected
    assert len({validate.Changed("x", outcome).status for outcome in (VERDICT, NUMBER, BROKEN)}) == 3


def test_the_report_holds_every_comparison(project: Project) -> None:
    path = validate.write(project, "validate", [("part/one", SAME), ("part/one", OTHER_NUMBER)], "cells fail")
    content = json.loads(path.read_text())
    assert (content["outcome"], content["failure"]) == (NUMBER, "cells fail")
    assert [row["agrees"] for row in content["compared"]] == [True, False]
    (difference,) = content["compared"][1]["differences"]
    expected = {"name": "risk", "row": 3, "expected": 1.0, "found": "nan", "cells": 2, "kind": NUMBER}
    assert difference == expected | {"tolerance": "to 1e-06 of itself"}
