"""What a page says of itself in two sentences, to search engines and to those who link it."""

import re
from html import escape, unescape

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
PARAGRAPH = re.compile(r"<p>(.*?)</p>", re.DOTALL)
QUESTION = re.compile(r"<p><strong>([^<]*(?:<(?!/p>)[^<]*)*?\?)</strong></p>\s*<p>(.*?)</p>", re.DOTALL)
BOXES = re.compile(r'<div class="admonition.*?</div>|<figure.*?</figure>|<table.*?</table>', re.DOTALL)
TAG = re.compile(r"<[^>]*>")
FORMULA = re.compile(r"\\\((.*?)\\\)", re.DOTALL)


def of(body: str) -> str:
    """A page's question and answer; of a page without them its first words. Formulas are plain text.

    Args:
        body: the page's own HTML, formulas in it as TeX.
    """
    own = BOXES.sub("", body)
    if found := QUESTION.search(own):
        return shortened(f"{words(found[1])} {words(found[2])}")
    texts = (words(paragraph) for paragraph in PARAGRAPH.findall(own))
    return shortened(next((text for text in texts if len(text) >= SHORTEST), ""))


def words(piece: str) -> str:
    """The words of a piece of HTML."""
    text = unescape(TAG.sub("", piece))
    return " ".join(FORMULA.sub(lambda found: plain(found[1]), text).split())


def shortened(text: str) -> str:
    """A text of at most 300 letters that ends with a whole sentence, or at least with a whole word."""
    if len(text) <= LONGEST:
        return text
    kept = text[:LONGEST]
    end = max(kept.rfind(mark) for mark in (". ", "? "))
    return kept[: end + 1] if end > SHORTEST else kept[: LONGEST - 1].rsplit(" ", 1)[0] + "…"


def plain(tex: str) -> str:
    """A formula as plain text, as near as letters come: ``\\varepsilon = 1`` is ``ε = 1``."""
    text = COMMAND.sub(lambda found: SAID.get(found[1], ""), tex)
    return " ".join(re.sub(r"[{}]|\\.", "", text).split())


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
