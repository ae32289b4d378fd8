from dataclasses import replace
from pathlib import Path

import pytest

from costofprivacy.judging.findings import Consequence, Finding, Number, Verdict
from costofprivacy.overview import dpgd_in_ten_minutes as page
from costofprivacy.overview.saved import Saved
from costofprivacy.showing.plates import Plate

SAVED = Saved(Path(__file__).parents[2] / "book")


def test_every_claim_is_judged_and_there_are_at_most_four_figures() -> None:
    values = page.values(SAVED)
    assert set(page.CLAIMS.values()) <= set(SAVED.findings)
    assert 1 <= sum(isinstance(value, Plate) for value in values.values()) <= 4


@pytest.mark.parametrize(
    ("grave", "words"), [(0, "none of these change a"), (1, "1 of these changes a"), (2, "2 of these change a")]
)
def test_slips_are_counted_with_their_consequence(grave: int, words: str) -> None:
    failed = Finding(
        Verdict.FAILS, "It fails.", (Number("a", 1.0),), Consequence.CONCLUSION, would_change="Another number."
    )
    mild = replace(failed, consequence=Consequence.NONE)
    saved = Saved(SAVED.tree)
    names = [claim.id for claim in SAVED.register.values() if claim.paper == "dpgd" and not claim.slip][:3]
    saved.__dict__["findings"] = {name: failed if i < grave else mild for i, name in enumerate(names)}
    text = saved.errata("dpgd")
    assert text.startswith("We judged 3 claims and found 3 independent errata")
    assert words in text
