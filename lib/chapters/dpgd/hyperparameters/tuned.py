"""The best η̃(0) for each c by the deterministic equivalent: the valley of Figure 4, rates, and who wins."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from chapters.dpgd.hyperparameters.problem import ALPHAS, TOLERANCE, equations, schedule, tabulated
from companion.streams import Runner
from costofprivacy.dpgd import equivalent, rates, tuning
from costofprivacy.dpgd.system import System

USUAL_CLIP = 0.1  # of the paper's Figure 7
RATE_CLIPS = (0.03, 0.1, 0.2, 0.3, 0.5, 1.0, 3.0)  # of which the best is taken where rates are measured
SCAN = np.geomspace(1.1, 100, 13)  # learning rates beyond 2/γ, in units of it


@dataclass(frozen=True)
class Problem:
    """A schedule and equations, in which several clipping constants are tried; see `problem.equations`."""

    alpha: float
    gamma: float
    rho: float
    label_noise: float
    initial_risk: float
    clips: tuple[float, ...]
    least: float = 1.0
    aligned: bool = False
    share: float = 1.0  # of 2/γ: the largest η̃(0) that is tried

    @property
    def key(self) -> int:
        """Nothing is drawn."""
        return 0

    @property
    def equations(self) -> System:
        """Definition 4.2."""
        return equations(self.gamma, self.label_noise, self.initial_risk, self.least, self.aligned)

    def risk(self, clip: float, rate: float) -> float:
        """The released risk of one choice."""
        return equivalent.final_risk(self.equations, schedule(self.alpha, rate), clip, self.rho, TOLERANCE)


def best(cell: Problem, *, rng: np.random.Generator) -> np.ndarray:
    """For each clip the best η̃(0) ≤ 2/γ and its risk, shape (clips, 2)."""
    given, family = cell.equations, partial(schedule, cell.alpha)
    end = cell.share * given.cap
    found = [tuning.best_rate(given, family, clip, cell.rho, end, TOLERANCE) for clip in cell.clips]
    return np.array([(each.initial, each.risk) for each in found])


def advised(cell: Problem, *, rng: np.random.Generator) -> np.ndarray:
    """For each clip the risk at cη̃(0) = ln(1/γ), at `rates.advised_rate`, and the least beyond 2/γ; (clips, 3)."""
    cap, found = cell.equations.cap, []
    for clip in cell.clips:
        line = min(rates.product(cell.gamma) / clip, cap)
        ours = rates.advised_rate(cell.alpha, cell.gamma, cell.rho, clip, cell.label_noise, cell.initial_risk)
        plans = [schedule(cell.alpha, rate) for rate in (line, ours, *(cap * SCAN))]
        risks = equivalent.final_risks(cell.equations, plans, clip, cell.rho, TOLERANCE)
        found.append((risks[0], risks[1], risks[2:].min()))
    return np.array(found)


def proven(cell: Problem, *, rng: np.random.Generator) -> np.ndarray:
    """η̃(0) and the risk of the choice (D.23) at the usual clip, with a C that the proof covers; shape (2,)."""
    large = rates.factor(cell.initial_risk, USUAL_CLIP, cell.label_noise)
    rate = min(rates.product(cell.gamma, cell.least, large) / USUAL_CLIP, cell.equations.cap)
    return np.array([rate, cell.risk(USUAL_CLIP, rate)])


# ------------------------------------------------------------------------------------------------------- tables


def valley(cells: Sequence[Problem], runner: Runner) -> pd.DataFrame:
    """``valley``: for each γ, ρ, α and c the best η̃(0) ≤ 2/γ, and the risks of `advised` beside it."""
    extra = {cell: found[0] for cell, found in runner.run(advised, cells, 1, 0).items()}

    def rows(cell: Problem, found: np.ndarray) -> list[dict[str, Any]]:
        place = {"gamma": cell.gamma, "rho": cell.rho, "alpha": cell.alpha}
        names = ("clip", "learning_rate", "risk", "line_risk", "rule_risk", "beyond_risk")
        columns = zip(cell.clips, *found.T, *extra[cell].T)
        return [place | dict(zip(names, values)) for values in columns]

    table = tabulated(runner, best, cells, rows)
    product = table["clip"] * table["learning_rate"]
    return table.assign(product=product, line=-np.log(table["gamma"]))


@dataclass(frozen=True)
class Axis:
    """How ρ and λ_min go with γ: ρ = scale·γ^power, λ_min = least·γ^fall; see `problem.equations`."""

    scale: float
    power: float = 0.0
    least: float = 1.0
    fall: float = 0.0
    aligned: bool = False

    def problem(self, alpha: float, gamma: float, **own: Any) -> Problem:
        """The problem of this axis at an aspect ratio."""
        rho, least = self.scale * gamma**self.power, self.least * gamma**self.fall
        return Problem(alpha, gamma, rho, least=least, aligned=self.aligned, clips=RATE_CLIPS, **own)


AXES = {
    "isotropic, ρ = 0.1": Axis(0.1),
    "isotropic, ρ = γ^½": Axis(1.0, 0.5),
    "isotropic, ρ = γ^¾": Axis(1.0, 0.75),
    "two levels, ρ = 0.1": Axis(0.1, least=0.5),
    "two levels, ρ = γ^¾": Axis(1.0, 0.75, least=0.5),
    "λ_min = γ^¼, ρ = 0.1": Axis(0.1, fall=0.25),
    "λ_min = γ^⅛, ρ = γ^½": Axis(1.0, 0.5, fall=0.125),
    "target along λ_min = γ^0.4, ρ = γ^0.9": Axis(1.0, 0.9, fall=0.4, aligned=True),
}


def rate_table(gammas: Sequence[float], runner: Runner, **own: Any) -> pd.DataFrame:
    """``rates``: the risk at the choice (D.23) and the least over c and η̃(0), with both bounds, along each axis."""
    axes = list(itertools.product(AXES, ALPHAS, gammas))
    cells = [AXES[axis].problem(alpha, gamma, **own) for axis, alpha, gamma in axes]
    distinct = list(dict.fromkeys(cells))
    found, paper = runner.run(best, distinct, 1, 0), runner.run(proven, distinct, 1, 0)
    return pd.DataFrame(
        [{"axis": axis} | _rate_row(cell, found[cell][0], paper[cell][0]) for (axis, *_), cell in zip(axes, cells)]
    )


def _rate_row(cell: Problem, found: np.ndarray, paper: np.ndarray) -> dict[str, Any]:
    place = int(found[:, 1].argmin())
    least, largest = cell.least, 2 - cell.least
    spread = (cell.alpha, cell.gamma, cell.rho)
    return {
        "alpha": cell.alpha,
        "gamma": cell.gamma,
        "inverse": 1 / cell.gamma,
        "rho": cell.rho,
        "least": least,
        "largest": largest,
        "initial_risk": cell.equations.initial_risk,
        "smallness": rates.smallness(*spread, least, largest),
        "clip": cell.clips[place],
        "learning_rate": found[place, 0],
        "best_risk": found[place, 1],
        "proven_rate": paper[0],
        "proven_risk": paper[1],
        "upper": rates.upper(*spread, least, largest),
        "lower": rates.lower(*spread, largest),
        "leading": rates.leading(*spread, cell.clips[place], cell.label_noise),
    }


def comparison(gammas: Sequence[float], rhos: Sequence[float], runner: Runner, **own: Any) -> pd.DataFrame:
    """``comparison``: both schedules, each at its best c and η̃(0), with and without privacy."""
    places = list(itertools.product((*rhos, math.inf), gammas))
    cells = {
        (rho, gamma, alpha): Problem(alpha, gamma, rho, clips=RATE_CLIPS, **own)
        for rho, gamma in places
        for alpha in ALPHAS
    }
    found = runner.run(best, list(cells.values()), 1, 0)
    risk = {place: float(found[cell][0][:, 1].min()) for place, cell in cells.items()}
    rows = [(rho, gamma, *(risk[rho, gamma, alpha] for alpha in ALPHAS)) for rho, gamma in places]
    table = pd.DataFrame(rows, columns=["rho", "gamma", "output_risk", "constant_risk"])
    return table.assign(ratio=table["constant_risk"] / table["output_risk"])


CLIP_RULES = {"c = 0.1": (0.1, 0.0), "c = 1": (1.0, 0.0), "c = γ^−½": (1.0, -0.5), "c = γ^−¾": (1.0, -0.75)}


def clipping(gammas: Sequence[float], rho: float, runner: Runner, **own: Any) -> pd.DataFrame:
    """``clipping``: the least risk over η̃(0) ≤ 1/γ with c fixed, or growing as γ falls, against (5.12)."""
    places = list(itertools.product(CLIP_RULES, ALPHAS, gammas))
    cells = []
    for rule, alpha, gamma in places:
        scale, power = CLIP_RULES[rule]
        cells.append(Problem(alpha, gamma, rho, clips=(scale * gamma**power,), share=0.5, **own))
    found = runner.run(best, list(dict.fromkeys(cells)), 1, 0)
    rows = []
    for (rule, alpha, gamma), cell in zip(places, cells):
        (rate, risk), clip = found[cell][0][0], cell.clips[0]
        place = {"axis": rule, "alpha": alpha, "gamma": gamma, "inverse": 1 / gamma, "rho": rho, "clip": clip}
        rows.append(place | {"learning_rate": rate, "risk": risk, "order": rates.clipping_order(clip, gamma, rho)})
    return pd.DataFrame(rows)
