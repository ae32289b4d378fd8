"""Do the committed verdicts and tables come out again? nbval over copies of the chapters, and its reports.

`validate` executes chapters at the papers' scale and compares verdicts, tables and numbers; `test` executes them under
a preset, where verdicts alone must stand. What they find is written for machines: nbval's cells as JUnit's XML, which
continuous integration shows, and what was compared as JSON.
"""

import importlib
import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from companion.build import freshness, notebooks
from companion.build.compare import Comparison, compare, compare_verdicts
from companion.build.environment import environment, kernel_environment
from companion.build.kernels import forked
from companion.build.parameters import PAPER, resolve_preset
from companion.build.project import (
    EXECUTED,
    LEDGER,
    TOLERANCES,
    BookError,
    Interrupted,
    Project,
    Say,
    budgets,
    chapters,
    chosen_chapters,
    is_plain,
    longest_first,
    module_name,
    place,
)
from companion.judging.tolerances import Declared
from companion.running import stamps
from companion.showing import WIDE_ONLY

CELL_TIMEOUT = 3600
PATIENCE = 30
PLUGINS = ("--disable-plugin-autoload", "-p", "companion.build.nbval_plugin", "-p", "nbval.plugin")
OPTIONS = ("-p", "no:cacheprovider", "-o", "addopts=", "-W", "default")
IN_ORDER = ("--dist", "loadfile", "--no-loadscope-reorder")  # a notebook is one process's, from first to last cell
REPORTS = "reports"  # in _build
VERDICT, NUMBER, BROKEN, FINE = "verdict", "number", "broken", "fine"
STATUS = {VERDICT: 3, NUMBER: 4, BROKEN: 1, FINE: 0}
WORDS = {VERDICT: "a verdict changed", NUMBER: "numbers changed", BROKEN: "a run failed"}


class Changed(BookError):
    """Something came out otherwise: the text names the status, as make ends with 2, whatever its commands end with."""

    def __init__(self, text: object, outcome: str) -> None:
        self.status = STATUS[outcome]
        super().__init__(f"{text}; exit status {self.status}: {WORDS[outcome]}")


Entry = tuple[str, Comparison]  # a chapter, and one of its tables, or its verdicts, compared


def validate(project: Project, names: tuple[str, ...], say: Say) -> None:
    """Execute chapters, all where none is named, at the papers' scale and compare them with what is committed.

    Leaves what it found in ``_build/reports``. A chapter on real data is left out where a data set is missing; a
    `BookError` says that none is left. `Changed` says that a verdict changed, or only numbers did.
    """
    forget(project, "validate")
    chosen = chosen_chapters(project, names)
    parameters = resolve_preset(project, PAPER, chosen)
    missing = freshness.missing(project, parameters)
    if missing:
        named = freshness.listed(missing)
        line = f"not validated, because data sets are missing (`make data` downloads them): {named}"
        if len(missing) == len(chosen):
            raise BookError(line)
        say(line)
    parameters = {name: values for name, values in parameters.items() if name not in missing}
    tree = project.build / "validate"
    copies = prepare(project, tree, parameters)
    freshness.read_once(project, parameters)
    failure = nbval(project, tree, copies, stamps.seconds(project.book))
    entries = []
    for name in parameters:
        committed, recomputed = place(project.book, name).results, place(tree, name).results
        for finding in compare(committed, recomputed, declared(project, name)):
            say(f"{'ok  ' if finding.agrees else 'FAIL'}  {name}/{finding.name}: {finding.words}")
            entries.append((name, finding))
    raise_for(project, "validate", entries, failure)


