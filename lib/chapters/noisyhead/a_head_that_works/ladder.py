"""Which change closes how much of the gap: one rung after the other, on the same prompts.

Rungs with free numbers take those that are best, on average, for public prompts: drawn from the same family, with
directions of their own, by another seed. Nothing is chosen by the prompts that are learned from.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from chapters.noisyhead.a_head_that_works import algorithm_one, literature, options
from chapters.noisyhead.a_head_that_works.curves import COVARIANCE, LAST_TOKEN, PRIVATE, Cell
from chapters.noisyhead.a_head_that_works.options import Option
from chapters.noisyhead.a_head_that_works.problems import ENDS, ends, law_of, name_of, settled
from chapters.noisyhead.a_head_that_works.seen import Seen
from companion.streams import Runner
from costofprivacy.noisyhead import covariance_head, token_laws, whitened_descent, whitened_plan
from costofprivacy.noisyhead.best_head import head_error
from costofprivacy.noisyhead.token_laws import TokenLaw
from costofprivacy.privacy import ApproximateDP

Heads = Callable[..., np.ndarray]
PUBLIC_STREAM = 4  # of the public prompts

PRINTED, RADIUS, EXACT = "as printed", "smallest valid R", "exact accounting"
LAST, PENALTY, LENGTH = "last iterate alone", "λ by closed form", "T by closed form"
TUNED, START = "η₀, C and G by closed form", "start at the head without data"
UNCLIPPED, CLIPPED = "no penalty, numbers searched", "each prompt's gradient clipped"
AVERAGED, ONE_PASS = "iterates averaged", "one pass (DP-GD)"
RIDGE, MOMENTS, BOOSTED = "DP-ridge", "sufficient statistics (AdaSSP)", "boosted AdaSSP"
PERTURBED, DEEP = "objective perturbation", "TukeyEM"
FIXED: dict[str, Heads] = {
    PRINTED: algorithm_one.as_printed,
    RADIUS: algorithm_one.smallest_radius,
    EXACT: algorithm_one.exact,
    LAST: algorithm_one.last_iterate,
    PENALTY: algorithm_one.penalty,
    LENGTH: algorithm_one.steps,
    TUNED: algorithm_one.tuned,
    START: algorithm_one.started,
}
CHOSEN: dict[str, tuple[Heads, list[Option]]] = {
    UNCLIPPED: (options.unclipped, options.UNCLIPPED),
    CLIPPED: (options.descents, options.DESCENTS),
    ONE_PASS: (options.passes, options.PASSES),
    RIDGE: (literature.ridges, literature.RIDGES),
    MOMENTS: (literature.sufficient, literature.MOMENTS),
    BOOSTED: (literature.boosted, literature.BOOSTED),
    PERTURBED: (literature.perturbed, literature.PERTURBED),
    DEEP: (literature.deep, literature.DEEP),
}
SEARCHED = (UNCLIPPED, CLIPPED, AVERAGED, *list(CHOSEN)[2:])
RUNGS = (*FIXED, *SEARCHED, LAST_TOKEN, PRIVATE, COVARIANCE)
BEFORE = {  # of each change to Algorithm 1 the rung that it is made to; one path, and what leads nowhere
    RADIUS: PRINTED,
    EXACT: RADIUS,
    LAST: EXACT,
    PENALTY: LAST,
    LENGTH: PENALTY,
    TUNED: LENGTH,
    START: TUNED,
    UNCLIPPED: TUNED,
    CLIPPED: UNCLIPPED,
    AVERAGED: CLIPPED,
}


@dataclass(frozen=True)
class Steps:
    """A cell with one ε, and what the rungs with free numbers take: for each of `SEARCHED` an option."""

    cell: Cell
    chosen: tuple[Option, ...] = ()

    @property
    def key(self) -> int:
        """The cell's."""
        return self.cell.key


