"""Where the card of a claim stands: on the page of its chapter's claims, which lies beside the chapter.

In Markdown a link to ``#`` and `Claim.anchor` finds the card from every page of the book. In HTML, and in files to take
away, a link needs the address that this module gives.
"""

import posixpath

from companion.judging.claims import Claim

CLAIMS = "-claims"  # ends the name of a page of claims


def page_of(chapter: str) -> str:
    """The page with the cards of a chapter's claims, by the chapter's name: ``dpgd/schedules-claims``."""
    return f"{chapter}{CLAIMS}"


def card(claim: Claim, start: str = "") -> str:
    """The address of a claim's card.

    Args:
        claim: whose card it is.
        start: the page that links there, such as ``dpgd/schedules``; by default a page in the book's own folder.

    Returns:
        The address, relative to that page.
    """
    page = posixpath.relpath(f"{page_of(claim.chapter)}.html", posixpath.dirname(start) or ".")
    return f"{page}#{claim.anchor}"
