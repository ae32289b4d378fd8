"""The commands that make the book: executed under a preset, rendered as committed, or refreshed in place."""

import shutil
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import joblib
from tqdm import tqdm

from companion import of_chapters
from companion.build import freshness, kernels, staging
from companion.build.environment import environment, kernel_environment
from companion.build.execute import Execution, execute
from companion.build.parameters import PAPER, resolve_preset
from companion.build.project import (
    EXECUTED,
    LEDGER,
    BookError,
    Place,
    Project,
    Say,
    budgets,
    chapters,
    chosen_chapters,
    longest_first,
    place,
)
from companion.build.rendering import render
from companion.running import _source, memory, stamps
from companion.showing import WIDE_ONLY

data_sets = of_chapters("data_sets")

COSTS = "costs"  # in book/: what `make bench` measured
CODE = "code.json"  # in _build: what the library's files import, and their digests


def build(project: Project, preset: str, say: Say, warn: Say) -> Path:
    """Make the book under a preset, doing again only what changed; returns the first page of ``_build/html``.

    A chapter on real data keeps its committed page, with a note, where a data set is missing. ``say`` receives each
    executed chapter and the rendering, ``warn`` each output on the error stream, in one line. Where a chapter or the
    rendering fails, the pages are as they were.
    """
    folder = project.build / preset
    tree = folder / EXECUTED
    parameters = resolve_preset(project, preset, chapters(project))
    prune(project, tree)
    tree.mkdir(parents=True, exist_ok=True)
    for path in (project.claims, project.dictionary):
        if path.is_file():
            shutil.copyfile(path, tree / path.name)
    if (project.book / COSTS).is_dir():
        shutil.copytree(project.book / COSTS, tree / COSTS, dirs_exist_ok=True)
    missing = {}
    for name, sets in freshness.missing(project, parameters).items():
        committed = place(project.book, name)
        if committed.stamp.is_file() and committed.notebook.is_file():
            missing[name] = sets
            copy_place(committed, place(tree, name))
    if missing:
        named = freshness.listed(missing)
        say(f"shown as committed, because data sets are missing (`make data` downloads them): {named}")
    plan = {name: values for name, values in parameters.items() if name not in missing}
    with environment({} if preset == PAPER else {WIDE_ONLY: "1"}), _source.remembered(project.build / CODE):
        bring_up_to_date(project, TreePlan(tree, plan, small=preset != PAPER), say, warn)
        staging.stage(project, preset, tree, folder / "pages", missing)
    return render(project, preset, folder / "pages", say)


def render_committed(project: Project, say: Say, warn: Say) -> Path:
    """Render the chapters as they are committed, at the papers' scale; returns the first page of ``_build/html``.

    Nothing is executed. ``warn`` receives which pages are not what their sources would give now, in one line. A chapter
    that was never executed is a `BookError`.
    """
    parameters = resolve_preset(project, PAPER, chapters(project))
    reasons = {}
    with _source.remembered(project.build / CODE):
        for name, values in parameters.items():
            expected = freshness.inputs(project, name, values, project.book, real=True)
            reasons[name] = freshness.why_stale(place(project.book, name), expected)
    never = [name for name, reason in reasons.items() if reason == freshness.NEVER]
    if never:
        named = ", ".join(never)
        raise BookError(f"never executed, so there is no page to render: {named} (`make refresh` executes them)")
    stale = [name for name, reason in reasons.items() if reason]
    if stale:
        missing = freshness.missing(project, {name: parameters[name] for name in stale})
        without = any(freshness.needed(project, name, parameters[name]) for name in missing)
        remedy = "`make data`, then `make refresh`" if without else "`make refresh`"
        warn(f"older than their sources ({remedy} updates them): {', '.join(stale)}")
    pages = project.build / PAPER / "pages"
    staging.stage(project, PAPER, project.book, pages)
    return render(project, PAPER, pages, say)


def refresh(project: Project, names: tuple[str, ...], force: bool, say: Say) -> None:
    """Execute stale chapters of ``book/``, all or those named, in place at the papers' scale; then write included texts
    and the reference. Fresh ones are executed too with ``force``.

    A chapter that fails or writes to the error stream is as it was. Nothing is executed where one would be measured on
    what stands in for real data that is missing: a `BookError` says so.
    """
    parameters = resolve_preset(project, PAPER, chosen_chapters(project, names))
    for name, sets in freshness.missing(project, parameters).items():
        if force or freshness.needed(project, name, parameters[name]):
            raise BookError(
                f"{name} needs data that are not in {data_sets.folder()}: {' and '.join(sets)}; run `make data` to "
                "download what is missing, set SCIKIT_LEARN_DATA to another folder, or refresh other chapters: NAME=..."
            )
    bring_up_to_date(project, TreePlan(project.book, parameters, strict=True, force=force), say, say)
    staging.write_generated(project, project.book, project.book)
    staging.write_reference(project)


