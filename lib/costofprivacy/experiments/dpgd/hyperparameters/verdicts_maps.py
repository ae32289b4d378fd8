"""Verdicts on Figure 4, the paragraphs on it, and the best hyper-parameters, of arXiv:2505.16329v2."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from costofprivacy.experiments.dpgd.hyperparameters.problem import NAMES
from costofprivacy.judging import growth
from costofprivacy.judging.findings import Consequence, Finding, Number, Verdict
from costofprivacy.judging.judges import judges
from costofprivacy.judging.prose import compact
from costofprivacy.judging.tables import Tables
from costofprivacy.judging.vocabulary import CONSISTENT

PARALLEL = 0.25  # how far the valley's slope may be from −1 on log axes
SMALL = 0.3  # clipping constants up to this one count as small: those where the valley is fitted
RISE = 1.02  # a risk this many times another is worse
WITHIN = 0.9  # of 2/γ: a valley up to there is not cut by the cap
EVEN = 1.25  # quotient up to which products cη̃(0), and risks, count as one


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
    def worsens(self) -> bool:
        """Whether the least risk above c = 1 is worse than below, and the worse the larger c is."""
        above = self.clip > 1
        if not above.any() or above.all():
            return False
        path = np.concatenate([[self.risk[~above].min()], self.risk[above]])
        return bool(path[-1] > RISE * path[0] and (np.diff(path) > -CONSISTENT * self.error.max()).all())


def valleys(table: pd.DataFrame, column: str = "risk_mean") -> list[Valley]:
    """The valley of each map; with `ode_risk` in the place of the simulated means there is no error."""
    found = []
    for (gamma, alpha), panel in table.groupby(["gamma", "alpha"]):
        spread = panel["risk_sd"] / np.sqrt(panel["trials"]) if column == "risk_mean" else 0.0
        panel = panel.assign(error=spread)
        inside, outside = (panel[mask] for mask in _sides(panel, float(gamma)))
        best, beyond = _least(inside, column), _least(outside, column)
        clip, rate, risk, error = (best[name].to_numpy() for name in ("clip", "learning_rate", column, "error"))
        other, other_error = (beyond[name].to_numpy() for name in (column, "error"))
        found.append(Valley(clip, rate, risk, error, other, other_error, float(gamma), float(alpha)))
    return found


def _sides(panel: pd.DataFrame, gamma: float) -> tuple[pd.Series, pd.Series]:
    inside = panel["learning_rate"] <= 2 / gamma * (1 + 1e-9)
    return inside, ~inside


def _least(panel: pd.DataFrame, column: str) -> pd.DataFrame:
    return panel.loc[panel.groupby("clip")[column].idxmin()].sort_values("clip")


def deviations(table: pd.DataFrame, cap: float = 1.0) -> pd.DataFrame:
    """How far simulated means are from the ODE's, in standard errors, where the risk is below the cap of the figure."""
    rows = table[table["ode_risk"] < cap]
    error = rows["risk_sd"] / np.sqrt(rows["trials"])
    return rows.assign(deviation=(rows["risk_mean"] - rows["ode_risk"]) / error)


@judges("dpgd/figure-4")
def figure_4(tables: Tables) -> Finding:
    """Does the simulated risk worsen for c > 1 and for η̃(0) > 2/γ, and is its valley parallel to cη̃(0) = ln(1/γ)?"""
    found = valleys(tables["figure-4"])
    numbers = tuple(number for valley in found for number in _of_valley(valley))
    change = "A map over another range of the two parameters whose valley has another slope."
    if any(not abs(valley.slope + 1) <= PARALLEL for valley in found):
        headline = "The lowest risks do not lie parallel to the drawn line."
        return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=change)
    if not all(valley.worsens for valley in found):
        headline = "The risk does not worsen as the clipping constant exceeds one."
        return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=change)
    better = [valley for valley in found if valley.gains.max() > 1]
    if not better:
        headline = "The risk worsens beyond both lines, and its valley is parallel to the third."
        return Finding(Verdict.HOLDS, headline, numbers, would_change=change)
    worst = max(better, key=lambda valley: valley.gains.max())
    headline = (
        "The valley and both edges are seen, but at small clipping constants a learning rate beyond its edge is up to "
        f"{compact(worst.gains.max())} times better."
    )
    widest = max(float(v.clip[v.gains > 1].max()) * 2 / (v.gamma * v.product) for v in better)
    correction = (
        f"The risk worsens beyond $\\tilde\\eta(0) = 2/\\gamma$ if $c$ is above {compact(widest)} times $a\\gamma/2$, "
        "where $a = c\\tilde\\eta(0)$ in the valley; excluded are smaller $c$, where the valley meets $2/\\gamma$."
    )
    return Finding(Verdict.NARROWER, headline, numbers, Consequence.NUMBERS, correction, change)


