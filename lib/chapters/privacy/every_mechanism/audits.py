"""Each release audited: as it is, on hostile records, and with deliberate faults."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from chapters.privacy.every_mechanism import rows
from chapters.privacy.every_mechanism.records import SOUND
from chapters.privacy.every_mechanism.rows import Fault, Row
from companion.streams import Runner
from costofprivacy.privacy import Audit, GaussianDP, audit_mechanism, detectable
from costofprivacy.privacy.audit import each_of

CONFIDENCE = 0.999  # of all audits of sound releases together
AS_IT_IS, HOSTILE, NOISE = "as it is", "hostile records", "noise too small"
NONE = float("nan")


@dataclass(frozen=True)
class Cell:
    """One release and what is tried on it.

    Args:
        name: of the row. tried: `AS_IT_IS`, `HOSTILE`, `NOISE`, or a gross fault. mu, delta: the standard setting.
        releases: on each neighbour. confidence: of each audit. deficits: of the noise, ascending, for `NOISE`. place:
            of the row, which names the stream.
    """

    name: str
    tried: str
    mu: float
    delta: float
    releases: int
    confidence: float
    deficits: tuple[float, ...]
    place: int

    @property
    def key(self) -> int:
        """Streams of their own for every row and trial."""
        return 100 * self.place + sum(map(ord, self.tried)) % 97


@cache
def _ours(mu: float, delta: float) -> dict[str, Row]:
    return {row.name: row for row in rows.ours(mu, delta)}


def audited(cell: Cell, row: Row, fault: Fault, *, rng: np.random.Generator) -> Audit:
    """The audit of one row with one fault, or none."""
    knobs, (first, second), draw = fault

    def scores(data: Any, count: int, source: np.random.Generator) -> np.ndarray:
        return draw(data, count, source, knobs)

    delta = row.at.delta if row.at else cell.delta
    releases = max(2, round(cell.releases * row.share))
    return audit_mechanism(scores, first, second, delta=delta, releases=releases, confidence=cell.confidence, rng=rng)


def trial(cell: Cell, *, rng: np.random.Generator) -> np.ndarray:
    """Lower bounds on ε and μ, whether they refute the claim, and the deficit of the noise; shape (4,).

    Of hostile pairs the largest bounds; of deficits the smallest that is detected, or the last one.
    """
    row, standard = _ours(cell.mu, cell.delta)[cell.name], rows.standard(cell.mu, cell.delta)
    tried: list[tuple[float, Fault]] = [(NONE, (SOUND, row.worst, row.draw))]
    if cell.tried == HOSTILE:
        tried = [(NONE, (SOUND, pair, row.draw)) for pair in row.hostile]
    elif cell.tried == NOISE:
        tried = [(deficit, rows.less_noise(row, deficit)) for deficit in cell.deficits]
    elif cell.tried != AS_IT_IS:
        tried = [(NONE, rows.gross(row)[cell.tried])]
    found, deficit, bounds = [], NONE, np.zeros(2)
    for deficit, fault in tried:  # noqa: B007  (the last one is what is told)
        one = audited(cell, row, fault, rng=rng)
        found.append((one.epsilon, one.mu))
        bounds = np.max(found, axis=0) if cell.tried == HOSTILE else np.array(found[-1])
        if row.exceeded(float(bounds[0]), float(bounds[1]), standard):
            break
    return np.array([*bounds, row.exceeded(float(bounds[0]), float(bounds[1]), standard), deficit])


def cells(mu: float, delta: float, releases: int, hostile_releases: int, deficits: Sequence[float]) -> list[Cell]:
    """All that is tried. Only sound releases share the probability of an error: faults are judged as strictly."""
    ours = _ours(mu, delta)
    family = sum(1 + len(row.hostile) for row in ours.values())
    each, found = each_of(family, CONFIDENCE), []
    for place, row in enumerate(ours.values()):
        for tried in (AS_IT_IS, HOSTILE, NOISE, *rows.gross(row)):
            drawn = hostile_releases if tried == HOSTILE else releases
            falling = tuple(deficits) if tried == NOISE else ()
            found.append(Cell(row.name, tried, mu, delta, drawn, each, falling, place))
    return found


def measure(asked: Sequence[Cell], runner: Runner, seed: int) -> dict[str, pd.DataFrame]:
    """Tables ``releases``, one row for each, and ``audits``, one row for all that was tried."""
    audits = pd.DataFrame(
        [
            {"release": cell.name, "tried": cell.tried, "releases": round(cell.releases * _row(cell).share)}
            | {"epsilon": values[0, 0], "mu": values[0, 1], "refuted": bool(values[0, 2]), "deficit": values[0, 3]}
            for cell, values in runner.run(trial, asked, 1, seed).items()
        ]
    )
    return {"releases": _releases(asked, audits), "audits": audits}


def _row(cell: Cell) -> Row:
    return _ours(cell.mu, cell.delta)[cell.name]


def _releases(asked: Sequence[Cell], audits: pd.DataFrame) -> pd.DataFrame:
    """What each release claims, and what the audits say."""
    found = []
    for cell in asked:
        if cell.tried != AS_IT_IS:
            continue
        row = _row(cell)
        own = audits[audits["release"] == cell.name].set_index("tried")
        gaussian, at = isinstance(row.claim, GaussianDP), row.at or rows.standard(cell.mu, cell.delta)
        told: dict[str, object] = {"release": row.name, "part": row.part, "module": row.module, "run": row.run}
        told |= {"attained": row.attained, "gaussian": gaussian, "claimed_mu": cell.mu if gaussian else NONE}
        told |= {"claimed_epsilon": rows.standard(cell.mu, cell.delta).epsilon, "delta": cell.delta}
        told |= {"audited_delta": at.delta, "audited_claim": at.epsilon}
        told |= {"releases": own.loc[AS_IT_IS, "releases"], "confidence": CONFIDENCE}
        told |= {f"{name}_found": own.loc[AS_IT_IS, name] for name in ("epsilon", "mu")}
        told |= {f"hostile_{name}": own.loc[HOSTILE, name] for name in ("epsilon", "mu")}
        told["refuted"] = bool(own.loc[[AS_IT_IS, HOSTILE], "refuted"].any())
        told["deficit"] = own.loc[NOISE, "deficit"] if own.loc[NOISE, "refuted"] else NONE
        told["least_deficit"] = detectable(cell.mu, round(cell.releases * row.share), cell.confidence)
        for name, fault in (("clip", rows.FORGOTTEN), ("scaling", rows.SCALED)):
            told[name] = _detected(own, fault)
        found.append(told)
    return pd.DataFrame(found)


def _detected(own: pd.DataFrame, fault: str) -> str:
    """Whether a gross fault was detected; a dash where the release cannot have it."""
    if fault not in own.index:
        return "–"
    return "detected" if own.loc[fault, "refuted"] else "not detected"
