"""The committed chapters, executed in place at the papers' scale."""

from costofprivacy.book import reference
from costofprivacy.book.build import write_generated
from costofprivacy.book.parameters import PAPER, resolve_preset
from costofprivacy.book.project import Project, chapters
from costofprivacy.book.tree import Plan, Say, bring_up_to_date


def refresh(project: Project, names: tuple[str, ...], force: bool, say: Say) -> None:
    """Execute stale chapters of ``book/`` in place, then write included texts and the reference.

    Args:
        project: the book.
        names: the chapters to look at; all, where none is named.
        force: whether fresh ones are executed too.
        say: told each executed chapter, in one line.

    Raises:
        BookError: a chapter failed or wrote to the error stream; it is then as it was.
    """
    chosen = tuple(name for name in chapters(project) if name in names or not names)
    parameters = resolve_preset(project, PAPER, chosen)
    bring_up_to_date(project, Plan(project.book, parameters, strict=True, force=force), say, say)
    write_generated(project, project.book, project.book)
    reference.write(project)
