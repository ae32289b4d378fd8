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

from costofprivacy import _fits
from costofprivacy.experiments.noisyhead.a_head_that_works import algorithm_one, options
from costofprivacy.experiments.noisyhead.a_head_that_works.curves import COVARIANCE, LAST_TOKEN, PRIVATE, Cell
from costofprivacy.experiments.noisyhead.a_head_that_works.options import Option
from costofprivacy.experiments.noisyhead.a_head_that_works.problems import ENDS, ends, law_of, name_of
from costofprivacy.experiments.noisyhead.a_head_that_works.seen import Seen
from costofprivacy.noisyhead import covariance_head, token_laws, whitened_descent, whitened_plan
from costofprivacy.noisyhead.best_head import head_error
from costofprivacy.noisyhead.token_laws import TokenLaw
from costofprivacy.privacy import ApproximateDP
from costofprivacy.streams import Runner

Heads = Callable[..., np.ndarray]
PUBLIC_STREAM = 4  # of the public prompts

PRINTED, RADIUS, EXACT = "as printed", "smallest valid R", "exact accounting"
LAST, TUNED, START = "last iterate alone", "λ, T, η₀ by closed forms", "start at the head without data"
CLIPPED, AVERAGED, ONE_PASS = "each prompt's gradient clipped", "iterates averaged", "one pass (DP-GD)"
RIDGE, MOMENTS = "DP-ridge", "sufficient statistics (AdaSSP)"
FIXED: dict[str, Heads] = {
    PRINTED: algorithm_one.as_printed,
    RADIUS: algorithm_one.smallest_radius,
    EXACT: algorithm_one.exact,
    LAST: algorithm_one.last_iterate,
    TUNED: algorithm_one.tuned,
    START: algorithm_one.started,
}
CHOSEN: dict[str, tuple[Heads, list[Option]]] = {
    CLIPPED: (options.descents, options.DESCENTS),
    ONE_PASS: (options.passes, options.PASSES),
    RIDGE: (options.ridges, options.RIDGES),
    MOMENTS: (options.sufficient, options.MOMENTS),
}
RUNGS = (*FIXED, CLIPPED, AVERAGED, ONE_PASS, RIDGE, MOMENTS, LAST_TOKEN, PRIVATE, COVARIANCE)


@dataclass(frozen=True)
class Steps:
    """A cell with one ε, and what the rungs with free numbers take: for each of `_GRIDS` an option."""

    cell: Cell
    chosen: tuple[Option, ...] = ()

    @property
    def key(self) -> int:
        """The cell's."""
        return self.cell.key


def _grids() -> list[tuple[str, Heads, list[Option]]]:
    """Rungs with free numbers; averaging has its own, of the same runs."""
    found: list[tuple[str, Heads, list[Option]]] = []
    for name, (heads, grid) in CHOSEN.items():
        if name == CLIPPED:
            found += [(CLIPPED, _first(heads), grid), (AVERAGED, _second(heads), grid)]
        else:
            found.append((name, heads, grid))
    return found


def _first(heads: Heads) -> Heads:
    return lambda seen, grid, *, rng: heads(seen, grid, rng=rng)[0]


def _second(heads: Heads) -> Heads:
    return lambda seen, grid, *, rng: heads(seen, grid, rng=rng)[1]


def _draw(cell: Cell, rng: np.random.Generator) -> tuple[TokenLaw, Seen]:
    law = law_of(cell.condition, cell.D, rng=rng)
    prompts = token_laws.sample(law, cell.N, cell.L, rng=rng)
    return law, Seen(law, prompts, ApproximateDP(cell.epsilon[0], cell.delta))


def public_trial(steps: Steps, *, rng: np.random.Generator) -> np.ndarray:
    """Test errors of every option on public prompts, all grids one after the other."""
    law, seen = _draw(steps.cell, rng)
    errors = [head_error(law, steps.cell.L, heads(seen, grid, rng=rng)) for _, heads, grid in _grids()]
    return np.concatenate(errors)


def chosen(runner: Runner, cases: list[Steps], trials: int, seed: int) -> list[Steps]:
    """The cases with the options that are best on public prompts."""
    public = [replace(case, cell=replace(case.cell, stream=PUBLIC_STREAM)) for case in cases]
    found = runner.run(public_trial, public, trials, seed)
    ends_of = np.cumsum([len(grid) for _, _, grid in _grids()])
    complete = []
    for case, samples in zip(cases, (found[case] for case in public), strict=True):
        parts = np.split(samples.mean(axis=0), ends_of[:-1])
        best = [grid[int(np.argmin(part))] for (_, _, grid), part in zip(_grids(), parts, strict=True)]
        complete.append(replace(case, chosen=tuple(best)))
    return complete


def trial(steps: Steps, *, rng: np.random.Generator) -> np.ndarray:
    """Test errors of the ends, then of `RUNGS`, on one draw of prompts."""
    cell = steps.cell
    law, seen = _draw(cell, rng)
    heads = [rung(seen, rng=rng) for rung in FIXED.values()]
    for (_, grid_heads, _), option in zip(_grids(), steps.chosen, strict=True):
        heads.append(grid_heads(seen, [option], rng=rng)[0])
    for every in (False, True):
        told = whitened_plan.plan(cell.D, cell.L, cell.N, seen.mu, every_token=every)
        heads.append(whitened_descent.release(seen.examples(every_token=every), told, rng=rng))
    moment = covariance_head.token_moment(seen.prompts.x)
    heads.append(covariance_head.release(moment, cell.N, cell.L, seen.mu, law.spread, rng=rng))
    return head_error(law, cell.L, np.stack([*ends(law, cell.L, seen.prompts), *heads]))


def table(runner: Runner, cells: list[Cell], trials: int, public_trials: int, seed: int) -> pd.DataFrame:
    """covariance, N, epsilon, rung, test_error, standard_error, trials, option (what public prompts chose)."""
    cases = [Steps(replace(cell, epsilon=(e,))) for cell in cells for e in cell.epsilon]
    rows: list[dict[str, Any]] = []
    for case, values in runner.run(trial, chosen(runner, cases, public_trials, seed), trials, seed).items():
        mean, error = _fits.mean_and_error(values)
        cell, options_of = case.cell, dict(zip([name for name, _, _ in _grids()], case.chosen, strict=True))
        where = {"covariance": name_of(cell.condition), "N": cell.N, "epsilon": cell.epsilon[0]}
        for rung, m, e in zip((*ENDS, *RUNGS), mean, error, strict=True):
            option = " ".join(f"{value:g}" for value in options_of.get(rung, ()))
            rows.append(where | {"rung": rung, "test_error": m, "standard_error": e, "option": option})
    return pd.DataFrame(rows).assign(trials=trials)
