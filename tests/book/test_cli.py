"""The command line, and make's."""

import os
import shutil
import signal
import subprocess
from contextlib import nullcontext
from functools import partial
from pathlib import Path

import pytest

from companion.build import cli
from companion.build.cli import spread
from companion.build.project import Project, RequestError
from companion.running.cluster import ClusterError

from .conftest import NAME, OURS


@pytest.fixture
def call(project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    """Call the command line on the small book; returns the status and the lines on standard error."""
    monkeypatch.setattr(cli, "Project", partial(Project, package=project.package))
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    monkeypatch.chdir(project.root)

    def call(*arguments: str) -> tuple[int, list[str]]:
        status = cli.main(list(arguments))
        return status, capsys.readouterr().err.splitlines()

    return call


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["-p", "trails", "5"], "error: unknown parameter 'trails'"),
        (["-p", "trials", "-1e0"], "error: trials must be at least 1, got -1"),
        (["-y", "{epsilon: 5}"], "error: epsilon must be a list of numbers, got 5"),
        (["--parameters_yaml", "[5]"], "error: -y must map names to values, got '[5]'"),
        (["-f", "none.yml"], "error: the parameters file none.yml cannot be read"),
        (["--words", "-p trials"], "error: Option '-p' requires 2 arguments."),
        (["-y", "{trials: " + "9" * 5000 + "}"], "error: -y must be YAML, got '{trials: 999"),
        (["-p", "trials", "9" * 5000], "error: trials must be an integer, got '999"),
        (["-f", "/dev/null"], "error: the parameters file /dev/null cannot be read: it is not a regular file"),
        (["--quick"], "error: No such option '--quick'"),
        (["--out", "_toc.yml"], "error: OUT must be a folder outside the project, or in _build/mine, got _toc.yml"),
    ],
)
def test_a_wrong_request_is_answered_in_one_line_and_makes_no_folder(
    call, project: Project, options: list[str], words: str
) -> None:
    status, (line,) = call("chapter", NAME, *options)
    assert status == 2
    assert line.startswith(words)
    assert not project.build.exists()


@pytest.mark.parametrize("command", ["chapter", "refresh", "validate"])
def test_an_unknown_chapter_is_answered_in_one_line(call, command: str) -> None:
    assert call(command, "first") == (2, ["error: NAME must be one of part/first-one, ledger; got 'first'"])


@pytest.mark.parametrize("command", [["chapter", NAME], ["sweep", NAME, "--sweep", "trials=2,3"]])
def test_a_cluster_that_does_not_answer_is_told_before_anything_is_made(
    call, command: list[str], project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    def connected(address: str, patience: float) -> None:
        raise ClusterError("no Dask scheduler answers")

    monkeypatch.setattr("companion.running.cluster.connected", connected)
    monkeypatch.setattr("companion.build.environment.in_settled_environment", lambda: None)
    status, lines = call(*command, "--cluster", "tcp://nowhere:1")
    told = "error: CLUSTER must be the address of a Dask scheduler, got 'tcp://nowhere:1': no Dask scheduler answers"
    assert (status, lines) == (2, [told])
    assert not project.build.exists()


@pytest.mark.parametrize(
    ("words", "file"),
    [
        (("chapter", NAME, "-f", "~/p.yml"), "p.yml"),
        (("sweep", NAME, "--table", "~/points.csv"), "points.csv"),
        (("chapter", NAME, "--cluster", "~/scheduler.json"), "scheduler.json"),
        (("worker", "~/scheduler.json"), "scheduler.json"),
        (("chapter", NAME, "--out", "~/taken"), "taken"),
        (("sweep", NAME, "--out", "~/taken", "--sweep", "trials=1,2"), "taken"),
    ],
)
def test_a_home_folder_is_the_person_s(
    call, project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], file: str
) -> None:
    monkeypatch.setattr(cli, "LATE", 0.0)
    monkeypatch.setattr("companion.build.environment.in_settled_environment", lambda: None)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "taken").touch()  # no folder
    status, lines = call(*words)
    assert status == 2
    assert str(tmp_path / "home" / file) in lines[-1]
    assert not (project.root / "~").exists()


