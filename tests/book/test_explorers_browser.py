"""The two explorers in a real browser: by keyboard, offline, in both modes, and with scripts off.

Skipped where there is no browser. `browser` in tests/maintain.mk runs these, on the book of `tests.book.rendering`.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from costofprivacy.experiments.explore.dpgd import page as dpgd
from costofprivacy.experiments.explore.noisyhead import page as noisyhead
from costofprivacy.judging.tables import pick
from costofprivacy.noisyhead.accounts import ALGORITHM, LAST
from tests.experiments.verdicts.machinery import committed

from . import rendering

ROOT = Path(__file__).parents[2]
NAMES = ("noisyhead", "dpgd")
PATIENCE = 60_000  # milliseconds: several people share the machine
WIDE, NARROW = {"width": 1300, "height": 1000}, {"width": 390, "height": 844}

each_page = pytest.mark.parametrize("name", NAMES)


class Visit:
    """An open page, with what went wrong on it."""

    def __init__(self, browser: Any, name: str, *, theme: str = "light", scripts: bool = True, **options: Any) -> None:
        self.context = browser.new_context(java_script_enabled=scripts, **({"viewport": WIDE} | options))
        self.page = self.context.new_page()
        self.errors: list[str] = []
        self.foreign: list[str] = []
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on(
            "request", lambda r: None if r.url.startswith(("file:", "data:", "blob:")) else self.foreign.append(r.url)
        )
        self.page.add_init_script(f"localStorage.setItem('theme', '{theme}'); localStorage.setItem('mode', '{theme}');")
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


def tables(name: str) -> dict[str, Any]:
    return committed(f"explore/{name}")


def noisyhead_sentence(**choice: Any) -> str:
    told = tables("noisyhead")
    chosen = noisyhead.Choice(**choice)
    row = noisyhead.best(told, chosen)
    run = pick(told["runs"], setting=chosen.setting, problem=chosen.problem, N=chosen.N)
    share = 1 - row["error"] / run["response_variance"]
    noise = "less than 0.0001" if row["noise"] < 1e-4 else f"{row['noise']:.4f}"
    predicted = f"{100 * share:.{2 if share < 0.1 else 1}f}" if share > 1e-4 else "less than 0.01"
    worth = f"It predicts {predicted} % of the response."
    return (
        f"With {chosen.N:,} prompts at ε = {chosen.epsilon:.1f} the best number of steps is {row['T']:,.0f}: "
        f"test error {row['error']:.4f}, of which noise makes {noise}. "
        f"{worth if share > 0 else 'No number of steps does better than answering 0.'} Answering 0 has "
        f"{run['response_variance']:.3g}, the best linear head {run['best_linear_head']:.3f}."
    )


def dpgd_words(**choice: Any) -> tuple[str, str]:
    """How the sentence begins, and how it ends."""
    told = tables("dpgd")
    chosen = dpgd.Choice(**choice)
    run, parts = dpgd.released(told, chosen), dpgd.shares(told, chosen)
    name, share = max(parts.items(), key=lambda part: part[1])
    first = f"Released: excess risk {run['excess_risk']:.3g}, test error {run['test_error']:.3g}. "
    return first, f"The largest part of the excess risk is: {name}, {share:.0%}."


# each explorer starts, keeps to itself, and fits


@each_page
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_its_text_has_the_page_s_colour_on_the_page_s_ground(browser: Any, name: str, theme: str) -> None:
    with Visit(browser, name, theme=theme) as visit:
        found = visit.page.evaluate(
            """() => ({
                page: getComputedStyle(document.querySelector('.explorer-told')).color,
                chart: [...document.querySelectorAll('.explorer-chart svg text')].filter(t => t.textContent.trim())
                    .filter(t => t.getAttribute('opacity') !== '0').map(t => getComputedStyle(t).fill),
                ground: getComputedStyle(document.querySelector('.explorer-chart svg')).backgroundColor,
            })"""
        )
        assert len(found["chart"]) > 10
        assert set(found["chart"]) == {found["page"]}
        assert found["ground"] == "rgba(0, 0, 0, 0)"


@each_page
def test_with_scripts_off_a_figure_stands_there_and_no_dead_control(browser: Any, name: str) -> None:
    with Visit(browser, name, scripts=False) as visit:
        assert visit.page.locator(f"#figure-explore-{name} img").is_visible()
        assert visit.page.locator(f"#figure-explore-{name} figcaption").is_visible()
        assert not visit.page.locator(".explorer").is_visible()
    with Visit(browser, name) as visit:
        assert not visit.page.locator(f"#figure-explore-{name}").is_visible()
        assert visit.page.locator(".explorer").is_visible()


def test_the_script_is_loaded_by_these_pages_alone() -> None:
    script = rendering.rendered() / "_static" / "explorer.js"
    asking = [page for page in rendering.rendered().rglob("*.html") if "explorer.js" in page.read_text("utf-8")]
    assert sorted(page.stem for page in asking) == sorted(NAMES)
    assert script.stat().st_size < 5_000_000
    assert all(page.stat().st_size < 1_500_000 for page in asking)


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


def test_noisyhead_tells_what_its_tables_hold_for_each_key(browser: Any) -> None:
    with Visit(browser, "noisyhead") as visit:
        here: dict[str, Any] = {"problem": "D = 5, λ = 0.005", "N": 4000, "epsilon": 1.0}
        assert visit.told() == noisyhead_sentence(**here)
        lines = visit.page.locator(".explorer-chart path.mark-line, .explorer-chart .mark-line path").all()
        before = [line.get_attribute("d") for line in lines]
        here["problem"] = "D = 5, λ = 0.05"
        assert visit.choose("problem", "ArrowUp") == noisyhead_sentence(**here)
        after = [line.get_attribute("d") for line in visit.page.locator(".explorer-chart .mark-line path").all()]
        assert before != after
        here["epsilon"] = 0.8
        assert visit.choose("epsilon", "ArrowLeft", "ArrowLeft") == noisyhead_sentence(**here)
        here["account"] = LAST
        assert visit.choose("account", "ArrowDown") == noisyhead_sentence(**here)
        here["account"] = ALGORITHM
        assert visit.choose("account", "Home") == noisyhead_sentence(**here)
        here["N"] = 1_000_000
        assert visit.choose("N", "End") == noisyhead_sentence(**here)
        here["setting"] = "published"
        assert visit.choose("setting", "ArrowDown") == noisyhead_sentence(**here)
        here["problem"] = "D = L = √N, λ = N/D"
        assert visit.choose("problem", "End") == noisyhead_sentence(**here)
        assert "less than 0.01 %" in visit.told()
        assert visit.errors == []


def test_dpgd_tells_what_its_tables_hold_for_each_key(browser: Any) -> None:
    with Visit(browser, "dpgd") as visit:

        def agrees(told: str) -> bool:
            first, last = dpgd_words(**here)
            return told.startswith(first) and told.endswith(last)

        here: dict[str, Any] = {}
        assert agrees(visit.told()), visit.told()
        here["schedule"] = "square root"
        assert agrees(visit.choose("schedule", "ArrowDown")), visit.told()
        here["spectrum"] = "power law"
        assert agrees(visit.choose("spectrum", "End")), visit.told()
        here["gamma"] = 0.01
        assert agrees(visit.choose("gamma", "Home")), visit.told()
        here["clip"] = 0.3
        assert agrees(visit.choose("clip", "ArrowLeft")), visit.told()
        here["learning_rate"] = 10.0
        assert agrees(visit.choose("rate", "ArrowRight")), visit.told()
        here["rho"] = math.inf
        assert agrees(visit.choose("rho", "End")), visit.told()
        assert visit.errors == []


@each_page
def test_a_narrower_window_narrows_the_chart(browser: Any, name: str) -> None:
    with Visit(browser, name) as visit:
        wide = visit.page.locator(".explorer-chart svg").bounding_box()["width"]
        visit.page.set_viewport_size(NARROW)
        visit.page.wait_for_function(
            "wide => document.querySelector('.explorer-chart svg').getBoundingClientRect().width < wide - 50",
            arg=wide,
            timeout=PATIENCE,
        )
        assert visit.page.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]


@each_page
def test_a_chart_fits_a_narrow_screen(browser: Any, name: str) -> None:
    with Visit(browser, name, viewport=NARROW) as visit:
        chart = visit.page.locator(".explorer-chart svg").bounding_box()
        assert 0 <= chart["x"] <= chart["x"] + chart["width"] <= NARROW["width"]
        assert chart["width"] > 0.6 * visit.page.locator(".explorer").bounding_box()["width"]
