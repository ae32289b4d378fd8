"""Private heads on fresh prompts, and the four ends beside them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from chapters.noisyhead.softmax_head import choosing
from chapters.noisyhead.softmax_head.choosing import Way
from chapters.noisyhead.softmax_head.ends import Ends
from chapters.noisyhead.softmax_head.law import Law
from chapters.noisyhead.softmax_head.names import (
    BEST,
    CLIPPED,
    EXACT,
    HEADS,
    LAST,
    LINEAR,
    NO_DATA,
    NON_PRIVATE,
    PRIVATE,
    SOFTMAX,
    WARM,
    WHITENED,
    ZERO,
    covariance,
)
from companion import _fits
from costofprivacy.noisyhead import elliptical, softmax, whitened_descent, whitened_plan
from costofprivacy.noisyhead.examples import examples
from costofprivacy.noisyhead.prompts import Prompts
from costofprivacy.privacy import ApproximateDP


@dataclass(frozen=True)
class Row:
    """What one number of a trial is: a head and how it came to be; ε is NaN where no budget is spent."""

    head: str
    method: str
    bound: str = ""
    account: str = ""
    epsilon: float = np.nan


@dataclass(frozen=True)
class Cell:
    """One law with the plans that were chosen for it, by ε, and its public heads.

    Args:
        law: of the prompts. scale: v in training, of the best head that knows no prompt, for isotropic features.
        ends: the public heads of this law. budgets: ε's. delta: δ. ways: the chosen plans for each ε.
        last: those chosen for the last iterate, of the exact account. test_prompts: fresh ones.
    """

    law: Law
    scale: float
    ends: Ends
    budgets: tuple[float, ...]
    delta: float
    ways: tuple[tuple[Way, ...], ...]
    last: tuple[tuple[Way, ...], ...]
    test_prompts: int

    @property
    def key(self) -> int:
        """The size names the stream."""
        return self.law.N

    def budget(self, epsilon: float) -> ApproximateDP:
        """(ε, δ)."""
        return ApproximateDP(epsilon, self.delta)

    @cached_property
    def runs(self) -> list[tuple[Row, Way, float]]:
        """Every private run with its row and ε: the average, then the last iterate, then the average from no-data."""
        found = []
        for method, table in ((PRIVATE, self.ways), (LAST, self.last), (WARM, self.ways)):
            for epsilon, ways in zip(self.budgets, table):
                for way in ways:
                    if method == PRIVATE or (way.bound, way.account) == (CLIPPED, EXACT):
                        row = Row(way.head, method, way.bound, way.account, epsilon)
                        found.append((row, way, epsilon))
        return found

    @cached_property
    def rows(self) -> list[Row]:
        """What each number of a trial is."""
        ends = [Row(head, method) for head in HEADS for method in (NON_PRIVATE, NO_DATA, BEST)]
        whitened = Row(LINEAR, WHITENED, CLIPPED, EXACT, max(self.budgets))
        return [row for row, _, _ in self.runs] + [*ends, Row("", ZERO), whitened]


def quoted(cells: Sequence[Cell]) -> Callable[[np.ndarray], np.ndarray]:
    """Picks the numbers of trials that the page's ratios quote: both heads by the best route, at every ε."""
    rows = cells[0].rows
    at = [k for k, row in enumerate(rows) if (row.method, row.bound, row.account) == (PRIVATE, CLIPPED, EXACT)]
    return lambda values: values[:, at]


def trial(cell: Cell, *, rng: np.random.Generator) -> np.ndarray:
    """Test errors of all methods on one draw of prompts, with axes of its own; shape (rows,)."""
    law = cell.law
    axes = elliptical.axes(law.D, rng=rng)
    prompts = law.draw(axes, law.N, rng=rng)
    test = law.draw(axes, cell.test_prompts, rng=rng)
    seed = int(rng.integers(2**32))
    found = [*_private(cell, axes, prompts, test, seed), *_ends(cell, axes, prompts, test)]
    return np.array([*found, _whitened(cell, axes, prompts, rng)])


