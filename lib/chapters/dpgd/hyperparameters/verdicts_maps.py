"""Verdicts on Figure 4, the paragraphs on it, and the best hyper-parameters, of arXiv:2505.16329v2."""

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from chapters.dpgd.hyperparameters.problem import NAMES
from chapters.dpgd.hyperparameters.verdicts import dearest
from companion.judging.findings import Number, Verdict
from companion.judging.judges import Ruling, judges, numbers, reads
from companion.judging.tables import Tables
from companion.judging.vocabulary import CONSISTENT, ON_A_PAR, ROUNDING, WORSE, worse

PARALLEL = 0.25  # how far the valley's slope may be from −1 on log axes
SMALL = 0.3  # clipping constants up to this one count as small: those where the valley is fitted
WITHIN = 0.9  # of 2/γ: a valley up to there is not cut by the cap
CAP = 1.0  # of the figure


@dataclass(frozen=True)
class Valley:
    """What a map shows: the least risk of each row, c fixed.

    Args:
        clip: c. rate: the best η̃(0) ≤ 2/γ. risk: there. error: its standard error. beyond: the least risk with η̃(0) >
            2/γ. beyond_error: its standard error. All of shape (rows,).
        gamma, alpha: of the map.
    """

    clip: np.ndarray
    rate: np.ndarray
    risk: np.ndarray
    error: np.ndarray
    beyond: np.ndarray
    beyond_error: np.ndarray
    gamma: float
    alpha: float

    @property
    def slope(self) -> float:
        """d ln η̃/d ln c along the valley, over small c that the cap does not cut."""
        open_ = self._open
        if open_.sum() < 3:
            return math.nan
        return float(np.polyfit(np.log(self.clip[open_]), np.log(self.rate[open_]), 1)[0])

    @property
    def product(self) -> float:
        """The geometric mean of cη̃(0) along that part."""
        open_ = self._open
        return float(np.exp(np.log((self.clip * self.rate)[open_]).mean())) if open_.any() else math.nan

    @property
    def _open(self) -> np.ndarray:
        """The rows of small c that the cap does not cut."""
        return (self.clip <= SMALL) & (self.rate < WITHIN * 2 / self.gamma)

    @property
    def gains(self) -> np.ndarray:
        """By which factor more than 2/γ is better, where beyond doubt; 1 elsewhere."""
        sure = self.risk - self.beyond > CONSISTENT * np.hypot(self.error, self.beyond_error)
        return np.where(sure, self.risk / self.beyond, 1.0)

    @property
    def gain(self) -> float:
        """The largest of them."""
        return float(self.gains.max())

    @property
    def outside(self) -> float:
        """The least risk of the map with η̃(0) > 2/γ over the least with η̃(0) ≤ 2/γ."""
        return float(self.beyond.min() / self.risk.min())

    @property
    def ends_beyond(self) -> bool:
        """Whether the least risk of the map is at η̃(0) > 2/γ, beyond doubt."""
        inside, out = int(self.risk.argmin()), int(self.beyond.argmin())
        error = float(np.hypot(self.error[inside], self.beyond_error[out]))
        return worse(float(self.risk[inside]), float(self.beyond[out]), error)

    @property
    def worsens(self) -> bool:
        """Whether the least risk above c = 1 is worse than below, and the worse the larger c is."""
        above = self.clip > 1
        if not above.any() or above.all():
            return False
        path = np.concatenate([[self.risk[~above].min()], self.risk[above]])
        return bool(worse(path[-1], path[0]) and (np.diff(path) > -CONSISTENT * self.error.max()).all())


def valleys(table: pd.DataFrame) -> list[Valley]:
    """The valley of each map of simulated means."""
    found = []
    for (gamma, alpha), panel in table.groupby(["gamma", "alpha"]):
        panel = panel.assign(error=panel["risk_sd"] / np.sqrt(panel["trials"]))
        inside, outside = (panel[mask] for mask in _sides(panel, float(gamma)))
        best, beyond = _least(inside), _least(outside)
        clip, rate, risk, error = (best[name].to_numpy() for name in ("clip", "learning_rate", "risk_mean", "error"))
        other, other_error = (beyond[name].to_numpy() for name in ("risk_mean", "error"))
        found.append(Valley(clip, rate, risk, error, other, other_error, float(gamma), float(alpha)))
    return found


def _sides(panel: pd.DataFrame, gamma: float) -> tuple[pd.Series, pd.Series]:
    inside = panel["learning_rate"] <= 2 / gamma * (1 + ROUNDING)
    return inside, ~inside


def _least(panel: pd.DataFrame) -> pd.DataFrame:
    return panel.loc[panel.groupby("clip")["risk_mean"].idxmin()].sort_values("clip")


def deviations(table: pd.DataFrame) -> pd.DataFrame:
    """How far simulated means are from the ODE's, in standard errors, where the risk is below the cap of the figure."""
    rows = table[table["ode_risk"] < CAP]
    error = rows["risk_sd"] / np.sqrt(rows["trials"])
    return rows.assign(deviation=(rows["risk_mean"] - rows["ode_risk"]) / error)