def test_a_chapter_with_other_parameters_is_told_beside_the_book(
    call, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = []
    (project.book / NAME).mkdir()
    (project.book / NAME / "verdicts.json").write_text("[]")
    monkeypatch.setattr("companion.build.execute.execute", lambda *_: [])
    monkeypatch.setattr("companion.build.freshness.write", lambda *_: None)
    monkeypatch.setattr("companion.build.compare.beside", lambda *given: told.append(given) or ["a line"])
    assert call("chapter", NAME, "-p", "workers", "1")[0] == 0
    assert told == []
    assert call("chapter", NAME, "-p", "trials", "3")[0] == 0
    (book, here, before, now) = told[0]
    assert (book, here) == (Path("book") / NAME, Path("_build/runs") / NAME)
    assert before == {"epsilon": [0.5, 1.0], "trials": 10}
    assert now == {"epsilon": [0.5, 1.0], "trials": 3}


def test_a_worker_works_under_the_settings_of_a_kernel(call, monkeypatch: pytest.MonkeyPatch) -> None:
    started = []
    monkeypatch.setattr("os.execve", lambda *given: started.append(given))
    monkeypatch.setattr("companion.running.cluster.connected", lambda *_: nullcontext())
    assert call("worker", "tcp://host:8786", "--memory-limit", "2GB")[0] == 0
    (_, command, variables), *_ = started
    assert command[1:4] == ["-m", "distributed.cli.dask_worker", "tcp://host:8786"]
    assert command[-2:] == ["--memory-limit", "2GB"]
    assert variables["OMP_NUM_THREADS"] == "1"


def test_an_interrupt_is_told_in_one_line(call, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("companion.build.execute.execute", interrupt)
    status, lines = call("chapter", NAME)
    assert status == 130
    assert [line for line in lines if line] == [cli.INTERRUPTED]


def test_options_have_papermill_s_precedence(tmp_path: Path) -> None:
    file = tmp_path / "p.yml"
    file.write_text("{a: 1, b: 1, c: 1, d: 1}")
    pairs, raw = [("c", "3"), ("d", "3")], [("d", "4")]
    given = {"parameters": pairs, "parameters_raw": raw, "parameters_file": [str(file)]}
    found = cli.overrides(given | {"parameters_yaml": ["{b: 2, c: 2, d: 2}"]})
    assert found == {"a": 1, "b": 2, "c": "3", "d": "4"}


def test_the_options_are_papermill_s() -> None:
    from papermill.cli import papermill

    theirs = {tuple(sorted(option.opts)) for option in papermill.params}
    ours = {tuple(sorted(option.opts)) for option in cli.chapter_command.params if "parameters" in str(option.name)}
    assert len(ours) == 4
    assert ours <= theirs


# A make of its own, though another one may run these tests: it would tell which folder it enters.
ALONE = {name: value for name, value in os.environ.items() if not name.startswith("MAKE") and name != "MFLAGS"}
HOSTILE = (
    "x; touch hit",
    "$(shell touch hit)",
    "${shell touch hit}",
    "$$(touch hit)",
    "`touch hit`",
    'x"; touch hit; "',
    "x'; touch hit; '",
    "$(eval X := $(shell touch hit))",
    "$(info hit)",
    "-h",
)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["a", "--words", "-p trials 50", "--", "b"], ["a", "b", "-p", "trials", "50"]),
        (["a", "--words", "", "--", "-b"], ["a", "--", "-b"]),
        (["--words", "-y '{N: [1, 2]}'"], ["-y", "{N: [1, 2]}"]),
        (["--words", "$(x) `y`; z | w"], ["$(x)", "`y`;", "z", "|", "w"]),
        (["--", "--words", "a b"], ["--", "--words", "a b"]),
        (["--words"], []),
    ],
)
def test_a_text_is_split_and_nothing_else(arguments: list[str], words: list[str]) -> None:
    assert spread(arguments) == words


def test_a_quotation_without_an_end_and_a_name_that_looks_like_an_option_are_refused() -> None:
    with pytest.raises(
        RequestError, match=r"P must be written like options on a .*, got .-y \"a.: no closing quotation"
    ):
        spread(["--words", '-y "a'])
    with pytest.raises(RequestError, match=r"^NAME must be a chapter, and CLUSTER an address, got '-h'$"):
        spread(["chapter", "--words", "-p trials 5", "--", "-h"])


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the project's Makefile, an environment that is up to date, and a Python that only looks."""
    folder = tmp_path_factory.mktemp("made")
    for name in ("Makefile", "tests/maintain.mk", "environments/opacus.txt"):
        (folder / name).parent.mkdir(exist_ok=True)
        shutil.copy(OURS.root / name, folder / name)
    (folder / ".venv/bin").mkdir(parents=True)
    for name in ("requirements.txt", "pyproject.toml"):
        (folder / name).touch()
    (folder / ".venv/.locked").write_text(f"{folder}\n")
    (folder / ".venv/.complete").touch()
    python = folder / ".venv/bin/python"
    python.write_text('#!/bin/sh\nprintf "%s\\n" "$@" > seen; printf "%s" "$NAME" > name; exit 0\n')
    python.chmod(0o755)
    return folder


def make(folder: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(["make", *words], cwd=folder, capture_output=True, text=True, env=ALONE)


@pytest.mark.parametrize("text", HOSTILE)
def test_text_on_the_command_line_runs_nothing(made: Path, text: str) -> None:
    given = [f"{variable}={text}" for variable in ("NAME", "P", "OUT")]
    done = make(made, "chapter", *given)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert not (made / "hit").exists()
    assert (made / "seen").read_text().splitlines().count(text) == len(given), "and each arrives as it was typed"


@pytest.mark.parametrize("text", ["opacus; touch hit", "$(shell touch hit)", "opacus touch"])
@pytest.mark.parametrize("target", ["extra", "anew"])
def test_an_extra_environment_has_a_known_name(made: Path, text: str, target: str) -> None:
    done = make(made, "-f", "tests/maintain.mk", target, f"NAME={text}")
    assert done.returncode == 2
    assert done.stderr.startswith("error: NAME must be one of opacus, got '")
    assert not (made / "hit").exists()


@pytest.mark.parametrize("target", ["validate", "refresh", "book"])
def test_nor_does_it_for_other_targets(made: Path, target: str) -> None:
    hostile = [f"{name}=$(shell touch hit); touch hit" for name in ("NAME", "P", "PRESET", "OUT", "FORCE", "ANYWAY")]
    done = make(made, target, *hostile)
    assert (done.returncode, done.stdout) == (0, "")
    assert not (made / "hit").exists()
