"""What pages mark for the style sheet: the steps of a derivation, columns of numbers, the files of figures."""

import re
from html import unescape
from itertools import zip_longest

from docutils import nodes
from sphinx.application import Sphinx

STEP = re.compile(r"(\d+)\. ?")
ROW = re.compile(r"<tr\b.*?</tr>", re.DOTALL)
CELL = re.compile(r"<(?P<kind>t[hd])\b(?P<own>[^>]*)>(?P<said>.*?)</(?P=kind)>", re.DOTALL)
NOT_SAID = re.compile(r"<[^>]*>|\\(?:cdot|times|pm|,|[(){}])|\$")
NUMBER = re.compile(r"(?=.*\d)[\s\d.,%×·±+−–^{}()⁻⁰¹²³⁴⁵⁶⁷⁸⁹<>≤≥-]*(?:e[-+]\d+)?|[–—-]|∞|nan")
FIGURE = re.compile(r'<figure\b[^>]*\bid="([^"]+)"(?:(?!</fig).)*?\bsrc="([^"]+\.svg)".*?(?=</figcaption>)', re.DOTALL)
CSV = re.compile(r'<a class="reference download[^>]*\bhref="([^"]*/([^"/]+)\.csv)"')


def mark(app: Sphinx, document: nodes.document) -> None:
    """Mark the steps of a derivation: paragraphs that begin with a number and a title in bold, ``**1. Title.**``."""
    for paragraph in document.findall(nodes.paragraph):
        lead = next((part for part in paragraph.children if part.astext()), None)  # MyST begins with an empty text
        if isinstance(lead, nodes.strong) and (step := STEP.match(lead.astext())):
            first = next(part for part in lead.children if part.astext())
            lead.replace(first, nodes.Text(first.astext()[step.end() :]))
            paragraph[:0] = [nodes.inline("", step[1], classes=["n"]), nodes.Text(" ")]
            paragraph["classes"].append("step")


def numeric(table: str) -> str:
    """A table in HTML whose cells in columns of numbers, counted from the right, are of the class ``num``."""
    rows = [CELL.finditer(row) for row in ROW.findall(table.rpartition("</thead>")[2])]
    said = [[unescape(NOT_SAID.sub("", cell["said"])).strip() for cell in row][::-1] for row in rows]
    right = [any(column) and all(NUMBER.fullmatch(each) for each in column if each) for column in zip_longest(*said)]

    def marked(row: re.Match[str]) -> str:
        left = iter(right[len(CELL.findall(row[0])) - 1 :: -1] if "colspan" not in row[0] else ())

        def cell(found: re.Match[str]) -> str:
            number = next(left, False) and "class=" not in found["own"]
            return found[0].replace(">", ' class="num">', 1) if number else found[0]

        return CELL.sub(cell, row[0])

    return ROW.sub(marked, table)


def with_files(page: str) -> str:
    """A page with links to the file of each figure and to the table of its name, if there is one, in the caption."""
    tables = {name: address for address, name in CSV.findall(page)}

    def linked(figure: re.Match[str]) -> str:
        own = max((name for name in tables if figure[1].endswith(name)), key=len, default="")
        files = {"SVG": figure[2]} | ({"CSV": tables[own]} if own else {})
        links = " ".join(f'<a href="{address}" download>{kind}</a>' for kind, address in files.items())
        return f'{figure[0]}<p class="figure-files">{links}</p>\n'

    return FIGURE.sub(linked, page)
