"""Verdicts on the rates: Propositions 5.1, D.3 and D.4, what follows from them, and (5.12), of arXiv:2505.16329v2."""

import math
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from chapters.dpgd.hyperparameters import measure
from chapters.dpgd.hyperparameters.measure import ALPHAS, CHOSEN, CORRECTED, EQUAL, FIXED, GROWING, PRINTED
from companion.judging import growth
from companion.judging.judges import Record, Ruling, judges
from companion.judging.tables import describe, select
from companion.judging.vocabulary import CONSISTENT, ON_A_PAR, ROUNDING, WORSE, worse
from costofprivacy.dpgd.rates import CONSTANT, OUTPUT

PROBLEM = ["rho", "alpha", "gamma"]
NAMES = {**measure.NAMES, CONSTANT: "even noise"}  # the book's name of it on all pages


def excess(rows: pd.DataFrame) -> pd.Series:
    """By what share of the right side the left one is above it, or away from it where they are to be equal."""
    share = (rows["left"] - rows["right"]) / rows["right"].abs()
    return share.abs().where(rows["claim"] == EQUAL, share)


@judges("dpgd/equation-d.31", step="D.31")
@judges("dpgd/equation-d.35", step="D.35")
@judges("dpgd/equation-d.44", step="D.44")
@judges("dpgd/equation-d.54", step="D.54")
@judges("dpgd/equation-d.59", step="D.59")
@judges("dpgd/equation-d.61", step="D.61")
@judges("dpgd/equation-d.65", step="D.65")
@judges("dpgd/equation-d.69", step="D.69")
@judges("dpgd/equation-d.71", step="D.71")
def step_of_a_proof(found: Record, step: str) -> Ruling:
    """Does a step of Appendix D.1 stand in every case as printed, or else with another constant?"""
    table = select(found["steps"], step=step)
    printed, corrected = (select(table, reading=reading) for reading in (PRINTED, CORRECTED))
    shares = excess(printed)
    worst, most = printed.loc[shares.idxmax()], shares.max()
    side = "left side" if worst["claim"] == EQUAL else "side that is to be smaller"
    name = f"{side} against the other, {worst['case']}"
    found.number(name, worst["left"], table="steps", row=f"step = {step}", against=worst["right"])
    return found.ruling(
        most <= ROUNDING,
        corrected=bool(len(corrected)) and excess(corrected).max() <= ROUNDING,
        decided=not shares.isna().any(),
        share=most,
        case=f"${worst['case'].replace(' ', '')}$",
    )


# ---- Rates ----

FIXED_SHARE = 0.5  # the least λ_min, and R(0) relative to its first value, that counts as free of γ


def admitted(table: pd.DataFrame, alpha: float, fixed: bool) -> dict[str, pd.DataFrame]:
    """The axes inside a proposition's conditions, γ falling: eigenvalues that stay, or a smallness that vanishes.

    Where they stay, the bounds are (5.3) and (5.4) as printed, without the eigenvalues of Propositions D.3 and D.4.
    """
    found = {}
    for axis, rows in select(table, alpha=alpha).groupby("axis", sort=False):
        rows = rows.sort_values("inverse")
        stays = rows["least"].nunique() == 1 and rows["least"].iloc[0] >= FIXED_SHARE
        if fixed and stays:
            printed = rows["lower"] * rows["largest"] ** 2
            found[str(axis)] = rows.assign(upper=printed, lower=printed)
        elif not fixed and growth.power(rows, "inverse", "smallness", "") < 0:
            found[str(axis)] = rows
    return found


