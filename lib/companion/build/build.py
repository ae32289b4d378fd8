"""The commands that make the book: executed under a preset, rendered as committed, or refreshed in place."""

import shutil
from pathlib import Path

from companion import of_chapters
from companion.build import freshness, real_data, reference, staging
from companion.build.environment import environment
from companion.build.parameters import PAPER, resolve_preset
from companion.build.project import EXECUTED, BookError, Project, chapters, chosen_chapters, place
from companion.build.rendering import render
from companion.build.tree import Say, TreePlan, bring_up_to_date, copy_place, prune
from companion.running import _source
from companion.showing import plates

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
    for name, sets in real_data.missing(project, parameters).items():
        committed = place(project.book, name)
        if committed.stamp.is_file() and committed.notebook.is_file():
            missing[name] = sets
            copy_place(committed, place(tree, name))
    if missing:
        named = real_data.listed(missing)
        say(f"shown as committed, because data sets are missing (`make data` downloads them): {named}")
    plan = {name: values for name, values in parameters.items() if name not in missing}
    with environment({} if preset == PAPER else {plates.WIDE_ONLY: "1"}), _source.remembered(project.build / CODE):
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
        missing = real_data.missing(project, {name: parameters[name] for name in stale})
        without = any(real_data.needed(project, name, parameters[name]) for name in missing)
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
    for name, sets in real_data.missing(project, parameters).items():
        if force or real_data.needed(project, name, parameters[name]):
            raise BookError(
                f"{name} needs data that are not in {data_sets.folder()}: {' and '.join(sets)}; run `make data` to "
                "download what is missing, set SCIKIT_LEARN_DATA to another folder, or refresh other chapters: NAME=..."
            )
    bring_up_to_date(project, TreePlan(project.book, parameters, strict=True, force=force), say, say)
    staging.write_generated(project, project.book, project.book)
    reference.write(project)