@dataclass(frozen=True)
class TreePlan:
    """What a tree is to hold: some chapters, each with all its parameters.

    Attributes:
        strict: whether a chapter that writes to the error stream is a failure.
        force: whether chapters are executed that are fresh.
        small: whether the chapters' sizes are small, so that their budgets say which of them take long, and not the
            times that they take at the papers' scale.
    """

    tree: Path
    parameters: Mapping[str, Mapping[str, Any]]
    strict: bool = False
    force: bool = False
    small: bool = False


@dataclass(frozen=True)
class Stale:
    """A chapter to be executed: how, what its stamp will say, why, and whether its tables are read, not measured."""

    run: Execution
    made_from: freshness.Inputs
    reason: str
    tables_read: bool


Done = tuple[Stale, float, list[str]]  # the seconds that it took, and what it wrote to the error stream


def bring_up_to_date(project: Project, plan: TreePlan, say: Say, warn: Say) -> None:
    """Execute the stale chapters of a tree; a fresh committed one is copied instead.

    Chapters are stamped one by one, so that nothing that is finished is done again. As many run side by side as there
    are cores, the longest first; cores that are left over they share. Chapters that show tables of others come after
    these, and the ledger, which reads all verdicts, is last. ``say`` receives each executed chapter, ``warn`` each
    output on the error stream, in one line.
    """
    names = [name for name in chapters(project) if name in plan.parameters]
    readers = [name for name in names if name != LEDGER and freshness.tables_read(project, name)]
    others = [name for name in names if name != LEDGER and name not in readers]
    width = max(map(len, names), default=0)

    def finish(done: Done) -> None:
        stale, seconds, warnings = done
        for line in warnings:
            warn(line)
        read = "; tables read" if stale.tables_read else ""
        say(f"{stale.run.name:<{width}}  {seconds:4.0f} s  ({stale.reason}{read})")

    with ExitStack() as stack:
        folder = ""
        for wave in (others, readers, [LEDGER] if LEDGER in names else []):
            stale = {name: found for name in wave if (found := _stale(project, plan, name))}
            if len(stale) > 1 and not folder:
                variables = kernel_environment(project, book=plan.tree, results=None, resume=True, progress=False)
                modules = freshness.imported_modules(project, project.book, stale)
                folder = stack.enter_context(kernels.forked(variables, modules))
            _execute_all(project, plan, stale, folder, finish)


def _execute_all(
    project: Project, plan: TreePlan, every: Mapping[str, Stale], folder: str, finish: Callable[[Done], None]
) -> None:
    cores = joblib.cpu_count()
    if len(every) == 1:
        finish(_executed(project, *every.values()))
        return
    shared = {
        name: replace(stale, run=replace(stale.run, alone=False, workers=max(1, cores // len(every)), kernels=folder))
        for name, stale in every.items()
    }
    freshness.read_once(project, {name: stale.run.parameters for name, stale in every.items() if not stale.tables_read})
    known = budgets(project) if plan.small else stamps.seconds(project.book)
    order = sorted(longest_first(shared, known), key=lambda name: shared[name].tables_read)  # what is measured first
    pool = memory.pool(cores, max(1, len(shared)))
    with tqdm(total=len(shared), unit="chapter", leave=False, disable=None) as bar:
        for done in pool(joblib.delayed(_executed)(project, shared[name]) for name in order):
            bar.update()
            with bar.external_write_mode():
                finish(done)


def _stale(project: Project, plan: TreePlan, name: str) -> Stale | None:
    """What is to be done about a chapter; nothing where it is fresh, or a fresh committed one could be copied."""
    target, committed = place(plan.tree, name), place(project.book, name)
    saved = () if plan.force else (target.results, committed.results)
    expected = freshness.to_execute(project, name, plan.parameters[name], plan.tree, saved)
    reason = "forced" if plan.force else freshness.why_stale(target, expected)
    if not reason:
        return None
    if not plan.force and not freshness.why_stale(committed, expected):
        copy_place(committed, target)
        return None
    tables_read = name != LEDGER and any(stamps.are_saved(folder, expected.measured) for folder in saved)
    run = Execution(name, plan.parameters[name], target, plan.tree, plan.strict, saved)
    return Stale(run, expected, reason, tables_read)


def _executed(project: Project, stale: Stale) -> Done:
    start, warnings = time.perf_counter(), list[str]()
    files = execute(project, stale.run, warnings.append)
    freshness.write(stale.run.place, stale.made_from, files)
    return stale, time.perf_counter() - start, warnings


def prune(project: Project, tree: Path) -> None:
    """Remove from a tree of ours the executed chapters that the book no longer has: the ledger would count them."""
    known = {place(tree, name).stamp for name in chapters(project)}
    for stamp in set(tree.rglob("stamp.json")) - known:
        shutil.rmtree(stamp.parent)
        stamp.parent.with_name(f"{stamp.parent.name}.ipynb").unlink(missing_ok=True)


def copy_place(source: Place, target: Place) -> None:
    """Copy an executed chapter with its results; what the target held of it goes."""
    shutil.rmtree(target.results, ignore_errors=True)
    shutil.copytree(source.results, target.results)
    shutil.copyfile(source.notebook, target.notebook)