@judges("dpgd/proposition-5.1-upper-output", alpha=OUTPUT, fixed=True)
@judges("dpgd/proposition-5.1-upper-constant", alpha=CONSTANT, fixed=True)
@judges("dpgd/proposition-d.3-upper", alpha=OUTPUT, fixed=False)
@judges("dpgd/proposition-d.4-upper", alpha=CONSTANT, fixed=False)
def upper_bound(found: Record, alpha: float, fixed: bool) -> Ruling:
    """(5.3), (D.24), (D.50): does the risk at the paper's choice, over the order, not grow like a power of 1/γ?

    At one α, for fixed spectra, or for all that meet the condition (D.22) or (D.48). It may not grow like a power of
    ln(1/γ) either: else the risk of output perturbation would keep to the order of even noise.
    """
    axes = admitted(found["rates"], alpha, fixed)
    powers = _ratios(found, axes, "risk over the bound", "proven_risk", "upper")
    worst = max(powers, key=lambda axis: powers[axis])
    bounded = _outgrown(found, worst, powers[worst], growth.LOST_POWER) <= growth.LOST_POWER
    grown = max(growth.logarithm(rows, "inverse", "proven_risk", "upper") for rows in axes.values())
    name = "power of ln(1/γ) in that ratio, largest"
    bounded &= found.at_most(name, grown, growth.LOST_LOGARITHM, table="rates", row=f"the last {growth.LAST}")
    most = max((rows["proven_risk"] / rows["upper"]).max() for rows in axes.values())
    return found.ruling(bounded, decided=_known(powers.values()), most=most)


@judges("dpgd/proposition-5.1-lower-output", alpha=OUTPUT, fixed=True)
@judges("dpgd/proposition-5.1-lower-constant", alpha=CONSTANT, fixed=True)
@judges("dpgd/proposition-d.3-lower", alpha=OUTPUT, fixed=False)
@judges("dpgd/proposition-d.4-lower", alpha=CONSTANT, fixed=False)
def lower_bound(found: Record, alpha: float, fixed: bool) -> Ruling:
    """(5.4), (D.25), (D.51): does the least risk over c and η̃(0), over the printed order, not fall like a power of γ?

    If it does, it may do so only where the start's risk falls, too.
    """
    axes = admitted(found["rates"], alpha, fixed)
    powers = _ratios(found, axes, "least risk over the bound", "best_risk", "lower")
    worst = min(powers, key=lambda axis: powers[axis])
    _outgrown(found, worst, powers[worst], -growth.LOST_POWER)
    lost = [axis for axis, power in powers.items() if power < -growth.LOST_POWER]
    falling = all(growth.power(axes[axis], "inverse", "initial_risk", "") < -growth.LOST_POWER for axis in lost)
    least = min((rows["best_risk"] / rows["lower"]).min() for rows in axes.values())
    return found.ruling(not lost, narrower=falling, decided=_known(powers.values()), least=least)


def _ratios(found: Record, axes: dict[str, pd.DataFrame], name: str, risk: str, bound: str) -> dict[str, float]:
    """The power of 1/γ in a ratio along each axis; kept is the ratio at the least γ."""
    for axis, rows in axes.items():
        last = rows.iloc[-1]
        row = f"alpha = {last['alpha']:g}, gamma = {last['gamma']:g}, axis = {axis}"
        found.number(f"{name}, {axis}", last[risk] / last[bound], table="rates", row=row)
    return {axis: growth.power(rows, "inverse", risk, bound) for axis, rows in axes.items()}


def _outgrown(found: Record, axis: str, power: float, against: float) -> float:
    name, row = f"power of 1/γ in that ratio, {axis}", f"axis = {axis}, the last {growth.LAST}"
    return found.number(name, power, table="rates", row=row, against=against)


def _known(powers: Collection[float]) -> bool:
    return not any(math.isnan(power) for power in powers)


@judges("dpgd/section-5.1-comparison")
def schedule_comparison(found: Record) -> Ruling:
    """Is (5.2) best in rate, and does even noise beat output perturbation once γ is small, whatever ρ?"""
    table, crossings = found["comparison"], crossing(found["comparison"])
    axes = [rows for alpha in ALPHAS for rows in admitted(found["rates"], alpha, fixed=True).values()]
    lost = max(growth.power(rows, "inverse", "proven_risk", "best_risk") for rows in axes)
    for rho, value in crossings.items():
        name = f"largest γ up to which even noise wins, ρ = {rho:g}"
        found.number(name, value, table="comparison", row=f"rho = {rho:g}")
    for rho in crossings:
        name, place = f"ratio of the risks, ρ = {rho:g}", {"rho": rho, "gamma": table["gamma"].min()}
        found.cite(name, "ratio", table="comparison", against=1.0, **place)
    wins = not np.isnan([*crossings.values()]).any()
    best = lost <= growth.LOST_POWER
    return found.ruling(best and wins, decided=np.isfinite(lost), crossings=[*crossings.values()])


