"""The pages that people print: letters, errata and the ten-minute pages, as PDF files.

Chromium prints the rendered pages with the book's own style for paper. So a formula, a figure or a table looks on paper
as it does on the screen, and nothing has to be written a second time for LaTeX, which the book does not need otherwise.
"""

import shutil
from pathlib import Path

from costofprivacy.book.errors import BookError
from costofprivacy.book.project import Project
from costofprivacy.book.tree import Say

PAGES = ("letter-noisyhead", "letter-dpgd", "errata", "noisyhead-in-ten-minutes", "dpgd-in-ten-minutes")
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
TYPESET = "() => window.MathJax.startup.promise.then(() => document.fonts.ready).then(() => null)"
PATIENCE = 300_000  # milliseconds for a page on a machine with other work to do


def write(project: Project, say: Say) -> Path:
    """Print the pages of ``_build/html`` into ``_build/pdf``.

    Args:
        project: the book, rendered.
        say: told each file, in one line.

    Returns:
        The folder of the files.

    Raises:
        BookError: a page is not rendered, or there is no Chromium on this machine.
    """
    folder = project.build / "pdf"
    sources = {name: project.build / "html" / "book" / f"{name}.html" for name in PAGES}
    missing = [name for name, source in sources.items() if not source.is_file()]
    if missing:
        raise BookError(f"not rendered: {', '.join(missing)} (`make pages` renders them)")
    browser = next((path for path in map(shutil.which, BROWSERS) if path), None)
    if browser is None:
        raise BookError(f"printing needs a browser, one of {', '.join(BROWSERS)}; none is installed")

    from playwright.sync_api import sync_playwright  # it takes a second to import

    folder.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        for name, source in sources.items():
            page = opened.new_page()
            page.goto(source.resolve().as_uri(), timeout=PATIENCE)
            page.evaluate(TYPESET)
            page.pdf(path=folder / f"{name}.pdf", prefer_css_page_size=True, format="A4")
            page.close()
            say(f"{name}.pdf is in {folder}")
        opened.close()
    return folder
