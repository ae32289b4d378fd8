"""What the book asks of Sphinx beyond Jupyter Book: docstrings, tables for the ear and to search, links to judges, a
repository's buttons, formulas without a network, figures for narrow screens, the search index, and what pages say of
themselves to search engines. ``jupyter-book build .`` in a clone renders the committed chapters, as `make pages` does.
"""

import contextlib
import dataclasses
import inspect
import re
import shutil
from collections.abc import Iterable
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.util.docutils import SphinxRole

from companion import CHAPTERS
from companion.build import equations, marks, repository, search_index
from companion.build.parameters import PAPER
from companion.build.project import Project, rewrite
from companion.judging.claims import load_yaml, read_papers, read_register

BUTTONS = ("use_repository_button", "use_source_button", "use_edit_page_button", "use_issues_button")
ICON = '<link rel="alternate icon" type="image/png" href="{}">'
ICON_FILE = "favicon.png"
FIGURE = "_images/index-dpgd.svg"  # of the front page
OPENING = re.compile(r"<svg\b[^>]*>")
LAUNCHERS = {"binderhub_url": "https://mybinder.org", "colab_url": "https://colab.research.google.com"}
TABLE = re.compile(r"<table\b.*?</table>", re.DOTALL)
HEAD = re.compile(r"<thead\b.*?</thead>", re.DOTALL)
EMPTY = re.compile(r"<th\b([^>]*)>\s*</th>")
FOLD = re.compile(r'<summary>(?=\s*<span class="toctree-toggle")')
LIST = ' role="list" class="citation-list"'  # of divisions, which are no items
REGISTER = "book/claims.yml"
TYPESET = ('<span class="math', '<a class="equation')  # begin a formula in the text, and a link that shows one
PERCENT = re.compile(r"(?<=\d) (?=%)")
PUNCTUATED = re.compile(r'<span class="math notranslate nohighlight">[^<]*</span>(?:[.,;:?!)]+|-\w+)')
UNSAID = re.compile(r"<th\b(?![^>]*\bscope=)")
SEARCHABLE = re.compile(r'<table[^>]*class="[^"]*\bsearchable\b')
SEARCH_SCRIPT = "ledger.js"
SPHINX_SEARCH = re.compile(r'<script src="[^"]*(?:searchtools|language_data|searchindex)\.js[^"]*"></script>')
OFFERED = '<span class="btn__text-container">.ipynb'  # in the theme's menu of downloads
NOTEBOOK = OFFERED, f'{OFFERED}<br><small>runs after <code>pip install -e ".[book]"</code> in a clone</small>'
NARROW = 600  # pixels: screens up to this width get the form of a figure with stacked panels
IMAGE = re.compile(r'(?<!\.narrow\.svg">)<img\b[^>]*?\bsrc="(?P<stem>[^"]*_images/(?P<file>[^"/]+))\.svg"[^>]*/?>')


def setup(app: Sphinx) -> dict[str, Any]:
    """Sphinx's own entry point."""
    edition = ""
    if (Path(app.srcdir) / "lib" / CHAPTERS).is_dir():
        edition = repository.edition(Path(app.srcdir))
        _stage(app)
    app.add_role("judge", JudgeRole())
    app.connect("config-inited", _configure, priority=900)
    app.connect("autodoc-process-docstring", _prepare_docstring, priority=400)  # before napoleon, at 500
    app.connect("builder-inited", lambda app: setattr(app.builder, "search", False))  # the search has our own index
    app.connect("html-collect-pages", lambda app: [("search", {}, "search.html")])
    app.connect("doctree-read", marks.mark)
    app.connect("doctree-read", equations.collect)
    app.connect("env-updated", _write_all_where_names_changed)
    app.connect("html-page-context", _typeset, priority=400)  # before Sphinx decides who gets MathJax
    app.connect("html-page-context", _complete)
    app.connect("build-finished", partial(_finish_pages, edition=edition))
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _stage(app: Sphinx) -> None:
    """Stage the committed chapters of the project that Sphinx was given, and have Sphinx read the staged pages."""
    from companion.build import staging  # it imports what draws; pages that are staged already need none of it

    project = Project(Path(app.srcdir))
    pages = project.build / PAPER / "pages"
    staging.stage(project, PAPER, project.book, pages)
    (project.build / "html.json").unlink(missing_ok=True)  # of what `make book` rendered last
    settings = load_yaml((pages / "_config.yml").read_text("utf-8"))
    if address := settings["repository"].get("url"):
        app.config.html_theme_options |= {"repository_url": address}
    app.config.html_baseurl = settings["html"].get("baseurl", "")
    app.srcdir = app.confdir = type(app.srcdir)(pages)


