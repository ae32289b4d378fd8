"""Explorers inside other pages: what a chapter's link becomes, and that each chooses what can be chosen."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from companion.build import notebooks, scripts
from tests.each import each

BOOK = Path(__file__).parents[2] / "book"
LINK = "[Explore it at ρ = 0.3](../explore/dpgd.ipynb#rho=0.3&gamma=0.1)"
ANCHOR = '<a href="../explore/dpgd.html#rho=0.3&amp;gamma=0.1">Explore it at ρ = 0.3</a>'
OFFER = f'<div class="explorer-here">\n\n{ANCHOR}\n\n</div>'


def states(markdown: str) -> Iterator[tuple[str, dict[str, str]]]:
    """The explorers that a text links to, with the values that each link chooses."""
    for link in scripts.INLINE.finditer(markdown):
        pairs = (part.partition("=") for part in link["state"].split("&"))
        yield link["page"].rpartition("/")[2], {name: value for name, _, value in pairs}


@each(
    ("written", "shown"),
    [
        (LINK, OFFER),
        (f"{LINK}\n", f"{OFFER}\n"),
        (f"One.\n\n{LINK}\n\nTwo.", f"One.\n\n{OFFER}\n\nTwo."),
        (f"One {LINK} two.", f"One {ANCHOR} two."),
        (f"One\n{LINK}\ntwo.", f"One\n{ANCHOR}\ntwo."),
        (f"- {LINK}", f"- {ANCHOR}"),
        ("[It](../explore/dpgd.ipynb)", "[It](../explore/dpgd.ipynb)"),
        ("[It](../explore/dpgd.ipynb#how-it-is-computed)", "[It](../explore/dpgd.ipynb#how-it-is-computed)"),
        ("[It](../dpgd/schedules.ipynb#rho=0.3)", "[It](../dpgd/schedules.ipynb#rho=0.3)"),
    ],
)
def test_a_link_alone_in_its_paragraph_offers_to_open_the_explorer(written: str, shown: str) -> None:
    assert scripts.linked(written) == shown
    assert scripts.linked(shown) == shown


def test_all_staged_pages_are_told_anew_and_code_is_not(tmp_path: Path) -> None:
    output = new_output("display_data", {"text/markdown": f"See {LINK}."})
    cells = [new_markdown_cell(LINK), new_code_cell(f"# {LINK}", outputs=[output])]
    notebooks.write(new_notebook(cells=cells), tmp_path / "dpgd" / "one.ipynb")
    (tmp_path / "two.md").write_text("[It](explore/dpgd.ipynb#rho=1)\n", "utf-8")
    scripts.link_explorers(tmp_path)
    found = notebooks.read(tmp_path / "dpgd" / "one.ipynb")
    assert found.cells[0].source == OFFER
    assert found.cells[1].source == f"# {LINK}"
    assert found.cells[1].outputs[0].data["text/markdown"] == f"See {ANCHOR}."
    assert (tmp_path / "two.md").read_text("utf-8") == (
        '<div class="explorer-here">\n\n<a href="explore/dpgd.html#rho=1">It</a>\n\n</div>\n'
    )


def offered(name: str) -> dict[str, list[str]]:
    """What an address of a committed explorer can choose, by control."""
    data = [
        out["data"]
        for cell in notebooks.read(BOOK / "explore" / f"{name}.ipynb").cells
        for out in cell.get("outputs", [])
    ]
    page = next(out["text/html"] for out in data if 'class="explorer"' in out.get("text/html", ""))
    inside = re.search(r'<script type="application/json">(.*?)</script>', page, re.DOTALL)
    assert inside is not None
    return {control["name"]: control["tokens"] for control in json.loads(inside[1])["controls"]}


def wrong(text: str) -> list[str]:
    return [
        f"{page}: {name}={value}"
        for page, chosen in states(text)
        for name, value in chosen.items()
        if value not in offered(page).get(name, [])
    ]


def test_every_link_of_the_book_chooses_what_can_be_chosen() -> None:
    pages = [*BOOK.glob("*.md"), *(path for path in BOOK.rglob("*.ipynb") if ".ipynb_checkpoints" not in path.parts)]
    assert {path.name: found for path in pages if (found := wrong(path.read_text("utf-8")))} == {}
    assert wrong("[a](explore/dpgd.ipynb#rho=0.3&gamma=0.2&size=4)") == ["dpgd: gamma=0.2", "dpgd: size=4"]
