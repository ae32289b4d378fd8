from pathlib import Path

import pytest

from costofprivacy.overview.saved import Saved

BOOK = Path(__file__).parents[2] / "book"


def test_tables_findings_and_papers_are_read_from_the_tree() -> None:
    saved = Saved(BOOK)
    assert {"N", "test_error"} <= set(saved.table("noisyhead/low-dimensional", "test-error"))
    assert set(saved.findings) <= set(saved.register)
    assert set(saved.papers) == {"noisyhead", "dpgd"}
    assert all(paper["authors"].count(",") >= 3 for paper in saved.papers.values())


def test_what_was_found_leads_to_its_card() -> None:
    text = Saved(BOOK).found("noisyhead/figure-1")
    assert "verdict-holds-narrower" in text
    assert text.endswith("](#claim-noisyhead-figure-1))")


def test_an_unknown_table_is_an_error() -> None:
    with pytest.raises(FileNotFoundError):
        Saved(BOOK).table("noisyhead/low-dimensional", "nothing")