class JudgeRole(SphinxRole):
    """The role ``judge``: names a function ``module:function``, with its file, linked where there is a repository."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        """The judge's name, linked to its file or followed by the file's path."""
        module, _, function = self.text.partition(":")
        path, options = f"lib/{module.replace('.', '/')}.py", self.config.html_theme_options
        name = nodes.literal("", function)
        if address := options.get("repository_url"):
            link = f"{address}/blob/{options.get('repository_branch', repository.BRANCH)}/{path}"  # as GitHub has them
            return [nodes.Text("Judged by "), nodes.reference("", "", name, refuri=link), nodes.Text(".")], []
        return [nodes.Text("Judged by "), name, nodes.Text(" in "), nodes.literal("", path), nodes.Text(".")], []


def buttons(options: dict[str, Any]) -> dict[str, Any]:
    """The theme's options with the plain links that follow from their ``repository_url``; none without it."""
    address = options.get("repository_url")
    if not address:
        return options
    shown = dict.fromkeys(BUTTONS, True) | {"repository_provider": "github"}
    launchers = options.get("launch_buttons", {}) | (LAUNCHERS if urlsplit(address).hostname == "github.com" else {})
    return options | shown | {"launch_buttons": launchers}


def audible(html: str) -> str:
    """A page for ear and eye: tables say what a header heads, folds have a name, no line begins with % or a stop."""

    def scoped(found: re.Match[str]) -> str:
        table = HEAD.sub(lambda head: one_row(head.group()), found.group())
        table = marks.numeric(EMPTY.sub(r"<td\1></td>", table))
        table = HEAD.sub(lambda head: UNSAID.sub('<th scope="col"', head.group()), table)
        return UNSAID.sub('<th scope="row"', table)

    html = html.replace(LIST, LIST.replace(' role="list"', ""))
    html = FOLD.sub('<summary aria-label="the pages below">', html)
    html = PERCENT.sub("\N{NO-BREAK SPACE}", TABLE.sub(scoped, html))
    return PUNCTUATED.sub(r'<span class="together">\g<0></span>', html)


def one_row(head: str) -> str:
    """A table's head whose last row, in which pandas has the names of the index alone, goes into the row above."""
    rows = list(marks.ROW.finditer(head))
    above, names = ([*marks.CELL.finditer(row.group())] for row in rows[-2:]) if len(rows) > 1 else ([], [])
    index = sum(bool(cell["said"].strip()) for cell in names)
    cells = [*names[:index], *above[index:]]
    if not 0 < index < len(names) == len(above) or not all(cell["said"].strip() for cell in cells):
        return head  # groups of columns, or a column without a name
    merged = "".join(cell.group() for cell in cells)
    return f"{head[: rows[-2].start()]}<tr>{merged}</tr>{head[rows[-1].end() :]}"


def _configure(app: Sphinx, config: Config) -> None:
    config.html_theme_options = buttons(config.html_theme_options)
    config.mathjax_path = MATHJAX
    config.mathjax3_config = (config.mathjax3_config or {}) | {"loader": {"load": LOADED}}


