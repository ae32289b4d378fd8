"""Environment variables that a command inherits: those that libraries fail on are refused in one line.

Some libraries read these while they are imported, and end with a traceback. So this is looked at before any of them is.
"""

import os
import sys
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from multiprocessing import get_all_start_methods

from costofprivacy.book.errors import RequestError

AT_LEAST_ONE = ("LOKY_MAX_CPU_COUNT", "NUMBA_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
SWITCHES = ("JOBLIB_MULTIPROCESSING", "NUMBA_DISABLE_JIT")
CHOICES = {
    "JOBLIB_START_METHOD": tuple(get_all_start_methods()),
    "LOKY_PICKLER": ("cloudpickle", "pickle"),
    "NUMBA_OPT": ("0", "1", "2", "3", "max"),
    "COSTOFPRIVACY_EXTRAS": ("anew",),
}
OWN = ("MPLBACKEND", "MATPLOTLIBRC")  # of matplotlib; the book draws by its own settings
# Of Python. Under these, docstrings are gone that a page quotes, a command does not end, or its modules are others'.
OF_PYTHON = ("PYTHONOPTIMIZE", "PYTHONINSPECT", "PYTHONSTARTUP", "PYTHONSAFEPATH", "PYTHONUTF8", "PYTHONWARNINGS")


def check(variables: Mapping[str, str]) -> None:
    """Refuse what a library would fail on. An empty variable is one that is not set.

    Raises:
        RequestError: a variable holds something else than what its readers admit; the line names it.
    """
    for name in AT_LEAST_ONE:
        _require(name, variables, "a whole number of at least 1", lambda text: int(text) >= 1)
    for name in SWITCHES:
        _require(name, variables, "0 or 1", lambda text: int(text) in (0, 1))
    for name, choices in CHOICES.items():
        _require(name, variables, f"one of {', '.join(choices)}", choices.__contains__)
    _require("OMP_NUM_THREADS", variables, "whole numbers of at least 1, with commas between them", _are_counts)
    _require("COSTOFPRIVACY_WORKERS", variables, "-1 (all cores) or at least 1", lambda text: _is_workers(int(text)))


def settle(variables: MutableMapping[str, str]) -> None:
    """Take a person's settings of matplotlib and Python out of what this process hands on to kernels."""
    for name in (*OWN, *OF_PYTHON):
        variables.pop(name, None)


def start_again_plainly(arguments: Sequence[str]) -> None:
    """Start this command again, once `settle` has been called, if Python itself was started otherwise than plainly.

    Args:
        arguments: of the command.
    """
    if sys.flags.optimize or sys.flags.inspect:
        print("note: starting again without Python's -O and -i, under which pages have no words", file=sys.stderr)
        os.execv(sys.executable, [sys.executable, "-m", "costofprivacy.book", *arguments])


def _require(name: str, variables: Mapping[str, str], words: str, admits: Callable[[str], bool]) -> None:
    """Refuse a variable that is set and not admitted; what cannot be read as a number is not."""
    text = variables.get(name, "").strip()
    try:
        fine = not text or admits(text)
    except ValueError:
        fine = False
    if not fine:
        raise RequestError(f"the environment variable {name} must be {words}, got {variables[name][:200]!r}")


def _are_counts(text: str) -> bool:
    return all(int(part) >= 1 for part in text.split(","))


def _is_workers(number: int) -> bool:
    return number == -1 or number >= 1
