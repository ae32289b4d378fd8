from pathlib import Path

from costofprivacy.book.project import Project, chapters
from costofprivacy.running import times

BOOK = Path(__file__).parents[2] / "book"


def test_every_chapter_has_its_time() -> None:
    measured = times.seconds(BOOK)
    assert set(measured) == set(chapters(Project(BOOK.parent)))
    assert min(measured.values()) > 0
    assert sum(measured.values()) <= 40 * 60  # DESIGN.md: the whole book at the papers' scale


def test_where_nothing_was_measured_there_is_nothing(tmp_path: Path) -> None:
    assert times.seconds(tmp_path) == {}