def _prepare_docstring(app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    known = {field.name for field in dataclasses.fields(thing)} if dataclasses.is_dataclass(thing) else set[str]()
    with contextlib.suppress(TypeError, ValueError):
        known |= set(inspect.signature(thing).parameters)
    lines[:] = prepared(lines, known)


def _complete(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    body, tags = context.get("body", ""), ""
    if doctree is not None:
        book, site = str(app.config.html_title), str(app.config.html_baseurl or "")
        tags = search_index.tags(context.get("title", ""), search_index.summary(body), book, site, page)
    if (Path(app.outdir) / "_static" / ICON_FILE).is_file():
        tags += ICON.format(context["pathto"](f"_static/{ICON_FILE}", 1))
    context["metatags"] = context.get("metatags", "") + tags
    address = app.config.html_theme_options.get("repository_url", "")
    register = Path(app.srcdir) / REGISTER
    if address and body and register.is_file():
        anchors = {claim.anchor: name for name, claim in read_register(register).items()}
        context["body"] = repository.disputable(body, address, anchors)
    if body:
        context["body"] = marks.with_files(context["body"])
    if SEARCHABLE.search(body):
        app.add_js_file(SEARCH_SCRIPT, loading_method="defer")


def _typeset(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Link the numbers of equations; have formulas within HTML typeset, too: Sphinx counts those of Markdown alone."""
    register = Path(app.srcdir) / REGISTER
    if doctree is not None and register.is_file():
        uri = partial(app.builder.get_relative_uri, page)
        context["body"] = equations.linked(context["body"], page, read_papers(register), app.env.metadata, uri)
    if any(begin in context.get("body", "") for begin in TYPESET):
        app.env.get_domain("math").data["has_equations"][page] = True


def _write_all_where_names_changed(app: Sphinx, env: Any) -> Iterable[str]:
    """Have every page written where a title, a label or a citation is another: Sphinx writes those read anew alone."""
    std = env.domaindata["std"]
    cited = {key.key for ref in env.domaindata.get("cite", {}).get("citation_refs", ()) for key in ref.targets}
    titles = {name: title.astext() for name, title in env.titles.items()}
    displays = {name: own[equations.KEPT] for name, own in env.metadata.items() if own.get(equations.KEPT)}
    kept = std["labels"], std["anonlabels"], env.domaindata["math"]["objects"], env.toctree_includes
    named = repr([sorted(each.items()) for each in (titles, displays, *kept)] + sorted(cited))
    before, env.named_in_the_book = getattr(env, "named_in_the_book", named), named
    return () if before == named else env.all_docs


def _finish_pages(app: Sphinx, failure: Exception | None, edition: str) -> None:
    if failure is not None or app.builder.format != "html":
        return
    html = Path(app.outdir)
    copy_formulas(html)
    if app.config.html_baseurl and (html / FIGURE).is_file():  # the front page's figure, for links: they want pixels
        import vl_convert

        svg = (html / FIGURE).read_text("utf-8")
        on_white = OPENING.sub(r'\g<0><rect width="100%" height="100%" fill="white"/>', svg, 1)
        (html / search_index.IMAGE).write_bytes(vl_convert.svg_to_png(on_white, scale=2))
    rewrite(html.rglob("*.html"), lambda page: SPHINX_SEARCH.sub("", audible(page)).replace(*NOTEBOOK))
    offer_stacked(html, Path(app.srcdir))
    search_index.index(html)
    if edition:
        repository.write_edition(html, edition)


def offer_stacked(html: Path, pages: Path) -> None:
    """Offer ``<name>.narrow.svg``, among the staged pages beside ``<name>.svg``, to narrow screens in every page."""
    stacked = {}
    for narrow in pages.rglob("*.narrow.svg"):
        wide = narrow.with_name(narrow.name.replace(".narrow.svg", ".svg"))
        if wide.is_file():  # notebooks drop the last line's end: contents are compared without it
            stacked[wide.read_bytes().strip()] = narrow
    narrow_of = {}
    for image in (html / "_images").glob("*.svg"):
        if form := stacked.get(image.read_bytes().strip()):
            narrow_of[image.stem] = shutil.copyfile(form, image.with_suffix(".narrow.svg"))

    def picture(found: re.Match[str]) -> str:
        if found["file"] not in narrow_of:
            return found.group()
        source = f'<source media="(max-width: {NARROW}px)" srcset="{found["stem"]}.narrow.svg">'
        return f"<picture>{source}{found.group()}</picture>"

    rewrite(html.rglob("*.html"), lambda text: IMAGE.sub(picture, text))


PACKAGE = "sphinx-mathjax-offline"  # brings MathJax, so that pages need no network for their formulas
MATHJAX = "mathjax/startup.js"  # below the static files
LOADED = ["input/tex", "output/chtml", "a11y/assistive-mml"]  # TeX in; HTML out, and MathML for those who hear the page
UNUSED = ("sre", "ui", "adaptors", "mml*", "*svg*", "tex-*", "node-main.js")


def copy_formulas(html: Path) -> None:
    """Put what MathJax loads for a page, with all extensions of TeX, among the static files of a rendering."""
    source = Path(str(files(PACKAGE))) / "static" / "mathjax"
    shutil.copytree(source, html / "_static/mathjax", ignore=shutil.ignore_patterns(*UNUSED), dirs_exist_ok=True)


# Docstrings have several short arguments on a line, "claims: which. found: by claim."; Sphinx wants a line each.
SECTION = re.compile(r"^\s*(?:Args|Attributes):\s*$")
LITERAL = re.compile(r"(``[^`]*``|`[^`]*`)")
VERBATIM = re.compile(r"^\s*(?:\.\. |:|>>>|\.\.\. )|::$")


def prepared(lines: Iterable[str], known: Iterable[str]) -> list[str]:
    """A docstring's lines, each of the ``known`` arguments on its own, bars outside code and formulas escaped."""
    return list(_escaped(_separated(list(lines), set(known))))


def _separated(lines: list[str], known: set[str]) -> Iterable[str]:
    word = "|".join(sorted(map(re.escape, known), key=len, reverse=True))
    begin = re.compile(rf"(?<=[.;)]) +(?=(?:{word})(?:, (?:{word}))*: )") if known else None
    inside = None
    for line in lines:
        indent = len(line) - len(line.lstrip())
        if SECTION.match(line):
            inside = indent
        elif inside is not None and line.strip() and indent <= inside:
            inside = None
        if begin is None or inside is None or not line.strip():
            yield line
            continue
        yield from (" " * (inside + 4 if n else indent) + part.strip() for n, part in enumerate(begin.split(line)))


def _escaped(lines: Iterable[str]) -> Iterable[str]:
    """Lines whose bars stand for themselves, but in what is set as it is: code, directives and what belongs to them."""
    verbatim = None
    for line in lines:
        indent = len(line) - len(line.lstrip())
        if verbatim is not None and line.strip() and indent <= verbatim:
            verbatim = None
        if verbatim is None and VERBATIM.search(line):
            verbatim = indent
        elif verbatim is None:
            parts = LITERAL.split(line)
            line = "".join(part if n % 2 else part.replace("|", r"\|") for n, part in enumerate(parts))
        yield line