NEAR_ONE = 0.5  # a power of ln(1/γ) this near to 1 is neither 0, that of what stays, nor 2


@judges("dpgd/section-5.1-trade-off")
def trade_off(found: Record) -> Ruling:
    """Does the best cη̃(0) go like ln(1/γ), rather than stay or go like its square, whatever ρ, for fixed spectra?"""
    table = found["rates"].assign(product=found["rates"]["clip"] * found["rates"]["learning_rate"])
    table["share"] = table["product"] / np.log(table["inverse"])
    axes = {(NAMES[a], axis): rows for a in ALPHAS for axis, rows in admitted(table, a, fixed=True).items()}
    powers = {key: growth.logarithm(rows, "inverse", "product", "") for key, rows in axes.items()}
    shares = pd.concat([rows["share"] for rows in axes.values()])
    found.number("best cη̃(0) over ln(1/γ), least", shares.min(), table="rates")
    found.number("best cη̃(0) over ln(1/γ), largest", shares.max(), table="rates")
    least, largest = min(powers, key=lambda key: powers[key]), max(powers, key=lambda key: powers[key])
    name = "power of ln(1/γ) in the best cη̃(0)"
    slow = found.at_least(f"{name}, least: {', '.join(least)}", powers[least], 1 - NEAR_ONE, table="rates")
    fast = found.at_most(f"{name}, largest: {', '.join(largest)}", powers[largest], 1 + NEAR_ONE, table="rates")
    return found.ruling(slow and fast, decided=_known(powers.values()), shares=[*shares], clip=table["clip"].max())


@judges("dpgd/abstract-design-choices")
def design_choices(found: Record) -> Ruling:
    """Does a large clipping constant cost something in every problem, and does decay win once γ is small?"""
    costs, table = dearest(found["valley"]), found["comparison"]
    ratio = float(select(table, gamma=table["gamma"].min())["ratio"].max())
    name = "risk at the largest c over the least risk"
    least = found.number(f"{name}, at its smallest", costs.min(), table="valley", against=WORSE)
    found.number(f"{name}, at its largest", costs.max(), table="valley")
    name = "even noise over output perturbation, at the least γ"
    found.number(name, ratio, table="comparison", against=1.0)
    decays = not np.isnan([*crossing(table).values()]).any() and ratio < 1 / WORSE
    return found.ruling(least > WORSE and decays, decided=not costs.isna().any(), costs=[*costs])


def dearest(valley: pd.DataFrame) -> pd.Series:
    """By problem, the risk at the largest c with its best learning rate over the least risk of all c.

    Only where the private term of (5.12) is the larger one at that c, c²γ²/ρ² ≥ γ: elsewhere a large c costs nothing.
    """
    groups = valley.groupby(PROBLEM)
    largest = valley.loc[groups["clip"].idxmax()].set_index(PROBLEM)
    costs, level = largest["risk"] / groups["risk"].min(), largest.index.get_level_values
    return costs[largest["clip"] ** 2 * level("gamma") >= level("rho") ** 2]


def crossing(table: pd.DataFrame) -> dict[float, float]:
    """For each ρ the largest γ of the table up to which even noise wins throughout; NaN if there is none."""
    wins = table.sort_values("gamma").assign(wins=lambda rows: rows["ratio"] < 1)
    wins["wins"] = wins.groupby("rho")["wins"].cummin()
    return wins["gamma"].where(wins["wins"]).groupby(wins["rho"]).max().to_dict()


