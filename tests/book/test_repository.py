"""The repository's address, the edition of a page, and how the book is cited."""

import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml

from chapters.overview import index
from companion.build import repository
from companion.build.project import Project
from tests.each import each

from .conftest import OURS

ADDRESS = "https://github.com/owner/name"
NOWHERE: dict[str, str] = {}


def clone(root: Path, remote: str) -> Path:
    for arguments in (["init", "--quiet"], ["remote", "add", "origin", remote]):
        subprocess.run(["git", "-C", root, *arguments], check=True)
    return root


@each(
    ("remote", "expected"),
    [
        ("https://github.com/owner/name.git", ADDRESS),
        ("https://github.com/owner/name/", ADDRESS),
        ("https://user:secret@github.com/owner/name.git", ADDRESS),
        ("git@github.com:owner/name.git", ADDRESS),
        ("ssh://git@github.com:22/owner/name.git", ADDRESS),
        ("git://GitHub.com/owner/name", ADDRESS),
        ("https://gitlab.com/group/below/name.git", "https://gitlab.com/group/below/name"),
        ("https://git.example.org:8443/owner/name", "https://git.example.org:8443/owner/name"),
        ("https://8.8.8.8/owner/name", "https://8.8.8.8/owner/name"),
    ],
)
def test_a_remote_that_others_reach_is_an_address(remote: str, expected: str) -> None:
    assert repository.public(remote) == expected


@each(
    "remote",
    [
        "", "/srv/name.git", "../name", "./a:b/c", "file:///srv/owner/name.git", "C:\\owner\\name", "name.bundle",
        "https://localhost/owner/name", "http://127.0.0.1:8080/git/owner/name", "https://[::1]/owner/name",
        "https://10.0.0.7/owner/name", "git@work:owner/name.git", "https://box.local/owner/name", "https://github.com",
        "https://github.com/name", "https://github.com/owner/../name", "https://github.com:port/owner/name",
        'https://github.com/owner/"><script>', "ext::sh -c id",
    ],
)  # fmt: skip
def test_a_folder_this_machine_or_half_an_address_is_none(remote: str) -> None:
    assert repository.public(remote) == ""


def test_the_workflow_s_address_comes_before_the_clone_s(tmp_path: Path) -> None:
    assert repository.address(tmp_path, NOWHERE) == ""
    clone(tmp_path, "git@github.com:fork/name.git")
    workflow = {"GITHUB_SERVER_URL": "https://github.com", "GITHUB_REPOSITORY": "owner/name"}
    assert repository.address(tmp_path, workflow) == ADDRESS
    assert repository.address(tmp_path, NOWHERE) == "https://github.com/fork/name"
    assert repository.address(tmp_path, {"GITHUB_REPOSITORY": "owner/name"}) == "https://github.com/fork/name"


def test_another_repository_that_the_environment_names_gives_no_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("own", "other"):
        (tmp_path / name).mkdir()
        clone(tmp_path / name, f"git@github.com:{name}/name.git")
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "other" / ".git"))
    assert repository.address(tmp_path / "own", NOWHERE) == "https://github.com/own/name"


def test_the_staged_configuration_gets_both_addresses_where_they_are_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GITHUB_SERVER_URL", raising=False)
    monkeypatch.delenv(repository.SITE, raising=False)
    config = tmp_path / "_config.yml"
    named = "title: A book\nrepository: {url: https://example.org/a/b}\n"
    for text, cloned in (("repository: {url: '', branch: other}\n", False), (named, True)):
        if cloned:
            clone(tmp_path, f"{ADDRESS}.git")
        config.write_text(text)
        repository.write_addresses(tmp_path, config)
        assert config.read_text() == text
    monkeypatch.setenv(repository.SITE, "https://example.org/book/")
    config.write_text("repository: {url: '', branch: other}\nhtml: {favicon: a.svg}\n")
    repository.write_addresses(tmp_path, config)
    html = {"favicon": "a.svg", "baseurl": "https://example.org/book/"}
    assert yaml.safe_load(config.read_text()) == {"repository": {"url": ADDRESS, "branch": "other"}, "html": html}


FOOTER = '<footer><p class="edition">{}</p><p>Other</p></footer>'


@pytest.fixture
def versioned(project: Project) -> Project:
    (project.root / "pyproject.toml").write_text('[project]\nversion = "1.2.3"\n')
    return project


def git(root: Path, *arguments: str) -> str:
    who = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    return subprocess.run(["git", "-C", root, *who, *arguments], capture_output=True, text=True, check=True).stdout


def test_it_has_the_commit_and_whether_something_changed_since(versioned: Project) -> None:
    git(versioned.root, "init", "--quiet")
    assert repository.edition(versioned.root) == "Version 1.2.3"
    git(versioned.root, "add", ".")
    git(versioned.root, "commit", "--quiet", "--message=All")
    commit = git(versioned.root, "rev-parse", "--short", "HEAD").strip()
    assert repository.edition(versioned.root) == f"Version 1.2.3, commit {commit}"
    versioned.requirements.write_text("numpy==3\n")
    assert repository.edition(versioned.root) == f"Version 1.2.3, commit {commit} and changes since"


def test_each_page_states_the_latest(tmp_path: Path) -> None:
    (tmp_path / "part").mkdir()
    for name in ("index.html", "part/page.html"):
        (tmp_path / name).write_text(FOOTER.format(""))
    for name in ("Version 1", "Version 1, commit abc"):
        repository.write_edition(tmp_path, name)
        assert {path.read_text() for path in tmp_path.rglob("*.html")} == {FOOTER.format(name)}


def test_the_citation_file_agrees_with_the_package_and_the_register() -> None:
    cff = yaml.safe_load((OURS.root / "CITATION.cff").read_text("utf-8"))
    project = tomllib.loads((OURS.root / "pyproject.toml").read_text("utf-8"))["project"]
    papers = yaml.safe_load((OURS.root / "book" / "claims.yml").read_text("utf-8"))["papers"]
    assert cff["version"] == project["version"]
    assert (cff["title"], cff["authors"]) == (index.TITLE, [{"name": index.AUTHOR}])
    assert [each["title"] for each in cff["references"]] == [paper["title"] for paper in papers.values()]
    assert {"cff-version", "message", "title", "authors", "license"} <= set(cff)
    cited = cff["preferred-citation"]
    assert (cited["title"], cited["authors"]) == (cff["title"], cff["authors"])
    assert (cited["year"], cited["version"]) == (index.YEAR, cff["version"])
