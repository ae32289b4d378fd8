"""Verdicts on the rates: Propositions 5.1, D.3 and D.4, what follows from them, and (5.12), of arXiv:2505.16329v2."""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from chapters.dpgd.hyperparameters import measure
from chapters.dpgd.hyperparameters.measure import ALPHAS, CHOSEN, CORRECTED, EQUAL, FIXED, GROWING, NAMES, PRINTED
from companion.judging import growth
from companion.judging.findings import Number, Verdict
from companion.judging.judges import Judge, Ruling, judges, numbers, reads
from companion.judging.tables import Tables, cite, describe, pick, select
from companion.judging.vocabulary import CONSISTENT, ON_A_PAR, ROUNDING, WORSE, worse
from costofprivacy.dpgd.rates import CONSTANT, OUTPUT

# ---- Steps ----
# Verdicts on steps of the proofs in Appendix D.1 of arXiv:2505.16329v2.


@judges("dpgd/equation-d.31")
def equation_d31(tables: Tables) -> Ruling:
    """(D.31): is the descent's constant one that Lemma B.2 grants, so that R̄ ≤ R̄'?"""
    return _step(tables, "D.31")


@judges("dpgd/equation-d.35")
def equation_d35(tables: Tables) -> Ruling:
    """(D.35): is R̄'(1) at most e^{−ā} + b̄/ā?"""
    return _step(tables, "D.35")


@judges("dpgd/equation-d.44")
def equation_d44(tables: Tables) -> Ruling:
    """(D.44) with (B.17): a constant below ν𝒫 for all c ≥ 1 and all risks."""
    return _step(tables, "D.44")


@judges("dpgd/equation-d.54")
def equation_d54(tables: Tables) -> Ruling:
    """(D.54): the closed form against quadrature."""
    return _step(tables, "D.54")


@judges("dpgd/equation-d.59")
def equation_d59(tables: Tables) -> Ruling:
    """(D.59): the bound over all times."""
    return _step(tables, "D.59")


@judges("dpgd/equation-d.61")
def equation_d61(tables: Tables) -> Ruling:
    """(D.61): as (D.31), with another constant."""
    return _step(tables, "D.61")


@judges("dpgd/equation-d.65")
def equation_d65(tables: Tables) -> Ruling:
    """(D.65): the bound at the end."""
    return _step(tables, "D.65")


@judges("dpgd/equation-d.69")
def equation_d69(tables: Tables) -> Ruling:
    """(D.69): both lines from a̲ = 2 on."""
    return _step(tables, "D.69")


@judges("dpgd/equation-d.71")
def equation_d71(tables: Tables) -> Ruling:
    """(D.71): the order of the least value."""
    return _step(tables, "D.71")


def excess(rows: pd.DataFrame) -> pd.Series:
    """By what share of the right side the left one is above it, or away from it where they are to be equal."""
    share = (rows["left"] - rows["right"]) / rows["right"].abs()
    return share.abs().where(rows["claim"] == EQUAL, share)


def _step(tables: Tables, step: str) -> Ruling:
    """Does a step stand in every case as printed, or else with another constant?"""
    table = select(tables["steps"], step=step)
    printed, corrected_rows = (select(table, reading=reading) for reading in (PRINTED, CORRECTED))
    shares = excess(printed)
    worst = printed.loc[shares.idxmax()]
    named = {f"left side against the right, {worst['case']}": (worst["left"], worst["right"])}
    corrected = bool(len(corrected_rows) and excess(corrected_rows).max() <= ROUNDING)
    verdict = reads(printed=shares.max() <= ROUNDING, corrected=corrected, decided=not shares.isna().any())
    quoted = {"share": shares.max(), "case": f"${worst['case'].replace(' ', '')}$"}
    return Ruling(verdict, numbers("steps", named, f"step = {step}"), quoted)


# ---- Judges ----

FIXED_SHARE = 0.5  # the least λ_min, and R(0) relative to its first value, that counts as free of γ


def admitted(table: pd.DataFrame, alpha: float, fixed: bool) -> dict[str, pd.DataFrame]:
    """The axes inside a proposition's conditions, γ falling: eigenvalues that stay, or a smallness that vanishes."""
    found = {}
    for axis, rows in select(table, alpha=alpha).groupby("axis", sort=False):
        rows = rows.sort_values("inverse")
        stays = rows["least"].nunique() == 1 and rows["least"].iloc[0] >= FIXED_SHARE
        if stays if fixed else growth.power(rows, "inverse", "smallness", "") < 0:
            found[str(axis)] = rows
    return found


