"""The two explorers in a real browser: by keyboard, offline, and with scripts off.

Skipped where there is no browser. `browser` in tests/maintain.mk runs these, on the book of `tests.book.rendering`.
"""

from __future__ import annotations

from typing import Any

import pytest

from . import rendering

NAMES = ("noisyhead", "dpgd")
PATIENCE = 60_000  # milliseconds: several people share the machine
WIDE = {"width": 1300, "height": 1000}

each_page = pytest.mark.parametrize("name", NAMES)


class Visit:
    """An open page, with what went wrong on it."""

    def __init__(self, browser: Any, name: str, *, scripts: bool = True) -> None:
        self.context = browser.new_context(java_script_enabled=scripts, viewport=WIDE)
        self.page = self.context.new_page()
        self.errors: list[str] = []
        self.foreign: list[str] = []
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on(
            "request", lambda r: None if r.url.startswith(("file:", "data:", "blob:")) else self.foreign.append(r.url)
        )
        self.page.goto((rendering.rendered() / "book" / "explore" / f"{name}.html").as_uri())
        if scripts:
            self.page.wait_for_selector(".explorer[data-ready]", timeout=PATIENCE)

    def __enter__(self) -> Visit:
        return self

    def __exit__(self, *_: object) -> None:
        self.context.close()

    def told(self) -> str:
        return str(self.page.inner_text(".explorer-told"))

    def choose(self, control: str, *keys: str) -> str:
        """Press keys on a control that has the focus of the keyboard, and return what the page then tells."""
        before = self.told()
        self.page.focus(f".explorer-controls [name={control}]")
        for key in keys:
            self.page.keyboard.press(key)
        self.page.wait_for_function(
            "before => document.querySelector('.explorer-told').textContent !== before", arg=before, timeout=PATIENCE
        )
        self.page.wait_for_timeout(200)
        return self.told()


# each explorer starts, keeps to itself, and fits


@each_page
def test_with_scripts_off_a_figure_stands_there_and_no_dead_control(browser: Any, name: str) -> None:
    with Visit(browser, name, scripts=False) as visit:
        assert visit.page.locator(f"#figure-explore-{name} img").is_visible()
        assert visit.page.locator(f"#figure-explore-{name} figcaption").is_visible()
        assert not visit.page.locator(".explorer").is_visible()
    with Visit(browser, name) as visit:
        assert not visit.page.locator(f"#figure-explore-{name}").is_visible()
        assert visit.page.locator(".explorer").is_visible()


# every control answers to the keyboard


@each_page
def test_tab_reaches_each_control_in_order_and_each_is_named(browser: Any, name: str) -> None:
    with Visit(browser, name) as visit:
        controls = visit.page.locator(".explorer-controls :is(select, input)")
        names = [controls.nth(k).get_attribute("name") for k in range(controls.count())]
        assert len(names) >= 5
        controls.first.focus()
        for expected in names:
            told = visit.page.evaluate("[document.activeElement.name, document.activeElement.labels[0].textContent]")
            assert told[0] == expected
            assert len(told[1]) > 3
            visit.page.keyboard.press("Tab")


@each_page
def test_a_key_on_a_control_changes_what_is_told_and_nothing_is_asked_elsewhere(browser: Any, name: str) -> None:
    with Visit(browser, name) as visit:
        visit.choose("N" if name == "noisyhead" else "rho", "End")
        assert visit.errors == visit.foreign == []
