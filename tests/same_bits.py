"""Whether changed code measures and tells the same: ``python -m tests.same_bits OLD_COMMIT [--told] [CHAPTER ...]``.

A chapter's stamp names the code that its tables were measured with, so a change that moves no number makes it stale all
the same, and measuring all chapters anew takes half an hour. This command measures the stale ones with their quick
preset instead, once with the code of ``OLD_COMMIT`` and once with that of the working tree, each in a process of its
own. Where all tables agree to the byte, it writes the new code's digest into the chapter's stamp, which keeps the
committed tables. Otherwise it names the first table and column that differ, leaves the stamp alone and ends with 1.

For that it must hold that the old code is the stamped one, and that nothing but code has changed: parameters, data and
locked libraries are those of the stamp. Both are checked.

It proves that code and libraries give the same bits on this machine at the quick preset's sizes, not that they do at
the papers' sizes: a branch that only large sizes take is not compared. For a change of such code use ``make refresh``.

What is told is compared first, for every chapter that is named or for all: both codes execute their notebook's cells on
the committed tables, and all that the cells show (openings, short tables, captions, alternative texts, cards), the
findings and the figures have to be the same to the byte; listings of code are left out. ``--told`` stops there; it
takes some seconds a chapter.

The campaign behind ``privacy/best-method`` is compared in the same way, on a few small cells, and its tables get the
new digest; the chapter, which shows these, is left to ``make refresh``.

Rows that extra environments measured (``extras``) are compared without these environments, at the papers' sizes: for
each committed cell and trial both codes have to send the worker the same request to the byte, and to make the same row
of the same answer, which is random numbers drawn from the request. The worker's code and the versions of its libraries
count as part of the request. The committed rows then get the new code's digests; nothing else in them changes. With the
real data in its folder the rows on it are compared, too, else it is said that they are not from the old code.
"""

import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from chapters.privacy.best_method import committed
from companion.build import freshness, parameters
from companion.build.environment import in_settled_environment
from companion.build.project import LEDGER, Project, chapters, place
from companion.running import stamps

