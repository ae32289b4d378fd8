import importlib
from pathlib import Path

import pytest

from companion.build import scripts
from companion.build.project import Project
from companion.build.scripts import write_scripts

ASKING = '{"text/html": "<script src=\\"../../_static/explorer.js\\"></script>"}'


def test_a_page_that_asks_for_a_script_finds_it(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    room = project.root / "lib" / project.package / "showing"
    room.mkdir()
    (room / "__init__.py").touch()
    (room / "explorer.py").write_text("def script():\n    return 'draw(ε)'\n", "utf-8")
    monkeypatch.setattr(scripts, "MODULE", f"{project.package}.showing.explorer")
    module = importlib.import_module(scripts.MODULE)
    page = tmp_path / "pages" / "book" / "explore" / "one.ipynb"
    page.parent.mkdir(parents=True)
    page.write_text(ASKING, "utf-8")
    write_scripts(project, tmp_path / "pages")
    written = tmp_path / "pages/book/_static/explorer.js"
    assert written.read_text("utf-8") == "draw(ε)"
    (room / "explorer.js").write_text("other", "utf-8")
    monkeypatch.setattr(module, "script", lambda: "draw(x)")
    write_scripts(project, tmp_path / "pages")
    assert written.read_text("utf-8") == "draw(x)"
    monkeypatch.setattr(module, "script", lambda: pytest.fail("made again"))
    write_scripts(project, tmp_path / "pages")
    assert written.read_text("utf-8") == "draw(x)"


def test_a_book_without_such_a_page_has_no_script(project: Project, tmp_path: Path) -> None:
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "one.ipynb").write_text("{}", "utf-8")
    write_scripts(project, tmp_path / "pages")
    assert not (tmp_path / "pages" / "book" / "_static" / "explorer.js").exists()
