import pytest

from costofprivacy.judging import addresses
from costofprivacy.judging.claims import Claim

CLAIM = Claim("alpha/theorem-1", "Theorem 1", "So.", "part/one")


@pytest.mark.parametrize(
    ("start", "page"),
    [
        ("", "part/one-claims.html"),
        ("ledger", "part/one-claims.html"),
        ("part/one", "one-claims.html"),
        ("other/two", "../part/one-claims.html"),
    ],
)
def test_a_card_stands_beside_its_chapter(start: str, page: str) -> None:
    assert addresses.card(CLAIM, start) == f"{page}#claim-alpha-theorem-1"


def test_the_claims_of_a_chapter_have_one_page() -> None:
    assert addresses.page_of(CLAIM.chapter) == "part/one-claims"
