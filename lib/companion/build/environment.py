"""What a chapter's kernel finds in its environment, and where it says how far it is."""

import importlib
import os
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

from joblib import cpu_count

from companion.build.kernels import write_kernelspec
from companion.build.project import Project

# A kernel that ends leaves "Task was destroyed but it is pending!" on the terminal (ipykernel 6 and 7); and a pool that
# grows again on a busy machine says in the page that it starts another worker, which tells of the machine's load alone.
LOAD = "A worker stopped while some jobs were given to the executor"
QUIET = f"""
import logging, warnings
logging.getLogger("asyncio").setLevel(logging.CRITICAL)
warnings.filterwarnings("ignore", {LOAD!r}, UserWarning)
""".lstrip()
SETTLED = {"PYTHONHASHSEED": "0"} | dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
EVERY = 1.0  # seconds between two looks at what a kernel has written


def kernel_environment(
    project: Project,
    *,
    book: Path,
    results: Path | None,
    resume: bool,
    progress: bool,
    workers: int | None = None,
) -> dict[str, str | None]:
    """The variables of one run, by name; ``None`` for one that must not be set.

    The person's own settings of IPython, Jupyter and matplotlib stay out of it; the folder of those that are used
    instead is made here. A chapter's kernel is this interpreter's, whatever other kernel is installed as ``python3``.

    Args:
        project, book: the tree of executed chapters is ``book``, whose verdicts the ledger reads.
        results: where the chapter writes; ``None`` for the kernel's working folder.
        resume: whether finished blocks of trials are kept and used. progress: whether bars are drawn on a terminal.
        workers: worker processes of each kernel; ``None`` leaves them to the notebook.
    """
    settings = project.build.resolve() / "settings"
    startup = settings / "ipython" / "profile_default" / "startup"
    startup.mkdir(parents=True, exist_ok=True)
    (startup / "00-quiet.py").write_text(QUIET, "utf-8")
    write_kernelspec(settings / "jupyter", ["-m", "ipykernel_launcher"])
    return {
        "COSTOFPRIVACY_BOOK": str(book.resolve()),
        "COSTOFPRIVACY_RESULTS": str(results.resolve()) if results else None,
        "COSTOFPRIVACY_CACHE": str(project.cache.resolve()) if resume else "",
        "COSTOFPRIVACY_PROGRESS": terminal() if progress else "",
        "COSTOFPRIVACY_WORKERS": None if workers is None else str(workers),
        "IPYTHONDIR": str(settings / "ipython"),
        "JUPYTER_PATH": str(settings / "jupyter"),
        "MPLCONFIGDIR": str(settings / "matplotlib"),
        "MATPLOTLIBRC": None,
        "MPLBACKEND": "module://matplotlib_inline.backend_inline",
        "PYDEVD_DISABLE_FILE_VALIDATION": "1",
        **SETTLED,
        **same_kernels(),
    }


def same_kernels() -> dict[str, str]:
    """OpenBLAS's kernels for AVX2 where the processor has it: newer ones sum in another order, to other bits.

    Whoever sets ``OPENBLAS_CORETYPE`` wants to see another processor's numbers, and gets them.
    """
    if "OPENBLAS_CORETYPE" in os.environ:
        return {}
    features = importlib.import_module("numpy._core._multiarray_umath").__cpu_features__
    return {"OPENBLAS_CORETYPE": "Haswell"} if features.get("AVX2") and features.get("FMA3") else {}


def in_settled_environment() -> None:
    """Start this command again if numerical libraries were loaded under other settings than a chapter's kernel has."""
    settings = SETTLED | same_kernels()
    if any(os.environ.get(name) != value for name, value in settings.items()):
        os.execve(sys.executable, [*sys.orig_argv], os.environ | settings)


def work_for(address: str, options: Sequence[str]) -> None:
    """Become a Dask worker with a process for each core, under the settings of a chapter's kernel."""
    where = ["--scheduler-file", address] if address.endswith(".json") else [address]
    command = [sys.executable, "-m", "distributed.cli.dask_worker", *where]
    usual = ["--nworkers", str(cpu_count()), "--nthreads", "1", "--no-dashboard"]
    os.execve(sys.executable, [*command, *usual, *options], os.environ | SETTLED | same_kernels())


@contextmanager
def environment(values: Mapping[str, str | None]) -> Iterator[None]:
    """Set variables of this process, which kernels inherit, and put the earlier ones back at the end."""
    with patch.dict(os.environ, {name: value for name, value in values.items() if value is not None}):
        for name in (name for name, value in values.items() if value is None):
            os.environ.pop(name, None)
        yield


def terminal() -> str:
    """The device of the terminal behind standard error; empty where there is none."""
    try:
        return os.ttyname(sys.stderr.fileno())
    except (OSError, ValueError):
        return ""


@contextmanager
def place_for_progress(folder: Path, name: str, say: Callable[[str], None]) -> Iterator[str]:
    """The terminal's device, for a bar; else a file, whose lines are said as they come, after the chapter's name."""
    device = terminal()
    if device:
        yield device
        return
    with tempfile.NamedTemporaryFile("w", dir=folder, suffix=".progress") as written:
        ended = threading.Event()

        def forward() -> None:
            with open(written.name) as stream:
                last = False
                while not last:
                    last = ended.wait(EVERY)
                    for line in filter(None, map(str.strip, stream.readlines())):
                        say(f"{name}: {line}")

        reader = threading.Thread(target=forward, daemon=True)
        reader.start()
        try:
            yield str(Path(written.name).resolve())
        finally:
            ended.set()
            reader.join()