def test(project: Project, preset: str, names: tuple[str, ...], say: Say) -> None:
    """Execute chapters, all where none is named, under a preset: nbval must find nothing, and every verdict stand.

    What `make book` measured from the same code and parameters is judged, not measured again. Leaves what it found in
    ``_build/reports``. A chapter on real data is executed on what stands in for it where a data set is missing; its
    verdicts are then not compared. `Changed` says that a verdict changed, or a chapter did not run to its end.
    """
    forget(project, "test")
    tree = project.build / "nbval"
    parameters = resolve_preset(project, preset, chosen_chapters(project, names))
    missing = freshness.missing(project, parameters)
    if missing:
        remedy = "`make data` brings the data sets that are missing"
        say(f"run on substitute data, so no verdict is compared ({remedy}): {freshness.listed(missing)}")
    copies = prepare(project, tree, parameters)
    failure = nbval(project, tree, copies, budgets(project), project.build / preset / EXECUTED)
    entries = [
        (name, compare_verdicts(place(project.book, name).verdicts, place(tree, name).verdicts))
        for name in parameters
        if place(project.book, name).verdicts.is_file() and name not in missing
    ]
    raise_for(project, "test", entries, failure)


def declared(project: Project, name: str) -> Declared:
    """The tolerances of a chapter's columns: ``TOLERANCES`` of its module ``judge``, or of `tolerances`, if it has any.

    Where they are long they are a module of their own, which is neither measured nor told: no page shows them.
    """
    found: Declared = {}
    for module in () if is_plain(project, name) else ("judge", TOLERANCES):
        if importlib.util.find_spec(f"{module_name(project, name)}.{module}"):
            found = getattr(importlib.import_module(f"{module_name(project, name)}.{module}"), "TOLERANCES", found)
    return found


def prepare(project: Project, tree: Path, parameters: Mapping[str, Mapping[str, Any]]) -> list[Path]:
    """Lay out afresh copies of chapters with other parameters, their committed outputs kept; what the tree held goes.

    The committed verdicts of the other chapters lie beside them: the ledger reads them. Returns the copies, in the
    book's order, the ledger last.
    """
    shutil.rmtree(tree, ignore_errors=True)
    tree.mkdir(parents=True)
    for path in (project.claims, project.dictionary):
        if path.is_file():
            shutil.copyfile(path, tree / path.name)
    copies = []
    for name in chapters(project):
        committed, copy = place(project.book, name), place(tree, name)
        if name in parameters:
            copies.append(copy.notebook)
            notebooks.write(
                notebooks.with_parameters(notebooks.read(committed.notebook), parameters[name]), copy.notebook
            )
        elif committed.verdicts.is_file():
            copy.results.mkdir(parents=True)
            shutil.copyfile(committed.verdicts, copy.verdicts)
    return copies


def nbval(
    project: Project, tree: Path, copies: list[Path], seconds: Mapping[str, float], measured: Path | None = None
) -> str:
    """Execute prepared copies under nbval and compare their marked cells; returns what is wrong, if anything is.

    There are as many kernels at a time as cores, each with one worker process, the longest first; the ledger, which
    reads the verdicts of the others, is last. A chapter that is alone has its notebook's workers, and draws bars. No
    blocks of earlier runs are used. A copy judges the tables of ``measured`` where they are what it would measure.
    """
    if not copies:
        return "the book has no chapters to validate"
    from joblib import cpu_count

    names = [copy.relative_to(tree).with_suffix("").as_posix() for copy in copies]
    others = [name for name in names if name != LEDGER]
    kernels = min(cpu_count(), len(others))
    alone = kernels < 2
    variables = kernel_environment(
        project, book=tree, results=None, resume=False, progress=alone, workers=None if alone else 1
    )
    variables |= {WIDE_ONLY: "1", "COSTOFPRIVACY_MEASURED": str(measured.resolve()) if measured else None}
    with environment(variables):
        if alone:
            failed = [_pytest(project, copies, "chapters")]
        else:
            first = [place(tree, name).notebook for name in longest_first(others, seconds)]
            with (
                forked(variables, freshness.imported_modules(project, tree, names)) as folder,
                environment({"JUPYTER_PATH": folder} if folder else {}),
            ):
                failed = [_pytest(project, first, "chapters", kernels)]
                if LEDGER in names:
                    failed.append(_pytest(project, [place(tree, LEDGER).notebook], LEDGER))
    wrong = f"nbval: cells of chapters failed or show different verdicts; the copies are in {tree}"
    return wrong if any(failed) else ""


