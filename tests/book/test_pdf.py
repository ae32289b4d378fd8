"""Pages as PDF: what is missing is named, and a letter has two sides."""

import shutil
from pathlib import Path

import pytest

from companion.build import rendering
from companion.build.project import BookError, Project


def rendered(root: Path) -> Project:
    """A project with a page of every name."""
    folder = root / "_build" / "html" / "book"
    folder.mkdir(parents=True)
    for name in rendering.PRINTED:
        (folder / f"{name}.html").write_text("<p>One.</p>", encoding="utf-8")
    return Project(root)


def test_what_is_not_rendered_is_named(tmp_path: Path) -> None:
    project = rendered(tmp_path)
    (tmp_path / "_build" / "html" / "book" / "errata.html").unlink()
    with pytest.raises(BookError, match=r"^these pages are not rendered yet: errata .*make pages"):
        rendering.print_pages(project, print)


def test_without_a_browser_nothing_is_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(BookError, match=r"needs a browser, one of chromium, .*; none is installed"):
        rendering.print_pages(rendered(tmp_path), print)
    assert not (tmp_path / "_build" / "pdf").exists()
