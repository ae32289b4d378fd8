"""Closed forms along each size, to lengths and numbers that no simulation reaches: the norms, (A.9) and Remark 4.2."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd

from chapters.noisyhead.cost_of_privacy.sides import Cell
from costofprivacy.noisyhead import bounds, dynamics, hyperparameters, population
from costofprivacy.noisyhead.bounds import shortening_risk
from costofprivacy.noisyhead.hyperparameters import Hyperparameters
from costofprivacy.settings import Setting

MANY = tuple(10**k for k in range(3, 31, 3))  # numbers of prompts
LENGTHS = tuple(10**k for k in range(1, 16))
DIMENSIONS = (2, 5, 10, 20, 50, 100, 200)
STEPS = (1, 3, 10, 30, 100, 300, 1000)
SOME, LENGTH, PATIENCE = 1000, 100, 100  # N, L and T where the axis of another size stands still
SHORT = 10  # tokens: a length below log(N/κ) at every N of `MANY`
LOW, LOW_N, LOW_L = (2, 3, 5, 7), 10**12, 25  # dimensions with D² ≤ log(NL) at this N and L
ROUNDING = 1e-28  # of the risk of answering 0: the square of what a difference of two equal numbers leaves


@dataclass(frozen=True)
class Point:
    """A cell on an axis, run for the first of its T with the printed hyperparameters."""

    axis: str
    cell: Cell

    @cached_property
    def hyper(self) -> Hyperparameters:
        """Those of Theorem 4.1, with T."""
        printed = self.cell.hyper[Setting.PRINTED]
        return replace(printed, steps=self.cell.steps(printed)[0])

    @property
    def place(self) -> dict[str, object]:
        """Where it is; N and L as floats, since they leave the whole numbers of a table."""
        cell = self.cell
        return {"axis": self.axis, "N": float(cell.N), "L": float(cell.L), "D": cell.D, "T": self.hyper.steps}

    def noise(self) -> float:
        """E⟨Γ^T − Γ^T_noiseless, Z⟩², Π_R idle."""
        std = self.cell.noise_std(Setting.PRINTED, self.hyper.steps)
        return dynamics.noise_risk(self.hyper, self.cell.model, std, dynamics.curvature(self.cell.model))

    def descent(self, penalty: float, start: float) -> float:
        """E⟨Γ^T_noiseless − Γ*, Z⟩² for this penalty in the update and ‖Γ⁰‖² = ``start``."""
        told, T, cell = replace(self.hyper, penalty=penalty), np.array([self.hyper.steps]), self.cell
        risk = float(dynamics.descent_risk(told, cell.model, cell.N, cell.penalty, start, T)[0])
        return risk if risk > ROUNDING * population.zero_excess_risk(cell.model, cell.penalty) else 0.0


def norms(cell: Cell) -> pd.DataFrame:
    """‖Z‖ beside G₀, and ‖Γ*‖ beside R, along N, L and D, as root mean squares.

    ``short`` is the condition L ≤ D log(NL/κ); ``sure`` is L ≤ 4NC²/λ, under which R ≥ C/(2√λ) ≥ ‖Γ*‖ for every data
    set.
    """
    sizes = [("N", n, LENGTH, cell.D) for n in MANY]
    sizes += [("L", SOME, length, cell.D) for length in LENGTHS]
    sizes += [("D", SOME, LENGTH, D) for D in DIMENSIONS]
    return pd.DataFrame([_norm_row(axis, replace(cell, N=N, L=L, D=D)) for axis, N, L, D in sizes])


def ridge_norm(cell: Cell) -> float:
    """Root of E‖Γ*‖²_F, Γ* = b/(λ + h) with b the cross moment."""
    return math.sqrt(dynamics.cross_energy(cell.model, cell.N)) / (cell.penalty + dynamics.curvature(cell.model))


def _norm_row(axis: str, cell: Cell) -> dict[str, object]:
    hyper, model = cell.hyper[Setting.PRINTED], cell.model
    return {
        "axis": axis,
        "N": float(cell.N),
        "L": float(cell.L),
        "D": cell.D,
        "statistic_norm": math.sqrt(population.context_energy(model)),
        "query_bound": hyperparameters.query_bound_proof(model, cell.N, cell.failure),
        "short": cell.D * math.log(cell.N * cell.L / cell.failure) >= cell.L,
        "ridge_norm": ridge_norm(cell),
        "weight_bound": hyper.weight_bound,
        "weight_bound_sure": hyperparameters.weight_bound_singular(hyper.clip_norm, cell.penalty),
        "sure": 4 * cell.N * hyper.clip_norm**2 / cell.penalty >= cell.L,
    }


def conditional(cell: Cell) -> pd.DataFrame:
    """Both parts of the left side of (A.9), given ‖Z‖ ≤ G₀ and no Z_k altered, beside the two of its right side.

    Given ‖Z‖ ≤ G₀ the mean of ‖Z‖² is at most the lesser of G₀² and E‖Z‖². Along N prompts are short, so that the
    event is likely, and T is that of Theorem 4.2(i). L goes as far as ‖Γ*‖ ≤ R, the event 𝒟₁.
    """
    still = replace(cell, N=SOME, L=LENGTH, T=(PATIENCE,))
    points = [Point("N", replace(still, N=n, L=SHORT, T=())) for n in MANY]
    longer = (replace(still, L=length) for length in LENGTHS)
    points += [Point("L", long) for long in longer if ridge_norm(long) <= long.hyper[Setting.PRINTED].weight_bound]
    points += [Point("D", replace(still, D=D)) for D in DIMENSIONS]
    points += [Point("T", replace(still, T=(steps,))) for steps in STEPS]
    return pd.DataFrame([point.place | _given_short(point) for point in points])


def _given_short(point: Point) -> dict[str, float]:
    cell, hyper = point.cell, point.hyper
    query_bound = hyperparameters.query_bound_theorem(cell.model, cell.N, cell.failure)
    share, start = min(1.0, query_bound**2 / population.context_energy(cell.model)), hyper.weight_bound**2
    return {
        "noise": share * point.noise(),
        "descent_printed": share * point.descent(cell.penalty, start),
        "descent_halved": share * point.descent(cell.penalty / 2, start),
        "bound_noise": bounds.cost_of_noise(hyper, query_bound, cell.model, cell.budget, cell.N),
        "bound_descent": bounds.cost_of_descent(hyper, query_bound),
    }


def dominance(cell: Cell) -> pd.DataFrame:
    """Remark 4.2 at the T of Theorem 4.2(i), from Γ⁰ = 0: the noise, and what is left without any.

    ``inside`` is the condition L ≤ log(N/κ), under which G exceeds every ‖Z_k‖ at fixed D.
    """
    still = replace(cell, N=SOME, L=LENGTH, T=())
    points = [Point("N, short prompts", replace(still, N=n, L=SHORT)) for n in MANY]
    points += [Point("N, L = √N", replace(still, N=n, L=math.isqrt(n))) for n in MANY]
    points += [Point("L", replace(still, L=length)) for length in LENGTHS]
    points += [Point("D", replace(still, N=LOW_N, L=LOW_L, D=D)) for D in LOW]
    return pd.DataFrame([point.place | _left_over(point) for point in points])


def _left_over(point: Point) -> dict[str, float | bool]:
    cell = point.cell
    return {
        "noise": point.noise(),
        "descent_printed": point.descent(cell.penalty, 0.0),
        "descent_halved": point.descent(cell.penalty / 2, 0.0),
        "projection": shortening_risk(cell.D, point.hyper.feature_bound, cell.penalty),
        "zero_risk": population.zero_excess_risk(cell.model, cell.penalty),
        "inside": math.log(cell.N / cell.failure) >= cell.L,
    }
