"""A wheel tried where nothing else is: in an empty environment of each Python that the project supports.

Its dependencies are installed from the package index, in the versions of the lock. A Python that is not on this machine
is left out, and so is one whose dependencies cannot be had because the index does not answer; both are said. An index
that answers and an installation that fails is a fault of the release.
"""

import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

from costofprivacy.book.errors import BookError
from costofprivacy.book.tree import Say

VERSIONS = ("3.11", "3.12", "3.13")
PIN = re.compile(r"^([a-zA-Z0-9][\w.-]*)(?:\[[^\]]*\])?(==.*?)\s*\\?$", re.MULTILINE)  # a lock's lines, without hashes
PROBE = "tqdm"  # a dependency that is small: whether the index answers
IS_WHOLE = "import ensurepip, sys, venv; print('%d.%d' % sys.version_info[:2])"
CALL = ("-I", "-m", "costofprivacy", "self-test")
PIP = ("-I", "-m", "pip", "--disable-pip-version-check", "--retries", "1", "--timeout", "20")
PATIENCE = 900  # seconds for one installation


class Unreachable(Exception):
    """The package index does not answer."""


def everywhere(wheel: Path, lock: Path, folder: Path, say: Say) -> tuple[str, ...]:
    """Try a wheel under each Python that is found.

    Args:
        wheel: the archive. lock: the versions of its dependencies. folder: for environments; each is removed after use.
        say: told what came of each Python, in one line.

    Returns:
        The versions under which it was tried, and works.

    Raises:
        BookError: it does not work under one of them, or was tried under none.
    """
    constraints = folder / "constraints.txt"
    constraints.write_text(pins(lock.read_text("utf-8")), "utf-8")
    tried = []
    for version in VERSIONS:
        python = interpreter(version)
        if python is None:
            say(f"Python {version}: left out, because it is not on this machine")
            continue
        start = time.monotonic()
        try:
            told = attempt(wheel, constraints, python, folder / f"python-{version}")
        except Unreachable:
            say(f"Python {version}: left out, because the package index does not answer")
            continue
        say(f"Python {version}: {told} ({time.monotonic() - start:.0f} s)")
        tried.append(version)
    if not tried:
        raise BookError(f"the wheel was tried under no Python: none of {', '.join(VERSIONS)} could be used")
    return tuple(tried)


def attempt(wheel: Path, constraints: Path, python: str, home: Path) -> str:
    """Install a wheel in an empty environment and let it test itself there.

    Args:
        wheel: the archive. constraints: versions of its dependencies. python: an interpreter.
        home: the environment's folder, which is made, and removed at the end.

    Returns:
        The line that the wheel's own test prints.

    Raises:
        Unreachable: the package index does not answer.
        BookError: the wheel cannot be installed, or does not work.
    """
    try:
        made = _call([python, "-I", "-m", "venv", str(home)], home.parent)
        inside = str(home / ("Scripts" if os.name == "nt" else "bin") / "python")
        if made.returncode:
            raise BookError(f"no environment could be made with {python}: {_end(made)}")
        asked = ["install", "--quiet", "--constraint", str(constraints), str(wheel.resolve())]
        done = _call([inside, *PIP, *asked], home)
        if done.returncode:
            if not _answers(inside, home):
                raise Unreachable
            raise BookError(f"{wheel.name} cannot be installed with {python}: {_end(done)}")
        tested = _call([inside, *CALL], home)
        if tested.returncode:
            raise BookError(f"{wheel.name} does not work with {python}: {_end(tested)}")
        return tested.stdout.strip()
    finally:
        shutil.rmtree(home, ignore_errors=True)


def pins(lock: str) -> str:
    """The lines of a lock that name versions, as constraints: without hashes, which a wheel made here has not.

    >>> print(pins("numpy==2.4.6 ; python_full_version < '3.12' \\\\\\n    --hash=sha256:0\\n    # via x\\n"), end="")
    numpy==2.4.6 ; python_full_version < '3.12'
    """
    return "".join(f"{name}{rest}\n" for name, rest in PIN.findall(lock))


def interpreter(version: str) -> str | None:
    """An interpreter of a version, such as 3.12, that can make environments; None where there is none.

    It is looked for on the path, as this process's own, and where pyenv and uv keep theirs.
    """
    home = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    candidates = [shutil.which(f"python{version}"), getattr(sys, "_base_executable", sys.executable)]
    candidates += [str(path) for path in sorted((home / "versions").glob(f"{version}.*/bin/python"))]
    uv = shutil.which("uv")
    if uv:
        candidates.append(_call([uv, "python", "find", version], Path.cwd()).stdout.strip())
    return next((path for path in candidates if path and _is(path, version)), None)


def _is(python: str, version: str) -> bool:
    """Whether an interpreter starts, has a version, and can make environments."""
    try:
        return _call([python, "-I", "-c", IS_WHOLE], Path.cwd()).stdout.strip() == version
    except OSError:
        return False


def _answers(python: str, folder: Path) -> bool:
    """Whether the package index gives a small package."""
    asked = ["download", "--quiet", "--no-deps", "--no-cache-dir", "--dest", str(folder / "probe"), PROBE]
    return _call([python, *PIP, *asked], folder).returncode == 0


def _call(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command; one that takes too long has failed."""
    try:
        return subprocess.run(command, cwd=folder, capture_output=True, encoding="utf-8", timeout=PATIENCE, check=False)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 1, "", f"not finished within {PATIENCE} seconds")


def _end(done: subprocess.CompletedProcess[str]) -> str:
    """The end of what a command said."""
    return " ".join((done.stdout + done.stderr).split()[-60:])
