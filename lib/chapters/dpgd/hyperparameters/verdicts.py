"""Verdicts on the rates: Propositions 5.1, D.3 and D.4, what follows from them, and (5.12), of arXiv:2505.16329v2."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from chapters.dpgd.hyperparameters.problem import ALPHAS, NAMES
from companion.judging import growth
from companion.judging.findings import Number
from companion.judging.judges import Judge, Ruling, judges, numbers, reads
from companion.judging.tables import Tables, cite, select
from companion.judging.vocabulary import WORSE
from costofprivacy.dpgd.rates import CONSTANT, OUTPUT

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
