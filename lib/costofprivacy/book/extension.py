"""What the book asks of Sphinx beyond Jupyter Book: docstrings, tables for the ear, a repository's buttons."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.config import Config

from costofprivacy.book import docstrings

BUTTONS = ("use_repository_button", "use_issues_button", "use_edit_page_button")
CONTENTS = "sbt-sidebar-nav.html"
SOURCES = "_modules/"
LAUNCHERS = {"binderhub_url": "https://mybinder.org", "colab_url": "https://colab.research.google.com"}
TABLE = re.compile(r"<table\b.*?</table>", re.DOTALL)
HEAD = re.compile(r"<thead\b.*?</thead>", re.DOTALL)
EMPTY = re.compile(r"<th\b([^>]*)>\s*</th>")
FOLD = re.compile(r'<summary>(?=\s*<span class="toctree-toggle")')
LIST = ' role="list" class="citation-list"'  # of divisions, which are no items
UNSAID = re.compile(r"<th\b(?![^>]*\bscope=)")


def setup(app: Sphinx) -> dict[str, Any]:
    """Sphinx's own entry point."""
    app.connect("config-inited", _offer_repository)
    app.connect("autodoc-process-docstring", _prepare_docstring, priority=400)  # before napoleon, at 500
    app.connect("html-page-context", _choose_sidebars, priority=400)  # before the theme reads them, at 500
    app.connect("build-finished", _finish_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def buttons(options: dict[str, Any]) -> dict[str, Any]:
    """The theme's options with the buttons that follow from the repository's address; none where it has none.

    They are plain links, fetched by nobody who does not click.

    Args:
        options: the theme's options, among them ``repository_url``.
    """
    if not options.get("repository_url"):
        return options
    return options | dict.fromkeys(BUTTONS, True) | {"launch_buttons": options.get("launch_buttons", {}) | LAUNCHERS}


def audible(html: str) -> str:
    """A page that can be read aloud.

    Tables say what each of their headers heads, and a header without words is none. The folds of the contents have a
    name. What is called a list is one.
    """
    html = html.replace(LIST, LIST.replace(' role="list"', ""))
    html = FOLD.sub('<summary aria-label="the pages below">', html)
    return TABLE.sub(lambda table: _scoped(table.group()), html)


def _scoped(table: str) -> str:
    table = EMPTY.sub(r"<td\1></td>", table)
    table = HEAD.sub(lambda head: UNSAID.sub('<th scope="col"', head.group()), table)
    return UNSAID.sub('<th scope="row"', table)


def _offer_repository(app: Sphinx, config: Config) -> None:
    config.html_theme_options = buttons(config.html_theme_options)


def _prepare_docstring(app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    lines[:] = docstrings.prepared(lines, docstrings.names(thing))


def _choose_sidebars(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    if page.startswith(SOURCES):  # the contents on each page of source would take as long as all chapters
        context["sidebars"] = [part for part in context.get("sidebars") or [] if CONTENTS not in part]


def _finish_pages(app: Sphinx, failure: Exception | None) -> None:
    for path in Path(app.outdir).rglob("*.html") if failure is None else ():
        text = path.read_text("utf-8")
        if (said := audible(text)) != text:
            path.write_text(said, "utf-8")