ROOT = Path(__file__).parents[1]
CAMPAIGN, EXTRAS = "campaign", "extras"
PREAMBLE = """
import json, sys
from pathlib import Path
from companion.running.montecarlo import Runner
root, folder, given = Path(sys.argv[1]), Path(sys.argv[2]), json.load(sys.stdin)
"""
CHAPTER = """
from companion.build.parameters import experiment_of
from companion.build.project import Project
from companion.running.stamps import measured_from
paper, quick = (experiment_of(Project(root), given["name"], given[preset]) for preset in ("paper", "quick"))
digests, tables = measured_from(paper, root, real=True), quick.run(Runner(-1))
"""
SMALL_CAMPAIGN = """
from chapters.privacy.best_method import campaign, committed, coverage, others
digests = {name: committed.code(name) for name in committed.NAMES}
cells, runner = [cell for cell in others.cells() if cell.n <= 1000 and cell.d <= 10][::3], Runner(-1)
covered = [cell for cell in coverage.cells() if cell.n <= 1000][:3]
found = (campaign.measure(cells, 2, 2, 1, runner), coverage.measure(covered, 3, 1, runner))
tables = dict(zip(committed.NAMES, (*found, others.measure(cells, 2, 2, 1, runner)), strict=True))
"""
ROWS = """
import ast, hashlib, inspect
import numpy as np
import pandas as pd
from companion.build.parameters import experiment_of
from companion.build.project import Project
from chapters.noisyhead.dp_sgd import measure as opacus
from chapters.privacy.every_mechanism import software
from chapters.privacy.rivals import measure as diffprivlib
from companion.running import extras
digests, tables, requests, runner = {}, {}, [], Runner(1)

def answer(self, function, arrays=None, /, **values):
    code = ast.dump(ast.Module(ast.parse(inspect.getsource(inspect.getmodule(function))).body[1:], []))  # no docstring
    sent = hashlib.sha256(json.dumps([code, sorted(self.pins.items()), values]).encode())
    for name, array in arrays.items():
        sent.update(f"{name} {array.dtype} {array.shape}".encode() + np.ascontiguousarray(array).tobytes())
    requests.append(sent.hexdigest())
    rng, runs = np.random.default_rng(list(sent.digest())), len(next(iter(arrays.values())))
    if "releases" in values:
        shifted = rng.standard_normal((runs, values["releases"])) + 2 * np.arange(runs)[:, None]
        return {"scores": shifted, "stated": 1 + rng.random(1)}
    if "steps" in values:
        numbers = {name: rng.random(runs) for name in ("noise_multiplier", "drawn", "rows")}
        width = arrays["query"].shape[2] * arrays["context"].shape[2]
        return {"weights": rng.standard_normal((runs, width)), **numbers}
    shape = arrays["seed"].shape
    found = rng.standard_normal((*shape, arrays["x"].shape[2])) * 10 ** rng.uniform(-1, 3, (*shape, 1))  # some fail
    return {"coefficients": found, "convex": rng.random(shape) < 0.5}

def compared(self, cells, trials, measure):
    for cell in cells:
        (table,) = measure([cell])
        name = f"{self.chapter}/{self.table}"
        digests[f"{name} {cell!r}"] = self.digest(cell)
        tables.setdefault(name, []).append(table.assign(cell=repr(cell), request=requests.pop()))
        assert len(table) == trials and not requests
    return table

extras.Extra.call, extras.Extra.present, extras.Record.runs = answer, True, compared
project = Project(root)
heads, rivals = (experiment_of(project, name, given[name]) for name in ("noisyhead/dp-sgd", "privacy/rivals"))
opacus.RECORD.runs(heads._opacus_cells(), heads.opacus_trials, heads._measure(runner))
of_real = (rivals._runs(rivals._real()), rivals.real_trials)
diffprivlib.table([(rivals._runs(rivals._gaussian()), rivals.trials), of_real], runner)
for name in software.CASES:
    software.table(name)
tables = {name.replace("/", " "): pd.concat(parts, ignore_index=True) for name, parts in tables.items()}
"""
TOLD = """
import ast, io, os, re
from contextlib import redirect_stdout
import matplotlib
matplotlib.use("agg")
import matplotlib.pyplot as plt
from IPython.core.formatters import DisplayFormatter
from companion import chapters
from companion.running import stamps
saved, values, show = root / "book" / given["name"], {}, DisplayFormatter()
os.environ |= {"COSTOFPRIVACY_RESULTS": str(folder), "COSTOFPRIVACY_BOOK": str(root / "book")}
own = {path.stem: stamps.read_table(path) for path in sorted(saved.glob("*.csv"))}

def run(self):
    self._tables = {name: own[name] for name in sorted(own, key="{}.csv".format)}
    return self._tables

chapters.Chapter.run, chapters.Chapter.source = run, lambda self, *names: None
cells = json.loads(Path("book", given["name"] + ".ipynb").read_text("utf-8"))["cells"]
notebook, told = [cell for cell in cells if cell["cell_type"] == "code"], []
os.chdir(saved.parent)
for cell in notebook:
    plt.close("all")
    source = "".join(line for line in cell["source"] if not line.lstrip().startswith(("%", "!")))
    *statements, last = ast.parse(source).body
    ends, printed, shown = isinstance(last, ast.Expr), io.StringIO(), None
    with redirect_stdout(printed):
        exec(compile(ast.Module(statements if ends else [*statements, last], []), "cell", "exec"), values)
        if ends:
            shown = show.format(eval(compile(ast.Expression(last.value), "cell", "eval"), values))
    plain = json.dumps([printed.getvalue(), shown], indent=1, default=str, ensure_ascii=False, sort_keys=True)
    told.append(re.sub("0x[0-9a-f]{6,}", "", plain))
(folder / "cells.txt").write_text("\\f".join(told))
digests, tables = {}, {}
"""
WRITE = """
(folder / "digests.json").write_text(json.dumps(digests))
for name, table in tables.items():
    table.drop(columns="digest", errors="ignore").to_csv(folder / f"{name}.csv", index=False)
"""


def measure(tree: Path, folder: Path, program: str, given: dict[str, Any]) -> dict[str, str]:
    """What a program finds with the code of a tree: its digests; its tables are in the folder."""
    folder.mkdir(parents=True)
    program = PREAMBLE + program + WRITE
    command = [sys.executable, "-c", program, str(ROOT), str(folder)]
    settings = os.environ | {"PYTHONPATH": str(tree / "lib"), "COSTOFPRIVACY_PROGRESS": ""}
    subprocess.run(command, env=settings, cwd=tree, input=json.dumps(given), text=True, check=True)
    digests: dict[str, str] = json.loads((folder / "digests.json").read_text("utf-8"))
    return digests


def difference(one: Path, other: Path) -> str:
    """The first table in which two folders differ, and the column; empty where they agree to the byte."""
    for name in sorted({path.name for folder in (one, other) for path in folder.glob("*.csv")}):
        if stamps.file_digest(one / name) != stamps.file_digest(other / name):
            both = [pd.read_csv(folder / name, dtype=str) for folder in (one, other) if (folder / name).is_file()]
            columns = [key for key in both[0] if key not in both[-1] or not both[0][key].equals(both[-1][key])]
            return f"{name}, {columns[0]}" if columns else name
    return ""


