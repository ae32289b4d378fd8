"""NAME and P on make's command line are text: no shell and no make reads them."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from companion.build.cli import spread
from companion.build.project import RequestError

ROOT = Path(__file__).parents[2]
# A make of its own, though another one may run these tests: it would tell which folder it enters.
ALONE = {name: value for name, value in os.environ.items() if not name.startswith("MAKE") and name != "MFLAGS"}
HOSTILE = (
    "x; touch hit",
    "$(shell touch hit)",
    "${shell touch hit}",
    "$$(touch hit)",
    "`touch hit`",
    "x && touch hit",
    "x | touch hit #",
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
        (["a", "--words", "-p trials", "--", "b"], ["a", "b", "-p", "trials"]),
        (["a", "--words", "", "--", "-b"], ["a", "--", "-b"]),
        (["--words", ""], []),
        (["--words", "-y '{N: [1, 2]}'"], ["-y", "{N: [1, 2]}"]),
        (["--words", "$(x) `y`; z | w"], ["$(x)", "`y`;", "z", "|", "w"]),
        (["--", "--words", "a b"], ["--", "--words", "a b"]),
        (["--words"], []),
    ],
)
def test_a_text_is_split_and_nothing_else(arguments: list[str], words: list[str]) -> None:
    assert spread(arguments) == words


def test_a_quotation_without_an_end_is_named() -> None:
    with pytest.raises(
        RequestError, match=r"P must be written like options on a command line, got .-y \"a.: no closing quotation"
    ):
        spread(["--words", '-y "a'])


def test_a_name_that_looks_like_an_option_is_refused() -> None:
    with pytest.raises(RequestError, match=r"^NAME must be a chapter, and CLUSTER an address, got '-h'$"):
        spread(["chapter", "--words", "-p trials 5", "--", "-h"])


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the project's Makefile, an environment that is up to date, and a Python that only looks."""
    folder = tmp_path_factory.mktemp("made")
    for name in ("Makefile", "tests/maintain.mk", "environments/opacus.txt"):
        (folder / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    (folder / ".venv/bin").mkdir(parents=True)
    for name in ("requirements.txt", "pyproject.toml"):
        (folder / name).touch()
    (folder / ".venv/.locked").write_text(f"{folder}\n")
    (folder / ".venv/.complete").touch()
    python = folder / ".venv/bin/python"
    python.write_text('#!/bin/sh\nprintf "%s\\n" "$@" > seen; printf "%s" "$NAME" > name; exit 0\n')
    python.chmod(0o755)
    return folder


@pytest.mark.parametrize("text", HOSTILE)
def test_text_on_the_command_line_runs_nothing(made: Path, text: str) -> None:
    given = [f"{variable}={text}" for variable in ("NAME", "P", "OUT")]
    done = subprocess.run(["make", "chapter", *given], cwd=made, capture_output=True, text=True, env=ALONE)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert not (made / "hit").exists()
    assert (made / "seen").read_text().splitlines().count(text) == len(given), "and each arrives as it was typed"


@pytest.mark.parametrize("text", ["opacus; touch hit", "$(shell touch hit)", "x'; touch hit; '", "opacus touch"])
@pytest.mark.parametrize("target", ["extra", "anew"])
def test_an_extra_environment_has_a_known_name(made: Path, text: str, target: str) -> None:
    done = subprocess.run(
        ["make", "-f", "tests/maintain.mk", target, f"NAME={text}"], cwd=made, capture_output=True, text=True, env=ALONE
    )
    assert done.returncode == 2
    assert done.stderr.startswith("error: NAME must be one of opacus, got '")
    assert not (made / "hit").exists()


@pytest.mark.parametrize("target", ["validate", "refresh", "book"])
def test_nor_does_it_for_other_targets(made: Path, target: str) -> None:
    hostile = [f"{name}=$(shell touch hit); touch hit" for name in ("NAME", "P", "PRESET", "OUT", "FORCE", "ANYWAY")]
    done = subprocess.run(["make", target, *hostile], cwd=made, capture_output=True, text=True, env=ALONE)
    assert (done.returncode, done.stdout) == (0, "")
    assert not (made / "hit").exists()
