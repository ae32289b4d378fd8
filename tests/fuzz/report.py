"""What a campaign found, for machines."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Wrong:
    """A set of parameters that went wrong: of which chapter, when (``validated`` or ``run``), and how in words."""

    chapter: str
    given: str
    when: str
    words: str

    def __str__(self) -> str:
        return f"{self.chapter} {self.given}: {self.words}"


def write(path: Path, asked: dict[str, Any], accepted: int, ran: int, wrong: Sequence[Wrong]) -> None:
    """Keep how many sets were accepted and run, and each that went wrong, as JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    content = {"asked": asked, "accepted": accepted, "ran": ran, "wrong": [vars(each) for each in wrong]}
    path.write_text(json.dumps(content, indent=1) + "\n", "utf-8")
