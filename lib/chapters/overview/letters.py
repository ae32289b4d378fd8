"""What the letters to the papers' authors quote: what was found of some claims, what should stand there, and counts."""

from collections.abc import Iterable, Mapping

from chapters.overview.saved import Saved
from companion.judging import cards, errata


def quoted(saved: Saved, paper: str, claims: Mapping[str, str], corrected: Iterable[str]) -> dict[str, str]:
    """The places of a letter.

    Args:
        saved: the executed chapters. paper: the short name of the paper. claims: the claims that the letter names.
        corrected: the names of those whose correction or condition it quotes as well.

    Returns:
        For each claim its headline with a link to its card, under its own name, and its correction or condition, under
        that name with ``_correction``; the counts of the paper's claims and errata.
    """
    own = {claim: found for claim, found in saved.findings.items() if saved.register[claim].paper == paper}
    roots = [entry for entry in errata.errata(saved.register, own) if entry.root.paper == paper]
    return (
        {name: saved.headline(claim) for name, claim in claims.items()}
        | {f"{name}_correction": saved.findings[claims[name]].correction for name in corrected}
        | {
            "judged": f"{len(own)}",
            "tally": cards.tally(found.verdict for found in own.values()),
            "errata": f"{len(roots)}",
            "slips": f"{sum(slip.paper == paper for slip in saved.slips)}",
            "arxiv": str(saved.papers[paper]["arxiv"]),
        }
    )
