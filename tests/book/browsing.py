"""A page in a real browser, and the rules that it is held to there.

A rule takes a loaded page and lists its faults. What moves is stilled, what is folded is opened, and the formulas are
typeset before the rules are asked.
"""

from __future__ import annotations

import functools
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, ConsoleMessage, Error, Page, Request, sync_playwright
from playwright.sync_api import TimeoutError as PlaywrightTimeout

WIDE, NARROW = 1300, 390
HEIGHT = 900
PATIENCE = 300_000  # milliseconds for a page on a machine with other work to do
LIGHT, DARK = "light", "dark"
INSTALLED = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
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


@dataclass(frozen=True)
class View:
    """A page as one reader has it before them.

    Attributes:
        page: the browser's page. address: where it lies, below the book's folder.
        errors: what its scripts complained of. requests: what it asked of others.
    """

    page: Page
    address: str
    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def turn(self, mode: str) -> None:
        """Show the page on a light or on a dark ground."""
        self.page.emulate_media(color_scheme="dark" if mode == DARK else "light", reduced_motion="reduce")
        self.page.evaluate("mode => { document.documentElement.dataset.theme = mode; }", mode)

    def resize(self, width: int) -> None:
        """Show the page in a window of another width."""
        self.page.set_viewport_size({"width": width, "height": HEIGHT})
        with suppress(PlaywrightTimeout):  # the theme follows after a moment; what it does not, the rules report
            self.page.wait_for_function(FOLLOWED, timeout=1000)


@contextmanager
def browser() -> Iterator[Browser | str]:
    """A browser without a window: Playwright's own or the system's; the reason why, where there is none."""
    with sync_playwright() as playwright:
        own = playwright.chromium.executable_path
        paths = [own if Path(own).is_file() else None, *map(shutil.which, INSTALLED)]
        path = next((path for path in paths if path), None)
        if path is None:
            yield "no browser: install chromium, or `.venv/bin/python -m playwright install chromium`"
            return
        try:
            found = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        except Error as error:
            yield f"{path} does not start: {error.message.splitlines()[0]}"
            return
        yield found
        found.close()


@contextmanager
def view(browser: Browser, root: Path, address: str, width: int) -> Iterator[View]:
    """A page of the book in ``root``, loaded, typeset, unfolded and still."""
    page = browser.new_page(viewport={"width": width, "height": HEIGHT}, reduced_motion="reduce")
    page.set_default_timeout(PATIENCE)
    seen = View(page, address)

    def hear(message: ConsoleMessage) -> None:
        if message.type == "error":
            seen.errors.append(message.text)

    def note(request: Request) -> None:
        if not request.url.startswith(OFFLINE):
            seen.requests.append(request.url)

    page.on("pageerror", lambda error: seen.errors.append(str(error)))
    page.on("console", hear)
    page.on("request", note)
    page.goto((root / address).as_uri())
    page.evaluate(TYPESET)
    page.add_style_tag(content=STILL)
    page.evaluate(UNFOLD)
    page.wait_for_timeout(100)  # for what answers to the unfolding
    yield seen
    page.close()


def sideways(seen: View) -> list[str]:
    """Whether the page itself scrolls sideways, and what sticks out."""
    return seen.page.evaluate(SIDEWAYS)


def lost_formulas(seen: View) -> list[str]:
    """Formulas of which a part is out of reach, whatever is scrolled."""
    return seen.page.evaluate(OUT_OF_REACH)


@functools.cache
def _axe() -> Axe:
    return Axe()


def _violations(seen: View, **options: object) -> list[dict]:
    """What axe finds on a thinned page; rules that look at formulas are asked before."""
    seen.page.evaluate(THIN)
    given = {"resultTypes": ["violations"], "preload": False, **options}
    return _axe().run(seen.page, options=given).response["violations"]


def inaccessible(seen: View) -> list[str]:
    """Serious and critical faults that axe finds."""
    grave = [fault for fault in _violations(seen) if fault["impact"] in GRAVE]
    return [f"{fault['id']} ({len(fault['nodes'])}): {fault['nodes'][0]['html'][:200]}" for fault in grave]


def faint(seen: View) -> list[str]:
    """Text of too little contrast, by axe's measure alone."""
    found = _violations(seen, runOnly=["color-contrast"])
    return [node["html"][:200] for fault in found for node in fault["nodes"]]