@judges("dpgd/equation-5.12")
def equation_512(found: Record) -> Ruling:
    """(5.12): does the least risk stay above γ + max(1, c²)γ²/ρ², logarithms aside, also where c grows?

    Quoted is what a large clipping constant costs at the largest γ, over the least risk there: the largest one whose
    order is not above every risk found, because then nothing is learned and (5.12) says nothing.
    """
    table, powers = found["clipping"], {}
    for (alpha, axis), rows in table.groupby(["alpha", "axis"], sort=False):
        powers[alpha, axis] = growth.power(rows, "inverse", "risk", "order")
        last = rows.loc[rows["inverse"].idxmax()]
        name = f"least risk over the order, {NAMES[alpha]}, {axis}"
        row = f"alpha = {alpha:g}, axis = {axis}, gamma = {last['gamma']:g}"
        found.number(name, last["risk"] / last["order"], table="clipping", row=row)
    (alpha, axis), least = min(powers.items(), key=lambda pair: pair[1])
    name = f"least power of 1/γ in that ratio, {NAMES[alpha]}, {axis}"
    stays = found.at_least(name, least, -growth.LOST_POWER, table="clipping", row=axis)
    first = table[table["gamma"] == table["gamma"].max()]
    first = first[first["order"] <= max(first["risk"].max(), first["order"].min())]
    costly = first.loc[first["clip"].idxmax()]
    cost = costly["risk"] / first[first["alpha"] == costly["alpha"]]["risk"].min()
    return found.ruling(stays, decided=_known(powers.values()), cost=cost, clip=costly["clip"])


# ---- Maps: Figure 4, the paragraphs on it, and the best hyper-parameters ----

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
        rows = self._open
        if rows.sum() < 3:
            return math.nan
        return float(np.polyfit(np.log(self.clip[rows]), np.log(self.rate[rows]), 1)[0])

    @property
    def product(self) -> float:
        """The geometric mean of cη̃(0) along that part."""
        rows = self._open
        return float(np.exp(np.log((self.clip * self.rate)[rows]).mean())) if rows.any() else math.nan

    @property
    def _open(self) -> np.ndarray:
        return (self.clip <= SMALL) & (self.rate < WITHIN * 2 / self.gamma)

    @property
    def gain(self) -> float:
        """By which factor more than 2/γ is better at some c, where beyond doubt; else 1."""
        sure = self.risk - self.beyond > CONSISTENT * np.hypot(self.error, self.beyond_error)
        return float(np.where(sure, self.risk / self.beyond, 1.0).max())

    @property
    def ends_within(self) -> bool:
        """Whether the least risk of the map is at η̃(0) ≤ 2/γ, beyond doubt."""
        inside, out = int(self.risk.argmin()), int(self.beyond.argmin())
        error = float(np.hypot(self.error[inside], self.beyond_error[out]))
        return worse(float(self.beyond[out]), float(self.risk[inside]), error)

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
        inside = panel["learning_rate"] <= 2 / float(gamma) * (1 + ROUNDING)
        best, beyond = (
            side.loc[side.groupby("clip")["risk_mean"].idxmin()].sort_values("clip")
            for side in (panel[inside], panel[~inside])
        )
        clip, rate, risk, error = (best[name].to_numpy() for name in ("clip", "learning_rate", "risk_mean", "error"))
        other, other_error = (beyond[name].to_numpy() for name in ("risk_mean", "error"))
        found.append(Valley(clip, rate, risk, error, other, other_error, float(gamma), float(alpha)))
    return found


def deviations(table: pd.DataFrame) -> pd.DataFrame:
    """How far simulated means are from the ODE's, in standard errors, where the risk is below the cap of the figure."""
    rows = table[table["ode_risk"] < CAP]
    error = rows["risk_sd"] / np.sqrt(rows["trials"])
    return rows.assign(deviation=(rows["risk_mean"] - rows["ode_risk"]) / error)


@judges("dpgd/figure-4")
def figure_4(found: Record) -> Ruling:
    """Does the simulated risk worsen for c > 1 and for η̃(0) > 2/γ, and is its valley parallel to cη̃(0) = ln(1/γ)?"""
    every = valleys(found["figure-4"])
    for valley in every:
        where = f"{NAMES[valley.alpha]}, γ = {valley.gamma:g}"
        place: dict[str, Any] = {"table": "figure-4", "row": f"gamma = {valley.gamma:g}, alpha = {valley.alpha:g}"}
        outside = valley.beyond.min() / valley.risk.min()
        found.number(f"slope of the valley, {where}", valley.slope, against=-1.0, **place)
        product = valley.product / math.log(1 / valley.gamma)
        found.number(f"cη̃(0) in the valley over ln(1/γ), {where}", product, **place)
        found.number(f"least risk beyond 2/γ over the least below, {where}", float(outside), against=1.0, **place)
        found.number(f"largest gain beyond 2/γ at one c, {where}", valley.gain, against=1.0, **place)
    seen = all(abs(valley.slope + 1) <= PARALLEL and valley.worsens for valley in every)
    within = all(valley.ends_within for valley in every)
    decided, gain = all(math.isfinite(valley.slope) for valley in every), max(valley.gain for valley in every)
    grounds = "" if gain > 1 else "no gain"
    return found.ruling(seen and within, narrower=seen, decided=decided, grounds=grounds, gain=gain)


