"""What a reader unfolds: side results and code stay on the page, and out of its way."""

import html
import inspect
from collections.abc import Callable
from typing import Any

import pandas as pd
from IPython.display import HTML
from pygments import highlight  # type: ignore[import-untyped]
from pygments.formatters import HtmlFormatter  # type: ignore[import-untyped]
from pygments.lexers import PythonLexer  # type: ignore[import-untyped]


def folded(title: str, table: pd.DataFrame | HTML | None) -> HTML:
    """A table behind a line that opens it; an empty fold where there is none.

    Args:
        title: what it shows, for the line that is always there; mathematics between dollars.
        table: as it would be shown.
    """
    if isinstance(table, pd.DataFrame):
        body = table.to_html(classes="table", border=0, escape=False)
    else:
        body = table.data if table else ""
    scrolled = f'<div class="pst-scrollable-table-container">{body}</div>'
    return HTML(f'<details class="numbers"><summary>{html.escape(title)}</summary>{scrolled}</details>')


def source(function: Callable[..., Any]) -> str:
    """A function as it stands in the library, folded, as HTML that takes the page's colours for code."""
    code = highlight(inspect.getsource(inspect.unwrap(function)), PythonLexer(), HtmlFormatter())
    place = f"<code>{function.__name__}</code> in <code>{html.escape(function.__module__)}</code>"
    return f'<details class="numbers"><summary>The function on which the tables rest: {place}</summary>{code}</details>'
