"""The letters to the authors: ten points, none of which holds as printed, and what they promise is so."""

import re
from pathlib import Path
from types import ModuleType

import pytest

from chapters.overview import letter_dpgd, letter_noisyhead
from chapters.overview.saved import Saved
from companion.judging.findings import Verdict

BOOK = Path(__file__).parents[3] / "book"
SAVED = Saved(BOOK)
PLACE = re.compile(r"\{\{ (\w+) \}\}")
POINTS = 10
LETTERS = [("letter-noisyhead", letter_noisyhead), ("letter-dpgd", letter_dpgd)]


@pytest.mark.parametrize(("name", "letter"), LETTERS)
def test_a_letter_has_ten_points_that_do_not_hold_as_printed(name: str, letter: ModuleType) -> None:
    text = (BOOK / f"{name}.md").read_text("utf-8")
    points = re.findall(r"^\d+\. .*(?:\n   .*)*", text, re.MULTILINE)
    assert len(points) == POINTS
    for point in points:
        named = {place.removesuffix("_correction") for place in PLACE.findall(point)} & set(letter.CLAIMS)
        assert named
        for place in named:
            assert SAVED.findings[letter.CLAIMS[place]].verdict not in (Verdict.HOLDS, Verdict.UNTESTABLE), place


@pytest.mark.parametrize(("name", "letter"), LETTERS)
def test_a_letter_quotes_what_it_names_and_names_what_it_quotes(name: str, letter: ModuleType) -> None:
    places = set(PLACE.findall((BOOK / f"{name}.md").read_text("utf-8")))
    values = letter.values(SAVED)
    assert places <= set(values)
    assert set(letter.CLAIMS) <= {place.removesuffix("_correction") for place in places}
    assert all(values[place] for place in places)


@pytest.mark.parametrize("place", ["path", "rate", "lower"])
def test_what_the_letter_confirms_to_the_authors_of_dp_gd_holds(place: str) -> None:
    assert SAVED.findings[letter_dpgd.CLAIMS[place]].verdict == Verdict.HOLDS
    for promised in ("proposition-4.1", "theorem-1-path", "theorem-1-mean", "theorem-2", "theorem-3"):
        assert SAVED.findings[f"dpgd/{promised}"].verdict == Verdict.HOLDS
