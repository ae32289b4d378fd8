"""What a page says of a symbol or a word when a reader points at it: the notation and ``terms.yml`` as a script.

A script and no data file, since browsers give pages that are opened as files no data; ``hover.js`` reads it.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from companion import of_chapters

TERMS, SCRIPT = "terms.yml", "hover-data.js"
PAPERS = ("noisyhead", "dpgd")


def script(book: Path) -> str:
    """The definitions as a script.

    Args:
        book: the folder with ``terms.yml``; without it there are the symbols alone.
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
