"""What double precision makes of the attacked ridge: one problem, every evaluation, against fifty digits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from costofprivacy import _fits
from costofprivacy.experiments.noisyhead.robustness import arithmetic, figure
from costofprivacy.noisyhead import head, population
from costofprivacy.noisyhead.attack import NONE, candidates
from costofprivacy.noisyhead.ridge import RidgeWithOneMore
from costofprivacy.settings import Setting

DECADES = tuple(10.0 ** np.arange(0, 13))  # α at which every evaluation is tried, besides Figure 4's
METHODS = (arithmetic.RANK_ONE, *arithmetic.EVALUATIONS)
DIGIT_METHODS = (arithmetic.RANK_ONE, "QR", *arithmetic.NORMAL_EQUATIONS)
SETTING = Setting.PUBLISHED  # whose attack is evaluated


@dataclass(frozen=True)
class Cell:
    """A Figure 4 cell whose ridge is evaluated at these α."""

    of: figure.Cell
    alpha: tuple[float, ...]

    @property
    def key(self) -> int:
        """The random stream is its Figure 4 cell's."""
        return self.of.key


def trial(cell: Cell, *, rng: np.random.Generator) -> np.ndarray:
    """Displacement over a fresh prompt for each α and method, and the condition number: shape (α, methods + 1)."""
    data = figure.draw(cell.of, rng)
    solver, steps = _solve(cell, data)
    clean, true = solver.without + steps[0], solver.without + steps[1:]
    rows = figure.attacked_rows(cell.of, SETTING, data, cell.alpha)
    measured = []
    for (Z, y), Gamma in zip(rows, true, strict=True):
        found = [arithmetic.attempt(f, Z, y, cell.of.penalty, data.row) for f in arithmetic.EVALUATIONS.values()]
        moved = np.stack([Gamma, *(g.reshape(Gamma.shape) for g in found)]) - clean
        measured.append([*population.excess_risk(cell.of.model, moved), _condition(Z, cell.of.penalty)])
    return np.array(measured)


def _condition(Z: np.ndarray, penalty: float) -> float:
    """Condition number of λN I + ZᵀZ, from the singular values of Z."""
    square = np.linalg.svd(Z, compute_uv=False) ** 2
    return (square[0] + penalty * len(Z)) / (square[-1] + penalty * len(Z))


def _solve(cell: Cell, data: figure.Draw) -> tuple[RidgeWithOneMore, np.ndarray]:
    """The rank-one solver and its steps: for the clean prompt, then for each α."""
    solver = RidgeWithOneMore(head.moments(data.raw), cell.of.N - 1, cell.of.penalty)
    last = candidates(data.prompt, [NONE, *(cell.of.attack(SETTING, a) for a in cell.alpha)])
    return solver, solver.step(last.Z, last.response)


def digit_trial(cell: Cell, *, rng: np.random.Generator) -> np.ndarray:
    """‖Γ − Γ₅₀‖/‖Γ₅₀‖ of each method for each α, Γ₅₀ from fifty digits: shape (α, methods)."""
    data = figure.draw(cell.of, rng)
    solver, steps = _solve(cell, data)
    last = candidates(data.prompt, [cell.of.attack(SETTING, a) for a in cell.alpha])
    count, Z_bad = cell.of.N - 1, last.Z.reshape(len(cell.alpha), -1)
    exact = arithmetic.fifty_digits(
        data.raw.Z.reshape(count, -1), data.raw.response, Z_bad, last.response, cell.of.penalty
    )
    rows = figure.attacked_rows(cell.of, SETTING, data, cell.alpha)
    errors = []
    for (Z, y), step, truth in zip(rows, steps[1:], exact, strict=True):
        evaluations = (arithmetic.EVALUATIONS[name] for name in DIGIT_METHODS[1:])
        found = [arithmetic.attempt(f, Z, y, cell.of.penalty, data.row) for f in evaluations]
        each = np.stack([(solver.without + step).reshape(-1), *found])
        errors.append(np.linalg.norm(each - truth, axis=1) / np.linalg.norm(truth))
    return np.array(errors)


def table(cell: Cell, samples: np.ndarray) -> pd.DataFrame:
    """Displacement by α and evaluation: mean, median, trials that broke down, condition number (median)."""
    rows = []
    for a, alpha in enumerate(cell.alpha):
        condition = float(np.median(samples[:, a, -1]))
        for m, name in enumerate(METHODS):
            values = samples[:, a, m]
            kept = values[np.isfinite(values)]
            mean, error = _fits.mean_and_error(kept) if len(kept) > 1 else (np.nan, np.nan)
            median = float(np.median(kept)) if len(kept) else np.nan
            rows.append((alpha, name, mean, error, len(values), median, len(values) - len(kept), condition))
    names = ["alpha", "evaluation", "displacement", "standard_error", "trials", "median", "breakdowns", "condition"]
    return pd.DataFrame(rows, columns=names)


def digit_table(cell: Cell, samples: np.ndarray) -> pd.DataFrame:
    """Relative error against fifty digits by α and evaluation: median and worst of the trials."""
    rows = []
    for a, alpha in enumerate(cell.alpha):
        for m, name in enumerate(DIGIT_METHODS):
            errors = np.nan_to_num(samples[:, a, m], nan=np.inf)
            rows.append((alpha, name, float(np.median(errors)), float(errors.max()), len(errors)))
    return pd.DataFrame(rows, columns=["alpha", "evaluation", "median_error", "worst_error", "trials"])
