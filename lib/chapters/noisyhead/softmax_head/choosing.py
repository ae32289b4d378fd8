"""The plans of private runs, chosen on synthetic isotropic prompts: they cost no privacy and see no private prompt."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from chapters.noisyhead.softmax_head.law import Law
from chapters.noisyhead.softmax_head.names import BOUNDED, CLIPPED, EXACT, LINEAR, PRINTED, SOFTMAX
from companion.streams import Runner
from costofprivacy.noisyhead import elliptical, per_prompt, softmax
from costofprivacy.noisyhead.per_prompt import Gradient, Plan, Released
from costofprivacy.noisyhead.prompts import Prompts
from costofprivacy.privacy import ApproximateDP, basic_noise_multiplier, exact_composed_noise_multiplier

MULTIPLIER = {EXACT: exact_composed_noise_multiplier, PRINTED: basic_noise_multiplier}
OUTPUTS = ("average", "last")
WAYS = (
    (SOFTMAX, CLIPPED, EXACT),
    (SOFTMAX, CLIPPED, PRINTED),
    (SOFTMAX, BOUNDED, EXACT),
    (SOFTMAX, BOUNDED, PRINTED),
    (LINEAR, CLIPPED, EXACT),
    (LINEAR, CLIPPED, PRINTED),
)


@dataclass(frozen=True)
class Way:
    """A way to train privately, with a plan for it.

    Args:
        head, bound, account: the words of the tables. steps: T. clip_norm: c. time: ηT.
    """

    head: str
    bound: str
    account: str
    steps: int
    clip_norm: float
    time: float

    def plan(self, N: int, budget: ApproximateDP) -> Plan:
        """The plan on N prompts at a budget."""
        multiplier = MULTIPLIER[self.account](budget, self.steps)
        std = per_prompt.sensitivity(self.clip_norm, N) * multiplier
        return Plan(self.steps, self.clip_norm, self.time / self.steps, std)


Chosen = Mapping[tuple[int, float], tuple[Way, ...]]  # by N and ε


@dataclass(frozen=True)
class GridCell:
    """One size and budget, and the plans that are tried there."""

    law: Law
    epsilon: float
    delta: float
    scale: float
    steps: tuple[int, ...]
    clips: tuple[float, ...]
    reaches: tuple[float, ...]
    bounded_times: tuple[float, ...]
    test_prompts: int

    @property
    def key(self) -> int:
        """All budgets of a size see the same synthetic prompts."""
        return self.law.N

    @property
    def budget(self) -> ApproximateDP:
        """(ε, δ)."""
        return ApproximateDP(self.epsilon, self.delta)

    @cached_property
    def tried(self) -> list[Way]:
        """Every way with every plan of the grid; where responses are bounded, the bound is the clip norm.

        Composed exactly, the noise of all steps together depends on ηT and not on T. So steps are as many as can be:
        long ones overshoot where features are uneven, which isotropic prompts do not show.
        """
        most = softmax.gradient_bound(self.scale, self.law.clip_norm())
        return [
            Way(*way, T, clip, time)
            for way in WAYS
            for T in ((max(self.steps),) if way[2] == EXACT else self.steps)
            for clip in (self.clips if way[1] == CLIPPED else (most,))
            for time in ([reach / clip for reach in self.reaches] if way[1] == CLIPPED else self.bounded_times)
        ]


def gradient_of(head: str, prompts: Prompts, scale: float, plans: Sequence[Plan]) -> Gradient:
    """The mean clipped gradient of heads of one kind."""
    return gradients(prompts, scale)[head](plans)


def gradients(prompts: Prompts, scale: float) -> dict[str, Callable[[Sequence[Plan]], Gradient]]:
    """The same for any plans of either kind: what a softmax head sees of the prompts is laid out once."""
    data = softmax.contexts(prompts)
    return {
        SOFTMAX: lambda plans: per_prompt.softmax_gradient_of(data, scale, plans),
        LINEAR: lambda plans: per_prompt.linear_gradient(prompts, plans),
    }


def run(prompts: Prompts, scale: float, ways: Sequence[tuple[Way, Plan]], start: np.ndarray, seed: int) -> Released:
    """Run plans on the same prompts from a start each, shape (ways, D, D), with the same noise; in their order."""
    last, average = np.empty(start.shape), np.empty(start.shape)
    for head, gradient_of_plans in gradients(prompts, scale).items():
        for T in sorted({plan.steps for _, plan in ways}):
            at = [k for k, (way, plan) in enumerate(ways) if way.head == head and plan.steps == T]
            if not at:
                continue
            plans = [ways[k][1] for k in at]
            found = per_prompt.descend(gradient_of_plans(plans), start[at], plans, rng=np.random.default_rng(seed))
            last[at], average[at] = found.last, found.average
    return Released(last, average)


def errors(law: Law, axes: np.ndarray, head: str, A: np.ndarray, scale: np.ndarray, test: Prompts) -> np.ndarray:
    """Test errors of heads of one kind, shape (B,)."""
    if head == LINEAR:
        return elliptical.linear_error(A, axes, law.values, law.L)
    return softmax.prediction_error(A, scale, test)


def trial(cell: GridCell, *, rng: np.random.Generator) -> np.ndarray:
    """Test errors of every plan on one draw of synthetic prompts: shape (ways, 2), average and last iterate."""
    law, eye = cell.law, np.eye(cell.law.D)
    prompts = law.draw(eye, law.N, rng=rng)
    test = law.draw(eye, cell.test_prompts, rng=rng)
    ways = [(way, way.plan(law.N, cell.budget)) for way in cell.tried]
    found = run(prompts, cell.scale, ways, np.zeros((len(ways), law.D, law.D)), int(rng.integers(2**32)))
    result = np.empty((len(ways), len(OUTPUTS)))
    for head in (SOFTMAX, LINEAR):
        at = np.array([way.head == head for way, _ in ways])
        scale = np.full(at.sum(), cell.scale)
        for place, A in enumerate((found.average, found.last)):
            result[at, place] = errors(law, eye, head, A[at], scale, test)
    return result


def measure(cells: list[GridCell], runner: Runner, trials: int, seed: int) -> pd.DataFrame:
    """Table ``choices``: the mean test error of every plan on synthetic prompts, and which is chosen.

    A plan is chosen for its average, and a second time for its last iterate.
    """
    tables = []
    for cell, values in runner.run(trial, cells, trials, seed).items():
        rows = pd.DataFrame([vars(way) for way in cell.tried])
        for place, output in enumerate(OUTPUTS):
            rows[f"test_error, {output}"] = values[:, :, place].mean(axis=0)
        by = rows.groupby(["head", "bound", "account"], sort=False)
        for output in OUTPUTS:
            rows[f"chosen, {output}"] = rows.index.isin(by[f"test_error, {output}"].idxmin())
        plans = [way.plan(cell.law.N, cell.budget) for way in cell.tried]
        rows["noise"] = [plan.noise_std * plan.learning_rate * np.sqrt(plan.steps) for plan in plans]  # of all steps
        rows.insert(0, "N", cell.law.N)
        rows.insert(1, "epsilon", cell.epsilon)
        tables.append(rows.assign(trials=len(values)))
    return pd.concat(tables, ignore_index=True)


def chosen(table: pd.DataFrame, output: str) -> Chosen:
    """The plans chosen for an output, by N and ε, in the order of ``WAYS``."""
    rows = table[table[f"chosen, {output}"]]
    names = list(Way.__dataclass_fields__)
    return {
        place: tuple(Way(**row) for row in part[names].to_dict("records"))
        for place, part in rows.groupby(["N", "epsilon"], sort=False)
    }
