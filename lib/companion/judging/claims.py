"""The claims of the papers, the findings that the chapters saved, and the ledger that joins the two."""

import copy
import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from companion.judging.findings import Consequence, Finding, Number, Verdict, word_count

VERDICTS_FILE = "verdicts.json"
PENDING = "pending"
LONGEST_QUOTE = 25  # words
PROJECT = Path(__file__).parents[3] / "book"

WITHDRAWN = "withdrawn"  # the last verdict of a claim that the paper does not make
WORDS = (*map(str, Verdict), "holds, amended", WITHDRAWN)  # the second is a word of earlier versions of the book

KINDS = {  # of the evidence that a verdict rests on
    "proof": "we checked the derivation step by step; the numbers confirm it",
    "exact computation": "we computed both sides without sampling; nothing is proved beyond the sizes that we computed",
    "simulation": "we sampled; nothing is proved, and nothing is known beyond the sizes that we simulated",
    "citation": "we compared the paper with the source that it cites or the data that it uses",
}


def usual(verdict: Verdict) -> Consequence:
    """What a verdict changes where nothing else is said: numbers, unless there is nothing to correct."""
    unchanged = verdict in (Verdict.HOLDS, Verdict.UNTESTABLE)
    return Consequence.NONE if unchanged else Consequence.NUMBERS


@dataclass(frozen=True)
class Judged:
    """A verdict that a claim was given at one time: by which version of the book, and in the words of that time.

    An earlier verdict was changed to it at a date, year-month-day, and for a reason; the first has neither.
    """

    version: str
    verdict: str
    date: str = ""
    why: str = ""

    def __post_init__(self) -> None:
        if self.verdict not in WORDS:
            raise ValueError(f"a verdict must be one of {'; '.join(WORDS)}, got {self.verdict!r}")


@dataclass(frozen=True)
class Claim:
    """One numbered result of a paper, and what the book says of it.

    Args:
        id: ``paper/kind-number``. place: where it stands. says: what it says, in our words.
        chapter: the chapter that judges it, or will. pending: whether that chapter does not exist yet.
        quote: the paper's own words, at most `LONGEST_QUOTE` of them.
        kind: what kind of evidence the verdict rests on. rule: the criterion by which the claim passes.
        headline, printed, should_read, condition, argued, would_change: the words of the book's verdict, see `Finding`.
        derived: why no case exceeds the bound that the headline states; empty where the headline names its sizes.
        varied: what the paper leaves open, of what the verdict or its number depends on, and what came out where we
            varied it.
        undermines: the sentence of abstract, introduction or conclusion, or the guarantee, that does not follow.
        harmless: whether nothing that a reader would compute changes, although there is something to correct.
        slip: the claim whose slip this one inherits. also: places without a claim that have the same slip.
        no_erratum: why what was found is no erratum of the paper; empty where it is one.
        grounds: which of its judge's ways to the verdict it was; empty where there is one.
        history: the verdicts that it was given, the first one first.
    """

    id: str
    place: str
    says: str
    chapter: str
    pending: bool = False
    quote: str = ""
    kind: str = ""
    rule: str = ""
    headline: str = ""
    derived: str = ""
    varied: str = ""
    printed: str = ""
    should_read: str = ""
    condition: str = ""
    argued: str = ""
    would_change: str = ""
    undermines: str = ""
    harmless: bool = False
    slip: str = ""
    also: tuple[str, ...] = ()
    no_erratum: str = ""
    grounds: str = ""
    history: tuple[Judged, ...] = ()

    def __post_init__(self) -> None:
        for before, after in pairwise(self.history):
            if before.verdict == after.verdict:
                raise ValueError(f"a change must change something, got {after.verdict!r} twice for {self.id}")
            if not (after.why and after.date):
                raise ValueError(f"a change must have a date and a reason, got none for {self.id}: {after.verdict!r}")
        if word_count(self.quote.replace("…", "")) > LONGEST_QUOTE:
            raise ValueError(f"quote must have at most {LONGEST_QUOTE} words, got {self.quote!r} for {self.id}")
        if self.kind and self.kind not in KINDS:
            raise ValueError(f"kind must be one of {', '.join(KINDS)}, got {self.kind!r} for {self.id}")

    @property
    def consequence(self) -> Consequence:
        """What the book's verdict changes for a reader of the paper."""
        if self.undermines:
            return Consequence.CONCLUSION
        return Consequence.NONE if self.harmless or not self.history else usual(Verdict(self.verdict))

    @property
    def verdict(self) -> str:
        """The verdict that the book found; empty where it has none yet."""
        return self.history[-1].verdict if self.history else ""

    @property
    def paper(self) -> str:
        """The short name of its paper."""
        return self.id.split("/")[0]

    @property
    def anchor(self) -> str:
        """The name of its card, and of its row in the ledger. `cards.address` says on which page the card is."""
        return "claim-" + self.id.replace("/", "-").replace(".", "-")


