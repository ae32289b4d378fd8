"""What a page says of itself in two sentences, to search engines and to those who link it."""

import re
from html import escape
from typing import Any

from docutils import nodes

LONGEST = 300  # letters
SHORTEST = 40  # of a paragraph that says something
IMAGE = "_static/card.png"  # the picture of a link, which an absolute address alone can name
TYPE = "website"
SAID = {
    "varepsilon": "ε", "epsilon": "ε", "delta": "δ", "lambda": "λ", "rho": "ρ", "sigma": "σ", "eta": "η", "tau": "τ",
    "gamma": "γ", "Gamma": "Γ", "nu": "ν", "kappa": "κ", "log": "log", "sqrt": "√", "cdot": "·", "times": "×",
    "le": "≤", "leq": "≤", "ge": "≥", "geq": "≥", "ll": "≪", "gg": "≫", "approx": "≈", "infty": "∞", "to": "→",
}  # fmt: skip
COMMAND = re.compile(r"\\([A-Za-z]+)\s*")
SKIPPED = (nodes.Admonition, nodes.figure, nodes.table)


def of(document: nodes.document) -> str:
    """A page's question and answer; of a page without them its first words. Formulas are plain text."""
    paragraphs = [node for node in document.findall(nodes.paragraph) if _is_prose(node)]
    for question, answer in zip(paragraphs, paragraphs[1:]):
        if _is_question(question):
            return shortened(f"{_text(question)} {_text(answer)}")
    texts = (_text(paragraph) for paragraph in paragraphs)
    return shortened(next((text for text in texts if len(text) >= SHORTEST), ""))


def shortened(text: str) -> str:
    """A text of at most 300 letters that ends with a whole sentence, or at least with a whole word."""
    if len(text) <= LONGEST:
        return text
    kept = text[:LONGEST]
    end = max(kept.rfind(mark) for mark in (". ", "? "))
    return kept[: end + 1] if end > SHORTEST else kept[: LONGEST - 1].rsplit(" ", 1)[0] + "…"


def plain(tex: str) -> str:
    """A formula as plain text, as near as letters come: ``\\\\varepsilon = 1`` is ``ε = 1``."""
    text = COMMAND.sub(lambda found: SAID.get(found[1], ""), tex)
    return " ".join(re.sub(r"[{}]|\\\\.", "", text).split())


def tags(title: str, told: str, book: str, site: str, page: str) -> str:
    """The tags of a page's head: what it says of itself, and what is shown where somebody links it.

    Args:
        title: of the page, as HTML. told: of it, in plain words; there is no description without any.
        book: the name of the book. site: its address, with which alone page and picture can be named.
        page: the page's name, below that address.
    """
    name = escape(re.sub(r"<[^>]*>", "", title))
    said = {"og:title": name, "og:type": TYPE, "og:site_name": escape(book)}
    if told:
        said["og:description"] = escape(told)
    if site:
        said |= {"og:url": escape(f"{site.rstrip('/')}/{page}.html"), "og:image": escape(f"{site.rstrip('/')}/{IMAGE}")}
    lines = [f'<meta name="description" content="{escape(told)}">'] if told else []
    lines += [f'<meta property="{key}" content="{value}">' for key, value in said.items() if value]
    return "\n".join(["", *lines, ""])


def _is_prose(node: Any) -> bool:
    """Whether a paragraph is part of the page's own words."""
    parent = node.parent
    while parent is not None:
        if isinstance(parent, SKIPPED):
            return False
        parent = parent.parent
    return True


def _is_question(node: nodes.paragraph) -> bool:
    return len(node) == 1 and isinstance(node[0], nodes.strong) and node.astext().rstrip().endswith("?")


def _text(node: nodes.Node) -> str:
    """The words of a paragraph; raw HTML has none."""
    if isinstance(node, nodes.math):
        return plain(node.astext())
    if isinstance(node, nodes.raw):
        return ""
    if isinstance(node, nodes.Text):
        return " ".join(f"|{node.astext()}|".split())[1:-1]
    text = "".join(_text(child) for child in node.children)
    return text if isinstance(node, nodes.Inline) else " ".join(text.split())
