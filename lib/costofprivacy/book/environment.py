"""What a chapter's kernel finds in its environment."""

import importlib
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from costofprivacy.book.project import Project

# A kernel that ends leaves "Task was destroyed but it is pending!" of its own on the terminal (ipykernel 6 and 7).
QUIET_END = 'import logging\nlogging.getLogger("asyncio").setLevel(logging.CRITICAL)\n'
ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def kernel_environment(
    project: Project,
    *,
    book: Path,
    results: Path | None,
    resume: bool,
    progress: bool,
    workers: int | None = None,
) -> dict[str, str | None]:
    """The variables of one run; the person's own settings of IPython and matplotlib stay out of it.

    Makes the folder of the settings that are used instead.

    Args:
        project: the book.
        book: the tree of executed chapters whose verdicts the ledger reads.
        results: where the chapter writes; ``None`` for the kernel's working folder.
        resume: whether finished blocks of trials are kept and used.
        progress: whether bars are drawn, on the terminal if there is one.
        workers: worker processes of each kernel, whatever its notebook says; ``None`` leaves them to the notebook.

    Returns:
        Values by variable; ``None`` for a variable that must not be set.
    """
    settings = project.build.resolve() / "settings"
    startup = settings / "ipython" / "profile_default" / "startup"
    startup.mkdir(parents=True, exist_ok=True)
    (startup / "00-quiet-end.py").write_text(QUIET_END, "utf-8")
    return {
        "COSTOFPRIVACY_BOOK": str(book.resolve()),
        "COSTOFPRIVACY_RESULTS": str(results.resolve()) if results else None,
        "COSTOFPRIVACY_CACHE": str(project.cache.resolve()) if resume else "",
        "COSTOFPRIVACY_PROGRESS": terminal() if progress else "",
        "COSTOFPRIVACY_WORKERS": None if workers is None else str(workers),
        "IPYTHONDIR": str(settings / "ipython"),
        "MPLCONFIGDIR": str(settings / "matplotlib"),
        "MPLBACKEND": "module://matplotlib_inline.backend_inline",
        "PYDEVD_DISABLE_FILE_VALIDATION": "1",
        "PYTHONHASHSEED": "0",
        **dict.fromkeys(ONE_THREAD, "1"),
        **same_kernels(),
    }


def same_kernels() -> dict[str, str]:
    """OpenBLAS's kernels for AVX2, on every processor that has it: newer ones sum in another order, to other bits.

    Whoever sets ``OPENBLAS_CORETYPE`` wants to see another processor's numbers, and gets them.
    """
    if "OPENBLAS_CORETYPE" in os.environ:
        return {}
    features = importlib.import_module("numpy._core._multiarray_umath").__cpu_features__
    return {"OPENBLAS_CORETYPE": "Haswell"} if features.get("AVX2") and features.get("FMA3") else {}


def terminal() -> str:
    """The device of the terminal behind standard error; empty where there is none."""
    try:
        return os.ttyname(sys.stderr.fileno())
    except (OSError, ValueError):
        return ""


@contextmanager
def environment(values: Mapping[str, str | None]) -> Iterator[None]:
    """Set variables of this process, which kernels inherit, and put the earlier ones back at the end."""
    earlier = {name: os.environ.get(name) for name in values}
    try:
        _set(values)
        yield
    finally:
        _set(earlier)


def _set(values: Mapping[str, str | None]) -> None:
    """Set each variable, or take it away."""
    for name, value in values.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
