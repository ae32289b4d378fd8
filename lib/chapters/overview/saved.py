"""What the executed chapters saved: their tables and findings, by name."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from companion.judging import cards, claims, errata
from companion.judging.findings import Consequence, Finding, Verdict
from companion.running import stamps


@dataclass(frozen=True)
class Saved:
    """A tree of executed chapters: the folder with ``claims.yml`` whose sub-folders hold their tables and findings."""

    tree: Path

    def table(self, chapter: str, name: str) -> pd.DataFrame:
        """A table of a chapter, such as ``noisyhead/rivals`` and ``table-1``."""
        return stamps.read_table(self.tree / chapter / f"{name}.csv")

    @cached_property
    def findings(self) -> dict[str, Finding]:
        """Every finding, by claim."""
        return claims.read_findings(self.tree)

    @cached_property
    def register(self) -> dict[str, claims.Claim]:
        """Every claim, by id."""
        return dict(claims.read_register(claims.find_register(self.tree)))

    @cached_property
    def papers(self) -> dict[str, dict[str, Any]]:
        """What is known of each paper, by its short name."""
        return dict(claims.read_papers(claims.find_register(self.tree)))

    @cached_property
    def headlines(self) -> dict[str, str]:
        """The headline of each finding, by claim, with a link to its card."""
        return {claim: f"{own.headline} ({cards.link(self.register[claim])})" for claim, own in self.findings.items()}

    @property
    def found(self) -> dict[str, Any]:
        """What was found of each claim: its badge, which leads to its card, and its headline."""
        return {claim: f"{cards.of(self.findings[claim])}. {headline}" for claim, headline in self.headlines.items()}

    def _of(self, paper: str) -> tuple[list[Finding], list[errata.Erratum]]:
        """What was found of a paper's claims, and its independent errata."""
        found = {claim: finding for claim, finding in self.findings.items() if self.register[claim].paper == paper}
        roots = [entry for entry in errata.errata(self.register, found) if entry.root.paper == paper]
        return list(found.values()), roots

    def errata(self, paper: str) -> str:
        """How many independent errata a paper has, and how many of these change a conclusion."""
        found, roots = self._of(paper)
        grave = sum(entry.consequence == Consequence.CONCLUSION for entry in roots)
        return (
            f"We judged {len(found)} claims and found {len(roots)} independent errata; "
            f"{grave or 'none'} of these {'changes' if grave == 1 else 'change'} a conclusion"
        )

    def letter(self, paper: str) -> dict[str, str]:
        """The places of a letter to the authors of a paper: headlines, corrections and conditions, and counts."""
        found, roots = self._of(paper)
        corrections = {f"{c}_correction": f.correction.replace(" Sh", "\\\n   Sh") for c, f in self.findings.items()}
        slips = [slip for slip in claims.read_slips(claims.find_register(self.tree)) if slip.paper == paper]
        counts = {"judged": len(found), "errata": len(roots), "slips": len(slips)}
        counts["stated"] = sum(own.headline.startswith("This is a") for own in found)  # definitions, assumptions
        counts["confirmed"] = sum(own.verdict == Verdict.HOLDS for own in found)
        told = {"tally": cards.tally(own.verdict for own in found), "arxiv": str(self.papers[paper]["arxiv"])}
        return self.headlines | corrections | told | {name: f"{count}" for name, count in counts.items()}
