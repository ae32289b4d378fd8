"""The rendered book in a real browser: every page wide and narrow, light and dark, and what scripts do on some.

A rule takes a loaded page of the committed book, rendered for this, and lists its faults. What moves is stilled, what
is folded is opened, and the formulas are typeset before the rules are asked.
`make -f tests/maintain.mk browser` runs these, for they take minutes.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page
from playwright.sync_api import TimeoutError as PlaywrightTimeout

from costofprivacy.estimators import calculator, prompt_calculator

from .conftest import addresses

PAGES = addresses()
WIDE, NARROW = 1300, 390
HEIGHT = 900
PATIENCE = 300_000  # milliseconds for a page on a machine with other work to do
LIGHT, DARK = "light", "dark"
OFFLINE = ("file:", "data:", "blob:", "about:")
GRAVE = ("serious", "critical")

STILL = "*, *::before, *::after { transition: none !important; animation: none !important; }"
UNFOLD = """() => {
  document.querySelectorAll("details").forEach(fold => { fold.open = true; });
  document.querySelectorAll("button.toggle-button.toggle-button-hidden").forEach(button => button.click());
}"""
TYPESET = "() => window.MathJax?.startup?.promise?.then(() => document.fonts.ready).then(() => null)"
# A third of a second after a window has another width the theme lets what scrolls then be reached with the keyboard.
FOLLOWED = """() => [...document.querySelectorAll("[tabindex]")].every(box => box.tabIndex === 0
  || (box.tagName !== "PRE" && !box.matches(".output, .jupyter_container"))
  || (box.scrollWidth <= box.clientWidth && box.scrollHeight <= box.clientHeight))"""
SIDEWAYS = """() => {
  const over = document.documentElement.scrollWidth - document.documentElement.clientWidth;
  if (over <= 1) return [];
  const contained = node => {
    for (let box = node.parentElement; box && box !== document.body; box = box.parentElement)
      if (getComputedStyle(box).overflowX !== "visible") return true;
    return false;
  };
  const wide = [...document.body.querySelectorAll("*")].filter(node => !contained(node)
    && node.getBoundingClientRect().right > document.documentElement.clientWidth + 1);
  const name = node => node.tagName.toLowerCase() + [...node.classList].map(word => "." + word).join("");
  return [`the page scrolls sideways by ${over} px`, ...wide.slice(0, 3).map(name)];
}"""
OUT_OF_REACH = """() => {
  const lost = (ink, node) => {  // whether no scrolling brings a piece of ink into sight
    let {left, right, top, bottom} = ink.getBoundingClientRect();
    if (right - left === 0 || bottom - top === 0) return false;
    for (let box = node; box && box !== document.documentElement; box = box.parentElement) {
      const style = getComputedStyle(box);
      if (style.display === "inline" || style.display === "contents") continue;
      const frame = box.getBoundingClientRect(), start = frame.left + box.clientLeft - box.scrollLeft;
      const roof = frame.top + box.clientTop - box.scrollTop;
      if (style.overflowX === "auto" || style.overflowX === "scroll") {
        if (left < start - 1 || right > start + box.scrollWidth + 1) return true;
        left = frame.left; right = frame.right;
      } else if (style.overflowX !== "visible" && (left < frame.left - 1 || right > frame.right + 1)) return true;
      if (style.overflowY === "auto" || style.overflowY === "scroll") {
        if (top < roof - 3 || bottom > roof + box.scrollHeight + 3) return true;
        top = frame.top; bottom = frame.bottom;
      }
    }
    return left + scrollX < -1 || right + scrollX > document.documentElement.clientWidth + 1;
  };
  return [...document.querySelectorAll("article mjx-container")].filter(formula =>
    [formula.querySelector("mjx-math"), ...formula.querySelectorAll("mjx-mtable, mjx-labels, mjx-mtd")]
      .some(ink => ink && lost(ink, formula))
  ).map(formula => `${formula.closest("section")?.id}: ${formula.textContent}`);
}"""
# Axe takes most of its time for MathJax's own boxes, and for the hundredth row or line that is set like the first. Of
# what is alike (tags, classes, styles, names of attributes up to the root, and whether there is text) four are kept.
THIN = """() => {
  document.querySelectorAll("mjx-container").forEach(formula => (formula.closest(".math") ?? formula).replaceWith("x"));
  [...document.querySelectorAll("dl.py > dd > dl.py, section > dl.py")].slice(20).forEach(name => name.remove());
  [...document.querySelectorAll("table")].slice(6).forEach(table => table.remove());
  document.querySelectorAll("tbody tr:nth-child(n + 4)").forEach(row => row.remove());
  [...document.querySelectorAll("pre")].slice(3).forEach(code => code.replaceChildren("x"));
  const counts = new Map(), likeness = new Map(), kept = new Set();
  for (const node of document.body.querySelectorAll("*")) {
    const own = [node.localName, node.getAttribute("class"), node.getAttribute("style"), !node.textContent.trim(),
      ...node.getAttributeNames().sort()];
    const like = `${likeness.get(node.parentElement) ?? ""}/${own.join(" ")}`;
    likeness.set(node, like);
    counts.set(like, (counts.get(like) ?? 0) + 1);
    if (counts.get(like) <= 4) for (let box = node; box && !kept.has(box); box = box.parentElement) kept.add(box);
  }
  document.querySelectorAll("article :is(p, li, tr, details, dl)").forEach(node => kept.has(node) || node.remove());
}"""


Opened = Callable[..., AbstractContextManager[Page]]
each_width = pytest.mark.parametrize("width", [WIDE, NARROW])


@pytest.fixture
def opened(rendered: Path, browser: Browser) -> Opened:
    """A page of the book, whose scripts break nowhere and ask nothing elsewhere; without its formulas if not wanted."""

    @contextmanager
    def of(address: str, width: int = WIDE, *, scripts: bool = True, formulas: bool = False) -> Iterator[Page]:
        size = {"width": width, "height": HEIGHT}
        page = browser.new_page(viewport=size, java_script_enabled=scripts, reduced_motion="reduce")
        page.set_default_timeout(PATIENCE)
        faults: list[str] = []
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("request", lambda asked: None if asked.url.startswith(OFFLINE) else faults.append(asked.url))
        if formulas:
            page.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
        else:
            page.route("**/mathjax/**", lambda route: route.abort())
        page.goto((rendered / address).as_uri())
        yield page
        page.close()
        assert faults == []

    return of


# every page is held to rules

# The reference's pages have one template. Two of them are tried on a phone, which is enough for all.
ON_A_PHONE = {f"book/reference/{name}.html" for name in ("index", "dpgd")}
# Axe looks at each page twice, at either width and on either ground, and at these in all four ways: what stands around
# the contents of every page is on them.
IN_EVERY_WAY = {*ON_A_PHONE, "book/index.html", "book/ledger.html", "book/dpgd/schedules.html"}
SCRIPTED = {"sideways": SIDEWAYS, "lost formulas": OUT_OF_REACH}
AXE = Axe()


def turn(page: Page, mode: str) -> None:
    """Show a page on a light or on a dark ground."""
    page.emulate_media(color_scheme="dark" if mode == DARK else "light", reduced_motion="reduce")
    page.evaluate("mode => { document.documentElement.dataset.theme = mode; }", mode)


def resize(page: Page, width: int) -> None:
    """Show a page in a window of another width."""
    page.set_viewport_size({"width": width, "height": HEIGHT})
    with suppress(PlaywrightTimeout):  # the theme follows after a moment; what it does not, the rules report
        page.wait_for_function(FOLLOWED, timeout=1000)


def violations(page: Page, **options: object) -> list[dict]:
    """What axe finds on a thinned page; rules that look at formulas are asked before."""
    page.evaluate(THIN)
    given = {"resultTypes": ["violations"], "preload": False, **options}
    return AXE.run(page, options=given).response["violations"]


def inaccessible(page: Page) -> list[str]:
    """Serious and critical faults that axe finds."""
    grave = [fault for fault in violations(page) if fault["impact"] in GRAVE]
    return [f"{fault['id']} ({len(fault['nodes'])}): {fault['nodes'][0]['html'][:200]}" for fault in grave]


def faint(page: Page) -> list[str]:
    """Text of too little contrast, by axe's measure alone."""
    found = violations(page, runOnly=["color-contrast"])
    return [node["html"][:200] for fault in found for node in fault["nodes"]]


