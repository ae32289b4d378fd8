"""The calculator of the page that chooses a method, in a real browser: `browser` in tests/maintain.mk runs these."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from costofprivacy.estimators import calculator

from . import browsing, rendering

WIDE, NARROW = 1300, 400
PAGE = "book/method.html"


def opened(browser: Browser, width: int = WIDE, end: str = "", **options: Any) -> Page:
    page = browser.new_page(viewport={"width": width, "height": 900}, **options)
    page.set_default_timeout(browsing.PATIENCE)
    page.route("**/mathjax/**", lambda route: route.abort())
    page.goto((rendering.rendered() / PAGE).as_uri() + end)
    return page


@pytest.fixture(params=[WIDE, NARROW])
def page(browser: Browser, request: pytest.FixtureRequest) -> Iterator[Page]:
    found = opened(browser, request.param)
    found.wait_for_selector(".calculator[data-ready]")
    yield found
    found.close()


def told(page: Page) -> str:
    return page.inner_text(".calculator-told")


def test_it_answers_what_python_answers(page: Page) -> None:
    for n, d, epsilon in ((10_000, 10, 1.0), (2000, 5, 0.5), (100_000, 80, 3.0)):
        for name, value in {"n": n, "d": d, "value": epsilon}.items():
            page.fill(f".calculator [name={name}]", f"{value:g}")
        said = calculator.answer(n, d, epsilon=epsilon)
        assert told(page).startswith(
            f"Use {said.method}. Its expected R² on new records is {said.r2:.2f}, with a range from {said.low:.2f} to "
            f"{said.high:.2f}. Without privacy, least squares would reach {said.without_privacy:.2f}."
        )
        assert page.text_content(".calculator-code") == said.code


def test_it_says_what_is_wrong_and_where_nothing_helps(page: Page) -> None:
    page.fill(".calculator [name=n]", "5")
    assert "33 or more" in page.inner_text(".calculator-fault")
    assert not page.is_visible(".calculator-told")
    page.fill(".calculator [name=n]", "40")
    page.fill(".calculator [name=value]", "0.01")
    assert told(page).startswith("No private method is expected to do better than predicting the mean")
    page.fill(".calculator [name=delta]", "0.05")
    assert "far below 1/n" in page.inner_text(".calculator-warning")


def test_without_scripts_a_table_and_a_figure_stand_there(browser: Browser) -> None:
    page = opened(browser, java_script_enabled=False)
    assert not page.is_visible(".calculator")
    assert page.locator("figure[id*=forecasts] img").first.is_visible()
    assert page.locator("#forecasts-at-a-glance table").first.is_visible()
    page.close()
