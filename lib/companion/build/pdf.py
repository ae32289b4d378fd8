"""The pages that people print: letters, errata and the ten-minute pages, as PDF files.

Chromium prints the rendered pages with the book's own style for paper. So a formula, a figure or a table looks on paper
as it does on the screen, and nothing has to be written a second time for LaTeX, which the book does not need otherwise.
"""

import shutil
import subprocess
from pathlib import Path

from companion.build.errors import BookError
from companion.build.project import Project
from companion.build.tree import Say

PAGES = ("letter-noisyhead", "letter-dpgd", "errata", "noisyhead-in-ten-minutes", "dpgd-in-ten-minutes")
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
TYPESETTING = 60_000  # milliseconds of the page's own clock: formulas are typeset by then
PATIENCE = 300  # seconds for a page on a machine with other work to do


def write(project: Project, say: Say) -> Path:
    """Print the pages of ``_build/html`` into ``_build/pdf``.

    Args:
        project: the book, rendered.
        say: told each file, in one line.

    Returns:
        The folder of the files.

    Raises:
        BookError: a page is not rendered, there is no Chromium on this machine, or it prints nothing.
    """
    folder = (project.build / "pdf").resolve()
    sources = {name: (project.build / "html" / "book" / f"{name}.html").resolve() for name in PAGES}
    missing = [name for name, source in sources.items() if not source.is_file()]
    if missing:
        raise BookError(f"these pages are not rendered yet: {', '.join(missing)} (`make pages` renders them)")
    browser = next((path for path in map(shutil.which, BROWSERS) if path), None)
    if browser is None:
        raise BookError(f"printing needs a browser, one of {', '.join(BROWSERS)}; none is installed")
    folder.mkdir(parents=True, exist_ok=True)
    for name, source in sources.items():
        target = folder / f"{name}.pdf"
        target.unlink(missing_ok=True)
        _print(browser, source, target)
        say(f"{target.name} is in {folder}")
    return folder


def _print(browser: str, source: Path, target: Path) -> None:
    """Print a page.

    Raises:
        BookError: nothing came out.
    """
    asked = ["--headless", "--no-sandbox", "--no-pdf-header-footer", f"--virtual-time-budget={TYPESETTING}"]
    command = [browser, *asked, f"--print-to-pdf={target}", source.as_uri()]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    except subprocess.TimeoutExpired:
        raise BookError(f"{target.name} was not printed in {PATIENCE} seconds") from None
    if not target.is_file():
        raise BookError(f"{target.name} was not printed: {done.stderr}")
