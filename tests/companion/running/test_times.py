from pathlib import Path

from companion.build.project import Project, chapters
from companion.running import stamps

BOOK = Path(__file__).parents[3] / "book"


def test_the_book_is_measured_in_twenty_minutes_of_two_cores() -> None:
    measured = stamps.seconds(BOOK)
    assert set(measured) <= set(chapters(Project(BOOK.parent)))
    assert min(measured.values()) > 0
    assert sum(measured.values()) <= 2 * 20 * 60