def _pytest(project: Project, copies: list[Path], report: str, kernels: int = 1) -> bool:
    command = [sys.executable, "-m", "pytest", "--nbval-lax", f"--nbval-cell-timeout={CELL_TIMEOUT}"]
    command += [*PLUGINS, *OPTIONS, "--rootdir", str(project.root.resolve()), "-q", "--durations=5"]
    command += [f"--junitxml={project.build.resolve() / REPORTS / report}.xml"]
    if kernels > 1:
        command += ["-p", "xdist.plugin", "-n", str(kernels), *IN_ORDER]
    return _status([*command, *(str(copy.resolve()) for copy in copies)]) != 0


def _status(command: list[str]) -> int:
    """Run a command in its own session; an interrupt reaches each of its processes once, and is waited for."""
    process = subprocess.Popen(command, start_new_session=True)
    try:
        return process.wait()
    except KeyboardInterrupt:
        os.killpg(process.pid, signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            process.wait(PATIENCE)
        raise Interrupted("interrupted; a validation always starts from the beginning") from None
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def outcome(entries: Iterable[Entry], failure: str = "") -> str:
    """What happened: a run that broke or reports a failure, a changed verdict, a changed number, or nothing."""
    apart = [finding for _, finding in entries if not finding.agrees]
    if any(not finding.differences and "differs" not in finding.words for finding in apart) or (failure and not apart):
        return BROKEN
    if any(difference.verdict for finding in apart for difference in finding.differences):
        return VERDICT
    return NUMBER if apart else FINE


def forget(project: Project, name: str) -> None:
    """Remove what an earlier validation of a name has reported, so that one that is broken off leaves nothing of it."""
    for file in (f"{name}.json", "chapters.xml", f"{LEDGER}.xml"):
        (project.build / REPORTS / file).unlink(missing_ok=True)


def raise_for(project: Project, name: str, entries: list[Entry], failure: str) -> None:
    """Write the reports of a name, and raise `Changed` if not everything came out again."""
    report, found = write(project, name, entries, failure), outcome(entries, failure)
    if found != FINE:
        apart = sum(not finding.agrees for _, finding in entries)
        tables = f"{apart} of {len(entries)} tables and verdicts differ" if apart else ""
        raise Changed("; ".join(filter(None, [failure, tables, f"details are in {report}"])), found)


def write(project: Project, name: str, entries: list[Entry], failure: str = "") -> Path:
    """Write ``_build/reports/<name>.json``; returns it.

    It holds the outcome, and for each table or claim that was compared the chapter, whether it agrees, and each
    difference: the column or claim, the row, what was expected and found, and the tolerance.
    """
    folder = project.build / REPORTS
    folder.mkdir(parents=True, exist_ok=True)
    compared = []
    for chapter, finding in entries:
        row = {"chapter": chapter, "file": finding.name, "agrees": finding.agrees, "words": finding.words}
        differences = []
        for plain in map(asdict, finding.differences):
            for side in ("expected", "found"):
                value = plain[side].item() if hasattr(plain[side], "item") else plain[side]
                plain[side] = repr(value) if isinstance(value, float) and not abs(value) < float("inf") else value
            differences.append(plain | {"kind": VERDICT if plain.pop("verdict") else NUMBER})
        compared.append(row | {"differences": differences})
    content = {"outcome": outcome(entries, failure), "failure": failure, "compared": compared}
    (folder / f"{name}.json").write_text(json.dumps(content, indent=1, default=str) + "\n", "utf-8")
    return folder / f"{name}.json"
