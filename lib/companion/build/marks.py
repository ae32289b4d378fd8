"""What pages mark for the style sheet: their place and question, the steps of a derivation, columns of numbers."""

import re
from html import unescape
from itertools import zip_longest

from docutils import nodes
from sphinx.application import Sphinx

STEP = re.compile(r"(\d+)\. ?")
MINUTE = 150  # words, of a text with formulas
ROW = re.compile(r"<tr\b.*?</tr>", re.DOTALL)
CELL = re.compile(r"<(?P<kind>t[hd])\b(?P<own>[^>]*)>(?P<said>.*?)</(?P=kind)>", re.DOTALL)
NOT_SAID = re.compile(r"<[^>]*>|\\(?:cdot|times|pm|,|[(){}])|\$")
NUMBER = re.compile(r"(?=.*\d)[\s\d.,%×·±+−–^{}()⁻⁰¹²³⁴⁵⁶⁷⁸⁹<>≤≥-]*(?:e[-+]\d+)?|[–—-]|∞|nan")
FIGURE = re.compile(
    r'<figure\b[^>]*\bid="(?P<name>[^"]+)"(?:(?!</figure>).)*?\bsrc="(?P<svg>[^"]+\.svg)".*?(?=</figcaption>)',
    re.DOTALL,
)
CSV = re.compile(r'<a class="reference download[^>]*\bhref="(?P<address>[^"]*/(?P<name>[^"/]+)\.csv)"')


def mark(app: Sphinx, document: nodes.document) -> None:
    """Mark steps, the question of a page, and the place above it, which says how long the page takes.

    What follows the bold title of a caption becomes a sentence of its own.
    """
    for caption in document.findall(nodes.caption):
        title, *rest = [part for part in caption.children if part.astext()] or [None]
        if isinstance(title, nodes.strong) and rest and isinstance(rest[0], nodes.Text):
            said = rest[0].astext().lstrip(":,. \n")
            caption.replace(rest[0], nodes.Text(f" {said[:1].upper()}{said[1:]}"))
    paragraphs = list(document.findall(nodes.paragraph))
    for paragraph in paragraphs:
        said = [part for part in paragraph.children if part.astext()]  # MyST surrounds what is bold with empty texts
        lead = said[0] if said else None
        if not isinstance(lead, nodes.strong):
            continue
        if step := STEP.match(lead.astext()):
            first = next(part for part in lead.children if part.astext())
            lead.replace(first, nodes.Text(first.astext()[step.end() :]))
            paragraph[:0] = [nodes.inline("", step[1], classes=["n"]), nodes.Text(" ")]
            paragraph["classes"].append("step")
        elif len(said) == 1 and lead.astext().endswith("?"):
            paragraph["classes"].append("question")
            place = paragraphs[0]
            if not place["classes"] and isinstance(place.parent, nodes.section):
                words = sum(len(one.astext().split()) for one in paragraphs)
                place += nodes.Text(f" · {max(5, 5 * round(words / MINUTE / 5))} minutes")
                place["classes"].append("place")


def numeric(table: str) -> str:
    """A table in HTML whose cells in columns of numbers, counted from the right, are of the class ``num``."""
    head, mid, body = table.rpartition("</thead>")
    rows = [[_said(cell["said"]) for cell in CELL.finditer(row)][::-1] for row in ROW.findall(body)]
    columns = [[said for said in column if said] for column in zip_longest(*rows)]
    right = [bool(column) and all(map(NUMBER.fullmatch, column)) for column in columns]

    def marked(row: re.Match[str]) -> str:
        left = len(CELL.findall(row[0])) if "colspan" not in row[0] else 0

        def cell(found: re.Match[str]) -> str:
            nonlocal left
            left -= 1
            if not 0 <= left < len(right) or not right[left] or "class=" in found["own"]:
                return found[0]
            return f'<{found["kind"]} class="num"{found["own"]}>{found["said"]}</{found["kind"]}>'

        return CELL.sub(cell, row[0])

    return ROW.sub(marked, head + mid + body)


def _said(cell: str) -> str:
    return unescape(NOT_SAID.sub("", cell)).strip()


def with_files(page: str) -> str:
    """A page with links to the file of each figure and to the table of its name, if there is one, in the caption."""
    tables = {table["name"]: table["address"] for table in CSV.finditer(page)}

    def linked(figure: re.Match[str]) -> str:
        own = max((name for name in tables if figure["name"].endswith(name)), key=len, default="")
        files = {"SVG": figure["svg"]} | ({"CSV": tables[own]} if own else {})
        links = " ".join(f'<a href="{address}" download>{kind}</a>' for kind, address in files.items())
        return f'{figure[0]}<p class="figure-files">{links}</p>\n'

    return FIGURE.sub(linked, page)
