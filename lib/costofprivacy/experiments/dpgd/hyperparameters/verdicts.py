"""Verdicts on the rates: Propositions 5.1, D.3 and D.4, what follows from them, and (5.12), of arXiv:2505.16329v2."""

from __future__ import annotations

import numpy as np
import pandas as pd

from costofprivacy.dpgd.rates import CONSTANT, OUTPUT
from costofprivacy.experiments.dpgd.hyperparameters.problem import ALPHAS, NAMES
from costofprivacy.judging import growth
from costofprivacy.judging.findings import Consequence, Finding, Number, Verdict
from costofprivacy.judging.judges import judges
from costofprivacy.judging.prose import compact, listed
from costofprivacy.judging.tables import Tables, cite, select

FIXED_SHARE = 0.5  # the least λ_min, and R(0) relative to its first value, that counts as free of γ
CHANGE = "An aspect ratio below those tried from which on the ratio of the two sides goes like a power of it."


@judges("dpgd/proposition-5.1-upper-output")
def upper_output(tables: Tables) -> Finding:
    """(5.3), α = 0: does the risk at the paper's choice stay below the order, for fixed spectra?"""
    return _upper(tables, OUTPUT, fixed=True)


@judges("dpgd/proposition-5.1-upper-constant")
def upper_constant(tables: Tables) -> Finding:
    """(5.3), α = ½."""
    return _upper(tables, CONSTANT, fixed=True)


@judges("dpgd/proposition-d.3-upper")
def general_upper_output(tables: Tables) -> Finding:
    """(D.24): the same for spectra that depend on γ, wherever (D.22) is met."""
    return _upper(tables, OUTPUT, fixed=False)


@judges("dpgd/proposition-d.4-upper")
def general_upper_constant(tables: Tables) -> Finding:
    """(D.50), wherever (D.48) is met."""
    return _upper(tables, CONSTANT, fixed=False)


@judges("dpgd/proposition-5.1-lower-output")
def lower_output(tables: Tables) -> Finding:
    """(5.4), α = 0: does the least risk over c and η̃(0) stay above the order, for fixed spectra?"""
    return _lower(tables, OUTPUT, fixed=True)


@judges("dpgd/proposition-5.1-lower-constant")
def lower_constant(tables: Tables) -> Finding:
    """(5.4), α = ½."""
    return _lower(tables, CONSTANT, fixed=True)


@judges("dpgd/proposition-d.3-lower")
def general_lower_output(tables: Tables) -> Finding:
    """(D.25): the same for spectra that depend on γ, wherever (D.22) is met."""
    return _lower(tables, OUTPUT, fixed=False)


@judges("dpgd/proposition-d.4-lower")
def general_lower_constant(tables: Tables) -> Finding:
    """(D.51), wherever (D.48) is met."""
    return _lower(tables, CONSTANT, fixed=False)


def admitted(table: pd.DataFrame, alpha: float, fixed: bool) -> dict[str, pd.DataFrame]:
    """The axes inside a proposition's conditions, γ falling: eigenvalues that stay, or a smallness that vanishes."""
    found = {}
    for axis, rows in select(table, alpha=alpha).groupby("axis", sort=False):
        rows = rows.sort_values("inverse")
        stays = rows["least"].nunique() == 1 and rows["least"].iloc[0] >= FIXED_SHARE
        if stays if fixed else growth.power(rows, "inverse", "smallness", "") < 0:
            found[str(axis)] = rows
    return found


def _upper(tables: Tables, alpha: float, fixed: bool) -> Finding:
    axes = admitted(tables["rates"], alpha, fixed)
    powers = {axis: growth.power(rows, "inverse", "proven_risk", "upper") for axis, rows in axes.items()}
    worst = max(powers, key=lambda axis: powers[axis])
    numbers = (*_ratios(axes, "proven_risk", "upper", "risk over the bound"), _power(worst, powers[worst]))
    if powers[worst] > growth.LOST_POWER:
        headline = f"For {NAMES[alpha]} the risk outgrows the printed bound as the aspect ratio falls."
        return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=CHANGE)
    largest = max(float((rows["proven_risk"] / rows["upper"]).max()) for rows in axes.values())
    headline = (
        f"For {NAMES[alpha]} the risk at the paper's choice is at most {compact(largest)} times the printed order, "
        "however small the aspect ratio."
    )
    return Finding(Verdict.HOLDS, headline, numbers, would_change=CHANGE)


