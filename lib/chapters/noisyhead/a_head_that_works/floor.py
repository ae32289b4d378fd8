"""What is left of the private head's excess when all noise is taken away: the price of its clip norms.

The same descent on the same prompts by the plan of each ε, clip norms and gains as they are: with its noise, without,
and without any clipping of gradients either. Only the first is private.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from chapters.noisyhead.a_head_that_works.curves import LAST_TOKEN, PRIVATE, Cell
from chapters.noisyhead.a_head_that_works.problems import BEST, NON_PRIVATE, law_of, least_squares, name_of, settled
from companion.streams import Runner
from costofprivacy.noisyhead import quadratic, token_laws, whitened_descent, whitened_plan
from costofprivacy.noisyhead.best_head import best_head, head_error
from costofprivacy.noisyhead.examples import examples
from costofprivacy.noisyhead.head import statistics
from costofprivacy.noisyhead.whitened_descent import Tokens
from costofprivacy.privacy import GaussianDP

STREAM = 8
NOISY, QUIET, FREE = "as it is", "no noise", "no noise, no clipped gradient"
WAYS = (NOISY, QUIET, FREE)
ASKED = {PRIVATE: True, LAST_TOKEN: False}
QUIETEST = GaussianDP(1e9)  # noise below all else
FAR = 1e9  # a clip norm that no gradient reaches


def trial(cell: Cell, *, rng: np.random.Generator) -> np.ndarray:
    """Test errors of the best head, of least squares, then for each ε of `ASKED` by `WAYS`."""
    law = law_of(cell.condition, cell.D, rng=rng)
    prompts = token_laws.sample(law, cell.N, cell.L, rng=rng)
    heads = [best_head(law, cell.L), least_squares(statistics(prompts))]
    data = {PRIVATE: quadratic.asked(prompts), LAST_TOKEN: Tokens(examples(prompts, every_token=False))}
    for budget in cell.budgets:
        for name, every in ASKED.items():
            told = whitened_plan.plan(cell.D, cell.L, cell.N, budget, every_token=every)
            quiet = replace(told, budget=QUIETEST)
            free = replace(quiet, clip_norms=(FAR,) * len(told.clip_norms))
            heads += [whitened_descent.simulated(data[name], way, rng=rng) for way in (told, quiet, free)]
    return head_error(law, cell.L, np.stack(heads))


def table(runner: Runner, cells: list[Cell], trials: int, seed: int) -> pd.DataFrame:
    """covariance, N, epsilon, method, way, test_error, standard_error, best, non_private, trials."""
    rows = []
    for cell, values in runner.run(trial, cells, trials, seed).items():
        mean, error = settled(values)
        ends = dict(zip((BEST, NON_PRIVATE.replace("-", "_")), mean, strict=False))
        names = [(epsilon, method, way) for epsilon in cell.epsilon for method in ASKED for way in WAYS]
        for (epsilon, method, way), m, e in zip(names, mean[2:], error[2:], strict=True):
            where = {"covariance": name_of(cell.condition), "N": cell.N, "epsilon": epsilon}
            rows.append(where | {"method": method, "way": way, "test_error": m, "standard_error": e} | ends)
    return pd.DataFrame(rows).assign(trials=trials)
