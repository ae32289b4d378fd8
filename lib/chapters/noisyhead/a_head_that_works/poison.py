r"""One poisoned prompt: by how much does it move what is released?

A μ-Gaussian private release moves, in mean, by at most μ of its own standard deviations in every direction, as far as
it is Gaussian; and no event's probability moves by more than 2Φ(μ/2) − 1, whatever it is. Measured with the same noise
in both runs, so that the difference is the prompt's alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from chapters.noisyhead.a_head_that_works.curves import Cell
from chapters.noisyhead.a_head_that_works.problems import law_of, least_squares, name_of
from companion.streams import Runner
from costofprivacy.noisyhead import quadratic, token_laws, whitened_descent, whitened_plan
from costofprivacy.noisyhead.best_head import head_error
from costofprivacy.noisyhead.head import statistics
from costofprivacy.noisyhead.prompts import Prompts
from costofprivacy.noisyhead.token_laws import TokenLaw
from costofprivacy.privacy.advantage import largest_advantage

OPPOSITE, LARGE, WEAK = "opposite answers", "large features", "weak direction alone"
STREAM = 5
RELEASES = 4  # with the same data, for the noise's own size


@dataclass(frozen=True)
class Attack:
    """A poison of a size in one cell."""

    cell: Cell
    kind: str
    size: float

    @property
    def key(self) -> int:
        """The same prompts and noise for all attacks."""
        return self.cell.key


def poisoned(prompts: Prompts, law: TokenLaw, kind: str, size: float) -> Prompts:
    """The prompts with the first one replaced."""
    x, y = prompts.x.copy(), prompts.y.copy()
    x[0], y[0] = KINDS[kind](x[0], y[0], law, size)
    return Prompts(x, y, prompts.w)


def _opposite(x: np.ndarray, y: np.ndarray, law: TokenLaw, size: float) -> tuple[np.ndarray, np.ndarray]:
    """The context is as it was, the query's answer the opposite, ``size`` times."""
    changed = y.copy()
    changed[-1] *= -size
    return x, changed


def _large(x: np.ndarray, y: np.ndarray, law: TokenLaw, size: float) -> tuple[np.ndarray, np.ndarray]:
    return size * x, y


def _weak(x: np.ndarray, y: np.ndarray, law: TokenLaw, size: float) -> tuple[np.ndarray, np.ndarray]:
    """All tokens along the direction of the smallest eigenvalue, answers ±``size``."""
    direction = np.linalg.eigh(law.covariance)[1][:, 0]
    signs = np.where(np.arange(len(y)) % 2, 1.0, -1.0)
    return signs[:, None] * direction, size * np.ones(len(y))


KINDS: dict[str, Callable[..., tuple[np.ndarray, np.ndarray]]] = {OPPOSITE: _opposite, LARGE: _large, WEAK: _weak}


def trial(attack: Attack, *, rng: np.random.Generator) -> np.ndarray:
    """Per noise: test error before and after, and Γ's change; least squares before and after at the end."""
    cell = attack.cell
    law = law_of(cell.condition, cell.D, rng=rng)
    clean = token_laws.sample(law, cell.N, cell.L, rng=rng)
    dirty = poisoned(clean, law, attack.kind, attack.size)
    told = whitened_plan.plan(cell.D, cell.L, cell.N, cell.budgets[0], every_token=True)
    noise = rng.standard_normal((RELEASES, 2 + len(told.gains), cell.D, cell.D))
    before, after = (whitened_descent.simulate(quadratic.asked(data), told, noise) for data in (clean, dirty))
    errors = [head_error(law, cell.L, h).mean() for h in (before, after)]
    plain = [float(head_error(law, cell.L, least_squares(statistics(data)))) for data in (clean, dirty)]
    shift, spread = (after - before).mean(axis=0), before.std(axis=0, ddof=1)
    return np.array([*errors, *plain, np.sqrt((shift**2).sum() / (spread**2).sum())])


def table(runner: Runner, cells: list[Cell], sizes: tuple[float, ...], trials: int, seed: int) -> pd.DataFrame:
    """By attack: test error before and after (private, least squares), the shift over the noise, and the bounds."""
    kinds = [(kind, size) for kind in KINDS for size in sizes if (kind, size) != (LARGE, 1.0)]  # as they were
    attacks = [Attack(cell, kind, size) for cell in cells for kind, size in kinds]
    rows = []
    for attack, values in runner.run(trial, attacks, trials, seed).items():
        budget = attack.cell.budgets[0]
        moved = values[:, 1] - values[:, 0]
        rows.append(
            {"covariance": name_of(attack.cell.condition)}
            | {"N": attack.cell.N, "epsilon": attack.cell.epsilon[0], "attack": attack.kind, "size": attack.size}
            | {"clean": values[:, 0].mean(), "poisoned": values[:, 1].mean(), "change": moved.mean()}
            | {"standard_error": moved.std(ddof=1) / np.sqrt(len(moved))}
            | {"plain_clean": values[:, 2].mean(), "plain_poisoned": values[:, 3].mean()}
            | {"shift_over_noise": values[:, 4].mean(), "largest_shift": values[:, 4].max(), "mu": budget.mu}
            | {"probability_bound": largest_advantage(budget), "trials": len(values)}
        )
    return pd.DataFrame(rows)
