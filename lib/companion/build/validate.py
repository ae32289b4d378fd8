"""Every chapter at the papers' scale: do its committed verdicts and tables come out again?"""

import importlib
import importlib.util
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path

from companion.build import budgets, real_data, reports
from companion.build.check import nbval, prepare
from companion.build.check_tables import Comparison, compare, same_verdicts
from companion.build.errors import BookError, Interrupted
from companion.build.parameters import PAPER, resolve_preset
from companion.build.project import EXECUTED, TOLERANCES, Project, chapters, is_plain, module_name, place
from companion.build.tree import Say
from companion.judging.tolerances import Declared
from companion.running import times


def validate(project: Project, names: tuple[str, ...], say: Say) -> None:
    """Execute chapters anew at the papers' scale and hold them against what is committed.

    Leaves what it found in ``_build/reports``. A chapter on real data is left out where a data set is missing.

    Args:
        project: the book.
        names: the chapters; all, where none is named.
        say: told the outcome for each table, in one line.

    Raises:
        Changed: a verdict changed, or only numbers did; every table is reported before.
        BookError: a chapter did not run to its end, or none is left whose data sets are there.
    """
    reports.forget(project, "validate")
    chosen = tuple(name for name in chapters(project) if name in names or not names)
    parameters = resolve_preset(project, PAPER, chosen)
    missing = real_data.missing(project, parameters)
    if missing:
        line = f"not validated, because data sets are missing (`make data` downloads them): {real_data.told(missing)}"
        if len(missing) == len(chosen):
            raise BookError(line)
        say(line)
    chosen = tuple(name for name in chosen if name not in missing)
    tree = project.build / "validate"
    copies = prepare(project, tree, {name: parameters[name] for name in chosen})
    _lend_verdicts(project, tree, set(chapters(project)) - set(chosen))
    real_data.read_once(project, {name: parameters[name] for name in chosen})
    failure = _nbval_failure(project, tree, copies, times.seconds(project.book))
    entries = [reports.Entry(name, finding) for name in chosen for finding in _findings(project, tree, name)]
    for entry in entries:
        say(
            f"{'ok  ' if entry.finding.agrees else 'FAIL'}  {entry.chapter}/{entry.finding.name}: {entry.finding.words}"
        )
    reports.raise_for(project, "validate", entries, failure)


def declared(project: Project, name: str) -> Declared:
    """The tolerances of a chapter's columns: ``TOLERANCES`` of the module `tolerances` in its package, if it has one.

    The module is neither measured nor told: another tolerance changes nothing that a page shows.
    """
    if is_plain(project, name):
        return {}
    module = f"{module_name(project, name)}.{TOLERANCES}"
    if importlib.util.find_spec(module) is None:
        return {}
    found: Declared = importlib.import_module(module).TOLERANCES
    return found


def test(project: Project, preset: str, names: tuple[str, ...], say: Say) -> None:
    """Execute chapters under a preset: nbval must find nothing, and every verdict stand.

    What `make book` measured from the same code and parameters is judged, not measured again.
    Leaves what it found in ``_build/reports``. A chapter on real data is executed on what stands in for it where a data
    set is missing; its verdicts are then not compared.

    Args:
        project: the book.
        preset: ``paper`` or the name of a file in ``book/presets/``.
        say: told in one line which chapters could not be compared, and why.
        names: the chapters; all, where none is named.

    Raises:
        Changed: a verdict changed, or a chapter did not run to its end.
    """
    reports.forget(project, "test")
    tree = project.build / "nbval"
    chosen = tuple(name for name in chapters(project) if name in names or not names)
    parameters = resolve_preset(project, preset, chosen)
    missing = real_data.missing(project, parameters)
    if missing:
        remedy = "`make data` brings the data sets that are missing"
        say(f"run on substitute data, so no verdict is compared ({remedy}): {real_data.told(missing)}")
    copies = prepare(project, tree, parameters)
    _lend_verdicts(project, tree, set(chapters(project)) - set(chosen))
    failure = _nbval_failure(project, tree, copies, budgets.seconds(project), project.build / preset / EXECUTED)
    entries = [
        reports.Entry(name, same_verdicts(place(project.book, name).verdicts, place(tree, name).verdicts))
        for name in parameters
        if place(project.book, name).verdicts.is_file() and name not in missing
    ]
    reports.raise_for(project, "test", entries, failure)


def _lend_verdicts(project: Project, tree: Path, names: Iterable[str]) -> None:
    """Copy the committed verdicts of chapters that are not executed: the ledger reads them."""
    for name in names:
        committed, copy = place(project.book, name).verdicts, place(tree, name).verdicts
        if committed.is_file():
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(committed, copy)


def _nbval_failure(
    project: Project, tree: Path, copies: list[Path], seconds: Mapping[str, float], measured: Path | None = None
) -> str:
    """What nbval found wrong; empty where nothing is."""
    try:
        nbval(project, tree, copies, seconds, measured)
    except Interrupted:
        raise
    except BookError as error:
        return str(error)
    return ""


def _findings(project: Project, tree: Path, name: str) -> list[Comparison]:
    """One chapter's results against the committed ones, to the tolerances that it declares."""
    return compare(place(project.book, name).results, place(tree, name).results, declared(project, name))
