"""Saved blocks of trials: arrays in files that say when they are damaged.

A block lies under the digest of all that its numbers depend on: the code that its trial uses, the cell, the seed, its
first trial, and the libraries that compute it. How many trials it holds is not among them: a block that is asked for
more keeps what it has and gets the missing ones. Files are NumPy's ``.npz``, which carry a checksum and hold no code.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
import uuid
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy

from costofprivacy.disc import naming

LIBRARIES = f"numpy {np.__version__}, scipy {scipy.__version__}"
MARK = "this-folder"


@dataclass(frozen=True)
class Store:
    """A folder of blocks.

    Args:
        folder: where they lie; it is made when the first is kept. code: digest of the code that computes them.
    """

    folder: Path
    code: str

    def path(self, trial: Callable[..., Any], cell: Any, seed: int, first: int) -> Path:
        """Where a block lies: a name for each value of what its numbers depend on.

        Raises:
            ValueError: if the cell does not print as what it is (it holds a function, say).
        """
        text = repr(cell)
        if " at 0x" in text:
            raise ValueError(f"cell must be made of plain values, got {text}")
        parts = (LIBRARIES, self.code, trial.__module__, trial.__qualname__, text, str(seed), str(first))
        digest = hashlib.sha256("\0".join(parts).encode()).hexdigest()
        return self.folder / digest[:2] / f"{digest[2:]}.npz"


def read(path: Path) -> np.ndarray | None:
    """The trials in a block's file, first axis; None where there is none.

    A damaged file is named in a warning and removed.
    """
    if not path.is_file():
        return None
    try:
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as content:
            trials: np.ndarray = content["trials"]
            if len(content.files) != 1 or trials.ndim == 0:
                raise ValueError("it holds something else")
            return trials
    except Exception as error:  # a flipped bit makes nearly any error of a reader: encryption, a token, a size
        warnings.warn(f"{path} is damaged ({error}); its trials are computed anew", stacklevel=2)
        path.unlink(missing_ok=True)
        return None


def write(path: Path, trials: np.ndarray) -> None:
    """Keep a block; a reader sees the old file or the new one, whole."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, partial = tempfile.mkstemp(dir=path.parent, suffix=".partial")
    try:
        with naming(path), os.fdopen(handle, "wb") as stream:
            np.savez(stream, trials=trials)
        Path(partial).replace(path)
    finally:
        Path(partial).unlink(missing_ok=True)


def mark(folder: Path) -> str:
    """A word that tells this folder from one of the same name on another machine; it is kept in the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / MARK
    if not path.is_file():
        handle, partial = tempfile.mkstemp(dir=folder, suffix=".partial", text=True)
        with os.fdopen(handle, "w") as stream:
            stream.write(uuid.uuid4().hex)
        Path(partial).replace(path)
    return path.read_text("utf-8")


def is_marked(folder: Path, word: str) -> bool:
    """Whether a folder is the one that has this mark, and can be written to."""
    try:
        return (folder / MARK).read_text("utf-8") == word and os.access(folder, os.W_OK)
    except OSError:
        return False
