"""Extra environments: what libraries that the book's own environment has not measure, and where their runs are kept.

An extra environment ``NAME`` is ``environments/NAME.txt``, a lock, and ``.venv-NAME``, which is installed from it
(`Extra.remedy`). A function of a *worker*, a module that imports nothing of this package and its libraries inside its
functions only, is called there by `Extra.call`: arrays and plain values go in, arrays come out.

No page needs the environment. A chapter's measured runs are one of its tables, committed beside it; each row carries
the digest of what it was measured from (`Record.digest`). Runs that are asked for and stand in the committed table are
read, the others are measured. With ``COSTOFPRIVACY_EXTRAS=anew`` all are measured::

    record = Record(extras.find("opacus"), "noisyhead/dp-sgd", "opacus-runs", (worker.train, inputs))
    table = record.runs(cells, trials, measure)
"""

import json
import os
import re
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from companion import checks
from companion.running import _source
from companion.running.stamps import json_digest, read_table

ROOT = Path(__file__).parents[3]
ANEW = "anew"
# Workers run side by side.
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
DIGEST, TRIAL = "digest", "trial"  # columns of a table of runs
_BRIDGE = """
import importlib.util, json, sys
from pathlib import Path
import numpy as np
worker, function, folder = sys.argv[1:]
spec = importlib.util.spec_from_file_location("worker", worker)
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
values = json.loads(Path(folder, "in.json").read_text("utf-8"))
with np.load(Path(folder, "in.npz"), allow_pickle=False) as content:
    arrays = {name: content[name] for name in content.files}
returned = getattr(module, function)(**arrays, **values)
np.savez(Path(folder, "out.npz"), **{name: np.asarray(value) for name, value in returned.items()})
"""  # executed in an extra environment, which has NumPy alone
_PIN = re.compile(r"^([A-Za-z][\w.-]*)==([^\s;]+)", re.MULTILINE)


class ExtraMissing(RuntimeError):
    """An extra environment is needed and is not installed."""


class ExtraFailed(RuntimeError):
    """A function failed in an extra environment."""


@dataclass(frozen=True)
class Extra:
    """An extra environment of a project, by its name."""

    name: str
    root: Path = ROOT

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.root / f".venv-{self.name}" / "bin" / "python"

    @property
    def present(self) -> bool:
        """Whether it is installed, whole."""
        return (self.root / f".venv-{self.name}" / ".complete").is_file() and self.python.exists()

    @property
    def remedy(self) -> str:
        """The command that installs it."""
        return f"make -f tests/maintain.mk extra NAME={self.name}"

    @cached_property
    def pins(self) -> dict[str, str]:
        """The versions that are asked for by name, in ``environments/NAME.in``, as the lock has them."""
        asked = (self.root / "environments" / f"{self.name}.in").read_text("utf-8")
        wanted = {name.lower() for name in re.findall(r"^([A-Za-z][\w.-]*)", asked, re.MULTILINE)}
        found = _PIN.findall((self.root / "environments" / f"{self.name}.txt").read_text("utf-8"))
        return {name: version.partition("+")[0] for name, version in found if name.lower() in wanted}

    def call(
        self, function: Callable[..., Any], arrays: Mapping[str, np.ndarray] | None = None, /, **values: Any
    ) -> dict[str, np.ndarray]:
        """``function(**arrays, **values)``, called in this environment; returns arrays by name.

        The function is one of a worker module; arrays hold numbers or texts, other values whatever JSON can.
        `ExtraFailed` has the last line of its traceback.
        """
        if not self.present:
            raise ExtraMissing(f"the extra environment {self.name} is not installed: {self.remedy}")
        worker = function.__code__.co_filename
        with tempfile.TemporaryDirectory() as folder:
            np.savez(Path(folder, "in.npz"), **(arrays or {}))  # type: ignore[arg-type]
            Path(folder, "in.json").write_text(json.dumps(values), "utf-8")
            command = [str(self.python), "-I", "-c", _BRIDGE, worker, function.__name__, folder]
            ended = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | ONE_THREAD)
            if ended.returncode:
                last = (ended.stderr.strip().splitlines() or [f"exit status {ended.returncode}"])[-1]
                raise ExtraFailed(f"{function.__name__} failed in the extra environment {self.name}: {last}")
            with np.load(Path(folder, "out.npz"), allow_pickle=False) as content:
                return {name: content[name] for name in content.files}


