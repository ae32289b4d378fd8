"""The search of the rendered book in a real browser: what stands among the first three results of twenty queries."""

from __future__ import annotations

import functools
import threading
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Browser, Page

FIRST = 3
# What was typed, and the beginnings of the addresses that answer it; one of them is enough.
QUERIES = {
    "lower bound": ("dpgd/lower-bound",),
    "how much noise": ("privacy/how-much-noise",),
    "deterministic equivalent": ("dpgd/deterministic-equivalent",),
    "sensitivity": ("noisyhead/mechanism",),
    "early stopping": ("noisyhead/early-stopping",),
    "clipping": ("dpgd/clipping-factors", "dpgd/hyperparameters", "dpgd/algorithm"),
    "learning rate schedule": ("dpgd/schedules",),
    "theorem 4.1": ("noisyhead/cost-of-privacy-claims.html#claim-noisyhead-theorem-4-1",),
    "ridge attack": ("noisyhead/robustness",),
    "install": ("your-data", "index"),
    "scaling law": ("dpgd/scaling-laws",),
    "which method": ("method",),
    "my own data": ("your-data",),
    "softmax": ("noisyhead/softmax-head",),
    "robustness to outliers": ("noisyhead/robustness",),
    "newsgroups": ("noisyhead/newsgroups",),
    "tracing attack": ("dpgd/lower-bound", "privacy/what-this-does-not-protect"),
    "theorem 3": ("dpgd/lower-bound-claims.html#claim-dpgd-theorem-3",),
    "notation": ("notation",),
    "figure 7": ("dpgd/schedules-claims.html#claim-dpgd-figure-7",),
}


class Quiet(SimpleHTTPRequestHandler):
    """A server that keeps no log."""

    def log_message(self, format: str, *args: object) -> None:
        pass


class Patient(ThreadingHTTPServer):
    """A server that lets all requests of a page wait, however busy the machine is."""

    request_queue_size = 100


@pytest.fixture(scope="module")
def site(rendered: Path) -> Iterator[str]:
    """The address under which the rendered book is served."""
    server = Patient(("127.0.0.1", 0), functools.partial(Quiet, directory=str(rendered)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(scope="module")
def page(browser: Browser) -> Iterator[Page]:
    opened = browser.new_page(viewport={"width": 1300, "height": 900})
    opened.set_default_timeout(120_000)
    yield opened
    opened.close()


def results(page: Page, site: str, **asked: str) -> list[str]:
    """The addresses of the results, below the folder of the pages."""
    page.goto(f"{site}/search.html?{urlencode(asked)}")
    page.wait_for_selector("#search-results[data-query]", state="attached")
    links = page.eval_on_selector_all(".found-title a", "all => all.map(link => link.href)")
    return [link.removeprefix(f"{site}/book/") for link in links]


@pytest.mark.parametrize("query", QUERIES)
def test_the_page_that_answers_is_among_the_first(page: Page, site: str, query: str) -> None:
    first = results(page, site, q=query)[:FIRST]
    assert any(address.startswith(QUERIES[query]) for address in first), first


def test_pages_read_as_files_have_the_search_of_sphinx(page: Page, rendered: Path) -> None:
    page.goto(f"{(rendered / 'search.html').as_uri()}?q=sensitivity")
    page.wait_for_selector("#search-results ul.search li", state="attached")
    assert page.is_visible(".found-note")
