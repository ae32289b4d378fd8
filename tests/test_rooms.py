"""The house as CONTRIBUTING.md draws it: rooms that know no paper and no chapter, and arrows that point one way."""

from __future__ import annotations

from pathlib import Path

import pytest

from companion.running import _source
from tests.each import each

PACKAGE = "costofprivacy"
LIBRARY = Path(__file__).parents[1] / "lib" / PACKAGE
DOMAIN = ("privacy", "rivals", "noisyhead", "dpgd", "estimators")
CHAPTERS = ("experiments", "overview")
ROOMS = ("running", "judging", "showing", "book")
# What the modules of a folder import nothing of. Chapters and overview stand above all; `chapters` joins the rooms.
FORBIDDEN = {
    "privacy": ("rivals", "noisyhead", "dpgd", "estimators", *CHAPTERS, *ROOMS),
    "rivals": ("noisyhead", "dpgd", "estimators", *CHAPTERS, *ROOMS),
    "noisyhead": ("dpgd", "estimators", *CHAPTERS, *ROOMS),
    "dpgd": ("noisyhead", "estimators", *CHAPTERS, *ROOMS),
    "estimators": (*CHAPTERS, *ROOMS),
    "running": (*DOMAIN, *CHAPTERS, "judging", "showing", "book"),
    "judging": (*DOMAIN, *CHAPTERS, "running", "showing", "book"),
    "showing": (*DOMAIN, *CHAPTERS, "running", "book"),
    "book": (*DOMAIN, *CHAPTERS),
}


def imports(path: Path) -> set[str]:
    """The parts of the package that a module imports, by the first name below it."""
    parts = (PACKAGE, *path.relative_to(LIBRARY).with_suffix("").parts)
    package = parts[-1] == "__init__"
    name = ".".join(parts[:-1] if package else parts)
    found = _source.imported(path.read_text("utf-8"), name, package)
    return {need.split(".")[1] for need in found if need.startswith(f"{PACKAGE}.")}


def against(room: str) -> dict[str, list[str]]:
    """The modules of a folder that import what they must not, with what that is."""
    found = {path: sorted(imports(path) & set(FORBIDDEN[room])) for path in sorted((LIBRARY / room).rglob("*.py"))}
    return {path.relative_to(LIBRARY).as_posix(): names for path, names in found.items() if names}


@each("room", FORBIDDEN)
def test_arrows_point_one_way(room: str) -> None:
    assert against(room) == {}


def test_every_folder_of_the_package_has_its_place() -> None:
    folders = {path.parent.name for path in LIBRARY.glob("*/__init__.py")}
    assert folders == {*FORBIDDEN, *CHAPTERS}


def test_an_arrow_that_points_the_wrong_way_is_found_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.test_rooms.LIBRARY", tmp_path)
    (tmp_path / "judging").mkdir()
    (tmp_path / "judging" / "cards.py").write_text("def page():\n    from costofprivacy.dpgd import rates\n", "utf-8")
    assert against("judging") == {"judging/cards.py": ["dpgd"]}
