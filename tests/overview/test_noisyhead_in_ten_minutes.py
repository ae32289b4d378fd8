from pathlib import Path

from costofprivacy.overview import noisyhead_in_ten_minutes as page
from costofprivacy.overview.saved import Saved
from costofprivacy.showing.plates import Plate

SAVED = Saved(Path(__file__).parents[2] / "book")


def test_every_claim_is_judged_and_there_are_at_most_three_figures() -> None:
    values = page.values(SAVED)
    assert set(page.CLAIMS.values()) <= set(SAVED.findings)
    assert 1 <= sum(isinstance(value, Plate) for value in values.values()) <= 3


def test_the_figure_on_starts_says_what_the_closed_form_has() -> None:
    table = SAVED.table("noisyhead/early-stopping", "closed-form")
    first = table[(table["account"] == "Algorithm 1") & (table["start"] == "zero")].sort_values("T")["total"].iloc[0]
    assert f"{first:.1e}".split("e")[0] in page.start(SAVED).alt