@judges("dpgd/section-7-hyper-parameters")
def small_clips(found: Record) -> Ruling:
    """Is a small c with a learning rate divided by it as good as any, and large c worse, in all that was solved?

    Small are constants up to 0.1 whose valley the cap does not cut.
    """
    table = found["valley"]
    small = table[(table["clip"] <= SMALL / 3) & (table["learning_rate"] < WITHIN * 2 / table["gamma"])]
    groups = small.groupby(PROBLEM).filter(lambda rows: len(rows) > 1).groupby(PROBLEM)
    found.needs(len(groups) > 0)
    names = {"product": "largest best cη̃(0) over the least", "risk": "largest risk over the least"}
    quotients = {column: float((groups[column].max() / groups[column].min()).max()) for column in names}
    alike = [
        found.at_most(f"{name}, among small c", quotients[column], ON_A_PAR, table="valley", row="clip up to 0.1")
        for column, name in names.items()
    ]
    cost, name = float(dearest(table).min()), "risk at the largest c over the least risk, at its smallest"
    found.number(name, cost, table="valley", row="the largest clip", against=WORSE)
    return found.ruling(all(alike) and cost > WORSE, decided=not math.isnan(cost), quotient=quotients["risk"])


@judges("dpgd/section-5.1-largest-rate")
def largest_rate(found: Record) -> Ruling:
    """Is the best (c, η̃(0)) of all at η̃(0) ≤ 2/γ?"""
    table = found["valley"]
    found.needs(table[["risk", "beyond_risk"]].notna().all(axis=None))
    groups = table.groupby(PROBLEM)
    joint = (groups["beyond_risk"].min() / groups["risk"].min()).min()
    alone = table.loc[(table["risk"] / table["beyond_risk"]).idxmax()]
    gain, row = alone["risk"] / alone["beyond_risk"], describe(alone[[*PROBLEM, "clip"]])
    name = "least risk beyond 2/γ over the least below, at its smallest"
    found.number(name, joint, table="valley", row="", against=1.0)
    found.number("largest gain beyond 2/γ at a given c", gain, table="valley", row=row, against=1.0)
    return found.ruling(joint > 1, grounds="" if gain > WORSE else "no gain", gain=gain)


@judges("dpgd/section-5.1-largest-clip")
def largest_clip(found: Record) -> Ruling:
    """Is some c ≤ 1 on a par with all c > 1, in every problem?"""
    table = found["valley"]
    above = table["clip"] > 1
    up_to_1, beyond = (
        table["risk"].where(side).groupby([table[name] for name in PROBLEM]).min() for side in (~above, above)
    )
    gains = (up_to_1 / beyond).rename("gain").reset_index()
    largest = gains.loc[gains["gain"].idxmax()]
    gain, row = largest["gain"], describe(largest[PROBLEM])
    name = "least risk with c up to 1 over the least above, at its largest"
    alike = found.at_most(name, gain, ON_A_PAR, table="valley", row=row)
    decided, grounds = not gains["gain"].isna().any(), "" if gain > 1 else "no gain"
    return found.ruling(alike, decided=decided, grounds=grounds, gain=gain)


# ---- Terms: the sketch's equations, (5.1), and the first paragraph of Section 5 ----

BOUNDED_CLIPS = ("c = 0.1", "c = 1")  # those with c = O(1)
LARGE_CLIPS = ("c = 1", "c = γ^−¼", "c = γ^−½")  # those with c = Ω(1)
NEAR = 0.05  # of a power of 1 − t
FACTORS = {"mu": "μ_c", "mu_over_clip": "μ_c/c", "second": "ν_c(R + ζ²/2)", "second_over_square": "ν_c(R + ζ²/2)/c²"}