def _lower(tables: Tables, alpha: float, fixed: bool) -> Finding:
    axes = admitted(tables["rates"], alpha, fixed)
    powers = {axis: growth.power(rows, "inverse", "best_risk", "lower") for axis, rows in axes.items()}
    lost = {axis: power for axis, power in powers.items() if power < -growth.LOST_POWER}
    worst = min(powers, key=lambda axis: powers[axis])
    numbers = (*_ratios(axes, "best_risk", "lower", "least risk over the bound"), _power(worst, powers[worst]))
    if not lost:
        least = min(float((rows["best_risk"] / rows["lower"]).min()) for rows in axes.values())
        headline = (
            f"No clipping constant and no learning rate brings {NAMES[alpha]} below {compact(least)} times the printed "
            "order."
        )
        return Finding(Verdict.HOLDS, headline, numbers, would_change=CHANGE)
    vanishing = [axis for axis in lost if _falls(axes[axis])]
    if len(vanishing) < len(lost):
        headline = f"The least risk of {NAMES[alpha]} falls below the printed order as the aspect ratio falls."
        return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=CHANGE)
    headline = (
        f"The bound for {NAMES[alpha]} needs a start whose risk stays away from zero; otherwise not learning at all "
        "beats it."
    )
    correction = (
        r"$\mathcal R(0)=\Omega(1)$, or $\gamma^2/(\rho\lambda_{\min})^2=o(1)$ as (D.48) asks. Excluded are targets in "
        "directions whose eigenvalue vanishes with $\\gamma$ faster than that."
    )
    return Finding(Verdict.NARROWER, headline, numbers, Consequence.NUMBERS, correction, CHANGE)


def _falls(rows: pd.DataFrame) -> bool:
    """Whether the start's risk vanishes along an axis."""
    return growth.power(rows, "inverse", "initial_risk", "") < -growth.LOST_POWER


def _ratios(axes: dict[str, pd.DataFrame], left: str, right: str, name: str) -> tuple[Number, ...]:
    """The ratio of two columns at the least γ of each axis."""
    found = []
    for axis, rows in axes.items():
        last = rows.iloc[-1]
        row = f"alpha = {last['alpha']:g}, gamma = {last['gamma']:g}, axis = {axis}"
        found.append(Number(f"{name}, {axis}", last[left] / last[right], table="rates", row=row))
    return tuple(found)


def _power(axis: str, value: float) -> Number:
    return Number(f"power of 1/γ in that, {axis}", value, table="rates", row=f"axis = {axis}, the last {growth.LAST}")


@judges("dpgd/section-5.1-comparison")
def comparison(tables: Tables) -> Finding:
    """Is (5.2) best in rate, and does constant noise beat output perturbation once γ is small, whatever ρ?"""
    table, crossings = tables["comparison"], crossing(tables["comparison"])
    lost = {
        (alpha, axis): growth.power(rows, "inverse", "proven_risk", "best_risk")
        for alpha in ALPHAS
        for axis, rows in admitted(tables["rates"], alpha, fixed=True).items()
    }
    numbers = tuple(
        Number(f"γ below which constant noise wins, ρ = {rho:g}", value, table="comparison", row=f"rho = {rho:g}")
        for rho, value in crossings.items()
    )
    smallest = table["gamma"].min()
    numbers += tuple(
        cite(f"ratio of the risks, ρ = {rho:g}", tables, "comparison", "ratio", against=1.0, rho=rho, gamma=smallest)
        for rho in crossings
    )
    change = "A privacy parameter at which constant noise loses at every small aspect ratio."
    if max(lost.values()) > growth.LOST_POWER:
        headline = "The paper's choice of learning rate loses a power of the aspect ratio against the best."
        return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=change)
    never = [rho for rho, value in crossings.items() if np.isnan(value)]
    if never:
        headline = f"Constant noise does not overtake output perturbation at $\\rho$ of {listed(map(compact, never))}."
        headline = headline if len(never) == 1 else "Constant noise does not overtake output perturbation everywhere."
        return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=change)
    low, high = min(crossings.values()), max(crossings.values())
    headline = (
        f"Constant noise wins once the aspect ratio is small: below {compact(low)} to {compact(high)}, by the privacy "
        "parameter; above, output perturbation does."
    )
    return Finding(Verdict.HOLDS, headline, numbers, would_change=change)


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
def equation_512(tables: Tables) -> Finding:
    """(5.12): does the least risk stay above γ + max(1, c²)γ²/ρ², logarithms aside, also where c grows?"""
    table = tables["clipping"]
    groups = {key: rows.sort_values("inverse") for key, rows in table.groupby(["alpha", "axis"], sort=False)}
    powers = {key: growth.power(rows, "inverse", "risk", "order") for key, rows in groups.items()}
    (alpha, axis), least = min(powers.items(), key=lambda pair: pair[1])
    numbers = tuple(
        Number(
            f"least risk over the order, {NAMES[key[0]]}, {key[1]}",
            rows["risk"].iloc[-1] / rows["order"].iloc[-1],
            table="clipping",
            row=f"alpha = {key[0]:g}, axis = {key[1]}, gamma = {rows['gamma'].iloc[-1]:g}",
        )
        for key, rows in groups.items()
    )
    numbers += (Number(f"least power of 1/γ in that, {NAMES[alpha]}, {axis}", least, table="clipping", row=axis),)
    if least < -growth.LOST_POWER:
        headline = "With a large clipping constant the risk falls below the printed order."
        return Finding(Verdict.FAILS, headline, numbers, Consequence.CONCLUSION, would_change=CHANGE)
    first = table[table["gamma"] == table["gamma"].max()]
    costly = first.loc[first["clip"].idxmax()]
    cheap = first[first["alpha"] == costly["alpha"]]["risk"].min()
    headline = (
        "A clipping constant that grows costs what is claimed: "
        f"{compact(costly['risk'] / cheap)} times the least risk at the clipping constant {compact(costly['clip'])}."
    )
    return Finding(Verdict.HOLDS, headline, numbers, would_change=CHANGE)
