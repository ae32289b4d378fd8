from pathlib import Path

from chapters.overview import noisyhead_in_ten_minutes as page
from chapters.overview.saved import Saved
from companion.showing.plates import Plate

SAVED = Saved(Path(__file__).parents[3] / "book")


def test_every_claim_is_judged_and_there_are_at_most_three_figures() -> None:
    values = page.values(SAVED)
    assert set(page.CLAIMS.values()) <= set(SAVED.findings)
    assert 1 <= sum(isinstance(value, Plate) for value in values.values()) <= 3