def _upper(tables: Tables, alpha: float, fixed: bool) -> Ruling:
    """(5.3), (D.24), (D.50): does the risk at the paper's choice, over the order, not grow like a power of 1/γ?"""
    axes = admitted(tables["rates"], alpha, fixed)
    powers = {axis: growth.power(rows, "inverse", "proven_risk", "upper") for axis, rows in axes.items()}
    worst = max(powers, key=lambda axis: powers[axis])
    ratios = {axis: rows["proven_risk"] / rows["upper"] for axis, rows in axes.items()}
    found = (*_last(axes, ratios, "risk over the bound"), *_power(worst, powers[worst]))
    verdict = reads(printed=powers[worst] <= growth.LOST_POWER, decided=_fitted(powers))
    return Ruling(verdict, found, {"most": max(each.max() for each in ratios.values())})


def _lower(tables: Tables, alpha: float, fixed: bool) -> Ruling:
    """(5.4), (D.25), (D.51): does the least risk over c and η̃(0), over the printed order, not fall like a power of γ?

    If it does, it may do so only where the start's risk falls, too.
    """
    axes = admitted(tables["rates"], alpha, fixed)
    powers = {axis: growth.power(rows, "inverse", "best_risk", "lower") for axis, rows in axes.items()}
    worst = min(powers, key=lambda axis: powers[axis])
    ratios = {axis: rows["best_risk"] / rows["lower"] for axis, rows in axes.items()}
    found = (*_last(axes, ratios, "least risk over the bound"), *_power(worst, powers[worst]))
    lost = [axis for axis, power in powers.items() if power < -growth.LOST_POWER]
    falling = all(_falls(axes[axis]) for axis in lost)
    verdict = reads(printed=not lost, narrower=falling, decided=_fitted(powers))
    return Ruling(verdict, found, {"least": min(each.min() for each in ratios.values())})


def _fitted(powers: Mapping[Any, float]) -> bool:
    """Whether a power could be fitted to each."""
    return bool(np.isfinite([*powers.values()]).all())


def _falls(rows: pd.DataFrame) -> bool:
    """Whether the start's risk vanishes along an axis."""
    return growth.power(rows, "inverse", "initial_risk", "") < -growth.LOST_POWER


def _last(axes: dict[str, pd.DataFrame], ratios: dict[str, pd.Series], name: str) -> tuple[Number, ...]:
    """The ratio at the least γ of each axis."""
    named = {}
    for axis, rows in axes.items():
        last = rows.iloc[-1]
        row = f"alpha = {last['alpha']:g}, gamma = {last['gamma']:g}, axis = {axis}"
        named[f"{name}, {axis}"] = (ratios[axis].iloc[-1], None, row)
    return numbers("rates", named)


def _power(axis: str, value: float) -> tuple[Number, ...]:
    name = f"power of 1/γ in that ratio, {axis}"
    return numbers("rates", {name: (value, growth.LOST_POWER)}, f"axis = {axis}, the last {growth.LAST}")


def _bound(claim: str, rule: Callable[[Tables, float, bool], Ruling], alpha: float, *, fixed: bool) -> Judge:
    """The judge of a bound at one α: for fixed spectra, or for all that meet the condition (D.22) or (D.48)."""

    @judges(claim)
    def found(tables: Tables) -> Ruling:
        return rule(tables, alpha, fixed)

    return found


upper_output = _bound("dpgd/proposition-5.1-upper-output", _upper, OUTPUT, fixed=True)
upper_constant = _bound("dpgd/proposition-5.1-upper-constant", _upper, CONSTANT, fixed=True)
lower_output = _bound("dpgd/proposition-5.1-lower-output", _lower, OUTPUT, fixed=True)
lower_constant = _bound("dpgd/proposition-5.1-lower-constant", _lower, CONSTANT, fixed=True)
general_upper_output = _bound("dpgd/proposition-d.3-upper", _upper, OUTPUT, fixed=False)
general_lower_output = _bound("dpgd/proposition-d.3-lower", _lower, OUTPUT, fixed=False)
general_upper_constant = _bound("dpgd/proposition-d.4-upper", _upper, CONSTANT, fixed=False)
general_lower_constant = _bound("dpgd/proposition-d.4-lower", _lower, CONSTANT, fixed=False)


