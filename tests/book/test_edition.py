import subprocess
from pathlib import Path

import pytest

from companion.build import repository
from companion.build.project import Project

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