def _errors(law: TokenLaw, L: int, seen: Seen, *, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Test errors of all options of each of `SEARCHED`; averaging has those of the descents that it averages."""
    found: dict[str, np.ndarray] = {}
    for (name, (heads, grid)), noise in zip(CHOSEN.items(), rng.spawn(len(CHOSEN)), strict=True):
        errors = head_error(law, L, heads(seen, grid, rng=noise))
        found |= dict(zip((CLIPPED, AVERAGED), errors, strict=True)) if name == CLIPPED else {name: errors}
    return {name: found[name] for name in SEARCHED}


def _grid(name: str) -> list[Option]:
    return CHOSEN[CLIPPED if name == AVERAGED else name][1]


def _head(name: str, seen: Seen, option: Option, *, rng: np.random.Generator) -> np.ndarray:
    """The head of one of `SEARCHED` with its option, shape (D, D)."""
    if name in (CLIPPED, AVERAGED):
        both = options.descents(seen, [option], rng=rng)
        return np.asarray(both[int(name == AVERAGED), 0])
    return CHOSEN[name][0](seen, [option], rng=rng)[0]


def _draw(cell: Cell, rng: np.random.Generator) -> tuple[TokenLaw, Seen]:
    law = law_of(cell.condition, cell.D, rng=rng)
    prompts = token_laws.sample(law, cell.N, cell.L, rng=rng)
    return law, Seen(law, prompts, ApproximateDP(cell.epsilon[0], cell.delta))


def public_trial(steps: Steps, *, rng: np.random.Generator) -> np.ndarray:
    """Test errors of every option on public prompts, all of `SEARCHED` one after the other."""
    law, seen = _draw(steps.cell, rng)
    return np.concatenate(list(_errors(law, steps.cell.L, seen, rng=rng).values()))


def chosen(runner: Runner, cases: list[Steps], trials: int, seed: int) -> list[Steps]:
    """The cases with the options that are best on public prompts."""
    public = [replace(case, cell=replace(case.cell, stream=PUBLIC_STREAM)) for case in cases]
    found = runner.run(public_trial, public, trials, seed)
    ends_of = np.cumsum([len(_grid(name)) for name in SEARCHED])
    complete = []
    for case, samples in zip(cases, (found[case] for case in public), strict=True):
        parts = np.split(samples.mean(axis=0), ends_of[:-1])
        best = [_grid(name)[int(np.argmin(part))] for name, part in zip(SEARCHED, parts, strict=True)]
        complete.append(replace(case, chosen=tuple(best)))
    return complete


def trial(steps: Steps, *, rng: np.random.Generator) -> np.ndarray:
    """Test errors of the ends, then of `RUNGS`, on one draw of prompts."""
    cell = steps.cell
    law, seen = _draw(cell, rng)
    noise = dict(zip(RUNGS, rng.spawn(len(RUNGS)), strict=True))
    heads = [rung(seen, rng=noise[name]) for name, rung in FIXED.items()]
    for name, option in zip(SEARCHED, steps.chosen, strict=True):
        heads.append(_head(name, seen, option, rng=noise[name]))
    for name, every in ((LAST_TOKEN, False), (PRIVATE, True)):
        told = whitened_plan.plan(cell.D, cell.L, cell.N, seen.mu, every_token=every)
        heads.append(whitened_descent.release(seen.examples(every_token=every), told, rng=noise[name]))
    moment = covariance_head.token_moment(seen.prompts.x)
    heads.append(covariance_head.release(moment, cell.N, cell.L, seen.mu, law.spread, rng=noise[COVARIANCE]))
    return head_error(law, cell.L, np.stack([*ends(law, cell.L, seen.statistics), *heads]))


def at_edge(name: str, option: Option) -> bool:
    """Whether a number with at least three values in its grid is the least or the largest of them."""
    values = [_axes(name, other) for other in _grid(name)]
    axes = [sorted(set(axis)) for axis in zip(*values, strict=True)]
    mine = zip(_axes(name, option), axes, strict=True)
    return any(value in (axis[0], axis[-1]) for value, axis in mine if len(axis) > 2)


def _axes(name: str, option: Option) -> Option:
    """The numbers that the grid is a product of: for a clipped descent T, c and ηcT."""
    if name not in (CLIPPED, AVERAGED):
        return option
    T, c, eta = option
    return T, c, round(eta * c * T, 6)


def table(runner: Runner, cells: list[Cell], trials: int, public_trials: int, seed: int) -> pd.DataFrame:
    """covariance, N, epsilon, rung, test_error, standard_error, trials, option (what public prompts chose), edge.

    ``edge``: whether the option is at an edge of its grid.
    """
    cases = [Steps(replace(cell, epsilon=(e,))) for cell in cells for e in cell.epsilon]
    rows: list[dict[str, Any]] = []
    for case, values in runner.run(trial, chosen(runner, cases, public_trials, seed), trials, seed).items():
        mean, error = settled(values)
        cell, options_of = case.cell, dict(zip(SEARCHED, case.chosen, strict=True))
        where = {"covariance": name_of(cell.condition), "N": cell.N, "epsilon": cell.epsilon[0]}
        for rung, m, e in zip((*ENDS, *RUNGS), mean, error, strict=True):
            option = " ".join(f"{value:g}" for value in options_of.get(rung, ()))
            edge = rung in options_of and at_edge(rung, options_of[rung])
            rows.append(where | {"rung": rung, "test_error": m, "standard_error": e, "option": option, "edge": edge})
    return pd.DataFrame(rows).assign(trials=trials)
