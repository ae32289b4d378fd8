"""Functions compiled to machine code: for recursions that NumPy cannot do by arrays, a few numbers at a time.

Nothing is reordered or fused (``fastmath`` is off), so a result belongs to the processor's arithmetic as NumPy's does,
and compiled functions draw from a `numpy.random.Generator` the numbers that NumPy would draw.

Machine code is kept on disk by Numba, which looks at a function's own file alone before it takes what it kept. But
the functions of a package are compiled into one another. So each state of a package's files has a folder of its own in
that package's ``__pycache__``; where that cannot be written to, Numba chooses a place.
"""

import hashlib
import os
import shutil
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numba

_Function = TypeVar("_Function", bound=Callable[..., object])
_PREFIX = "compiled-"
_SETTINGS: Any = numba.config


def compiled(function: _Function) -> _Function:
    """The function in machine code, compiled when first called: numbers, arrays, named tuples and generators only.

    Division by zero gives ∞ or NaN, as in NumPy.
    """
    usual = _SETTINGS.CACHE_DIR
    _SETTINGS.CACHE_DIR = usual or _folder(Path(function.__code__.co_filename).parent)
    try:
        return cast(_Function, numba.njit(cache=True, error_model="numpy")(function))
    finally:
        _SETTINGS.CACHE_DIR = usual


@cache
def _folder(package: Path) -> str:
    """Where machine code of a package as it is now belongs; empty where nothing can be written there."""
    stamps = [(path.name, path.stat().st_mtime_ns, path.stat().st_size) for path in sorted(package.glob("*.py"))]
    folder = package / "__pycache__" / (_PREFIX + hashlib.sha256(repr(stamps).encode()).hexdigest()[:16])
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return ""
    for other in folder.parent.glob(f"{_PREFIX}*"):
        if other != folder:
            shutil.rmtree(other, ignore_errors=True)
    return str(folder) if os.access(folder, os.W_OK) else ""