def same_told(old: Path, name: str) -> str:
    """Which file of what a chapter tells of the committed tables differs, and in which cell; empty where none does."""
    with tempfile.TemporaryDirectory() as made:
        folders = [Path(made, code) for code in ("old", "new")]
        for tree, folder in zip((old, ROOT), folders, strict=True):
            try:
                measure(tree, folder, TOLD, {"name": name})
            except subprocess.CalledProcessError:  # a claim may quote what only new judges compute
                return f"what the code of {tree.name or tree} tells cannot be had"
        files = sorted({path.name for folder in folders for path in folder.iterdir()})
        same = {file: len({stamps.file_digest(folder / file) for folder in folders}) == 1 for file in files}
        differs = next((file for file in files if not same[file]), "")
        if differs == "cells.txt":
            one, other = ((folder / differs).read_text("utf-8").split("\f") for folder in folders)
            number = next((n for n, both in enumerate(zip(one, other)) if len({*both}) > 1), min(len(one), len(other)))
            texts = ["".join(cells[number : number + 1]) for cells in (one, other)]
            at = next((n for n, both in enumerate(zip(*texts)) if len({*both}) > 1), 0)
            shown = [text[max(0, at - 60) : at + 60] for text in texts]
            differs = f"code cell {number + 1} shows {shown[0]!r} and {shown[1]!r}"
        print(f"{name}: told {'otherwise' if differs else 'the same'}", flush=True)
        return differs


def compared(old: Path, what: str, program: str, given: dict[str, Any]) -> tuple[dict[str, str], dict[str, str], str]:
    """The digests of a program by the code of the old tree and by that of this one, and where its tables differ."""
    with tempfile.TemporaryDirectory() as made:
        folders = [Path(made, name) for name in ("old", "new")]
        before, now = (measure(tree, folder, program, given) for tree, folder in zip((old, ROOT), folders, strict=True))
        print(f"{what}: {difference(*folders) or 'the same'}", flush=True)
        return before, now, difference(*folders)


def relabelled(project: Project, table: str, digests: dict[str, str]) -> Iterator[str]:
    """Give the rows of a table, ``chapter/name``, their digests by the new code, in its stamp too; yields what is not.

    The stamp follows where what it names is this table with the digests of the old code.
    """
    chapter, _, name = table.rpartition("/")
    folder, file = place(project.book, chapter).results, f"{name}.csv"
    rows = (folder / file).read_text("utf-8")
    former = rows
    for before, now in digests.items():
        rows, former = rows.replace(before, now), former.replace(now, before)
    if unknown := set(pd.read_csv(io.StringIO(rows), dtype=str)["digest"]) - set(digests.values()):
        yield f"{EXTRAS}: {len(unknown)} cells of {table} are not from the old code"
        return
    (folder / file).write_text(rows, "utf-8")
    stamp = stamps.read(folder)
    if stamp["measured"]["files"].get(file) == stamps.digest(former):
        stamp["measured"]["files"][file] = stamps.digest(rows)
        (folder / stamps.STAMP).write_text(json.dumps(stamp, indent=1) + "\n", "utf-8")


def failures(old: Path, names: list[str], only_told: bool) -> Iterator[str]:
    """Stamp what gives the same bits; yields what does not."""
    project = Project(ROOT)
    presets = {name: parameters.resolve_preset(project, name, chapters(project)) for name in ("paper", "quick")}
    for name in names or chapters(project):
        if name in chapters(project) and (differs := same_told(old, name)):
            yield f"{name}: {differs}"
    for name in () if only_told else names or [EXTRAS, *chapters(project), CAMPAIGN]:  # chapters read the rows
        if name == CAMPAIGN:
            before, now, differs = compared(old, name, SMALL_CAMPAIGN, {})
            for table in () if differs else committed.NAMES:
                text = committed.path(table).read_text("utf-8")
                if before[table] not in text:
                    yield f"{name}: {table} is not from the old code"
                for key in before:
                    text = text.replace(before[key], now[key])
                committed.path(table).write_text(text, "utf-8")
        elif name == EXTRAS:
            before, now, differs = compared(old, name, ROWS, presets["paper"])
            for table in () if differs else sorted({cell.partition(" ")[0] for cell in now}):
                yield from relabelled(project, table, {before[cell]: now[cell] for cell in now if cell in before})
        else:
            folder, own = place(project.book, name).results, {key: presets[key][name] for key in presets}
            expected = dict(freshness.inputs(project, name, own["paper"], project.book, real=True).measured)
            stamp = stamps.read(folder)
            if name == LEDGER or not expected or (stamped := stamp["measured"]["inputs"]) == expected:
                continue
            differs = ", ".join(key for key in expected if key != "code" and stamped.get(key) != expected[key])
            if not differs:
                before, _, differs = compared(old, name, CHAPTER, {"name": name, **own})
                differs = differs or ("" if before == stamped else "its tables are not from the old code")
            if not differs:
                stamp["measured"]["inputs"] = dict(sorted(expected.items()))
                (folder / stamps.STAMP).write_text(json.dumps(stamp, indent=1) + "\n", "utf-8")
        if differs:
            yield f"{name}: {differs}"


def main(commit: str, names: list[str]) -> int:
    """Compare and stamp; the exit status."""
    in_settled_environment()
    packed = subprocess.run(["git", "archive", commit], cwd=ROOT, capture_output=True, check=True).stdout
    with tempfile.TemporaryDirectory() as old, tarfile.open(fileobj=io.BytesIO(packed)) as files:
        files.extractall(old, filter="data")
        chosen = [name for name in names if name != "--told"]
        different = [f"different: {line}" for line in failures(Path(old), chosen, "--told" in names)]
    print(*different, sep="\n")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