@judges("dpgd/figure-4")
def figure_4(tables: Tables) -> Ruling:
    """Does the simulated risk worsen for c > 1 and for η̃(0) > 2/γ, and is its valley parallel to cη̃(0) = ln(1/γ)?"""
    found = valleys(tables["figure-4"])
    seen = all(abs(valley.slope + 1) <= PARALLEL and valley.worsens for valley in found)
    within = not any(valley.ends_beyond for valley in found)
    gain = max(valley.gain for valley in found)
    told = tuple(number for valley in found for number in _of_valley(valley))
    decided = bool(found) and all(math.isfinite(valley.slope) for valley in found)
    verdict = reads(printed=seen and within, narrower=seen, decided=decided)
    return Ruling(verdict, told, {"gain": gain}, "" if gain > 1 else "no gain")


def _of_valley(valley: Valley) -> tuple[Number, ...]:
    where = f"{NAMES[valley.alpha]}, γ = {valley.gamma:g}"
    named = {
        f"slope of the valley, {where}": (valley.slope, -1.0),
        f"cη̃(0) in the valley over ln(1/γ), {where}": valley.product / math.log(1 / valley.gamma),
        f"least risk beyond 2/γ over the least below, {where}": (valley.outside, 1.0),
        f"largest gain beyond 2/γ at one c, {where}": (valley.gain, 1.0),
    }
    return numbers("figure-4", named, f"gamma = {valley.gamma:g}, alpha = {valley.alpha:g}")


@judges("dpgd/section-7-hyper-parameters")
def section_7(tables: Tables) -> Ruling:
    """Is a small c with a learning rate divided by it as good as any, and large c worse, in all that was solved?"""
    groups = [rows for _, rows in tables["valley"].groupby(["rho", "alpha", "gamma"])]
    small = [rows for rows in map(_small, groups) if len(rows) > 1]
    if not small:
        return Ruling(Verdict.UNTESTABLE)
    product, risk = (max(_quotient(rows[column]) for rows in small) for column in ("product", "risk"))
    cost = float(dearest(tables["valley"]).min())
    named = {
        "largest best cη̃(0) over the least, among small c": (product, ON_A_PAR, "clip up to 0.1"),
        "largest risk over the least, among small c": (risk, ON_A_PAR, "clip up to 0.1"),
        "risk at the largest c over the least risk, at its smallest": (cost, WORSE, "the largest clip"),
    }
    verdict = reads(printed=max(product, risk) <= ON_A_PAR and cost > WORSE, decided=not math.isnan(cost))
    return Ruling(verdict, numbers("valley", named), {"quotient": risk})


def _small(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of the smallest c whose valley the cap does not cut."""
    return rows[(rows["clip"] <= SMALL / 3) & (rows["learning_rate"] < WITHIN * 2 / rows["gamma"])]


def _quotient(values: pd.Series) -> float:
    return float(values.max() / values.min())


@judges("dpgd/section-5.1-largest-rate")
def largest_rate(tables: Tables) -> Ruling:
    """Is the best (c, η̃(0)) of all at η̃(0) ≤ 2/γ?"""
    table = tables["valley"]
    if table[["risk", "beyond_risk"]].isna().any(axis=None):
        return Ruling(Verdict.UNTESTABLE)
    groups = table.groupby(["rho", "alpha", "gamma"])
    joint = (groups["beyond_risk"].min() / groups["risk"].min()).min()
    alone = table.loc[(table["risk"] / table["beyond_risk"]).idxmax()]
    gain = alone["risk"] / alone["beyond_risk"]
    row = ", ".join(f"{name} = {alone[name]:g}" for name in ("rho", "alpha", "gamma", "clip"))
    named = {
        "least risk beyond 2/γ over the least below, at its smallest": (joint, 1.0, ""),
        "largest gain beyond 2/γ at a given c": (gain, 1.0, row),
    }
    grounds = "" if gain > WORSE else "no gain"
    return Ruling(reads(printed=joint >= 1 / WORSE), numbers("valley", named), {"gain": gain}, grounds)


@judges("dpgd/section-5.1-largest-clip")
def largest_clip(tables: Tables) -> Ruling:
    """Is some c ≤ 1 on a par with all c > 1, in every problem?"""
    gains = _gains(tables["valley"])
    largest = gains.loc[gains["gain"].idxmax()]
    row = ", ".join(f"{name} = {largest[name]:g}" for name in ("rho", "alpha", "gamma"))
    named = {"least risk with c up to 1 over the least above, at its largest": (largest["gain"], ON_A_PAR, row)}
    verdict = reads(printed=largest["gain"] <= ON_A_PAR, decided=not gains["gain"].isna().any())
    grounds = "" if largest["gain"] > 1 else "no gain"
    return Ruling(verdict, numbers("valley", named), {"gain": largest["gain"]}, grounds)


def _gains(table: pd.DataFrame) -> pd.DataFrame:
    """For each problem the least risk with c ≤ 1 over the least with c > 1."""
    rows = []
    for (rho, alpha, gamma), group in table.groupby(["rho", "alpha", "gamma"]):
        above = group["clip"] > 1
        place = {"rho": rho, "alpha": alpha, "gamma": gamma}
        rows.append(place | {"gain": group[~above]["risk"].min() / group[above]["risk"].min()})
    return pd.DataFrame(rows)
