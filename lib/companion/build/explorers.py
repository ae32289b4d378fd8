"""Explorers inside other pages: a link to an explorer in some state, and, alone in its paragraph, an offer to open it.

A chapter has a plain Markdown link, which GitHub and JupyterLab follow to the explorer's notebook:

    [Explore DP-GD at ρ = 0.3](../explore/dpgd.ipynb#rho=0.3)

MyST would look for a place of that name on the other page. So staged pages get the link as HTML. Where the link is a
paragraph of its own, ``book/_static/explorers.js`` puts a button beside it that opens the explorer there.
"""

import html
import re
from collections.abc import Iterator
from pathlib import Path

from nbformat import NotebookNode

from companion.build import notebooks

PLACE = "explorer-here"  # the class that the script looks for
LINK = r"\[(?P<words>[^\]\n]+)\]\((?P<page>(?:[\w./-]*/)?explore/[\w-]+)\.ipynb#(?P<state>[^)\s=]+=[^)\s]*)\)"
INLINE = re.compile(LINK)
ALONE = re.compile(rf"(?:(?<=\A)|(?<=\n\n)){LINK}(?=\s*\Z|\n\n)")
MARKDOWN = "text/markdown"


def embed(pages: Path) -> None:
    """Turn the links to explorers with a state into HTML, in all staged pages.

    Args:
        pages: the folder of the staged pages, changed in place.
    """
    for path in sorted(pages.rglob("*.md")):
        text = path.read_text("utf-8")
        if INLINE.search(text):
            path.write_text(embedded(text), "utf-8")
    for path in sorted(pages.rglob("*.ipynb")):
        if INLINE.search(path.read_text("utf-8")):
            notebooks.write(_embedded_notebook(notebooks.read(path)), path)


def embedded(markdown: str) -> str:
    """A text in which links to explorers with a state are HTML; a paragraph that is such a link offers to open it.

    >>> embedded("See [ρ = 0.3](../explore/dpgd.ipynb#rho=0.3).")
    'See <a href="../explore/dpgd.html#rho=0.3">ρ = 0.3</a>.'
    """
    offered = ALONE.sub(lambda link: f'<div class="{PLACE}">\n\n{_anchor(link)}\n\n</div>', markdown)
    return INLINE.sub(_anchor, offered)


def states(markdown: str) -> Iterator[tuple[str, dict[str, str]]]:
    """The explorers that a text links to, with the values that each link chooses."""
    for link in INLINE.finditer(markdown):
        pairs = (part.partition("=") for part in link["state"].split("&"))
        yield link["page"].rpartition("/")[2], {name: value for name, _, value in pairs}


def _anchor(link: re.Match[str]) -> str:
    return f'<a href="{link["page"]}.html#{html.escape(link["state"])}">{link["words"]}</a>'


def _embedded_notebook(notebook: NotebookNode) -> NotebookNode:
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = embedded(cell.source)
        for output in cell.get("outputs", []):
            if MARKDOWN in output.get("data", {}):
                output.data[MARKDOWN] = embedded(output.data[MARKDOWN])
    return notebook
