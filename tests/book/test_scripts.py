"""Scripts of the pages, definitions, and explorers: what a chapter's link becomes."""

import importlib
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from companion.build.scripts import write_scripts
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from chapters.symbols import SYMBOLS
from companion.build import notebooks, scripts
from companion.build.project import Project
from tests.each import each

ASKING = '{"text/html": "<script src=\\"../../_static/explorer.js\\"></script>"}'


def test_a_page_that_asks_for_a_script_finds_it(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    room = project.root / "lib" / project.package / "showing"
    room.mkdir()
    (room / "__init__.py").touch()
    (room / "explorer.py").write_text("def script():\n    return 'draw(ε)'\n", "utf-8")
    monkeypatch.setattr(scripts, "MODULE", f"{project.package}.showing.explorer")
    module = importlib.import_module(scripts.MODULE)
    page = tmp_path / "pages" / "book" / "explore" / "one.ipynb"
    page.parent.mkdir(parents=True)
    page.write_text(ASKING, "utf-8")
    write_scripts(project, tmp_path / "pages")
    written = tmp_path / "pages/book/_static/explorer.js"
    assert written.read_text("utf-8") == "draw(ε)"
    (room / "explorer.js").write_text("other", "utf-8")
    monkeypatch.setattr(module, "script", lambda: "draw(x)")
    write_scripts(project, tmp_path / "pages")
    assert written.read_text("utf-8") == "draw(x)"
    monkeypatch.setattr(module, "script", lambda: pytest.fail("made again"))
    write_scripts(project, tmp_path / "pages")
    assert written.read_text("utf-8") == "draw(x)"


def test_a_book_without_such_a_page_has_no_script(project: Project, tmp_path: Path) -> None:
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "one.ipynb").write_text("{}", "utf-8")
    write_scripts(project, tmp_path / "pages")
    assert not (tmp_path / "pages" / "book" / "_static" / "explorer.js").exists()


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


def content(book: Path) -> dict[str, list[dict[str, str]]]:
    found: dict[str, list[dict[str, str]]] = json.loads(
        scripts.definitions(book).removeprefix("globalThis.DEFINED = ")[:-2]
    )
    return found


def test_every_symbol_of_a_paper_is_defined_with_its_meaning() -> None:
    found = content(BOOK)["symbols"]
    assert len(found) == sum(bool(symbol.noisyhead) + bool(symbol.dpgd) for symbol in SYMBOLS)
    gamma = next(entry for entry in found if entry["tex"] == r"\gamma_n")
    assert gamma == {"tex": r"\gamma_n", "paper": "dpgd", "meaning": "Aspect ratio d/n.", "unit": ""}


def test_a_book_without_words_has_its_symbols(tmp_path: Path) -> None:
    assert content(tmp_path)["terms"] == []
    assert content(tmp_path)["symbols"]
