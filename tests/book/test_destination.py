import re
from pathlib import Path

import pytest

from costofprivacy.book import destination
from costofprivacy.book.errors import RequestError
from costofprivacy.book.project import Project

ROOT = Path(__file__).parents[2]
SOURCES = ("Makefile", ".ci/run", "setup.cfg", "lib/costofprivacy/book/*.py")
PERSONS = {"runs", "sweeps", "mine"}


@pytest.mark.parametrize("out", ["", "_build/mine", "_build/runs/part/first-one", "some/dir", "../elsewhere"])
def test_a_folder_of_ones_own_is_made(project: Project, monkeypatch: pytest.MonkeyPatch, out: str) -> None:
    monkeypatch.chdir(project.root)
    found = destination.folder(Project(Path(), project.package), out, "runs", "part/first-one")
    assert found.is_dir()
    assert list(found.iterdir()) == []
    assert out in found.as_posix() if out else found == Path("_build/runs/part/first-one")


@pytest.mark.parametrize(
    "out",
    [
        *("book", "book/scratch", "some/../book/x", "linked/x", ".git/x", ".venv", ".", "..", "lib/x", "tests"),
        *("_build", "_build/cache/x", "_build/html", "_build/nbval"),
        *(".venv-opacus/x", ".github", ".binder/x", ".ci", "benchmarks/x"),
        *("_build/reports", "_build/uv/x"),
    ],
)
def test_what_the_project_keeps_is_refused(project: Project, monkeypatch: pytest.MonkeyPatch, out: str) -> None:
    monkeypatch.chdir(project.root)
    Path("linked").symlink_to("book")
    before = sorted(project.root.rglob("*"))
    with pytest.raises(RequestError, match=r"^OUT must be a folder of your own, such as _build/mine; "):
        destination.folder(Project(Path(), project.package), out, "runs", "part/first-one")
    assert sorted(project.root.rglob("*")) == before


def test_every_folder_that_the_project_makes_for_itself_is_refused() -> None:
    """Read from the sources: whoever makes another has to name it."""
    texts = [path.read_text() for pattern in SOURCES for path in ROOT.glob(pattern)]
    named = re.findall(
        r"""(?:_build(?:"\s*/\s*"|/)|\bbuild(?:\.resolve\(\))? / ")([a-z][a-z-]*)(?![\w.*-])""", "\n".join(texts)
    )
    assert {"cache", "html", "uv", "setuptools", "validate"} <= set(named)
    assert set(named) - destination.KEPT <= PERSONS


def test_a_preset_is_the_projects(project: Project) -> None:
    (project.book / "presets").mkdir(exist_ok=True)
    (project.book / "presets" / "tiny.yml").write_text("{}")
    with pytest.raises(RequestError, match="OUT must be"):
        destination.folder(project, str(project.build / "tiny" / "executed"), "runs", "part/first-one")


def test_a_folder_that_cannot_be_written_is_said_to_be_so(project: Project) -> None:
    (project.root / "file").touch()
    with pytest.raises(RequestError, match=r"^OUT must be a folder to write into, got .*file/x: Not a directory"):
        destination.folder(project, str(project.root / "file" / "x"), "runs", "part/first-one")
