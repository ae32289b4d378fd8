"""What became of every verdict since it was first given: ``book/changes.yml``, and the page made from it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import yaml

from costofprivacy.cards import badge, link
from costofprivacy.claims import Claim, find_register, read_papers, read_register
from costofprivacy.findings import Finding, Verdict

CHANGES_FILE = "changes.yml"
OLD_VERDICTS = ("holds, amended",)  # words that earlier versions of the book used
WORDS = (*map(str, Verdict), *OLD_VERDICTS)


@dataclass(frozen=True)
class Change:
    """Claims whose verdict changed at one time, for one reason.

    Args:
        version: the version of the book that first had the new verdict. date: when, as year-month-day.
        before, after: the verdicts. why: the reason, in a sentence. claims: their ids.

    Raises:
        ValueError: if a verdict is unknown, nothing changes, or no reason is given.
    """

    version: str
    date: str
    before: str
    after: str
    why: str
    claims: tuple[str, ...]

    def __post_init__(self) -> None:
        for verdict in (self.before, self.after):
            if verdict not in WORDS:
                raise ValueError(f"a verdict must be one of {'; '.join(WORDS)}, got {verdict!r}")
        if self.before == self.after:
            raise ValueError(f"a change must change something, got {self.before!r} twice for {', '.join(self.claims)}")
        if not self.why or not self.claims:
            raise ValueError(f"a change must have a reason and its claims, got {self}")


@dataclass(frozen=True)
class History:
    """What became of every verdict.

    Args:
        first: the verdict that each claim was first given, by claim. changes: what became of it since, oldest first.
    """

    first: Mapping[str, str]
    changes: tuple[Change, ...]

    def present(self) -> dict[str, str]:
        """Each claim's verdict after all changes.

        Raises:
            ValueError: if a change is one of another verdict than the claim had, or of a claim that had none.
        """
        now = dict(self.first)
        for change in self.changes:
            for claim in change.claims:
                if now.get(claim) != change.before:
                    raise ValueError(f"{claim} was {now.get(claim)!r} when it changed, not {change.before!r}")
                now[claim] = change.after
        return now


def read_history(path: Path) -> History:
    """The history in a file.

    Raises:
        ValueError: if a claim is first judged twice, or a change is not one.
    """
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    given = [(c, v) for verdicts in content["first"].values() for v, claims in verdicts.items() for c in claims]
    first = dict(given)
    if len(first) < len(given):
        twice = sorted({claim for claim, _ in given if [c for c, _ in given].count(claim) > 1})
        raise ValueError(f"a claim is first judged once, got {', '.join(twice)} twice")
    return History(first, tuple(_change(entry) for entry in content["changes"]))


def untold(history: History, found: Mapping[str, Finding]) -> list[str]:
    """What the history does not say of the present verdicts, a line each; empty where it is complete."""
    told = history.present()
    lines = []
    for claim, finding in found.items():
        if claim not in told:
            lines.append(f"{claim} was first judged now: put it under `first` of {CHANGES_FILE} ({finding.verdict})")
        elif told[claim] != finding.verdict:
            lines.append(f"{claim} was {told[claim]!r} and is {str(finding.verdict)!r}: say why in {CHANGES_FILE}")
    return lines + [f"{claim} was judged and is judged no more" for claim in told if claim not in found]


def page(book: Path) -> str:
    """Every verdict that ever changed, as Markdown, the latest version first.

    Args:
        book: a folder with ``claims.yml``; ``changes.yml`` lies in it, or beside the register of the project around it.
    """
    path = find_register(book)
    register, papers = read_register(path), read_papers(path)
    history = read_history(find_changes(book))
    lines: list[str] = []
    newest_first = sorted(history.changes, key=lambda change: _order(change.version), reverse=True)
    for version, changes in groupby(newest_first, key=lambda change: change.version):
        lines += [f"## Version {version}", ""]
        for change in changes:
            lines += [f"- {badge(change.before)} became {badge(change.after)} on {change.date}. {change.why}", ""]
            lines += [f"  {paper['short']}: {places}" for paper, places in _by_paper(change, register, papers)] + [""]
    return "\n".join(lines)


def find_changes(book: Path) -> Path:
    """``changes.yml`` of a folder of chapters or, for a copy of them, of the project around it.

    Raises:
        FileNotFoundError: if there is none.
    """
    for folder in (book.resolve(), *(parent / "book" for parent in book.resolve().parents)):
        if (folder / CHANGES_FILE).is_file():
            return folder / CHANGES_FILE
    raise FileNotFoundError(f"no {CHANGES_FILE} beside the chapters: run inside the project")


def _change(entry: Mapping[str, object]) -> Change:
    texts = {key: " ".join(str(entry[key]).split()) for key in ("version", "date", "before", "after", "why")}
    return Change(**texts, claims=tuple(entry["claims"]))  # type: ignore[arg-type]


def _order(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def _by_paper(
    change: Change, register: Mapping[str, Claim], papers: Mapping[str, Mapping[str, str]]
) -> Iterable[tuple[Mapping[str, str], str]]:
    """The claims of a change, linked, paper by paper."""
    for name, paper in papers.items():
        places = [link(register[claim]) for claim in change.claims if register[claim].paper == name]
        if places:
            yield paper, "; ".join(places) + "."
