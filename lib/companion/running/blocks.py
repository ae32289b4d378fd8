"""The cache of trials: saved blocks, arrays in files that say when they are damaged, and whose they are.

A block lies under the digest of all that its numbers depend on: the code that its trial uses, the cell, the seed, its
first trial, and the libraries that compute it. How many trials it holds is not among them: a block that is asked for
more keeps what it has and gets the missing ones. Files are NumPy's ``.npz``, which hold no code. Beside the trials lies
a label: the digest under which the block was kept, the shape and type of its numbers, and a checksum of all of these.
A file whose label does not fit its place or its numbers is not read, however well it is formed.
"""

import hashlib
import json
import os
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy

LIBRARIES = f"numpy {np.__version__}, scipy {scipy.__version__}"
FORMAT = "labelled"  # what a file holds; blocks of another format lie elsewhere
PARTS = ("trials", "label")


@dataclass(frozen=True)
class Store:
    """A folder of blocks, made when the first is kept, and the digest of the code that computes them."""

    folder: Path
    code: str

    def path(self, trial: Callable[..., Any], cell: Any, seed: int, first: int) -> Path:
        """Where a block lies: a name for each value of what its numbers depend on; a cell must print as what it is."""
        text = repr(cell)
        if " at 0x" in text:
            raise ValueError(f"cell must be made of plain values, got {text}")
        parts = (FORMAT, LIBRARIES, self.code, trial.__module__, trial.__qualname__, text, str(seed), str(first))
        digest = hashlib.sha256("\0".join(parts).encode()).hexdigest()
        return self.folder / digest[:2] / f"{digest[2:]}.npz"


def read(path: Path) -> np.ndarray | None:
    """The trials in a block's file, first axis; None where there is none.

    A file that is damaged, or that holds another block than its place says, is named in a warning and removed.
    """
    if not path.is_file():
        return None
    try:
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as content:
            if sorted(content.files) != sorted(PARTS):
                raise ValueError("it holds something else")
            trials: np.ndarray = content["trials"]
            label = json.loads(str(content["label"]))
        _fits(label, trials, path)
        return trials
    except Exception as error:  # a flipped bit makes nearly any error of a reader: encryption, a token, a size
        words = f"is another block ({error})" if isinstance(error, _AnotherBlock) else f"is damaged ({error})"
        warnings.warn(f"{path} {' '.join(words.split())}; its trials are computed anew", stacklevel=2)
        path.unlink(missing_ok=True)
        return None


def write(path: Path, trials: np.ndarray) -> None:
    """Keep a block; a reader sees the old file or the new one, whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, partial = tempfile.mkstemp(dir=path.parent, suffix=".partial")
    try:
        with os.fdopen(handle, "wb") as stream:
            np.savez(stream, trials=trials, label=np.array(json.dumps(_label(path, trials))))
        Path(partial).replace(path)
    finally:
        Path(partial).unlink(missing_ok=True)


class _AnotherBlock(ValueError):
    """A whole block, in the place of another."""


def _label(path: Path, trials: np.ndarray) -> dict[str, str]:
    """What a block says of itself: whose it is, what its numbers are, and a checksum of both."""
    told = {"block": path.parent.name + path.stem, "shape": str(trials.shape), "type": trials.dtype.str}
    checksum = hashlib.sha256("\0".join(told.values()).encode() + b"\0" + trials.tobytes()).hexdigest()
    return {**told, "checksum": checksum}


def _fits(label: object, trials: np.ndarray, path: Path) -> None:
    """Check that a label is the one of these trials in this place; the `ValueError` says in what it differs."""
    if not isinstance(label, dict) or trials.ndim == 0:
        raise ValueError("it holds something else")
    expected = _label(path, trials)
    if label.get("block") != expected["block"]:
        raise _AnotherBlock(f"it was kept as {label.get('block')}")
    for name in ("shape", "type"):
        if label.get(name) != expected[name]:
            raise ValueError(f"its numbers have the {name} {expected[name]} instead of {label.get(name)}")
    if label != expected:
        raise ValueError("its numbers do not have its checksum")
