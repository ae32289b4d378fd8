"""What pages mark for the style sheet: the steps of a derivation, columns of numbers, the files of figures."""

import re
from itertools import zip_longest

from bs4 import BeautifulSoup
from docutils import nodes
from sphinx.application import Sphinx

STEP = re.compile(r"(\d+)\. ?")
CELLS = ("td", "th")
NOT_SAID = re.compile(r"\\(?:cdot|times|pm|,|[(){}])|\$")
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


def table(html: str) -> str:
    """A table whose headers say what they head, and whose columns of numbers, from the right, are of class ``num``.

    The last row of a head, in which pandas has the names of the index alone, goes into the row above.
    """
    page = BeautifulSoup(html, "html.parser")
    head = [(row, row.find_all(CELLS)) for row in page.select("thead tr")]
    if len(head) > 1:
        (_, above), (last, names) = head[-2:]
        index = sum(bool(name.get_text(strip=True)) for name in names)
        cells = [*names[:index], *above[index:]]
        if 0 < index < len(names) == len(above) and all(cell.get_text(strip=True) for cell in cells):
            for name, place in zip(names[:index], above, strict=False):
                place.replace_with(name)
            last.decompose()
    for cell in page.find_all("th"):
        if cell.get_text(strip=True) or cell.find(True):
            cell["scope"] = cell.get("scope") or ("col" if cell.find_parent("thead") else "row")
        else:
            cell.name = "td"
    rows = [row.find_all(CELLS)[::-1] for row in page.find_all("tr")]
    body = [row for row in rows if row and not row[0].find_parent("thead")]
    said = ([NOT_SAID.sub("", cell.get_text()).strip() for cell in row] for row in body)
    right = [any(column) and all(NUMBER.fullmatch(each) for each in column if each) for column in zip_longest(*said)]
    for row in rows:
        for cell, number in zip(row, right, strict=False):
            if number and not cell.has_attr("class") and not any(other.has_attr("colspan") for other in row):
                cell["class"] = "num"
    return str(page)


def with_files(page: str) -> str:
    """A page with links to the file of each figure and to the table of its name, if there is one, in the caption."""
    tables = {name: address for address, name in CSV.findall(page)}

    def linked(figure: re.Match[str]) -> str:
        own = max((name for name in tables if figure[1].endswith(name)), key=len, default="")
        files = {"SVG": figure[2]} | ({"CSV": tables[own]} if own else {})
        links = " ".join(f'<a href="{address}" download>{kind}</a>' for kind, address in files.items())
        return f'{figure[0]}<p class="figure-files">{links}</p>\n'

    return FIGURE.sub(linked, page)
