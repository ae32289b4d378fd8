"""Functions compiled to machine code: for recursions that NumPy cannot do by arrays, a few numbers at a time.

Nothing is reordered or fused (``fastmath`` is off), so a result belongs to the processor's arithmetic as NumPy's does,
and compiled functions draw from a `numpy.random.Generator` the numbers that NumPy would draw. Numba is the extra
``fast``: without it the functions run as they stand, with the same results, and more slowly.

Machine code is kept on disk by Numba, which looks at a function's own file alone before it takes what it kept. But
the functions of a package are compiled into one another. So each state of a package's files has a folder of its own in
that package's ``__pycache__``; where that cannot be written to, Numba chooses a place.
"""

import functools
import hashlib
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, TypeVar, cast

import numpy as np

_Function = TypeVar("_Function", bound=Callable[..., object])
_PREFIX = "compiled-"


def compiled(function: _Function) -> _Function:
    """The function in machine code, compiled when first called: numbers, arrays, named tuples and generators only.

    Division by zero gives ∞ or NaN, as in NumPy.
    """
    return cast(_Function, _Later(function))


class _Later:
    """A function that Numba is handed, and imported for, when it is first called."""

    def __init__(self, function: Callable[..., object]) -> None:
        functools.update_wrapper(self, function)
        self.py_func = function

    def __call__(self, *arguments: Any) -> Any:
        return self.dispatcher(*arguments)

    @functools.cached_property
    def dispatcher(self) -> Any:
        """Numba's function. Those that it calls take their places in its module first: Numba knows no others."""
        try:
            import numba
        except ModuleNotFoundError:
            return np.errstate(all="ignore")(self.py_func)

        settings: Any = numba.config
        usual = settings.CACHE_DIR
        settings.CACHE_DIR = usual or _folder(Path(self.py_func.__code__.co_filename).parent)
        try:
            found = numba.njit(cache=True, error_model="numpy")(self.py_func)
        finally:
            settings.CACHE_DIR = usual
        self.__dict__["dispatcher"] = found  # a function may call itself
        _settle(self.py_func.__code__, self.py_func.__globals__)
        return found


def _settle(code: CodeType, names: dict[str, Any]) -> None:
    """Put Numba's functions where a function's code, or a module that it names, has those that wait."""
    for name in code.co_names:
        value = names.get(name)
        if isinstance(value, _Later):
            names[name] = value.dispatcher
        elif isinstance(value, ModuleType) and not hasattr(value, "__path__"):
            _settle(code.replace(co_names=tuple(n for n in code.co_names if n != name)), vars(value))
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            _settle(inner, names)


@functools.cache
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