def _of_valley(valley: Valley) -> tuple[Number, ...]:
    row = f"gamma = {valley.gamma:g}, alpha = {valley.alpha:g}"
    where = f"{NAMES[valley.alpha]}, γ = {valley.gamma:g}"
    line = math.log(1 / valley.gamma)
    return (
        Number(f"slope of the valley, {where}", valley.slope, against=-1.0, table="figure-4", row=row),
        Number(f"cη̃(0) in the valley over ln(1/γ), {where}", valley.product / line, table="figure-4", row=row),
        Number(f"largest gain beyond 2/γ, {where}", valley.gains.max(), against=1.0, table="figure-4", row=row),
    )


@judges("dpgd/section-7-hyper-parameters")
def section_7(tables: Tables) -> Finding:
    """Is a small c with a learning rate divided by it as good as any, and large c worse, in all that was solved?"""
    table = tables["valley"]
    spreads, worse = [], []
    for _, rows in table.groupby(["rho", "alpha", "gamma"]):
        open_ = rows[(rows["clip"] <= SMALL / 3) & (rows["learning_rate"] < WITHIN * 2 / rows["gamma"])]
        if len(open_) > 1:
            spreads.append((_quotient(open_["product"]), _quotient(open_["risk"])))
        largest = rows.loc[rows["clip"].idxmax()]
        worse.append(float(largest["risk"] / rows["risk"].min()))
    product, risk = np.max(spreads, axis=0)
    numbers = (
        Number("largest quotient of products cη̃(0) among small c", product, table="valley", row="clip up to 0.1"),
        Number("largest quotient of risks among small c", risk, table="valley", row="clip up to 0.1"),
        Number("least cost of the largest c", min(worse), against=1.0, table="valley", row="the largest clip"),
    )
    change = "A small clipping constant whose best learning rate is not inversely proportional to it."
    if product > EVEN or risk > EVEN or min(worse) <= RISE:
        headline = "Dividing the learning rate by a small clipping constant does not give the same risk."
        return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=change)
    headline = (
        f"Small clipping constants are all alike once the learning rate is divided by them: best risks within a factor "
        f"{compact(risk)}."
    )
    return Finding(Verdict.HOLDS, headline, numbers, would_change=change)


def _quotient(values: pd.Series) -> float:
    return float(values.max() / values.min())


@judges("dpgd/section-5.1-largest-rate")
def largest_rate(tables: Tables) -> Finding:
    """Is the best (c, η̃(0)) of all at η̃(0) ≤ 2/γ?"""
    groups = tables["valley"].groupby(["rho", "alpha", "gamma"])
    joint = (groups["beyond_risk"].min() / groups["risk"].min()).min()
    table = tables["valley"]
    alone = table.loc[(table["risk"] / table["beyond_risk"]).idxmax()]
    row = f"rho = {alone['rho']:g}, alpha = {alone['alpha']:g}, gamma = {alone['gamma']:g}, clip = {alone['clip']:g}"
    gain = float(alone["risk"] / alone["beyond_risk"])
    numbers = (
        Number("least risk beyond 2/γ over the least below, at its smallest", joint, against=1.0, table="valley"),
        Number("largest gain beyond 2/γ at a given c", gain, against=1.0, table="valley", row=row),
    )
    change = "A problem whose best pair has a learning rate above $2/\\gamma$."
    if joint < 1 / RISE:
        headline = f"The best pair can have a learning rate beyond the cap: {compact(1 / joint)} times less risk."
        return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=change)
    only = f", though at one clipping constant it gains a factor {compact(gain)}" if gain > RISE else ""
    headline = f"With the clipping constant chosen well, no learning rate beyond the cap is better{only}."
    return Finding(Verdict.HOLDS, headline, numbers, would_change=change)


@judges("dpgd/section-5.1-largest-clip")
def largest_clip(tables: Tables) -> Finding:
    """By how much can c > 1 be better than c ≤ 1, and does that grow as γ falls?"""
    rows = []
    for (rho, alpha, gamma), group in tables["valley"].groupby(["rho", "alpha", "gamma"]):
        above = group["clip"] > 1
        place = {"rho": rho, "alpha": alpha, "gamma": gamma, "inverse": 1 / gamma}
        rows.append(place | {"gain": group[~above]["risk"].min() / group[above]["risk"].min()})
    gains = pd.DataFrame(rows)
    powers = {key: growth.power(each, "inverse", "gain", "") for key, each in gains.groupby(["rho", "alpha"])}
    largest = gains.loc[gains["gain"].idxmax()]
    row = f"rho = {largest['rho']:g}, alpha = {largest['alpha']:g}, gamma = {largest['gamma']:g}"
    numbers = (
        Number("largest gain of c above 1", largest["gain"], against=1.0, table="valley", row=row),
        Number("largest power of 1/γ in it", max(powers.values()), table="valley", row="the last three γ"),
    )
    change = "A regime in which the gain of a large clipping constant grows like a power of $1/\\gamma$."
    if max(powers.values()) > growth.LOST_POWER and largest["gain"] > EVEN:
        headline = "Clipping constants above one pay, the more the smaller the aspect ratio."
        return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=change)
    gained = largest["gain"]
    told = "never pays" if gained <= 1 else f"pays by a factor {compact(gained)} at most"
    headline = f"A clipping constant above one {told} in any problem that was tried."
    return Finding(Verdict.HOLDS, headline, numbers, would_change=change)
