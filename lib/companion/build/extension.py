"""What the book asks of Sphinx beyond Jupyter Book.

Docstrings, tables for the ear, a repository's buttons, formulas without a network, and what pages say of themselves to
search engines and to those who link them.
"""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.config import Config

from companion.build import docstrings, formulas, repository, search_index, summary
from companion.judging.claims import read_register

BUTTONS = ("use_repository_button", "use_source_button", "use_edit_page_button", "use_issues_button")
ICON = '<link rel="alternate icon" type="image/png" href="{}">'
ICON_FILE = "favicon.png"
FIGURE = "_images/index-figure.svg"  # of the front page
OPENING = re.compile(r"<svg\b[^>]*>")
LAUNCHERS = {"binderhub_url": "https://mybinder.org", "colab_url": "https://colab.research.google.com"}
TABLE = re.compile(r"<table\b.*?</table>", re.DOTALL)
HEAD = re.compile(r"<thead\b.*?</thead>", re.DOTALL)
EMPTY = re.compile(r"<th\b([^>]*)>\s*</th>")
ROW = re.compile(r"<tr\b.*?</tr>", re.DOTALL)
BARE = re.compile(r"<t[hd]\b[^>]*>\s*</t[hd]>")
FOLD = re.compile(r'<summary>(?=\s*<span class="toctree-toggle")')
LIST = ' role="list" class="citation-list"'  # of divisions, which are no items
TYPESET = '<span class="math'  # begins a formula in the text
UNSAID = re.compile(r"<th\b(?![^>]*\bscope=)")


def setup(app: Sphinx) -> dict[str, Any]:
    """Sphinx's own entry point."""
    app.connect("config-inited", _offer_repository)
    app.connect("config-inited", _prepare, priority=900)
    app.connect("autodoc-process-docstring", _prepare_docstring, priority=400)  # before napoleon, at 500
    app.connect("env-updated", _write_all_where_names_changed)
    app.connect("html-page-context", _typeset, priority=400)  # before Sphinx decides who gets MathJax
    app.connect("html-page-context", _describe)
    app.connect("html-page-context", _offer_dispute)
    app.connect("build-finished", _finish_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def buttons(options: dict[str, Any]) -> dict[str, Any]:
    """The theme's options with the buttons that follow from the repository's address; none where it has none.

    They are plain links, fetched by nobody who does not click.

    Args:
        options: the theme's options, among them ``repository_url``.
    """
    address = options.get("repository_url")
    if not address:
        return options
    shown = dict.fromkeys(BUTTONS, True) | {"repository_provider": repository.provider(address)}
    if repository.provider(address) == "bitbucket":
        shown["use_issues_button"] = False  # the theme knows none there
    launchers = options.get("launch_buttons", {}) | (LAUNCHERS if repository.is_github(address) else {})
    return options | shown | {"launch_buttons": launchers}


def audible(html: str) -> str:
    """A page that can be read aloud.

    Tables say what each of their headers heads, and a header without words is none. The folds of the contents have a
    name. What is called a list is one.
    """
    html = html.replace(LIST, LIST.replace(' role="list"', ""))
    html = FOLD.sub('<summary aria-label="the pages below">', html)
    return TABLE.sub(lambda table: _scoped(table.group()), html)


def _scoped(table: str) -> str:
    table = HEAD.sub(lambda head: one_row(head.group()), table)
    table = EMPTY.sub(r"<td\1></td>", table)
    table = HEAD.sub(lambda head: UNSAID.sub('<th scope="col"', head.group()), table)
    return UNSAID.sub('<th scope="row"', table)


def one_row(head: str) -> str:
    """A table's head in one row, where pandas has the names of the index in a second one, below empty cells."""
    rows = ROW.findall(head)
    cells = [re.findall(r"<t[hd]\b[^>]*>.*?</t[hd]>", row, re.DOTALL) for row in rows]
    if len(rows) != 2 or len(cells[0]) != len(cells[1]):
        return head
    filled = [[not BARE.fullmatch(cell) for cell in row] for row in cells]
    if any(first == second for first, second in zip(*filled, strict=True)):
        return head  # groups of columns, or a column without a name
    merged = "".join(first if full else second for first, second, full in zip(*cells, filled[0], strict=True))
    return f"{head[: head.index('<tr')]}<tr>{merged}</tr></thead>"


def _offer_repository(app: Sphinx, config: Config) -> None:
    config.html_theme_options = buttons(config.html_theme_options)


def _prepare(app: Sphinx, config: Config) -> None:
    config.mathjax_path = formulas.PATH
    config.mathjax3_config = (config.mathjax3_config or {}) | formulas.config()


def _describe(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    tags = ""
    if doctree is not None:
        book, site = str(app.config.html_title), str(app.config.html_baseurl or "")
        tags = summary.tags(context.get("title", ""), summary.of(context.get("body", "")), book, site, page)
    if (Path(app.outdir) / "_static" / ICON_FILE).is_file():
        tags += ICON.format(context["pathto"](f"_static/{ICON_FILE}", 1))
    context["metatags"] = context.get("metatags", "") + tags


def _offer_dispute(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    address = app.config.html_theme_options.get("repository_url", "")
    register = Path(app.srcdir) / "book" / "claims.yml"
    if address and "body" in context and register.is_file():
        anchors = {claim.anchor: name for name, claim in read_register(register).items()}
        context["body"] = repository.disputable(context["body"], address, anchors)


def _typeset(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Have the formulas within HTML typeset, too: Sphinx counts those of Markdown alone."""
    if TYPESET in context.get("body", ""):
        app.env.get_domain("math").data["has_equations"][page] = True


def _prepare_docstring(app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    lines[:] = docstrings.prepared(lines, docstrings.names(thing))


def _write_all_where_names_changed(app: Sphinx, env: Any) -> Iterable[str]:
    """Have every page written where a title, a label or a citation is another: Sphinx writes those read anew alone."""
    std = env.domaindata["std"]
    cited = {key.key for ref in env.domaindata.get("cite", {}).get("citation_refs", ()) for key in ref.targets}
    titles = {name: title.astext() for name, title in env.titles.items()}
    known = [titles, std["labels"], std["anonlabels"], env.domaindata["math"]["objects"], env.toctree_includes]
    named = repr([sorted(each.items()) for each in known] + sorted(cited))
    before, env.named_in_the_book = getattr(env, "named_in_the_book", named), named
    return () if before == named else env.all_docs


def _draw_card(html: Path) -> None:
    """Draw the front page's figure as those who link the book show it: they want pixels."""
    figure = html / FIGURE
    if figure.is_file():
        import vl_convert

        on_white = OPENING.sub(r'\g<0><rect width="100%" height="100%" fill="white"/>', figure.read_text("utf-8"), 1)
        (html / summary.IMAGE).write_bytes(vl_convert.svg_to_png(on_white, scale=2))


def _finish_pages(app: Sphinx, failure: Exception | None) -> None:
    if failure is not None or app.builder.format != "html":
        return
    formulas.copy(Path(app.outdir))
    if app.config.html_baseurl:
        _draw_card(Path(app.outdir))
    for path in Path(app.outdir).rglob("*.html"):
        text = path.read_text("utf-8")
        said = audible(text)
        if path.name != search_index.SEARCH:  # the theme has every page load an index that this one alone uses
            said = search_index.OWN_INDEX.sub("", said)
        if said != text:
            path.write_text(said, "utf-8")
