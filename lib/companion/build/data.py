"""``make data``: the real data sets, fetched into scikit-learn's data folder and counted."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tqdm import tqdm

from companion import of_chapters
from companion.build.errors import BookError

data_sets = of_chapters("data_sets")
POLL = 0.2  # seconds between two looks at the folder


def fetch(say: Callable[[str], Any]) -> None:
    """Fetch what is missing, read everything once, and verify the numbers of records.

    Args:
        say: told each data set with its number of records, in one line.

    Raises:
        BookError: a data set cannot be fetched, or what is in the folder cannot be read. The others are tried first.
    """
    failures = []
    for name, load in data_sets.LOADERS.items():
        try:
            say(f"{name}: {_watched(name, load)} records in {data_sets.folder()}")
        except (data_sets.DataMissing, data_sets.DataDamaged) as error:
            failures.append(str(error))
    if failures:
        raise BookError("; ".join(failures))


def _watched(name: str, load: Callable[[], int]) -> int:
    """Load a set while a bar shows by how many megabytes the data folder has grown."""
    start, done = _size(data_sets.folder()), threading.Event()
    unit: dict[str, Any] = {
        "unit": "MB",
        "bar_format": "{desc}: {n:.1f}/{total:.1f} MB [{elapsed}]",
        "leave": False,
        "disable": None,
    }
    with ThreadPoolExecutor(1) as pool, tqdm(total=data_sets.MEGABYTES[name], desc=name, **unit) as bar:
        found = pool.submit(load)
        found.add_done_callback(lambda _: done.set())
        while not done.wait(POLL):
            bar.n = min(max(0.0, (_size(data_sets.folder()) - start) / 1e6), data_sets.MEGABYTES[name])
            bar.refresh()
        return int(found.result())


def _size(folder: Path) -> int:
    """Bytes of all files in a folder; 0 where there is none."""
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.stat().st_size if path.is_file() else 0
        except OSError:  # a temporary file that has just gone
            continue
    return total
