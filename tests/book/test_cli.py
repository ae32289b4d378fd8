import signal
from functools import partial
from pathlib import Path

import pytest

from costofprivacy.book import cli
from costofprivacy.book.project import Project

NAME = "part/first-one"


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
        (["-r", "trials", "many"], "error: trials must be an integer, got 'many'"),
        (["-y", "{epsilon: 5}"], "error: epsilon must be a list of numbers, got 5"),
        (["--parameters_yaml", "[5]"], "error: -y must map names to values, got '[5]'"),
        (["-f", "none.yml"], "error: the parameters file none.yml cannot be read"),
        (["-p", "trials"], "error: Option '-p' requires 2 arguments."),
        (["--quick"], "error: No such option '--quick'"),
        (["--out", "_toc.yml"], "error: OUT must be a folder to write into, got _toc.yml"),
    ],
)
def test_a_wrong_request_is_answered_in_one_line(call, options: list[str], words: str) -> None:
    status, lines = call("chapter", NAME, *options)
    assert status == 2
    assert len(lines) == 1
    assert lines[0].startswith(words)


def test_a_wrong_request_makes_no_folder(call, project: Project) -> None:
    assert call("chapter", NAME, "--out", "some/dir", "-p", "trials", "0")[0] == 2
    assert not (project.root / "some").exists()
    assert not project.build.exists()


@pytest.mark.parametrize("command", [["chapter", "first"], ["refresh", "first"], ["validate", "first"]])
def test_an_unknown_chapter_is_answered_in_one_line(call, command: list[str]) -> None:
    status, lines = call(*command)
    assert (status, len(lines)) == (2, 1)
    assert "NAME must be one of part/first-one, ledger; got 'first'" in lines[0]


def test_an_interrupt_is_told_in_one_line(call, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("costofprivacy.book.execute.execute", interrupt)
    status, lines = call("chapter", NAME)
    assert status == 130
    assert [line for line in lines if line] == [cli.INTERRUPTED]


def test_options_have_papermill_s_precedence(tmp_path: Path) -> None:
    file = tmp_path / "p.yml"
    file.write_text("{a: 1, b: 1, c: 1, d: 1}")
    found = cli.overrides([("c", "3"), ("d", "3")], [("d", "4")], ["{b: 2, c: 2, d: 2}"], [str(file)])
    assert found == {"a": 1, "b": 2, "c": "3", "d": "4"}


def test_the_options_are_papermill_s() -> None:
    from papermill.cli import papermill

    theirs = {tuple(sorted(option.opts)) for option in papermill.params}
    ours = {tuple(sorted(option.opts)) for option in cli.chapter_command.params if "parameters" in str(option.name)}
    assert len(ours) == 4
    assert ours <= theirs
