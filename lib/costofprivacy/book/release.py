"""``make release``: everything names one version, the archives are built, and the wheel is tried where nothing else is.

The version stands in ``pyproject.toml``. The changelog's first entry, both places of ``CITATION.cff`` and the tag of
the commit have to agree with it. A tag that does not exist yet is no fault unless one is required: the command is run
before the commit is tagged and, with ``TAG=required``, once more on the tag, by continuous integration.
"""

import hashlib
import re
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from costofprivacy.book import distribution, installation
from costofprivacy.book.errors import BookError, RequestError
from costofprivacy.book.git import git
from costofprivacy.book.project import Project
from costofprivacy.book.publishing import uninterrupted
from costofprivacy.book.temporary import temporary
from costofprivacy.book.tree import Say

REQUIRED = "required"
CHANGELOG, CITATION, PYPROJECT = "CHANGELOG.md", "CITATION.cff", "pyproject.toml"
ENTRY = re.compile(r"^## +(?P<version>\S+)[^\n]*\n(?P<text>.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
VERSION_TAG = re.compile(r"v\d+(?:\.\d+)*\S*")
SUMS = "SHA256SUMS"
SHOWN = 5  # of the files that are not committed


def release(project: Project, tag: str, say: Say) -> Path:
    """Check, build and try a release; ``_build/release`` is replaced at the end, if nothing was wrong.

    Args:
        project: the book. tag: "required" if the commit must have its tag already, else empty.
        say: told each step, in one line.

    Returns:
        The folder with the wheel, the source archive and their checksums.

    Raises:
        RequestError: ``tag`` is neither.
        BookError: the version is not the same everywhere, something is not committed, an archive lacks something or
            holds too much, or the wheel does not work under a Python, or was tried under none.
    """
    if tag not in ("", REQUIRED):
        raise RequestError(f"TAG must be {REQUIRED!r} or left out, got {tag!r}")
    found = version(project.root)
    _refuse(disagreements(project.root, tag == REQUIRED))
    has_tag = f"v{found}" in tags(project.root)
    say(f"{found}: {PYPROJECT}, {CHANGELOG} and {CITATION}{' and the tag' if has_tag else ''} agree, all is committed")
    if not has_tag:
        say(f"there is no tag yet; once this has passed: git tag -a v{found} -m 'Version {found}'")
    with temporary(project) as folder:
        source = distribution.committed(project.root, folder / "source")
        archive, wheel = distribution.build(source, folder / "built", _git(project.root, "log", "-1", "--format=%ct"))
        _refuse([*distribution.faults_of_wheel(wheel, source), *distribution.faults_of_archive(archive, source)])
        say(f"built and complete: {archive.name}, {wheel.name}")
        installation.everywhere(wheel, project.requirements, folder, say)
        return _keep(project, [archive, wheel])


def version(root: Path) -> str:
    """The version in ``pyproject.toml``.

    Raises:
        BookError: there is none.
    """
    try:
        return str(tomllib.loads((root / PYPROJECT).read_text("utf-8"))["project"]["version"])
    except (KeyError, tomllib.TOMLDecodeError):
        raise BookError(f"{PYPROJECT} must name a version") from None


def disagreements(root: Path, tag_required: bool) -> list[str]:
    """What does not agree with the version in ``pyproject.toml``, or is not committed, each in a sentence.

    Args:
        root: the project's folder. tag_required: whether a tag that does not exist is a fault.
    """
    found = version(root)
    return [
        *_of_changelog(root, found),
        *_of_citation(root, found),
        *_of_tree(root),
        *_of_tags(root, found, tag_required),
    ]


def tags(root: Path) -> dict[str, str]:
    """The commit of each tag that names a version, such as ``v0.12.0``."""
    listed = _git(root, "for-each-ref", "refs/tags", "--format=%(refname:strip=2) %(objectname) %(*objectname)")
    words = [line.split() for line in listed.splitlines()]
    return {name: commits[-1] for name, *commits in words if VERSION_TAG.fullmatch(name)}


def _of_changelog(root: Path, found: str) -> Iterator[str]:
    """The changelog begins with an entry of the version, which says something."""
    entry = ENTRY.search((root / CHANGELOG).read_text("utf-8"))
    if entry is None or entry["version"] != found:
        yield f"the first entry of {CHANGELOG} must be {found}, got {entry['version'] if entry else 'none'}"
    elif not entry["text"].strip():
        yield f"the entry {found} of {CHANGELOG} is empty"


def _of_citation(root: Path, found: str) -> Iterator[str]:
    """The citation names the version, for the software and for the book."""
    cited: Any = yaml.safe_load((root / CITATION).read_text("utf-8"))
    places = {"version": cited, "preferred-citation: version": cited.get("preferred-citation") or {}}
    for name, place in places.items():
        if str(place.get("version")) != found:
            yield f"{name} in {CITATION} must be {found}, got {place.get('version')}"


def _of_tree(root: Path) -> Iterator[str]:
    """Nothing is changed, and nothing is there that git neither has nor ignores."""
    changed = [line[3:] for line in _git(root, "status", "--porcelain").splitlines()]
    if changed:
        more = f" and {len(changed) - SHOWN} more" if len(changed) > SHOWN else ""
        yield f"not committed: {', '.join(changed[:SHOWN])}{more}"


def _of_tags(root: Path, found: str, required: bool) -> Iterator[str]:
    """The version's tag is at this commit, where it exists, and no other version's is."""
    known, head = tags(root), _git(root, "rev-parse", "HEAD")
    others = sorted(name for name, commit in known.items() if commit == head and name != f"v{found}")
    if others:
        yield f"this commit has the tag {', '.join(others)}, but the version is {found}"
    if f"v{found}" not in known:
        if required:
            yield f"the tag v{found} does not exist"
    elif known[f"v{found}"] != head:
        yield f"the tag v{found} is at the commit {known[f'v{found}'][:8]}, not at this one, {head[:8]}"


def _keep(project: Project, files: list[Path]) -> Path:
    """Put the archives and their checksums into ``_build/release``, in place of earlier ones."""
    home, folder = project.build / "release", files[0].parent
    sums = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files]
    (folder / SUMS).write_text("".join(sums), "utf-8")
    with uninterrupted():
        shutil.rmtree(home, ignore_errors=True)
        folder.rename(home)
    return home


def _refuse(faults: list[str]) -> None:
    """End the command with all that is wrong.

    Raises:
        BookError: something is.
    """
    if faults:
        raise BookError("; ".join(faults))


def _git(root: Path, *words: str) -> str:
    """What git says.

    Raises:
        BookError: it says no, or is not installed.
    """
    try:
        return git(root, *words).decode().rstrip("\n")
    except FileNotFoundError:
        raise BookError("a release needs git, which is not installed") from None
    except subprocess.CalledProcessError as error:
        raise BookError(f"git {words[0]} failed: {error.stderr.decode(errors='replace')}") from None
