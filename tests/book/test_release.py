"""What a release must agree on, on a small repository: nothing is built here but in the last tests."""

import re
import subprocess
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from costofprivacy.book import cli, distribution, installation, release
from costofprivacy.book.errors import BookError, RequestError
from costofprivacy.book.project import Project

ROOT = Path(__file__).parents[2]
FILES = {
    "pyproject.toml": '[project]\nname = "small"\nversion = "1.2.0"\n',
    "CHANGELOG.md": "# Changelog\n\n## 1.2.0\n\nWhat is new.\n\n## 1.1.0\n\nWhat was new.\n",
    "CITATION.cff": "title: Small\nversion: 1.2.0\npreferred-citation:\n  type: book\n  version: 1.2.0\n",
}
GIT = (
    "-c",
    "user.name=one",
    "-c",
    "user.email=one@example.org",
    "-c",
    "commit.gpgsign=false",
    "-c",
    "tag.gpgsign=false",
)


def git(root: Path, *words: str) -> str:
    done = subprocess.run(["git", "-C", str(root), *GIT, *words], capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository in which everything agrees."""
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--quiet", "--message", "one")
    return tmp_path


@pytest.fixture
def change(root: Path) -> Callable[[str, str, str], None]:
    """Replace a text in a file, and commit it."""

    def replace(name: str, old: str, new: str) -> None:
        text = (root / name).read_text()
        assert old in text
        (root / name).write_text(text.replace(old, new, 1))
        git(root, "commit", "--quiet", "--all", "--message", "two")

    return replace


def test_what_agrees_has_no_faults(root: Path) -> None:
    assert release.version(root) == "1.2.0"
    assert release.disagreements(root, tag_required=False) == []


@pytest.mark.parametrize(
    ("name", "old", "new", "fault"),
    [
        ("CHANGELOG.md", "## 1.2.0", "## 1.3.0", "the first entry of CHANGELOG.md must be 1.2.0, got 1.3.0"),
        (
            "CHANGELOG.md",
            "## 1.2.0\n\nWhat is new.\n\n",
            "",
            "the first entry of CHANGELOG.md must be 1.2.0, got 1.1.0",
        ),
        ("CHANGELOG.md", "What is new.\n", "", "the entry 1.2.0 of CHANGELOG.md is empty"),
        (
            "CHANGELOG.md",
            FILES["CHANGELOG.md"],
            "None yet.\n",
            "the first entry of CHANGELOG.md must be 1.2.0, got none",
        ),
        ("CITATION.cff", "version: 1.2.0", "version: 1.1.0", "version in CITATION.cff must be 1.2.0, got 1.1.0"),
        (
            "CITATION.cff",
            "  version: 1.2.0",
            "  version: 1.1.0",
            "preferred-citation: version in CITATION.cff must be 1.2.0, got 1.1.0",
        ),
        (
            "CITATION.cff",
            "preferred-citation:\n  type: book\n  version: 1.2.0\n",
            "",
            "preferred-citation: version in CITATION.cff must be 1.2.0, got None",
        ),
    ],
)
def test_a_file_that_disagrees_is_named(
    root: Path, change: Callable[[str, str, str], None], name: str, old: str, new: str, fault: str
) -> None:
    change(name, old, new)
    assert release.disagreements(root, tag_required=False) == [fault]


def test_all_faults_are_told_at_once(root: Path, change: Callable[[str, str, str], None]) -> None:
    change("pyproject.toml", "1.2.0", "1.3.0")
    found = release.disagreements(root, tag_required=True)
    assert [fault.split(" must")[0] for fault in found] == [
        "the first entry of CHANGELOG.md",
        "version in CITATION.cff",
        "preferred-citation: version in CITATION.cff",
        "the tag v1.3.0 does not exist",
    ]


def test_a_version_is_needed(root: Path) -> None:
    (root / "pyproject.toml").write_text("[project]\nname = 'small'\n")
    with pytest.raises(BookError, match=r"^pyproject\.toml must name a version$"):
        release.version(root)


def test_what_is_not_committed_is_named(root: Path) -> None:
    (root / "CHANGELOG.md").write_text(FILES["CHANGELOG.md"] + "More.\n")
    (root / "new.txt").touch()
    assert release.disagreements(root, False) == ["not committed: CHANGELOG.md, new.txt"]
    for number in range(6):
        (root / f"other-{number}").touch()
    assert release.disagreements(root, False)[0].endswith("other-2 and 3 more")


def test_what_git_ignores_is_nobodys_concern(root: Path) -> None:
    (root / ".git" / "info" / "exclude").write_text("_build\n")
    (root / "_build").mkdir()
    (root / "_build" / "x").touch()
    assert release.disagreements(root, False) == []


@pytest.mark.parametrize("annotated", [True, False])
def test_a_tag_is_at_the_commit(root: Path, change: Callable[[str, str, str], None], annotated: bool) -> None:
    assert release.disagreements(root, tag_required=True) == ["the tag v1.2.0 does not exist"]
    git(root, "tag", *(("--annotate", "--message", "1.2.0") if annotated else ()), "v1.2.0")
    assert release.disagreements(root, tag_required=True) == []
    tagged = git(root, "rev-parse", "HEAD")
    change("CHANGELOG.md", "What is new.", "What is newer.")
    here = git(root, "rev-parse", "HEAD")
    fault = f"the tag v1.2.0 is at the commit {tagged[:8]}, not at this one, {here[:8]}"
    assert release.disagreements(root, tag_required=False) == [fault]


def test_the_commit_has_no_other_versions_tag(root: Path) -> None:
    git(root, "tag", "v1.3.0")
    git(root, "tag", "before-a-rewrite")
    assert release.disagreements(root, False) == ["this commit has the tag v1.3.0, but the version is 1.2.0"]


@pytest.mark.parametrize("tag", ["yes", "v1.2.0"])
def test_a_wrong_request_is_refused(root: Path, tag: str) -> None:
    with pytest.raises(RequestError, match=rf"^TAG must be 'required' or left out, got '{tag}'$"):
        release.release(Project(root), tag, print)


def test_a_folder_without_git_is_refused(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(FILES["pyproject.toml"])
    for name in ("CHANGELOG.md", "CITATION.cff"):
        (tmp_path / name).write_text(FILES[name])
    with pytest.raises(BookError, match=r"^git status failed: "):
        release.disagreements(tmp_path, False)


def test_the_command_ends_in_one_line(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(cli.signal, "signal", lambda *_: None)
    (root / "new.txt").touch()
    assert cli.main(["--root", str(root), "release", "--tag", "required"]) == 1
    written = capsys.readouterr()
    assert written.err == "error: not committed: new.txt; the tag v1.2.0 does not exist\n"
    assert not (root / "_build").exists()


# the steps after the checks, without an archive and without a Python


def steps(root: Path, monkeypatch: pytest.MonkeyPatch, faults: list[str]) -> list[str]:
    """What a release says whose archives are two empty files."""

    def build(source: Path, folder: Path, seconds: str) -> tuple[Path, Path]:
        assert (source / "CHANGELOG.md").read_text() == FILES["CHANGELOG.md"]
        assert int(seconds) > 0
        folder.mkdir()
        for name in ("small-1.2.0.tar.gz", "small.whl"):
            (folder / name).touch()
        return folder / "small-1.2.0.tar.gz", folder / "small.whl"

    said: list[str] = []
    monkeypatch.setattr(distribution, "build", build)
    monkeypatch.setattr(distribution, "faults_of_wheel", lambda *_: faults)
    monkeypatch.setattr(distribution, "faults_of_archive", lambda *_: [])
    monkeypatch.setattr(installation, "everywhere", lambda *_: said.append("tried"))
    release.release(Project(root), "", said.append)
    return said


def test_a_release_says_which_tag_to_make(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / ".git" / "info" / "exclude").write_text("_build\n")
    said = steps(root, monkeypatch, [])
    assert said == [
        "1.2.0: pyproject.toml, CHANGELOG.md and CITATION.cff agree, all is committed",
        "there is no tag yet; once this has passed: git tag -a v1.2.0 -m 'Version 1.2.0'",
        "built and complete: small-1.2.0.tar.gz, small.whl",
        "tried",
    ]
    kept = root / "_build" / "release"
    assert sorted(path.name for path in kept.iterdir()) == ["SHA256SUMS", "small-1.2.0.tar.gz", "small.whl"]
    done = subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=kept, check=False)
    assert done.returncode == 0
    git(root, "tag", "v1.2.0")
    assert steps(root, monkeypatch, [])[0].endswith("CITATION.cff and the tag agree, all is committed")


def test_an_archive_with_a_fault_is_not_kept(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BookError, match=r"^small\.whl lacks"):
        steps(root, monkeypatch, ["small.whl lacks a"])
    assert not (root / "_build" / "release").exists()


# the archives of this project, built from the last commit


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Path]:
    """The project's committed files, the source archive and the wheel."""
    if not (ROOT / ".git").exists():
        pytest.skip("a release is built from a commit, and this folder is no repository")
    folder = tmp_path_factory.mktemp("release")
    source = distribution.committed(ROOT, folder / "source")
    return source, *distribution.build(source, folder / "built", "1700000000")


@pytest.fixture
def spoilt(built: tuple[Path, Path, Path], tmp_path: Path) -> Callable[..., list[str]]:
    """What is found in a wheel without some of its files, or with others."""

    def faults(without: str = "", **more: str) -> list[str]:
        copy = tmp_path / built[2].name
        with zipfile.ZipFile(built[2]) as good, zipfile.ZipFile(copy, "w") as bad:
            for name in good.namelist():
                if not (without and name.endswith(without)):
                    bad.writestr(name, more.pop(name, None) or good.read(name))
            for name, text in more.items():
                bad.writestr(name, text)
        return distribution.faults_of_wheel(copy, built[0])

    return faults


def test_the_archives_of_this_project_are_whole(built: tuple[Path, Path, Path]) -> None:
    source, archive, wheel = built
    assert distribution.faults_of_wheel(wheel, source) == []
    assert distribution.faults_of_archive(archive, source) == []
    with tarfile.open(archive) as content:
        names = content.getnames()
    assert f"costofprivacy-{release.version(source)}/book/claims.yml" in names
    assert not [name for name in names if "/tests" in name]


@pytest.mark.parametrize(
    "name",
    [
        "/py.typed",
        "_book/claims.yml",
        "what-this-does-not-protect/seeds.csv",
        "licenses/LICENSE-TEXT.md",
        "/privacy/audit.py",
    ],
)
def test_a_wheel_that_lacks_something_is_found_out(spoilt: Callable[..., list[str]], name: str) -> None:
    (fault,) = spoilt(without=name)
    assert " lacks costofprivacy" in fault
    assert fault.endswith(name)


def test_several_files_that_a_wheel_lacks_are_counted(spoilt: Callable[..., list[str]]) -> None:
    (fault,) = spoilt(without="/verdicts.json")
    assert re.search(r" lacks costofprivacy/_book/\S*/verdicts\.json and \d+ more of the project's files$", fault)


@pytest.mark.parametrize(
    "name", ["costofprivacy/a.ipynb", "tests/test_a.py", "costofprivacy/tests/test_a.py", "book/claims.yml"]
)
def test_a_wheel_that_has_too_much_is_found_out(spoilt: Callable[..., list[str]], name: str) -> None:
    (fault,) = spoilt(**{name: "text"})
    assert fault.endswith(f" must not have {name}")


def test_other_contents_and_other_metadata_are_found_out(spoilt: Callable[..., list[str]]) -> None:
    (fault,) = spoilt(**{"costofprivacy/_book/claims.yml": "claims: []"})
    assert fault.endswith(" has another content of costofprivacy/_book/claims.yml")
    about = f"costofprivacy-{release.version(ROOT)}.dist-info/METADATA"
    told = "Name: costofprivacy\nVersion: 0.0.1\nLicense-Expression: MIT\n"
    assert [fault.partition(" in ")[0] for fault in spoilt(**{about: told})] == ["Version", "License-Expression"]


def test_a_build_that_fails_says_why(tmp_path: Path) -> None:
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "setup.py").write_text("raise SystemExit('no such luck')\n")
    with pytest.raises(BookError, match=r"^the build failed: .*no such luck"):
        distribution.build(tmp_path / "source", tmp_path / "built", "0")