@dataclass(frozen=True)
class Slip:
    """A slip in a display or a sentence of which nobody would ask whether it holds; ``chapter`` has the derivation."""

    paper: str
    place: str
    printed: str
    should_read: str
    why: str
    chapter: str


def find_register(start: Path) -> Path:
    """``book/claims.yml`` of the project around ``start``; outside a project that of this code."""
    around = [folder / sub for folder in (start.resolve(), *start.resolve().parents) for sub in ("", "book")]
    for folder in (*around, PROJECT):
        if (folder / "claims.yml").is_file():
            return folder / "claims.yml"
    raise FileNotFoundError(f"no book/claims.yml in {start} or above it; run inside the project")


def read_register(path: Path) -> dict[str, Claim]:
    """All claims by id, in the order of the register."""
    claims: dict[str, Claim] = {}
    for entry in load_yaml(path.read_text(encoding="utf-8"))["claims"]:
        claim = _claim(entry)
        if claim.id in claims:
            raise ValueError(f"id must be given to one claim only, got {claim.id!r} twice in {path.name}")
        claims[claim.id] = claim
    return claims


def read_withdrawn(path: Path) -> dict[str, Claim]:
    """What was once judged as a claim and is none, by id: the last verdict of its history is `WITHDRAWN`."""
    entries = load_yaml(path.read_text(encoding="utf-8")).get("withdrawn") or ()
    return {entry["id"]: _claim(entry) for entry in entries}


def read_slips(path: Path) -> tuple[Slip, ...]:
    """The slips that stand in no claim."""
    entries = load_yaml(path.read_text(encoding="utf-8")).get("slips") or ()
    return tuple(Slip(**entry) for entry in entries)


def read_papers(path: Path) -> dict[str, dict[str, str]]:
    """Title, arXiv number, short name and authors of each paper."""
    return copy.deepcopy(load_yaml(path.read_text(encoding="utf-8"))["papers"])


def _claim(entry: Mapping[str, Any]) -> Claim:
    history = tuple(Judged(**{key: str(value) for key, value in judged.items()}) for judged in entry.get("history", ()))
    return Claim(**dict(entry) | {"history": history, "also": tuple(entry.get("also", ()))})


@lru_cache(maxsize=8)
def load_yaml(text: str) -> dict[str, Any]:
    """What a text in YAML holds, for all who read it. It may be long: LibYAML's parser is ten times faster."""
    return yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)) or {}


def record(folder: Path, found: Mapping[str, Finding]) -> None:
    """Write findings, by claim, into ``folder/verdicts.json``, in the place of earlier ones on the same claims."""
    path = folder / VERDICTS_FILE
    known = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else []
    entries = {entry["claim"]: entry for entry in known}
    entries |= {claim: {"claim": claim, **plain_data(asdict(finding))} for claim, finding in found.items()}
    path.write_text(json.dumps(list(entries.values()), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def read_findings(root: Path) -> dict[str, Finding]:
    """Every saved finding below ``root``, by claim."""
    found: dict[str, Finding] = {}
    for path in sorted(root.rglob(VERDICTS_FILE)):
        for entry in json.loads(path.read_text(encoding="utf-8")):
            claim = entry.pop("claim")
            if claim in found:
                raise ValueError(f"a claim must be judged once, got two verdicts on {claim!r}")
            kinds = {"verdict": Verdict(entry["verdict"]), "consequence": Consequence(entry["consequence"])}
            numbers = tuple(Number(**number) for number in entry["numbers"])
            found[claim] = Finding(**entry | kinds | {"numbers": numbers})
    return found


def ledger(register: Iterable[Claim], found: Mapping[str, Finding]) -> pd.DataFrame:
    """The register joined with the findings: one row a claim, ``pending`` where there is none."""
    claims = list(register)
    unknown = sorted(set(found) - {claim.id for claim in claims})
    if unknown:
        raise ValueError(f"a verdict must have a claim, got {unknown}")
    rows = []
    for claim in claims:
        own = {name: getattr(claim, name) for name in ("paper", "place", "says", "chapter")}
        judged = {"verdict": PENDING, "consequence": "", "evidence": claim.kind, "vacuous": False, "headline": ""}
        if finding := found.get(claim.id):
            told = {"vacuous": finding.vacuous, "headline": finding.headline}
            judged |= {"verdict": str(finding.verdict), "consequence": str(finding.consequence)} | told
        rows.append({"claim": claim.id} | own | judged)
    return pd.DataFrame(rows)


def counts(table: pd.DataFrame) -> pd.DataFrame:
    """Number of claims by paper and verdict."""
    order = [*map(str, Verdict), PENDING]
    return pd.crosstab(table["paper"], table["verdict"]).reindex(columns=order, fill_value=0)


def plain_data(node: Any) -> Any:
    """Data that JSON can hold: what is not finite becomes its name."""
    if isinstance(node, dict):
        return {key: plain_data(value) for key, value in node.items()}
    if isinstance(node, (list, tuple)):
        return [plain_data(value) for value in node]
    return str(node) if isinstance(node, float) and not math.isfinite(node) else node
