"""The archives of a release: built from what is committed, with the locked build backend, and looked through.

The wheel is built from the source archive, so an archive that lacks something cannot give a wheel that has it. Neither
build has a network or an environment of its own: `--no-build-isolation` takes the setuptools of the lock.
"""

import os
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Iterator
from email import message_from_bytes
from io import BytesIO
from pathlib import Path
from typing import Any

from costofprivacy.book.errors import BookError
from costofprivacy.book.git import git

PACKAGE = "costofprivacy"
SHIPPED = ("**/*.csv", "**/verdicts.json", "claims.yml", "columns.yml")  # of book/, as in setup.py
RESULTS = "_book"  # where the package keeps them
BESIDE = ("CHANGELOG.md", "CITATION.cff", "README.md", "SECURITY.md", "pyproject.toml", "setup.py")
SOURCE_ARCHIVE = "import sys; from setuptools.build_meta import build_sdist; build_sdist(sys.argv[1])"


def committed(root: Path, folder: Path) -> Path:
    """Write what the last commit holds into a new folder, and nothing else that lies in the project.

    Raises:
        BookError: git does not give it.
    """
    try:
        content = git(root, "archive", "--format=tar", "HEAD")
    except subprocess.CalledProcessError as error:
        raise BookError(f"git archive failed: {error.stderr.decode(errors='replace')}") from None
    with tarfile.open(fileobj=BytesIO(content)) as archive:
        archive.extractall(folder, filter="data")
    return folder


def build(source: Path, folder: Path, seconds: str) -> tuple[Path, Path]:
    """Build the source archive, and the wheel from it.

    Args:
        source: the project's files. folder: for both archives; it is made.
        seconds: since 1970, the time that the archives' files are given, so that they do not depend on today.

    Returns:
        The source archive and the wheel.

    Raises:
        BookError: a build failed.
    """
    folder.mkdir(parents=True)
    target = str(folder.resolve())
    _run([sys.executable, "-c", SOURCE_ARCHIVE, target], source, seconds)
    archive = next(folder.glob("*.tar.gz"))
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel", "--quiet", "--no-index"]
    asked = ["--no-deps", "--no-build-isolation", "--no-cache-dir", "--wheel-dir", target, str(archive.resolve())]
    _run([*pip, *asked], folder, seconds)
    return archive, next(folder.glob("*.whl"))


def faults_of_wheel(wheel: Path, source: Path) -> list[str]:
    """What a wheel lacks or has too much, each in a sentence.

    Args:
        wheel: the archive. source: the project's files.
    """
    project = _project(source)
    with zipfile.ZipFile(wheel) as archive:
        files = {name: archive.read(name) for name in archive.namelist() if not name.endswith("/")}
    about = f"{project['name']}-{project['version']}.dist-info"
    expected = {f"{PACKAGE}/{RESULTS}/{name}": content for name, content in results(source).items()}
    expected |= {f"{about}/licenses/{name}": (source / name).read_bytes() for name in project["license-files"]}
    library = source / "lib"
    own = [path for path in (library / PACKAGE).rglob("*") if path.is_file()]
    expected |= {path.relative_to(library).as_posix(): path.read_bytes() for path in own}
    return [
        *_differences(wheel.name, files, expected),
        *_unwanted(wheel.name, files, (f"{PACKAGE}/", f"{about}/")),
        *_metadata(wheel.name, files.get(f"{about}/METADATA", b""), project),
    ]


def faults_of_archive(archive: Path, source: Path) -> list[str]:
    """What a source archive lacks or has too much, each in a sentence.

    Args:
        archive: the file. source: the project's files.
    """
    project = _project(source)
    top = f"{project['name']}-{project['version']}/"
    with tarfile.open(archive) as content:
        files = {entry.name: _content(content, entry) for entry in content.getmembers() if entry.isfile()}
    expected = {f"{top}book/{name}": text for name, text in results(source).items()}
    named = [*BESIDE, *project["license-files"]]
    expected |= {top + name: (source / name).read_bytes() for name in named}
    return [
        *_differences(archive.name, files, expected),
        *_unwanted(archive.name, files, (top,)),
        *_metadata(archive.name, files.get(f"{top}PKG-INFO", b""), project),
    ]


def results(source: Path) -> dict[str, bytes]:
    """What the book publishes beside its pages, by the path below ``book/``."""
    book = source / "book"
    found = sorted(path for pattern in SHIPPED for path in book.glob(pattern))
    return {path.relative_to(book).as_posix(): path.read_bytes() for path in found}


def _project(source: Path) -> dict[str, Any]:
    """What ``pyproject.toml`` says of the project."""
    found: dict[str, Any] = tomllib.loads((source / "pyproject.toml").read_text("utf-8"))["project"]
    return found


def _differences(name: str, files: dict[str, bytes], expected: dict[str, bytes]) -> Iterator[str]:
    """Files that an archive lacks, or has otherwise than the project."""
    missing = sorted(set(expected) - set(files))
    changed = sorted(path for path in expected if path in files and files[path] != expected[path])
    for verb, paths in (("lacks", missing), ("has another content of", changed)):
        if paths:
            more = f" and {len(paths) - 1} more of the project's files" if len(paths) > 1 else ""
            yield f"{name} {verb} {paths[0]}{more}"


def _unwanted(name: str, files: dict[str, bytes], tops: tuple[str, ...]) -> Iterator[str]:
    """Files that an archive should not have: notebooks, tests, and what lies outside its folders."""
    for path in sorted(files):
        below = [path.removeprefix(top) for top in tops if path.startswith(top)]
        if not below or path.endswith((".ipynb", ".pyc")) or below[0].startswith("tests/"):
            yield f"{name} must not have {path}"


def _metadata(name: str, text: bytes, project: dict[str, Any]) -> Iterator[str]:
    """The metadata name the project, its version and its licence."""
    told = message_from_bytes(text)
    for field, key in (("Name", "name"), ("Version", "version"), ("License-Expression", "license")):
        if told[field] != project[key]:
            yield f"{field} in the metadata of {name} must be {project[key]}, got {told[field]}"


def _content(archive: tarfile.TarFile, entry: tarfile.TarInfo) -> bytes:
    """The content of a file."""
    opened = archive.extractfile(entry)
    return opened.read() if opened else b""


def _run(command: list[str], folder: Path, seconds: str) -> None:
    """Run a build.

    Raises:
        BookError: it failed; the text is the end of what it said.
    """
    settings = os.environ | {"SOURCE_DATE_EPOCH": seconds}
    done = subprocess.run(command, cwd=folder, env=settings, capture_output=True, text=True, check=False)
    if done.returncode:
        raise BookError(f"the build failed: {' '.join((done.stdout + done.stderr).split()[-60:])}")
