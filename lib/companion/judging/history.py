"""What became of every verdict since it was first given: the histories of the claims, and the page made from them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby, pairwise
from pathlib import Path

from companion.judging.cards import badge, link
from companion.judging.claims import WITHDRAWN, Claim, find_register, read_papers, read_register, read_withdrawn
from companion.judging.findings import Finding


@dataclass(frozen=True)
class Change:
    """How a verdict changed at one time, for one reason.

    Args:
        version: the version of the book that first had the new verdict. date: when, as year-month-day.
        before, after: the verdicts. why: the reason, in a sentence.
    """

    version: str
    date: str
    before: str
    after: str
    why: str


def changes(register: Mapping[str, Claim]) -> dict[Change, list[Claim]]:
    """Every change of a verdict, with the claims that it befell, in the order of the register."""
    found: dict[Change, list[Claim]] = {}
    for claim in register.values():
        for before, after in pairwise(claim.history):
            change = Change(after.version, after.date, before.verdict, after.verdict, " ".join(after.why.split()))
            found.setdefault(change, []).append(claim)
    return found


def untold(register: Mapping[str, Claim], found: Mapping[str, Finding]) -> list[str]:
    """What the histories do not say of the present verdicts, a line each; empty where they are complete."""
    lines = []
    for claim, finding in found.items():
        told = register[claim].verdict
        if not told:
            lines.append(f"{claim} was first judged now: begin its history in claims.yml ({finding.verdict})")
        elif told != finding.verdict:
            lines.append(f"{claim} was {told!r} and is {str(finding.verdict)!r}: say why in its history in claims.yml")
    judged = (claim.id for claim in register.values() if claim.history)
    return lines + [f"{claim} was judged and is judged no more" for claim in judged if claim not in found]


def page(book: Path) -> str:
    """Every verdict that ever changed, as Markdown, the latest version first.

    Args:
        book: a folder with ``claims.yml``, or a copy of its chapters in the project around it.
    """
    path = find_register(book)
    register, papers = read_register(path) | read_withdrawn(path), read_papers(path)
    lines: list[str] = []
    newest_first = sorted(changes(register).items(), key=lambda item: _order(item[0]), reverse=True)
    for version, entries in groupby(newest_first, key=lambda item: item[0].version):
        lines += [f"## Version {version}", ""]
        for change, claims in entries:
            lines += [f"- {badge(change.before)} became {badge(change.after)} on {change.date}. {change.why}", ""]
            lines += [f"  {paper['short']}: {places}" for paper, places in _by_paper(claims, papers)] + [""]
    return "\n".join(lines)


def _order(change: Change) -> tuple[tuple[int, ...], str]:
    return tuple(int(part) for part in change.version.split(".")), change.date


def _by_paper(
    claims: Iterable[Claim], papers: Mapping[str, Mapping[str, str]]
) -> Iterable[tuple[Mapping[str, str], str]]:
    """Claims, linked, paper by paper."""
    for name, paper in papers.items():
        places = [_place(claim) for claim in claims if claim.paper == name]
        if places:
            yield paper, "; ".join(places) + "."


def _place(claim: Claim) -> str:
    """The place of a claim, linked to its card, if it has one."""
    return claim.place if claim.verdict == WITHDRAWN else link(claim)