@judges("dpgd/section-5.1-comparison")
def comparison(tables: Tables) -> Ruling:
    """Is (5.2) best in rate, and does constant noise beat output perturbation once γ is small, whatever ρ?"""
    crossings, least = crossing(tables["comparison"]), tables["comparison"]["gamma"].min()
    axes = [rows for alpha in ALPHAS for rows in admitted(tables["rates"], alpha, fixed=True).values()]
    lost = max(growth.power(rows, "inverse", "proven_risk", "best_risk") for rows in axes)
    named = {
        f"γ below which constant noise wins, ρ = {rho:g}": (value, None, f"rho = {rho:g}")
        for rho, value in crossings.items()
    }
    ratios = (
        cite(f"ratio of the risks, ρ = {rho:g}", tables, "comparison", "ratio", against=1.0, rho=rho, gamma=least)
        for rho in crossings
    )
    wins = not np.isnan([*crossings.values()]).any()
    verdict = reads(printed=lost <= growth.LOST_POWER and wins, decided=bool(np.isfinite(lost)))
    return Ruling(verdict, (*numbers("comparison", named), *ratios), {"crossings": [*crossings.values()]})


@judges("dpgd/section-5.1-trade-off")
def trade_off(tables: Tables) -> Ruling:
    """Does the best cη̃(0) go like ln(1/γ), rather than stay, whatever ρ, for fixed spectra?"""
    table = tables["rates"].assign(product=tables["rates"]["clip"] * tables["rates"]["learning_rate"])
    table["share"] = table["product"] / np.log(table["inverse"])
    axes = {(NAMES[a], axis): rows for a in ALPHAS for axis, rows in admitted(table, a, fixed=True).items()}
    powers = {key: growth.power(rows, "inverse", "share", "") for key, rows in axes.items()}
    worst = max(powers, key=lambda key: abs(powers[key]))
    grown = {key: growth.power(rows, "inverse", "product", "") for key, rows in axes.items()}
    slowest = min(grown, key=lambda key: grown[key])
    logarithmic = all(abs(powers[key]) < grown[key] for key in axes)
    shares = pd.concat([rows["share"] for rows in axes.values()])
    named = {
        "best cη̃(0) over ln(1/γ), least": shares.min(),
        "best cη̃(0) over ln(1/γ), largest": shares.max(),
        f"power of 1/γ in it, {', '.join(worst)}": (powers[worst], growth.LOST_POWER),
        f"power of 1/γ in cη̃(0) alone, {', '.join(slowest)}": (grown[slowest], abs(powers[slowest])),
    }
    printed = logarithmic and abs(powers[worst]) <= growth.LOST_POWER
    verdict = reads(printed=printed, decided=_fitted(powers))
    return Ruling(verdict, numbers("rates", named), {"shares": [*shares]})


@judges("dpgd/abstract-design-choices")
def design_choices(tables: Tables) -> Ruling:
    """Does a large clipping constant cost something in every problem, and does decay win once γ is small?"""
    costs = dearest(tables["valley"])
    crossings, last = crossing(tables["comparison"]), tables["comparison"]["gamma"].min()
    ratio = float(select(tables["comparison"], gamma=last)["ratio"].max())
    named = {
        "risk at the largest c over the least risk, at its smallest": (costs.min(), WORSE),
        "risk at the largest c over the least risk, at its largest": costs.max(),
    }
    won = {"constant noise over output perturbation, at the least γ": (ratio, 1.0)}
    decays = not np.isnan([*crossings.values()]).any() and ratio < 1 / WORSE
    verdict = reads(printed=costs.min() > WORSE and decays, decided=not costs.isna().any())
    return Ruling(verdict, (*numbers("valley", named), *numbers("comparison", won)), {"costs": [*costs]})


def dearest(valley: pd.DataFrame) -> pd.Series:
    """By problem, the risk at the largest c with its best learning rate over the least risk of all c.

    Only where the private term of (5.12) is the larger one at that c, c²γ²/ρ² ≥ γ: elsewhere a large c costs nothing.
    """
    groups = valley.groupby(["rho", "alpha", "gamma"])
    largest = valley.loc[groups["clip"].idxmax()].set_index(["rho", "alpha", "gamma"])
    costs = largest["risk"] / groups["risk"].min()
    return costs[
        largest["clip"] ** 2 * costs.index.get_level_values("gamma") >= costs.index.get_level_values("rho") ** 2
    ]


