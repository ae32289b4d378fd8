"""The pages of claims: beside a chapter that judges, one page with a card for each of its claims.

The table of contents names these pages below their chapters. Nobody writes them: they are made whenever the book's
pages are laid out, from the executed chapter, its saved findings and the register of claims.
"""

from pathlib import Path

from companion.build import notebooks
from companion.build.project import Project, chapters, module_name, place, toc_entries
from companion.judging import addresses, cards
from companion.judging.claims import read_findings, read_papers, read_register
from companion.judging.evidence import drawn_from, figure_label, gather, title_of
from companion.judging.judges import judges_of

TITLE = "Claim by claim: "  # and the title of the chapter
OPENING = """# {title}{chapter}

{judged}: {tally}. Click on a claim to see the paper's own words, the criterion by which it passes, the evidence and the
numbers. [The ledger]({up}ledger.ipynb) lists the claims of all chapters and says what each verdict means."""


def generated(project: Project) -> list[str]:
    """The chapters that have a page of claims, as the table of contents says."""
    named = set(toc_entries(project))
    return [name for name in chapters(project) if f"book/{addresses.page_of(name)}" in named]


def page(project: Project, tree: Path, name: str) -> str:
    """The page of one chapter's claims.

    Args:
        project: the book. tree: the executed chapters. name: the chapter.

    Returns:
        Markdown, with all claims of which the chapter has saved a finding, in the order of the register.
    """
    executed = notebooks.read(place(tree, name).notebook)
    found = read_findings(place(tree, name).results)
    own = [claim for claim in read_register(project.claims).values() if claim.id in found]
    papers, judges = read_papers(project.claims), judges_of(module_name(project, name))
    drawn = drawn_from(cell.source for cell in notebooks.code_cells(executed))
    captions = notebooks.captions(executed)
    titles = {figure: title_of(captions.get(figure_label(name, figure), "")) for figure in drawn}
    shown = (
        cards.card(
            claim,
            found[claim.id],
            gather(claim, found[claim.id], judges.get(claim.id), drawn, titles),
            papers[claim.paper]["arxiv"],
        )
        for claim in own
    )
    chapter, count = notebooks.title(executed), "one claim" if len(own) == 1 else f"{len(own)} claims"
    opening = OPENING.format(
        title=TITLE,
        chapter=chapter,
        judged=f"The chapter [{chapter}]({name.split('/')[-1]}.ipynb) judges {count}",
        tally=cards.tally(found[claim.id].verdict for claim in own),
        up="../" * name.count("/"),
    )
    return "\n\n".join([opening, *shown]) + "\n"
