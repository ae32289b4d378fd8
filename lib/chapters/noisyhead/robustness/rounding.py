"""What double precision makes of the attacked ridge: one problem, every evaluation, against fifty digits."""

from __future__ import annotations

import numpy as np
import pandas as pd

from chapters.noisyhead.robustness import arithmetic, figure
from costofprivacy.noisyhead import population
from costofprivacy.noisyhead.attack import NONE, candidates
from costofprivacy.settings import Setting

DECADES = tuple(10.0 ** np.arange(0, 13))  # α at which every evaluation is tried, besides Figure 4's
METHODS = (arithmetic.RANK_ONE, *arithmetic.EVALUATIONS)
DIGIT_METHODS = (arithmetic.RANK_ONE, "QR", *arithmetic.NORMAL_EQUATIONS)
SETTING = Setting.PUBLISHED  # whose attack is evaluated


def trial(cell: figure.Problem, *, rng: np.random.Generator) -> np.ndarray:
    """Displacement over a fresh prompt for each α and method, and the condition number: shape (α, methods + 1)."""
    data = figure.draw(cell, rng)
    solver, steps = figure.rank_one(cell, data, [NONE, *cell.attacks(SETTING)])
    clean, true = solver.without + steps[0], solver.without + steps[1:]
    R = np.linalg.qr(data.raw.Z.reshape(cell.N - 1, -1), mode="r")
    measured = []
    for (Z, y), Gamma in zip(figure.attacked_rows(cell, SETTING, data), true, strict=True):
        found = [arithmetic.attempt(f, Z, y, cell.penalty, data.row) for f in arithmetic.EVALUATIONS.values()]
        moved = np.stack([Gamma, *(g.reshape(Gamma.shape) for g in found)]) - clean
        condition = _condition(np.vstack([Z[data.row], R]), cell.penalty * cell.N)
        measured.append([*population.excess_risk(cell.model, moved), condition])
    return np.array(measured)


def _condition(rows: np.ndarray, shrink: float) -> float:
    """Condition number of λN I + ZᵀZ, λN = ``shrink``, from the singular values of Z or of QZ, Q orthogonal.

    So a factor R of all rows but one, and that one, are enough.
    """
    square = np.linalg.svd(rows, compute_uv=False) ** 2
    return (square[0] + shrink) / (square[-1] + shrink)


def digit_trial(cell: figure.Problem, *, rng: np.random.Generator) -> np.ndarray:
    """‖Γ − Γ₅₀‖/‖Γ₅₀‖ of each method for each α, Γ₅₀ from fifty digits: shape (α, methods)."""
    data = figure.draw(cell, rng)
    attacks, count = cell.attacks(SETTING), cell.N - 1
    solver, steps = figure.rank_one(cell, data, [NONE, *attacks])
    last = candidates(data.prompt, attacks)
    clean = data.raw.Z.reshape(count, -1), data.raw.response
    exact = arithmetic.fifty_digits(*clean, last.Z.reshape(len(attacks), -1), last.response, cell.penalty)
    evaluations = [arithmetic.EVALUATIONS[name] for name in DIGIT_METHODS[1:]]
    errors = []
    for (Z, y), step, truth in zip(figure.attacked_rows(cell, SETTING, data), steps[1:], exact, strict=True):
        found = [arithmetic.attempt(f, Z, y, cell.penalty, data.row) for f in evaluations]
        each = np.stack([(solver.without + step).reshape(-1), *found])
        errors.append(np.linalg.norm(each - truth, axis=1) / np.linalg.norm(truth))
    return np.array(errors)


def table(cell: figure.Problem, samples: np.ndarray) -> pd.DataFrame:
    """Displacement by α and evaluation: mean, median, trials that broke down, condition number (median)."""
    rows = []
    for a, alpha in enumerate(cell.alpha):
        condition = float(np.median(samples[:, a, -1]))
        for m, name in enumerate(METHODS):
            values = samples[:, a, m]
            mean, error, kept = arithmetic.finite_mean(values)
            row = {
                "alpha": alpha,
                "evaluation": name,
                "displacement": mean,
                "standard_error": error,
                "trials": len(values),
                "median": float(np.median(values[np.isfinite(values)])) if kept else np.nan,
                "breakdowns": len(values) - kept,
                "condition": condition,
            }
            rows.append(row)
    return pd.DataFrame(rows)


def digit_table(cell: figure.Problem, samples: np.ndarray) -> pd.DataFrame:
    """Relative error against fifty digits by α and evaluation: median and worst of the trials."""
    rows = []
    for a, alpha in enumerate(cell.alpha):
        for m, name in enumerate(DIGIT_METHODS):
            errors = np.nan_to_num(samples[:, a, m], nan=np.inf)
            row = {"median_error": float(np.median(errors)), "worst_error": float(errors.max()), "trials": len(errors)}
            rows.append({"alpha": alpha, "evaluation": name} | row)
    return pd.DataFrame(rows)