def crossing(table: pd.DataFrame) -> dict[float, float]:
    """For each ρ the γ below which constant noise wins throughout, interpolated on the grid; NaN if none."""
    found = {}
    for rho, rows in table.groupby("rho"):
        rows = rows.sort_values("gamma")
        wins = (rows["ratio"] < 1).to_numpy()
        if not wins[0]:
            found[float(rho)] = float("nan")
            continue
        k = len(wins) if wins.all() else int(wins.argmin())
        if k == len(wins):
            found[float(rho)] = float(rows["gamma"].iloc[-1])
            continue
        logs, ratios = np.log(rows["gamma"].to_numpy()), np.log(rows["ratio"].to_numpy())
        share = ratios[k - 1] / (ratios[k - 1] - ratios[k])
        found[float(rho)] = float(np.exp(logs[k - 1] + share * (logs[k] - logs[k - 1])))
    return found


@judges("dpgd/equation-5.12")
def equation_512(tables: Tables) -> Ruling:
    """(5.12): does the least risk stay above γ + max(1, c²)γ²/ρ², logarithms aside, also where c grows?"""
    groups = dict([*tables["clipping"].groupby(["alpha", "axis"], sort=False)])
    powers = {key: growth.power(rows, "inverse", "risk", "order") for key, rows in groups.items()}
    (alpha, axis), least = min(powers.items(), key=lambda pair: pair[1])
    named: dict[str, Any] = {}
    for (level, name), rows in groups.items():
        last = rows.loc[rows["inverse"].idxmax()]
        row = f"alpha = {level:g}, axis = {name}, gamma = {last['gamma']:g}"
        named[f"least risk over the order, {NAMES[level]}, {name}"] = (last["risk"] / last["order"], None, row)
    named[f"least power of 1/γ in that ratio, {NAMES[alpha]}, {axis}"] = (least, -growth.LOST_POWER, axis)
    verdict = reads(printed=least >= -growth.LOST_POWER, decided=_fitted(powers))
    return Ruling(verdict, numbers("clipping", named), _cost(tables["clipping"]))


def _cost(table: pd.DataFrame) -> dict[str, float]:
    """What the largest clipping constant costs at the largest γ, over the least risk there."""
    first = table[table["gamma"] == table["gamma"].max()]
    costly = first.loc[first["clip"].idxmax()]
    cheap = first[first["alpha"] == costly["alpha"]]["risk"].min()
    return {"cost": costly["risk"] / cheap, "clip": costly["clip"]}


# ---- Maps ----
# Verdicts on Figure 4, the paragraphs on it, and the best hyper-parameters, of arXiv:2505.16329v2.

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


# ---- Terms ----
# Verdicts on the sketch's equations, (5.1), and the first paragraph of Section 5 of arXiv:2505.16329v2.

BOUNDED_CLIPS = ("c = 0.1", "c = 1")  # those with c = O(1)
LARGE_CLIPS = ("c = 1", "c = γ^−¼", "c = γ^−½")  # those with c = Ω(1)
TERMS_SMALL = 1e-3  # relative distance that counts as none at the largest n
LINEAR = -0.8  # a distance that falls at least like this power of n
NEAR = 0.05  # of a power of 1 − t
FACTORS = {"mu": "μ_c", "mu_over_clip": "μ_c/c", "second": "ν_c(R + ζ²/2)", "second_over_square": "ν_c(R + ζ²/2)/c²"}


@judges("dpgd/equation-5.6")
def equation_56(tables: Tables) -> Ruling:
    """(5.6): do μ/c and ν𝒫/c² keep their order along the whole path, for c ≤ 1 and every η̃(0) ≤ 2/γ?"""
    columns = ("min_mu_over_clip", "max_mu_over_clip", "min_second_over_square", "max_second_over_square")
    table = tables["factors"][tables["factors"]["axis"].isin(BOUNDED_CLIPS)]
    powers = _powers(table, columns)
    largest, told = max(map(abs, powers)), "largest power of 1/γ"
    found = (*_ends(table, columns), *numbers("factors", {told: (largest, growth.LOST_POWER)}, ""))
    quoted = {"low": table["min_mu_over_clip"].min(), "high": table["max_mu_over_clip"].max()}
    return Ruling(reads(printed=largest <= growth.LOST_POWER, decided=_known(powers)), found, quoted)


