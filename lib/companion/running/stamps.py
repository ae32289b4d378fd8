"""What a chapter's tables were measured from, and the tables themselves where nothing of that has changed.

Beside an executed chapter lies ``stamp.json``. Its part ``measured`` holds a digest for each thing that the tables
depend on (parameters, code, data, requirements) and one for each table; its part ``told``, which
`companion.build.freshness` writes and reads, the same for all that is made from the tables. A chapter whose measured
part still fits reads its tables instead of measuring them.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import pandas as pd

from companion import of_chapters
from companion.running import _source

data_sets = of_chapters("data_sets")

STAMP = "stamp.json"
COSTS = "costs/chapters.csv"  # in book/, as `make bench` measured it
SHORT = 100.0  # seconds; what takes longer is told in minutes


def digest(content: bytes | str) -> str:
    """The SHA-256 of a text or of bytes."""
    return hashlib.sha256(content.encode() if isinstance(content, str) else content).hexdigest()


def file_digest(path: Path) -> str:
    """The digest of a file's bytes; of nothing, where there is no file."""
    return digest(path.read_bytes() if path.is_file() else b"")


def json_digest(value: Any) -> str:
    """The digest of a value's JSON; a list and a tuple of the same values have the same."""
    return digest(json.dumps(value, sort_keys=True, default=str))


def measured_from(experiment: Any, root: Path, *, real: bool = False) -> dict[str, str]:
    """A digest for each thing that an experiment's tables depend on, by name.

    They are ``parameters``, ``code`` (the experiment's own import closure), ``data`` (the files that the package brings
    to measure with) and ``requirements`` (the locked versions of the libraries that this code imports: what only
    renders or checks the book can change without a new measurement). An experiment on real data, which names them in
    its ``data_sets``, has ``sets`` too: which of them are there, and what stands in for others; ``real`` says to take
    all for there.
    """
    module = type(experiment).__module__
    names = getattr(experiment, "data_sets", ())
    sets = {"sets": json_digest([name if real else data_sets.own_name(name) for name in names])} if names else {}
    lock, libraries = root / "requirements.txt", _source.libraries([module])
    pins = re.findall(r"^[A-Za-z][\w.-]*==[^\s;]+", lock.read_text("utf-8") if lock.is_file() else "", re.MULTILINE)
    locked = [pin for pin in pins if pin.lower().split("==")[0].replace("-", "_") in libraries]
    package = module.partition(".")[0]
    data = _source.closure([package])[package].parent / "reference"
    files = sorted(path for path in data.rglob("*") if path.is_file())
    return sets | {
        "parameters": json_digest({f.name: getattr(experiment, f.name) for f in fields(experiment)}),
        "code": _source.digest([module]),
        "data": json_digest({path.relative_to(data).as_posix(): file_digest(path) for path in files}),
        "requirements": json_digest(locked),
    }


def saved_tables(folder: Path, measured: Mapping[str, str]) -> dict[str, pd.DataFrame] | None:
    """The tables in a folder, if its stamp says that they were measured from this, and none was touched since."""
    files = _fitting(folder, measured)
    return {Path(name).stem: read_table(folder / name) for name in files} if files else None


def are_saved(folder: Path, measured: Mapping[str, str]) -> bool:
    """Whether `saved_tables` finds the tables in a folder."""
    return bool(_fitting(folder, measured))


def _fitting(folder: Path, measured: Mapping[str, str]) -> list[str]:
    part = read(folder).get("measured", {})
    files = part.get("files", {})
    if part.get("inputs") != dict(measured):
        return []
    return [] if any(file_digest(folder / name) != known for name, known in files.items()) else list(files)


def read(folder: Path) -> dict[str, Any]:
    """The stamp in a folder; empty where there is none that can be read."""
    try:
        content = json.loads((folder / STAMP).read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def read_table(path: Path) -> pd.DataFrame:
    """A saved table, every number as it was written."""
    return pd.read_csv(path, keep_default_na=False, na_values=[""])


def write_tables(tables: Mapping[str, pd.DataFrame], folder: Path) -> None:
    """Save tables by name as ``<name>.csv``."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, table in tables.items():
        table.to_csv(folder / f"{name}.csv", index=False)


def find_root(start: Path) -> Path:
    """The project's root folder around a folder; the folder itself where there is none."""
    for folder in (start.resolve(), *start.resolve().parents):
        if (folder / "_toc.yml").is_file() and (folder / "requirements.txt").is_file():
            return folder
    return start.resolve()


def seconds(book: Path) -> dict[str, float]:
    """Seconds of one core by chapter at the papers' scale, everything measured anew; nothing where unknown."""
    path = book / COSTS
    if not path.is_file():
        return {}
    table = pd.read_csv(path)
    return dict(zip(table["chapter"], table["seconds"].astype(float), strict=True))


def time_in_words(book: Path, name: str) -> str:
    """How long one core takes for a chapter at the papers' scale; nothing where that was not measured."""
    took = seconds(book).get(name)
    if took is None:
        return ""
    if took >= SHORT:
        return f"{round(took / 60)} minutes"
    whole = max(1, round(took))
    return "1 second" if whole == 1 else f"{whole} seconds"
