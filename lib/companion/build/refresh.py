"""The committed chapters, executed in place at the papers' scale."""

from collections.abc import Mapping
from typing import Any

from companion import of_chapters
from companion.build import real_data, reference
from companion.build.build import write_generated
from companion.build.errors import BookError
from companion.build.parameters import PAPER, resolve_preset
from companion.build.project import Project, chapters
from companion.build.tree import Say, TreePlan, bring_up_to_date

data_sets = of_chapters("data_sets")


def refresh(project: Project, names: tuple[str, ...], force: bool, say: Say) -> None:
    """Execute stale chapters of ``book/`` in place, then write included texts and the reference.

    Args:
        project: the book.
        names: the chapters to look at; all, where none is named.
        force: whether fresh ones are executed too.
        say: told each executed chapter, in one line.

    Raises:
        BookError: a chapter failed or wrote to the error stream; it is then as it was. Or one would be measured on what
            stands in for real data that is missing; nothing is executed then.
    """
    chosen = tuple(name for name in chapters(project) if name in names or not names)
    parameters = resolve_preset(project, PAPER, chosen)
    for name, sets in real_data.missing(project, parameters).items():
        _refuse_stand_ins(project, name, parameters[name], sets, force)
    bring_up_to_date(project, TreePlan(project.book, parameters, strict=True, force=force), say, say)
    write_generated(project, project.book, project.book)
    reference.write(project)


def _refuse_stand_ins(
    project: Project, name: str, values: Mapping[str, Any], missing: tuple[str, ...], force: bool
) -> None:
    """Refuse to replace what a chapter measured on real data by a run on what stands in for it."""
    if force or real_data.needed(project, name, values):
        raise BookError(
            f"{name} needs data that are not in {data_sets.folder()}: {' and '.join(missing)}; run `make data` to "
            "download what is missing, set SCIKIT_LEARN_DATA to another folder, or refresh other chapters: NAME=..."
        )