@pytest.mark.parametrize("address", PAGES)
def test_a_page_has_no_fault_wide_and_narrow_light_and_dark(opened: Opened, address: str) -> None:
    """A page is loaded once and resized, as loading it is dear; axe comes last, since it looks at a thinned page."""
    found: dict[str, list[str]] = {}
    on_a_phone = address in ON_A_PHONE or not address.startswith("book/reference/")
    widths = (WIDE, NARROW) if on_a_phone else (WIDE,)
    with opened(address, formulas=True) as page:
        page.evaluate(TYPESET)
        page.add_style_tag(content=STILL)
        page.evaluate(UNFOLD)
        page.wait_for_timeout(100)  # for what answers to the unfolding
        for width in widths:
            resize(page, width)
            for mode in (LIGHT, DARK):
                turn(page, mode)
                found |= {f"{rule}, {width}, {mode}": page.evaluate(script) for rule, script in SCRIPTED.items()}
        for width in widths[::-1]:
            resize(page, width)
            plainly, other = (LIGHT, DARK) if width == WIDE else (DARK, LIGHT)
            turn(page, plainly)
            found[f"inaccessible, {width}, {plainly}"] = inaccessible(page)
            if address in IN_EVERY_WAY or not on_a_phone:
                turn(page, other)
                found[f"faint, {width}, {other}"] = faint(page)
    lines = [f"{rule}: {fault}" for rule, faults in found.items() for fault in faults]
    assert not lines, "\n".join([f"{len(lines)} faults", *lines[:40]])


