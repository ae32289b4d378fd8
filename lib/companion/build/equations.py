"""The papers' equations at hand: in the text of a page a number such as (4.2) leads to the display that has it.

A display with ``\\tag{4.2}`` on a page in a paper's folder is that paper's equation (4.2). The link carries its TeX,
for `hover.js`. On a page that belongs to neither paper, a number is the last named paper's, if that has it.
"""

import html
import re
from collections.abc import Callable, Mapping
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

KEPT = "equations"  # TeX by number, among the metadata of the page that displays them; ends the name of a list of them
NUMBER = r"(?:[A-H]|[1-9])\.[1-9]\d*"
Told = Mapping[str, Mapping[str, Any]]  # by paper, or by page
TAG = re.compile(rf"\\tag\{{({NUMBER})\}}")
# An element whose text stays as it is, a tag, or text.
PIECE = re.compile(
    r"<(a|button|code|h[1-6]|pre|script|style|summary|svg)\b.*?</\1>|<(div|span) class=\"math.*?</\2>|<[^>]*>|[^<]+",
    re.DOTALL,
)


def collect(app: Sphinx, doctree: nodes.document) -> None:
    """Keep what a page displays under a number of its paper, and give each display an anchor."""
    found = app.env.metadata[app.env.docname].setdefault(KEPT, {})
    for node in doctree.findall(nodes.math_block):
        tex = " ".join(node.astext().split())
        for number in set(TAG.findall(tex)) - set(found):
            found[number] = TAG.sub("", tex).strip()
            node["ids"].append(f"equation-{number}")
            if r"\\" in tex:  # Sphinx would put it into an environment that allows no tag
                node["nowrap"], node[:] = True, [nodes.Text(rf"\begin{{equation}}{tex}\end{{equation}}")]


def linked(body: str, page: str, papers: Told, metadata: Told, uri: Callable[[str], str]) -> str:
    """A page's HTML with the numbers of equations linked; the Tab key stops at a number's first link in a section.

    Args:
        papers: short name and title of each. metadata: of all pages, with what `collect` has kept. uri: from this page.
    """
    names = {name: paper for paper, entry in papers.items() for name in (paper, entry["short"], entry["title"])}
    named = "|".join(map(re.escape, names))
    word = re.compile(rf"(?P<name>{named})|\((?P<number>{NUMBER})\)(?=(?: of (?P<of>{named}))?)")
    own = next((paper for paper in papers if paper in page), "")
    current = own or names.get("".join(re.findall(named, body)[:1]), "")
    order = sorted(metadata, key=lambda name: (name != page, name.endswith(KEPT), name))
    seen: set[str] = set()

    def reference(found: re.Match[str]) -> str:
        nonlocal current
        if found["name"]:
            current = own or names[found["name"]]
            return found.group()
        number, paper = found["number"], names.get(found["of"], current)
        whose = [paper] if own or found["of"] else sorted(papers, key=lambda one: one != paper)
        pages = [name for one in whose for name in order if one in name and number in metadata[name].get(KEPT, ())]
        if not pages:
            return found.group()
        target = f"{'' if pages[0] == page else uri(pages[0])}#equation-{number}"
        again = ' tabindex="-1"' if number in seen else ""
        seen.add(number)
        tex = html.escape(metadata[pages[0]][KEPT][number])
        return f'<a class="equation" href="{target}"{again} data-tex="{tex}">({number})</a>'

    def piece(found: re.Match[str]) -> str:
        nonlocal current
        text = found.group()
        if not text.startswith("<"):
            return word.sub(reference, text)
        if not own:
            current = next((names[name] for name in reversed(re.findall(named, text))), current)
        if text.startswith("<h"):
            seen.clear()
        return text

    return PIECE.sub(piece, body)