@judges("dpgd/equation-5.9")
def equation_59(tables: Tables) -> Ruling:
    """(5.9): does μ keep its order, and ν𝒫 stay above one, for c ≥ 1, growing or not?"""
    table = tables["factors"][tables["factors"]["axis"].isin(LARGE_CLIPS)]
    both, low = _powers(table, ("min_mu", "max_mu")), _powers(table, ("min_second",))
    worst = max(*map(abs, both), *(-power for power in low))
    ends = _ends(table, ("min_mu", "max_mu", "min_second", "max_second"))
    told = "largest power of 1/γ against the claim"
    found = (*ends, *numbers("factors", {told: (worst, growth.LOST_POWER)}, ""))
    quoted = {"first": table["min_mu"].min(), "second": table["min_second"].min()}
    return Ruling(reads(printed=worst <= growth.LOST_POWER, decided=_known([*both, *low])), found, quoted)


def _known(powers: Iterable[float]) -> bool:
    """Whether every power could be told: a table with a single γ shows none."""
    return not any(math.isnan(power) for power in powers)


def _powers(table: pd.DataFrame, columns: tuple[str, ...]) -> list[float]:
    groups = [rows for _, rows in table.groupby(["axis", "share"])]
    return [growth.power(rows, "inverse", column, "") for rows in groups for column in columns]


def _ends(table: pd.DataFrame, columns: tuple[str, ...]) -> tuple[Number, ...]:
    """The extreme of each column over the table."""
    named = {}
    for column in columns:
        side, name = column.split("_", 1)
        named[f"{'least' if side == 'min' else 'largest'} {FACTORS[name]}"] = getattr(table[column], side)()
    return numbers("factors", named, "")


@judges("dpgd/equation-5.8")
def equation_58(tables: Tables) -> Ruling:
    """(5.8): is the risk of output perturbation the printed function up to one constant, for all cη̃(0) and c ≤ 1?"""
    table = tables["reduced"]
    rows = table[(table["alpha"] == OUTPUT) & table["clip_rule"].isin(BOUNDED_CLIPS)]
    powers = stretch_powers(rows)
    verdict = reads(printed=max(powers.values()) <= growth.LOST_POWER, decided=_known(powers.values()))
    return Ruling(verdict, _stretches(rows, powers), {"most": rows["stretch"].max()})


@judges("dpgd/equation-5.13")
def equation_513(tables: Tables) -> Ruling:
    """(5.13): the same for both schedules, every clipping regime, every ρ and every η̃(0) ≤ 2/γ."""
    table = tables["reduced"]
    powers = stretch_powers(table)
    chosen = table[table["reach"] == CHOSEN]
    found = (*_stretches(table, powers), *_stretches(chosen, stretch_powers(chosen), " at the paper's choice"))
    lost = {key for key, power in powers.items() if not power <= growth.LOST_POWER}
    chosen_only = all(reach != CHOSEN for *_, reach in lost)
    verdict = reads(printed=not lost, narrower=chosen_only, decided=_known(powers.values()))
    return Ruling(verdict, found, {"most": chosen["stretch"].max()})


def stretch_powers(table: pd.DataFrame) -> dict[tuple[float, str, str, str], float]:
    """The power of 1/γ in the constant k of each regime; ∞ where no k was found."""
    found = {}
    for key, rows in table.groupby(["alpha", "clip_rule", "rho_rule", "reach"]):
        endless = bool((rows["stretch"] == math.inf).any())
        found[key] = math.inf if endless else growth.power(rows, "inverse", "stretch", "")
    return found


def _stretches(
    table: pd.DataFrame, powers: dict[tuple[float, str, str, str], float], where: str = ""
) -> tuple[Number, ...]:
    worst = table.loc[table["stretch"].idxmax()]
    row = f"alpha = {worst['alpha']:g}, {worst['clip_rule']}, {worst['rho_rule']}, gamma = {worst['gamma']:g}"
    named = {
        f"largest constant{where}": (worst["stretch"], None, row),
        f"largest power of 1/γ in it{where}": (max(powers.values()), growth.LOST_POWER),
    }
    return numbers("reduced", named, "")