def find(name: str) -> Extra:
    """The extra environment of this name."""
    known = sorted(path.stem for path in ROOT.glob("environments/*.txt"))
    if name not in known:
        raise ValueError(f"name must be one of {', '.join(known)}, got {name!r}")
    return Extra(name)


@dataclass(frozen=True)
class Record:
    """The runs that a chapter has from an extra environment, and where they are committed.

    ``code`` has the functions and classes whose code decides the runs: the worker's, and those that make its inputs.
    """

    extra: Extra
    chapter: str
    table: str
    code: tuple[Any, ...]

    @property
    def path(self) -> Path:
        """The committed table."""
        return self.extra.root / "book" / self.chapter / f"{self.table}.csv"

    def digest(self, cell: Any) -> str:
        """What a cell's runs are measured from, in 16 digits: the cell's values, the code and the locked libraries."""
        return json_digest([repr(cell), self._code, sorted(self.extra.pins.items())])[:16]

    @cached_property
    def _code(self) -> str:
        return _source.digest_of(*self.code)

    @cached_property
    def _committed(self) -> pd.DataFrame:
        return read_table(self.path) if self.path.is_file() else pd.DataFrame({DIGEST: [], TRIAL: []})

    def committed(self, cell: Any, trials: int) -> pd.DataFrame | None:
        """The first ``trials`` committed runs of a cell; None where there are fewer."""
        table = self._committed
        found = table[(table[DIGEST] == self.digest(cell)) & (table[TRIAL] < trials)].sort_values(TRIAL)
        return found.reset_index(drop=True) if len(found) == trials else None

    def runs(
        self, cells: Sequence[Any], trials: int, measure: Callable[[Sequence[Any]], Sequence[pd.DataFrame]]
    ) -> pd.DataFrame:
        """The runs of some cells: the committed ones where they are just these, else measured in the environment.

        Args:
            cells: frozen dataclasses of plain values: all that the runs depend on but code, libraries and trial.
            trials: the number of runs of each, numbered from 0.
            measure: given the cells to be measured, returns a table for each, a row for each run in its order.

        Returns:
            The tables, one after the other, with the columns ``trial``, those of ``measure``, and ``digest``.
        """
        checks.whole("trials", trials)
        found = {} if is_anew() else {cell: self.committed(cell, trials) for cell in cells}
        missing = [cell for cell in cells if found.get(cell) is None]
        if missing and not self.extra.present:
            raise ExtraMissing(
                f"{len(missing)} of {len(cells)} settings at {trials} trials are not among the committed runs of "
                f"{self.extra.name}; to measure them: {self.extra.remedy}"
            )
        for cell, table in zip(missing, measure(missing) if missing else [], strict=True):
            labelled = table.assign(**{DIGEST: self.digest(cell)})
            labelled.insert(0, TRIAL, range(trials))
            found[cell] = labelled
        return pd.concat([found[cell] for cell in cells], ignore_index=True)

    def origin(self, table: pd.DataFrame) -> str:
        """For the page: how many of a table's runs are the committed ones, and with which versions they were made."""
        known = set(map(tuple, self._committed[[DIGEST, TRIAL]].to_numpy()))
        own = sum(tuple(row) in known for row in table[[DIGEST, TRIAL]].to_numpy())
        versions = " and ".join(f"{name} {version}" for name, version in self.extra.pins.items())
        if is_anew():
            return f"Its {len(table)} runs were measured anew for this page, with {versions}."
        here = "is" if self.extra.present else "is not"
        return (
            f"Of its {len(table)} runs here, {own} are read from the committed run and {len(table) - own} were "
            f"measured for this page, with {versions}. The extra environment that measures them "
            f"(`{self.extra.remedy}`) {here} installed where this page was made."
        )


def is_anew() -> bool:
    """Whether all runs are to be measured, the committed ones too."""
    return os.environ.get("COSTOFPRIVACY_EXTRAS", "") == ANEW