# a card

CARD = "claim-dpgd-theorem-4iii"
OPEN = "() => [...document.querySelectorAll('.claim-card > details[open]')].map(fold => fold.parentElement.id)"


@pytest.mark.parametrize(
    "start", ["book/dpgd/scaling-laws-claims.html", "book/dpgd/scaling-laws.html", "book/ledger.html"]
)
def test_a_link_to_a_card_opens_it_and_no_other(opened: Opened, start: str) -> None:
    with opened(start) as page:
        if not start.endswith("claims.html"):
            page.eval_on_selector(f"article a[href$='scaling-laws-claims.html#{CARD}']", "link => link.click()")
            page.wait_for_url("**/scaling-laws-claims.html#*")
        else:
            assert page.evaluate(OPEN) == []
            page.evaluate("card => { location.hash = card; }", CARD)
        page.wait_for_function("document.querySelector('.claim-card > details[open]')")
        assert page.evaluate(OPEN) == [CARD]
        box = page.locator(f"#{CARD}").bounding_box()
        assert box is not None
        assert -1 <= box["y"] < HEIGHT


# the one switch for the code of a page

CHAPTER = "book/privacy/how-much-noise.html"
VISIBLE = "all => all.filter(node => node.checkVisibility({contentVisibilityAuto: true})).length"
FOLDED = "article div.cell:not(.tag_figure-first) details.hide.above-input"


def seen(page: Page, what: str) -> int:
    return int(page.eval_on_selector_all(what, VISIBLE))


@each_width
def test_one_switch_opens_and_closes_all_folded_code(opened: Opened, width: int) -> None:
    with opened(CHAPTER, width) as page:
        cells, inputs = page.locator(FOLDED).count(), "article .cell:not(.tag_figure-first) .cell_input"
        always = seen(page, inputs)
        assert cells > 10
        assert "pip install -e" in page.inner_text(".code-needs")  # once, above the first code in sight
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


def test_without_scripts_each_cell_keeps_its_own_fold(opened: Opened) -> None:
    with opened(CHAPTER, scripts=False) as page:
        summary = page.locator(f"{FOLDED} > summary").first
        assert summary.is_visible()
        summary.click()
        assert page.locator(f"{FOLDED} .cell_input").first.is_visible()
        assert page.locator(".code-switch").count() == 0


# the two explorers

EXPLORERS = {"noisyhead": "N", "dpgd": "rho"}  # each with one of its controls
READY = ".explorer[data-ready]"
each_explorer = pytest.mark.parametrize("name", EXPLORERS)


@each_explorer
def test_with_scripts_off_a_figure_stands_there_and_no_dead_control(opened: Opened, name: str) -> None:
    figure = f"#figure-explore-{name}"
    with opened(f"book/explore/{name}.html", scripts=False) as page:
        assert page.locator(f"{figure} img").is_visible()
        assert page.locator(f"{figure} figcaption").is_visible()
        assert not page.locator(".explorer").is_visible()
    with opened(f"book/explore/{name}.html") as page:
        page.wait_for_selector(READY)
        assert not page.locator(figure).is_visible()


@each_explorer
def test_the_keyboard_reaches_each_control_which_has_a_name_and_changes_what_is_told(opened: Opened, name: str) -> None:
    with opened(f"book/explore/{name}.html") as page:
        page.wait_for_selector(READY)
        controls = page.locator(".explorer-controls :is(select, input)")
        names = [controls.nth(k).get_attribute("name") for k in range(controls.count())]
        assert len(names) >= 5
        controls.first.focus()
        for expected in names:
            told = page.evaluate("[document.activeElement.name, document.activeElement.labels[0].textContent]")
            assert told[0] == expected
            assert len(told[1]) > 3
            page.keyboard.press("Tab")
        before = page.text_content(".explorer-told")
        page.focus(f".explorer-controls [name={EXPLORERS[name]}]")
        page.keyboard.press("End")
        page.wait_for_function("old => document.querySelector('.explorer-told').textContent !== old", arg=before)