@judges("dpgd/equation-5.1")
def equation_51(tables: Tables) -> Ruling:
    """After (5.1): where does (4.2) put the noise for α = 0, ½ and α ≥ 1?"""
    table, largest = tables["noise"], tables["noise"]["n"].max()
    decays = select(table, n=largest, quantity=measure.DECAY)
    told = {measure.LAST_SHARE: 0.0, measure.SPREAD: 0.5, measure.PRINTED_LEVEL: 0.5, measure.FIRST_LEVEL: 0.5}
    shares = (cite(name, tables, "noise", "value", n=largest, alpha=a, quantity=name) for name, a in told.items())
    named = {
        f"power of 1 − t, α = {a:g}": (
            value,
            2 * a - 1,
            describe({"n": largest, "alpha": a, "quantity": measure.DECAY}),
        )
        for a, value in zip(decays["alpha"], decays["value"])
    }
    placed = _all_in_the_last(table, largest) and _level(table, largest) and _terms_falls(decays)
    verdict = reads(printed=placed, decided=growth.several(table["n"]) and bool(table["value"].notna().all()))
    return Ruling(verdict, (*shares, *numbers("noise", named)))


def _all_in_the_last(table: pd.DataFrame, n: int) -> bool:
    """Whether all noise of output perturbation is in the last step."""
    share = pick(table, n=n, alpha=0.0, quantity=measure.LAST_SHARE)["value"]
    return bool(abs(share - 1) < ROUNDING)


def _level(table: pd.DataFrame, n: int) -> bool:
    """Whether the noise at α = ½ is level, of the printed size, and the first step's tends there."""
    off = [pick(table, n=n, alpha=0.5, quantity=name)["value"] for name in (measure.SPREAD, measure.PRINTED_LEVEL)]
    first = select(table, alpha=0.5, quantity=measure.FIRST_LEVEL)
    power = growth.power(first.assign(value=first["value"].abs()), "n", "value", "")
    return bool(max(map(abs, off)) < ROUNDING and abs(first["value"].iloc[-1]) < TERMS_SMALL and power < LINEAR)


def _terms_falls(decays: pd.DataFrame) -> bool:
    """Whether the noise goes like (1 − t)^(2α − 1), which is at least linear."""
    as_told = (decays["value"] - (2 * decays["alpha"] - 1)).abs() < NEAR
    return bool((as_told & (decays["value"] > 1 - NEAR)).all())


@judges("dpgd/section-5-limit")
def section_5_limit(tables: Tables) -> Ruling:
    """Does the risk settle on the ODE's as d grows with γ fixed, and not where c grows with n?"""
    fixed, growing = (select(tables["limit"], rule=rule) for rule in (FIXED, GROWING))
    last = fixed[fixed["d"] == fixed["d"].max()]
    errors = ((last["risk_mean"] - last["ode_risk"]) / last["standard_error"]).abs()
    rises = growing.groupby("alpha")["ode_risk"].agg(lambda risks: risks.iloc[-1] / risks.iloc[0])
    settled = {
        f"risk at the largest d, α = {row['alpha']:g}": {
            "value": row["risk_mean"],
            "error": row["standard_error"],
            "against": row["ode_risk"],
            "row": describe({"alpha": row["alpha"], "rule": FIXED, "d": row["d"]}),
        }
        for _, row in last.iterrows()
    }
    grown = {"growth of the risk where c grows like ln n": (rises.min(), None, GROWING)}
    decided = growth.several(fixed["d"]) and bool(errors.notna().all())
    verdict = reads(printed=errors.max() <= CONSISTENT and rises.min() > 1, decided=decided)
    return Ruling(verdict, numbers("limit", settled | grown), {"errors": errors.max()})


@judges("dpgd/section-5-earlier-bounds")
def section_5_earlier_bounds(tables: Tables) -> Ruling:
    """Does (1.3) with d = γn grow with n? Here ρ = 1, and ln n has the power 1."""
    rows = select(tables["limit"], rule=FIXED).drop_duplicates("n").sort_values("n")
    gamma = rows["d"] / rows["n"]
    bound = gamma + gamma**2 * np.log(rows["n"])
    verdict = reads(printed=bool((np.diff(bound) > 0).all()), decided=growth.several(rows["n"]))
    name = "(1.3) with ρ = 1 and one power of ln n, at the largest n over the smallest"
    return Ruling(verdict, numbers("limit", {name: (bound.iloc[-1] / bound.iloc[0], 1.0)}, f"rule = {FIXED}"))