@judges("dpgd/equation-5.6")
def equation_56(found: Record) -> Ruling:
    """(5.6): do μ/c and ν𝒫/c² keep their order along the whole path, for c ≤ 1 and every η̃(0) ≤ 2/γ?"""
    table = found["factors"][found["factors"]["axis"].isin(BOUNDED_CLIPS)]
    powers = _extremes(
        found, table, "min_mu_over_clip", "max_mu_over_clip", "min_second_over_square", "max_second_over_square"
    )
    largest = max(abs(power) for each in powers.values() for power in each)
    level = found.at_most("largest power of 1/γ", largest, growth.LOST_POWER, table="factors", row="")
    low, high = table["min_mu_over_clip"].min(), table["max_mu_over_clip"].max()
    return found.ruling(level, decided=all(map(_known, powers.values())), low=low, high=high)


@judges("dpgd/equation-5.9")
def equation_59(found: Record) -> Ruling:
    """(5.9): does μ keep its order, and ν𝒫 stay above one, for c ≥ 1, growing or not?"""
    table = found["factors"][found["factors"]["axis"].isin(LARGE_CLIPS)]
    powers = _extremes(found, table, "min_mu", "max_mu", "min_second", "max_second")
    del powers["max_second"]  # may grow
    both, low = powers["min_mu"] + powers["max_mu"], powers["min_second"]
    worst, name = max(*map(abs, both), *(-power for power in low)), "largest power of 1/γ against the claim"
    level = found.at_most(name, worst, growth.LOST_POWER, table="factors", row="")
    first, second = table["min_mu"].min(), table["min_second"].min()
    return found.ruling(level, decided=_known([*both, *low]), first=first, second=second)


def _extremes(found: Record, table: pd.DataFrame, *columns: str) -> dict[str, list[float]]:
    """By column the power of 1/γ along each axis; kept is the extreme of the column over the table."""
    for column in columns:
        side, factor = column.split("_", 1)
        name = f"{'least' if side == 'min' else 'largest'} {FACTORS[factor]}"
        found.number(name, getattr(table[column], side)(), table="factors", row="")
    groups = [rows for _, rows in table.groupby(["axis", "share"])]
    return {column: [growth.power(rows, "inverse", column, "") for rows in groups] for column in columns}


@judges("dpgd/equation-5.8")
def equation_58(found: Record) -> Ruling:
    """(5.8): is the risk of output perturbation the printed function up to one constant, for all cη̃(0) and c ≤ 1?"""
    table = found["reduced"]
    rows = table[(table["alpha"] == OUTPUT) & table["clip_rule"].isin(BOUNDED_CLIPS)]
    powers = _stretches(found, rows)
    bounded = max(powers.values()) <= growth.LOST_POWER
    return found.ruling(bounded, decided=_known(powers.values()), most=rows["stretch"].max() ** 2)  # γa has k²


@judges("dpgd/equation-5.13")
def equation_513(found: Record) -> Ruling:
    """(5.13): the same for both schedules, every clipping regime, every ρ and every η̃(0) ≤ 2/γ."""
    table = found["reduced"]
    chosen = table[table["reach"] == CHOSEN]
    powers = _stretches(found, table)
    _stretches(found, chosen, " at the paper's choice")
    lost = {key for key, power in powers.items() if not power <= growth.LOST_POWER}
    elsewhere = all(reach != CHOSEN for *_, reach in lost)
    most = chosen["stretch"].max()
    return found.ruling(not lost, narrower=elsewhere, decided=_known(powers.values()), most=most)


