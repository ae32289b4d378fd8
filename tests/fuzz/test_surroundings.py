"""Tags, odd encodings and variables of the environment: each ends in one line and status 2, and no traceback."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from costofprivacy.book import cli, inherited
from costofprivacy.book.errors import RequestError
from tests.fuzz import judge, surroundings

ROOT = Path(__file__).parents[2]
CHAPTER = ("--root", str(ROOT), "chapter", "noisyhead/mechanism")


@pytest.fixture
def wrong(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    """What is wrong with the answer to some words on the command line; nothing is run."""
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    monkeypatch.setattr("costofprivacy.book.environment.in_settled_environment", lambda: None)

    def wrong(*words: str) -> str:
        try:
            status = cli.main([*words])
        except Exception as error:
            return f"{type(error).__name__}: {error}"
        return judge.answered(status, capsys.readouterr().err)

    return wrong


def test_texts_that_are_no_plain_parameters_are_refused_in_one_line(wrong) -> None:
    found = {text[:80]: wrong(*CHAPTER, "-y", text, "-p", "trials", "0") for text in surroundings.TEXTS}
    assert {text: words for text, words in found.items() if words} == {}


def test_files_that_are_no_plain_parameters_are_refused_in_one_line(wrong, tmp_path: Path) -> None:
    path = tmp_path / "given.yml"
    found = {}
    for content in surroundings.FILES:
        path.write_bytes(content)
        found[content[:30]] = wrong(*CHAPTER, "-f", str(path))
        for suffix in (".yml", ".csv"):
            table = path.with_suffix(suffix)
            table.write_bytes(content)
            found[content[:30] + suffix.encode()] = wrong(
                "--root", str(ROOT), "sweep", "noisyhead/mechanism", "--table", str(table)
            )
    assert {text: words for text, words in found.items() if words} == {}


def test_presets_that_are_no_plain_parameters_are_refused_in_one_line(
    wrong, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    book = tmp_path / "book"
    (book / "presets").mkdir(parents=True)
    for name in ("_toc.yml", "book/noisyhead"):
        (tmp_path / name).symlink_to(ROOT / name)
    found = {}
    texts = ["noisyhead/mechanism: " + text for text in surroundings.TEXTS]
    for content in (
        *surroundings.FILES,
        *(text.encode("utf-8", "surrogateescape") for text in texts if "\ud800" not in text),
    ):
        (book / "presets" / "odd.yml").write_bytes(content)
        found[content[:80]] = wrong("--root", str(tmp_path), "prepare", "--preset", "odd")
    assert {text: words for text, words in found.items() if words} == {}


@pytest.mark.parametrize(("name", "value"), surroundings.VARIABLES)
def test_a_variable_that_a_library_fails_on_is_named(name: str, value: str) -> None:
    with pytest.raises(RequestError, match=f"^the environment variable {name} must be .*, got '{value}'$"):
        inherited.check({name: value})


@pytest.mark.parametrize(("name", "value"), surroundings.HARMLESS)
def test_a_variable_that_nothing_fails_on_is_admitted(name: str, value: str) -> None:
    inherited.check({name: value})


def command(**variables: str) -> "subprocess.CompletedProcess[str]":
    """A command that is refused, after everything is imported, for want of trials."""
    words = [sys.executable, "-m", "costofprivacy.book", *CHAPTER, "-p", "trials", "0"]
    settings = os.environ | {"PYTHONPATH": str(ROOT / "lib")} | variables
    return subprocess.run(words, env=settings, capture_output=True, text=True, check=False)


def test_the_command_looks_at_variables_before_it_imports_what_fails_on_them() -> None:
    done = command(LOKY_PICKLER="abc")
    assert judge.answered(done.returncode, done.stderr) == ""
    assert "LOKY_PICKLER" in done.stderr


def test_settings_of_matplotlib_stay_out() -> None:
    done = command(MPLBACKEND="nonsense", MATPLOTLIBRC="/etc/passwd")
    assert judge.answered(done.returncode, done.stderr) == ""
    assert "trials" in done.stderr


@pytest.mark.parametrize(
    ("name", "value", "lines"),
    [("PYTHONOPTIMIZE", "2", 2), ("PYTHONINSPECT", "1", 2), ("PYTHONSAFEPATH", "1", 1), ("PYTHONUTF8", "0", 1)],
)
def test_settings_of_python_stay_out(name: str, value: str, lines: int) -> None:
    """A command whose interpreter has them already starts again; PYTHONINSPECT would hide its exit status."""
    done = command(**{name: value})
    assert done.returncode == 2
    told = done.stderr.splitlines()
    assert len(told) == lines
    assert told[-1].startswith("error: trials must be")


def test_make_hands_on_no_variable_of_python(tmp_path: Path) -> None:
    (tmp_path / "makefile").write_text("include Makefile\nshown:\n\t@env | grep ^PYTHON\n")
    names = ("PYTHONHOME", "PYTHONOPTIMIZE", "PYTHONINSPECT", "PYTHONSTARTUP", "PYTHONNOUSERSITE", "PYTHONUNBUFFERED")
    words = ["make", "--silent", "-f", str(tmp_path / "makefile"), "shown"]
    settings = os.environ | dict.fromkeys(names, "1")
    done = subprocess.run(words, cwd=ROOT, env=settings, capture_output=True, text=True, check=True)
    assert done.stdout == "PYTHONUNBUFFERED=1\n"
