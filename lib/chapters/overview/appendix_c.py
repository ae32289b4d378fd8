"""What the page on the proofs of the deterministic equivalent says: tables, a figure and verdicts of its chapter."""

import re

import pandas as pd

from chapters.dpgd.deterministic_equivalent import show as chapter
from chapters.overview.saved import Saved
from companion.judging import cards
from companion.showing.plates import Plate

CHAPTER = "dpgd/deterministic-equivalent"
JUDGED = {
    "enclosure_judged": ("equation-4.12", "equation-4.13", "proposition-d.1"),
    "diffusion_judged": ("equation-4.14", "definition-c.1", "remark-4.3", "theorem-5"),
    "resolvents_judged": ("equation-4.17", "equation-4.20", "equation-4.21"),
    "displays_judged": ("equation-c.8", "equation-c.9", "equation-c.27", "equation-c.29"),
    "integrals_judged": ("equation-c.42", "equation-c.43", "equation-c.45", "equation-c.46"),
    "sums_judged": ("equation-4.22", "lemma-c.2", "lemma-c.3", "lemma-c.4", "lemma-c.5"),
    "last_judged": ("equation-c.5", "equation-c.60", "equation-c.61"),
}
TABLES = {
    "enclosure": chapter.show_enclosure,
    "displays": chapter.show_displays,
    "caps": chapter.show_caps,
    "last_step": chapter.show_last_step,
}


def values(saved: Saved) -> dict[str, str | Plate]:
    """The places of ``dpgd/appendix-c.md``."""
    found: dict[str, str | Plate] = {}
    for key, names in JUDGED.items():
        found[key] = cards.others([saved.register[f"dpgd/{name}"] for name in names], saved.findings)
    tables = {key: markdown(show(saved.table(CHAPTER, key.replace("_", "-")))) for key, show in TABLES.items()}
    return found | tables | {"diffusion": chapter.draw_homogenised(saved.table(CHAPTER, "homogenised"))}


def markdown(table: pd.DataFrame) -> str:
    """A table as Markdown: what names its rows on the left, a name that the row above has too left out."""
    flat = table.reset_index()
    heads = [", ".join(str(part) for part in name if part) if isinstance(name, tuple) else str(name) for name in flat]
    rows = [[re.sub(r"^-(?=\d)", "−", str(entry)) for entry in row] for row in flat.itertuples(index=False)]
    lines = [heads, ["---"] * table.index.nlevels + ["--:"] * table.shape[1]]
    last: list[str] = []
    for row in rows:
        same = 0
        while same < table.index.nlevels - 1 and row[: same + 1] == last[: same + 1]:
            same += 1
        lines.append([""] * same + row[same:])
        last = row
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
