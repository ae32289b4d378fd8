"""Does a release keep its promise on the worst neighbours? And does the audit see what breaks it?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from chapters.noisyhead.softmax_head import choosing
from chapters.noisyhead.softmax_head.names import HEADS
from chapters.noisyhead.softmax_head.poison import contradicting
from companion.streams import Runner
from costofprivacy.noisyhead import per_prompt
from costofprivacy.noisyhead.per_prompt import Plan
from costofprivacy.noisyhead.prompts import Prompts
from costofprivacy.privacy import GaussianDP, audit_mechanism, detectable
from costofprivacy.privacy.audit import each_of

N, L, D, SCALE, CLIP = 4, 4, 2, 1.4, 0.1  # of the audited mechanism
RATE = 1.0
ALONE = 2000  # releases computed at once
SOUND, LESS_NOISE, NO_CLIP, HALVED = "as it is", "noise 30 % too small", "clip forgotten", "sensitivity halved"
FAULTS = {SOUND: 1.0, LESS_NOISE: 0.7, NO_CLIP: 1.0, HALVED: 0.5}  # by which the noise is multiplied


@dataclass(frozen=True)
class AuditCell:
    """A mechanism on worst-case neighbours: whole runs of T steps that claim μ-GDP, with or without a fault.

    The bounds of all ``family`` audits hold together with ``confidence``.
    """

    head: str
    fault: str
    steps: int
    mu: float
    delta: float
    releases: int
    confidence: float
    family: int = 1

    @property
    def key(self) -> int:
        """All audits share their random stream."""
        return 0

    @property
    def plan(self) -> Plan:
        """What a run is told; the noise is that of μ over T steps, times the fault's factor."""
        std = per_prompt.sensitivity(CLIP, N) * np.sqrt(self.steps) / self.mu * FAULTS[self.fault]
        return Plan(self.steps, np.inf if self.fault == NO_CLIP else CLIP, RATE, float(std))


def neighbours() -> tuple[Prompts, Prompts]:
    """Prompts that differ in the first alone: it contradicts the others' law, or confirms it, as loudly."""
    x = np.zeros((N, L + 1, D))
    y = np.zeros((N, L + 1))
    x[0], y[0] = contradicting(D, L)
    other = y.copy()
    other[0, -1] = -y[0, -1]
    return Prompts(x, y, np.zeros((N, D))), Prompts(x, other, np.zeros((N, D)))


def release(cell: AuditCell, data: Prompts, count: int, *, rng: np.random.Generator) -> np.ndarray:
    """A₁₁ of the last iterate in independent runs, shape (count,): what tells the two neighbours apart."""
    found = []
    for start in range(0, count, ALONE):
        plans = [cell.plan] * min(ALONE, count - start)
        gradient = choosing.gradient_of(cell.head, data, SCALE, plans)
        initial = np.zeros((len(plans), D, D))
        found.append(per_prompt.descend_apart(gradient, initial, plans, rng=rng).last[:, 0, 0])
    return -np.concatenate(found)


def trial(cell: AuditCell, *, rng: np.random.Generator) -> np.ndarray:
    """Lower bounds on ε and on μ from releases alone, shape (2,)."""
    found = audit_mechanism(
        lambda data, count, rng: release(cell, data, count, rng=rng),
        *neighbours(),
        delta=cell.delta,
        releases=cell.releases,
        confidence=each_of(cell.family, cell.confidence),
        rng=rng,
    )
    return np.array([found.epsilon, found.mu])


def measure(cells: Sequence[AuditCell], runner: Runner, seed: int) -> pd.DataFrame:
    """Table ``audit``: what each audit finds, beside the claim and the least deficit of noise that it would find."""
    rows = []
    for cell, found in runner.run(trial, cells, 1, seed).items():
        row = {"head": cell.head, "fault": cell.fault, "steps": cell.steps, "mu": cell.mu, "delta": cell.delta}
        row |= {"epsilon": GaussianDP(cell.mu).epsilon(cell.delta), "epsilon_found": found[0, 0]}
        row |= {"mu_found": found[0, 1], "releases": cell.releases, "confidence": cell.confidence}
        least = detectable(cell.mu, cell.releases, each_of(cell.family, cell.confidence))
        rows.append(row | {"least_deficit": least})
    return pd.DataFrame(rows)


def cells(mu: float, delta: float, releases: int, confidence: float) -> list[AuditCell]:
    """Each fault in one step of each head, and a run of several steps without one."""
    kinds = [(head, fault, 1) for head in HEADS for fault in FAULTS] + [(head, SOUND, 3) for head in HEADS]
    return [AuditCell(*kind, mu, delta, releases, confidence, family=len(kinds)) for kind in kinds]
