"""The committed chapters, executed in place at the papers' scale."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from costofprivacy import datasets, stamps
from costofprivacy.book import freshness, reference
from costofprivacy.book.build import write_generated
from costofprivacy.book.errors import BookError
from costofprivacy.book.parameters import PAPER, experiment_of, resolve_preset
from costofprivacy.book.project import Project, chapters, place
from costofprivacy.book.tree import Plan, Say, bring_up_to_date


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
    for name, values in parameters.items():
        _refuse_stand_ins(project, name, values, force)
    bring_up_to_date(project, Plan(project.book, parameters, strict=True, force=force), say, say)
    write_generated(project, project.book, project.book)
    reference.write(project)


def _refuse_stand_ins(project: Project, name: str, values: Mapping[str, Any], force: bool) -> None:
    """Refuse to replace what a chapter measured on real data by a run on what stands in for it."""
    missing = _missing(experiment_of(project, name, values))
    if not missing:
        return
    expected = freshness.inputs(project, name, values, project.book)
    if force or not stamps.are_saved(place(project.book, name).results, expected.measured):
        raise BookError(
            f"{name} is measured on {' and '.join(missing)}, not in {datasets.folder()}: `make data` brings what is "
            "missing, SCIKIT_LEARN_DATA names another folder, NAME=... refreshes other chapters alone"
        )


def _missing(experiment: Any) -> list[str]:
    """The data sets that an experiment declares, or has among its parameters, and that are not in the data folder."""
    if experiment is None:
        return []
    named = [*getattr(experiment, "data_sets", ())]
    for field in fields(experiment):
        value = getattr(experiment, field.name)
        named += value if isinstance(value, (list, tuple)) else [value]
    return [name for name in datasets.COUNTS if name in named and not datasets.is_cached(name)]
