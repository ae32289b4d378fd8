"""Claims of the papers, their verdicts, and the ledger that joins the two."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

VERDICTS_FILE = "verdicts.json"
PENDING = "pending"


class Verdict(StrEnum):
    """What the book finds of a claim; see `MEANING`."""

    HOLDS = "holds"
    AMENDED = "holds, amended"
    FAILS = "fails"
    UNTESTABLE = "untestable"


MEANING = {
    Verdict.HOLDS: "as printed, within the stated statistical error",
    Verdict.AMENDED: "after a correction of a constant, a condition or a slip, which the chapter derives and names; "
    "its form stays, the powers of the sizes included",
    Verdict.FAILS: "a measurement or a counterexample contradicts it, and no such correction saves it",
    Verdict.UNTESTABLE: "nothing measurable follows from it; the evidence says why",
}


@dataclass(frozen=True)
class Judgement:
    """A verdict and its evidence in one line, computed from a table."""

    verdict: Verdict
    evidence: str

    def __post_init__(self) -> None:
        if not self.evidence or "\n" in self.evidence:
            raise ValueError(f"evidence must be one line that is not empty, got {self.evidence!r}")


@dataclass(frozen=True)
class Claim:
    """One numbered result of a paper.

    Args:
        id: ``paper/kind-number``. place: where it stands. says: what it says, in our words.
        chapter: the chapter that judges it, or will. pending: whether that chapter does not exist yet.
    """

    id: str
    place: str
    says: str
    chapter: str
    pending: bool = False

    @property
    def paper(self) -> str:
        """The short name of its paper."""
        return self.id.split("/")[0]


def badge(verdict: str) -> str:
    """A verdict as a coloured word for HTML pages."""
    slug = verdict.replace(", ", "-").replace(" ", "-")
    return f'<span class="verdict verdict-{slug}">{verdict}</span>'


def find_register(start: Path) -> Path:
    """``book/claims.yml`` of the project around ``start``.

    Raises:
        FileNotFoundError: if no parent folder holds one.
    """
    for folder in (start.resolve(), *start.resolve().parents):
        for candidate in (folder / "claims.yml", folder / "book" / "claims.yml"):
            if candidate.is_file():
                return candidate
    raise FileNotFoundError("no book/claims.yml in this folder or above it: run inside the project")


def read_register(path: Path) -> dict[str, Claim]:
    """All claims by id, in the order of the register.

    Raises:
        ValueError: if an id stands twice.
    """
    claims: dict[str, Claim] = {}
    for entry in yaml.safe_load(path.read_text(encoding="utf-8"))["claims"]:
        claim = Claim(**entry)
        if claim.id in claims:
            raise ValueError(f"id must be given to one claim only, got {claim.id!r} twice in {path.name}")
        claims[claim.id] = claim
    return claims


def read_papers(path: Path) -> dict[str, dict[str, str]]:
    """Title, arXiv number and short name of each paper."""
    return yaml.safe_load(path.read_text(encoding="utf-8"))["papers"]


def record(folder: Path, claim: str, judgement: Judgement) -> None:
    """Write a judgement into ``folder/verdicts.json``, in the place of an earlier one on the same claim."""
    path = folder / VERDICTS_FILE
    known = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else []
    entries = {entry["claim"]: entry for entry in known}
    entries[claim] = {"claim": claim, **asdict(judgement)}
    path.write_text(json.dumps(list(entries.values()), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def read_verdicts(root: Path) -> list[dict[str, Any]]:
    """Every saved verdict below ``root``.

    Raises:
        ValueError: if two chapters judge one claim.
    """
    entries = [
        entry for path in sorted(root.rglob(VERDICTS_FILE)) for entry in json.loads(path.read_text(encoding="utf-8"))
    ]
    seen: set[str] = set()
    for entry in entries:
        if entry["claim"] in seen:
            raise ValueError(f"a claim must be judged once, got two verdicts on {entry['claim']!r}")
        seen.add(entry["claim"])
    return entries


def ledger(register: Iterable[Claim], verdicts: Iterable[dict[str, Any]]) -> pd.DataFrame:
    """The register joined with the verdicts: one row a claim, ``pending`` where there is no verdict.

    Raises:
        ValueError: if a verdict has no claim, or is none of the four.
    """
    by_claim = {entry["claim"]: entry for entry in verdicts}
    rows = []
    for claim in register:
        entry = by_claim.pop(claim.id, {"verdict": PENDING, "evidence": ""})
        rows.append(
            {
                "claim": claim.id,
                "paper": claim.paper,
                "place": claim.place,
                "says": claim.says,
                "chapter": claim.chapter,
                "verdict": entry["verdict"],
                "evidence": entry["evidence"],
            }
        )
    unknown = {row["verdict"] for row in rows} - {*map(str, Verdict), PENDING}
    if unknown:
        raise ValueError(f"verdict must be one of {', '.join(Verdict)}, got {sorted(unknown)}")
    if by_claim:
        raise ValueError(f"a verdict must have a claim, got {sorted(by_claim)}")
    return pd.DataFrame(rows)


def counts(table: pd.DataFrame) -> pd.DataFrame:
    """Number of claims by paper and verdict."""
    order = [*map(str, Verdict), PENDING]
    return pd.crosstab(table["paper"], table["verdict"]).reindex(columns=order, fill_value=0)


def plain(text: str) -> str:
    """Text whose characters mean themselves in Markdown."""
    return re.sub(r"([\\`*_{}\[\]<>|$&])", r"\\\1", text)


def as_list(table: pd.DataFrame, links: bool = False) -> str:
    """Rows of a ledger as a Markdown list: verdict, place, what is claimed, what was found.

    Args:
        table: a ledger. links: whether to link judged claims to their chapters, from the book's root folder.
    """
    lines = []
    for row in table.itertuples():
        place = f"[{row.place}]({row.chapter}.ipynb)" if links and row.verdict != PENDING else row.place
        lines.append(f"- {badge(row.verdict)} **{place}.** {' '.join(row.says.split())}")
        if row.evidence:
            lines += ["", f"  *Found:* {plain(row.evidence)}.", ""]
    return "\n".join(lines) + "\n"


def findings(book: Path) -> str:
    """What the book found so far, as Markdown for its first page.

    Args:
        book: folder with ``claims.yml`` whose sub-folders hold the verdicts.
    """
    path = find_register(book)
    papers = read_papers(path)
    table = ledger(read_register(path).values(), read_verdicts(book))
    lines = []
    for paper, row in counts(table).iterrows():
        judged = ", ".join(f"{row[v]} {badge(v)}" for v in (*map(str, Verdict), PENDING) if row[v])
        lines.append(f"- **{papers[str(paper)]['short']}**, {row.sum()} claims: {judged}.")
    for verdict, heading in ((Verdict.FAILS, "What fails"), (Verdict.AMENDED, "What holds after a correction")):
        chosen = table[table["verdict"] == verdict]
        if len(chosen):
            lines += ["", f"**{heading}**", ""]
            lines += [f"- [{r.place}]({r.chapter}.ipynb): {plain(r.evidence)}." for r in chosen.itertuples()]
    return "\n".join(lines) + "\n"
