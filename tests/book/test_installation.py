"""What comes of a wheel under each Python: its test, one that is missing, an index that does not answer, a fault."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from costofprivacy.book import installation
from costofprivacy.book.errors import BookError

HERE = f"{sys.version_info.major}.{sys.version_info.minor}"
LOCK = r"""a-b==1.0 ; python_full_version < '3.12' \
    --hash=sha256:00
    # via
    #   c==2
a-b==1.1 ; python_full_version >= '3.12' \
    --hash=sha256:01
pagefind[bin]==1.5.2
"""


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    (tmp_path / "small.whl").touch()
    (tmp_path / "lock.txt").write_text(LOCK)
    return tmp_path / "small.whl"


@pytest.fixture
def ends(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[list[str]]]:
    """Let commands end with a status, by a word that they have; returns the commands that ran."""

    def let(**statuses: int) -> list[list[str]]:
        ran: list[list[str]] = []

        def call(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
            ran.append(command)
            word = next((word for word in ("venv", "install", "download", "self-test") if word in command), "version")
            told = HERE if word == "version" else f"{word} told"
            return subprocess.CompletedProcess(command, statuses.get(word.replace("-", "_"), 0), told + "\n", "")

        monkeypatch.setattr(installation, "_call", call)
        return ran

    return let


def only(monkeypatch: pytest.MonkeyPatch, *versions: str) -> None:
    monkeypatch.setattr(installation, "interpreter", lambda version: sys.executable if version in versions else None)


def run(wheel: Path) -> tuple[tuple[str, ...], list[str]]:
    said: list[str] = []
    tried = installation.everywhere(wheel, wheel.with_name("lock.txt"), wheel.parent, said.append)
    return tried, said


def test_versions_of_the_lock_are_constraints_without_hashes() -> None:
    assert installation.pins(LOCK).splitlines() == [
        "a-b==1.0 ; python_full_version < '3.12'",
        "a-b==1.1 ; python_full_version >= '3.12'",
        "pagefind==1.5.2",
    ]
    ours = installation.pins((Path(__file__).parents[2] / "requirements.txt").read_text("utf-8"))
    assert "\nnumpy==" in ours
    assert "hash" not in ours


def test_a_python_that_is_missing_is_left_out(wheel: Path, ends: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    ran = ends()
    only(monkeypatch, "3.11", "3.13")
    tried, said = run(wheel)
    assert tried == ("3.11", "3.13")
    assert [line.partition(" (")[0] for line in said] == [
        "Python 3.11: self-test told",
        "Python 3.12: left out, because it is not on this machine",
        "Python 3.13: self-test told",
    ]
    installs = [command for command in ran if "install" in command]
    assert [command[-3:] for command in installs] == [
        ["--constraint", str(wheel.with_name("constraints.txt")), str(wheel)]
    ] * 2


def test_an_index_that_does_not_answer_leaves_a_python_out(
    wheel: Path, ends: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    ends(install=1, download=1)
    only(monkeypatch, "3.11")
    with pytest.raises(BookError, match=r"^the wheel was tried under no Python: none of 3\.11, 3\.12, 3\.13 could be"):
        run(wheel)


def test_both_reasons_are_said(wheel: Path, ends: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    ends(install=1, download=1)
    only(monkeypatch, "3.12")
    said: list[str] = []
    with pytest.raises(BookError):
        installation.everywhere(wheel, wheel.with_name("lock.txt"), wheel.parent, said.append)
    assert said[:2] == [
        "Python 3.11: left out, because it is not on this machine",
        "Python 3.12: left out, because the package index does not answer",
    ]


@pytest.mark.parametrize(
    ("statuses", "words"),
    [
        ({"venv": 1}, "no environment could be made with .*: venv told"),
        ({"install": 1}, r"small\.whl cannot be installed with .*: install told"),
        ({"self_test": 1}, r"small\.whl does not work with .*: self-test told"),
    ],
)
def test_a_fault_of_the_wheel_is_one(
    wheel: Path, ends: Callable, monkeypatch: pytest.MonkeyPatch, statuses: dict[str, int], words: str
) -> None:
    ends(**statuses)
    only(monkeypatch, "3.11")
    with pytest.raises(BookError, match=words):
        run(wheel)


def test_an_interpreter_of_a_version_is_found_or_is_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert installation.interpreter(HERE)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    assert installation.interpreter("3.99") is None
    other = tmp_path / "versions" / "3.99.1" / "bin" / "python"
    other.parent.mkdir(parents=True)
    other.write_text("#!/bin/sh\necho 3.99\n")
    other.chmod(0o755)
    assert installation.interpreter("3.99") == str(other)
    other.write_text("#!/bin/sh\necho 3.98\n")
    assert installation.interpreter("3.99") is None


def test_a_command_that_takes_too_long_has_failed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installation, "PATIENCE", 0.1)
    done = installation._call([sys.executable, "-c", "import time; time.sleep(20)"], tmp_path)
    assert (done.returncode, done.stderr) == (1, "not finished within 0.1 seconds")