def test_the_number_of_an_equation_shows_it_until_escape(opened: Opened) -> None:
    with opened("book/noisyhead/cost-of-privacy.html", formulas=True) as page:
        number = page.locator("article a.equation").first
        number.focus()
        page.wait_for_selector("#hover-note mjx-container")
        assert number.get_attribute("aria-describedby") == "hover-note"
        page.keyboard.press("Escape")
        assert not page.is_visible("#hover-note")


# the calculator of the page that chooses a method


@each_width
def test_the_calculator_answers_what_python_answers(opened: Opened, width: int) -> None:
    with opened("book/method.html", width) as page:
        page.wait_for_selector(".calculator[data-ready]")
        for n, d, epsilon in ((10_000, 10, 1.0), (2000, 5, 0.5), (100_000, 80, 3.0)):
            for name, value in {"n": n, "d": d, "value": epsilon}.items():
                page.fill(f".calculator [name={name}]", f"{value:g}")
            said = calculator.answer(n, d, epsilon=epsilon, delta=calculator.DELTA, by=calculator.approximate)
            assert page.inner_text(".calculator-told").startswith(
                f"Use {said.method}. Its expected R² on new records is {said.r2:.2f}, with a range from {said.low:.2f} "
                f"to {said.high:.2f}. Without privacy, least squares would reach {said.without_privacy:.2f}."
            )
            assert page.text_content(".calculator-code") == said.code


def test_the_calculator_says_what_is_wrong_and_where_nothing_helps(opened: Opened) -> None:
    with opened("book/method.html") as page:
        page.wait_for_selector(".calculator[data-ready]")
        page.fill(".calculator [name=n]", "5")
        assert "33 or more" in page.inner_text(".calculator-fault")
        assert not page.is_visible(".calculator-told")
        page.fill(".calculator [name=n]", "40")
        page.fill(".calculator [name=value]", "0.01")
        told = page.inner_text(".calculator-told")
        assert told.startswith("No private method is expected to do better than predicting the mean")
        page.fill(".calculator [name=delta]", "0.05")
        assert "far below 1/n" in page.inner_text(".calculator-warning")


@each_width
def test_the_calculator_for_prompts_answers_what_python_answers(opened: Opened, width: int) -> None:
    with opened("book/method.html", width) as page:
        page.wait_for_selector(".calculator[data-kind=prompts][data-ready]")
        form = page.locator(".calculator[data-kind=prompts]")
        form.locator("[name=tasks]").select_option("isotropic")
        for N, L, D in ((4000, 63, 5), (400, 20, 8)):
            for name, value in {"N": N, "L": L, "D": D}.items():
                form.locator(f"[name={name}]").fill(str(value))
            said = prompt_calculator.prompts(N, L, D, epsilon=1.0, condition=10.0, tasks="isotropic")
            told = form.locator(".calculator-told").inner_text()
            assert told.startswith(f"Use the {said.head}")
            assert f"{said.error:#.3g} of a response's variance" in told
            assert form.locator(".calculator-code").text_content() == said.code
        form.locator("[name=D]").fill("30")
        assert "from 2 to 20" in form.locator(".calculator-fault").inner_text()
        first = page.locator(".calculator[data-kind=records] .calculator-told")  # the other one stays as it was
        assert first.inner_text().startswith("Use ")


def test_without_scripts_a_table_and_a_figure_stand_there(opened: Opened) -> None:
    with opened("book/method.html", scripts=False) as page:
        assert not page.is_visible(".calculator")
        assert page.locator("figure[id*=forecasts] img").first.is_visible()
        assert page.locator("#forecasts-at-a-glance table").first.is_visible()


def test_who_downloads_a_notebook_is_told_what_it_needs(rendered: Path) -> None:
    told = ["pip install -e" in (rendered / f"book/{page}.html").read_text("utf-8") for page in ("your-data", "errata")]
    assert told == [True, False]


# the search: what stands among the first results

FIRST = 3
with (Path(__file__).parent / "queries.csv").open(encoding="utf-8") as read:  # an address that begins so answers
    QUERIES = {row["query"]: tuple(row["answers"].split()) for row in csv.DictReader(read)}
ADDRESSES = "query => bookSearch(query).then(found => found.map(one => one.address))"


@pytest.fixture(scope="module")
def searching(browser: Browser, rendered: Path) -> Page:
    opened = browser.new_page(viewport={"width": WIDE, "height": HEIGHT})
    opened.set_default_timeout(PATIENCE)
    opened.goto((rendered / "search.html").as_uri())
    return opened


@pytest.mark.parametrize("query", QUERIES)
def test_what_answers_is_among_the_first(searching: Page, query: str) -> None:
    first = searching.evaluate(ADDRESSES, query)[:FIRST]
    assert any(address.removeprefix("book/").startswith(QUERIES[query]) for address in first), first
