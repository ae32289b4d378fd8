import json
from pathlib import Path

from chapters.symbols import SYMBOLS
from companion.build import scripts

BOOK = Path(__file__).parents[2] / "book"


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