def _private(cell: Cell, axes: np.ndarray, prompts: Prompts, test: Prompts, seed: int) -> np.ndarray:
    """Test errors of the private runs, in the order of the rows; all on the same noise."""
    law, result = cell.law, np.empty(len(cell.runs))
    widths = {SOFTMAX: cell.ends.width, LINEAR: elliptical.public_linear(law.values, law.L)[0]}
    plans = [(way, way.plan(law.N, cell.budget(epsilon))) for _, way, epsilon in cell.runs]
    starts = np.array([widths[row.head] if row.method == WARM else 0.0 for row, _, _ in cell.runs])
    found = choosing.run(prompts, cell.scale, plans, starts[:, None, None] * np.eye(law.D), seed)
    is_last = np.array([row.method == LAST for row, _, _ in cell.runs])[:, None, None]
    A = np.where(is_last, found.last, found.average)
    for head in HEADS:
        at = [k for k, (row, _, _) in enumerate(cell.runs) if row.head == head]
        result[at] = choosing.errors(law, axes, head, A[at], np.full(len(at), cell.scale), test)
    return result


def _ends(cell: Cell, axes: np.ndarray, prompts: Prompts, test: Prompts) -> np.ndarray:
    """Test errors of the heads that spend no budget, in the order of the rows."""
    law, ends, eye = cell.law, cell.ends, np.eye(cell.law.D)
    fitted, fitted_scale = softmax.fit(softmax.contexts(prompts), ends.width * eye)
    heads = np.stack([fitted, ends.width * eye, elliptical.matrix(axes, np.array(ends.best))])
    scales = np.array([fitted_scale, ends.scale, ends.best_scale])
    linear = np.stack([least_squares(prompts)])
    return np.concatenate(
        [
            choosing.errors(law, axes, SOFTMAX, heads, scales, test),
            choosing.errors(law, axes, LINEAR, linear, scales, test),
            [elliptical.public_linear(law.values, law.L)[1]],
            [elliptical.best_linear(law.values, law.L)[1]],
            [1.0],
        ]
    )


def _whitened(cell: Cell, axes: np.ndarray, prompts: Prompts, rng: np.random.Generator) -> float:
    """Test error of the private linear head that whitens first, at the largest ε; every token is asked once."""
    law, budget = cell.law, cell.budget(max(cell.budgets)).to_gaussian()
    told = whitened_plan.plan(law.D, law.L, law.N, budget, every_token=True)
    Gamma = whitened_descent.release(examples(prompts, every_token=True), told, rng=rng)
    return float(elliptical.linear_error(Gamma[None], axes, law.values, law.L)[0])


def least_squares(prompts: Prompts) -> np.ndarray:
    """The linear head with the least mean square error on prompts, shape (D, D)."""
    N, _, D = prompts.x.shape
    data = softmax.contexts(prompts)
    context = np.einsum("nl,nld->nd", data.responses, data.keys, optimize=True) / data.keys.shape[1]
    Z = (data.query[:, :, None] * context[:, None]).reshape(N, -1)
    return np.linalg.lstsq(Z, data.target, rcond=None)[0].reshape(D, D)


def table(samples: dict[Cell, np.ndarray]) -> pd.DataFrame:
    """Table ``test-error``: means and standard errors of each law, a row for each head and method."""
    tables = []
    for cell, values in samples.items():
        mean, error = _fits.mean_and_error(values)
        error[np.ptp(values, axis=0) == 0] = 0.0  # a closed form is the same in every trial
        rows = pd.DataFrame([vars(row) for row in cell.rows])
        rows.insert(0, "covariance", covariance(cell.law.condition))
        rows.insert(1, "N", cell.law.N)
        tables.append(rows.assign(test_error=mean, standard_error=error, trials=len(values)))
    return pd.concat(tables, ignore_index=True)
