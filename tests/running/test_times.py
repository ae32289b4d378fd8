from pathlib import Path

from costofprivacy.book.project import Project, chapters
from costofprivacy.running import times

BOOK = Path(__file__).parents[2] / "book"


def test_the_book_is_measured_in_twenty_minutes_of_two_cores() -> None:
    measured = times.seconds(BOOK)
    assert set(measured) <= set(chapters(Project(BOOK.parent)))
    assert min(measured.values()) > 0
    assert sum(measured.values()) <= 2 * 20 * 60


def test_times_are_told_in_seconds_or_minutes(tmp_path: Path) -> None:
    path = tmp_path / times.COSTS
    path.parent.mkdir()
    path.write_text("chapter,seconds\na,0.2\nb,34.6\nc,99.9\nd,218.6\n")
    told = [times.words(tmp_path, name) for name in "abcde"]
    assert told == ["1 second", "35 seconds", "100 seconds", "4 minutes", ""]


def test_where_nothing_was_measured_there_is_nothing(tmp_path: Path) -> None:
    assert times.seconds(tmp_path) == {}
