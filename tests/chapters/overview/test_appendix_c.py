from pathlib import Path

from chapters.overview import appendix_c as page
from chapters.overview.saved import Saved
from companion.showing.plates import Plate

SAVED = Saved(Path(__file__).parents[3] / "book")


def test_every_claim_is_one_of_the_chapter_and_is_named_once() -> None:
    names = [f"dpgd/{name}" for group in page.JUDGED.values() for name in group]
    assert len(set(names)) == len(names)
    assert {SAVED.register[name].chapter for name in names} == {page.CHAPTER}
    assert set(names) <= set(SAVED.findings)


def test_every_table_has_rows_and_there_is_one_figure() -> None:
    values = page.values(SAVED)
    assert sum(isinstance(value, Plate) for value in values.values()) == 1
    assert all(str(values[key]).count("\n") >= 3 for key in page.TABLES)
