"""Scripts of the rendered pages: what a symbol or a word means, explorers, and the links that open them in a page.

A chapter has a plain Markdown link to an explorer in some state, which GitHub and JupyterLab follow to its notebook:

    [Explore DP-GD at ρ = 0.3](../explore/dpgd.ipynb#rho=0.3)

MyST would look for a place of that name on the other page. So staged pages get the link as HTML. Where the link is a
paragraph of its own, ``book/_static/explorers.js`` puts a button beside it that opens the explorer there.
"""

import html
import importlib
import json
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from companion import of_chapters
from companion.build import notebooks
from companion.build.project import Project, rewrite
from companion.running import stamps

STATIC = "_static"  # in book/
EXPLORER = "explorer"
MODULE = f"companion.showing.{EXPLORER}"  # makes the script of the explorers, from an installed library
TERMS, DEFINITIONS = "terms.yml", "hover-data.js"
PAPERS = ("noisyhead", "dpgd")
PLACE = "explorer-here"  # the class that the script looks for
LINK = r"\[(?P<words>[^\]\n]+)\]\((?P<page>(?:[\w./-]*/)?explore/[\w-]+)\.ipynb#(?P<state>[^)\s=]+=[^)\s]*)\)"
INLINE = re.compile(LINK)
ALONE = re.compile(rf"(?:(?<=\A)|(?<=\n\n)){LINK}(?=\s*\Z|\n\n)")
MARKDOWN = "text/markdown"


def write_scripts(project: Project, pages: Path) -> None:
    """Write what staged pages load into the folder of their static files: definitions, and the explorers."""
    static = pages / "book" / STATIC
    static.mkdir(parents=True, exist_ok=True)
    (static / DEFINITIONS).write_text(definitions(project.book), "utf-8")
    script = f"{EXPLORER}.js"
    if not any(f"{STATIC}/{script}" in page.read_text("utf-8") for page in sorted(pages.rglob("*.ipynb"))):
        return
    module = importlib.import_module(MODULE)
    sources = [project.requirements, *sorted(Path(str(module.__file__)).parent.glob(f"{EXPLORER}.*"))]
    kept = project.build / EXPLORER / f"{stamps.json_digest([stamps.file_digest(path) for path in sources])}.js"
    if not kept.is_file():  # putting it together takes seconds
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.with_suffix(".new").write_text(module.script(), "utf-8")
        kept.with_suffix(".new").replace(kept)
    shutil.copyfile(kept, static / script)


# --------------------------------------------------------------------------------------------------- definitions


def definitions(book: Path) -> str:
    """What pages say of the symbols and of the words in ``terms.yml`` when a reader points at one, as a script.

    A script and no data file, since browsers give pages that are opened as files no data; ``hover.js`` reads it.
    """
    path = book / TERMS
    terms = yaml.safe_load(path.read_text("utf-8")) if path.is_file() else {}
    content = {"symbols": symbols(), "terms": words(terms)}
    return f"globalThis.DEFINED = {json.dumps(content, ensure_ascii=False, separators=(',', ':'))};\n"


def symbols() -> list[dict[str, str]]:
    """Each symbol of each paper: its TeX, whose it is, what it means and in which unit."""
    return [
        {"tex": tex, "paper": paper, "meaning": symbol.meaning, "unit": symbol.unit}
        for symbol in of_chapters("symbols").SYMBOLS
        for paper in PAPERS
        if (tex := getattr(symbol, paper))
    ]


def words(terms: Mapping[str, Mapping[str, Any]]) -> list[dict[str, str]]:
    """Each form of each word with its definition, longer ones before those that they contain."""
    forms = [
        {"word": form, "meaning": entry["meaning"], "term": term}
        for term, entry in terms.items()
        for form in (term, *entry.get("also", ()))
    ]
    return sorted(forms, key=lambda form: (-len(form["word"]), form["word"]))


# --------------------------------------------------------------------------------------------- links to explorers


def link_explorers(pages: Path) -> None:
    """Turn the links to explorers with a state into HTML, in all staged pages, in place."""
    rewrite(sorted(pages.rglob("*.md")), linked)
    for path in sorted(pages.rglob("*.ipynb")):
        if not INLINE.search(path.read_text("utf-8")):
            continue
        notebook = notebooks.read(path)
        for cell in notebook.cells:
            if cell.cell_type == "markdown":
                cell.source = linked(cell.source)
            for output in cell.get("outputs", []):
                if MARKDOWN in output.get("data", {}):
                    output.data[MARKDOWN] = linked(output.data[MARKDOWN])
        notebooks.write(notebook, path)


def linked(markdown: str) -> str:
    """A text in which links to explorers with a state are HTML; a paragraph that is such a link offers to open it.

    >>> linked("See [ρ = 0.3](../explore/dpgd.ipynb#rho=0.3).")
    'See <a href="../explore/dpgd.html#rho=0.3">ρ = 0.3</a>.'
    """

    def anchor(link: re.Match[str]) -> str:
        return f'<a href="{link["page"]}.html#{html.escape(link["state"])}">{link["words"]}</a>'

    offered = ALONE.sub(lambda link: f'<div class="{PLACE}">\n\n{anchor(link)}\n\n</div>', markdown)
    return INLINE.sub(anchor, offered)
