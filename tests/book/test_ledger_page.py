"""The ledger's table in a browser: it filters, searches and sorts, and the address keeps what was chosen."""

from typing import Any

import pytest

from chapters.ledger import show
from chapters.ledger.measure import Experiment

from .conftest import OURS


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The book's ledger as a page of its own, opened from a file."""
    folder = tmp_path_factory.mktemp("page")
    (folder / "ledger.js").write_text((OURS.book / "_static/ledger.js").read_text("utf-8"), "utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COSTOFPRIVACY_BOOK", str(OURS.book))
        table = show.show_claims(Experiment().read(OURS.book)).data
    script = '<script defer src="ledger.js"></script>'
    (folder / "ledger.html").write_text(f"<!DOCTYPE html><meta charset='utf-8'>{script}{table}", "utf-8")
    return (folder / "ledger.html").as_uri()


def shown(page: Any, name: str) -> list[str]:
    return page.eval_on_selector_all("tbody tr", f"rows => rows.map(row => row.dataset.{name})")


def test_a_choice_narrows_and_survives_a_reload(page: Any, address: str) -> None:
    page.goto(address)
    everything = len(shown(page, "verdict"))
    page.select_option("label:has-text('verdict') select", "fails")
    page.fill("input[type=search]", "ridge")
    narrowed = shown(page, "verdict")
    assert set(narrowed) == {"fails"}
    assert 0 < len(narrowed) < everything
    assert page.url.endswith("#verdict=fails&q=ridge")
    page.reload()
    assert shown(page, "verdict") == narrowed
    assert page.input_value("input[type=search]") == "ridge"
    assert f"{len(narrowed)} of {everything} claims" in page.inner_text("[role=status]")
    page.click("button:has-text('Show all')")
    assert len(shown(page, "verdict")) == everything


def test_a_header_sorts_upwards_then_downwards_then_no_longer(page: Any, address: str) -> None:
    page.goto(address)
    places = page.eval_on_selector_all("tbody tr", "rows => rows.map(row => row.id)")
    seen = []
    for _ in range(3):
        page.click("thead th:nth-child(3) [role=button]")
        seen.append(list(dict.fromkeys(shown(page, "consequence"))))
    assert seen[:2] == [["conclusion", "numbers", "none"], ["none", "numbers", "conclusion"]]
    assert page.eval_on_selector_all("tbody tr", "rows => rows.map(row => row.id)") == places
    assert "sort" not in page.url


def test_the_address_of_a_row_shows_it_whatever_was_chosen(page: Any, address: str) -> None:
    page.goto(f"{address}#verdict=pending")
    page.goto(f"{address}#claim-noisyhead-theorem-4-1")
    page.wait_for_function("document.querySelector('tr:target')")
    box = page.locator("#claim-noisyhead-theorem-4-1").bounding_box()
    assert 0 <= box["y"] < 300