def _stretches(found: Record, table: pd.DataFrame, where: str = "") -> dict[tuple[float, str, str, str], float]:
    """The power of 1/γ in the constant k of each regime, ∞ where no k was found; kept are the largest."""
    powers = {}
    for key, rows in table.groupby(["alpha", "clip_rule", "rho_rule", "reach"]):
        endless = bool((rows["stretch"] == math.inf).any())
        powers[key] = math.inf if endless else growth.power(rows, "inverse", "stretch", "")
    worst = table.loc[table["stretch"].idxmax()]
    row = f"alpha = {worst['alpha']:g}, {worst['clip_rule']}, {worst['rho_rule']}, gamma = {worst['gamma']:g}"
    found.number(f"largest constant{where}", worst["stretch"], table="reduced", row=row)
    name, most = f"largest power of 1/γ in it{where}", max(powers.values())
    found.number(name, most, table="reduced", row="", against=growth.LOST_POWER)
    return powers


@judges("dpgd/equation-5.1")
def equation_51(found: Record) -> Ruling:
    """After (5.1): where does (4.2) put the noise for α = 0, ½ and α ≥ 1?

    All in the last step for α = 0; level, of the printed size, to which the first step's tends at least like n^−0.8,
    for α = ½; else it goes like (1 − t)^(2α − 1), which is at least linear.
    """
    table, n = found["noise"], found["noise"]["n"].max()
    told = {measure.LAST_SHARE: 0.0, measure.SPREAD: 0.5, measure.PRINTED_LEVEL: 0.5, measure.FIRST_LEVEL: 0.5}
    last, spread, level, first = (
        found.cite(name, "value", table="noise", n=n, alpha=alpha, quantity=name) for name, alpha in told.items()
    )
    decays = select(table, n=n, quantity=measure.DECAY)
    alphas, powers = decays["alpha"], decays["value"]
    for alpha in alphas:
        place = {"n": n, "alpha": alpha, "quantity": measure.DECAY}
        found.cite(f"power of 1 − t, α = {alpha:g}", "value", table="noise", against=2 * alpha - 1, **place)
    firsts = select(table, alpha=0.5, quantity=measure.FIRST_LEVEL)
    tends = growth.power(firsts.assign(value=firsts["value"].abs()), "n", "value", "") < -0.8
    even = max(abs(spread), abs(level)) < ROUNDING and abs(first) < 1e-3 and tends
    falls = (((powers - (2 * alphas - 1)).abs() < NEAR) & (powers > 1 - NEAR)).all()
    decided = growth.several(table["n"]) and table["value"].notna().all()
    return found.ruling(abs(last - 1) < ROUNDING and even and falls, decided=decided)


@judges("dpgd/section-5-limit")
def proportional_limit(found: Record) -> Ruling:
    """Does the risk settle on the ODE's as d grows with γ fixed, and not where c grows with n?"""
    fixed, growing = (select(found["limit"], rule=rule) for rule in (FIXED, GROWING))
    last = select(fixed, d=fixed["d"].max())
    for _, row in last.iterrows():
        place = {"alpha": row["alpha"], "rule": FIXED, "d": row["d"]}
        name, ode = f"risk at the largest d, α = {row['alpha']:g}", row["ode_risk"]
        found.cite(name, "risk_mean", table="limit", error="standard_error", against=ode, **place)
    rises = growing.groupby("alpha")["ode_risk"].agg(lambda risks: risks.iloc[-1] / risks.iloc[0])
    found.number("growth of the predicted risk where c grows like ln n", rises.min(), table="limit", row=GROWING)
    errors = ((last["risk_mean"] - last["ode_risk"]) / last["standard_error"]).abs()
    decided = growth.several(fixed["d"]) and errors.notna().all()
    return found.ruling(errors.max() <= CONSISTENT and rises.min() > 1, decided=decided, errors=errors.max())


@judges("dpgd/section-5-earlier-bounds")
def earlier_bounds(found: Record) -> Ruling:
    """Does (1.3) with d = γn grow with n? Here ρ = 1, and ln n has the power 1."""
    rows = select(found["limit"], rule=FIXED).drop_duplicates("n").sort_values("n")
    gamma = rows["d"] / rows["n"]
    bound = gamma + gamma**2 * np.log(rows["n"])
    name = "(1.3) with ρ = 1 and one power of ln n, at the largest n over the smallest"
    found.number(name, bound.iloc[-1] / bound.iloc[0], table="limit", row=f"rule = {FIXED}", against=1.0)
    return found.ruling((np.diff(bound) > 0).all(), decided=growth.several(rows["n"]))
