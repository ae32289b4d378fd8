"""The one switch for the code of a page, in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

CHAPTER, OPEN_CODE, PROSE = "book/privacy/how-much-noise.html", "book/your-data.html", "book/notation.html"
VISIBLE = "all => all.filter(node => node.checkVisibility({contentVisibilityAuto: true})).length"
FOLDED = "article div.cell details.hide.above-input"


def seen(page: Page, what: str) -> int:
    return int(page.eval_on_selector_all(what, VISIBLE))


@pytest.fixture(params=[1300, 390])
def page(browser: Browser, request: pytest.FixtureRequest) -> Iterator[Page]:
    opened = browser.new_page(viewport={"width": request.param, "height": 900})
    opened.set_default_timeout(120_000)
    opened.route("**/mathjax/**", lambda route: route.abort())
    yield opened
    opened.close()


def test_one_switch_opens_and_closes_all_folded_code(rendered: Path, page: Page) -> None:
    page.goto((rendered / CHAPTER).as_uri())
    cells, inputs = page.locator(FOLDED).count(), "article .cell_input"
    always = seen(page, inputs)
    assert cells > 10
    assert always == page.locator(inputs).count() - cells  # cells tagged shown-input
    assert seen(page, f"{FOLDED} > summary") == 0
    page.focus(".code-switch")
    page.keyboard.press("Enter")
    assert seen(page, inputs) == always + cells
    assert page.get_attribute(".code-switch", "aria-pressed") == "true"
    assert seen(page, f"{FOLDED} > summary") == cells
    page.keyboard.press("Space")
    assert seen(page, inputs) == always
    assert seen(page, f"{FOLDED} > summary") == 0


def test_without_scripts_each_cell_keeps_its_own_fold(rendered: Path, browser: Browser) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((rendered / CHAPTER).as_uri())
    summary = page.locator(f"{FOLDED} > summary").first
    assert summary.is_visible()
    summary.click()
    assert page.locator(f"{FOLDED} .cell_input").first.is_visible()
    assert page.locator(".code-switch").count() == 0
    context.close()
